/*
 * Some einsums of a workload as a workload of their own, so that a search of several einsums finds a mapping for them, and this
 * mapping put into one of the whole. Ranks over which loops around the einsums go element by element are left out: the rank of a
 * repeat, or a rank that all of them share, such as a batch.
 *
 * What the einsums exchange with others is an input or an output, at home where the whole mapping has it. What they exchange
 * among themselves is at home where the search says, within the loops. The workload lacks the conditions of `where`, and the
 * system what the mapper does not support; it selects tensors by name. So a value of the search is an estimate; the model says
 * what the whole mapping costs, and may refuse it.
 */
#ifndef DFL_SOLVE_SUB_WORKLOAD_H
#define DFL_SOLVE_SUB_WORKLOAD_H

#include "ir/mapping.h"

typedef struct {
    dfl_arena *arena;               /* owns what is made */
    const dfl_mapping *given;       /* the whole, with all lines open */
    const uint32_t *einsums;        /* ascending */
    uint32_t n_einsums;
    const bool *is_fixed;           /* [rank of the whole]: a loop goes over it element by element */
    const uint32_t *home;           /* [tensor of the whole]: its outermost memory, DFL_NONE = any; NULL = any */
} dfl_sub_source;

typedef struct {
    const dfl_mapping *given;
    const dfl_mapping *mapping;     /* the problem, with all lines open */
    const uint32_t *einsums;        /* [own einsum]: einsum of the whole */
    uint32_t n_einsums;
    const bool *is_fixed;           /* [rank of the whole] */
    const uint32_t *rank_of;        /* [own rank]: rank of the whole */
    const uint32_t *tensor_of;      /* [own tensor]: tensor of the whole */
} dfl_sub_workload;

/* Makes the workload. False if the einsums have none: one computes a part of its result in an iteration of a fixed rank, or has
   a fixed rank in a sum with others, or reads rows of a table, or a tensor has writers on both sides. */
bool dfl_sub_workload_take(const dfl_sub_source *source, dfl_sub_workload *out);
/* The memory of the innermost keep of a tensor in a body or in those around it; DFL_NONE if they keep it nowhere. */
uint32_t dfl_sub_home(const dfl_body *body, uint32_t tensor);
/* The mapping `base` with the lines of `found`, a mapping of the problem, in the place of its lines for the einsums. In `base`
   these are all einsums of a body, or of neighbouring children of a body; a leaf is a child. Fixed ranks without a loop in `base`
   get one above the lines. NULL if `base` has no such body. */
dfl_mapping *dfl_sub_workload_put(dfl_arena *arena, const dfl_sub_workload *part, const dfl_mapping *base,
                                  const dfl_mapping *found);

#endif
