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
        if (k == n)
            dfl_lose(f->report, DFL_FOREIGN_IGNORED, map->keys[i].span, "`%s` of %s has no effect",
                     map->keys[i].text, of);
    }
}
