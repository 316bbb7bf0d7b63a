/*
 * What the patterns make at least, which is no less than claimed: from einsum to einsum with the memories of the tensors that
 * are alive as the state, forwards and backwards, energy and time each by itself.
 */
#include <math.h>
#include <string.h>

#include "certify/steps.h"

typedef struct {
    uint32_t *memory;                  /* of the tensors alive */
    double before_joules, before_seconds, behind_joules, behind_seconds;
} state;

typedef struct { uint32_t from, to, pattern; } step;

typedef struct {
    uint32_t *tensors, n_tensors;      /* alive before einsum e */
    DFL_VEC(state) states;
    DFL_VEC(step) steps;               /* of einsum e */
} front;

typedef struct {
    dfl_certify_run *run;
    const dfl_workload *w;
    front *fronts;                     /* [n_einsums + 1] */
} summer;

/* Whether a keep may hold the tensor for several einsums. */
static bool is_common(const summer *k, uint32_t tensor)
{
    const dfl_tensor *t = &k->w->tensors[tensor];
    const dfl_frame *f = t->n_consumers > 0 ? k->run->s->frames[t->consumers[0]].at[0] : NULL;

    return f && f->operand[dfl_frame_operand_of(f, tensor)].common != 0;
}

static void find_alive(summer *k, uint32_t e)
{
    front *f = &k->fronts[e];

    f->tensors = DFL_NEW_ARRAY(k->run->arena, uint32_t, (size_t)k->w->n_tensors + 1);
    for (uint32_t t = 0; t < k->w->n_tensors; t++) {
        const dfl_tensor *x = &k->w->tensors[t];
        bool made = x->role == DFL_ROLE_INTERMEDIATE && x->n_producers > 0 && x->n_consumers > 0;
        if ((made || is_common(k, t)) && (made ? x->producers[0] : x->consumers[0]) < e && x->consumers[x->n_consumers - 1] >= e)
            f->tensors[f->n_tensors++] = t;
    }
}

static uint32_t memory_in(const front *f, const state *s, uint32_t tensor)
{
    for (uint32_t i = 0; i < f->n_tensors; i++)
        if (f->tensors[i] == tensor)
            return s->memory[i];
    return DFL_NONE;
}

static uint32_t add_state(summer *k, front *f, const uint32_t *memory)
{
    state s = { .memory = DFL_NEW_ARRAY(k->run->arena, uint32_t, (size_t)f->n_tensors + 1), .before_joules = INFINITY,
                .before_seconds = INFINITY, .behind_joules = INFINITY, .behind_seconds = INFINITY };

    for (size_t i = 0; i < f->states.n; i++)
        if (memcmp(f->states.at[i].memory, memory, f->n_tensors * sizeof *memory) == 0)
            return (uint32_t)i;
    memcpy(s.memory, memory, f->n_tensors * sizeof *memory);
    DFL_PUSH(k->run->arena, &f->states, s);
    return (uint32_t)f->states.n - 1;
}

/* The state behind einsum `e`; false if the pattern contradicts what is alive. */
static bool follow(summer *k, uint32_t e, const state *s, const dfl_claim_pattern *p, uint32_t *memory)
{
    const front *from = &k->fronts[e], *to = &k->fronts[e + 1];
    const dfl_frame *f = k->run->s->frames[e].at[0];

    for (uint32_t o = 0; o < f->n_operands; o++) {
        uint32_t alive = f->operand[o].output || f->operand[o].common != 0 ? DFL_NONE : memory_in(from, s, f->operand[o].tensor);
        if (alive != DFL_NONE && alive != p->memory[o])
            return false;
    }
    for (uint32_t i = 0; i < to->n_tensors; i++) {
        memory[i] = memory_in(from, s, to->tensors[i]);
        for (uint32_t o = 0; o < f->n_operands; o++)
            if ((f->operand[o].output || f->operand[o].common != 0) && f->operand[o].tensor == to->tensors[i])
                memory[i] = p->memory[o];
    }
    return true;
}

/* Energy of einsum `e` by a pattern, and to fetch what it is the first to take from a keep for several. */
static double joules_of(summer *k, uint32_t e, const state *s, const dfl_claim_pattern *p)
{
    const dfl_frame *f = k->run->s->frames[e].at[0];
    double joules = p->joules;

    for (uint32_t o = 0; o < f->n_operands; o++)
        if (f->operand[o].common != 0 && memory_in(&k->fronts[e], s, f->operand[o].tensor) != p->memory[o])
            joules += dfl_certify_fetch(k->run, f, o, p->memory[o]);
    return joules;
}

static bool go_forwards(summer *k, uint32_t e)
{
    const dfl_claim_class *c = &k->run->s->classes.at[k->run->s->of[e]];
    uint32_t *memory = DFL_NEW_ARRAY(k->run->arena, uint32_t, (size_t)k->w->n_tensors + 1);
    front *from = &k->fronts[e], *to = &k->fronts[e + 1];

    for (uint32_t i = 0; i < from->states.n; i++)
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            const dfl_claim_pattern *pattern = &c->patterns.at[p];
            step one = { .from = i, .pattern = p };
            if (!dfl_budget_ok(dfl_arena_budget(k->run->arena)))
                return dfl_report_stop(k->run->sink, dfl_arena_budget(k->run->arena));
            if (!follow(k, e, &from->states.at[i], pattern, memory))
                continue;
            one.to = add_state(k, to, memory);
            DFL_PUSH(k->run->arena, &from->steps, one);
            state *a = &from->states.at[i], *b = &to->states.at[one.to];
            b->before_joules = fmin(b->before_joules, a->before_joules + joules_of(k, e, a, pattern));
            b->before_seconds = fmin(b->before_seconds, a->before_seconds + pattern->seconds);
        }
    return true;
}

static void go_backwards(summer *k, uint32_t e)
{
    const dfl_certify_run *run = k->run;
    uint32_t class = run->s->of[e];
    front *from = &k->fronts[e], *to = &k->fronts[e + 1];

    for (size_t i = 0; i < from->steps.n; i++) {
        const step *one = &from->steps.at[i];
        const dfl_claim_pattern *p = &run->s->classes.at[class].patterns.at[one->pattern];
        state *a = &from->states.at[one->from];
        const state *b = &to->states.at[one->to];
        double *joules = &run->others_joules[class][one->pattern], *seconds = &run->others_seconds[class][one->pattern];
        double own = joules_of(k, e, a, p);
        a->behind_joules = fmin(a->behind_joules, b->behind_joules + own);
        a->behind_seconds = fmin(a->behind_seconds, b->behind_seconds + p->seconds);
        *joules = fmin(*joules, a->before_joules + b->behind_joules + own - p->joules);
        *seconds = fmin(*seconds, a->before_seconds + b->behind_seconds);
    }
}

static bool check_patterns(dfl_certify_run *run)
{
    const dfl_workload *w = run->s->asked->workload;
    summer k = { .run = run, .w = w, .fronts = DFL_NEW_ARRAY(run->arena, front, (size_t)w->n_einsums + 1) };
    state *start;
    uint32_t none = 0;

    for (uint32_t e = 0; e <= w->n_einsums; e++)
        find_alive(&k, e);
    add_state(&k, &k.fronts[0], &none);
    start = k.fronts[0].states.at;
    start->before_joules = start->before_seconds = 0;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (!go_forwards(&k, e))
            return false;
    for (size_t i = 0; i < k.fronts[w->n_einsums].states.n; i++)
        k.fronts[w->n_einsums].states.at[i].behind_joules = k.fronts[w->n_einsums].states.at[i].behind_seconds = 0;
    for (uint32_t e = w->n_einsums; e-- > 0;)
        go_backwards(&k, e);
    start = k.fronts[0].states.at;
    if (run->s->least_joules <= start->behind_joules * (1 + run->task->rounding) &&
        run->s->least_seconds <= start->behind_seconds * (1 + run->task->rounding))
        return true;
    dfl_report(run->sink, DFL_CERT_SUMS, run->s->asked->span,
               "`%s` has a least energy of %.12g and a least time of %.12g, and its patterns make %.12g and %.12g",
               run->s->head->file, run->s->least_joules, run->s->least_seconds, start->behind_joules, start->behind_seconds);
    return false;
}

/* Without patterns the least of all templates of each einsum is all that is known. */
static bool check_sum(const dfl_certify_run *run)
{
    double joules = 0, seconds = 0, value;

    for (uint32_t e = 0; e < run->s->asked->workload->n_einsums; e++) {
        const dfl_claim_class *c = &run->s->classes.at[run->s->of[e]];
        double least_joules = INFINITY, least_seconds = INFINITY;
        for (size_t i = 0; i < c->templates.n; i++) {
            if (c->templates.at[i].useless)
                continue;
            least_joules = fmin(least_joules, c->templates.at[i].joules);
            least_seconds = fmin(least_seconds, c->templates.at[i].seconds);
        }
        joules += least_joules;
        seconds += least_seconds;
    }
    value = dfl_certify_value(run, joules, seconds);
    if (run->s->head->lower_bound <= value * (1 + run->task->rounding))
        return true;
    dfl_report(run->sink, DFL_CERT_SUMS, run->s->asked->span, "`%s` has a lower bound of %.12g, and its templates make %.12g",
               run->s->head->file, run->s->head->lower_bound, value);
    return false;
}

bool dfl_certify_least(dfl_certify_run *run)
{
    size_t n = run->s->classes.n;

    run->others_joules = DFL_NEW_ARRAY(run->arena, double *, n + 1);
    run->others_seconds = DFL_NEW_ARRAY(run->arena, double *, n + 1);
    for (size_t c = 0; c < n; c++) {
        size_t m = run->s->classes.at[c].patterns.n;
        run->others_joules[c] = DFL_NEW_ARRAY(run->arena, double, m + 1);
        run->others_seconds[c] = DFL_NEW_ARRAY(run->arena, double, m + 1);
        for (size_t p = 0; p < m; p++)
            run->others_joules[c][p] = run->others_seconds[c][p] = INFINITY;
    }
    return run->s->rows ? check_patterns(run) : check_sum(run);
}
