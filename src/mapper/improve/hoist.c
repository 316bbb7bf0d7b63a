/* Keeps one branch further out. */
#include "mapper/improve/hoist.h"

#include <string.h>

static bool has_one_user(const dfl_workload *w, uint32_t tensor)
{
    uint32_t users = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        users += dfl_einsum_touches(&w->einsums[e], tensor);
    return users == 1;
}

/* Line `i` of the body as the last one of that above it. */
static void lift(dfl_arena *arena, dfl_body *b, uint32_t i)
{
    dfl_body *above = b->parent;
    dfl_line *upper = DFL_NEW_ARRAY(arena, dfl_line, (size_t)above->n_lines + 1);
    dfl_line *lower = DFL_NEW_ARRAY(arena, dfl_line, b->n_lines);

    if (above->n_lines > 0)
        memcpy(upper, above->lines, above->n_lines * sizeof *upper);
    upper[above->n_lines] = b->lines[i];
    memcpy(lower, b->lines, i * sizeof *lower);
    memcpy(lower + i, b->lines + i + 1, (b->n_lines - i - 1) * sizeof *lower);
    above->lines = upper;
    above->n_lines++;
    b->lines = lower;
    b->n_lines--;
}

static bool is_kept(const dfl_body *b, uint32_t tensor, uint32_t memory)
{
    for (uint32_t i = 0; i < b->n_lines; i++)
        if (b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor && b->lines[i].memory == memory)
            return true;
    return false;
}

static bool touches(const dfl_mapping *m, const dfl_body *b, uint32_t tensor)
{
    for (uint32_t k = 0; k < b->n_einsums; k++)
        if (dfl_einsum_touches(&m->workload->einsums[b->einsums[k]], tensor))
            return true;
    return false;
}

/* A keep more as the last line of a branch. */
static void add(dfl_arena *arena, dfl_body *b, uint32_t tensor, uint32_t memory)
{
    dfl_line *lines = DFL_NEW_ARRAY(arena, dfl_line, (size_t)b->n_lines + 1);

    if (b->n_lines > 0)
        memcpy(lines, b->lines, b->n_lines * sizeof *lines);
    lines[b->n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = b->span, .amount_span = b->span, .tensor = tensor,
                                      .memory = memory };
    b->lines = lines;
}

static double lift_all(dfl_arena *arena, dfl_mapping *m, double value, dfl_hoist_value *value_of, void *context)
{
    for (uint32_t at = m->n_bodies; at-- > 1;) {
        dfl_body *b = m->bodies[at];
        for (uint32_t i = 0; i < b->n_lines && b->lines[i].kind == DFL_LINE_KEEP;) {
            const dfl_body before = *b, above = *b->parent;
            double lifted = value;
            if (has_one_user(m->workload, b->lines[i].tensor)) {
                lift(arena, b, i);
                lifted = value_of(context, m);
            }
            if (lifted < value) {
                value = lifted;
                continue;
            }
            *b->parent = above;
            *b = before;
            i++;
        }
    }
    return value;
}

static double add_all(dfl_arena *arena, dfl_mapping *m, double value, dfl_hoist_value *value_of, void *context)
{
    for (uint32_t at = 0; at < m->n_bodies; at++)
        for (uint32_t t = 0; t < m->workload->n_tensors && m->bodies[at]->kind != DFL_BODY_LEAF; t++)
            for (uint32_t memory = 0; memory < m->system->n_memories; memory++) {
                dfl_body *b = m->bodies[at];
                const dfl_body before = *b;
                double more;
                if (!touches(m, b, t) || !has_one_user(m->workload, t) || is_kept(b, t, memory))
                    continue;
                add(arena, b, t, memory);
                more = value_of(context, m);
                if (more < value)
                    value = more;
                else
                    *b = before;
            }
    return value;
}

double dfl_hoist_keeps(dfl_arena *arena, dfl_mapping *m, double value, dfl_hoist_value *value_of, void *context)
{
    value = lift_all(arena, m, value, value_of, context);
    return add_all(arena, m, value, value_of, context);
}
