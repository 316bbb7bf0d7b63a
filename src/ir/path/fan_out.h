/* Fan-out: the instances that spatial lines use of an axis, at most its size. */
#ifndef DFL_IR_PATH_FAN_OUT_H
#define DFL_IR_PATH_FAN_OUT_H

#include "ir/path/path.h"

/* Instances that a spatial line takes for an einsum that it is bound to. */
int64_t dfl_path_parts(const dfl_path_step *step);
/* Whether the spatial lines above an einsum fit each axis (else E0405), and use only axes around its unit (else E0418). */
bool dfl_path_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p);
/* Whether the written spatial lines of a mapping with holes fit each axis, whatever fills the holes: else E0405. */
bool dfl_mapping_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);

#endif
