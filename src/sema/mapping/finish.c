/* The finished mapping: its target as text, its objectives, its options. */
#include "ir/unit_text.h"
#include "lint/system.h"
#include "sema/mapping/checks.h"
#include "sema/mapping/mapping_internal.h"

/* Writes a reference with the values of all parameters. The declaration has the name that the root file uses for it. */
static void write_reference(dfl_sema *sema, dfl_strbuf *out, const dfl_ast_ref *ref, const dfl_scope *from,
                            const dfl_decl *decl, const dfl_scope *args)
{
    bool first = true;

    dfl_strbuf_z(out, dfl_sema_text(sema, from->module->is_root ? ref->path->text : decl->name));
    for (const dfl_ast_node *p = decl->node->more->params; p != NULL; p = p->next) {
        const dfl_value *v = &dfl_scope_find_here(args, p->name.sym)->value;

        dfl_strbuf_z(out, first ? "(" : ", ");
        dfl_strbuf_z(out, dfl_sema_text(sema, p->name.sym));
        dfl_strbuf_z(out, " = ");
        if (v->kind == DFL_VALUE_STRING)
            dfl_strbuf_printf(out, "\"%s\"", dfl_sema_text(sema, v->text));
        else if (v->kind == DFL_VALUE_BOOL)
            dfl_strbuf_z(out, v->truth ? "1 == 1" : "1 == 0");
        else
            dfl_quantity_write(out, v->quantity);
        first = false;
    }
    if (!first)
        dfl_strbuf_char(out, ')');
}

/* The target of the mapping as text: "gemm(M = 64) on chip(rows = 4)". */
static const char *write_target(dfl_mapping_draft *draft, const dfl_mapping_parts *parts)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, draft->sema->arena);
    write_reference(draft->sema, &out, parts->work, parts->work_scope, draft->workload->decl, draft->workload->args);
    dfl_strbuf_z(&out, " on ");
    write_reference(draft->sema, &out, parts->machine, parts->machine_scope, draft->system->decl, draft->system->args);
    return out.text;
}

/* Lowers the objectives of `minimize` and the criteria of `pareto`. False after reporting. */
static bool lower_goals(dfl_mapping_draft *draft, dfl_mapping *mapping)
{
    struct { DFL_VEC(const dfl_val *) of; dfl_strbuf text; } best = { 0 }, front = { 0 };
    bool ok = true;

    dfl_strbuf_init(&best.text, draft->sema->arena);
    dfl_strbuf_init(&front.text, draft->sema->arena);
    for (size_t i = 0; i < draft->goals.n; i++) {
        dfl_check_context ctx = { .sema = draft->sema, .scope = draft->goals.at[i].scope, .inside = true, .ok = true };

        for (const dfl_expr *expr = draft->goals.at[i].node->args; expr != NULL; expr = expr->next) {
            const dfl_val *val = dfl_check_lower_value(&ctx, expr);
            const char *text = dfl_sema_slice(draft->sema, expr->span);

            if (draft->goals.at[i].node->kind == DFL_AST_MINIMIZE) {
                dfl_strbuf_printf(&best.text, "%s%s", best.of.n > 0 ? ", " : "", text);
                DFL_PUSH(draft->sema->arena, &best.of, val);
            } else {
                dfl_strbuf_printf(&front.text, "%s%s", front.of.n > 0 ? ", " : "", text);
                DFL_PUSH(draft->sema->arena, &front.of, val);
            }
        }
        ok = ok && ctx.ok;
    }
    mapping->minimize = best.of.at;
    mapping->n_minimize = (uint32_t)best.of.n;
    mapping->minimize_text = best.of.n > 0 ? best.text.text : NULL;
    mapping->front = front.of.at;
    mapping->n_front = (uint32_t)front.of.n;
    mapping->front_text = front.text.text;
    mapping->front_span = draft->pareto;
    return ok;
}

/* Reports E0433 at the first loop of a plan with one size for ranks of different extents, whose parts would differ in number.
   False after that. */
static bool check_sizes(dfl_mapping_draft *draft, const dfl_mapping *m)
{
    const dfl_body *root = m->root;
    const dfl_rank *ranks = m->workload->ranks;

    for (uint32_t i = 0; i + 1 < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i], *next = &root->lines[i + 1];
        const char *name = dfl_sema_text(draft->sema, line->loop_name);
        dfl_diag *d;

        if (dfl_line_is_first(root, i + 1) || line->cyclic || ranks[line->rank].extent == ranks[next->rank].extent ||
            (line->by == DFL_BY_HOLE ? line->hole->by : line->by) == DFL_BY_PARTS)
            continue;
        d = dfl_report(draft->sema->sink, DFL_MAP_SIZE_SHARED, line->span, "one size for ranks `%s` of different extents", name);
        for (uint32_t k = i; k <= i + 1; k++)
            dfl_diag_label(draft->sema->sink, d, ranks[root->lines[k].rank].span, "`%s` has an extent of %lld",
                           dfl_sema_text(draft->sema, ranks[root->lines[k].rank].name),
                           (long long)ranks[root->lines[k].rank].extent);
        dfl_diag_help(draft->sema->sink, d, "write a number of parts, as in `%s/%lld`, or a line for each rank", name,
                      line->kind == DFL_LINE_SPATIAL ? (long long)m->system->axes[line->axis].size : 4);
        return false;
    }
    return true;
}

const dfl_mapping *dfl_mapping_finish(dfl_mapping_draft *draft, const dfl_decl *decl, const dfl_mapping_parts *parts,
                                      dfl_body *root)
{
    dfl_mapping *mapping = DFL_NEW(draft->sema->arena, dfl_mapping);
    dfl_options options = draft->options;

    options.overlap_perfect |= decl->module->overlap_perfect;
    *mapping = (dfl_mapping){ .name = decl->name,
                              .span = decl->node->name.span,
                              .text = decl->node->span,
                              .doc = decl->node->more->doc,
                              .workload = draft->workload->workload,
                              .system = dfl_mapping_resolve_selections(draft, draft->system->system),
                              .target = write_target(draft, parts),
                              .root = root,
                              .bodies = draft->bodies.at,
                              .n_bodies = (uint32_t)draft->bodies.n,
                              .has_holes = draft->has_holes,
                              .hole_span = draft->hole_span,
                              .n_choices = draft->n_choices,
                              .options = options,
                              .decisions = draft->decisions.at,
                              .n_decisions = (uint32_t)draft->decisions.n };
    if (!lower_goals(draft, mapping))
        return NULL;
    if (dfl_mapping_is_plan(mapping))
        return check_sizes(draft, mapping) ? mapping : NULL;
    if (!dfl_mapping_check_shared(draft))
        return NULL;
    if (draft->refused.start != 0) {
        mapping->refused = draft->refused_what;
        mapping->refused_span = draft->refused;
    }
    if (draft->plan_option.sym != 0)
        dfl_lint_attribute_no_effect(draft->sema->sink, dfl_module_lints(draft->sema, decl->module), draft->plan_option.span,
                                     dfl_sema_text(draft->sema, draft->plan_option.sym), dfl_sema_text(draft->sema, decl->name),
                                     "it matters only for a plan over chips");
    return mapping;
}

const dfl_template *dfl_mapping_finish_template(const dfl_mapping_draft *draft, const dfl_decl *decl,
                                                const dfl_mapping_parts *parts)
{
    dfl_template *template = DFL_NEW(draft->sema->arena, dfl_template);
    const dfl_elaborated_workload *workload = draft->workload;
    const dfl_elaborated_system *system = draft->system;
    const dfl_ast_node *missing = workload->missing != NULL ? workload->missing : system->missing;

    *template = (dfl_template){ .name = decl->name, .span = decl->node->name.span, .missing = parts->unknown,
                                .owner = decl->name, .missing_span = parts->unknown_span,
                                .from_root = decl->module->is_root };
    if (template->missing == 0 && missing != NULL) {
        template->missing = missing->name.sym;
        template->missing_span = missing->name.span;
        template->lacks = missing == workload->missing ? DFL_LACKS_WORKLOAD : DFL_LACKS_SYSTEM;
        template->owner = missing == workload->missing ? workload->decl->name : system->decl->name;
    }
    return template;
}
