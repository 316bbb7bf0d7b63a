#include "support/json_write.h"

#include <math.h>
#include <string.h>

#include "support/number.h"
#include "support/utf8.h"

void dfl_json_start(dfl_json_writer *w, dfl_strbuf *out, unsigned indent)
{
    *w = (dfl_json_writer){ .out = out, .indent = indent, .first = true };
}

static void new_line(dfl_json_writer *w)
{
    static const char blanks[] = "                                ";
    size_t left = w->depth * w->indent;

    if (w->indent == 0)
        return;
    dfl_strbuf_char(w->out, '\n');
    while (left > 0) {
        const size_t run = left < sizeof blanks - 1 ? left : sizeof blanks - 1;

        dfl_strbuf_add(w->out, blanks, run);
        left -= run;
    }
}

/* Writes the comma and line break between the last value and the next. */
static void separate(dfl_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (!w->first)
        dfl_strbuf_char(w->out, ',');
    if (w->depth > 0)
        new_line(w);
    w->first = false;
}

static void open(dfl_json_writer *w, char bracket)
{
    separate(w);
    dfl_strbuf_char(w->out, bracket);
    w->depth++;
    w->first = true;
}

static void close(dfl_json_writer *w, char bracket)
{
    w->depth--;
    if (!w->first)
        new_line(w);
    dfl_strbuf_char(w->out, bracket);
    w->first = false;
}

void dfl_json_object(dfl_json_writer *w)
{
    open(w, '{');
}

void dfl_json_end_object(dfl_json_writer *w)
{
    close(w, '}');
}

void dfl_json_array(dfl_json_writer *w)
{
    open(w, '[');
}

void dfl_json_end_array(dfl_json_writer *w)
{
    close(w, ']');
}

static void escape(dfl_strbuf *out, unsigned char c)
{
    switch (c) {
    case '"':
        dfl_strbuf_z(out, "\\\"");
        break;
    case '\\':
        dfl_strbuf_z(out, "\\\\");
        break;
    case '\n':
        dfl_strbuf_z(out, "\\n");
        break;
    case '\r':
        dfl_strbuf_z(out, "\\r");
        break;
    case '\t':
        dfl_strbuf_z(out, "\\t");
        break;
    default:
        dfl_strbuf_printf(out, "\\u%04x", c);
        break;
    }
}

static void quote(dfl_strbuf *out, const char *text, size_t len)
{
    size_t done = 0, at = 0;

    dfl_strbuf_char(out, '"');
    while (at < len) {
        unsigned char c = (unsigned char)text[at];
        uint32_t point;
        size_t n = 1;

        if (c >= 0x80) {
            n = dfl_utf8_decode(text + at, len - at, &point);
            if (n == 1) {
                dfl_strbuf_add(out, text + done, at - done);
                dfl_strbuf_z(out, "\xef\xbf\xbd");
                done = at + 1;
            }
        } else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
            dfl_strbuf_add(out, text + done, at - done);
            escape(out, c);
            done = at + 1;
        }
        at += n;
    }
    dfl_strbuf_add(out, text + done, len - done);
    dfl_strbuf_char(out, '"');
}

void dfl_json_key(dfl_json_writer *w, const char *key)
{
    separate(w);
    quote(w->out, key, strlen(key));
    dfl_strbuf_z(w->out, w->indent ? ": " : ":");
    w->after_key = true;
}

void dfl_json_string_n(dfl_json_writer *w, const char *text, size_t len)
{
    separate(w);
    quote(w->out, text, len);
}

void dfl_json_string(dfl_json_writer *w, const char *text)
{
    if (text)
        dfl_json_string_n(w, text, strlen(text));
    else
        dfl_json_null(w);
}

void dfl_json_i128(dfl_json_writer *w, dfl_i128 value)
{
    separate(w);
    dfl_strbuf_i128(w->out, value);
}

void dfl_json_int(dfl_json_writer *w, int64_t value)
{
    dfl_json_i128(w, value);
}

void dfl_json_digits(dfl_json_writer *w, const char *digits)
{
    separate(w);
    dfl_strbuf_z(w->out, digits);
}

void dfl_json_raw(dfl_json_writer *w, const char *json)
{
    dfl_json_digits(w, json);
}

void dfl_json_double(dfl_json_writer *w, double value)
{
    char text[32];
    size_t len;

    if (!isfinite(value)) {
        dfl_json_null(w);
        return;
    }
    separate(w);
    len = dfl_double_text(value, text);
    dfl_strbuf_add(w->out, text, len);
    if (strcspn(text, ".e") == len)
        dfl_strbuf_z(w->out, ".0");
}

void dfl_json_bool(dfl_json_writer *w, bool value)
{
    separate(w);
    dfl_strbuf_z(w->out, value ? "true" : "false");
}

void dfl_json_null(dfl_json_writer *w)
{
    separate(w);
    dfl_strbuf_z(w->out, "null");
}
