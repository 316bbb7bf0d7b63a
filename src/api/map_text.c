/* What searches found, put into the text of the file. */
#include "api/session.h"

#include <stdlib.h>
#include <string.h>

#include "fmt/fmt.h"
#include "ir/mapping_open.h"
#include "ir/print.h"
#include "report/units.h"
#include "support/number.h"

typedef struct { dfl_span span; const char *text; size_t nth; } edit;
typedef DFL_VEC(edit) edits;

/* In the order of the text; at the same place first what replaces nothing, and what was found first. */
static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;

    if (x->span.start != y->span.start)
        return (x->span.start > y->span.start) - (x->span.start < y->span.start);
    if (x->span.end != y->span.end)
        return (x->span.end > y->span.end) - (x->span.end < y->span.end);
    return (x->nth > y->nth) - (x->nth < y->nth);
}

/* Puts text in the place of a part of the file. */
static void put_edit(dfl_session *s, edits *out, dfl_span span, const char *text)
{
    const edit e = { span, text, out->n };

    DFL_PUSH(s->arena, out, e);
}

/* The same with the line ends of the file; the comments of that part stay behind the text. */
static void add_edit(dfl_session *s, edits *out, dfl_span span, const char *text)
{
    dfl_strbuf kept;
    size_t len;

    dfl_strbuf_init(&kept, s->arena);
    dfl_strbuf_z(&kept, text);
    if (span.end > span.start)
        dfl_session_add_comments(s, &kept, span);
    len = kept.len;
    text = len > 0 ? dfl_session_line_ends(s, kept.text, &len) : "";
    put_edit(s, out, span, text);
}

static bool is_inside(dfl_span inner, dfl_span outer)
{
    return inner.start >= outer.start && inner.end <= outer.end;
}

/* An amount for each `?`, when each of them stands in the text of the mapping and for one loop alone. */
static bool edit_amounts(dfl_session *s, const dfl_filled *f, edits *out)
{
    for (uint32_t b = 0; b < f->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < f->mapping->bodies[b]->n_lines; i++) {
            const dfl_line *line = &f->mapping->bodies[b]->lines[i];

            if (!line->hole || (line->amount_span.end == 0 && f->chosen != NULL)) /* of a choice */
                continue;
            if (!is_inside(line->amount_span, f->given->text))
                return false;
            add_edit(s, out, line->amount_span, dfl_arena_printf(s->arena, "%lld", (long long)line->amount));
        }
    return true;
}

/* What was chosen for each `?` among loops or keeps. */
static bool edit_choices(dfl_session *s, const dfl_filled *f, edits *out)
{
    bool fine = true;

    for (uint32_t b = 0; b < f->given->n_bodies && f->chosen != NULL; b++)
        for (uint32_t i = 0; i < f->given->bodies[b]->n_choices && fine; i++) {
            const dfl_line_choice *c = &f->given->bodies[b]->choices[i];
            dfl_span at = { 0, 0 };
            dfl_strbuf text;
            dfl_strbuf_init(&text, s->arena);
            dfl_strbuf_z(&text, "");
            fine = is_inside(c->span, f->given->text) &&
                   dfl_session_choice_text(s, f->mapping, f->mapping->bodies[b], f->given->bodies[b], c, &at, &text);
            if (at.end > at.start)
                add_edit(s, out, at, text.text);
        }
    return fine;
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

/* Lines, without the end of the last one, `column` blanks further in but for the first. */
static void add_lines(dfl_strbuf *out, const dfl_strbuf *lines, size_t column)
{
    for (size_t i = 0; i + 1 < lines->len; i++) {
        size_t blanks = strspn(lines->text + i, " "), len = strcspn(lines->text + i + blanks, "\n");
        for (size_t k = 0; k < blanks + (i > 0 ? column : 0); k++)
            dfl_strbuf_char(out, ' ');
        add_line(out, lines->text + i + blanks, len, blanks + column);
        i += blanks + len;
        dfl_strbuf_z(out, i + 1 < lines->len ? "\n" : "");
    }
}

/* Blanks before a place when nothing else stands before it in its line; else false. */
static bool is_indented(const dfl_source *source, uint32_t start, size_t *column)
{
    const char *at = source->text + (start - source->base);

    for (*column = 0; at > source->text && at[-1] == ' '; ++*column)
        at--;
    return at == source->text || at[-1] == '\n';
}

/* The comment that ends the line behind a place, which then includes it; it goes before the lines that take the place. */
static void take_comment(dfl_session *s, dfl_span *at, size_t column, dfl_strbuf *out)
{
    const dfl_source *source = s->root->source;
    const char *end = source->text + (at->end - source->base), *comment = end + strspn(end, " \t");
    size_t len = strcspn(comment, "\r\n");

    if (strncmp(comment, "//", 2) != 0)
        return;
    dfl_strbuf_add(out, comment, len);
    dfl_strbuf_printf(out, "\n%*s", (int)column, "");
    at->end += (uint32_t)(comment + len - end);
}

/* The statements of a body in the place of `...`, indented as it is. `*loose`: it stands in the middle of a line. */
static void edit_place(dfl_session *s, const dfl_filled *f, const dfl_body *root, dfl_span at, edits *out, bool *loose)
{
    const dfl_source *source = s->root->source;
    size_t column;
    bool alone = is_indented(source, at.start, &column);
    dfl_strbuf lines, text;
    dfl_mapping below = *f->mapping;
    dfl_body copy = *root;

    below.root = &copy;
    dfl_strbuf_init(&lines, s->arena);
    dfl_strbuf_init(&text, s->arena);
    dfl_mapping_print_lines(&lines, s->names, &below, DFL_FMT_INDENT);
    dfl_strbuf_z(&text, "");
    if (alone && lines.len > 0)
        take_comment(s, &at, column, &text);
    add_lines(&text, &lines, column);
    if (lines.len == 0 && alone) { /* nothing is left of the line */
        const char *next = source->text + (at.end - source->base);
        const uint32_t end = *next == '\n' ? 1 : next[0] == '\r' && next[1] == '\n' ? 2 : 0;
        at.start -= end > 0 ? (uint32_t)column : 0;
        at.end += end;
    }
    *loose |= !alone;
    add_edit(s, out, at, text.text);
}

/* What was found for each `...` of a body: what stands between two written lines is for the first one between them. False if one
   of them stands elsewhere. */
static bool edit_body(dfl_session *s, const dfl_filled *f, const dfl_body *given, const dfl_body *root, edits *out,
                      bool *loose)
{
    const bool homes = dfl_mapping_all_lines_open(f->chosen != NULL ? f->chosen : f->given); /* they are the first lines */
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
        edit_place(s, f, &part, given->opens[o].span, out, loose);
    }
    return true;
}

/* Of a body and all in it. False if a `...` stands among branches. */
static bool edit_places(dfl_session *s, const dfl_filled *f, const dfl_body *given, const dfl_body *found, edits *out,
                        bool *loose)
{
    bool fine = !given->open_children && edit_body(s, f, given, found, out, loose);

    for (uint32_t c = 0; c < given->n_children && fine; c++)
        fine = edit_places(s, f, given->children[c], found->children[c], out, loose);
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
    static const double rounding = 1 + 1e-9;
    char value[DFL_UNIT_TEXT], digits[32];

    dfl_human_quantity(search->value, search->dim, value);
    dfl_strbuf_printf(out, "%s = %s", search->objective, value);
    if (search->nth > 1 && search->best > 0) {
        dfl_double_text_short(100 * (search->value / search->best - 1), 4, digits);
        if (search->value <= search->best * rounding)
            dfl_strbuf_z(out, ", equal to the best");
        else
            dfl_strbuf_printf(out, ", %s %% more than the best", digits);
    }
}

/* "// energy = 7.2 mJ, 1.668 % more than the best", a line before the best of a kind. */
static void add_heading(dfl_strbuf *out, const dfl_filled *f)
{
    if (!is_kind(f))
        return;
    dfl_strbuf_z(out, "// ");
    add_distance(out, f->search);
    dfl_strbuf_char(out, '\n');
}

/* A mapping written out, with what is required of it, and `whole` with all that the file says about it in its braces. */
static void add_mapping(dfl_session *s, dfl_strbuf *out, const dfl_filled *f, bool whole)
{
    dfl_strbuf lines;

    dfl_mapping m = *f->mapping;
    const char *target = dfl_session_target(s, f->given);

    if (target != NULL)
        m.target = target;
    dfl_strbuf_init(&lines, s->arena);
    dfl_mapping_print(&lines, s->names, &m, DFL_FMT_INDENT);
    lines.len -= strlen("}\n");
    for (uint32_t i = 0; i < s->program->n_checks; i++) {
        const dfl_check *c = &s->program->checks[i];
        if (c->scope != f->given->name || (c->kind != DFL_CHECK_REQUIRE && !whole))
            continue;
        dfl_strbuf_printf(&lines, "%*s", DFL_FMT_INDENT, "");
        if (is_inside(c->span, f->given->text))
            dfl_strbuf_printf(&lines, "%s%s\n", c->text, c->text[strlen(c->text) - 1] == ';' ? "" : ";");
        else
            dfl_check_write(&lines, s->names, c);
    }
    dfl_strbuf_z(&lines, "}\n");
    add_lines(out, &lines, 0);
}

/* The first mapping of a front has a name of its own, and says no more that it is to be one of many. */
static void edit_front(dfl_session *s, const dfl_filled *f, edits *out)
{
    const dfl_source *source = s->root->source;
    dfl_span at = f->given->front_span;

    add_edit(s, out, f->given->span, dfl_sym_text(s->names, f->mapping->name));
    if (at.end < f->given->text.end && source->text[at.end - source->base] == ';')
        at.end++;
    add_edit(s, out, at, "");
}

/* Whether no two of the edits from `first` on are of the same text. */
static bool are_apart(edits *all, size_t first)
{
    if (all->n > first)
        qsort(all->at + first, all->n - first, sizeof *all->at, by_place);
    for (size_t i = first + 1; i < all->n; i++)
        if (all->at[i].span.start < all->at[i - 1].span.end)
            return false;
    return true;
}

/* The edits of the first mapping that was found for one with holes: amounts, lines, or all of it. */
static void edit_mapping(dfl_session *s, const dfl_filled *f, edits *out, bool *loose)
{
    size_t first = out->n;
    dfl_strbuf text;

    *loose = f->given->n_front > 0;
    dfl_strbuf_init(&text, s->arena);
    add_heading(&text, f);
    if (text.len > 0)
        add_edit(s, out, (dfl_span){ f->given->text.start, f->given->text.start }, text.text);
    if (edit_amounts(s, f, out) && edit_choices(s, f, out) &&
        edit_places(s, f, f->chosen != NULL ? f->chosen->root : f->given->root, f->mapping->root, out, loose) &&
        are_apart(out, first)) {
        if (f->given->n_front > 0)
            edit_front(s, f, out);
        return;
    }
    out->n = first;
    dfl_session_add_comments(s, &text, f->given->text);
    dfl_strbuf_z(&text, text.len > 0 && text.text[text.len - 1] != '\n' ? "\n" : "");
    add_mapping(s, &text, f, true);
    put_edit(s, out, f->given->text, text.text);
    *loose = true;
}

/* The other mappings that were found with number `i`. */
static const char *others_than(dfl_session *s, size_t i)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    while (++i < s->filled.n && follows(s, i)) {
        dfl_strbuf_z(&out, "\n\n");
        add_heading(&out, &s->filled.at[i]);
        add_mapping(s, &out, &s->filled.at[i], false);
    }
    return out.len > 0 ? out.text : "";
}

/* Source text from `start` to `end` with the edits that lie there. */
static void write_edited(dfl_session *s, dfl_strbuf *out, uint32_t start, uint32_t end, edits *all)
{
    const dfl_source *source = s->root->source;

    if (all->n > 0)
        qsort(all->at, all->n, sizeof *all->at, by_place);
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

/* What becomes of a declaration, laid out anew where that is `loose`. */
static const char *text_of(dfl_session *s, const dfl_filled *f, edits *own, bool loose)
{
    dfl_strbuf out;
    const char *text;
    size_t len;

    dfl_strbuf_init(&out, s->arena);
    write_edited(s, &out, f->given->text.start, f->given->text.end, own);
    len = out.len;
    text = loose ? dfl_session_laid_out(s, out.text, &len) : NULL;
    if (!text)
        return out.text;
    while (len > 0 && text[len - 1] == '\n')
        len--;
    text = dfl_session_line_ends(s, dfl_arena_copy(s->arena, text, len), &len);
    return dfl_arena_copy(s->arena, text, len);
}

/* Behind a declaration and the comment that ends its line, if nothing else stands there. */
static uint32_t place_behind(const dfl_source *source, dfl_span declaration)
{
    const char *end = source->text + (declaration.end - source->base), *at = end + strspn(end, " \t");

    if (strncmp(at, "//", 2) == 0)
        at += strcspn(at, "\r\n");
    return *at == '\r' || *at == '\n' || *at == '\0' ? source->base + (uint32_t)(at - source->text) : declaration.end;
}

const char *dfl_session_mapped(dfl_session *s, size_t *len)
{
    bool any = s->root && (s->filled.n > 0 || s->nothing_open), laid_out = any && dfl_session_is_laid_out(s);
    dfl_strbuf out;
    edits all = { 0 };
    const char *text;
    size_t n;

    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_z(&out, "");
    for (size_t i = 0; i < s->filled.n; i++) {
        const dfl_filled *f = &s->filled.at[i];
        uint32_t behind = place_behind(s->root->source, f->given->text);
        edits own = { 0 };
        bool loose;

        if (follows(s, i))
            continue;
        edit_mapping(s, f, &own, &loose);
        put_edit(s, &all, f->given->text, text_of(s, f, &own, loose || laid_out));
        add_edit(s, &all, (dfl_span){ behind, behind }, others_than(s, i));
    }
    if (any)
        write_edited(s, &out, s->root->source->base, s->root->source->base + (uint32_t)s->root->source->len, &all);
    n = out.len;
    text = laid_out && s->filled.n > 0 ? dfl_session_laid_out(s, out.text, &n) : NULL;
    text = text ? dfl_session_line_ends(s, text, &n) : out.text;
    if (len)
        *len = n;
    return text;
}

const char *dfl_session_searches(dfl_session *s, size_t *len)
{
    const dfl_filled *told = NULL; /* whose space is on the screen */
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_z(&out, s->nothing_open ? "nothing to fill: there is no `?` and no `...`\n" : "");
    for (size_t i = 0; i < s->filled.n; i++) {
        const dfl_filled *f = &s->filled.at[i];

        if (!follows(s, i)) {
            dfl_strbuf_printf(&out, "%s:\n", dfl_sym_text(s->names, f->given->name));
            dfl_search_text(&out, f->search, told ? told->search : NULL, told ? dfl_sym_text(s->names, told->given->name) : NULL);
            if (!told || strcmp(told->search->space, f->search->space) != 0)
                told = f;
        }
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
