/*
 * Halos: an einsum that reads a tensor at `x - 1` and `x + 1` needs rows of the neighbours where a line divides x. Each instance
 * gets exactly the rows that it lacks, from the instance before and from the one behind. An einsum that makes a tensor there, as
 * the gradient of a convolution, makes parts of the sums of these rows: each instance sends them to the neighbour that has them.
 */
#ifndef DFL_PLAN_LAYOUT_HALOS_H
#define DFL_PLAN_LAYOUT_HALOS_H

#include "plan/layout/frame.h"

/* Elements along the divided dimension that an instance lacks, before its part and behind it. */
typedef struct { int64_t before, behind; } dfl_halo;

/* The accesses of a tensor that share messages: of the operands of an einsum, or of all einsums that make a result. */
typedef struct { uint32_t einsum; const dfl_access *access; } dfl_reach;
typedef struct {
    const dfl_frame *frame;
    uint32_t tensor;
    dfl_reach *at; uint32_t n;
} dfl_reaches;

/* Whether an einsum divides a rank of an access whose index moves by more than 1 from one point to the next one. */
bool dfl_halo_moves_further(const dfl_frame *f, uint32_t einsum, const dfl_access *access);
/* The least and the largest value of an index in one pass without the rank `but`; DFL_NONE = with all ranks, from 0. */
void dfl_halo_range(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t but, int64_t *least, int64_t *most);
/* The operands of an einsum that are this tensor. */
dfl_reaches dfl_halo_operands(const dfl_frame *f, uint32_t einsum, uint32_t tensor);

/* The halo of a tensor on a slot that divides dimension `dim` in the first access: of all accesses. What producers make beyond
   their parts mirrors what readers lack. False after a report: the window is not evaluated. */
bool dfl_halo_find(const dfl_reaches *r, uint32_t dim, uint32_t slot, dfl_halo *out);
/* Elements of the tensor across a halo of `slot` before the part, or behind it: the product of the widths of all other
   dimensions, as far as accesses that reach to this side touch them. Halos of slots before it are there already; of results,
   those of slots behind it have left. True on overflow. */
bool dfl_halo_section(const dfl_reaches *r, uint32_t dim, uint32_t slot, bool is_behind, dfl_i128 *out);
/* Whether an access has windows in both dimensions. */
bool dfl_halo_has_corner(const dfl_reaches *r, uint32_t a, uint32_t b);
/* Whether some access touches all of the part of an instance on a slot: its window has the place of the divided rank itself. */
bool dfl_halo_is_filled(const dfl_reaches *r, uint32_t dim, uint32_t slot);
/* An access without what lies beyond the parts of an instance, which messages bring or take: along windows that the slots of the
   mask divide, the index is the divided rank. */
const dfl_access *dfl_halo_own(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint64_t slots);
/* Whether the part of an instance along an index on a slot is that of the divided rank, with as many elements for each point as
   the window moves. */
bool dfl_halo_has_steps(const dfl_frame *f, uint32_t einsum, const dfl_index *index, uint32_t slot);
/* Elements for each one of dfl_halo_own(): windows that move by more than 1 have as many for each value of the rank. */
int64_t dfl_halo_own_steps(const dfl_frame *f, uint32_t einsum, const dfl_access *access);

/* Whether two accesses of a tensor differ by offsets alone. */
bool dfl_halo_is_alike(const dfl_access *a, const dfl_access *b);
/* Whether an einsum reads the same tensor by an earlier access that differs by offsets alone: they share what they read. */
bool dfl_halo_is_repeated(const dfl_einsum *e, uint32_t input);
/* Whether later accesses of the einsum to the tensor differ from this one by offsets alone. */
bool dfl_halo_has_several(const dfl_einsum *e, uint32_t input);
#endif
