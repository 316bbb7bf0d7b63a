/* Keys of the maps of a run. */
#include "import/timeloop/timeloop_internal.h"

bool dfl_tl_is_key(const char *a, const char *b)
{
    while (*a != '\0' && (*a == '-' ? '_' : *a) == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const dfl_yaml *dfl_tl_get(const dfl_yaml *map, const char *key)
{
    for (uint32_t i = 0; map != NULL && map->kind == DFL_YAML_MAP && i < map->n; i++) {
        if (dfl_tl_is_key(map->keys[i].text, key))
            return &map->items[i];
    }
    return NULL;
}

void dfl_tl_look_at_keys(const dfl_tl_file *f, const dfl_yaml *map, const char *const *known, size_t n,
                         const char *of)
{
    for (uint32_t i = 0; map->kind == DFL_YAML_MAP && i < map->n; i++) {
        size_t k = 0;

        while (k < n && !dfl_tl_is_key(map->keys[i].text, known[k]))
            k++;
        /* A part with an anchor may be there for aliases alone. */
        if (k == n && !map->items[i].anchored)
            dfl_lose_key(f->report, map->keys[i].span, map->keys[i].text, of, known, n);
    }
}

/* Reports a part that says which values are zero and what that saves, unless the part is empty. */
void dfl_tl_lose_sparse(dfl_tl_file *f, const dfl_yaml *map, const char *key)
{
    const dfl_yaml *at = dfl_tl_get(map, key), *targets = dfl_tl_get(at, "targets");

    if (at == NULL || dfl_yaml_is_null(at) || (at->kind != DFL_YAML_SCALAR && at->n == 0) ||
        (targets != NULL && (targets->n == 0 && targets->kind != DFL_YAML_SCALAR)))
        return;
    for (uint32_t i = 0; i < map->n; i++) {
        if (&map->items[i] == at)
            dfl_lose(f->report, DFL_FOREIGN_LOST, map->keys[i].span,
                     "`%s` has no effect: the result moves and multiplies zeros, too", key);
    }
}
