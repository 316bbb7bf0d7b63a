/*
 * A report is a head line, snippets and remarks. A snippet is one source line with all marks on it, or a block for a span
 * over several lines. The primary place comes first; the others follow in order of position, those in another file under a
 * line that names the file:
 *
 *     conv.dfl:7:13: error[E0301]: `KK` is not a rank of `conv`
 *         7 |     spatial KK on pe;
 *           |             ^^
 *         3 |     einsum conv[k, p] = ...;
 *           |            ~~~~ `conv` is declared with these ranks
 *           = help: replace with `K`
 *
 * A line longer than WINDOW bytes is cut around its first mark, so that a file of one line costs no more than any other.
 */
#include "diag/render_text.h"

#include <stdlib.h>
#include <string.h>

#include "diag/render.h"
#include "support/utf8.h"
#include "support/vec.h"
#include "support/wrap.h"

enum {
    GUTTER = 5,      /* least columns of a line number, so that snippets of files below 10^5 lines align */
    TAB = 4,         /* columns */
    WINDOW = 200,    /* bytes of a long line that are shown */
    WIDTH = 100,     /* columns of notes and help; words between backticks stay together */
    LEAD = 80,       /* bytes of a cut line in front of its first mark */
    WHOLE_BLOCK = 6, /* most lines of a block in full; longer blocks show their first BLOCK_HEAD and last BLOCK_TAIL lines */
    BLOCK_HEAD = 3,
    BLOCK_TAIL = 2,
};

typedef struct {
    dfl_span span;
    const char *text; /* label under the mark, or NULL */
    bool primary;
    const dfl_source *source;
    uint32_t first_line, last_line; /* lines of the first and the last byte of the span, from 1 */
    size_t from, to;                /* columns on the screen, from 0; set when the line is printed */
} mark;

typedef struct {
    dfl_strbuf *out;
    const dfl_sink *sink;
    bool color;
    unsigned gutter;       /* columns of line numbers in this report */
    dfl_severity severity;
    DFL_VEC(mark) marks;
} printer;

static const char *style_of(dfl_severity severity)
{
    switch (severity) {
    case DFL_NOTE:
        return "\033[1;36m";
    case DFL_WARNING:
        return "\033[1;33m";
    case DFL_ERROR:
    case DFL_INTERNAL:
        break;
    }
    return "\033[1;31m";
}

static const char blue[] = "\033[1;34m", bold[] = "\033[1m", reset[] = "\033[0m";

static void add_style(printer *p, const char *escape)
{
    if (p->color)
        dfl_strbuf_z(p->out, escape);
}

static void add_spaces(printer *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dfl_strbuf_char(p->out, ' ');
}

/* Writes "    7 |" or, for line 0, "      |", with `separator` in place of the bar. */
static void add_gutter(printer *p, uint32_t line, char separator)
{
    add_style(p, blue);
    if (line)
        dfl_strbuf_printf(p->out, "%*u %c", (int)p->gutter, line, separator);
    else
        dfl_strbuf_printf(p->out, "%*s %c", (int)p->gutter, "", separator);
    add_style(p, reset);
}

/* ---- one source line on the screen ---- */

typedef struct {
    const char *text; /* shown part of the line */
    size_t len;
    size_t offset;    /* byte offset of `text` in its line */
    bool cut_left, cut_right;
} view;

/* Whether a byte is inside of a UTF-8 sequence. */
static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The shown part of a line: all of it, or WINDOW bytes around the byte at offset `focus`. */
static view view_line(const dfl_source *source, uint32_t line, size_t focus)
{
    size_t len, from = 0, to;
    const char *text = dfl_source_line(source, line, &len);

    if (len <= WINDOW)
        return (view){ text, len, 0, false, false };
    if (focus > len)
        focus = len;
    if (focus > LEAD)
        from = focus - LEAD;
    if (from + WINDOW > len)
        from = len - WINDOW;
    to = from + WINDOW;
    for (int i = 0; i < 3 && from > 0 && is_continuation(text[from]); i++)
        from--;
    for (int i = 0; i < 3 && to < len && is_continuation(text[to]); i++)
        to++;
    return (view){ text + from, to - from, from, from > 0, to < len };
}

/* Columns of a code point that stands at `column`. */
static size_t width_at(uint32_t point, size_t column)
{
    return point == '\t' ? TAB - column % TAB : dfl_utf8_point_width(point);
}

/* The column of the byte at `offset` of the line. An offset outside of the view gives the view's first or last column. */
static size_t column_of(const view *v, size_t offset)
{
    size_t column = v->cut_left ? 3 : 0;

    for (size_t at = 0; at < v->len && v->offset + at < offset;) {
        uint32_t point;

        at += dfl_utf8_decode(v->text + at, v->len - at, &point);
        column += width_at(point, column);
    }
    return column;
}

static void print_view(printer *p, const view *v)
{
    size_t column = 0;

    if (v->cut_left) {
        dfl_strbuf_z(p->out, "...");
        column = 3;
    }
    for (size_t at = 0; at < v->len;) {
        uint32_t point;
        size_t n = dfl_utf8_decode(v->text + at, v->len - at, &point);
        size_t width = width_at(point, column);

        if (point == '\t')
            add_spaces(p, width);
        else if (point != 0xfffd && dfl_utf8_printable(point))
            dfl_strbuf_add(p->out, v->text + at, n);
        else
            dfl_strbuf_z(p->out, "\xef\xbf\xbd");
        column += width;
        at += n;
    }
    if (v->cut_right)
        dfl_strbuf_z(p->out, "...");
}

static void end_line(printer *p)
{
    while (p->out->len > 0 && p->out->text[p->out->len - 1] == ' ')
        p->out->text[--p->out->len] = '\0';
    dfl_strbuf_char(p->out, '\n');
}

/* ---- marks on one line ---- */

static void add_mark_style(printer *p, const mark *m)
{
    add_style(p, m->primary ? style_of(p->severity) : blue);
}

static bool has_text(const mark *m)
{
    return m->text && m->text[0] != '\0';
}

/* Writes the underlines of all marks in one row; a primary mark covers a secondary one. */
static void underline(printer *p, const mark *marks, size_t n)
{
    size_t end = 0, column = 0;

    for (size_t i = 0; i < n; i++)
        end = marks[i].to > end ? marks[i].to : end;
    for (; column < end; column++) {
        const mark *top = NULL;

        for (size_t i = 0; i < n; i++)
            if (marks[i].from <= column && column < marks[i].to && (!top || marks[i].primary))
                top = &marks[i];
        if (!top) {
            dfl_strbuf_char(p->out, ' ');
            continue;
        }
        add_mark_style(p, top);
        dfl_strbuf_char(p->out, top->primary ? '^' : '~');
        add_style(p, reset);
    }
}

/* Whether the label of marks[i] can stand in the row of the underlines: no other mark ends behind its start. */
static bool is_rightmost(const mark *marks, size_t n, size_t i)
{
    for (size_t j = 0; j < n; j++)
        if (j != i && marks[j].to > marks[i].from)
            return false;
    return true;
}

/* Writes a bar under each labelled mark before `last`. Returns the column behind the last bar. */
static size_t add_bars(printer *p, const mark *marks, size_t last)
{
    size_t column = 0;

    for (size_t i = 0; i < last; i++) {
        if (!has_text(&marks[i]) || marks[i].from < column)
            continue;
        add_spaces(p, marks[i].from - column);
        add_mark_style(p, &marks[i]);
        dfl_strbuf_char(p->out, '|');
        add_style(p, reset);
        column = marks[i].from + 1;
    }
    return column;
}

/* Writes the labels of the marks, rightmost first, each in a row of its own. */
static void print_texts(printer *p, const mark *marks, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        size_t column;

        if (!has_text(&marks[i]))
            continue;
        add_gutter(p, 0, '|');
        add_spaces(p, 1);
        add_bars(p, marks, i + 1);
        end_line(p);
        add_gutter(p, 0, '|');
        add_spaces(p, 1);
        column = 0;
        if (i == 0 || marks[i - 1].from < marks[i].from)
            column = add_bars(p, marks, i);
        add_spaces(p, marks[i].from - column);
        add_mark_style(p, &marks[i]);
        dfl_render_safe(p->out, marks[i].text, p->gutter + 3 + marks[i].from);
        add_style(p, reset);
        end_line(p);
    }
}

static int compare_columns(const void *left, const void *right)
{
    const mark *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->primary != b->primary)
        return a->primary ? -1 : 1;
    return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Writes one line with the `n` marks on it, and sorts the marks by column. */
static void print_line(printer *p, mark *marks, size_t n)
{
    const dfl_source *source = marks[0].source;
    uint32_t line = marks[0].first_line;
    size_t start = source->lines[line - 1];
    view v = view_line(source, line, marks[0].span.start - source->base - start);
    size_t last = 0;

    for (size_t i = 0; i < n; i++) {
        marks[i].from = column_of(&v, marks[i].span.start - source->base - start);
        marks[i].to = column_of(&v, marks[i].span.end - source->base - start);
        if (marks[i].to <= marks[i].from)
            marks[i].to = marks[i].from + 1;
    }
    qsort(marks, n, sizeof *marks, compare_columns);
    add_gutter(p, line, '|');
    add_spaces(p, 1);
    print_view(p, &v);
    end_line(p);
    add_gutter(p, 0, '|');
    add_spaces(p, 1);
    underline(p, marks, n);
    last = n - 1;
    if (has_text(&marks[last]) && is_rightmost(marks, n, last)) {
        add_spaces(p, 1);
        add_mark_style(p, &marks[last]);
        dfl_render_safe(p->out, marks[last].text, p->gutter + 3);
        add_style(p, reset);
        n--;
    }
    end_line(p);
    print_texts(p, marks, n);
}

/* ---- a span over several lines ---- */

static void print_block_line(printer *p, const mark *m, uint32_t line, size_t focus, const char *edge)
{
    view v = view_line(m->source, line, focus);

    add_gutter(p, line, '|');
    add_spaces(p, 1);
    add_mark_style(p, m);
    dfl_strbuf_z(p->out, edge);
    add_style(p, reset);
    add_spaces(p, 1);
    print_view(p, &v);
    end_line(p);
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t')
            return false;
    return true;
}

/* Writes the first line of a block. `/` precedes the line if only blanks stand before the span; otherwise a row below
   leads to the start of the span. */
static void print_block_start(printer *p, const mark *m)
{
    size_t len, offset = m->span.start - m->source->base - m->source->lines[m->first_line - 1];
    const char *text = dfl_source_line(m->source, m->first_line, &len);
    view v = view_line(m->source, m->first_line, offset);
    size_t column = column_of(&v, offset);

    if (offset <= len && is_blank(text, offset)) {
        print_block_line(p, m, m->first_line, offset, "/");
        return;
    }
    print_block_line(p, m, m->first_line, offset, " ");
    add_gutter(p, 0, '|');
    add_spaces(p, 2);
    add_mark_style(p, m);
    for (size_t i = 0; i <= column; i++)
        dfl_strbuf_char(p->out, '_');
    dfl_strbuf_char(p->out, m->primary ? '^' : '~');
    add_style(p, reset);
    end_line(p);
}

static void print_block(printer *p, const mark *m)
{
    size_t start = m->source->lines[m->last_line - 1];
    size_t offset = m->span.end - m->source->base - start;
    view v = view_line(m->source, m->last_line, offset);
    size_t column = column_of(&v, offset);

    print_block_start(p, m);
    for (uint32_t line = m->first_line + 1; line <= m->last_line; line++) {
        if (m->last_line - m->first_line >= WHOLE_BLOCK && line == m->first_line + BLOCK_HEAD) {
            line = m->last_line - BLOCK_TAIL + 1;
            add_style(p, blue);
            dfl_strbuf_printf(p->out, "%*s | ", (int)p->gutter, "...");
            add_style(p, reset);
            add_mark_style(p, m);
            dfl_strbuf_char(p->out, '|');
            add_style(p, reset);
            end_line(p);
        }
        print_block_line(p, m, line, line == m->last_line ? offset : 0, "|");
    }
    add_gutter(p, 0, '|');
    add_spaces(p, 1);
    add_mark_style(p, m);
    dfl_strbuf_char(p->out, '|');
    for (size_t i = 0; i < (column ? column : 1); i++)
        dfl_strbuf_char(p->out, '_');
    dfl_strbuf_char(p->out, m->primary ? '^' : '~');
    if (has_text(m)) {
        add_spaces(p, 1);
        dfl_render_safe(p->out, m->text, p->gutter + 3);
    }
    add_style(p, reset);
    end_line(p);
}

/* ---- one report ---- */

static void add_mark(printer *p, dfl_span span, const char *text, bool primary)
{
    dfl_place first = dfl_place_of(dfl_sink_sources(p->sink), span.start);
    uint32_t last;
    mark m;

    if (!first.source)
        return;
    if (span.end < span.start || span.end - first.source->base > first.source->len)
        span.end = span.start;
    last = span.end > span.start ? dfl_place_of(dfl_sink_sources(p->sink), span.end - 1).line : first.line;
    m = (mark){ .span = span, .text = text, .primary = primary, .source = first.source,
                .first_line = first.line, .last_line = last };
    DFL_PUSH(dfl_sink_arena(p->sink), &p->marks, m);
}

static void collect_marks(printer *p, const dfl_diag *d)
{
    unsigned digits = 1;

    p->marks.n = 0;
    add_mark(p, d->span, d->label, true);
    for (const dfl_label *l = d->labels; l; l = l->next)
        add_mark(p, l->span, l->text, false);
    p->gutter = GUTTER;
    for (size_t i = 0; i < p->marks.n; i++) {
        digits = 1;
        for (uint32_t line = p->marks.at[i].last_line; line > 9; line /= 10)
            digits++;
        p->gutter = digits > p->gutter ? digits : p->gutter;
    }
}

static int compare_positions(const void *left, const void *right)
{
    const mark *a = left, *b = right;

    if (a->span.start != b->span.start)
        return a->span.start < b->span.start ? -1 : 1;
    return a->span.end < b->span.end ? -1 : a->span.end > b->span.end;
}

/* Moves the marks on the line of marks[from] behind marks[from], in order. Returns their number, marks[from] included. */
static size_t gather_line(mark *marks, size_t from, size_t n)
{
    size_t end = from + 1;

    if (marks[from].last_line != marks[from].first_line)
        return 1;
    for (size_t i = end; i < n; i++) {
        mark m = marks[i];

        if (m.source != marks[from].source || m.first_line != marks[from].first_line || m.last_line != m.first_line)
            continue;
        memmove(&marks[end + 1], &marks[end], (i - end) * sizeof *marks);
        marks[end++] = m;
    }
    return end - from;
}

static void print_snippets(printer *p)
{
    mark *marks = p->marks.at;
    size_t n = p->marks.n, rest = n > 0 && marks[0].primary;
    const dfl_source *file = n > 0 ? marks[0].source : NULL;

    if (n > rest)
        qsort(marks + rest, n - rest, sizeof *marks, compare_positions);
    for (size_t i = 0, count; i < n; i += count) {
        count = gather_line(marks, i, n);
        if (marks[i].source != file || (i == 0 && !marks[i].primary)) {
            uint32_t column = marks[i].span.start - marks[i].source->base
                            - marks[i].source->lines[marks[i].first_line - 1] + 1;

            file = marks[i].source;
            add_style(p, blue);
            dfl_strbuf_printf(p->out, "%*s ::: ", (int)p->gutter - 1, "");
            add_style(p, reset);
            dfl_render_safe(p->out, file->name, 0);
            dfl_strbuf_printf(p->out, ":%u:%u\n", marks[i].first_line, column);
        }
        if (marks[i].first_line != marks[i].last_line)
            print_block(p, &marks[i]);
        else
            print_line(p, marks + i, count);
    }
}

static void print_remark(printer *p, const char *kind, const char *text)
{
    const size_t indent = p->gutter + 3 + strlen(kind) + 2;
    char *wrapped = dfl_arena_copy(dfl_sink_arena(p->sink), text, strlen(text));

    dfl_wrap(wrapped, indent, indent, WIDTH);
    add_gutter(p, 0, '=');
    add_spaces(p, 1);
    add_style(p, bold);
    dfl_strbuf_z(p->out, kind);
    add_style(p, reset);
    dfl_strbuf_z(p->out, ": ");
    dfl_render_safe(p->out, wrapped, indent);
    end_line(p);
}

/* " at LINE:COLUMN" for an edit away from the primary place, else "". */
static const char *edit_place(printer *p, const dfl_diag *d, const dfl_edit *e)
{
    dfl_place at = dfl_place_of(dfl_sink_sources(p->sink), e->span.start);
    dfl_place head = dfl_place_of(dfl_sink_sources(p->sink), d->span.start);

    if (!at.source || e->span.start == d->span.start)
        return "";
    if (at.source == head.source)
        return dfl_arena_printf(dfl_sink_arena(p->sink), " at %u:%u", at.line, at.column);
    return dfl_arena_printf(dfl_sink_arena(p->sink), " at %s:%u:%u", at.source->name, at.line, at.column);
}

/* Whether the help line already describes the edit: it quotes the text of an edit at the primary place. */
static bool is_in_help(const printer *p, const dfl_diag *d, const dfl_edit *e)
{
    return d->help && e->text[0] != '\0' && e->span.start == d->span.start
        && strstr(d->help, dfl_arena_printf(dfl_sink_arena(p->sink), "`%s`", e->text));
}

static void print_remarks(printer *p, const dfl_diag *d)
{
    for (const dfl_note *note = d->notes; note; note = note->next)
        print_remark(p, "note", note->text);
    if (d->help)
        print_remark(p, "help", d->help);
    for (const dfl_edit *e = d->edits; e; e = e->next) {
        const char *what = dfl_edit_text(p->sink, e);

        if (is_in_help(p, d, e))
            continue;
        what = dfl_arena_printf(dfl_sink_arena(p->sink), "%s%s", what, edit_place(p, d, e));
        print_remark(p, d->help ? "fix" : "help", what);
    }
}

static void print_head(printer *p, const dfl_diag *d)
{
    dfl_place place = dfl_place_of(dfl_sink_sources(p->sink), d->span.start);
    char code[6];

    if (place.source) {
        add_style(p, bold);
        dfl_render_safe(p->out, place.source->name, 0);
        dfl_strbuf_printf(p->out, ":%u:%u: ", place.line, place.column);
        add_style(p, reset);
    }
    add_style(p, style_of(d->severity));
    dfl_strbuf_printf(p->out, "%s[%s]", dfl_severity_text(d->severity), dfl_code_text(d->code, code));
    add_style(p, reset);
    add_style(p, bold);
    dfl_strbuf_z(p->out, ": ");
    dfl_render_safe(p->out, d->message, 4);
    add_style(p, reset);
    if (d->lint)
        dfl_strbuf_printf(p->out, " [%s]", d->lint);
    dfl_strbuf_char(p->out, '\n');
}

void dfl_render_text(dfl_strbuf *out, dfl_sink *sink, bool color)
{
    printer p = { .out = out, .sink = sink, .color = color };

    dfl_sink_sort(sink);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);

        p.severity = d->severity;
        collect_marks(&p, d);
        print_head(&p, d);
        print_snippets(&p);
        print_remarks(&p, d);
    }
}
