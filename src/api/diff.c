/* Two reports compared. The text of a mapping in a report is parsed again; its tree is all that is compared of it. */
#include "api/session.h"

#include <string.h>

#include "report/diff/diff.h"

/* A body in the bodies around it. */
typedef struct frame { const struct frame *above; const dfl_ast_node *statements; } frame;

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_source *source;
    const dfl_side_result *result;
    dfl_shape *shape;
} reader;

static const char *path_text(const reader *r, const dfl_ast_path *path)
{
    return dfl_sym_text(r->names, path->text);
}

static const char *span_text(const reader *r, dfl_span span)
{
    return dfl_arena_copy(r->arena, r->source->text + (span.start - r->source->base), span.end - span.start);
}

/* ":128 cyclic", "/16", ""; a loop of single elements may be written without its tile. */
static const char *amount_text(const reader *r, const dfl_ast_node *loop, bool online)
{
    const char *value = loop->value ? span_text(r, loop->value->span) : "", *sign = "";

    if (loop->split == DFL_SPLIT_PARTS)
        sign = "/";
    else if (loop->split == DFL_SPLIT_SIZE && (strcmp(value, "1") != 0 || loop->cyclic))
        sign = ":";
    return dfl_arena_printf(r->arena, "%s%s%s%s", sign, *sign ? value : "", loop->cyclic ? " cyclic" : "",
                            online ? " online" : "");
}

static bool is_listed(const reader *r, const dfl_ast_paths *list, const char *einsum)
{
    for (; list; list = list->next)
        if (strcmp(path_text(r, list->path), einsum) == 0)
            return true;
    return false;
}

static void add_loops(const reader *r, dfl_shape_loops *out, const dfl_ast_node *loop, const char *axis, bool online)
{
    for (; loop; loop = loop->next) {
        const dfl_shape_loop one = { path_text(r, loop->path), axis, amount_text(r, loop, online) };

        DFL_PUSH(r->arena, out, one);
    }
}

/* The loops of one statement, as `einsum` sees them; NULL stands for all. */
static void add_statement(const reader *r, dfl_shape_loops *out, const dfl_ast_node *node, const char *einsum)
{
    if (node->kind == DFL_AST_TEMPORAL)
        add_loops(r, out, node->items, "", node->online);
    if (node->kind == DFL_AST_SPATIAL && (!einsum || !node->paths || is_listed(r, node->paths, einsum)))
        for (const dfl_ast_node *s = node->items; s; s = s->next)
            add_loops(r, out, s->items, path_text(r, s->path), false);
}

/* All loops from the root to the end of a body, or to a statement of it. Depth is bounded by that of the parser. */
static void collect(const reader *r, const frame *f, const dfl_ast_node *end, const char *einsum, dfl_shape_loops *out)
{
    if (f->above)
        collect(r, f->above, NULL, einsum, out);
    for (const dfl_ast_node *n = f->statements; n != end; n = n->next)
        add_statement(r, out, n, einsum);
}

/* ---- keeps ---- */

static bool keeps(const dfl_ast_node *kept, dfl_sym tensor)
{
    for (const dfl_ast_paths *t = kept->paths; t; t = t->next)
        if (t->path->text == tensor)
            return true;
    return false;
}

/* The memory of the last keep of the tensor before a place: a group of a keep statement, or NULL for the end. */
static const char *outer_memory(const reader *r, const frame *f, const dfl_ast_node *end, dfl_sym tensor)
{
    const dfl_ast_node *last = NULL;

    for (; f && !last; f = f->above, end = NULL) {
        bool ended = false;

        for (const dfl_ast_node *n = f->statements; n && !ended; n = n->next)
            for (const dfl_ast_node *k = n->kind == DFL_AST_KEEP ? n->items : NULL; k && !ended; k = k->next) {
                ended = k == end;
                last = !ended && keeps(k, tensor) ? k : last;
            }
    }
    return last ? path_text(r, last->path) : NULL;
}

static const char *place_text(const reader *r, const dfl_shape_loops *above, const dfl_ast_node *kept, bool amounts)
{
    static const char *const modes[] = {
        [DFL_KMODE_NONE] = "", [DFL_KMODE_FRESH] = " fresh", [DFL_KMODE_WINDOW] = " window",
    };
    const char *loops = dfl_shape_text(r->arena, above, NULL, amounts);

    return dfl_arena_printf(r->arena, "%s%s%s", loops ? "below " : "outermost", loops ? loops : "", modes[kept->mode]);
}

/* The keeps of one body. */
static void add_keeps(const reader *r, const frame *f)
{
    for (const dfl_ast_node *n = f->statements; n; n = n->next) {
        dfl_shape_loops above = { 0 };

        if (n->kind == DFL_AST_KEEP)
            collect(r, f, n, NULL, &above);
        for (const dfl_ast_node *k = n->kind == DFL_AST_KEEP ? n->items : NULL; k; k = k->next) {
            dfl_shape_keep one = { .memory = path_text(r, k->path), .place = place_text(r, &above, k, true),
                                   .bare = place_text(r, &above, k, false) };

            for (const dfl_ast_paths *t = k->paths; t; t = t->next) {
                one.tensor = path_text(r, t->path);
                one.outer = outer_memory(r, f, k, t->path->text);
                DFL_PUSH(r->arena, &r->shape->keeps, one);
            }
        }
    }
}

/* ---- branches ---- */

static const char *names_of(const reader *r, const dfl_ast_node *heads)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, r->arena);
    for (; heads; heads = heads->next)
        dfl_strbuf_printf(&out, "%s%s", out.len > 0 ? ", " : "", span_text(r, heads->span));
    return out.text;
}

/* Einsums that share the loops down to the end of the body. Running one after another below none is no fusion. */
static void add_group(const reader *r, const frame *f, bool pipeline, const char *einsums)
{
    dfl_shape_group group = { .einsums = einsums, .how = pipeline ? "pipelined" : "fused" };
    dfl_shape_loops loops = { 0 };
    const char *text;

    collect(r, f, NULL, NULL, &loops);
    text = dfl_shape_text(r->arena, &loops, NULL, true);
    group.loops = text ? text : "nothing";
    if (text || pipeline)
        DFL_PUSH(r->arena, &r->shape->groups, group);
}

static void add_chain(const reader *r, const frame *f, const char *einsum)
{
    dfl_shape_chain chain = { .einsum = einsum };

    collect(r, f, NULL, einsum, &chain.loops);
    DFL_PUSH(r->arena, &r->shape->chains, chain);
}

static const dfl_ast_node *find_branch(const frame *f)
{
    const dfl_ast_node *n = f->statements;

    while (n && n->kind != DFL_AST_FUSE && n->kind != DFL_AST_PIPELINE)
        n = n->next;
    return n;
}

static void read_branch(const reader *r, const frame *f, const dfl_ast_node *heads);

static void read_children(const reader *r, const frame *f, const dfl_ast_node *branch)
{
    dfl_strbuf names;

    dfl_strbuf_init(&names, r->arena);
    for (const dfl_ast_node *child = branch->body; child; child = child->next)
        dfl_strbuf_printf(&names, "%s%s", names.len > 0 ? ", " : "", names_of(r, child->items));
    add_group(r, f, branch->kind == DFL_AST_PIPELINE, names.text);
    for (const dfl_ast_node *child = branch->body; child; child = child->next)
        read_branch(r, &(frame){ f, child->body }, child->items);
}

/* The body of the einsums `heads`. */
static void read_branch(const reader *r, const frame *f, const dfl_ast_node *heads)
{
    const dfl_ast_node *branch = find_branch(f);

    add_keeps(r, f);
    if (branch) {
        read_children(r, f, branch);
        return;
    }
    if (heads && heads->next)
        add_group(r, f, false, names_of(r, heads));
    for (; heads; heads = heads->next)
        add_chain(r, f, span_text(r, heads->span));
}

/* The body of the whole workload. */
static void read_root(const reader *r, const frame *f)
{
    const dfl_ast_node *branch = find_branch(f);
    dfl_strbuf names;

    add_keeps(r, f);
    if (branch) {
        read_children(r, f, branch);
        return;
    }
    dfl_strbuf_init(&names, r->arena);
    for (size_t i = 0; i < r->result->einsums.n; i++) {
        dfl_strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", r->result->einsums.at[i].name);
        add_chain(r, f, r->result->einsums.at[i].name);
    }
    if (r->result->einsums.n > 1)
        add_group(r, f, false, names.text);
}

static const char *overlap_of(const reader *r, const dfl_ast_node *body)
{
    for (; body; body = body->next)
        if (body->kind == DFL_AST_OPTION && body->value &&
            strcmp(dfl_sym_text(r->names, body->name.sym), "overlap") == 0)
            return span_text(r, body->value->span);
    return "";
}

/* NULL when the text cannot be read: then costs are all that is compared. */
static const dfl_shape *shape_of(dfl_arena *arena, const dfl_side_result *result)
{
    dfl_source_map *sources = dfl_source_map_new(arena);
    const dfl_source *source = dfl_source_add(sources, result->name, result->mapping, strlen(result->mapping));
    dfl_intern *names = dfl_intern_new(arena);
    reader r = { arena, names, source, result, DFL_NEW(arena, dfl_shape) };
    dfl_syntax syntax;

    if (!source)
        return NULL;
    syntax = dfl_syntax_parse(arena, names, dfl_sink_new(arena, sources), source);
    if (!syntax.ok || !syntax.file->items || syntax.file->items->kind != DFL_AST_MAPPING)
        return NULL;
    r.shape->overlap = overlap_of(&r, syntax.file->items->body);
    read_root(&r, &(frame){ NULL, syntax.file->items->body });
    dfl_shape_index(arena, r.shape);
    return r.shape;
}

/* The results of one side; false after reporting. */
static bool read_side(dfl_session *s, const dfl_side *side, dfl_side_results *out)
{
    dfl_side_results all = { 0 };

    if (!dfl_diff_read(s->arena, s->sink, side->name, side->report, side->len, &all))
        return false;
    for (size_t i = 0; i < all.n; i++) {
        dfl_side_result one = all.at[i];

        if (side->only && strcmp(side->only, one.name) != 0)
            continue;
        one.shape = one.mapping ? shape_of(s->arena, &one) : NULL;
        DFL_PUSH(s->arena, out, one);
    }
    if (out->n == 0 && side->only)
        dfl_report(s->sink, DFL_NAME_UNKNOWN, (dfl_span){ 0, 0 }, "no result of `%s` is called `%s`", side->name,
                   side->only);
    return out->n > 0 || !side->only;
}

/* Of several results the one of a name that the other side was given, if there is one. */
static void keep_name(dfl_side_results *side, const char *name)
{
    for (size_t i = 0; i < side->n; i++)
        if (side->n > 1 && strcmp(side->at[i].name, name) == 0) {
            side->at[0] = side->at[i];
            side->n = 1;
        }
}

dfl_pair *dfl_session_compare(dfl_session *s, const dfl_result_item *from, const dfl_result_item *to)
{
    const dfl_result_item *const items[2] = { from, to };
    dfl_difference *difference = DFL_NEW(s->arena, dfl_difference);
    dfl_side_results sides[2] = { { .n = 0 }, { .n = 0 } };

    for (int i = 0; i < 2; i++) {
        dfl_results one = s->results;
        dfl_side side = { .name = one.file };
        dfl_strbuf text;

        one.items = items[i];
        one.n_items = 1;
        one.n_checks = 0;
        dfl_strbuf_init(&text, s->arena);
        dfl_report_json(&text, &one);
        side.report = text.text;
        side.len = text.len;
        if (!read_side(s, &side, &sides[i]))
            return NULL;
    }
    dfl_diff_compare(s->arena, &sides[0], &sides[1], difference);
    return difference->pairs.n > 0 ? &difference->pairs.at[0] : NULL;
}

const char *dfl_session_diff(dfl_session *s, const dfl_side *from, const dfl_side *to, dfl_format format,
                             bool details, dfl_exit *status, size_t *len)
{
    dfl_side_results a = { 0 }, b = { 0 };
    dfl_difference difference = { 0 };
    dfl_strbuf out;

    if (!read_side(s, from, &a) || !read_side(s, to, &b)) {
        *status = dfl_session_status(s);
        return NULL;
    }
    if (from->only && !to->only)
        keep_name(&b, from->only);
    if (to->only && !from->only)
        keep_name(&a, to->only);
    dfl_strbuf_init(&out, s->arena);
    dfl_diff_compare(s->arena, &a, &b, &difference);
    if (format == DFL_FORMAT_JSON)
        dfl_diff_json(&out, &difference);
    else
        dfl_diff_text(&out, &difference, details);
    *status = dfl_session_status(s);
    if (*status == DFL_EXIT_OK && difference.differs)
        *status = DFL_EXIT_FINDINGS;
    if (len)
        *len = out.len;
    return out.text;
}
