/*
 * threads [N [seed [first]]]: searches N random tiny problems (tiny.h) without a limit, with one, two and four threads, as they are
 * and over all tile sizes, and with `--beyond` in turn. The files with the holes filled, the texts about the searches and the
 * messages must have the same bytes. One problem of four has arrays, one of five may have sliding windows, one of three waits
 * for transfers. The last line is `N passed, N failed`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "tests/mapper/tiny.h"

enum { ARRAYS = 4, WINDOWS = 5, WAITS = 3, KINDS = 4, SHOWN = 5 };

static const uint32_t THREADS[] = { 1, 2, 4 };
enum { N_THREADS = sizeof THREADS / sizeof *THREADS };

/* All that a search with these threads writes; the caller frees it. `kind` alternates between spaces. */
static char *search(const char *text, uint32_t kind, uint32_t threads)
{
    const dfl_search_options options = { .size = sizeof options, .jobs = threads, .imperfect = (kind & 1) != 0,
                                         .perfect = (kind & 1) == 0,
                                         .beyond = kind == KINDS - 1 ? DFL_SEARCH_ORDER | DFL_SEARCH_RECOMPUTE | DFL_SEARCH_SPILL |
                                                                       DFL_SEARCH_SPLIT | DFL_SEARCH_PIPELINE | DFL_SEARCH_WINDOW
                                                                     : 0 };
    dfl_session *s = dfl_session_new(NULL);
    dfl_exit status;
    char *out = NULL;
    size_t len;
    FILE *file = open_memstream(&out, &len);

    dfl_session_set_search(s, &options);
    status = dfl_session_open_text(s, "tiny.dfl", text, strlen(text));
    if (status == DFL_EXIT_OK) {
        size_t n_mapped = 0;
        const char *mapped;
        status = dfl_session_map(s, NULL);
        mapped = dfl_session_mapped(s, &n_mapped);
        fprintf(file, "%.*s%s", (int)n_mapped, mapped != NULL ? mapped : "", dfl_session_searches(s, NULL));
    }
    fprintf(file, "%sends with %d\n", dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL), (int)status);
    fclose(file);
    dfl_session_free(s);
    return out;
}

/* Whether the number of threads shows nowhere. */
static bool is_equal(const char *text, uint32_t kind, bool shown)
{
    char *one = search(text, kind, THREADS[0]);
    bool out = strstr(one, "\n  search  ") != NULL || strstr(one, "E0618") != NULL;

    if (!out && shown)
        printf("%s%sFAILED: nothing was searched\n", text, one);
    for (uint32_t i = 1; i < N_THREADS && out; i++) {
        char *other = search(text, kind, THREADS[i]);
        out = strcmp(one, other) == 0;
        if (!out && shown)
            printf("%s---- 1 thread\n%s---- %u threads\n%s", text, one, THREADS[i], other);
        free(other);
    }
    free(one);
    return out;
}

static bool run(uint64_t seed, uint64_t i, bool shown)
{
    tiny_random random = tiny_seeded(seed, i);
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    tiny t;
    bool out;

    tiny_draw(&t, &random, i % WINDOWS == 0);
    if (i % ARRAYS == 1)
        tiny_draw_arrays(&t, &random);
    if (i % WAITS == 2)
        tiny_draw_waits(&t, &random);
    tiny_print(&t, 0, file);
    fclose(file);
    out = is_equal(text, (uint32_t)(i % KINDS), shown);
    free(text);
    return out;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 40, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0;

    for (uint64_t i = first; i < first + n; i++)
        if (!run(seed, i, failed < SHOWN)) {
            printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 "\n", i, seed);
            failed++;
        }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
