/* Units of a ledger as decimal numbers. Digits are those of the integer, so that printed sums are the sums of printed numbers. */
#ifndef DFL_REPORT_DIFF_LEDGER_TEXT_H
#define DFL_REPORT_DIFF_LEDGER_TEXT_H

#include "support/checked.h"

enum { DFL_LEDGER_TEXT = 400 };

/* units * 10^-decimals with all decimal places; for negative `decimals` the digits with an exponent. */
void dfl_ledger_text(dfl_i128 units, int decimals, char out[DFL_LEDGER_TEXT]);

#endif
