/*
 * JSON as a stream: what is written first stands first. Integers have any length, doubles are the shortest that
 * read back, texts are escaped and invalid UTF-8 in them becomes U+FFFD, so the output is always valid JSON as long
 * as the calls nest: inside an object each value follows dfl_json_key.
 */
#ifndef DFL_SUPPORT_JSON_WRITE_H
#define DFL_SUPPORT_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/checked.h"
#include "support/strbuf.h"

typedef struct {
    dfl_strbuf *out;
    unsigned indent; /* spaces a level; 0 writes one line */
    unsigned depth;
    bool first;      /* nothing stands in the innermost object or array */
    bool after_key;
} dfl_json_writer;

void dfl_json_start(dfl_json_writer *w, dfl_strbuf *out, unsigned indent);
void dfl_json_object(dfl_json_writer *w);
void dfl_json_end_object(dfl_json_writer *w);
void dfl_json_array(dfl_json_writer *w);
void dfl_json_end_array(dfl_json_writer *w);
void dfl_json_key(dfl_json_writer *w, const char *key);

/* NULL is written as null. */
void dfl_json_string(dfl_json_writer *w, const char *text);
void dfl_json_string_n(dfl_json_writer *w, const char *text, size_t len);
void dfl_json_int(dfl_json_writer *w, int64_t value);
void dfl_json_i128(dfl_json_writer *w, dfl_i128 value);
/* An integer that is already decimal text: an optional minus and digits. */
void dfl_json_digits(dfl_json_writer *w, const char *digits);
/* A value that is JSON already. */
void dfl_json_raw(dfl_json_writer *w, const char *json);
/* Infinities and NaN, which JSON does not have, become null; whole values keep a ".0". */
void dfl_json_double(dfl_json_writer *w, double value);
void dfl_json_bool(dfl_json_writer *w, bool value);
void dfl_json_null(dfl_json_writer *w);

#endif
