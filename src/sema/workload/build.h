/*
 * A workload while it is being put together: ranks, tensors and einsums as statements add them, from one body and from
 * all bodies that `apply`, `repeat` and `for` bring in. Finishing gives tensors their roles and shapes, orders the
 * einsums, checks what only the whole shows, and yields the workload. A template has ranks of unknown size; it is
 * finished, too, so that everything is checked that does not need sizes, but yields no workload.
 */
#ifndef DFL_SEMA_WORKLOAD_BUILD_H
#define DFL_SEMA_WORKLOAD_BUILD_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "ir/workload.h"
#include "support/vec.h"

typedef struct {
    dfl_sym name;
    dfl_span span;
    int64_t extent;      /* 0 = unknown */
    bool used;           /* by an einsum */
    bool silent;         /* its declaration was wrong: no second report */
    uint32_t left, right, table; /* stamps: einsum + 1 that has it on the left, on the right, in a gathered table */
} dfl_build_rank;

typedef struct {
    dfl_sym name;
    dfl_span span;
    dfl_span dims_span;  /* of the brackets */
    bool declared;       /* with a shape, by a role or otherwise */
    bool has_role;
    dfl_role role;       /* as declared */
    dfl_dtype type;      /* name 0 = not said */
    dfl_span type_span;
    uint32_t n_dims;
    int64_t *extents;    /* 0 = unknown */
    const uint32_t *lead; /* ranks of `repeat` around it: leading dimensions that the text does not write */
    uint32_t n_lead;
    bool broken;         /* reported already */
} dfl_build_tensor;

/* What an applied body says about a tensor that it was given; or that two tensors must be alike (`carrying`). */
typedef struct {
    uint32_t tensor;
    uint32_t like;          /* another tensor, or DFL_NONE: then the shape below */
    dfl_sym formal;
    dfl_span span;
    uint32_t n_dims;
    const int64_t *extents; /* 0 = unknown */
    dfl_dtype type;
} dfl_build_claim;

typedef struct {
    dfl_einsum e;        /* extents and coefficients may be unknown where `vague` */
    bool vague;
    uint32_t instance;   /* whose body it stands in */
} dfl_build_einsum;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    dfl_intern *new_names;
    const dfl_lint_levels *lints; /* NULL: no lints */
    dfl_span lint_range;          /* lints only about what stands here */
    dfl_sym name;
    dfl_span span;
    DFL_VEC(dfl_build_rank) ranks;
    DFL_VEC(dfl_build_tensor) tensors;
    DFL_VEC(dfl_build_einsum) einsums;
    DFL_VEC(dfl_build_claim) claims;
    uint32_t *order;     /* after finishing: einsums as they run */
    bool carries;
    bool full;           /* a limit was reached and reported */
    bool open;           /* a condition or loop could not be evaluated: names may be missing */
    bool unsized;        /* some size is unknown */
    bool broken;         /* an error was reported */
} dfl_build;

/*
 * The finished workload, in the builder's arena; NULL for a template or after errors. `typed` says that every tensor
 * must have a data type by now (a workload that stands alone, not one that is applied).
 */
const dfl_workload *dfl_build_finish(dfl_build *b, bool typed);

static inline bool dfl_build_lints(const dfl_build *b, dfl_span at)
{
    return b->lints != NULL && at.start >= b->lint_range.start && at.start < b->lint_range.end;
}

/* False when the budget is used up. */
static inline bool dfl_build_goes_on(const dfl_build *b)
{
    dfl_budget *budget = dfl_arena_budget(b->arena);

    return budget == NULL || dfl_budget_ok(budget);
}

/* Smallest and largest value of an index over its ranks; false when a size is unknown or 64 bits do not hold it. */
bool dfl_build_range(const dfl_build *b, const dfl_index *index, int64_t *low, int64_t *high);
/* Checks and infers shapes (shapes.c); reports and sets `broken`. `produced` by tensor. */
void dfl_build_shapes(dfl_build *b, const bool *produced);
/* Einsums in an order in which they can run, as close to the text as possible (schedule.c); NULL after reporting
 * a cycle. */
uint32_t *dfl_build_order(dfl_build *b);

#endif
