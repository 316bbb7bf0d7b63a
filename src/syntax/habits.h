/* Habits from other languages, whose counterpart in DFL is known: help, mostly with an edit, for an unexpected token. */
#ifndef DFL_SYNTAX_HABITS_H
#define DFL_SYNTAX_HABITS_H

#include "syntax/slips.h"

/* Reports a habit whose place is not the present token (E0101), as in `A[m][k];`. False, without a report, if there is none. */
bool dfl_habit_report(const dfl_slip *s);
/* Adds help, and mostly an edit, to the report about the present token. False if the habit is not known. */
bool dfl_habit_help(const dfl_slip *s);

#endif
