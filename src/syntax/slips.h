/* Slips of the pen whose correction is known: help with an edit for an unexpected token. */
#ifndef DFL_SYNTAX_SLIPS_H
#define DFL_SYNTAX_SLIPS_H

#include "syntax/parse.h"

/* Adds help, and mostly an edit, to the report `d` about the present token; `expected`: the names of the `n` tokens that the
   grammar allows instead. False if the slip is not known. */
bool dfl_parse_help_slip(dfl_parse *p, dfl_diag *d, const char *const *expected, size_t n);

#endif
