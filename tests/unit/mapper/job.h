/* The only mapping of a text, and the job of its only einsum. */
#ifndef DFL_TESTS_UNIT_MAPPER_JOB_H
#define DFL_TESTS_UNIT_MAPPER_JOB_H

#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "mapper/space.h"

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
    bool possible = true;

    assert_true(dfl_job_make(s->sink, s->names, m, 0, 0, limits, dfl_space_roomy(s->arena, m, limits), job, &possible));
    return m;
}

#endif
