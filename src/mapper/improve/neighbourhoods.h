/*
 * Mappings outside of the space of the search, which go on from the best one inside of it. Each kind is a switch:
 *
 *   order      the einsums run in another order; with all orders searched the best of them is proven
 *   recompute  an intermediate is computed again in every iteration of a loop around all einsums or a part of them
 *   window     they share one along which windows slide: a producer makes what is new in the window of its readers
 *   spill      some readers get an intermediate on the chip, others from its home; or it is an output that is read there
 *   split      einsums share two loops of a rank, one of them around all of the einsums or the part
 *   pipeline   neighbours that share loops run at the same time, on units or on parts of an axis of their own
 *   keep       keeps of single einsums stand above branches that share no loop: climbs that follow move them there (tree_climb.h)
 *
 * Every change of the problem (transform.h), or of a part of it (segment.h), is searched exactly, its best mapping changed back
 * and evaluated. The best change is polished (polish.h), stays if that is better than all before, and is where further
 * changes start, until none is better. What is found is no worse than without, and proven to be the best only where a bound says
 * so: over other orders the least of their bounds; over all else what the einsums cost at least by themselves, in a pipeline at
 * the same time, and with spills as if all that is exchanged could stay on the chip.
 */
#ifndef DFL_MAPPER_IMPROVE_NEIGHBOURHOODS_H
#define DFL_MAPPER_IMPROVE_NEIGHBOURHOODS_H

#include "mapper/exact/exact.h"
#include "mapper/improve/polish.h"

enum {
    DFL_BEYOND_ROUNDS = 4,
    DFL_BEYOND_CHANGES = 48,       /* of a kind, of the whole and of each part, in a round */
};

/* The kinds of those asked for that may change something in a mapping: of one einsum none does, without an intermediate none of
   recomputation, spills and windows, and so on. */
uint32_t dfl_neighbourhoods_kinds(const dfl_mapping *given, uint32_t kinds);

/* Goes on from `out`, the best mapping of tiles that divide, of the value `*least` by the model, which it lowers. */
void dfl_neighbourhoods_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                               const dfl_map_options *options,
                               const dfl_polish_options *polish, dfl_map_result *out, double *least);

#endif
