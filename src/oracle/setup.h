/* Construction of the machine from a mapping. */
#ifndef DFL_ORACLE_SETUP_H
#define DFL_ORACLE_SETUP_H

#include "oracle/oracle_internal.h"

/* Builds keeps, accesses, links and scratch memory, and evaluates the workload directly; computes no needs. False after
   a report. */
bool dfl_oracle_setup(dfl_oracle_machine *machine);

#endif
