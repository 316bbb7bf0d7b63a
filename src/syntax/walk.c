#include "syntax/walk.h"

static void walk_exprs(dfl_walk *walk, const dfl_expr *first, const char *as)
{
    for (const dfl_expr *e = first; e != NULL; e = e->next)
        dfl_walk_expr(walk, e, as);
}

/* Visits the indices of the names of a path: `s[k - 1].Z`. */
static void walk_members(dfl_walk *walk, const dfl_ast_path *path)
{
    for (const dfl_ast_member *m = path ? path->members : NULL; m != NULL; m = m->next)
        dfl_walk_expr(walk, m->index, "member");
}

void dfl_walk_expr(dfl_walk *walk, const dfl_expr *expr, const char *as)
{
    if (expr == NULL)
        return;
    if (walk->enter_expr != NULL)
        walk->enter_expr(walk, expr, as);
    walk_members(walk, expr->path);
    walk_exprs(walk, expr->args, "argument");
    dfl_walk_expr(walk, expr->left, "left");
    dfl_walk_expr(walk, expr->right, "right");
    if (expr->kind == DFL_EXPR_RANGE)
        dfl_walk_expr(walk, expr->third, "step");
    if (walk->leave_expr != NULL)
        walk->leave_expr(walk, expr);
}

static void walk_ref(dfl_walk *walk, const dfl_ast_ref *ref, const char *as)
{
    if (ref->path->n == 0)
        return;
    if (walk->enter_ref != NULL)
        walk->enter_ref(walk, ref, as);
    walk_members(walk, ref->path);
    walk_exprs(walk, ref->args, "argument");
    if (walk->leave_ref != NULL)
        walk->leave_ref(walk, ref);
}

static void walk_nodes(dfl_walk *walk, const dfl_ast_node *first, const char *as)
{
    for (const dfl_ast_node *n = first; n != NULL; n = n->next)
        dfl_walk_node(walk, n, as);
}

void dfl_walk_node(dfl_walk *walk, const dfl_ast_node *node, const char *as)
{
    const dfl_ast_more *more;

    if (node == NULL)
        return;
    more = node->more;
    if (walk->enter_node != NULL)
        walk->enter_node(walk, node, as);
    walk_members(walk, node->path);
    for (const dfl_ast_paths *p = node->paths; p != NULL; p = p->next)
        walk_members(walk, p->path);
    walk_nodes(walk, more->params, "parameter");
    walk_ref(walk, more->type, "type");
    walk_ref(walk, more->ref, "ref");
    walk_ref(walk, more->work, "for");
    walk_ref(walk, more->machine, "on");
    walk_nodes(walk, more->target, "target");
    walk_nodes(walk, node->items, "item");
    if (node->kind != DFL_AST_BIND) /* the value of a bind is its first argument, which the walk visits below */
        dfl_walk_expr(walk, node->value, "value");
    dfl_walk_expr(walk, more->domain, "in");
    walk_exprs(walk, node->args, "argument");
    dfl_walk_expr(walk, more->reuse, "reuse");
    dfl_walk_expr(walk, more->load, "load");
    walk_exprs(walk, more->where, "where");
    dfl_walk_expr(walk, more->exactly, "exactly");
    dfl_walk_expr(walk, more->within, "within");
    dfl_walk_expr(walk, more->of, "of");
    dfl_walk_expr(walk, more->from, "from");
    walk_nodes(walk, more->binds, "bind");
    walk_nodes(walk, node->body, node->kind == DFL_AST_KEEP ? "split" : "body");
    walk_nodes(walk, more->otherwise, "else");
    if (walk->leave_node != NULL)
        walk->leave_node(walk, node);
}

void dfl_walk_file(dfl_walk *walk, const dfl_ast_file *file)
{
    walk_nodes(walk, file->items, "declaration");
}
