/*
 * Halos: an einsum that reads a tensor at `x - 1` and `x + 1` needs rows of the neighbours where a line divides x. Each instance
 * gets exactly the rows that it lacks, from the instance before and from the one behind.
 */
#ifndef DFL_PLAN_LAYOUT_HALOS_H
#define DFL_PLAN_LAYOUT_HALOS_H

#include "plan/layout/frame.h"

/* Elements along the divided dimension that an instance lacks, before its part and behind it. */
typedef struct { int64_t before, behind; } dfl_halo;

/* The halo of a tensor on a slot on which an einsum asks for it split along `dim`: of all accesses of the einsum to it. False
   after a report: the window is not evaluated. */
bool dfl_halo_find(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t slot, dfl_halo *out);
/* Elements of the tensor across a halo of `slot` before the part, or behind it: the product of the widths of all other
   dimensions, as far as accesses that reach to this side touch them. Halos of slots before it are there already. True on
   overflow. */
bool dfl_halo_section(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t slot, bool is_behind,
                      dfl_i128 *out);
/* Whether an access of the einsum to the tensor has windows in both dimensions. */
bool dfl_halo_has_corner(const dfl_frame *f, uint32_t einsum, uint32_t tensor, uint32_t a, uint32_t b);

/* Whether two accesses of a tensor differ by offsets alone. */
bool dfl_halo_is_alike(const dfl_access *a, const dfl_access *b);
/* Whether an einsum reads the same tensor by an earlier access that differs by offsets alone: they share what they read. */
bool dfl_halo_is_repeated(const dfl_einsum *e, uint32_t input);
/* Whether later accesses of the einsum to the tensor differ from this one by offsets alone. */
bool dfl_halo_has_several(const dfl_einsum *e, uint32_t input);
#endif
