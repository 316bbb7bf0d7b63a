/* Edits, lint levels, explain pages. */
#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "diag/explain.h"
#include "diag/fix.h"
#include "diag/lints.h"

/* Edits of the text "0123456789". Edits with equal numbers belong to one report; the reports are made in the order of
   the numbers. */
typedef struct { unsigned report; uint32_t start, end; const char *text; dfl_certainty certainty; } edit_row;

typedef struct {
    const char *name;
    edit_row edits[5]; /* up to the first report 0 */
    const char *want;
    size_t applied, skipped;
} fix_case;

static const fix_case fixes[] = {
    { "nothing",                 { { 0 } },                                                  "0123456789", 0, 0 },
    { "replace",                 { { 1, 2, 4, "ab", 0 } },                                   "01ab456789", 1, 0 },
    { "insert at both ends",     { { 1, 0, 0, "<", 0 }, { 1, 10, 10, ">", 0 } },             "<0123456789>", 1, 0 },
    { "remove",                  { { 1, 0, 9, "", 0 } },                                     "9", 1, 0 },
    { "order of reports is free", { { 1, 8, 9, "b", 0 }, { 2, 1, 2, "a", 0 } },              "0a234567b9", 2, 0 },
    { "the first by place wins", { { 1, 3, 6, "late", 0 }, { 2, 2, 4, "early", 0 } },        "01early456789", 1, 1 },
    { "neighbours do not overlap", { { 1, 2, 4, "a", 0 }, { 2, 4, 6, "b", 0 } },             "01ab6789", 2, 0 },
    { "all or none",             { { 1, 2, 3, "x", 0 }, { 2, 5, 6, "y", 0 }, { 2, 2, 4, "z", 0 } }, "01x3456789", 1, 1 },
    { "unsure ones are left out", { { 1, 2, 3, "x", 1 }, { 2, 5, 6, "y", 0 } },              "01234y6789", 1, 0 },
    { "one unsure edit spoils its report", { { 1, 2, 3, "x", 1 }, { 1, 5, 6, "y", 0 } },     "0123456789", 0, 0 },
    { "the same edit twice",     { { 1, 2, 3, "x", 0 }, { 2, 2, 3, "x", 0 } },               "01x3456789", 2, 0 },
    { "two insertions at a point", { { 1, 2, 2, "x", 0 }, { 2, 2, 2, "y", 0 } },             "01x23456789", 1, 1 },
    { "insertion before a replacement", { { 1, 2, 4, "x", 0 }, { 2, 2, 2, "y", 0 } },        "01yx456789", 2, 0 },
    { "insertion inside a replacement", { { 1, 2, 4, "x", 0 }, { 2, 3, 3, "y", 0 } },        "01x456789", 1, 1 },
    { "a report against itself", { { 1, 2, 4, "x", 0 }, { 1, 3, 5, "y", 0 } },               "0123456789", 0, 1 },
};

static void fixes_text(void **state)
{
    const fix_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *map = dfl_source_map_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, map);
    const dfl_source *other = dfl_source_add(map, "other", "zz", 2);
    const dfl_source *source = dfl_source_add(map, "a", "0123456789", 10);
    dfl_diag *d = NULL;
    dfl_fixed fixed;

    for (size_t i = 0; c->edits[i].report; i++) {
        const edit_row *e = &c->edits[i];
        dfl_span span = { source->base + e->start, source->base + e->end };

        if (i == 0 || e->report != c->edits[i - 1].report)
            d = dfl_report(sink, DFL_RANK_UNKNOWN, span, "report %u", e->report);
        dfl_diag_fix(sink, d, span, e->text, e->certainty);
    }
    fixed = dfl_fix_apply(source, sink);
    assert_string_equal(fixed.text, c->want);
    assert_int_equal(fixed.len, strlen(c->want));
    assert_int_equal(fixed.applied, c->applied);
    assert_int_equal(fixed.skipped, c->skipped);
    fixed = dfl_fix_apply(other, sink);
    assert_string_equal(fixed.text, "zz");
    assert_int_equal(fixed.applied, 0);
    dfl_arena_free(arena);
}

static void lint_levels_start_with_their_defaults(void **state)
{
    dfl_lint_levels levels = { { 0 } };

    (void)state;
    assert_int_equal(dfl_lint_level(&levels, DFL_LINT_NO_ENERGY), DFL_LEVEL_WARN);
    assert_int_equal(dfl_lint_level(NULL, DFL_LINT_NO_ENERGY), DFL_LEVEL_WARN);
}

static void lint_levels_are_set_by_name(void **state)
{
    dfl_lint_levels levels = { { 0 } };

    (void)state;
    assert_true(dfl_lint_set(&levels, "no-energy", DFL_LEVEL_DENY));
    assert_int_equal(dfl_lint_level(&levels, DFL_LINT_NO_ENERGY), DFL_LEVEL_DENY);
    assert_int_equal(dfl_lint_level(&levels, DFL_LINT_BIT_BYTE), DFL_LEVEL_WARN);
    assert_true(dfl_lint_set(&levels, "all", DFL_LEVEL_ALLOW));
    for (dfl_lint i = 0; i < DFL_N_LINTS; i++)
        assert_int_equal(dfl_lint_level(&levels, i), DFL_LEVEL_ALLOW);
    assert_true(dfl_lint_set(&levels, "bit-byte", DFL_LEVEL_WARN));
    assert_int_equal(dfl_lint_level(&levels, DFL_LINT_BIT_BYTE), DFL_LEVEL_WARN);
    assert_false(dfl_lint_set(&levels, "no-such-lint", DFL_LEVEL_WARN));
}

static void the_lint_table_is_in_order_and_its_codes_are_warnings(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);

    (void)state;
    for (dfl_lint i = 0; i < DFL_N_LINTS; i++) {
        const dfl_lint_info *lint = dfl_lint_at(i);

        assert_true(i == 0 || strcmp(dfl_lint_at(i - 1)->name, lint->name) < 0);
        assert_int_equal(dfl_code_severity(lint->code), DFL_WARNING);
        assert_ptr_equal(dfl_lint_find(lint->name), lint);
    }
    assert_string_equal(dfl_lint_suggest(arena, "no-enrgy"), "no-energy");
    assert_null(dfl_lint_suggest(arena, "zzz"));
    dfl_arena_free(arena);
}

static void pages_are_named_by_their_code(void **state)
{
    static const unsigned numbers[] = {
#define DFL_DIAG(number, severity, name, title) number,
#define DFL_RETIRED(number) number,
#include "diag/codes.def"
#undef DFL_DIAG
#undef DFL_RETIRED
    };
    char code[6], head[128];

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *page = dfl_explain_page((dfl_code)numbers[i]);

        if (!page)
            continue;
        snprintf(head, sizeof head, "# %s: %s\n", dfl_code_text((dfl_code)numbers[i], code),
                 dfl_code_title((dfl_code)numbers[i]));
        assert_memory_equal(page, head, strlen(head));
    }
    assert_null(dfl_explain_page(DFL_CODE_NONE));
}

static void codes_are_read(void **state)
{
    (void)state;
    assert_int_equal(dfl_explain_code("E0301"), DFL_RANK_UNKNOWN);
    assert_int_equal(dfl_explain_code("e301"), DFL_RANK_UNKNOWN);
    assert_int_equal(dfl_explain_code("301"), DFL_RANK_UNKNOWN);
    assert_int_equal(dfl_explain_code("0"), DFL_CODE_NONE);
    assert_int_equal(dfl_explain_code(""), DFL_CODE_NONE);
    assert_int_equal(dfl_explain_code("E"), DFL_CODE_NONE);
    assert_int_equal(dfl_explain_code("E03010"), DFL_CODE_NONE);
    assert_int_equal(dfl_explain_code("301x"), DFL_CODE_NONE);
    assert_int_equal(dfl_explain_code("E0999"), DFL_CODE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lint_levels_start_with_their_defaults),
        cmocka_unit_test(lint_levels_are_set_by_name),
        cmocka_unit_test(the_lint_table_is_in_order_and_its_codes_are_warnings),
        cmocka_unit_test(pages_are_named_by_their_code),
        cmocka_unit_test(codes_are_read),
    };

    return CHECK_TABLE("diag.fix", fixes, fixes_text) + CHECK_GROUP("diag.tables", tests);
}
