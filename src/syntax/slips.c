#include "syntax/slips.h"

#include <stdlib.h>
#include <string.h>

bool dfl_slip_wants(const dfl_slip *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->expected[i], name) == 0)
            return true;
    return false;
}

static bool is_value(uint16_t kind)
{
    return kind == DFL_TOK_NUMBER || kind == DFL_TOK_QUANTITY || kind == DFL_TOK_STRING;
}

bool dfl_slip_is_name(uint16_t kind)
{
    return kind == DFL_TOK_IDENT || dfl_token_is_name(kind);
}

/* Whether `next` directly follows `now`. */
static bool is_joined(const dfl_slip *s)
{
    return s->f->next.span.start == s->f->now.span.end;
}

bool dfl_slip_mend(const dfl_slip *s, dfl_span at, const char *text, dfl_certainty certainty, const char *help)
{
    dfl_diag_help(s->p->sink, s->d, "%s", help);
    dfl_diag_fix(s->p->sink, s->d, at, text, certainty);
    return true;
}

bool dfl_slip_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *dfl_slip_statement(const dfl_slip *s, size_t *len)
{
    const dfl_source *source = s->p->source;
    const char *text = source->text + (s->f->statement.span.start - source->base);

    *len = 0;
    while (text[*len] != '\0' && text[*len] != ';' && !(text[*len] == '/' && text[*len + 1] == '/'))
        ++*len;
    return text;
}

dfl_span dfl_slip_place(const dfl_slip *s, size_t from, size_t to)
{
    uint32_t start = s->f->statement.span.start;

    return (dfl_span){ start + (uint32_t)from, start + (uint32_t)to };
}

bool dfl_slip_tell(const dfl_slip *s, const char *help)
{
    dfl_diag_help(s->p->sink, s->d, "%s", help);
    return true;
}

static dfl_span gap_before(const dfl_token *t)
{
    return (dfl_span){ t->span.start, t->span.start };
}

/* The place of the comma before a token, with only blanks between; an empty span if there is none. */
static dfl_span comma_before(const dfl_slip *s, const dfl_token *t)
{
    const dfl_source *source = s->p->source;
    uint32_t at = t->span.start;

    while (at > source->base && strchr(" \t\r\n", source->text[at - source->base - 1]) != NULL)
        at--;
    if (at == source->base || source->text[at - source->base - 1] != ',')
        return (dfl_span){ 0, 0 };
    return (dfl_span){ at - 1, at };
}

/* `clock : 1GHz`, `clock := 1GHz`, `clock => 1GHz`, `clock == 1GHz`, `clock 1GHz`. */
static bool help_assignment(const dfl_slip *s)
{
    static const char help[] = "a definition is written `name = value;`";
    dfl_span now = s->f->now.span;
    bool named = dfl_slip_is_name(s->before);

    if (s->now == '>' && s->before == '=' && s->f->before.span.end == now.start)
        return dfl_slip_mend(s, now, "", DFL_FIX_SURE, "a definition is written `name = value;`, with `=` alone");
    if (s->now == '=' && (s->next == '>' || s->next == '<') && is_joined(s) && dfl_slip_wants(s, "<="))
        return dfl_slip_mend(s, (dfl_span){ now.start, s->f->next.span.end }, s->next == '>' ? ">=" : "<=", DFL_FIX_MAYBE,
                    "comparisons are `<=` and `>=`");
    if (!dfl_slip_wants(s, "'='") || !named)
        return false;
    if (s->now == ':' && s->next == '=' && is_joined(s))
        return dfl_slip_mend(s, (dfl_span){ now.start, s->f->next.span.end }, "=", DFL_FIX_SURE, help);
    if (s->now == ':' || s->now == DFL_TOK_EQ)
        return dfl_slip_mend(s, now, "=", is_value(s->next) ? DFL_FIX_SURE : DFL_FIX_MAYBE, help);
    if (is_value(s->now))
        return dfl_slip_mend(s, gap_before(&s->f->now), "= ", DFL_FIX_SURE, help);
    return false;
}

/* Keywords that begin a statement, though they may be names. */
static bool is_opener(uint16_t kind)
{
    return kind == DFL_TOK_INPUT || kind == DFL_TOK_WEIGHT || kind == DFL_TOK_OUTPUT || kind == DFL_TOK_STATE ||
           kind == DFL_TOK_RANK || kind == DFL_TOK_LET || kind == DFL_TOK_APPLY || kind == DFL_TOK_REPEAT;
}

/* A comma for a semicolon: `size = 1MiB, energy = 1pJ/bit;`, `temporal m:64,` before `temporal`. A comma before a bracket. */
static bool help_comma(const dfl_slip *s)
{
    static const char help[] = "statements end in `;`, the parts of one statement are separated by `,`";
    dfl_span comma;

    if (s->now == ';' && s->before == '}')
        return dfl_slip_mend(s, s->f->now.span, "", DFL_FIX_SURE, "remove the `;`: none follows a `}`");
    if (s->now == s->before && (s->now == ';' || s->now == ','))
        return dfl_slip_mend(s, s->f->now.span, "", DFL_FIX_SURE,
                             s->now == ';' ? "one `;` ends a statement" : "one `,` is enough");
    if (s->before == ',' && (s->now == ')' || s->now == ']' || (s->now == '}' && s->f->in_set)))
        return dfl_slip_mend(s, s->f->before.span, "", DFL_FIX_SURE, "no `,` stands behind the last part");
    if (s->before == ',' && (s->now == '}' || (!dfl_slip_is_name(s->now) && s->f->now.sym != 0 && dfl_feed_starts_line(s->f))))
        return dfl_slip_mend(s, s->f->before.span, ";", DFL_FIX_SURE, help);
    if (!dfl_slip_is_name(s->before) || (comma = comma_before(s, &s->f->before)).end == 0)
        return false;
    if (((s->now == '=' || s->now == '{') && dfl_slip_wants(s, "';'")) || (is_opener(s->before) && dfl_slip_is_name(s->now)))
        return dfl_slip_mend(s, comma, ";", DFL_FIX_SURE, help);
    return false;
}

/* A statement that goes on behind its `;`: `temporal m:64; n:64;`. */
static bool help_continued(const dfl_slip *s)
{
    const dfl_feed *f = s->f;
    const char *word = f->last.kind == DFL_TOK_TEMPORAL ? "temporal " : f->last.kind == DFL_TOK_SPATIAL ? "spatial "
                       : f->last.kind == DFL_TOK_KEEP ? "keep " : NULL;
    bool fits = s->now == ';' || s->now == ':' || s->now == '/' || s->now == DFL_TOK_IN || s->now == DFL_TOK_ON;
    uint32_t from = f->last_end.end, to = f->statement.span.start;

    if (word == NULL || !fits || f->statement.span.start != f->before.span.start || s->statement != DFL_TOK_IDENT || from > to)
        return false;
    if (memchr(s->p->source->text + (from - s->p->source->base), '\n', to - from) == NULL)
        return dfl_slip_mend(s, f->last_end, ",", DFL_FIX_SURE, "one statement lists its parts with `,`");
    return dfl_slip_mend(s, gap_before(&f->statement), word, DFL_FIX_MAYBE, "every line of a mapping begins with its keyword");
}

/* `keep Z sram`, `keep A B in sram`, `keep A on sram`, `spatial m/4 in row`, `spatial m/4 row`. */
static bool help_place(const dfl_slip *s)
{
    bool keep = s->statement == DFL_TOK_KEEP;
    const char *word = keep ? "in" : "on";
    dfl_span now = s->f->now.span;

    if ((!keep && s->statement != DFL_TOK_SPATIAL) || !dfl_slip_wants(s, word))
        return false;
    if (s->now == (keep ? DFL_TOK_ON : DFL_TOK_IN))
        return dfl_slip_mend(s, now, word, DFL_FIX_SURE,
                             keep ? "a tensor is kept `in` a memory" : "loops are spread `on` an axis");
    if (s->now != DFL_TOK_IDENT)
        return false;
    if (keep && s->next == DFL_TOK_IN)
        return dfl_slip_mend(s, (dfl_span){ s->f->before.span.end, s->f->before.span.end }, ",", DFL_FIX_SURE,
                    "tensors are separated by `,`: `keep A, B in M;`");
    if (s->next == ';' || s->next == DFL_TOK_FRESH || s->next == DFL_TOK_WINDOW)
        return dfl_slip_mend(s, gap_before(&s->f->now), keep ? "in " : "on ", DFL_FIX_SURE,
                    keep ? "write the memory behind `in`: `keep Z in M;`" : "write the axis behind `on`: `spatial r/K on axis;`");
    return false;
}

/* `mapping for mm on s`, `mapping t of mm on s`, `mapping t on s for mm`, `mapping t for mm in s`, `mapping t { }`. */
static bool help_head(const dfl_slip *s)
{
    static const char help[] = "a mapping names its workload, then its system: `mapping t for W on S { }`";

    if (s->statement != DFL_TOK_MAPPING && s->statement != DFL_TOK_SWEEP)
        return false;
    if (s->now == DFL_TOK_FOR && s->before == s->statement && dfl_slip_wants(s, "a name"))
        return dfl_slip_mend(s, gap_before(&s->f->now), "t ", DFL_FIX_MAYBE, help);
    if (dfl_slip_wants(s, "for") && (s->now == DFL_TOK_OF || s->now == DFL_TOK_IN))
        return dfl_slip_mend(s, s->f->now.span, "for", DFL_FIX_SURE, help);
    if (dfl_slip_wants(s, "on") && (s->now == DFL_TOK_OF || s->now == DFL_TOK_IN || s->now == DFL_TOK_FOR))
        return dfl_slip_mend(s, s->f->now.span, "on", DFL_FIX_SURE, help);
    if (!dfl_slip_wants(s, "for") && !dfl_slip_wants(s, "on"))
        return false;
    return (s->now == '{' || s->now == DFL_TOK_ON || s->now == ';') && dfl_slip_tell(s, help);
}

/* `0...4`, `0..=4`, `0:4`, `range(4)`, `over m in 16;`. */
static bool help_range(const dfl_slip *s)
{
    static const char help[] = "a range is written `0..4`; its end is exclusive: this is 0, 1, 2 and 3";
    dfl_span now = s->f->now.span;

    if (s->now == '=' && s->before == DFL_TOK_DOTDOT) {
        const dfl_token *next = &s->f->next;
        const char *digits = s->p->source->text + (next->span.start - s->p->source->base);
        size_t len = next->span.end - next->span.start;

        if (s->next != DFL_TOK_NUMBER || len > 9 || strspn(digits, "0123456789") < len)
            return dfl_slip_tell(s, help);
        return dfl_slip_mend(s, (dfl_span){ now.start, next->span.end },
                    dfl_arena_printf(s->p->arena, "%ld", strtol(digits, NULL, 10) + 1), DFL_FIX_SURE,
                    "the end of a range is exclusive, so the range needs an end that is larger by one");
    }
    if (!dfl_slip_wants(s, ".."))
        return false;
    if (s->now == DFL_TOK_ELLIPSIS)
        return dfl_slip_mend(s, now, "..", DFL_FIX_SURE, help);
    if (s->now == ':' && s->before != ')')
        return dfl_slip_mend(s, now, "..", DFL_FIX_MAYBE, help);
    if (s->statement == DFL_TOK_OVER && (s->now == ';' || s->now == ','))
        return dfl_slip_tell(s, "an axis is over a range, `1..9` (8 is its last value), or over a set, `{4, 8}`");
    return (s->now == '{' || s->now == ':') && s->statement == DFL_TOK_FOR && dfl_slip_tell(s, help);
}

/* A bracket of the wrong kind, `A[m, k)`. */
static bool help_bracket(const dfl_slip *s)
{
    uint16_t open = s->f->open.n > 0 ? s->f->open.at[s->f->open.n - 1].kind : 0;
    dfl_span end = { s->f->before.span.end, s->f->before.span.end };

    if (open == '[' && (s->now == ')' || s->now == '}') && dfl_slip_wants(s, "']'"))
        return dfl_slip_mend(s, s->f->now.span, "]", DFL_FIX_SURE, "close it with `]`");
    if (open == '(' && (s->now == ']' || s->now == '}') && dfl_slip_wants(s, "')'"))
        return dfl_slip_mend(s, s->f->now.span, ")", DFL_FIX_SURE, "close it with `)`");
    if (s->now == ';' && open == '[' && dfl_slip_wants(s, "']'"))
        return dfl_slip_mend(s, end, "]", DFL_FIX_MAYBE, "close it with `]`");
    if (s->now == ';' && open == '(' && dfl_slip_wants(s, "')'"))
        return dfl_slip_mend(s, end, ")", DFL_FIX_MAYBE, "close it with `)`");
    return false;
}

/* A misspelt keyword inside a statement: `keep A im sram`. */
static bool help_word(const dfl_slip *s)
{
    dfl_sym words[8], near;
    size_t n = 0;

    if (s->now != DFL_TOK_IDENT || dfl_slip_wants(s, "a name"))
        return false;
    for (size_t i = 0; i < s->n && n < sizeof words / sizeof words[0]; i++)
        if (s->expected[i][0] >= 'a' && s->expected[i][0] <= 'z' && strchr(s->expected[i], ' ') == NULL)
            words[n++] = dfl_intern_z(s->p->names, s->expected[i]);
    near = dfl_suggest(s->p->names, dfl_sym_text(s->p->names, s->f->now.sym), words, n);
    if (near == 0)
        return false;
    dfl_diag_fix(s->p->sink, s->d, s->f->now.span, dfl_sym_text(s->p->names, near), DFL_FIX_MAYBE);
    return true;
}

bool dfl_slip_help(const dfl_slip *s)
{
    return help_continued(s) || help_comma(s) || help_range(s) || help_assignment(s) || help_place(s) || help_head(s) ||
           help_bracket(s) || help_word(s);
}
