/*
 * Builders of expressions, paths and lists, for the actions of the grammar: one function per shape. While a list is read,
 * it is a ring, and its last item stands for it: the `next` of the last item is the first item. When the list is complete,
 * its owner cuts the ring: the `next` of the last item becomes NULL.
 */
#ifndef DFL_SYNTAX_AST_EXPR_BUILD_H
#define DFL_SYNTAX_AST_EXPR_BUILD_H

#include "syntax/parse.h"

typedef struct dfl_name_link { dfl_ast_name name; struct dfl_name_link *next; } dfl_name_link;
typedef struct { dfl_name_link *last; uint32_t n; } dfl_name_list;
typedef struct { dfl_expr *last; uint32_t n; } dfl_expr_list;
typedef struct { dfl_ast_node *last; } dfl_ast_list;
typedef struct { dfl_ast_paths *last; } dfl_path_list;

/* ---- lists ---- */

static inline dfl_ast_name dfl_name_none(void) { return (dfl_ast_name){ 0 }; }
static inline dfl_expr_list dfl_exprs_none(void) { return (dfl_expr_list){ 0 }; }
static inline dfl_ast_list dfl_list_none(void) { return (dfl_ast_list){ 0 }; }
/* The empty path, for nodes without a path. */
extern const dfl_ast_path dfl_no_path;
dfl_name_list dfl_names_add(dfl_parse *p, dfl_name_list list, dfl_ast_name name);
/* Start and extend a path. It grows in place, but may move: only the returned path is valid. */
dfl_ast_path *dfl_path_of(dfl_parse *p, dfl_ast_name name);
dfl_ast_path *dfl_path_add(dfl_parse *p, dfl_ast_path *path, dfl_ast_name name);
/* Adds an index to the last name of a path, which makes it the name of one member of a family: `s[k - 1]`. The path then
   ends at the end of `at`. Nested families have an index for each loop: `W[0][1]`. */
dfl_ast_path *dfl_path_add_index(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list index);
/* Makes the text of a complete path a symbol. */
const dfl_ast_path *dfl_path_done(dfl_parse *p, dfl_ast_path *path);
/* Adds a path; NULL adds a `?` that stands at `hole`. */
dfl_path_list dfl_paths_add(dfl_parse *p, dfl_path_list list, dfl_ast_path *path, dfl_span hole);
dfl_expr_list dfl_exprs_add(dfl_expr_list list, dfl_expr *e);
/* Opens the ring of a complete list and returns the first item, or NULL. */
dfl_expr *dfl_exprs_open(dfl_expr_list list);
/* Depth of the deepest expression of an open list. */
uint32_t dfl_exprs_depth(const dfl_expr *first);
dfl_ast_list dfl_list_add(dfl_ast_list list, dfl_ast_node *node);
static inline dfl_ast_list dfl_list_one(dfl_ast_node *node) { return dfl_list_add(dfl_list_none(), node); }

/* ---- expressions ---- */

dfl_expr *dfl_ast_number(dfl_parse *p, dfl_span at);
dfl_expr *dfl_ast_string(dfl_parse *p, dfl_span at);
dfl_expr *dfl_ast_hole(dfl_parse *p, dfl_span at, dfl_expr *set);
dfl_expr *dfl_ast_path_expr(dfl_parse *p, dfl_span at, dfl_ast_path *path);
/* A call, an access, or (without a path) a set. */
dfl_expr *dfl_ast_with_args(dfl_parse *p, dfl_expr_kind kind, dfl_span at, dfl_ast_path *path, dfl_expr_list args);
/* An operation of two sides, or of one: `right` is NULL then. `op` is the place of the operator. */
dfl_expr *dfl_ast_binary(dfl_parse *p, dfl_expr_kind kind, dfl_span at, dfl_span op, dfl_expr *left, dfl_expr *right);
dfl_expr *dfl_ast_range(dfl_parse *p, dfl_span at, dfl_expr *from, dfl_expr *to, dfl_expr *step, bool times);
dfl_expr *dfl_ast_label(dfl_ast_name name, dfl_expr *e);
dfl_ast_ref *dfl_ast_ref_make(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list args, bool has_args);

#endif
