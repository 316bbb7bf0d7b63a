/*
 * Solving a mapping with holes: the searches of src/mapper, the requirements that the file makes, the model's judgement of what
 * was found, and the record of it. The solver borrows everything from the caller; it owns nothing.
 */
#ifndef DFL_SOLVE_SOLVE_H
#define DFL_SOLVE_SOLVE_H

#include "diag/lints.h"
#include "dfl/dfl.h"
#include "report/report.h"
#include "solve/filled.h"

typedef struct {
    dfl_arena *arena;                  /* filled mappings and their records */
    dfl_arena *after;                  /* costs of filled mappings; neither a limit on steps nor an interrupt stops it */
    dfl_budget *budget;                /* of `arena` */
    bool has_step_limit;               /* the user set the limit on steps: a limit on time does not replace it */
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    const dfl_lint_levels *lints;
    const dfl_program *program;
    const dfl_results *results;        /* of the file, for names and checks */
    const dfl_search_options *options;
    const dfl_mapping *best;           /* the best mapping, where the best of several kinds are searched; NULL = not known */
    dfl_filled_list *filled;           /* receives the mappings that searches find */
    dfl_stop *limited;                 /* the limit that dfl_solve_record_stop recorded first; DFL_STOP_NONE = none yet */
} dfl_solver;

/* Fills the holes of a mapping and adds what was found to `filled`: one mapping, a front, or the best of several kinds. Returns
   the first of them, or NULL after reporting. `*stopped` tells which limit ended the search early. */
const dfl_filled *dfl_solve_mapping(const dfl_solver *solver, const dfl_mapping *mapping, dfl_stop *stopped);
/* Records the limit that ended a search, after the caller evaluated the result of the search. Limits on time and evaluations
   apply to each search, so the next search can begin; any other limit stops the budget. */
void dfl_solve_record_stop(const dfl_solver *solver, dfl_stop stop);

#endif
