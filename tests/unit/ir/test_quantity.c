#include "tests/harness/check.h"

#include <string.h>

#include "ir/quantity.h"
#include "ir/unit_text.h"

typedef struct {
    const char *name; /* the literal */
    dfl_literal status;
    bool exact;
    double real;
    const char *dim, *text;
} literal_case;

static const literal_case literals[] = {
    { "2048",          DFL_LITERAL_OK, true,  2048, "number", "2048" },
    { "1_048_576",     DFL_LITERAL_OK, true,  1048576, "number", "1048576" },
    { "1.5",           DFL_LITERAL_OK, false, 1.5, "number", "1.5" },
    { "2e9",           DFL_LITERAL_OK, true,  2e9, "number", "2000000000" },
    { "25e-1",         DFL_LITERAL_OK, false, 2.5, "number", "2.5" },
    { "20e-1",         DFL_LITERAL_OK, true,  2, "number", "2" },
    { "85%",           DFL_LITERAL_OK, false, 0.85, "number", "0.85" },
    { "100%",          DFL_LITERAL_OK, true,  1, "number", "1" },
    { "40GB",          DFL_LITERAL_OK, true,  320e9, "data", "40GB" },
    { "1.5MiB",        DFL_LITERAL_OK, true,  1.5 * 8 * 1048576, "data", "1536KiB" },
    { "3bit",          DFL_LITERAL_OK, true,  3, "data", "3bit" },
    { "0.1B",          DFL_LITERAL_OK, false, 0.8, "data", "0.8bit" },
    { "1.5TB/s",       DFL_LITERAL_OK, true,  12e12, "data/time", "1.5TB/s" },
    { "400Gbit/s",     DFL_LITERAL_OK, true,  400e9, "data/time", "50GB/s" },
    { "7pJ/bit",       DFL_LITERAL_OK, false, 7e-12, "energy/data", "7pJ/bit" },
    { "64B/cycle",     DFL_LITERAL_OK, true,  512, "data/cycle", "64B/cycle" },
    { "1MAC/cycle",    DFL_LITERAL_OK, true,  2, "operations/cycle", "2FLOP/cycle" },
    { "312TFLOPS",     DFL_LITERAL_OK, true,  312e12, "operations/time", "312TFLOPS" },
    { "1.41GHz",       DFL_LITERAL_OK, true,  1.41e9, "frequency", "1.41GHz" },
    { "10us",          DFL_LITERAL_OK, false, 1e-5, "time", "10us" },
    { "400W",          DFL_LITERAL_OK, true,  400, "power", "400W" },
    { "20mm2",         DFL_LITERAL_OK, false, 2e-5, "area", "20mm2" },
    { "12kUSD",        DFL_LITERAL_OK, true,  12000, "money", "12kUSD" },
    { "0.4kgCO2e/kWh", DFL_LITERAL_OK, false, 400.0 / 3.6e6, "carbon/energy", "0.000111111 carbon/energy" },
    { "170141183460469231731687303715884105727", DFL_LITERAL_OK, true, 0x1p127, "number",
      "170141183460469231731687303715884105727" },
    { "170141183460469231731687303715884105728", DFL_LITERAL_RANGE, false, 0, NULL, NULL },
    { "1e99999999999", DFL_LITERAL_RANGE, false, 0, NULL, NULL },
    { "40Gb",          DFL_LITERAL_UNIT, false, 0, NULL, NULL },
    { "40GB/",         DFL_LITERAL_UNIT, false, 0, NULL, NULL },
    { "1kiB",          DFL_LITERAL_UNIT, false, 0, NULL, NULL },
    { "1KiJ",          DFL_LITERAL_UNIT, false, 0, NULL, NULL },
    { "GB",            DFL_LITERAL_MALFORMED, false, 0, NULL, NULL },
    { "1_",            DFL_LITERAL_UNIT, false, 0, NULL, NULL },
};

static void reads_and_prints(void **state)
{
    const literal_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf out;
    dfl_quantity value, again;

    assert_int_equal(dfl_quantity_parse(c->name, strlen(c->name), &value, NULL), c->status);
    if (c->status == DFL_LITERAL_OK) {
        assert_int_equal(value.exact, c->exact);
        assert_close(value.real, c->real, 1e-15);
        dfl_strbuf_init(&out, arena);
        dfl_dim_print(&out, value.dim);
        assert_string_equal(out.text, c->dim);
        dfl_strbuf_init(&out, arena);
        dfl_quantity_print(&out, value);
        assert_string_equal(out.text, c->text);
        dfl_strbuf_init(&out, arena);
        dfl_quantity_write(&out, value);
        assert_int_equal(dfl_quantity_parse(out.text, out.len, &again, NULL), DFL_LITERAL_OK);
        assert_true(again.exact == value.exact && again.real == value.real && again.integer == value.integer);
        assert_true(dfl_dim_equal(again.dim, value.dim));
    }
    dfl_arena_free(arena);
}

static void says_where_the_unit_starts(void **state)
{
    dfl_quantity value;
    size_t at;

    (void)state;
    assert_int_equal(dfl_quantity_parse("1_0.5e3GB/s", 11, &value, &at), DFL_LITERAL_OK);
    assert_int_equal(at, 7);
    assert_close(value.real, 10500 * 8e9, 0);
    /* an `e` without a digit behind it belongs to the unit */
    assert_int_equal(dfl_quantity_parse("5eV", 3, &value, &at), DFL_LITERAL_UNIT);
    assert_int_equal(at, 1);
}

static dfl_quantity lit(const char *text)
{
    dfl_quantity value;

    assert_int_equal(dfl_quantity_parse(text, strlen(text), &value, NULL), DFL_LITERAL_OK);
    return value;
}

typedef dfl_arith (*binary)(dfl_quantity a, dfl_quantity b, dfl_quantity *out);

static dfl_arith div_up(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    return dfl_quantity_div_round(a, b, true, out);
}

static dfl_arith div_down(dfl_quantity a, dfl_quantity b, dfl_quantity *out)
{
    return dfl_quantity_div_round(a, b, false, out);
}

typedef struct {
    const char *name;
    binary run;
    const char *a, *b;
    bool negate;      /* the first operand */
    dfl_arith status;
    const char *text; /* of the result */
} arith_case;

#define WIDEST "170141183460469231731687303715884105727"

static const arith_case ariths[] = {
    { "sum of data",        dfl_quantity_add, "1MiB", "512KiB", false, DFL_ARITH_OK, "1536KiB" },
    { "data plus time",     dfl_quantity_add, "1MiB", "1s", false, DFL_ARITH_DIMENSION, NULL },
    { "sum too wide",       dfl_quantity_add, WIDEST, "1", false, DFL_ARITH_OVERFLOW, NULL },
    { "product too wide",   dfl_quantity_mul, WIDEST, "2", false, DFL_ARITH_OVERFLOW, NULL },
    { "energy of data",     dfl_quantity_mul, "7pJ/bit", "2B", false, DFL_ARITH_OK, "112pJ" },
    { "rate of a clock",    dfl_quantity_mul, "64B/cycle", "1GHz", false, DFL_ARITH_OK, "64GB/s" },
    { "exact quotient",     dfl_quantity_div, "12", "4", false, DFL_ARITH_OK, "3" },
    { "inexact quotient",   dfl_quantity_div, "13", "4", false, DFL_ARITH_INEXACT, NULL },
    { "rest of a ratio",    dfl_quantity_div, "1MiB", "3B", false, DFL_ARITH_INEXACT, NULL },
    { "inexact rate",       dfl_quantity_div, "262TFLOPS", "72", false, DFL_ARITH_OK, "3.63889TFLOPS" },
    { "by zero",            dfl_quantity_div, "1", "0", false, DFL_ARITH_ZERO, NULL },
    { "floor below zero",   div_down, "7", "2", true, DFL_ARITH_OK, "-4" },
    { "ceil below zero",    div_up, "7", "2", true, DFL_ARITH_OK, "-3" },
    { "floor",              div_down, "7", "2", false, DFL_ARITH_OK, "3" },
    { "ceil",               div_up, "7", "2", false, DFL_ARITH_OK, "4" },
    { "floor of a fraction", div_down, "7.5", "2", false, DFL_ARITH_OK, "3" },
    { "mod below zero",     dfl_quantity_mod, "7", "4", true, DFL_ARITH_OK, "1" },
    { "power",              dfl_quantity_pow, "3", "4", false, DFL_ARITH_OK, "81" },
    { "power too wide",     dfl_quantity_pow, "2", "127", false, DFL_ARITH_OVERFLOW, NULL },
    { "widest power",       dfl_quantity_pow, "2", "126", false, DFL_ARITH_OK, "85070591730234615865843651857942052864" },
    { "fractional power",   dfl_quantity_pow, "16", "0.5", false, DFL_ARITH_OK, "4" },
    { "power of data",      dfl_quantity_pow, "2B", "0.5", false, DFL_ARITH_DOMAIN, NULL },
};

static void computes(void **state)
{
    const arith_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_quantity a = lit(c->a), value;
    dfl_strbuf out;

    if (c->negate)
        assert_int_equal(dfl_quantity_sub(dfl_quantity_int(0), a, &a), DFL_ARITH_OK);
    assert_int_equal(c->run(a, lit(c->b), &value), c->status);
    if (c->status == DFL_ARITH_OK) {
        dfl_strbuf_init(&out, arena);
        dfl_quantity_print(&out, value);
        assert_string_equal(out.text, c->text);
    }
    dfl_arena_free(arena);
}

static void roots_and_logarithms_stay_exact(void **state)
{
    dfl_quantity value;

    (void)state;
    assert_int_equal(dfl_quantity_sqrt(lit("1_000_002_000_001"), &value), DFL_ARITH_OK);
    assert_true(value.exact && value.integer == 1000001);
    assert_int_equal(dfl_quantity_sqrt(lit("2"), &value), DFL_ARITH_OK);
    assert_false(value.exact);
    assert_int_equal(dfl_quantity_sqrt(lit("2B"), &value), DFL_ARITH_DOMAIN);
    assert_int_equal(dfl_quantity_log2(lit("4096"), &value), DFL_ARITH_OK);
    assert_true(value.exact && value.integer == 12);
    assert_int_equal(dfl_quantity_log2(lit("0"), &value), DFL_ARITH_DOMAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_where_the_unit_starts),
        cmocka_unit_test(roots_and_logarithms_stay_exact),
    };
    int failed = CHECK_TABLE("ir.literal", literals, reads_and_prints);

    failed += CHECK_TABLE("ir.arithmetic", ariths, computes);
    return failed + CHECK_GROUP("ir.quantity", tests);
}
