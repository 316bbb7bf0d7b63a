#include "mapper/nests/nest_lines.h"

#include "ir/mapping_open.h"
#include "mapper/problem/home_lines.h"

/* Adds a loop with its amount: each has a second iteration. */
static void add_loop(dfl_body *body, dfl_line line, dfl_span span)
{
    dfl_body_add_line(body, line, span)->amount_span = span;
}

static void add_parts(const dfl_problem *problem, const dfl_bare_nest *nest, dfl_span span, dfl_body *body)
{
    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (nest->parts[r][a] > 1)
                add_loop(body, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = problem->rank[r], .by = DFL_BY_PARTS,
                                           .amount = nest->parts[r][a], .axis = problem->axis[a].axis }, span);
}

dfl_mapping *dfl_nest_mapping(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *problem, const dfl_bare_nest *nest,
                              const dfl_nest_keep *keeps, uint32_t n)
{
    const dfl_body *from = given->root;
    const dfl_span span = given->hole_span;
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    dfl_body *body = DFL_NEW(arena, dfl_body), **bodies = DFL_NEW_ARRAY(arena, dfl_body *, 1);
    const size_t n_lines = dfl_body_count_homes(from) + problem->n_operands + problem->n_axes * problem->n_ranks + nest->n + n;

    *body = (dfl_body){ .span = from->span, .einsums = from->einsums, .n_einsums = from->n_einsums, .compute = problem->unit,
                        .compute_span = from->span, .lines = DFL_NEW_ARRAY(arena, dfl_line, n_lines) };
    *out = *given;
    out->root = body;
    out->bodies = bodies;
    bodies[0] = body;
    out->n_bodies = 1;
    out->has_holes = false;
    dfl_body_add_homes(problem, from, span, body);
    add_parts(problem, nest, span, body);
    for (uint32_t at = 0; at <= nest->n; at++) {
        if (at > 0)
            add_loop(body, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = problem->rank[nest->loop[at - 1].rank],
                                       .by = DFL_BY_SIZE, .amount = nest->loop[at - 1].tile }, span);
        for (uint32_t i = 0; i < n; i++)
            if (keeps[i].at == at)
                dfl_body_add_line(body, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = problem->operand[keeps[i].operand].tensor,
                                                    .memory = problem->place[keeps[i].place].memory }, span);
    }
    return out;
}
