/* Reduced copies of a design: `O[p] += I[2p + r - 1] * F[r]`, then `Y[y] = O[y]`, with tiles of p. */
#include "tests/harness/check.h"

#include <string.h>

#include "ir/shrink.h"

enum { P, R, Y, RANKS };
enum { I, F, O, OUT, TENSORS };

typedef struct {
    dfl_arena *arena;
    dfl_rank ranks[RANKS];
    dfl_tensor tensors[TENSORS];
    dfl_term terms[4];
    dfl_index index[4];
    dfl_access inputs[3];
    dfl_einsum einsums[2];
    dfl_workload workload;
    dfl_line lines[5], inner[3], copying[1];
    dfl_body root, child[2];
    dfl_body *children[2], *bodies[3];
    dfl_mapping mapping;
    uint32_t class_of[RANKS];
} design;

static const uint32_t einsums[] = { 0, 1 }, ranks_of_o[] = { P, R }, ranks_of_out[] = { Y };
static const int64_t shape_i[] = { 64 }, shape_f[] = { 3 }, shape_o[] = { 32 }, shape_y[] = { 32 };

static dfl_line loop(dfl_line_kind kind, uint32_t rank, dfl_by by, int64_t amount)
{
    return (dfl_line){ .kind = kind, .rank = rank, .by = by, .amount = amount };
}

static design *design_new(void)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    design *d = DFL_NEW(arena, design);

    d->arena = arena;
    d->ranks[P].extent = 32;
    d->ranks[R].extent = 3;
    d->ranks[Y].extent = 32;
    d->terms[0] = (dfl_term){ P, 2 };
    d->terms[1] = (dfl_term){ R, 1 };
    d->terms[2] = (dfl_term){ P, 1 };
    d->terms[3] = (dfl_term){ Y, 1 };
    d->index[0] = (dfl_index){ .terms = &d->terms[0], .n_terms = 2, .offset = -1 };
    d->index[1] = (dfl_index){ .terms = &d->terms[1], .n_terms = 1 };
    d->index[2] = (dfl_index){ .terms = &d->terms[2], .n_terms = 1 };
    d->index[3] = (dfl_index){ .terms = &d->terms[3], .n_terms = 1 };
    d->tensors[I] = (dfl_tensor){ .n_dims = 1, .extents = shape_i };
    d->tensors[F] = (dfl_tensor){ .n_dims = 1, .extents = shape_f };
    d->tensors[O] = (dfl_tensor){ .n_dims = 1, .extents = shape_o, .producers = &einsums[0], .n_producers = 1 };
    d->tensors[OUT] = (dfl_tensor){ .n_dims = 1, .extents = shape_y, .producers = &einsums[1], .n_producers = 1 };
    d->inputs[0] = (dfl_access){ .tensor = I, .n_dims = 1, .index = &d->index[0] };
    d->inputs[1] = (dfl_access){ .tensor = F, .n_dims = 1, .index = &d->index[1] };
    d->inputs[2] = (dfl_access){ .tensor = O, .n_dims = 1, .index = &d->index[3] };
    d->einsums[0] = (dfl_einsum){ .output = { .tensor = O, .n_dims = 1, .index = &d->index[2] }, .inputs = d->inputs,
                                  .n_inputs = 2, .ranks = ranks_of_o, .n_ranks = 2 };
    d->einsums[1] = (dfl_einsum){ .output = { .tensor = OUT, .n_dims = 1, .index = &d->index[3] },
                                  .inputs = &d->inputs[2], .n_inputs = 1, .ranks = ranks_of_out, .n_ranks = 1 };
    d->workload = (dfl_workload){ .ranks = d->ranks, .n_ranks = RANKS, .tensors = d->tensors, .n_tensors = TENSORS,
                                  .einsums = d->einsums, .n_einsums = 2 };
    d->lines[0] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = I };
    d->lines[1] = loop(DFL_LINE_TEMPORAL, P, DFL_BY_SIZE, 8);
    d->inner[0] = loop(DFL_LINE_SPATIAL, P, DFL_BY_PARTS, 4);
    d->inner[1] = loop(DFL_LINE_TEMPORAL, P, DFL_BY_SIZE, 1);
    d->inner[2] = loop(DFL_LINE_TEMPORAL, R, DFL_BY_SIZE, 1);
    d->copying[0] = loop(DFL_LINE_TEMPORAL, Y, DFL_BY_SIZE, 1);
    d->root = (dfl_body){ .kind = DFL_BODY_FUSE, .id = 0, .lines = d->lines, .n_lines = 2, .children = d->children,
                          .n_children = 2, .einsums = einsums, .n_einsums = 2 };
    d->child[0] = (dfl_body){ .id = 1, .parent = &d->root, .lines = d->inner, .n_lines = 3, .einsums = &einsums[0],
                              .n_einsums = 1 };
    d->child[1] = (dfl_body){ .id = 2, .parent = &d->root, .lines = d->copying, .n_lines = 1, .einsums = &einsums[1],
                              .n_einsums = 1 };
    for (int i = 0; i < 2; i++)
        d->children[i] = d->bodies[1 + i] = &d->child[i];
    d->bodies[0] = &d->root;
    d->mapping = (dfl_mapping){ .workload = &d->workload, .root = &d->root, .bodies = d->bodies, .n_bodies = 3 };
    dfl_rank_classes(&d->workload, d->class_of);
    return d;
}

static dfl_mapping *shrink(design *d, int64_t p, int64_t r, unsigned halvings)
{
    const int64_t extents[RANKS] = { p, r, p };
    const unsigned by_rank[RANKS] = { halvings, 0, halvings };

    return dfl_mapping_shrink(d->arena, &d->mapping, extents, by_rank);
}

static void ranks_of_one_dimension_are_one_class(void **state)
{
    design *d = design_new();

    (void)state;
    assert_int_equal(d->class_of[P], P);
    assert_int_equal(d->class_of[R], R);
    assert_int_equal(d->class_of[Y], P); /* both index the only dimension of O bare */
    dfl_arena_free(d->arena);
}

static void nothing_changes_at_full_size(void **state)
{
    design *d = design_new();
    dfl_mapping *m = shrink(d, 32, 3, 0);

    (void)state;
    for (int t = 0; t < TENSORS; t++)
        assert_int_equal(m->workload->tensors[t].extents[0], d->tensors[t].extents[0]);
    assert_int_equal(m->root->n_lines, 2);
    assert_int_equal(m->root->lines[1].amount, 8);
    assert_int_equal(m->root->children[0]->n_lines, 3);
    dfl_arena_free(d->arena);
}

static void shapes_follow_the_indices(void **state)
{
    design *d = design_new();
    dfl_mapping *m = shrink(d, 16, 3, 0);

    (void)state;
    /* 2p + r - 1 reached 63 of 64; it reaches 31 now */
    assert_int_equal(m->workload->tensors[I].extents[0], 32);
    assert_int_equal(m->workload->tensors[F].extents[0], 3);
    assert_int_equal(m->workload->tensors[O].extents[0], 16);
    assert_int_equal(m->workload->tensors[OUT].extents[0], 16);
    assert_int_equal(m->workload->ranks[P].extent, 16);
    /* the original has not changed */
    assert_int_equal(d->ranks[P].extent, 32);
    assert_int_equal(d->tensors[I].extents[0], 64);
    dfl_arena_free(d->arena);
}

static void tiles_are_halved_and_never_too_large(void **state)
{
    design *d = design_new();
    dfl_mapping *m = shrink(d, 8, 3, 1);

    (void)state;
    assert_int_equal(m->root->lines[1].amount, 4);
    m = shrink(d, 5, 3, 0);
    assert_int_equal(m->root->lines[1].amount, 5); /* not 8: only 5 are left */
    assert_int_equal(dfl_mapping_largest_tile(&d->mapping, d->class_of, P, 0), 8);
    assert_int_equal(dfl_mapping_largest_tile(&d->mapping, d->class_of, P, 2), 2);
    assert_int_equal(dfl_mapping_largest_tile(&d->mapping, d->class_of, R, 0), 1);
    dfl_arena_free(d->arena);
}

static void loops_over_nothing_are_dropped(void **state)
{
    design *d = design_new();
    dfl_mapping *m = shrink(d, 2, 1, 2);
    const dfl_body *first, *second;

    (void)state;
    /* p: 2 in tiles of 8/4 = 2; then 4 parts of ceil(2/4) = 1, so `temporal p` and `temporal r` have nothing to do */
    first = m->root->children[0];
    second = m->root->children[1];
    assert_int_equal(m->root->lines[1].amount, 2);
    assert_int_equal(first->n_lines, 1);
    assert_int_equal(first->lines[0].kind, DFL_LINE_SPATIAL);
    assert_int_equal(second->n_lines, 1); /* y follows p: a tile of 2 is left there */
    assert_ptr_equal(first->parent, m->root);
    assert_ptr_equal(m->bodies[1], first);
    m = shrink(d, 1, 1, 3);
    assert_int_equal(m->root->n_lines, 1); /* the keep */
    assert_int_equal(m->root->lines[0].kind, DFL_LINE_KEEP);
    assert_int_equal(m->root->children[1]->n_lines, 0);
    dfl_arena_free(d->arena);
}

static void a_spatial_line_stays(void **state)
{
    design *d = design_new();
    dfl_mapping *m;

    (void)state;
    d->inner[0] = loop(DFL_LINE_SPATIAL, P, DFL_BY_SIZE, 2);
    m = shrink(d, 1, 3, 3);
    assert_int_equal(m->root->children[0]->lines[0].kind, DFL_LINE_SPATIAL);
    assert_int_equal(m->root->children[0]->lines[0].by, DFL_BY_PARTS); /* one part of one element */
    assert_int_equal(m->root->children[0]->lines[0].amount, 1);
    dfl_arena_free(d->arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_one_dimension_are_one_class),
        cmocka_unit_test(nothing_changes_at_full_size),
        cmocka_unit_test(shapes_follow_the_indices),
        cmocka_unit_test(tiles_are_halved_and_never_too_large),
        cmocka_unit_test(loops_over_nothing_are_dropped),
        cmocka_unit_test(a_spatial_line_stays),
    };

    return CHECK_GROUP("ir.shrink", tests);
}
