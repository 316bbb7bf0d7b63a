#include "tests/harness/check.h"

#include "diag/diag.h"

typedef struct { dfl_arena *arena; dfl_sink *sink; } fixture;

static fixture open_sink(void)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *map = dfl_source_map_new(arena);

    dfl_source_add(map, "a.dfl", "one two\nthree\n", 14);
    return (fixture){ arena, dfl_sink_new(arena, map) };
}

static void keeps_everything_that_is_attached(void **state)
{
    fixture f = open_sink();
    dfl_diag *d = dfl_report(f.sink, DFL_RANK_UNKNOWN, (dfl_span){ 1, 4 }, "`%s` is not a rank", "one");

    (void)state;
    dfl_diag_here(f.sink, d, "here %d", 1);
    dfl_diag_label(f.sink, d, (dfl_span){ 5, 8 }, "first");
    dfl_diag_label(f.sink, d, (dfl_span){ 9, 14 }, "second");
    dfl_diag_note(f.sink, d, "a note");
    dfl_diag_note(f.sink, d, "another");
    dfl_diag_help(f.sink, d, "do %s", "this");
    dfl_diag_fix(f.sink, d, (dfl_span){ 1, 4 }, "two", DFL_FIX_SURE);
    assert_int_equal(dfl_sink_count(f.sink), 1);
    assert_ptr_equal(dfl_sink_at(f.sink, 0), d);
    assert_int_equal(d->severity, DFL_ERROR);
    assert_string_equal(d->message, "`one` is not a rank");
    assert_string_equal(d->label, "here 1");
    assert_string_equal(d->labels->text, "first");
    assert_string_equal(d->labels->next->text, "second");
    assert_null(d->labels->next->next);
    assert_string_equal(d->notes->next->text, "another");
    assert_string_equal(d->help, "do this");
    assert_string_equal(d->edits->text, "two");
    assert_int_equal(dfl_sink_errors(f.sink), 1);
    assert_int_equal(dfl_sink_warnings(f.sink), 0);
    dfl_arena_free(f.arena);
}

static void counts_what_is_over_the_limit(void **state)
{
    fixture f = open_sink();
    dfl_diag *last = NULL;

    (void)state;
    dfl_sink_limit(f.sink, 3);
    for (uint32_t i = 0; i < 4; i++)
        last = dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1 + i, 2 + i }, "number %u", i);
    assert_string_equal(dfl_sink_at(f.sink, 3)->message, "1 further diagnostic is not shown");
    for (uint32_t i = 4; i < 1000; i++)
        last = dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1 + i, 2 + i }, "number %u", i);
    assert_non_null(last);
    dfl_diag_label(f.sink, last, last->span, "on a record that is not kept");
    dfl_diag_note(f.sink, last, "likewise");
    dfl_diag_fix(f.sink, last, last->span, "x", DFL_FIX_SURE);
    assert_null(last->labels);
    assert_int_equal(dfl_sink_count(f.sink), 4);
    assert_int_equal(dfl_sink_errors(f.sink), 1000);
    assert_int_equal(dfl_sink_at(f.sink, 3)->code, DFL_LIMIT_DIAGNOSTICS);
    assert_string_equal(dfl_sink_at(f.sink, 3)->message, "997 further diagnostics are not shown");
    dfl_sink_sort(f.sink);
    assert_int_equal(dfl_sink_at(f.sink, 3)->code, DFL_LIMIT_DIAGNOSTICS);
    assert_null(dfl_sink_at(f.sink, 4));
    dfl_arena_free(f.arena);
}

static void lints_follow_their_level(void **state)
{
    fixture f = open_sink();
    dfl_lint_levels levels = { { 0 } };
    dfl_diag *d;

    (void)state;
    assert_true(dfl_lint_set(&levels, "no-energy", DFL_LEVEL_ALLOW));
    d = dfl_report_lint(f.sink, &levels, DFL_LINT_NO_ENERGY, (dfl_span){ 1, 2 }, "quiet");
    dfl_diag_help(f.sink, d, "nobody sees this");
    assert_int_equal(dfl_sink_count(f.sink), 0);
    d = dfl_report_lint(f.sink, NULL, DFL_LINT_NO_ENERGY, (dfl_span){ 1, 2 }, "warned");
    assert_int_equal(d->severity, DFL_WARNING);
    assert_string_equal(d->lint, "no-energy");
    d = dfl_report_lint(f.sink, NULL, DFL_LINT_NO_ENERGY, (dfl_span){ 1, 2 }, "the same place again");
    dfl_diag_help(f.sink, d, "nobody sees this");
    assert_int_equal(dfl_sink_count(f.sink), 1);
    assert_true(dfl_lint_set(&levels, "no-energy", DFL_LEVEL_DENY));
    d = dfl_report_lint(f.sink, &levels, DFL_LINT_NO_ENERGY, (dfl_span){ 3, 4 }, "denied");
    assert_int_equal(d->severity, DFL_ERROR);
    assert_int_equal(dfl_sink_warnings(f.sink), 1);
    assert_int_equal(dfl_sink_errors(f.sink), 1);
    dfl_arena_free(f.arena);
}

static void sorts_by_place_then_code_and_is_stable(void **state)
{
    fixture f = open_sink();
    static const struct { dfl_code code; dfl_span span; const char *text; } in[] = {
        { DFL_LIMIT_MEMORY,  { 0, 0 },  "g" }, { DFL_NAME_UNKNOWN,  { 9, 14 }, "f" },
        { DFL_RANK_UNKNOWN,  { 1, 4 },  "b" }, { DFL_NAME_UNKNOWN,  { 1, 4 },  "a" },
        { DFL_RANK_UNKNOWN,  { 1, 4 },  "c" }, { DFL_NAME_UNKNOWN,  { 5, 8 },  "e" },
        { DFL_RANK_UNKNOWN,  { 1, 8 },  "d" },
    };
    enum { N = sizeof in / sizeof in[0] };

    (void)state;
    for (size_t i = 0; i < N; i++)
        dfl_report(f.sink, in[i].code, in[i].span, "%s", in[i].text);
    dfl_sink_sort(f.sink);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(dfl_sink_at(f.sink, i)->message[0], (char)('a' + (int)i));
    dfl_arena_free(f.arena);
}

static void a_stop_is_reported_once_even_when_the_sink_is_full(void **state)
{
    fixture f = open_sink();
    dfl_budget budget = { .steps_limit = 1 };

    (void)state;
    dfl_sink_limit(f.sink, 0);
    dfl_budget_spend(&budget, 2);
    assert_false(dfl_report_stop(f.sink, &budget));
    assert_false(dfl_report_stop(f.sink, &budget));
    assert_int_equal(dfl_sink_count(f.sink), 1);
    assert_int_equal(dfl_sink_at(f.sink, 0)->code, DFL_LIMIT_STEPS);
    assert_string_equal(dfl_sink_at(f.sink, 0)->message, "step limit reached");
    dfl_arena_free(f.arena);
}

static void a_stop_while_the_input_is_read_hides_what_follows(void **state)
{
    fixture f = open_sink();
    dfl_budget budget = { .steps_limit = 1 };

    (void)state;
    dfl_sink_reading(f.sink, &budget);
    dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1, 2 }, "before the stop");
    dfl_budget_spend(&budget, 2);
    dfl_report(f.sink, DFL_OP_UNKNOWN, (dfl_span){ 3, 4 }, "after the stop");
    assert_int_equal(dfl_sink_count(f.sink), 2);
    assert_int_equal(dfl_sink_at(f.sink, 0)->code, DFL_NAME_UNKNOWN);
    assert_int_equal(dfl_sink_at(f.sink, 1)->code, DFL_LIMIT_STEPS);
    assert_int_equal(dfl_sink_errors(f.sink), 2);
    dfl_sink_reading(f.sink, NULL);
    dfl_report(f.sink, DFL_OP_UNKNOWN, (dfl_span){ 3, 4 }, "read");
    assert_int_equal(dfl_sink_errors(f.sink), 3);
    dfl_arena_free(f.arena);
}

static void a_stop_stands_at_the_mapping_at_work(void **state)
{
    fixture f = open_sink();

    (void)state;
    dfl_sink_work_on(f.sink, (dfl_span){ 5, 8 });
    dfl_report_limited(f.sink, DFL_STOP_TIME);
    assert_int_equal(dfl_sink_at(f.sink, 0)->span.start, 5);
    assert_int_equal(dfl_sink_at(f.sink, 0)->severity, DFL_WARNING);
    assert_null(dfl_sink_at(f.sink, 0)->help);
    dfl_arena_free(f.arena);
}

static void a_stop_without_a_reason_is_an_internal_error(void **state)
{
    fixture f = open_sink();
    dfl_budget budget = { 0 };

    (void)state;
    assert_false(dfl_report_stop(f.sink, &budget));
    assert_int_equal(dfl_sink_at(f.sink, 0)->severity, DFL_INTERNAL);
    assert_int_equal(dfl_sink_errors(f.sink), 1);
    dfl_arena_free(f.arena);
}

static void codes_are_in_order_and_in_their_range(void **state)
{
    static const struct { unsigned number; const char *title; } all[] = {
#define DFL_DIAG(number, severity, name, title) { number, title },
#define DFL_RETIRED(number) { number, "retired" },
#include "diag/codes.def"
#undef DFL_DIAG
#undef DFL_RETIRED
    };
    char text[6];

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_true(all[i].number >= 101 && all[i].number < 900);
        assert_true(i == 0 || all[i].number > all[i - 1].number);
        assert_true(all[i].title[0] != '\0');
    }
    assert_string_equal(dfl_code_text(DFL_RANK_UNKNOWN, text), "E0301");
    assert_string_equal(dfl_code_title(DFL_RANK_UNKNOWN), "unknown rank");
    assert_string_equal(dfl_code_title(DFL_CODE_NONE), "");
    assert_int_equal(dfl_code_severity(DFL_MAP_KEEP_UNUSED), DFL_WARNING);
    assert_true(dfl_code_is_illegal_mapping(DFL_MAP_RANK_UNFINISHED));
    assert_false(dfl_code_is_illegal_mapping(DFL_MAP_KEEP_UNUSED)); /* a warning */
    assert_false(dfl_code_is_illegal_mapping(DFL_EVAL_INFEASIBLE));
    assert_false(dfl_code_is_illegal_mapping(DFL_CODE_NONE));
}

typedef struct { const char *name, *word, *want; } suggest_case;

static const char *const known[] = { "sram", "dram", "keep", "spatial", "k", "K", "KK", "accumulate", "m0", "m1" };

static const suggest_case suggestions[] = {
    { "one letter swapped in",    "kep",                "keep" },
    { "neighbours swapped",       "sarm",               "sram" },
    { "two of seven",             "spatail",            "spatial" },
    { "three of ten",             "akkumulat",          "accumulate" },
    { "too far",                  "register",           "" },
    { "other case",               "SRAM",               "sram" },
    { "one letter other case",    "M",                  "" },
    { "never itself",             "dram",               "sram" },
    { "two letters",              "mm",                 "m0" },
    { "first of equals",          "xram",               "sram" },
    { "nothing",                  "",                   "" },
    { "a letter",                 "k",                  "K" },
    { "longer than any name", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "" },
};

static void suggests(void **state)
{
    const suggest_case *c = *state;
    enum { N = sizeof known / sizeof known[0] };
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sym candidates[N];

    for (size_t i = 0; i < N; i++)
        candidates[i] = dfl_intern_z(names, known[i]);
    assert_string_equal(dfl_sym_text(names, dfl_suggest(names, c->word, candidates, N)), c->want);
    dfl_arena_free(arena);
}

static void repeated_records_are_folded(void **state)
{
    fixture f = open_sink();

    (void)state;
    dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1, 4 }, "first");
    dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1, 4 }, "first");
    dfl_report(f.sink, DFL_RANK_UNUSED, (dfl_span){ 5, 8 }, "second");
    dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1, 4 }, "first");
    dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 5, 8 }, "first");
    dfl_report(f.sink, DFL_RANK_UNUSED, (dfl_span){ 5, 8 }, "second");
    dfl_diag_here(f.sink, dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ 1, 4 }, "first"), "with a label");
    dfl_sink_fold(f.sink, 2); /* the first two records stay */
    assert_int_equal(dfl_sink_count(f.sink), 5);
    assert_string_equal(dfl_sink_at(f.sink, 2)->message, "second");
    assert_int_equal(dfl_sink_at(f.sink, 3)->span.start, 5);
    assert_string_equal(dfl_sink_at(f.sink, 4)->label, "with a label");
    assert_int_equal(dfl_sink_errors(f.sink), 4);
    assert_int_equal(dfl_sink_warnings(f.sink), 1);
    dfl_sink_fold(f.sink, 99);
    assert_int_equal(dfl_sink_count(f.sink), 5);
    dfl_arena_free(f.arena);
}

static void records_of_a_code_are_withdrawn(void **state)
{
    fixture f = open_sink();

    (void)state;
    for (uint32_t i = 1; i <= 2; i++) {
        dfl_report(f.sink, DFL_NAME_UNKNOWN, (dfl_span){ i, i + 1 }, "name");
        dfl_report(f.sink, DFL_RANK_UNUSED, (dfl_span){ i, i + 1 }, "rank");
    }
    dfl_sink_withdraw(f.sink, 1, DFL_NAME_UNKNOWN);
    assert_int_equal(dfl_sink_count(f.sink), 3);
    assert_int_equal(dfl_sink_errors(f.sink), 1);
    dfl_sink_withdraw(f.sink, 0, DFL_RANK_UNUSED);
    assert_int_equal(dfl_sink_count(f.sink), 1);
    assert_int_equal(dfl_sink_at(f.sink, 0)->code, DFL_NAME_UNKNOWN);
    assert_int_equal(dfl_sink_warnings(f.sink), 0);
    dfl_arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_everything_that_is_attached),
        cmocka_unit_test(counts_what_is_over_the_limit),
        cmocka_unit_test(lints_follow_their_level),
        cmocka_unit_test(sorts_by_place_then_code_and_is_stable),
        cmocka_unit_test(a_stop_is_reported_once_even_when_the_sink_is_full),
        cmocka_unit_test(a_stop_while_the_input_is_read_hides_what_follows),
        cmocka_unit_test(a_stop_stands_at_the_mapping_at_work),
        cmocka_unit_test(a_stop_without_a_reason_is_an_internal_error),
        cmocka_unit_test(repeated_records_are_folded),
        cmocka_unit_test(records_of_a_code_are_withdrawn),
        cmocka_unit_test(codes_are_in_order_and_in_their_range),
    };

    return CHECK_GROUP("diag.sink", tests) + CHECK_TABLE("diag.suggest", suggestions, suggests);
}
