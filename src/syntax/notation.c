#include "syntax/notation.h"

#include <string.h>

/* Whether the present token directly follows the one before, and the next one the present one. */
static bool follows(const dfl_slip *s)
{
    return s->f->now.span.start == s->f->before.span.end;
}

static bool is_followed(const dfl_slip *s)
{
    return s->f->next.span.start == s->f->now.span.end;
}

/* The place of the present and the next token. */
static dfl_span both(const dfl_slip *s)
{
    return (dfl_span){ s->f->now.span.start, s->f->next.span.end };
}

static const char *text_at(const dfl_slip *s, uint32_t at)
{
    return s->p->source->text + (at - s->p->source->base);
}

/* Whether a word is one of `words`, which stand between blanks. */
static bool is_word(const dfl_slip *s, const char *word, size_t len, const char *words)
{
    return len > 0 && len < 32 && strstr(words, dfl_arena_printf(s->p->arena, " %.*s ", (int)len, word)) != NULL;
}

static bool is_now(const dfl_slip *s, const char *words)
{
    return is_word(s, text_at(s, s->f->now.span.start), s->f->now.span.end - s->f->now.span.start, words);
}

static bool begins_statement(const dfl_slip *s)
{
    return dfl_slip_wants(s, "workload") || dfl_slip_wants(s, "temporal") || dfl_slip_wants(s, "memory") ||
           dfl_slip_wants(s, "rank");
}

/* ---- comments ------------------------------------------------------------------------------------------------- */

/* Whether the token stands behind a comment that contains another start of one: comments do not nest. */
static bool follows_nested(const dfl_slip *s)
{
    const char *start = s->p->source->text, *at = text_at(s, s->f->now.span.start);
    bool inner = false;

    while (at > start && dfl_slip_is_blank(at[-1]))
        at--;
    if (at - start < 4 || at[-1] != '/' || at[-2] != '*')
        return false;
    for (at -= 3; at > start && !(at[-1] == '*' && at[0] == '/'); at--) {
        if (at[-1] != '/' || at[0] != '*')
            continue;
        if (inner)
            return true;
        inner = true;
    }
    return false;
}

/* `-- text`, `"""text"""`, a comment in a comment. */
static bool help_comment(const dfl_slip *s)
{
    if (!begins_statement(s))
        return false;
    if (s->now == '-' && s->next == '-' && is_followed(s))
        return dfl_slip_mend(s, both(s), "//", DFL_FIX_MAYBE, "comments begin with `//`");
    if (s->now == DFL_TOK_STRING)
        return dfl_slip_tell(s, "comments begin with `//`, and `///` documents the declaration below");
    return follows_nested(s) &&
           dfl_slip_tell(s, "comments between `/*` and `*/` do not nest: the comment ends at the first `*/`");
}

/* ---- operators ------------------------------------------------------------------------------------------------ */

/* `expect a = b`, `where m = k`, `if a = b`. */
static bool help_equality(const dfl_slip *s)
{
    size_t len;
    const char *text;

    if (dfl_slip_wants(s, "&&") && is_now(s, " and or "))
        return dfl_slip_mend(s, s->f->now.span, *text_at(s, s->f->now.span.start) == 'a' ? "&&" : "||", DFL_FIX_SURE,
                             "conditions are joined by `&&` and `||`");
    if (s->now != '=' || s->next == '=' || s->before == '=' || !dfl_slip_wants(s, "==") || dfl_slip_wants(s, "'='"))
        return false;
    text = dfl_slip_statement(s, &len);
    if (s->statement != DFL_TOK_EXPECT && s->statement != DFL_TOK_REQUIRE && s->statement != DFL_TOK_ASSUME &&
        s->statement != DFL_TOK_IF && strstr(dfl_arena_printf(s->p->arena, "%.*s", (int)len, text), " where ") == NULL)
        return false;
    return dfl_slip_mend(s, s->f->now.span, "==", DFL_FIX_SURE, "equality is `==`");
}

static bool help_operator(const dfl_slip *s)
{
    if ((s->now == '*' || s->now == '/' || s->now == '-') && s->next == '=' && is_followed(s) && dfl_slip_wants(s, "+="))
        return dfl_slip_tell(s, "reductions are `+=`, `max=` and `min=`");
    if (s->now == '<' && s->next == '-' && is_followed(s) && (dfl_slip_wants(s, "+=") || dfl_slip_wants(s, "'='")))
        return dfl_slip_mend(s, both(s), "=", DFL_FIX_MAYBE, "an element is defined by `=` and summed by `+=`");
    if (s->now == '?' && dfl_slip_wants(s, "'*'") && s->statement != DFL_TOK_TEMPORAL && s->statement != DFL_TOK_SPATIAL &&
        s->statement != DFL_TOK_KEEP)
        return dfl_slip_tell(s, "a choice is `select(condition, a, b)`; a hole stands only in a line of a mapping");
    if ((s->now == '<' || s->now == '>') && s->before == s->now && follows(s))
        return dfl_slip_tell(s, s->now == '<' ? "`a << n` is written `a * pow(2, n)`"
                                              : "`a >> n` is written `floor(a / pow(2, n))`");
    return help_equality(s);
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* `1,024` and `1 024`. */
static bool help_digits(const dfl_slip *s)
{
    const char *text = text_at(s, s->f->now.span.start);
    bool comma = s->before == ',' && follows(s), gap = s->before == DFL_TOK_NUMBER && !follows(s);
    dfl_span between = { comma ? s->f->before.span.start : s->f->before.span.end, s->f->now.span.start };

    if ((s->now != DFL_TOK_NUMBER && s->now != DFL_TOK_QUANTITY) || (!comma && !gap) || strspn(text, "0123456789") != 3 ||
        between.start == s->p->source->base || strspn(text_at(s, between.start) - 1, "0123456789") == 0)
        return false;
    return dfl_slip_mend(s, between, "_", DFL_FIX_MAYBE, "digits are separated by `_`, as in `1_048_576`, or by nothing");
}

/* `let x: int = 4;` */
static bool help_typed(const dfl_slip *s)
{
    size_t len, from = 0;
    const char *text;

    if (s->now != ':' || s->next == '=' || (s->statement != DFL_TOK_LET && s->statement != DFL_TOK_PARAM))
        return false;
    text = dfl_slip_statement(s, &len);
    from = s->f->now.span.start - s->f->statement.span.start;
    for (size_t i = from; i < len; i++)
        if (text[i] == '=')
            return dfl_slip_mend(s, dfl_slip_place(s, from, i), " ", DFL_FIX_MAYBE,
                                 "values are declared without a type: `let name = value;`");
    return false;
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

static const char types[] = " i4 i8 i16 i32 u8 fp8 fp16 bf16 tf32 fp32 fp64 c64 c128 int int8 int16 int32 uint8 float float16 "
                            "float32 half double bfloat16 ";

static bool declares_tensor(const dfl_slip *s)
{
    return s->statement == DFL_TOK_INPUT || s->statement == DFL_TOK_WEIGHT || s->statement == DFL_TOK_OUTPUT ||
           s->statement == DFL_TOK_STATE;
}

/* `input i8 A[m, k];`: the second word of the statement is a type. */
static bool help_type_first(const dfl_slip *s)
{
    size_t len, from, to, end;
    const char *text = dfl_slip_statement(s, &len);

    for (from = 0; from < len && !dfl_slip_is_blank(text[from]); from++)
        ;
    while (from < len && dfl_slip_is_blank(text[from]))
        from++;
    for (to = from; to < len && !dfl_slip_is_blank(text[to]); to++)
        ;
    if (s->now != '[' || !is_word(s, text + from, to - from, types))
        return false;
    dfl_diag_help(s->p->sink, s->d, "the type stands behind the tensor: `A[m, k] : i8`");
    for (end = len; end > to && dfl_slip_is_blank(text[end - 1]); end--)
        ;
    if (memchr(text, '=', len) != NULL || strstr(dfl_arena_printf(s->p->arena, "%.*s", (int)len, text), "],") != NULL)
        return true;
    dfl_diag_fix(s->p->sink, s->d, dfl_slip_place(s, from, to + 1), "", DFL_FIX_MAYBE);
    dfl_diag_fix(s->p->sink, s->d, dfl_slip_place(s, end, end),
                 dfl_arena_printf(s->p->arena, " : %.*s", (int)(to - from), text + from), DFL_FIX_MAYBE);
    return true;
}

static bool help_tensor(const dfl_slip *s)
{
    uint16_t open = s->f->open.n > 0 ? s->f->open.at[s->f->open.n - 1].kind : 0;

    if (open == '[' && (s->now == DFL_TOK_DOTDOT || (s->now == ':' && s->before != DFL_TOK_IDENT)))
        return dfl_slip_tell(s, "a rank stands for all its positions: `A[m, k]`");
    if (!declares_tensor(s))
        return false;
    if ((s->now == DFL_TOK_ADDEQ || s->now == '=') && dfl_slip_wants(s, "','") && !dfl_slip_wants(s, "+="))
        return dfl_slip_tell(s, "one statement produces one tensor: write a statement for each");
    if (s->now == '<' && dfl_slip_is_name(s->before))
        return dfl_slip_tell(s, "the type stands behind the tensor: `A[m, k] : i8`");
    if (s->now == '[' && s->before == '=')
        return dfl_slip_tell(s, "the ranks of a tensor follow its name: `input A[m, k];`");
    return help_type_first(s);
}

/* ---- mappings ------------------------------------------------------------------------------------------------- */

/* `keep Z at sram`, `keep Z -> sram`, `keep Z: sram`; `spatial m/4 across row`. */
static bool help_place(const dfl_slip *s)
{
    bool keep = s->statement == DFL_TOK_KEEP;
    const char *word = keep ? "in" : "on";
    const char *help = keep ? "write the memory behind `in`: `keep Z in M;`"
                            : "write the axis behind `on`: `spatial r/K on axis;`";

    if ((!keep && s->statement != DFL_TOK_SPATIAL) || s->before == '?' || !dfl_slip_wants(s, word))
        return false;
    if (s->now == '-' && s->next == '>' && is_followed(s))
        return dfl_slip_mend(s, both(s), word, DFL_FIX_SURE, help);
    if (is_now(s, " at into to inside within across over along by ") && s->next == DFL_TOK_IDENT)
        return dfl_slip_mend(s, s->f->now.span, word, DFL_FIX_SURE, help);
    if (keep && (s->now == ':' || s->now == '='))
        return dfl_slip_mend(s, s->f->now.span, follows(s) ? " in" : "in", DFL_FIX_SURE, help);
    return (s->now == ';' || s->now == ',') && dfl_slip_tell(s, help);
}

/* `temporal(k:16)`: brackets around the loops. */
static bool help_call(const dfl_slip *s)
{
    size_t len;
    const char *text, *close;

    if (s->now != '(' || (s->before != DFL_TOK_TEMPORAL && s->before != DFL_TOK_SPATIAL && s->before != DFL_TOK_KEEP))
        return false;
    text = dfl_slip_statement(s, &len);
    close = memchr(text, ')', len);
    dfl_diag_help(s->p->sink, s->d, "a line is no call: `temporal k:16;`, `keep A in sram;`");
    if (close == NULL)
        return true;
    dfl_diag_fix(s->p->sink, s->d, s->f->now.span, follows(s) ? " " : "", DFL_FIX_MAYBE);
    dfl_diag_fix(s->p->sink, s->d, dfl_slip_place(s, (size_t)(close - text), (size_t)(close - text) + 1), "", DFL_FIX_MAYBE);
    return true;
}

/* `temporal k=16`, `k by 16`, `k in 0..64 step 16`, `k:*`, `k:{8, 16}`, `k:? in [8, 16]`. */
static bool help_loop(const dfl_slip *s)
{
    static const char help[] = "`r:T` makes tiles of `T` elements, and `r/K` makes `K` tiles";
    const char *close;
    size_t len;

    if (s->now == '[' && s->before == DFL_TOK_IN) {
        dfl_diag_help(s->p->sink, s->d, "a set stands in braces: `{8, 16}`");
        dfl_diag_fix(s->p->sink, s->d, s->f->now.span, "{", DFL_FIX_SURE);
        if ((close = memchr(text_at(s, s->f->now.span.end), ']', strcspn(text_at(s, s->f->now.span.end), ";\n"))) != NULL) {
            uint32_t at = s->f->now.span.end + (uint32_t)(close - text_at(s, s->f->now.span.end));

            dfl_diag_fix(s->p->sink, s->d, (dfl_span){ at, at + 1 }, "}", DFL_FIX_SURE);
        }
        return true;
    }
    if (s->statement != DFL_TOK_TEMPORAL && s->statement != DFL_TOK_SPATIAL)
        return false;
    if (s->now == DFL_TOK_NUMBER && (s->before == s->statement || s->before == ',') && (s->next == ':' || s->next == '/'))
        return dfl_slip_tell(s, "the rank stands before its amount: `m:16`, `m/4`");
    if ((s->now == '/' || s->now == ':') && s->statement == DFL_TOK_SPATIAL && dfl_slip_wants(s, "for"))
        return dfl_slip_tell(s, "the rank stands before its axis: `spatial m/4 on row;`");
    if (s->now == '{' && (s->before == ':' || s->before == '/'))
        return dfl_slip_mend(s, (dfl_span){ s->f->now.span.start, s->f->now.span.start }, "? in ", DFL_FIX_SURE,
                             "sizes to choose from are `r:? in {8, 16}`");
    if (s->now == '*' && (s->before == ':' || s->before == '/'))
        return dfl_slip_mend(s, s->f->now.span, "?", DFL_FIX_MAYBE, "an open size is `?`");
    if (!dfl_slip_wants(s, "':'"))
        return false;
    if (s->now == '=' || (is_now(s, " by step of tile size ") && s->next == DFL_TOK_NUMBER))
        return dfl_slip_mend(s, s->now == '=' ? s->f->now.span : (dfl_span){ s->f->before.span.end, s->f->next.span.start }, ":",
                             DFL_FIX_MAYBE, help);
    if (s->now != DFL_TOK_IN)
        return false;
    close = dfl_slip_statement(s, &len);
    return strstr(dfl_arena_printf(s->p->arena, "%.*s", (int)len, close), "..") != NULL &&
           dfl_slip_tell(s, "a loop goes through the whole rank, and states the size of its tiles: `temporal k:16;`");
}

/* `mapping t mm on s`, `mapping t for mm s`, `mapping t for mm with s`. */
static bool help_head(const dfl_slip *s)
{
    static const char help[] = "a mapping names its workload, then its system: `mapping t for W on S { }`";
    bool on = dfl_slip_wants(s, "on"), is_for = dfl_slip_wants(s, "for");
    dfl_span gap = { s->f->now.span.start, s->f->now.span.start };

    if ((s->statement != DFL_TOK_MAPPING && s->statement != DFL_TOK_SWEEP) || s->now != DFL_TOK_IDENT || (!on && !is_for))
        return false;
    if (s->next == DFL_TOK_IDENT)
        return dfl_slip_mend(s, s->f->now.span, is_for ? "for" : "on", DFL_FIX_SURE, help);
    return dfl_slip_mend(s, gap, is_for ? "for " : "on ", DFL_FIX_SURE, help);
}

/* ---- systems -------------------------------------------------------------------------------------------------- */

/* `array 4x4`, `array pe[4, 4]`, `array pe[4][4]`, `array row[4] on net`, `network net { }`, `memory m(size = 1MiB)`. */
static bool help_system(const dfl_slip *s)
{
    static const char axes[] = "an array names its axes, each with one size: `array row[4], col[4] over net { }`";

    if (s->statement == DFL_TOK_ARRAY) {
        if (s->before == DFL_TOK_ARRAY || (s->now == ',' && dfl_slip_wants(s, "']'")) || s->now == '[')
            return dfl_slip_tell(s, axes);
        if (dfl_slip_wants(s, "over") && (s->now == DFL_TOK_ON || s->now == DFL_TOK_OF || s->now == DFL_TOK_IN ||
                                          s->now == DFL_TOK_FOR || is_now(s, " with using via through ")))
            return dfl_slip_mend(s, s->f->now.span, "over", DFL_FIX_SURE, "an array stands `over` a network");
    }
    if (s->statement == DFL_TOK_NETWORK && s->now == '{' && dfl_slip_wants(s, "'='"))
        return dfl_slip_tell(s, "a network has a kind: `network net = bus { multicast = row; }`");
    if (s->now == '(' && dfl_slip_wants(s, "'{'") && (s->statement == DFL_TOK_MEMORY || s->statement == DFL_TOK_COMPUTE))
        return dfl_slip_tell(s, "attributes stand in braces, each with its `;`: `memory sram { size = 64KiB; }`");
    return false;
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

/* `..;` for `...;`, `if c then { }`, a `}` that closes nothing. */
static bool help_block(const dfl_slip *s)
{
    if (s->now == DFL_TOK_DOTDOT && dfl_slip_wants(s, "..."))
        return dfl_slip_mend(s, s->f->now.span, "...", DFL_FIX_SURE, "open lines are `...;`");
    if (s->statement == DFL_TOK_IF && is_now(s, " then do "))
        return dfl_slip_mend(s, s->f->now.span, "", DFL_FIX_SURE, "a condition is `if c { }`");
    if (s->now == ';' && s->before == DFL_TOK_IDENT && dfl_slip_wants(s, "'{'") && dfl_slip_wants(s, "','"))
        return dfl_slip_tell(s, "a branch has braces: `Z { ...; }`");
    if (s->statement == DFL_TOK_APPLY && s->now == '{' && dfl_slip_wants(s, "as"))
        return dfl_slip_mend(s, (dfl_span){ s->f->now.span.start, s->f->now.span.start }, "as x ", DFL_FIX_MAYBE,
                             "an `apply` has a name: `apply W(N = 4) as x { }`");
    if (s->statement == DFL_TOK_OP && s->now == ';' && dfl_slip_wants(s, "'='"))
        return dfl_slip_tell(s, "an operation states its cost: `op f(x) = 3FLOP;`");
    if (s->now == '[' && s->before == '=' && s->statement == DFL_TOK_IDENT)
        return dfl_slip_tell(s, "a list has no brackets: `holds = A, B;`");
    if (s->now == '}' && s->f->open.n == 0 && s->f->early.kind == 0)
        return dfl_slip_mend(s, s->f->now.span, "", DFL_FIX_MAYBE, "no `{` is open here");
    return false;
}

bool dfl_notation_help(const dfl_slip *s)
{
    return help_comment(s) || help_digits(s) || help_operator(s) || help_typed(s) || help_tensor(s) || help_place(s) ||
           help_call(s) || help_loop(s) || help_head(s) || help_system(s) || help_block(s);
}
