/*
 * Invariants of every tree: spans lie in the file and in the spans of their parents; items of a list follow each other
 * in the text; ids are dense; the depth of every node exceeds that of its body; names, paths and numbers equal the text
 * at their spans; statements end with their `;` or `}`.
 */
#ifndef DFL_TESTS_UNIT_SYNTAX_TREE_H
#define DFL_TESTS_UNIT_SYNTAX_TREE_H

#include "tests/unit/syntax/compact.h"

#include "syntax/walk.h"

typedef struct {
    dfl_span span;
    uint32_t depth;         /* as the tree counts it */
    const char *item;       /* role of the previous item in its parent, and the end of its span */
    uint32_t item_end;
} tree_level;

typedef struct {
    parsed *p;
    const dfl_source *source;
    uint8_t *nodes, *exprs; /* number of visits, by id */
    tree_level level[4 * DFL_MAX_DEPTH];
    uint32_t n;
    size_t met;
} tree_check;

static inline void tree_name(const tree_check *t, const dfl_ast_name *name)
{
    if (name->sym != 0)
        assert_string_equal(dfl_sym_text(t->p->names, name->sym), compact_slice(t->p, name->span));
}

static inline void tree_path(const tree_check *t, const dfl_ast_path *path)
{
    uint32_t from = path->span.start;

    for (uint32_t i = 0; i < path->n; i++) {
        tree_name(t, &path->head[i]);
        assert_true(path->head[i].span.start >= from && path->head[i].span.end <= path->span.end);
        from = path->head[i].span.end;
    }
    if (path->n > 0) {
        assert_int_equal(path->head[0].span.start, path->span.start);
        /* An index of the last name ends the path. */
        const dfl_ast_member *last = path->members;

        while (last != NULL && last->next != NULL)
            last = last->next;
        if (last == NULL || last->at + 1 < path->n)
            assert_int_equal(dfl_path_last(path)->span.end, path->span.end);
    }
}

static inline void tree_enter(tree_check *t, dfl_span span, uint32_t depth, const char *as)
{
    tree_level *up = t->n > 0 ? &t->level[t->n - 1] : NULL;

    assert_true(span.start >= t->source->base && span.start <= span.end);
    assert_true(span.end <= t->source->base + t->source->len);
    assert_true(t->n < sizeof t->level / sizeof *t->level && depth <= DFL_MAX_DEPTH);
    if (up != NULL) {
        assert_true(span.start >= up->span.start && span.end <= up->span.end);
        assert_true(up->item == NULL || strcmp(up->item, as) != 0 || up->item_end <= span.start);
        up->item = as;
        up->item_end = span.end;
    }
    t->level[t->n++] = (tree_level){ .span = span, .depth = depth };
    t->met++;
}

static inline void tree_leave(tree_check *t)
{
    assert_true(t->n > 0);
    t->n--;
}

static inline void tree_enter_node(dfl_walk *walk, const dfl_ast_node *n, const char *as)
{
    tree_check *t = walk->state;
    bool statement = strcmp(as, "declaration") == 0 || strcmp(as, "body") == 0 || strcmp(as, "else") == 0;
    char last = t->source->text[n->span.end - 1 - t->source->base];

    assert_true(n->id < t->p->syntax.file->n_nodes && t->nodes[n->id]++ == 0);
    assert_true(n->depth > 0 && (strcmp(as, "body") != 0 || n->depth < t->level[t->n - 1].depth));
    tree_enter(t, n->span, n->depth, as);
    assert_true(!statement || !t->p->syntax.ok || last == ';' || last == '}');
    tree_name(t, &n->name);
    tree_name(t, &n->more->alias);
    tree_name(t, &n->more->over);
    tree_name(t, &n->more->assign_name);
    tree_path(t, n->path);
    for (const dfl_ast_paths *each = n->paths; each != NULL; each = each->next)
        tree_path(t, each->path);
}

static inline void tree_enter_expr(dfl_walk *walk, const dfl_expr *e, const char *as)
{
    tree_check *t = walk->state;

    assert_true(e->id < t->p->syntax.file->n_exprs && t->exprs[e->id]++ == 0);
    assert_true(e->depth > 0);
    tree_enter(t, e->span, e->depth, as);
    tree_name(t, &e->label);
    tree_path(t, e->path);
    if (e->kind == DFL_EXPR_NUMBER) {
        assert_int_equal(e->len, e->span.end - e->span.start);
        assert_memory_equal(e->text, compact_slice(t->p, e->span), e->len);
    }
}

static inline void tree_enter_ref(dfl_walk *walk, const dfl_ast_ref *ref, const char *as)
{
    tree_enter(walk->state, ref->span, 1, as);
    tree_path(walk->state, ref->path);
}

static inline void tree_leave_node(dfl_walk *walk, const dfl_ast_node *n)
{
    (void)n;
    tree_leave(walk->state);
}

static inline void tree_leave_expr(dfl_walk *walk, const dfl_expr *e)
{
    (void)e;
    tree_leave(walk->state);
}

static inline void tree_leave_ref(dfl_walk *walk, const dfl_ast_ref *ref)
{
    (void)ref;
    tree_leave(walk->state);
}

/* Fails if the tree of `p` breaks an invariant. Returns the number of nodes, expressions and references. */
static inline size_t tree_ok(parsed *p)
{
    const dfl_ast_file *file = p->syntax.file;
    tree_check t = { .p = p, .source = p->syntax.source };
    dfl_walk walk = { &t, tree_enter_node, tree_leave_node, tree_enter_expr, tree_leave_expr, tree_enter_ref,
                      tree_leave_ref };

    t.nodes = DFL_NEW_ARRAY(p->arena, uint8_t, file->n_nodes + 1);
    t.exprs = DFL_NEW_ARRAY(p->arena, uint8_t, file->n_exprs + 1);
    dfl_walk_file(&walk, file);
    assert_int_equal(t.n, 0);
    for (uint32_t i = 0; i < file->n_nodes && p->syntax.ok; i++)
        assert_int_equal(t.nodes[i], 1);
    for (uint32_t i = 0; i < file->n_exprs && p->syntax.ok; i++)
        assert_int_equal(t.exprs[i], 1);
    return t.met;
}

#endif
