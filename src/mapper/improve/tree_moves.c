#include "mapper/improve/tree_moves.h"

#include <math.h>
#include <string.h>

#include "mapper/improve/tree_ranks.h"
#include "mapper/problem/factors.h"

static void remove_line(dfl_body *b, uint32_t at)
{
    b->n_lines--;
    for (uint32_t i = at; i < b->n_lines; i++)
        b->lines[i] = b->lines[i + 1];
}

static void insert_line(dfl_arena *arena, dfl_body *b, uint32_t at, const dfl_line *line)
{
    dfl_line *lines = DFL_NEW_ARRAY(arena, dfl_line, (size_t)b->n_lines + 1);

    for (uint32_t i = 0; i < at; i++) /* no memcpy: `lines` of a body without lines is NULL */
        lines[i] = b->lines[i];
    lines[at] = *line;
    for (uint32_t i = at; i < b->n_lines; i++)
        lines[i + 1] = b->lines[i];
    b->lines = lines;
    b->n_lines++;
}

static dfl_line new_keep(const dfl_body *b, uint32_t tensor, uint32_t memory)
{
    return (dfl_line){ .kind = DFL_LINE_KEEP, .span = b->span, .amount_span = b->span, .tensor = tensor, .memory = memory };
}

bool dfl_tree_touches(const dfl_mapping *m, const dfl_body *b, uint32_t tensor)
{
    for (uint32_t i = 0; i < b->n_einsums; i++)
        if (dfl_einsum_touches(&m->workload->einsums[b->einsums[i]], tensor))
            return true;
    return false;
}

bool dfl_tree_may_hold(const dfl_mapping *m, uint32_t tensor, uint32_t memory)
{
    const dfl_memory *at = &m->system->memories[memory];

    return !at->holds.on || dfl_selects(&at->holds, &m->workload->tensors[tensor]);
}

bool dfl_tree_scale(const dfl_mapping *m, dfl_body *b, uint32_t at, double factor)
{
    dfl_line *line = &b->lines[at];
    const int64_t above = dfl_tree_tile(m, b, at, line->rank);
    int64_t amount;

    if (line->kind == DFL_LINE_KEEP || line->cyclic || line->rounds)
        return false;
    if (line->by == DFL_BY_SIZE) {
        amount = dfl_even_tile(above, (double)line->amount * factor);
        if (amount == line->amount)
            return false;
        line->amount = amount;
        if (amount >= above)
            remove_line(b, at);
        return true;
    }
    amount = (int64_t)fmax(1, fmin((double)above, rint((double)line->amount / factor)));
    if (amount == line->amount)
        return false;
    line->amount = amount;
    if (amount == 1)
        remove_line(b, at);
    return true;
}

bool dfl_tree_is_end(const dfl_body *b, uint32_t at)
{
    return at == 0 || at == b->n_lines || b->lines[at].kind != DFL_LINE_KEEP || b->lines[at - 1].kind != DFL_LINE_KEEP;
}

/* Whether a keep of the tensor stands above line `i` of the body. */
static bool is_kept_above(const dfl_body *b, uint32_t i, uint32_t tensor)
{
    for (; b != NULL; b = b->parent, i = b != NULL ? b->n_lines : 0)
        while (i > 0)
            if (b->lines[--i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor)
                return true;
    return false;
}

bool dfl_tree_is_free(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t tensor)
{
    if (at < b->n_lines && b->lines[at].kind == DFL_LINE_KEEP && b->lines[at].tensor == tensor && b->lines[at].given)
        return false;
    return m->workload->tensors[tensor].role == DFL_ROLE_INTERMEDIATE || is_kept_above(b, at, tensor);
}

uint32_t dfl_tree_after_homes(const dfl_mapping *m, const dfl_body *b)
{
    uint32_t at = b->n_lines;

    for (const dfl_line *lines = b->lines; at > 0; at--)
        if (lines[at - 1].kind == DFL_LINE_KEEP && !dfl_tree_is_free(m, b, at - 1, lines[at - 1].tensor))
            break;
    return at;
}

/* Takes the keeps of a tensor in a memory away from all bodies inside of `b`. */
static void remove_inside(dfl_mapping *m, const dfl_body *b, uint32_t tensor, uint32_t memory)
{
    for (uint32_t i = 0; i < m->n_bodies; i++) {
        dfl_body *inner = m->bodies[i];
        if (inner == b || !dfl_body_within(inner, b))
            continue;
        for (uint32_t l = inner->n_lines; l-- > 0;)
            if (inner->lines[l].kind == DFL_LINE_KEEP && inner->lines[l].tensor == tensor && inner->lines[l].memory == memory)
                remove_line(inner, l);
    }
}

static bool shift_line(dfl_arena *arena, dfl_mapping *m, const dfl_tree_move *v)
{
    dfl_body *from = m->bodies[v->from.body], *to = m->bodies[v->to.body];
    const dfl_line line = from->lines[v->from.at];
    const uint32_t at = from == to && v->to.at > v->from.at ? v->to.at - 1 : v->to.at;

    remove_line(from, v->from.at);
    if (line.kind == DFL_LINE_KEEP && from != to)
        remove_inside(m, to, line.tensor, line.memory);
    if (at > to->n_lines)
        return false;
    insert_line(arena, to, at, &line);
    return true;
}

/* A keep of a branch stands at the top of each child that touches its tensor. */
static bool sink_line(dfl_arena *arena, dfl_mapping *m, const dfl_tree_move *v)
{
    dfl_body *b = m->bodies[v->from.body];
    const dfl_line line = b->lines[v->from.at];

    remove_line(b, v->from.at);
    for (uint32_t c = 0; c < b->n_children; c++)
        if (dfl_tree_touches(m, b->children[c], line.tensor))
            insert_line(arena, b->children[c], 0, &line);
    return b->n_children > 0;
}

static dfl_line new_loop(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t rank)
{
    return (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = b->span, .amount_span = b->span, .rank = rank, .by = DFL_BY_SIZE,
                       .amount = dfl_tree_tile(m, b, at, rank) };
}

/* ---- braces ---- */

/* Whether all einsums that make or read an intermediate are in the body. */
static bool is_within(const dfl_mapping *m, const dfl_body *b, uint32_t tensor)
{
    if (m->workload->tensors[tensor].role != DFL_ROLE_INTERMEDIATE || !dfl_tree_touches(m, b, tensor))
        return false;
    for (uint32_t e = 0, i = 0; e < m->workload->n_einsums; e++) {
        const bool is_in = i < b->n_einsums && b->einsums[i] == e;
        i += is_in;
        if (!is_in && dfl_einsum_touches(&m->workload->einsums[e], tensor))
            return false;
    }
    return true;
}

static bool merge(dfl_arena *arena, dfl_mapping *m, const dfl_tree_move *v)
{
    dfl_body *b = m->bodies[v->from.body], *new = DFL_NEW(arena, dfl_body);
    dfl_body *one, *other;
    uint32_t *einsums;
    dfl_line line;

    if (b->kind != DFL_BODY_FUSE || v->from.at + 1 >= b->n_children || b->n_children < 3)
        return false;
    one = b->children[v->from.at];
    other = b->children[v->from.at + 1];
    if (one->n_einsums == 0 || other->n_einsums == 0 || one->einsums[one->n_einsums - 1] > other->einsums[0])
        return false;
    *new = (dfl_body){ .kind = DFL_BODY_FUSE, .span = b->span, .parent = b, .n_children = 2, .compute = DFL_NONE };
    new->children = DFL_NEW_ARRAY(arena, dfl_body *, 2);
    new->children[0] = one;
    new->children[1] = other;
    einsums = DFL_NEW_ARRAY(arena, uint32_t, (size_t)one->n_einsums + other->n_einsums);
    memcpy(einsums, one->einsums, one->n_einsums * sizeof *einsums);
    memcpy(einsums + one->n_einsums, other->einsums, other->n_einsums * sizeof *einsums);
    new->einsums = einsums;
    new->n_einsums = one->n_einsums + other->n_einsums;
    if (!dfl_tree_has_rank(m, new, v->rank))
        return false;
    b->children[v->from.at] = new;
    b->n_children--;
    for (uint32_t c = v->from.at + 1; c < b->n_children; c++)
        b->children[c] = b->children[c + 1];
    dfl_mapping_number(arena, m);
    for (uint32_t t = 0; t < m->workload->n_tensors; t++) {
        if (!is_within(m, new, t))
            continue;
        for (dfl_body *above = b; above != NULL; above = above->parent)
            for (uint32_t i = above->n_lines; i-- > 0;)
                if (above->lines[i].kind == DFL_LINE_KEEP && above->lines[i].tensor == t)
                    remove_line(above, i);
        remove_inside(m, new, t, v->memory);
        line = new_keep(b, t, v->memory);
        insert_line(arena, new, new->n_lines, &line);
    }
    line = new_loop(m, new, 0, v->rank);
    insert_line(arena, new, 0, &line);
    return new->n_lines > 1 && dfl_tree_scale(m, new, 0, v->factor);
}

/* The outermost memory that may hold a tensor. */
static uint32_t outermost(const dfl_mapping *m, uint32_t tensor)
{
    uint32_t memory = 0;

    while (memory + 1 < m->system->n_memories && !dfl_tree_may_hold(m, tensor, memory))
        memory++;
    return memory;
}

static bool split(dfl_arena *arena, dfl_mapping *m, const dfl_tree_move *v)
{
    dfl_body *b = m->bodies[v->from.body], *parent = b->parent;
    dfl_body **children;
    uint32_t n = 0;

    if (b->kind != DFL_BODY_FUSE || parent == NULL || parent->kind != DFL_BODY_FUSE)
        return false;
    for (uint32_t i = b->n_lines; i-- > 0;) {
        const dfl_line line = b->lines[i];
        if (line.kind == DFL_LINE_KEEP && !is_kept_above(b, i, line.tensor)) {
            const dfl_line home = new_keep(m->root, line.tensor, outermost(m, line.tensor));
            insert_line(arena, m->root, dfl_tree_after_homes(m, m->root), &home);
            if (home.memory == line.memory)
                continue;
        }
        for (uint32_t c = 0; c < b->n_children; c++)
            if (line.kind != DFL_LINE_KEEP || dfl_tree_touches(m, b->children[c], line.tensor))
                insert_line(arena, b->children[c], 0, &line);
    }
    children = DFL_NEW_ARRAY(arena, dfl_body *, (size_t)parent->n_children + b->n_children);
    for (uint32_t c = 0; c < parent->n_children; c++)
        if (parent->children[c] != b)
            children[n++] = parent->children[c];
        else
            for (uint32_t i = 0; i < b->n_children; i++)
                children[n++] = b->children[i];
    parent->children = children;
    parent->n_children = n;
    dfl_mapping_number(arena, m);
    return true;
}

bool dfl_tree_apply(dfl_arena *arena, dfl_mapping *m, const dfl_tree_move *v)
{
    dfl_body *b = m->bodies[v->from.body];
    dfl_line line;

    switch (v->kind) {
    case DFL_TREE_SCALE:
        return dfl_tree_scale(m, b, v->from.at, v->factor);
    case DFL_TREE_SWAP:
        line = b->lines[v->from.at];
        b->lines[v->from.at] = b->lines[v->from.at + 1];
        b->lines[v->from.at + 1] = line;
        return true;
    case DFL_TREE_DROP:
        remove_line(b, v->from.at);
        return true;
    case DFL_TREE_SHIFT:
        return shift_line(arena, m, v);
    case DFL_TREE_SINK:
        return sink_line(arena, m, v);
    case DFL_TREE_ADD_KEEP:
        line = new_keep(b, v->tensor, v->memory);
        remove_inside(m, b, v->tensor, v->memory);
        insert_line(arena, b, v->from.at, &line);
        return true;
    case DFL_TREE_ADD_LOOP:
        line = new_loop(m, b, v->from.at, v->rank);
        insert_line(arena, b, v->from.at, &line);
        if (!dfl_tree_scale(m, b, v->from.at, v->factor))
            return false;
        if (v->fits)
            dfl_tree_fit(arena, m, b, v->from.at);
        return true;
    case DFL_TREE_REPLACE:
        b->lines[v->from.at].memory = v->memory;
        return true;
    case DFL_TREE_TURN:
        b->lines[v->from.at].rank = v->rank;
        return true;
    case DFL_TREE_ADD_AXIS:
        line = new_loop(m, b, v->from.at, v->rank);
        line.amount = (int64_t)fmin((double)line.amount, ceil(1 / v->factor));
        line.kind = DFL_LINE_SPATIAL;
        line.by = DFL_BY_PARTS;
        line.axis = v->axis;
        insert_line(arena, b, v->from.at, &line);
        return line.amount > 1;
    case DFL_TREE_MERGE:
        return merge(arena, m, v);
    case DFL_TREE_SPLIT:
        return split(arena, m, v);
    }
    return false;
}
