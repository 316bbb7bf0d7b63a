#include "mapper/problem/home_lines.h"

#include "ir/mapping_open.h"

dfl_line *dfl_body_add_line(dfl_body *body, dfl_line line, dfl_span span)
{
    line.span = line.amount_span = span;
    if (line.kind != DFL_LINE_KEEP)
        line.amount_span.end = line.amount_span.start;
    body->lines[body->n_lines] = line;
    return &body->lines[body->n_lines++];
}

void dfl_body_add_homes(const dfl_problem *problem, const dfl_body *from, dfl_span span, dfl_body *body)
{
    const uint32_t homes = dfl_body_count_homes(from);

    for (uint32_t i = 0; i < homes; i++)
        body->lines[body->n_lines++] = from->lines[i];
    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (dfl_body_home(from, problem->operand[o].tensor) == DFL_NONE)
            dfl_body_add_line(body, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = problem->operand[o].tensor,
                                                .memory = problem->place[problem->operand[o].home].memory }, span);
}
