/*
 * The search for amounts of loops against all of them: every choice of the lattice is resolved and evaluated afresh, and
 * the first of the best must be what the search returns, to the bit. The Pareto set must be that of all choices. Mappings,
 * capacities and energies are drawn at random; some loops of each are left open.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/conflict/conflict_internal.h"
#include "mapper/problem/factors.h"
#include "mapper/sizes/size_front.h"
#include "mapper/sizes/size_search.h"
#include "model/model.h"
#include "support/limits.h"
#include "tests/harness/draw.h"
#include "tests/property/case.h"

enum { WANTED = 1500, MOST_DRAWS = 20000, MOST_OPEN = 3, MOST_CHOICES = 1500, MOST_TRIED = 30000 };

typedef struct { double terms[3]; int64_t amounts[MOST_OPEN]; } tried_choice;

typedef struct {
    dfl_arena *home, *scratch;
    dfl_intern *names;
    dfl_mapping *mapping;      /* with holes */
    dfl_mapping *tried;        /* a copy whose lines are set */
    dfl_line *open[MOST_OPEN], *set[MOST_OPEN];
    uint32_t n_open;
    int64_t largest[MOST_OPEN];
    bool imperfect;
    dfl_objective objective;
    bool found;
    double best[4];
    int64_t amounts[MOST_OPEN];
    unsigned evaluated;
    dfl_search_mode mode;
    uint32_t memory;           /* FRONT: the memory of the term `peak` */
    tried_choice *all;         /* FRONT: all choices that fit, in the order of the text */
    uint32_t n_all;
} bench;

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* Draws different energies and rates, and capacities close to the room of the drawn mapping. */
static void draw_system(bench *b, uint64_t *state)
{
    dfl_sink *sink = dfl_sink_new(b->home, NULL);
    dfl_paths *paths = dfl_paths_resolve(b->home, sink, b->names, b->mapping);
    const dfl_result *r = paths ? dfl_model_eval(b->home, sink, b->names, paths) : NULL;
    dfl_system *s = DFL_NEW(b->home, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(b->home, dfl_memory, b->mapping->system->n_memories + 1);
    dfl_compute *computes = DFL_NEW_ARRAY(b->home, dfl_compute, b->mapping->system->n_computes + 1);

    bool fast = draw(state, 2) == 0;

    *s = *b->mapping->system;
    for (uint32_t m = 0; m < s->n_memories; m++) {
        memories[m] = s->memories[m];
        memories[m].read_energy = draw(state, 20) * 1e-12;
        memories[m].write_energy = draw(state, 20) * 1e-12;
        memories[m].read_rate = fast ? INFINITY : (double)(1 + draw(state, 64)) * 1e9;
        memories[m].write_rate = fast ? INFINITY : (double)(1 + draw(state, 64)) * 1e9;
        if (r && draw(state, 2) == 0)
            memories[m].size_bits = 1 + (int64_t)r->memories[m].peak_bits * (int64_t)(1 + draw(state, 8)) / 4;
    }
    for (uint32_t c = 0; c < s->n_computes; c++) {
        dfl_rate *rate = DFL_NEW(b->home, dfl_rate);
        computes[c] = s->computes[c];
        computes[c].mac_energy = draw(state, 10) * 1e-12;
        computes[c].flop_energy = draw(state, 10) * 1e-12;
        *rate = (dfl_rate){ .rate = (double)(1 + draw(state, 8)) * 1e8 };
        computes[c].rates = rate;
        computes[c].n_rates = 1;
    }
    s->memories = memories;
    s->computes = computes;
    b->mapping->system = s;
}

static const dfl_val *figure_named(bench *b, const char *name)
{
    dfl_val *v = DFL_NEW(b->home, dfl_val);
    dfl_sym *path = DFL_NEW(b->home, dfl_sym);

    *path = dfl_intern_z(b->names, name);
    *v = (dfl_val){ .kind = DFL_VAL_PATH, .path = path, .n_path = 1 };
    return v;
}

static void draw_objective(bench *b, uint64_t *state)
{
    const dfl_val **terms = DFL_NEW_ARRAY(b->home, const dfl_val *, 2);
    static const char *const names[] = { "energy", "latency" };
    uint64_t kind = draw(state, 4);

    terms[0] = figure_named(b, names[kind % 2]);
    terms[1] = figure_named(b, names[1 - kind % 2]);
    b->mapping->minimize = terms;
    b->mapping->n_minimize = kind == 3 ? 0 : kind == 2 ? 1 : 2;
    b->mapping->minimize_text = "";
    if (!dfl_objective_make(dfl_sink_new(b->home, NULL), b->names, b->mapping, &b->objective))
        abort();
}

/* A figure of a result: the energy, the latency, `peak(MEMORY)`, or the room of the outermost memory as some other figure. */
static bool look_up(void *context, const dfl_result *r, const dfl_val *expr, double *out)
{
    const bench *b = context;
    const char *name = dfl_sym_text(b->names, expr->path[0]);

    *out = strcmp(name, "energy") == 0    ? r->joules
           : strcmp(name, "latency") == 0 ? r->seconds
           : strcmp(name, "peak") == 0    ? dfl_i128_double(r->memories[b->memory].peak_bits)
                                          : dfl_i128_double(r->memories[0].peak_bits);
    return true;
}

/* Draws two or three terms, with or without the peak of a memory or another figure. */
static void draw_front(bench *b, uint64_t *state)
{
    static const char *const orders[][3] = { { "energy", "latency" }, { "peak", "latency" }, { "latency", "energy", "peak" },
                                             { "other", "peak", "energy" } };
    const char *const *order = orders[draw(state, 4)];
    const dfl_val **terms = DFL_NEW_ARRAY(b->home, const dfl_val *, 3);
    uint32_t n = 0;

    b->mode = DFL_SEARCH_FRONT;
    b->memory = b->mapping->system->n_memories - 1;
    for (; n < 3 && order[n] != NULL; n++) {
        dfl_val *v = DFL_NEW(b->home, dfl_val);
        const dfl_val **args = DFL_NEW_ARRAY(b->home, const dfl_val *, 1);

        *v = *figure_named(b, order[n]);
        args[0] = figure_named(b, dfl_sym_text(b->names, b->mapping->system->memories[b->memory].name));
        if (strcmp(order[n], "peak") == 0) {
            v->kind = DFL_VAL_CALL;
            v->args = args;
            v->n_args = 1;
        }
        terms[n] = v;
    }
    b->mapping->minimize = terms;
    b->mapping->n_minimize = n;
    b->mapping->minimize_text = "";
    if (!dfl_objective_make(dfl_sink_new(b->home, NULL), b->names, b->mapping, &b->objective))
        abort();
    b->objective.figure = look_up;
    b->objective.context = b;
}

/* Opens up to three loops of the mapping; false when there are too many choices. */
static bool open_loops(bench *b, uint64_t *state)
{
    uint64_t choices = 1;

    b->n_open = 0;
    for (uint32_t i = 0; i < b->mapping->n_bodies; i++)
        for (uint32_t k = 0; k < b->mapping->bodies[i]->n_lines; k++) {
            dfl_line *line = &b->mapping->bodies[i]->lines[k];
            dfl_hole *hole = DFL_NEW(b->home, dfl_hole);
            int64_t *members = DFL_NEW_ARRAY(b->home, int64_t, 4);

            if (line->kind == DFL_LINE_KEEP || b->n_open == MOST_OPEN || draw(state, b->mode == DFL_SEARCH_FRONT ? 2 : 3) != 0)
                continue;
            *hole = (dfl_hole){ .by = draw(state, 2) ? DFL_BY_SIZE : DFL_BY_PARTS };
            if (draw(state, 5) == 0) {
                hole->n_choices = 1 + draw(state, 3);
                for (uint32_t m = 0; m < hole->n_choices; m++)
                    members[m] = (m > 0 ? members[m - 1] : 0) + 1 + draw(state, 3);
                hole->choices = members;
            }
            line->by = DFL_BY_HOLE;
            line->hole = hole;
            b->largest[b->n_open] = 1;
            for (uint32_t r = 0; r < b->mapping->workload->n_ranks; r++)
                if (b->mapping->workload->ranks[r].extent > b->largest[b->n_open])
                    b->largest[b->n_open] = b->mapping->workload->ranks[r].extent;
            choices *= (uint64_t)b->largest[b->n_open];
            b->open[b->n_open++] = line;
        }
    b->mapping->has_holes = true;
    return b->n_open > 0 && choices <= MOST_CHOICES;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool in_set(const dfl_hole *hole, int64_t amount)
{
    for (uint32_t i = 0; i < hole->n_choices; i++)
        if (hole->choices[i] == amount)
            return true;
    return false;
}

/* Whether the factor set offers the amount for a loop with `n` elements left. */
static bool in_lattice(const bench *b, int64_t n, int64_t amount)
{
    if (amount > n)
        return false;
    if (b->imperfect)
        return dfl_ceil_div(n, dfl_ceil_div(n, amount)) == amount;
    return n % amount == 0;
}

/* Whether the search may try the present amounts of the open loops. */
static bool in_space(const bench *b, const dfl_paths *paths)
{
    for (uint32_t k = 0; k < b->n_open; k++) {
        const dfl_hole *hole = b->open[k]->hole;
        bool any = false, bound = false, small = true;
        for (uint32_t e = 0; e < b->mapping->workload->n_einsums; e++)
            for (uint32_t i = 0; i < paths->paths[e].n_steps; i++) {
                const dfl_path_step *s = &paths->paths[e].steps[i];
                if (s->line != b->set[k] || s->rank == DFL_NONE)
                    continue;
                bound = true;
                any |= in_lattice(b, s->nominal, b->set[k]->amount);
                small &= b->set[k]->by == DFL_BY_SIZE || b->set[k]->amount <= s->nominal;
            }
        if (!bound)
            any = in_lattice(b, b->mapping->workload->ranks[b->set[k]->rank].extent, b->set[k]->amount);
        if (hole->choices)
            any = in_set(hole, b->set[k]->amount);
        if (!any || !small)
            return false;
    }
    return true;
}

static void try_choice(bench *b)
{
    dfl_sink *sink = dfl_sink_new(b->scratch, NULL);
    dfl_paths *paths = dfl_paths_resolve(b->scratch, sink, b->names, b->tried);
    const dfl_result *r = paths && in_space(b, paths) ? dfl_model_eval(b->scratch, sink, b->names, paths) : NULL;
    double terms[4] = { 0 };

    b->evaluated++;
    if (!r)
        return;
    assert_true(dfl_objective_terms(&b->objective, r, terms));
    if (b->mode == DFL_SEARCH_FRONT) {
        tried_choice *one = &b->all[b->n_all++];
        assert_true(b->n_all < MOST_TRIED);
        memcpy(one->terms, terms, sizeof one->terms);
        for (uint32_t k = 0; k < b->n_open; k++)
            one->amounts[k] = b->set[k]->amount;
        b->found = true;
        return;
    }
    if (b->found && !dfl_objective_less(&b->objective, terms, b->best))
        return;
    b->found = true;
    memcpy(b->best, terms, sizeof terms);
    for (uint32_t k = 0; k < b->n_open; k++)
        b->amounts[k] = b->set[k]->amount;
}

static void try_all(bench *b, uint32_t k)
{
    int64_t most = b->largest[k < b->n_open ? k : 0];

    if (k == b->n_open) {
        dfl_arena_reset(b->scratch);
        try_choice(b);
        return;
    }
    if (b->open[k]->hole->choices) /* the amount may exceed the elements left */
        most += 9;
    for (int64_t amount = 1; amount <= most; amount++) {
        b->set[k]->amount = amount;
        try_all(b, k + 1);
    }
}

/* A copy with the open loops closed. */
static void close_loops(bench *b)
{
    uint32_t n = 0;

    b->tried = dfl_mapping_copy(b->home, b->mapping);
    b->tried->has_holes = false;
    for (uint32_t i = 0; i < b->tried->n_bodies; i++)
        for (uint32_t k = 0; k < b->tried->bodies[i]->n_lines; k++) {
            dfl_line *line = &b->tried->bodies[i]->lines[k];
            if (line->kind == DFL_LINE_KEEP || line->by != DFL_BY_HOLE)
                continue;
            line->by = line->hole->by;
            b->set[n++] = line;
        }
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static void compare(bench *b, uint64_t index)
{
    const dfl_search_request request = { .objective = &b->objective, .space = { .imperfect = b->imperfect },
                                         .limits = { .evaluations = DFL_DEFAULT_EVALUATIONS } };
    dfl_size_search_conflict conflict;
    dfl_sink *sink = dfl_sink_new(b->home, NULL);
    const dfl_size_search_result *r = dfl_size_search_run(b->home, sink, b->names, b->mapping, &request, &conflict);
    const dfl_result *again;
    dfl_paths *paths;
    uint32_t n = 0;

    if (!r != !b->found)
        fail_msg("case %llu: search %s, %s by trying all", (unsigned long long)index, r ? "finds" : "finds nothing",
                 b->found ? "found" : "nothing found");
    if (!r) {
        assert_true(conflict.fits == (dfl_sink_errors(sink) > 0)); /* the search itself reports no missing fit */
        if (!conflict.fits)
            dfl_conflict_sizes(b->home, sink, b->names, b->mapping, &request, &conflict);
        assert_true(dfl_sink_errors(sink) > 0);
        return;
    }
    assert_int_equal(dfl_sink_count(sink), 0);
    for (uint32_t i = 0; i < r->mapping->n_bodies; i++)
        for (uint32_t k = 0; k < r->mapping->bodies[i]->n_lines; k++) {
            const dfl_line *line = &r->mapping->bodies[i]->lines[k];
            if (!line->hole)
                continue;
            if (line->amount != b->amounts[n])
                fail_msg("case %llu: open loop %u is %lld, %lld is the best", (unsigned long long)index, n,
                         (long long)line->amount, (long long)b->amounts[n]);
            n++;
        }
    assert_int_equal(n, b->n_open);
    assert_true(r->objective == b->best[0]);
    assert_true(r->optimal == (r->refused == 0));
    assert_true(!r->optimal || r->lower_bound == r->objective);
    assert_true(r->lower_bound <= r->objective);
    paths = dfl_paths_resolve(b->home, sink, b->names, r->mapping);
    again = paths ? dfl_model_eval(b->home, sink, b->names, paths) : NULL;
    assert_true(again && again->joules == r->joules && again->seconds == r->seconds);
}

/* Whether `a` is at most so many times `b` in all terms. */
static bool is_at_most(const bench *b, const double *a, const double *other, double times)
{
    for (uint32_t i = 0; i < dfl_objective_count(&b->objective); i++)
        if (a[i] > other[i] * times)
            return false;
    return true;
}

/* The number of the choice with the amounts of a mapping. */
static uint32_t number_of(const bench *b, const dfl_mapping *m)
{
    for (uint32_t c = 0; c < b->n_all; c++) {
        uint32_t n = 0, same = 0;
        for (uint32_t i = 0; i < m->n_bodies; i++)
            for (uint32_t k = 0; k < m->bodies[i]->n_lines; k++)
                if (m->bodies[i]->lines[k].hole) {
                    same += m->bodies[i]->lines[k].amount == b->all[c].amounts[n];
                    n++;
                }
        if (same == b->n_open)
            return c;
    }
    fail_msg("a mapping of the set does not fit");
    return DFL_NONE;
}

/* No choice is below a point of the set by more than rounding, each choice is covered by a point, and of equals the set has the
   first. */
static uint32_t compare_front(bench *b)
{
    static const double rounding = 1 + 1e-12, more = 1 + 1e-11;
    const dfl_search_request request = { .objective = &b->objective, .space = { .imperfect = b->imperfect },
                                         .mode = DFL_SEARCH_FRONT, .limits = { .evaluations = DFL_DEFAULT_EVALUATIONS } };
    dfl_size_search_conflict conflict;
    const dfl_size_search_result *r = dfl_size_search_run(b->home, dfl_sink_new(b->home, NULL), b->names, b->mapping, &request,
                                                          &conflict);

    if (!r != !b->found)
        fail_msg("search %s, %s by trying all", r ? "finds" : "finds nothing", b->found ? "found" : "nothing found");
    for (uint32_t i = 0; r && i < r->n_front; i++) {
        const uint32_t own = number_of(b, r->front[i].mapping);

        assert_memory_equal(r->front[i].terms, b->all[own].terms, dfl_objective_count(&b->objective) * sizeof(double));
        for (uint32_t k = 0; k < i; k++)
            assert_true(dfl_objective_less(&b->objective, r->front[k].terms, r->front[i].terms));
        for (uint32_t c = 0; c < b->n_all; c++) {
            const bool is_below = is_at_most(b, b->all[c].terms, r->front[i].terms, 1);
            assert_false(is_below && (c < own || !is_at_most(b, r->front[i].terms, b->all[c].terms, rounding)));
        }
    }
    for (uint32_t c = 0; r && c < b->n_all; c++) {
        uint32_t i = 0;
        while (i < r->n_front && !is_at_most(b, r->front[i].terms, b->all[c].terms, more))
            i++;
        assert_true(i < r->n_front);
    }
    assert_true(!r || r->optimal == (r->refused == 0));
    return r ? r->n_front : 0;
}

/* A matmul on an array with two axes, or two that are fused or pipelined on one. */
static void write_case(dfl_case *c, uint64_t *state)
{
    static const int64_t sizes[] = { 4, 6, 8, 5, 12 };
    int64_t m = sizes[draw(state, 5)], n = sizes[draw(state, 5)], k = sizes[draw(state, 5)];
    uint64_t kind = draw(state, 3);

    case_init(c);
    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    case_add_rank(c, "k", k);
    case_add_input(c, "A", DFL_ROLE_INPUT, 2, (int64_t[]){ m, k });
    case_add_input(c, "B", DFL_ROLE_WEIGHT, 2, (int64_t[]){ k, n });
    case_add_einsum(c, "Y[m,n] += A[m,k] * B[k,n]");
    if (kind > 0) {
        case_add_input(c, "C", DFL_ROLE_WEIGHT, 2, (int64_t[]){ n, m });
        case_add_einsum(c, "Z[m,n] += Y[m,n] * C[n,m]");
    }
    case_set_roles(c);
    case_add_memory(c, "dram", 0, 1);
    case_add_memory(c, "sram", 0, 1);
    case_add_axis(c, "row", 1, 4, CASE_ALL, CASE_ALL);
    case_add_axis(c, "col", 1, 6, CASE_ALL, CASE_ALL);
    case_add_unit(c, "mac", 1);
    if (kind == 0) {
        case_lines(c, 0, "keep A, B, Y in dram; temporal m:2, n:2; keep A, B, Y in sram; spatial m/2 on row; spatial k/2 on col;"
                         "temporal n, k, m;");
        return;
    }
    case_lines(c, 0, "keep A, B, C, Z in dram; temporal m:2; keep Y in sram;");
    c->bodies[0].kind = kind == 1 ? DFL_BODY_FUSE : DFL_BODY_PIPELINE;
    case_lines(c, case_add_leaf(c, 0, "Y"), "spatial n/2 on row; spatial k/2 on col; temporal n, k, m;");
    case_lines(c, case_add_leaf(c, 0, "Z"), "spatial n/2 on row; temporal n, m;");
}

static void finds_the_best(void **state)
{
    dfl_case *c = calloc(1, sizeof *c);
    uint64_t random = 20;
    unsigned compared = 0, feasible = 0;

    (void)state;
    assert_non_null(c);
    for (uint64_t i = 0; compared < WANTED && i < MOST_DRAWS; i++) {
        bench b = { .home = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };

        if (i % 4 == 0)
            write_case(c, &random);
        else
            case_draw(c, 11, i);
        b.names = dfl_intern_new(b.home);
        b.mapping = dfl_mapping_copy(b.home, case_mapping(c, b.home, b.names));
        b.imperfect = draw(&random, 2);
        draw_system(&b, &random);
        draw_objective(&b, &random);
        if (open_loops(&b, &random)) {
            close_loops(&b);
            try_all(&b, 0);
            compare(&b, i);
            compared++;
            feasible += b.found;
        }
        dfl_arena_free(b.scratch);
        dfl_arena_free(b.home);
    }
    free(c);
    print_message("%u problems, %u with a mapping that fits\n", compared, feasible);
    assert_int_equal(compared, WANTED);
    assert_true(feasible >= 500);
}

static void finds_the_front(void **state)
{
    dfl_case *c = calloc(1, sizeof *c);
    uint64_t random = 30;
    unsigned compared = 0, feasible = 0, several = 0;

    (void)state;
    assert_non_null(c);
    for (uint64_t i = 0; compared < WANTED && i < MOST_DRAWS; i++) {
        bench b = { .home = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };

        if (i % 4 != 0)
            write_case(c, &random);
        else
            case_draw(c, 12, i);
        b.names = dfl_intern_new(b.home);
        b.mapping = dfl_mapping_copy(b.home, case_mapping(c, b.home, b.names));
        b.imperfect = draw(&random, 2);
        draw_system(&b, &random);
        draw_front(&b, &random);
        if (open_loops(&b, &random)) {
            b.all = DFL_NEW_ARRAY(b.home, tried_choice, MOST_TRIED);
            close_loops(&b);
            try_all(&b, 0);
            several += compare_front(&b) > 1;
            feasible += b.found;
            compared++;
        }
        dfl_arena_free(b.scratch);
        dfl_arena_free(b.home);
    }
    free(c);
    print_message("%u problems, %u with a mapping that fits, %u with several points\n", compared, feasible, several);
    assert_int_equal(compared, WANTED);
    assert_true(several >= 50);
}

/* Points of two terms, in the order in which they come, and those that stay (D15). */
static void keeps_what_nothing_undercuts(void **state)
{
    static const struct { const char *what; double came[4][2]; uint32_t n; int64_t stay[4]; uint32_t n_stay; } rows[] = {
        { "a trade-off, the least first term first", { { 2, 1 }, { 1, 2 } }, 2, { 1, 0 }, 2 },
        { "one that is worse in one term alone", { { 1, 2 }, { 1, 3 } }, 2, { 0 }, 1 },
        { "one that undercuts two", { { 3, 2 }, { 2, 3 }, { 5, 1 }, { 2, 2 } }, 4, { 3, 2 }, 2 },
        { "of equals the first", { { 1, 2 }, { 1, 2 } }, 2, { 0 }, 1 },
        { "of those that differ by rounding the first", { { 1, 2 }, { 1 - 1e-15, 2 }, { 1, 2 - 1e-15 } }, 3, { 0 }, 1 },
        { "what is less by rounding alone is no reason to stay", { { 1 - 1e-15, 3 }, { 1, 2 } }, 2, { 1 }, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const dfl_objective objective = { .n_terms = 2 };
        dfl_arena *arena = dfl_arena_new(NULL);
        dfl_size_front front = { .arena = arena, .objective = &objective, .n_amounts = 1 };

        for (int64_t k = 0; k < rows[i].n; k++)
            if (!dfl_size_front_excludes(&front, rows[i].came[k]))
                dfl_size_front_add(&front, rows[i].came[k], &k);
        if (front.points.n != rows[i].n_stay)
            fail_msg("%s: %zu points stay", rows[i].what, front.points.n);
        for (uint32_t k = 0; k < rows[i].n_stay; k++)
            if (front.points.at[k].amounts[0] != rows[i].stay[k])
                fail_msg("%s: point %lld is number %u", rows[i].what, (long long)front.points.at[k].amounts[0], k);
        dfl_arena_free(arena);
    }
}

/* ---- the lattice ------------------------------------------------------------------------------------------------- */

static void lists_all_amounts(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (int imperfect = 0; imperfect < 2; imperfect++) {
        dfl_factor_set *lattice = dfl_factor_set_new(arena, imperfect);
        const bench b = { .imperfect = imperfect };
        for (int64_t n = 1; n <= 300; n++) {
            dfl_amounts list = dfl_factor_set_amounts(lattice, n);
            uint32_t at = 0;
            for (int64_t amount = 1; amount <= n; amount++)
                if (in_lattice(&b, n, amount)) {
                    assert_true(at < list.n);
                    assert_true(list.at[at++] == amount);
                }
            assert_int_equal(at, list.n);
        }
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_all_amounts), cmocka_unit_test(finds_the_best),
                                        cmocka_unit_test(finds_the_front), cmocka_unit_test(keeps_what_nothing_undercuts) };

    return CHECK_GROUP("mapper.holes", tests);
}
