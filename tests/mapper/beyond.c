/*
 * beyond [N [seed [first]]]: N random tiny problems of several einsums, searched without and with each kind of mappings
 * beyond the space, and all of them. What is found with them is no worse, costs what the search says and not less than its
 * bound, is called optimal only if it is as good as that, and is accepted by the checks and by the oracle when it is read
 * back. Ends with how often each kind makes it better, and `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "model/model.h"
#include "tests/mapper/judge.h"
#include "tests/mapper/tiny.h"

enum { SHOWN = 5, KINDS = 6, ALL = 31, WINDOWS = 5 };

static const struct { const char *name; unsigned kinds; } kinds[KINDS] = {
    { "order", DFL_SEARCH_ORDER }, { "recompute", DFL_SEARCH_RECOMPUTE }, { "spill", DFL_SEARCH_SPILL },
    { "split", DFL_SEARCH_SPLIT }, { "pipeline", DFL_SEARCH_PIPELINE }, { "all", ALL },
};

typedef struct {
    bool found, optimal;
    double value, bound;
    char *mapped;
} found;

static found search(const char *text, unsigned beyond)
{
    const dfl_search_options options = { .size = sizeof options, .beyond = beyond };
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped;
    const dfl_filled *filled = NULL;
    found out = { .value = INFINITY };

    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0)
        filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
    if (filled)
        out = (found){ true, filled->search->optimal, filled->search->value, filled->search->lower_bound,
                       strdup(dfl_session_mapped(s, true, NULL)) };
    dfl_session_free(s);
    return out;
}

/* What the mapping costs when it is read again. */
static double value_of(const char *mapped)
{
    dfl_session *s = dfl_session_new(NULL);
    const dfl_paths *paths = NULL;
    const dfl_result *costs = NULL;
    dfl_objective objective;
    double out = NAN;

    if (dfl_session_open_text(s, "found.dfl", mapped, strlen(mapped)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0 &&
        dfl_objective_make(s->sink, s->names, s->program->designs[0].mapping, &objective))
        paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
    if (paths)
        costs = dfl_model_eval(s->arena, s->sink, s->names, paths);
    if (costs)
        out = dfl_objective_value(&objective, costs->joules, costs->seconds);
    dfl_session_free(s);
    return out;
}

/* What is wrong with what was found beyond; NULL = nothing. */
static const char *check(const found *before, const found *after, char *why, size_t n)
{
    if (before->found != after->found)
        return "one of them finds nothing";
    if (!before->found)
        return NULL;
    if (after->value > before->value * (1 + 1e-12))
        return "it is worse";
    if (after->bound > before->bound * (1 + 1e-9))
        return "the bound is above that of a smaller space";
    if (after->bound > after->value || (after->optimal && after->value > after->bound * (1 + 1e-9)))
        return "the bound says otherwise";
    if (!(fabs(value_of(after->mapped) - after->value) <= after->value * 1e-12))
        return "it costs something else when it is read again";
    return judge_proves(after->mapped, why, n) ? NULL : why;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 60, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0, done = 0, lower[KINDS] = { 0 };
    double ratio[KINDS] = { 1, 1, 1, 1, 1, 1 };
    uint64_t best[KINDS] = { 0 };

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; done < n; i++) {
        tiny_random random = tiny_seeded(seed + 2000, i);
        tiny t;
        found before;
        char *text = NULL;
        size_t len;
        FILE *out;
        bool fine = true;

        tiny_draw(&t, &random, i % WINDOWS == 0);
        if (t.n_einsums == 1)
            continue;
        done++;
        out = open_memstream(&text, &len);
        tiny_print(&t, 0, out);
        fclose(out);
        before = search(text, 0);
        for (uint32_t k = 0; k < KINDS; k++) {
            char why[400];
            found after = search(text, kinds[k].kinds);
            const char *wrong = check(&before, &after, why, sizeof why);
            if (wrong) {
                fine = false;
                printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 " with %s: %s: %.12g, before %.12g\n", i, seed,
                       kinds[k].name, wrong, after.value, before.value);
                if (failed < SHOWN)
                    printf("%s\n%s\n", text, after.mapped ? after.mapped : "");
            }
            lower[k] += after.value < before.value * (1 - 1e-9);
            if (after.value < before.value * ratio[k]) {
                ratio[k] = after.value / before.value;
                best[k] = i;
            }
            free(after.mapped);
        }
        failed += !fine;
        free(before.mapped);
        free(text);
    }
    for (uint32_t k = 0; k < KINDS; k++)
        printf("%-10s lower in %" PRIu64 " of %" PRIu64 ", at most to %.4f (problem %" PRIu64 ")\n", kinds[k].name, lower[k],
               done, ratio[k], best[k]);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
