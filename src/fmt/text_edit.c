#include "fmt/text_edit.h"

#include <stdlib.h>
#include <string.h>

#include "fmt/fmt.h"

dfl_edited_file dfl_edited_file_of(dfl_arena *arena, dfl_arena *scratch, dfl_intern *names, dfl_source_map *sources,
                                   const dfl_syntax *syntax)
{
    return (dfl_edited_file){ .arena = arena, .scratch = scratch, .names = names, .sources = sources, .syntax = syntax,
                              .in = dfl_fmt_input_of(scratch, syntax) };
}

static const char *text_at(const dfl_edited_file *file, uint32_t position)
{
    return file->in.source->text + (position - file->in.source->base);
}

/* ---- edits ---- */

/* Compares two edits: by start, then by end, so that insertions come first, then by the order of addition. */
static int compare_places(const void *a, const void *b)
{
    const dfl_text_edit *x = a, *y = b;

    if (x->span.start != y->span.start)
        return (x->span.start > y->span.start) - (x->span.start < y->span.start);
    if (x->span.end != y->span.end)
        return (x->span.end > y->span.end) - (x->span.end < y->span.end);
    return (x->number > y->number) - (x->number < y->number);
}

void dfl_text_edits_replace(dfl_text_edits *edits, dfl_span span, const char *text)
{
    const dfl_text_edit edit = { span, text, edits->edits.n };

    DFL_PUSH(edits->file->arena, &edits->edits, edit);
}

void dfl_text_edits_add(dfl_text_edits *edits, dfl_span span, const char *text)
{
    dfl_strbuf with_comments;
    size_t len;

    dfl_strbuf_init(&with_comments, edits->file->arena);
    dfl_strbuf_z(&with_comments, text);
    if (span.end > span.start)
        dfl_edited_add_comments(edits->file, span, &with_comments);
    len = with_comments.len;
    dfl_text_edits_replace(edits, span, len > 0 ? dfl_edited_line_ends(edits->file, with_comments.text, &len) : "");
}

static void sort_edits(dfl_text_edits *edits, size_t first)
{
    if (edits->edits.n > first)
        qsort(edits->edits.at + first, edits->edits.n - first, sizeof *edits->edits.at, compare_places);
}

bool dfl_text_edits_are_apart(dfl_text_edits *edits, size_t first)
{
    const dfl_text_edit *all = edits->edits.at;

    sort_edits(edits, first);
    for (size_t i = first + 1; i < edits->edits.n; i++)
        if (all[i].span.start < all[i - 1].span.end)
            return false;
    return true;
}

void dfl_text_edits_apply(dfl_text_edits *edits, dfl_span span, dfl_strbuf *out)
{
    uint32_t written = span.start;

    sort_edits(edits, 0);
    for (size_t i = 0; i < edits->edits.n; i++) {
        const dfl_text_edit *edit = &edits->edits.at[i];

        if (edit->span.start < written || edit->span.end > span.end)
            continue;
        dfl_strbuf_add(out, text_at(edits->file, written), edit->span.start - written);
        dfl_strbuf_z(out, edit->text);
        written = edit->span.end;
    }
    dfl_strbuf_add(out, text_at(edits->file, written), span.end - written);
}

/* ---- line ends ---- */

/* Whether the first line of the file ends in CR LF. */
static bool has_returns(const dfl_source *source)
{
    const char *end = memchr(source->text, '\n', source->len);

    return end != NULL && end > source->text && end[-1] == '\r';
}

const char *dfl_edited_line_ends(const dfl_edited_file *file, const char *text, size_t *len)
{
    dfl_strbuf out;

    if (!has_returns(file->in.source))
        return text;
    dfl_strbuf_init(&out, file->arena);
    for (size_t i = 0; i < *len; i++) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
            dfl_strbuf_char(&out, '\r');
        dfl_strbuf_char(&out, text[i]);
    }
    *len = out.len;
    return out.len > 0 ? out.text : "";
}

/* Whether two texts are equal if CR LF and LF count as equal. */
static bool have_same_lines(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0;

    for (; i < a_len && j < b_len; i++, j++) {
        i += a[i] == '\r' && i + 1 < a_len && a[i + 1] == '\n';
        if (a[i] != b[j])
            return false;
    }
    return i == a_len && j == b_len;
}

/* ---- layout ---- */

const char *dfl_edited_lay_out(const dfl_edited_file *file, const char *text, size_t *len)
{
    dfl_sink *quiet = dfl_sink_quiet(file->scratch);
    const dfl_source *source = dfl_source_add(file->sources, file->in.source->name, text, *len);
    dfl_syntax syntax;

    if (!source)
        return NULL;
    syntax = dfl_syntax_parse(file->scratch, file->names, quiet, source);
    return syntax.ok ? dfl_fmt(file->scratch, &syntax, len) : NULL;
}

bool dfl_edited_is_laid_out(const dfl_edited_file *file)
{
    size_t len = 0;
    const char *text = file->syntax->ok ? dfl_fmt(file->scratch, file->syntax, &len) : NULL;

    return text && have_same_lines(file->in.source->text, file->in.source->len, text, len);
}

/* Adds a line at column `indent`, broken after commas if the line is wider than DFL_FMT_WIDTH. */
static void add_wrapped(dfl_strbuf *out, const char *line, size_t len, size_t indent)
{
    for (size_t column = indent; column + len > DFL_FMT_WIDTH; column = indent + DFL_FMT_INDENT) {
        size_t end = 0;

        for (size_t i = 0; i + 1 < len && column + i + 1 <= DFL_FMT_WIDTH; i++)
            if (line[i] == ',' && line[i + 1] == ' ')
                end = i + 1;
        if (end == 0)
            break;
        dfl_strbuf_add(out, line, end);
        dfl_strbuf_printf(out, "\n%*s", (int)(indent + DFL_FMT_INDENT), "");
        line += end + 1;
        len -= end + 1;
    }
    dfl_strbuf_add(out, line, len);
}

void dfl_edited_add_lines(dfl_strbuf *out, const dfl_strbuf *lines, size_t column)
{
    for (size_t i = 0; i + 1 < lines->len; i++) {
        const size_t blanks = strspn(lines->text + i, " "), len = strcspn(lines->text + i + blanks, "\n");

        dfl_strbuf_printf(out, "%*s", (int)(blanks + (i > 0 ? column : 0)), "");
        add_wrapped(out, lines->text + i + blanks, len, blanks + column);
        i += blanks + len;
        dfl_strbuf_z(out, i + 1 < lines->len ? "\n" : "");
    }
}

/* ---- what stands around a position ---- */

bool dfl_edited_starts_line(const dfl_edited_file *file, uint32_t position, size_t *column)
{
    const char *text = file->in.source->text, *at = text_at(file, position);

    for (*column = 0; at > text && at[-1] == ' '; ++*column)
        at--;
    return at == text || at[-1] == '\n';
}

size_t dfl_edited_line_comment(const dfl_edited_file *file, uint32_t position, const char **comment)
{
    const char *at = text_at(file, position);

    *comment = at + strspn(at, " \t");
    if (strncmp(*comment, "//", 2) != 0)
        return 0;
    return (size_t)(*comment - at) + strcspn(*comment, "\r\n");
}

bool dfl_edited_is_token(const dfl_edited_file *file, uint32_t i, const char *word)
{
    const dfl_span at = file->in.tokens[i].span;
    const size_t len = strlen(word);

    return at.end - at.start == len && memcmp(text_at(file, at.start), word, len) == 0;
}

/* Index of the first token that ends after a position; binary search. */
static uint32_t find_token_behind(const dfl_fmt_input *in, uint32_t position)
{
    uint32_t low = 0, n = in->n_tokens;

    while (n > 0) {
        uint32_t half = n / 2;
        if (in->tokens[low + half].span.end > position) {
            n = half;
        } else {
            low += half + 1;
            n -= half + 1;
        }
    }
    return low;
}

void dfl_edited_add_comments(const dfl_edited_file *file, dfl_span span, dfl_strbuf *out)
{
    const dfl_fmt_input *in = &file->in;

    for (uint32_t i = find_token_behind(in, span.start); i < in->n_tokens && in->tokens[i].span.end <= span.end; i++) {
        dfl_gap gap = dfl_gap_before(in, i);

        if (in->tokens[i].span.start <= span.start)
            continue;
        while (dfl_gap_next(&gap)) {
            if (gap.text < text_at(file, span.start))
                continue;
            dfl_strbuf_z(out, out->len > 0 && out->text[out->len - 1] == '\n' ? "" : " ");
            dfl_strbuf_add(out, gap.text, gap.len);
            dfl_strbuf_z(out, gap.line ? "\n" : "");
        }
    }
}
