/*
 * Reads the shape of a mapping from its text in a report. The text is parsed, not analysed: the declarations of its
 * workload and system are not in the report.
 */
#include "report/diff/shape_read.h"

#include <string.h>

#include "syntax/syntax.h"

/* A body, linked to its enclosing bodies. */
typedef struct frame { const struct frame *outer; const dfl_ast_node *statements; } frame;

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_source *source;
    const dfl_side_result *result;
    dfl_shape *shape;
} reader;

static const char *span_text(const reader *r, dfl_span span)
{
    return dfl_arena_copy(r->arena, r->source->text + (span.start - r->source->base), span.end - span.start);
}

/* The text of a path. That of a member of a family has its index as it is written: "W[0]". */
static const char *path_text(const reader *r, const dfl_ast_path *path)
{
    return path->members ? span_text(r, path->span) : dfl_sym_text(r->names, path->text);
}

/* The tile size of a loop as text: ":128 cyclic", "/16", or "" for tiles of one element, written as `:1` or omitted. */
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

/* Adds the loops of one statement that apply to `einsum`; NULL = that apply to at least one einsum. */
static void add_statement(const reader *r, dfl_shape_loops *out, const dfl_ast_node *node, const char *einsum)
{
    if (node->kind == DFL_AST_TEMPORAL)
        add_loops(r, out, node->items, "", node->online);
    if (node->kind == DFL_AST_SPATIAL && (!einsum || !node->paths || is_listed(r, node->paths, einsum)))
        for (const dfl_ast_node *s = node->items; s; s = s->next)
            add_loops(r, out, s->items, path_text(r, s->path), false);
}

/* Adds all loops from the root to the end of a body, or to statement `end` of the body. The parser bounds the depth. */
static void collect_loops(const reader *r, const frame *f, const dfl_ast_node *end, const char *einsum, dfl_shape_loops *out)
{
    if (f->outer)
        collect_loops(r, f->outer, NULL, einsum, out);
    for (const dfl_ast_node *n = f->statements; n != end; n = n->next)
        add_statement(r, out, n, einsum);
}

/* ---- keeps ---- */

static bool keeps_tensor(const reader *r, const dfl_ast_node *kept, const char *tensor)
{
    for (const dfl_ast_paths *t = kept->paths; t; t = t->next)
        if (strcmp(path_text(r, t->path), tensor) == 0)
            return true;
    return false;
}

/* The memory of the innermost keep of a tensor above a place; NULL = no keep. The place is before the group `end` of a keep
   statement of body `f` or, if `end` is NULL, at the end of the body. */
static const char *outer_memory(const reader *r, const frame *f, const dfl_ast_node *end, const char *tensor)
{
    const dfl_ast_node *last = NULL;

    for (; f && !last; f = f->outer, end = NULL) {
        bool ended = false;

        for (const dfl_ast_node *n = f->statements; n && !ended; n = n->next)
            for (const dfl_ast_node *k = n->kind == DFL_AST_KEEP ? n->items : NULL; k && !ended; k = k->next) {
                ended = k == end;
                last = !ended && keeps_tensor(r, k, tensor) ? k : last;
            }
    }
    return last ? path_text(r, last->path) : NULL;
}

/* The loops around a keep as text: "below m:128, n window", "outermost"; `amounts` = with tile sizes. */
static const char *place_text(const reader *r, const dfl_shape_loops *above, const dfl_ast_node *kept, bool amounts)
{
    static const char *const modes[] = {
        [DFL_KMODE_NONE] = "", [DFL_KMODE_FRESH] = " fresh", [DFL_KMODE_WINDOW] = " window",
    };
    const char *loops = dfl_shape_text(r->arena, above, NULL, amounts);

    return dfl_arena_printf(r->arena, "%s%s%s", loops ? "below " : "outermost", loops ? loops : "", modes[kept->mode]);
}

/* Adds the keeps of one body. */
static void add_keeps(const reader *r, const frame *f)
{
    for (const dfl_ast_node *n = f->statements; n; n = n->next) {
        dfl_shape_loops above = { 0 };

        if (n->kind == DFL_AST_KEEP)
            collect_loops(r, f, n, NULL, &above);
        for (const dfl_ast_node *k = n->kind == DFL_AST_KEEP ? n->items : NULL; k; k = k->next) {
            dfl_shape_keep one = { .memory = path_text(r, k->path), .place = place_text(r, &above, k, true),
                                   .bare_place = place_text(r, &above, k, false) };

            for (const dfl_ast_paths *t = k->paths; t; t = t->next) {
                one.tensor = path_text(r, t->path);
                one.outer = outer_memory(r, f, k, one.tensor);
                DFL_PUSH(r->arena, &r->shape->keeps, one);
            }
        }
    }
}

/* ---- branches ---- */

/* The einsums of a branch as text: "QK, AV". */
static const char *names_text(const reader *r, const dfl_ast_node *heads)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, r->arena);
    for (; heads; heads = heads->next)
        dfl_strbuf_printf(&out, "%s%s", out.len > 0 ? ", " : "", span_text(r, heads->span));
    return out.text;
}

/* Adds the einsums of a body as a group that shares loops. Without shared loops only a pipeline is a group, since einsums
   that run one after another are not fused. */
static void add_group(const reader *r, const frame *f, bool pipeline, const char *einsums)
{
    dfl_shape_group group = { .einsums = einsums, .how = pipeline ? "pipelined" : "fused" };
    dfl_shape_loops loops = { 0 };
    const char *text;

    collect_loops(r, f, NULL, NULL, &loops);
    text = dfl_shape_text(r->arena, &loops, NULL, true);
    group.loops = text ? text : "nothing";
    if (text || pipeline)
        DFL_PUSH(r->arena, &r->shape->groups, group);
}

/* Adds all loops of one einsum. */
static void add_chain(const reader *r, const frame *f, const char *einsum)
{
    dfl_shape_chain chain = { .einsum = einsum };

    collect_loops(r, f, NULL, einsum, &chain.loops);
    DFL_PUSH(r->arena, &r->shape->chains, chain);
}

/* The `fuse` or `pipeline` statement of a body, or NULL. */
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
        dfl_strbuf_printf(&names, "%s%s", names.len > 0 ? ", " : "", names_text(r, child->items));
    add_group(r, f, branch->kind == DFL_AST_PIPELINE, names.text);
    for (const dfl_ast_node *child = branch->body; child; child = child->next)
        read_branch(r, &(frame){ f, child->body }, child->items);
}

/* Reads the body of the branch for the einsums `heads`. */
static void read_branch(const reader *r, const frame *f, const dfl_ast_node *heads)
{
    const dfl_ast_node *branch = find_branch(f);

    add_keeps(r, f);
    if (branch) {
        read_children(r, f, branch);
        return;
    }
    if (heads && heads->next)
        add_group(r, f, false, names_text(r, heads));
    for (; heads; heads = heads->next)
        add_chain(r, f, span_text(r, heads->span));
}

/* Reads the body of the whole workload. */
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

/* The value of the statement `option overlap`; "" = the mapping has none. */
static const char *overlap_text(const reader *r, const dfl_ast_node *body)
{
    for (; body; body = body->next)
        if (body->kind == DFL_AST_OPTION && body->value &&
            strcmp(dfl_sym_text(r->names, body->name.sym), "overlap") == 0)
            return span_text(r, body->value->span);
    return "";
}

const dfl_shape *dfl_shape_read(dfl_arena *arena, const dfl_side_result *result)
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
    r.shape->overlap = overlap_text(&r, syntax.file->items->body);
    read_root(&r, &(frame){ NULL, syntax.file->items->body });
    dfl_shape_index(arena, r.shape);
    return r.shape;
}
