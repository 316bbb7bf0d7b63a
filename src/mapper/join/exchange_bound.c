#include "mapper/join/exchange_bound.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/exact/weights.h"
#include "mapper/join/first_tiles.h"
#include "mapper/join/lines.h"
#include "mapper/join/matched_tiles.h"
#include "mapper/join/workload_floor.h"
#include "mapper/problem/limits.h"

/* Most lines: energy alone; time alone; mixtures without first tiles, and with them; one more without them, if they raise
   nothing; lines with equal tiles, and lines over whole numbers. */
enum { LINES = 3 + 2 * DFL_EXCHANGE_MIXES + DFL_EXCHANGE_MATCHED + DFL_EXCHANGE_WHOLE };

typedef struct {
    dfl_arena *arena;
    dfl_einsum_classes *classes;
    const dfl_objective *objective;
    double leakage;                      /* W */
    double joules, seconds;              /* of the best mapping so far; J without leakage */
    dfl_deadline *deadline;
    uint64_t programs;
    const dfl_form_firsts *firsts;       /* [class]: first tiles that may count */
    bool has_firsts;                     /* they count in the lines that follow */
    dfl_line_bound lines[LINES];
    uint32_t n_lines;
} exchange;

/* Figures of skeletons whatever the room: energy, time, and the time of each port of a memory. */
enum { ENERGY, TIME, FIRST_PORT };

/* The least figures of the skeletons of each pattern of a class, by pattern and figure. False if the deadline passes. */
static bool find_figures(const exchange *x, const dfl_einsum_class *class, uint32_t n_figures, double *least)
{
    double *of = DFL_NEW_ARRAY(x->arena, double, n_figures);

    for (size_t i = 0; i < class->patterns.n * n_figures; i++)
        least[i] = INFINITY;
    for (size_t i = 0; i < class->candidates.n && !dfl_deadline_passed(x->deadline); i++) {
        const dfl_candidate *k = &class->candidates.at[i];
        memset(of, 0, n_figures * sizeof *of); /* a port that the einsum does not see takes no time */
        of[ENERGY] = fmax(k->roomy_joules - class->patterns.at[k->pattern].rebate, 0);
        of[TIME] = k->roomy_seconds;
        for (uint32_t p = 0; p < 2 * k->problem->n_places; p++)
            of[FIRST_PORT + 2 * k->problem->place[p / 2].memory + p % 2] = k->times->busy[p];
        for (uint32_t f = 0; f < n_figures; f++)
            least[k->pattern * n_figures + f] = fmin(least[k->pattern * n_figures + f], of[f]);
    }
    return x->deadline->why == DFL_STOP_NONE;
}

/* The least sum over einsums of a figure, which is in `least` by class. */
static double add_figures(const exchange *x, double *const *least, uint32_t n_figures, uint32_t figure)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(x->arena));
    const uint32_t slot = figure == ENERGY ? DFL_COST_JOULES : DFL_COST_SECONDS;
    double sum;

    for (size_t c = 0; c < x->classes->at.n; c++) {
        dfl_einsum_class *class = &x->classes->at.at[c];
        for (uint32_t p = 0; p < class->patterns.n; p++) {
            class->patterns.at[p].least = dfl_criteria_zero();
            class->patterns.at[p].least.at[slot] = least[c][p * n_figures + figure];
        }
    }
    sum = dfl_cost_to_go_all(dfl_einsum_classes_cost_to_go(work, x->classes)).at[slot];
    dfl_arena_free(work);
    return sum < INFINITY ? sum : 0;
}

/* Adds the lines of energy alone and of time alone, by the bounds of skeletons whatever the room, by the ports, and by the
   floor (B44). */
static void add_ends(exchange *x, const dfl_floor *floor)
{
    const uint32_t n_figures = FIRST_PORT + 2 * x->classes->m->system->n_memories;
    double **least = DFL_NEW_ARRAY(x->arena, double *, x->classes->at.n + 1), joules = floor->joules, seconds = floor->seconds;
    bool is_known = true;

    for (size_t c = 0; c < x->classes->at.n && is_known; c++) {
        least[c] = DFL_NEW_ARRAY(x->arena, double, x->classes->at.at[c].patterns.n * n_figures + 1);
        is_known = find_figures(x, &x->classes->at.at[c], n_figures, least[c]);
    }
    for (uint32_t f = 0; f < n_figures && is_known && !dfl_deadline_passed(x->deadline); f++) {
        const double sum = add_figures(x, least, n_figures, f);
        joules = f == ENERGY ? fmax(joules, sum) : joules;
        seconds = f != ENERGY ? fmax(seconds, sum) : seconds;
    }
    x->lines[x->n_lines++] = (dfl_line_bound){ 1, 0, joules };
    x->lines[x->n_lines++] = (dfl_line_bound){ 0, 1, seconds };
}

/* Raises the bound of a line; 0 if nothing fits, since a mapping is known: no bound holds then. */
static double raise_line(dfl_matched_tiles *m, double enough)
{
    const double bound = dfl_matched_tiles_raise(m, enough);

    return bound < INFINITY ? bound : 0;
}

/* Begins the lower bound of per_joule * J + per_second * S: with einsums that agree on memories; with `is_whole`, also with whole
   numbers of parts on axes. */
static dfl_matched_tiles *add_line(exchange *x, double per_joule, double per_second, bool is_whole)
{
    const dfl_objective line = dfl_objective_line(x->objective, per_joule, per_second);
    dfl_matched_tiles *m = dfl_matched_tiles_new(x->arena, x->classes, &line, x->deadline, &x->programs);

    if (x->has_firsts && !(is_whole && x->classes->n == 1)) /* B58 holds for programs without first tiles */
        dfl_matched_tiles_first_tiles(m, x->firsts);
    if (is_whole)
        dfl_matched_tiles_whole_parts(m, per_joule * x->joules + per_second * x->seconds);
    x->lines[x->n_lines++] = (dfl_line_bound){ per_joule, per_second, raise_line(m, 0) };
    return m;
}

/* Slope of the objective in energy without leakage and in time. */
static void find_slope(const exchange *x, double joules, double seconds, double *per_joule, double *per_second)
{
    dfl_objective_slopes(x->objective, 0, joules + x->leakage * seconds, seconds, per_joule, per_second);
    *per_second += x->leakage * *per_joule;
}

/* The vertex of least value, and the slope there. */
static double find_vertex(const exchange *x, double *per_joule, double *per_second)
{
    const dfl_lines_vertex v = dfl_lines_least(x->objective, x->leakage, x->lines, x->n_lines);

    find_slope(x, v.joules, v.seconds, per_joule, per_second);
    return v.value;
}

/* Adds a line with the slope of the objective, or the line of time alone. */
static dfl_matched_tiles *add_slope(exchange *x, double per_joule, double per_second, bool is_whole)
{
    return add_line(x, per_joule > 0 ? 1 : 0, per_joule > 0 ? per_second / per_joule : 1, is_whole);
}

/* Whether lines over whole numbers may raise the bound: of lengths for one einsum, of parts if an einsum has axes. */
static bool has_whole(const exchange *x)
{
    bool found = x->classes->n == 1;

    for (uint32_t e = 0; e < x->classes->n; e++)
        for (size_t i = 0; i < x->classes->problems[e].n; i++)
            found |= x->classes->problems[e].at[i]->n_axes > 0;
    return found;
}

/* Adds lines over whole numbers of parts (B57), each through the vertex where the objective is least, until one raises this least
   value by less than DFL_EXCHANGE_RAISE. A line that raises it is then raised once more by tiles (B43). Returns the value. */
static double add_whole_lines(exchange *x, double value)
{
    double before = 0, per_joule, per_second;

    for (uint32_t i = 0; i < DFL_EXCHANGE_WHOLE && has_whole(x) && value > before * (1 + DFL_EXCHANGE_RAISE) &&
                         !dfl_deadline_passed(x->deadline); i++) {
        dfl_matched_tiles *m;
        before = value;
        (void)find_vertex(x, &per_joule, &per_second);
        m = add_slope(x, per_joule, per_second, true);
        value = fmax(value, find_vertex(x, &per_joule, &per_second));
        if (value > before && !dfl_deadline_passed(x->deadline))
            x->lines[x->n_lines - 1].least = raise_line(m, INFINITY);
        dfl_matched_tiles_free(m);
        value = fmax(value, find_vertex(x, &per_joule, &per_second));
    }
    return value;
}

/* Adds up to DFL_EXCHANGE_MIXES lines: the first has the slope given, each further one that of the vertex of least value, as long
   as lines raise this value. `*m` has the tiles of the last line; those of lines before it are freed. Returns the value. */
static double add_mixes(exchange *x, double per_joule, double per_second, double value, dfl_matched_tiles **m)
{
    const uint32_t end = x->n_lines + DFL_EXCHANGE_MIXES;
    double before;

    do {
        if (*m != NULL)
            dfl_matched_tiles_free(*m);
        *m = add_slope(x, per_joule, per_second, false);
        before = value;
        value = fmax(value, find_vertex(x, &per_joule, &per_second));
    } while (value > before * (1 + DFL_EXCHANGE_RAISE) && x->n_lines < end && !dfl_deadline_passed(x->deadline));
    return value;
}

/* Adds lines with first tiles (B60), in which some transfers do not count. If they do not raise the value, one line without first
   tiles is added, as are all that follow. Returns the value. */
static double add_firsts(exchange *x, double value, dfl_matched_tiles **m)
{
    double per_joule, per_second, raised;

    if (x->firsts[0].memory == DFL_NONE || dfl_deadline_passed(x->deadline))
        return value;
    (void)find_vertex(x, &per_joule, &per_second);
    x->has_firsts = true;
    raised = add_mixes(x, per_joule, per_second, value, m);
    x->has_firsts = raised > value;
    if (!x->has_firsts && !dfl_deadline_passed(x->deadline)) {
        dfl_matched_tiles_free(*m);
        *m = add_slope(x, per_joule, per_second, false);
    }
    return raised;
}

/* Adds lines: the ends, the one that touches the objective at the mapping that is known, and those through the vertex of least
   value, as long as they raise it. Einsums agree on memories at first, on tiles in the lines through the last vertices. */
static double add_lines(exchange *x, const dfl_floor *floor, double joules, double seconds)
{
    dfl_matched_tiles *m = NULL;
    double per_joule, per_second, value, before;
    uint32_t matched = 0;

    find_slope(x, joules, seconds, &per_joule, &per_second);
    add_ends(x, floor);
    value = add_mixes(x, per_joule, per_second, 0, &m);
    value = add_firsts(x, value, &m);
    while (m != NULL) {
        x->lines[x->n_lines - 1].least = raise_line(m, INFINITY);
        dfl_matched_tiles_free(m);
        before = value;
        value = fmax(value, find_vertex(x, &per_joule, &per_second));
        m = ++matched < DFL_EXCHANGE_MATCHED && value > before * (1 + DFL_EXCHANGE_RAISE) && !dfl_deadline_passed(x->deadline)
                ? add_slope(x, per_joule, per_second, false) : NULL;
    }
    return add_whole_lines(x, value);
}

/* Whether the objective counts time. */
static bool counts_time(const dfl_mapping *mapping, const dfl_objective *objective)
{
    dfl_tile_goal goal = { .of = { .objective = objective, .leakage = dfl_system_leakage(mapping->system) } };

    dfl_weights_look(objective, false, &goal);
    return goal.by_time;
}

dfl_einsum_classes *dfl_exchange_list(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                      const dfl_objective *objective, const dfl_search_limits *limits)
{
    const dfl_problem_limits all = { .spread = true, .unjoined = true, .common_loops = !counts_time(mapping, objective) };
    dfl_einsum_classes *classes = DFL_NEW(arena, dfl_einsum_classes);
    dfl_arena *scratch = dfl_arena_new(dfl_arena_budget(arena));
    dfl_sink *quiet = dfl_sink_quiet(scratch);
    dfl_stop why = DFL_STOP_NONE;
    bool is_found;

    is_found = dfl_einsum_classes_make_within(arena, scratch, quiet, names, mapping, &all, limits, classes, &why);
    dfl_arena_free(scratch);
    return is_found ? classes : NULL;
}

size_t dfl_exchange_skeletons(const dfl_einsum_classes *classes)
{
    size_t n = 0;

    for (size_t c = 0; c < classes->at.n; c++)
        n += classes->at.at[c].candidates.n;
    return n;
}

bool dfl_exchange_has_windows(const dfl_einsum_classes *classes) { return dfl_einsum_classes_windows(classes); }

/* Whether the einsums of a repeat are neighbours in workload order, in each phase. */
static bool is_block(const dfl_workload *w, uint32_t rank)
{
    uint32_t n[DFL_PHASE_UPDATE + 1] = { 0 };
    bool is_one = true;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *einsum = &w->einsums[e], *before = e > 0 ? &w->einsums[e - 1] : NULL;
        const bool goes_on = before != NULL && before->phase == einsum->phase && dfl_einsum_has_rank(before, rank);
        n[einsum->phase] += dfl_einsum_has_rank(einsum, rank) && !goes_on;
        is_one &= n[einsum->phase] <= 1;
    }
    return is_one;
}

/* Whether the same memories and networks of the system take both tensors, of one type. */
static bool are_alike(const dfl_system *s, const dfl_tensor *a, const dfl_tensor *b)
{
    bool alike = a->type.bits == b->type.bits && a->role == DFL_ROLE_INTERMEDIATE && b->role == DFL_ROLE_INTERMEDIATE;

    for (uint32_t m = 0; m < s->n_memories; m++)
        alike &= dfl_selects(&s->memories[m].holds, a) == dfl_selects(&s->memories[m].holds, b);
    for (uint32_t x = 0; x < s->n_axes; x++)
        alike &= dfl_selects(&s->axes[x].multicast, a) == dfl_selects(&s->axes[x].multicast, b) &&
                 dfl_selects(&s->axes[x].reduce, a) == dfl_selects(&s->axes[x].reduce, b);
    return alike;
}

/* Whether the sums hold for the repeats of the workload (B53). */
static bool knows_repeats(const dfl_mapping *m)
{
    const dfl_workload *w = m->workload;
    bool knows = true;

    for (uint32_t c = 0; c < w->n_carries; c++)
        knows &= is_block(w, w->carries[c].rank) &&
                 are_alike(m->system, &w->tensors[w->carries[c].from], &w->tensors[w->carries[c].to]);
    return knows;
}

dfl_exchange_result dfl_exchange_bound(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_objective *objective, double joules, double seconds,
                                       dfl_einsum_classes *classes, const dfl_search_limits *limits)
{
    dfl_deadline deadline = { .budget = dfl_arena_budget(arena), .at = limits->deadline };
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(arena));
    exchange x = { .arena = work, .classes = classes, .objective = objective, .deadline = &deadline,
                   .leakage = dfl_system_leakage(mapping->system), .joules = joules, .seconds = seconds };
    dfl_exchange_result out = { 0 };

    deadline.counter = &x.programs;
    deadline.most_evaluations = limits->evaluations;
    if (objective->native && dfl_mapping_all_lines_open(mapping)) {
        const dfl_floor floor = dfl_workload_floor(work, names, mapping);
        out.value = dfl_objective_value(objective, floor.joules + x.leakage * floor.seconds, floor.seconds);
        if (classes != NULL && knows_repeats(mapping)) {
            x.firsts = dfl_first_tiles_find(work, classes);
            out.value = fmax(out.value, add_lines(&x, &floor, joules, seconds));
        }
    }
    out.programs = x.programs;
    out.stopped = deadline.why;
    dfl_arena_free(work);
    return out;
}
