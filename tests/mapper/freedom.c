/* The ways in which a mapping leaves the space of AccelForge's mapper, from the specification. */
#include "tests/mapper/optimum.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "import/accelforge/accelforge.h"
#include "import/accelforge/copy.h"
#include "import/accelforge/expr.h"

typedef struct {
    dfl_af_file f;
    const dfl_intern *names;
    const dfl_mapping *m;
    optimum_freedom *out;
} freedom;

static void __attribute__((format(printf, 2, 3))) note(freedom *k, const char *format, ...)
{
    char one[160];
    size_t len = strlen(k->out->text);
    va_list args;

    va_start(args, format);
    vsnprintf(one, sizeof one, format, args);
    va_end(args);
    if (strstr(k->out->text, one) == NULL)
        snprintf(k->out->text + len, sizeof k->out->text - len, "%s%s", len > 0 ? ", " : "", one);
}

/* Tensors that an expression names for an einsum; no tensor if the expression depends on choices of the peer's mapper. */
static dfl_af_set named(const freedom *k, uint32_t einsum, const dfl_yaml *at)
{
    dfl_af_set set = { { 0 } };

    if (at == NULL || !dfl_af_tensors(&k->f, einsum, at, &set))
        memset(&set, 0, sizeof set);
    return set;
}

/* The name of a tensor in the mapping. */
static const char *name_of(const freedom *k, uint32_t tensor)
{
    return k->f.tensors.at[dfl_af_root(&k->f, tensor)].name;
}

/* The einsum of the workload with the result of einsum `e` of the specification. */
static const dfl_body *leaf_of(const freedom *k, uint32_t e)
{
    const dfl_af_einsum *einsum = &k->f.einsums.at[e];
    const char *tensor = k->f.tensors.at[einsum->accesses[einsum->output].tensor].name;

    for (uint32_t i = 0; i < k->m->workload->n_einsums; i++) {
        const dfl_tensor *t = &k->m->workload->tensors[k->m->workload->einsums[i].output.tensor];

        if (strcmp(dfl_sym_text(k->names, t->name), tensor) == 0)
            return dfl_mapping_leaf(k->m, i);
    }
    return NULL;
}

static bool kept(const freedom *k, const dfl_body *leaf, const char *memory, const char *tensor)
{
    for (const dfl_body *b = leaf; b != NULL; b = b->parent) {
        for (uint32_t i = 0; i < b->n_lines; i++) {
            const dfl_line *line = &b->lines[i];

            if (line->kind == DFL_LINE_KEEP &&
                strcmp(dfl_sym_text(k->names, k->m->system->memories[line->memory].name), memory) == 0 &&
                strcmp(dfl_sym_text(k->names, k->m->workload->tensors[line->tensor].name), tensor) == 0)
                return true;
        }
    }
    return false;
}

/* Tensors that the peer must keep in a memory and the mapping does not. */
static void find_bypassed(freedom *k, uint32_t at)
{
    const dfl_af_node *node = &k->f.nodes.at[at];
    const dfl_yaml *keep = dfl_yaml_get(dfl_yaml_get(node->at, "tensors"), "keep");
    dfl_af_set missing = { { 0 } };
    char names[60] = "";
    uint32_t n = 0;

    for (uint32_t e = 0; e < k->f.einsums.n; e++) {
        const dfl_af_einsum *einsum = &k->f.einsums.at[e];
        const dfl_body *leaf = leaf_of(k, e);
        dfl_af_set must = named(k, e, keep);

        for (uint32_t a = 0; a < einsum->n_accesses && leaf != NULL; a++) {
            uint32_t t = einsum->accesses[a].tensor;

            if (dfl_af_has(&must, t) && !kept(k, leaf, node->name, name_of(k, t))) {
                dfl_af_put(&missing, t);
                k->out->leaves_home |= k->f.homes[dfl_af_root(&k->f, t)] == at;
            }
        }
    }
    for (uint32_t t = 0; t < k->f.tensors.n; t++) {
        size_t len = strlen(names);

        if (!dfl_af_has(&missing, t))
            continue;
        if (++n <= 3)
            snprintf(names + len, sizeof names - len, "%s%s", n > 1 ? " " : "", k->f.tensors.at[t].name);
    }
    if (n > 0)
        note(k, "must keep %s%s in %s", names, n > 3 ? " and more" : "", node->name);
}

/* Number of loops of several iterations that einsums share, and whether two of them run over one rank. */
static void find_shared(freedom *k, int64_t max_fused)
{
    for (uint32_t e = 0; e < k->m->workload->n_einsums; e++) {
        const dfl_body *leaf = dfl_mapping_leaf(k->m, e);
        uint64_t seen = 0;
        int64_t shared = 0;

        for (const dfl_body *b = leaf->parent; b != NULL; b = b->parent) {
            for (uint32_t i = 0; i < b->n_lines; i++) {
                if (b->lines[i].kind == DFL_LINE_KEEP)
                    continue;
                shared++;
                if (b->lines[i].rank < 64 && (seen >> b->lines[i].rank & 1) != 0)
                    note(k, "shares one loop a rank");
                seen |= b->lines[i].rank < 64 ? UINT64_C(1) << b->lines[i].rank : 0;
            }
        }
        if (max_fused >= 0 && shared > max_fused)
            note(k, "shares %lld loops at most", (long long)max_fused);
    }
}

static const dfl_access *access_named(const freedom *k, const dfl_einsum *e, const char *tensor)
{
    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *a = i < e->n_inputs ? &e->inputs[i] : &e->output;

        if (strcmp(dfl_sym_text(k->names, k->m->workload->tensors[a->tensor].name), tensor) == 0)
            return a;
    }
    return NULL;
}

static bool indexes(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            if (a->index[d].terms[i].rank == rank)
                return true;
    return false;
}

/* Parts that the einsum of a leaf is cut into along an axis. */
static int64_t parts_on(const freedom *k, const dfl_body *leaf, const char *axis)
{
    int64_t parts = 1;

    for (const dfl_body *b = leaf; b != NULL; b = b->parent)
        for (uint32_t i = 0; i < b->n_lines; i++)
            if (b->lines[i].kind == DFL_LINE_SPATIAL &&
                strcmp(dfl_sym_text(k->names, k->m->system->axes[b->lines[i].axis].name), axis) == 0)
                parts *= b->lines[i].amount;
    return parts;
}

/* Notes ranks along an axis that index a tensor which the peer must reuse there, and an axis that uses fewer instances
   than `min_usage` requires. */
static void find_spread(freedom *k, uint32_t e, const dfl_yaml *axis)
{
    const dfl_body *leaf = leaf_of(k, e);
    const char *name = dfl_yaml_get(axis, "name") ? dfl_yaml_get(axis, "name")->text : "";
    dfl_af_set reuse = named(k, e, dfl_yaml_get(axis, "reuse"));
    const dfl_yaml *least = dfl_yaml_get(axis, "min_usage"), *fanout = dfl_yaml_get(axis, "fanout");
    const dfl_einsum *einsum;

    if (leaf == NULL)
        return;
    einsum = &k->m->workload->einsums[leaf->einsums[0]];
    if (least != NULL && fanout != NULL &&
        (double)parts_on(k, leaf, name) < strtod(least->text, NULL) * strtod(fanout->text, NULL))
        note(k, "must fill %s", name);
    for (const dfl_body *b = leaf; b != NULL; b = b->parent) {
        for (uint32_t i = 0; i < b->n_lines; i++) {
            const dfl_line *line = &b->lines[i];

            if (line->kind != DFL_LINE_SPATIAL ||
                strcmp(dfl_sym_text(k->names, k->m->system->axes[line->axis].name), name) != 0)
                continue;
            for (uint32_t t = 0; t < k->f.tensors.n; t++) {
                const dfl_access *a = access_named(k, einsum, name_of(k, t));

                if (dfl_af_has(&reuse, t) && a != NULL && indexes(a, line->rank))
                    note(k, "must reuse %s along %s", k->f.tensors.at[t].name, name);
            }
        }
    }
}

bool optimum_freedom_of(dfl_session *source, const dfl_intern *names, const dfl_mapping *m, int64_t max_fused,
                      optimum_freedom *out)
{
    freedom k = { .names = names, .m = m, .out = out };
    dfl_loss_report *report = DFL_NEW(source->arena, dfl_loss_report);
    const dfl_source *file = source->root->source;

    *out = (optimum_freedom){ .text = "" };
    dfl_loss_init(report, source->arena, source->sink, source->sources);
    if (!dfl_af_open(&k.f, report, &file, 1))
        return false;
    for (uint32_t n = 0; n < k.f.nodes.n; n++)
        if (k.f.nodes.at[n].kind == DFL_AF_MEMORY)
            find_bypassed(&k, n);
    find_shared(&k, max_fused);
    for (uint32_t n = 0; n < k.f.nodes.n; n++) {
        const dfl_yaml *axes = dfl_yaml_get(k.f.nodes.at[n].at, "spatial");

        for (uint32_t a = 0; axes != NULL && a < axes->n; a++)
            for (uint32_t e = 0; e < k.f.einsums.n; e++)
                find_spread(&k, e, &axes->items[a]);
    }
    return true;
}
