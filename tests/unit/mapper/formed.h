/* The form of the only mapping of a text, and the costs of its points. */
#ifndef DFL_TESTS_UNIT_MAPPER_FORMED_H
#define DFL_TESTS_UNIT_MAPPER_FORMED_H

#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/point.h"
#include "tests/unit/mapper/job.h"

typedef struct {
    dfl_session *session;       /* owns all else */
    const dfl_mapping *mapping;
    dfl_problem problem;
    dfl_tiling_template skeleton;
    dfl_objective objective;
    const dfl_form *form;
} formed;

/* A template with the axes of the lines, too. */
static inline void set_axes(const dfl_problem *problem, const dfl_mapping *m, dfl_tiling_template *t)
{
    uint32_t keeps = 0;

    t->axis_gap[0] = (uint8_t)t->n_keeps;
    for (uint32_t g = 0; g <= t->n_keeps; g++)
        t->allow[g] = 0;
    for (uint32_t i = dfl_body_count_homes(m->root); i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        if (line->kind == DFL_LINE_KEEP)
            keeps++;
        else if (line->kind == DFL_LINE_SPATIAL)
            t->axis_gap[0] = (uint8_t)keeps;
        else
            t->allow[keeps] |= 1u << dfl_problem_find_rank(problem, line->rank);
    }
}

/* Opens the form of the mapping of a text, as the search over all tile sizes makes it. */
static inline void open_form(formed *f, const char *text)
{
    const dfl_problem_limits limits = { .spread = true };

    f->session = dfl_session_new(NULL);
    f->mapping = open_problem(f->session, text, &limits, &f->problem);
    problem_template(&f->problem, f->mapping, &f->skeleton);
    set_axes(&f->problem, f->mapping, &f->skeleton);
    assert_true(dfl_objective_make(f->session->sink, f->session->names, f->mapping, &f->objective));
    f->form = dfl_form_make(f->session->arena, &f->problem, &f->skeleton, DFL_NEW(f->session->arena, dfl_terms));
    assert_non_null(f->form);
}

/* The box of one point, on the way from the root: no bound on the way may be above that of the point. */
static inline dfl_box *find_point(dfl_arena *arena, const dfl_form *f, uint32_t rank, const int64_t *amounts)
{
    dfl_box *b = dfl_box_make(arena, f, rank);

    while (!b->is_point) {
        const dfl_box *lower = dfl_box_half(arena, f, rank, b, 0);
        const uint32_t cut = b->widest;
        b = dfl_box_half(arena, f, rank, b, amounts[cut] > lower->high[cut] || !lower->is_possible);
        assert_true(b->is_possible);
    }
    for (uint32_t i = 0; i < f->chain[rank].n; i++)
        assert_int_equal(b->low[i], amounts[i]);
    return b;
}

static inline double bound_of(const dfl_box_costs *costs, const dfl_form *f, dfl_box *const *boxes)
{
    double others[DFL_FORM_PRODUCTS];

    return dfl_box_multiply(f, boxes, 0, others) ? dfl_box_bound(costs, f, boxes, 0, others) : INFINITY;
}

/* A point of a form of three ranks: the bound of its box, and its value by the model. */
typedef struct { double bound, value; } point_costs;

static inline point_costs cost_point(const formed *f, const dfl_box_costs *costs, const int64_t (*amount)[4])
{
    dfl_point *p = dfl_point_make(f->session->arena, f->session->names, f->mapping, f->form, DFL_NONE);
    const int64_t *amounts[3];
    dfl_box *boxes[3];
    point_costs out;

    assert_int_equal(f->problem.n_ranks, 3);
    for (uint32_t r = 0; r < 3; r++) {
        amounts[r] = amount[r];
        boxes[r] = find_point(f->session->arena, f->form, r, amounts[r]);
    }
    out = (point_costs){ bound_of(costs, f->form, boxes), dfl_point_value(p, &f->objective, amounts) };
    dfl_point_free(p);
    return out;
}

#endif
