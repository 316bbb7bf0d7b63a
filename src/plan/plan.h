/*
 * Plans over chips. A plan is a mapping on chips that hold the tensors in their own memories: lines over axes of chips divide
 * ranks and layers among chips. This room derives the layouts, the exchanges between chips, the time of a step and what each
 * memory holds.
 *
 *   slots      the axes of chips as groups: which einsum divides which rank on which group
 *   layouts    how each tensor lies on the groups, and how each einsum asks for it
 *   exchanges  what moves between two layouts, and what it costs
 *              (operand_exchanges: what einsums ask for; result_exchanges: what makes the home of a result)
 *   kinds      micro-batches that differ: the first one, and smaller last ones
 *   chip_time  what an einsum takes on one chip: operations over rates, beside operands over the port of their memory
 *   chunk      the einsums and exchanges of some layers in time, a list schedule
 *   held       what a stage holds in its memory
 *   plan       the stages in time, the exchange of gradients, the optimizer, the result
 *   division   which amounts give work to all chips, line by line
 *   floor      lower bounds of the memory and the time of a plan, or of all plans with the same division
 */
#ifndef DFL_PLAN_PLAN_H
#define DFL_PLAN_PLAN_H

#include "diag/diag.h"
#include "ir/plan_result.h"
#include "ir/result.h"

/* Memo tables that evaluations of several plans share: groups of einsums that searches have found, and times of pipelines. They
   change no figure of a plan. They lie in `arena` and take some tens of megabytes at most. */
typedef struct dfl_plan_memo dfl_plan_memo;
dfl_plan_memo *dfl_plan_memo_new(dfl_arena *arena);

/* Whether a plan has open amounts or decisions, as the `?` of `spatial b/? on node`, or of `schedule = ?`. */
bool dfl_plan_is_open(const dfl_mapping *mapping);

/* How the amounts of the spatial lines divide the axes of chips, put line by line. */
typedef struct dfl_plan_division dfl_plan_division;
/* The division of the lines of a plan, none of them put. NULL without a report if a spatial line lies inside of a chip. */
dfl_plan_division *dfl_plan_division_new(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Puts spatial line `line` of the root, as `with` has its amount, behind those above it, which were put before; lines below it
   are taken back. False: no amounts of the lines below give work to all chips. */
bool dfl_plan_division_put(dfl_plan_division *d, uint32_t line, const dfl_line *with);
/* Whether all chips have work, all lines having been put. */
bool dfl_plan_division_is_full(const dfl_plan_division *d);
/* The first axis of several chips over which no spatial line of the mapping stands, or DFL_NONE. */
uint32_t dfl_plan_undivided_axis(const dfl_mapping *m);

/* Lower bounds. */
typedef struct {
    bool runs;             /* false: no such plan is evaluated */
    bool fits;             /* false: no such plan fits its memories */
    double fill;           /* largest share of its size that a memory holds at least; above 1 it does not fit */
    double seconds;        /* no such plan has a smaller latency */
} dfl_plan_floor;
/* Parts of plans that several lower bounds share: layouts, exchanges, times, lives. `arena` and `memo`, which may be NULL, must
   outlive it. */
typedef struct dfl_plan_common dfl_plan_common;
dfl_plan_common *dfl_plan_common_new(dfl_arena *arena, dfl_plan_memo *memo);
/* Numbers that are equal for two plans, in all calls with one `common`, if and only if the plans agree in these decisions. */
typedef struct {
    uint64_t cuts;         /* those that divide chips and cut passes */
    uint64_t work;         /* all but the interleave */
} dfl_plan_key;
/* The arena in which the mapping of a plan must be made, because the next call of dfl_plan_floor_find keeps the plan; NULL =
   any. */
dfl_arena *dfl_plan_common_arena(const dfl_plan_common *common, dfl_plan_key key, bool is_class);
/* Number of different divisions and passes, by `cuts`, whose parts it keeps. */
size_t dfl_plan_common_size(const dfl_plan_common *common);
/* Lower bounds of a plan with all amounts. With `is_class`: of all plans that differ from it in the amounts of temporal lines,
   none of which makes a smaller pass. Exchanges, messages and waits take no time in it. */
dfl_plan_floor dfl_plan_floor_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                   dfl_plan_common *common, dfl_plan_key key, bool is_class);
/* The latency of a plan with its exchanges, messages and waits, found without a look at its memories: no less than that of
   dfl_plan_floor_find, and that of dfl_plan_evaluate if the plan runs. 0 = it is not known, as after a report. */
double dfl_plan_floor_sharpen(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                              dfl_plan_common *common, dfl_plan_key key);
/* Whether a plan gives work to all chips, whatever its micro-batches. False if it does not, and after a report: a group passes
   its axis. */
bool dfl_plan_uses_all(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* The costs of a plan, with `plan` set in the result. NULL after a report, or if the budget of the arena is stopped. `memo` may
   be NULL. */
const dfl_result *dfl_plan_evaluate(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                    dfl_plan_memo *memo);

#endif
