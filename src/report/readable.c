#include "report/readable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/number.h"

enum { DIGITS = 4, MORE_DIGITS = 6 }; /* number of significant digits; MORE_DIGITS for units without prefix */

/* From here on, four digits would round to 1000 of the present prefix. */
static const double next_prefix = 999.95;

void dfl_human(double value, const char *unit, char out[DFL_UNIT_TEXT])
{
    static const char *const prefixes[] = { "a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    enum { NONE = 6 };
    char digits[32];
    double size = fabs(value);
    int i = NONE;

    if (isfinite(value) && size != 0) {
        for (; size >= next_prefix && i < 2 * NONE; i++)
            size /= 1000;
        for (; size < 0.99995 && i > 0; i--)
            size *= 1000;
        if (size < 0.99995 || size >= next_prefix) { /* the value is outside the range of all prefixes */
            size = fabs(value);
            i = NONE;
        }
    }
    dfl_double_text_short(value < 0 ? -size : size, DIGITS, digits);
    snprintf(out, DFL_UNIT_TEXT, "%s%s%s%s", digits, *unit || i != NONE ? " " : "", prefixes[i], unit);
}

/* The number of the largest prefix (1 = kilo) with which the value is a whole number below `base`; 0 = none. */
static size_t whole_prefix(dfl_i128 bytes, int64_t base)
{
    size_t i = 0;

    while (i < 6 && bytes >= base && bytes % base == 0) {
        bytes /= base;
        i++;
    }
    return bytes < base ? i : 0;
}

void dfl_human_bits(dfl_i128 bits, char out[DFL_UNIT_TEXT])
{
    static const char *const decimal[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    static const char *const binary[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    char digits[32];
    double bytes = dfl_i128_double(bits) / 8;
    size_t i = 0;

    if (bits % 8 != 0 && bytes < 1024) {
        dfl_double_text_short(dfl_i128_double(bits), DIGITS, digits);
        snprintf(out, DFL_UNIT_TEXT, "%s bit", digits);
        return;
    }
    i = bits % 8 == 0 ? whole_prefix(bits / 8, 1000) : 0;
    if (i > 0) {
        for (size_t k = 0; k < i; k++)
            bytes /= 1000;
        dfl_double_text_short(bytes, DIGITS, digits);
        snprintf(out, DFL_UNIT_TEXT, "%s %s", digits, decimal[i]);
        return;
    }
    for (; bytes >= 1024 && i < 6; i++)
        bytes /= 1024;
    dfl_double_text_short(bytes, DIGITS, digits);
    snprintf(out, DFL_UNIT_TEXT, "%s %s", digits, binary[i]);
}

void dfl_human_count(dfl_i128 count, char out[DFL_UNIT_TEXT])
{
    static const char *const large[] = { "", "k", "M", "G", "T", "P", "E" };
    char digits[41];
    double size = dfl_i128_double(count);
    size_t i = 0;

    if (count > -100000 && count < 100000) {
        dfl_i128_text(count, digits);
        snprintf(out, DFL_UNIT_TEXT, "%s", digits);
        return;
    }
    for (; fabs(size) >= next_prefix && i < 6; i++)
        size /= 1000;
    if (fabs(size) >= next_prefix) {
        size = dfl_i128_double(count);
        i = 0;
    }
    dfl_double_text_short(size, DIGITS, digits);
    snprintf(out, DFL_UNIT_TEXT, "%s%s", digits, large[i]);
}

void dfl_human_exact(dfl_i128 count, char out[DFL_UNIT_TEXT + 16])
{
    char digits[41];
    size_t len = dfl_i128_text(count, digits), n = 0;

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
            out[n++] = ' ';
        out[n++] = digits[i];
    }
    out[n] = '\0';
}

/* Writes the name of a dimension in SI units: "J*s", "bit/s". Returns true if a prefix before the name applies to its first
   unit. */
static bool name_unit(dfl_dim dim, char out[DFL_UNIT_TEXT])
{
    static const struct { dfl_base base; const char *name; } all[DFL_N_BASES] = {
        { DFL_BASE_ENERGY, "J" }, { DFL_BASE_DATA, "bit" }, { DFL_BASE_OPS, "FLOP" }, { DFL_BASE_MONEY, "USD" },
        { DFL_BASE_CARBON, "gCO2e" }, { DFL_BASE_AREA, "m2" }, { DFL_BASE_CYCLE, "cycle" }, { DFL_BASE_TIME, "s" },
    };
    size_t len = 0;
    bool takes_prefix = true;

    out[0] = '\0';
    for (int sign = 1; sign >= -1; sign -= 2)
        for (size_t i = 0; i < DFL_N_BASES && len < DFL_UNIT_TEXT; i++) {
            int power = sign * dim.power[all[i].base];
            const char *before = sign < 0 ? len > 0 ? "/" : "1/" : len > 0 ? "*" : "";

            takes_prefix &= power <= 0 || len > 0 || (sign > 0 && power == 1 && all[i].base != DFL_BASE_AREA);
            if (power == 1)
                len += (size_t)snprintf(out + len, DFL_UNIT_TEXT - len, "%s%s", before, all[i].name);
            else if (power > 1)
                len += (size_t)snprintf(out + len, DFL_UNIT_TEXT - len, "%s%s^%d", before, all[i].name, power);
        }
    return takes_prefix && len > 0;
}

void dfl_human_quantity(double value, dfl_dim dim, char out[DFL_UNIT_TEXT])
{
    static const double most_bits = 9007199254740992; /* 2^53: all integers up to here are exact as double */
    char unit[DFL_UNIT_TEXT], digits[32];

    if (dfl_dim_equal(dim, dfl_dim_of(DFL_BASE_DATA)) && value == floor(value) && fabs(value) <= most_bits) {
        dfl_human_bits((dfl_i128)value, out);
        return;
    }
    if (name_unit(dim, unit)) {
        dfl_human(value, unit, out);
        return;
    }
    dfl_double_text_short(value, MORE_DIGITS, digits);
    snprintf(out, DFL_UNIT_TEXT, "%.20s%s%.24s", digits, *unit ? " " : "", unit);
}

void dfl_human_share(double part, double whole, char out[DFL_UNIT_TEXT])
{
    if (!(whole > 0) || !isfinite(part))
        snprintf(out, DFL_UNIT_TEXT, "-");
    else
        snprintf(out, DFL_UNIT_TEXT, "%.1f %%", 100 * part / whole);
}
