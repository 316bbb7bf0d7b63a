/*
 * What runs together on a chip. A branch is a set of einsums that exchange their tensors on the chip: a brace of the mapping
 * below the lines of chips, or one einsum by itself. Branches run one after another.
 */
#ifndef DFL_PLAN_PASS_BRANCHES_H
#define DFL_PLAN_PASS_BRANCHES_H

#include "plan/layout/frame.h"

typedef struct {
    uint32_t *of;            /* [einsum]: its branch, counted in the order in which the branches run */
    uint32_t n;
    dfl_span *places;        /* [einsum]: its brace, else the mapping */
    bool has_braces;         /* the mapping, or a search, puts several einsums in one branch */
    uint32_t *open;          /* [einsum]: its open brace, counted from 1, which a search divides into branches; 0 = none */
    uint32_t n_open;
    uint32_t n_found;        /* branches that searches have made */
} dfl_plan_branches;

/* The branches of a mapping; the einsums of an open brace are branches by themselves. False after a report: a branch has einsums
   that cannot run together. */
bool dfl_branches_find(const dfl_frame *f, dfl_plan_branches *out);
/* The branches of the einsums that the backward pass recomputes, [einsum], as `of` of `n` branches has them. All others have one
   of their own, since they do not run then. */
uint32_t *dfl_branches_again(const dfl_frame *f, const uint32_t *of, uint32_t n);
/* Whether einsum `other` reads, in one pass, every element of a tensor that `einsum` reads: both access the tensor by the same
   indices, over ranks of equal extents. Accesses at several offsets count as the box around them. */
bool dfl_branch_has_read(const dfl_frame *f, uint32_t other, uint32_t einsum, uint32_t tensor);
/* Whether an einsum reads an operand through the memory that holds it: no einsum of the branch makes it, or reads the same
   parts of it before. */
bool dfl_branch_reads(const dfl_frame *f, const uint32_t *branch_of, uint32_t einsum, uint32_t input);
/* Whether an einsum writes its result to the memory that holds it: something outside of the branch reads it, or nothing does. A
   recomputed einsum reads what was not recomputed from there. `is_again`: of a recomputed einsum, with its branches; what reads
   in the forward pass alone does not count. */
bool dfl_branch_writes(const dfl_frame *f, const uint32_t *branch_of, uint32_t einsum, bool is_again);
/* Whether an einsum only copies a tensor. */
bool dfl_einsum_is_copy(const dfl_einsum *e);

#endif
