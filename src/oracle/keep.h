/* Movement between keeps: rules 3 to 6 and 8 to 10 of MODEL.md. */
#ifndef DFL_ORACLE_KEEP_H
#define DFL_ORACLE_KEEP_H

#include "oracle/oracle_internal.h"

/* Changes the tiles of the keeps on line `line` of the body and on all later lines, after an iteration of the temporal
   loop above this line. `begins`: the body begins, so `line` is 0. */
void dfl_oracle_keep_advance(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line, bool begins);
/* Empties the keeps of a body at its end. */
void dfl_oracle_keep_close(dfl_oracle_machine *machine, const dfl_body *body);
/* Applies the updates in `list` to a keep. Updates of one element in one write group are combined. For each element,
   the update that continues the keep's own value comes first. Reorders `list`. `define`: each update is the complete
   value of its element, not a part of a sum. */
void dfl_oracle_keep_deliver(dfl_oracle_machine *machine, dfl_oracle_keep *keep, dfl_oracle_update *list, size_t n, bool define);

#endif
