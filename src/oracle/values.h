/* Artificial arithmetic, with which the oracle compares an execution and a direct evaluation of the workload. */
#ifndef DFL_ORACLE_VALUES_H
#define DFL_ORACLE_VALUES_H

#include "oracle/oracle_internal.h"

/* Evaluates the workload without the mapping: sets the value and the number of updates of every element. False after a
   report. */
bool dfl_oracle_evaluate(dfl_oracle_machine *machine);
/* The value that an element of an input, weight or state has before the first einsum, from 1 to DFL_ORACLE_PRIME - 1: the
   splitmix64 hash of tensor and element. */
uint64_t dfl_oracle_first_value(uint32_t tensor, uint32_t elem);
/* Combines two partial results of a tensor by the tensor's reduction. */
uint64_t dfl_oracle_combine(const dfl_oracle_machine *machine, uint32_t tensor, uint64_t a, uint64_t b);
/* Multiplies two operands modulo DFL_ORACLE_PRIME. */
uint64_t dfl_oracle_product(uint64_t a, uint64_t b);
/* Number of elements in the homes of results whose values differ from the direct evaluation. */
dfl_i128 dfl_oracle_count_wrong(dfl_oracle_machine *machine);

#endif
