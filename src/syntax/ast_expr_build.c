#include "syntax/ast_expr_build.h"

#include <string.h>

#include "support/strbuf.h"

static const char *text_at(const dfl_parse *p, uint32_t position)
{
    return p->source->text + (position - p->source->base);
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

/* Appends `item` to a ring that is known by its last item. */
#define ADD_TO_RING(last_item, item)            \
    do {                                        \
        if ((last_item) != NULL) {              \
            (item)->next = (last_item)->next;   \
            (last_item)->next = (item);         \
        } else {                                \
            (item)->next = (item);              \
        }                                       \
    } while (0)

dfl_name_list dfl_names_add(dfl_parse *p, dfl_name_list list, dfl_ast_name name)
{
    dfl_name_link *link = DFL_NEW(p->arena, dfl_name_link);

    link->name = name;
    ADD_TO_RING(list.last, link);
    return (dfl_name_list){ link, list.n + 1 };
}

dfl_path_list dfl_paths_add(dfl_parse *p, dfl_path_list list, dfl_ast_path *path, dfl_span hole)
{
    dfl_ast_paths *item = DFL_NEW(p->arena, dfl_ast_paths);

    if (path == NULL) {
        path = DFL_NEW(p->arena, dfl_ast_path);
        path->span = hole;
        item->path = path;
    } else {
        item->path = dfl_path_done(p, path);
    }
    ADD_TO_RING(list.last, item);
    return (dfl_path_list){ item };
}

dfl_expr_list dfl_exprs_add(dfl_expr_list list, dfl_expr *e)
{
    ADD_TO_RING(list.last, e);
    return (dfl_expr_list){ e, list.n + 1 };
}

dfl_ast_list dfl_list_add(dfl_ast_list list, dfl_ast_node *node)
{
    ADD_TO_RING(list.last, node);
    return (dfl_ast_list){ node };
}

dfl_expr *dfl_exprs_open(dfl_expr_list list)
{
    dfl_expr *first = NULL;

    if (list.last != NULL) {
        first = list.last->next;
        list.last->next = NULL;
    }
    return first;
}

/* ---- paths ---------------------------------------------------------------------------------------------------- */

const dfl_ast_path dfl_no_path;

dfl_ast_path *dfl_path_of(dfl_parse *p, dfl_ast_name name)
{
    /* One allocation for the path and its first name, since most paths have one name. */
    struct { dfl_ast_path path; dfl_ast_name name; } *both = dfl_arena_take(p->arena, sizeof *both, _Alignof(dfl_ast_path));

    both->name = name;
    both->path = (dfl_ast_path){ .head = &both->name, .n = 1, .text = name.sym, .span = name.span };
    return &both->path;
}

/* The names have room up to the next power of two. */
dfl_ast_path *dfl_path_add(dfl_parse *p, dfl_ast_path *path, dfl_ast_name name)
{
    path->span.end = name.span.end;
    path->text = 0;
    if (path->n >= DFL_MAX_DEPTH) {
        dfl_parse_too_deep(p, path->span);
        return path;
    }
    if ((path->n & (path->n - 1)) == 0) {
        dfl_ast_name *names = DFL_NEW_ARRAY(p->arena, dfl_ast_name, 2 * path->n);

        memcpy(names, path->head, path->n * sizeof *names);
        path->head = names;
    }
    path->head[path->n++] = name;
    return path;
}

/* The only expression of a list, without a label. Reports a list of another form and returns its first expression. */
static dfl_expr *read_index(dfl_parse *p, dfl_expr_list list)
{
    dfl_expr *first = dfl_exprs_open(list);

    if (first->next != NULL || first->label.sym != 0) {
        dfl_diag *d = dfl_report(p->sink, DFL_SYNTAX_UNEXPECTED, first->span, "a member of a family has one index");
        dfl_diag_help(p->sink, d, "write one number in the brackets: `s[3]`");
    }
    return first;
}

dfl_ast_path *dfl_path_add_index(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list index)
{
    dfl_ast_member *member = DFL_NEW(p->arena, dfl_ast_member), **end = &path->members;
    uint32_t n = 0;

    *member = (dfl_ast_member){ .at = path->n - 1, .index = read_index(p, index) };
    for (; *end != NULL; end = &(*end)->next)
        n++;
    if (n < DFL_MAX_DEPTH)
        *end = member;
    else
        dfl_parse_too_deep(p, at);
    path->span = at;
    path->text = 0;
    return path;
}

/* Whether a name of a path has an index. */
static bool has_index(const dfl_ast_path *path, uint32_t at)
{
    for (const dfl_ast_member *m = path->members; m != NULL; m = m->next)
        if (m->at == at)
            return true;
    return false;
}

const dfl_ast_path *dfl_path_done(dfl_parse *p, dfl_ast_path *path)
{
    dfl_strbuf whole;

    if (path->text != 0)
        return path;
    dfl_strbuf_init(&whole, p->arena);
    for (uint32_t i = 0; i < path->n; i++)
        dfl_strbuf_printf(&whole, "%s%s%s", i > 0 ? "." : "", dfl_sym_text(p->names, path->head[i].sym),
                          has_index(path, i) ? "[]" : "");
    path->text = dfl_intern_text(p->names, whole.text, whole.len);
    return path;
}

/* ---- expressions ---------------------------------------------------------------------------------------------- */

static uint32_t deeper(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t dfl_exprs_depth(const dfl_expr *first)
{
    uint32_t most = 0;

    for (; first != NULL; first = first->next)
        most = deeper(most, first->depth);
    return most;
}

static dfl_expr *new_expr(dfl_parse *p, dfl_expr_kind kind, dfl_span at, uint32_t below)
{
    dfl_expr *e = DFL_NEW(p->arena, dfl_expr);

    e->kind = kind;
    e->path = &dfl_no_path;
    e->id = p->n_exprs++;
    e->span = at;
    e->depth = (uint16_t)(below < DFL_MAX_DEPTH ? below + 1 : DFL_MAX_DEPTH);
    if (below >= DFL_MAX_DEPTH)
        dfl_parse_too_deep(p, at);
    return e;
}

dfl_expr *dfl_ast_number(dfl_parse *p, dfl_span at)
{
    dfl_expr *e = new_expr(p, DFL_EXPR_NUMBER, at, 0);

    e->text = text_at(p, at.start);
    e->len = at.end - at.start;
    return e;
}

static void add_escape(dfl_parse *p, dfl_strbuf *out, char c, dfl_span at)
{
    if (c == 'n' || c == 't' || c == '"' || c == '\\')
        dfl_strbuf_char(out, c == 'n' ? '\n' : c == 't' ? '\t' : c);
    else
        dfl_diag_help(p->sink, dfl_report(p->sink, DFL_SYNTAX_BAD_ESCAPE, at, "unknown escape in a string"),
                      "use one of `\\n`, `\\t`, `\\\"` and `\\\\`");
}

dfl_expr *dfl_ast_string(dfl_parse *p, dfl_span at)
{
    dfl_expr *e = new_expr(p, DFL_EXPR_STRING, at, 0);
    const char *text = text_at(p, at.start) + 1;
    uint32_t len = at.end - at.start - 2;
    const char *nul = memchr(text, 0, len);
    dfl_strbuf out;

    if (nul != NULL) {
        uint32_t from = at.start + 1 + (uint32_t)(nul - text);

        dfl_report(p->sink, DFL_SYNTAX_NUL, (dfl_span){ from, from + 1 }, "a string cannot contain a NUL byte");
    }
    if (memchr(text, '\\', len) == NULL) {
        e->sym = dfl_intern_text(p->names, text, len);
        return e;
    }
    dfl_strbuf_init(&out, p->arena);
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] == '\\') {
            uint32_t escaped = ++i;

            while (i + 1 < len && ((unsigned char)text[i + 1] & 0xc0) == 0x80) /* skip the rest of a UTF-8 sequence */
                i++;
            add_escape(p, &out, text[escaped], (dfl_span){ at.start + escaped, at.start + i + 2 });
        } else {
            dfl_strbuf_char(&out, text[i]);
        }
    }
    e->sym = dfl_intern_text(p->names, out.text, out.len);
    return e;
}

dfl_expr *dfl_ast_hole(dfl_parse *p, dfl_span at, dfl_expr *set)
{
    dfl_expr *e = new_expr(p, DFL_EXPR_HOLE, at, set != NULL ? set->depth : 0);

    e->left = set;
    return e;
}

dfl_expr *dfl_ast_path_expr(dfl_parse *p, dfl_span at, dfl_ast_path *path)
{
    dfl_expr *e = new_expr(p, DFL_EXPR_PATH, at, 0);

    e->path = dfl_path_done(p, path);
    return e;
}

dfl_expr *dfl_ast_with_args(dfl_parse *p, dfl_expr_kind kind, dfl_span at, dfl_ast_path *path, dfl_expr_list args)
{
    dfl_expr *first = dfl_exprs_open(args), *e = new_expr(p, kind, at, dfl_exprs_depth(first));

    if (path != NULL)
        e->path = dfl_path_done(p, path);
    e->args = first;
    e->n_args = args.n;
    return e;
}

dfl_expr *dfl_ast_binary(dfl_parse *p, dfl_expr_kind kind, dfl_span at, dfl_span op, dfl_expr *left, dfl_expr *right)
{
    dfl_expr *e = new_expr(p, kind, at, deeper(left->depth, right != NULL ? right->depth : 0));

    e->op = op;
    e->left = left;
    e->right = right;
    return e;
}

dfl_expr *dfl_ast_range(dfl_parse *p, dfl_span at, dfl_expr *from, dfl_expr *to, dfl_expr *step, bool times)
{
    uint32_t below = deeper(deeper(from->depth, to->depth), step != NULL ? step->depth : 0);
    dfl_expr *e = new_expr(p, DFL_EXPR_RANGE, at, below);

    e->left = from;
    e->right = to;
    e->third = step;
    e->times = times;
    return e;
}

dfl_expr *dfl_ast_label(dfl_ast_name name, dfl_expr *e)
{
    e->label = name;
    return e;
}

dfl_ast_ref *dfl_ast_ref_make(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list args, bool has_args)
{
    dfl_ast_ref *ref = DFL_NEW(p->arena, dfl_ast_ref);

    *ref = (dfl_ast_ref){ dfl_path_done(p, path), dfl_exprs_open(args), args.n, has_args, at };
    return ref;
}
