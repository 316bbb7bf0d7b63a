/* Look-ups in a specification by name, tensor, variable and place. */
#include "import/accelforge/specification.h"

#include <string.h>

bool dfl_af_has(const dfl_af_set *set, uint32_t tensor)
{
    return (set->word[tensor / 64] >> tensor % 64 & 1) != 0;
}

void dfl_af_put(dfl_af_set *set, uint32_t tensor)
{
    set->word[tensor / 64] |= UINT64_C(1) << tensor % 64;
}

uint32_t dfl_af_find_tensor(const dfl_af_file *f, const char *name)
{
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        if (strcmp(f->tensors.at[t].name, name) == 0)
            return t;
    }
    return DFL_AF_NONE;
}

uint32_t dfl_af_find_einsum(const dfl_af_file *f, const char *name)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        if (strcmp(f->einsums.at[e].name, name) == 0)
            return e;
    }
    return DFL_AF_NONE;
}

const dfl_af_access *dfl_af_access_of(const dfl_af_einsum *e, uint32_t tensor)
{
    for (uint32_t a = 0; a < e->n_accesses; a++) {
        if (e->accesses[a].tensor == tensor)
            return &e->accesses[a];
    }
    return NULL;
}

int64_t dfl_af_last_index(const dfl_af_einsum *e, const dfl_af_dim *dim)
{
    int64_t last = dim->offset;

    for (uint32_t t = 0; t < dim->n_terms; t++)
        last += dim->terms[t].coef > 0 ? dim->terms[t].coef * (e->vars[dim->terms[t].var].extent - 1) : 0;
    return last;
}

void dfl_af_look_at_keys(const dfl_af_file *f, const dfl_yaml *map, const char *const *known, size_t n,
                         const char *owner)
{
    for (uint32_t i = 0; map->kind == DFL_YAML_MAP && i < map->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(map->keys[i].text, known[k]) != 0)
            k++;
        if (k == n)
            dfl_lose_key(f->report, map->keys[i].span, map->keys[i].text, dfl_arena_printf(f->report->arena, "`%s`", owner),
                         known, n);
    }
}

bool dfl_af_uses_var(const dfl_af_access *a, uint32_t var)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        for (uint32_t t = 0; t < a->dims[d].n_terms; t++) {
            if (a->dims[d].terms[t].var == var)
                return true;
        }
    }
    return false;
}

uint32_t dfl_af_find_node(const dfl_af_file *f, const char *name)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        if (strcmp(f->nodes.at[n].name, name) == 0)
            return n;
    }
    return DFL_AF_NONE;
}

bool dfl_af_is_around(const dfl_af_file *f, uint32_t outer, uint32_t inner)
{
    while (inner != DFL_AF_NONE && inner != outer)
        inner = f->nodes.at[inner].fork;
    return inner == outer;
}

bool dfl_af_sees(const dfl_af_file *f, uint32_t inner, uint32_t outer)
{
    return outer <= inner && dfl_af_is_around(f, f->nodes.at[outer].fork, f->nodes.at[inner].fork);
}
