/* Functions that the files of sema/workload share, and the context in which statements are elaborated. */
#ifndef DFL_SEMA_WORKLOAD_WORKLOAD_INTERNAL_H
#define DFL_SEMA_WORKLOAD_WORKLOAD_INTERNAL_H

#include "sema/names/symmap.h"
#include "sema/workload/elaborate.h"

/* A tensor that an `apply` passes to the applied body under another name. */
typedef struct {
    uint32_t tensor;
    dfl_span span;
    bool used;       /* the body has a tensor with this name */
} dfl_tensor_argument;

/* Results of the einsums in the braces of a `for` or `repeat`: a statement may read such a result before its einsum. */
typedef struct dfl_forward_names {
    const struct dfl_workload_context *context; /* context of the braces */
    dfl_symmap names;                           /* set of names; only the keys are used */
    const struct dfl_forward_names *outer;      /* results of the enclosing braces */
} dfl_forward_names;

/* The context of a statement. The context is copied and changed for inner braces and applied bodies. */
typedef struct dfl_workload_context {
    dfl_sema *sema;
    dfl_elaborated_workload *workload;
    dfl_workload_draft *draft;      /* draft of `workload` */
    dfl_scope *scope;               /* names visible to the statement */
    dfl_scope *body_scope;          /* scope of the whole body; undeclared inputs are added to it */
    dfl_sym prefix, body_prefix;    /* prefixes of full names in `scope` and in `body_scope`; 0 = no prefix */
    const char *family;             /* suffix of the names that a `for` makes, "[3]"; "" = no suffix */
    dfl_dtype type;                 /* default data type; name 0 = no default */
    uint32_t instance;              /* instance whose body contains the statement */
    const uint32_t *repeats;        /* ranks of the enclosing `repeat`s, outermost first */
    uint32_t n_repeats;
    const dfl_symmap *arguments;    /* map to dfl_tensor_argument; NULL = the body is not applied */
    bool local;                     /* the statement is in a `for` or `repeat`: `=` makes a new tensor */
    const dfl_forward_names *forward;
} dfl_workload_context;

/* An affine form under construction: a sum of ranks times coefficients, plus an offset. */
typedef struct {
    DFL_VEC(dfl_term) terms;
    dfl_i128 offset;
    bool vague;  /* some coefficient or the offset is unknown */
    bool bad;    /* an error has been reported */
} dfl_affine;

/* ---- statements.c ---- */
/* Whether an expression reads an element of a tensor. */
bool dfl_workload_reads(const dfl_expr *expr);
/* Elaborates a list of statements. */
void dfl_workload_elaborate_statements(dfl_workload_context *ctx, const dfl_ast_node *items);
/* Elaborates the body of `decl`, with the parameters in `args`, as instance `ctx->instance`; `use`: the place that inserts
   the body. */
void dfl_workload_elaborate_body(dfl_workload_context *ctx, dfl_decl *decl, dfl_scope *args, dfl_span use);
/* Whether a reference is `train(...)`, which may stand only in a declaration of its own; reports E0609 if so. */
bool dfl_workload_refuse_training(dfl_sema *sema, const dfl_ast_ref *ref);

/* ---- tensors.c ---- */
/* Elaborates a declaration of tensors. */
void dfl_workload_elaborate_tensors(dfl_workload_context *ctx, const dfl_ast_node *node);
/* The full name of a part declared in the context: "prefix.name[3]". */
dfl_sym dfl_workload_full_name(dfl_workload_context *ctx, dfl_sym name);
/* The data type of a reference; name 0 if the reference is empty or a size is unknown. False after reporting. */
bool dfl_workload_resolve_type(dfl_workload_context *ctx, const dfl_ast_ref *ref, dfl_dtype *out);
/* Adds a tensor with `n_dims` written dimensions, without a declared shape; with leading dimensions if `lead`. `*id` is
   set to the index of the tensor. NULL after reporting that the name is taken. */
dfl_draft_tensor *dfl_workload_add_tensor(dfl_workload_context *ctx, const dfl_ast_path *path, bool lead, uint32_t n_dims,
                                          uint32_t *id);
/* The tensor that a path names, through instances; DFL_NONE if there is none; reports nothing. */
uint32_t dfl_workload_find_tensor(dfl_workload_context *ctx, const dfl_ast_path *path);
/* Reports E0201: a path names no tensor. */
void dfl_workload_report_no_tensor(dfl_workload_context *ctx, const dfl_ast_path *path);

/* ---- einsum.c ---- */
/* Elaborates an einsum. */
void dfl_workload_elaborate_einsum(dfl_workload_context *ctx, const dfl_ast_node *node);

/* ---- index.c ---- */
/* Adds `scale` times an expression to an affine form; reports an expression that is not affine. */
void dfl_affine_add(dfl_workload_context *ctx, const dfl_expr *expr, dfl_i128 scale, dfl_affine *out);
/* The index of an affine form: terms sorted by rank, one term per rank, no coefficient 0. False after reporting. */
bool dfl_affine_finish(dfl_workload_context *ctx, dfl_affine *affine, dfl_span span, dfl_index *out);
/* Sets `reuse` and `load` of an einsum with a `gather`. */
void dfl_workload_lower_rows(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum);
/* Lowers the conditions of a `where` clause. */
void dfl_workload_lower_where(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum);
/* Lowers an access to `tensor` with the indices `dims`. Sets `*vague` if a coefficient or offset is unknown. False
   after reporting. */
bool dfl_workload_lower_access(dfl_workload_context *ctx, const dfl_expr *dims, uint32_t n_dims, dfl_span span,
                               uint32_t tensor, dfl_access *out, bool *vague);

/* ---- right_side.c ---- */
/* Lowers the right side: its tree, its distinct inputs, its operations per point. False after reporting. */
bool dfl_workload_lower_right_side(dfl_workload_context *ctx, const dfl_ast_node *node, dfl_draft_einsum *einsum);

/* ---- finish.c ---- */
/*
 * Checks the whole draft and lowers it to a workload. `typed` = every tensor must have a data type. NULL for a template
 * and after reporting. Sets `draft->order`.
 */
const dfl_workload *dfl_workload_finish(dfl_workload_draft *draft, bool typed);

/* ---- shapes.c ---- */
/* Smallest and largest value of an index over its ranks; false if an extent is unknown or a value exceeds 64 bits. */
bool dfl_workload_index_range(const dfl_workload_draft *draft, const dfl_index *index, int64_t *low, int64_t *high);
/* Derives the shapes of undeclared tensors and checks all accesses. `produced`: [tensor], some einsum writes the
   tensor. */
void dfl_workload_derive_shapes(dfl_workload_draft *draft, const bool *produced);

/* ---- schedule.c ---- */
/* The einsums in an order of execution that follows the text as far as possible; NULL after reporting a cycle. */
uint32_t *dfl_workload_schedule(dfl_workload_draft *draft);

#endif
