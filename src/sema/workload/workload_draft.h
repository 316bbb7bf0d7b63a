/*
 * A workload under construction: the ranks, tensors and einsums of all statements so far, from the body of the workload
 * and from the bodies that `apply`, `repeat` and `for` insert. All lists are in the order of the text. A template has
 * ranks of unknown extent. All checks that need no extents are made, but the result is no workload.
 */
#ifndef DFL_SEMA_WORKLOAD_WORKLOAD_DRAFT_H
#define DFL_SEMA_WORKLOAD_WORKLOAD_DRAFT_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "ir/workload.h"
#include "support/vec.h"

typedef struct {
    dfl_sym name;        /* full name of the rank */
    dfl_span span;
    int64_t extent;      /* extent of the rank; 0 = unknown */
    bool used;           /* an einsum or a shape names the rank */
    bool silent;         /* the declaration was wrong and has been reported; no further report about the rank */
    /* Stamps, each 1 + the index of an einsum: the last one with the rank in its result; the last one with the rank in an
       input; the last one with the rank in a gathered table. */
    uint32_t left, right, table;
} dfl_draft_rank;

typedef struct {
    dfl_sym name;        /* full name of the tensor */
    dfl_span span;
    bool declared;       /* a declaration states the shape */
    bool has_role;       /* a declaration states the role */
    dfl_role role;       /* the stated role */
    dfl_dtype type;      /* data type; name 0 = not stated */
    dfl_span type_span;
    uint32_t n_dims;     /* number of dimensions, leading dimensions included */
    int64_t *extents;    /* [dimension]: extent of the dimension; 0 = unknown */
    const uint32_t *lead; /* ranks of the enclosing `repeat`s: leading dimensions that the text omits */
    uint32_t n_lead;
    bool broken;         /* an error about the tensor has been reported; no further report about it */
} dfl_draft_tensor;

/* A claim: a requirement on the shape and type of a tensor, which is passed to an applied body, or carried into another
   tensor by `repeat ... carrying`. A claim is checked when all shapes are known. */
typedef struct {
    uint32_t tensor;
    uint32_t like;          /* tensor with the required shape and type, or DFL_NONE: the following members state them */
    dfl_sym formal;         /* name of the tensor in the applied body */
    dfl_span span;
    uint32_t n_dims;
    const int64_t *extents; /* required extents; 0 = unknown */
    dfl_dtype type;
} dfl_shape_claim;

/* A `gather` of an einsum: the input that reads the table, and the input that holds the position of the row. */
typedef struct { uint32_t row, position; } dfl_draft_gather;

typedef struct {
    dfl_einsum ir;       /* the einsum of the final workload, still without its name */
    bool vague;          /* an extent, coefficient or offset in `ir` is unknown */
    uint32_t instance;   /* index of the instance whose body has the einsum */
    const dfl_draft_gather *gathers;
    uint32_t n_gathers;
} dfl_draft_einsum;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    dfl_intern *new_names;        /* symbol table of the input, for new symbols */
    const dfl_lint_levels *lints; /* NULL = no lints */
    dfl_span lint_range;          /* range of places; lints about other places are silent */
    dfl_sym name;
    dfl_span span;
    DFL_VEC(dfl_draft_rank) ranks;
    DFL_VEC(dfl_draft_tensor) tensors;
    DFL_VEC(dfl_draft_einsum) einsums;
    DFL_VEC(dfl_shape_claim) claims;
    uint32_t *order;     /* einsums in the order of execution, set by dfl_workload_finish; NULL = no order exists */
    DFL_VEC(dfl_carry) carries; /* tensors that repeats carry */
    bool full;           /* a limit was exceeded, and this has been reported */
    bool partial;        /* some condition or loop could not be evaluated: names may be missing */
    bool unsized;        /* some extent is unknown */
    bool broken;         /* an error has been reported */
} dfl_workload_draft;

/* Whether lints about a place are reported. */
static inline bool dfl_workload_draft_lints(const dfl_workload_draft *draft, dfl_span at)
{
    return draft->lints != NULL && at.start >= draft->lint_range.start && at.start < draft->lint_range.end;
}

/* False if the budget is used up. */
static inline bool dfl_workload_draft_within_budget(const dfl_workload_draft *draft)
{
    dfl_budget *budget = dfl_arena_budget(draft->arena);

    return budget == NULL || dfl_budget_ok(budget);
}

#endif
