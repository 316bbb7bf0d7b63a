/*
 * Elaborating workloads: what the statements of a body add to the workload under construction. A body is that of the
 * workload itself, or of an instance that `apply` puts into it, with a scope and a name prefix of its own.
 */
#ifndef DFL_SEMA_WORKLOAD_WORKLOAD_H
#define DFL_SEMA_WORKLOAD_WORKLOAD_H

#include "sema/workload/build.h"
#include "sema/files/lookup.h"
#include "sema/files/room.h"

/* A body within a workload: the workload itself (instance 0), an `apply`, a `repeat`. */
typedef struct {
    dfl_sym name;            /* full: "conv1", "L[3]"; 0 for the workload itself */
    dfl_sym family;          /* "L" of "L[3]", else 0 */
    dfl_span span;
    const dfl_decl *decl;    /* what was applied; NULL for a `repeat` */
    uint32_t parent;         /* DFL_NONE for instance 0 */
    dfl_scope *scope;        /* its names, given tensors among them */
    uint32_t first_einsum, last_einsum; /* its einsums in text order, last excluded */
} dfl_instance;

/* A check that stands in a workload, with the scope for its constants. */
typedef struct {
    const dfl_ast_node *node;
    dfl_scope *scope;
} dfl_work_check;

/* A workload with values for its parameters, or, as a template, without. */
typedef struct {
    dfl_decl *decl;
    dfl_scope *args;
    const dfl_ast_node *missing;    /* a parameter without a value: a template */
    const dfl_workload *workload;   /* NULL for a template, or when `broken` */
    bool broken;
    dfl_build build;                /* names and einsums in text order, for templates, too */
    DFL_VEC(dfl_instance) instances;
    DFL_VEC(dfl_work_check) checks;
    uint32_t iterations;            /* of its `for` loops so far */
    bool listed;                    /* the lookups below are filled */
    dfl_lookup ranks, tensors, heads;
    uint32_t *first_use, *next_use; /* producers of each tensor, filled when a mapping asks */
} dfl_sized;

/* A tensor that an applied body is given under a name of its own. */
typedef struct {
    uint32_t tensor;
    dfl_span span;
    bool used;
} dfl_given;

/* The braces of a `for` or `repeat`, with the names that its statements define: a name may be read before that. */
typedef struct dfl_pending {
    const struct dfl_work *work;
    dfl_symmap names;
    const struct dfl_pending *outer;
} dfl_pending;

/* Where statements are elaborated. Copied and changed for inner braces. */
typedef struct dfl_work {
    dfl_sema *s;
    dfl_sized *w;
    dfl_build *b;
    dfl_scope *scope;
    dfl_scope *body_scope;          /* of the whole body: where inputs go that nobody declares */
    dfl_sym prefix, body_prefix;    /* of full names; 0 = none */
    const char *family;             /* "[3]" behind the names that a `for` makes; "" = none */
    dfl_dtype type;                 /* default data type; name 0 = none */
    uint32_t instance;
    const uint32_t *repeats;        /* ranks of the repeats around */
    uint32_t n_repeats;
    const dfl_symmap *given;        /* to dfl_given; NULL outside of `apply` */
    bool local;                     /* inside `for` or `repeat`: `=` makes a tensor of its own */
    const dfl_pending *pending;
} dfl_work;

/* ---- instances (instances.c) ---- */
/* The workload of a reference, cached by arguments. NULL after reporting; may be a template or broken. */
dfl_sized *dfl_workload_of(dfl_sema *s, dfl_unit *unit, dfl_scope *from, const dfl_ast_ref *ref);
/* The same for a declaration at its defaults. */
dfl_sized *dfl_workload_default(dfl_sema *s, dfl_decl *decl);
/* Reports E0609 for what is parsed but not evaluated, like `train(...)`; true if it was that. */
bool dfl_workload_refused(dfl_sema *s, const dfl_ast_ref *ref);

/* ---- statements (statements.c, tensors.c, einsum.c, index.c, right_side.c) ---- */
void dfl_work_statements(dfl_work *c, const dfl_ast_node *items);
/* Elaborates the body of `decl`, whose parameters stand in `scope`, as instance `c->instance` of `c->w`. */
void dfl_work_apply_body(dfl_work *c, dfl_decl *decl, dfl_scope *args);
void dfl_work_tensors(dfl_work *c, const dfl_ast_node *n);
void dfl_work_einsum(dfl_work *c, const dfl_ast_node *n);
/* "prefix.name[3]" */
dfl_sym dfl_work_full_name(dfl_work *c, dfl_sym name);
bool dfl_work_type(dfl_work *c, const dfl_ast_ref *ref, dfl_dtype *out);
/* A new tensor of the scope, not declared with a shape yet; NULL after reporting a duplicate. */
dfl_build_tensor *dfl_work_new_tensor(dfl_work *c, const dfl_ast_path *path, bool lead, uint32_t n_dims, uint32_t *id);
/* The tensor that a path names in the scope, through instances; DFL_NONE when there is none (silent). */
uint32_t dfl_work_find_tensor(dfl_work *c, const dfl_ast_path *path);
void dfl_work_report_no_tensor(dfl_work *c, const dfl_ast_path *path);

/* An affine form under construction. `vague`: a coefficient or offset is unknown. */
typedef struct {
    DFL_VEC(dfl_term) terms;
    dfl_i128 offset;
    bool vague, bad;
} dfl_affine;

void dfl_affine_add(dfl_work *c, const dfl_expr *e, dfl_i128 scale, dfl_affine *out);
/* Sorted, merged, as an index; false after reporting or when bad. */
bool dfl_affine_finish(dfl_work *c, dfl_affine *a, dfl_span span, dfl_index *out);
/* Conditions of a `where` clause. */
void dfl_work_where(dfl_work *c, const dfl_ast_node *n, dfl_build_einsum *x);
/* An access: tensor (made if it is new) and indices. `left` for the result of an einsum. False after reporting. */
bool dfl_work_access(dfl_work *c, const dfl_ast_path *path, const dfl_expr *dims, uint32_t n_dims, dfl_span span,
                     uint32_t tensor, dfl_access *out, bool *vague);
/* The right side as a tree, its inputs, and its cost per point (right_side.c). False after reporting. */
bool dfl_work_right_side(dfl_work *c, const dfl_ast_node *n, dfl_build_einsum *x);

#endif
