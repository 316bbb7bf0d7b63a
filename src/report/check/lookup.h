/*
 * Paths: what `flash.memories.sram.tensors.K.reads` means. A path starts at a mapping, a workload or a system of the
 * program and follows the keys of the JSON report, items of lists by their name. `memories`, `tensors`, `einsums`,
 * `networks` and `components` may be left out (`flash.sram.K.reads`); figures go before parts of the same name, and
 * memories before einsums before units. An object that has one obvious figure may stand for it: `flash.latency` is
 * seconds, `flash.energy` joules. Inside a mapping or workload its own name may be left out. Names with dots match
 * as a whole, or by their last part while that is unique.
 *
 * On a mapping also: `peak(MEMORY)`, the bits; `flops(PART)`, operations a second that one instance of a unit, axis
 * or element reaches. On a system: `peak(TYPE)`, the operations a second of the fastest unit for that data type.
 */
#ifndef DFL_REPORT_CHECK_LOOKUP_H
#define DFL_REPORT_CHECK_LOOKUP_H

#include "report/report.h"

typedef enum {
    DFL_LOOKUP_NOTHING, /* an error was reported */
    DFL_LOOKUP_LATER,   /* names a figure of a mapping that has no result: silent, the reason was reported before */
    DFL_LOOKUP_QUANTITY,
    DFL_LOOKUP_TEXT,
} dfl_lookup_kind;

typedef struct {
    dfl_lookup_kind kind;
    dfl_quantity quantity;
    const char *text;
} dfl_lookup_result;

/* The value of a DFL_VAL_PATH or of a DFL_VAL_CALL on a path, for a check that stands in `scope` (0 = the file).
   Reports E0613, E0206, E0608 or E0609 at the place of `val`. */
dfl_lookup_result dfl_lookup(const dfl_results *results, dfl_sym scope, const dfl_val *val);

#endif
