/*
 * Everything below a file, in a fixed order, for passes that treat all kinds alike: the dump, the formatter's marks,
 * the nesting check of the fuzz targets. The depth of a tree is limited when it is built, so a walk may recurse.
 */
#ifndef DFL_SYNTAX_WALK_H
#define DFL_SYNTAX_WALK_H

#include "syntax/ast.h"

/* How a node or an expression hangs below its parent: "value", "where", "body", ... */
typedef struct dfl_walk {
    void *state;
    /* Called before and after what is below; any may be NULL. */
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
