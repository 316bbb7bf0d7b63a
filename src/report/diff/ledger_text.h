/* Prints units of a ledger as decimal numbers. The digits come from the integer, so printed parts add up exactly to printed
   totals. */
#ifndef DFL_REPORT_DIFF_LEDGER_TEXT_H
#define DFL_REPORT_DIFF_LEDGER_TEXT_H

#include "support/checked.h"

enum { DFL_LEDGER_TEXT = 400 };

/* Prints units * 10^-decimals with all decimal places, or with an exponent if `decimals` is negative. */
void dfl_ledger_text(dfl_i128 units, int decimals, char out[DFL_LEDGER_TEXT]);

#endif
