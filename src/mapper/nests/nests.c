#include "mapper/nests/nests.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/nests/keep_costs.h"
#include "mapper/nests/keep_orders.h"
#include "mapper/nests/ragged_nest.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/floor.h"
#include "mapper/problem/limits.h"
#include "support/deadline.h"

/* Keeps of one operand that a nest may have. */
typedef struct {
    dfl_nest_keeps keeps;
    uint32_t last;                 /* loops above the last keep */
    uint32_t inmost[DFL_PROBLEM_PLACES]; /* by keep: most loops above it with the same transfers */
    const dfl_keep_costs *costs;
} choice;

typedef struct {
    dfl_arena *lists;              /* choices of the last nest */
    dfl_arena *arena;
    const dfl_mapping *given;
    const dfl_objective *objective;
    double leakage, launch;
    dfl_floor floor;               /* of the problem */
    double others[DFL_PROBLEM_OPERANDS]; /* by operand: energy of the points and of the operands before it, J, at least */
    double work_seconds;           /* of the nest: work of the unit */
    const dfl_problem *problem;
    dfl_keep_book *book;
    const dfl_bare_nest *nest;
    DFL_VEC(choice) choices[DFL_PROBLEM_OPERANDS];
    dfl_keep_costs least[DFL_PROBLEM_OPERANDS + 1]; /* by operand: the least that it and those behind it add, figure by figure */
    uint32_t ends;                 /* loops behind so many are in the one order in which they are written below the last keep */
    uint64_t needs;                /* mask: between neighbouring loops over one rank stands a keep */
    dfl_order_kinds kinds;         /* of the places */
    dfl_nest_keep keep[DFL_PROBLEM_KEEPS]; /* at their outermost places */
    uint32_t inmost[DFL_PROBLEM_KEEPS];
    double least_value;            /* of all orders of these keeps */
    uint64_t work;                 /* evaluations, and DFL_NESTS_SUMS sums each */
    uint32_t sums;
    dfl_deadline deadline;
    dfl_nests_result out;
} searcher;

/* ---- sums ---- */

static void add(const dfl_keep_costs *a, const dfl_keep_costs *b, dfl_keep_costs *out)
{
    out->joules = a->joules + b->joules;
    out->own = a->own + b->own;
    for (uint32_t p = 0; p < DFL_NEST_PORTS; p++) {
        out->busy[p] = a->busy[p] + b->busy[p];
        out->waits[p] = a->waits[p] + b->waits[p];
        out->served[p] = a->served[p] + b->served[p];
    }
    for (uint32_t l = 0; l < DFL_NEST_LINKS; l++)
        out->links[l] = a->links[l] + b->links[l];
    for (uint32_t p = 0; p < DFL_PROBLEM_PLACES; p++)
        out->room[p] = a->room[p] + b->room[p];
    out->input.latency = fmax(a->input.latency, b->input.latency);
    out->input.ramp = fmax(a->input.ramp, b->input.ramp);
    out->result.latency = a->result.latency + b->result.latency;
    out->result.ramp = a->result.ramp + b->result.ramp;
}

static void take_least(dfl_keep_costs *out, const dfl_keep_costs *other)
{
    out->joules = fmin(out->joules, other->joules);
    out->own = fmin(out->own, other->own);
    for (uint32_t p = 0; p < DFL_NEST_PORTS; p++) {
        out->busy[p] = fmin(out->busy[p], other->busy[p]);
        out->waits[p] = fmin(out->waits[p], other->waits[p]);
        out->served[p] = fmin(out->served[p], other->served[p]);
    }
    for (uint32_t l = 0; l < DFL_NEST_LINKS; l++)
        out->links[l] = fmin(out->links[l], other->links[l]);
    for (uint32_t p = 0; p < DFL_PROBLEM_PLACES; p++)
        out->room[p] = fmin(out->room[p], other->room[p]);
    out->input.latency = fmin(out->input.latency, other->input.latency);
    out->input.ramp = fmin(out->input.ramp, other->input.ramp);
    out->result.latency = fmin(out->result.latency, other->result.latency);
    out->result.ramp = fmin(out->result.ramp, other->result.ramp);
}

/* Whether all that `sum` holds has room, homes outside of arrays included (rule D14). */
static bool has_room(const dfl_problem *problem, const dfl_keep_costs *sum)
{
    bool has = true;

    for (uint32_t p = 0; p < problem->n_places; p++)
        has &= sum->room[p] <= problem->place[p].bits;
    return has;
}

/* Seconds besides the work, at least, where some operands have these ends and waits (lemma B35). */
static double bound_ends(const dfl_keep_costs *sum)
{
    double waits = 0;

    for (uint32_t p = 0; p < DFL_NEST_PORTS; p++)
        waits = fmax(waits, sum->waits[p]);
    return fmax(waits + sum->input.latency + sum->result.latency, sum->input.ramp + sum->result.ramp);
}

/* Lower bound of the objective of mappings that cost at least `sum`; INFINITY if they have no room (lemma B35). */
static double bound(const searcher *s, const dfl_keep_costs *sum)
{
    const dfl_keep_costs *base = &s->book->base;
    double busy = 0, joules, seconds;

    if (!has_room(s->problem, sum))
        return INFINITY;
    if (!s->book->is_known)
        return -INFINITY;
    for (uint32_t p = 0; p < DFL_NEST_PORTS; p++)
        busy = fmax(busy, sum->busy[p] - DFL_NESTS_ROUNDING * base->busy[p]);
    for (uint32_t l = 0; l < DFL_NEST_LINKS; l++)
        busy = fmax(busy, sum->links[l] - DFL_NESTS_ROUNDING * base->links[l]);
    joules = fmax(0, sum->joules - DFL_NESTS_ROUNDING * base->joules);
    seconds = s->launch + fmax(busy, s->book->compute_seconds + bound_ends(sum));
    return dfl_objective_value(s->objective, joules + s->leakage * seconds, seconds);
}

/* Lower bound of the objective by the work of a nest and the floor of the energy (lemma B33). */
static double bound_work(const searcher *s)
{
    const double seconds = fmax(s->floor.seconds, s->launch + s->work_seconds);

    return dfl_objective_value(s->objective, s->floor.joules + s->leakage * seconds, seconds);
}

/* Lower bound of the objective over mappings of the nest (lemma B59). `sum` has lower bounds for the operands `first`, `first` +
   1 and so on together: its energies, times and ends are 0 where nothing is known. */
static double bound_own(const searcher *s, uint32_t first, const dfl_keep_costs *sum)
{
    const double joules = fmax(s->floor.joules, sum->own + s->others[first]);
    double busy = s->work_seconds + bound_ends(sum), seconds;

    for (uint32_t p = 0; p < DFL_NEST_PORTS; p++)
        busy = fmax(busy, sum->served[p]);
    seconds = fmax(s->floor.seconds, s->launch + busy);
    return dfl_objective_value(s->objective, joules + s->leakage * seconds, seconds);
}

static bool is_useful(const searcher *s, double value) { return value < s->out.value * (1 - DFL_BOX_ROUNDING); }

/* ---- mappings ---- */

/* Whether a limit ends the search; counts `work`. */
static bool is_over(searcher *s, uint64_t work)
{
    s->work += work;
    return s->work > DFL_NESTS_WORK || dfl_deadline_passed(&s->deadline);
}

static void evaluate(searcher *s, const dfl_nest_keep *keeps, uint32_t n)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(s->arena));
    dfl_mapping *m = dfl_nest_mapping(work, s->given, s->problem, s->nest, keeps, n);
    const dfl_result *costs = dfl_mapping_costs(work, s->book->names, m);
    double value = INFINITY;

    s->out.evaluated++;
    if (costs != NULL && dfl_objective_met(s->objective, costs, NULL))
        value = dfl_objective_value(s->objective, costs->joules, costs->seconds);
    if (is_useful(s, value)) {
        s->out.value = value;
        s->out.joules = costs->joules;
        s->out.seconds = costs->seconds;
        s->out.mapping = dfl_mapping_copy(s->arena, m);
    }
    dfl_arena_free(work);
}

/* Tries an order of the keeps of a nest, if it is one that counts and none has reached their bound. False if a limit ends the
   search. */
static bool try_order(void *context, const dfl_nest_keep *keeps, uint32_t n)
{
    searcher *s = context;
    uint64_t after = 0; /* mask: keeps stand behind so many loops */
    uint32_t last = 0;  /* loops above the last keep */

    for (uint32_t i = 0; i < n; i++) {
        after |= UINT64_C(1) << keeps[i].at;
        last = keeps[i].at > last ? keeps[i].at : last;
    }
    if (last < s->ends || (s->needs & ~after) != 0 || !is_useful(s, s->least_value))
        return ++s->sums % DFL_NESTS_SUMS != 0 || !is_over(s, 1);
    evaluate(s, keeps, n);
    return !is_over(s, 1);
}

/* Tries all choices of the operands from `operand` on, with `n` keeps that add up to `sum`. False if a limit ends the search. */
static bool combine(searcher *s, uint32_t operand, const dfl_keep_costs *sum, uint32_t n)
{
    dfl_keep_costs with, least;

    if (operand == s->problem->n_operands) {
        s->least_value = bound(s, sum);
        return dfl_keep_orders_each(s->kinds, s->keep, s->inmost, n, try_order, s);
    }
    for (size_t i = 0; i < s->choices[operand].n; i++) {
        const choice *c = &s->choices[operand].at[i];
        add(sum, c->costs, &with);
        add(&with, &s->least[operand + 1], &least);
        if (++s->sums % DFL_NESTS_SUMS == 0 && is_over(s, 1))
            return false;
        if (!is_useful(s, bound(s, &least)))
            continue;
        for (uint32_t k = 0; k < c->keeps.n; k++) {
            s->keep[n + k] = c->keeps.keep[k];
            s->inmost[n + k] = c->inmost[k];
        }
        if (!combine(s, operand + 1, &with, n + c->keeps.n))
            return false;
    }
    return true;
}

/* ---- choices ---- */

/* Whether a keep of an operand in place `p` may stand behind `at` loops, and not further out: above all loops, or just below one
   that cuts its tile, or, inside of axes, its instances. */
static bool may_stand(const searcher *s, const dfl_problem_operand *o, uint32_t p, uint32_t at)
{
    const dfl_bare_nest *nest = s->nest;
    bool is_cut = at == 0 || (o->ranks >> nest->loop[at - 1].rank & 1);

    for (uint32_t i = 0; i < nest->n_axes; i++) {
        if (!(s->problem->place[p].axes >> nest->axis[i].axis & 1))
            continue;
        if (nest->axis[i].after > at)
            return false;
        is_cut |= s->book->is_ragged && at > 0 && nest->axis[i].rank == nest->loop[at - 1].rank;
    }
    return is_cut;
}

/* The most loops above a keep of an operand that move what they move if it stands behind `at` loops. */
static uint32_t find_inmost(const searcher *s, const dfl_problem_operand *o, uint32_t p, uint32_t at)
{
    while (at < s->nest->n && !may_stand(s, o, p, at + 1))
        at++;
    return at;
}

/* Whether a mapping may be legal and useful in which an operand costs at least `costs`, and those behind it their least. */
static bool is_worth(const searcher *s, uint32_t operand, const dfl_keep_costs *costs)
{
    dfl_keep_costs sum;

    add(costs, &s->least[operand + 1], &sum);
    for (uint32_t p = 0; p < s->problem->n_places; p++)
        sum.room[p] += s->book->base.room[p];
    return has_room(s->problem, &sum) && is_useful(s, bound_own(s, operand, &sum));
}

/* Whether a mapping with these keeps of the operand may be legal and useful, by bounds without a run of the model (B59). */
static bool may_cost(const searcher *s, uint32_t operand, const dfl_nest_keeps *keeps)
{
    dfl_keep_costs costs;
    uint32_t places = 0;

    for (uint32_t i = 0; i < keeps->n; i++)
        places |= 1u << keeps->keep[i].place;
    dfl_keep_book_ends(s->book, operand, keeps, &costs);
    costs.own = dfl_floor_joules_at(s->problem, operand, places);
    return is_worth(s, operand, &costs);
}

/* Adds the choices of an operand with the keeps of `c` and others from place `p` on. False if a limit ends the search. */
static bool choose(searcher *s, uint32_t operand, uint32_t p, choice *c)
{
    const dfl_problem_operand *o = &s->problem->operand[operand];
    const choice before = *c;

    while (p < s->problem->n_places && (p <= o->home || !(o->places >> p & 1) || s->problem->place[p].memory == DFL_NONE))
        p++;
    if (p == s->problem->n_places) {
        const uint64_t evaluated = s->book->evaluated;
        if (!may_cost(s, operand, &c->keeps))
            return ++s->sums % DFL_NESTS_SUMS != 0 || !is_over(s, 1);
        c->costs = dfl_keep_book_find(s->book, operand, &c->keeps);
        if (is_worth(s, operand, c->costs))
            DFL_PUSH(s->lists, &s->choices[operand], *c);
        return s->book->evaluated == evaluated || !is_over(s, s->book->evaluated - evaluated);
    }
    if (!choose(s, operand, p + 1, c))
        return false;
    for (uint32_t at = before.last; at <= s->nest->n; at++) {
        if (!may_stand(s, o, p, at))
            continue;
        const dfl_nest_keep keep = { .operand = (uint8_t)operand, .place = (uint8_t)p, .at = at };
        if (dfl_keep_book_room(s->book, &keep) > s->problem->place[p].bits)
            continue;
        *c = before;
        c->inmost[c->keeps.n] = find_inmost(s, o, p, at);
        c->keeps.keep[c->keeps.n++] = keep;
        c->last = at;
        if (!choose(s, operand, p + 1, c))
            return false;
    }
    *c = before;
    return true;
}

/* Whether an axis of the rank of loop `i` stands behind that loop and above the next one. */
static bool has_axes_behind(const dfl_bare_nest *nest, uint32_t i)
{
    bool has = false;

    for (uint32_t a = 0; a < nest->n_axes; a++)
        has |= nest->axis[a].after == i + 1;
    return has;
}

/* Whether loops i and i + 1 behind the last keep are in the order in which they are written: by rank, and one for each rank but
   around axes. */
static bool are_in_order(const dfl_bare_nest *nest, uint32_t i)
{
    const uint32_t rank = nest->loop[i].rank, next = nest->loop[i + 1].rank;

    return rank < next || (rank == next && has_axes_behind(nest, i));
}

/* Sets `ends` and `needs`. */
static void find_order(searcher *s)
{
    const dfl_bare_nest *nest = s->nest;

    s->ends = s->book->is_held ? 0 : nest->n;
    while (s->ends > 0 && (s->ends == nest->n || are_in_order(nest, s->ends - 1)))
        s->ends--;
    s->needs = 0;
    for (uint32_t i = 1; i < nest->n && !s->book->is_ragged; i++)
        s->needs |= (uint64_t)(nest->loop[i - 1].rank == nest->loop[i].rank) << i;
}

static bool search_nest(void *context, const dfl_bare_nest *nest)
{
    searcher *s = context;
    const uint64_t evaluated = s->book->evaluated;

    s->work_seconds = dfl_nest_steps(s->problem, nest) * s->problem->seconds;
    if (!is_useful(s, bound_work(s)))
        return !is_over(s, s->book->is_ragged);
    s->nest = nest;
    dfl_keep_book_turn(s->book, nest);
    if (is_over(s, s->book->evaluated - evaluated + s->book->is_ragged))
        return false;
    if (!has_room(s->problem, &s->book->base))
        return true;
    find_order(s);
    dfl_arena_reset(s->lists);
    s->least[s->problem->n_operands] = (dfl_keep_costs){ 0 };
    for (uint32_t o = s->problem->n_operands; o-- > 0;) {
        dfl_keep_costs least;
        s->choices[o].at = NULL;
        s->choices[o].n = s->choices[o].cap = 0;
        if (!choose(s, o, 0, &(choice){ .last = 0 }))
            return false;
        if (s->choices[o].n == 0)
            return true;
        least = *s->choices[o].at[0].costs;
        for (size_t i = 1; i < s->choices[o].n; i++)
            take_least(&least, s->choices[o].at[i].costs);
        add(&least, &s->least[o + 1], &s->least[o]);
    }
    return combine(s, 0, &s->book->base, 0);
}

/* ---- search ---- */

static bool has_efficiencies(const dfl_system *s)
{
    bool has = false;

    for (uint32_t m = 0; m < s->n_memories; m++)
        has |= s->memories[m].efficiency != NULL;
    for (uint32_t c = 0; c < s->n_computes; c++)
        has |= s->computes[c].n_efficiencies > 0;
    return has;
}

/* Whether the operands are different tensors: the keeps of one are those of the other, too. */
static bool has_own_keeps(const dfl_problem *problem)
{
    bool has = true;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        has &= dfl_problem_find_operand(problem, problem->operand[o].tensor) == o;
    return has;
}

/* Whether the ranks that an axis may have are known. */
static bool has_known_axes(const dfl_problem *problem)
{
    bool has = true;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        has &= problem->axis[a].others == 0 || problem->axis[a].size <= DFL_PROBLEM_FILLED;
    return has;
}

/* Whether the einsum has few nests. */
static bool is_small(dfl_arena *arena, const dfl_problem *problem, bool is_ragged)
{
    return is_ragged ? dfl_ragged_nests_count(arena, problem, DFL_NESTS_RAGGED) < DFL_NESTS_RAGGED
                     : dfl_nests_count(arena, problem, DFL_NESTS_MOST) < DFL_NESTS_MOST;
}

bool dfl_nests_handles(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *const *problems, uint32_t n_problems,
                       bool is_ragged)
{
    bool is_handled = given->workload->n_einsums == 1 && given->workload->einsums[0].n_where == 0 &&
                      dfl_mapping_all_lines_open(given) && !has_efficiencies(given->system);

    for (uint32_t i = 0; i < n_problems && is_handled; i++) {
        is_handled = !problems[i]->windows && !dfl_problem_slides(problems[i]) && has_own_keeps(problems[i]) &&
                     has_known_axes(problems[i]);
        for (uint32_t o = 0; o < problems[i]->n_operands; o++)
            is_handled &= problems[i]->operand[o].home != DFL_NONE;
        for (uint32_t a = 0; a < problems[i]->n_axes && is_ragged; a++)
            is_handled &= problems[i]->axis[a].others == 0;
        is_handled = is_handled && is_small(arena, problems[i], is_ragged);
    }
    return is_handled;
}

dfl_nests_result dfl_nests_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                                  const dfl_problem *const *problems, uint32_t n_problems, bool is_ragged,
                                  const dfl_objective *objective, const dfl_search_limits *limits, double value)
{
    searcher s = { .arena = arena, .lists = dfl_arena_new(dfl_arena_budget(arena)), .given = given, .objective = objective,
                   .leakage = dfl_system_leakage(given->system), .out = { .value = value, .is_complete = true } };

    s.deadline = (dfl_deadline){ .budget = dfl_arena_budget(arena), .at = limits->deadline, .counter = &s.work,
                                 .most_evaluations = limits->evaluations };
    for (uint32_t i = 0; i < n_problems && s.deadline.why == DFL_STOP_NONE && s.work <= DFL_NESTS_WORK; i++) {
        s.problem = problems[i];
        s.floor = dfl_floor_make(problems[i]);
        s.kinds = dfl_order_kinds_of(given, problems[i]);
        s.others[0] = problems[i]->points * problems[i]->joules;
        for (uint32_t o = 1; o < problems[i]->n_operands; o++)
            s.others[o] = s.others[o - 1] + dfl_floor_joules_of(problems[i], o - 1);
        s.launch = given->system->computes[problems[i]->unit].launch;
        s.book = dfl_keep_book_make(arena, names, given, problems[i], is_ragged);
        if (is_ragged)
            (void)dfl_ragged_nests_each(arena, problems[i], search_nest, &s);
        else
            dfl_nests_each(arena, problems[i], search_nest, &s);
        s.out.evaluated += s.book->evaluated;
        dfl_keep_book_free(s.book);
    }
    dfl_arena_free(s.lists);
    s.out.stopped = s.deadline.why;
    s.out.is_complete = s.deadline.why == DFL_STOP_NONE && s.work <= DFL_NESTS_WORK;
    return s.out;
}
