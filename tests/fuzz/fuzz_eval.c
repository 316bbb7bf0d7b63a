/*
 * Runs all passes on any bytes as a file: parses, analyses, evaluates, tests, and proves at small sizes. The status and
 * the reports agree; the JSON report can be read, and every time, energy and share in it is a finite number that is not
 * negative; a second run gives equal bytes; oracle and model give equal counts.
 */
#include <stdlib.h>
#include <string.h>

#include "dfl/dfl.h"
#include "support/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 2000000, MEMORY = 96 << 20, EVALUATIONS = 500 };

static void demand(bool truth)
{
    if (!truth)
        __builtin_trap();
}

static bool may_be_null(const char *key)
{
    static const char *const keys[] = { "cycles", "bound_by", "size_bits", "peak_at", "ok",    "value", "label", "help",
                                        "lint",   "span",     "code",      "reads",   "writes", "bits", "total_flop", "lower_bound",
                                        "reuse",  "load",     "intensity", "bandwidth_required", "sum", "gap",  "tokens_per_second", "axis",
                                        "peak_flops" };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void look_at(const dfl_json *value, const char *key)
{
    if (value->kind == DFL_JSON_NULL)
        demand(may_be_null(key));
    if ((value->kind == DFL_JSON_REAL || value->kind == DFL_JSON_INT || value->kind == DFL_JSON_BIG) &&
        strcmp(key, "value") != 0 && strcmp(key, "lower_bound") != 0) /* value of an objective, which may be negative */
        demand(value->real >= 0);
    for (size_t i = 0; (value->kind == DFL_JSON_OBJECT || value->kind == DFL_JSON_ARRAY) && i < value->len; i++)
        look_at(&value->items[i], value->keys ? value->keys[i] : key);
}

/* The JSON report of the file, to be freed by the caller. */
static char *tested(const uint8_t *data, size_t size, dfl_exit *status)
{
    const dfl_session_options options = { .size = sizeof options, .memory_limit = MEMORY, .step_limit = STEPS };
    const dfl_search_options search = { .size = sizeof search, .evaluations = EVALUATIONS };
    dfl_session *s = dfl_session_new(&options);
    char *report = NULL;

    dfl_session_set_search(s, &search);
    *status = dfl_session_open_text(s, "fuzz.dfl", (const char *)data, size);
    if (*status == DFL_EXIT_OK) {
        *status = dfl_session_test(s);
        report = strdup(dfl_session_report(s, DFL_FORMAT_JSON, 0, NULL));
        demand(dfl_session_report(s, DFL_FORMAT_TEXT, 0, NULL) && dfl_session_report(s, DFL_FORMAT_CSV, 0, NULL));
    }
    demand(*status == DFL_EXIT_STOPPED || (*status == DFL_EXIT_OK) == (dfl_session_errors(s) == 0));
    demand(*status != DFL_EXIT_INTERNAL);
    dfl_session_free(s);
    return report;
}

static void prove(const uint8_t *data, size_t size)
{
    const dfl_session_options options = { .size = sizeof options, .memory_limit = MEMORY, .step_limit = STEPS };
    dfl_session *s = dfl_session_new(&options);

    if (dfl_session_open_text(s, "fuzz.dfl", (const char *)data, size) == DFL_EXIT_OK) {
        dfl_session_prove(s, NULL, NULL, 0);
        demand(!strstr(dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL), "[E0614]"));
    }
    dfl_session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dfl_exit first, second;
    char *report = tested(data, size, &first), *again = tested(data, size, &second);
    dfl_arena *arena = dfl_arena_new(NULL);
    const dfl_json *json = report ? dfl_json_parse(arena, report, strlen(report), NULL) : NULL;

    demand(first == second && !report == !again);
    if (report) {
        demand(strcmp(report, again) == 0);
        demand(json);
        look_at(dfl_json_get(json, "results"), "results");
        look_at(dfl_json_get(json, "checks"), "checks");
        if (dfl_json_get(json, "results")->len > 0)
            prove(data, size);
    }
    dfl_arena_free(arena);
    free(report);
    free(again);
    return 0;
}
