/* Comparison with one run of Timeloop's mapper: the best mapping by the counts of dflc, priced by the rules of Timeloop. */
#include "tests/mapper/optimum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/timeloop/judge.h"

enum { LONGEST_PATH = 4096, LONGEST_FILE = 1 << 20 };

static char *read_file(const char *directory, const char *name, size_t *len)
{
    char path[LONGEST_PATH], *text = calloc(LONGEST_FILE, 1);
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "rb");
    *len = file != NULL && text != NULL ? fread(text, 1, LONGEST_FILE - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    return text;
}

/* The lowest energy * cycles of all runs, and the processor time of the first run. */
static void read_best(const dfl_json *expected, optimum_result *out)
{
    const dfl_json *runs = dfl_json_get(expected, "runs");

    out->peer = INFINITY;
    for (size_t i = 0; runs != NULL && i < runs->len; i++) {
        const dfl_json *run = dfl_json_at(runs, i), *best = dfl_json_get(run, "best");
        const dfl_json *edp = dfl_json_get(best, "edp_pJ_cycles"), *cpu = dfl_json_get(run, "cpu_s");

        if (edp != NULL)
            out->peer = fmin(out->peer, edp->real);
        if (i == 0 && cpu != NULL)
            out->peer_seconds = cpu->real;
    }
}

void optimum_timeloop(const char *directory, optimum_result *out)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    size_t len, n_report;
    char *yaml = read_file(directory, "input.yaml", &len), *report = read_file(directory, "expected.json", &n_report);
    const dfl_json *expected = dfl_json_parse(arena, report, n_report, NULL);
    const dfl_json *complete = dfl_json_get(expected, "search_complete");
    judge_best best = { .energy = 0 };
    clock_t start = clock();

    *out = (optimum_result){ .verdict = VERDICT_EQUAL, .objective = "edp" };
    read_best(expected, out);
    judge_found(directory, yaml, len, &best);
    out->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    out->ours = best.energy * best.cycles;
    out->optimal = best.optimal;
    out->evaluated = (int64_t)best.evaluated;
    out->gap = best.gap;
    if (out->ours == 0 || expected == NULL) {
        out->verdict = VERDICT_FAILED;
        snprintf(out->why.text, sizeof out->why.text, "%s", best.why.text);
    } else if (out->ours < out->peer * (1 - 1e-6)) {
        out->verdict = VERDICT_LOWER;
        snprintf(out->why.text, sizeof out->why.text, "%s%s",
                 complete != NULL && complete->boolean ? "its search was complete in its space"
                                                       : "its search was not complete",
                 strstr(yaml, "\nmapspace:") != NULL ? ", under constraints that are not taken over" : "");
    } else if (out->ours > out->peer * (1 + 1e-6)) {
        out->verdict = VERDICT_FAILED;
        snprintf(out->why.text, sizeof out->why.text, "higher");
    }
    free(yaml);
    free(report);
    dfl_arena_free(arena);
}
