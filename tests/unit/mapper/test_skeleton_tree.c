/*
 * The tree of the skeletons of a pattern: each skeleton is in one leaf, a node by hand, and no node bounds more than a skeleton
 * below it (B49); and the least of a pattern is that of its skeletons one by one.
 */
#include "tests/harness/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/join/pattern_bound.h"
#include "mapper/join/skeleton_tree.h"
#include "mapper/problem/limits.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/form_program.h"
#include "mapper/tiling/loose_form.h"

/* Two matrix products that exchange T, on a chip with two memories, the inner one in an array. */
static const char PAIR[] =
    "workload pair : i8 {\n rank m = 8, k = 12, n = 6, q = 4;\n input A[m, k], B[k, n], E[n, q];\n"
    " T[m, n] += A[m, k] * B[k, n];\n output Z[m, q] += T[m, n] * E[n, q];\n}\n"
    "system chip {\n memory dram { size = unlimited; bandwidth = 1B/s; energy = 90pJ/bit; }\n"
    " memory near { size = 60B; bandwidth = 3B/s; energy = 9pJ/bit; }\n network net = bus { }\n array pe[2] over net {\n"
    " memory reg { size = 6B; bandwidth = 8B/s; energy = 1pJ/bit; }\n"
    " compute mac { rate { mac = 4MAC/s; } energy { mac = 1pJ/MAC; } } }\n}\n"
    "mapping x for pair on chip { ...; }\n";

/* One product whose operands are all kept once, in a memory that reads for 1 J/bit; others cost nothing. */
static const char ONE[] =
    "workload one : i8 {\n rank m = 4, k = 3, n = 2;\n input A[m, k], B[k, n];\n output Z[m, n] += A[m, k] * B[k, n];\n}\n"
    "system chip {\n memory dram { size = unlimited; read { energy = 10J/bit; } write { energy = 0J/bit; } }\n"
    " memory near { size = 9B; read { energy = 1J/bit; } write { energy = 0J/bit; } }\n"
    " compute mac { rate { mac = 4MAC/s; } energy { mac = 0J/MAC; } }\n}\n"
    "mapping x for one on chip { ...; }\n";

typedef struct {
    dfl_session *session;
    dfl_einsum_classes classes;
    dfl_objective objective;
    dfl_deadline deadline;
    dfl_terms *terms;
    dfl_geometric_draft *draft;
} opened;

/* The skeletons of a pattern, and their tree. */
typedef struct {
    const dfl_candidate **list;
    uint32_t n;
    dfl_skeleton_tree tree;
} listed;

static void open_classes(opened *t, const char *text)
{
    const dfl_problem_limits all = { .spread = true, .unjoined = true };
    const dfl_mapping *mapping;

    *t = (opened){ .session = dfl_session_new(NULL), .terms = malloc(sizeof *t->terms), .draft = malloc(sizeof *t->draft) };
    assert_int_equal(dfl_session_open_text(t->session, "tree.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(t->session));
    mapping = t->session->program->designs[0].mapping;
    assert_true(dfl_objective_make(t->session->sink, t->session->names, mapping, &t->objective));
    assert_true(dfl_einsum_classes_make(t->session->arena, t->session->arena, dfl_sink_new(t->session->arena, NULL),
                                        t->session->names, mapping, &all, 1, &t->deadline, &t->classes));
}

static void close_classes(opened *t)
{
    free(t->terms);
    free(t->draft);
    dfl_session_free(t->session);
}

static listed list_pattern(const opened *t, const dfl_einsum_class *c, uint32_t pattern)
{
    listed out = { .list = DFL_NEW_ARRAY(t->session->arena, const dfl_candidate *, c->candidates.n + 1) };

    for (uint32_t i = 0; i < c->candidates.n; i++)
        if (c->candidates.at[i].pattern == pattern)
            out.list[out.n++] = &c->candidates.at[i];
    dfl_skeleton_tree_sort(out.list, out.n);
    dfl_skeleton_tree_add(t->session->arena, out.list, out.n, 0, &out.tree);
    return out;
}

/* The bound of a form by its program, for a line; INFINITY = nothing fits. */
static double bound_form(const opened *t, const dfl_form *form, double per_second)
{
    const dfl_objective line = dfl_objective_line(&t->objective, 1, per_second);
    const dfl_form_goal goal = { .factor = 1, .joules = 1, .leakage = per_second, .is_whole = true };
    const dfl_geometric_effort effort = { .precision = 1e-6, .steps = 200, .cutoff = INFINITY };
    const dfl_box_costs costs = { .objective = &line, .is_whole = true };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_geometric_solution *solution = DFL_NEW(arena, dfl_geometric_solution);
    double others[DFL_FORM_PRODUCTS], bound = INFINITY;
    dfl_box *boxes[DFL_PROBLEM_RANKS];
    dfl_geometric_box range;

    for (uint32_t r = 0; r < form->problem->n_ranks; r++)
        boxes[r] = dfl_box_make(arena, form, r);
    if (dfl_box_multiply(form, boxes, 0, others) && dfl_box_bound(&costs, form, boxes, 0, others) < INFINITY) {
        dfl_form_program *program = dfl_form_program_make(arena, t->draft, form, boxes, &goal);
        assert_non_null(program);
        dfl_form_program_fit(program, boxes, &range);
        dfl_geometric_solve(program->program, &range, NULL, &effort, solution);
        bound = dfl_form_goal_bound(&goal, solution->bound);
    }
    dfl_arena_free(arena);
    return bound;
}

/* Walks the nodes below one. `above`: the largest bound of the nodes above. What results take back lifts only some of these
   bounds, so only those of skeletons are compared with it. */
static void compare_node(const opened *t, const listed *of, uint32_t node, double above, double per_second,
                         uint32_t *leaves, uint32_t *shared)
{
    const dfl_skeleton_node *x = &of->tree.at[node];
    const dfl_candidate *c = of->list[x->first];
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_form *form = x->n == 1 ? dfl_form_make(arena, c->problem, c->form, t->terms)
                                     : dfl_loose_form_make(arena, c->problem, c->form, x->kept, t->terms);
    const double bound = bound_form(t, form, per_second);
    uint32_t at = x->first;

    assert_true(x->n > 1 || above <= bound * (1 + 2e-6));
    dfl_arena_free(arena);
    *shared += x->n > 1 && x->kept > 0;
    for (uint32_t child = x->child; child != DFL_NONE; child = of->tree.at[child].next) {
        assert_int_equal(of->tree.at[child].first, at);
        assert_true(of->tree.at[child].n < x->n && of->tree.at[child].kept >= x->kept);
        at += of->tree.at[child].n;
        compare_node(t, of, child, fmax(above, bound), per_second, leaves, shared);
    }
    assert_int_equal(at, x->n == 1 ? x->first : x->first + x->n);
    *leaves += x->n == 1;
}

static void bounds_skeletons(void **state)
{
    static const double RATES[] = { 0, 1e-8 };
    uint32_t shared = 0;
    opened t;

    (void)state;
    open_classes(&t, PAIR);
    for (uint32_t rate = 0; rate < 2; rate++)
        for (uint32_t i = 0; i < t.classes.at.n; i++)
            for (uint32_t p = 0; p < t.classes.at.at[i].patterns.n; p++) {
                const listed of = list_pattern(&t, &t.classes.at.at[i], p);
                uint32_t leaves = 0;
                for (uint32_t root = of.tree.n > 0 ? 0 : DFL_NONE; root != DFL_NONE; root = of.tree.at[root].next)
                    compare_node(&t, &of, root, 0, RATES[rate], &leaves, &shared);
                assert_int_equal(leaves, of.n);
            }
    assert_true(shared > 100);
    close_classes(&t);
}

/* The least of a pattern is that of its skeletons, but for the precision of programs. */
static void finds_least(void **state)
{
    opened t;

    (void)state;
    open_classes(&t, PAIR);
    for (uint32_t i = 0; i < t.classes.at.n; i++) {
        const dfl_einsum_class *c = &t.classes.at.at[i];
        const dfl_objective line = dfl_objective_line(&t.objective, 1, 0);
        dfl_arena *scratch = dfl_arena_new(NULL);
        uint64_t programs = 0;
        dfl_pattern_bounds *b = dfl_pattern_bounds_new(t.session->arena, scratch, c, &line, &t.deadline, &programs);
        for (uint32_t p = 0; p < c->patterns.n; p++) {
            const double found = dfl_pattern_bounds_least(b, p);
            double least = INFINITY;
            for (uint32_t k = 0; k < c->candidates.n; k++) {
                const dfl_candidate *x = &c->candidates.at[k];
                if (x->pattern == p)
                    least = fmin(least, bound_form(&t, dfl_form_make(scratch, x->problem, x->form, t.terms), 0));
            }
            if (!(found <= least * (1 + 2e-6) && found >= least * (1 - 3 * DFL_FORM_PRECISION)))
                fail_msg("class %u, pattern %u: %g, one by one %g", i, p, found, least);
        }
        assert_true(programs < c->candidates.n);
        dfl_arena_free(scratch);
    }
    close_classes(&t);
}

/*
 * All three operands in `near`. Without an order: dram reads A and B once, 12 + 6 bytes at 80 J; `near` serves 24 points each of A
 * and B, adds to all but the first value of 8 sums, and sends 8 bytes out, at 8 J each: 1440 + (48 + 16 + 8) 8 = 2016 J. One order
 * costs the same in 9 bytes, with B as a whole, one byte of A and two sums; in the others, loops bring more in.
 */
static void bounds_by_hand(void **state)
{
    double least = INFINITY, most = 0;
    opened t;
    listed of;

    (void)state;
    open_classes(&t, ONE);
    of = list_pattern(&t, &t.classes.at.at[0], 0);
    for (uint32_t i = 0; i < of.n; i++) {
        dfl_arena *arena = dfl_arena_new(NULL);
        if (of.list[i]->form->n_keeps == 3) {
            const double none = bound_form(&t, dfl_loose_form_make(arena, of.list[i]->problem, of.list[i]->form, 0, t.terms), 0);
            const double all = bound_form(&t, dfl_form_make(arena, of.list[i]->problem, of.list[i]->form, t.terms), 0);
            assert_true(fabs(none - 2016) < 2016 * 1e-5);
            least = fmin(least, all);
            most = fmax(most, all);
        }
        dfl_arena_free(arena);
    }
    assert_true(fabs(least - 2016) < 2016 * 1e-5 && most > 2016 * 1.2);
    close_classes(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_by_hand),
        cmocka_unit_test(bounds_skeletons),
        cmocka_unit_test(finds_least),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
