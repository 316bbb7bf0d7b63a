#include "sema/expr/given.h"

#include "sema/expr/dimension_errors.h"
#include "sema/expr/eval.h"
#include "sema/names/module.h"

/* Reports that no declaration has the name of a given parameter. */
static void report_missing(dfl_sema *sema, const dfl_ast_path *path)
{
    const size_t before = dfl_sink_count(sema->sink);

    (void)dfl_decl_need(sema, sema->root, path, DFL_AST_PARAM);
    if (dfl_sink_count(sema->sink) > before)
        dfl_diag_note(sema->sink, dfl_sink_at(sema->sink, before), "neither `%s` nor its imports declare it",
                      sema->root->file.source->name);
}

/* The declaration of a given parameter; NULL after reporting that it is no `param`, and for an optional one that is none. */
static dfl_decl *find_param(dfl_sema *sema, const dfl_sema_given *given)
{
    dfl_ast_name names[] = { { given->alias, given->span }, { given->name, given->span } };
    const bool has_alias = given->alias != 0;
    const char *text = dfl_sema_text(sema, given->name);
    const dfl_ast_path path = { .head = has_alias ? names : names + 1, .n = has_alias ? 2 : 1, .span = given->span,
                                .text = has_alias ? dfl_intern_z(sema->names, dfl_arena_printf(sema->arena, "%s.%s",
                                                        dfl_sema_text(sema, given->alias), text)) : given->name };
    bool broken;
    dfl_decl *found = dfl_decl_find(sema, sema->root, &path, &broken);
    dfl_diag *d;

    if (found != NULL && found->node->kind == DFL_AST_PARAM)
        return found;
    if (given->is_optional)
        return NULL;
    if (found == NULL) {
        report_missing(sema, &path);
        return NULL;
    }
    if (found->node->kind != DFL_AST_LET)
        return dfl_decl_need(sema, sema->root, &path, DFL_AST_PARAM);
    d = dfl_report(sema->sink, DFL_NAME_WRONG_KIND, given->span, "`%s` is a `let`, and only a `param` can be set",
                   dfl_sema_text(sema, path.text));
    dfl_diag_label(sema->sink, d, found->node->name.span, "declared here");
    dfl_diag_help(sema->sink, d, "declare it as `param %s`", text);
    return NULL;
}

static const char *kind_text(const dfl_value *value)
{
    return value->kind == DFL_VALUE_BOOL ? "a condition" : value->kind == DFL_VALUE_STRING ? "a string" : "a number";
}

/* Reports a given value of another kind or dimension than the value `own` in the declaration. The parameter is then BAD, so that
   its uses report nothing. */
static void check_given(dfl_sema *sema, dfl_decl *decl, const dfl_value *own, const dfl_value *now)
{
    const bool is_known = own->kind != DFL_VALUE_BAD && own->kind != DFL_VALUE_UNKNOWN && now->kind != DFL_VALUE_BAD &&
                          now->kind != DFL_VALUE_UNKNOWN;
    dfl_diag *d;

    if (!is_known)
        return;
    if (own->kind != now->kind)
        d = dfl_report(sema->sink, DFL_EXPR_TYPE, decl->given->span, "expected %s, found %s", kind_text(own), kind_text(now));
    else if (own->kind == DFL_VALUE_QUANTITY && !dfl_dim_equal(own->quantity.dim, now->quantity.dim))
        d = dfl_report(sema->sink, DFL_UNIT_DIMENSION, decl->given->span, "expected %s, found %s",
                       dfl_arith_dim_text(sema, own->quantity.dim), dfl_arith_dim_text(sema, now->quantity.dim));
    else
        return;
    dfl_diag_label(sema->sink, d, decl->node->span, "declared here");
    decl->value = DFL_BAD;
}

void dfl_given_apply(dfl_sema *sema)
{
    const dfl_sema_input *input = sema->input;
    DFL_VEC(dfl_decl *) decls = { 0 };

    for (size_t i = 0; i < input->n_given; i++) {
        dfl_decl *decl = find_param(sema, &input->given[i]);

        if (decl == NULL)
            continue;
        if (input->given[i].is_found)
            *input->given[i].is_found = true;
        decl->given = input->given[i].value;
        DFL_PUSH(sema->arena, &decls, decl);
    }
    for (size_t i = 0; i < decls.n; i++) {
        dfl_decl *decl = decls.at[i];
        const dfl_value now = dfl_eval_decl(sema, decl, (dfl_span){ 0 });
        const dfl_value own = dfl_eval(sema, dfl_scope_new(sema, NULL, decl->module), decl->node->value);

        check_given(sema, decl, &own, &now);
    }
}
