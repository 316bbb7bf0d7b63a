#include "lint/bit_byte.h"

#include "ir/unit_text.h"

#include <string.h>

static bool names_unit(const dfl_expr *literal, const char *unit)
{
    size_t len = strlen(unit);

    for (size_t at = 0; at + len <= literal->len; at++)
        if (memcmp(literal->text + at, unit, len) == 0)
            return true;
    return false;
}

/* The part of a unit that confuses bits and bytes: `B` of `pJ/B`, `bit` of `Mbit`. NULL for usual units and for `bit`
   without prefix. */
static const char *find_slip(const char *unit, const dfl_dim *dim)
{
    bool per_bit = dim->power[DFL_BASE_ENERGY] == 1 && dim->power[DFL_BASE_DATA] == -1;
    const char *slip = strstr(unit, per_bit ? "B" : "bit");

    if (slip == NULL || slip == unit)
        return NULL;
    if (per_bit)
        return slip[-1] == '/' ? slip : NULL;
    return dim->power[DFL_BASE_DATA] == 1 && strstr(unit, "/cycle") == NULL ? slip : NULL;
}

void dfl_lint_bit_byte(dfl_sink *sink, const dfl_lint_levels *levels, const dfl_expr *literal, const char *attribute,
                       const dfl_dim *dim)
{
    dfl_quantity q;
    size_t at;
    const char *unit, *slip;
    bool to_bits;
    dfl_diag *d;

    if (literal->kind != DFL_EXPR_NUMBER || !names_unit(literal, dim->power[DFL_BASE_DATA] == 1 ? "bit" : "/B") ||
        dfl_quantity_parse(literal->text, literal->len, &q, &at) != DFL_LITERAL_OK)
        return;
    unit = dfl_arena_copy(dfl_sink_arena(sink), literal->text + at, literal->len - at);
    slip = find_slip(unit, dim);
    if (slip == NULL)
        return;
    to_bits = *slip == 'B';
    d = dfl_report_lint(sink, levels, DFL_LINT_BIT_BYTE, literal->span, "`%s` of a memory is usually given in %s",
                        attribute, to_bits ? "bits" : "bytes");
    dfl_diag_help(sink, d, "1B is 8bit: if `%s` is a slip, write `%.*s%.*s%s%s`", unit, (int)at, literal->text,
                  (int)(slip - unit), unit, to_bits ? "bit" : "B", slip + strlen(to_bits ? "B" : "bit"));
}
