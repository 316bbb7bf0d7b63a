#include "syntax/habits.h"

#include <string.h>

/* ---- brackets ------------------------------------------------------------------------------------------------- */

/* The first `][` from `*from` on: the offset of its `]`; `*from` moves to its `[`. False if there is none before `len`. */
static bool next_joint(const char *text, size_t len, size_t *from, size_t *close)
{
    for (size_t i = *from; i < len; i++) {
        size_t next = i + 1;

        while (next < len && dfl_slip_is_blank(text[next]))
            next++;
        if (text[i] != ']' || next >= len || text[next] != '[')
            continue;
        *close = i;
        *from = next;
        return true;
    }
    return false;
}

/* `A[m][k]`, at the second pair of brackets. */
static bool report_joint(const dfl_slip *s)
{
    size_t len, at = 0, close;
    const char *text;
    dfl_diag *d;

    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->expected[i], "'.'") != 0 && strcmp(s->expected[i], "'['") != 0)
            return false;
    if (s->before != ']' || s->f->statement.span.end == 0)
        return false;
    text = dfl_slip_statement(s, &len);
    if (!next_joint(text, len, &at, &close))
        return false;
    d = dfl_report(s->p->sink, DFL_SYNTAX_UNEXPECTED, dfl_slip_place(s, at, at + 1), "unexpected `[` after `]`");
    dfl_diag_help(s->p->sink, d, "all indices of a tensor stand in one pair of brackets, as in `A[m, k]`");
    do {
        dfl_diag_fix(s->p->sink, d, dfl_slip_place(s, close, at + 1), ", ", DFL_FIX_SURE);
    } while (next_joint(text, len, &at, &close));
    return true;
}

/* `input A(m, k);`, `C(m, n) += ...;`: round brackets up to the `=` of the statement. */
static bool help_round(const dfl_slip *s)
{
    size_t len, depth = 0;
    const char *text;

    if (s->now != '(' || !dfl_slip_is_name(s->before) || !dfl_slip_wants(s, "'['"))
        return false;
    text = dfl_slip_statement(s, &len);
    dfl_diag_help(s->p->sink, s->d, s->statement == DFL_TOK_ARRAY
                                        ? "the size of an axis stands in square brackets: `array row[4]`"
                                        : "the indices of a tensor stand in square brackets, as in `A[m, k]`");
    for (size_t i = 0; i < len && (text[i] != '=' || depth > 0); i++) {
        const char *square = text[i] == '(' && depth++ == 0 ? "[" : text[i] == ')' && depth > 0 && --depth == 0 ? "]" : NULL;

        if (square != NULL)
            dfl_diag_fix(s->p->sink, s->d, dfl_slip_place(s, i, i + 1), square, DFL_FIX_SURE);
    }
    return true;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

/* Where a statement stands. */
typedef enum { IN_FILE, IN_WORKLOAD, IN_SYSTEM, IN_MAPPING } block;

/* Words of other languages, each between blanks, for a keyword of a block. */
typedef struct { block in; const char *words, *keyword, *help; } synonym;

static const synonym synonyms[] = {
    { IN_MAPPING, " parallel parfor parallelize unroll spread distribute vectorize ", "spatial",
      "loops over the instances of an axis are `spatial m/4 on row;`" },
    { IN_MAPPING, " store load buffer hold place cache stage put ", "keep", "a tensor stays in a memory by `keep A in sram;`" },
    { IN_MAPPING, " loop iterate tile split seq sequential serial foreach while ", "temporal",
      "loops in time are `temporal m:16, k;`, with the size of a tile behind the `:`" },
    { IN_MAPPING, " optimize optimise objective minimise ", "minimize",
      "an objective is `minimize latency;` or `minimize energy * latency;`" },
    { IN_SYSTEM, " mem buffer cache register registers scratchpad storage ram sram dram ", "memory",
      "a memory is `memory name { size = 64KiB; }`" },
    { IN_SYSTEM, " pe alu core unit processor ", "compute", "a compute unit is `compute mac { rate = 1MAC/cycle; }`" },
    { IN_SYSTEM, " noc interconnect link bus ", "network", "a network is `network net = bus { multicast = row; }`" },
    { IN_SYSTEM, " cluster group container node module ", "element", "parts are grouped by `element name { }`" },
    { IN_WORKLOAD, " dim dims index iter iterator range extent ", "rank", "a rank is declared by `rank m = 128;`" },
    { IN_WORKLOAD, " const var constant ", "let", "a constant is declared by `let name = value;`" },
    { IN_WORKLOAD, " tensor array in ", "input", "a tensor is declared by its role: `input`, `weight`, `output` or `state`" },
    { IN_WORKLOAD, " result out return ", "output", "a result is declared by `output C[m, n] += ...;`" },
    { IN_FILE, " function fn def kernel layer model einsum problem func ", "workload",
      "a workload is `workload name(N = 64) : bf16 { }`" },
    { IN_FILE, " chip arch architecture hardware accelerator device machine target ", "system", "a chip is `system name { }`" },
    { IN_FILE, " map schedule dataflow ", "mapping", "a mapping is `mapping name for W on S { }`" },
    { IN_FILE, " include use using from ", "import", "files are imported by `import \"name.dfl\";`" },
    { IN_FILE, " assert check test verify ensure ", "expect",
      "`expect` is tested by `dflc test`; `require` is an error of every evaluation that does not meet it" },
    { IN_FILE, " const var constant define ", "let", "a constant is declared by `let name = value;`" },
};

/* The block of the report: told by the tokens that may follow a name at its place. */
static block block_of(const dfl_slip *s)
{
    if (dfl_slip_wants(s, "workload"))
        return IN_FILE;
    if (!dfl_slip_wants(s, "'{'"))
        return IN_WORKLOAD;
    return dfl_slip_wants(s, "'='") ? IN_SYSTEM : IN_MAPPING;
}

/* The first token of the statement, if it is no keyword, but may be meant as one; else NULL. */
static const dfl_token *find_opener(const dfl_slip *s, block in)
{
    const bool of_tensor = in == IN_WORKLOAD && s->now == '[' && s->before == DFL_TOK_IDENT; /* `inptu A[m];` */
    const dfl_token *first = in == IN_FILE ? &s->f->now : of_tensor ? &s->f->statement : &s->f->before;
    bool follows = of_tensor || s->f->now.sym != 0 || s->now == DFL_TOK_STRING || s->now == DFL_TOK_NUMBER || s->now == '{' ||
                   s->now == '?';

    if (first->kind != DFL_TOK_IDENT || (in != IN_FILE && (s->f->statement.span.start != first->span.start || !follows)))
        return NULL;
    return first;
}

/* Reports a word that begins no statement, and names the keyword that is meant. */
static bool report_opener(const dfl_slip *s, block in, const dfl_token *first, const char *keyword, const char *help)
{
    dfl_diag *d = dfl_report(s->p->sink, DFL_SYNTAX_UNEXPECTED, first->span, "no %s begins with `%s`",
                             in == IN_FILE ? "declaration" : "statement", dfl_sym_text(s->p->names, first->sym));

    if (help != NULL)
        dfl_diag_help(s->p->sink, d, "%s", help);
    dfl_diag_fix(s->p->sink, d, first->span, keyword, DFL_FIX_MAYBE);
    return true;
}

/* `maximize utilization;`: an objective is minimized, so that no edit keeps its meaning. */
static bool report_maximize(const dfl_slip *s, const dfl_token *first)
{
    dfl_diag *d = dfl_report(s->p->sink, DFL_SYNTAX_UNEXPECTED, first->span, "no statement begins with `maximize`");

    dfl_diag_help(s->p->sink, d, "an objective is minimized: `minimize latency;` reaches the largest rate and utilization");
    return true;
}

/* A keyword that is misspelt, `temporel k;`, or of another language, `parallel m on row;`, at the start of a statement. */
static bool report_keyword(const dfl_slip *s)
{
    static const char *const openers[] = {
        "import", "option", "param", "workload", "system", "mapping", "sweep", "rank", "input", "weight", "output", "state",
        "apply", "repeat", "memory", "compute", "network", "array", "element", "temporal", "spatial", "keep", "fuse",
        "pipeline", "recompute", "require", "expect", "assume", "minimize", "pareto",
    };
    const block in = block_of(s);
    const dfl_token *first = find_opener(s, in);
    dfl_sym words[sizeof openers / sizeof *openers], near;
    const char *word;

    if (first == NULL)
        return false;
    word = dfl_arena_printf(s->p->arena, " %s ", dfl_sym_text(s->p->names, first->sym));
    if (in == IN_MAPPING && strcmp(word, " maximize ") == 0)
        return report_maximize(s, first);
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (synonyms[i].in == in && strstr(synonyms[i].words, word) != NULL)
            return report_opener(s, in, first, synonyms[i].keyword, synonyms[i].help);
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++)
        words[i] = dfl_intern_z(s->p->names, openers[i]);
    near = dfl_suggest(s->p->names, dfl_sym_text(s->p->names, first->sym), words, sizeof words / sizeof *words);
    return near != 0 && report_opener(s, in, first, dfl_sym_text(s->p->names, near), NULL);
}

/* `for m in 0..64 { }` in a mapping; `for matmul on chip { }` at the level of the file. */
static bool help_for(const dfl_slip *s)
{
    bool named = s->f->next.sym != 0;

    if (s->now != DFL_TOK_FOR)
        return false;
    if (dfl_slip_wants(s, "workload"))
        return dfl_slip_mend(s, (dfl_span){ s->f->now.span.start, s->f->now.span.start }, "mapping t ", DFL_FIX_MAYBE,
                             "a mapping has a name: `mapping t for W on S { }`");
    if (!dfl_slip_wants(s, "temporal"))
        return false;
    dfl_diag_help(s->p->sink, s->d, "loops of a mapping have no braces: `temporal %s:16;` goes through tiles of 16, and the "
                  "lines below it are inside", named ? dfl_sym_text(s->p->names, s->f->next.sym) : "m");
    return true;
}

/* ---- separators ----------------------------------------------------------------------------------------------- */

static bool is_word_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Whether the text begins with the word. */
static bool has_word(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0 && !is_word_letter(text[strlen(word)]);
}

/* `temporal n k;`, `spatial m n on row;`: a `,` in each gap between two loops, from the present token on. */
static bool help_loop_gaps(const dfl_slip *s)
{
    size_t len, gap;
    const char *text = dfl_slip_statement(s, &len);

    dfl_diag_help(s->p->sink, s->d, "loops are separated by `,`: `temporal m:16, k;`");
    for (size_t i = s->f->before.span.end - s->f->statement.span.start; i < len; i = gap + 1) {
        for (gap = i; gap < len && dfl_slip_is_blank(text[gap]); gap++)
            ;
        if (has_word(text + gap, "on") || has_word(text + gap, "online"))
            break;
        if (gap == i || i == 0 || !is_word_letter(text[i - 1]) || !is_word_letter(text[gap]) || has_word(text + gap, "cyclic"))
            continue;
        dfl_diag_fix(s->p->sink, s->d, dfl_slip_place(s, i, i), ",", DFL_FIX_SURE);
    }
    return true;
}

/* Parts of a list without a `,` between them. */
static bool help_list(const dfl_slip *s)
{
    bool loops = s->statement == DFL_TOK_TEMPORAL || s->statement == DFL_TOK_SPATIAL;
    bool ended = dfl_slip_is_name(s->before) || s->before == DFL_TOK_NUMBER || s->before == ']' || s->before == ')';
    uint16_t inner = s->f->open.n > 0 ? s->f->open.at[s->f->open.n - 1].kind : 0;
    const dfl_source *source = s->p->source;
    dfl_span gap = { s->f->before.span.start, s->f->before.span.start };

    if (s->now == '[' && s->n == 1 && dfl_slip_wants(s, "'='") && s->before == DFL_TOK_IDENT &&
        s->statement != DFL_TOK_IDENT) { /* `input E[m, k] F[k, n];` */
        while (gap.start > source->base && dfl_slip_is_blank(source->text[gap.start - source->base - 1]))
            gap.start--;
        return dfl_slip_mend(s, (dfl_span){ gap.start, gap.start }, ",", DFL_FIX_SURE,
                             "the parts of one statement are separated by `,`");
    }
    gap.start = gap.end = s->f->before.span.end;
    if (!dfl_slip_wants(s, "','") || !ended || dfl_feed_starts_line(s->f))
        return false;
    if (loops && s->now == DFL_TOK_IDENT && inner == '{')
        return help_loop_gaps(s);
    if (!dfl_slip_is_name(s->now) && s->now != DFL_TOK_NUMBER && s->now != DFL_TOK_QUANTITY)
        return false;
    if (inner == '[')
        return dfl_slip_mend(s, gap, ",", DFL_FIX_MAYBE, "indices are separated by `,`");
    if (inner == '(')
        return dfl_slip_mend(s, gap, ",", DFL_FIX_MAYBE, "the parts in parentheses are separated by `,`");
    if (s->statement == DFL_TOK_RANK && s->next == '=')
        return dfl_slip_mend(s, gap, ",", DFL_FIX_SURE, "the parts of one statement are separated by `,`");
    return false;
}

/* `repeat layer in 0..8 { }`, `repeat 8 as layer carrying X { }`. */
static bool help_repeat(const dfl_slip *s)
{
    if (s->statement != DFL_TOK_REPEAT || (!dfl_slip_wants(s, "as") && !dfl_slip_wants(s, "'='")))
        return false;
    dfl_diag_help(s->p->sink, s->d, "a repeat states the number of its iterations, their name, and which result of an iteration "
                  "the next one reads as `X`: `repeat 96 as layer carrying X = Y { }`");
    return true;
}

/* `temporal m in 16;` for `m:16`; `pareto (a, b);`, `pareto a b;`; `import "a.dfl" as q;`. */
static bool help_word(const dfl_slip *s)
{
    const dfl_span next = s->f->next.span, before = s->f->before.span;

    if (s->now == DFL_TOK_IN && s->statement == DFL_TOK_TEMPORAL && s->next == DFL_TOK_NUMBER && dfl_slip_wants(s, "':'"))
        return dfl_slip_mend(s, (dfl_span){ before.end, next.start }, ":", DFL_FIX_MAYBE,
                             "`m:16` makes tiles of 16 elements, and `m/16` makes 16 tiles");
    if (s->now == ',' && s->statement == DFL_TOK_PARETO && dfl_slip_wants(s, "')'")) {
        dfl_diag_help(s->p->sink, s->d, "the expressions stand without parentheses: `pareto energy, latency;`");
        return true;
    }
    if (s->now == DFL_TOK_IDENT && s->statement == DFL_TOK_PARETO && dfl_slip_is_name(s->before)) {
        dfl_diag_help(s->p->sink, s->d, "the expressions are separated by `,`: `pareto energy, latency;`");
        return true;
    }
    if (s->now == DFL_TOK_AS && s->statement == DFL_TOK_IMPORT && s->before == DFL_TOK_STRING && s->f->next.sym != 0)
        return dfl_slip_mend(s, (dfl_span){ before.end, next.end }, "", DFL_FIX_MAYBE,
                             "only files of the library get a name; the names of this file are used without it");
    return false;
}

/* `rate.i8 = 1MAC/cycle;` for `rate { i8 = 1MAC/cycle; }`. */
static bool help_dotted(const dfl_slip *s)
{
    size_t len, dots = 0;
    const char *text;

    if (s->now != '.' || !dfl_slip_wants(s, "'='") || !dfl_slip_wants(s, "'{'"))
        return false;
    text = dfl_slip_statement(s, &len);
    dfl_diag_help(s->p->sink, s->d, "attributes of a group stand in braces: `rate { i8 = 1MAC/cycle; }`");
    for (size_t i = 0; i < len && text[i] != '='; i++)
        dots += text[i] == '.';
    if (dots == 1 && text[len] == ';') {
        dfl_diag_fix(s->p->sink, s->d, s->f->now.span, " { ", DFL_FIX_MAYBE);
        dfl_diag_fix(s->p->sink, s->d, dfl_slip_place(s, len + 1, len + 1), " }", DFL_FIX_MAYBE);
    }
    return true;
}

bool dfl_habit_report(const dfl_slip *s)
{
    return report_joint(s) || report_keyword(s);
}

bool dfl_habit_help(const dfl_slip *s)
{
    return help_round(s) || help_dotted(s) || help_for(s) || help_repeat(s) || help_word(s) || help_list(s);
}
