/*
 * Parses any bytes as a file. Reports and nodes lie inside the file, and nodes inside their parents; the file parsed
 * again at another place of the position space gives the same tree and the same reports; of a file without errors,
 * every declaration alone parses to the same tree; for a file whose only mistakes are missing `;`, the text with these
 * `;` inserted gives the tree of the repairs; and memory is linear in the length of the text.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "diag/fix.h"
#include "diag/render.h"
#include "syntax/dump.h"
#include "syntax/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_AT_LEAST = 1 << 20, BYTES_PER_BYTE = 1024, DEEPEST = 4 * DFL_MAX_DEPTH };

typedef struct {
    dfl_budget budget;
    dfl_arena *arena;
    dfl_source_map *sources;
    dfl_intern *names;
    dfl_sink *sink;
    dfl_syntax syntax;
} parsed;

static void demand(bool truth)
{
    if (!truth)
        __builtin_trap();
}

/* `before` moves the file to another position; `steps` = 0 means no limit. */
static void open_text(parsed *p, const char *before, const char *text, size_t len, uint64_t steps)
{
    *p = (parsed){ .budget.steps_limit = steps };
    p->arena = dfl_arena_new(&p->budget);
    p->sources = dfl_source_map_new(p->arena);
    p->names = dfl_intern_new(p->arena);
    p->sink = dfl_sink_new(p->arena, p->sources);
    if (before)
        dfl_source_add(p->sources, "before.dfl", before, strlen(before));
    p->syntax = dfl_syntax_parse(p->arena, p->names, p->sink, dfl_source_add(p->sources, "fuzz.dfl", text, len));
}

static dfl_strbuf dumped(parsed *p, bool places, const dfl_ast_file *file)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, p->arena);
    dfl_dump_ast(&out, places ? p->sources : NULL, p->names, file);
    return out;
}

static bool same(const dfl_strbuf *a, const dfl_strbuf *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* ---- places --------------------------------------------------------------------------------------------------- */

static void check_place(const parsed *p, dfl_span at)
{
    const dfl_source *s = p->syntax.source;

    demand(at.start >= s->base && at.start <= at.end && at.end <= s->base + s->len);
}

static void check_reports(parsed *p)
{
    demand(p->syntax.ok == (dfl_sink_errors(p->sink) == 0));
    for (size_t i = 0; i < dfl_sink_count(p->sink); i++) {
        const dfl_diag *d = dfl_sink_at(p->sink, i);

        demand(d->severity != DFL_INTERNAL && d->message[0] != '\0');
        if (d->code == DFL_LIMIT_DIAGNOSTICS || (p->budget.why != DFL_STOP_NONE && d->span.end == 0)) /* nowhere */
            continue;
        check_place(p, d->span);
        for (const dfl_label *l = d->labels; l; l = l->next)
            check_place(p, l->span);
        for (const dfl_edit *e = d->edits; e; e = e->next)
            check_place(p, e->span);
    }
    for (uint32_t i = 0; i < p->syntax.n_stray_docs; i++)
        check_place(p, p->syntax.stray_docs[i]);
}

typedef struct {
    const parsed *p;
    uint8_t *nodes, *exprs; /* visited, by id */
    dfl_span inside[DEEPEST];
    uint32_t depth;
} places;

static void enter(places *s, dfl_span at)
{
    check_place(s->p, at);
    demand(s->depth < DEEPEST);
    if (s->depth > 0)
        demand(at.start >= s->inside[s->depth - 1].start && at.end <= s->inside[s->depth - 1].end);
    s->inside[s->depth++] = at;
}

static void enter_node(dfl_walk *walk, const dfl_ast_node *node, const char *as)
{
    places *s = walk->state;

    (void)as;
    demand(node->id < s->p->syntax.file->n_nodes && s->nodes[node->id]++ == 0);
    enter(s, node->span);
}

static void enter_expr(dfl_walk *walk, const dfl_expr *expr, const char *as)
{
    places *s = walk->state;

    (void)as;
    demand(expr->id < s->p->syntax.file->n_exprs && s->exprs[expr->id]++ == 0);
    enter(s, expr->span);
}

static void enter_ref(dfl_walk *walk, const dfl_ast_ref *ref, const char *as)
{
    (void)as;
    enter(walk->state, ref->span);
}

static void leave_node(dfl_walk *walk, const dfl_ast_node *node)
{
    (void)node;
    ((places *)walk->state)->depth--;
}

static void leave_expr(dfl_walk *walk, const dfl_expr *expr)
{
    (void)expr;
    ((places *)walk->state)->depth--;
}

static void leave_ref(dfl_walk *walk, const dfl_ast_ref *ref)
{
    (void)ref;
    ((places *)walk->state)->depth--;
}

static void check_tree(const parsed *p)
{
    places s = { .p = p };
    dfl_walk walk = { &s, enter_node, leave_node, enter_expr, leave_expr, enter_ref, leave_ref };

    s.nodes = DFL_NEW_ARRAY(p->arena, uint8_t, p->syntax.file->n_nodes);
    s.exprs = DFL_NEW_ARRAY(p->arena, uint8_t, p->syntax.file->n_exprs);
    dfl_walk_file(&walk, p->syntax.file);
    demand(s.depth == 0);
}

/* ---- the same again ------------------------------------------------------------------------------------------- */

static void check_elsewhere(parsed *p)
{
    const dfl_source *s = p->syntax.source;
    dfl_strbuf said, again_said, tree, again_tree;
    parsed again;

    open_text(&again, "let x = 1;\n", s->text, s->len, 0);
    dfl_strbuf_init(&said, p->arena);
    dfl_strbuf_init(&again_said, again.arena);
    dfl_render_short(&said, p->sink);
    dfl_render_short(&again_said, again.sink);
    tree = dumped(p, true, p->syntax.file);
    again_tree = dumped(&again, true, again.syntax.file);
    demand(same(&said, &again_said) && same(&tree, &again_tree));
    dfl_arena_free(again.arena);
}

static void check_declarations(parsed *p)
{
    const dfl_source *s = p->syntax.source;
    uint32_t from = s->base;

    for (const dfl_ast_node *n = p->syntax.file->items; n; n = n->next) {
        dfl_ast_node alone = *n;
        dfl_ast_file file = { .items = &alone };
        dfl_strbuf want, got;
        parsed part;

        alone.next = NULL;
        open_text(&part, NULL, s->text + (from - s->base), n->span.end - from, 0);
        want = dumped(p, false, &file);
        got = dumped(&part, false, part.syntax.file);
        demand(part.syntax.ok && same(&want, &got));
        dfl_arena_free(part.arena);
        from = n->span.end;
    }
}

static void check_repairs(parsed *p)
{
    dfl_strbuf want, got;
    dfl_fixed fixed;
    parsed again;

    for (size_t i = 0; i < dfl_sink_count(p->sink); i++)
        if (dfl_sink_at(p->sink, i)->code != DFL_SYNTAX_NO_SEMICOLON)
            return;
    fixed = dfl_fix_apply(p->syntax.source, p->sink);
    demand(fixed.applied == dfl_sink_count(p->sink) && fixed.skipped == 0);
    open_text(&again, NULL, fixed.text, fixed.len, 0);
    want = dumped(p, false, p->syntax.file);
    got = dumped(&again, false, again.syntax.file);
    demand(again.syntax.ok && same(&want, &got));
    dfl_arena_free(again.arena);
}

/* Parses with a limit on steps: the stop must be reported. */
static void check_stop(const char *text, size_t len)
{
    parsed p;

    open_text(&p, NULL, text, len, 1 + len / 3);
    demand(p.budget.why == DFL_STOP_NONE || !p.syntax.ok);
    check_reports(&p);
    check_tree(&p);
    dfl_arena_free(p.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parsed p;

    open_text(&p, NULL, (const char *)data, size, 0);
    demand(p.budget.memory_used <= BYTES_AT_LEAST + BYTES_PER_BYTE * size);
    check_reports(&p);
    check_tree(&p);
    check_elsewhere(&p);
    if (p.syntax.ok)
        check_declarations(&p);
    else
        check_repairs(&p);
    dfl_arena_free(p.arena);
    check_stop((const char *)data, size);
    return 0;
}
