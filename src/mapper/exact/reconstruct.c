/* The tree of bodies: a branch wherever neighbours stop sharing loops. */
#include "mapper/exact/reconstruct.h"

#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/divisors/sliding.h"
#include "mapper/exact/open_loops.h"
#include "mapper/skeleton/cost_terms.h"
#include "mapper/skeleton/fixed_factors.h"
#include "mapper/skeleton/fixed_lines.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_line) line_vec;
typedef DFL_VEC(dfl_body *) body_vec;

typedef struct {
    const dfl_body *body;
    uint32_t memory;
} kept;

typedef struct {
    dfl_arena *arena;
    const dfl_mapping *m;
    const dfl_workload *w;
    const dfl_problem *const *problems;
    const dfl_join_result *chosen;
    const uint32_t *all;         /* 0, 1, 2, ...: einsums of a body are a piece of it */
    DFL_VEC(kept) *kept;         /* by tensor */
    uint32_t *homed;             /* by einsum: mask of operands whose keep for it and others is written */
    body_vec bodies;
} emitter;

static void add_line(emitter *k, line_vec *lines, dfl_line line)
{
    line.span = line.amount_span = k->m->hole_span;
    DFL_PUSH(k->arena, lines, line);
}

/* What a body above keeps in the same memory already serves this one, too, with fewer transfers. */
static void add_keep(emitter *k, const dfl_body *body, line_vec *lines, uint32_t tensor, uint32_t memory)
{
    for (size_t i = 0; i < k->kept[tensor].n; i++)
        if (k->kept[tensor].at[i].memory == memory && dfl_body_within(body, k->kept[tensor].at[i].body))
            return;
    DFL_PUSH(k->arena, &k->kept[tensor], ((kept){ body, memory }));
    add_line(k, lines, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor, .memory = memory });
}

static void add_loop(emitter *k, line_vec *lines, uint32_t rank, int64_t tile)
{
    add_line(k, lines, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = rank, .by = DFL_BY_SIZE, .amount = tile });
}

static int64_t cut(const dfl_pmapping *row, uint32_t gap, uint32_t rank)
{
    return row->cut[gap * row->problem->n_ranks + rank];
}

static int64_t parts(const dfl_pmapping *row, uint32_t axis, uint32_t rank)
{
    return row->cut[(row->form->n_keeps + 1 + axis) * row->problem->n_ranks + rank];
}

/* Iterations of the shared loop over a rank in a gap, 1 = none. */
static int64_t shared(const dfl_pmapping *row, uint32_t gap, uint32_t rank)
{
    for (uint32_t k = 0; k < row->way.n_loops; k++)
        if (row->gap[k] == gap && row->way.loop_rank[k] == rank)
            return row->way.trips[k];
    return 1;
}

/* Loops around the einsum above keep `i`, of one for itself as many as can be; DFL_NONE: it is in the einsum's own body. */
static uint32_t depth_of(const emitter *k, uint32_t e, uint32_t i)
{
    const dfl_pmapping *row = k->chosen->rows[e];
    uint32_t own = dfl_pmapping_loops_above(row, i);

    if (row->form->keep[i].home)
        return dfl_join_depth(k->chosen, e, own);
    return own == row->way.n_loops ? DFL_NONE : dfl_join_depth(k->chosen, e, own + 1) - 1;
}

/* Which of the einsum's own loops stands below `depth` loops around it. */
static uint32_t own_loop(const emitter *k, uint32_t e, uint32_t depth)
{
    return depth - (uint32_t)__builtin_popcount(k->chosen->skipped[e] & ((1u << depth) - 1));
}

/* Whether the einsum takes the tensor from a keep that serves the next one with it, too. */
static bool serves_on(const emitter *k, uint32_t einsum, uint32_t tensor)
{
    const dfl_problem *problem = k->problems[einsum];
    uint32_t o = dfl_problem_find_operand(problem, tensor);

    return o < problem->n_operands && dfl_join_goes_on(k->chosen, problem, einsum, o);
}

static dfl_body *new_body(emitter *k, dfl_body *parent, uint32_t first, uint32_t last)
{
    dfl_body *b = DFL_NEW(k->arena, dfl_body);

    *b = (dfl_body){ .span = k->m->root->span, .parent = parent, .depth = parent ? parent->depth + 1 : 0,
                     .id = (uint32_t)k->bodies.n, .einsums = k->all + first, .n_einsums = last - first + 1,
                     .compute = DFL_NONE, .compute_span = k->m->root->span };
    DFL_PUSH(k->arena, &k->bodies, b);
    return b;
}

/* Whether the einsums first..last share more than `depth` loops. */
static bool fused_further(const emitter *k, uint32_t first, uint32_t last, uint32_t depth)
{
    for (uint32_t f = first; f < last; f++)
        if (k->chosen->open[f] <= depth)
            return false;
    return true;
}

/* The last einsum that reads what keep `i` of einsum `e` holds for it and others, if `e` is the first; else DFL_NONE. */
static uint32_t served_to(const emitter *k, uint32_t e, uint32_t i)
{
    const dfl_template_keep *keep = &k->chosen->rows[e]->form->keep[i];
    uint32_t tensor = k->problems[e]->operand[keep->operand].tensor, at = 0;
    const dfl_tensor *t = &k->w->tensors[tensor];

    if (t->n_producers > 0)
        return t->producers[0] == e ? t->consumers[t->n_consumers - 1] : DFL_NONE;
    while (t->consumers[at] != e)
        at++;
    if (at > 0 && serves_on(k, t->consumers[at - 1], tensor))
        return DFL_NONE;
    while (at + 1 < t->n_consumers && serves_on(k, t->consumers[at], tensor))
        at++;
    return t->consumers[at];
}

/* Homes on the chip of operands below `depth` loops that the einsums first..last make; not those that a branch of them
   holds, unless they share more loops as a `whole`. */
static void add_homes(emitter *k, const dfl_body *body, line_vec *lines, uint32_t first, uint32_t last, uint32_t depth,
                      bool whole)
{
    for (uint32_t e = first; e <= last; e++) {
        const dfl_pmapping *row = k->chosen->rows[e];
        for (uint32_t i = 0; i < row->form->n_keeps; i++) {
            const dfl_template_keep *keep = &row->form->keep[i];
            uint32_t tensor = k->problems[e]->operand[keep->operand].tensor;
            uint32_t to;
            if (!keep->home || (k->homed[e] >> keep->operand & 1) || depth_of(k, e, i) != depth)
                continue;
            to = served_to(k, e, i);
            if (to == DFL_NONE || to > last || (!whole && fused_further(k, e, to, depth)))
                continue;
            k->homed[e] |= 1u << keep->operand;
            add_keep(k, body, lines, tensor, row->problem->place[keep->place].memory);
        }
    }
}

/* The same, and that they are several. */
static bool share_more(const emitter *k, uint32_t first, uint32_t last, uint32_t depth)
{
    return first < last && fused_further(k, first, last, depth);
}

/* Whether a written loop over the rank stands behind slot `i`. */
static bool goes_on(const dfl_fixed_skeleton *f, uint32_t i, uint32_t rank)
{
    while (++i < f->n)
        if (f->slot[i].kind != DFL_GIVEN_KEEP && f->slot[i].line != NULL && f->slot[i].rank == rank)
            return true;
    return false;
}

/* Loops in a place for lines. One that finishes its rank says so by its parts where a written loop follows, since nothing
   may go through the elements twice. */
static void add_between(emitter *k, line_vec *lines, const dfl_problem *problem, const dfl_fixed_skeleton *f, uint32_t i,
                        const dfl_fixed_factors *ways, int64_t *tile)
{
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        int64_t n = ways[r].loop[i];
        if (n == 1)
            continue;
        tile[r] /= n;
        if (tile[r] == 1 && goes_on(f, i, r))
            add_line(k, lines, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = problem->rank[r], .by = DFL_BY_PARTS,
                                           .amount = n });
        else
            add_loop(k, lines, problem->rank[r], tile[r]);
    }
    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (ways[r].parts[i][a] > 1) {
                tile[r] /= ways[r].parts[i][a];
                add_line(k, lines, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = problem->rank[r], .axis = problem->axis[a].axis,
                                               .by = DFL_BY_PARTS, .amount = ways[r].parts[i][a] });
            }
}

/* Written lines, and what was found for the places between them. */
static void add_given(emitter *k, line_vec *lines, const dfl_pmapping *row, const dfl_problem *problem)
{
    const dfl_fixed_skeleton *f = row->form->form;
    dfl_fixed_factors *ways = DFL_NEW_ARRAY(k->arena, dfl_fixed_factors, problem->n_ranks);
    int64_t tile[DFL_PROBLEM_RANKS];

    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        tile[r] = problem->extent[r];
        (void)dfl_fixed_lines_admits(f, problem, r, row->cut + r, problem->n_ranks,
                                     row->cut + (row->form->n_keeps + 1) * problem->n_ranks + r,
                                     problem->n_ranks, &ways[r]);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const dfl_fixed_slot *s = &f->slot[i];
        const dfl_template_keep *keep = &row->form->keep[s->keep];
        if (s->kind == DFL_GIVEN_ANY) {
            add_between(k, lines, problem, f, i, ways, tile);
        } else if (s->line == NULL) {
            add_line(k, lines, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = problem->operand[keep->operand].tensor,
                                           .memory = problem->place[keep->place].memory });
        } else {
            dfl_line line = *s->line;
            line.given = true;
            if (s->kind != DFL_GIVEN_KEEP)
                tile[s->rank] /= ways[s->rank].loop[i];
            if (line.kind != DFL_LINE_KEEP && line.by == DFL_BY_HOLE) {
                line.by = line.hole->by;
                line.amount = line.by == DFL_BY_SIZE ? tile[s->rank] : ways[s->rank].loop[i];
            }
            DFL_PUSH(k->arena, lines, line);
        }
    }
}

/* What is left of the template below `depth` shared loops, which stand above already. */
static void add_private(emitter *k, const dfl_body *body, line_vec *lines, uint32_t e, uint32_t depth)
{
    const dfl_pmapping *row = k->chosen->rows[e];
    const dfl_tiling_template *t = row->form;
    const dfl_problem *problem = k->problems[e];
    int64_t tile[DFL_PROBLEM_RANKS];

    if (t->form) {
        add_given(k, lines, row, problem);
        return;
    }
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        tile[r] = problem->extent[r];
    for (uint32_t g = 0; g <= t->n_keeps; g++) {
        const uint32_t last = dfl_sliding_innermost(row, g);
        for (uint32_t i = 0; i < problem->n_ranks; i++) {
            uint32_t r = last == DFL_NONE || i < last ? i : i + 1 < problem->n_ranks ? i + 1 : last;
            tile[r] /= cut(row, g, r);
            if (cut(row, g, r) > shared(row, g, r))
                add_loop(k, lines, problem->rank[r], tile[r]);
        }
        for (uint32_t a = 0; a < problem->n_axes; a++)
            for (uint32_t r = 0; r < problem->n_ranks; r++)
                if (t->axis_gap[a] == g && parts(row, a, r) > 1) {
                    tile[r] /= parts(row, a, r);
                    add_line(k, lines, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = problem->rank[r],
                                                   .axis = problem->axis[a].axis,
                                                   .by = DFL_BY_PARTS, .amount = parts(row, a, r) });
                }
        for (uint32_t i = 0; i <= g && i < t->n_keeps; i++)
            if (t->written[i] == g && !t->keep[i].home && depth_of(k, e, i) >= depth)
                add_keep(k, body, lines, problem->operand[t->keep[i].operand].tensor,
                         row->problem->place[t->keep[i].place].memory);
    }
}

static void fill_body(emitter *k, dfl_body *body, line_vec *lines, uint32_t first, uint32_t last, uint32_t depth);

/* A branch with a child for every run of einsums that share more loops. */
static void add_branch(emitter *k, dfl_body *body, uint32_t first, uint32_t last, uint32_t depth)
{
    body_vec children = { .n = 0 };

    body->kind = DFL_BODY_FUSE;
    for (uint32_t e = first, end; e <= last; e = end + 1) {
        line_vec lines = { .n = 0 };
        for (end = e; end < last && k->chosen->open[end] > depth; end++)
            ;
        dfl_body *child = new_body(k, body, e, end);
        fill_body(k, child, &lines, e, end, depth);
        DFL_PUSH(k->arena, &children, child);
    }
    body->children = children.at;
    body->n_children = (uint32_t)children.n;
}

/* Lines and branches of a body below `depth` shared loops that stand above. */
static void fill_body(emitter *k, dfl_body *body, line_vec *lines, uint32_t first, uint32_t last, uint32_t depth)
{
    while (share_more(k, first, last, depth)) {
        const dfl_pmapping *row = k->chosen->rows[first];
        uint32_t name = k->chosen->names[first][depth], own, r;
        add_homes(k, body, lines, first, last, depth, true);
        for (uint32_t e = first; e <= last; e++) {
            const dfl_pmapping *its = k->chosen->rows[e];
            for (uint32_t i = 0; i < its->form->n_keeps; i++)
                if (!its->form->keep[i].home && depth_of(k, e, i) == depth)
                    add_keep(k, body, lines, k->problems[e]->operand[its->form->keep[i].operand].tensor,
                             its->problem->place[its->form->keep[i].place].memory);
        }
        own = own_loop(k, first, depth);
        r = row->way.loop_rank[own];
        add_loop(k, lines, name, k->problems[first]->extent[r] / row->way.trips[own]);
        depth++;
    }
    if (first == last) {
        body->compute = k->problems[first]->unit;
        add_private(k, body, lines, first, depth);
    } else {
        add_homes(k, body, lines, first, last, depth, false);
    }
    body->lines = lines->at;
    body->n_lines = (uint32_t)lines->n;
    if (first < last)
        add_branch(k, body, first, last, depth);
}

/* The lines of the only einsum that stand in its braces: all but the first `above`. */
static void add_braces(emitter *k, dfl_body *root, uint32_t above)
{
    dfl_body *leaf = new_body(k, root, 0, 0);

    leaf->compute = root->compute;
    leaf->lines = root->lines + above;
    leaf->n_lines = root->n_lines - above;
    root->compute = DFL_NONE;
    root->n_lines = above;
    root->kind = DFL_BODY_FUSE;
    root->children = DFL_NEW_ARRAY(k->arena, dfl_body *, 1);
    root->children[0] = leaf;
    root->n_children = 1;
}

dfl_mapping *dfl_reconstruct(dfl_arena *arena, const dfl_mapping *with_holes, const dfl_problem *const *problems,
                             const dfl_join_result *chosen)
{
    const dfl_workload *w = with_holes->workload;
    emitter k = { .arena = arena, .m = with_holes, .w = w, .problems = problems, .chosen = chosen };
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    uint32_t *all = DFL_NEW_ARRAY(arena, uint32_t, w->n_einsums + 1);
    line_vec lines = { .n = 0 };
    uint32_t homes;

    k.kept = dfl_arena_alloc(arena, (size_t)w->n_tensors + 1, sizeof *k.kept, _Alignof(void *));
    k.homed = DFL_NEW_ARRAY(arena, uint32_t, w->n_einsums + 1);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        all[e] = e;
    k.all = all;
    *out = *with_holes;
    out->root = new_body(&k, NULL, 0, w->n_einsums - 1);
    for (uint32_t i = 0; i < dfl_body_count_homes(with_holes->root); i++) {
        DFL_PUSH(arena, &lines, with_holes->root->lines[i]);
        lines.at[i].given = true;
        DFL_PUSH(arena, &k.kept[lines.at[i].tensor], ((kept){ out->root, lines.at[i].memory }));
    }
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t o = 0; o < problems[e]->n_operands; o++) {
            const dfl_problem_operand *op = &problems[e]->operand[o];
            if (op->home != DFL_NONE && (!op->shared || chosen->rows[e]->way.memory[o] == problems[e]->place[op->home].memory))
                add_keep(&k, out->root, &lines, op->tensor, problems[e]->place[op->home].memory);
        }
    homes = (uint32_t)lines.n;
    fill_body(&k, out->root, &lines, 0, w->n_einsums - 1, 0);
    if (with_holes->n_bodies > 1)
        add_braces(&k, out->root, homes + chosen->rows[0]->form->form->given->inner);
    out->bodies = k.bodies.at;
    out->n_bodies = (uint32_t)k.bodies.n;
    out->has_holes = false;
    return out;
}
