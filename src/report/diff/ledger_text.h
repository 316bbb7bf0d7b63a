/* Units of a ledger as decimal numbers, digit by digit: what adds up in units adds up in print. */
#ifndef DFL_REPORT_DIFF_LEDGER_TEXT_H
#define DFL_REPORT_DIFF_LEDGER_TEXT_H

#include "support/checked.h"

enum { DFL_LEDGER_TEXT = 400 };

/* units * 10^-decimals with all its decimal places; an exponent when there would be zeros before the point. */
void dfl_ledger_text(dfl_i128 units, int decimals, char out[DFL_LEDGER_TEXT]);

#endif
