/*
 * std.networks.measured against NCCL (on the B60, oneCCL): times of collectives on 2, 4 and 8 chips. The even lines of the table of measurements fit
 * the file (tests/truth/fit_collectives.sh); the odd lines judge it here: for each chip type, the median of the relative errors
 * is below 10 %, and their 90th percentile below 40 %.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "collective/collective.h"

typedef struct {
    const char *name;          /* chip type in the table, and the start of the name of its systems */
    const char *system;
    size_t rows;               /* held-out rows */
} measured_case;

static const measured_case cases[] = {
    { "a100_sxm", "a100_x", 77 },
    { "h100_sxm", "h100_x", 77 },
    { "b200_sxm", "b200_x", 77 },
    { "l40s", "l40s_x", 77 },
    { "b60", "b60_x", 38 },
};

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static const dfl_system *find_system(const dfl_session *s, const char *start, int ranks)
{
    char name[64];

    snprintf(name, sizeof name, "%s%d", start, ranks);
    for (uint32_t i = 0; i < s->program->n_systems; i++)
        if (strcmp(dfl_sym_text(s->names, s->program->systems[i]->name), name) == 0)
            return s->program->systems[i];
    return NULL;
}

static double find_seconds(dfl_session *s, const dfl_system *system, const char *op, int ranks, double bytes)
{
    const dfl_group_part part = { 0, 1, ranks, 0 };
    const dfl_collective_options options = { .contention_none = false, .chunks = 0 };
    dfl_collective what = { .bits = 8 * bytes, .parts = &part, .n_parts = 1, .element = system->axes[0].element };
    dfl_collective_cost cost;

    what.kind = strcmp(op, "all_reduce") == 0       ? DFL_COLLECTIVE_ALL_REDUCE
                : strcmp(op, "all_gather") == 0     ? DFL_COLLECTIVE_ALL_GATHER
                : strcmp(op, "reduce_scatter") == 0 ? DFL_COLLECTIVE_REDUCE_SCATTER
                                                    : DFL_COLLECTIVE_ALL_TO_ALL;
    assert_true(dfl_collective_find(s->arena, s->sink, s->names, system, (dfl_span){ 0 }, &what, &options, &cost));
    return cost.seconds;
}

/* A table of measurements, and the systems that predict its rows. */
typedef struct {
    char *text;                /* strtok cuts it into rows */
    FILE *list;                /* gets a line for each row: the file of LIST, NULL = none is asked for */
    dfl_session *session;
} table;

/* Opens a table of the reference data; skips the case if it is absent. close_table frees it. */
static table open_table(const measured_case *c, const char *name)
{
    const char *folder = getenv("REFERENCE") != NULL ? getenv("REFERENCE") : "../shared/reference";
    table t = { 0 };
    char path[4096];
    size_t len = 0;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    t.text = check_read_file(path, &len);
    if (t.text == NULL) {
        printf("             %zu rows skipped, there is no %s\n", c->rows, path);
        skip();
    }
    t.list = getenv("LIST") != NULL ? fopen(getenv("LIST"), "a") : NULL;
    t.session = dfl_session_new(&(dfl_session_options){ .size = sizeof(dfl_session_options), .stdlib = "stdlib" });
    assert_int_equal(dfl_session_open(t.session, "stdlib/networks/measured.dfl"), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(t.session));
    return t;
}

static void close_table(const table *t)
{
    free(t->text);
    dfl_session_free(t->session);
    if (t->list != NULL)
        fclose(t->list);
}

static void measured(void **state)
{
    const measured_case *c = *state;
    const table t = open_table(c, "silicon/collectives.csv");
    double errors[1000];
    size_t n = 0, line = 1;

    for (char *row = strtok(t.text, "\n"); row != NULL; row = strtok(NULL, "\n"), line++) {
        char chip[32], op[32];
        int ranks;
        double bytes, least, median;
        const dfl_system *system;
        if ((line % 2 == 0 && t.list == NULL) ||
            sscanf(row, "%31[^,],%31[^,],%d,%lf,%lf,%lf", chip, op, &ranks, &bytes, &least, &median) != 6 ||
            strcmp(chip, c->name) != 0 || (system = find_system(t.session, c->system, ranks)) == NULL)
            continue;
        if (strcmp(chip, "b60") == 0 && strcmp(op, "all_gather") == 0) /* the table counts the part of one chip */
            bytes *= ranks;
        assert_true(n < sizeof errors / sizeof errors[0]);
        const double microseconds = find_seconds(t.session, system, op, ranks, bytes) * 1e6;
        if (t.list != NULL)
            fprintf(t.list, "silicon/collectives.csv %zu %.6g %.6g %s\n", line, microseconds, median, line % 2 ? "held" : "fit");
        if (line % 2)
            errors[n++] = fabs(microseconds / median - 1);
    }
    close_table(&t);
    assert_int_equal(n, c->rows);
    qsort(errors, n, sizeof errors[0], compare);
    printf("             %zu rows, median error %.1f %%, 90th percentile %.1f %%\n", n, 100 * errors[n / 2],
           100 * errors[n * 9 / 10]);
    assert_true(errors[n / 2] < 0.1);
    assert_true(errors[n * 9 / 10] < 0.4);
}

/* All-reduces on the same chips that others measured, with other releases and the start of the call: printed, without a bar. */
static const measured_case others[] = {
    { "A100-SXM-80GB", "a100_x", 122 },
    { "A100 NVLink node", "a100_x", 33 },
    { "H100-SXM-80GB", "h100_x", 45 },
};

static void other_measurements(void **state)
{
    const measured_case *c = *state;
    const table t = open_table(c, "calculon/op_measured.csv");
    double errors[1000];
    size_t n = 0, line = 1;

    for (char *row = strtok(t.text, "\n"); row != NULL; row = strtok(NULL, "\n"), line++) {
        char chip[32], type[32];
        int ranks;
        double bytes, us;
        const dfl_system *system;
        if (sscanf(row, "all_reduce,%31[^,],%d,%31[^,],bytes=%lf,%lf,us", chip, &ranks, type, &bytes, &us) != 5 ||
            strcmp(chip, c->name) != 0 || (system = find_system(t.session, c->system, ranks)) == NULL)
            continue;
        assert_true(n < sizeof errors / sizeof errors[0]);
        const double microseconds = find_seconds(t.session, system, "all_reduce", ranks, bytes) * 1e6;
        if (t.list != NULL)
            fprintf(t.list, "calculon/op_measured.csv %zu %.6g %.6g held\n", line, microseconds, us);
        errors[n++] = fabs(microseconds / us - 1);
    }
    close_table(&t);
    assert_int_equal(n, c->rows);
    qsort(errors, n, sizeof errors[0], compare);
    printf("             %zu rows, median error %.1f %%, 90th percentile %.1f %%, no bar\n", n, 100 * errors[n / 2],
           100 * errors[n * 9 / 10]);
}

int main(void)
{
    return CHECK_TABLE("collective.measured", cases, measured) + CHECK_TABLE("collective.others", others, other_measurements);
}
