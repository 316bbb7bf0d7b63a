/* `dflc map`: fills the holes of mappings. */
#include "api/session.h"

#include <string.h>

#include "solve/rewrite.h"

void dfl_session_set_search(dfl_session *s, const dfl_search_options *options)
{
    s->search = (dfl_search_options){ 0 };
    memcpy(&s->search, options, options->size < sizeof s->search ? options->size : sizeof s->search);
}

static bool declares_param(const dfl_session *s, const dfl_ast_file *file, const char *name)
{
    for (const dfl_ast_node *node = file->items; node; node = node->next)
        if (node->kind == DFL_AST_PARAM && strcmp(dfl_sym_text(s->names, node->name.sym), name) == 0)
            return true;
    return false;
}

/* Reports given values of parameters that the root file does not declare: the rewritten file could not contain them. */
static void refuse_imported_params(dfl_session *s)
{
    const dfl_ast_file *file = dfl_loaded_syntax(s, s->root)->file;

    for (size_t i = 0; i < s->given.n; i++)
        if (!declares_param(s, file, s->given.at[i].name)) {
            dfl_diag *d = dfl_report(s->sink, DFL_NAME_WRONG_KIND, (dfl_span){ 0, 0 },
                                     "`map` writes this file, and an import declares the `param` `%s`", s->given.at[i].name);

            dfl_diag_help(s->sink, d, "`dflc eval` fills holes and writes no file");
        }
}

dfl_exit dfl_session_map(dfl_session *s, const char *only)
{
    bool is_found = false, has_holes = false;
    dfl_solver solver;

    s->nothing_open = false;
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (!s->program || dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    refuse_imported_params(s);
    dfl_session_preview_checks(s);
    if (dfl_sink_errors(s->sink) > 0 || !dfl_session_may_certify(s, only))
        return dfl_session_status(s);
    solver = dfl_session_solver(s);
    for (uint32_t i = 0; i < s->program->n_designs && dfl_budget_ok(&s->budget); i++) {
        const dfl_mapping *m = s->program->designs[i].mapping;
        dfl_stop stopped = DFL_STOP_NONE;

        if (!dfl_design_is_selected(&s->program->designs[i], s->names, only))
            continue;
        is_found = true;
        dfl_sink_work_on(s->sink, m->span);
        has_holes |= m->has_holes;
        if (m->has_holes)
            (void)dfl_solve_mapping(&solver, m, &stopped);
        dfl_solve_record_stop(&solver, stopped);
    }
    if (!is_found)
        dfl_session_refuse_nothing(s, only);
    s->nothing_open = !has_holes && dfl_sink_errors(s->sink) == 0;
    return dfl_session_status(s);
}

/* The edits that write the given values of parameters into the declarations of the root file. */
static const dfl_text_edit *edit_params(dfl_session *s, const dfl_ast_file *file, size_t *n)
{
    dfl_text_edit *edits = DFL_NEW_ARRAY(s->arena, dfl_text_edit, s->given.n + 1);

    *n = 0;
    for (const dfl_ast_node *node = file->items; node; node = node->next) {
        const char *name = node->kind == DFL_AST_PARAM ? dfl_sym_text(s->names, node->name.sym) : "";
        const char *value = dfl_given_text(&s->given, name);

        if (value)
            edits[(*n)++] = (dfl_text_edit){ .span = node->value->span, .text = value };
    }
    return edits;
}

const char *dfl_session_mapped(dfl_session *s, size_t *len)
{
    dfl_edited_file file;
    dfl_rewrite rewrite;
    const char *text = "";
    size_t text_len = 0;

    if (s->root && (s->filled.n > 0 || s->nothing_open)) {
        file = dfl_edited_file_of(s->arena, dfl_session_after(s), s->names, s->sources, dfl_loaded_syntax(s, s->root));
        rewrite = (dfl_rewrite){ .file = &file, .program = s->program, .filled = s->filled.at, .n_filled = s->filled.n };
        rewrite.constants = edit_params(s, file.syntax->file, &rewrite.n_constants);
        text = dfl_rewrite_text(&rewrite, &text_len);
    }
    if (len)
        *len = text_len;
    return text;
}

const char *dfl_session_searches(dfl_session *s, size_t *len)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_z(&out, s->nothing_open ? "nothing to fill: the file has no `?` and no `...`\n" : "");
    dfl_filled_print_searches(s->names, s->filled.at, s->filled.n, s->verbose, &out);
    if (len)
        *len = out.len;
    return out.text;
}
