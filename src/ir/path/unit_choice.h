/* The compute unit that runs an einsum. */
#ifndef DFL_IR_PATH_UNIT_CHOICE_H
#define DFL_IR_PATH_UNIT_CHOICE_H

#include "ir/path/path.h"

/* Whether a unit offers the operations of an einsum, with a rate for each operation. */
bool dfl_unit_can_run(const dfl_intern *names, const dfl_mapping *m, const dfl_compute *c, const dfl_einsum *e);
/* Sets the unit of a path: the unit named by `on`, else the innermost unit that can run the einsum, sees the memories
   of its keeps and lies inside the axes of its spatial lines. False after E0418. */
bool dfl_path_choose_compute(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_path *p);

/* Whether every einsum without a named unit has a unit that can run it, wherever that is; false after one E0418 that names all
   einsums without, what they need, and the units that come closest. */
bool dfl_mapping_check_units(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);

#endif
