#include "solve/line_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/conditions.h"
#include "mapper/problem/evaluate.h"
#include "support/deadline.h"
#include "support/limits.h"

enum { TILES_TRIED = 24 };   /* divisors of an extent that are tried as sizes of new tiles, at most */

/* Room for changes of the best lines. */
typedef struct {
    dfl_line lines[DFL_LINES_MOST + 2];
    uint32_t n;
} draft;

bool dfl_line_search_is_over(const dfl_line_search *search)
{
    return search->evaluated >= search->most || !dfl_budget_ok(search->solver->budget) ||
           (search->deadline > 0 && search->evaluated >= search->least &&
            dfl_budget_time(search->solver->budget) >= search->deadline);
}

/* Whether the time is over, or the search was interrupted. */
static bool is_late(const dfl_line_search *search)
{
    return !dfl_budget_ok(search->solver->budget) ||
           (search->deadline > 0 && dfl_budget_time(search->solver->budget) >= search->deadline);
}

/* ---- one evaluation ---- */

/* Whether each loop divides what the loops above it left of its rank. */
static bool is_even(const dfl_workload *w, const dfl_line *lines, uint32_t n)
{
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        int64_t left = w->ranks[r].extent;
        for (uint32_t i = 0; i < n; i++) {
            if (lines[i].kind == DFL_LINE_KEEP || lines[i].rank != r)
                continue;
            if (left % lines[i].amount != 0)
                return false;
            left = lines[i].by == DFL_BY_PARTS ? left / lines[i].amount : lines[i].amount;
        }
    }
    return true;
}

/* The first memory that keeps a tensor; DFL_NONE if none does. */
static uint32_t home_in(const dfl_line *lines, uint32_t n, uint32_t tensor)
{
    for (uint32_t i = 0; i < n; i++)
        if (lines[i].kind == DFL_LINE_KEEP && lines[i].tensor == tensor)
            return lines[i].memory;
    return DFL_NONE;
}

/* Tiles above the innermost keep, counted over the ranks with conditions. The evaluation visits each of them. */
static double count_visited(const dfl_workload *w, const dfl_line *lines, uint32_t n)
{
    const dfl_einsum *e = &w->einsums[0];
    double visited = 1, counted = 1;

    for (uint32_t r = 0; r < w->n_ranks; r++) {
        int64_t left = w->ranks[r].extent;
        if (!dfl_conditions_have_rank(e, r))
            continue;
        visited = counted;
        for (uint32_t i = 0; i < n; i++)
            if (lines[i].kind == DFL_LINE_KEEP) {
                counted = visited;
            } else if (lines[i].rank == r) {
                const int64_t amount = lines[i].amount;
                const int64_t tile = lines[i].by == DFL_BY_PARTS ? (left + amount - 1) / amount : amount;
                visited *= (double)left / (double)tile;
                left = tile;
            }
    }
    return counted;
}

/* Parts of ranks with conditions on instances. The parts differ, and the evaluation counts the transfers of each of them. */
static double count_parts(const dfl_einsum *e, const dfl_line *lines, uint32_t n)
{
    double parts = 1;

    for (uint32_t i = 0; i < n; i++)
        if (lines[i].kind == DFL_LINE_SPATIAL && lines[i].by == DFL_BY_PARTS && dfl_conditions_have_rank(e, lines[i].rank))
            parts *= (double)lines[i].amount;
    return parts;
}

/* Whether the search may return the lines. Homes are those of the best lines and stand above all temporal loops. No loop iterates
   the rank that an operation takes whole. Tile sizes divide unless the request allows others or the lines are a start. */
static bool is_allowed(const dfl_line_search *search, const dfl_line *lines, uint32_t n, bool is_template)
{
    const dfl_workload *w = search->one->workload;
    bool has_loop = false;

    for (uint32_t t = 0; t < w->n_tensors && search->best.n_lines > 0; t++)
        if (home_in(lines, n, t) != home_in(search->best.lines, search->best.n_lines, t))
            return false;
    for (uint32_t i = 0; i < n; i++) {
        bool is_home = lines[i].kind == DFL_LINE_KEEP;
        for (uint32_t k = 0; k < i && is_home; k++)
            is_home = lines[k].kind != DFL_LINE_KEEP || lines[k].tensor != lines[i].tensor;
        if (is_home && has_loop)
            return false;
        has_loop |= lines[i].kind == DFL_LINE_TEMPORAL;
        if (lines[i].kind != DFL_LINE_KEEP && lines[i].rank == search->over)
            return false;
    }
    return search->uneven || search->is_uneven || is_template || is_even(w, lines, n);
}

/* Copies lines to `out`, with the keeps of tensors that one tensor stands for in the exact einsum as keeps of that tensor, once
   in each memory. Returns their number. */
static uint32_t join_keeps(const dfl_lone_einsum *one, const dfl_line *lines, uint32_t n, dfl_line *out)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool is_double = false;

        out[used] = lines[i];
        if (lines[i].kind == DFL_LINE_KEEP) {
            out[used].tensor = one->same[lines[i].tensor];
            for (uint32_t k = 0; k < used; k++)
                is_double |= out[k].kind == DFL_LINE_KEEP && out[k].tensor == out[used].tensor &&
                             out[k].memory == out[used].memory;
        }
        used += !is_double;
    }
    return used;
}

/* The value of lines for the einsum alone or for its exact form; INFINITY if they are not legal, or if their evaluation takes
   more than `most_steps` or passes the deadline. */
static double value_within(dfl_line_search *search, const dfl_workload *workload, const dfl_line *lines, uint32_t n,
                           uint32_t unit, uint64_t most_steps)
{
    const dfl_solver *solver = search->solver;
    dfl_mapping *m;
    dfl_body *root, **bodies;
    uint32_t *ids;
    const dfl_result *r;

    search->budget.steps_used = 0;
    search->budget.steps_limit = most_steps;
    search->budget.why = DFL_STOP_NONE;
    search->budget.deadline = search->evaluated >= search->least ? search->deadline : 0;
    dfl_arena_reset(search->work);
    search->evaluated++;
    m = DFL_NEW(search->work, dfl_mapping);
    root = DFL_NEW(search->work, dfl_body);
    bodies = DFL_NEW_ARRAY(search->work, dfl_body *, 1);
    ids = DFL_NEW_ARRAY(search->work, uint32_t, 1);
    *root = (dfl_body){ .kind = DFL_BODY_LEAF, .span = search->given->root->span, .einsums = ids, .n_einsums = 1,
                        .compute = unit, .compute_span = search->given->root->span, .n_lines = n };
    root->lines = DFL_NEW_ARRAY(search->work, dfl_line, (size_t)n + 1);
    if (workload == search->one->exact) {
        root->n_lines = join_keeps(search->one, lines, n, root->lines);
    } else {
        memcpy(root->lines, lines, n * sizeof *lines);
    }
    bodies[0] = root;
    *m = *search->given;
    m->workload = workload;
    m->system = search->one->system;
    m->root = root;
    m->bodies = bodies;
    m->n_bodies = 1;
    m->has_holes = false;
    r = dfl_mapping_costs(search->work, solver->names, m);
    return r ? dfl_objective_value(search->objective, r->joules, r->seconds) : INFINITY;
}

/* The value of lines for the einsum alone, without its conditions. */
static double value_of(dfl_line_search *search, const dfl_line *lines, uint32_t n)
{
    return value_within(search, search->one->whole, lines, n, search->unit, DFL_LINE_SEARCH_STEPS);
}

bool dfl_line_search_fits(dfl_line_search *search, const dfl_line *lines, uint32_t n)
{
    return !isinf(value_of(search, lines, n));
}

bool dfl_line_search_try(dfl_line_search *search, const dfl_line *lines, uint32_t n, bool is_template)
{
    dfl_line *kept;
    dfl_valued_lines valued;
    bool is_better;

    if (n == 0 || n > DFL_LINES_MOST || !is_allowed(search, lines, n, is_template))
        return false;
    valued.value = value_of(search, lines, n);
    is_better = !isinf(valued.value) &&
                (isinf(search->value) || dfl_value_times(valued.value, 1 + DFL_VALUE_TOLERANCE) < search->value);
    if (isinf(valued.value) || (!is_better && (!is_template || !search->one->exact)))
        return false;
    kept = DFL_NEW_ARRAY(search->arena, dfl_line, (size_t)n + 1);
    memcpy(kept, lines, n * sizeof *lines);
    valued.found = (dfl_found_lines){ kept, n, search->unit };
    valued.order = search->valued.n;
    valued.work = search->one->exact ? count_parts(search->one->exact->einsums, lines, n) *
                                           count_visited(search->one->exact, lines, n)
                                     : 0;
    if (search->one->exact)
        DFL_PUSH(search->arena, &search->valued, valued);
    if (is_better) {
        search->best = valued.found;
        search->value = valued.value;
        search->is_uneven = !is_even(search->one->workload, lines, n);
    }
    return is_better;
}

/* ---- changes of the best lines ---- */

static draft copy_best(const dfl_line_search *search)
{
    draft out = { .n = search->best.n_lines };

    memcpy(out.lines, search->best.lines, out.n * sizeof *out.lines);
    return out;
}

static void insert(draft *d, uint32_t at, dfl_line line)
{
    memmove(&d->lines[at + 1], &d->lines[at], (d->n - at) * sizeof *d->lines);
    d->lines[at] = line;
    d->n++;
}

static void take_out(draft *d, uint32_t at)
{
    memmove(&d->lines[at], &d->lines[at + 1], (d->n - at - 1) * sizeof *d->lines);
    d->n--;
}

/* The least divisor of `of` that is at least `least`; `of` >= `least` >= 1. Takes at most 2 * sqrt(of) steps: above the root it
   goes through the other factors. */
static int64_t divisor_from(int64_t of, int64_t least)
{
    int64_t d = least;

    for (; d <= of / d; d++)
        if (of % d == 0)
            return d;
    for (int64_t other = of / d; other > 1; other--)
        if (of % other == 0)
            return of / other;
    return of;
}

/* The next divisor of `of` above `from`, or below it; `from` if there is none. A divisor below goes with another factor above. */
static int64_t next_divisor(int64_t of, int64_t from, bool up)
{
    if (up)
        return from < of ? divisor_from(of, from + 1) : from;
    return from > 1 ? of / divisor_from(of, of / from + 1) : from;
}

static bool try_draft(dfl_line_search *search, const draft *d) { return dfl_line_search_try(search, d->lines, d->n, false); }

/* Changes the amount of each loop to the next divisor as long as that helps; also of two loops in opposite directions. */
static bool change_amounts(dfl_line_search *search)
{
    const dfl_workload *w = search->one->workload;
    bool any = false;

    for (uint32_t i = 0; i < search->best.n_lines; i++)
        for (uint32_t way = 0; way < 2 && !dfl_line_search_is_over(search); way++) {
            const dfl_line *line = &search->best.lines[i];
            draft d = copy_best(search);
            if (line->kind == DFL_LINE_KEEP || (line->kind == DFL_LINE_TEMPORAL && line->amount == 1))
                continue;
            d.lines[i].amount = next_divisor(w->ranks[line->rank].extent, line->amount, way == 0);
            if (d.lines[i].amount == line->amount)
                continue;
            if (try_draft(search, &d)) {
                any = true;
                way--;
                continue;
            }
            for (uint32_t k = 0; k < search->best.n_lines && !dfl_line_search_is_over(search); k++) {
                const dfl_line *other = &search->best.lines[k];
                draft both = d;
                if (k == i || other->kind == DFL_LINE_KEEP || (other->kind == DFL_LINE_TEMPORAL && other->amount == 1))
                    continue;
                both.lines[k].amount = next_divisor(w->ranks[other->rank].extent, other->amount, way != 0);
                if (both.lines[k].amount != other->amount && try_draft(search, &both)) {
                    any = true;
                    break;
                }
            }
        }
    return any;
}

/* Moves each line to each other place. */
static bool move_lines(dfl_line_search *search)
{
    bool any = false;

    for (uint32_t i = 0; i < search->best.n_lines; i++)
        for (uint32_t to = 0; to < search->best.n_lines && !dfl_line_search_is_over(search); to++) {
            draft d = copy_best(search);
            const dfl_line line = d.lines[i];
            if (to == i)
                continue;
            take_out(&d, i);
            insert(&d, to, line);
            any |= try_draft(search, &d);
        }
    return any;
}

static bool remove_lines(dfl_line_search *search)
{
    bool any = false;

    for (uint32_t i = search->best.n_lines; i-- > 0 && !dfl_line_search_is_over(search);) {
        draft d = copy_best(search);
        if (i >= d.n)
            continue;
        take_out(&d, i);
        any |= try_draft(search, &d);
    }
    return any;
}

static dfl_line new_line(const dfl_line_search *search, dfl_line line)
{
    line.span = line.amount_span = search->given->hole_span;
    return line;
}

static bool may_hold(const dfl_line_search *search, uint32_t memory, uint32_t tensor)
{
    const dfl_memory *m = &search->one->system->memories[memory];

    return !m->holds.on || dfl_selects(&m->holds, &search->one->workload->tensors[tensor]);
}

/* Adds a keep of each tensor in each memory at each place, below a new tile of each rank if `tiles`. */
static bool add_keeps(dfl_line_search *search, bool tiles)
{
    const dfl_workload *w = search->one->workload;
    bool any = false;

    for (uint32_t t = 0; t < w->n_tensors; t++)
        for (uint32_t m = 0; m < search->one->system->n_memories; m++)
            for (uint32_t at = 1; may_hold(search, m, t) && at <= search->best.n_lines; at++) {
                const dfl_line keep = new_line(search, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = t, .memory = m });
                if (search->best.n_lines + 2 > DFL_LINES_MOST || dfl_line_search_is_over(search))
                    return any;
                if (!tiles) {
                    draft d = copy_best(search);
                    insert(&d, at, keep);
                    any |= try_draft(search, &d);
                    continue;
                }
                for (uint32_t r = 0; r < w->n_ranks; r++) {
                    int64_t size = next_divisor(w->ranks[r].extent, w->ranks[r].extent, false);
                    for (uint32_t k = 0; k < TILES_TRIED && size > 1 && search->best.n_lines + 2 <= DFL_LINES_MOST; k++) {
                        draft d = copy_best(search);
                        if (dfl_line_search_is_over(search))
                            return any;
                        insert(&d, at, keep);
                        insert(&d, at, new_line(search, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = r, .amount = size }));
                        any |= try_draft(search, &d);
                        size = next_divisor(w->ranks[r].extent, size, false);
                    }
                }
            }
    return any;
}

/* Adds a spatial line of each rank on each axis at each place. */
static bool add_spatial(dfl_line_search *search)
{
    const dfl_workload *w = search->one->workload;
    const dfl_system *s = search->one->system;
    bool any = false;

    for (uint32_t a = 0; a < s->n_axes; a++)
        for (uint32_t r = 0; r < w->n_ranks; r++)
            for (uint32_t at = 0; at <= search->best.n_lines; at++)
                for (int64_t parts = next_divisor(w->ranks[r].extent, 1, true); parts > 1 && parts <= s->axes[a].size;) {
                    const int64_t next = next_divisor(w->ranks[r].extent, parts, true);
                    draft d = copy_best(search);
                    if (d.n + 1 > DFL_LINES_MOST || dfl_line_search_is_over(search))
                        return any;
                    if (at > d.n)
                        break;
                    insert(&d, at, new_line(search, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = r, .by = DFL_BY_PARTS,
                                                                .amount = parts, .axis = a }));
                    any |= try_draft(search, &d);
                    parts = next > parts ? next : 0;
                }
    return any;
}

/* Fills the axis of each spatial line: gives the line all instances that other lines leave, although the parts may be uneven. */
static bool fill_axes(dfl_line_search *search)
{
    bool any = false;

    for (uint32_t i = 0; i < search->best.n_lines && !dfl_line_search_is_over(search); i++) {
        draft d = copy_best(search);
        int64_t free;

        if (d.lines[i].kind != DFL_LINE_SPATIAL || d.lines[i].by != DFL_BY_PARTS)
            continue;
        free = search->one->system->axes[d.lines[i].axis].size;
        for (uint32_t k = 0; k < d.n; k++)
            if (k != i && d.lines[k].kind == DFL_LINE_SPATIAL && d.lines[k].axis == d.lines[i].axis)
                free /= d.lines[k].amount > 0 ? d.lines[k].amount : 1;
        if (free <= d.lines[i].amount)
            continue;
        d.lines[i].amount = free;
        any |= dfl_line_search_try(search, d.lines, d.n, true);
    }
    return any;
}

/* ---- all of it ---- */

/* By value, then by the order in which the lines were found: qsort keeps no order of equals. */
static int compare_values(const void *a, const void *b)
{
    const dfl_valued_lines *one = a, *other = b;

    if (one->value != other->value)
        return one->value < other->value ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

/* By the work of an evaluation, then like compare_values. */
static int compare_work(const void *a, const void *b)
{
    const dfl_valued_lines *one = a, *other = b;

    return one->work != other->work ? (one->work < other->work ? -1 : 1) : compare_values(a, b);
}

/* Of the lines that were evaluated for another form of the einsum, the best ones for the exact one whose evaluation takes at most
   `most_steps`, for the first lines `first_steps`, among the first `most`; where time is short, the first. False if there are
   none. */
static bool choose_within(dfl_line_search *search, uint64_t first_steps, uint64_t most_steps, size_t most, bool hurries)
{
    const uint32_t enough = hurries ? 1 : DFL_LINE_SEARCH_LEGAL;
    double value = INFINITY;
    uint32_t n_legal = 0;

    for (size_t i = 0; i < search->valued.n && i < most && n_legal < enough; i++) {
        if (i >= DFL_LINE_SEARCH_EXACT && (n_legal > 0 || search->one->has_where))
            break;
        if (n_legal > 0 && is_late(search))
            break;
        const dfl_valued_lines *v = &search->valued.at[i];
        const double exact = value_within(search, search->one->exact, v->found.lines, v->found.n_lines, v->found.unit,
                                          i == 0 ? first_steps : most_steps);
        n_legal += !isinf(exact);
        if (exact < value) {
            search->best = v->found;
            value = exact;
        }
    }
    return n_legal > 0;
}

/* Whether an interrupt, or a limit of the session, is the end of all searches. */
static bool is_stopped(const dfl_line_search *search)
{
    return search->hurries || !dfl_budget_ok(search->solver->budget);
}

/* Chooses lines whose exact evaluation is short, also after the session was stopped: the best ones that can be evaluated within
   the grace time, else the ones with the shortest evaluation. */
static bool choose_short(dfl_line_search *search)
{
    const bool is_cut = is_stopped(search) && (search->is_interrupted || search->solver->budget->why == DFL_STOP_CANCELLED);

    search->budget.cancel = NULL;
    if (is_cut) {
        search->budget.work = NULL; /* elapsed time counts: the user waits for the result */
        search->deadline = dfl_budget_time(&search->budget) + DFL_GRACE_LEAST_SECONDS;
        search->least = 0;
    }
    if (search->valued.n > 0)
        qsort(search->valued.at, search->valued.n, sizeof *search->valued.at, compare_values);
    if (choose_within(search, DFL_LINE_SEARCH_SHORT_STEPS, DFL_LINE_SEARCH_SHORT_STEPS, DFL_LINE_SEARCH_SHORT, true))
        return true;
    if (is_cut)
        search->deadline = 0;
    if (search->valued.n > 0)
        qsort(search->valued.at, search->valued.n, sizeof *search->valued.at, compare_work);
    return choose_within(search, DFL_LINE_SEARCH_HURRY_STEPS, DFL_LINE_SEARCH_HURRY_STEPS, SIZE_MAX, true);
}

/* Chooses among the lines that were evaluated for another form of the einsum. False if none of them will do. */
static bool choose_exact(dfl_line_search *search)
{
    const bool hurries = search->hurries || is_late(search);

    if (hurries && choose_short(search))
        return true;
    if (!is_stopped(search) || !search->one->has_where) {
        if (!hurries && search->valued.n > 0)
            qsort(search->valued.at, search->valued.n, sizeof *search->valued.at, compare_values);
        if (!hurries && search->one->has_where &&
            choose_within(search, DFL_LINE_SEARCH_LONG_STEPS, DFL_LINE_SEARCH_EXACT_STEPS, DFL_LINE_SEARCH_LEGAL, false))
            return true;
        if (!hurries && search->one->has_where && choose_short(search))
            return true;
        if (choose_within(search, DFL_LINE_SEARCH_EXACT_STEPS, DFL_LINE_SEARCH_EXACT_STEPS, SIZE_MAX, hurries))
            return true;
    }
    return is_stopped(search) ? !hurries && choose_short(search) : search->one->has_where;
}

void dfl_line_search_start(dfl_arena *arena, dfl_line_search *search)
{
    search->arena = arena;
    search->budget = dfl_budget_fresh(search->solver->budget);
    search->work = dfl_arena_new(&search->budget);
    search->best = (dfl_found_lines){ NULL, 0, DFL_NONE };
    search->value = INFINITY;
    search->is_uneven = false;
    search->unit = DFL_NONE;
}

void dfl_line_search_climb(dfl_line_search *search)
{
    search->unit = search->best.unit;
    while (!isinf(search->value) && !dfl_line_search_is_over(search))
        if (!change_amounts(search) && !move_lines(search) && !remove_lines(search) && !add_keeps(search, false) &&
            !add_spatial(search) && !add_keeps(search, true) && !(search->inside && fill_axes(search)))
            break;
}

dfl_found_lines dfl_line_search_end(dfl_line_search *search)
{
    if (search->one->exact && !choose_exact(search))
        search->best = (dfl_found_lines){ NULL, 0, DFL_NONE };
    dfl_arena_free(search->work);
    search->work = NULL;
    return search->best;
}
