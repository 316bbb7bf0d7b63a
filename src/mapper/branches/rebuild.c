/* Bodies of a tree: bare, or with what was found. */
#include "mapper/branches/rebuild.h"

#include <string.h>

#include "support/vec.h"

typedef DFL_VEC(dfl_body *) body_vec;
typedef DFL_VEC(dfl_branch_part) part_vec;

/* ---- parts ---- */

static bool is_amount_open(const dfl_line *line) { return line->kind != DFL_LINE_KEEP && line->by == DFL_BY_HOLE; }

bool dfl_branches_has_holes(const dfl_body *b)
{
    for (uint32_t i = 0; i < b->n_lines; i++)
        if (is_amount_open(&b->lines[i]))
            return true;
    return b->open;
}

static bool is_covered(const dfl_body *b, uint32_t einsum)
{
    for (uint32_t c = 0; c < b->n_children; c++)
        for (uint32_t i = 0; i < b->children[c]->n_einsums; i++)
            if (b->children[c]->einsums[i] == einsum)
                return true;
    return false;
}

bool dfl_branches_run(const dfl_body *b, uint32_t *i, uint32_t *end)
{
    while (*i < b->n_einsums && is_covered(b, b->einsums[*i]))
        ++*i;
    for (*end = *i; *end < b->n_einsums && !is_covered(b, b->einsums[*end]); ++*end)
        ;
    return *i < *end;
}

/* The child of a branch above which einsums that end before `einsum` stand. */
static uint32_t place_of_run(const dfl_body *b, uint32_t einsum)
{
    uint32_t c = 0;

    while (c < b->n_children && b->children[c]->einsums[0] < einsum)
        c++;
    return c;
}

/* ---- bodies ---- */

typedef struct {
    dfl_arena *arena;
    const dfl_mapping *m;
    body_vec bodies;
    part_vec parts;
    uint32_t n_leaves;
    const dfl_branches *tree;                  /* NULL: parts are found, and are bare */
    const dfl_mapping *const *found;
} builder;

static dfl_body *new_body(builder *k, const dfl_body *like, dfl_body *parent, dfl_body_kind kind)
{
    dfl_body *b = DFL_NEW(k->arena, dfl_body);

    *b = *like;
    b->kind = kind;
    b->parent = parent;
    b->depth = parent != NULL ? parent->depth + 1 : 0;
    b->id = (uint32_t)k->bodies.n;
    b->open = b->open_children = false;
    b->n_opens = b->n_children = 0;
    DFL_PUSH(k->arena, &k->bodies, b);
    return b;
}

/* Nothing but the loops of an einsum; where a rank is finished above, its loop has one iteration. */
static void write_bare(builder *k, dfl_body *leaf)
{
    const dfl_einsum *e = &k->m->workload->einsums[leaf->einsums[0]];

    leaf->lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)e->n_ranks + 1);
    leaf->n_lines = e->n_ranks;
    leaf->n_recompute = 0;
    for (uint32_t i = 0; i < e->n_ranks; i++)
        leaf->lines[i] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = e->ranks[i], .by = DFL_BY_PARTS, .span = leaf->span,
                                     .amount_span = leaf->span, .amount = k->m->workload->ranks[e->ranks[i]].extent };
}

/* A body without children or lines for some einsums. */
static dfl_body *add_plain(builder *k, const dfl_body *like, dfl_body *parent, dfl_body_kind kind, const uint32_t *einsums,
                           uint32_t n)
{
    dfl_body *b = new_body(k, like, parent, kind);

    b->einsums = einsums;
    b->n_einsums = n;
    b->lines = NULL;
    b->n_lines = b->n_recompute = 0;
    b->children = DFL_NEW_ARRAY(k->arena, dfl_body *, (size_t)n + 1);
    return b;
}

static void adopt(dfl_body *parent, dfl_body *child) { parent->children[parent->n_children++] = child; }

static const uint32_t *renumber(dfl_arena *arena, const uint32_t *ids, uint32_t n, const uint32_t *number)
{
    uint32_t *out = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        out[i] = number[ids[i]];
    return out;
}

/* A body of what was found for a part, with the numbers of the whole. */
static dfl_body *add_found(builder *k, const dfl_branch_part *part, const dfl_body *from, dfl_body *parent)
{
    dfl_body *b = new_body(k, from, parent, from->kind);

    b->einsums = renumber(k->arena, from->einsums, from->n_einsums, part->einsums);
    b->children = DFL_NEW_ARRAY(k->arena, dfl_body *, (size_t)from->n_children + 1);
    b->lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)from->n_lines + 1);
    if (from->n_lines > 0)
        memcpy(b->lines, from->lines, from->n_lines * sizeof *b->lines);
    for (uint32_t c = 0; c < from->n_children; c++)
        adopt(b, add_found(k, part, from->children[c], b));
    return b;
}

static void note_part(builder *k, const dfl_body *at, const uint32_t *einsums, uint32_t n, bool braced)
{
    dfl_branch_part part = { .at = at, .einsums = einsums, .n = n, .braced = braced, .leaf = k->n_leaves };

    k->n_leaves += n;
    DFL_PUSH(k->arena, &k->parts, part);
}

/* What was found for part `number`. */
static dfl_body *add_known(builder *k, size_t number, dfl_body *parent)
{
    const dfl_branch_part *part = &k->tree->parts[number];
    const dfl_body *root = k->found[number]->root;
    bool inside = part->problem->root->kind != DFL_BODY_LEAF;
    dfl_body *b = add_found(k, part, inside ? root->children[0] : root, parent);

    if (!inside) {
        b->lines += part->n_above;
        b->n_lines -= part->n_above;
    }
    return b;
}

static void add_leaves(builder *k, const dfl_body *at, dfl_body *parent, const uint32_t *einsums, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        dfl_body *leaf = add_plain(k, at, parent, DFL_BODY_LEAF, einsums + i, 1);
        write_bare(k, leaf);
        adopt(parent, leaf);
    }
}

/* The braces of a part. */
static dfl_body *add_part(builder *k, const dfl_body *at, dfl_body *parent)
{
    const size_t number = k->parts.n;
    dfl_body *b;

    note_part(k, at, at->einsums, at->n_einsums, true);
    if (k->tree != NULL)
        return add_known(k, number, parent);
    b = add_plain(k, at, parent, at->n_einsums > 1 ? DFL_BODY_FUSE : DFL_BODY_LEAF, at->einsums, at->n_einsums);
    if (at->n_einsums > 1)
        add_leaves(k, at, b, at->einsums, at->n_einsums);
    else
        write_bare(k, b);
    return b;
}

/* Branches for einsums that have no braces. */
static void add_run(builder *k, const dfl_body *at, dfl_body *parent, const uint32_t *einsums, uint32_t n)
{
    const size_t number = k->parts.n;
    const dfl_body *root;

    note_part(k, at, einsums, n, false);
    if (k->tree == NULL) {
        add_leaves(k, at, parent, einsums, n);
        return;
    }
    root = k->found[number]->root;
    if (root->kind == DFL_BODY_LEAF || root->n_lines > k->tree->parts[number].n_above) {
        adopt(parent, add_known(k, number, parent));
        return;
    }
    for (uint32_t c = 0; c < root->n_children; c++)
        adopt(parent, add_found(k, &k->tree->parts[number], root->children[c], parent));
}

static dfl_body *add_body(builder *k, const dfl_body *from, dfl_body *parent)
{
    dfl_body *b;
    uint32_t next = 0, i = 0, end = 0;
    bool run;

    if (from->kind == DFL_BODY_LEAF && dfl_branches_has_holes(from))
        return add_part(k, from, parent);
    b = new_body(k, from, parent, from->kind);
    b->lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)from->n_lines + 1);
    for (uint32_t l = 0; l < from->n_lines; l++) {
        b->lines[l] = from->lines[l];
        b->lines[l].given = true;
    }
    if (from->kind == DFL_BODY_LEAF) {
        k->n_leaves++;
        return b;
    }
    b->children = DFL_NEW_ARRAY(k->arena, dfl_body *, (size_t)from->n_einsums + 1);
    run = from->open_children && dfl_branches_run(from, &i, &end);
    for (uint32_t c = 0; c <= from->n_children; c++) {
        for (; run && place_of_run(from, from->einsums[i]) == c; run = dfl_branches_run(from, &i, &end)) {
            add_run(k, from, b, from->einsums + i, end - i);
            i = end;
        }
        if (c < from->n_children)
            adopt(b, add_body(k, from->children[next++], b));
    }
    return b;
}

static dfl_mapping *finish(builder *k, dfl_body *root)
{
    dfl_mapping *out = DFL_NEW(k->arena, dfl_mapping);

    *out = *k->m;
    out->root = root;
    out->bodies = k->bodies.at;
    out->n_bodies = (uint32_t)k->bodies.n;
    out->has_holes = false;
    return out;
}

dfl_mapping *dfl_branches_put(dfl_arena *arena, const dfl_branches *tree, const dfl_mapping *const *found)
{
    builder k = { .arena = arena, .m = tree->m, .tree = tree, .found = found };

    return finish(&k, add_body(&k, k.m->root, NULL));
}

dfl_mapping *dfl_branches_bare(dfl_arena *arena, const dfl_mapping *m, dfl_branch_part **parts, uint32_t *n)
{
    builder k = { .arena = arena, .m = m };
    dfl_body *root = add_body(&k, m->root, NULL);

    *parts = k.parts.at;
    *n = (uint32_t)k.parts.n;
    return finish(&k, root);
}

dfl_mapping *dfl_branches_bare_part(dfl_arena *arena, const dfl_mapping *m, const dfl_body *at, dfl_line *lines, uint32_t n_lines)
{
    builder k = { .arena = arena, .m = m };
    uint32_t n = m->workload->n_einsums, *all = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    dfl_body *root = add_plain(&k, m->root, NULL, DFL_BODY_FUSE, all, n);

    root->compute = DFL_NONE;
    root->lines = lines;
    root->n_lines = n_lines;
    for (uint32_t i = 0; i < n; i++)
        all[i] = i;
    add_leaves(&k, at, root, all, n);
    return finish(&k, root);
}
