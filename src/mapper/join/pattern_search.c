#include "mapper/join/pattern_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/box_heap.h"
#include "mapper/tiling/form_program.h"

/* A form; what its program says of it after it was solved, as far as it was solved: a plane of bounds. */
typedef struct {
    dfl_form *form;          /* NULL = there is no such form */
    uint32_t gap;            /* of the shared loops, in flat forms */
    uint64_t dived;          /* number of the last search that dived into it */
    bool is_solved;
    bool has_plane;
    dfl_form_program *program; /* NULL = none */
    dfl_geometric_plane plane;
    double x[DFL_GEOMETRIC_VARS]; /* logarithms of the best tiles without rounding */
    double bound;            /* of all amounts */
} open_form;

/* A candidate with its bound whatever the room and the tiles. */
typedef struct { double least; uint32_t candidate; } ranked_form;

/* The candidates of a pattern with boxes, least bound first. */
typedef struct { ranked_form *at; uint32_t n; } form_order;

/* A problem of the class, and a copy of it with the room that is left. */
typedef struct { const dfl_problem *whole; dfl_problem *left; } less_room;

struct dfl_pattern_forms {
    dfl_arena *arena, *scratch;
    const dfl_einsum_class *class;
    dfl_objective line;
    dfl_form_goal goal;      /* the same for programs */
    dfl_forms_purpose purpose;
    open_form **at;          /* by candidate of the class; NULL = not made */
    form_order *orders;      /* by pattern of the class */
    uint64_t searches;       /* opened so far */
    dfl_terms terms;
    const uint32_t *only;    /* [n_only]: the candidates that have forms; NULL = all */
    uint32_t n_only;
    uint32_t whole;          /* mask: operands that are exchanged as a whole, above all shared loops */
    DFL_VEC(less_room) rooms;
};

struct dfl_pattern_search {
    dfl_arena *arena;        /* owned */
    dfl_pattern_forms *forms;
    const dfl_shared_tile *tile;
    dfl_box_costs costs;
    dfl_pattern_state state;
    dfl_box_heap heap;
    const form_order *order;
    uint32_t next;           /* of `order`: forms from here on are not open */
    uint64_t number;         /* among the searches of the forms */
    double bound;            /* least bound by a program of a form so far */
    double polished;         /* `best` after the last descent */
    uint32_t best_form;      /* candidate of the best point */
};

/* Makes a point the best one. */
static void take_point(dfl_pattern_search *s, const dfl_form *f, const dfl_box_node *node)
{
    const dfl_objective energy = dfl_objective_line(s->costs.objective, 1, 0);
    const dfl_objective time = dfl_objective_line(s->costs.objective, 0, 1);
    const dfl_box_costs joules = { .objective = &energy, .is_whole = s->costs.is_whole },
                        seconds = { .objective = &time, .is_whole = s->costs.is_whole };
    double others[DFL_FORM_PRODUCTS];

    (void)dfl_box_multiply(f, node->boxes, 0, others);
    s->state.best = node->bound;
    s->best_form = node->form;
    s->state.joules = dfl_box_bound(&joules, f, node->boxes, 0, others);
    s->state.seconds = dfl_box_bound(&seconds, f, node->boxes, 0, others);
    s->state.form = f;
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        s->state.amounts[r] = node->boxes[r]->low;
}

/* The bound of a node by the program of its form. */
static double bound_program(const dfl_form_goal *goal, const open_form *x, dfl_box *const *boxes)
{
    dfl_geometric_box range;

    if (!x->has_plane)
        return x->bound;
    dfl_form_program_range(x->program, boxes, &range);
    return fmax(x->bound, dfl_form_goal_bound(goal, dfl_geometric_least(x->program->program, &x->plane, &range)));
}

static void push_half(dfl_pattern_search *s, const dfl_box_node *node, uint32_t rank, dfl_box *half, double bound)
{
    const uint32_t n = s->forms->at[node->form]->form->problem->n_ranks;
    dfl_box_node other = { .bound = bound, .form = node->form, .boxes = DFL_NEW_ARRAY(s->arena, dfl_box *, n) };

    for (uint32_t r = 0; r < n; r++)
        other.boxes[r] = r == rank ? half : node->boxes[r];
    dfl_box_heap_push(s->arena, &s->heap, other);
}

/* The half of a box in which the best tiles without rounding lie. */
static uint32_t find_side(const open_form *x, uint32_t rank, const dfl_box *box, const dfl_box *lower)
{
    const dfl_chain *c = &x->form->chain[rank];
    const uint32_t cut = box->widest;
    const uint32_t *var = x->program->var[rank];
    double amount = var[cut] == DFL_FORM_NO_VAR ? 0 : x->x[var[cut]], above = dfl_logarithm((double)c->extent);

    if (cut > 0)
        above = var[cut - 1] == DFL_FORM_NO_VAR ? 0 : x->x[var[cut - 1]];
    if (c->at[cut].axis >= 0)
        amount = above - amount;
    return amount > dfl_logarithm((double)lower->high[cut] + 0.5);
}

/* Splits a node: the node becomes its child with the lower bound, or if `is_guided` the one with the best tiles without rounding,
   and the other child is pushed. False if nothing of the node is below the best point. A node that is a point may become it. */
static bool split(dfl_pattern_search *s, dfl_box_node *node, bool is_guided)
{
    const open_form *x = s->forms->at[node->form];
    const dfl_form *f = x->form;
    const uint32_t rank = dfl_box_widest(f, node->boxes);
    double others[DFL_FORM_PRODUCTS], bound[2];
    dfl_box *half[2], *whole;
    uint32_t lower;

    if (rank == f->problem->n_ranks) {
        if (node->bound < s->state.best)
            take_point(s, f, node);
        return false;
    }
    s->state.nodes++;
    whole = node->boxes[rank];
    (void)dfl_box_multiply(f, node->boxes, rank, others);
    for (uint32_t side = 0; side < 2; side++) {
        half[side] = node->boxes[rank] = dfl_box_half(s->arena, f, rank, whole, side);
        bound[side] = fmax(node->bound, dfl_box_bound(&s->costs, f, node->boxes, rank, others));
        if (bound[side] < s->state.best)
            bound[side] = fmax(bound[side], bound_program(&s->forms->goal, x, node->boxes));
    }
    lower = bound[1] < bound[0];
    if (is_guided && x->has_plane && bound[!lower] < s->state.best)
        lower = find_side(x, rank, whole, half[0]);
    if (bound[!lower] < s->state.best)
        push_half(s, node, rank, half[!lower], bound[!lower]);
    node->boxes[rank] = half[lower];
    node->bound = bound[lower];
    return node->bound < s->state.best;
}

/* ---- descent ---- */

/* Amounts of all cuts of a form, by rank. */
typedef struct { int64_t at[DFL_PROBLEM_RANKS][DFL_CHAIN_CUTS]; } form_amounts;

/* The cost of amounts; `node` gets their boxes in `arena`. INFINITY if they are not possible. */
static double value_amounts(const dfl_pattern_search *s, dfl_arena *arena, const form_amounts *a, dfl_box_node *node)
{
    const dfl_form *f = s->forms->at[node->form]->form;
    double others[DFL_FORM_PRODUCTS];

    node->boxes = DFL_NEW_ARRAY(arena, dfl_box *, f->problem->n_ranks);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        node->boxes[r] = dfl_box_within(arena, f, r, a->at[r], a->at[r]);
        if (!node->boxes[r]->is_possible || !node->boxes[r]->is_point)
            return INFINITY;
    }
    return dfl_box_multiply(f, node->boxes, 0, others) ? dfl_box_bound(&s->costs, f, node->boxes, 0, others) : INFINITY;
}

/* Whether a cut is free: the last loop follows from the parts, and shared loops may be given. */
static bool is_free(const dfl_pattern_search *s, const dfl_chain *c, uint32_t cut)
{
    const open_form *x = s->forms->at[s->best_form];

    return (int)cut != c->last && !(s->tile != NULL && c->at[cut].gap == x->gap && x->gap < x->form->skeleton->shared_gaps &&
                                    c->at[cut].axis < 0);
}

/* An amount changed by a factor: a tile that makes an even number of tiles, or parts. */
static int64_t change_amount(const dfl_chain *c, uint32_t cut, int64_t amount, double factor)
{
    const double to = fmin(fmax((double)amount * factor, 1), (double)c->extent);

    if (c->at[cut].axis >= 0)
        return factor > 1 ? (int64_t)ceil(to) : (int64_t)to;
    return dfl_even_tile(c->extent, to);
}

/* Tries the amounts, and makes them the best point if they are better. */
static bool try_amounts(dfl_pattern_search *s, dfl_arena *scratch, form_amounts *best, const form_amounts *other)
{
    const dfl_form *f = s->forms->at[s->best_form]->form;
    dfl_box_node node = { .form = s->best_form };

    node.bound = value_amounts(s, scratch, other, &node);
    if (!(node.bound < s->state.best * (1 - DFL_BOX_ROUNDING)))
        return false;
    (void)value_amounts(s, s->arena, other, &node);
    take_point(s, f, &node);
    *best = *other;
    return true;
}

/* Changes one amount, or two against each other, as long as that makes the best point better. */
static void descend(dfl_pattern_search *s)
{
    static const double FACTORS[] = { 2, 0.5, 1.26, 0.794, 1.01, 0.99 };
    const dfl_form *f = s->forms->at[s->best_form]->form;
    dfl_arena *scratch = dfl_arena_new(NULL);
    form_amounts best = { { { 0 } } }, other;
    bool is_better = true;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        memcpy(best.at[r], s->state.amounts[r], f->chain[r].n * sizeof(int64_t));
    for (uint32_t round = 0; is_better && round < DFL_DESCENT_ROUNDS; round++) {
        is_better = false;
        for (uint32_t r = 0; r < f->problem->n_ranks; r++)
            for (uint32_t i = 0; i < f->chain[r].n; i++)
                for (uint32_t x = 0; x < sizeof FACTORS / sizeof *FACTORS && is_free(s, &f->chain[r], i); x++) {
                    other = best;
                    other.at[r][i] = change_amount(&f->chain[r], i, best.at[r][i], FACTORS[x]);
                    if (other.at[r][i] != best.at[r][i] && try_amounts(s, scratch, &best, &other)) {
                        is_better = true;
                        continue;
                    }
                    for (uint32_t q = 0; q < f->problem->n_ranks; q++)
                        for (uint32_t k = 0; k < f->chain[q].n; k++) {
                            form_amounts both = other;
                            if ((q == r && k == i) || !is_free(s, &f->chain[q], k))
                                continue;
                            both.at[q][k] = change_amount(&f->chain[q], k, best.at[q][k], 1 / FACTORS[x]);
                            is_better |= both.at[q][k] != best.at[q][k] && try_amounts(s, scratch, &best, &both);
                        }
                    dfl_arena_reset(scratch);
                }
    }
    dfl_arena_free(scratch);
    s->polished = s->state.best;
}

/* ---- forms ---- */

dfl_pattern_forms *dfl_pattern_forms_new(dfl_arena *arena, dfl_arena *scratch, const dfl_einsum_class *class,
                                         const dfl_objective *line, dfl_forms_purpose purpose)
{
    dfl_pattern_forms *f = DFL_NEW(arena, dfl_pattern_forms);

    f->arena = arena;
    f->scratch = scratch;
    f->class = class;
    f->line = *line;
    f->goal = (dfl_form_goal){ .factor = 1, .joules = 1, .leakage = line->per_second, .is_whole = true };
    if (line->per_joule == 0)
        f->goal = (dfl_form_goal){ .factor = 1, .seconds = 1, .is_whole = true };
    f->goal.is_whole = class->candidates.n > 0 && !dfl_problem_slides(class->candidates.at[0].problem);
    f->purpose = purpose;
    f->at = DFL_NEW_ARRAY(arena, open_form *, class->candidates.n + 1);
    memset(f->at, 0, class->candidates.n * sizeof *f->at);
    f->orders = DFL_NEW_ARRAY(arena, form_order, class->patterns.n + 1);
    memset(f->orders, 0, class->patterns.n * sizeof *f->orders);
    return f;
}

/* The number of leading keeps of exchanges of operands in the mask `whole`. */
static uint32_t count_whole(const dfl_tiling_template *t, uint32_t whole)
{
    uint32_t n = 0;

    while (n < t->shared_gaps && (whole >> t->keep[n].operand & 1))
        n++;
    return n;
}

bool dfl_pattern_forms_can_flatten(const dfl_tiling_template *t, uint32_t whole)
{
    const uint32_t n = count_whole(t, whole);
    bool can = !t->through;

    for (uint32_t g = 0; g < t->shared_gaps && can; g++)
        can = (g < n || !(whole >> t->keep[g].operand & 1)) && t->keep[g].home;
    return can;
}

/* Removes all shared loops but those below the exchanges of whole operands, in gap `*gap`. False if that cannot be. */
static bool flatten(dfl_tiling_template *t, uint32_t whole, uint32_t *gap)
{
    if (!dfl_pattern_forms_can_flatten(t, whole))
        return false;
    *gap = count_whole(t, whole);
    for (uint32_t g = 0; g < t->shared_gaps; g++)
        t->allow[g] = g == *gap ? t->allow[g] : 0;
    return true;
}

/* Solves the program of a form over all amounts, as far as it takes to know that its cost is above `enough`. */
static void solve_form(dfl_pattern_forms *f, open_form *x, double enough)
{
    const dfl_geometric_effort effort = { .precision = DFL_FORM_PRECISION, .steps = DFL_FORM_STEPS,
                                          .cutoff = dfl_form_goal_cutoff(&f->goal, enough) };
    const uint32_t n = x->form->problem->n_ranks;
    dfl_arena *work = f->scratch;
    dfl_geometric_draft *draft = dfl_arena_alloc(work, 1, sizeof *draft, _Alignof(dfl_geometric_draft));
    dfl_geometric_solution *solution = dfl_arena_alloc(work, 1, sizeof *solution, _Alignof(dfl_geometric_solution));
    dfl_box **boxes = DFL_NEW_ARRAY(work, dfl_box *, n);
    dfl_geometric_box range;

    x->is_solved = true;
    for (uint32_t r = 0; r < n; r++)
        boxes[r] = dfl_box_make(work, x->form, r);
    x->program = dfl_form_program_make(f->arena, draft, x->form, boxes, &f->goal);
    if (x->program != NULL) {
        dfl_form_program_fit(x->program, boxes, &range);
        dfl_geometric_solve(x->program->program, &range, NULL, &effort, solution);
        x->bound = dfl_form_goal_bound(&f->goal, solution->bound);
        x->has_plane = solution->bound < INFINITY;
        x->plane = solution->plane;
        memcpy(x->x, solution->state.x, sizeof x->x);
    }
    dfl_arena_reset(work);
}

void dfl_pattern_forms_limit(dfl_pattern_forms *f, const uint32_t *only, uint32_t n_only, uint32_t whole)
{
    f->only = only;
    f->n_only = n_only;
    f->whole = whole;
}

/* A copy of the problem `whole` in which the size of each memory, in bits, is what tiles of other einsums leave of it. Owned by
   the forms; made once for each problem. */
static dfl_problem *find_left(dfl_pattern_forms *f, const dfl_problem *whole)
{
    less_room x = { whole, NULL };

    for (size_t i = 0; i < f->rooms.n; i++)
        if (f->rooms.at[i].whole == whole)
            return f->rooms.at[i].left;
    x.left = DFL_NEW(f->arena, dfl_problem);
    *x.left = *whole;
    DFL_PUSH(f->arena, &f->rooms, x);
    return x.left;
}

void dfl_pattern_forms_take(dfl_pattern_forms *f, const double *taken)
{
    for (size_t i = 0; i < f->class->candidates.n; i++)
        (void)find_left(f, f->class->candidates.at[i].problem);
    for (size_t i = 0; i < f->rooms.n; i++)
        for (uint32_t p = 0; p < f->rooms.at[i].whole->n_places; p++) {
            const dfl_problem_place *place = &f->rooms.at[i].whole->place[p];
            if (place->memory != DFL_NONE)
                f->rooms.at[i].left->place[p].bits = fmax(place->bits - taken[place->memory], 0);
        }
}

/* The form of a candidate; NULL = there is none. */
static open_form *find_form(dfl_pattern_forms *f, uint32_t i)
{
    const dfl_candidate *c = &f->class->candidates.at[i];

    if (f->at[i] == NULL) {
        dfl_tiling_template t = *c->form;
        f->at[i] = DFL_NEW(f->arena, open_form);
        *f->at[i] = (open_form){ 0 };
        if (f->purpose != DFL_FORMS_FLAT || flatten(&t, f->whole, &f->at[i]->gap))
            f->at[i]->form = dfl_form_make(f->arena, f->rooms.n > 0 ? find_left(f, c->problem) : c->problem, &t, &f->terms);
    }
    return f->at[i]->form != NULL ? f->at[i] : NULL;
}

static int by_least(const void *a, const void *b)
{
    const ranked_form *x = a, *y = b;

    if (x->least != y->least)
        return x->least < y->least ? -1 : 1;
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* The candidates of a pattern in the order in which searches open them. */
static const form_order *find_order(dfl_pattern_forms *f, uint32_t pattern)
{
    form_order *order = &f->orders[pattern];

    if (order->at != NULL)
        return order;
    order->at = DFL_NEW_ARRAY(f->arena, ranked_form, (f->only != NULL ? f->n_only : f->class->candidates.n) + 1);
    for (size_t i = 0; i < (f->only != NULL ? f->n_only : f->class->candidates.n); i++) {
        const uint32_t at = f->only != NULL ? f->only[i] : (uint32_t)i;
        const dfl_candidate *c = &f->class->candidates.at[at];
        if (c->pattern == pattern && c->problem->n_ranks > 0)
            order->at[order->n++] = (ranked_form){ dfl_objective_value(&f->line, c->roomy_joules, c->roomy_seconds), at };
    }
    qsort(order->at, order->n, sizeof *order->at, by_least);
    return order;
}

/* ---- search ---- */

/* The root of a rank with a given tile below the shared loops; NULL = no such amounts. A rank without further temporal loops has
   a tile that its parts make: only tiles of one element are possible then. */
static dfl_box *make_tiled_root(const dfl_pattern_search *s, const open_form *x, uint32_t rank)
{
    const dfl_form *f = x->form;
    const dfl_chain *c = &f->chain[rank];
    const bool is_cut = c->n > 0 && c->at[0].gap == x->gap && c->at[0].axis < 0 && x->gap < f->skeleton->shared_gaps;
    const int64_t tile = s->tile->ranks >> rank & 1 ? s->tile->tile[rank] : c->extent;
    int64_t low[DFL_CHAIN_CUTS] = { 0 }, high[DFL_CHAIN_CUTS] = { 0 };

    if (!is_cut)
        return tile == c->extent ? dfl_box_make(s->arena, f, rank) : NULL;
    if (c->last == 0) {
        for (uint32_t i = 0; i < c->n; i++)
            high[i] = 1;
        return tile == 1 ? dfl_box_within(s->arena, f, rank, low, high) : NULL;
    }
    low[0] = high[0] = tile;
    return dfl_box_within(s->arena, f, rank, low, high);
}

/* Makes a node of a whole form. False if nothing of the form is below the best point. */
static bool open_root(dfl_pattern_search *s, dfl_box_node *node)
{
    const open_form *x = find_form(s->forms, node->form);
    const dfl_form *f = x != NULL ? x->form : NULL;
    double others[DFL_FORM_PRODUCTS];

    if (f == NULL)
        return false;
    node->boxes = DFL_NEW_ARRAY(s->arena, dfl_box *, f->problem->n_ranks);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        node->boxes[r] = s->tile != NULL ? make_tiled_root(s, x, r) : dfl_box_make(s->arena, f, r);
        if (node->boxes[r] == NULL)
            return false;
    }
    if (!dfl_box_multiply(f, node->boxes, 0, others))
        return false;
    node->bound = fmax(node->bound, dfl_box_bound(&s->costs, f, node->boxes, 0, others));
    if (x->is_solved)
        node->bound = fmax(node->bound, bound_program(&s->forms->goal, x, node->boxes));
    return node->bound < s->state.best;
}

/* Raises the bound of a form with boxes by its program, once. False if nothing of the form is below the best point. */
static bool solve_root(dfl_pattern_search *s, dfl_box_node *node)
{
    open_form *x = s->forms->at[node->form];

    solve_form(s->forms, x, s->bound * DFL_FORM_ENOUGH);
    s->bound = fmin(s->bound, x->bound);
    node->bound = fmax(node->bound, bound_program(&s->forms->goal, x, node->boxes));
    return node->bound < s->state.best;
}

double dfl_pattern_search_roomy(dfl_pattern_forms *forms, uint32_t pattern)
{
    const form_order *order = find_order(forms, pattern);

    return order->n > 0 ? order->at[0].least : INFINITY;
}

dfl_pattern_search *dfl_pattern_search_open(dfl_pattern_forms *forms, uint32_t pattern, const dfl_shared_tile *tile,
                                            double cutoff)
{
    dfl_arena *arena = dfl_arena_new(dfl_arena_budget(forms->arena));
    dfl_pattern_search *s = DFL_NEW(arena, dfl_pattern_search);

    *s = (dfl_pattern_search){ .arena = arena, .forms = forms, .tile = tile, .bound = INFINITY, .state = { .best = cutoff },
                               .costs = { .objective = &forms->line, .is_whole = forms->goal.is_whole },
                               .order = find_order(forms, pattern), .number = ++forms->searches };
    s->state.least = dfl_pattern_search_roomy(forms, pattern);
    return s;
}

void dfl_pattern_search_close(dfl_pattern_search *s)
{
    dfl_arena_free(s->arena);
}

/* Splits a node, and counts the work. */
static bool split_counted(dfl_pattern_search *s, dfl_box_node *node, bool is_guided, dfl_budget *budget)
{
    dfl_budget_work(budget, DFL_WORK_SPLIT);
    return split(s, node, is_guided);
}

/* Opens the forms whose bounds are not above those of all open nodes. */
static void open_forms(dfl_pattern_search *s, dfl_deadline *deadline)
{
    while (s->next < s->order->n && s->order->at[s->next].least < s->state.best && !dfl_deadline_passed(deadline)) {
        const ranked_form *r = &s->order->at[s->next];
        dfl_box_node node = { .bound = r->least, .form = r->candidate };
        if (s->heap.nodes.n > 0 && s->heap.nodes.at[0].bound < r->least)
            break;
        s->next++;
        if (open_root(s, &node))
            dfl_box_heap_push(s->arena, &s->heap, node);
    }
}

/* The least bound of all that is left: open nodes, and forms that are not open. */
static double least_left(const dfl_pattern_search *s)
{
    const double open = s->heap.nodes.n > 0 ? s->heap.nodes.at[0].bound : INFINITY;

    return s->next < s->order->n ? fmin(open, s->order->at[s->next].least) : open;
}

void dfl_pattern_search_run(dfl_pattern_search *s, uint64_t nodes, dfl_deadline *deadline)
{
    const uint64_t end = s->state.nodes + nodes;

    while (!s->state.is_closed && s->state.nodes < end && !dfl_deadline_passed(deadline)) {
        dfl_box_node node;
        open_form *x;
        bool is_dive, is_guided, is_open;
        open_forms(s, deadline);
        if (s->heap.nodes.n == 0 || s->heap.nodes.at[0].bound >= s->state.best * (1 - DFL_PATTERN_GAP)) {
            s->state.is_closed = deadline->why == DFL_STOP_NONE;
            break;
        }
        node = dfl_box_heap_pop(&s->heap);
        x = s->forms->at[node.form];
        if (!x->is_solved) {
            if (solve_root(s, &node))
                dfl_box_heap_push(s->arena, &s->heap, node);
            continue;
        }
        is_dive = x->dived != s->number || s->state.nodes % DFL_BOX_DIVE == 0;
        is_guided = x->dived != s->number && s->state.nodes % 2 == 0;
        x->dived = s->number;
        do
            is_open = split_counted(s, &node, is_guided, deadline->budget);
        while (is_open && is_dive && s->state.nodes < end);
        if (is_open)
            dfl_box_heap_push(s->arena, &s->heap, node);
    }
    if (s->state.form != NULL && s->state.best != s->polished)
        descend(s);
    s->state.least = fmin(least_left(s), s->state.form != NULL ? s->state.best : INFINITY);
}

const dfl_pattern_state *dfl_pattern_search_state(const dfl_pattern_search *s)
{
    return &s->state;
}
