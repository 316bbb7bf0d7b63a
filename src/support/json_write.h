/*
 * A writer of JSON, in the order of the calls. Integers have any length; doubles have the fewest digits that read back;
 * texts are escaped, and invalid UTF-8 in them becomes U+FFFD. The output is valid JSON if the calls nest and each
 * value in an object follows dfl_json_key.
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
    unsigned indent; /* spaces per level; 0 writes one line */
    unsigned depth;  /* open objects and arrays */
    bool first;      /* the innermost object or array is empty so far */
    bool after_key;  /* a key was written and its value is still missing */
} dfl_json_writer;

void dfl_json_start(dfl_json_writer *w, dfl_strbuf *out, unsigned indent);
void dfl_json_object(dfl_json_writer *w);
void dfl_json_end_object(dfl_json_writer *w);
void dfl_json_array(dfl_json_writer *w);
void dfl_json_end_array(dfl_json_writer *w);
void dfl_json_key(dfl_json_writer *w, const char *key);

/* dfl_json_string writes a NUL-terminated text, or null if `text` is NULL; dfl_json_string_n writes `len` bytes. */
void dfl_json_string(dfl_json_writer *w, const char *text);
void dfl_json_string_n(dfl_json_writer *w, const char *text, size_t len);
void dfl_json_int(dfl_json_writer *w, int64_t value);
void dfl_json_i128(dfl_json_writer *w, dfl_i128 value);
/* Writes an integer given as decimal text: an optional minus and digits. */
void dfl_json_digits(dfl_json_writer *w, const char *digits);
/* Writes a value given as JSON text. */
void dfl_json_raw(dfl_json_writer *w, const char *json);
/* Writes a number with a point or an exponent; null for infinities and NaN, which JSON lacks. */
void dfl_json_double(dfl_json_writer *w, double value);
void dfl_json_bool(dfl_json_writer *w, bool value);
void dfl_json_null(dfl_json_writer *w);

#endif
