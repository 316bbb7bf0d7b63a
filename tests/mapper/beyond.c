/*
 * beyond [N [seed [first]]]: N random problems of several einsums, each searched in the space, with each kind of `--beyond`,
 * and with all kinds. Every other problem is tiny (tiny.h); the others have graphs and systems that favour the kinds. A result
 * with a kind
 *   - is no worse than the result in the space;
 *   - is not below its lower bound, unless the bound of the search in the space was already wrong;
 *   - is called optimal only if it is as good as the best result;
 *   - costs the same when it is read back, and passes the checks and the oracle.
 * Prints how often each kind finds a better mapping. The last line is `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/mapper.h"
#include "mapper/problem/evaluate.h"
#include "model/model.h"
#include "tests/mapper/judge.h"
#include "tests/mapper/tiny.h"

enum { SHOWN = 5, KINDS = 7, ALL = 63, WINDOWS = 5 };

static const struct { const char *name; unsigned kinds; } kinds[KINDS] = {
    { "order", DFL_SEARCH_ORDER }, { "recompute", DFL_SEARCH_RECOMPUTE }, { "spill", DFL_SEARCH_SPILL },
    { "split", DFL_SEARCH_SPLIT }, { "pipeline", DFL_SEARCH_PIPELINE }, { "window", DFL_SEARCH_WINDOW },
    { "all", ALL },
};

typedef struct {
    bool found, optimal;
    double value, bound;
    char *mapped;
} found;

/* Like dfl_session_fill, but keeps the lower bound of the search even if a mapping is found below it. */
static found search(const char *text, unsigned beyond)
{
    dfl_session *s = dfl_session_new(NULL);
    dfl_objective objective;
    const dfl_search_request request = { .objective = &objective,
                                         .space = { .extensions = beyond, .max_shared_loops = DFL_NONE } };
    const dfl_mapping *open;
    const dfl_search_result *r = NULL;
    found out = { .value = INFINITY };

    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0) {
        open = s->program->designs[0].mapping;
        if (dfl_objective_make(s->sink, s->names, open, &objective))
            r = dfl_mapper_search(s->arena, s->sink, s->names, open, &request);
    }
    if (r != NULL && r->n > 0) {
        DFL_PUSH(s->arena, &s->filled, ((dfl_filled){ .given = open, .mapping = r->at[0].mapping }));
        out = (found){ true, r->status == DFL_SEARCH_OPTIMAL,
                       dfl_mapping_value(&s->budget, s->names, r->at[0].mapping, &objective), r->lower_bound,
                       strdup(dfl_session_mapped(s, NULL)) };
    }
    dfl_session_free(s);
    return out;
}

/* The cost of the mapping after it is read back. */
static double value_of(const char *mapped)
{
    dfl_session *s = dfl_session_new(NULL);
    const dfl_paths *paths = NULL;
    const dfl_result *costs = NULL;
    dfl_objective objective;
    double out = NAN;

    if (dfl_session_open_text(s, "found.dfl", mapped, strlen(mapped)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0 &&
        dfl_objective_make(s->sink, s->names, s->program->designs[0].mapping, &objective))
        paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
    if (paths)
        costs = dfl_model_eval(s->arena, s->sink, s->names, paths);
    if (costs)
        out = dfl_objective_value(&objective, costs->joules, costs->seconds);
    dfl_session_free(s);
    return out;
}

/* The reason why the result of `--beyond` is wrong; NULL = it is right. */
static const char *check(const found *before, const found *after, char *why, size_t n)
{
    if (before->found != after->found)
        return "one of them finds nothing";
    if (!before->found)
        return NULL;
    if (after->value > before->value * (1 + 1e-12))
        return "it is worse";
    if (after->bound > before->bound * (1 + 1e-9))
        return "the bound is above that of a smaller space";
    if (after->bound > after->value * (1 + 1e-9) && before->bound <= before->value * (1 + 1e-9))
        return "it is below the bound";
    if (after->optimal && after->value > after->bound * (1 + 1e-9))
        return "it is not optimal";
    if (!(fabs(value_of(after->mapped) - after->value) <= after->value * 1e-12))
        return "it costs something else when it is read again";
    return judge_proves(after->mapped, why, n) ? NULL : why;
}

/* ---- problems ---- */

static const char *const graphs[] = {
    "    input A[m, k], B[p, k];\n    weight V[k, n], W[k, q], F[n], G[q];\n"
    "    X[m, n] += A[m, k] * V[k, n];\n    U[p, q] += B[p, k] * W[k, q];\n"
    "    output Y[m] += X[m, n] * F[n];\n    output Z[p] += U[p, q] * G[q];\n",
    "    input A[m], B[n];\n    weight C[n, p];\n"
    "    X[m, n] = A[m] + B[n];\n    output Y[m, p] += X[m, n] * C[n, p];\n",
    "    input A[m, k];\n    weight B[k, n], D[q];\n"
    "    X[m, n] += A[m, k] * B[k, n];\n    S[q] += X[m, n] * D[q];\n    output Z[m, n, q] = X[m, n] * S[q];\n",
    "    input A[m, k];\n    weight B[k, n], C[n];\n"
    "    X[m, n] += A[m, k] * B[k, n];\n    output Y[m, n] = X[m, n] * C[n];\n",
    "    input A[m, k];\n    weight B[k, n], C[n, p];\n"
    "    output X[m, n] += A[m, k] * B[k, n];\n    output Y[m, p] += X[m, n] * C[n, p];\n",
    "    input A[m, k];\n    weight B[k, n], C[n, p];\n"
    "    X[m, n] += A[m, k] * B[k, n];\n    Y[m, p] += X[m, n] * C[n, p];\n    E[m, n] = X[m, n] + X2[m];\n"
    "    output Z[m, n, p] = E[m, n] + Y[m, p];\n",
    "    input A[m, k];\n    weight B[k, n], C[n, p], D[p, q];\n"
    "    X[m, n] += A[m, k] * B[k, n];\n    Y[m, p] += X[m, n] * C[n, p];\n    output Z[m, q] += Y[m, p] * D[p, q];\n",
    "    input A[h: M + R - 1, k];\n    weight B[r], C[s];\n"
    "    X[m, k] += A[m + r, k] * B[r];\n    output Y[n, k] += X[n + s - 1, k] * C[s];\n",
};

enum { GRAPHS = sizeof graphs / sizeof *graphs };

static uint32_t pick(tiny_random *r, const uint32_t *from, uint32_t n) { return from[tiny_below(r, n)]; }

static void print_problem(tiny_random *r, FILE *out)
{
    static const uint32_t extents[] = { 2, 3, 4, 4, 6, 8 }, energies[] = { 20, 50, 100 }, rates[] = { 0, 1, 4, 16 };
    static const char ranks[] = "knpq";
    static const char *const objectives[] = { "energy", "latency", "energy * latency" };
    const char *graph = graphs[tiny_below(r, GRAPHS)];
    const uint32_t n_extents = strstr(graph, "X2") ? 4 : 6; /* long ranks for at most three einsums, to limit the time */
    uint32_t array = tiny_below(r, 4) == 0 ? 2 + tiny_below(r, 3) : 0;

    fprintf(out, "workload graph(M = %u, R = %u) : i8 {\n    rank m = M, r = R, s = 3", 2 + pick(r, extents, n_extents),
            1 + tiny_below(r, 3));
    for (uint32_t i = 0; ranks[i] != '\0'; i++)
        fprintf(out, ", %c = %u", ranks[i], pick(r, extents, n_extents));
    fprintf(out, ";\n%s%s}\n", strstr(graph, "X2") ? "    weight X2[m];\n" : "", graph);
    fprintf(out, "system chip {\n    clock = 1Hz;\n    memory dram { size = unlimited; ");
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t rate = pick(r, rates, 4);
        if (rate > 0)
            fprintf(out, "bandwidth = %uB/s; ", rate << (2 * i));
        fprintf(out, "energy = %uJ/bit; }\n", i == 0 ? pick(r, energies, 3) : 1 + tiny_below(r, 3));
        if (i == 0)
            fprintf(out, "    memory sram { size = %uB; buffers = %u; ", 4 + tiny_below(r, 60), 1 + tiny_below(r, 3) / 2);
    }
    if (tiny_below(r, 3) == 0)
        fprintf(out, "    memory buffer { size = %uB; energy = 1J/bit; }\n", 1 + tiny_below(r, 8));
    if (tiny_below(r, 2) == 0)
        fprintf(out, "    compute vector { rate = 1FLOP/cycle; energy = 1J/FLOP; }\n");
    if (array > 0)
        fprintf(out, "    network links = bus { multicast = x; reduce = x; }\n    array x[%u] over links {\n", array);
    fprintf(out, "    compute matrix { rate { mac = %uMAC/cycle; flop = 1FLOP/cycle; } energy = 1J/MAC; }\n%s}\n",
            1 + tiny_below(r, 4), array > 0 ? "    }\n" : "");
    fprintf(out, "mapping best for graph on chip { minimize %s; ...; }\n", objectives[tiny_below(r, 3)]);
}

/* Problem number `i` as text, to be freed by the caller; NULL if the problem has one einsum. */
static char *draw(uint64_t seed, uint64_t i)
{
    tiny_random random = tiny_seeded(seed + 2000, i);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    tiny t;

    tiny_draw(&t, &random, i % WINDOWS == 0);
    if (i % 2 == 1)
        print_problem(&random, out);
    else
        tiny_print(&t, 0, out);
    fclose(out);
    if (i % 2 == 1 || t.n_einsums > 1)
        return text;
    free(text);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 60, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0, done = 0, lower[KINDS] = { 0 };
    double ratio[KINDS] = { 1, 1, 1, 1, 1, 1, 1 };
    uint64_t best[KINDS] = { 0 };

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; done < n; i++) {
        found before;
        char *text = draw(seed, i);
        bool fine = true;

        if (text == NULL)
            continue;
        done++;
        before = search(text, 0);
        for (uint32_t k = 0; k < KINDS; k++) {
            char why[400];
            found after = search(text, kinds[k].kinds);
            const char *wrong = check(&before, &after, why, sizeof why);
            if (wrong) {
                fine = false;
                printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 " with %s: %s: %.12g, before %.12g\n", i, seed,
                       kinds[k].name, wrong, after.value, before.value);
                if (failed < SHOWN)
                    printf("%s\n%s\n", text, after.mapped ? after.mapped : "");
            }
            lower[k] += after.value < before.value * (1 - 1e-9);
            if (after.value < before.value * ratio[k]) {
                ratio[k] = after.value / before.value;
                best[k] = i;
            }
            free(after.mapped);
        }
        failed += !fine;
        free(before.mapped);
        free(text);
    }
    for (uint32_t k = 0; k < KINDS; k++)
        printf("%-10s lower in %" PRIu64 " of %" PRIu64 ", at most to %.4f (problem %" PRIu64 ")\n", kinds[k].name, lower[k],
               done, ratio[k], best[k]);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
