/* The table of figures: its own rules, and its agreement with grammar/dfl-report-1.schema.json in both directions. A
   key that only one side has, or that differs in type, presence or target, fails with its name. */
#include "tests/harness/check.h"

#include <stdlib.h>
#include <string.h>

#include "report/figures.h"
#include "support/json.h"
#include "tests/unit/report/fixture.h"

/* Objects of the schema that are not figures; json.c and diag/render_json.c write them. */
static const char *const others[] = { "check", "diagnostic", "span" };

static const dfl_json *read_definitions(dfl_arena *arena)
{
    size_t len;
    char *text = check_read_file("grammar/dfl-report-1.schema.json", &len);
    const dfl_json *schema;

    assert_non_null(text);
    schema = dfl_json_parse(arena, text, len, NULL);
    free(text);
    return dfl_json_get(schema, "$defs");
}

static bool is_text(const dfl_json *value, const char *text)
{
    const char *own = dfl_json_text(value);

    return own && strcmp(own, text) == 0;
}

static bool has_text(const dfl_json *list, const char *text)
{
    for (size_t i = 0; list && i < list->len; i++)
        if (is_text(&list->items[i], text))
            return true;
    return false;
}

/* Whether the property has the type, or the type and null. */
static bool has_type(const dfl_json *property, const char *type, bool or_null)
{
    const dfl_json *own = dfl_json_get(property, "type");

    if (!or_null)
        return is_text(own, type);
    return own && own->kind == DFL_JSON_ARRAY && own->len == 2 && has_text(own, type) && has_text(own, "null");
}

static bool refers_to(dfl_arena *arena, const dfl_json *property, dfl_figure_scope scope)
{
    return is_text(dfl_json_get(property, "$ref"), dfl_arena_printf(arena, "#/$defs/%s", dfl_figure_schema(scope)));
}

static bool agrees(dfl_arena *arena, const dfl_figure *figure, const dfl_json *property)
{
    bool or_null = figure->presence == DFL_PRESENCE_OR_NULL;

    switch (figure->kind) {
    case DFL_FIGURE_COUNT: return has_type(property, "integer", or_null);
    case DFL_FIGURE_REAL: return has_type(property, "number", or_null);
    case DFL_FIGURE_TEXT: return has_type(property, "string", or_null) || dfl_json_get(property, "enum");
    case DFL_FIGURE_TRUTH: return has_type(property, "boolean", or_null);
    case DFL_FIGURE_NAMES: return has_type(property, "array", false) && has_type(dfl_json_get(property, "items"), "string", false);
    case DFL_FIGURE_OBJECT: return refers_to(arena, property, figure->below);
    case DFL_FIGURE_ARRAY:
        return has_type(property, "array", false) && refers_to(arena, dfl_json_get(property, "items"), figure->below);
    case DFL_FIGURE_MAP:
        return has_type(property, "object", false) &&
               refers_to(arena, dfl_json_get(property, "additionalProperties"), figure->below);
    }
    return false;
}

static void every_figure_is_in_the_schema(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *definitions = read_definitions(arena);

    (void)state;
    for (dfl_figure_scope scope = 0; scope < DFL_N_SCOPES; scope++) {
        const dfl_json *definition = dfl_figure_schema(scope) ? dfl_json_get(definitions, dfl_figure_schema(scope)) : NULL;
        uint32_t n;
        const dfl_figure *figures = dfl_figures(scope, &n);

        for (uint32_t i = 0; i < n; i++) {
            const dfl_json *property = dfl_json_get(dfl_json_get(definition, "properties"), figures[i].key);
            bool is_required = figures[i].presence == DFL_PRESENCE_ALWAYS || figures[i].presence == DFL_PRESENCE_OR_NULL;

            if (!(figures[i].views & DFL_VIEW_JSON))
                continue;
            if (!property)
                fail_msg("scope %d: the schema does not have the key %s", (int)scope, figures[i].key);
            if (!agrees(arena, &figures[i], property))
                fail_msg("%s.%s: another type in the schema", dfl_figure_schema(scope), figures[i].key);
            if (has_text(dfl_json_get(definition, "required"), figures[i].key) != is_required)
                fail_msg("%s.%s: another presence in the schema", dfl_figure_schema(scope), figures[i].key);
        }
    }
    dfl_arena_free(arena);
}

/* Whether a scope with this object has a figure of the key in JSON. */
static bool has_figure(const char *schema, const char *key, bool *has_scope)
{
    *has_scope = false;
    for (dfl_figure_scope scope = 0; scope < DFL_N_SCOPES; scope++) {
        uint32_t n;
        const dfl_figure *figures = dfl_figures(scope, &n);

        if (!dfl_figure_schema(scope) || strcmp(dfl_figure_schema(scope), schema) != 0)
            continue;
        *has_scope = true;
        for (uint32_t i = 0; i < n; i++)
            if ((figures[i].views & DFL_VIEW_JSON) && strcmp(figures[i].key, key) == 0)
                return true;
    }
    return false;
}

static void every_key_of_the_schema_is_a_figure(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *definitions = read_definitions(arena);

    (void)state;
    for (size_t d = 0; d < definitions->len; d++) {
        const dfl_json *properties = dfl_json_get(&definitions->items[d], "properties");
        bool is_other = false, has_scope;

        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            is_other |= strcmp(definitions->keys[d], others[i]) == 0;
        for (size_t i = 0; !is_other && i < properties->len; i++)
            if (!has_figure(definitions->keys[d], properties->keys[i], &has_scope))
                fail_msg("%s.%s: no %s", definitions->keys[d], properties->keys[i], has_scope ? "figure" : "scope");
    }
    dfl_arena_free(arena);
}

/* The rows of a scope are contiguous in the table, since look-ups stop at the end of the first run of rows. */
static void every_row_is_found(void **state)
{
    const uint32_t rows = dfl_figures_count();
    uint32_t sum = 0, n;

    (void)state;
    for (dfl_figure_scope scope = 0; scope < DFL_N_SCOPES; scope++) {
        dfl_figures(scope, &n);
        assert_true(n > 0);
        sum += n;
    }
    assert_int_equal(sum, rows);
}

static void keys_and_columns_are_unique(void **state)
{
    const char *columns[64];
    size_t n_columns = 0;

    (void)state;
    for (dfl_figure_scope scope = 0; scope < DFL_N_SCOPES; scope++) {
        uint32_t n;
        const dfl_figure *figures = dfl_figures(scope, &n);

        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < i; k++)
                assert_string_not_equal(figures[i].key, figures[k].key);
            if (!figures[i].column)
                continue;
            for (size_t k = 0; k < n_columns; k++)
                assert_string_not_equal(figures[i].column, columns[k]);
            assert_true(n_columns < sizeof columns / sizeof columns[0]);
            columns[n_columns++] = figures[i].column;
        }
    }
}

/* The figure that represents an object in a path or a column is a number. */
static void obvious_figures_are_numbers(void **state)
{
    (void)state;
    for (dfl_figure_scope scope = 0; scope < DFL_N_SCOPES; scope++) {
        uint32_t n;
        const dfl_figure *figures = dfl_figures(scope, &n), *obvious = dfl_figure_obvious(scope);

        if (obvious)
            assert_true(obvious->kind == DFL_FIGURE_COUNT || obvious->kind == DFL_FIGURE_REAL);
        for (uint32_t i = 0; i < n; i++)
            if (figures[i].column && figures[i].kind == DFL_FIGURE_OBJECT)
                assert_non_null(dfl_figure_obvious(figures[i].below));
    }
}

static void each_action_is_a_figure(void **state)
{
    fixture *f = fixture_new();
    dfl_figure_place at = dfl_figure_place_of(&f->results, &f->items[0], f->arena);

    (void)state;
    at.scope = DFL_SCOPE_TRAFFIC;
    at.part = 2;
    at.tensor = 2;
    for (dfl_action a = 0; a < DFL_ACTIONS; a++) {
        const dfl_figure *figure = dfl_figure_find(DFL_SCOPE_TRAFFIC, dfl_action_text(a));

        assert_non_null(figure);
        assert_true(dfl_figure_get(figure, &at).count == dfl_action_count(&f->result.traffic[3].counts, a));
    }
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_is_in_the_schema), cmocka_unit_test(every_key_of_the_schema_is_a_figure),
        cmocka_unit_test(every_row_is_found), cmocka_unit_test(keys_and_columns_are_unique),
        cmocka_unit_test(obvious_figures_are_numbers), cmocka_unit_test(each_action_is_a_figure),
    };

    return CHECK_GROUP("report.figures", tests);
}
