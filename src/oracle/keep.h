/* Movement between keeps: rules 3 to 6 and 8 to 10 of MODEL.md. */
#ifndef DFL_ORACLE_KEEP_H
#define DFL_ORACLE_KEEP_H

#include "oracle/oracle_internal.h"

/* Changes the tiles of the keeps from line `line` of the body on, after the temporal loop above this line has advanced.
   `begins`: the body begins, and `line` is 0. */
void dfl_oracle_keep_advance(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line, bool begins);
/* Empties the keeps of a body that ends. */
void dfl_oracle_keep_close(dfl_oracle_machine *machine, const dfl_body *body);
/* Applies updates to a keep. Those of one write group are combined on the way; for each element the one that continues
   the keep's own value goes first. Reorders `list`. `define`: each update is the value itself, not a part of a sum. */
void dfl_oracle_keep_deliver(dfl_oracle_machine *machine, dfl_oracle_keep *keep, dfl_oracle_update *list, size_t n, bool define);

#endif
