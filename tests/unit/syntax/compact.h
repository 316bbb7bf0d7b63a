/* Trees on one line: `let name=a (value: number 1)`. The output of `dflc dump` with parentheses in place of
   indentation; ` | ` separates declarations. Also prints single expressions with parentheses around every operation. */
#ifndef DFL_TESTS_UNIT_SYNTAX_COMPACT_H
#define DFL_TESTS_UNIT_SYNTAX_COMPACT_H

#include "tests/unit/syntax/parsed.h"

#include <stdlib.h>

static inline const char *compact_tree(parsed *p, const dfl_ast_file *file)
{
    static const char top[] = "declaration: ";
    dfl_strbuf lines, out;
    size_t open = 0;

    dfl_strbuf_init(&lines, p->arena);
    dfl_strbuf_init(&out, p->arena);
    dfl_dump_ast(&lines, NULL, p->names, file);
    for (const char *at = lines.text; *at != '\0';) {
        size_t depth = strspn(at, " ") / 2, len;

        at += 2 * depth;
        for (; open > 0 && open >= depth; open--)
            dfl_strbuf_char(&out, ')');
        if (depth > 0)
            dfl_strbuf_z(&out, " (");
        else if (out.len > 0)
            dfl_strbuf_z(&out, " | ");
        open = depth;
        at += depth == 0 && strncmp(at, top, sizeof top - 1) == 0 ? sizeof top - 1 : 0;
        len = strcspn(at, "\n");
        dfl_strbuf_add(&out, at, len);
        at += len + 1;
    }
    for (; open > 0; open--)
        dfl_strbuf_char(&out, ')');
    return out.text;
}

/* The nodes of a tree without expressions: `workload w {ranks einsum} let z`. Nodes of bodies, with their names. */
static inline void compact_body(parsed *p, dfl_strbuf *out, const dfl_ast_node *first)
{
    for (const dfl_ast_node *n = first; n != NULL; n = n->next) {
        dfl_strbuf_printf(out, "%s%s", n == first ? "" : " ", dfl_ast_kind_text(n->kind));
        if (n->name.sym != 0)
            dfl_strbuf_printf(out, " %s", dfl_sym_text(p->names, n->name.sym));
        if (n->has_body) {
            dfl_strbuf_z(out, " {");
            compact_body(p, out, n->body);
            dfl_strbuf_char(out, '}');
        }
    }
}

static inline const char *compact_nodes(parsed *p, const dfl_ast_file *file)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, p->arena);
    compact_body(p, &out, file->items);
    return out.text;
}

/* The source text of a span. */
static inline const char *compact_slice(parsed *p, dfl_span span)
{
    const dfl_source *source = p->syntax.source;

    return dfl_arena_copy(p->arena, source->text + (span.start - source->base), span.end - span.start);
}

static inline void compact_expr(parsed *p, dfl_strbuf *out, const dfl_expr *e)
{
    static const char *const signs[] = {
        [DFL_EXPR_ADD] = "+", [DFL_EXPR_SUB] = "-",  [DFL_EXPR_MUL] = "*",  [DFL_EXPR_DIV] = "/",
        [DFL_EXPR_LT] = "<",  [DFL_EXPR_GT] = ">",   [DFL_EXPR_LE] = "<=",  [DFL_EXPR_GE] = ">=",
        [DFL_EXPR_EQ] = "==", [DFL_EXPR_NE] = "!=",  [DFL_EXPR_AND] = "&&", [DFL_EXPR_OR] = "||",
    };

    if (e->kind == DFL_EXPR_NEG) {
        dfl_strbuf_z(out, "(-");
        compact_expr(p, out, e->left);
        dfl_strbuf_char(out, ')');
    } else if (e->kind < sizeof signs / sizeof *signs && signs[e->kind] != NULL) {
        assert_string_equal(compact_slice(p, e->op), signs[e->kind]);
        dfl_strbuf_char(out, '(');
        compact_expr(p, out, e->left);
        dfl_strbuf_z(out, signs[e->kind]);
        compact_expr(p, out, e->right);
        dfl_strbuf_char(out, ')');
    } else {
        dfl_strbuf_z(out, compact_slice(p, e->span));
    }
}

#endif
