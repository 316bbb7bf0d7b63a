/* Making nodes, for the actions of the grammar: one function per shape of node. */
#ifndef DFL_SYNTAX_AST_BUILD_H
#define DFL_SYNTAX_AST_BUILD_H

#include "syntax/ast_expr_build.h"

/* ---- nodes of common shapes: a name and a value, items, a name and expressions, a name and a body ---- */

dfl_ast_node *dfl_ast_valued(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_expr *value);
dfl_ast_node *dfl_ast_items(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_list items);
dfl_ast_node *dfl_ast_listed(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_expr_list args);
dfl_ast_node *dfl_ast_bodied(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list body);
dfl_ast_node *dfl_ast_at_path(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_path *path);
dfl_ast_node *dfl_ast_domain(dfl_parse *p, dfl_ast_node *n, dfl_expr *domain);
dfl_ast_node *dfl_ast_pathed(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_list items, dfl_path_list paths);
/* A declaration with parameters; `type` may be NULL. */
dfl_ast_node *dfl_ast_declared(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list params,
                               dfl_ast_ref *type, dfl_ast_list body);
/* A declaration that is derived from `ref`; `binds` are the members that it changes. */
dfl_ast_node *dfl_ast_derived(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list params,
                              dfl_ast_ref *ref, dfl_ast_list binds);

/* ---- nodes of their own shape; references may be NULL ---- */

dfl_ast_node *dfl_ast_import(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr *file, dfl_ast_name alias);
dfl_ast_node *dfl_ast_op(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_name_list params, dfl_ast_name over, dfl_expr *cost);
dfl_ast_node *dfl_ast_tensor(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list dims, dfl_ast_ref *type);
dfl_ast_node *dfl_ast_tensors(dfl_parse *p, dfl_span at, dfl_ast_role role, dfl_ast_list tensors);
/* How often rows are read: `reuse` and `load`, NULL = not stated. */
typedef struct { dfl_expr *reuse, *load; } dfl_ast_rows;
/* The right side of an einsum. */
typedef struct {
    dfl_expr *value;
    dfl_ast_name over;
    dfl_ast_rows rows;
    dfl_expr_list where;
} dfl_ast_right;
dfl_ast_right *dfl_ast_right_make(dfl_parse *p, dfl_expr *value, dfl_ast_name over, dfl_ast_rows rows, dfl_expr_list where);
dfl_ast_node *dfl_ast_einsum(dfl_parse *p, dfl_span at, dfl_ast_node *target, dfl_assign assign, dfl_ast_name op,
                             const dfl_ast_right *right);
dfl_ast_node *dfl_ast_role_of(dfl_parse *p, dfl_ast_node *einsum, dfl_ast_role role, dfl_span at);
dfl_ast_node *dfl_ast_repeat(dfl_parse *p, dfl_span at, dfl_expr *count, dfl_ast_name name, dfl_ast_list carried,
                             dfl_ast_list body);
dfl_ast_node *dfl_ast_for(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_expr *domain, dfl_ast_list body);
dfl_ast_node *dfl_ast_if(dfl_parse *p, dfl_span at, dfl_expr *condition, dfl_ast_list then, dfl_ast_list otherwise);
dfl_ast_node *dfl_ast_bind(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list values);
dfl_ast_node *dfl_ast_network(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_ast_ref *kind, dfl_ast_list attrs);
dfl_ast_node *dfl_ast_use(dfl_parse *p, dfl_span at, dfl_ast_ref *ref, dfl_ast_name alias, dfl_ast_list binds);
dfl_ast_node *dfl_ast_array(dfl_parse *p, dfl_span at, dfl_ast_list axes, dfl_ast_name over, dfl_ast_list body);
/* `for work on machine`. */
dfl_ast_node *dfl_ast_joined(dfl_parse *p, dfl_ast_node *n, dfl_ast_ref *work, dfl_ast_ref *machine);
/* A mapping made from a template; work and machine may be NULL. */
dfl_ast_node *dfl_ast_bound(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_ast_list params, dfl_ast_ref *from,
                            dfl_ast_ref *work, dfl_ast_ref *machine);
dfl_ast_node *dfl_ast_branch(dfl_parse *p, dfl_span at, dfl_ast_list heads, bool each, dfl_ast_list body);
dfl_ast_node *dfl_ast_loop(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_split split, dfl_expr *amount, bool cyclic);
dfl_ast_node *dfl_ast_temporal(dfl_parse *p, dfl_span at, dfl_ast_list loops, bool online);
dfl_ast_node *dfl_ast_spread(dfl_parse *p, dfl_span at, dfl_ast_list loops, dfl_ast_path *axis);
dfl_ast_node *dfl_ast_pipelined(dfl_parse *p, dfl_span at, dfl_ast_node *spread, dfl_expr_list args);
/* A loop over a rank that is open: `ranks` is the hole, with the set of ranks to choose from, if there is one. */
dfl_ast_node *dfl_ast_any_rank(dfl_parse *p, dfl_span at, dfl_expr *ranks, dfl_expr *parts);
/* One of the sets behind `recompute`: `?`, any of the tensors that have paths, or, without paths, of the whole forward pass. */
dfl_ast_node *dfl_ast_remade(dfl_parse *p, dfl_span at, dfl_path_list among);
/* A `recompute` line: the tensors of its only set, or the sets as items, one of which a search chooses. */
dfl_ast_node *dfl_ast_again(dfl_parse *p, dfl_span at, dfl_ast_list sets);
dfl_ast_node *dfl_ast_split(dfl_parse *p, dfl_ast_node *keep, dfl_ast_list spreads);
dfl_ast_node *dfl_ast_kept(dfl_parse *p, dfl_span at, dfl_path_list tensors, dfl_ast_path *memory, dfl_kmode mode);
dfl_ast_node *dfl_ast_kept_in_one(dfl_parse *p, dfl_span at, dfl_path_list tensors, dfl_ast_list homes, dfl_kmode mode);
/* The parts behind the condition of a check; each may be NULL. */
const dfl_ast_more *dfl_ast_verdict(dfl_parse *p, dfl_expr *exactly, dfl_expr *within, dfl_expr *of, dfl_expr *from);
dfl_ast_node *dfl_ast_check_make(dfl_parse *p, dfl_span at, dfl_ast_check kind, dfl_expr *value, const dfl_ast_more *more);
/* Completes the file: `items` are all its declarations. */
void dfl_ast_file_make(dfl_parse *p, dfl_span at, dfl_ast_list items);

#endif
