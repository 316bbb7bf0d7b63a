/* Output of the printers, compared with files in tests/golden/report; DFL_BLESS=1 rewrites these files. */
#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/columns/columns.h"
#include "report/print/print.h"
#include "report/readable.h"
#include "support/json.h"
#include "tests/unit/report/fixture.h"

static dfl_val nothing_said;

/* Adds the outcomes of four checks, and a diagnostic. */
static void add_checks(fixture *f)
{
    dfl_check *checks = DFL_NEW_ARRAY(f->arena, dfl_check, 4);
    dfl_check_outcome *outcomes = DFL_NEW_ARRAY(f->arena, dfl_check_outcome, 4);

    checks[0] = (dfl_check){ .kind = DFL_CHECK_REQUIRE, .expr = &nothing_said, .span = { 37, 40 },
                             .text = "peak(sram) <= 64KiB", .scope = f->mapping[0].name };
    checks[1] = (dfl_check){ .kind = DFL_CHECK_EXPECT, .expr = &nothing_said, .text = "tiled.latency < 1us" };
    checks[2] = (dfl_check){ .kind = DFL_CHECK_ASSUME, .expr = &nothing_said, .text = "dram.energy == 7pJ/bit",
                             .source = dfl_intern_z(f->names, "table \"4\"") };
    checks[3] = (dfl_check){ .kind = DFL_CHECK_EXPECT, .expr = &nothing_said, .text = "tiled.bound_by == \"mac\"" };
    outcomes[0] = (dfl_check_outcome){ &checks[0], DFL_OUTCOME_PASSED, "4KiB", true, 32768, NULL, NULL };
    outcomes[1] = (dfl_check_outcome){ &checks[1], DFL_OUTCOME_FAILED, "7.524us", true, 7.524e-6, NULL, NULL };
    outcomes[2] = (dfl_check_outcome){ &checks[2], DFL_OUTCOME_PASSED, "7pJ/bit", true, 7e-12, NULL, NULL };
    outcomes[3] = (dfl_check_outcome){ &checks[3], DFL_OUTCOME_UNKNOWN, NULL, false, 0, "sram.read", NULL };
    f->results.checks = outcomes;
    f->results.n_checks = 4;
    dfl_report(f->sink, DFL_MAP_CAPACITY, (dfl_span){ 37, 41 }, "`sram` overflows by %d bytes", 12);
}

static void compare(const char *path, const dfl_strbuf *got)
{
    size_t len;
    char *want;

    if (getenv("DFL_BLESS")) {
        FILE *out = fopen(path, "wb");

        assert_non_null(out);
        assert_int_equal(fwrite(got->text, 1, got->len, out), got->len);
        assert_int_equal(fclose(out), 0);
    }
    want = check_read_file(path, &len);
    assert_non_null(want);
    assert_string_equal(got->text, want);
    free(want);
}

static void text_is_as_agreed(void **state)
{
    fixture *f = fixture_new();
    dfl_strbuf out;

    (void)state;
    add_checks(f);
    dfl_strbuf_init(&out, f->arena);
    dfl_report_text(&out, &f->results, 4);
    compare("tests/golden/report/full.txt", &out);
    fixture_free(f);
}

static void many_mappings_are_one_line_each(void **state)
{
    fixture *f = fixture_new();
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_text(&out, &f->results, 1);
    compare("tests/golden/report/short.txt", &out);
    fixture_free(f);
}

static void json_is_as_agreed(void **state)
{
    fixture *f = fixture_new();
    dfl_strbuf out;

    (void)state;
    add_checks(f);
    dfl_strbuf_init(&out, f->arena);
    dfl_report_json(&out, &f->results);
    compare("tests/golden/report/full.json", &out);
    fixture_free(f);
}

static void json_keeps_every_digit(void **state)
{
    fixture *f = fixture_new();
    const dfl_json *json, *memory, *tensor;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_json(&out, &f->results);
    json = dfl_json_parse(f->arena, out.text, out.len, NULL);
    assert_non_null(json);
    memory = dfl_json_at(dfl_json_get(dfl_json_at(dfl_json_get(json, "results"), 0), "memories"), 1);
    tensor = dfl_json_get(dfl_json_get(memory, "tensors"), "A");
    assert_non_null(tensor);
    assert_int_equal(dfl_json_get(tensor, "serve")->kind, DFL_JSON_BIG);
    assert_string_equal(dfl_json_get(tensor, "serve")->text, "73786976294838206464"); /* 2^66 */
    assert_string_equal(dfl_json_get(tensor, "reads")->text, "73786976294838206464");
    assert_int_equal(dfl_json_get(tensor, "writes")->integer, 2048);
    fixture_free(f);
}

static void a_sum_beyond_128_bits_is_null(void **state)
{
    fixture *f = fixture_new();
    dfl_traffic traffic = { .memory = 0, .tensor = 0 };
    const dfl_json *json, *memory, *tensor;
    dfl_strbuf out;

    (void)state;
    traffic.counts.serve = traffic.counts.drain = (dfl_i128)(((unsigned __int128)1 << 127) - 1);
    f->result.traffic = &traffic;
    f->result.n_traffic = 1;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_json(&out, &f->results);
    json = dfl_json_parse(f->arena, out.text, out.len, NULL);
    memory = dfl_json_at(dfl_json_get(dfl_json_at(dfl_json_get(json, "results"), 0), "memories"), 0);
    tensor = dfl_json_get(dfl_json_get(memory, "tensors"), "A");
    assert_int_equal(dfl_json_get(tensor, "reads")->kind, DFL_JSON_NULL);
    assert_string_equal(dfl_json_get(tensor, "drain")->text, "170141183460469231731687303715884105727");
    dfl_strbuf_init(&out, f->arena);
    dfl_report_text(&out, &f->results, 2);
    assert_non_null(strstr(out.text, "> 2^127 bit"));
    fixture_free(f);
}

/* Latency and energy add up; a number of operations beyond 128 bits leaves the sum out. */
static void the_sum_is_that_of_all_results(void **state)
{
    fixture *f = fixture_new();
    const dfl_json *json, *sum;
    dfl_strbuf out;

    (void)state;
    f->results.has_sum = true;
    f->items[1].result = &f->result;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_json(&out, &f->results);
    json = dfl_json_parse(f->arena, out.text, out.len, NULL);
    sum = dfl_json_get(json, "sum");
    assert_non_null(sum);
    assert_int_equal(dfl_json_get(sum, "mappings")->integer, 2);
    assert_int_equal(dfl_json_get(dfl_json_get(sum, "operations"), "mac")->integer, 2 * 98304);
    assert_non_null(strstr(out.text, "\"cycles\": 15048.0"));
    f->result.macs = (dfl_i128)1 << 126;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_json(&out, &f->results);
    json = dfl_json_parse(f->arena, out.text, out.len, NULL);
    assert_null(dfl_json_get(json, "sum"));
    dfl_strbuf_init(&out, f->arena);
    dfl_report_text(&out, &f->results, 1);
    assert_non_null(strstr(out.text, "> 2^127"));
    fixture_free(f);
}

static void columns_stand_for_all_parts(void **state)
{
    fixture *f = fixture_new();
    dfl_unknown_column unknown;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, f->arena);
    assert_true(dfl_report_columns(&out, &f->results, "buffer_required, bound_by", true, &unknown));
    assert_string_equal(out.text, "mapping,dram.buffer_required,dram.A.buffer_required,dram.l[1].Y.buffer_required,"
                                  "sram.buffer_required,sram.A.buffer_required,reg.buffer_required,reg.Z.buffer_required,"
                                  "bound_by\r\n"
                                  "tiled,40960,16384,24576,32768,32768,32,32,sram.read\r\n"
                                  "too_big,,,,,,,,\r\n");
    dfl_strbuf_init(&out, f->arena);
    assert_true(dfl_report_columns(&out, &f->results, "dram.l[1].Y.peak,Y.latency", false, &unknown));
    assert_non_null(strstr(out.text, "24 ns"));
    dfl_strbuf_init(&out, f->arena);
    assert_false(dfl_report_columns(&out, &f->results, "latency,sram.buffer", false, &unknown));
    assert_non_null(strstr(unknown.message, "there is no `buffer`"));
    assert_int_equal(unknown.at, strlen("latency,sram."));
    assert_int_equal(unknown.len, strlen("buffer"));
    assert_int_equal(out.len, 0);
    fixture_free(f);
}

static void csv_is_as_agreed(void **state)
{
    fixture *f = fixture_new();
    dfl_strbuf out;

    (void)state;
    f->mapping[1].name = dfl_intern_z(f->names, "with, comma and \"quote\"");
    dfl_strbuf_init(&out, f->arena);
    dfl_report_csv(&out, &f->results);
    compare("tests/golden/report/full.csv", &out);
    fixture_free(f);
}

/* Every row has as many fields as the header; no field of this table contains a comma. */
static void csv_rows_are_even(void **state)
{
    fixture *f = fixture_new();
    size_t want = 0, rows = 0;
    dfl_strbuf out;

    (void)state;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_csv(&out, &f->results);
    for (const char *line = out.text; *line; rows++) {
        size_t commas = 0;

        for (; *line != '\n'; line++)
            commas += *line == ',';
        line++;
        if (rows == 0)
            want = commas;
        assert_int_equal(commas, want);
    }
    assert_int_equal(rows, 7);
    fixture_free(f);
}

static void reports_repeat_byte_for_byte(void **state)
{
    fixture *f = fixture_new(), *g = fixture_new();
    dfl_strbuf a, b;

    (void)state;
    add_checks(f);
    add_checks(g);
    g->results.file = "/another/place/gemm.dfl"; /* directories are not part of a report */
    dfl_strbuf_init(&a, f->arena);
    dfl_strbuf_init(&b, g->arena);
    dfl_report_json(&a, &f->results);
    g->results.file = f->results.file;
    dfl_report_json(&b, &g->results);
    assert_string_equal(a.text, b.text);
    assert_string_equal(dfl_report_file("/another/place/gemm.dfl"), "gemm.dfl");
    assert_string_equal(dfl_report_file("gemm.dfl"), "gemm.dfl");
    assert_string_equal(dfl_report_file("<stdin>"), "<stdin>");
    fixture_free(f);
    fixture_free(g);
}

static void no_energy_is_not_zero_energy(void **state)
{
    fixture *f = fixture_new();
    dfl_memory *memories = DFL_NEW_ARRAY(f->arena, dfl_memory, 3);
    dfl_compute *computes = DFL_NEW_ARRAY(f->arena, dfl_compute, 2);
    dfl_strbuf out;

    (void)state;
    for (int i = 0; i < 3; i++) {
        memories[i] = f->system.memories[i];
        memories[i].has_read_energy = memories[i].has_write_energy = false;
    }
    for (int i = 0; i < 2; i++) {
        computes[i] = f->system.computes[i];
        computes[i].has_energy = false;
    }
    f->system.memories = memories;
    f->system.computes = computes;
    f->result.leakage_joules = f->result.joules = 0;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_text(&out, &f->results, 2);
    assert_non_null(strstr(out.text, "energy       not declared"));
    assert_null(strstr(out.text, " J"));
    assert_null(strstr(out.text, "energy by component"));
    fixture_free(f);
}

static void an_empty_file_has_an_empty_report(void **state)
{
    fixture *f = fixture_new();
    dfl_strbuf out;

    (void)state;
    f->results.n_items = 0;
    dfl_strbuf_init(&out, f->arena);
    dfl_report_text(&out, &f->results, 4);
    assert_string_equal(out.text, "");
    dfl_report_json(&out, &f->results);
    assert_non_null(strstr(out.text, "\"results\": []"));
    fixture_free(f);
}

typedef struct {
    const char *name;
    double value;
    const char *unit, *want;
} human_case;

static const human_case human_cases[] = {
    { "zero", 0, "s", "0 s" },
    { "milliseconds", 0.009437184, "s", "9.437 ms" },
    { "one", 1, "s", "1 s" },
    { "rounds up to the next prefix", 999.96, "J", "1 kJ" },
    { "rounds up from below", 0.99996e-3, "J", "1 mJ" },
    { "stays below the next prefix", 999.94, "J", "999.9 J" },
    { "a picojoule", 1e-12, "J", "1 pJ" },
    { "negative", -0.5, "W", "-500 mW" },
    { "too small for a prefix", 1e-21, "J", "1e-21 J" },
    { "too large for a prefix", 1e30, "J", "1e+30 J" },
    { "infinite", INFINITY, "s", "inf s" },
    { "no unit", 1500, "", "1.5 k" },
};

static void prints_for_people(void **state)
{
    const human_case *c = *state;
    char got[DFL_UNIT_TEXT];

    dfl_human(c->value, c->unit, got);
    assert_string_equal(got, c->want);
}

static void values_have_their_unit(void **state)
{
    static const struct { double value; dfl_dim dim; const char *want; } cases[] = {
        { 0.0070815, { { [DFL_BASE_ENERGY] = 1 } }, "7.082 mJ" },
        { 2e-9, { { [DFL_BASE_TIME] = 1 } }, "2 ns" },
        { 5.332e-12, { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = 1 } }, "5.332 pJ*s" },
        { 1.3e-11, { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = 2 } }, "13 pJ*s^2" },
        { 0.004, { { [DFL_BASE_TIME] = 2 } }, "0.004 s^2" },
        { 2000, { { [DFL_BASE_TIME] = -1 } }, "2000 1/s" },
        { 3e9, { { [DFL_BASE_DATA] = 1, [DFL_BASE_TIME] = -1 } }, "3 Gbit/s" },
        { 0.00012, { { [DFL_BASE_AREA] = 1 } }, "0.00012 m2" },
        { 524288, { { [DFL_BASE_DATA] = 1 } }, "64 KiB" },
        { 12.5, { { [DFL_BASE_DATA] = 1 } }, "12.5 bit" },
        { 12500, { { 0 } }, "12500" },
        { 1e-9, { { [DFL_BASE_ENERGY] = 100, [DFL_BASE_TIME] = 100, [DFL_BASE_AREA] = 100, [DFL_BASE_OPS] = -100,
                    [DFL_BASE_CARBON] = 100, [DFL_BASE_MONEY] = -100 } }, NULL },
    };
    char got[DFL_UNIT_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dfl_human_quantity(cases[i].value, cases[i].dim, got);
        if (cases[i].want != NULL)
            assert_string_equal(got, cases[i].want);
        assert_true(strlen(got) < sizeof got);
    }
}

typedef struct {
    const char *name;
    int64_t bits;
    const char *want;
} bits_case;

static const bits_case bits_cases[] = {
    { "none", 0, "0 B" },
    { "five bits", 5, "5 bit" },
    { "a byte", 8, "1 B" },
    { "a kibibyte", 8192, "1 KiB" },
    { "a whole kilobyte", 8000, "1 kB" },
    { "16 GB are not 14.9 GiB", 128000000000, "16 GB" },
    { "a mebibyte", 8388608, "1 MiB" },
    { "neither", 12345678, "1.472 MiB" },
    { "bits beyond a byte", 12345, "1.507 KiB" },
};

static void prints_room(void **state)
{
    const bits_case *c = *state;
    char got[DFL_UNIT_TEXT];

    dfl_human_bits(c->bits, got);
    assert_string_equal(got, c->want);
}

typedef struct {
    const char *name;
    int64_t count;
    const char *want, *exact;
} count_case;

static const count_case count_cases[] = {
    { "none", 0, "0", "0" },
    { "in full", 99999, "99999", "99 999" },
    { "no longer in full", 100000, "100k", "100 000" },
    { "millions", 16777216, "16.78M", "16 777 216" },
    { "up to the next prefix", 999960000, "1G", "999 960 000" },
    { "negative", -123456, "-123.5k", "-123 456" },
};

static void prints_counts(void **state)
{
    const count_case *c = *state;
    char got[DFL_UNIT_TEXT], exact[DFL_UNIT_TEXT + 16];

    dfl_human_count(c->count, got);
    assert_string_equal(got, c->want);
    dfl_human_exact(c->count, exact);
    assert_string_equal(exact, c->exact);
}

static void a_huge_count_is_printed(void **state)
{
    char got[DFL_UNIT_TEXT], exact[DFL_UNIT_TEXT + 16];
    dfl_i128 huge = (dfl_i128)(((unsigned __int128)1 << 127) - 1);

    (void)state;
    dfl_human_count(huge, got);
    assert_string_equal(got, "1.701e+38");
    dfl_human_exact(huge, exact);
    assert_string_equal(exact, "170 141 183 460 469 231 731 687 303 715 884 105 727");
}

static void cycles_are_whole_where_they_are(void **state)
{
    fixture *f = fixture_new();

    (void)state;
    assert_true(dfl_report_cycles(&f->system, 7.524e-6) == 7524);
    assert_close(dfl_report_cycles(&f->system, 1.25e-9), 1.25, 1e-12);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_as_agreed),
        cmocka_unit_test(values_have_their_unit),
        cmocka_unit_test(many_mappings_are_one_line_each),
        cmocka_unit_test(json_is_as_agreed),
        cmocka_unit_test(json_keeps_every_digit),
        cmocka_unit_test(a_sum_beyond_128_bits_is_null),
        cmocka_unit_test(the_sum_is_that_of_all_results),
        cmocka_unit_test(columns_stand_for_all_parts),
        cmocka_unit_test(csv_is_as_agreed),
        cmocka_unit_test(csv_rows_are_even),
        cmocka_unit_test(reports_repeat_byte_for_byte),
        cmocka_unit_test(no_energy_is_not_zero_energy),
        cmocka_unit_test(an_empty_file_has_an_empty_report),
        cmocka_unit_test(a_huge_count_is_printed),
        cmocka_unit_test(cycles_are_whole_where_they_are),
    };
    int failed = CHECK_GROUP("report", tests);

    failed += CHECK_TABLE("report.human", human_cases, prints_for_people);
    failed += CHECK_TABLE("report.bits", bits_cases, prints_room);
    failed += CHECK_TABLE("report.counts", count_cases, prints_counts);
    return failed;
}
