/* What searches found, put into the text of the file. */
#include "api/session.h"

#include <stdlib.h>
#include <string.h>

#include "fmt/fmt.h"
#include "ir/print.h"
#include "mapper/given.h"
#include "support/number.h"

typedef struct { dfl_span span; const char *text; } edit;
typedef DFL_VEC(edit) edits;

static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;

    return (x->span.start > y->span.start) - (x->span.start < y->span.start);
}

static bool is_inside(dfl_span inner, dfl_span outer)
{
    return inner.start >= outer.start && inner.end <= outer.end;
}

/* An amount for each `?`, when each of them stands in the text of the mapping and for one loop alone. */
static bool edit_amounts(dfl_session *s, const dfl_filled *f, edits *out)
{
    size_t first = out->n;

    for (uint32_t b = 0; b < f->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < f->mapping->bodies[b]->n_lines; i++) {
            const dfl_line *line = &f->mapping->bodies[b]->lines[i];
            edit one = { line->amount_span, NULL };

            if (!line->hole)
                continue;
            if (!is_inside(one.span, f->given->text))
                return false;
            one.text = dfl_arena_printf(s->arena, "%lld", (long long)line->amount);
            DFL_PUSH(s->arena, out, one);
        }
    if (out->n > first)
        qsort(out->at + first, out->n - first, sizeof *out->at, by_place);
    for (size_t i = first + 1; i < out->n; i++)
        if (out->at[i].span.start < out->at[i - 1].span.end)
            return false;
    return true;
}

/* One line at column `indent`, broken behind commas where it gets too wide for the layout of a file. */
static void add_line(dfl_strbuf *out, const char *line, size_t len, size_t indent)
{
    for (size_t column = indent; column + len > DFL_FMT_WIDTH; column = indent + DFL_FMT_INDENT) {
        size_t end = 0;
        for (size_t i = 0; i + 1 < len && column + i + 1 <= DFL_FMT_WIDTH; i++)
            if (line[i] == ',' && line[i + 1] == ' ')
                end = i + 1;
        if (end == 0)
            break;
        dfl_strbuf_add(out, line, end);
        dfl_strbuf_char(out, '\n');
        for (size_t i = 0; i < indent + DFL_FMT_INDENT; i++)
            dfl_strbuf_char(out, ' ');
        line += end + 1;
        len -= end + 1;
    }
    dfl_strbuf_add(out, line, len);
}

/* Lines, without the end of the last one, `column` blanks further in, the first too where `fresh`. A level has four blanks in
   a file, and two where it is printed. */
static void add_lines(dfl_strbuf *out, const dfl_strbuf *lines, size_t column, bool fresh)
{
    for (size_t i = 0; i + 1 < lines->len; i++) {
        size_t blanks = strspn(lines->text + i, " "), len = strcspn(lines->text + i + blanks, "\n");
        for (size_t k = 0; k < 2 * blanks + (i > 0 || fresh ? column : 0); k++)
            dfl_strbuf_char(out, ' ');
        add_line(out, lines->text + i + blanks, len, 2 * blanks + column);
        i += blanks + len;
        dfl_strbuf_z(out, i + 1 < lines->len ? "\n" : "");
    }
}

static void add_blanks(dfl_strbuf *out, size_t n)
{
    while (n-- > 0)
        dfl_strbuf_char(out, ' ');
}

/* Blanks at the beginning of the line that a place stands in; whether braces are opened in it and not closed. */
static size_t blanks_before(const char *text, const char *at, bool *braces)
{
    int depth = 0;

    while (at > text && at[-1] != '\n') {
        at--;
        depth += (*at == '{') - (*at == '}');
    }
    *braces = depth > 0;
    return strspn(at, " ");
}

/* The statements of a body in the place of `...`, indented as it is, or on lines of their own where it stands in the middle of
   one. */
static void edit_place(dfl_session *s, const dfl_filled *f, const dfl_body *root, dfl_span at, edits *out)
{
    const dfl_source *source = s->root->source;
    const char *before = source->text + (at.start - source->base);
    bool middle, braces;
    size_t column = 0, base = blanks_before(source->text, before, &braces);
    char next;
    dfl_strbuf lines, text;
    dfl_mapping below = *f->mapping;
    dfl_body copy = *root;

    below.root = &copy;
    while (before > source->text && before[-1] == ' ') {
        before--;
        column++;
    }
    middle = before > source->text && before[-1] != '\n';
    dfl_strbuf_init(&lines, s->arena);
    dfl_strbuf_init(&text, s->arena);
    dfl_mapping_print_lines(&lines, s->names, &below, 0);
    if (middle) {
        at.start -= (uint32_t)column;
        while (source->text[at.end - source->base] == ' ')
            at.end++;
        column = base + (braces ? DFL_FMT_INDENT : 0);
    } else if (lines.len == 0) { /* nothing is left of the line */
        at.start -= (uint32_t)column;
        at.end += source->text[at.end - source->base] == '\n';
    }
    next = source->text[at.end - source->base];
    if (lines.len > 0) {
        dfl_strbuf_z(&text, middle ? "\n" : "");
        add_lines(&text, &lines, column, middle);
        dfl_strbuf_z(&text, middle && next != '\n' ? "\n" : "");
        add_blanks(&text, middle && next != '\n' ? next == '}' ? base : column : 0);
    } else {
        dfl_strbuf_z(&text, middle && next != '\n' ? " " : "");
    }
    DFL_PUSH(s->arena, out, ((edit){ at, text.text ? text.text : "" }));
}

/* What was found for each `...` of a body: what stands between two written lines is for the first one between them. False if one
   of them stands elsewhere. */
static bool edit_body(dfl_session *s, const dfl_filled *f, const dfl_body *given, const dfl_body *root, edits *out)
{
    const bool homes = dfl_given_nothing(f->given); /* they are the first lines */
    uint32_t line = 0, seen = 0;

    for (uint32_t o = 0; o < given->n_opens; o++) {
        dfl_body part = *root;
        for (; line < root->n_lines && seen < given->opens[o].at; line++)
            seen += homes || root->lines[line].given;
        part.lines += line;
        for (part.n_lines = 0; line < root->n_lines && (homes || !root->lines[line].given); line++)
            part.n_lines++;
        if (o > 0 || given->compute != DFL_NONE)
            part.compute = DFL_NONE;
        if (!is_inside(given->opens[o].span, f->given->text))
            return false;
        edit_place(s, f, &part, given->opens[o].span, out);
    }
    return true;
}

/* Of a body and all in it. False if a `...` stands among branches. */
static bool edit_places(dfl_session *s, const dfl_filled *f, const dfl_body *given, const dfl_body *found, edits *out)
{
    bool fine = !given->open_children && edit_body(s, f, given, found, out);

    for (uint32_t c = 0; c < given->n_children && fine; c++)
        fine = edit_places(s, f, given->children[c], found->children[c], out);
    return fine;
}

/* Whether it is not the first of several mappings. */
static bool follows(const dfl_session *s, size_t i)
{
    return i > 0 && s->filled.at[i].given == s->filled.at[i - 1].given;
}

/* Whether it is the best of a kind, and may be one of several. */
static bool is_kind(const dfl_filled *f)
{
    return f->search != NULL && f->search->nth > 0;
}

/* How far the best of a kind is from the best of all. */
static void add_distance(dfl_strbuf *out, const dfl_search_found *search)
{
    char digits[32];

    dfl_double_text_short(search->value, 6, digits);
    dfl_strbuf_printf(out, "%s = %s", search->objective, digits);
    if (search->nth > 1 && search->best > 0) {
        dfl_double_text_short(100 * (search->value / search->best - 1), 4, digits);
        dfl_strbuf_printf(out, ", %s %% more than the best", digits);
    }
}

/* Several mappings, one after another. */
static void edit_several(dfl_session *s, size_t i, edits *out)
{
    const dfl_mapping *given = s->filled.at[i].given;
    dfl_strbuf text;
    bool first = true;

    dfl_strbuf_init(&text, s->arena);
    for (; first || (i < s->filled.n && follows(s, i)); i++) {
        dfl_strbuf one;
        dfl_strbuf_init(&one, s->arena);
        dfl_mapping_print(&one, s->names, s->filled.at[i].mapping);
        dfl_strbuf_z(&text, first ? "" : "\n\n");
        if (is_kind(&s->filled.at[i])) {
            dfl_strbuf_z(&text, "// ");
            add_distance(&text, s->filled.at[i].search);
            dfl_strbuf_char(&text, '\n');
        }
        add_lines(&text, &one, 0, true);
        first = false;
    }
    DFL_PUSH(s->arena, out, ((edit){ given->text, text.text }));
}

/* The edits of one mapping: amounts, lines, or all of it. */
static void edit_mapping(dfl_session *s, const dfl_filled *f, edits *out)
{
    size_t first = out->n;
    dfl_strbuf lines, text;

    if (edit_amounts(s, f, out) && edit_places(s, f, f->given->root, f->mapping->root, out))
        return;
    out->n = first;
    dfl_strbuf_init(&lines, s->arena);
    dfl_strbuf_init(&text, s->arena);
    dfl_mapping_print(&lines, s->names, f->mapping);
    add_lines(&text, &lines, 0, false);
    DFL_PUSH(s->arena, out, ((edit){ f->given->text, text.text }));
}

/* Source text from `start` to `end` with the edits that lie there, in order. */
static void write_edited(dfl_session *s, dfl_strbuf *out, uint32_t start, uint32_t end, const edits *all)
{
    const dfl_source *source = s->root->source;

    for (size_t i = 0; i < all->n; i++) {
        const edit *e = &all->at[i];

        if (e->span.start < start || e->span.end > end)
            continue;
        dfl_strbuf_add(out, source->text + (start - source->base), e->span.start - start);
        dfl_strbuf_z(out, e->text);
        start = e->span.end;
    }
    dfl_strbuf_add(out, source->text + (start - source->base), end - start);
}

const char *dfl_session_mapped(dfl_session *s, bool whole, size_t *len)
{
    dfl_strbuf out;
    edits all = { 0 };

    dfl_strbuf_init(&out, s->arena);
    for (size_t i = 0; i < s->filled.n; i++)
        if (s->filled.at[i].given->n_front == 0 && !is_kind(&s->filled.at[i]))
            edit_mapping(s, &s->filled.at[i], &all);
        else if (!follows(s, i))
            edit_several(s, i, &all);
    if (all.n > 0)
        qsort(all.at, all.n, sizeof *all.at, by_place);
    if (whole && s->root)
        write_edited(s, &out, s->root->source->base, s->root->source->base + (uint32_t)s->root->source->len, &all);
    for (size_t i = 0; !whole && i < s->filled.n; i++) {
        if (follows(s, i))
            continue;
        write_edited(s, &out, s->filled.at[i].given->text.start, s->filled.at[i].given->text.end, &all);
        dfl_strbuf_char(&out, '\n');
    }
    if (len)
        *len = out.len;
    return out.text;
}

const char *dfl_session_searches(dfl_session *s, size_t *len)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    for (size_t i = 0; i < s->filled.n; i++) {
        const dfl_filled *f = &s->filled.at[i];

        if (!follows(s, i))
            dfl_strbuf_printf(&out, "%s:\n", dfl_sym_text(s->names, f->given->name));
        if (!follows(s, i))
            dfl_search_text(&out, f->search);
        if (!is_kind(f))
            continue;
        dfl_strbuf_printf(&out, "  %-12s ", dfl_sym_text(s->names, f->mapping->name));
        add_distance(&out, f->search);
        dfl_strbuf_char(&out, '\n');
    }
    if (len)
        *len = out.len;
    return out.text;
}
