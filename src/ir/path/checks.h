/* The structural checks that dfl_paths_resolve runs, each one family of E04xx; all report and return false on error. */
#ifndef DFL_IR_PATH_CHECKS_H
#define DFL_IR_PATH_CHECKS_H

#include "ir/path/path.h"

/* Every einsum in exactly one leaf: E0410, E0411. */
bool dfl_path_check_coverage(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* Loop `i` of an einsum with its tile and nominal extent set: E0402, E0403. */
bool dfl_path_check_tile(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t i);
/* What is left of each rank below the last line: E0401. `left` is indexed by rank of the workload. */
bool dfl_path_check_finished(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p,
                             const int64_t *left);
/* Whether a unit offers what the einsum computes, with a rate for it. */
bool dfl_unit_can_run(const dfl_intern *names, const dfl_mapping *m, const dfl_compute *c, const dfl_einsum *e);
/* Picks the unit: the one named by `on`, else the innermost that can run the einsum: E0418. */
bool dfl_path_choose_compute(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_path *p);
/* Fan-out of each axis, and that the unit lies inside the axes that are used: E0405, E0418. */
bool dfl_path_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p);
/* The same fan-out for the spatial lines that are written in a mapping with holes, whatever is filled in: E0405. */
bool dfl_mapping_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* Instances that a spatial line takes for an einsum that it is bound to. */
int64_t dfl_path_parts(const dfl_path_step *step);
/* Stages of a pipeline have instances of their own, once the fan-out is right: E0405. */
bool dfl_path_check_stages(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* Order and place of the keeps above einsum `e`, once the units of those before it are chosen: E0404, E0407, E0408, E0415,
   E0417, E0422. */
bool dfl_path_check_keeps(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, uint32_t e);
/* One home per tensor: E0415. */
bool dfl_path_check_homes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* E0409: einsum `c` reads what `e` makes below a loop over `rank` that is above both; `others`: of other iterations. */
void dfl_path_report_early(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_line *line,
                           uint32_t rank, uint32_t e, uint32_t c, bool others);
/* Nothing is read before it is complete: E0409, E0424. */
bool dfl_path_check_complete(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);
/* What is read early under `online` loops can be put right later: E0420. */
bool dfl_path_check_online(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths);

#endif
