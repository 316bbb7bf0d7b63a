/* Rows of einsums between others. */
#include "mapper/exact/pass_through.h"

#include <string.h>

#include "mapper/divisors/pareto_set.h"
#include "mapper/exact/pass_requests.h"
#include "support/pool.h"

/* Of one pattern, which is a piece of work of its own, with its own memory. */
typedef struct {
    dfl_pareto_set *rows;
    dfl_arena *arena, *scratch;
    dfl_budget budget;
    dfl_deadline halt;
    bool done;                   /* with the present ways */
} pattern_rows;

typedef struct {
    pattern_rows *of;            /* by pattern; NULL = none yet */
    dfl_requests known;          /* what these are for */
} class_rows;

struct dfl_pass_through {
    const dfl_einsum_classes *k;
    bool *between;               /* by einsum: some tensor is alive around it */
    dfl_requester asker;
    dfl_tile_goal goal;
    dfl_join_between rows;       /* of the goal */
    dfl_arena *arena;
    dfl_progress_meter *progress;
    uint32_t threads;
    uint64_t limit;              /* evaluations, about the most; 0 = any number */
    class_rows *of;              /* by class */
};

static const dfl_problem_operand *operand_of(const dfl_problem *problem, uint32_t tensor)
{
    uint32_t o = dfl_problem_find_operand(problem, tensor);

    return o < problem->n_operands ? &problem->operand[o] : NULL;
}

static bool find_between(const dfl_einsum_classes *k, dfl_pass_through *x)
{
    const dfl_workload *w = k->m->workload;
    bool any = false;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *tensor = &w->tensors[t];
        const dfl_problem_operand *o =
            tensor->n_consumers == 0 ? NULL : operand_of(k->problems[tensor->consumers[0]].at[0], t);
        if (o == NULL || !dfl_problem_exchanged(o))
            continue;
        for (uint32_t e = tensor->n_producers > 0 ? tensor->producers[0] : tensor->consumers[0];
             e < tensor->consumers[tensor->n_consumers - 1]; e++)
            if (operand_of(k->problems[e].at[0], t) == NULL)
                x->between[e] = any = true;
    }
    return any;
}

dfl_pass_through *dfl_pass_through_make(dfl_arena *arena, const dfl_einsum_classes *k)
{
    dfl_pass_through *x = DFL_NEW(arena, dfl_pass_through);

    x->k = k;
    x->between = DFL_NEW_ARRAY(arena, bool, (size_t)k->n + 1);
    if (!find_between(k, x))
        return NULL;
    x->asker = dfl_requester_make(arena, k);
    x->of = DFL_NEW_ARRAY(arena, class_rows, k->at.n + 1);
    return x;
}

/* ---- rows ---- */

typedef struct {
    const dfl_problem *problem;
    const dfl_tiling_template *form;
    uint32_t pattern;
} through_form;

/* Those that some ask can be of use for. */
typedef DFL_VEC(through_form) forms;

/* The search of a class for some ways, and what a piece of it has for itself. */
typedef struct {
    dfl_pass_through *x;
    const dfl_einsum_class *c;
    const dfl_problem *problem;
    dfl_tile_goal goal;
    const dfl_requests *all;
    dfl_pass_request *at;        /* those that the present template can be of use for */
    dfl_pass_requests some;
    forms *forms;
    pattern_rows *rows;          /* by pattern */
} searcher;

/* Whether the template exchanges what is alive in the memory where it is. */
static bool takes_over(const dfl_problem *problem, const dfl_tiling_template *t, const dfl_pass_through_way *w)
{
    for (uint32_t o = 0; o < problem->n_operands; o++)
        if ((w->known >> o & 1) && problem->place[t->exchange[o]].memory != w->memory[o])
            return false;
    return true;
}

/* What is asked for that a template can be of use for, which costs at least so much; the least rest of that in the goal. */
static void choose_asks(searcher *k, const dfl_tiling_template *t, uint32_t p, double joules, double seconds)
{
    dfl_criteria least = dfl_criteria_none();

    k->some.n = 0;
    for (size_t i = 0; i < k->all->n; i++) {
        const dfl_pass_request *ask = &k->all->at[i];
        k->goal.rest = ask->rest[p];
        if (ask->way.n_loops > k->goal.max_loops || !takes_over(k->problem, t, &ask->way) ||
            !dfl_tile_useful(&k->goal, joules, seconds))
            continue;
        k->at[k->some.n++] = *ask;
        dfl_criteria_lower(&least, &ask->rest[p]);
    }
    k->goal.rest = least;
}

/* Notes a template with loops of others, if that is of use. */
static bool note_form(void *context, const dfl_tiling_template *form)
{
    searcher *k = context;
    uint32_t p = dfl_einsum_classes_pattern(k->c, k->problem, form);
    const dfl_criteria *least = &k->c->patterns.at[p].least;
    dfl_tiling_template *copy;

    if (dfl_deadline_passed(k->goal.halt))
        return false;
    dfl_einsum_classes_aim(k->c, p, &k->goal);
    choose_asks(k, form, p, least->at[DFL_COST_JOULES], least->at[DFL_COST_SECONDS]);
    if (k->some.n == 0)
        return true;
    copy = DFL_NEW(k->x->arena, dfl_tiling_template);
    *copy = *form;
    DFL_PUSH(k->x->arena, k->forms, ((through_form){ k->problem, copy, p }));
    return true;
}

/* Rows of one template. */
static void search_form(searcher *k, dfl_pareto_set *rows, const through_form *f)
{
    double joules, seconds, busy[2 * DFL_PROBLEM_PLACES], below[2 * DFL_PROBLEM_PLACES];
    uint64_t before = dfl_pareto_set_evaluated(rows);

    k->problem = f->problem;
    k->goal.pattern = f->pattern;
    dfl_einsum_classes_aim(k->c, f->pattern, &k->goal);
    dfl_tile_bound(rows, f->problem, f->form, &joules, &seconds, busy, below);
    choose_asks(k, f->form, f->pattern, joules, seconds);
    if (k->some.n > 0)
        dfl_tile_search(rows, f->problem, f->form, &k->goal);
    dfl_progress_add(k->x->progress, dfl_pareto_set_evaluated(rows) - before);
}

static void search_pattern(void *context, size_t p)
{
    searcher k = *(const searcher *)context;
    pattern_rows *own = &k.rows[p];

    if (own->done)
        return;
    k.at = DFL_NEW_ARRAY(own->arena, dfl_pass_request, k.all->n + 1);
    k.some.at = k.at;
    k.goal.halt = &own->halt;
    k.goal.through = &k.some;
    for (size_t i = 0; i < k.forms->n && !dfl_deadline_passed(&own->halt); i++)
        if (k.forms->at[i].pattern == p)
            search_form(&k, own->rows, &k.forms->at[i]);
    own->done = own->halt.why != DFL_STOP_EVALUATIONS;
}

/* What the limit leaves. */
static uint64_t evaluations_left(const dfl_pass_through *x)
{
    uint64_t n = 0;

    for (size_t c = 0; c < x->k->at.n; c++)
        for (uint32_t p = 0; p < x->k->at.at[c].patterns.n && x->of[c].of != NULL; p++)
            n += dfl_pareto_set_evaluated(x->of[c].of[p].rows);
    return x->limit > n ? x->limit - n : 0;
}

/* All patterns; of a limit on evaluations each gets the same part, and those that it stops go through everything again while the
   others have left more for each of them: rows that are there already are not wanted twice. */
static void search_patterns(searcher *k)
{
    const uint32_t n = (uint32_t)k->c->patterns.n;
    uint32_t waiting = n;
    uint64_t left = k->x->limit > 0 ? evaluations_left(k->x) : 0, part;

    for (uint32_t p = 0; p < n; p++)
        k->rows[p].done = false;
    do {
        part = left / (waiting > 0 ? waiting : 1);
        for (uint32_t p = 0; p < n && k->x->limit > 0; p++)
            if (!k->rows[p].done) {
                if (k->rows[p].halt.why == DFL_STOP_EVALUATIONS)
                    k->rows[p].halt.why = DFL_STOP_NONE;
                k->rows[p].halt.most_evaluations = dfl_pareto_set_evaluated(k->rows[p].rows) + (part > 0 ? part : 1);
            }
        dfl_pool_run(k->x->threads, n, search_pattern, k);
        waiting = 0;
        for (uint32_t p = 0; p < n; p++)
            waiting += !k->rows[p].done;
        left = k->x->limit > 0 ? evaluations_left(k->x) : 0;
    } while (waiting > 0 && left / waiting > part);
}

/* Rows of a class for some ways. Where time counts, no more keeps stand above loops of others, since their transfers could
   overlap with what others do. */
static void search_asks(dfl_pass_through *x, uint32_t class, const dfl_requests *some)
{
    const dfl_einsum_class *c = &x->k->at.at[class];
    dfl_compatibility filter = { .classes = x->k, .class = class };
    forms found = { .n = 0 };
    searcher k = { .x = x, .c = c, .goal = x->goal, .all = some, .forms = &found, .rows = x->of[class].of,
                   .at = DFL_NEW_ARRAY(x->arena, dfl_pass_request, some->n + 1) };

    k.some.at = k.at;
    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++)
        filter.known |= (uint32_t)(c->next[o].n > 0) << o;
    k.goal.filter = &filter;
    for (size_t i = 0; i < x->k->problems[c->first].n; i++) {
        k.problem = x->k->problems[c->first].at[i];
        if (k.problem->given == NULL)
            dfl_templates_through(k.problem, x->goal.halt, !x->goal.by_time, note_form, &k);
    }
    search_patterns(&k);
    for (uint32_t p = 0; p < c->patterns.n && x->goal.halt->why == DFL_STOP_NONE; p++)
        x->goal.halt->why = k.rows[p].halt.why;
}

/* Memory for every pattern of a class, and the limits that all have. */
static pattern_rows *make_rows(dfl_pass_through *x, const dfl_einsum_class *c)
{
    const dfl_deadline *halt = x->goal.halt;
    const bool is_counted = halt->budget != NULL && halt->budget->work != NULL; /* whose clock threads do not share */
    pattern_rows *of = DFL_NEW_ARRAY(x->arena, pattern_rows, c->patterns.n + 1);

    for (uint32_t p = 0; p < c->patterns.n; p++) {
        of[p].budget = dfl_budget_fresh(halt->budget);
        of[p].budget.work = NULL;
        of[p].halt = (dfl_deadline){ .budget = &of[p].budget, .at = is_counted ? 0 : halt->at };
        of[p].arena = dfl_arena_new(&of[p].budget);
        of[p].scratch = dfl_arena_new(&of[p].budget);
        of[p].rows = dfl_pareto_set_new(of[p].arena, of[p].scratch);
        dfl_deadline_count(&of[p].halt, &of[p].rows->evaluated);
    }
    return of;
}

/* Those of all patterns, one behind the other. */
static const dfl_pmapping *const *list_rows(dfl_arena *arena, const dfl_pass_through *x, size_t class, uint32_t *n)
{
    const dfl_einsum_class *c = &x->k->at.at[class];
    const pattern_rows *of = x->of[class].of;
    const dfl_pmapping **all;
    uint32_t at = 0;

    *n = 0;
    for (uint32_t p = 0; p < c->patterns.n && of != NULL; p++) {
        uint32_t more;
        (void)dfl_pareto_set_list(of[p].rows, &more);
        *n += more;
    }
    all = DFL_NEW_ARRAY(arena, const dfl_pmapping *, (size_t)*n + 1);
    for (uint32_t p = 0; p < c->patterns.n && at < *n; p++) {
        uint32_t more;
        const dfl_pmapping *const *list = dfl_pareto_set_list(of[p].rows, &more);
        if (more > 0)
            memcpy(all + at, list, more * sizeof *all);
        at += more;
    }
    return all;
}

static const dfl_pmapping *const *rows_between(void *through, uint32_t einsum, const dfl_join_before *before, uint32_t n_before,
                                               uint32_t *n)
{
    dfl_pass_through *x = through;
    uint32_t class = x->k->of[einsum];
    const dfl_einsum_class *c = &x->k->at.at[class];
    class_rows *of = &x->of[class];
    dfl_requests fresh = { .n = 0 };

    *n = 0;
    if (!x->between[einsum])
        return NULL;
    dfl_requests_add(x->arena, &x->asker, einsum, before, n_before, &of->known, &fresh);
    if (of->of == NULL)
        of->of = make_rows(x, c);
    if (fresh.n > 0 && x->goal.halt->why == DFL_STOP_NONE)
        search_asks(x, class, &fresh);
    for (size_t i = 0; i < fresh.n; i++) {
        dfl_pass_request *known = dfl_requests_find(&of->known, &fresh.at[i].way);
        if (known != NULL)
            *known = fresh.at[i];
        else
            DFL_PUSH(x->arena, &of->known, fresh.at[i]);
    }
    return list_rows(x->arena, x, class, n);
}

const dfl_tile_goal *dfl_pass_through_begin(dfl_pass_through *x, const dfl_tile_goal *goal, const dfl_cost_to_go *bounds,
                                            dfl_deadline *halt,
                                            dfl_progress_meter *progress)
{
    x->goal = *goal;
    x->rows = (dfl_join_between){ .rows = rows_between, .context = x };
    x->goal.between = &x->rows;
    x->goal.halt = halt;
    x->asker.bounds = bounds;
    x->progress = progress;
    x->threads = 1;
    x->limit = 0;
    x->arena = dfl_arena_new(halt->budget);
    memset(x->of, 0, x->k->at.n * sizeof *x->of);
    return &x->goal;
}

const dfl_join_result *dfl_pass_through_join(dfl_pass_through *x, dfl_primal *rescue, const dfl_join_step *steps,
                                             const dfl_join_result *found, const dfl_map_options *options, double bound,
                                                 uint32_t *n,
                                             bool *full, dfl_stop *why)
{
    const dfl_tile_goal *goal = rescue->goal;
    dfl_deadline halt = { .budget = dfl_arena_budget(rescue->arena), .at = rescue->deadline };
    bool many = options->front || options->top > 0;
    const dfl_join_result *better;
    uint32_t more = 0;

    rescue->goal = dfl_pass_through_begin(x, goal, rescue->bounds, &halt, options->limits.progress);
    x->threads = options->limits.threads > 0 ? options->limits.threads : 1;
    x->limit = rescue->evaluations;
    if (found != NULL && !many)
        x->goal.limit = found->value;
    better = dfl_primal_join(rescue, steps, options->front, bound, &more, full, why);
    rescue->goal = goal;
    x->goal.halt = NULL;
    if (*why == DFL_STOP_NONE)
        *why = halt.why;
    if (better == NULL || (found != NULL && !many && better->value >= found->value))
        return found;
    *n = more;
    return better;
}

void dfl_pass_through_append(dfl_arena *arena, const dfl_pass_through *x, dfl_einsum_classes *k)
{
    for (size_t c = 0; x != NULL && x->arena != NULL && c < k->at.n; c++) {
        dfl_einsum_class *to = &k->at.at[c];
        uint32_t more = 0;
        const dfl_pmapping *const *through = list_rows(arena, x, c, &more);
        const dfl_pmapping **both = DFL_NEW_ARRAY(arena, const dfl_pmapping *, (size_t)to->n_list + more + 1);
        if (to->n_list > 0)
            memcpy(both, to->list, to->n_list * sizeof *both);
        if (more > 0)
            memcpy(both + to->n_list, through, more * sizeof *both);
        to->list = both;
        to->n_list += more;
    }
}

void dfl_pass_through_end(dfl_pass_through *x, uint64_t *evaluated, uint64_t *pruned)
{
    if (x == NULL || x->arena == NULL)
        return;
    for (size_t c = 0; c < x->k->at.n; c++)
        for (uint32_t p = 0; p < x->k->at.at[c].patterns.n && x->of[c].of != NULL; p++) {
            *evaluated += dfl_pareto_set_evaluated(x->of[c].of[p].rows);
            *pruned += dfl_pareto_set_pruned(x->of[c].of[p].rows);
            dfl_arena_free(x->of[c].of[p].arena);
            dfl_arena_free(x->of[c].of[p].scratch);
        }
    dfl_arena_free(x->arena);
    x->arena = NULL;
}
