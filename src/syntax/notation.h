/* Notation of other languages in the place of one of DFL: operators, comments, loops, lists, heads and axes. */
#ifndef DFL_SYNTAX_NOTATION_H
#define DFL_SYNTAX_NOTATION_H

#include "syntax/slips.h"

/* Adds help, and mostly an edit, to the report about the present token. False if the notation is not known. */
bool dfl_notation_help(const dfl_slip *slip);

#endif
