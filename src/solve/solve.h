/*
 * Fills mappings with holes: runs the searches of src/mapper, evaluates the mappings found by the model, checks the
 * requirements of the file, and records the results. A solver owns nothing; all its members belong to the caller.
 */
#ifndef DFL_SOLVE_SOLVE_H
#define DFL_SOLVE_SOLVE_H

#include "diag/lints.h"
#include "dfl/dfl.h"
#include "report/report.h"
#include "solve/filled.h"

typedef struct {
    dfl_arena *arena;                  /* filled mappings and their records */
    dfl_arena *after;                  /* costs of filled mappings; neither a step limit nor an interrupt stops this arena */
    dfl_budget *budget;                /* limits of `arena` */
    bool user_step_limit;               /* the user set the step limit of `budget`; a time limit lifts only the default one */
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    const dfl_lint_levels *lints;
    const dfl_program *program;
    const dfl_results *results;        /* results of the file, for paths in checks and objectives */
    const dfl_search_options *options;
    const dfl_mapping *best;           /* for a search of several structures: the best mapping of all; NULL = not known */
    dfl_filled_list *filled;           /* receives the mappings that searches find */
    struct dfl_plan_memo *memo;        /* results that plans of the file share (plan/plan.h) */
    dfl_stop *limited;                 /* the limit that dfl_solve_record_stop recorded first; DFL_STOP_NONE = none yet */
} dfl_solver;

/* An empty `memo` of a solver, in `arena`. */
struct dfl_plan_memo *dfl_solver_memo_new(dfl_arena *arena);

/* Fills the holes of a mapping and adds the results to `filled`: one mapping, a Pareto set, or the best mappings of several
   structures. Returns the first result, or NULL after reporting. `*stopped` is the limit that ended the search early. */
const dfl_filled *dfl_solve_mapping(const dfl_solver *solver, const dfl_mapping *mapping, dfl_stop *stopped);
/* Records the limit that ended a search, after the caller evaluated the result of the search. Limits on time and evaluations
   apply to each search, so the next search can begin; any other limit stops the budget. */
void dfl_solve_record_stop(const dfl_solver *solver, dfl_stop stop);

#endif
