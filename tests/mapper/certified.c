/*
 * certified [N [seed [first]]]: the certificates of N random tiny problems (tiny.h), one of five perhaps with sliding
 * windows. They must hold: by the model no template or pattern is better than its bound, and the rows go together for what
 * the search says. Those of several einsums may lack rows (E0807), which is not understood yet: they are counted, and more
 * than one of 200 problems is a failure. Ends with `N passed, N failed`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/session.h"
#include "tests/mapper/tiny.h"

enum { EFFORT = 500, SHOWN = 5, ROWS = 200, WINDOWS = 5 };

typedef enum { HOLDS, LACKS_ROWS, FAILS } outcome;

static outcome check(const char *text, size_t len, const char *certificate, size_t certificate_len, bool shown)
{
    dfl_session *s = dfl_session_new(NULL);
    outcome out = FAILS;

    if (dfl_session_open_text(s, "tiny.dfl", text, len) == DFL_EXIT_OK &&
        dfl_session_check_certificate(s, "tiny.json", certificate, certificate_len, EFFORT) == DFL_EXIT_OK)
        out = HOLDS;
    else if (dfl_sink_count(s->sink) == 1 && dfl_sink_last(s->sink) == DFL_CERT_ROW)
        out = LACKS_ROWS;
    if (out == FAILS && shown)
        printf("%s%s", text, dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL));
    dfl_session_free(s);
    return out;
}

/* Searches a problem, and checks what that says. */
static outcome run(const tiny *t, bool shown)
{
    const dfl_search_options options = { .size = sizeof options, .certificate = true, .jobs = 1 };
    dfl_session *s = dfl_session_new(NULL);
    const char *certificate = NULL;
    outcome out = FAILS;
    char *text = NULL;
    size_t len, certificate_len;
    FILE *file = open_memstream(&text, &len);

    tiny_print(t, 0, file);
    fclose(file);
    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, len) == DFL_EXIT_OK && dfl_session_map(s, NULL) == DFL_EXIT_OK)
        certificate = dfl_session_certificate(s, NULL, &certificate_len);
    if (certificate)
        out = check(text, len, certificate, certificate_len, shown);
    else if (shown)
        printf("%s%s", text, dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL));
    dfl_session_free(s);
    free(text);
    return out;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 250, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0, lacking = 0, several = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; i < first + n; i++) {
        outcome o;
        tiny_random random = tiny_seeded(seed, i);
        tiny t;
        tiny_draw(&t, &random, i % WINDOWS == 0);
        several += t.n_einsums > 1;
        o = run(&t, failed < SHOWN);
        lacking += o == LACKS_ROWS;
        if (o == FAILS || (o == LACKS_ROWS && t.n_einsums == 1)) {
            printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 "\n", i, seed);
            failed++;
        }
    }
    printf("rows are missing in %" PRIu64 " of %" PRIu64 " certificates of several einsums\n", lacking, several);
    failed += lacking * ROWS > n;
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
