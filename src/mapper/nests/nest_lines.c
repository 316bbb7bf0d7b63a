#include "mapper/nests/nest_lines.h"

#include "ir/mapping_open.h"
#include "mapper/problem/home_lines.h"

/* Adds a loop with its amount: each has a second iteration. */
static void add_loop(dfl_body *body, dfl_line line, dfl_span span)
{
    dfl_body_add_line(body, line, span)->amount_span = span;
}

/* Adds the axes behind `after` loops; `left`: elements of full pieces above, by rank. */
static void add_axes(const dfl_problem *problem, const dfl_bare_nest *nest, uint32_t after, dfl_span span, int64_t *left,
                     dfl_body *body)
{
    for (uint32_t i = 0; i < nest->n_axes; i++) {
        const uint32_t r = nest->axis[i].rank;
        const int64_t parts = nest->axis[i].parts, tile = nest->axis[i].tile;
        const bool by_parts = dfl_divide_up(left[r], parts) == tile;
        if (nest->axis[i].after != after)
            continue;
        add_loop(body, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = problem->rank[r],
                                   .by = by_parts ? DFL_BY_PARTS : DFL_BY_SIZE, .amount = by_parts ? parts : tile,
                                   .axis = problem->axis[nest->axis[i].axis].axis }, span);
        left[r] = tile;
    }
}

dfl_mapping *dfl_nest_mapping(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *problem, const dfl_bare_nest *nest,
                              const dfl_nest_keep *keeps, uint32_t n)
{
    const dfl_body *from = given->root;
    const dfl_span span = given->hole_span;
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    dfl_body *body = DFL_NEW(arena, dfl_body), **bodies = DFL_NEW_ARRAY(arena, dfl_body *, 1);
    int64_t left[DFL_PROBLEM_RANKS];
    const size_t n_lines = dfl_body_count_homes(from) + problem->n_operands + nest->n_axes + nest->n + n;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        left[r] = problem->extent[r];
    *body = (dfl_body){ .span = from->span, .einsums = from->einsums, .n_einsums = from->n_einsums, .compute = problem->unit,
                        .compute_span = from->span, .lines = DFL_NEW_ARRAY(arena, dfl_line, n_lines) };
    *out = *given;
    out->root = body;
    out->bodies = bodies;
    bodies[0] = body;
    out->n_bodies = 1;
    out->has_holes = false;
    dfl_body_add_homes(problem, from, span, body);
    for (uint32_t at = 0; at <= nest->n; at++) {
        if (at > 0) {
            add_loop(body, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = problem->rank[nest->loop[at - 1].rank],
                                       .by = DFL_BY_SIZE, .amount = nest->loop[at - 1].tile }, span);
            left[nest->loop[at - 1].rank] = nest->loop[at - 1].tile;
        }
        add_axes(problem, nest, at, span, left, body);
        for (uint32_t i = 0; i < n; i++)
            if (keeps[i].at == at)
                dfl_body_add_line(body, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = problem->operand[keeps[i].operand].tensor,
                                                    .memory = problem->place[keeps[i].place].memory }, span);
    }
    return out;
}
