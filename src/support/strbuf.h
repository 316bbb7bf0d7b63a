/* Text that grows in an arena, for printers. The text is always NUL-terminated; `len` does not count the NUL. */
#ifndef DFL_SUPPORT_STRBUF_H
#define DFL_SUPPORT_STRBUF_H

#include "support/arena.h"
#include "support/checked.h"

typedef struct {
    dfl_arena *arena;
    char *text;
    size_t len, cap; /* bytes */
} dfl_strbuf;

void dfl_strbuf_init(dfl_strbuf *buf, dfl_arena *arena);
/* Appends `len` bytes. */
void dfl_strbuf_add(dfl_strbuf *buf, const char *text, size_t len);
/* Appends a NUL-terminated text. */
void dfl_strbuf_z(dfl_strbuf *buf, const char *text);
void dfl_strbuf_char(dfl_strbuf *buf, char c);
void dfl_strbuf_printf(dfl_strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dfl_strbuf_i128(dfl_strbuf *buf, dfl_i128 value);

#endif
