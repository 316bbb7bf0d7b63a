/*
 * What the grammar's actions call: one function per shape of node. While a list is being read it is known by its last
 * item, whose `next` is the first; who takes the list opens the ring. Not for other rooms; they include syntax.h.
 */
#ifndef DFL_SYNTAX_PARSE_H
#define DFL_SYNTAX_PARSE_H

#include "support/vec.h"
#include "syntax/syntax.h"

typedef struct dfl_name_link { dfl_ast_name name; struct dfl_name_link *next; } dfl_name_link;
typedef struct { dfl_name_link *last; uint32_t n; } dfl_name_list;
typedef struct { dfl_expr *last; uint32_t n; } dfl_expr_list;
typedef struct { dfl_ast_node *last; } dfl_ast_list;
typedef struct { dfl_ast_paths *last; } dfl_path_list;

typedef struct dfl_parse {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;
    const dfl_source *source;
    dfl_ast_file *file;
    struct dfl_feed *feed;     /* where the tokens come from; see feed.h */
    uint32_t n_nodes, n_exprs;
    uint32_t n_reports;        /* of this parser, some of them not kept by the sink */
    uint32_t n_repairs;        /* those after which the tree lacks nothing: each a `;` that was put in */
    bool has_edition;          /* the file names its edition, somewhere */
    bool too_deep;             /* reported; the rest of the file is not read */
    /* what the parser gets next; see dfl_parse_next */
    enum { DFL_NEXT_TOKEN, DFL_NEXT_REPAIRED, DFL_NEXT_CLOSING, DFL_NEXT_COUNTED } next;
    uint32_t n_tokens;
    uint32_t reports_before;   /* n_reports before the present token */
} dfl_parse;

/* ---- reports ---- */

/* `expected` are names of tokens in the order of the grammar, all that could have followed. */
void dfl_parse_unexpected(dfl_parse *p, dfl_span at, const char *const *expected, size_t n);
void dfl_parse_too_deep(dfl_parse *p, dfl_span at);
/* The doc comment right before the token that starts at `position`, or NULL. */
const char *dfl_parse_doc(dfl_parse *p, uint32_t position);

/* ---- lists ---- */

static inline dfl_ast_name dfl_name_none(void) { return (dfl_ast_name){ 0 }; }
static inline dfl_expr_list dfl_exprs_none(void) { return (dfl_expr_list){ 0 }; }
static inline dfl_ast_list dfl_list_none(void) { return (dfl_ast_list){ 0 }; }
/* Of what has no path. */
extern const dfl_ast_path dfl_no_path;
dfl_name_list dfl_names_add(dfl_parse *p, dfl_name_list list, dfl_ast_name name);
/* A path grows in place; the one that is returned is the one to go on with. */
dfl_ast_path *dfl_path_of(dfl_parse *p, dfl_ast_name name);
dfl_ast_path *dfl_path_add(dfl_parse *p, dfl_ast_path *path, dfl_ast_name name);
/* Its text becomes a symbol, once all names are there. */
const dfl_ast_path *dfl_path_done(dfl_parse *p, dfl_ast_path *path);
/* NULL stands for `?` at `hole`. */
dfl_path_list dfl_paths_add(dfl_parse *p, dfl_path_list list, dfl_ast_path *path, dfl_span hole);
dfl_expr_list dfl_exprs_add(dfl_expr_list list, dfl_expr *e);
/* The first of a list that is complete. */
dfl_expr *dfl_exprs_open(dfl_expr_list list);
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
/* Of one side or two. */
dfl_expr *dfl_ast_binary(dfl_parse *p, dfl_expr_kind kind, dfl_span at, dfl_span op, dfl_expr *left, dfl_expr *right);
dfl_expr *dfl_ast_range(dfl_parse *p, dfl_span at, dfl_expr *from, dfl_expr *to, dfl_expr *step, bool times);
dfl_expr *dfl_ast_label(dfl_ast_name name, dfl_expr *e);
dfl_ast_ref *dfl_ast_ref_make(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list args, bool has_args);

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
/* Something made from another: `ref` and what is changed or bound. */
dfl_ast_node *dfl_ast_derived(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list params,
                              dfl_ast_ref *ref, dfl_ast_list binds);

/* ---- nodes of their own shape; references may be NULL ---- */

dfl_ast_node *dfl_ast_import(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr *file, dfl_ast_name alias);
dfl_ast_node *dfl_ast_op(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_name_list params, dfl_ast_name over, dfl_expr *cost);
dfl_ast_node *dfl_ast_tensor(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list dims, dfl_ast_ref *type);
dfl_ast_node *dfl_ast_tensors(dfl_parse *p, dfl_span at, dfl_ast_role role, dfl_ast_list tensors);
/* The parts of an einsum behind its tensor. */
typedef struct {
    dfl_expr *value;
    dfl_ast_name over;
    dfl_expr_list where;
} dfl_ast_right;
dfl_ast_right *dfl_ast_right_make(dfl_parse *p, dfl_expr *value, dfl_ast_name over, dfl_expr_list where);
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
dfl_ast_node *dfl_ast_head(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr *index);
dfl_ast_node *dfl_ast_loop(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_split split, dfl_expr *amount, bool cyclic);
dfl_ast_node *dfl_ast_temporal(dfl_parse *p, dfl_span at, dfl_ast_list loops, bool online);
dfl_ast_node *dfl_ast_spread(dfl_parse *p, dfl_span at, dfl_ast_list loops, dfl_ast_path *axis);
dfl_ast_node *dfl_ast_pipelined(dfl_parse *p, dfl_span at, dfl_ast_node *spread, dfl_expr_list args);
dfl_ast_node *dfl_ast_kept(dfl_parse *p, dfl_span at, dfl_path_list tensors, dfl_ast_path *memory, dfl_kmode mode);
/* What follows the condition of a check; all may be NULL. */
const dfl_ast_more *dfl_ast_verdict(dfl_parse *p, dfl_expr *exactly, dfl_expr *within, dfl_expr *of, dfl_expr *from);
dfl_ast_node *dfl_ast_check_make(dfl_parse *p, dfl_span at, dfl_ast_check kind, dfl_expr *value, const dfl_ast_more *more);
void dfl_parse_done(dfl_parse *p, dfl_span at, dfl_ast_list items);

#endif
