/*
 * first TABLE: first mappings of single einsums on chips of the library. A row is a file of std.chips, a system of it, a workload,
 * an objective, a number of evaluations, and a value. The search must find a mapping that is worth at most the value, with at most
 * so many evaluations; the model must agree with the value found; and the floor must not be above it. The last line is
 * `N passed, N failed`. `first -v TABLE` prints what is found.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/session.h"
#include "mapper/first/first.h"
#include "mapper/problem/evaluate.h"

typedef struct { char file[40], system[60], workload[120], objective[40]; unsigned long evaluations; double value; } row;

static const char workloads[] =
    "/// A convolution of 3 x 3 by default; `step`: distance of windows.\n"
    "workload conv(K, C, P, Q, R = 3, S = 3, step = 1) : i8 {\n"
    "    rank k = K, c = C, p = P, q = Q, r = R, s = S;\n"
    "    input I[C, step * (P - 1) + R, step * (Q - 1) + S]; weight W[k, c, r, s];\n"
    "    output O[k, p, q] : i32 += I[c, step * p + r, step * q + s] * W[k, c, r, s];\n}\n"
    "workload depthwise(C, P, Q, R = 3, S = 3) : i8 {\n"
    "    rank c = C, p = P, q = Q, r = R, s = S;\n"
    "    input I[C, P - 1 + R, Q - 1 + S]; weight W[c, r, s];\n"
    "    output O[c, p, q] : i32 += I[c, p + r, q + s] * W[c, r, s];\n}\n"
    "workload add(N) : i8 { rank n = N; input A[n], B[n]; output Z[n] = A[n] + B[n]; }\n"
    "workload total(M, N) : i8 { rank m = M, n = N; input A[m, n]; output Z[m] : i32 += A[m, n]; }\n"
    "workload attention(B, M, N, D) : bf16 { rank b = B, m = M, n = N, d = D; input Q[b, m, d], K[b, n, d];\n"
    "    output S[b, m, n] : fp32 += Q[b, m, d] * K[b, n, d]; }\n";

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The failure of a row in words, NULL = none. */
static const char *check(dfl_session *s, const row *r, dfl_first_result *found, double *floor)
{
    char *text = dfl_arena_printf(s->arena, "dfl 1;\nimport std.workloads.gemm as la;\nimport std.chips.%s as c;\n%s"
                                  "mapping x for %s on c.%s { ...; minimize %s; }\n",
                                  r->file, workloads, r->workload, r->system, r->objective);
    const dfl_search_limits limits = { .evaluations = r->evaluations, .threads = 1 };
    dfl_objective objective;
    const dfl_mapping *m;

    if (dfl_session_open_text(s, "first.dfl", text, strlen(text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_errors(s->sink) != 0)
        return "the text is not legal";
    m = s->program->designs[0].mapping;
    if (!dfl_objective_make(s->sink, s->names, m, &objective))
        return "no objective";
    *floor = dfl_first_bound(s->arena, s->names, m, &objective);
    *found = dfl_first_find(s->arena, s->names, m, &objective, &limits, true, DFL_FIRST_WIDE);
    if (found->mapping == NULL)
        return "no mapping is found";
    if (fabs(dfl_mapping_value(NULL, s->names, found->mapping, &objective) / found->value - 1) > 1e-12)
        return "the model disagrees";
    if (*floor > found->value * (1 + 1e-9))
        return "the floor is above a mapping";
    if (*floor <= 0)
        return "there is no floor";
    return found->value <= r->value ? NULL : "the mapping is worse than the table says";
}

int main(int argc, char **argv)
{
    const bool verbose = argc == 3 && strcmp(argv[1], "-v") == 0;
    FILE *table = argc > 1 ? fopen(argv[argc - 1], "r") : NULL;
    unsigned passed = 0, failed = 0;
    char line[400];
    row r;

    if (table == NULL) {
        fprintf(stderr, "usage: first [-v] TABLE\n");
        return 2;
    }
    while (fgets(line, sizeof line, table) != NULL) {
        dfl_session *s;
        dfl_first_result found = { .value = INFINITY };
        double floor = 0, start = processor_seconds();
        const char *why;

        if (sscanf(line, "%39[^\t#]\t%59[^\t]\t%119[^\t]\t%39[^\t]\t%lu\t%lf", r.file, r.system, r.workload, r.objective,
                   &r.evaluations, &r.value) != 6)
            continue;
        s = dfl_session_new(&(dfl_session_options){ .size = sizeof(dfl_session_options), .stdlib = "stdlib" });
        why = check(s, &r, &found, &floor);
        if (why != NULL)
            printf("FAILED: %s on %s: %s: %.6g, the table has %.6g\n", r.workload, r.system, why, found.value, r.value);
        if (verbose)
            printf("%s\t%s\t%s\t%s\t%lu\t%.4g\t# %.2f %% above the floor, %lu evaluations, %.1f ms\n", r.file, r.system, r.workload,
                   r.objective, r.evaluations, found.value, 100 * (found.value / floor - 1), (unsigned long)found.evaluated,
                   1e3 * (processor_seconds() - start));
        passed += why == NULL;
        failed += why != NULL;
        dfl_session_free(s);
    }
    fclose(table);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
