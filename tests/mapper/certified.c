/*
 * certified [N [seed [first]]]: checks the certificates of N random tiny problems (tiny.h). One problem of five may have
 * sliding windows, one of fifty has arrays around memories, and every second one of several einsums has less room for exchanged
 * tensors (tiny_draw_limits), so that a problem may have no mapping. Each certificate must hold: the model finds no skeleton
 * and no pattern better than its bound, and the join of the complete rows gives the value of the search. The last line is `N
 * passed, N failed`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/session.h"
#include "tests/mapper/tiny.h"

enum { EFFORT = 500, SHOWN = 5, WINDOWS = 5, ARRAYS = 50 };

static bool holds(const char *text, size_t len, const char *certificate, size_t certificate_len, bool shown)
{
    dfl_session *s = dfl_session_new(NULL);
    bool out = dfl_session_open_text(s, "tiny.dfl", text, len) == DFL_EXIT_OK &&
               dfl_session_check_certificate(s, "tiny.json", certificate, certificate_len, EFFORT) == DFL_EXIT_OK;

    if (!out && shown)
        printf("%s%s", text, dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL));
    dfl_session_free(s);
    return out;
}

/* Searches a problem and checks the certificate. */
static bool run(const tiny *t, bool shown)
{
    const dfl_search_options options = { .size = sizeof options, .certificate = true, .jobs = 1 };
    dfl_session *s = dfl_session_new(NULL);
    const char *certificate = NULL;
    bool out = false, nothing = false;
    char *text = NULL;
    size_t len, certificate_len;
    FILE *file = open_memstream(&text, &len);

    tiny_print(t, 0, file);
    fclose(file);
    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, len) == DFL_EXIT_OK && dfl_session_map(s, NULL) == DFL_EXIT_OK)
        certificate = dfl_session_certificate(s, NULL, &certificate_len);
    else
        nothing = (t->memory[0].bits > 0 || t->memory[0].foreign) && dfl_sink_last(s->sink) == DFL_EVAL_INFEASIBLE;
    if (certificate)
        out = holds(text, len, certificate, certificate_len, shown);
    else if (!nothing && shown)
        printf("%s%s", text, dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL));
    dfl_session_free(s);
    free(text);
    return out || nothing;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 250, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; i < first + n; i++) {
        tiny_random random = tiny_seeded(seed, i);
        tiny t;
        tiny_draw(&t, &random, i % WINDOWS == 0);
        if (t.n_einsums > 1 && i % 2 == 1)
            tiny_draw_limits(&t, &random);
        if (i % ARRAYS == 1)
            tiny_draw_arrays(&t, &random);
        if (!run(&t, failed < SHOWN)) {
            printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 "\n", i, seed);
            failed++;
        }
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
