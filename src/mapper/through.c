/* What is alive around an einsum, the loops that are open there, and rows that have them. */
#include "mapper/through.h"

#include <string.h>

#include "mapper/align.h"
#include "support/pool.h"

typedef DFL_VEC(uint32_t) numbers;

typedef DFL_VEC(dfl_through_ask) asks;

/* Of one pattern, which is a piece of work of its own, with its own memory. */
typedef struct {
    dfl_rows *rows;
    dfl_arena *arena, *scratch;
    dfl_budget budget;
    dfl_halt halt;
} pattern_rows;

typedef struct {
    pattern_rows *of;            /* by pattern; NULL = none yet */
    asks known;                  /* what these are for */
} class_rows;

/* What is a little less need not be searched again. */
static const double allowance = 1 - 1e-4;

struct dfl_through {
    const dfl_classes *k;
    bool *between;               /* by einsum: some tensor is alive around it */
    uint32_t *along;             /* by rank of the workload: one of those that index the same dimension of some tensor */
    dfl_tile_goal goal;
    dfl_join_between rows;       /* of the goal */
    const dfl_bounds *bounds;
    uint32_t *memory;            /* by tensor that is alive: scratch */
    dfl_arena *arena;
    dfl_teller *teller;
    uint32_t threads;
    class_rows *of;                   /* by class */
};

static const dfl_job_operand *operand_of(const dfl_job *job, uint32_t tensor)
{
    uint32_t o = dfl_job_find_operand(job, tensor);

    return o < job->n_operands ? &job->operand[o] : NULL;
}

static bool find_between(const dfl_classes *k, dfl_through *x)
{
    const dfl_workload *w = k->m->workload;
    bool any = false;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *tensor = &w->tensors[t];
        const dfl_job_operand *o =
            tensor->n_consumers == 0 ? NULL : operand_of(k->jobs[tensor->consumers[0]].at[0], t);
        if (o == NULL || !dfl_job_exchanged(o))
            continue;
        for (uint32_t e = tensor->n_producers > 0 ? tensor->producers[0] : tensor->consumers[0];
             e < tensor->consumers[tensor->n_consumers - 1]; e++)
            if (operand_of(k->jobs[e].at[0], t) == NULL)
                x->between[e] = any = true;
    }
    return any;
}

static uint32_t root_of(const dfl_through *x, uint32_t rank)
{
    while (x->along[rank] != rank)
        rank = x->along[rank];
    return rank;
}

static void find_along(dfl_arena *arena, const dfl_workload *w, dfl_through *x)
{
    uint32_t *of = DFL_NEW_ARRAY(arena, uint32_t, ((size_t)w->n_tensors + 1) * DFL_JOB_DIMS);

    for (uint32_t i = 0; i < w->n_tensors * DFL_JOB_DIMS; i++)
        of[i] = DFL_NONE;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;
            for (uint32_t d = 0; d < a->n_dims && d < DFL_JOB_DIMS; d++) {
                uint32_t rank, *other = &of[a->tensor * DFL_JOB_DIMS + d];
                if (!dfl_index_is_bare(&a->index[d], &rank))
                    continue;
                if (*other != DFL_NONE)
                    x->along[root_of(x, rank)] = root_of(x, *other);
                *other = rank;
            }
        }
}

dfl_through *dfl_through_make(dfl_arena *arena, const dfl_classes *k)
{
    const dfl_workload *w = k->m->workload;
    dfl_through *x = DFL_NEW(arena, dfl_through);

    x->k = k;
    x->between = DFL_NEW_ARRAY(arena, bool, (size_t)k->n + 1);
    if (!find_between(k, x))
        return NULL;
    x->along = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        x->along[r] = r;
    find_along(arena, w, x);
    x->of = DFL_NEW_ARRAY(arena, class_rows, k->at.n + 1);
    x->memory = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1);
    return x;
}

/* ---- ways ---- */

typedef struct {
    const dfl_through *x;
    const dfl_einsum_class *c;
    const dfl_job *job;
    uint32_t einsum;
    const struct dfl_join_way *way;
    const dfl_cost *rest;        /* by pattern */
    const asks *known;
    asks *out;                   /* what is not known, or not for as little */
} asker;

static dfl_through_ask *find_ask(const asks *all, const dfl_through_way *w)
{
    for (size_t i = 0; i < all->n; i++)
        if (memcmp(&all->at[i].way, w, sizeof *w) == 0)
            return &all->at[i];
    return NULL;
}

/* Whether rest `a` is no less than `b` for all patterns, but for the allowance. */
static bool is_covered(const asker *k, const dfl_cost *a, const dfl_cost *b)
{
    for (uint32_t p = 0; p < k->c->patterns.n; p++)
        for (uint32_t i = 0; i < DFL_COSTS; i++)
            if (a[p].at[i] < b[p].at[i])
                return false;
    return true;
}

static void add_way(const asker *k, const dfl_through_way *w)
{
    const dfl_through_ask *known = find_ask(k->known, w);
    dfl_through_ask *out = find_ask(k->out, w), fresh = { .way = *w };

    if (known != NULL && is_covered(k, k->rest, known->rest))
        return;
    if (out == NULL) {
        fresh.rest = DFL_NEW_ARRAY(k->x->arena, dfl_cost, k->c->patterns.n + 1);
        for (uint32_t p = 0; p < k->c->patterns.n; p++)
            fresh.rest[p] = known != NULL ? known->rest[p] : dfl_cost_none();
        DFL_PUSH(k->x->arena, k->out, fresh);
        out = &k->out->at[k->out->n - 1];
    }
    for (uint32_t p = 0; p < k->c->patterns.n; p++)
        dfl_cost_lower(&out->rest[p], &k->rest[p]);
}

/* ---- which loops can go on ---- */

enum { OPEN = 64, ANY = -2 };

/* Tensors that are made below a loop, and the dimension that it goes along in them: DFL_JOIN_NO_DIM, or ANY where that is not
   known. */
typedef struct {
    uint32_t n, tensor[OPEN];
    int32_t dim[OPEN];
} made;

static void add_made(made *all, uint32_t tensor, int32_t dim)
{
    if (all->n == OPEN)
        return;
    all->tensor[all->n] = tensor;
    all->dim[all->n++] = dim;
}

static const int32_t *find_made(const made *all, uint32_t tensor)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->tensor[i] == tensor)
            return &all->dim[i];
    return NULL;
}

/* The rank that is dimension `d` of an access, DFL_NONE = not one alone. */
static uint32_t rank_of(const dfl_access *a, int32_t d)
{
    uint32_t rank;

    return d >= 0 && dfl_index_is_bare(&a->index[d], &rank) ? rank : DFL_NONE;
}

/* Whether einsum `f` can stand below a loop of this name. */
static bool goes_along(const dfl_einsum *e, uint32_t name, made *all)
{
    uint32_t bound = dfl_einsum_has_rank(e, name) ? name : DFL_NONE;
    int32_t out = DFL_JOIN_NO_DIM;

    for (uint32_t i = 0; i < e->n_inputs && bound == DFL_NONE; i++) {
        const int32_t *dim = find_made(all, e->inputs[i].tensor);
        bound = dim != NULL ? rank_of(&e->inputs[i], *dim) : DFL_NONE;
    }
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const int32_t *dim = find_made(all, e->inputs[i].tensor);
        if (dim != NULL && *dim != ANY && (*dim < 0 || rank_of(&e->inputs[i], *dim) != bound))
            return false;
    }
    for (uint32_t d = 0; d < e->output.n_dims && bound != DFL_NONE; d++)
        if (rank_of(&e->output, (int32_t)d) == bound)
            out = (int32_t)d;
    add_made(all, e->output.tensor, bound == DFL_NONE ? ANY : out);
    return true;
}

/* Whether the einsums from this one to the last that reads something below open loop `l` can all stand below it. */
static bool can_go_on(const dfl_through *x, uint32_t einsum, const struct dfl_join_way *way, uint32_t l)
{
    const dfl_workload *w = x->k->m->workload;
    uint32_t last = einsum;
    made all = { .n = 0 };

    for (uint32_t i = 0; i < way->n_live; i++) {
        const dfl_join_alive *live = &way->live[i];
        const dfl_tensor *t = &w->tensors[live->tensor];
        if (live->depth > l && t->consumers[t->n_consumers - 1] > last)
            last = t->consumers[t->n_consumers - 1];
        if (live->kind == DFL_JOIN_MADE && live->within > l)
            add_made(&all, live->tensor, live->dim[l] == DFL_JOIN_WHOLE || live->dim[l] == DFL_JOIN_FIRST ? ANY : live->dim[l]);
    }
    for (uint32_t e = einsum; e <= last; e++)
        if (!goes_along(&w->einsums[e], way->name[l], &all))
            return false;
    return true;
}

/* ---- loops ---- */

/* Open loops from `l` on that are not skipped, each as a loop over a rank that can go along. */
static void ask_from(const asker *k, uint32_t l, uint32_t skipped, uint32_t used, dfl_through_way *w)
{
    uint32_t n = w->n_loops;
    bool named = false;

    while (l < k->way->n_open && (skipped >> l & 1))
        l++;
    if (l == k->way->n_open) {
        if (n > 0)
            add_way(k, w);
        return;
    }
    for (uint32_t r = 0; r < k->job->n_ranks; r++)
        named |= k->job->rank[r] == k->way->name[l];
    for (uint32_t r = 0; r < k->job->n_ranks; r++) {
        bool fits = named ? k->job->rank[r] == k->way->name[l]
                          : root_of(k->x, k->job->rank[r]) == root_of(k->x, k->way->name[l]);
        if (!fits || (used >> r & 1) || k->job->extent[r] % k->way->trips[l] != 0)
            continue;
        w->rank[n] = (uint8_t)r;
        w->trips[n] = k->way->trips[l];
        w->n_loops++;
        ask_from(k, l + 1, skipped, used | 1u << r, w);
        w->n_loops--;
        w->rank[n] = 0;
        w->trips[n] = 0;
    }
}

/* The loops of one way, if something is alive below some of them that the einsum does not touch. */
static void ask(const asker *k)
{
    uint32_t may_skip = dfl_align_may_skip(k->job, k->way), around = 0;

    for (uint32_t i = 0; i < k->way->n_live; i++)
        if (operand_of(k->job, k->way->live[i].tensor) == NULL && k->way->live[i].depth > around)
            around = k->way->live[i].depth;
    for (uint32_t l = 0; l < around; l++)
        if (!can_go_on(k->x, k->einsum, k->way, l))
            return;
    for (uint32_t skipped = may_skip; around > 0; skipped = (skipped - 1) & may_skip) {
        dfl_through_way w;
        memset(&w, 0, sizeof w);
        for (uint32_t o = 0; o < k->job->n_operands; o++) {
            const dfl_join_alive *live = k->job->operand[o].output ? NULL : dfl_join_find(k->way, k->job->operand[o].tensor);
            if (live == NULL || live->kind == DFL_JOIN_APART)
                continue;
            w.known |= (uint8_t)(1u << o);
            w.memory[o] = live->memory;
            w.depth[o] = (uint8_t)(live->depth - __builtin_popcount(skipped & ((1u << live->depth) - 1)));
        }
        ask_from(k, 0, skipped, 0, &w);
        if (skipped == 0)
            break;
    }
}

/* By pattern what all else costs at least when the einsum comes behind states of this cost. */
static void find_rest(dfl_through *x, const dfl_einsum_class *c, uint32_t einsum, const dfl_join_before *before, dfl_cost *rest)
{
    for (uint32_t i = 0; i < before->way->n_live; i++)
        x->memory[before->way->live[i].tensor] = before->way->live[i].memory;
    for (uint32_t p = 0; p < c->patterns.n; p++) {
        dfl_cost all = dfl_bounds_after(x->bounds, einsum, x->memory, p);
        dfl_tile_goal goal;
        dfl_cost_add(&all, &before->least);
        dfl_classes_aim(c, p, &goal);
        rest[p] = goal.rest;
        for (uint32_t i = 0; i < DFL_COSTS; i++) {
            double own = i >= DFL_COST_BUSY ? goal.busy[i - DFL_COST_BUSY] : 0, more = (all.at[i] + own) * allowance;
            rest[p].at[i] = more > rest[p].at[i] ? more : rest[p].at[i];
        }
    }
}

/* ---- rows ---- */

typedef struct {
    const dfl_job *job;
    const dfl_tiling_template *form;
    uint32_t pattern;
} through_form;

/* Those that some ask can be of use for. */
typedef DFL_VEC(through_form) forms;

/* The search of a class for some ways, and what a piece of it has for itself. */
typedef struct {
    dfl_through *x;
    const dfl_einsum_class *c;
    const dfl_job *job;
    dfl_tile_goal goal;
    const asks *all;
    dfl_through_ask *at;         /* those that the present template can be of use for */
    dfl_through_asks some;
    forms *forms;
    pattern_rows *rows;          /* by pattern */
} searcher;

/* Whether the template exchanges what is alive in the memory where it is. */
static bool takes_over(const dfl_job *job, const dfl_tiling_template *t, const dfl_through_way *w)
{
    for (uint32_t o = 0; o < job->n_operands; o++)
        if ((w->known >> o & 1) && job->place[t->exchange[o]].memory != w->memory[o])
            return false;
    return true;
}

/* What is asked for that a template can be of use for, which costs at least so much; the least rest of that in the goal. */
static void choose_asks(searcher *k, const dfl_tiling_template *t, uint32_t p, double joules, double seconds)
{
    dfl_cost least = dfl_cost_none();

    k->some.n = 0;
    for (size_t i = 0; i < k->all->n; i++) {
        const dfl_through_ask *ask = &k->all->at[i];
        k->goal.rest = ask->rest[p];
        if (ask->way.n_loops > k->goal.max_loops || !takes_over(k->job, t, &ask->way) ||
            !dfl_tile_useful(&k->goal, joules, seconds))
            continue;
        k->at[k->some.n++] = *ask;
        dfl_cost_lower(&least, &ask->rest[p]);
    }
    k->goal.rest = least;
}

/* Notes a template with loops of others, if that is of use. */
static bool note_form(void *context, const dfl_tiling_template *form)
{
    searcher *k = context;
    uint32_t p = dfl_classes_pattern(k->c, k->job, form);
    const dfl_cost *least = &k->c->patterns.at[p].least;
    dfl_tiling_template *copy;

    if (dfl_halted(k->goal.halt))
        return false;
    dfl_classes_aim(k->c, p, &k->goal);
    choose_asks(k, form, p, least->at[DFL_COST_JOULES], least->at[DFL_COST_SECONDS]);
    if (k->some.n == 0)
        return true;
    copy = DFL_NEW(k->x->arena, dfl_tiling_template);
    *copy = *form;
    DFL_PUSH(k->x->arena, k->forms, ((through_form){ k->job, copy, p }));
    return true;
}

/* Rows of one template. */
static void search_form(searcher *k, dfl_rows *rows, const through_form *f)
{
    double joules, seconds, busy[2 * DFL_JOB_PLACES];
    uint64_t before = dfl_rows_evaluated(rows);

    k->job = f->job;
    k->goal.pattern = f->pattern;
    dfl_classes_aim(k->c, f->pattern, &k->goal);
    dfl_tile_bound(rows, f->job, f->form, &joules, &seconds, busy);
    choose_asks(k, f->form, f->pattern, joules, seconds);
    if (k->some.n > 0)
        dfl_tile_search(rows, f->job, f->form, &k->goal);
    dfl_teller_add(k->x->teller, dfl_rows_evaluated(rows) - before);
}

static void search_pattern(void *context, size_t p)
{
    searcher k = *(const searcher *)context;
    pattern_rows *own = &k.rows[p];

    k.at = DFL_NEW_ARRAY(own->arena, dfl_through_ask, k.all->n + 1);
    k.some.at = k.at;
    k.goal.halt = &own->halt;
    k.goal.through = &k.some;
    for (size_t i = 0; i < k.forms->n && !dfl_halted(&own->halt); i++)
        if (k.forms->at[i].pattern == p)
            search_form(&k, own->rows, &k.forms->at[i]);
}

/* Rows of a class for some ways. Where time counts, no more keeps stand above loops of others, since their transfers could
   overlap with what others do. */
static void search_asks(dfl_through *x, uint32_t class, const asks *some)
{
    const dfl_einsum_class *c = &x->k->at.at[class];
    dfl_way_filter filter = { .classes = x->k, .class = class };
    forms found = { .n = 0 };
    searcher k = { .x = x, .c = c, .goal = x->goal, .all = some, .forms = &found, .rows = x->of[class].of,
                   .at = DFL_NEW_ARRAY(x->arena, dfl_through_ask, some->n + 1) };

    k.some.at = k.at;
    for (uint32_t o = 0; o < DFL_JOB_OPERANDS; o++)
        filter.known |= (uint32_t)(c->next[o].n > 0) << o;
    k.goal.filter = &filter;
    for (size_t i = 0; i < x->k->jobs[c->first].n; i++) {
        k.job = x->k->jobs[c->first].at[i];
        if (k.job->given == NULL)
            dfl_templates_through(k.job, !x->goal.by_time, note_form, &k);
    }
    dfl_pool_run(x->threads, c->patterns.n, search_pattern, &k);
    for (uint32_t p = 0; p < c->patterns.n && x->goal.halt->why == DFL_STOP_NONE; p++)
        x->goal.halt->why = k.rows[p].halt.why;
}

/* Memory for every pattern of a class, and the limits that all have. */
static pattern_rows *make_rows(dfl_through *x, const dfl_einsum_class *c)
{
    const dfl_halt *halt = x->goal.halt;
    pattern_rows *of = DFL_NEW_ARRAY(x->arena, pattern_rows, c->patterns.n + 1);

    for (uint32_t p = 0; p < c->patterns.n; p++) {
        of[p].budget = (dfl_budget){ .memory_limit = halt->budget->memory_limit, .steps_limit = halt->budget->steps_limit,
                                     .cancel = halt->budget->cancel };
        of[p].halt = (dfl_halt){ .budget = &of[p].budget, .deadline = halt->deadline, .most = halt->most };
        of[p].arena = dfl_arena_new(&of[p].budget);
        of[p].scratch = dfl_arena_new(&of[p].budget);
        of[p].rows = dfl_rows_new(of[p].arena, of[p].scratch);
        dfl_halt_count(&of[p].halt, of[p].rows);
    }
    return of;
}

/* Those of all patterns, one behind the other. */
static const dfl_row *const *list_rows(dfl_arena *arena, const dfl_through *x, size_t class, uint32_t *n)
{
    const dfl_einsum_class *c = &x->k->at.at[class];
    const pattern_rows *of = x->of[class].of;
    const dfl_row **all;
    uint32_t at = 0;

    *n = 0;
    for (uint32_t p = 0; p < c->patterns.n && of != NULL; p++) {
        uint32_t more;
        (void)dfl_rows_list(of[p].rows, &more);
        *n += more;
    }
    all = DFL_NEW_ARRAY(arena, const dfl_row *, (size_t)*n + 1);
    for (uint32_t p = 0; p < c->patterns.n && at < *n; p++) {
        uint32_t more;
        const dfl_row *const *list = dfl_rows_list(of[p].rows, &more);
        if (more > 0)
            memcpy(all + at, list, more * sizeof *all);
        at += more;
    }
    return all;
}

static const dfl_row *const *rows_between(void *through, uint32_t einsum, const dfl_join_before *before, uint32_t n_before,
                                          uint32_t *n)
{
    dfl_through *x = through;
    uint32_t class = x->k->of[einsum];
    const dfl_einsum_class *c = &x->k->at.at[class];
    class_rows *of = &x->of[class];
    asks fresh = { .n = 0 };
    dfl_cost *rest = DFL_NEW_ARRAY(x->arena, dfl_cost, c->patterns.n + 1);
    asker a = { .x = x, .c = c, .job = x->k->jobs[einsum].at[0], .einsum = einsum, .rest = rest, .known = &of->known,
                .out = &fresh };

    *n = 0;
    if (!x->between[einsum])
        return NULL;
    for (uint32_t i = 0; i < n_before; i++) {
        a.way = before[i].way;
        find_rest(x, c, einsum, &before[i], rest);
        ask(&a);
    }
    if (of->of == NULL)
        of->of = make_rows(x, c);
    if (fresh.n > 0)
        search_asks(x, class, &fresh);
    for (size_t i = 0; i < fresh.n; i++) {
        dfl_through_ask *known = find_ask(&of->known, &fresh.at[i].way);
        if (known != NULL)
            *known = fresh.at[i];
        else
            DFL_PUSH(x->arena, &of->known, fresh.at[i]);
    }
    return list_rows(x->arena, x, class, n);
}

const dfl_tile_goal *dfl_through_begin(dfl_through *x, const dfl_tile_goal *goal, const dfl_bounds *bounds, dfl_halt *halt,
                                       dfl_teller *teller)
{
    x->goal = *goal;
    x->rows = (dfl_join_between){ .rows = rows_between, .context = x };
    x->goal.between = &x->rows;
    x->goal.halt = halt;
    x->bounds = bounds;
    x->teller = teller;
    x->threads = 1;
    x->arena = dfl_arena_new(halt->budget);
    memset(x->of, 0, x->k->at.n * sizeof *x->of);
    return &x->goal;
}

const dfl_join_result *dfl_through_join(dfl_through *x, dfl_rescue *rescue, const dfl_join_step *steps,
                                        const dfl_join_result *found, const dfl_map_options *options, double bound, uint32_t *n,
                                        bool *full, dfl_stop *why)
{
    const dfl_tile_goal *goal = rescue->goal;
    dfl_halt halt = { .budget = dfl_arena_budget(rescue->arena), .deadline = rescue->deadline };
    bool many = options->front || options->top > 0;
    const dfl_join_result *better;
    uint32_t more = 0;

    rescue->goal = dfl_through_begin(x, goal, rescue->bounds, &halt, options->teller);
    x->threads = options->jobs > 0 ? options->jobs : 1;
    if (found != NULL && !many)
        x->goal.limit = found->value;
    better = dfl_rescue_join(rescue, steps, options->front, bound, &more, full, why);
    rescue->goal = goal;
    x->goal.halt = NULL;
    if (*why == DFL_STOP_NONE)
        *why = halt.why;
    if (better == NULL || (found != NULL && !many && better->value >= found->value))
        return found;
    *n = more;
    return better;
}

void dfl_through_append(dfl_arena *arena, const dfl_through *x, dfl_classes *k)
{
    for (size_t c = 0; x != NULL && x->arena != NULL && c < k->at.n; c++) {
        dfl_einsum_class *to = &k->at.at[c];
        uint32_t more = 0;
        const dfl_row *const *through = list_rows(arena, x, c, &more);
        const dfl_row **both = DFL_NEW_ARRAY(arena, const dfl_row *, (size_t)to->n_list + more + 1);
        if (to->n_list > 0)
            memcpy(both, to->list, to->n_list * sizeof *both);
        if (more > 0)
            memcpy(both + to->n_list, through, more * sizeof *both);
        to->list = both;
        to->n_list += more;
    }
}

void dfl_through_end(dfl_through *x, uint64_t *evaluated, uint64_t *pruned)
{
    if (x == NULL || x->arena == NULL)
        return;
    for (size_t c = 0; c < x->k->at.n; c++)
        for (uint32_t p = 0; p < x->k->at.at[c].patterns.n && x->of[c].of != NULL; p++) {
            *evaluated += dfl_rows_evaluated(x->of[c].of[p].rows);
            *pruned += dfl_rows_pruned(x->of[c].of[p].rows);
            dfl_arena_free(x->of[c].of[p].arena);
            dfl_arena_free(x->of[c].of[p].scratch);
        }
    dfl_arena_free(x->arena);
    x->arena = NULL;
}
