/* Texts of the lints about systems. The analysis of systems detects the findings. */
#ifndef DFL_LINT_SYSTEM_H
#define DFL_LINT_SYSTEM_H

#include "diag/diag.h"

/* Reports an axis of several instances without a network (E0504). `axes`: all axes of its array, separated by commas. */
void dfl_lint_array_without_network(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *axis,
                                    const char *axes);
/* Reports a memory or, if all memories have energies, a compute unit without energy in a system where other parts declare
   energies (E0505). */
void dfl_lint_no_energy(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *part, bool is_memory);
/* Reports an attribute of `part` that no result depends on; `why` completes "in `part`, ..." (E0501). */
void dfl_lint_attribute_no_effect(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *attribute,
                                  const char *part, const char *why);

#endif
