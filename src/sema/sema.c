/* The whole of a file: every declaration checked once, in the order of the text. */
#include "sema/sema.h"

#include <string.h>

#include "sema/mapping/checks.h"
#include "sema/mapping/mapping.h"

/* ---- declarations --------------------------------------------------------------------------------------------- */

static void check_constant(dfl_sema *s, dfl_decl *d)
{
    dfl_values values = { 0 };
    bool unknown;

    (void)dfl_eval_decl(s, d, (dfl_span){ 0 });
    if (d->node->more->domain != NULL)
        (void)dfl_eval_domain(s, dfl_scope_new(s, NULL, d->unit), d->node->more->domain, &values, &unknown);
}

static void check_op(dfl_sema *s, dfl_decl *d)
{
    const dfl_ast_node *n = d->node;
    dfl_scope *scope = dfl_scope_new(s, NULL, d->unit);
    dfl_symmap seen = { 0 };
    dfl_value v;

    for (uint32_t i = 0; i < n->more->n_names; i++) {
        const dfl_ast_name *p = &n->more->names[i];

        const dfl_ast_name *first = dfl_symmap_get(&seen, p->sym);

        if (first != NULL)
            dfl_scope_twice(s, p->span, first->span, "declared", dfl_sema_text(s, p->sym));
        else
            dfl_symmap_put(s->arena, &seen, p->sym, (void *)(uintptr_t)p);
    }
    if (n->more->over.sym != 0)
        dfl_scope_declare(s, scope, n->more->over.sym, n->more->over.span, DFL_NAMES_VALUE)->value = DFL_UNKNOWN;
    v = n->more->over.sym != 0 ? dfl_eval(s, scope, n->value) : dfl_eval_decl(s, d, (dfl_span){ 0 });
    if (v.kind == DFL_VALUE_QUANTITY && !dfl_dim_equal(v.quantity.dim, dfl_dim_of(DFL_BASE_OPS))) {
        dfl_diag *diag = dfl_report(s->sink, DFL_UNIT_DIMENSION, n->value->span,
                                    "the cost of an operation is a number of FLOP");

        dfl_diag_help(s->sink, diag, "write it with its unit, as in `1FLOP`");
    }
}

/* No file but std.ops itself declares an operation of std.ops. */
static void check_redefined(dfl_sema *s, dfl_decl *d)
{
    dfl_decl *std;
    dfl_diag *diag;

    std = dfl_unit_ops(s) == NULL || s->ops == d->unit ? NULL : dfl_symmap_get(&s->ops->by_name, d->name);
    if (std == NULL)
        return;
    diag = dfl_report(s->sink, DFL_NAME_REDEFINES_STD, d->node->name.span, "`%s` is an operation of std.ops",
                      dfl_sema_text(s, d->name));
    dfl_diag_label(s->sink, diag, std->node->name.span, "declared here");
    dfl_diag_help(s->sink, diag, "use another name");
}

static void add_check(dfl_sema *s, const dfl_ast_node *n, dfl_scope *scope, dfl_sym inside)
{
    dfl_checking c = { .s = s, .scope = scope, .inside = inside != 0 };
    dfl_check check;

    if (dfl_check_lower(&c, n, inside, &check))
        DFL_PUSH(s->arena, &s->checks, check);
}

static void check_workload(dfl_sema *s, dfl_decl *d)
{
    dfl_sized *w;

    if (d->node->more->ref->path->n == 1 && strcmp(dfl_sema_text(s, d->node->more->ref->path->text), "train") == 0)
        return; /* refused where it is used */
    w = dfl_workload_default(s, d);
    if (w == NULL || w->broken || w->workload == NULL)
        return;
    DFL_PUSH(s->arena, &s->workloads, ((dfl_sized_workload){ w->workload, d->unit->root }));
    for (size_t i = 0; i < w->checks.n; i++)
        add_check(s, w->checks.at[i].node, w->checks.at[i].scope, d->name);
}

static void check_system(dfl_sema *s, dfl_decl *d)
{
    const dfl_machine *m = dfl_machine_default(s, d);

    if (m != NULL && m->system != NULL)
        DFL_PUSH(s->arena, &s->systems, m->system);
}

static void check_mapping(dfl_sema *s, dfl_decl *d)
{
    const dfl_drafted *drafted = dfl_draft_declare(s, d);

    if (drafted->template != NULL)
        DFL_PUSH(s->arena, &s->templates, *drafted->template);
    if (drafted->mapping == NULL)
        return;
    DFL_PUSH(s->arena, &s->designs, ((dfl_design){ drafted->mapping, d->unit->root }));
    for (uint32_t i = 0; i < drafted->n_checks; i++)
        add_check(s, drafted->checks[i].node, drafted->checks[i].scope, d->name);
}

/* ---- sweeps: names and units only ----------------------------------------------------------------------------- */

static void check_values(dfl_sema *s, dfl_scope *scope, const dfl_expr *args)
{
    dfl_checking c = { .s = s, .scope = scope, .inside = true };

    for (const dfl_expr *e = args; e != NULL; e = e->next)
        (void)dfl_check_value(&c, e);
}

static void check_sweep(dfl_sema *s, dfl_decl *d)
{
    dfl_scope *scope = dfl_scope_new(s, NULL, d->unit);
    const dfl_ast_node *n = d->node;

    for (const dfl_ast_node *l = n->body; l != NULL; l = l->next)
        for (const dfl_ast_node *v = l->kind == DFL_AST_OVER ? l->items : NULL; v != NULL; v = v->next) {
            dfl_values values = { 0 };
            bool unknown;
            dfl_binding *b;

            (void)dfl_eval_domain(s, scope, v->more->domain, &values, &unknown);
            b = dfl_scope_declare(s, scope, v->name.sym, v->name.span, DFL_NAMES_VALUE);
            if (b != NULL)
                b->value = values.n > 0 ? values.at[0] : DFL_BAD;
        }
    (void)dfl_workload_of(s, d->unit, scope, n->more->work);
    (void)dfl_machine_of(s, d->unit, scope, n->more->machine);
    for (const dfl_ast_node *l = n->body; l != NULL; l = l->next) {
        if (l->kind == DFL_AST_REQUIRE || l->kind == DFL_AST_MINIMIZE || l->kind == DFL_AST_PARETO)
            check_values(s, scope, l->args);
        else if (l->kind == DFL_AST_SWEEP_MAPPING)
            (void)dfl_decl_need(s, d->unit, l->path, DFL_AST_MAPPING);
    }
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static void check_decl(dfl_sema *s, dfl_decl *d)
{
    switch ((int)d->node->kind) {
    case DFL_AST_LET:
    case DFL_AST_PARAM:
        check_constant(s, d);
        break;
    case DFL_AST_OP:
        check_redefined(s, d);
        check_op(s, d);
        break;
    case DFL_AST_WORKLOAD: check_workload(s, d); break;
    case DFL_AST_SYSTEM:   check_system(s, d); break;
    case DFL_AST_MAPPING:  check_mapping(s, d); break;
    case DFL_AST_SWEEP:    check_sweep(s, d); break;
    default:               break;
    }
}

const dfl_program *dfl_sema_run(const dfl_sema_input *input, dfl_sema_file root)
{
    dfl_sema *s = DFL_NEW(input->arena, dfl_sema);
    dfl_program *p = DFL_NEW(input->arena, dfl_program);

    s->in = input;
    s->arena = input->arena;
    s->names = input->names;
    s->sink = input->sink;
    s->budget = dfl_arena_budget(input->arena);
    s->syntax_errors = dfl_sink_errors(s->sink) > 0;
    s->root = dfl_unit_open(s, root);
    for (size_t i = 0; i < s->root->decls.n && dfl_sema_ok(s); i++)
        check_decl(s, s->root->decls.at[i]);
    for (size_t i = 0; i < s->root->checks.n && dfl_sema_ok(s); i++)
        add_check(s, s->root->checks.at[i], dfl_scope_new(s, NULL, s->root), 0);
    (void)dfl_sema_ok(s); /* reports a stop that a loop only noticed */
    *p = (dfl_program){ .designs = s->designs.at, .n_designs = (uint32_t)s->designs.n,
                        .templates = s->templates.at, .n_templates = (uint32_t)s->templates.n,
                        .checks = s->checks.at, .n_checks = (uint32_t)s->checks.n,
                        .workloads = s->workloads.at, .n_workloads = (uint32_t)s->workloads.n,
                        .systems = s->systems.at, .n_systems = (uint32_t)s->systems.n };
    return p;
}
