/*
 * The model: the exact cost of a complete mapping in closed form. The model computes counts, occupancy, time and energy
 * from resolved paths (MODEL.md).
 *
 * The model is pure: the same input gives the same result. The model allocates only from the arenas of the caller. The
 * model refuses a mapping that it cannot count exactly, with E0609.
 *
 * Preparation derives everything that depends only on the lines of a mapping. This includes the loops that decide each
 * dimension of each tensor, the sharing of transfers by the instances of an array, the sets of tiles that are live
 * together, and the order of stalling transfers. A run then counts at the present sizes of the paths:
 *
 *     dfl_model *model = dfl_model_prepare(home, sink, names, paths);
 *     while (there is another choice of tiles) {
 *         change the amounts of loop lines of the mapping;
 *         if (dfl_paths_resize(scratch, sink, names, paths))
 *             use dfl_model_run(model, scratch);
 *         dfl_arena_reset(scratch);
 *     }
 *
 * A run allocates nothing if all counts are products or chains (product_form.h, rank_chain.h). This condition holds if
 * single ranks index tensors that only one einsum touches.
 */
#ifndef DFL_MODEL_MODEL_H
#define DFL_MODEL_MODEL_H

#include "ir/path/path.h"
#include "ir/result.h"

typedef struct dfl_model dfl_model;

/* Prepares the model of a mapping. The model is allocated in `home`, and the paths must live as long as the model. NULL
   after E0602 (budget), E0608 (overflow) or E0609 (not evaluated). */
dfl_model *dfl_model_prepare(dfl_arena *home, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* Evaluates the mapping at the present sizes of its paths. The result is valid until the next run, and until `scratch`
   is reset. NULL after E0406 (capacity), E0414 (needed after release), E0602 (budget), E0608 (overflow) or E0609 (not
   evaluated). */
const dfl_result *dfl_model_run(dfl_model *model, dfl_arena *scratch);
/* Evaluates the time again, with the counts of the last run and the bandwidths and rates of `like`. `like` may differ
   from the system of the mapping only in finite bandwidths of memories and finite rates of units. The rest of the
   result is unchanged. With the system of the mapping, the result is that of the last run. */
const dfl_result *dfl_model_retime(dfl_model *model, const dfl_system *like);
/* Sets `bandwidth_required` of each memory in the result of the last run (MODEL.md, section 4.6). A run leaves it 0. */
void dfl_model_require_bandwidths(dfl_model *model, dfl_arena *scratch);
/* Bits that are live in a memory while one leaf runs, in the last run (occupancy.h). */
bool dfl_model_occupancy(dfl_model *model, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out);
/* Number of bits that the last run charged to a network. True on overflow. */
bool dfl_model_network_bits(const dfl_model *model, uint32_t network, dfl_i128 *out);
/* Prepares a model and runs it once. */
const dfl_result *dfl_model_eval(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* Tells whether an evaluation can report no error except E0609, from a cheap bound of its counts and of its occupancy.
   False if the bound is too weak; always false for a mapping with branches. */
bool dfl_model_surely_fits(const dfl_paths *paths);

#endif
