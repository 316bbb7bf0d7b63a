#include "support/span.h"

#include <string.h>

#include "support/vec.h"

struct dfl_source_map {
    dfl_arena *arena;
    DFL_VEC(dfl_source *) sources; /* by base */
    uint32_t next_base;
};

dfl_source_map *dfl_source_map_new(dfl_arena *arena)
{
    dfl_source_map *map = DFL_NEW(arena, dfl_source_map);

    map->arena = arena;
    map->next_base = 1;
    return map;
}

static uint32_t count_lines(const char *text, size_t len)
{
    uint32_t n = 1;

    for (const char *at = text; (at = memchr(at, '\n', len - (size_t)(at - text))) != NULL; at++)
        n++;
    return n;
}

static void find_lines(dfl_source *source)
{
    const char *at = source->text, *end = source->text + source->len;
    uint32_t n = 0;

    source->lines[n++] = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL)
        source->lines[n++] = (uint32_t)(++at - source->text);
}

const dfl_source *dfl_source_add(dfl_source_map *map, const char *name, const char *text, size_t len)
{
    dfl_source *source;

    /* One position separates two files, so the end of a file differs from the start of the next. */
    if (len >= UINT32_MAX - map->next_base)
        return NULL;
    source = DFL_NEW(map->arena, dfl_source);
    source->name = dfl_arena_copy(map->arena, name, strlen(name));
    source->text = dfl_arena_copy(map->arena, text, len);
    source->len = len;
    source->base = map->next_base;
    source->n_lines = count_lines(source->text, len);
    source->lines = DFL_NEW_ARRAY(map->arena, uint32_t, source->n_lines);
    find_lines(source);
    map->next_base += (uint32_t)len + 1;
    DFL_PUSH(map->arena, &map->sources, source);
    return source;
}

static const dfl_source *source_at(const dfl_source_map *map, uint32_t position)
{
    size_t low = 0, high = map->sources.n;

    if (position == 0 || position >= map->next_base)
        return NULL;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map->sources.at[middle]->base <= position)
            low = middle;
        else
            high = middle;
    }
    return map->sources.at[low];
}

const dfl_source *dfl_source_of(const dfl_source_map *map, dfl_span span)
{
    return source_at(map, span.start);
}

dfl_place dfl_place_of(const dfl_source_map *map, uint32_t position)
{
    const dfl_source *source = source_at(map, position);
    uint32_t offset, low = 0, high;

    if (!source)
        return (dfl_place){ NULL, 0, 0 };
    offset = position - source->base;
    high = source->n_lines;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return (dfl_place){ source, low + 1, offset - source->lines[low] + 1 };
}

const char *dfl_source_line(const dfl_source *source, uint32_t line, size_t *len)
{
    size_t start, end;

    if (line == 0 || line > source->n_lines) {
        *len = 0;
        return "";
    }
    start = source->lines[line - 1];
    end = line < source->n_lines ? source->lines[line] - 1u : source->len;
    if (line < source->n_lines && end > start && source->text[end - 1] == '\r')
        end--;
    *len = end - start;
    return source->text + start;
}
