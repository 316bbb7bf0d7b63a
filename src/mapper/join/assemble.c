#include "mapper/join/assemble.h"

#include "ir/mapping.h"
#include "mapper/problem/transform.h"
#include "mapper/tiling/point.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_line) line_vec;

typedef struct {
    dfl_arena *arena;
    const dfl_mapping *mapping;
    const dfl_chosen_form *chosen;
    const uint32_t *all;                    /* 0, 1, 2, ..: einsums of a body are a part of it */
    DFL_VEC(dfl_body *) bodies;
} assembler;

static void add_line(const assembler *a, line_vec *lines, dfl_line line)
{
    line.span = line.amount_span = a->mapping->hole_span;
    DFL_PUSH(a->arena, lines, line);
}

static void add_keep(const assembler *a, line_vec *lines, uint32_t tensor, uint32_t memory)
{
    add_line(a, lines, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor, .memory = memory });
}

/* Homes outside of all groups: each tensor once, unless a group exchanges it. */
static void add_homes(const assembler *a, const dfl_fused_group *groups, uint32_t n_groups, line_vec *lines)
{
    const uint32_t n = a->mapping->workload->n_tensors;
    bool *is_done = DFL_NEW_ARRAY(a->arena, bool, n + 1);

    for (uint32_t g = 0; g < n_groups; g++)
        for (uint32_t i = 0; i < groups[g].n_tensors; i++)
            is_done[groups[g].tensors[i]] = true;
    for (uint32_t e = 0; e < a->mapping->workload->n_einsums; e++) {
        const dfl_form *f = a->chosen[e].form;
        for (uint32_t o = 0; o < f->problem->n_operands; o++) {
            const dfl_problem *problem = a->chosen[e].problem;
            const uint32_t tensor = problem->operand[o].tensor;
            if (!is_done[tensor])
                add_keep(a, lines, tensor, problem->place[f->skeleton->exchange[o]].memory);
            is_done[tensor] = true;
        }
    }
}

/* Lines of one gap: temporal loops (axis -1), or parts on one axis. */
typedef struct { uint32_t gap; int axis; bool is_written; } gap_lines;

/* The lines of one rank in a gap that cut something. */
static void add_rank_cuts(const assembler *a, const dfl_chosen_form *x, uint32_t r, gap_lines in, int64_t *piece, line_vec *lines)
{
    const dfl_problem *problem = x->problem;
    const dfl_chain *c = &x->form->chain[r];

    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t amount = x->amounts[r][i], above = piece[r];
        if (c->at[i].gap != in.gap || c->at[i].axis != in.axis)
            continue;
        piece[r] = in.axis >= 0 ? (above + amount - 1) / amount : amount < above ? amount : above;
        if (!in.is_written || piece[r] == above)
            continue;
        if (in.axis < 0)
            add_line(a, lines, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = problem->rank[r], .by = DFL_BY_SIZE,
                                           .amount = amount });
        else
            add_line(a, lines, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = problem->rank[r], .by = DFL_BY_PARTS,
                                           .amount = amount, .axis = problem->axis[in.axis].axis });
    }
}

/* The temporal loops of a gap (axis -1), or its parts on one axis, that cut something. `piece` has the largest piece of each rank
   above and below. */
static void add_cuts(const assembler *a, const dfl_chosen_form *x, uint32_t gap, int axis, bool is_written, int64_t *piece,
                     line_vec *lines)
{
    const dfl_problem *problem = x->problem;

    for (uint32_t order = 0; order < 3; order++)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (dfl_point_order(problem, r) == order)
                add_rank_cuts(a, x, r, (gap_lines){ gap, axis, is_written }, piece, lines);
}

/* The lines of one einsum; the shared loops of an einsum in a group stand above the group. */
static void add_leaf_lines(const assembler *a, const dfl_chosen_form *x, bool is_grouped, line_vec *lines)
{
    const dfl_problem *problem = x->problem;
    const dfl_tiling_template *t = x->form->skeleton;
    int64_t piece[DFL_PROBLEM_RANKS];

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        piece[r] = problem->extent[r];
    for (uint32_t g = 0; g <= t->n_keeps; g++) {
        for (int axis = -1; axis < (int)problem->n_axes; axis++)
            add_cuts(a, x, g, axis, !is_grouped || g >= t->shared_gaps || axis >= 0, piece, lines);
        for (uint32_t i = 0; i <= g && i < t->n_keeps; i++)
            if (t->written[i] == g && !t->keep[i].home &&
                !dfl_lines_keep(lines->at, lines->n, problem->operand[t->keep[i].operand].tensor,
                                problem->place[t->keep[i].place].memory))
                add_keep(a, lines, problem->operand[t->keep[i].operand].tensor, problem->place[t->keep[i].place].memory);
    }
}

static dfl_body *add_body(assembler *a, dfl_body *parent, uint32_t first, uint32_t n, const line_vec *lines)
{
    dfl_body *b = DFL_NEW(a->arena, dfl_body);

    *b = (dfl_body){ .kind = DFL_BODY_FUSE, .span = a->mapping->root->span, .id = (uint32_t)a->bodies.n, .parent = parent,
                     .depth = parent ? parent->depth + 1 : 0, .einsums = &a->all[first], .n_einsums = n,
                     .compute = DFL_NONE, .lines = lines->at, .n_lines = (uint32_t)lines->n };
    b->children = DFL_NEW_ARRAY(a->arena, dfl_body *, (size_t)n + 1);
    if (parent)
        parent->children[parent->n_children++] = b;
    DFL_PUSH(a->arena, &a->bodies, b);
    return b;
}

static void add_leaf(assembler *a, dfl_body *parent, uint32_t e, bool is_grouped)
{
    line_vec lines = { NULL, 0, 0 };
    dfl_body *leaf;

    add_leaf_lines(a, &a->chosen[e], is_grouped, &lines);
    leaf = add_body(a, parent, e, 1, &lines);
    leaf->kind = DFL_BODY_LEAF;
    leaf->compute = a->chosen[e].problem->unit;
    leaf->compute_span = a->mapping->root->span;
}

/* The shared loops of a group, and the keeps of what it exchanges. */
static void add_shared_lines(const assembler *a, const dfl_fused_group *g, line_vec *lines)
{
    for (uint32_t i = 0; i < g->n_loops; i++)
        add_line(a, lines, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = g->rank[i], .by = DFL_BY_SIZE, .amount = g->tile[i] });
    for (uint32_t i = 0; i < g->n_tensors; i++)
        add_keep(a, lines, g->tensors[i], g->memory);
}

/* Adds a group to its parent; a group of all einsums is the root itself. */
static void add_group(assembler *a, dfl_body *parent, const dfl_fused_group *g)
{
    line_vec lines = { NULL, 0, 0 };
    dfl_body *body = parent;

    if (g->n == 1) {
        add_leaf(a, parent, g->first, false);
        return;
    }
    if (g->n < parent->n_einsums) {
        add_shared_lines(a, g, &lines);
        body = add_body(a, parent, g->first, g->n, &lines);
    }
    for (uint32_t e = g->first; e < g->first + g->n; e++)
        add_leaf(a, body, e, true);
}

dfl_mapping *dfl_assemble(dfl_arena *arena, const dfl_mapping *mapping, const dfl_chosen_form *chosen,
                          const dfl_fused_group *groups, uint32_t n_groups)
{
    const uint32_t n = mapping->workload->n_einsums;
    uint32_t *all = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    assembler a = { .arena = arena, .mapping = mapping, .chosen = chosen, .all = all };
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    line_vec homes = { NULL, 0, 0 };

    for (uint32_t e = 0; e < n; e++)
        all[e] = e;
    add_homes(&a, groups, n_groups, &homes);
    if (n_groups == 1 && n > 1)
        add_shared_lines(&a, &groups[0], &homes);
    *out = *mapping;
    out->root = add_body(&a, NULL, 0, n, &homes);
    for (uint32_t g = 0; g < n_groups; g++)
        add_group(&a, out->root, &groups[g]);
    out->bodies = a.bodies.at;
    out->n_bodies = (uint32_t)a.bodies.n;
    out->has_holes = false;
    return out;
}

/* Takes all keeps of the tensors of a group away from a body. */
static void remove_keeps(const dfl_fused_group *g, dfl_body *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_lines; i++) {
        bool is_inside = false;
        for (uint32_t t = 0; t < g->n_tensors; t++)
            is_inside |= b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == g->tensors[t];
        if (!is_inside)
            b->lines[n++] = b->lines[i];
    }
    b->n_lines = n;
}

dfl_mapping *dfl_assemble_into(dfl_arena *arena, const dfl_mapping *from, const dfl_chosen_form *chosen, const dfl_fused_group *g)
{
    const uint32_t n = from->workload->n_einsums;
    uint32_t *all = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1), at = 0;
    assembler a = { .arena = arena, .mapping = from, .chosen = chosen, .all = all };
    dfl_mapping *out = dfl_mapping_copy(arena, from);
    dfl_body *root = out->root, *body;
    line_vec lines = { NULL, 0, 0 };

    for (uint32_t e = 0; e < n; e++)
        all[e] = e;
    while (at < root->n_children && root->children[at]->einsums[0] != g->first)
        at++;
    for (uint32_t i = 0; i < g->n; i++)
        if (at + i >= root->n_children || root->children[at + i]->n_einsums != 1)
            return NULL;
    if (g->n >= root->n_children || root->kind != DFL_BODY_FUSE)
        return NULL;
    remove_keeps(g, root);
    add_shared_lines(&a, g, &lines);
    body = add_body(&a, NULL, g->first, g->n, &lines);
    for (uint32_t e = g->first; e < g->first + g->n; e++)
        add_leaf(&a, body, e, true);
    body->parent = root;
    root->children[at] = body;
    for (uint32_t i = at + 1; i + g->n - 1 < root->n_children; i++)
        root->children[i] = root->children[i + g->n - 1];
    root->n_children -= g->n - 1;
    dfl_mapping_number(arena, out);
    return out;
}

/* The body of an einsum. */
static dfl_body *find_leaf(const dfl_mapping *m, uint32_t e)
{
    uint32_t b = 0;

    while (m->bodies[b]->kind != DFL_BODY_LEAF || m->bodies[b]->einsums[0] != e)
        b++;
    return m->bodies[b];
}

/* Whether a line of an einsum alone has no place below the shared loops of a group: a loop that leaves as much as these, or a
   keep of what the group exchanges in its memory. */
static bool is_above(const dfl_fused_group *g, const dfl_line *line)
{
    bool is_over = false;

    for (uint32_t i = 0; i < g->n_loops && line->kind == DFL_LINE_TEMPORAL; i++)
        is_over |= line->rank == g->rank[i] && line->by == DFL_BY_SIZE && line->amount >= g->tile[i];
    for (uint32_t i = 0; i < g->n_tensors && line->kind == DFL_LINE_KEEP; i++)
        is_over |= line->tensor == g->tensors[i] && line->memory == g->memory;
    return is_over;
}

dfl_mapping *dfl_assemble_leaf(dfl_arena *arena, const dfl_mapping *grouped, const dfl_fused_group *g,
                               const dfl_mapping *from, uint32_t e)
{
    dfl_mapping *out = dfl_mapping_copy(arena, grouped);
    const dfl_body *old = find_leaf(from, e);
    dfl_body *leaf = find_leaf(out, e);
    line_vec lines = { NULL, 0, 0 };

    for (uint32_t i = 0; i < old->n_lines; i++)
        if (!is_above(g, &old->lines[i]))
            DFL_PUSH(arena, &lines, old->lines[i]);
    leaf->lines = lines.at;
    leaf->n_lines = (uint32_t)lines.n;
    leaf->compute = old->compute;
    return out;
}
