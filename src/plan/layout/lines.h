/*
 * Questions about one line of a plan, and the report of what a plan does not evaluate.
 */
#ifndef DFL_PLAN_LAYOUT_LINES_H
#define DFL_PLAN_LAYOUT_LINES_H

#include "plan/layout/frame.h"

/* Parts into which a spatial line divides its rank: a dealt one as many as its axis has instances. */
int64_t dfl_frame_parts(const dfl_frame *f, const dfl_line *line);
/* Whether a line holds for an einsum: it names all, the einsum, or the one from which the einsum is derived in the backward
   pass. */
bool dfl_line_names(const dfl_line *line, const dfl_workload *w, uint32_t einsum);
/* Reports E0609 at `span`: the plan needs what is not evaluated. Returns false. */
bool dfl_frame_refuse(const dfl_frame *f, dfl_span span, const char *what, const char *help);

#endif
