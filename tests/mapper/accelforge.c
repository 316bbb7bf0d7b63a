/* Comparison with one case of AccelForge's mapper: import, search, read back, compare. */
#include "tests/mapper/optimum.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/session.h"

enum { LONGEST_PATH = 4096, LONGEST_FILE = 1 << 20 };
/* Time limit of a search, s; the test compares the best mapping so far. */
static const double LONGEST = 60;

static void __attribute__((format(printf, 3, 4)))
say(optimum_result *out, optimum_verdict verdict, const char *format, ...)
{
    va_list args;

    if (out->verdict == VERDICT_FAILED)
        return;
    out->verdict = verdict;
    va_start(args, format);
    vsnprintf(out->why.text, sizeof out->why.text, format, args);
    va_end(args);
}

static double real_of(const dfl_json *object, const char *key)
{
    const dfl_json *at = dfl_json_get(object, key);

    return at != NULL ? at->real : 0;
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static const dfl_json *read_json(dfl_arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = dfl_arena_alloc(arena, LONGEST_FILE, 1, 1);
    size_t len = file != NULL ? fread(text, 1, LONGEST_FILE, file) : 0;

    if (file != NULL)
        fclose(file);
    return dfl_json_parse(arena, text, len, NULL);
}

/* The report of the only mapping. */
static const dfl_json *report_of(dfl_session *s, dfl_arena *arena)
{
    size_t len;
    const char *text = dfl_session_report(s, DFL_FORMAT_JSON, 0, &len);

    return dfl_json_at(dfl_json_get(dfl_json_parse(arena, text, len, NULL), "results"), 0);
}

static double joules(const dfl_json *r) { return real_of(dfl_json_get(r, "energy"), "joules"); }
static double seconds(const dfl_json *r) { return real_of(dfl_json_get(r, "latency"), "seconds"); }

static const char FRONT[] = "energy,latency", ROOM[] = "energy,resource_usage";
static const char *const SEARCHED[] = { "edp", "energy", "latency", FRONT, ROOM };

static bool is_front(const char *objective)
{
    return strcmp(objective, FRONT) == 0 || strcmp(objective, ROOM) == 0;
}

/* The memory whose room the points of a front are about, the only one of which they name the share; NULL = there is none. */
static const char *memory_of(const dfl_json *expected)
{
    const dfl_json *share = dfl_json_get(dfl_json_at(dfl_json_get(expected, "front"), 0), "reservation_fraction");

    return share != NULL && share->len == 1 ? share->keys[0] : NULL;
}

/* The report on the objective. */
static double value_of(const char *objective, const dfl_json *r)
{
    if (strcmp(objective, "energy") == 0)
        return joules(r);
    return strcmp(objective, "latency") == 0 ? seconds(r) : joules(r) * seconds(r);
}

/* The imported text with another objective; NULL if the text has no objective. */
static char *with_objective(dfl_arena *arena, const char *text, const char *objective, const dfl_json *expected)
{
    static const char old[] = "minimize energy * latency;";
    const char *at = strstr(text, old), *what = objective;

    if (at == NULL)
        return NULL;
    if (strcmp(objective, "edp") == 0)
        what = "energy * latency";
    else if (strcmp(objective, FRONT) == 0)
        what = "energy, latency";
    else if (strcmp(objective, ROOM) == 0)
        what = dfl_arena_printf(arena, "energy, peak(%s)", memory_of(expected));
    return dfl_arena_printf(arena, "%.*s%s %s;%s", (int)(at - text), text, is_front(objective) ? "pareto" : "minimize", what,
                            at + strlen(old));
}

/* Checks the text of the mapping: it must be in the layout of `dflc fmt`, have no diagnostics and equal cost, and agree
   with the oracle. */
static void read_back(const char *text, const dfl_json *first, bool prove, optimum_result *out)
{
    dfl_session *s = dfl_session_new(NULL);
    dfl_arena *arena = dfl_arena_new(NULL);

    if (dfl_session_open_text(s, "mapped.dfl", text, strlen(text)) != DFL_EXIT_OK ||
        dfl_session_check(s) != DFL_EXIT_OK || dfl_sink_count(s->sink) > 0) {
        say(out, VERDICT_FAILED, "check: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    } else if (strcmp(dfl_session_formatted(s, NULL), text) != 0) {
        say(out, VERDICT_FAILED, "the mapping is not laid out");
    } else if (dfl_session_eval(s, NULL) != DFL_EXIT_OK) {
        say(out, VERDICT_FAILED, "eval: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    } else {
        const dfl_json *again = report_of(s, arena);

        if (!near(joules(again), joules(first), 1e-12) || !near(seconds(again), seconds(first), 1e-12))
            say(out, VERDICT_FAILED, "read back: %.12g J, %.12g s, not %.12g J, %.12g s", joules(again), seconds(again),
                joules(first), seconds(first));
        if (prove && (dfl_session_prove(s, NULL, NULL, 0) != DFL_EXIT_OK ||
                      strstr(dfl_session_proof(s, NULL), "all equal") == NULL))
            say(out, VERDICT_FAILED, "prove: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    }
    dfl_arena_free(arena);
    dfl_session_free(s);
}

static void compare(dfl_session *source, dfl_session *s, const dfl_json *expected, const dfl_json *report,
                    optimum_result *out)
{
    const dfl_json *search = dfl_json_get(report, "search"), *fused;
    double claimed = real_of(search, "value"), bound = real_of(search, "lower_bound");
    optimum_freedom freedom;
    int64_t max_fused = -1;

    out->ours = value_of(out->objective, report);
    out->optimal = dfl_json_get(search, "optimal") != NULL && dfl_json_get(search, "optimal")->boolean;
    out->gap = bound > 0 ? claimed / bound - 1 : INFINITY;
    if (!(bound > 0)) /* a search has a bound, unless its own lies above the mapping that it finds */
        say(out, VERDICT_FAILED, "the search has no lower bound");
    out->evaluated = dfl_json_get(search, "evaluated") != NULL ? dfl_json_get(search, "evaluated")->integer : 0;
    if (!near(claimed, out->ours, 1e-9))
        say(out, VERDICT_FAILED, "the search says %.12g, the report %.12g", claimed, out->ours);
    if (out->optimal != (out->gap <= 1e-9))
        say(out, VERDICT_FAILED, "optimal: %s, and a gap of %.3g", out->optimal ? "yes" : "no", out->gap);
    fused = dfl_json_get(dfl_json_get(expected, "options"), "max_fused_loops");
    if (fused != NULL)
        max_fused = fused->kind == DFL_JSON_STRING ? strtoll(fused->text, NULL, 10) : fused->integer;
    if (near(out->ours, out->peer, 1e-6)) {
        say(out, VERDICT_EQUAL, "equal");
    } else if (out->ours > out->peer) {
        say(out, VERDICT_FAILED, "higher");
    } else if (!optimum_freedom_of(source, s->names, s->filled.at[0].mapping, max_fused, &freedom)) {
        say(out, VERDICT_FAILED, "the specification cannot be read again");
    } else if (freedom.text[0] == '\0' || freedom.leaves_home) {
        say(out, VERDICT_FAILED, freedom.leaves_home ? "lower, with another home" : "lower, in the peer's own space");
    } else {
        say(out, VERDICT_LOWER, "the peer %s", freedom.text);
    }
}

/* What the points of a front trade for energy: the latency (in s), or the peak of the memory called `memory` (in bits). */
static double other_of(const dfl_session *s, const dfl_result *r, const char *memory)
{
    const dfl_system *system = r->mapping->system;

    for (uint32_t m = 0; memory != NULL && m < system->n_memories; m++)
        if (strcmp(dfl_sym_text(s->names, system->memories[m].name), memory) == 0)
            return dfl_i128_double(r->memories[m].peak_bits);
    return r->seconds;
}

/* Compares fronts: a point of dflc must equal or dominate each point of the peer. */
static void compare_front(dfl_session *source, const dfl_session *s, const dfl_json *expected, optimum_result *out)
{
    const dfl_json *front = dfl_json_get(expected, "front");
    const char *memory = strcmp(out->objective, ROOM) == 0 ? memory_of(expected) : NULL;
    optimum_freedom freedom = { .text = "" };
    size_t equal = 0, n = front != NULL ? front->len : 0;

    for (size_t i = 0; i < n; i++) {
        double peer_joules = real_of(dfl_json_at(front, i), "energy"), peer_other;
        bool reached = false;
        peer_other = memory == NULL ? real_of(dfl_json_at(front, i), "latency")
                                    : real_of(dfl_json_get(dfl_json_at(front, i), "peak_occupancy_bits"), memory);
        for (uint32_t k = 0; k < s->results.n_items; k++) {
            const dfl_result *r = s->results.items[k].result;
            reached |= r->joules <= peer_joules * (1 + 1e-6) && other_of(s, r, memory) <= peer_other * (1 + 1e-6);
            equal += near(r->joules, peer_joules, 1e-6) && near(other_of(s, r, memory), peer_other, 1e-6);
        }
        if (!reached)
            say(out, VERDICT_FAILED, "nothing reaches %.12g J, %.12g", peer_joules, peer_other);
    }
    out->evaluated = (int64_t)s->filled.at[0].search->evaluated;
    out->optimal = s->filled.at[0].search->optimal;
    out->peer = (double)n;
    out->ours = (double)s->results.n_items;
    if (out->verdict != VERDICT_FAILED)
        say(out, VERDICT_EQUAL, "equal");
    for (size_t i = 0; memory != NULL && i < s->filled.n && freedom.text[0] == '\0'; i++)
        if (!optimum_freedom_of(source, s->names, s->filled.at[i].mapping, -1, &freedom))
            freedom.text[0] = '\0';
    if (freedom.leaves_home)
        say(out, VERDICT_FAILED, "lower, with another home");
    if (freedom.text[0] != '\0' && n > 0 && equal != n && out->verdict != VERDICT_FAILED)
        say(out, VERDICT_LOWER, "%zu of %zu points are equal, the others undercut: the peer %s", equal, n, freedom.text);
    else if (n == 0 || (out->verdict != VERDICT_FAILED && (equal != n || s->results.n_items != n)))
        say(out, VERDICT_FAILED, "%zu of %zu points are equal, %u are ours", equal, n, s->results.n_items);
}

/* Searches, and compares; `source` has imported `text`. */
static void search(dfl_session *source, const char *text, const dfl_json *expected, bool verbose, bool prove,
                   optimum_result *out)
{
    const dfl_search_options options = { .size = sizeof options, .seconds = LONGEST, .perfect = true };
    dfl_session *s = dfl_session_new(NULL);
    dfl_arena *arena = dfl_arena_new(NULL);
    clock_t start = clock();
    dfl_exit status = dfl_session_open_text(s, "case.dfl", text, strlen(text));

    dfl_session_set_search(s, &options);
    status = status == DFL_EXIT_OK ? dfl_session_eval(s, NULL) : status;
    out->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if ((status != DFL_EXIT_OK && status != DFL_EXIT_STOPPED) || s->filled.n == 0) {
        say(out, VERDICT_FAILED, "not searched: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    } else {
        const dfl_json *report = report_of(s, arena);
        const char *mapped = dfl_session_mapped(s, NULL);

        if (verbose)
            printf("%s", mapped);
        if (is_front(out->objective))
            compare_front(source, s, expected, out);
        else
            compare(source, s, expected, report, out);
        read_back(mapped, report, prove, out);
    }
    dfl_arena_free(arena);
    dfl_session_free(s);
}

/* Finds the objective and the value of the peer; false for an unknown objective. */
static bool read_expected(const dfl_json *expected, optimum_result *out)
{
    const dfl_json *executable = dfl_json_get(expected, "accelforge_mapping_is_executable");
    const dfl_json *run = dfl_json_get(expected, "accelforge_run");
    const char *const text = dfl_json_text(dfl_json_get(expected, "objective"));

    out->peer_seconds = real_of(run, "cpu_s_generate") + real_of(run, "cpu_s_join");
    if (text == NULL)
        return false;
    for (size_t i = 0; i < sizeof SEARCHED / sizeof *SEARCHED; i++)
        if (strcmp(text, SEARCHED[i]) == 0)
            out->objective = SEARCHED[i];
    if (out->objective == NULL) {
        say(out, VERDICT_SKIPPED, "an objective that is not searched: %s", text);
        return false;
    }
    out->repaired = executable != NULL && !executable->boolean;
    out->peer = real_of(expected, out->repaired ? "executable_energy" : out->objective);
    return true;
}

void optimum_accelforge(const char *stem, bool verbose, bool prove, optimum_result *out)
{
    dfl_session *source = dfl_session_new(NULL);
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_exit status = DFL_EXIT_IO;
    char path[LONGEST_PATH];
    const dfl_json *expected;
    const char *text;

    *out = (optimum_result){ .verdict = VERDICT_EQUAL };
    snprintf(path, sizeof path, "%s.expected.json", stem);
    expected = read_json(arena, path);
    snprintf(path, sizeof path, "%s.yaml", stem);
    if (expected == NULL || dfl_session_open(source, path) != DFL_EXIT_OK) {
        say(out, VERDICT_FAILED, "cannot be read");
    } else if (!read_expected(expected, out)) {
        if (out->verdict != VERDICT_SKIPPED)
            say(out, VERDICT_FAILED, "no objective");
    } else if ((text = dfl_session_import_accelforge(source, NULL, 0, &status, NULL)) == NULL) {
        say(out, VERDICT_SKIPPED, "not imported: %s", dfl_session_diagnostics(source, DFL_FORMAT_SHORT, false, NULL));
    } else if ((text = with_objective(arena, text, out->objective, expected)) == NULL) {
        say(out, VERDICT_FAILED, "imported without an objective");
    } else {
        search(source, text, expected, verbose, prove, out);
    }
    dfl_arena_free(arena);
    dfl_session_free(source);
}
