#include "certify/box_proof.h"

#include <math.h>
#include <string.h>

#include "certify/box_terms.h"
#include "certify/cost.h"
#include "certify/factors.h"
#include "certify/tiles.h"
#include "support/pool.h"

/* By variable: first and last index into the divisors of its extent. */
typedef struct { uint16_t low[DFL_BOX_VARIABLES], high[DFL_BOX_VARIABLES]; } box;

typedef struct {
    dfl_certify_run *run;
    const dfl_certify_problem *problem;
    const dfl_certify_factors *factors;  /* [rank of the problem] */
    const dfl_claim_form *form;
    uint64_t n_boxes;
    bool is_proven, is_open;             /* open: the boxes of the last attempt ran out */
    dfl_stop why;
} proof;

typedef struct {
    proof *of;
    dfl_box_terms terms;
    double low[DFL_BOX_VARIABLES], high[DFL_BOX_VARIABLES]; /* ends of the present box */
    double axis_size[DFL_CERTIFY_AXES];
    double bound;                        /* what each box must cost */
    uint64_t most;
} prover;

static double value_of(const prover *p, const box *b, uint32_t v, bool high)
{
    return (double)p->of->factors[p->terms.var[v].rank].divisors[high ? b->high[v] : b->low[v]];
}

/* The product over the axes of the parts of a monomial on them: at most the size of the axis, whatever the ranks. */
static double cap_parts(const prover *p, const double *parts)
{
    double out = 1;

    for (uint32_t a = 0; a < p->of->problem->n_axes; a++)
        out *= parts[a] < p->axis_size[a] ? parts[a] : p->axis_size[a];
    return out;
}

/* Least value of a monomial in the present box; the largest one if `high`. */
static double end_of(const prover *p, const dfl_box_monomial *x, bool high)
{
    double out = x->scale, parts[DFL_CERTIFY_AXES];

    for (uint32_t a = 0; a < p->of->problem->n_axes; a++)
        parts[a] = 1;
    for (uint32_t i = 0; i < x->n; i++) {
        const uint32_t v = x->var[i], axis = p->terms.var[v].axis;
        if (x->inverse[i] == high)
            out = high ? out / p->low[v] : out * p->low[v];
        else if (axis == DFL_NONE)
            out = high ? out * p->high[v] : out / p->high[v];
        else
            parts[axis] *= p->high[v];
    }
    return high ? out * cap_parts(p, parts) : out / cap_parts(p, parts);
}

static double least(const prover *p, const dfl_box_monomial *x) { return end_of(p, x, false); }
static double largest(const prover *p, const dfl_box_monomial *x) { return end_of(p, x, true); }

/* Moves the ends of a variable to values between `low` and `high`; false if none is left. */
static bool narrow(const prover *p, box *b, uint32_t v, double low, double high)
{
    const dfl_certify_factors *f = &p->of->factors[p->terms.var[v].rank];

    while (b->low[v] <= b->high[v] && (double)f->divisors[b->low[v]] < low)
        b->low[v]++;
    while (b->low[v] <= b->high[v] && (double)f->divisors[b->high[v]] > high) {
        if (b->high[v] == 0)
            return false;
        b->high[v]--;
    }
    return b->low[v] <= b->high[v];
}

/* Narrows the iterations of a rank: they do not fall inwards, and their product with the parts is at most the extent. False if
   the box is empty. */
static bool narrow_rank(const prover *p, box *b, uint32_t first, uint32_t end)
{
    const dfl_box_variable *var = p->terms.var;
    double parts = 1, extent = (double)p->of->problem->extent[var[first].rank];
    uint32_t last = end;

    for (uint32_t v = first; v < end; v++) {
        if (var[v].axis != DFL_NONE)
            parts *= value_of(p, b, v, false);
        else
            last = v;
    }
    for (uint32_t v = end; v-- > first;) {
        const bool is_last = last == end || v == last || var[v].axis != DFL_NONE;
        double most = is_last ? extent / parts : value_of(p, b, v + 1, true);
        if (var[v].axis != DFL_NONE)
            most = extent / (parts / value_of(p, b, v, false) * (last == end ? 1 : value_of(p, b, last, false)));
        if (!narrow(p, b, v, 1, most * (1 + 1e-12)))
            return false;
    }
    for (uint32_t v = first; v + 1 < end && var[v + 1].axis == DFL_NONE; v++)
        if (!narrow(p, b, v + 1, value_of(p, b, v, false), INFINITY))
            return false;
    return true;
}

static bool narrow_axes(const prover *p, box *b)
{
    const dfl_system *s = p->of->run->search->asked->system;

    for (uint32_t a = 0; a < p->of->problem->n_axes; a++) {
        const double size = (double)s->axes[p->of->problem->axis[a]].size;
        double parts = 1;
        for (uint32_t v = 0; v < p->terms.n_vars; v++)
            parts *= p->terms.var[v].axis == a ? value_of(p, b, v, false) : 1;
        for (uint32_t v = 0; v < p->terms.n_vars; v++)
            if (p->terms.var[v].axis == a && !narrow(p, b, v, 1, size / (parts / value_of(p, b, v, false)) * (1 + 1e-12)))
                return false;
    }
    return true;
}

/* Narrows a box to the values that the ends of the others leave; false if it is empty. */
static bool narrow_all(const prover *p, box *b)
{
    for (uint32_t first = 0, end; first < p->terms.n_vars; first = end) {
        for (end = first + 1; end < p->terms.n_vars && p->terms.var[end].rank == p->terms.var[first].rank; end++) {
        }
        if (!narrow_rank(p, b, first, end))
            return false;
    }
    return narrow_axes(p, b);
}

/* Whether neighbours that are single values divide each other, and all of a rank that are single values its extent. */
static bool divides(const prover *p, const box *b)
{
    const dfl_box_variable *var = p->terms.var;

    for (uint32_t first = 0, end; first < p->terms.n_vars; first = end) {
        int64_t left = p->of->problem->extent[var[first].rank], last = 1;
        const dfl_certify_factors *f = &p->of->factors[var[first].rank];
        bool is_single = true;
        for (end = first; end < p->terms.n_vars && var[end].rank == var[first].rank; end++) {
            const bool is_one = b->low[end] == b->high[end];
            const int64_t value = f->divisors[b->low[end]];
            const bool is_last = end + 1 == p->terms.n_vars || var[end + 1].rank != var[first].rank ||
                                 var[end + 1].axis != DFL_NONE;
            if (var[end].axis == DFL_NONE) {
                if (is_one && is_single && value % last != 0)
                    return false;
                is_single = is_one;
                last = is_one ? value : 1;
            }
            if (is_one && (var[end].axis != DFL_NONE || is_last)) {
                if (left % value != 0)
                    return false;
                left /= value;
            }
        }
    }
    return true;
}

/* Whether the least tiles fit (B52). */
static bool fits(const prover *p)
{
    double room[DFL_CERTIFY_LEVELS] = { 0 };

    for (uint32_t i = 0; i < p->terms.n_keeps; i++) {
        const uint32_t level = p->terms.level[i];
        const double size = p->of->run->left_bits[p->of->problem->memory[level]];
        room[level] += least(p, &p->terms.tile[i]);
        if (room[level] > size * (1 + 1e-12))
            return false;
    }
    return true;
}

/* The objective of the least energy and the least time of the box (SEARCH.md, B51 and B52). */
static double bound_box(const prover *p)
{
    double joules = p->terms.joules, sure = joules, all = joules, seconds = least(p, &p->terms.work);
    double ports[2 * DFL_CERTIFY_LEVELS] = { 0 };

    for (uint32_t i = 0; i < p->terms.n_terms; i++) {
        const dfl_box_term *t = &p->terms.term[i];
        const double bits = least(p, &t->bits);
        if (t->port != DFL_NONE) {
            ports[t->port] += bits * t->seconds;
            continue;
        }
        const double part = t->joules * (t->joules > 0 ? bits : largest(p, &t->bits));
        joules += part;
        all += fabs(part);
        sure += t->sure * bits;
    }
    for (uint32_t i = 0; i < 2 * p->of->problem->n_levels; i++)
        seconds = fmax(seconds, ports[i]);
    return dfl_certify_value(p->of->run, p->terms.is_sure ? sure : fmax(joules - all * DFL_BOX_ROUNDING, sure), seconds);
}

/* The variable with the widest interval; n_vars if all are single values. */
static uint32_t find_widest(const prover *p, const box *b)
{
    uint32_t best = p->terms.n_vars;
    double ratio = 1;

    for (uint32_t v = 0; v < p->terms.n_vars; v++)
        if (b->low[v] < b->high[v] && p->high[v] / p->low[v] > ratio) {
            ratio = p->high[v] / p->low[v];
            best = v;
        }
    return best;
}

/* Whether all of a box is done. */
static bool prove(prover *p, box b)
{
    uint32_t v;
    uint16_t middle;

    for (;;) {
        if (++p->of->n_boxes % DFL_BOX_POLL == 0 && p->of->why == DFL_STOP_NONE)
            p->of->why = dfl_tile_check_poll(p->of->run, 0);
        if (p->of->why != DFL_STOP_NONE || p->of->n_boxes > p->most) {
            p->of->is_open = true;
            return false;
        }
        if (!narrow_all(p, &b) || !divides(p, &b))
            return true;
        for (v = 0; v < p->terms.n_vars; v++) {
            p->low[v] = value_of(p, &b, v, false);
            p->high[v] = value_of(p, &b, v, true);
        }
        if (!fits(p) || bound_box(p) >= p->bound)
            return true;
        v = find_widest(p, &b);
        if (v == p->terms.n_vars)
            return false;
        middle = (uint16_t)((b.low[v] + b.high[v]) / 2);
        box half = b;
        half.high[v] = middle;
        if (!prove(p, half))
            return false;
        b.low[v] = (uint16_t)(middle + 1);
    }
}

/* Tries to prove one skeleton by at most `most` boxes. */
static void try_skeleton(proof *of, uint64_t most)
{
    prover p = { .of = of, .most = most };
    box all;

    of->n_boxes = 0;
    of->is_open = false;
    if (!dfl_box_terms_make(of->run, of->problem, of->form, &p.terms))
        return;
    if (p.terms.is_useless) {
        of->is_proven = true; /* if the skeleton without the keep is */
        return;
    }
    memset(&all, 0, sizeof all);
    for (uint32_t v = 0; v < p.terms.n_vars; v++) {
        const uint32_t n = of->factors[p.terms.var[v].rank].n_divisors;
        if (n > UINT16_MAX)
            return;
        all.high[v] = (uint16_t)(n - 1);
    }
    for (uint32_t a = 0; a < of->problem->n_axes; a++)
        p.axis_size[a] = (double)of->run->search->asked->system->axes[of->problem->axis[a]].size;
    p.bound = of->run->search->head->lower_bound * (1 - of->run->task->rounding);
    of->is_proven = prove(&p, all);
}

/* ---- all skeletons ---- */

typedef struct {
    dfl_certify_run *run;
    DFL_VEC(proof) proofs;
    DFL_VEC(size_t) open;     /* those to try */
    uint64_t most;
} proof_list;

static void try_task(void *context, size_t i)
{
    proof_list *list = context;

    try_skeleton(&list->proofs.at[list->open.at[i]], list->most);
}

static void list_proofs(proof_list *list)
{
    const dfl_claim_class *c = &list->run->search->classes.at[0];
    const dfl_certify_problems *units = &list->run->search->problems[c->einsums[0]];

    for (size_t u = 0; u < units->n; u++) {
        const dfl_certify_factors *factors = dfl_certify_factors_of(list->run->arena, units->at[u]);
        for (size_t i = 0; i < c->skeletons.n; i++)
            if (c->skeletons.at[i].problem == units->at[u])
                DFL_PUSH(list->run->arena, &list->proofs,
                         ((proof){ .run = list->run, .problem = units->at[u], .factors = factors,
                                   .form = &c->skeletons.at[i].form }));
    }
}

bool dfl_certify_boxes(dfl_certify_run *run)
{
    proof_list list = { .run = run, .most = DFL_BOX_LEAST };
    const dfl_certify_problems *units = &run->search->problems[0];
    uint64_t used = 0;
    dfl_stop why = DFL_STOP_NONE;

    for (size_t u = 0; u < units->n; u++)
        if (!dfl_box_terms_apply(run, units->at[u]))
            return true;
    list_proofs(&list);
    for (size_t i = 0; i < list.proofs.n; i++)
        DFL_PUSH(run->arena, &list.open, i);
    for (uint32_t round = 0; round < DFL_BOX_ROUNDS && list.open.n > 0 && why == DFL_STOP_NONE; round++) {
        size_t n = 0;
        if (used + list.most * list.open.n > run->task->effort)
            list.most = run->task->effort > used ? (run->task->effort - used) / list.open.n : 0;
        dfl_pool_run(run->task->jobs, list.open.n, try_task, &list);
        for (size_t i = 0; i < list.open.n; i++) {
            const proof *p = &list.proofs.at[list.open.at[i]];
            used += p->n_boxes;
            run->n_proven += p->is_proven;
            why = why == DFL_STOP_NONE ? p->why : why;
            if (!p->is_proven && p->is_open)
                list.open.at[n++] = list.open.at[i];
        }
        list.open.n = n;
        list.most *= DFL_BOX_GROWTH;
    }
    run->n_boxed = (uint32_t)list.proofs.n;
    run->n_boxes = used;
    if (why != DFL_STOP_NONE)
        dfl_budget_stop(dfl_arena_budget(run->arena), why);
    return why == DFL_STOP_NONE || dfl_report_stop(run->sink, dfl_arena_budget(run->arena));
}
