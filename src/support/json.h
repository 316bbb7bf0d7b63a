/*
 * JSON that dflc reads: reports to compare and certificates. The text becomes a tree of plain values in an arena. Keys
 * keep their order and may not repeat; integers of any length keep their digits. No other room uses jansson.
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
    DFL_JSON_INT,  /* an integer of 64 bits */
    DFL_JSON_BIG,  /* a longer integer: its digits are in `text` */
    DFL_JSON_REAL,
    DFL_JSON_STRING,
    DFL_JSON_ARRAY,
    DFL_JSON_OBJECT,
} dfl_json_kind;

typedef struct dfl_json {
    dfl_json_kind kind;
    bool boolean;
    int64_t integer;
    double real;        /* the value of REAL; the nearest double of INT and BIG */
    const char *text;   /* STRING, BIG: NUL-terminated; a STRING may contain further NULs */
    size_t len;         /* bytes of `text`, or number of items */
    const char **keys;  /* OBJECT: one per item */
    const struct dfl_json *items; /* ARRAY, OBJECT */
} dfl_json;

typedef struct {
    unsigned line; /* from 1 */
    char message[160];
} dfl_json_error;

/* Parses one JSON value of at most 2048 levels. NULL for any other text, with `*error` set unless `error` is NULL. */
const dfl_json *dfl_json_parse(dfl_arena *arena, const char *text, size_t len, dfl_json_error *error);
/* The member of an object; NULL when `value` is NULL, no object, or has no such key. */
const dfl_json *dfl_json_get(const dfl_json *value, const char *key);
/* Item `i` of an array or object; NULL when there is none. */
const dfl_json *dfl_json_at(const dfl_json *value, size_t i);
/* The text of a string value, else NULL. */
const char *dfl_json_text(const dfl_json *value);

#endif
