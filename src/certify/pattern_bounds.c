/*
 * Lower bounds from exchange patterns, separately for energy and time: dynamic programming over the einsums. The state
 * between two einsums is the memory of every live tensor; a transition is a pattern of the next einsum that agrees with
 * these memories. A forward and a backward pass give, for each pattern, the least cost of all other einsums.
 */
#include "certify/pattern_bounds.h"

#include <math.h>
#include <string.h>

#include "certify/cost.h"

typedef struct {
    uint32_t *memory;                      /* [live tensor of the layer]: memory of the tensor */
    double spent_joules, spent_seconds;    /* least energy (J) and least time (s) of the einsums before the state, energy and
                                              time apart */
    double rest_joules, rest_seconds;      /* cost-to-go: least energy (J) and least time (s) of the einsums after the state */
} dp_state;

/* A transition: state `from` before an einsum with this pattern, and state `to` after it. */
typedef struct { uint32_t from, to, pattern; } transition;

typedef struct {
    uint32_t *tensors, n_tensors;          /* tensors that are live before einsum e */
    DFL_VEC(dp_state) states;              /* states before einsum e */
    DFL_VEC(transition) steps;             /* transitions of the layer's einsum */
} dp_layer;

typedef struct {
    dfl_certify_run *run;
    const dfl_workload *w;
    dp_layer *layers;                      /* layers before each einsum and after the last; n_einsums + 1 */
} pattern_sums;

/* Whether one keep may hold the tensor for several einsums. */
static bool is_common(const pattern_sums *sums, uint32_t tensor)
{
    const dfl_tensor *t = &sums->w->tensors[tensor];
    const dfl_certify_problem *problem = t->n_consumers > 0 ? sums->run->search->problems[t->consumers[0]].at[0] : NULL;

    return problem && problem->operand[dfl_certify_operand_of(problem, tensor)].common != 0;
}

static void find_alive(pattern_sums *sums, uint32_t e)
{
    dp_layer *f = &sums->layers[e];

    f->tensors = DFL_NEW_ARRAY(sums->run->arena, uint32_t, (size_t)sums->w->n_tensors + 1);
    for (uint32_t t = 0; t < sums->w->n_tensors; t++) {
        const dfl_tensor *x = &sums->w->tensors[t];
        bool made = x->role == DFL_ROLE_INTERMEDIATE && x->n_producers > 0 && x->n_consumers > 0;
        if ((made || is_common(sums, t)) && (made ? x->producers[0] : x->consumers[0]) < e &&
            x->consumers[x->n_consumers - 1] >= e)
            f->tensors[f->n_tensors++] = t;
    }
}

static uint32_t memory_in(const dp_layer *f, const dp_state *s, uint32_t tensor)
{
    for (uint32_t i = 0; i < f->n_tensors; i++)
        if (f->tensors[i] == tensor)
            return s->memory[i];
    return DFL_NONE;
}

static uint32_t add_state(pattern_sums *sums, dp_layer *f, const uint32_t *memory)
{
    dp_state s = { .memory = DFL_NEW_ARRAY(sums->run->arena, uint32_t, (size_t)f->n_tensors + 1), .spent_joules = INFINITY,
                .spent_seconds = INFINITY, .rest_joules = INFINITY, .rest_seconds = INFINITY };

    for (size_t i = 0; i < f->states.n; i++)
        if (memcmp(f->states.at[i].memory, memory, f->n_tensors * sizeof *memory) == 0)
            return (uint32_t)i;
    memcpy(s.memory, memory, f->n_tensors * sizeof *memory);
    DFL_PUSH(sums->run->arena, &f->states, s);
    return (uint32_t)f->states.n - 1;
}

/* The memories of the live tensors after einsum `e`; false if the pattern contradicts their memories before it. */
static bool apply_pattern(pattern_sums *sums, uint32_t e, const dp_state *s, const dfl_claim_pattern *p, uint32_t *memory)
{
    const dp_layer *from = &sums->layers[e], *to = &sums->layers[e + 1];
    const dfl_certify_problem *problem = sums->run->search->problems[e].at[0];

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        uint32_t alive = problem->operand[o].output || problem->operand[o].common != 0
                             ? DFL_NONE
                             : memory_in(from, s, problem->operand[o].tensor);
        if (alive != DFL_NONE && alive != p->memory[o])
            return false;
    }
    for (uint32_t i = 0; i < to->n_tensors; i++) {
        memory[i] = memory_in(from, s, to->tensors[i]);
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if ((problem->operand[o].output || problem->operand[o].common != 0) && problem->operand[o].tensor == to->tensors[i])
                memory[i] = p->memory[o];
    }
    return true;
}

/* Energy of einsum `e` with a pattern (in J); includes the fetches of inputs whose common keep begins at this einsum. */
static double find_joules(pattern_sums *sums, uint32_t e, const dp_state *s, const dfl_claim_pattern *p)
{
    const dfl_certify_problem *problem = sums->run->search->problems[e].at[0];
    double joules = p->joules;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (problem->operand[o].common != 0 && memory_in(&sums->layers[e], s, problem->operand[o].tensor) != p->memory[o])
            joules += dfl_certify_fetch_joules(sums->run, problem, o, p->memory[o]);
    return joules;
}

static bool advance_forwards(pattern_sums *sums, uint32_t e)
{
    const dfl_claim_class *c = &sums->run->search->classes.at[sums->run->search->class_of[e]];
    uint32_t *memory = DFL_NEW_ARRAY(sums->run->arena, uint32_t, (size_t)sums->w->n_tensors + 1);
    dp_layer *from = &sums->layers[e], *to = &sums->layers[e + 1];

    for (uint32_t i = 0; i < from->states.n; i++)
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            const dfl_claim_pattern *pattern = &c->patterns.at[p];
            transition one = { .from = i, .pattern = p };
            if (!dfl_budget_ok(dfl_arena_budget(sums->run->arena)))
                return dfl_report_stop(sums->run->sink, dfl_arena_budget(sums->run->arena));
            if (!apply_pattern(sums, e, &from->states.at[i], pattern, memory))
                continue;
            one.to = add_state(sums, to, memory);
            DFL_PUSH(sums->run->arena, &from->steps, one);
            dp_state *a = &from->states.at[i], *b = &to->states.at[one.to];
            b->spent_joules = fmin(b->spent_joules, a->spent_joules + find_joules(sums, e, a, pattern));
            b->spent_seconds = fmin(b->spent_seconds, a->spent_seconds + pattern->seconds);
        }
    return true;
}

static void advance_backwards(pattern_sums *sums, uint32_t e)
{
    const dfl_certify_run *run = sums->run;
    uint32_t class = run->search->class_of[e];
    dp_layer *from = &sums->layers[e], *to = &sums->layers[e + 1];

    for (size_t i = 0; i < from->steps.n; i++) {
        const transition *one = &from->steps.at[i];
        const dfl_claim_pattern *p = &run->search->classes.at[class].patterns.at[one->pattern];
        dp_state *a = &from->states.at[one->from];
        const dp_state *b = &to->states.at[one->to];
        double *joules = &run->others_joules[class][one->pattern], *seconds = &run->others_seconds[class][one->pattern];
        double own = find_joules(sums, e, a, p);
        a->rest_joules = fmin(a->rest_joules, b->rest_joules + own);
        a->rest_seconds = fmin(a->rest_seconds, b->rest_seconds + p->seconds);
        *joules = fmin(*joules, a->spent_joules + b->rest_joules + own - p->joules);
        *seconds = fmin(*seconds, a->spent_seconds + b->rest_seconds);
    }
}

static bool check_patterns(dfl_certify_run *run)
{
    const dfl_workload *w = run->search->asked->workload;
    pattern_sums sums = { .run = run, .w = w, .layers = DFL_NEW_ARRAY(run->arena, dp_layer, (size_t)w->n_einsums + 1) };
    dp_state *start;
    uint32_t none = 0;

    for (uint32_t e = 0; e <= w->n_einsums; e++)
        find_alive(&sums, e);
    add_state(&sums, &sums.layers[0], &none);
    start = sums.layers[0].states.at;
    start->spent_joules = start->spent_seconds = 0;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (!advance_forwards(&sums, e))
            return false;
    for (size_t i = 0; i < sums.layers[w->n_einsums].states.n; i++)
        sums.layers[w->n_einsums].states.at[i].rest_joules = sums.layers[w->n_einsums].states.at[i].rest_seconds = 0;
    for (uint32_t e = w->n_einsums; e-- > 0;)
        advance_backwards(&sums, e);
    start = sums.layers[0].states.at;
    if (run->search->least_joules <= start->rest_joules * (1 + run->task->rounding) &&
        run->search->least_seconds <= start->rest_seconds * (1 + run->task->rounding))
        return true;
    dfl_report(run->sink, DFL_CERT_SUMS, run->search->asked->span,
               "`%s` has a least energy of %.12g and a least time of %.12g, and its patterns give %.12g and %.12g",
               run->search->head->file, run->search->least_joules, run->search->least_seconds, start->rest_joules,
               start->rest_seconds);
    return false;
}

/* A certificate without rows has no combination of patterns to check: the sum of the least skeleton bounds must be at
   least the claimed lower bound. */
static bool check_sum(const dfl_certify_run *run)
{
    double joules = 0, seconds = 0, value;

    for (uint32_t e = 0; e < run->search->asked->workload->n_einsums; e++) {
        const dfl_claim_class *c = &run->search->classes.at[run->search->class_of[e]];
        double least_joules = INFINITY, least_seconds = INFINITY;
        for (size_t i = 0; i < c->skeletons.n; i++) {
            if (c->skeletons.at[i].useless)
                continue;
            least_joules = fmin(least_joules, c->skeletons.at[i].joules);
            least_seconds = fmin(least_seconds, c->skeletons.at[i].seconds);
        }
        joules += least_joules;
        seconds += least_seconds;
    }
    value = dfl_certify_value(run, joules, seconds);
    if (run->search->head->lower_bound <= value * (1 + run->task->rounding))
        return true;
    dfl_report(run->sink, DFL_CERT_SUMS, run->search->asked->span,
               "`%s` has a lower bound of %.12g, and its templates give %.12g", run->search->head->file,
               run->search->head->lower_bound, value);
    return false;
}

bool dfl_certify_pattern_bounds(dfl_certify_run *run)
{
    size_t n = run->search->classes.n;

    run->others_joules = DFL_NEW_ARRAY(run->arena, double *, n + 1);
    run->others_seconds = DFL_NEW_ARRAY(run->arena, double *, n + 1);
    for (size_t c = 0; c < n; c++) {
        size_t m = run->search->classes.at[c].patterns.n;
        run->others_joules[c] = DFL_NEW_ARRAY(run->arena, double, m + 1);
        run->others_seconds[c] = DFL_NEW_ARRAY(run->arena, double, m + 1);
        for (size_t p = 0; p < m; p++)
            run->others_joules[c][p] = run->others_seconds[c][p] = INFINITY;
    }
    return run->search->has_rows ? check_patterns(run) : check_sum(run);
}
