/*
 * The exact evaluator: from resolved paths to counts, occupancy, time and energy, in closed form. Pure: same input,
 * same result; memory from the given arenas; what cannot be counted exactly is refused with a diagnostic.
 *
 * Everything that depends on the lines alone, which loops decide which dimension of which tensor, how the instances of
 * an array share, which tiles are live together, in which order transfers are waited for, is found once:
 *
 *     dfl_model *m = dfl_model_prepare(home, sink, names, paths);
 *     while (there is another choice of tiles) {
 *         change the amounts of loop lines of the mapping;
 *         if (dfl_paths_resize(scratch, sink, names, paths))
 *             use dfl_model_run(m, scratch);
 *         dfl_arena_reset(scratch);
 *     }
 *
 * A run counts at the sizes that the paths have then. It takes nothing from the arena where counts are products (product_form.c,
 * rank_chain.c), that is where single ranks index what only one einsum touches. A single evaluation is one of each.
 */
#ifndef DFL_MODEL_MODEL_H
#define DFL_MODEL_MODEL_H

#include "ir/path/path.h"
#include "ir/result.h"

typedef struct dfl_model dfl_model;

/* NULL after reporting (E0602 budget, E0608 overflow, E0609 unsupported). Lives in `home`; the paths must live as long. */
dfl_model *dfl_model_prepare(dfl_arena *home, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* The costs at the present sizes of the paths, or NULL after reporting (E0406 capacity, E0414 release, E0602 budget,
   E0608 overflow, E0609 unsupported). They are good until the next run or until `scratch` is reset. */
const dfl_result *dfl_model_run(dfl_model *model, dfl_arena *scratch);
/*
 * The times of the last run's counts at the rates of `like`, which is the system of the mapping but for finite bandwidths
 * of memories and rates of units; all else in the result stays. With the system itself that is what the run told.
 */
const dfl_result *dfl_model_retime(dfl_model *model, const dfl_system *like);
/* After a run: bits that are live in a memory while one of the leaves runs (occupancy.h). */
bool dfl_model_occupancy(dfl_model *model, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out);
/* Bits that the last run charged a network for; true on overflow. */
bool dfl_model_network_bits(const dfl_model *model, uint32_t network, dfl_i128 *out);
/* Both, once. */
const dfl_result *dfl_model_eval(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/*
 * Whether an evaluation is sure to report nothing but E0609, by a cheap bound of its counts and of the room that its
 * tiles take. False when the bound does not tell, as for every mapping with branches.
 */
bool dfl_model_surely_fits(const dfl_paths *paths);

#endif
