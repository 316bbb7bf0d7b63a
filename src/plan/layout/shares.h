/*
 * The largest part of an exchange that one chip sends to another one, where blocks of unequal size divide the tensor: 10 rows on
 * 4 chips are 3, 3, 3 and 1. `masks.h` has the same under conditions.
 */
#ifndef DFL_PLAN_LAYOUT_SHARES_H
#define DFL_PLAN_LAYOUT_SHARES_H

#include "plan/layout/layouts.h"

/* Dimensions of an access that conditions thin: their elements are counted together, for a pair of chips. */
typedef struct {
    const bool *dims;          /* [dimension]: it is one of them */
    uint64_t slots;            /* groups that divide ranks of the conditions: all places are looked at */
    bool (*count)(void *context, const int64_t *user, const int64_t *owner, dfl_i128 *out); /* false after a report; 0 also of a
                                                                                                user without points */
    void *context;
} dfl_share_mask;

/* Elements of an access in one pass that one chip uses and another chip of the groups of `slots` has: at home, or brought there
   by an exchange over the slots of `brought`. The tensor lies divided along `from`[slot], and the einsum divides it along
   `asked`[slot]; negative = not there. `mask`: NULL = no conditions. False after a report. */
bool dfl_share_find(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                    const dfl_layout *asked, uint64_t slots, uint64_t brought, const dfl_share_mask *mask, dfl_i128 *out);

/* Most positions along a dimension that one chip uses in one pass and has, at home or from an exchange before over the slots of
   `brought`, where an einsum divides the dimension along `asked`[slot] and other groups divide it at home along `from`[slot].
   False after a report. */
bool dfl_share_block(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                     const dfl_layout *asked, uint64_t brought, uint32_t dim, dfl_i128 *out);

#endif
