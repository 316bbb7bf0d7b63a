/*
 * Hill climbing over all lines of a mapping of several einsums, judged by the model. Fused groups and single einsums are found by
 * searches that look at one group at a time, with transfers between groups in the outermost memory. The climb changes what these
 * leave out, also across braces:
 *
 *   a loop takes another amount, or goes away, or another loop comes;
 *   a keep stands at another place, in the braces around its own or inside of it, in another memory, or nowhere, or a further
 *   keep comes; so the home of an intermediate may move to an inner memory;
 *   two adjacent loops change places.
 *
 * The climb begins at the mapping, or at the best of it with strips that all einsums of a branch share, if that is better
 * (tree_strips.h).
 * From a mapping that is proven, only keeps above branches lead out of the space of the proof: until one of them is better, no
 * other change is tried. Energy gains from such a keep only of a tensor that several children read or several make.
 * A change that exceeds a memory is tried once more with each loop above it cut finer, since tiles and keeps compete for room.
 * The first change that is better is taken, until none is. Then the climb walks away by random changes, also of the ranks of
 * loops, of axes and of braces, takes what is worse the less often the further it has walked, and climbs again. What a loop
 * around branches costs or saves is judged by the whole mapping, so the effort grows with the square of the number of einsums.
 */
#ifndef DFL_MAPPER_IMPROVE_TREE_CLIMB_H
#define DFL_MAPPER_IMPROVE_TREE_CLIMB_H

#include "mapper/problem/objective.h"
#include "support/deadline.h"

typedef struct {
    const dfl_objective *objective;
    dfl_deadline *halt;
    uint64_t evaluations;        /* of the whole mapping, at most */
    uint32_t walks;              /* by random changes, at most */
    uint32_t patience;           /* walks in a row without a gain that end the climb; UINT32_MAX = no number does */
    bool may_share;              /* loops may come above branches */
    /* The value of the mapping if it is the best one of a space with all loops and all keeps of single einsums; 0 = it is not. */
    double proven;
    bool amounts_only;           /* only amounts of loops change, and only of those that the file does not write */
    /* Whether a mapping belongs to the space that was asked for; NULL = all do. */
    bool (*admits)(void *context, const dfl_mapping *m);
    void *context;
} dfl_tree_climb_options;

/* A copy of `m`, without holes, in `arena`, as good or better. `*value` is that of `m` by dfl_mapping_value, then of the copy.
   Returns the number of evaluations in `*evaluated`. */
dfl_mapping *dfl_tree_climb(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m,
                            const dfl_tree_climb_options *options, double *value, uint64_t *evaluated);

#endif
