#include "support/strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void dfl_strbuf_init(dfl_strbuf *buf, dfl_arena *arena)
{
    *buf = (dfl_strbuf){ .arena = arena, .text = dfl_arena_copy(arena, "", 0), .cap = 1 };
}

/* Grows the buffer so that `more` bytes and a NUL fit. */
static void reserve(dfl_strbuf *buf, size_t more)
{
    size_t need = buf->len + more + 1;
    size_t cap = buf->cap;
    char *text;

    if (need <= cap)
        return;
#ifdef DFL_HOSTILE
    enum { FIRST = 1, EXACT = 256 }; /* reallocating at every byte exposes stale pointers to a short text */
    if (need < EXACT)
        cap = need;
#else
    enum { FIRST = 64 }; /* first capacity (in bytes): one line of text */
#endif
    if (cap < FIRST)
        cap = FIRST;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    text = dfl_arena_alloc(buf->arena, cap, 1, 1);
    memcpy(text, buf->text, buf->len);
    buf->text = text;
    buf->cap = cap;
}

void dfl_strbuf_add(dfl_strbuf *buf, const char *text, size_t len)
{
    reserve(buf, len);
    if (len > 0)
        memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void dfl_strbuf_z(dfl_strbuf *buf, const char *text)
{
    dfl_strbuf_add(buf, text, strlen(text));
}

void dfl_strbuf_char(dfl_strbuf *buf, char c)
{
    dfl_strbuf_add(buf, &c, 1);
}

void dfl_strbuf_printf(dfl_strbuf *buf, const char *format, ...)
{
    char small[256];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len < 0)
        return;
    if ((size_t)len < sizeof small) {
        dfl_strbuf_add(buf, small, (size_t)len);
        return;
    }
    reserve(buf, (size_t)len);
    va_start(args, format);
    vsnprintf(buf->text + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

void dfl_strbuf_i128(dfl_strbuf *buf, dfl_i128 value)
{
    char digits[41];
    size_t len = dfl_i128_text(value, digits);

    dfl_strbuf_add(buf, digits, len);
}
