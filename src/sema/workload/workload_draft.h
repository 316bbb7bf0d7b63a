/*
 * A workload under construction: the ranks, tensors and einsums that statements have added so far, from the body of the
 * workload and from the bodies that `apply`, `repeat` and `for` put into it. Order of the text. A template has ranks of
 * unknown extent: whatever does not need extents is checked, but no workload results.
 */
#ifndef DFL_SEMA_WORKLOAD_WORKLOAD_DRAFT_H
#define DFL_SEMA_WORKLOAD_WORKLOAD_DRAFT_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "ir/workload.h"
#include "support/vec.h"

typedef struct {
    dfl_sym name;        /* full name */
    dfl_span span;
    int64_t extent;      /* 0 = unknown */
    bool used;           /* an einsum or a shape names the rank */
    bool silent;         /* the declaration was wrong and reported: no further report */
    /* Stamps: index + 1 of the last einsum that has the rank in the result, in an input, in a gathered table. */
    uint32_t left, right, table;
} dfl_draft_rank;

typedef struct {
    dfl_sym name;        /* full name */
    dfl_span span;
    bool declared;       /* a declaration states the shape */
    bool has_role;       /* a declaration states the role */
    dfl_role role;       /* the stated role */
    dfl_dtype type;      /* data type; name 0 = not stated */
    dfl_span type_span;
    uint32_t n_dims;     /* with the leading dimensions */
    int64_t *extents;    /* by dimension; 0 = unknown */
    const uint32_t *lead; /* ranks of the `repeat`s around: leading dimensions that the text does not write */
    uint32_t n_lead;
    bool broken;         /* an error about the tensor was reported: no further report */
} dfl_draft_tensor;

/* A requirement on the shape and type of a tensor: it stands for a tensor of an applied body, or is carried into another
 * one by `repeat ... carrying`. Checked when all shapes are known. */
typedef struct {
    uint32_t tensor;
    uint32_t like;          /* tensor that it must equal, or DFL_NONE: then the following shape and type */
    dfl_sym formal;         /* name in the applied body */
    dfl_span span;
    uint32_t n_dims;
    const int64_t *extents; /* 0 = unknown */
    dfl_dtype type;
} dfl_shape_claim;

typedef struct {
    dfl_einsum ir;       /* the einsum of the later workload; its name is still missing */
    bool vague;          /* an extent, coefficient or offset in `ir` is unknown */
    uint32_t instance;   /* index of the instance whose body has the einsum */
} dfl_draft_einsum;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    dfl_intern *new_names;        /* the same table, for new symbols */
    const dfl_lint_levels *lints; /* NULL = no lints */
    dfl_span lint_range;          /* lints about other places are silent */
    dfl_sym name;
    dfl_span span;
    DFL_VEC(dfl_draft_rank) ranks;
    DFL_VEC(dfl_draft_tensor) tensors;
    DFL_VEC(dfl_draft_einsum) einsums;
    DFL_VEC(dfl_shape_claim) claims;
    uint32_t *order;     /* einsums in the order of execution, set by finishing; NULL = none exists */
    bool carries;        /* a `repeat` has `carrying` */
    bool full;           /* a limit was exceeded and reported */
    bool partial;        /* a condition or loop could not be evaluated: names may be missing */
    bool unsized;        /* an extent is unknown */
    bool broken;         /* an error was reported */
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
