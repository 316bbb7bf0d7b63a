/* Room of keeps, and the lower bounds that limited room gives for a template, by hand. */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/divisors/occupancy.h"

enum { A, B, C, Z, OPERANDS, I = 0, K = 1, L = 2, RANKS = 3, OUTER = 0, INNER = 1 };

/* An operand with one dimension for each rank of the mask `ranks`. */
static dfl_problem_operand indexed(const dfl_problem *problem, uint32_t ranks, uint32_t bits)
{
    dfl_problem_operand o = { .ranks = ranks, .plain = ranks, .bits = bits, .elements = 1, .touched = 1 };

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        if (ranks >> r & 1) {
            o.dims[o.n_dims++] = (dfl_problem_dim){ .n = 1, .rank = { (uint8_t)r }, .coef = { 1 } };
            o.elements = o.touched *= (double)problem->extent[r];
        }
    return o;
}

/* ---- whether keeps fit ---- */

typedef struct {
    const char *name;
    double capacity;             /* bits of the inner memory */
    uint32_t buffers;
    bool home, window;
    double piece[2][2];          /* of both keeps, A[i, k] or A[i + 2 k], and B[k], of 8 bits */
    bool fits;
} fits_case;

static const fits_case fits[] = {
    { "exactly", 8 * (3 * 4 + 4), 1, false, false, { { 3, 4 }, { 3, 4 } }, true },
    { "a bit too many", 8 * (3 * 4 + 4) - 1, 1, false, false, { { 3, 4 }, { 3, 4 } }, false },
    { "pieces of their own", 8 * (3 * 4 + 2), 1, false, false, { { 3, 4 }, { 1, 2 } }, true },
    { "two buffers", 8 * 2 * (3 * 4 + 4), 2, false, false, { { 3, 4 }, { 3, 4 } }, true },
    { "two buffers, a bit too many", 8 * 2 * (3 * 4 + 4) - 1, 2, false, false, { { 3, 4 }, { 3, 4 } }, false },
    { "what is made there has one", 8 * (3 * 4 + 2 * 4), 2, true, false, { { 3, 4 }, { 3, 4 } }, true },
    { "what is made there has one, a bit too many", 8 * (3 * 4 + 2 * 4) - 1, 2, true, false, { { 3, 4 }, { 3, 4 } }, false },
    { "a window", 8 * (1 + 2 + 2 * 3 + 4), 1, false, true, { { 3, 4 }, { 3, 4 } }, true },
    { "a window, a bit too many", 8 * (1 + 2 + 2 * 3 + 4) - 1, 1, false, true, { { 3, 4 }, { 3, 4 } }, false },
    { "any number", INFINITY, 2, false, false, { { 1e300, 1e300 }, { 1, 1 } }, true },
};

static void keeps_fit(void **state)
{
    const fits_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_search *s = DFL_NEW(arena, dfl_search);
    dfl_problem problem = { .n_ranks = 2, .n_operands = 2, .n_places = 2, .extent = { 8, 8 } };
    dfl_tiling_template t = { .n_keeps = 2, .keep = { { .operand = A, .place = INNER, .home = c->home },
                                                      { .operand = B, .place = INNER } } };

    problem.operand[A] = indexed(&problem, 1u << I | 1u << K, 8);
    problem.operand[B] = indexed(&problem, 1u << K, 8);
    if (c->window) {
        problem.operand[A].n_dims = 1;
        problem.operand[A].dims[0] = (dfl_problem_dim){ .n = 2, .rank = { I, K }, .coef = { 1, 2 } };
    }
    problem.place[OUTER].bits = INFINITY;
    problem.place[INNER] = (dfl_problem_place){ .bits = c->capacity, .buffers = c->buffers };
    s->problem = &problem;
    s->t = &t;
    for (uint32_t i = 0; i < 2; i++)
        memcpy(s->piece[i], c->piece[i], sizeof c->piece[i]);
    assert_int_equal(dfl_occupancy_fits(s), c->fits);
    dfl_arena_free(arena);
}

/* ---- bounds of whole templates ---- */

typedef struct {
    const char *name;
    int64_t extent[RANKS];       /* of i, k, l */
    uint32_t a, c;               /* masks: ranks of A, and of C; B has k alone */
    double capacity;             /* of the inner memory, bits; elements have 8 */
    double b_joules, c_joules;   /* per bit of what B and C are read from; all else is free */
    double more;                 /* J that the room adds */
} bound_case;

/*
 * A, B and C are kept in this order, so that the loops above A make B and C move again: B those that do not index it, C likewise.
 * Each row has what A takes over what there is, the ratio, and what the cheapest loops of that many iterations cost.
 */
static const bound_case bounds[] = {
    /* A of 8 x 8 elements, 512 bits; B[k] moves again for i, C[i] for k: 64 J each at first */
    { "all fits", { 8, 8, 1 }, 1 << I | 1 << K, 1 << I, 512, 1, 1, 0 },
    { "ratio 2: one loop of 2", { 8, 8, 1 }, 1 << I | 1 << K, 1 << I, 256, 1, 1, 64 },
    { "ratio 4: two loops of 2", { 8, 8, 1 }, 1 << I | 1 << K, 1 << I, 128, 1, 1, 128 },
    { "ratio 3: no divisors between", { 8, 8, 1 }, 1 << I | 1 << K, 1 << I, 512.0 / 3, 1, 1, 128 },
    { "ratio 4, the dear one whole", { 8, 8, 1 }, 1 << I | 1 << K, 1 << I, 128, 1, 8, 192 },
    { "ratio 4, one for nothing", { 8, 8, 1 }, 1 << I | 1 << K, 1 << I, 128, 0, 1, 0 },
    /* divisors 1, 2, 3, 6 of 6: ratio 4 is 2 * 2 */
    { "six by six, ratio 4", { 6, 6, 1 }, 1 << I | 1 << K, 1 << I, 72, 1, 1, 2 * 48 },
    /* 6 is 2 * 3 or 3 * 2, and less than 4 * 4 / 2 */
    { "six by six, ratio 6", { 6, 6, 1 }, 1 << I | 1 << K, 1 << I, 48, 1, 1, 48 + 2 * 48 },
    /* A[i] alone: only B moves again, in one part */
    { "one rank, ratio 4", { 8, 8, 1 }, 1 << I, 1 << I, 64 + 64 / 4 - 64, 1, 1, 3 * 64 },
    { "one rank, ratio 3", { 8, 8, 1 }, 1 << I, 1 << I, 64.0 / 3, 1, 1, 3 * 64 },
    /* A[i, l] of 2^64 elements, B moves again for both: a product beyond 2^63 is not taken apart */
    { "beyond 2^63, ratio 3", { 1ll << 32, 8, 1ll << 32 }, 1 << I | 1 << L, 1 << I | 1 << L, 0x1p67 / 3, 1, 0, 2 * 64 },
    /* 2^62 is: the next divisor is 4 */
    { "2^62, ratio 3", { 1ll << 31, 8, 1ll << 31 }, 1 << I | 1 << L, 1 << I | 1 << L, 0x1p65 / 3, 1, 0, 3 * 64 },
    /* A[i, k, l]: B for i and l, C[i, l] for k; C costs as much in all as B at first, so that y + 4 / y is least at 2 */
    { "beyond 2^63 in two parts, ratio 4", { 1ll << 32, 8, 1ll << 32 }, 1 << I | 1 << K | 1 << L, 1 << I | 1 << L,
      0x1p68, 1, 0x1p-61, 2 * 64 },
};

typedef struct {
    dfl_pareto_set *rows;
    const dfl_problem *problem;
    double joules, squeezed;
    bool found;
} bounder;

/* The template with A, B and C kept in this order. */
static bool bound(void *context, const dfl_tiling_template *t)
{
    bounder *k = context;
    double seconds, busy[2 * DFL_PROBLEM_PLACES], below[2 * DFL_PROBLEM_PLACES];

    if (t->n_keeps != 3 || t->keep[0].operand != A || t->keep[1].operand != B)
        return true;
    dfl_tile_bound(k->rows, k->problem, t, &k->joules, &seconds, busy, below);
    k->squeezed = k->joules;
    dfl_tile_squeeze(k->rows, &k->squeezed, &seconds);
    k->found = true;
    return false;
}

static void templates_cost_more(void **state)
{
    const bound_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
    dfl_problem problem = { .n_ranks = RANKS + 1, .n_operands = OPERANDS, .n_places = 5, .points = 1 }; /* the last rank is Z's alone */
    bounder k = { .rows = dfl_pareto_set_new(arena, scratch), .problem = &problem };

    memcpy(problem.extent, c->extent, sizeof c->extent);
    problem.extent[RANKS] = 1;
    for (uint32_t p = 0; p < problem.n_places; p++)
        problem.place[p] = (dfl_problem_place){ .memory = p, .bits = p == 3 ? c->capacity : INFINITY, .buffers = 1 };
    problem.place[1].read_joules = c->b_joules;
    problem.place[2].read_joules = c->c_joules;
    problem.operand[A] = indexed(&problem, c->a, 8);
    problem.operand[B] = indexed(&problem, 1u << K, 8);
    problem.operand[C] = indexed(&problem, c->c, 8);
    problem.operand[Z] = indexed(&problem, (1u << problem.n_ranks) - 1, 8);
    for (uint32_t o = A; o <= C; o++) {
        problem.operand[o].home = o;
        problem.operand[o].places = o == A ? 1u << 3 : 1u << 4; /* B and C in a memory of any size */
    }
    problem.operand[Z].output = true;
    dfl_templates_each(&problem, NULL, bound, &k);
    assert_true(k.found);
    assert_true(fabs(k.squeezed - k.joules - c->more) <= 1e-6 * c->more);
    dfl_arena_free(arena);
    dfl_arena_free(scratch);
}

/* ---- bounds of nodes ---- */

/* A search that has one keep, of A[i, k], with loops over both ranks above it, and behind that for k. */
typedef struct {
    dfl_arena *arena, *scratch;
    dfl_search *s;
    dfl_problem problem;
    dfl_tiling_template form;
    dfl_tile_goal goal;
    dfl_spatial *spread;
    dfl_cuts with[2];
} node;

static void open_node(node *n, double capacity)
{
    memset(n, 0, sizeof *n);
    n->arena = dfl_arena_new(NULL);
    n->scratch = dfl_arena_new(NULL);
    n->problem = (dfl_problem){ .n_ranks = 2, .n_operands = 1, .n_places = 2, .extent = { 8, 8 } };
    n->problem.operand[A] = indexed(&n->problem, 1u << I | 1u << K, 8);
    n->problem.place[INNER] = (dfl_problem_place){ .bits = capacity, .buffers = 1 };
    n->form = (dfl_tiling_template){ .n_keeps = 1, .keep = { { .operand = A, .place = INNER } } };
    n->s = DFL_NEW(n->arena, dfl_search);
    n->s->rows = dfl_pareto_set_new(n->arena, n->scratch);
    n->s->problem = &n->problem;
    n->s->t = &n->form;
    n->s->goal = &n->goal;
    n->s->limited[0] = true;
    n->s->terms.n_groups = 2;
    n->s->terms.group[0] = (dfl_term_group){ .ranks = 1u << I, .window = -1 };
    n->s->terms.group[1] = (dfl_term_group){ .ranks = 1u << K, .window = -1 };
    n->s->n_used = n->s->n_sets = 1;
    n->spread = n->s->now = dfl_spatial_new(n->s, n->arena);
    n->s->n_order = 2;
    for (uint32_t r = 0; r < 2; r++) {
        n->s->order[r] = r;
        n->s->shared_by[r] = 1;
        n->s->shared_gap[r] = DFL_NONE;
        n->s->divisors[r] = dfl_divisors(n->arena, 8);
        n->s->cut_at[r][0] = 1;
        n->s->cut_at[r][1] = (uint8_t)(1 + r);
        n->spread->inner[r] = 8;
        n->with[r] = (dfl_cuts){ .left = 8, .n_gaps = 1 + r, .least = { 1, 1, 1 }, .most = { 1, 8, 8 } };
        n->s->with[r] = &n->with[r];
        for (uint32_t g = 0; g < 2; g++)
            n->s->rest_least[r][g] = n->s->rest_most[r][g] = 1;
    }
}

static void close_node(const node *n)
{
    dfl_arena_free(n->arena);
    dfl_arena_free(n->scratch);
}

typedef struct {
    const char *name;
    double capacity, piece;      /* bits; of i above the keep, k has 1 there at least */
    int64_t shared;              /* iterations of a loop over k above all */
    uint32_t gap;                /* of what grows with k */
    double least_behind, rest;   /* of k down to the unit, and what all behind i multiply it with, at least */
    bool windows, last;          /* no rank is behind i */
    double behind;               /* the latter, given the room */
} behind_case;

/* With the piece of i a part of A of 8 * piece bits is the least; k may have as many times that as there is room for. */
static const behind_case behinds[] = {
    { "half of k fits twice: two more times", 64, 4, 1, 0, 1, 1, false, false, 4 },
    { "a bit less: next divisor", 63, 4, 1, 0, 1, 1, false, false, 8 },
    { "a single element fits", 32, 4, 1, 0, 1, 1, false, false, 8 },
    { "four fit", 128, 4, 1, 0, 1, 1, false, false, 2 },
    { "all fit", 256, 4, 1, 0, 1, 1, false, false, 1 },
    { "longer pieces of i", 128, 8, 1, 0, 1, 1, false, false, 4 },
    { "with what others multiply", 64, 4, 1, 0, 1, 3, false, false, 12 },
    { "a shared loop has done half", 64, 4, 2, 0, 1, 1, false, false, 2 },
    { "further in, of as many", 64, 4, 1, 1, 4, 4, false, false, 4 },
    { "further in, of fewer", 64, 4, 1, 1, 2, 2, false, false, 4 },
    { "further in, of more", 64, 4, 1, 1, 8, 8, false, false, 8 },
    { "windows", 64, 4, 1, 0, 1, 1, true, false, 1 },
    { "nothing behind", 64, 4, 1, 0, 1, 1, false, true, 1 },
};

static void ranks_behind_have_to(void **state)
{
    const behind_case *c = *state;
    node n;

    open_node(&n, c->capacity);
    n.problem.windows = c->windows;
    n.problem.operand[A].plain &= c->windows ? ~(1u << K) : ~0u; /* along which they slide */
    n.s->n_order = c->last ? 1 : 2;
    n.s->piece[0][I] = c->piece;
    n.s->piece[0][K] = 1;
    n.s->shared_by[K] = c->shared;
    n.s->shared_gap[K] = c->shared > 1 ? 0 : DFL_NONE;
    n.with[K].left = 8 / c->shared;
    n.with[K].most[1] = (double)(8 / c->shared);
    n.with[K].least[2] = c->least_behind;
    n.s->terms.group[1].gap = (uint8_t)c->gap;
    n.s->rest_least[1][1] = c->rest;
    n.s->rest_least[1][0] = 5;
    dfl_occupancy_behind(n.s, 0);
    assert_close(n.s->behind[0][1], c->behind, 1e-12);
    assert_close(n.s->behind[0][0], 5, 1e-12); /* grows with i, which is not behind */
    close_node(&n);
}

typedef struct {
    const char *name;
    double capacity;
    uint32_t depth;              /* ranks that are chosen: i has a piece of 8 then */
    double joules[2], seconds[2]; /* of what grows with i, and with k, at least */
    bool by_time;
    double least;                /* of the value; 0: no bound is looked for */
} useful_case;

static const useful_case usefuls[] = {
    { "all fits", 512, 0, { 64, 64 }, { 0, 0 }, false, 0 },
    { "ratio 2", 256, 0, { 64, 64 }, { 0, 0 }, false, 10 + 64 + 2 * 64 },
    { "ratio 4", 128, 0, { 64, 64 }, { 0, 0 }, false, 10 + 2 * 64 + 2 * 64 },
    { "ratio 4, one is dear", 128, 0, { 64, 640 }, { 0, 0 }, false, 10 + 4 * 64 + 640 },
    { "ratio 3", 171, 0, { 64, 64 }, { 0, 0 }, false, 10 + 2 * 64 + 2 * 64 },
    { "i is whole: k alone", 128, 1, { 64, 64 }, { 0, 0 }, false, 10 + 64 + 4 * 64 },
    { "i is whole, all of k fits", 512, 1, { 64, 64 }, { 0, 0 }, false, 0 },
    { "time of a port, ratio 4", 128, 0, { 0, 0 }, { 3, 5 }, true, 2 * 3 + 2 * 5 },
    { "time of a port, ratio 8", 64, 0, { 0, 0 }, { 3, 5 }, true, 4 * 3 + 2 * 5 },
};

static void nodes_are_useful(void **state)
{
    static const double product[2] = { 1, 1 };
    const useful_case *c = *state;
    node n;

    open_node(&n, c->capacity);
    n.goal = (dfl_tile_goal){ .of = { .value = c->by_time ? dfl_value_seconds : dfl_value_joules }, .best_only = true,
                              .by_time = c->by_time };
    n.s->constant = 10;
    memcpy(n.spread->joules, c->joules, sizeof c->joules);
    memcpy(n.spread->ports, c->seconds, sizeof c->seconds);
    n.s->piece[0][I] = c->depth > 0 ? 8 : 1;
    n.s->piece[0][K] = 1;
    n.goal.limit = c->least * (1 + 1e-6);
    assert_true(dfl_occupancy_useful(n.s, c->depth, product));
    n.goal.limit = c->least * (1 - 1e-6);
    assert_int_equal(dfl_occupancy_useful(n.s, c->depth, product), c->least == 0);
    close_node(&n);
}

int main(void)
{
    return CHECK_TABLE("mapper.room.fits", fits, keeps_fit) + CHECK_TABLE("mapper.room.bounds", bounds, templates_cost_more) +
           CHECK_TABLE("mapper.room.behind", behinds, ranks_behind_have_to) +
           CHECK_TABLE("mapper.room.useful", usefuls, nodes_are_useful);
}
