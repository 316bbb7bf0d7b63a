/* Made-up arithmetic, with which an execution and a direct evaluation of the workload are compared. */
#ifndef DFL_ORACLE_VALUES_H
#define DFL_ORACLE_VALUES_H

#include "oracle/oracle_internal.h"

/* Evaluates the workload without the mapping: values and number of updates of every element. False after a report. */
bool dfl_oracle_evaluate(dfl_oracle_machine *machine);
/* Combines two partial results of a tensor by its reduction. */
uint64_t dfl_oracle_combine(const dfl_oracle_machine *machine, uint32_t tensor, uint64_t a, uint64_t b);
/* Multiplies two operands modulo DFL_ORACLE_PRIME. */
uint64_t dfl_oracle_product(uint64_t a, uint64_t b);
/* Number of elements of the results at home that differ from the direct evaluation. */
dfl_i128 dfl_oracle_count_wrong(dfl_oracle_machine *machine);

#endif
