/*
 * Places in source text. A span is two byte offsets in one global position space: every file that a session loads
 * gets a base, and a place is base + offset. Lines and columns are computed when something is printed.
 */
#ifndef DFL_SUPPORT_SPAN_H
#define DFL_SUPPORT_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

typedef struct {
    uint32_t start, end; /* half open; start == end marks a point; {0, 0} means "nowhere" */
} dfl_span;

typedef struct {
    const char *name;  /* as the user wrote it; never made absolute */
    const char *text;  /* NUL behind the last byte */
    size_t len;
    uint32_t base;     /* global position of byte 0; the first file starts at 1 */
    uint32_t *lines;   /* offset of each line's first byte */
    uint32_t n_lines;
} dfl_source;

typedef struct dfl_source_map dfl_source_map;

typedef struct {
    const dfl_source *source; /* NULL for "nowhere" */
    uint32_t line, column;    /* from 1; the column counts bytes */
} dfl_place;

dfl_source_map *dfl_source_map_new(dfl_arena *arena);
/* Copies name and text into the arena. Returns NULL when the position space of 4 GiB is used up. */
const dfl_source *dfl_source_add(dfl_source_map *map, const char *name, const char *text, size_t len);
const dfl_source *dfl_source_of(const dfl_source_map *map, dfl_span span);
dfl_place dfl_place_of(const dfl_source_map *map, uint32_t position);
/* The text of one line without its line end; `line` counts from 1. */
const char *dfl_source_line(const dfl_source *source, uint32_t line, size_t *len);

static inline dfl_span dfl_span_join(dfl_span a, dfl_span b)
{
    if (a.start == 0 && a.end == 0)
        return b;
    if (b.start == 0 && b.end == 0)
        return a;
    return (dfl_span){ a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end };
}

#endif
