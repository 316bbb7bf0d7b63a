/* Mappings found in a moment. */
#include "mapper/exact/primal.h"

#include <math.h>
#include <string.h>

#include "mapper/divisors/pareto_set.h"

enum {
    STATES = 256,            /* behind each einsum, */
    LEAST_STATES = 32,       /* and where the limit is the lower bound */
    LOOKS = 1 << 22,         /* of the templates of a class together */
    LEAST_LOOKS = 1 << 10,   /* of a template */
    COUNTED_WAYS = 1 << 24,  /* ways to cut a rank, of all looks after a limit on evaluations: a look at one template takes
                                thousands where extents have many divisors, and its steps do not count them */
    STEPS = DFL_GRACE_COUNTED, /* of a join with few states */
    FIRST = 1 << 22,         /* steps of a join before something else is tried */
    SHARED = 2,              /* loops of an einsum */
};
/* Limits on the value, times the lower bound: where it is low nearly all is given up at once, and the rest looked at well. */
static const double LIMITS[] = { 1.005, 1.02, 1.05, 1.2, 2.5, INFINITY };
static const double CLOSE = 1 + 1e-8;

/* Bits of the keeps of a row without shared loops in a memory outside of arrays. */
static double keeps_in(const dfl_pmapping *row, uint32_t memory)
{
    const dfl_problem *problem = row->problem;
    int64_t piece[DFL_PROBLEM_RANKS];
    double bits = 0;

    memcpy(piece, problem->extent, sizeof piece);
    for (uint32_t i = 0; i < row->form->n_keeps; i++) {
        const dfl_template_keep *keep = &row->form->keep[i];
        const dfl_problem_operand *o = &problem->operand[keep->operand];
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            piece[r] /= row->cut[i * problem->n_ranks + r];
        if (problem->place[keep->place].memory == memory && !keep->home)
            bits += dfl_problem_tile(o, piece) * o->bits * problem->place[keep->place].buffers;
    }
    return bits;
}

/* Whether what is exchanged has room as a whole beside the keeps of every einsum. */
static bool has_room(dfl_arena *arena, const dfl_einsum_classes *classes, const dfl_tile_goal *goal, const double *capacity,
                     const dfl_pmapping *const *rows)
{
    const uint32_t n = classes->n;
    bool fits = true;

    for (uint32_t t = 0; t < goal->n_tracks && fits; t++) {
        double *more = DFL_NEW_ARRAY(arena, double, (size_t)n + 1), live = 0;
        for (uint32_t e = 0; e < n && fits; e++) {
            const dfl_problem *problem = classes->problems[e].at[0];
            for (uint32_t o = 0; o < problem->n_operands; o++) {
                const dfl_problem_operand *op = &problem->operand[o];
                const dfl_tensor *tensor = &classes->m->workload->tensors[op->tensor];
                if (!op->output || !op->shared || rows[e]->way.memory[o] != goal->track[t])
                    continue;
                more[e] += op->elements * op->bits;
                more[tensor->consumers[tensor->n_consumers - 1] + 1] -= op->elements * op->bits;
            }
            live += more[e];
            fits = live + keeps_in(rows[e], goal->track[t]) <= capacity[t];
        }
    }
    return fits;
}

const dfl_join_result *dfl_primal_unfused(dfl_arena *arena, const dfl_einsum_classes *classes, const dfl_tile_goal *goal,
                                          const double *capacity)
{
    dfl_join_result *r = DFL_NEW(arena, dfl_join_result);
    uint32_t n = classes->n;

    r->rows = DFL_NEW_ARRAY(arena, const dfl_pmapping *, (size_t)n + 1);
    r->open = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    r->names = dfl_arena_alloc(arena, (size_t)n + 1, sizeof *r->names, _Alignof(uint32_t));
    r->skipped = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    for (uint32_t e = 0; e < n; e++) {
        r->rows[e] = classes->at.at[classes->of[e]].apart;
        if (r->rows[e] == NULL)
            return NULL;
        r->joules += r->rows[e]->joules;
        r->seconds += r->rows[e]->seconds;
    }
    if (!has_room(arena, classes, goal, capacity, r->rows))
        return NULL;
    r->joules += goal->of.leakage * r->seconds;
    r->value = goal->of.value(goal->of.objective, r->joules, r->seconds);
    return r;
}

/* With so many states behind each einsum. */
static const dfl_join_result *join_few(dfl_primal *k, const dfl_join_step *steps, const dfl_tile_goal *within,
                                       uint32_t states, uint64_t most)
{
    dfl_tile_goal goal = *within;
    dfl_budget budget = { .steps_limit = dfl_deadline_left(&k->halt, most), .cancel = k->budget.cancel, .work = k->budget.work };
    dfl_deadline halt = { .budget = &budget, .at = k->halt.at };
    const dfl_join_result *r;
    uint32_t n;
    bool full = false;

    goal.halt = &halt;
    goal.top = 0;
    r = dfl_join(k->arena, k->classes->m->workload, steps, &goal, k->bounds, k->capacity, false, states, &n, &full);
    dfl_budget_add_steps(k->halt.budget, budget.steps_used);
    return r;
}

/* Rows of a class that go with those of its neighbours; false if there are none. */
static bool glance(dfl_primal *k, const dfl_tile_goal *within, uint32_t class)
{
    dfl_einsum_class *c = &k->classes->at.at[class];
    dfl_pareto_set *rows = dfl_pareto_set_new(k->rows, k->scratch);
    uint64_t useful = 1;

    for (int look = 0; look < 2; look++)
        for (size_t i = 0; i < c->candidates.n && !dfl_deadline_passed(&k->halt); i++) {
            const dfl_candidate *x = &c->candidates.at[i];
            const uint64_t most = LOOKS / useful > LEAST_LOOKS ? LOOKS / useful : LEAST_LOOKS;
            dfl_budget few = { .steps_limit = dfl_deadline_left(&k->halt, most), .cancel = k->budget.cancel,
                               .work = k->budget.work };
            dfl_deadline halt = { .budget = &few, .at = k->halt.at, .counter = &rows->evaluated, .counted = k->looked,
                                  .most_evaluations = k->most_looked };
            dfl_tile_goal goal = *within;
            goal.filter = &c->filter;
            goal.halt = &halt;
            dfl_einsum_classes_aim(c, x->pattern, &goal);
            if (!dfl_tile_useful(&goal, x->joules, x->seconds))
                continue;
            if (look == 0) {
                useful++;
                continue;
            }
            dfl_tile_search(rows, x->problem, x->form, &goal);
            dfl_budget_add_steps(&k->budget, few.steps_used);
        }
    k->looked += dfl_pareto_set_evaluated(rows);
    c->list = dfl_pareto_set_list(rows, &c->n_list);
    dfl_einsum_classes_offer(k->rows, k->classes, &within->of, class);
    return c->n_list > 0;
}

static const dfl_join_result *glance_at_all(dfl_primal *k, double limit, bool whole)
{
    dfl_einsum_classes *all = k->classes;
    uint32_t *wave = DFL_NEW_ARRAY(k->rows, uint32_t, all->at.n + 1), n;
    dfl_tile_goal goal = *k->goal;

    goal.limit = limit;
    goal.wanted = dfl_einsum_classes_wanted;
    goal.loop_wanted = dfl_einsum_classes_loop_wanted;
    goal.whole_loops = whole;
    goal.top = 0;
    goal.best_only = false;
    goal.best = NULL;
    goal.max_loops = goal.max_loops < SHARED ? goal.max_loops : SHARED;
    dfl_einsum_classes_restart(all);
    for (uint32_t number = 0; (n = dfl_einsum_classes_wave(all, number, wave)) > 0; number++)
        for (uint32_t i = 0; i < n; i++)
            if (!glance(k, &goal, wave[i]))
                return NULL;
    return join_few(k, dfl_einsum_classes_steps(k->rows, all), &goal, STATES, STEPS);
}

void dfl_primal_start(dfl_primal *k, dfl_stop why)
{
    dfl_deadline_grace(&k->halt, &k->budget, why, k->deadline, dfl_arena_budget(k->arena));
    k->looked = 0;
    k->most_looked = why == DFL_STOP_EVALUATIONS ? COUNTED_WAYS : 0;
    k->rows = dfl_arena_new(NULL);
    k->scratch = dfl_arena_new(NULL);
}

static const dfl_join_result *find_within(dfl_primal *k, double limit)
{
    const dfl_join_result *r = glance_at_all(k, limit, true);

    return r != NULL ? r : glance_at_all(k, limit, false);
}

const dfl_join_result *dfl_primal_any(dfl_primal *k, double bound)
{
    const dfl_join_result *apart = dfl_primal_unfused(k->arena, k->classes, k->goal, k->capacity), *r = NULL;
    double most = apart != NULL ? apart->value : INFINITY;

    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS && r == NULL && most > bound; i++)
        r = find_within(k, fmin(most, dfl_value_times(bound, LIMITS[i])));
    return r != NULL ? r : apart;
}

void dfl_primal_end(dfl_primal *k)
{
    dfl_arena_free(k->rows);
    dfl_arena_free(k->scratch);
}

/* The join, in so many steps. */
static const dfl_join_result *join_within(const dfl_primal *k, const dfl_join_step *steps, bool front, uint64_t most,
                                          uint32_t *n, bool *full, dfl_stop *why)
{
    dfl_budget budget = dfl_budget_fresh(dfl_arena_budget(k->arena));
    dfl_deadline halt = { .budget = &budget, .at = k->deadline };
    dfl_tile_goal goal = *k->goal;
    const dfl_join_result *r;

    budget.steps_limit = most;
    goal.halt = &halt;
    r = dfl_join(k->arena, k->classes->m->workload, steps, &goal, k->bounds, k->capacity, front, 0, n, full);
    *why = halt.why;
    return r;
}

/* Something as good as the lower bound, if the limit is hardly above it; NULL if few states do not find that. */
static const dfl_join_result *join_least(dfl_primal *k, const dfl_join_step *steps, double bound)
{
    const dfl_join_result *r = NULL;

    if (k->goal->top == 0 && k->goal->limit <= dfl_value_times(bound, CLOSE))
        r = join_few(k, steps, k->goal, LEAST_STATES, STEPS);
    return r != NULL && r->value <= dfl_value_times(bound, DFL_VALUE_EQUAL) ? r : NULL;
}

const dfl_join_result *dfl_primal_join(dfl_primal *k, const dfl_join_step *steps, bool front, double bound, uint32_t *n,
                                       bool *full, dfl_stop *why)
{
    const dfl_budget *session = dfl_arena_budget(k->arena);
    uint64_t most = session ? session->steps_limit : 0, first = most != 0 && most < FIRST ? most : FIRST;
    const dfl_join_result *r, *some;

    k->halt.at = k->deadline; /* not stopped yet */
    k->budget.cancel = session != NULL ? session->cancel : NULL;
    k->budget.work = session != NULL ? session->work : NULL;
    r = front ? NULL : join_least(k, steps, bound);
    *n = 1;
    if (r != NULL)
        return r;
    r = join_within(k, steps, front, first, n, full, why);
    if (*why != DFL_STOP_STEPS)
        return r;
    dfl_primal_start(k, *why);
    k->halt.at = k->deadline;
    some = join_few(k, steps, k->goal, STATES, STEPS);
    if (some == NULL)
        some = dfl_primal_any(k, bound);
    for (uint32_t e = 0; e < k->classes->n; e++) { /* as they were before a glance */
        dfl_einsum_class *c = &k->classes->at.at[k->classes->of[e]];
        c->list = steps[e].rows;
        c->n_list = steps[e].n;
    }
    if (!front && k->goal->top == 0 && !*full && some != NULL && some->value <= dfl_value_times(bound, DFL_VALUE_EQUAL))
        *why = DFL_STOP_NONE;
    else if (first != most)
        r = join_within(k, steps, front, most, n, full, why);
    if (*why == DFL_STOP_NONE && r != NULL)
        return r;
    *n = some != NULL;
    return some;
}
