/* Helpers: the only mapping of a text, the job of its only einsum, and the lines of the mapping as a template. */
#ifndef DFL_TESTS_UNIT_MAPPER_JOB_H
#define DFL_TESTS_UNIT_MAPPER_JOB_H

#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "ir/mapping_open.h"
#include "mapper/divisors/divisors_internal.h"
#include "mapper/improve/polish.h"
#include "mapper/problem/objective.h"
#include "mapper/skeleton/given.h"

static inline const dfl_mapping *open_mapping(dfl_session *s, const char *text)
{
    assert_int_equal(dfl_session_open_text(s, "text.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    return s->program->designs[0].mapping;
}

static inline const dfl_mapping *open_job(dfl_session *s, const char *text, const dfl_job_limits *limits, dfl_job *job)
{
    const dfl_mapping *m = open_mapping(s, text);
    const char *lack = NULL;

    assert_true(dfl_job_make(s->names, m, 0, 0, limits, dfl_space_roomy(s->arena, m, limits), job, &lack));
    assert_null(lack);
    return m;
}

/* The lines of the mapping as a template: loops in the gaps where they stand. */
static inline void job_template(const dfl_job *job, const dfl_mapping *m, dfl_tiling_template *t)
{
    *t = (dfl_tiling_template){ .innermost = { -1, -1, -1 } };
    for (uint32_t i = dfl_body_count_homes(m->root); i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        if (line->kind == DFL_LINE_KEEP) {
            const uint32_t o = dfl_job_find_operand(job, line->tensor);
            t->keep[t->n_keeps] = (dfl_template_keep){ .operand = (uint8_t)o, .place = (uint8_t)line->memory,
                                                       .parent = t->innermost[o] };
            t->written[t->n_keeps] = (uint8_t)t->n_keeps;
            t->innermost[o] = (int8_t)t->n_keeps++;
        } else {
            t->allow[t->n_keeps] |= 1u << dfl_job_find_rank(job, line->rank);
        }
    }
}

/* Searches the tile sizes of the lines of a text for the least value of the goal, without a limit. Returns the
   objective of the result by the model. */
static inline double search_lines(const char *text, const dfl_job_limits *limits, dfl_session *s, dfl_tile_goal *goal)
{
    dfl_deadline halt = { .budget = dfl_arena_budget(s->arena) };
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_objective objective;
    dfl_tiling_template form;
    dfl_job job;
    const dfl_mapping *m = open_job(s, text, limits, &job);

    goal->limit = INFINITY;
    goal->best_only = true;
    goal->halt = &halt;
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    job_template(&job, m, &form);
    assert_true(dfl_tile_search(dfl_rows_new(s->arena, scratch), &job, &form, goal));
    dfl_arena_free(scratch);
    return dfl_mapping_value(halt.budget, s->names, m, &objective);
}

#endif
