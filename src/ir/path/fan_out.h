/* Fan-out: the number of instances of an axis that spatial lines use, at most the size of the axis. */
#ifndef DFL_IR_PATH_FAN_OUT_H
#define DFL_IR_PATH_FAN_OUT_H

#include "ir/path/path.h"

/* Number of instances that a spatial line takes for an einsum bound to the line. */
int64_t dfl_path_parts(const dfl_path_step *step);
/* Whether the spatial lines above an einsum fit each axis (else E0405), and use only axes around its unit (else E0418). */
bool dfl_path_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p);
/* Whether the written spatial lines of a mapping with holes fit each axis for some filling of the holes: else E0405. */
bool dfl_mapping_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);

#endif
