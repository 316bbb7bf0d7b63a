/* Helpers: the only mapping of a text, the problem of its only einsum, and the lines of the mapping as a template. */
#ifndef DFL_TESTS_UNIT_MAPPER_JOB_H
#define DFL_TESTS_UNIT_MAPPER_JOB_H

#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "ir/mapping_open.h"
#include "mapper/divisors/divisors_internal.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/objective.h"
#include "mapper/skeleton/fixed_lines.h"

static inline const dfl_mapping *open_mapping(dfl_session *s, const char *text)
{
    assert_int_equal(dfl_session_open_text(s, "text.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    return s->program->designs[0].mapping;
}

static inline const dfl_mapping *open_problem(dfl_session *s, const char *text, const dfl_problem_limits *limits,
                                              dfl_problem *problem)
{
    const dfl_mapping *m = open_mapping(s, text);
    const char *lack = NULL;

    assert_true(dfl_problem_make(s->names, m, 0, 0, limits, dfl_space_roomy(s->arena, m, limits), problem, &lack));
    assert_null(lack);
    return m;
}

/* The lines of the mapping as a template: loops in the gaps where they stand. */
static inline void problem_template(const dfl_problem *problem, const dfl_mapping *m, dfl_tiling_template *t)
{
    *t = (dfl_tiling_template){ .innermost = { -1, -1, -1 } };
    for (uint32_t i = dfl_body_count_homes(m->root); i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        if (line->kind == DFL_LINE_KEEP) {
            const uint32_t o = dfl_problem_find_operand(problem, line->tensor);
            t->keep[t->n_keeps] = (dfl_template_keep){ .operand = (uint8_t)o, .place = (uint8_t)line->memory,
                                                       .parent = t->innermost[o] };
            t->written[t->n_keeps] = (uint8_t)t->n_keeps;
            t->innermost[o] = (int8_t)t->n_keeps++;
        } else {
            t->allow[t->n_keeps] |= 1u << dfl_problem_find_rank(problem, line->rank);
        }
    }
}

/* Searches the tile sizes of the lines of a text for the least value of the goal, without a limit. Returns the
   objective of the result by the model. */
static inline double search_lines(const char *text, const dfl_problem_limits *limits, dfl_session *s, dfl_tile_goal *goal)
{
    dfl_deadline halt = { .budget = dfl_arena_budget(s->arena) };
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_objective objective;
    dfl_tiling_template form;
    dfl_problem problem;
    const dfl_mapping *m = open_problem(s, text, limits, &problem);

    goal->limit = INFINITY;
    goal->best_only = true;
    goal->halt = &halt;
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    problem_template(&problem, m, &form);
    assert_true(dfl_tile_search(dfl_pareto_set_new(s->arena, scratch), &problem, &form, goal));
    dfl_arena_free(scratch);
    return dfl_mapping_value(halt.budget, s->names, m, &objective);
}

#endif
