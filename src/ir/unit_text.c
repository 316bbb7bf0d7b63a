#include "ir/unit_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum { NO, SI, BIG, BINARY } prefixes;
typedef enum { NUMBER, DATA, TIME, OPS, RATE, ENERGY, POWER, FREQUENCY, CYCLE, AREA, MONEY, CARBON } unit_dim;

typedef struct {
    const char *name;
    size_t len;
    prefixes prefix;
    int64_t numerator, denominator;
    unit_dim dim;
} unit;

static const unit units[] = {
#define DFL_UNIT(name, prefix, numerator, denominator, dim) \
    { (name), sizeof(name) - 1, (prefix), (numerator), (denominator), (dim) },
#include "grammar/units.def"
#undef DFL_UNIT
};

static const dfl_dim dims[] = {
    [NUMBER] = { { 0 } },
    [DATA] = { { [DFL_BASE_DATA] = 1 } },
    [TIME] = { { [DFL_BASE_TIME] = 1 } },
    [OPS] = { { [DFL_BASE_OPS] = 1 } },
    [RATE] = { { [DFL_BASE_OPS] = 1, [DFL_BASE_TIME] = -1 } },
    [ENERGY] = { { [DFL_BASE_ENERGY] = 1 } },
    [POWER] = { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = -1 } },
    [FREQUENCY] = { { [DFL_BASE_CYCLE] = 1, [DFL_BASE_TIME] = -1 } },
    [CYCLE] = { { [DFL_BASE_CYCLE] = 1 } },
    [AREA] = { { [DFL_BASE_AREA] = 1 } },
    [MONEY] = { { [DFL_BASE_MONEY] = 1 } },
    [CARBON] = { { [DFL_BASE_CARBON] = 1 } },
};

/* A positive fraction `over / under` with a dimension. The fraction is reduced by powers of ten; `overflow`: the
   numerator or the denominator exceeds 128 bits. */
typedef struct {
    dfl_i128 over, under;
    dfl_dim dim;
    bool overflow;
} ratio;

static bool is_ten_times(dfl_i128 x)
{
    return x == (int64_t)x ? (int64_t)x % 10 == 0 : x % 10 == 0;
}

/* Multiplies a fraction by over / under. */
static void scale(ratio *r, dfl_i128 over, dfl_i128 under)
{
    /* powers of ten are the usual common factors: from digits after the point and from prefixes */
    while (r->under != 1 && is_ten_times(over) && is_ten_times(r->under)) {
        over /= 10;
        r->under /= 10;
    }
    while (under != 1 && is_ten_times(under) && is_ten_times(r->over)) {
        under /= 10;
        r->over /= 10;
    }
    if (over != 1)
        r->overflow |= dfl_mul(r->over, over, &r->over);
    if (under != 1)
        r->overflow |= dfl_mul(r->under, under, &r->under);
}

/* The factor of a prefix as a fraction: 1 for an empty text. False if the text is no prefix, or the unit does not take
   the prefix. */
static bool prefix_factor(const char *text, size_t len, prefixes allowed, int64_t *over, int64_t *under)
{
    static const char small[] = "munp", big[] = "kMGTPE", binary[] = "KMGTPE";
    const char *at;

    *over = *under = 1;
    if (len == 0)
        return true;
    if (len == 2 && text[1] == 'i' && allowed == BINARY && (at = strchr(binary, text[0])) != NULL) {
        *over = (int64_t)1 << (10 * (at - binary + 1));
        return true;
    }
    if (len != 1 || allowed == NO)
        return false;
    if (allowed == SI && (at = strchr(small, text[0])) != NULL) {
        for (long i = 0; i <= at - small; i++)
            *under *= 1000;
        return true;
    }
    if ((at = strchr(big, text[0])) == NULL || (allowed == SI && at >= strchr(big, 'P')))
        return false;
    for (long i = 0; i <= at - big; i++)
        *over *= 1000;
    return true;
}

/* Multiplies (sign 1) or divides (sign -1) a fraction by a unit with its prefix; false if the unit is unknown. */
static bool scale_by_unit(ratio *r, const char *text, size_t len, int sign)
{
    int64_t over, under;

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const unit *u = &units[i];

        if (text[len - 1] != u->name[u->len - 1] || len < u->len || len > u->len + 2 ||
            memcmp(text + len - u->len, u->name, u->len) != 0 ||
            !prefix_factor(text, len - u->len, u->prefix, &over, &under))
            continue;
        if (over != 1 || under != 1)
            scale(r, sign > 0 ? over : under, sign > 0 ? under : over);
        if (u->numerator != 1 || u->denominator != 1)
            scale(r, sign > 0 ? u->numerator : u->denominator, sign > 0 ? u->denominator : u->numerator);
        r->overflow |= !dfl_dim_product(r->dim, dims[u->dim], sign, &r->dim);
        return true;
    }
    return false;
}

/* Multiplies by a unit text like `GB/s`: one unit, then the units that divide it. */
static bool scale_by_suffix(ratio *r, const char *text, size_t len)
{
    int sign = 1;

    while (true) {
        const char *slash = memchr(text, '/', len);
        size_t part = slash != NULL ? (size_t)(slash - text) : len;

        if (part == 0 || !scale_by_unit(r, text, part, sign))
            return false;
        if (slash == NULL)
            return true;
        sign = -1;
        text += part + 1;
        len -= part + 1;
    }
}

typedef struct {
    ratio value;      /* digits without the point, divided by a power of ten */
    double real;
    bool wide;        /* the digits exceed 128 bits */
    size_t len;       /* number of characters of the number, without its unit */
} number;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void take_digit(number *n, int digit, bool fraction)
{
    dfl_i128 shifted;

    if (n->value.over < INT64_MAX / 10 && n->value.under < INT64_MAX / 10) {
        n->value.over = (int64_t)n->value.over * 10 + digit;
        n->value.under = fraction ? (int64_t)n->value.under * 10 : n->value.under;
        return;
    }
    n->wide = n->wide || dfl_mul(n->value.over, 10, &shifted) || dfl_add(shifted, digit, &n->value.over);
    if (fraction)
        n->wide = n->wide || dfl_mul(n->value.under, 10, &n->value.under);
}

/* Reads an exponent at the `e` and moves `*at` to the end of the exponent; false if no exponent follows. */
static bool take_exponent(const char *text, size_t len, size_t *at, int *exponent)
{
    size_t i = *at + 1;
    bool negative = i < len && text[i] == '-';

    if (i < len && (text[i] == '-' || text[i] == '+'))
        i++;
    if (i >= len || !is_digit(text[i]))
        return false;
    for (*exponent = 0; i < len && is_digit(text[i]); i++)
        if (*exponent < 100000)
            *exponent = *exponent * 10 + (text[i] - '0');
    if (negative)
        *exponent = -*exponent;
    *at = i;
    return true;
}

static bool read_number(const char *text, size_t len, number *n)
{
    char plain[512];
    size_t at = 0, used = 0;
    bool fraction = false, few;
    int exponent = 0;

    *n = (number){ .value = { .under = 1 } };
    while (at < len) {
        if (is_digit(text[at])) {
            take_digit(n, text[at] - '0', fraction);
        } else if (text[at] == '.' && !fraction && at > 0 && at + 1 < len && is_digit(text[at + 1])) {
            fraction = true;
        } else if (text[at] == '_' && at > 0 && is_digit(text[at - 1]) && at + 1 < len && is_digit(text[at + 1])) {
            at++;
            continue;
        } else {
            break;
        }
        if (used < sizeof plain - 16)
            plain[used++] = text[at];
        else
            n->wide = true;
        at++;
    }
    if (used == 0)
        return false;
    if (at < len && (text[at] == 'e' || text[at] == 'E'))
        (void)take_exponent(text, len, &at, &exponent);
    /* if the digits and the power of ten are exact doubles, their quotient is the nearest double (Clinger 1990) */
    few = FLT_EVAL_METHOD == 0 && exponent == 0 && !n->wide && n->value.over <= (int64_t)1 << 53 &&
          n->value.under <= (int64_t)1 << 53;
    for (int i = 0; i < exponent && !n->wide && n->value.over != 0; i++) {
        scale(&n->value, 10, 1);
        n->wide = n->value.overflow;
    }
    for (int i = 0; i > exponent && !n->wide && n->value.over != 0; i--) {
        scale(&n->value, 1, 10);
        n->wide = n->value.overflow;
    }
    n->len = at;
    /* the exponent has at most six digits and a sign */
    if (exponent != 0) {
        int left = exponent < 0 ? -exponent : exponent;
        int unit_place = 100000;

        plain[used++] = 'e';
        plain[used++] = exponent < 0 ? '-' : '+';
        for (; unit_place > 0; unit_place /= 10)
            plain[used++] = (char)('0' + left / unit_place % 10);
    }
    plain[used] = '\0';
    n->real = few ? (double)(int64_t)n->value.over / (double)(int64_t)n->value.under : strtod(plain, NULL);
    return true;
}

/* The quantity of a number with a unit: an exact integer of base units if possible, else the nearest double. */
static dfl_literal settle(const number *n, const ratio *suffix, bool has_suffix, dfl_quantity *out)
{
    ratio whole = n->value;
    bool wide = n->wide;

    if (!wide && has_suffix) {
        scale(&whole, suffix->over, suffix->under);
        wide = whole.overflow;
    }
    *out = dfl_quantity_real(has_suffix ? n->real * dfl_i128_double(suffix->over) / dfl_i128_double(suffix->under)
                                        : n->real,
                             has_suffix ? suffix->dim : DFL_DIM_NONE);
    if (!isfinite(out->real))
        return DFL_LITERAL_RANGE;
    if (!wide && (whole.under == 1 || whole.over % whole.under == 0)) {
        out->exact = true;
        out->integer = whole.under == 1 ? whole.over : whole.over / whole.under;
        out->real = dfl_i128_double(out->integer);
        return DFL_LITERAL_OK;
    }
    /* A whole number beyond 128 bits must not silently become an approximation. */
    return out->real >= 0x1p126 ? DFL_LITERAL_RANGE : DFL_LITERAL_OK;
}

/* Fast path for the common case: a literal of at most 18 digits and nothing else. */
static bool read_digits(const char *text, size_t len, dfl_quantity *out)
{
    int64_t value = 0;

    if (len == 0 || len > 18)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]))
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *out = (dfl_quantity){ .integer = value, .real = (double)value, .exact = true };
    return true;
}

dfl_literal dfl_quantity_parse(const char *text, size_t len, dfl_quantity *out, size_t *unit_at)
{
    ratio suffix = { .over = 1, .under = 1 };
    number n;

    if (unit_at != NULL)
        *unit_at = len;
    if (read_digits(text, len, out))
        return DFL_LITERAL_OK;
    *out = dfl_quantity_int(0);
    if (!read_number(text, len, &n))
        return DFL_LITERAL_MALFORMED;
    if (unit_at != NULL)
        *unit_at = n.len;
    if (n.len < len && !scale_by_suffix(&suffix, text + n.len, len - n.len))
        return DFL_LITERAL_UNIT;
    if (suffix.overflow)
        return DFL_LITERAL_RANGE;
    return settle(&n, &suffix, n.len < len, out);
}

/* ---- slips ---- */

/* Writes the prefix of a unit in the case that the unit takes: "n" for "N", "Ki" for "ki". False if there is none.
   `*sure` is cleared where both cases are prefixes, and the unit was in upper case: "MS" may be ms. */
static bool recase_prefix(const char *text, size_t len, const unit *u, bool upper, char *out, bool *sure)
{
    char swapped[3] = "";
    int64_t over, under;

    memcpy(swapped, text, len);
    swapped[len] = '\0';
    if (len > 0 && swapped[0] >= 'A')
        swapped[0] = (char)(swapped[0] ^ 32);
    if (len == 2 && swapped[1] == 'I')
        swapped[1] = 'i';
    if (len == 2 && swapped[0] >= 'a')
        swapped[0] = (char)(swapped[0] ^ 32);
    memcpy(out, text, len);
    out[len] = '\0';
    if (!prefix_factor(text, len, u->prefix, &over, &under)) {
        memcpy(out, swapped, sizeof swapped);
        return prefix_factor(swapped, len, u->prefix, &over, &under);
    }
    if (len == 1 && upper && text[0] < 'a' && prefix_factor(swapped, len, u->prefix, &over, &under)) {
        memcpy(out, swapped, sizeof swapped);
        *sure = false;
    }
    return true;
}

/* Appends one unit of a suffix with its letters in the right case. False if there is none. A `b` alone stays open: it may be
   a bit or a byte, but a binary prefix counts bytes. */
static bool append_recased(dfl_strbuf *out, const char *text, size_t len, bool *sure)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const unit *u = &units[i];
        size_t head = len - u->len;
        char prefix[3];

        if (len < u->len || head > 2 || strncasecmp(text + head, u->name, u->len) != 0 ||
            (strcmp(u->name, "B") == 0 && text[head] == 'b' && head != 2) ||
            !recase_prefix(text, head, u, text[len - 1] < 'a' && text[len - 1] != u->name[u->len - 1], prefix, sure))
            continue;
        if (strcmp(u->name, "B") == 0 && text[head] == 'b')
            *sure = false;
        dfl_strbuf_z(out, prefix);
        dfl_strbuf_z(out, u->name);
        return true;
    }
    return false;
}

/* The text with the letters of its units in the right case, or NULL. */
static const char *recase(dfl_arena *arena, const char *text, bool *sure)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (;;) {
        size_t part = strcspn(text, "/");

        if (part == 0 || !append_recased(&out, text, part, sure))
            return NULL;
        if (text[part] == '\0')
            return out.text;
        dfl_strbuf_char(&out, '/');
        text += part + 1;
    }
}

const char *dfl_unit_suggest(dfl_arena *arena, const char *text, bool *sure)
{
    static const struct { const char *from, *to; } slips[] = {
        { "bps", "bit/s" }, { "Bps", "B/s" }, { "b", "bit" }, { "bits", "bit" }, { "bytes", "B" }, { "byte", "B" },
        { "flops", "FLOPS" }, { "flop", "FLOP" }, { "ops", "OPS" }, { "cycles", "cycle" }, { "sec", "s" },
        { "clk", "cycle" }, { "MACs", "MAC" }, { "FLOPs", "FLOP" },
    };
    static const struct { const char *from, *to; } plurals[] = { { "MACs/", "MAC/" }, { "FLOPs/", "FLOP/" }, { "OPs/", "OP/" } };
    const char *fixed, *again;
    bool any;

    *sure = true;
    for (size_t i = 0; i < sizeof plurals / sizeof plurals[0]; i++) {
        const char *at = strstr(text, plurals[i].from);

        if (at != NULL && (again = recase(arena, dfl_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, plurals[i].to,
                                                                  at + strlen(plurals[i].from)), &any)) != NULL)
            return again;
    }
    if ((fixed = recase(arena, text, sure)) != NULL)
        return fixed;
    *sure = false;
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        const char *at = strstr(text, slips[i].from);
        if (at == NULL)
            continue;
        fixed = dfl_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, slips[i].to, at + strlen(slips[i].from));
        if ((again = recase(arena, fixed, &any)) != NULL)
            return again;
    }
    return NULL;
}

/* ---- printing ---- */

static void print_bases(dfl_strbuf *out, dfl_dim dim, int sign)
{
    static const char *const names[DFL_N_BASES] = { "data", "time", "operations", "energy", "money", "area", "carbon",
                                                    "cycle" };
    bool first = true;

    for (int i = 0; i < DFL_N_BASES; i++) {
        int power = sign * dim.power[i];

        if (power <= 0)
            continue;
        if (!first)
            dfl_strbuf_char(out, sign > 0 ? '*' : '/');
        first = false;
        dfl_strbuf_z(out, names[i]);
        if (power > 1)
            dfl_strbuf_printf(out, "^%d", power);
    }
    if (first)
        dfl_strbuf_char(out, '1');
}

void dfl_dim_print(dfl_strbuf *out, dfl_dim dim)
{
    bool under = false;

    if (dfl_dim_is_none(dim)) {
        dfl_strbuf_z(out, "number");
        return;
    }
    if (dfl_dim_equal(dim, dims[POWER])) {
        dfl_strbuf_z(out, "power");
        return;
    }
    if (dfl_dim_equal(dim, dims[FREQUENCY])) {
        dfl_strbuf_z(out, "frequency");
        return;
    }
    print_bases(out, dim, 1);
    for (int i = 0; i < DFL_N_BASES; i++)
        under = under || dim.power[i] < 0;
    if (under) {
        dfl_strbuf_char(out, '/');
        print_bases(out, dim, -1);
    }
}

/* The unit that prints a dimension. One `unit` is `per` base units; the printed unit is followed by the text
   `under`. */
typedef struct {
    dfl_dim dim;
    const char *unit, *under;
    double per;
    int lowest, highest; /* lowest and highest prefix in use, as powers of 1000 */
} shape;

static const shape shapes[] = {
    { { { [DFL_BASE_DATA] = 1 } }, "B", "", 8, 0, 5 },
    { { { [DFL_BASE_DATA] = 1, [DFL_BASE_TIME] = -1 } }, "B", "/s", 8, 0, 5 },
    { { { [DFL_BASE_DATA] = 1, [DFL_BASE_CYCLE] = -1 } }, "B", "/cycle", 8, 0, 0 },
    { { { [DFL_BASE_TIME] = 1 } }, "s", "", 1, -4, 0 },
    { { { [DFL_BASE_OPS] = 1 } }, "FLOP", "", 1, 0, 5 },
    { { { [DFL_BASE_OPS] = 1, [DFL_BASE_TIME] = -1 } }, "FLOPS", "", 1, 0, 5 },
    { { { [DFL_BASE_OPS] = 1, [DFL_BASE_CYCLE] = -1 } }, "FLOP", "/cycle", 1, 0, 0 },
    { { { [DFL_BASE_ENERGY] = 1 } }, "J", "", 1, -4, 4 },
    { { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = -1 } }, "W", "", 1, -4, 4 },
    { { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_DATA] = -1 } }, "J", "/bit", 1, -4, 0 },
    { { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_OPS] = -1 } }, "J", "/FLOP", 1, -4, 0 },
    { { { [DFL_BASE_CYCLE] = 1 } }, "cycle", "", 1, 0, 0 },
    { { { [DFL_BASE_CYCLE] = 1, [DFL_BASE_TIME] = -1 } }, "Hz", "", 1, 0, 4 },
    { { { [DFL_BASE_AREA] = 1 } }, "mm2", "", 1e-6, 0, 0 },
    { { { [DFL_BASE_MONEY] = 1 } }, "USD", "", 1, 0, 4 },
    { { { [DFL_BASE_CARBON] = 1 } }, "gCO2e", "", 1, 0, 4 },
};

static void print_number(dfl_strbuf *out, double value)
{
    if (value == floor(value) && fabs(value) < 1e15)
        dfl_strbuf_printf(out, "%.0f", value);
    else
        dfl_strbuf_printf(out, "%.6g", value);
}

/* Prints a multiple of a KiB with a binary prefix, unless its bytes are a multiple of 1000: "1MiB" is shorter than
   "1.04858MB", and "1MB" than "976.562KiB". False if nothing was printed. */
static bool print_binary(dfl_strbuf *out, const dfl_quantity *value)
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    dfl_i128 bytes = value->integer / 8;
    size_t n = 0;

    if (!value->exact || value->integer % (8 * 1024) != 0 || bytes == 0 || bytes % 1000 == 0)
        return false;
    for (bytes /= 1024; bytes % 1024 == 0 && n + 1 < sizeof names / sizeof names[0]; n++)
        bytes /= 1024;
    dfl_strbuf_i128(out, bytes);
    dfl_strbuf_z(out, names[n]);
    return true;
}

static void print_shaped(dfl_strbuf *out, const shape *s, double value)
{
    static const char *const prefix[] = { "p", "n", "u", "m", "", "k", "M", "G", "T", "P" };
    double scaled = value / s->per;
    int thousands = 0;

    while (fabs(scaled) >= 1000 && thousands < s->highest) {
        scaled /= 1000;
        thousands++;
    }
    while (scaled != 0 && fabs(scaled) < 1 && thousands > s->lowest) {
        scaled *= 1000;
        thousands--;
    }
    print_number(out, scaled);
    dfl_strbuf_printf(out, "%s%s%s", prefix[thousands + 4], s->unit, s->under);
}

void dfl_quantity_print(dfl_strbuf *out, dfl_quantity value)
{
    if (dfl_dim_is_none(value.dim)) {
        if (value.exact)
            dfl_strbuf_i128(out, value.integer);
        else
            print_number(out, value.real);
        return;
    }
    if (dfl_dim_equal(value.dim, dims[DATA])) {
        if (print_binary(out, &value))
            return;
        if (value.real != 8 * floor(value.real / 8)) {
            print_number(out, value.real);
            dfl_strbuf_z(out, "bit");
            return;
        }
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (dfl_dim_equal(value.dim, shapes[i].dim)) {
            print_shaped(out, &shapes[i], value.real);
            return;
        }
    }
    print_number(out, value.real);
    dfl_strbuf_char(out, ' ');
    dfl_dim_print(out, value.dim);
}

/* ---- writing exactly ---- */

static void write_power(dfl_strbuf *out, dfl_dim dim, int sign, const char *between, bool ones, bool *any)
{
    static const char *const names[DFL_N_BASES] = { "bit", "s", "FLOP", "J", "USD", "m2", "gCO2e", "cycle" };

    for (int i = 0; i < DFL_N_BASES; i++)
        for (int k = 0; k < sign * dim.power[i]; k++) {
            if (*any || sign < 0)
                dfl_strbuf_z(out, between);
            if (ones && (*any || sign < 0))
                dfl_strbuf_char(out, '1');
            dfl_strbuf_z(out, names[i]);
            *any = true;
        }
}

/* Writes the fewest digits (15 to 17) that parse to the same double. */
static void write_real(dfl_strbuf *out, double value)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    dfl_strbuf_z(out, text);
}

void dfl_quantity_write(dfl_strbuf *out, dfl_quantity value)
{
    bool any = false;
    size_t start = out->len;
    dfl_quantity again;
    int over = 0;

    if (value.exact && dfl_dim_is_none(value.dim)) {
        dfl_strbuf_i128(out, value.integer);
        return;
    }
    /* the readable form, which often is exact, is tried first */
    dfl_quantity_print(out, value);
    if (dfl_quantity_parse(out->text + start, out->len - start, &again, NULL) == DFL_LITERAL_OK &&
        again.exact == value.exact && again.integer == value.integer && again.real == value.real &&
        dfl_dim_equal(again.dim, value.dim))
        return;
    out->len = start;
    out->text[start] = '\0';

    for (int i = 0; i < DFL_N_BASES; i++)
        over += value.dim.power[i] > 0 ? value.dim.power[i] : 0;
    if (value.exact)
        dfl_strbuf_i128(out, value.integer);
    else
        write_real(out, value.real);
    /* a literal has one unit in the numerator; further units become factors */
    write_power(out, value.dim, 1, " * ", true, &any);
    write_power(out, value.dim, -1, over == 1 ? "/" : " / ", over != 1, &any);
}
