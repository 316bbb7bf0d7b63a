/* Evaluation of the indices of paths. */
#include "sema/expr/members.h"

#include <string.h>

#include "sema/expr/eval.h"
#include "support/strbuf.h"

const dfl_ast_path *dfl_path_resolve(dfl_sema *sema, dfl_scope *scope, const dfl_ast_path *path)
{
    dfl_ast_path *out;
    dfl_strbuf whole;

    if (path->members == NULL)
        return path;
    out = DFL_NEW(sema->arena, dfl_ast_path);
    *out = *path;
    out->members = NULL;
    out->head = DFL_NEW_ARRAY(sema->arena, dfl_ast_name, path->n);
    memcpy(out->head, path->head, path->n * sizeof *out->head);
    for (const dfl_ast_member *m = path->members; m != NULL; m = m->next) {
        int64_t value;
        bool unknown;

        if (!dfl_eval_int(sema, scope, m->index, "an index of a family", INT64_MIN, INT64_MAX, &value, &unknown))
            return NULL;
        out->head[m->at].sym = dfl_intern_z(sema->names, dfl_arena_printf(sema->arena, "%s[%lld]",
                                                                          dfl_sema_text(sema, out->head[m->at].sym),
                                                                          (long long)value));
    }
    dfl_strbuf_init(&whole, sema->arena);
    for (uint32_t i = 0; i < out->n; i++)
        dfl_strbuf_printf(&whole, "%s%s", i > 0 ? "." : "", dfl_sema_text(sema, out->head[i].sym));
    out->text = dfl_intern_text(sema->names, whole.text, whole.len);
    return out;
}
