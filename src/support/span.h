/*
 * Places in source text. A position is an offset in one space for all files of a session: the base of the file plus the
 * byte offset in it. A span is two positions. Lines and columns are computed when a place is printed.
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
    const char *name;  /* name as the user wrote it, never made absolute */
    const char *text;  /* NUL behind the last byte */
    size_t len;
    uint32_t base;     /* global position of byte 0; the first file starts at 1 */
    uint32_t *lines;   /* offset of the first byte of each line; n_lines offsets */
    uint32_t n_lines;
} dfl_source;

typedef struct dfl_source_map dfl_source_map;

typedef struct {
    const dfl_source *source; /* NULL for "nowhere" */
    uint32_t line, column;    /* from 1; the column counts bytes */
} dfl_place;

/* An empty map; files are kept in the arena. */
dfl_source_map *dfl_source_map_new(dfl_arena *arena);
/* Adds a file; name and text are copied. Returns NULL when the position space of 4 GiB is full. */
const dfl_source *dfl_source_add(dfl_source_map *map, const char *name, const char *text, size_t len);
/* The file that a span starts in; NULL for "nowhere". */
const dfl_source *dfl_source_of(const dfl_source_map *map, dfl_span span);
/* File, line and column of a position. */
dfl_place dfl_place_of(const dfl_source_map *map, uint32_t position);
/* The text of one line without its line end; `line` counts from 1. */
const char *dfl_source_line(const dfl_source *source, uint32_t line, size_t *len);

/* The smallest span around two spans; "nowhere" adds nothing. */
static inline dfl_span dfl_span_join(dfl_span a, dfl_span b)
{
    if (a.start == 0 && a.end == 0)
        return b;
    if (b.start == 0 && b.end == 0)
        return a;
    return (dfl_span){ a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end };
}

#endif
