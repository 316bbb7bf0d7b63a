/* Feeds the parser, and repairs missing `;`, `{` and `}`. */
#include "syntax/parse.h"

#include <string.h>

#include "support/strbuf.h"
#include "syntax/feed.h"

enum {
    MOST_REPORTS = 256,   /* reports after which the parser skips the rest of the file */
    TOKENS_PER_POLL = 64, /* tokens per poll of the budget: a poll costs about as much as a token */
};

void dfl_parse_too_deep(dfl_parse *p, dfl_span at)
{
    dfl_diag *d;

    if (p->too_deep)
        return;
    p->too_deep = true;
    d = dfl_report(p->sink, DFL_SYNTAX_TOO_DEEP, (dfl_span){ at.start, at.end > at.start ? at.start + 1 : at.end },
                   "nested more than %d deep", (int)DFL_MAX_DEPTH);
    dfl_diag_help(p->sink, d, "name a part of it with `let` or in a declaration of its own");
}

/* ---- doc comments --------------------------------------------------------------------------------------------- */

/* Number of the first doc line whose token starts at `position` or behind it. */
static size_t first_doc(const dfl_lexer *l, uint32_t position)
{
    size_t low = 0, high = l->docs.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->docs.at[middle].before != 0 && l->docs.at[middle].before < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *dfl_parse_doc(dfl_parse *p, uint32_t position)
{
    dfl_lexer *l = &p->feed->lexer;
    const dfl_doc_line *last = l->docs.n > 0 ? &l->docs.at[l->docs.n - 1] : NULL;
    size_t first;
    dfl_strbuf out;

    if (last == NULL || (last->before != 0 && last->before < position))
        return NULL;
    first = first_doc(l, position);
    if (first == l->docs.n || l->docs.at[first].before != position)
        return NULL;
    dfl_strbuf_init(&out, p->arena);
    for (size_t i = first; i < l->docs.n && l->docs.at[i].before == position; i++) {
        const char *text = p->source->text + (l->docs.at[i].span.start - p->source->base) + 3;
        const char *end = p->source->text + (l->docs.at[i].span.end - p->source->base);

        text += text < end && *text == ' ';
        while (end > text && strchr(" \t\r\f\v", end[-1]) != NULL && end[-1] != 0) /* trailing white space */
            end--;
        if (i > first)
            dfl_strbuf_char(&out, '\n');
        dfl_strbuf_add(&out, text, (size_t)(end - text));
        l->docs.at[i].used = true;
    }
    return out.text;
}

static void collect_stray_docs(const dfl_parse *p, dfl_syntax *syntax)
{
    const dfl_lexer *l = &p->feed->lexer;
    dfl_span *spans = DFL_NEW_ARRAY(p->arena, dfl_span, l->docs.n);
    uint32_t n = 0;

    for (size_t i = 0; i < l->docs.n; i++) {
        bool follows = i > 0 && l->docs.at[i - 1].before == l->docs.at[i].before;

        if (!l->docs.at[i].used && !follows)
            spans[n++] = l->docs.at[i].span;
    }
    syntax->stray_docs = spans;
    syntax->n_stray_docs = n;
}

/* ---- repairs -------------------------------------------------------------------------------------------------- */

/* Traits of a token kind that repairs use. */
enum {
    ENDS_BRACES = 1,           /* `}` or the end of the file */
    STARTS_STATEMENT = 2,      /* token that may follow a missing `;` */
    STARTS_DECLARATION = 4,
    BRACKET = 8,               /* a bracket or a `;`: the tokens for dfl_feed_bracket */
};

static const uint8_t traits_by_kind[] = {
    [DFL_TOK_END] = ENDS_BRACES, ['}'] = ENDS_BRACES | BRACKET,
    ['{'] = BRACKET, ['('] = BRACKET, ['['] = BRACKET, [')'] = BRACKET, [']'] = BRACKET, [';'] = BRACKET,
#define BOTH (STARTS_STATEMENT | STARTS_DECLARATION)
    [DFL_TOK_WORKLOAD] = BOTH, [DFL_TOK_SYSTEM] = BOTH, [DFL_TOK_MAPPING] = BOTH, [DFL_TOK_SWEEP] = BOTH,
    [DFL_TOK_IMPORT] = BOTH, [DFL_TOK_PARAM] = BOTH, [DFL_TOK_OP] = BOTH,
#undef BOTH
#define WORD(token) [DFL_TOK_##token] = STARTS_STATEMENT
    WORD(OPTION), WORD(LET), WORD(RANK), WORD(INPUT), WORD(WEIGHT), WORD(OUTPUT), WORD(STATE), WORD(APPLY), WORD(REPEAT),
    WORD(MEMORY), WORD(COMPUTE), WORD(NETWORK), WORD(ARRAY), WORD(ELEMENT), WORD(USE), WORD(TEMPORAL), WORD(SPATIAL),
    WORD(KEEP), WORD(FUSE), WORD(PIPELINE), WORD(RECOMPUTE), WORD(EACH), WORD(FOR), WORD(IF), WORD(ON), WORD(REQUIRE),
    WORD(EXPECT), WORD(ASSUME), WORD(MINIMIZE), WORD(PARETO), WORD(OVER), WORD(IDENT), WORD(ELLIPSIS),
#undef WORD
};

static inline uint8_t traits_of(int kind)
{
    return (size_t)kind < sizeof traits_by_kind ? traits_by_kind[kind] : 0;
}

/* Whether the parser accepts `now` and the next token. */
static bool takes_now(const dfl_feed *f, const dfl_parser_state *ps)
{
    const int kinds[] = { f->now.kind, f->next.kind };

    return dfl_parser_accepts(ps, kinds, f->now.kind == DFL_TOK_END || f->next.kind == DFL_TOK_DFL_YYerror ? 1 : 2);
}

/* Whether a `;` may be missing before `now`: the token starts a line, closes a brace or ends the file. */
static inline bool follows_statement(const dfl_feed *f, uint8_t traits)
{
    return (traits & (ENDS_BRACES | STARTS_STATEMENT)) != 0 && f->statement.kind != DFL_TOK_END &&
           ((traits & ENDS_BRACES) != 0 || dfl_feed_starts_line(f));
}

/* Whether a `;` is missing before `now`: the parser cannot go on without it, and could with it. */
static __attribute__((noinline)) bool lacks_semicolon(const dfl_feed *f, const dfl_parser_state *ps)
{
    const int repaired[] = { ';', f->now.kind, f->next.kind };
    bool ends = f->now.kind == '}' || f->now.kind == DFL_TOK_END;

    if (dfl_parser_recovers(ps) || takes_now(f, ps))
        return false;
    return dfl_parser_accepts(ps, repaired, ends ? f->now.kind == '}' || f->n_braces == 0 ? 2 : 1 : 3) ||
           (!ends && dfl_parser_accepts(ps, repaired, 2) && !dfl_parser_accepts(ps, repaired + 1, 1));
}

static int give(const dfl_token *token, DFL_YYSTYPE *value, dfl_span *at)
{
    value->name = (dfl_ast_name){ token->sym, token->span };
    *at = token->span;
    return token->kind;
}

/* Inserts a token that the text lacks; its place is right behind the previous token. */
static int give_repair(const dfl_parse *p, uint16_t kind, DFL_YYSTYPE *value, dfl_span *at)
{
    uint32_t gap = p->feed->before.span.end;

    return give(&(dfl_token){ .kind = kind, .span = { gap, gap } }, value, at);
}

/* Whether a comment at `text`, behind blanks, is meant as a quotient, as in `M // 2, n = N;`: it begins with one word or number
   and ends with `;`. */
static bool is_quotient(const char *text)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const char *end;
    size_t len;

    text += strspn(text, " \t");
    if (strncmp(text, "//", 2) != 0 || text[2] == '/')
        return false;
    end = text + strcspn(text, "\r\n");
    text += 2 + strspn(text + 2, " \t");
    len = strspn(text, word);
    return len > 0 && text[len] != '\0' && strchr(",;)*+-", text[len]) != NULL && end[-1] == ';';
}

static __attribute__((noinline)) void repair_semicolon(dfl_parse *p)
{
    dfl_span gap = { p->feed->before.span.end, p->feed->before.span.end };
    dfl_diag *d = dfl_report(p->sink, DFL_SYNTAX_NO_SEMICOLON, gap, "missing `;`");

    p->n_reports++;
    p->n_repairs++;
    dfl_diag_here(p->sink, d, "the statement ends here");
    if (is_quotient(p->source->text + (gap.start - p->source->base))) {
        dfl_diag_help(p->sink, d, "`//` begins a comment; a quotient is `floor(a / b)` or `ceil(a / b)`");
    } else {
        dfl_diag_help(p->sink, d, "add `;`");
        dfl_diag_fix(p->sink, d, gap, ";", DFL_FIX_SURE);
    }
    p->feed->statement.kind = DFL_TOK_END;
}

/* Whether the head of a declaration or part lacks its `{` before `now`, a statement that starts the next line. */
static __attribute__((noinline)) bool lacks_opening(const dfl_feed *f, const dfl_parser_state *ps)
{
    const int repaired[] = { '{', f->now.kind, f->next.kind };

    return !dfl_parser_recovers(ps) && !takes_now(f, ps) && dfl_parser_accepts(ps, repaired, 3);
}

static inline bool may_lack_opening(const dfl_feed *f, uint8_t traits)
{
    const uint16_t head = f->statement.kind;

    return (traits & STARTS_STATEMENT) != 0 && f->before.kind != '}' && f->before.kind != '{' && f->before.kind != ';' &&
           (head == DFL_TOK_WORKLOAD || head == DFL_TOK_SYSTEM || head == DFL_TOK_MAPPING || head == DFL_TOK_MEMORY ||
            head == DFL_TOK_COMPUTE || head == DFL_TOK_NETWORK || head == DFL_TOK_ARRAY || head == DFL_TOK_ELEMENT) &&
           dfl_feed_starts_line(f);
}

/* Opens the braces behind a head. Their place is that of the head, so that the indentation of their `}` is judged by it. */
static __attribute__((noinline)) void repair_opening(dfl_parse *p)
{
    dfl_feed *f = p->feed;
    dfl_span gap = { f->before.span.end, f->before.span.end };
    dfl_diag *d = dfl_report(p->sink, DFL_SYNTAX_UNEXPECTED, gap, "missing `{`");

    p->n_reports++;
    p->n_repairs++;
    dfl_diag_help(p->sink, d, "add `{`");
    dfl_diag_fix(p->sink, d, gap, " {", DFL_FIX_SURE);
    f->n_braces++;
    DFL_PUSH(f->lexer.arena, &f->open, ((dfl_token){ .kind = '{', .span = f->statement.span }));
    f->statement.kind = f->last.kind = DFL_TOK_END;
}

/* Number of `}` that may be missing before `now`: all at the end of the file, else those whose lines are indented at least as
   far as `now`, a statement that starts a line. Zero where other brackets are open. */
static inline uint32_t count_missing(const dfl_feed *f, uint8_t traits)
{
    if (f->n_braces == 0 || f->n_braces != f->open.n || f->n_braces > DFL_MAX_DEPTH)
        return 0;
    if (f->now.kind == DFL_TOK_END)
        return f->n_braces;
    if ((traits & STARTS_STATEMENT) == 0 || !dfl_feed_starts_line(f) ||
        ((traits & STARTS_DECLARATION) == 0 && dfl_feed_starts_column(f))) /* statements in the first column show nothing */
        return 0;
    return dfl_feed_count_deeper(f);
}

/* Whether `n` `}` are missing before `now`: the parser cannot go on without them, and could with them. */
static __attribute__((noinline)) bool lacks_braces(const dfl_feed *f, const dfl_parser_state *ps, uint32_t n)
{
    int kinds[DFL_MAX_DEPTH + 3];
    bool ends = f->now.kind == DFL_TOK_END;

    if (dfl_parser_recovers(ps) || (!ends && takes_now(f, ps)))
        return false;
    for (uint32_t i = 0; i < n; i++)
        kinds[i] = '}';
    kinds[n++] = f->now.kind;
    if (!ends)
        kinds[n++] = f->next.kind;
    return dfl_parser_accepts(ps, kinds, n);
}

/* Reports that the `}` of the innermost brace is missing, or of the brace to which the indentation of a later `}` points. */
static __attribute__((noinline)) void repair_braces(dfl_parse *p)
{
    dfl_feed *f = p->feed;
    bool stolen = f->unclosed.kind != 0;
    dfl_token open = stolen ? f->unclosed : f->open.at[f->open.n - 1];
    uint32_t end = stolen ? f->last_inside.end : f->before.span.end;
    dfl_diag *d = dfl_report(p->sink, DFL_SYNTAX_UNEXPECTED, open.span, "missing `}`");

    p->n_reports++;
    dfl_diag_here(p->sink, d, "this `{` is never closed");
    if (stolen)
        dfl_diag_label(p->sink, d, f->stolen.span, "this `}` closes it, but is indented like a brace around it");
    else if (f->now.kind != DFL_TOK_END)
        dfl_diag_label(p->sink, d, f->now.span, "this stands outside of the braces");
    dfl_diag_help(p->sink, d, "add `}`");
    dfl_diag_fix(p->sink, d, (dfl_span){ end, end },
                 dfl_arena_printf(p->arena, "\n%*s}", (int)dfl_feed_indent(f, &open), ""), DFL_FIX_MAYBE);
    f->unclosed.kind = 0;
}

/* ---- feeding -------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) bool polled(dfl_parse *p)
{
    dfl_budget *budget = dfl_arena_budget(p->arena);

    return budget == NULL || dfl_budget_spend(budget, TOKENS_PER_POLL) || dfl_report_stop(p->sink, budget);
}

/* Skips the braces behind a broken head; a `;` ends the head and its body. */
static __attribute__((noinline)) int skip_braces(dfl_parse *p, DFL_YYSTYPE *value, dfl_span *at)
{
    dfl_feed *f = p->feed;

    dfl_feed_skip_braces(f);
    if (f->next.kind == ';')
        dfl_feed_step(f);
    f->statement.kind = DFL_TOK_END;
    f->before = f->now;
    p->next = DFL_NEXT_TOKEN;
    return give_repair(p, ';', value, at);
}

/* Counts a bracket that the parser has taken. False for the brace of a head that turned out to be broken. */
static inline bool count_bracket(dfl_parse *p, const dfl_parser_state *ps)
{
    dfl_feed *f = p->feed;

    if (f->now.kind == '{' && p->n_reports != p->reports_before && dfl_parser_recovers(ps))
        return false;
    dfl_feed_bracket(f);
    if (f->open.n > DFL_MAX_DEPTH)
        dfl_parse_too_deep(p, f->now.span);
    return true;
}

/* Returns the repairs before a token first, one per call: a `;` or a `{`, then each missing `}`, then the token. */
int dfl_parse_next(dfl_parse *p, const dfl_parser_state *ps, DFL_YYSTYPE *value, dfl_span *at)
{
    dfl_feed *f = p->feed;
    uint32_t missing;
    uint8_t traits;

    if (p->next == DFL_NEXT_COUNTED) {
        if (f->statement.kind == DFL_TOK_END)
            f->statement = f->now;
        if ((traits_of(f->now.kind) & BRACKET) != 0 && !count_bracket(p, ps))
            return skip_braces(p, value, at);
    }
    if (p->next == DFL_NEXT_COUNTED || p->next == DFL_NEXT_TOKEN) {
        if (p->too_deep || p->n_reports >= MOST_REPORTS || (++p->n_tokens % TOKENS_PER_POLL == 0 && !polled(p)))
            return DFL_NO_TOKEN;
        dfl_feed_step(f);
        p->reports_before = p->n_reports;
        if (f->now.kind == '{' && dfl_parser_recovers(ps))
            return skip_braces(p, value, at);
        if (follows_statement(f, traits_of(f->now.kind)) && lacks_semicolon(f, ps)) {
            repair_semicolon(p);
            p->next = DFL_NEXT_REPAIRED;
            return give_repair(p, ';', value, at);
        }
        if (may_lack_opening(f, traits_of(f->now.kind)) && lacks_opening(f, ps)) {
            repair_opening(p);
            p->next = DFL_NEXT_REPAIRED;
            return give_repair(p, '{', value, at);
        }
    }
    traits = traits_of(f->now.kind);
    if (p->next != DFL_NEXT_CLOSING && (missing = count_missing(f, traits)) > 0 && lacks_braces(f, ps, missing)) {
        repair_braces(p);
        p->next = DFL_NEXT_CLOSING;
        p->n_missing = missing;
    }
    if (p->next == DFL_NEXT_CLOSING && p->n_missing > 0) {
        p->n_missing--;
        f->open.n--;
        f->n_braces--;
        return give_repair(p, '}', value, at);
    }
    p->next = DFL_NEXT_COUNTED;
    return give(&f->now, value, at);
}

static void check_edition(const dfl_parse *p)
{
    if (!p->has_edition) /* saves a walk over all declarations, which takes time in a long file */
        return;
    for (const dfl_ast_node *n = p->file->items; n != NULL; n = n->next) {
        if (n->kind != DFL_AST_EDITION)
            continue;
        if (n->value->len != 1 || n->value->text[0] != '1')
            dfl_diag_help(p->sink, dfl_report(p->sink, DFL_SYNTAX_EDITION, n->value->span, "unknown edition"),
                          "this version knows edition 1");
        else if (n != p->file->items)
            dfl_diag_help(p->sink, dfl_report(p->sink, DFL_SYNTAX_EDITION, n->span, "the edition comes too late"),
                          "put it before all declarations, once");
    }
}

dfl_syntax dfl_syntax_parse(dfl_arena *arena, dfl_intern *names, dfl_sink *sink, const dfl_source *source)
{
    size_t before = dfl_sink_errors(sink);
    dfl_feed feed;
    dfl_parse p = { .arena = arena, .names = names, .sink = sink, .source = source, .feed = &feed,
                    .file = DFL_NEW(arena, dfl_ast_file) };
    dfl_syntax syntax = { .source = source, .file = p.file };

    dfl_feed_open(&feed, arena, names, sink, source);
    dfl_yyparse(&p);
    dfl_lexer_close(&feed.lexer);
    check_edition(&p);
    p.file->n_nodes = p.n_nodes;
    p.file->n_exprs = p.n_exprs;
    syntax.ok = dfl_sink_errors(sink) == before;
    syntax.whole = dfl_sink_errors(sink) - before == p.n_repairs;
    if (syntax.ok)
        collect_stray_docs(&p, &syntax);
    return syntax;
}
