/* Statements, blocks, and the comments and blank lines between them. */
#include "fmt/fmt.h"

#include "fmt/atoms.h"
#include "fmt/gap.h"
#include "syntax/parser.h"

enum { MOST_BYTES = 4 }; /* largest number of bytes of a column: one code point in UTF-8 */

typedef struct {
    const dfl_fmt_input *in;
    dfl_marks marks;
    dfl_fmt_lines lines;
    dfl_fmt_atoms atoms;
} printer;

static void put_comment_line(printer *p, const dfl_gap *gap, uint32_t indent)
{
    dfl_fmt_lines_begin(&p->lines, indent);
    for (size_t i = 0; i < gap->len; i++)
        if (gap->text[i] != '\r' || i + 1 == gap->len || gap->text[i + 1] != '\n')
            dfl_fmt_lines_put(&p->lines, &gap->text[i], 1);
}

/*
 * Writes the comments before token `i`, which starts a statement or closes a block. A comment stays behind the line above
 * or on a line of its own, as the author placed it; blank lines of the author stay as one blank line. No blank line follows
 * `{` (`opening`) or precedes `}` (`closing`).
 */
static void put_gap(printer *p, uint32_t i, uint32_t indent, bool opening, bool closing)
{
    dfl_gap gap = dfl_gap_before(p->in, i);
    bool first = true;

    while (dfl_gap_next(&gap)) {
        if (gap.newlines == 0 && p->lines.line.n > 0 && first) {
            dfl_fmt_lines_comment(&p->lines, gap.text, gap.len);
            continue;
        }
        if (gap.newlines > 1 && !(opening && first))
            dfl_fmt_lines_blank(&p->lines);
        put_comment_line(p, &gap, indent);
        first = false;
    }
    if (gap.newlines > 1 && !closing && !(opening && first))
        dfl_fmt_lines_blank(&p->lines);
}

/* Index of the first `;`, or `{` of a block, at or after token `i`. */
static uint32_t find_head_end(const printer *p, uint32_t i)
{
    const dfl_token *t = p->in->tokens;

    while (t[i].kind != ';' && t[i].kind != DFL_TOK_END && !(t[i].kind == '{' && p->marks.mark[i] != DFL_MARK_SET))
        i++;
    return i;
}

/* Index of the last token of the statement whose head ends at token `head`; an `else` belongs to the statement. */
static uint32_t find_statement_end(const printer *p, uint32_t head)
{
    const dfl_token *t = p->in->tokens;
    uint32_t end = head;

    while (t[end].kind == '{') {
        end = p->marks.match[end];
        if (t[end + 1].kind != DFL_TOK_ELSE)
            break;
        end = find_head_end(p, end + 1);
    }
    return end;
}

/*
 * Whether the braces head..end may fit one line: they are empty, or the author wrote them on one line. Reads at most
 * DFL_FMT_WIDTH tokens, since every token takes a column; so nested braces take linear time.
 */
static bool is_short(const printer *p, uint32_t head, uint32_t end)
{
    size_t room = MOST_BYTES * DFL_FMT_WIDTH;

    if (end - head > DFL_FMT_WIDTH)
        return false;
    if (head + 1 == end && p->in->tokens[head].kind == '{') {
        dfl_gap gap = dfl_gap_before(p->in, end);
        return !dfl_gap_has_comment(&gap);
    }
    for (uint32_t i = head + 1; i <= end; i++) {
        dfl_gap gap = dfl_gap_before(p->in, i);

        if (!dfl_gap_is_one_line(&gap))
            return false;
        for (; dfl_gap_next(&gap); room -= gap.len)
            if (gap.len > room)
                return false;
    }
    return true;
}

static void put_head(printer *p, uint32_t first, uint32_t last, uint32_t indent)
{
    uint32_t hanging = indent + (p->in->tokens[last].kind == '{' ? 2 * DFL_FMT_INDENT : DFL_FMT_INDENT);

    dfl_fmt_atoms_take(&p->atoms, &p->marks, first, last);
    dfl_fmt_atoms_lay(&p->atoms, indent, hanging, &p->lines);
}

static uint32_t put_items(printer *p, uint32_t i, uint32_t indent);

/* The indentation of statements inside braces, blanks. */
static uint32_t deeper_indent(uint32_t indent)
{
    return indent < DFL_FMT_DEEPEST ? indent + DFL_FMT_INDENT : indent;
}

/* Lays out the statement from token `i` on. Returns the index of the token after the statement. */
static uint32_t put_statement(printer *p, uint32_t first, uint32_t indent)
{
    uint32_t head = find_head_end(p, first), end = find_statement_end(p, head);

    if (head == end || is_short(p, head, end)) {
        dfl_fmt_atoms_take(&p->atoms, &p->marks, first, end);
        if (head == end || dfl_fmt_atoms_flat(&p->atoms) <= DFL_FMT_WIDTH - indent) {
            dfl_fmt_atoms_lay(&p->atoms, indent, indent + DFL_FMT_INDENT, &p->lines);
            return end + 1;
        }
    }
    while (head < end) {
        put_head(p, first, head, indent);
        first = put_items(p, head + 1, deeper_indent(indent));
        put_gap(p, first, deeper_indent(indent), first == head + 1, true);
        head = first == end ? end : find_head_end(p, first);
    }
    put_head(p, first, end, indent);
    return end + 1;
}

/* Lays out the statements up to the `}` that closes the block, or up to the end of the file. Returns the index of the token
   that ends the statements. */
static uint32_t put_items(printer *p, uint32_t i, uint32_t indent)
{
    bool opening = true;

    while (p->in->tokens[i].kind != '}' && p->in->tokens[i].kind != DFL_TOK_END) {
        put_gap(p, i, indent, opening, false);
        i = put_statement(p, i, indent);
        opening = false;
    }
    return i;
}

char *dfl_fmt(dfl_arena *arena, const dfl_syntax *syntax, size_t *len)
{
    dfl_fmt_input in = dfl_fmt_input_of(arena, syntax);
    printer p = { .in = &in, .marks = dfl_marks_make(arena, &in), .atoms.arena = arena };
    dfl_strbuf out;
    uint32_t end;

    dfl_fmt_lines_init(&p.lines, arena);
    end = put_items(&p, 0, 0);
    put_gap(&p, end, 0, end == 0, true);
    dfl_strbuf_init(&out, arena);
    dfl_fmt_lines_print(&p.lines, &out);
    *len = out.len;
    return out.text;
}
