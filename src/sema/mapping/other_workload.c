/* A mapping whose lines are written for another workload: one error at the workload instead of one at every name. */
#include "sema/mapping/mapping_internal.h"

#include "support/strbuf.h"

/* Names in the lines of a mapping. */
typedef struct {
    dfl_mapping_draft *draft;
    DFL_VEC(dfl_sym) unknown; /* each once, in the order of the text */
    bool knows;               /* some name is one of the workload, or may be one */
} line_names;

static void add_name(line_names *names, const dfl_ast_path *path)
{
    dfl_elaborated_workload *workload = names->draft->workload;

    if (path->n == 0) /* a hole */
        return;
    names->knows |= path->n != 1 || dfl_lookup_find(dfl_mapping_tensor_names(names->draft), path->text) != NULL ||
                    dfl_lookup_find(&workload->ranks, path->text) != NULL ||
                    dfl_lookup_find(&workload->derived, path->text) != NULL ||
                    dfl_mapping_is_tensor_group(names->draft, path->text);
    for (size_t i = 0; i < names->unknown.n; i++)
        if (names->unknown.at[i] == path->text)
            return;
    DFL_PUSH(names->draft->sema->arena, &names->unknown, path->text);
}

/* Lists the ranks and tensors of a line. */
static void add_line(line_names *names, const dfl_ast_node *line)
{
    for (const dfl_ast_node *item = line->items; item != NULL; item = item->next) {
        const dfl_ast_node *loop = item->kind == DFL_AST_SPREAD ? item->items : item;

        if (loop != NULL && loop->kind == DFL_AST_LOOP)
            add_name(names, loop->path);
        for (const dfl_ast_paths *p = item->kind == DFL_AST_KEPT ? item->paths : NULL; p != NULL; p = p->next)
            add_name(names, p->path);
    }
}

static void add_lines(line_names *names, const dfl_ast_node *body)
{
    for (const dfl_ast_node *n = body; n != NULL && !names->knows; n = n->next) {
        if (n->kind == DFL_AST_TEMPORAL || n->kind == DFL_AST_SPATIAL || n->kind == DFL_AST_KEEP)
            add_line(names, n);
        if (n->kind == DFL_AST_FUSE || n->kind == DFL_AST_PIPELINE || n->kind == DFL_AST_BRANCH)
            add_lines(names, n->body);
        names->knows |= n->kind == DFL_AST_USE;
    }
}

bool dfl_mapping_is_for_other(dfl_mapping_draft *draft, const dfl_ast_node *body, dfl_sym mapping, dfl_span at)
{
    enum { LEAST = 3 }; /* fewer unknown names are likely to be misspelt */
    line_names names = { .draft = draft, .knows = draft->workload->instances.n > 1 || draft->workload->draft.partial };
    dfl_sema *sema = draft->sema;
    dfl_strbuf text;
    dfl_diag *d;

    add_lines(&names, body);
    if (names.knows || names.unknown.n < LEAST)
        return false;
    dfl_strbuf_init(&text, sema->arena);
    for (size_t i = 0; i < names.unknown.n; i++)
        dfl_strbuf_printf(&text, "%s`%s`", i > 0 ? ", " : "", dfl_sema_text(sema, names.unknown.at[i]));
    d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, at, "the lines of `%s` are for another workload than `%s`",
                   dfl_sema_text(sema, mapping), dfl_sema_text(sema, draft->workload->decl->name));
    dfl_diag_here(sema->sink, d, "has none of %s", text.text);
    dfl_diag_help(sema->sink, d, "name the workload that has these ranks and tensors");
    draft->broken = true;
    return true;
}
