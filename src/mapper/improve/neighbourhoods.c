/* Changed problems, one after another. */
#include "mapper/improve/neighbourhoods.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/branches/branches.h"
#include "mapper/problem/einsum_orders.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/factors.h"
#include "mapper/problem/segment.h"
#include "mapper/problem/transform.h"
#include "support/deadline.h"
#include "support/vec.h"

static const double rounding = 1 + 1e-9;
/* What is within this factor of the best may be better once it is polished. */
static const double near = 1.1;

typedef struct {
    dfl_transform v;
    bool product;                /* searched for energy * latency, which fuses more */
} change;

typedef DFL_VEC(change) changes;

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *given;
    const dfl_map_options *options;
    const dfl_polish_options *polish;
    dfl_map_result *out;
    double least;                /* value of out->mapping by the model */
    dfl_transform now;           /* what was changed for it, in the problem or in the einsums of a part */
    const uint32_t *part;        /* NULL = the whole problem */
    uint32_t n_part;
} explorer;

/* What is changed: the whole problem, or a part of it. */
typedef struct {
    const dfl_mapping *given;
    const dfl_segment *part;     /* NULL = the whole */
    dfl_transform from;          /* what is changed already */
} target;

/* Of a round: */
typedef struct {
    change at;
    target of;
    dfl_mapping *mapping;
    double value;
} proposal;

static bool is_stopped(explorer *k)
{
    dfl_deadline halt = { .budget = dfl_arena_budget(k->arena), .at = k->polish->limits.deadline };

    if (k->out->stopped == DFL_STOP_NONE && dfl_deadline_passed(&halt))
        k->out->stopped = halt.why;
    return k->out->stopped != DFL_STOP_NONE;
}

static double value_of(explorer *k, const dfl_mapping *m)
{
    return dfl_mapping_value(dfl_arena_budget(k->arena), k->names, m, k->options->objective);
}

/* The search of a changed problem, in `work`; NULL if there is nothing. */
static const dfl_map_result *ask(explorer *k, dfl_arena *work, const dfl_mapping *problem, bool product, double ceiling)
{
    dfl_sink *quiet = dfl_sink_quiet(work);
    dfl_map_options options = *k->options;
    dfl_objective both = *options.objective;
    const dfl_map_result *r;
    bool fits = true;

    both.terms = NULL;
    both.n_terms = 0;
    both.free = false;
    if (product)
        options.objective = &both;
    options.limits.progress = NULL;
    options.limits.gap = 0; /* the bound of a variant is none of the whole space */
    options.limits.evaluations = dfl_evaluations_left(options.limits.evaluations, k->out->evaluated);
    options.certificate = false;
    options.ceiling = ceiling < INFINITY ? ceiling : 0;
    r = dfl_branches_search(work, quiet, k->names, problem, &options, &fits);
    if (r != NULL) {
        k->out->evaluated += r->evaluated;
        k->out->pruned += r->pruned;
        dfl_progress_add(k->options->limits.progress, r->evaluated);
        if (k->out->stopped == DFL_STOP_NONE)
            k->out->stopped = r->stopped;
    }
    return r;
}

/* ---- orders ---- */

/* Another order; the least that any mapping in it costs. */
static double try_order(explorer *k, const uint32_t *order)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    const dfl_transform v = { .order = order };
    const dfl_mapping *problem = dfl_transform_apply(work, k->given, &v);
    const dfl_map_result *r = ask(k, work, problem, false, k->least);
    double bound = r != NULL ? r->lower_bound : k->out->floor, value = INFINITY;

    if (r != NULL && r->mapping != NULL) {
        const dfl_mapping *m = dfl_transform_undo(work, k->given, &v, problem, r->mapping);
        value = value_of(k, m);
        if (value > bound * rounding)
            m = dfl_polish(work, k->names, m, k->polish, &value);
        if (value < k->least) {
            k->least = value;
            k->now = v;
            k->out->mapping = dfl_mapping_copy(k->arena, m);
        }
    }
    dfl_arena_free(work);
    return bound;
}

static void try_orders(explorer *k)
{
    const dfl_einsum_orders *orders = dfl_einsum_orders_find(k->arena, k->given->workload);
    double bound = k->out->lower_bound;
    uint32_t i = 1;

    for (; i < orders->n && !is_stopped(k); i++)
        bound = fmin(bound, try_order(k, orders->at[i]));
    k->out->lower_bound = orders->all && i == orders->n ? bound : fmin(bound, k->out->floor);
}

/* ---- pipelines ---- */

/* Every branch is a pipeline if that is better; the value of what there is then. */
static double pipe_branches(explorer *k, dfl_mapping *m, double value)
{
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        double piped;
        if (m->bodies[b]->kind != DFL_BODY_FUSE)
            continue;
        m->bodies[b]->kind = DFL_BODY_PIPELINE;
        piped = value_of(k, m);
        if (piped < value)
            value = piped;
        else
            m->bodies[b]->kind = DFL_BODY_FUSE;
    }
    return value;
}

/* ---- changes on top of the present ones ---- */

static bool wants(const explorer *k, uint32_t kind) { return (k->options->space.extensions & kind) != 0; }

static bool has_class(const uint32_t *linked, uint32_t rank, const dfl_access *a)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            if (linked[a->index[d].terms[i].rank] == linked[rank])
                return true;
    return false;
}

/* Whether a loop over the rank can stand around everything: no einsum sums over it what others read, and each goes along or
   makes something for one that does. */
static bool may_loop(dfl_arena *arena, const dfl_workload *w, const uint32_t *linked, uint32_t rank)
{
    bool *bound = DFL_NEW_ARRAY(arena, bool, (size_t)w->n_einsums + 1);

    for (uint32_t e = w->n_einsums; e-- > 0;) {
        const dfl_access *made = &w->einsums[e].output;
        const dfl_tensor *t = &w->tensors[made->tensor];
        bound[e] = dfl_transform_goes_along(w, linked, rank, e);
        if (bound[e] && t->n_consumers > 0 && !has_class(linked, rank, made))
            return false;
        for (uint32_t k = 0; k < t->n_consumers; k++)
            bound[e] |= bound[t->consumers[k]];
        if (!bound[e])
            return false;
    }
    return true;
}

/* Whether the loops are of the kind: over ranks of all einsums, of some, or of some along which windows slide. */
static bool is_of_kind(dfl_arena *arena, const dfl_workload *w, uint32_t kind, bool all, const dfl_transform *v)
{
    if (kind != DFL_SEARCH_WINDOW)
        return all == (kind == DFL_SEARCH_SPLIT);
    return !all && dfl_transform_slides(arena, w, v);
}

/* Loops over a rank around everything, inside of those there are, by every divisor of what they leave. */
static void add_loops(const target *of, dfl_arena *arena, uint32_t kind, changes *out)
{
    const dfl_workload *w = of->given->workload;
    const uint32_t *linked = dfl_transform_linked(arena, w);

    for (uint32_t r = 0; r < w->n_ranks && of->from.n_loops < DFL_VARIANT_LOOPS; r++) {
        int64_t left = w->ranks[r].extent;
        bool all = true;
        for (uint32_t e = 0; e < w->n_einsums; e++)
            all &= dfl_transform_goes_along(w, linked, r, e);
        for (uint32_t i = 0; i < of->from.n_loops; i++)
            if (linked[of->from.loop[i].rank] == r)
                left = of->from.loop[i].tile;
        if (linked[r] != r || !may_loop(arena, w, linked, r))
            continue;
        dfl_amounts tiles = dfl_divisors(arena, left);
        for (uint32_t i = 0; i + 1 < tiles.n; i++) {
            change c = { .v = of->from };
            c.v.loop[c.v.n_loops++] = (dfl_transform_loop){ r, tiles.at[i] };
            c.v.again |= kind == DFL_SEARCH_RECOMPUTE;
            if (is_of_kind(arena, w, kind, all, &c.v))
                DFL_PUSH(arena, out, c);
        }
    }
}

static bool is_spilled(const dfl_transform *v, uint32_t tensor, uint32_t reader)
{
    for (uint32_t i = 0; i < v->n_spills; i++)
        if (v->spill[i].tensor == tensor && v->spill[i].reader == reader)
            return true;
    return false;
}

static void add_spills(const explorer *k, const target *of, dfl_arena *arena, changes *out)
{
    const dfl_workload *w = of->given->workload;

    for (uint32_t t = 0; t < w->n_tensors && of->from.n_spills < DFL_VARIANT_SPILLS; t++) {
        const dfl_tensor *tensor = &w->tensors[t];
        bool seen = tensor->role == DFL_ROLE_OUTPUT || tensor->n_consumers < k->given->workload->tensors[t].n_consumers ||
                    dfl_body_home(k->given->root, t) != DFL_NONE;
        bool leaves = seen && !is_spilled(&of->from, t, DFL_NONE);
        uint32_t left = tensor->n_consumers;
        change c = { .v = of->from };

        for (uint32_t i = 0; i < tensor->n_consumers; i++)
            left -= is_spilled(&of->from, t, tensor->consumers[i]);
        for (uint32_t i = 0; i < tensor->n_consumers && left > 1 && tensor->n_producers > 0 && !leaves; i++) {
            if (is_spilled(&of->from, t, tensor->consumers[i]))
                continue;
            c.v.spill[of->from.n_spills] = (dfl_transform_spill){ t, tensor->consumers[i] };
            c.v.n_spills = of->from.n_spills + 1;
            DFL_PUSH(arena, out, c);
        }
        if (leaves && tensor->n_producers > 0 && tensor->n_consumers > 0) {
            c.v.spill[of->from.n_spills] = (dfl_transform_spill){ t, DFL_NONE };
            c.v.n_spills = of->from.n_spills + 1;
            DFL_PUSH(arena, out, c);
        }
    }
}

/* Axes with room for two to four stages beside each other, of equal size or not. */
static void add_narrow(const target *of, dfl_arena *arena, changes *out)
{
    static const int64_t parts[][2] = { { 1, 2 }, { 1, 3 }, { 1, 4 }, { 2, 3 }, { 3, 4 } };
    const dfl_system *s = of->given->system;

    DFL_PUSH(arena, out, ((change){ .v = of->from, .product = true }));
    for (uint32_t a = 0; a < s->n_axes && of->from.narrow == 0; a++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            for (int product = 0; product < 2; product++) {
                change c = { .v = of->from, .product = product };
                c.v.axis = a;
                c.v.narrow = s->axes[a].size * parts[i][0] / parts[i][1];
                if (c.v.narrow > 0)
                    DFL_PUSH(arena, out, c);
            }
}

static void try_change(explorer *k, const target *of, const change *c, proposal *best)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    const dfl_mapping *problem = dfl_transform_apply(work, of->given, &c->v);
    bool apart = c->v.n_loops == 0 && of->part == NULL && !wants(k, DFL_SEARCH_PIPELINE);
    const dfl_map_result *r = ask(k, work, problem, c->product, apart ? k->least : INFINITY);

    if (r != NULL && r->mapping != NULL) {
        dfl_mapping *m = dfl_transform_undo(work, of->given, &c->v, problem, r->mapping);
        double value;
        if (of->part != NULL)
            m = dfl_segment_put(work, k->given, of->part, m);
        value = value_of(k, m);
        if (wants(k, DFL_SEARCH_PIPELINE))
            value = pipe_branches(k, m, value);
        if (value < best->value)
            *best = (proposal){ *c, *of, dfl_mapping_copy(k->arena, m), value };
    }
    dfl_arena_free(work);
}

/* At most DFL_BEYOND_CHANGES of the list, evenly. */
static void try_changes(explorer *k, const target *of, const changes *list, proposal *best)
{
    size_t step = (list->n + DFL_BEYOND_CHANGES - 1) / DFL_BEYOND_CHANGES;

    for (size_t i = 0; i < list->n && !is_stopped(k); i += step)
        try_change(k, of, &list->at[i], best);
}

static void try_kind(explorer *k, const target *of, uint32_t kind, proposal *best)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    changes list = { .n = 0 };

    if (kind == DFL_SEARCH_RECOMPUTE || kind == DFL_SEARCH_SPLIT || kind == DFL_SEARCH_WINDOW)
        add_loops(of, work, kind, &list);
    else if (kind == DFL_SEARCH_SPILL)
        add_spills(k, of, work, &list);
    else
        add_narrow(of, work, &list);
    try_changes(k, of, &list, best);
    dfl_arena_free(work);
}

static const uint32_t KINDS[] = { DFL_SEARCH_RECOMPUTE, DFL_SEARCH_WINDOW, DFL_SEARCH_SPLIT, DFL_SEARCH_SPILL,
                                  DFL_SEARCH_PIPELINE };
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* The best of every kind. */
static void try_target(explorer *k, const target *of, proposal best[N_KINDS])
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (wants(k, KINDS[i]))
            try_kind(k, of, KINDS[i], &best[i]);
}

/* Takes a proposal if it is better once it is polished. */
static bool take(explorer *k, const proposal *p, const uint32_t *order)
{
    double value = INFINITY;
    const dfl_mapping *m = NULL;

    if (p->mapping != NULL && p->value <= k->least * near)
        m = dfl_polish(k->arena, k->names, p->mapping, k->polish, &value);
    if (value >= k->least)
        return false;
    k->least = value;
    k->now = p->at.v;
    k->now.order = order;
    k->part = p->of.part != NULL ? p->of.part->einsums : NULL;
    k->n_part = p->of.part != NULL ? p->of.part->n_einsums : 0;
    k->out->mapping = dfl_mapping_copy(k->arena, m);
    return true;
}

/* Whether it is the part that was changed last. */
static bool is_same(const explorer *k, const dfl_segment *part)
{
    return k->part != NULL && part->n_einsums == k->n_part &&
           memcmp(part->einsums, k->part, k->n_part * sizeof *k->part) == 0;
}

/* Whether some change made the best mapping better. */
static bool round_is_better(explorer *k)
{
    uint32_t n;
    const dfl_segment *parts = dfl_segments_find(k->arena, k->out->mapping, &n);
    proposal best[N_KINDS];
    target whole = { .given = k->given, .from = { .order = k->now.order } };
    bool better = false;

    for (size_t i = 0; i < N_KINDS; i++)
        best[i] = (proposal){ .value = INFINITY };
    if (k->part == NULL)
        whole.from = k->now;
    try_target(k, &whole, best);
    for (uint32_t i = 0; i < n; i++) {
        target of = { .given = dfl_segment_problem(k->arena, k->given, &parts[i]), .part = &parts[i] };
        if (is_same(k, &parts[i]))
            of.from = k->now;
        of.from.order = NULL; /* the einsums of a part are in the order they run */
        try_target(k, &of, best);
    }
    for (size_t i = 0; i < N_KINDS; i++)
        better |= take(k, &best[i], whole.from.order);
    return better && !is_stopped(k);
}

/* The best mapping as it stands, its branches as pipelines. */
static void pipe_best(explorer *k)
{
    dfl_mapping *m = dfl_mapping_copy(k->arena, k->out->mapping);
    double value = pipe_branches(k, m, k->least);

    if (value < k->least) {
        m = dfl_polish(k->arena, k->names, m, k->polish, &value);
        k->least = value;
        k->out->mapping = m;
    }
}

/* Whether some memory is inside of an array: stages of a pipeline may exchange there. */
static bool has_inner_memories(const dfl_system *s)
{
    for (uint32_t m = 0; m < s->n_memories; m++)
        for (uint32_t a = 0; a < s->n_axes; a++)
            if (dfl_axis_encloses(s, a, s->memories[m].element))
                return true;
    return false;
}

/* What the einsums cost at least by themselves, wherever they exchange what they make, one after another or beside each
   other. Each is run in full at least once and each of its operands comes to the unit, whatever loops stand around it. */
static double floor_of(explorer *k)
{
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    const dfl_map_result *r = k->out;
    const uint32_t with_loops = DFL_SEARCH_RECOMPUTE | DFL_SEARCH_WINDOW | DFL_SEARCH_SPLIT;
    const bool lifts = wants(k, with_loops) && !k->given->options.overlap_perfect;
    double floor = 0;

    if (wants(k, DFL_SEARCH_SPILL))
        r = ask(k, work, dfl_transform_loosest(work, k->given), false, DBL_MIN);
    if (r != NULL)
        floor = wants(k, DFL_SEARCH_PIPELINE) ? r->floor_beside : lifts ? r->floor_lifted : r->floor;
    if (r != NULL && wants(k, DFL_SEARCH_PIPELINE) && has_inner_memories(k->given->system))
        floor = fmin(floor, r->floor_units); /* skeleton bounds hold only for exchanges outside of arrays */
    if (r != NULL && wants(k, DFL_SEARCH_KEEP))
        floor = fmin(floor, r->floor_units); /* such keeps are filled beside the work of other einsums (SEARCH.md, B40) */
    dfl_arena_free(work);
    return floor;
}

void dfl_neighbourhoods_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                               const dfl_map_options *options,
                               const dfl_polish_options *polish, dfl_map_result *out, double *least)
{
    explorer k = { .arena = arena, .names = names, .given = given, .options = options, .polish = polish, .out = out,
                   .least = *least };
    bool better = (options->space.extensions & ~(uint32_t)DFL_SEARCH_ORDER) != 0;
    double floor = better ? floor_of(&k) : 0; /* while there is time */

    if (options->limits.progress != NULL)
        options->limits.progress->now.phase = "beyond";
    if (wants(&k, DFL_SEARCH_ORDER))
        try_orders(&k);
    if (wants(&k, DFL_SEARCH_PIPELINE))
        pipe_best(&k);
    if (better)
        out->lower_bound = floor;
    for (uint32_t i = 0; i < DFL_BEYOND_ROUNDS && better; i++)
        better = round_is_better(&k);
    *least = k.least;
}

uint32_t dfl_neighbourhoods_kinds(const dfl_mapping *given, uint32_t kinds)
{
    const dfl_workload *w = given->workload;
    bool makes = false, spills = false;

    if (w->n_einsums < 2)
        return 0;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *x = &w->tensors[t];
        const bool is_made = x->n_producers > 0 && x->n_consumers > 0;

        makes |= is_made;
        spills |= is_made && (x->n_consumers > 1 || x->role == DFL_ROLE_OUTPUT || dfl_body_home(given->root, t) != DFL_NONE);
    }
    /* einsums that exchange nothing may run side by side */
    kinds &= makes ? kinds : ~(uint32_t)(DFL_SEARCH_RECOMPUTE | DFL_SEARCH_WINDOW);
    kinds &= spills ? kinds : ~(uint32_t)DFL_SEARCH_SPILL;
    return dfl_workload_slides(w) ? kinds : kinds & ~(uint32_t)DFL_SEARCH_WINDOW;
}
