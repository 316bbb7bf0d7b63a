/* Words the report, "expected `;` or `,` after `m`, found `}`", and its help. */
#include "syntax/unexpected.h"

#include <string.h>

#include "support/strbuf.h"
#include "syntax/feed.h"
#include "syntax/habits.h"
#include "syntax/notation.h"
#include "syntax/slips.h"
#include "support/limits.h"

/* ---- what was expected ---------------------------------------------------------------------------------------- */

/* The allowed tokens by their names in the grammar, and the fewer words that the message shows for them. */
typedef struct {
    const char *const *all;
    size_t n;
    const char *shown[DFL_SHOWN_TOKENS];
    size_t n_shown;
    bool too_many;
} wanted;

static bool wants(const wanted *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->all[i], name) == 0)
            return true;
    return false;
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_keyword(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z' && strncmp(name, "a ", 2) != 0 && strncmp(name, "end ", 4) != 0;
}

static void show(wanted *w, const char *word)
{
    if (w->n_shown == DFL_SHOWN_TOKENS)
        w->too_many = true;
    else
        w->shown[w->n_shown++] = word;
}

/* Chooses the words of the message: first ends of statements, then names and values, then continuations. */
static void fold(wanted *w)
{
    static const char *const first[] = { "';'", "','", "')'", "']'", "'}'", "'='", "'{'", "':'" };
    static const char *const operators[] = { "'+'", "'-'", "'*'", "'/'", "'<'", "'>'", "<=", ">=", "==", "!=", "&&", "||" };
    static const char *const values[] = { "a name", "a number", "a quantity", "a string", "'('", "'-'", "gather" };
    bool expression = wants(w, "a number") && wants(w, "'('"), operation = wants(w, "'*'");
    bool longer = wants(w, "'.'") && w->n > 1;
    size_t keywords = 0;

    for (size_t i = 0; i < w->n; i++)
        keywords += is_keyword(w->all[i]) && !is_among(w->all[i], values, sizeof values / sizeof *values);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (wants(w, first[i]))
            show(w, first[i]);
    if (keywords > 3)
        show(w, wants(w, "workload") ? "a declaration" : "a statement");
    if (expression)
        show(w, "an expression");
    for (size_t i = 0; i < w->n; i++) {
        const char *name = w->all[i];

        if (is_among(name, first, sizeof first / sizeof *first) || (keywords > 3 && (is_keyword(name) || name[0] == 'a')) ||
            (expression && is_among(name, values, sizeof values / sizeof *values)) ||
            (operation && is_among(name, operators, sizeof operators / sizeof *operators)) ||
            (longer && (strcmp(name, "'.'") == 0 || strcmp(name, "'('") == 0 || strcmp(name, "'['") == 0)) ||
            strcmp(name, "...") == 0 || (w->n > 1 && strcmp(name, "end of file") == 0))
            continue;
        show(w, name);
    }
    if (operation)
        show(w, "an operator");
}

static void print_wanted(dfl_strbuf *out, const wanted *w)
{
    for (size_t i = 0; i < w->n_shown; i++) {
        const char *name = w->shown[i];

        if (i > 0)
            dfl_strbuf_z(out, i + 1 == w->n_shown ? " or " : ", ");
        if (name[0] == '\'')
            dfl_strbuf_printf(out, "`%c`", name[1]);
        else if (strncmp(name, "a ", 2) == 0 || strncmp(name, "an ", 3) == 0 || strncmp(name, "end ", 4) == 0)
            dfl_strbuf_z(out, name);
        else
            dfl_strbuf_printf(out, "`%s`", name);
    }
}

/* ---- help ----------------------------------------------------------------------------------------------------- */

static const char *text_of(const dfl_parse *p, const dfl_token *t, size_t *len)
{
    *len = t->span.end - t->span.start;
    return p->source->text + (t->span.start - p->source->base);
}

static bool is_text(const dfl_parse *p, const dfl_token *t, const char *text)
{
    size_t len;
    const char *have = text_of(p, t, &len);

    return len == strlen(text) && memcmp(have, text, len) == 0;
}

/* Help for a unit behind a blank, `40 GB`. */
static bool help_unit(dfl_parse *p, dfl_diag *d)
{
    const dfl_feed *f = p->feed;
    size_t len, number_len;
    const char *unit = text_of(p, &f->now, &len), *number = text_of(p, &f->before, &number_len);

    if (f->before.kind != DFL_TOK_NUMBER || f->now.kind != DFL_TOK_IDENT || !dfl_lex_is_unit(unit, len))
        return false;
    dfl_diag_help(p->sink, d, "a unit stands directly behind its number: `%.*s%.*s`", (int)(number_len < 40 ? number_len : 40),
                  number, (int)len, unit);
    dfl_diag_fix(p->sink, d, (dfl_span){ f->before.span.end, f->now.span.start }, "", DFL_FIX_SURE);
    return true;
}

/* Help for a `|` in a wrong place. */
static bool help_bar(dfl_parse *p, dfl_diag *d)
{
    if (p->feed->now.kind == '|')
        dfl_diag_help(p->sink, d, "write `||` for \"or\"; `|` separates the sets of `recompute none | A, B | forward;`");
    return p->feed->now.kind == '|';
}

/* Help for a `?` or `...` in a wrong place or with a wrong suffix; NULL for any other mistake. */
static const char *help_hole(const dfl_parse *p, const wanted *w)
{
    const dfl_feed *f = p->feed;
    const uint16_t now = f->now.kind, before = f->before.kind, statement = f->statement.kind;

    if (now == DFL_TOK_ELLIPSIS && (statement == DFL_TOK_TEMPORAL || statement == DFL_TOK_SPATIAL || statement == DFL_TOK_KEEP))
        return "`...;` is a statement of its own and stands for any lines; inside this statement write `?`";
    if (before == '?' && (now == ':' || now == '/'))
        return statement == DFL_TOK_KEEP
                   ? "a tensor in a `keep` has no tile size: write `keep ? in M;`"
                   : "`?` alone stands for any loops with any tile sizes; an open tile size of a written loop is `r:?` or `r/?`";
    if (now == DFL_TOK_ON && statement == DFL_TOK_TEMPORAL)
        return "loops over the instances of an axis are `spatial r/K on axis;`, or `spatial ? on axis;`";
    if (before == '?' && now == ';' && statement == DFL_TOK_SPATIAL)
        return "write the axis: `spatial ? on axis;`";
    if (now != '?' || before == '?')
        return NULL;
    if (before == DFL_TOK_IN || before == DFL_TOK_ON)
        return "memories, axes and units cannot be open alone; open the whole line: `...;`";
    if (before == DFL_TOK_PIPELINE || (wants(w, "'}'") && !wants(w, "temporal")))
        return "write `fuse ?;` to leave branches open";
    if (wants(w, "'/'"))
        return "an open tile size is written `r:?`, an open number of tiles `r/?`";
    if (statement == DFL_TOK_END || wants(w, "temporal"))
        return "`...;` stands for any lines; `?` stands inside a line: `temporal ?;`, `temporal r:?;`, `keep ? in M;`";
    return "a hole can stand only in a line of a mapping; write a value here";
}

/* Help for syntax of other languages; NULL for any other mistake. */
static const char *help_habit(const dfl_parse *p, const wanted *w)
{
    const dfl_feed *f = p->feed;
    uint16_t now = f->now.kind, before = f->before.kind;
    const char *text;

    if (now == '=' && (before == '-' || before == '*' || before == '/'))
        return "reductions are `+=`, `max=` and `min=`";
    if (now == '=' && (before == '<' || before == '>'))
        return "write `<=` and `>=` without a blank";
    if (now == '=' && before == '=')
        return "a definition has one `=`; equality is `==`";
    if (now == '*' && before == '*')
        return "powers are `pow(a, b)`";
    if (now == '>' && (before == '-' || before == '='))
        return "DFL has no arrows; a comparison is `>` or `>=`";
    if ((now == DFL_TOK_EQ || now == '=') && wants(w, "'='") && before != DFL_TOK_IDENT)
        return "a definition is written `name = value;`";
    if ((now == DFL_TOK_WITHIN || now == DFL_TOK_EXACTLY) && wants(w, "from"))
        return "a check is `a exactly b` or `a within p of b`, not both";
    if ((text = help_hole(p, w)) != NULL)
        return text;
    if ((now == ':' || now == '=') && wants(w, "'/'") && (now == ':' || wants(w, "':'")))
        return "`r:T` makes tiles of `T` elements, and `r/K` makes `K` tiles";
    if (now == '(' && before == DFL_TOK_FOR)
        return "a `for` loop is written without parentheses: `for k in 0..n { }`";
    if (is_text(p, &f->before, "int") || is_text(p, &f->before, "float") || is_text(p, &f->before, "double") ||
        is_text(p, &f->before, "const") || is_text(p, &f->before, "def") || is_text(p, &f->before, "var"))
        return "values are declared without a type: `let name = value;`";
    if ((now == '<' || now == '>' || now == DFL_TOK_LE || now == DFL_TOK_GE || now == DFL_TOK_EQ || now == DFL_TOK_NE) &&
        wants(w, "&&"))
        return "comparisons do not chain: write `a < b && b < c`";
    return NULL;
}

/* Whether a token is a keyword that cannot be a name. */
static bool is_reserved(const dfl_parse *p, const dfl_token *t)
{
    size_t len;
    const char *text = text_of(p, t, &len);

    return t->kind != DFL_TOK_IDENT && len > 0 && text[0] >= 'a' && text[0] <= 'z' && t->sym != 0 &&
           !dfl_token_is_name(t->kind);
}

static dfl_slip slip_of(dfl_parse *p, dfl_diag *d, const char *const *expected, size_t n)
{
    const dfl_feed *f = p->feed;

    return (dfl_slip){ .p = p, .d = d, .expected = expected, .n = n, .f = f, .before = f->before.kind, .now = f->now.kind,
                       .next = f->next.kind, .statement = f->statement.kind };
}

static void help(dfl_parse *p, dfl_diag *d, const wanted *w)
{
    const dfl_feed *f = p->feed;
    const dfl_slip slip = slip_of(p, d, w->all, w->n);
    const char *text;

    if (help_unit(p, d) || help_bar(p, d) || dfl_notation_help(&slip) || dfl_slip_help(&slip) || dfl_habit_help(&slip))
        return;
    if ((text = help_habit(p, w)) != NULL)
        dfl_diag_help(p->sink, d, "%s", text);
    else if (wants(w, "a name") && is_reserved(p, &f->now))
        dfl_diag_help(p->sink, d, "%s is a keyword; choose another name",
                      dfl_feed_shown(p->arena, p->source, &f->now));
}

/* Labels the bracket that is still open at the end of the statement. */
static void label_open(dfl_parse *p, dfl_diag *d)
{
    const dfl_feed *f = p->feed;
    const dfl_token *open = f->open.n > 0 ? &f->open.at[f->open.n - 1] : NULL;
    bool ends = f->now.kind == ';' || f->now.kind == '}' || f->now.kind == '{' || f->now.kind == DFL_TOK_END ||
                f->now.kind == ')' || f->now.kind == ']';

    if (open != NULL && ends && (open->kind != '{' || f->now.kind == DFL_TOK_END))
        dfl_diag_label(p->sink, d, open->span, "this `%c` is not closed", (int)open->kind);
}

void dfl_parse_unexpected(dfl_parse *p, dfl_span at, const char *const *expected, size_t n)
{
    const dfl_feed *f = p->feed;
    const dfl_slip slip = slip_of(p, NULL, expected, n);
    wanted w = { .all = expected, .n = n };
    dfl_strbuf text;
    dfl_diag *d;

    p->n_reports++;
    if (dfl_habit_report(&slip))
        return;
    fold(&w);
    dfl_strbuf_init(&text, p->arena);
    if (w.n_shown > 0 && !w.too_many) {
        dfl_strbuf_z(&text, "expected ");
        print_wanted(&text, &w);
        if (f->before.span.end > f->before.span.start)
            dfl_strbuf_printf(&text, " after %s", dfl_feed_shown(p->arena, p->source, &f->before));
        dfl_strbuf_printf(&text, ", found %s", dfl_feed_shown(p->arena, p->source, &f->now));
    } else {
        dfl_strbuf_printf(&text, "unexpected %s", dfl_feed_shown(p->arena, p->source, &f->now));
    }
    d = dfl_report(p->sink, DFL_SYNTAX_UNEXPECTED, at, "%s", text.text);
    label_open(p, d);
    help(p, d, &w);
    if (f->open.n == 0 && f->early.kind != 0) {
        dfl_diag_label(p->sink, d, f->early.span, "this `}` ends the declaration, but is indented like a brace inside of it");
        p->feed->early.kind = 0;
    }
    if (f->now.kind == '(' && f->before.kind == DFL_TOK_FOR) /* `for (i = 0; i < 4; i++)`: its `;` end no statement */
        dfl_feed_skip_parentheses(p->feed);
}
