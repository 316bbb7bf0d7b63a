#include "report/diff/ledger_text.h"

#include <stdio.h>
#include <string.h>

void dfl_ledger_text(dfl_i128 units, int decimals, char out[DFL_LEDGER_TEXT])
{
    char digits[41];
    const char *sign = units < 0 ? "-" : "";
    int len = (int)dfl_i128_text(units < 0 ? -units : units, digits), n;

    if (decimals <= 0) {
        snprintf(out, DFL_LEDGER_TEXT, decimals < 0 && units != 0 ? "%s%se%d" : "%s%s", sign, digits, -decimals);
        return;
    }
    if (len > decimals) {
        snprintf(out, DFL_LEDGER_TEXT, "%s%.*s.%s", sign, len - decimals, digits, digits + len - decimals);
        return;
    }
    n = snprintf(out, DFL_LEDGER_TEXT, "%s0.", sign);
    for (int i = len; i < decimals; i++)
        out[n++] = '0';
    snprintf(out + n, (size_t)(DFL_LEDGER_TEXT - n), "%s", digits);
}
