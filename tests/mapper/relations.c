/*
 * relations [-m] [-w] [-a] [-l] [-E N] [N [seed [first]]]: relations between the searches of N random problems of the rival
 * (rival.h) and of variants of each, with dividing tile sizes and with all:
 *   - More room, more bandwidth, or more instances on every axis never make an optimum worse, and neither do all tile sizes
 *     instead of those that divide. Each mapping of the problem is one of the variant, so its lower bound is not above any result
 *     of the problem.
 *   - Other names, and ranks and operands in another order, leave the result the same.
 *   - A result of several einsums whose search ends by itself is not worse than that without shared loops, and than the einsums
 *     one by one: the sum of their energies and of their latencies. Left out there are systems that treat roles of tensors
 *     differently, and those whose outermost memory has too little room for all tensors together.
 * Problems whose searches report that nothing fits count where that must hold for the variant, too. The last line is `N passed, N
 * failed`.
 */
#include "tests/mapper/rival.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/problem/objective.h"
#include "model/model.h"

enum { WHY = 400 };

typedef struct {
    bool searched, found, optimal, stopped;
    double value, bound, joules, seconds, sum_of; /* sum_of: value of the objective at `sum` */
    double leakage;
} outcome;

typedef struct {
    rival_kinds kinds;
    uint64_t effort;
    const rival_choices *choices;
    bool chooses;               /* the system treats inputs and outputs unlike exchanged tensors */
    bool is_tight;              /* the outermost memory has too little room for all tensors */
    char why[WHY];
} relation;

/* Costs whose objective is asked for; NULL = none. */
typedef struct { double joules, seconds; } costs;

/* Whether all tensors take more than the outermost memory has. */
static bool is_tight(const dfl_mapping *m)
{
    double bits = 0;

    for (uint32_t t = 0; t < m->workload->n_tensors; t++) {
        dfl_i128 elements = 0;
        (void)dfl_tensor_stored(&m->workload->tensors[t], &elements);
        bits += dfl_i128_double(elements) * m->workload->tensors[t].type.bits;
    }
    return m->system->memories[0].size_bits >= 0 && bits > (double)m->system->memories[0].size_bits;
}

static outcome search(relation *k, uint32_t changes, uint32_t alone, bool imperfect, bool fused, const costs *sum)
{
    const dfl_search_options options = { .size = sizeof options, .perfect = !imperfect, .imperfect = imperfect, .spread = true,
                                         .evaluations = k->effort, .max_fused = fused ? 0 : 1 };
    rival_kinds kinds = k->kinds;
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_filled *filled = NULL;
    outcome out = { .searched = false };
    dfl_objective objective;

    kinds.changes = changes;
    kinds.alone = alone;
    char *text = rival_text(k->choices, &kinds);
    k->chooses = strstr(text, "holds") != NULL || strstr(text, "operand_reuse") != NULL;
    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "relation.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0 &&
        dfl_objective_make(s->sink, s->names, s->program->designs[0].mapping, &objective)) {
        filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
        out.searched = filled != NULL || dfl_sink_last(s->sink) == DFL_EVAL_INFEASIBLE;
        if (alone == 0)
            k->is_tight = is_tight(s->program->designs[0].mapping);
        out.leakage = dfl_system_leakage(s->program->designs[0].mapping->system);
        if (sum)
            out.sum_of = dfl_objective_value(&objective, sum->joules, sum->seconds);
    }
    if (filled) {
        dfl_arena *fresh = dfl_arena_new(NULL); /* a search that its limit ended has used up the budget of the session */
        const dfl_paths *paths = dfl_paths_resolve(fresh, s->sink, s->names, filled->mapping);
        const dfl_result *r = paths ? dfl_model_eval(fresh, s->sink, s->names, paths) : NULL;
        out.found = r != NULL;
        out.value = filled->search->value;
        out.bound = filled->search->lower_bound;
        out.optimal = filled->search->optimal;
        out.stopped = stopped != DFL_STOP_NONE;
        out.joules = r ? r->joules : NAN;
        out.seconds = r ? r->seconds : NAN;
        dfl_arena_free(fresh);
    }
    dfl_session_free(s);
    free(text);
    return out;
}

/* Whether a search of a wider problem, or space, contradicts one of a narrower one. */
static bool contradicts(const outcome *narrow, const outcome *wide)
{
    double limit = narrow->value * (1 + 1e-9);

    if (!narrow->searched || !wide->searched || !narrow->found)
        return false;
    return !wide->found || wide->bound > limit || (wide->optimal && wide->value > limit);
}

static bool fail(relation *k, const char *what, bool imperfect, const outcome *a, const outcome *b)
{
    snprintf(k->why, WHY, "--tiles %s: %s: first %s%.12g, at least %.12g; then %s%.12g, at least %.12g",
             imperfect ? "imperfect" : "perfect", what, a->found ? a->optimal ? "optimal " : "" : "nothing ", a->value, a->bound,
             b->found ? b->optimal ? "optimal " : "" : "nothing ", b->value, b->bound);
    return true;
}

static bool fails_in_space(relation *k, bool imperfect, const outcome *base)
{
    static const struct { uint32_t change; const char *what; } wider[] = {
        { RIVAL_ROOM, "more room" }, { RIVAL_RATES, "more bandwidth" }, { RIVAL_INSTANCES, "more instances" } };
    outcome other;

    for (uint32_t i = 0; i < sizeof wider / sizeof *wider; i++) {
        if (wider[i].change == RIVAL_INSTANCES && !k->kinds.arrays)
            continue;
        other = search(k, wider[i].change, 0, imperfect, true, NULL);
        if (other.leakage <= base->leakage && contradicts(base, &other)) /* more instances may leak more */
            return fail(k, wider[i].what, imperfect, base, &other);
    }
    other = search(k, RIVAL_NAMES, 0, imperfect, true, NULL);
    if (contradicts(base, &other) || contradicts(&other, base))
        return fail(k, "other names", imperfect, base, &other);
    if (k->kinds.einsums == 1)
        return false;
    other = search(k, 0, 0, imperfect, false, NULL);
    if (base->searched && other.found && !base->stopped && (!base->found || base->value > other.value * (1 + 1e-9)))
        return fail(k, "worse than without shared loops", imperfect, base, &other);
    costs sum = { 0, 0 };
    for (uint32_t e = 0; e < 4; e++) {
        outcome one = search(k, 0, 1 + e, imperfect, true, NULL);
        if (e > 1 && !one.searched)
            break;
        sum.joules += one.found ? one.joules : NAN;
        sum.seconds += one.found ? one.seconds : NAN;
    }
    other = search(k, 0, 0, imperfect, true, &sum);
    if (base->found && !base->stopped && !k->chooses && !k->is_tight && base->value > other.sum_of * (1 + 1e-9)) {
        other = (outcome){ .found = true, .value = other.sum_of };
        return fail(k, "worse than the einsums one by one", imperfect, base, &other);
    }
    return false;
}

static bool fails(relation *k, bool *searched)
{
    outcome base[2];

    for (uint32_t i = 0; i < 2; i++) {
        base[i] = search(k, 0, 0, i == 1, true, NULL);
        *searched = base[i].searched;
        if (*searched && fails_in_space(k, i == 1, &base[i]))
            return true;
    }
    return *searched && contradicts(&base[0], &base[1]) &&
           fail(k, "all tile sizes instead of those that divide", true, &base[0], &base[1]);
}

static bool same_failure(void *context, const rival_choices *choices)
{
    const relation *like = context;
    relation k = { .kinds = like->kinds, .effort = like->effort, .choices = choices };
    bool searched;
    const char *end = strchr(strchr(like->why, ':') + 1, ':');

    return fails(&k, &searched) && strncmp(k.why, like->why, (size_t)(end - like->why)) == 0;
}

static bool read_options(int argc, char **argv, int *at, relation *k, bool *shrink)
{
    for (*at = 1; *at < argc && argv[*at][0] == '-'; ++*at)
        switch (argv[*at][1]) {
        case 'm': k->kinds.einsums = 3; break;
        case 'w': k->kinds.windows = true; break;
        case 'a': k->kinds.arrays = true; break;
        case 'l': k->kinds.large = true; break;
        case 'o': k->kinds.perfect = true; break;
        case 's': *shrink = true; break;
        case 'E':
            if (*at + 1 < argc)
                k->effort = strtoull(argv[++*at], NULL, 10);
            break;
        default: return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    relation k = { .kinds = { .einsums = 1 } };
    uint64_t passed = 0, failed = 0, unsearched = 0;
    bool shrink = false;
    int at;

    if (!read_options(argc, argv, &at, &k, &shrink))
        return 2;
    uint64_t n = argc > at ? strtoull(argv[at], NULL, 10) : 100, seed = argc > at + 1 ? strtoull(argv[at + 1], NULL, 10) : 1;
    uint64_t first = argc > at + 2 ? strtoull(argv[at + 2], NULL, 10) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; i < first + n; i++) {
        rival_choices choices = rival_seeded(seed, i);
        FILE *null = fopen("/dev/null", "w");
        bool searched, unused;

        rival_draw(&choices, &k.kinds, null, &unused);
        fclose(null);
        k.choices = &choices;
        if (!fails(&k, &searched)) {
            passed += searched;
            unsearched += !searched;
            continue;
        }
        failed++;
        if (shrink) {
            rival_shrink(&choices, same_failure, &k);
            fails(&k, &searched);
        }
        k.kinds.changes = k.kinds.alone = 0;
        char *text = rival_text(&choices, &k.kinds);
        printf("// problem %" PRIu64 " of seed %" PRIu64 "\n%s// %s\n", i, seed, text, k.why);
        free(text);
    }
    printf("%" PRIu64 " not searched\n%" PRIu64 " passed, %" PRIu64 " failed\n", unsearched, passed, failed);
    return failed > 0;
}
