/*
 * exhaustive [-w] [N [seed [first]]]: N random tiny problems through the search and through an enumeration of all
 * mappings (enumerate.h), which must find nothing below the bound of the search, and for one einsum the same value.
 * What the search finds must be taken by the checks and proven by the oracle, and of one einsum it is as good as its
 * bound, but for 1 %. A problem that fails is made smaller and printed. With -w there are sliding windows among them.
 * exhaustive FILE: the only mapping of a file; anything better is told. Ends with `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/objective.h"
#include "model/model.h"
#include "oracle/oracle.h"
#include "tests/mapper/enumerate.h"
#include "tests/mapper/tiny.h"

enum { SHOWN = 5 };

typedef struct { char text[400]; } reason;

typedef struct {
    uint64_t seed, most;
    uint32_t structures;
    uint64_t evaluated;
    double gap;                 /* that the search admits */
    bool file;                  /* look for anything better, whatever the search admits */
    bool complete;
    reason why;
} judge;

static double value_of(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

static char *text_of(const tiny *t, uint32_t shift)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    tiny_print(t, shift, out);
    fclose(out);
    return text;
}

static const char *messages(dfl_session *s)
{
    return dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL);
}

/* What was found, read back, is checked, and executed as it is: every count, peaks, values. */
static bool is_proven(const char *mapped, reason *why)
{
    dfl_session *s = dfl_session_new(NULL);
    const dfl_paths *paths = NULL;
    const dfl_result *model = NULL;
    const dfl_oracle_result *oracle = NULL;
    bool fine;

    if (dfl_session_open_text(s, "found.dfl", mapped, strlen(mapped)) == DFL_EXIT_OK &&
        dfl_session_check(s) == DFL_EXIT_OK)
        paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
    if (paths)
        model = dfl_model_eval(s->arena, s->sink, s->names, paths);
    if (model)
        oracle = dfl_oracle_run(s->arena, s->sink, s->names, paths);
    fine = oracle && oracle->wrong == 0 && oracle->broken == 0 && oracle->n_traffic == model->n_traffic;
    snprintf(why->text, sizeof why->text, "%s", oracle ? "the oracle counts otherwise" :
             messages(s));
    for (uint32_t i = 0; fine && i < oracle->n_traffic; i++) {
        const dfl_oracle_traffic *o = &oracle->traffic[i];
        const dfl_counts *c = &model->traffic[i].counts;
        fine = o->memory == model->traffic[i].memory && o->tensor == model->traffic[i].tensor && o->serve == c->serve &&
               o->drain == c->drain && o->accumulate == c->accumulate && o->fill == c->fill && o->update == c->update;
    }
    for (uint32_t m = 0; fine && m < model->mapping->system->n_memories; m++)
        fine = oracle->peak_bits[m] == model->memories[m].peak_bits;
    dfl_session_free(s);
    return fine;
}

/* Prints the mapping that is better as lines of the file. */
static void say_better(dfl_session *s, const dfl_filled *filled, const enumerate_result *r, reason *why)
{
    dfl_filled better = *filled;

    better.mapping = r->mapping;
    s->filled.at[0] = better;
    snprintf(why->text, sizeof why->text, "the search says %.12g and at least %.12g, but there is %.12g: %s",
             filled->search->value, filled->search->lower_bound, r->value,
             strstr(dfl_session_mapped(s, false, NULL), "overlap = perfect;"));
}

/* Whether the time of a mapping enters its value. */
static bool sees_time(const dfl_mapping *m, const dfl_objective *o)
{
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        if (m->system->memories[i].leakage > 0)
            return true;
    return dfl_objective_value(o, 1, 1) != dfl_objective_value(o, 1, 2);
}

/* Whether a problem fails; `why` says how. */
static bool fails_text(judge *j, const char *text)
{
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_filled *filled;
    dfl_objective objective;
    enumerate_options options = { .value = value_of, .objective = &objective, .most = j->most,
                                  .structures = j->structures, .seed = j->seed };
    enumerate_result r;
    bool fails = true, alone;
    double best;

    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_errors(s->sink) > 0) {
        snprintf(j->why.text, sizeof j->why.text, "unread: %s", messages(s));
    } else if (!(filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped))) {
        snprintf(j->why.text, sizeof j->why.text, "not filled: %s", messages(s));
    } else if (is_proven(dfl_session_mapped(s, true, NULL), &j->why) &&
               dfl_objective_make(s->sink, s->names, filled->given, &objective)) {
        best = j->file ? filled->search->value : filled->search->lower_bound;
        alone = filled->given->workload->n_einsums == 1;
        options.limit = best * (1 + (alone ? 1e-9 : -1e-9)) + (alone && best == 0);
        j->gap = filled->search->value / filled->search->lower_bound - 1;
        options.down_to_exchange = sees_time(filled->given, &objective);
        enumerate_mappings(s->arena, s->names, filled->given, &options, &r);
        j->evaluated += r.evaluated;
        j->complete = r.complete;
        fails = r.value < best * (1 - 1e-9);
        if (fails)
            say_better(s, filled, &r, &j->why);
        if (alone && r.complete && !fails && r.value > filled->search->value * (1 + 1e-9)) {
            snprintf(j->why.text, sizeof j->why.text, "the enumeration does not get to %.12g", filled->search->value);
            fails = true;
        }
    }
    dfl_session_free(s);
    return fails;
}

static bool fails(void *context, const tiny *t)
{
    char *text = text_of(t, 0);
    bool out = fails_text(context, text);

    free(text);
    return out && strncmp(((judge *)context)->why.text, "unread", 6) != 0;
}

static int run_file(const char *path)
{
    static char text[1 << 16];
    judge j = { .most = UINT64_MAX / 2048, .structures = UINT32_MAX, .file = true };
    FILE *file = fopen(path, "rb");
    bool bad;

    if (!file)
        return 2;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    bad = fails_text(&j, text);
    printf("%s%" PRIu64 " evaluated\n%u passed, %u failed\n", bad ? j.why.text : "", j.evaluated, !bad, bad);
    return bad;
}

int main(int argc, char **argv)
{
    bool windows = argc > 1 && strcmp(argv[1], "-w") == 0;
    argc -= windows;
    argv += windows;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 760, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0, complete = 0, evaluated = 0;
    uint64_t gaps = 0, gaps_of_one = 0;
    uint64_t by_einsums[TINY_EINSUMS + 1] = { 0 };

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && n == 0)
        return run_file(argv[1]);
    for (uint64_t i = first; i < first + n; i++) {
        judge j = { .seed = seed + i };
        tiny t;
        tiny_draw(&t, seed, i, windows);
        j.most = i % 16 == 0 ? 20000 : t.n_einsums == 1 ? 5000 : 500;
        j.structures = i % 16 == 0 ? UINT32_MAX : 3;
        by_einsums[t.n_einsums]++;
        if (fails(&j, &t)) {
            char *text;
            printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 ": %s\n", i, seed, j.why.text);
            if (++failed <= SHOWN) {
                tiny_shrink(&t, fails, &j);
                (void)fails(&j, &t);
                text = text_of(&t, 0);
                printf("// %s\n%s\n", j.why.text, text);
                free(text);
            }
        }
        gaps += j.gap > 1e-9;
        gaps_of_one += j.gap > 1e-9 && t.n_einsums == 1;
        complete += j.complete;
        evaluated += j.evaluated;
    }
    printf("%" PRIu64 " problems of one einsum, %" PRIu64 " of two, %" PRIu64 " of three; %" PRIu64
           " mappings evaluated, of %" PRIu64 " problems every one\n",
           by_einsums[1], by_einsums[2], by_einsums[3], evaluated, complete);
    printf("not proven optimal by the search itself: %" PRIu64 ", of one einsum %" PRIu64 "\n", gaps,
           gaps_of_one);
    failed += gaps_of_one * 100 > n;
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
