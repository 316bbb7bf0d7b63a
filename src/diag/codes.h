/* The codes of all diagnostics, from codes.def: a code keeps its number and its meaning for ever. */
#ifndef DFL_DIAG_CODES_H
#define DFL_DIAG_CODES_H

#include <stdbool.h>

typedef enum {
#define DFL_DIAG(number, severity, name, title) DFL_##name = (number),
#define DFL_RETIRED(number)
#include "diag/codes.def"
#undef DFL_DIAG
#undef DFL_RETIRED
    DFL_CODE_NONE = 0
} dfl_code;

typedef enum { DFL_NOTE, DFL_WARNING, DFL_ERROR, DFL_INTERNAL } dfl_severity;

/* Writes "E0301" into `out` and returns it. */
const char *dfl_code_text(dfl_code code, char out[6]);
/* The title in codes.def, static text; "" for a number that is no code. */
const char *dfl_code_title(dfl_code code);
/* The severity in codes.def; DFL_INTERNAL for a number that is no code. */
dfl_severity dfl_code_severity(dfl_code code);
/* Whether the code reports an illegal mapping: an error of block E04xx. */
bool dfl_code_is_illegal_mapping(dfl_code code);

#endif
