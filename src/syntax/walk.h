/*
 * A walk over a tree: every node, reference and expression in a fixed order, for passes that treat all kinds alike, such as
 * the dump. The walk recurses; the depth of a tree is limited when the tree is built.
 */
#ifndef DFL_SYNTAX_WALK_H
#define DFL_SYNTAX_WALK_H

#include "syntax/ast.h"

/* Callbacks of a walk. `as` is the role of a node or expression in its parent: "value", "where", "body", ... */
typedef struct dfl_walk {
    void *state;
    /* Called before and after the children; each may be NULL. */
    void (*enter_node)(struct dfl_walk *walk, const dfl_ast_node *node, const char *as);
    void (*leave_node)(struct dfl_walk *walk, const dfl_ast_node *node);
    void (*enter_expr)(struct dfl_walk *walk, const dfl_expr *expr, const char *as);
    void (*leave_expr)(struct dfl_walk *walk, const dfl_expr *expr);
    /* A name(args) that a node refers to; its arguments follow as expressions. */
    void (*enter_ref)(struct dfl_walk *walk, const dfl_ast_ref *ref, const char *as);
    void (*leave_ref)(struct dfl_walk *walk, const dfl_ast_ref *ref);
} dfl_walk;

void dfl_walk_file(dfl_walk *walk, const dfl_ast_file *file);
void dfl_walk_node(dfl_walk *walk, const dfl_ast_node *node, const char *as);
void dfl_walk_expr(dfl_walk *walk, const dfl_expr *expr, const char *as);

#endif
