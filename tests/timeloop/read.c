/* Reads the numbers of a run from the reference data. */
#include <string.h>

#include "tests/timeloop/peer.h"

typedef struct {
    peer_run *run;
    const char *wrong;
} reader;

static void fail(reader *r, const char *why)
{
    if (!r->wrong)
        r->wrong = why;
}

static int64_t number(const dfl_json *value, int64_t otherwise)
{
    if (value && value->kind == DFL_JSON_REAL)
        return (int64_t)value->real;
    return value && value->kind == DFL_JSON_INT ? value->integer : otherwise;
}

static double real(const dfl_json *value) { return value ? value->real : -1; }

static bool truth(const dfl_json *value) { return value && value->kind == DFL_JSON_BOOL && value->boolean; }

static bool equals(const dfl_json *value, const char *text)
{
    const char *is = dfl_json_text(value);

    return is && strcmp(is, text) == 0;
}

static uint32_t tensor_named(reader *r, const char *name)
{
    for (uint32_t t = 0; name && t < r->run->f.n_tensors; t++)
        if (strcmp(r->run->f.tensors[t].name, name) == 0)
            return t;
    fail(r, "an unknown tensor");
    return 0;
}

/* ---- what the peer reports ---- */

static void read_counts(reader *r, const dfl_json *levels)
{
    const dfl_json *level;

    for (size_t i = 0; (level = dfl_json_at(levels, i)) != NULL && i < r->run->f.n_levels; i++) {
        const dfl_json *spaces = dfl_json_get(level, "spaces");
        if (!equals(dfl_json_get(level, "name"), r->run->f.levels[i].name))
            fail(r, "levels in another order");
        for (size_t k = 0; dfl_json_at(spaces, k); k++) {
            const dfl_json *from = dfl_json_at(spaces, k);
            peer_counts *to = &r->run->counts[i][tensor_named(r, spaces->keys[k])];
            *to = (peer_counts){ .present = true, .reads = number(dfl_json_get(from, "reads"), -1),
                                 .fills = number(dfl_json_get(from, "fills"), -1),
                                 .updates = number(dfl_json_get(from, "updates"), -1),
                                 .capacity = number(dfl_json_get(from, "capacity"), -1),
                                 .instances = number(dfl_json_get(from, "instances"), -1),
                                 .energy = real(dfl_json_get(from, "energy_pJ_per_instance")) };
        }
    }
}

/* If the default run of the peer extrapolates wrongly, the numbers of its run without extrapolation count. */
static void read_expected(reader *r, const dfl_json *expected)
{
    const dfl_json *report = dfl_json_get(expected, "expect"), *exact = dfl_json_get(expected, "expect_noextrap");
    const dfl_json *artifacts = dfl_json_get(expected, "artifacts"), *one;

    const char *message = dfl_json_text(dfl_json_get(expected, "timeloop_message"));

    r->run->too_large = message && strstr(message, "exceeds buffer capacity");
    r->run->too_wide = message && strstr(message, "exceeds hardware instances");
    r->run->rejected = truth(dfl_json_get(expected, "rejected"));
    r->run->died = dfl_json_get(expected, "error") != NULL;
    for (size_t i = 0; (one = dfl_json_at(artifacts, i)) != NULL; i++) {
        if (equals(one, "representative_iteration"))
            r->run->extrapolated = true;
        else if (equals(one, "mac_count_truncated"))
            r->run->truncated = true;
        else
            fail(r, "an unknown artifact");
    }
    if (r->run->rejected || r->run->died)
        return;
    if (r->run->extrapolated && exact && exact->kind == DFL_JSON_OBJECT)
        report = exact;
    r->run->every_step = report && report == exact;
    r->run->points = number(dfl_json_get(expected, "true_macs"), -1);
    r->run->cycles = number(dfl_json_get(report, "compute_cycles"), -1);
    r->run->computes = number(dfl_json_get(report, "computes"), -1);
    r->run->energy = real(dfl_json_get(report, "mac_energy_pJ"));
    if (r->run->points < 0 || r->run->cycles < 0)
        fail(r, "a report without computes or cycles");
    read_counts(r, dfl_json_get(report, "levels"));
}

const char *peer_read(const dfl_json *expected, peer_run *run)
{
    reader r = { .run = run };

    if (run->f.n_dims > PEER_DIMS || run->f.n_tensors > PEER_TENSORS || run->f.n_levels > PEER_LEVELS)
        fail(&r, "too many dimensions, tensors or levels");
    for (uint32_t t = 0; t < run->f.n_tensors; t++) {
        if (run->f.tensors[t].n_ranks > PEER_RANKS)
            fail(&r, "too many ranks");
        for (uint32_t k = 0; k < run->f.tensors[t].n_ranks; k++)
            if (run->f.tensors[t].ranks[k].n_terms > PEER_TERMS)
                fail(&r, "too many terms");
    }
    if (!r.wrong)
        read_expected(&r, expected);
    return r.wrong;
}
