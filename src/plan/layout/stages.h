/* Where the einsums stand that are not in the repeat with stages: in the first or in the last stage. */
#ifndef DFL_PLAN_LAYOUT_STAGES_H
#define DFL_PLAN_LAYOUT_STAGES_H

#include "plan/layout/frame.h"

/* Sets `side` of a frame with slots. False after a report: a stage lacks what another one makes, or iterations that
   run beside each other read each other. */
bool dfl_stages_find(dfl_frame *f);

#endif
