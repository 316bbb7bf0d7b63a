/*
 * Mappings of the whole workload from rows of its einsums, in workload order. After each einsum a state is what the
 * others still see of it: the loops that stay open, the operands that are alive with the place and the loops above them,
 * and the room taken. Two einsums share the loops above whatever is alive between them, so the number of states does not
 * grow with the number of einsums but with that of operands alive at once.
 *
 * Joined are rows whose shared loops have the same iterations and go along the same dimensions of every operand that both
 * touch: a loop that goes along another dimension, or along none, would read parts that are not complete. It must also
 * be one that can be written: the loop's rank is a rank of the einsum, or the einsum lacks it and follows an operand. An
 * einsum between two that share a loop may also run in its first iteration only (loop_match.h), or have it among the loops of its
 * own that stand above nothing that it exchanges (skeleton/template.h).
 *
 * Room: a keep below k shared loops is there while loop k + 1 runs, so the state has, by depth, what is resident and
 * the most that branches now finished took besides. Operands exchanged live from the einsum that makes them to the last
 * that reads them, and as long as the loop they stand above. So do inputs in a keep for several einsums (shared_inputs.h), from
 * the first of these to the last. Which ones it serves, and what it costs to fetch, is decided here: it serves all that read the
 * operand below the loops above it, and so an einsum that has the operand to itself must not stand below these.
 */
#ifndef DFL_MAPPER_EXACT_JOIN_H
#define DFL_MAPPER_EXACT_JOIN_H

#include "mapper/divisors/divisors.h"
#include "mapper/exact/cost_to_go.h"

enum { DFL_JOIN_LIVE = 12 };

typedef struct {
    const dfl_pmapping *const *rows;
    uint32_t n;
    const dfl_problem *problem; /* of this einsum: tensors and ranks of the rows' operands */
} dfl_join_step;

/* What is known before an einsum: a way, and the least that the states of it cost. */
typedef struct {
    const struct dfl_join_way *way;
    dfl_criteria least;
} dfl_join_before;

/* Rows of an einsum with loops that are open in some of the ways before it (pass_through.h). */
typedef struct dfl_join_between {
    const dfl_pmapping *const *(*rows)(void *context, uint32_t einsum, const dfl_join_before *before, uint32_t n_before,
                                       uint32_t *n);
    void *context;
} dfl_join_between;

/* What was chosen: a row per einsum, and the loops that it shares with the next one. */
typedef struct {
    double joules, seconds, value;
    double room;              /* bits of the track whose peak counts, else 0 */
    const dfl_pmapping **rows;
    uint32_t *open;           /* [einsum]: loops shared with the einsum after it */
    const uint32_t (*names)[DFL_ROW_LOOPS]; /* [einsum]: rank of the workload that names each of its shared loops */
    const uint32_t *ends;     /* [einsum]: mask of inputs whose keep for several serves no einsum after it, though one
                                 reads it */
    const uint32_t *skipped;  /* [einsum]: mask of the loops around it that it has none of its own for */
} dfl_join_result;


/*
 * The best mapping of value at most goal->limit, `*n` of one, or NULL; with `front` all `*n` that no other undercuts in energy
 * and time (and the peak that counts), fastest first; for goal->top kinds the best of each, by value. `capacity` are bits per
 * track. With `most` no more than so many states behind each einsum are gone on from, those that promise most: then it is some
 * mapping, or NULL. Sets `*full` if there was no room for all operands that are alive at once.
 */
const dfl_join_result *dfl_join(dfl_arena *arena, const dfl_workload *w, const dfl_join_step *steps,
                                const dfl_tile_goal *goal, const dfl_cost_to_go *bounds, const double *capacity,
                                bool front, uint32_t most, uint32_t *n, bool *full);

#endif
