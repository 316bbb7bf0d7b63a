/*
 * The collectives of ASTRA-sim: times that this simulator printed, and that its formulas give exactly (closed_form_ns of
 * palm/astra_collectives.json; MODEL.md there restates the formulas). Its unaware backend lets every message run alone, and it
 * cuts every message to whole nanoseconds: one for each message on the path. What its reductions add follows its own formulas,
 * which stand here. The systems are written as DFL.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "collective/collective.h"

enum { ROWS_WITH_A_FORMULA = 77, DIMENSIONS = 3 };

/* One row. Dimension 0 is the innermost one. */
typedef struct {
    dfl_topology_kind kind[DIMENSIONS];
    dfl_algorithm algorithm[DIMENSIONS];
    double npus[DIMENSIONS], bandwidth[DIMENSIONS], latency[DIMENSIONS]; /* GiB/s, ns */
    uint32_t n_dims;
    dfl_collective_kind kind_of;
    double bytes, splits, active, overhead, memory, wanted; /* overhead and wanted in ns, memory in GB/s */
    bool alone, baseline;
} astra_row;

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The words or numbers of a key of one object, NUL-terminated, without quotes; at most DIMENSIONS. Their number. */
static uint32_t find_values(const char *object, const char *key, char values[DIMENSIONS][32])
{
    const char *at = strstr(object, key);
    bool list;
    uint32_t n = 0;

    assert_non_null(at);
    at += strlen(key) + 2;
    list = *at == '[';
    while (n == 0 || (list && n < DIMENSIONS && *at != ']')) {
        size_t len;
        at += strspn(at, "[\", \n");
        len = strcspn(at, "\",]}\n");
        snprintf(values[n++], 32, "%.*s", (int)len, at);
        at += len;
        at += strspn(at, "\", \n");
    }
    return n;
}

static uint32_t find_numbers(const char *object, const char *key, double out[DIMENSIONS])
{
    char values[DIMENSIONS][32];
    uint32_t n = find_values(object, key, values);

    for (uint32_t i = 0; i < n; i++)
        out[i] = strtod(values[i], NULL);
    return n;
}

static double find_number(const char *object, const char *key)
{
    double values[DIMENSIONS];

    find_numbers(object, key, values);
    return values[0];
}

/* The number of the word in a list. */
static uint32_t find_word(const char *word, const char *const *words, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && strcmp(word, words[i]) != 0)
        i++;
    assert_true(i < n);
    return i;
}

static astra_row read_row(const char *object)
{
    static const char *const kinds[] = { "Ring", "FullyConnected", "Switch" };
    static const dfl_topology_kind topologies[] = { DFL_TOPOLOGY_RING, DFL_TOPOLOGY_FULLY_CONNECTED, DFL_TOPOLOGY_SWITCH };
    static const char *const words[] = { "ring", "direct", "halvingDoubling", "doubleBinaryTree" };
    static const dfl_algorithm algorithms[] = { DFL_ALGORITHM_RING, DFL_ALGORITHM_DIRECT, DFL_ALGORITHM_HALVING_DOUBLING,
                                                DFL_ALGORITHM_DOUBLE_TREE };
    static const char *const names[] = { "all_reduce", "reduce_scatter", "all_gather", "all_to_all" };
    astra_row row = { .n_dims = 0 };
    char values[DIMENSIONS][32];

    row.n_dims = find_values(object, "\"topology\"", values);
    for (uint32_t d = 0; d < row.n_dims; d++)
        row.kind[d] = topologies[find_word(values[d], kinds, 3)];
    assert_int_equal(find_values(object, "\"algorithm\"", values), row.n_dims);
    for (uint32_t d = 0; d < row.n_dims; d++)
        row.algorithm[d] = algorithms[find_word(values[d], words, 4)];
    assert_int_equal(find_numbers(object, "\"npus\"", row.npus), row.n_dims);
    assert_int_equal(find_numbers(object, "\"bw_GBps_2p30\"", row.bandwidth), row.n_dims);
    assert_int_equal(find_numbers(object, "\"lat_ns\"", row.latency), row.n_dims);
    find_values(object, "\"collective\"", values);
    row.kind_of = (dfl_collective_kind)find_word(values[0], names, 4);
    find_values(object, "\"backend\"", values);
    row.alone = strcmp(values[0], "congestion_unaware") == 0;
    find_values(object, "\"collective_optimization\"", values);
    row.baseline = strcmp(values[0], "baseline") == 0;
    row.bytes = find_number(object, "\"size_bytes\"");
    row.splits = find_number(object, "\"splits\"");
    row.active = find_number(object, "\"active_chunks\"");
    row.overhead = find_number(object, "\"endpoint_delay_ns\"");
    row.memory = find_number(object, "\"local_mem_bw_GBps\"");
    row.wanted = find_number(object, "\"closed_form_ns\"");
    return row;
}

/* ---- what it computes -------------------------------------------------------------------------------------------- */

/* How often a message is sent: the switch of the aware backend stores it before it sends it on. */
static double sendings(const astra_row *row, uint32_t d)
{
    return !row->alone && row->kind[d] == DFL_TOPOLOGY_SWITCH ? 2 : 1;
}

static bool is_tree(const astra_row *row) { return row->algorithm[0] == DFL_ALGORITHM_DOUBLE_TREE; }

/* Writes the system as DFL: one network for each dimension, the outermost first, with a port for each chip. This room has double
   trees on a switch, with two links for a message, but not on fully connected ranks, with one. */
static const char *write_system(const astra_row *row, dfl_arena *arena)
{
    const char *text = "dfl 1;\nsystem s {\n";

    for (uint32_t i = 0; i < row->n_dims; i++) {
        uint32_t d = row->n_dims - 1 - i;
        bool turned = is_tree(row) && row->kind[d] == DFL_TOPOLOGY_FULLY_CONNECTED;
        text = dfl_arena_printf(arena, "%snetwork n%u = %s { bandwidth = %.17gGiB/s; latency = %.17gns; overhead = %.17gns; "
                                "algorithm = %s; %s }\narray a%u[%.0f] over n%u {\n", text, i,
                                dfl_topology_name(turned ? DFL_TOPOLOGY_SWITCH : row->kind[d]),
                                row->bandwidth[d] / sendings(row, d), row->latency[d] / (turned ? 2 : 1), row->overhead,
                                dfl_algorithm_name(row->algorithm[d]),
                                d > 0 ? dfl_arena_printf(arena, "port = a%u;", row->n_dims - 1) : "", i, row->npus[d], i);
    }
    text = dfl_arena_printf(arena, "%smemory m { size = 1GiB; }\n", text);
    for (uint32_t i = 0; i <= row->n_dims; i++)
        text = dfl_arena_printf(arena, "%s}\n", text);
    return text;
}

/* Seconds of the exchange along the dimensions [first, last]. A tree takes a whole chunk, of which each of the two trees of this
   room takes half. */
static double find_seconds(const astra_row *row, uint32_t first, uint32_t last, double bytes)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *text = write_system(row, s->arena);
    dfl_group_part parts[DIMENSIONS];
    dfl_collective what = { .kind = row->kind_of, .bits = 8 * bytes * (is_tree(row) ? 2 : 1), .parts = parts, .memory_rate = 0 };
    dfl_collective_options options = { .contention_none = row->alone, .chunks = 1 };
    dfl_collective_cost cost;
    const dfl_system *system;

    assert_int_equal(dfl_session_open_text(s, "astra.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    if (dfl_sink_errors(s->sink) > 0)
        printf("%s%s\n", text, dfl_sink_at(s->sink, 0)->message);
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    system = s->program->systems[0];
    what.element = system->n_elements - 1;
    for (uint32_t d = last + 1; d-- > first;)
        parts[what.n_parts++] = (dfl_group_part){ row->n_dims - 1 - d, 1, (int64_t)row->npus[d], 0 };
    assert_true(dfl_collective_find(s->arena, s->sink, s->names, system, (dfl_span){ 0 }, &what, &options, &cost));
    dfl_session_free(s);
    return cost.seconds;
}

/* Time of the reduction of so many bytes: two reads and a write. */
static double reduce(const astra_row *row, double bytes) { return 3 * floor(bytes / row->memory) * 1e-9; }

/* What the reductions in one dimension add; halving-doubling charges the sizes of the messages behind its first one. `messages`
   gets the messages on the path, `bytes` what is left to exchange in the next dimension. */
static double reduce_dimension(const astra_row *row, uint32_t d, double *bytes, double *messages)
{
    bool sums = row->kind_of == DFL_COLLECTIVE_ALL_REDUCE || row->kind_of == DFL_COLLECTIVE_REDUCE_SCATTER;
    double n = row->npus[d], added = 0, part = *bytes / n;
    double times = sendings(row, d) * (row->kind_of == DFL_COLLECTIVE_ALL_REDUCE ? 2 : 1);

    switch ((int)row->algorithm[d]) {
    case DFL_ALGORITHM_DIRECT:
        *messages += times;
        added = reduce(row, part);
        break;
    case DFL_ALGORITHM_HALVING_DOUBLING:
        *messages += times * log2(n);
        for (double m = *bytes / 4; m >= part; m /= 2)
            added += reduce(row, m);
        break;
    case DFL_ALGORITHM_DOUBLE_TREE:
        *messages += 2 * log2(n);
        added = (2 * log2(n) - 1) * reduce(row, *bytes);
        break;
    default:
        *messages += row->kind_of == DFL_COLLECTIVE_ALL_TO_ALL ? n * (n - 1) / 2 : times * (n - 1);
        added = (n - 1) * reduce(row, part);
        break;
    }
    if (sums)
        *bytes = row->baseline ? *bytes : part;
    return sums ? added : 0;
}

/* Seconds of one chunk. */
static double find_chunk(const astra_row *row, double bytes, double *messages)
{
    double seconds = 0, left = bytes, whole = bytes;

    for (uint32_t d = 0; d < row->n_dims; d++)
        seconds += reduce_dimension(row, d, &left, messages);
    for (uint32_t d = 0; d < row->n_dims && row->kind_of == DFL_COLLECTIVE_ALL_GATHER; d++)
        whole *= row->npus[d];
    for (uint32_t d = 0; d < row->n_dims && row->baseline; d++)
        seconds += find_seconds(row, d, d, bytes);
    return seconds + (row->baseline ? 0 : find_seconds(row, 0, row->n_dims - 1, whole));
}

static void astra(void **state)
{
    const char *folder = getenv("REFERENCE") != NULL ? getenv("REFERENCE") : "../shared/reference";
    char path[4096];
    size_t len = 0, rows = 0, wrong = 0;
    char *text;

    (void)state;
    snprintf(path, sizeof path, "%s/palm/astra_collectives.json", folder);
    text = check_read_file(path, &len);
    if (text == NULL) {
        printf("             %d rows skipped, there is no %s\n", ROWS_WITH_A_FORMULA, path);
        skip();
    }
    for (char *object = strtok(text, "{"); object != NULL; object = strtok(NULL, "{")) {
        astra_row row;
        double chunks, seconds, messages = 0;
        if (strstr(object, "\"closed_form_ns\"") == NULL || strstr(object, "\"closed_form_ns\": null") != NULL)
            continue;
        row = read_row(object);
        chunks = ceil(row.splits / row.active);
        seconds = chunks * find_chunk(&row, row.bytes / row.splits, &messages);
        if (fabs(seconds * 1e9 - row.wanted) > chunks * messages)
            printf("             %.6s: %.3f ns, its formula %.0f, messages %.0f\n", strstr(object, "ac"), seconds * 1e9,
                   row.wanted, chunks * messages);
        wrong += fabs(seconds * 1e9 - row.wanted) > chunks * messages;
        rows++;
    }
    free(text);
    assert_int_equal(rows, ROWS_WITH_A_FORMULA);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(astra) };

    return CHECK_GROUP("collective.astra", tests);
}
