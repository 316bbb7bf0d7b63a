/* What ends an execution early: steps of work, sizes, and mappings that are not executed. */
#ifndef DFL_ORACLE_REFUSE_H
#define DFL_ORACLE_REFUSE_H

#include "oracle/oracle_internal.h"

/* Counts `n` steps of work against the limit and the budget of the arena. False once the execution is to end; reports
   why. */
bool dfl_oracle_spend(dfl_oracle_machine *machine, uint64_t n);
/* E0602: too large to execute. Returns false. */
bool dfl_oracle_refuse_large(dfl_oracle_machine *machine);
/* Reports a construct that `check` accepts and the oracle does not execute. */
void dfl_oracle_refuse_unsupported(dfl_oracle_machine *machine, dfl_span span, const char *what);
/* E0414: elements of the tensor are needed at `at` after `keep`, the home, has released them. */
void dfl_oracle_refuse_released(dfl_oracle_machine *machine, uint32_t tensor, dfl_span at, const dfl_oracle_keep *keep);

#endif
