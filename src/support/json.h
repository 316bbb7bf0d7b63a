/*
 * JSON that dflc reads: reports to compare, requests of an editor, options. The text becomes a tree of plain values
 * in an arena. Keys keep their order and may not repeat; integers of any length keep their digits. The only user of
 * jansson.
 */
#ifndef DFL_SUPPORT_JSON_H
#define DFL_SUPPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

typedef enum {
    DFL_JSON_NULL,
    DFL_JSON_BOOL,
    DFL_JSON_INT,  /* fits 64 bits */
    DFL_JSON_BIG,  /* an integer that does not: its digits are in `text` */
    DFL_JSON_REAL,
    DFL_JSON_STRING,
    DFL_JSON_ARRAY,
    DFL_JSON_OBJECT,
} dfl_json_kind;

typedef struct dfl_json {
    dfl_json_kind kind;
    bool boolean;
    int64_t integer;
    double real;        /* also set for INT and BIG */
    const char *text;   /* NUL-terminated; a NUL inside is possible, `len` tells */
    size_t len;         /* bytes of `text`, or members */
    const char **keys;  /* of an object */
    const struct dfl_json *items;
} dfl_json;

typedef struct {
    unsigned line; /* from 1 */
    char message[160];
} dfl_json_error;

/* NULL with `error` filled (it may be NULL) when the text is not one JSON value. Depth is limited to 2048. */
const dfl_json *dfl_json_parse(dfl_arena *arena, const char *text, size_t len, dfl_json_error *error);
/* The member of an object; NULL when `value` is NULL, no object, or has no such key. */
const dfl_json *dfl_json_get(const dfl_json *value, const char *key);
/* Item `i` of an array or object; NULL when there is none. */
const dfl_json *dfl_json_at(const dfl_json *value, size_t i);
/* The text of a string value, else NULL. */
const char *dfl_json_text(const dfl_json *value);

#endif
