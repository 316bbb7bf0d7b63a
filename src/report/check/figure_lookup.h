/*
 * Values of paths: `flash.memories.sram.tensors.K.reads`. A path starts at a mapping, a workload or a system of the program
 * and follows the keys of the JSON report; items of lists have their names as keys. A path may omit the keys `memories`,
 * `tensors`, `einsums`, `networks` and `components`: `flash.sram.K.reads`. If names are equal, figures precede parts,
 * memories precede einsums, and einsums precede networks. A path may end at an object that has an obvious figure:
 * `flash.latency` is seconds, `flash.energy` joules. A check inside a mapping or workload may omit the name of the mapping
 * or workload. A dotted name matches as a whole, or by its last parts if no other name has the same last parts.
 *
 * Calls on a mapping: `peak(MEMORY)`, bits; `flops(PART)`, operations per second that one instance of a unit, axis or
 * element reaches. Call on a system: `peak(TYPE)`, operations per second of the fastest unit for that data type.
 */
#ifndef DFL_REPORT_CHECK_FIGURE_LOOKUP_H
#define DFL_REPORT_CHECK_FIGURE_LOOKUP_H

#include "report/report.h"

typedef enum {
    DFL_LOOKUP_NOTHING, /* an error was reported */
    DFL_LOOKUP_LATER,   /* the path names a figure of a mapping without a result; lookup reports nothing */
    DFL_LOOKUP_QUANTITY,
    DFL_LOOKUP_TEXT,
} dfl_lookup_kind;

typedef struct {
    dfl_lookup_kind kind;
    dfl_quantity quantity;
    const char *text;
} dfl_lookup_result;

/* The value of a DFL_VAL_PATH, or of a DFL_VAL_CALL on a path, for a check in `scope` (a mapping or workload, 0 = the file).
   Reports E0613, E0206, E0608 or E0609 at the span of `val`. */
dfl_lookup_result dfl_lookup(const dfl_results *results, dfl_sym scope, const dfl_val *val);

#endif
