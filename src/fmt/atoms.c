#include "fmt/atoms.h"

#include "fmt/fmt.h"
#include "fmt/gap.h"
#include "syntax/parser.h"

/* ---- blanks --------------------------------------------------------------------------------------------------- */

/* Whether a binary `+ - * /` gets blanks on both sides: the author put a blank or a comment on at least one side. */
static bool operator_is_spaced(const dfl_fmt_input *in, uint32_t i)
{
    dfl_gap before = dfl_gap_before(in, i), behind = dfl_gap_before(in, i + 1);

    return !dfl_gap_is_empty(&before) || !dfl_gap_is_empty(&behind);
}

static bool space_behind(const dfl_marks *marks, uint32_t i)
{
    switch (marks->mark[i]) {
    case DFL_MARK_UNARY:
    case DFL_MARK_SPLIT:
        return false;
    case DFL_MARK_SET:
        return marks->in->tokens[i].kind == '}';
    case DFL_MARK_OPERATOR:
        return operator_is_spaced(marks->in, i);
    default:
        return marks->in->tokens[i].kind != '(' && marks->in->tokens[i].kind != '[' &&
               marks->in->tokens[i].kind != '.' && marks->in->tokens[i].kind != DFL_TOK_DOTDOT;
    }
}

static bool space_before(const dfl_marks *marks, uint32_t i)
{
    uint16_t kind = marks->in->tokens[i].kind;

    switch (marks->mark[i]) {
    case DFL_MARK_CALL:
    case DFL_MARK_LABEL:
    case DFL_MARK_SPLIT:
    case DFL_MARK_NAMED:
        return false;
    case DFL_MARK_SET:
        return kind == '{';
    case DFL_MARK_OPERATOR:
        return operator_is_spaced(marks->in, i);
    default:
        return kind != ';' && kind != ',' && kind != ')' && kind != ']' && kind != '[' && kind != '.' &&
               kind != DFL_TOK_DOTDOT;
    }
}

/* ---- atoms ---------------------------------------------------------------------------------------------------- */

enum { MOST_DEPTH = 60 }; /* brackets below this depth get the level of this depth: 4 * MOST_DEPTH + 3 is below
                             DFL_FMT_NO_BREAK */

typedef struct {
    const dfl_marks *marks;
    dfl_fmt_atoms *atoms;
    unsigned depth; /* number of open parentheses, brackets and sets */
    bool newline;   /* the next atom must start a line */
} atom_reader;

/* The preference of a line break before token `i`, 0 = best. Breaks rank in this order: after a comma, before a clause, at
   an operator, after `=`. Outer brackets break before inner brackets. */
static uint8_t break_level(const atom_reader *t, uint32_t i)
{
    const dfl_token *tokens = t->marks->in->tokens;
    unsigned outer = 4 * (t->depth < MOST_DEPTH ? t->depth : MOST_DEPTH);

    if (tokens[i - 1].kind == ',')
        return (uint8_t)outer;
    switch (tokens[i].kind) {
    case DFL_TOK_FOR:
    case DFL_TOK_ON:
    case DFL_TOK_FROM:
    case DFL_TOK_WHERE:
    case DFL_TOK_WITHIN:
    case DFL_TOK_EXACTLY:
    case DFL_TOK_CARRYING:
        return (uint8_t)(outer + 1);
    case DFL_TOK_AND:
    case DFL_TOK_OR:
        return (uint8_t)(outer + 1);
    case '+':
    case '-':
    case DFL_TOK_EQ:
    case DFL_TOK_NE:
    case DFL_TOK_LE:
    case DFL_TOK_GE:
    case '<':
    case '>':
        return t->marks->mark[i] != DFL_MARK_UNARY && space_before(t->marks, i) ? (uint8_t)(outer + 2)
                                                                                : DFL_FMT_NO_BREAK;
    default:
        break;
    }
    return (tokens[i - 1].kind == '=' || tokens[i - 1].kind == DFL_TOK_ADDEQ) ? (uint8_t)(outer + 3) : DFL_FMT_NO_BREAK;
}

static void add_comments(atom_reader *t, uint32_t i)
{
    dfl_gap gap = dfl_gap_before(t->marks->in, i);

    while (dfl_gap_next(&gap)) {
        dfl_fmt_atom atom = {
            .text = gap.text, .len = (uint32_t)gap.len, .width = dfl_fmt_width(gap.text, gap.len),
            .space = true, .newline = t->newline || gap.newlines > 0, .level = DFL_FMT_NO_BREAK,
        };

        DFL_PUSH(t->atoms->arena, &t->atoms->atom, atom);
        t->newline = gap.line || gap.lines;
    }
}

static void add_token(atom_reader *t, uint32_t i, bool first, bool commented)
{
    const dfl_fmt_input *in = t->marks->in;
    const dfl_token *token = &in->tokens[i];
    const char *text = in->source->text + (token->span.start - in->source->base);
    size_t len = token->span.end - token->span.start;
    dfl_fmt_atom atom = { .text = text, .len = (uint32_t)len, .width = dfl_fmt_width(text, len) };

    if (token->kind == ')' || token->kind == ']' || (token->kind == '}' && t->marks->mark[i] == DFL_MARK_SET))
        t->depth -= t->depth > 0;
    atom.newline = t->newline;
    atom.space = !first && (commented || (space_before(t->marks, i) && space_behind(t->marks, i - 1)));
    atom.level = first ? DFL_FMT_NO_BREAK : break_level(t, i);
    if (token->kind == '(' || token->kind == '[' || (token->kind == '{' && t->marks->mark[i] == DFL_MARK_SET))
        t->depth++;
    t->newline = false;
    DFL_PUSH(t->atoms->arena, &t->atoms->atom, atom);
}

void dfl_fmt_atoms_take(dfl_fmt_atoms *atoms, const dfl_marks *marks, uint32_t first, uint32_t last)
{
    atom_reader t = { .marks = marks, .atoms = atoms };

    atoms->atom.n = 0;
    for (uint32_t i = first; i <= last; i++) {
        size_t before = atoms->atom.n;

        if (i > first)
            add_comments(&t, i);
        add_token(&t, i, i == first, i > first && atoms->atom.n > before);
    }
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */

uint32_t dfl_fmt_atoms_flat(const dfl_fmt_atoms *atoms)
{
    uint32_t width = 0;

    for (size_t i = 0; i < atoms->atom.n; i++) {
        const dfl_fmt_atom *a = &atoms->atom.at[i];

        if (a->newline)
            return UINT32_MAX;
        width += a->width + (a->space && i > 0);
    }
    return width;
}

/* The first atom of the next line, for a line that starts at atom `first`: the best break that keeps the line within its
   width. */
static size_t find_line_end(const dfl_fmt_atoms *atoms, size_t first, uint32_t indent)
{
    uint32_t width = indent, best_level = DFL_FMT_NO_BREAK;
    size_t best = 0;

    for (size_t i = first; i < atoms->atom.n; i++) {
        const dfl_fmt_atom *a = &atoms->atom.at[i];

        if (i > first && a->newline)
            return i;
        if (i > first && a->level != DFL_FMT_NO_BREAK && (best == 0 || width <= DFL_FMT_WIDTH) &&
            (a->level <= best_level || best == 0)) {
            best = i;
            best_level = a->level;
        }
        width += a->width + (a->space && i > first);
        if (width > DFL_FMT_WIDTH && best != 0)
            return best;
    }
    return atoms->atom.n;
}

void dfl_fmt_atoms_lay(const dfl_fmt_atoms *atoms, uint32_t indent, uint32_t hanging, dfl_fmt_lines *lines)
{
    for (size_t i = 0; i < atoms->atom.n;) {
        uint32_t column = i == 0 ? indent : hanging;
        size_t end = find_line_end(atoms, i, column);

        dfl_fmt_lines_begin(lines, column);
        for (size_t first = i; i < end; i++) {
            if (i > first && atoms->atom.at[i].space)
                dfl_fmt_lines_put(lines, " ", 1);
            dfl_fmt_lines_put(lines, atoms->atom.at[i].text, atoms->atom.at[i].len);
        }
    }
}
