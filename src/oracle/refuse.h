/* Conditions that end an execution early: the limit on steps of work, too large sizes, and mappings that the oracle
   does not execute. */
#ifndef DFL_ORACLE_REFUSE_H
#define DFL_ORACLE_REFUSE_H

#include "oracle/oracle_internal.h"

/* Counts `n` steps of work against the limit and the budget of the arena. False if the execution must end; reports the
   reason. */
bool dfl_oracle_spend(dfl_oracle_machine *machine, uint64_t n);
/* Reports E0602, sizes too large to execute, and returns false. */
bool dfl_oracle_refuse_large(dfl_oracle_machine *machine);
/* Reports a construct that `dflc check` accepts but the oracle does not execute. */
void dfl_oracle_refuse_unsupported(dfl_oracle_machine *machine, dfl_span span, const char *what);
/* Reports E0414: elements of the tensor are needed at `at` after their home `keep` has released them. */
void dfl_oracle_refuse_released(dfl_oracle_machine *machine, uint32_t tensor, dfl_span at, const dfl_oracle_keep *keep);

#endif
