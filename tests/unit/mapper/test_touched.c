/*
 * The number of values of an index, including values outside of the shape, and the number of elements that it touches,
 * both by hand. The second number is a lower bound of transfers. It is exact except for a sum with gaps that reaches
 * outside of the shape, and for steps shorter than a part with gaps.
 */
#include "tests/unit/mapper/job.h"

typedef struct {
    const char *name;
    unsigned p, r, q, shape;
    const char *index;
    unsigned held, touched;
} touched_case;

static const touched_case cases[] = {
    { "a rank", 5, 1, 1, 5, "p", 5, 5 },
    { "a window", 4, 3, 1, 6, "p + r", 6, 6 },
    { "steps as long as the window", 4, 3, 1, 12, "3 * p + r", 12, 12 },
    { "steps that leave gaps", 4, 3, 1, 18, "5 * p + r", 12, 12 },
    { "a window of one element", 4, 1, 1, 10, "3 * p + r", 4, 4 },
    { "a rank alone with gaps", 4, 1, 1, 10, "3 * p", 4, 4 },
    { "a window with gaps of its own", 4, 3, 1, 12, "p + 4 * r", 12, 12 },
    { "gaps that others fill", 6, 3, 1, 11, "2 * r + p", 10, 10 },
    { "gaps that are filled in part", 3, 3, 1, 11, "2 * r + 3 * p", 9, 5 },
    { "equal steps", 3, 4, 1, 6, "p + r", 6, 6 },
    { "equal steps with gaps", 3, 4, 1, 11, "2 * p + 2 * r", 6, 6 },
    { "three ranks", 4, 3, 2, 21, "4 * p + r + 6 * q", 21, 13 },
    { "padding in front", 4, 3, 1, 5, "p + r - 1", 6, 5 },
    { "padding on both sides", 4, 3, 1, 4, "p + r - 1", 6, 4 },
    { "padding with gaps", 4, 3, 1, 4, "p + 3 * r - 2", 10, 4 },
    { "backwards", 4, 3, 1, 6, "p - r + 2", 6, 6 },
    { "backwards, outside of the shape", 4, 3, 1, 4, "p - r", 6, 4 },
    { "more outside than the values are, perhaps", 4, 1, 1, 6, "3 * p - 4", 4, 0 },
};

static void counts(void **state)
{
    const touched_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena,
        "workload w : i8 { rank p = %u, r = %u, q = %u; input I[x: %u], F[p, r, q]; output O[p, r, q] = I[%s] * F[p, r, q]; }\n"
        "system chip { memory dram { size = unlimited; energy = 1pJ/bit; } compute u { rate = 1MAC/s; energy = 1pJ/MAC; } }\n"
        "mapping m for w on chip { ...; minimize energy; }\n", c->p, c->r, c->q, c->shape, c->index);
    const dfl_problem_limits limits = { .plain = false };
    dfl_problem problem;

    (void)open_problem(s, text, &limits, &problem);
    assert_true(problem.operand[0].elements == c->held);
    assert_true(problem.operand[0].touched == c->touched);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.touched", cases, counts); }
