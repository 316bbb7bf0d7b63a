/* The root file: each declaration is analysed once, in the order of the text. */
#include "sema/sema.h"

#include "sema/expr/dimension_errors.h"
#include "sema/expr/eval.h"
#include "sema/expr/given.h"
#include "sema/expr/sets.h"
#include "sema/mapping/checks.h"
#include "sema/mapping/elaborate.h"
#include "sema/names/module.h"
#include "sema/system/elaborate.h"
#include "sema/workload/elaborate.h"

/* Evaluates a constant, and for a `param` also its domain. */
static void check_constant(dfl_sema *sema, dfl_decl *decl)
{
    dfl_values values = { 0 };
    bool unknown;

    (void)dfl_eval_decl(sema, decl, (dfl_span){ 0 });
    if (decl->node->more->domain != NULL)
        (void)dfl_eval_set(sema, dfl_scope_new(sema, NULL, decl->module), decl->node->more->domain, &values, &unknown);
}

/* Checks the parameters and the cost of an operation. */
static void check_op(dfl_sema *sema, dfl_decl *decl)
{
    const dfl_ast_node *node = decl->node;
    dfl_scope *scope = dfl_scope_new(sema, NULL, decl->module);
    dfl_symmap seen = { 0 };
    dfl_value v;

    for (uint32_t i = 0; i < node->more->n_names; i++) {
        const dfl_ast_name *p = &node->more->names[i];

        const dfl_ast_name *first = dfl_symmap_get(&seen, p->sym);

        if (first != NULL)
            dfl_scope_report_twice(sema, p->span, first->span, "declared", dfl_sema_text(sema, p->sym));
        else
            dfl_symmap_put(sema->arena, &seen, p->sym, (void *)(uintptr_t)p);
    }
    if (node->more->over.sym != 0)
        dfl_scope_declare(sema, scope, node->more->over.sym, node->more->over.span, DFL_ENTRY_VALUE)->value = DFL_UNKNOWN;
    v = node->more->over.sym != 0 ? dfl_eval(sema, scope, node->value) : dfl_eval_decl(sema, decl, (dfl_span){ 0 });
    if (v.kind == DFL_VALUE_QUANTITY && !dfl_dim_equal(v.quantity.dim, dfl_dim_of(DFL_BASE_OPS))) {
        dfl_diag *diag = dfl_report(sema->sink, DFL_UNIT_DIMENSION, node->value->span,
                                    "the cost of an operation is a number of FLOP");

        dfl_diag_help(sema->sink, diag, "write it with its unit, as in `1FLOP`");
    }
}

/* Reports an operation of std.ops that another file declares. */
static void check_redefined(dfl_sema *sema, dfl_decl *decl)
{
    dfl_decl *std;
    dfl_diag *diag;

    std = dfl_module_std_ops(sema) == NULL || sema->std_ops == decl->module
              ? NULL
              : dfl_symmap_get(&sema->std_ops->by_name, decl->name);
    if (std == NULL)
        return;
    diag = dfl_report(sema->sink, DFL_NAME_REDEFINES_STD, decl->node->name.span, "`%s` is an operation of std.ops",
                      dfl_sema_text(sema, decl->name));
    dfl_diag_label(sema->sink, diag, std->node->name.span, "declared here");
    dfl_diag_help(sema->sink, diag, "use another name");
}

/* Lowers a check into the results. `inside`: name of the enclosing declaration, or 0. */
static void add_check(dfl_sema *sema, const dfl_ast_node *node, dfl_scope *scope, dfl_sym inside)
{
    dfl_check_context ctx = { .sema = sema, .scope = scope, .inside = inside != 0 };
    dfl_check check;

    if (dfl_check_lower(&ctx, node, inside, &check))
        DFL_PUSH(sema->arena, &sema->checks, check);
}

/* Elaborates a workload at its defaults into the results, with its checks. */
static void check_workload(dfl_sema *sema, dfl_decl *decl)
{
    dfl_elaborated_workload *workload;

    workload = dfl_workload_elaborate_default(sema, decl);
    if (workload == NULL || workload->broken || workload->workload == NULL)
        return;
    DFL_PUSH(sema->arena, &sema->workloads, ((dfl_sized_workload){ workload->workload, decl->module->is_root }));
    for (size_t i = 0; i < workload->checks.n; i++)
        add_check(sema, workload->checks.at[i].node, workload->checks.at[i].scope, decl->name);
}

/* Elaborates a system at its defaults into the results. */
static void check_system(dfl_sema *sema, dfl_decl *decl)
{
    const dfl_elaborated_system *system = dfl_system_elaborate_default(sema, decl);

    if (system != NULL && system->system != NULL)
        DFL_PUSH(sema->arena, &sema->systems, system->system);
}

/* Elaborates a mapping into the results, with its checks. */
static void check_mapping(dfl_sema *sema, dfl_decl *decl)
{
    const dfl_elaborated_mapping *elaborated = dfl_mapping_elaborate(sema, decl);

    if (elaborated->template != NULL)
        DFL_PUSH(sema->arena, &sema->templates, *elaborated->template);
    if (elaborated->mapping == NULL)
        return;
    DFL_PUSH(sema->arena, &sema->designs, ((dfl_design){ elaborated->mapping, decl->module->is_root }));
    for (uint32_t i = 0; i < elaborated->n_checks; i++)
        add_check(sema, elaborated->checks[i].node, elaborated->checks[i].scope, decl->name);
}

/* An axis of a sweep: its name in the scope (NULL after reporting that it is taken), and its values. */
typedef struct { dfl_scope_entry *entry; dfl_values values; } sweep_axis;

/* Reports the values of a set that have another kind or dimension than its first one. */
static void check_axis(dfl_sema *sema, const dfl_expr *domain, const dfl_values *values)
{
    const dfl_expr *at = domain != NULL && domain->kind == DFL_EXPR_SET ? domain->args : NULL;

    for (size_t i = 0; at != NULL && i < values->n; i++, at = at->next) {
        const dfl_value *first = &values->at[0], *v = &values->at[i];

        if (first->kind != DFL_VALUE_QUANTITY || v->kind != DFL_VALUE_QUANTITY ||
            dfl_dim_equal(first->quantity.dim, v->quantity.dim))
            continue;
        dfl_diag *d = dfl_report(sema->sink, DFL_UNIT_DIMENSION, at->span,
                                 "the values of an axis differ in dimension: this is %s",
                                 dfl_arith_dim_text(sema, v->quantity.dim));
        dfl_diag_label(sema->sink, d, domain->args->span, "this is %s", dfl_arith_dim_text(sema, first->quantity.dim));
    }
}

/* Elaborates the workload and the system of a sweep with every value of an axis, the other axes at their first values; for
   a long axis, with its first values and its last one. */
static void check_axis_values(dfl_sema *sema, dfl_decl *decl, dfl_scope *scope, const sweep_axis *axis)
{
    enum { MOST = 64 };
    const dfl_value first = axis->values.n > 0 ? axis->values.at[0] : DFL_BAD;

    for (size_t i = 1; axis->entry != NULL && i < axis->values.n && dfl_sema_within_budget(sema); i++) {
        if (i >= MOST && i + 1 < axis->values.n)
            continue;
        if (axis->values.at[i].kind != DFL_VALUE_QUANTITY || first.kind != DFL_VALUE_QUANTITY ||
            !dfl_dim_equal(axis->values.at[i].quantity.dim, first.quantity.dim))
            continue;
        axis->entry->value = axis->values.at[i];
        (void)dfl_workload_elaborate(sema, decl->module, scope, decl->node->more->work);
        (void)dfl_system_elaborate(sema, decl->module, scope, decl->node->more->machine);
    }
    if (axis->entry != NULL)
        axis->entry->value = first;
}

/* Lowers the criteria and the requirements of a sweep into the results, for the type check. */
static void add_sweep(dfl_sema *sema, dfl_decl *decl, dfl_scope *scope, const dfl_elaborated_workload *workload,
                      const dfl_elaborated_system *system)
{
    dfl_check_context ctx = { .sema = sema, .scope = scope, .inside = true };
    DFL_VEC(const dfl_val *) criteria = { 0 };
    DFL_VEC(dfl_check) requirements = { 0 };
    dfl_mapping *mapping = DFL_NEW(sema->arena, dfl_mapping);

    for (const dfl_ast_node *l = decl->node->body; l != NULL; l = l->next) {
        bool requires = l->kind == DFL_AST_REQUIRE;

        if (!requires && l->kind != DFL_AST_MINIMIZE && l->kind != DFL_AST_PARETO)
            continue;
        for (const dfl_expr *expr = l->args; expr != NULL; expr = expr->next) {
            const dfl_val *val = dfl_check_lower_value(&ctx, expr);

            if (!requires)
                DFL_PUSH(sema->arena, &criteria, val);
            else
                DFL_PUSH(sema->arena, &requirements,
                         ((dfl_check){ .kind = DFL_CHECK_REQUIRE, .span = expr->span, .expr = val, .scope = decl->name,
                                       .text = dfl_sema_slice(sema, expr->span) }));
        }
    }
    if (workload == NULL || workload->broken || workload->workload == NULL || system == NULL || system->system == NULL)
        return;
    *mapping = (dfl_mapping){ .name = decl->name, .span = decl->node->name.span, .workload = workload->workload,
                              .system = system->system, .minimize = criteria.at, .n_minimize = (uint32_t)criteria.n };
    DFL_PUSH(sema->arena, &sema->sweeps, ((dfl_sweep){ mapping, requirements.at, (uint32_t)requirements.n }));
}

/* Checks the names, dimensions and values of a sweep. */
static void check_sweep(dfl_sema *sema, dfl_decl *decl)
{
    dfl_scope *scope = dfl_scope_new(sema, NULL, decl->module);
    const dfl_ast_node *node = decl->node;
    const dfl_elaborated_workload *workload;
    const dfl_elaborated_system *system;
    DFL_VEC(sweep_axis) axes = { 0 };

    for (const dfl_ast_node *l = node->body; l != NULL; l = l->next)
        for (const dfl_ast_node *v = l->kind == DFL_AST_OVER ? l->items : NULL; v != NULL; v = v->next) {
            dfl_values values = { 0 };
            bool unknown;
            dfl_scope_entry *entry;

            (void)dfl_eval_set(sema, scope, v->more->domain, &values, &unknown);
            check_axis(sema, v->more->domain, &values);
            entry = dfl_scope_declare(sema, scope, v->name.sym, v->name.span, DFL_ENTRY_VALUE);
            if (entry != NULL)
                entry->value = values.n > 0 ? values.at[0] : DFL_BAD;
            DFL_PUSH(sema->arena, &axes, ((sweep_axis){ entry, values }));
        }
    workload = dfl_workload_elaborate(sema, decl->module, scope, node->more->work);
    system = dfl_system_elaborate(sema, decl->module, scope, node->more->machine);
    for (size_t i = 0; i < axes.n; i++)
        check_axis_values(sema, decl, scope, &axes.at[i]);
    for (const dfl_ast_node *l = node->body; l != NULL; l = l->next)
        if (l->kind == DFL_AST_SWEEP_MAPPING)
            (void)dfl_decl_need(sema, decl->module, l->path, DFL_AST_MAPPING);
    add_sweep(sema, decl, scope, workload, system);
}

/* Analyses a declaration of any kind. */
static void check_decl(dfl_sema *sema, dfl_decl *decl)
{
    switch ((int)decl->node->kind) {
    case DFL_AST_LET:
    case DFL_AST_PARAM:
        check_constant(sema, decl);
        break;
    case DFL_AST_OP:
        check_redefined(sema, decl);
        check_op(sema, decl);
        break;
    case DFL_AST_WORKLOAD: check_workload(sema, decl); break;
    case DFL_AST_SYSTEM:   check_system(sema, decl); break;
    case DFL_AST_MAPPING:  check_mapping(sema, decl); break;
    case DFL_AST_SWEEP:    check_sweep(sema, decl); break;
    default:               break;
    }
}

/* Whether a statement in the list declares or computes a tensor `name`. */
static bool declares_tensor(const dfl_ast_node *items, dfl_sym name)
{
    for (const dfl_ast_node *n = items; n != NULL; n = n->next) {
        if ((n->kind == DFL_AST_TENSOR && n->path->text == name) ||
            (n->kind == DFL_AST_EINSUM && n->more->target->path->text == name) ||
            (n->kind == DFL_AST_TENSORS && declares_tensor(n->items, name)) || declares_tensor(n->body, name) ||
            (n->kind == DFL_AST_IF && declares_tensor(n->more->otherwise, name)))
            return true;
    }
    return false;
}

/* Whether a workload of the file or of its imports has a tensor `name`. */
static bool is_tensor_somewhere(const dfl_sema *sema, dfl_sym name)
{
    for (const dfl_module *m = sema->modules; m != NULL; m = m->next)
        for (size_t i = 0; i < m->decls.n; i++)
            if (m->decls.at[i]->node->kind == DFL_AST_WORKLOAD && declares_tensor(m->decls.at[i]->node->body, name))
                return true;
    return false;
}

/* Warns about names in the `holds` of a system that no mapping has bound to a workload: no tensor, but almost a role. */
static void check_holds(dfl_sema *sema, const dfl_system *system)
{
    dfl_span root = dfl_module_root_span(sema);

    for (uint32_t m = 0; m < system->n_memories; m++)
        for (uint32_t i = 0; i < system->memories[m].holds.n_names; i++) {
            const dfl_selection *holds = &system->memories[m].holds;
            dfl_span span = holds->spans != NULL ? holds->spans[i] : (dfl_span){ 0 };
            dfl_sym near = dfl_role_suggest(sema, holds->names[i]);
            dfl_diag *d;

            if (near == 0 || span.start < root.start || span.end > root.end ||
                dfl_sink_has(sema->sink, DFL_SYS_HOLDS_UNKNOWN, span) || is_tensor_somewhere(sema, holds->names[i]))
                continue;
            d = dfl_report_lint(sema->sink, dfl_module_lints(sema, sema->root), DFL_LINT_ATTRIBUTE_NO_EFFECT, span,
                                "`holds` names `%s`, which is no role and no tensor of a workload in sight",
                                dfl_sema_text(sema, holds->names[i]));
            dfl_diag_fix(sema->sink, d, span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
        }
}

const dfl_program *dfl_sema_run(const dfl_sema_input *input, dfl_sema_file root)
{
    dfl_sema *sema = DFL_NEW(input->arena, dfl_sema);
    dfl_program *p = DFL_NEW(input->arena, dfl_program);

    sema->input = input;
    sema->arena = input->arena;
    sema->names = input->names;
    sema->sink = input->sink;
    sema->budget = dfl_arena_budget(input->arena);
    sema->has_syntax_errors = dfl_sink_errors(sema->sink) > 0;
    sema->root = dfl_module_open(sema, root);
    dfl_given_apply(sema);
    for (size_t i = 0; i < sema->root->decls.n && dfl_sema_within_budget(sema); i++)
        check_decl(sema, sema->root->decls.at[i]);
    for (size_t i = 0; i < sema->root->checks.n && dfl_sema_within_budget(sema); i++)
        add_check(sema, sema->root->checks.at[i], dfl_scope_new(sema, NULL, sema->root), 0);
    for (size_t i = 0; i < sema->systems.n; i++)
        check_holds(sema, sema->systems.at[i]);
    (void)dfl_sema_within_budget(sema); /* reports an exhausted budget that a loop has noticed */
    *p = (dfl_program){ .designs = sema->designs.at, .n_designs = (uint32_t)sema->designs.n,
                        .templates = sema->templates.at, .n_templates = (uint32_t)sema->templates.n,
                        .checks = sema->checks.at, .n_checks = (uint32_t)sema->checks.n,
                        .workloads = sema->workloads.at, .n_workloads = (uint32_t)sema->workloads.n,
                        .systems = sema->systems.at, .n_systems = (uint32_t)sema->systems.n,
                        .sweeps = sema->sweeps.at, .n_sweeps = (uint32_t)sema->sweeps.n };
    return p;
}
