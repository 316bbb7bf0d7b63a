/* A pass over the tokens sets the marks that follow from brackets; a pass over the syntax tree sets all other marks. */
#include "fmt/marks.h"

#include "support/vec.h"
#include "syntax/parser.h"
#include "syntax/walk.h"

typedef struct {
    dfl_arena *arena;
    const dfl_token *tokens;
    uint32_t n;
    dfl_marks *marks;
    DFL_VEC(uint32_t) open; /* open brackets: parentheses, brackets, braces of blocks and of sets */
    uint32_t inside;        /* number of brackets that the current statement has open */
    bool is_keep;           /* the current statement is `keep` */
    bool is_loops;          /* loops follow in the current statement: `temporal`, `spatial`, or `keep ... split` */
    bool wants_split;       /* a loop of the current statement has begun, and its `:` or `/` is not read yet */
} marker;

static void set_mark(const marker *m, uint32_t i, dfl_mark mark)
{
    m->marks->mark[i] = (uint8_t)mark;
}

static void open_bracket(marker *m, uint32_t i)
{
    bool is_argument = m->open.n > 0 && m->tokens[m->open.at[m->open.n - 1]].kind == '(';
    bool is_set = m->tokens[i].kind == '{' && i > 0 && (is_argument || m->tokens[i - 1].kind == DFL_TOK_IN);

    DFL_PUSH(m->arena, &m->open, i);
    if (is_set)
        set_mark(m, i, DFL_MARK_SET);
    if (m->tokens[i].kind == '{' && !is_set) {
        m->inside = 0;
        m->is_loops = m->is_keep = false;
    } else {
        m->inside++;
    }
}

static void close_bracket(marker *m, uint32_t i)
{
    uint32_t from = m->open.n > 0 ? m->open.at[--m->open.n] : i;

    if (m->marks->mark[from] == DFL_MARK_SET)
        set_mark(m, i, DFL_MARK_SET);
    if (m->tokens[from].kind == '{')
        m->marks->match[from] = i;
    if (m->tokens[from].kind == '{' && m->marks->mark[from] != DFL_MARK_SET) {
        m->inside = 0;
        m->is_loops = false;
    } else if (m->inside > 0) {
        m->inside--;
    }
}

static void mark_colon(const marker *m, uint32_t i)
{
    if (m->open.n > 0 && m->tokens[m->open.at[m->open.n - 1]].kind == '[')
        set_mark(m, i, DFL_MARK_LABEL);
}

/* Whether the word `split` stands behind a memory of a `keep`, where it is no name. */
static bool begins_split(const marker *m, uint32_t i)
{
    uint16_t before = m->tokens[i - 1].kind;

    return m->is_keep && m->inside == 0 && before != DFL_TOK_KEEP && before != DFL_TOK_IN && before != ',' && before != '.';
}

static void mark_tokens(marker *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint16_t kind = m->tokens[i].kind;

        if (kind == '(' || kind == '[' || kind == '{')
            open_bracket(m, i);
        else if (kind == ')' || kind == ']' || kind == '}')
            close_bracket(m, i);
        else if (kind == DFL_TOK_TEMPORAL || kind == DFL_TOK_SPATIAL)
            m->is_loops = m->wants_split = true;
        else if (kind == DFL_TOK_KEEP)
            m->is_keep = true;
        else if (kind == DFL_TOK_SPLIT && begins_split(m, i))
            m->is_loops = m->wants_split = true;
        else if (kind == ';')
            m->is_loops = m->is_keep = false;
        else if (kind == ',' && m->is_loops && m->inside == 0)
            m->wants_split = true;
        else if ((kind == ':' || kind == '/') && m->is_loops && m->inside == 0 && m->wants_split) {
            set_mark(m, i, DFL_MARK_SPLIT);
            m->wants_split = false;
        } else if (kind == ':')
            mark_colon(m, i);
        else if (kind == '+' || kind == '-' || kind == '*' || kind == '/')
            set_mark(m, i, DFL_MARK_OPERATOR);
    }
}

/* Index of the first token that starts at or after a position. */
static uint32_t find_token(const marker *m, uint32_t position)
{
    uint32_t low = 0, high = m->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (m->tokens[middle].span.start < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void mark_token_at(const marker *m, uint32_t position, uint16_t kind, dfl_mark mark)
{
    uint32_t i = find_token(m, position);

    if (i < m->n && m->tokens[i].kind == kind)
        set_mark(m, i, mark);
}

static void enter_expr(dfl_walk *walk, const dfl_expr *e, const char *as)
{
    const marker *m = walk->state;

    (void)as;
    if (e->kind == DFL_EXPR_NEG)
        mark_token_at(m, e->op.start, '-', DFL_MARK_UNARY);
    if (e->kind == DFL_EXPR_CALL)
        mark_token_at(m, e->path->span.end, '(', DFL_MARK_CALL);
}

static void enter_ref(dfl_walk *walk, const dfl_ast_ref *ref, const char *as)
{
    (void)as;
    if (ref->has_args)
        mark_token_at(walk->state, ref->path->span.end, '(', DFL_MARK_CALL);
}

static void enter_node(dfl_walk *walk, const dfl_ast_node *n, const char *as)
{
    (void)as;
    if (n->name.sym != 0 && n->kind != DFL_AST_VARIED)
        mark_token_at(walk->state, n->name.span.end, '(', DFL_MARK_CALL);
    if (n->assign == DFL_ASSIGN_NAMED)
        mark_token_at(walk->state, n->more->assign_name.span.end, '=', DFL_MARK_NAMED);
}

dfl_marks dfl_marks_make(dfl_arena *arena, const dfl_fmt_input *in)
{
    dfl_marks marks = {
        .in = in,
        .mark = DFL_NEW_ARRAY(arena, uint8_t, in->n_tokens),
        .match = DFL_NEW_ARRAY(arena, uint32_t, in->n_tokens),
    };
    marker m = { .arena = arena, .tokens = in->tokens, .n = in->n_tokens, .marks = &marks };
    dfl_walk walk = { .state = &m, .enter_node = enter_node, .enter_expr = enter_expr, .enter_ref = enter_ref };

    mark_tokens(&m);
    dfl_walk_file(&walk, in->file);
    for (uint32_t i = 1; i < m.n; i++) /* `pipeline(...)` */
        if (m.tokens[i].kind == '(' && m.tokens[i - 1].kind == DFL_TOK_PIPELINE)
            set_mark(&m, i, DFL_MARK_CALL);
    return marks;
}
