#include "syntax/dump.h"

#include <string.h>

#include "syntax/parser.h"
#include "syntax/walk.h"

static const char *const ast_kinds[] = {
    [DFL_AST_EDITION] = "edition",     [DFL_AST_OPTION] = "option",       [DFL_AST_IMPORT] = "import",
    [DFL_AST_PARAM] = "param",         [DFL_AST_LET] = "let",             [DFL_AST_OP] = "op",
    [DFL_AST_WORKLOAD] = "workload",   [DFL_AST_SYSTEM] = "system",       [DFL_AST_MAPPING] = "mapping",
    [DFL_AST_SWEEP] = "sweep",         [DFL_AST_CHECK] = "check",         [DFL_AST_PARM] = "parameter",
    [DFL_AST_BIND] = "bind",           [DFL_AST_RANKS] = "ranks",         [DFL_AST_RANK] = "rank",
    [DFL_AST_TENSORS] = "tensors",     [DFL_AST_TENSOR] = "tensor",       [DFL_AST_EINSUM] = "einsum",
    [DFL_AST_APPLY] = "apply",         [DFL_AST_REPEAT] = "repeat",       [DFL_AST_FOR] = "for",
    [DFL_AST_IF] = "if",               [DFL_AST_ATTR] = "attribute",      [DFL_AST_ATTRS] = "attributes",
    [DFL_AST_MEMORY] = "memory",       [DFL_AST_COMPUTE] = "compute",     [DFL_AST_NETWORK] = "network",
    [DFL_AST_ELEMENT] = "element",     [DFL_AST_ARRAY] = "array",         [DFL_AST_AXIS] = "axis",
    [DFL_AST_USE] = "use",             [DFL_AST_TEMPORAL] = "temporal",   [DFL_AST_SPATIAL] = "spatial",
    [DFL_AST_SPREAD] = "spread",       [DFL_AST_LOOP] = "loop",           [DFL_AST_KEEP] = "keep",
    [DFL_AST_KEPT] = "kept",           [DFL_AST_HOME] = "home",           [DFL_AST_ON] = "on",
    [DFL_AST_RECOMPUTE] = "recompute",
    [DFL_AST_FUSE] = "fuse",           [DFL_AST_PIPELINE] = "pipeline",   [DFL_AST_FUSE_HOLE] = "fuse-hole",
    [DFL_AST_ANYTHING] = "anything",   [DFL_AST_BRANCH] = "branch",       [DFL_AST_HEAD] = "head",
    [DFL_AST_MINIMIZE] = "minimize",   [DFL_AST_PARETO] = "pareto",       [DFL_AST_OVER] = "over",
    [DFL_AST_VARIED] = "varied",       [DFL_AST_REQUIRE] = "require",     [DFL_AST_SWEEP_MAPPING] = "sweep-mapping",
};

static const char *const expr_kinds[] = {
    [DFL_EXPR_NUMBER] = "number", [DFL_EXPR_STRING] = "string", [DFL_EXPR_PATH] = "path",
    [DFL_EXPR_CALL] = "call",     [DFL_EXPR_ACCESS] = "access", [DFL_EXPR_GATHER] = "gather",
    [DFL_EXPR_NEG] = "negate",    [DFL_EXPR_ADD] = "add",       [DFL_EXPR_SUB] = "subtract",
    [DFL_EXPR_MUL] = "multiply",  [DFL_EXPR_DIV] = "divide",    [DFL_EXPR_LT] = "less",
    [DFL_EXPR_GT] = "greater",    [DFL_EXPR_LE] = "at-most",    [DFL_EXPR_GE] = "at-least",
    [DFL_EXPR_EQ] = "equal",      [DFL_EXPR_NE] = "not-equal",  [DFL_EXPR_AND] = "and",
    [DFL_EXPR_OR] = "or",         [DFL_EXPR_SET] = "set",       [DFL_EXPR_RANGE] = "range",
    [DFL_EXPR_HOLE] = "hole",
};

const char *dfl_ast_kind_text(dfl_ast_kind kind)
{
    return ast_kinds[kind];
}

const char *dfl_expr_kind_text(dfl_expr_kind kind)
{
    return expr_kinds[kind];
}

typedef struct {
    dfl_strbuf *out;
    const dfl_source_map *sources; /* NULL = the dump omits places */
    const dfl_intern *names;
    unsigned depth;
} dump;

static void print_place(dfl_strbuf *out, const dfl_source_map *sources, dfl_span span)
{
    dfl_place from = dfl_place_of(sources, span.start), to = dfl_place_of(sources, span.end);

    dfl_strbuf_printf(out, "%u:%u-%u:%u", from.line, from.column, to.line, to.column);
}

static void print_quoted(dfl_strbuf *out, const char *text, size_t len)
{
    dfl_strbuf_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            dfl_strbuf_printf(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            dfl_strbuf_printf(out, "\\x%02x", c);
        else
            dfl_strbuf_char(out, (char)c);
    }
    dfl_strbuf_char(out, '"');
}

static void begin(dump *d, const char *as, const char *kind)
{
    for (unsigned i = 0; i < d->depth; i++)
        dfl_strbuf_z(d->out, "  ");
    dfl_strbuf_printf(d->out, "%s: %s", as, kind);
    d->depth++;
}

static void finish(dump *d, dfl_span span)
{
    if (d->sources != NULL) {
        dfl_strbuf_z(d->out, " @");
        print_place(d->out, d->sources, span);
    }
    dfl_strbuf_char(d->out, '\n');
}

static void word(dump *d, const char *what, const char *text)
{
    dfl_strbuf_printf(d->out, " %s=%s", what, text);
}

static void name(dump *d, const char *what, const dfl_ast_name *n)
{
    if (n->sym != 0)
        word(d, what, dfl_sym_text(d->names, n->sym));
}

static void print_path(dump *d, const dfl_ast_path *path)
{
    if (path->n == 0)
        dfl_strbuf_char(d->out, '?');
    for (uint32_t i = 0; i < path->n; i++)
        dfl_strbuf_printf(d->out, "%s%s", i == 0 ? "" : ".", dfl_sym_text(d->names, path->head[i].sym));
}

static void path(dump *d, const char *what, const dfl_ast_path *p)
{
    if (p->n == 0)
        return;
    dfl_strbuf_printf(d->out, " %s=", what);
    print_path(d, p);
}

static void enter_expr(dfl_walk *walk, const dfl_expr *e, const char *as)
{
    dump *d = walk->state;

    begin(d, as, expr_kinds[e->kind]);
    name(d, "label", &e->label);
    path(d, "path", e->path);
    if (e->kind == DFL_EXPR_NUMBER)
        dfl_strbuf_printf(d->out, " %.*s", (int)e->len, e->text);
    if (e->kind == DFL_EXPR_STRING) {
        const char *text = dfl_sym_text(d->names, e->sym);

        dfl_strbuf_char(d->out, ' ');
        print_quoted(d->out, text, strlen(text));
    }
    if (e->times)
        dfl_strbuf_z(d->out, " times");
    finish(d, e->span);
}

static void leave_expr(dfl_walk *walk, const dfl_expr *e)
{
    (void)e;
    ((dump *)walk->state)->depth--;
}

static void enter_ref(dfl_walk *walk, const dfl_ast_ref *ref, const char *as)
{
    dump *d = walk->state;

    begin(d, as, "ref");
    path(d, "path", ref->path);
    if (ref->has_args)
        dfl_strbuf_z(d->out, " arguments");
    finish(d, ref->span);
}

static void leave_ref(dfl_walk *walk, const dfl_ast_ref *ref)
{
    (void)ref;
    ((dump *)walk->state)->depth--;
}

static void flags(dump *d, const dfl_ast_node *n)
{
    static const char *const roles[] = { "", "input", "weight", "output", "state" };
    static const char *const checks[] = { "require", "expect", "assume" };
    static const char *const assigns[] = { "=", "+=", "named" };
    static const char *const splits[] = { "", "size", "parts" };
    static const char *const modes[] = { "", "fresh", "window" };

    if (n->role != DFL_AST_NO_ROLE)
        word(d, "role", roles[n->role]);
    if (n->kind == DFL_AST_CHECK)
        word(d, "check", checks[n->check]);
    if (n->kind == DFL_AST_EINSUM)
        word(d, "assign", assigns[n->assign]);
    name(d, "assign-name", &n->more->assign_name);
    if (n->split != DFL_SPLIT_NONE)
        word(d, "split", splits[n->split]);
    if (n->mode != DFL_KMODE_NONE)
        word(d, "mode", modes[n->mode]);
    dfl_strbuf_z(d->out, n->online ? " online" : "");
    dfl_strbuf_z(d->out, n->cyclic ? " cyclic" : "");
    dfl_strbuf_z(d->out, n->pipelined ? " pipelined" : "");
    dfl_strbuf_z(d->out, n->each ? " each" : "");
    dfl_strbuf_z(d->out, n->has_body ? " body" : "");
}

static void enter_node(dfl_walk *walk, const dfl_ast_node *n, const char *as)
{
    dump *d = walk->state;

    begin(d, as, ast_kinds[n->kind]);
    name(d, "name", &n->name);
    name(d, "as", &n->more->alias);
    name(d, "over", &n->more->over);
    path(d, "path", n->path);
    for (uint32_t i = 0; i < n->more->n_names; i++)
        name(d, "parameter", &n->more->names[i]);
    for (const dfl_ast_paths *each = n->paths; each != NULL; each = each->next) {
        dfl_strbuf_z(d->out, " of=");
        print_path(d, each->path);
    }
    flags(d, n);
    if (n->more->doc != NULL) {
        dfl_strbuf_z(d->out, " doc=");
        print_quoted(d->out, n->more->doc, strlen(n->more->doc));
    }
    finish(d, n->span);
}

static void leave_node(dfl_walk *walk, const dfl_ast_node *n)
{
    (void)n;
    ((dump *)walk->state)->depth--;
}

void dfl_dump_ast(dfl_strbuf *out, const dfl_source_map *sources, const dfl_intern *names, const dfl_ast_file *file)
{
    dump d = { .out = out, .sources = sources, .names = names };
    dfl_walk walk = {
        .state = &d,
        .enter_node = enter_node, .leave_node = leave_node,
        .enter_expr = enter_expr, .leave_expr = leave_expr,
        .enter_ref = enter_ref, .leave_ref = leave_ref,
    };

    dfl_walk_file(&walk, file);
}

static const char *token_class(const dfl_token *token, char first)
{
    switch (token->kind) {
    case DFL_TOK_END:
        return "end";
    case DFL_TOK_IDENT:
        return "name";
    case DFL_TOK_NUMBER:
        return "number";
    case DFL_TOK_QUANTITY:
        return "quantity";
    case DFL_TOK_STRING:
        return "string";
    case DFL_TOK_DFL_YYerror:
        return "wrong";
    default:
        return (first >= 'a' && first <= 'z') ? "keyword" : "symbol";
    }
}

void dfl_dump_tokens(dfl_strbuf *out, const dfl_source_map *sources, const dfl_syntax *syntax)
{
    uint32_t n;
    const dfl_token *tokens = dfl_syntax_tokens(out->arena, syntax->source, &n);

    for (uint32_t i = 0; i < n; i++) {
        const char *text = syntax->source->text + (tokens[i].span.start - syntax->source->base);

        print_place(out, sources, tokens[i].span);
        dfl_strbuf_printf(out, " %s ", token_class(&tokens[i], *text));
        print_quoted(out, text, tokens[i].span.end - tokens[i].span.start);
        dfl_strbuf_char(out, '\n');
    }
}
