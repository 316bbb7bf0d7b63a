/* From the reference data to a run. */
#include <stdlib.h>
#include <string.h>

#include "tests/timeloop/peer.h"

typedef struct {
    const dfl_json *problem, *shape;
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

static bool truth(const dfl_json *value) { return value && value->kind == DFL_JSON_BOOL && value->boolean; }

static bool equals(const dfl_json *value, const char *text)
{
    const char *is = dfl_json_text(value);

    return is && strcmp(is, text) == 0;
}

static void copy_name(reader *r, char out[PEER_NAME], const dfl_json *value)
{
    const char *text = dfl_json_text(value);

    if (!text || strlen(text) >= PEER_NAME) {
        fail(r, "a name is missing or too long");
        text = "";
    }
    memcpy(out, text, strlen(text) + 1);
}

static uint32_t dim_named(reader *r, char name)
{
    for (uint32_t d = 0; d < r->run->n_dims; d++)
        if (r->run->dims[d].name == name)
            return d;
    fail(r, "an unknown dimension");
    return 0;
}

static uint32_t tensor_named(reader *r, const char *name)
{
    for (uint32_t t = 0; name && t < r->run->n_tensors; t++)
        if (strcmp(r->run->tensors[t].name, name) == 0)
            return t;
    fail(r, "an unknown tensor");
    return 0;
}

/* ---- the problem ---- */

/* A coefficient is a name with a value in the instance, or a default in the shape. */
static int64_t coefficient(reader *r, const dfl_json *name)
{
    const dfl_json *all = dfl_json_get(r->shape, "coefficients"), *one;
    const char *text = dfl_json_text(name);

    if (!name)
        return 1;
    if (!text) {
        fail(r, "a coefficient without a name");
        return 1;
    }
    if (dfl_json_get(r->problem, text))
        return number(dfl_json_get(r->problem, text), 1);
    for (size_t i = 0; (one = dfl_json_at(all, i)) != NULL; i++)
        if (equals(dfl_json_get(one, "name"), text))
            return number(dfl_json_get(one, "default"), 1);
    fail(r, "an unknown coefficient");
    return 1;
}

static void read_projection(reader *r, peer_tensor *t, const dfl_json *projection)
{
    const dfl_json *rank, *term;

    for (size_t i = 0; (rank = dfl_json_at(projection, i)) != NULL; i++) {
        if (i == PEER_RANKS || rank->len > PEER_TERMS) {
            fail(r, "too many ranks or terms");
            return;
        }
        t->n_ranks++;
        for (size_t k = 0; (term = dfl_json_at(rank, k)) != NULL; k++) {
            const char *dim = dfl_json_text(dfl_json_at(term, 0));
            t->terms[i][t->n_terms[i]++] = (peer_term){ .dim = dim_named(r, dim ? dim[0] : '?'),
                                                        .coef = coefficient(r, dfl_json_at(term, 1)) };
        }
    }
}

static void read_problem(reader *r)
{
    const dfl_json *dims = dfl_json_get(r->shape, "dimensions"), *spaces = dfl_json_get(r->shape, "data_spaces"), *one;

    for (size_t i = 0; (one = dfl_json_at(dims, i)) != NULL; i++) {
        const char *name = dfl_json_text(one);
        if (i == PEER_DIMS || !name || strlen(name) != 1) {
            fail(r, "too many dimensions, or one without a letter");
            return;
        }
        r->run->dims[r->run->n_dims++] = (peer_dim){ .name = name[0],
                                                     .bound = number(dfl_json_get(r->problem, name), 1) };
    }
    for (size_t i = 0; (one = dfl_json_at(spaces, i)) != NULL; i++) {
        peer_tensor *t = &r->run->tensors[i];
        if (i == PEER_TENSORS) {
            fail(r, "too many tensors");
            return;
        }
        r->run->n_tensors++;
        copy_name(r, t->name, dfl_json_get(one, "name"));
        t->written = truth(dfl_json_get(one, "read_write"));
        read_projection(r, t, dfl_json_get(one, "projection"));
    }
}

/* ---- the architecture ---- */

static void read_arch(reader *r, const dfl_json *arch)
{
    const dfl_json *macs = dfl_json_get(arch, "arithmetic"), *storage = dfl_json_get(arch, "storage"), *one;

    r->run->macs = number(dfl_json_get(macs, "instances"), 1);
    r->run->macs_x = number(dfl_json_get(macs, "meshX"), r->run->macs);
    for (size_t i = 0; (one = dfl_json_at(storage, i)) != NULL; i++) {
        peer_level *l = &r->run->levels[i];
        if (i == PEER_LEVELS) {
            fail(r, "too many levels");
            return;
        }
        r->run->n_levels++;
        copy_name(r, l->name, dfl_json_get(one, "name"));
        l->instances = number(dfl_json_get(one, "instances"), 1);
        l->mesh_x = number(dfl_json_get(one, "meshX"), l->instances);
        l->entries = number(dfl_json_get(one, "entries"), -1);
        l->entries = l->entries == 0 ? 1 : l->entries; /* a level that only stands for wires */
        l->buffers = number(dfl_json_get(one, "multiple_buffering"), 1);
        l->distributes = equals(dfl_json_get(one, "network_type"), "M:N");
    }
}

/* ---- the mapping ---- */

static uint32_t tensors_in(reader *r, const dfl_json *list)
{
    const dfl_json *one;
    uint32_t set = 0;

    for (size_t i = 0; (one = dfl_json_at(list, i)) != NULL; i++)
        set |= 1u << tensor_named(r, dfl_json_text(one));
    return set;
}

/* Factors as `M13,11 N8`, with the iterations of each dimension; dimensions that are not named have one. */
static void read_factors(reader *r, const char *text, int64_t full[PEER_DIMS], int64_t last[PEER_DIMS])
{
    for (uint32_t d = 0; d < PEER_DIMS; d++)
        full[d] = last[d] = 1;
    for (const char *at = text; at && *at;) {
        char *end;
        uint32_t d;
        if (*at == ' ') {
            at++;
            continue;
        }
        d = dim_named(r, *at);
        full[d] = last[d] = strtoll(at + 1, &end, 10);
        if (*end == ',')
            last[d] = strtoll(end + 1, &end, 10);
        if (full[d] < 1 || last[d] < 1 || last[d] > full[d])
            fail(r, "factors that make no sense");
        at = end > at ? end : at + 1;
    }
}

static void read_loops(reader *r, peer_level *l, const dfl_json *directive, bool spatial)
{
    const char *order = dfl_json_text(dfl_json_get(directive, "permutation"));
    int64_t full[PEER_DIMS], last[PEER_DIMS], split = number(dfl_json_get(directive, "split"), PEER_DIMS);

    read_factors(r, dfl_json_text(dfl_json_get(directive, "factors")), full, last);
    for (int64_t i = 0; order && order[i]; i++) {
        uint32_t d = dim_named(r, order[i]);
        peer_loop loop = { .dim = d, .full = full[d], .last = last[d], .on_y = spatial && i >= split };
        if (full[d] == 1)
            continue;
        full[d] = 1;
        if (spatial)
            l->spatial[l->n_spatial++] = loop;
        else
            l->temporal[l->n_temporal++] = loop;
    }
    for (uint32_t d = 0; d < r->run->n_dims; d++)
        if (full[d] != 1)
            fail(r, "a permutation that leaves out a dimension");
    l->no_reuse |= tensors_in(r, dfl_json_get(directive, "no_reuse"));
    l->no_link |= tensors_in(r, dfl_json_get(directive, "no_link_transfer"));
    l->no_temporal_reuse |= tensors_in(r, dfl_json_get(directive, "no_temporal_reuse"));
    l->rmw_first |= tensors_in(r, dfl_json_get(directive, "rmw_first_update"));
}

static void read_mapping(reader *r, const dfl_json *mapping)
{
    const dfl_json *one;

    for (size_t i = 0; (one = dfl_json_at(mapping, i)) != NULL; i++) {
        const dfl_json *type = dfl_json_get(one, "type");
        peer_level *l = NULL;
        for (uint32_t k = 0; k < r->run->n_levels; k++)
            if (equals(dfl_json_get(one, "target"), r->run->levels[k].name))
                l = &r->run->levels[k];
        if (!l)
            fail(r, "a directive for an unknown level");
        else if (equals(type, "temporal") || equals(type, "spatial"))
            read_loops(r, l, one, equals(type, "spatial"));
        else if (equals(type, "bypass"))
            l->bypass |= tensors_in(r, dfl_json_get(one, "bypass"));
        else
            fail(r, "an unknown directive");
    }
}

/* ---- what the peer reports ---- */

static void read_counts(reader *r, const dfl_json *levels)
{
    const dfl_json *level;

    for (size_t i = 0; (level = dfl_json_at(levels, i)) != NULL && i < r->run->n_levels; i++) {
        const dfl_json *spaces = dfl_json_get(level, "spaces");
        if (!equals(dfl_json_get(level, "name"), r->run->levels[i].name))
            fail(r, "levels in another order");
        for (size_t k = 0; dfl_json_at(spaces, k); k++) {
            const dfl_json *from = dfl_json_at(spaces, k);
            peer_counts *to = &r->run->counts[i][tensor_named(r, spaces->keys[k])];
            *to = (peer_counts){ .present = true, .reads = number(dfl_json_get(from, "reads"), -1),
                                 .fills = number(dfl_json_get(from, "fills"), -1),
                                 .updates = number(dfl_json_get(from, "updates"), -1),
                                 .capacity = number(dfl_json_get(from, "capacity"), -1),
                                 .instances = number(dfl_json_get(from, "instances"), -1) };
        }
    }
}

/* Where the peer's default run extrapolates wrongly, the one without extrapolation counts. */
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
    if (r->run->points < 0 || r->run->cycles < 0)
        fail(r, "a report without computes or cycles");
    read_counts(r, dfl_json_get(report, "levels"));
}

const char *peer_read(const dfl_json *input, const dfl_json *expected, peer_run *run)
{
    reader r = { .problem = dfl_json_get(input, "problem"), .run = run };

    r.shape = dfl_json_get(r.problem, "shape");
    read_problem(&r);
    read_arch(&r, dfl_json_get(input, "arch"));
    read_mapping(&r, dfl_json_get(input, "mapping"));
    read_expected(&r, expected);
    if (run->n_dims == 0 || run->n_tensors < 2 || run->n_levels == 0)
        fail(&r, "no problem or no architecture");
    return r.wrong;
}
