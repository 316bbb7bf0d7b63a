/* Bodies of a mapping: chains, branches, templates that are put in. */
#include "sema/mapping/mapping.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 400 };

static dfl_sema *sema(const dfl_place_in *p) { return p->d->s; }

static const char *einsum_text(const dfl_place_in *p, uint32_t einsum)
{
    const dfl_build *b = &p->d->w->build;

    return dfl_sema_text(sema(p), b->tensors.at[b->einsums.at[p->d->text[einsum]].e.output.tensor].name);
}

dfl_body *dfl_draft_new_body(dfl_draft *d, dfl_body *parent, dfl_span span, const uint32_t *einsums, uint32_t n)
{
    dfl_body *b = DFL_NEW(d->s->arena, dfl_body);

    b->kind = DFL_BODY_LEAF;
    b->span = span;
    b->id = (uint32_t)d->bodies.n;
    b->parent = parent;
    b->depth = parent != NULL ? parent->depth + 1 : 0;
    b->einsums = einsums;
    b->n_einsums = n;
    b->compute = parent != NULL ? parent->compute : DFL_NONE;
    if (parent != NULL)
        b->compute_span = parent->compute_span;
    DFL_PUSH(d->s->arena, &d->bodies, b);
    return b;
}

/* What a chain has gathered. */
typedef struct {
    dfl_body *body;
    size_t first_line;   /* its lines are the sema's `lines` from here on */
    DFL_VEC(dfl_body *) children;
    dfl_ids recompute;
    DFL_VEC(dfl_open) opens;
    dfl_line_choices choices;
    bool branched;       /* a fuse or a pipeline was seen: the chain is over */
    bool implicit;       /* branches were seen that no `fuse` holds */
    dfl_span branch_span;
    dfl_span stray;      /* a line behind the end */
} chain;

static bool holds(const dfl_body *b, uint32_t einsum)
{
    uint32_t low = 0, high = b->n_einsums;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (b->einsums[mid] < einsum)
            low = mid + 1;
        else
            high = mid;
    }
    return low < b->n_einsums && b->einsums[low] == einsum;
}

/* The einsums of a head must be among those of the branch around it. */
static void check_inside(dfl_place_in *p, const dfl_body *body, dfl_ids *ids, dfl_span span)
{
    size_t n = 0;
    bool reported = false;

    for (size_t i = 0; i < ids->n; i++) {
        if (holds(body, ids->at[i])) {
            ids->at[n++] = ids->at[i];
            continue;
        }
        if (!reported) {
            dfl_diag *d = dfl_report(sema(p)->sink, DFL_MAP_EINSUM_OUTSIDE, span,
                                     "einsum `%s` does not belong to the branch around this one",
                                     einsum_text(p, ids->at[i]));

            dfl_diag_label(sema(p)->sink, d, body->span, "this branch does not name it");
            dfl_diag_help(sema(p)->sink, d, "add it to the head of the branch around, or move it to where it belongs");
            p->d->broken = reported = true;
        }
    }
    ids->n = n;
}

static void lower_child(dfl_place_in *p, chain *c, const dfl_ast_node *n, dfl_ids *ids, dfl_span span, uint32_t instance)
{
    dfl_place_in inner = *p;
    dfl_body *child;

    dfl_ids_sort(ids);
    check_inside(p, c->body, ids, span);
    if (ids->n == 0)
        return;
    inner.instance = instance != DFL_NONE ? instance
                                          : dfl_draft_common_instance(p->d, ids->at, (uint32_t)ids->n);
    inner.depth++;
    child = dfl_draft_new_body(p->d, c->body, span, ids->at, (uint32_t)ids->n);
    dfl_draft_chain(&inner, n->body, child);
    DFL_PUSH(sema(p)->arena, &c->children, child);
}

/* `each conv2d { ... }`: a child for every instance. */
static void lower_each(dfl_place_in *p, chain *c, const dfl_ast_node *n)
{
    dfl_ids instances = { 0 };

    for (const dfl_ast_node *h = n->items; h != NULL; h = h->next)
        (void)dfl_draft_each(p, h->path, &instances);
    dfl_ids_sort(&instances);
    for (size_t i = 0; i < instances.n && dfl_sema_ok(sema(p)); i++) {
        dfl_ids ids = { 0 };

        dfl_draft_instance_einsums(p->d, instances.at[i], &ids);
        lower_child(p, c, n, &ids, n->items->span, instances.at[i]);
    }
}

/* An einsum of a branch, and the head that names it. */
typedef struct {
    uint32_t einsum, order;
    const dfl_ast_node *head;
} named;

static int by_einsum(const void *a, const void *b)
{
    const named *x = a, *y = b;

    if (x->einsum != y->einsum)
        return x->einsum < y->einsum ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Whether two heads of a branch name the same einsum; reports the first. Changes the order of `all`. */
static bool names_twice(dfl_place_in *p, named *all, size_t n)
{
    qsort(all, n, sizeof *all, by_einsum);
    for (size_t i = 1; i < n; i++) {
        const char *name = einsum_text(p, all[i].einsum);
        dfl_diag *d;

        if (all[i].einsum != all[i - 1].einsum)
            continue;
        d = dfl_report(sema(p)->sink, DFL_MAP_EINSUM_TWICE, all[i].head->span, "einsum `%s` is mapped twice", name);
        dfl_diag_here(sema(p)->sink, d, "mapped again here");
        dfl_diag_label(sema(p)->sink, d, all[i - 1].head->span, "first mapped here");
        dfl_diag_help(sema(p)->sink, d, "name `%s` once", name);
        p->d->broken = true;
        return true;
    }
    return false;
}

static void lower_branch(dfl_place_in *p, chain *c, const dfl_ast_node *n)
{
    dfl_span span = { 0 };
    dfl_ids ids = { 0 };
    DFL_VEC(named) all = { 0 };
    bool ok = true;

    if (n->each) {
        lower_each(p, c, n);
        return;
    }
    for (const dfl_ast_node *h = n->items; h != NULL; h = h->next) {
        size_t before = ids.n;

        ok = dfl_draft_head(p, h->path, h->value, &ids) && ok;
        span = dfl_span_join(span, h->span);
        for (size_t i = before; n->items->next != NULL && i < ids.n; i++) {
            named one = { ids.at[i], (uint32_t)i, h };

            DFL_PUSH(sema(p)->arena, &all, one);
        }
    }
    if (ok && (all.n == 0 || !names_twice(p, all.at, all.n)))
        lower_child(p, c, n, &ids, span, DFL_NONE);
}

/* `...;` between lines, or between branches. */
static void lower_anything(dfl_place_in *p, chain *c, const dfl_ast_node *n, bool between)
{
    dfl_body *b = c->body;

    dfl_draft_hole(p, n->span);
    if (!b->open && !b->open_children)
        b->open_span = n->span;
    if (between) {
        b->open_children = true;
    } else {
        b->open = true;
        DFL_PUSH(sema(p)->arena, &c->opens, ((dfl_open){ (uint32_t)(sema(p)->lines.n - c->first_line), n->span }));
    }
}

static void lower_branches(dfl_place_in *p, chain *c, const dfl_ast_node *n, dfl_body_kind kind)
{
    c->branched = true;
    c->body->kind = kind;
    c->branch_span = (dfl_span){ n->span.start, n->span.start + (kind == DFL_BODY_FUSE ? 4u : 8u) };
    for (const dfl_ast_node *b = n->body; b != NULL && dfl_sema_ok(sema(p)); b = b->next) {
        if (b->kind == DFL_AST_BRANCH) {
            lower_branch(p, c, b);
        } else if (b->kind == DFL_AST_ANYTHING) {
            lower_anything(p, c, b, true);
        }
    }
}

/* ---- templates ------------------------------------------------------------------------------------------------ */

static void lower_chain_items(dfl_place_in *p, const dfl_ast_node *items, chain *c);

/* The lines of a template in the place of `use`. */
static void lower_use(dfl_place_in *p, chain *c, const dfl_ast_node *n)
{
    dfl_sema *s = sema(p);
    dfl_decl *decl = dfl_draft_template(s, p->unit, n->more->ref);
    const dfl_ast_ref *ref = n->more->ref;
    dfl_scope *from = p->scope;
    dfl_place_in inner = *p;
    dfl_bindings bindings = { n->more->binds, p->bindings, p->instance };
    dfl_span option = { 0 };
    const dfl_ast_node *missing;

    if (p->depth >= DFL_SEMA_MAX_NESTING) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, n->span, "templates are nested more than %d deep", DFL_SEMA_MAX_NESTING);
        decl = NULL;
    }
    while (decl != NULL) {
        dfl_scope *args = dfl_scope_new(s, NULL, decl->unit);

        if (!dfl_args_bind(s, args, decl->node->more->params, ref, from, decl, &missing) ||
            (missing != NULL && !dfl_args_need(s, ref, missing)))
            break;
        if (decl->node->more->ref->path->n == 0) {
            inner.scope = args;
            inner.unit = decl->unit;
            inner.bindings = &bindings;
            inner.option = &option;
            inner.depth++;
            lower_chain_items(&inner, decl->node->body, c);
            return;
        }
        ref = decl->node->more->ref;
        from = args;
        decl = dfl_draft_template(s, decl->unit, ref);
    }
    p->d->broken = true;
}

/* ---- chains --------------------------------------------------------------------------------------------------- */

static void lower_on(dfl_place_in *p, chain *c, const dfl_ast_node *n)
{
    uint32_t compute = dfl_draft_compute(p, n->path);

    if (compute == DFL_NONE)
        return;
    c->body->compute = compute;
    c->body->compute_span = n->path->span;
}

/* A line that belongs to the chain must not stand behind the branch that ends it. */
static bool before_end(dfl_place_in *p, chain *c, const dfl_ast_node *n)
{
    dfl_diag *d;

    if (!c->branched && (!c->implicit || n->kind == DFL_AST_BRANCH))
        return true;
    if (c->stray.start == 0) {
        d = dfl_report(sema(p)->sink, DFL_MAP_LINE_AFTER_BRANCH, n->span, "nothing may follow a branch");
        dfl_diag_label(sema(p)->sink, d, c->branch_span, "the chain ends with this branch");
        dfl_diag_help(sema(p)->sink, d, "move the line above the branch, or into its children");
        c->stray = n->span;
    }
    p->d->broken = true;
    return false;
}

/* Loops and keeps; choices among them stand below the places for any lines so far. */
static void lower_lines(dfl_place_in *p, chain *c, const dfl_ast_node *n,
                        void (*lower)(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices))
{
    size_t before = c->choices.n;

    if (!before_end(p, c, n))
        return;
    lower(p, n, &sema(p)->lines, &c->choices);
    for (size_t i = before; i < c->choices.n; i++) {
        c->choices.at[i].at -= (uint32_t)c->first_line;
        c->choices.at[i].opens = (uint32_t)c->opens.n;
    }
}

static void lower_item(dfl_place_in *p, const dfl_ast_node *n, chain *c)
{
    switch ((int)n->kind) {
    case DFL_AST_TEMPORAL:
        lower_lines(p, c, n, dfl_draft_temporal);
        return;
    case DFL_AST_SPATIAL:
        lower_lines(p, c, n, dfl_draft_spatial);
        return;
    case DFL_AST_KEEP:
        lower_lines(p, c, n, dfl_draft_keep);
        return;
    case DFL_AST_ON:
        if (before_end(p, c, n))
            lower_on(p, c, n);
        return;
    case DFL_AST_RECOMPUTE:
        for (const dfl_ast_paths *t = n->paths; t != NULL; t = t->next) {
            uint32_t tensor = dfl_draft_tensor(p, t->path);

            if (tensor != DFL_NONE)
                DFL_PUSH(sema(p)->arena, &c->recompute, tensor);
        }
        return;
    case DFL_AST_FUSE:
    case DFL_AST_PIPELINE:
        if (before_end(p, c, n))
            lower_branches(p, c, n, n->kind == DFL_AST_FUSE ? DFL_BODY_FUSE : DFL_BODY_PIPELINE);
        return;
    case DFL_AST_BRANCH:
        /* branches that follow each other without `fuse` run one after another, too */
        if (!before_end(p, c, n))
            return;
        c->implicit = true;
        c->branch_span = n->items != NULL ? n->items->span : n->span;
        c->body->kind = DFL_BODY_FUSE;
        lower_branch(p, c, n);
        return;
    case DFL_AST_FUSE_HOLE: /* any branches: that is all that can stand behind the lines */
        if (before_end(p, c, n))
            lower_anything(p, c, n, false);
        return;
    case DFL_AST_ANYTHING:
        if (c->implicit || before_end(p, c, n))
            lower_anything(p, c, n, c->implicit);
        return;
    case DFL_AST_PARETO:
        p->d->pareto = p->d->pareto.start == 0 ? n->span : p->d->pareto;
        DFL_PUSH(sema(p)->arena, &p->d->goals, ((dfl_work_check){ n, p->scope }));
        return;
    case DFL_AST_MINIMIZE:
        DFL_PUSH(sema(p)->arena, &p->d->goals, ((dfl_work_check){ n, p->scope }));
        return;
    case DFL_AST_USE:
        if (before_end(p, c, n))
            lower_use(p, c, n);
        return;
    case DFL_AST_OPTION:
        if (dfl_option_take(sema(p), n, p->option))
            p->d->overlap_perfect = true;
        else
            p->d->broken = true;
        return;
    case DFL_AST_CHECK:
        DFL_PUSH(sema(p)->arena, &p->d->checks, ((dfl_work_check){ n, p->scope }));
        return;
    default:
        return;
    }
}

static void lower_chain_items(dfl_place_in *p, const dfl_ast_node *items, chain *c)
{
    for (const dfl_ast_node *n = items; n != NULL && dfl_sema_ok(sema(p)); n = n->next)
        lower_item(p, n, c);
}

/* A leaf that names several einsums runs them one after another at its innermost point. */
static void split_leaf(dfl_place_in *p, chain *c)
{
    dfl_body *b = c->body;

    b->kind = DFL_BODY_FUSE;
    for (uint32_t i = 0; i < b->n_einsums; i++)
        DFL_PUSH(sema(p)->arena, &c->children,
                 dfl_draft_new_body(p->d, b, b->span, &b->einsums[i], 1));
}

void dfl_draft_chain(dfl_place_in *p, const dfl_ast_node *items, dfl_body *body)
{
    chain c = { .body = body, .first_line = sema(p)->lines.n };
    size_t n_lines;

    if (body->depth > MAX_DEPTH) {
        dfl_report(sema(p)->sink, DFL_LIMIT_COUNT, body->span, "branches are nested more than %d deep", MAX_DEPTH);
        p->d->broken = true;
        return;
    }
    lower_chain_items(p, items, &c);
    if (body->kind == DFL_BODY_LEAF && body->n_einsums > 1 && !body->open)
        split_leaf(p, &c);
    if (body->kind != DFL_BODY_LEAF && c.children.n == 0 && !body->open_children && !p->d->broken) {
        dfl_diag *d = dfl_report(sema(p)->sink, DFL_MAP_EINSUM_MISSING, c.branch_span, "no einsum runs in this branch");

        dfl_diag_help(sema(p)->sink, d, "give each einsum a branch in it: `%s { ... }`",
                      body->n_einsums > 0 ? einsum_text(p, body->einsums[0]) : "T");
        p->d->broken = true;
    }
    n_lines = sema(p)->lines.n - c.first_line;
    body->lines = DFL_NEW_ARRAY(sema(p)->arena, dfl_line, n_lines);
    if (n_lines > 0)
        memcpy(body->lines, sema(p)->lines.at + c.first_line, n_lines * sizeof *body->lines);
    body->n_lines = (uint32_t)n_lines;
    sema(p)->lines.n = c.first_line;
    body->opens = c.opens.at;
    body->n_opens = (uint32_t)c.opens.n;
    body->choices = c.choices.at;
    body->n_choices = (uint32_t)c.choices.n;
    body->children = c.children.at;
    body->n_children = (uint32_t)c.children.n;
    dfl_ids_sort(&c.recompute);
    body->recompute = c.recompute.at;
    body->n_recompute = (uint32_t)c.recompute.n;
}
