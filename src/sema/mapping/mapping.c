/* Declared mappings: what they are for, what they run on, and the text that they or their template consist of. */
#include "sema/mapping/mapping.h"

#include <string.h>

#include "sema/mapping/checks.h"

/* The parts of a declaration, gathered along the templates it is derived from. */
typedef struct {
    const dfl_ast_ref *work, *machine;
    dfl_scope *work_scope, *machine_scope; /* where their arguments are evaluated */
    const dfl_ast_node *body;
    dfl_scope *scope;                      /* parameters of the template that has the body */
    dfl_sym unknown;                       /* a parameter without a value, or 0 */
    dfl_span unknown_span;
} gathered;

/* The first parameter without a value, or 0. */
static dfl_sym first_unknown(const dfl_scope *scope)
{
    for (size_t i = 0; i < scope->order.n; i++)
        if (dfl_scope_find_here(scope, scope->order.at[i])->value.kind == DFL_VALUE_UNKNOWN)
            return scope->order.at[i];
    return 0;
}

dfl_decl *dfl_draft_template(dfl_sema *s, dfl_unit *unit, const dfl_ast_ref *ref)
{
    dfl_decl *decl = dfl_decl_need(s, unit, ref->path, DFL_AST_MAPPING);

    if (decl == NULL)
        return NULL;
    if (decl->busy) {
        dfl_diag *d = dfl_report(s->sink, DFL_DECLARATION_CYCLE, ref->path->span, "mapping `%s` contains itself",
                                 dfl_sema_text(s, decl->name));

        dfl_diag_label(s->sink, d, decl->node->name.span, "declared here");
        return NULL;
    }
    dfl_draft_declare(s, decl);
    return decl->broken ? NULL : decl;
}

static bool gather(dfl_sema *s, dfl_decl *decl, dfl_scope *scope, gathered *g)
{
    const dfl_ast_node *n = decl->node, *missing;

    if (g->unknown == 0 && (g->unknown = first_unknown(scope)) != 0)
        g->unknown_span = dfl_scope_find_here(scope, g->unknown)->span;
    if (g->work == NULL && n->more->work->path->n > 0) {
        g->work = n->more->work;
        g->work_scope = scope;
    }
    if (g->machine == NULL && n->more->machine->path->n > 0) {
        g->machine = n->more->machine;
        g->machine_scope = scope;
    }
    if (n->more->ref->path->n == 0) {
        g->body = n->body;
        g->scope = scope;
        return true;
    }
    decl->base = dfl_draft_template(s, decl->unit, n->more->ref);
    if (decl->base == NULL)
        return false;
    dfl_scope *args = dfl_scope_new(s, NULL, decl->base->unit);
    if (!dfl_args_bind(s, args, decl->base->node->more->params, n->more->ref, scope, decl->base, &missing) ||
        (missing != NULL && !dfl_args_need(s, n->more->ref, missing)))
        return false;
    return gather(s, decl->base, args, g);
}

/* ---- `holds` and its like ------------------------------------------------------------------------------------- */

static void check_names(dfl_draft *d, const dfl_selection *sel, dfl_span span, const char *what, dfl_span use)
{
    for (uint32_t i = 0; i < sel->n_names; i++) {
        dfl_diag *diag;
        dfl_sym near;

        if (dfl_lookup_find(dfl_draft_tensors(d), sel->names[i]) != NULL || d->w->build.open)
            continue;
        diag = dfl_report(d->s->sink, DFL_SYS_HOLDS_UNKNOWN, use, "`%s` of the system names `%s`, which is no tensor of `%s`",
                          what, dfl_sema_text(d->s, sel->names[i]), dfl_sema_text(d->s, d->w->decl->name));
        dfl_diag_label(d->s->sink, diag, span, "declared here");
        near = dfl_sink_drops(d->s->sink) ? 0 : dfl_lookup_suggest(dfl_draft_tensors(d), sel->names[i]);
        if (near != 0)
            dfl_diag_help(d->s->sink, diag, "did you mean `%s`?", dfl_sema_text(d->s, near));
        d->broken = true;
    }
}

static void check_selections(dfl_draft *d, const dfl_system *sys, dfl_span use)
{
    for (uint32_t i = 0; i < sys->n_memories; i++)
        check_names(d, &sys->memories[i].holds, sys->memories[i].span, "holds", use);
    for (uint32_t i = 0; i < sys->n_computes; i++)
        check_names(d, &sys->computes[i].operand_reuse, sys->computes[i].span, "operand_reuse", use);
    for (uint32_t i = 0; i < sys->n_axes; i++) {
        check_names(d, &sys->axes[i].multicast, sys->axes[i].span, "multicast", use);
        check_names(d, &sys->axes[i].reduce, sys->axes[i].span, "reduce", use);
    }
}

/* Names of tensors in selections are replaced by the full names of all that they mean: `F` by `conv1.F`, `conv2.F`. */
static dfl_selection expand(dfl_draft *d, dfl_selection sel)
{
    DFL_VEC(dfl_sym) full = { 0 };
    const dfl_build *b = &d->w->build;

    for (uint32_t i = 0; i < sel.n_names; i++) {
        const char *wanted = dfl_sema_text(d->s, sel.names[i]);
        size_t len = strlen(wanted);

        for (size_t t = 0; t < b->tensors.n; t++) {
            const char *name = dfl_sema_text(d->s, b->tensors.at[t].name);
            size_t n = strlen(name);

            if (n >= len && strcmp(name + n - len, wanted) == 0 && (n == len || name[n - len - 1] == '.'))
                DFL_PUSH(d->s->arena, &full, b->tensors.at[t].name);
        }
    }
    sel.names = full.at;
    sel.n_names = (uint32_t)full.n;
    return sel;
}

static bool names_tensors(const dfl_system *sys)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < sys->n_memories; i++)
        n += sys->memories[i].holds.n_names;
    for (uint32_t i = 0; i < sys->n_computes; i++)
        n += sys->computes[i].operand_reuse.n_names;
    for (uint32_t i = 0; i < sys->n_axes; i++)
        n += sys->axes[i].multicast.n_names + sys->axes[i].reduce.n_names;
    return n > 0;
}

static const dfl_system *with_full_names(dfl_draft *d, const dfl_system *sys)
{
    dfl_system *out;
    dfl_memory *memories;
    dfl_compute *computes;
    dfl_axis *axes;

    if (!names_tensors(sys))
        return sys;
    out = DFL_NEW(d->s->arena, dfl_system);
    memories = DFL_NEW_ARRAY(d->s->arena, dfl_memory, sys->n_memories);
    computes = DFL_NEW_ARRAY(d->s->arena, dfl_compute, sys->n_computes);
    axes = DFL_NEW_ARRAY(d->s->arena, dfl_axis, sys->n_axes);
    for (uint32_t i = 0; i < sys->n_memories; i++) {
        memories[i] = sys->memories[i];
        memories[i].holds = expand(d, memories[i].holds);
    }
    for (uint32_t i = 0; i < sys->n_computes; i++) {
        computes[i] = sys->computes[i];
        computes[i].operand_reuse = expand(d, computes[i].operand_reuse);
    }
    for (uint32_t i = 0; i < sys->n_axes; i++) {
        axes[i] = sys->axes[i];
        axes[i].multicast = expand(d, axes[i].multicast);
        axes[i].reduce = expand(d, axes[i].reduce);
    }
    *out = *sys;
    out->memories = memories;
    out->computes = computes;
    out->axes = axes;
    return out;
}

/* ---- one mapping ---------------------------------------------------------------------------------------------- */

/* A reference with the values of all parameters, as the root file writes it. */
static void write_reference(dfl_sema *s, dfl_strbuf *out, const dfl_ast_ref *ref, const dfl_scope *from,
                            const dfl_decl *decl, const dfl_scope *args)
{
    bool first = true;

    dfl_strbuf_z(out, dfl_sema_text(s, from->unit->root ? ref->path->text : decl->name));
    for (const dfl_ast_node *p = decl->node->more->params; p != NULL; p = p->next) {
        const dfl_value *v = &dfl_scope_find_here(args, p->name.sym)->value;

        dfl_strbuf_z(out, first ? "(" : ", ");
        dfl_strbuf_z(out, dfl_sema_text(s, p->name.sym));
        dfl_strbuf_z(out, " = ");
        if (v->kind == DFL_VALUE_STRING)
            dfl_strbuf_printf(out, "\"%s\"", dfl_sema_text(s, v->text));
        else if (v->kind == DFL_VALUE_BOOL)
            dfl_strbuf_z(out, v->truth ? "1 == 1" : "1 == 0");
        else
            dfl_quantity_write(out, v->quantity);
        first = false;
    }
    if (!first)
        dfl_strbuf_char(out, ')');
}

static const char *write_target(dfl_draft *d, const gathered *g)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, d->s->arena);
    write_reference(d->s, &out, g->work, g->work_scope, d->w->decl, d->w->args);
    dfl_strbuf_z(&out, " on ");
    write_reference(d->s, &out, g->machine, g->machine_scope, d->m->decl, d->m->args);
    return out.text;
}

/* What the mapping is to make small, or the mappings of a front are compared in. False after reporting. */
static bool lower_goals(dfl_draft *d, dfl_mapping *m)
{
    struct { DFL_VEC(const dfl_val *) of; dfl_strbuf text; } best = { 0 }, front = { 0 };
    bool ok = true;

    dfl_strbuf_init(&best.text, d->s->arena);
    dfl_strbuf_init(&front.text, d->s->arena);
    for (size_t i = 0; i < d->goals.n; i++) {
        dfl_checking c = { .s = d->s, .scope = d->goals.at[i].scope, .inside = true, .ok = true };

        for (const dfl_expr *e = d->goals.at[i].node->args; e != NULL; e = e->next) {
            const dfl_val *v = dfl_check_value(&c, e);
            const char *text = dfl_sema_slice(d->s, e->span);

            if (d->goals.at[i].node->kind == DFL_AST_MINIMIZE) {
                dfl_strbuf_printf(&best.text, "%s%s", best.of.n > 0 ? ", " : "", text);
                DFL_PUSH(d->s->arena, &best.of, v);
            } else {
                dfl_strbuf_printf(&front.text, "%s%s", front.of.n > 0 ? ", " : "", text);
                DFL_PUSH(d->s->arena, &front.of, v);
            }
        }
        ok = ok && c.ok;
    }
    m->minimize = best.of.at;
    m->n_minimize = (uint32_t)best.of.n;
    m->minimize_text = best.of.n > 0 ? best.text.text : NULL;
    m->front = front.of.at;
    m->n_front = (uint32_t)front.of.n;
    m->front_text = front.text.text;
    m->front_span = d->pareto;
    return ok;
}

static const dfl_mapping *finish(dfl_draft *d, const dfl_decl *decl, const gathered *g, dfl_body *root)
{
    dfl_mapping *m = DFL_NEW(d->s->arena, dfl_mapping);
    bool overlap = d->overlap_perfect || decl->unit->overlap_perfect;

    *m = (dfl_mapping){ .name = decl->name, .span = decl->node->name.span, .text = decl->node->span,
                        .doc = decl->node->more->doc,
                        .workload = d->w->workload, .system = with_full_names(d, d->m->system),
                        .target = write_target(d, g), .root = root, .bodies = d->bodies.at,
                        .n_bodies = (uint32_t)d->bodies.n, .has_holes = d->has_holes, .hole_span = d->hole_span,
                        .n_choices = d->n_choices,
                        .options = { .overlap_perfect = overlap } };
    if (!lower_goals(d, m))
        return NULL;
    if (d->refused.start != 0) {
        m->refused = "a pipeline over an axis";
        m->refused_span = d->refused;
    } else if (d->m->sys.unsupported.start != 0) {
        m->refused = "an efficiency table";
        m->refused_span = d->m->sys.unsupported;
    }
    return m;
}

static const dfl_template *template_of(dfl_sema *s, const dfl_decl *decl, const gathered *g, const dfl_sized *w,
                                       const dfl_machine *m)
{
    dfl_template *t = DFL_NEW(s->arena, dfl_template);
    const dfl_ast_node *missing = w->missing != NULL ? w->missing : m->missing;

    *t = (dfl_template){ .name = decl->name, .span = decl->node->name.span, .missing = g->unknown, .owner = decl->name,
                         .missing_span = g->unknown_span, .from_root = decl->unit->root };
    if (t->missing == 0 && missing != NULL) {
        t->missing = missing->name.sym;
        t->missing_span = missing->name.span;
        t->lacks = missing == w->missing ? DFL_LACKS_WORKLOAD : DFL_LACKS_SYSTEM;
        t->owner = missing == w->missing ? w->decl->name : m->decl->name;
    }
    return t;
}

static void lower(dfl_sema *s, dfl_decl *decl, const gathered *g, dfl_sized *w, dfl_machine *m, dfl_drafted *out)
{
    dfl_draft d = { .s = s, .w = w, .m = m };
    dfl_span option = { 0 };
    dfl_place_in p = { .d = &d, .scope = g->scope, .unit = g->scope->unit, .option = &option };
    size_t before = dfl_sink_count(s->sink);
    dfl_body *root;
    uint32_t *all;

    d.template = g->unknown != 0 || w->workload == NULL || m->system == NULL;
    dfl_draft_list(&d);
    if (d.n_einsums == 0) {
        if (!w->build.open)
            dfl_report(s->sink, DFL_MAP_EINSUM_MISSING, g->work->span, "workload `%s` has no einsum to map",
                       dfl_sema_text(s, w->decl->name));
        decl->broken = true;
        return;
    }
    all = DFL_NEW_ARRAY(s->arena, uint32_t, d.n_einsums);
    for (uint32_t i = 0; i < d.n_einsums; i++)
        all[i] = i;
    root = dfl_draft_new_body(&d, NULL, decl->node->name.span, all, d.n_einsums);
    dfl_draft_chain(&p, g->body, root);
    if (decl->node->more->ref->path->n > 0)
        dfl_sema_blame(s, before, decl->node->more->ref->span, "with the values given here");
    out->checks = d.checks.at;
    out->n_checks = (uint32_t)d.checks.n;
    if (!d.template)
        check_selections(&d, m->system, g->machine->path->span);
    decl->broken |= d.broken;
    if (!d.template && !d.broken && dfl_sema_ok(s))
        out->mapping = finish(&d, decl, g, root);
    if (d.template && !d.broken && !w->broken && !m->broken)
        out->template = template_of(s, decl, g, w, m);
}

const dfl_drafted *dfl_draft_declare(dfl_sema *s, dfl_decl *decl)
{
    dfl_drafted *out = decl->drafted;
    dfl_scope *scope;
    gathered g = { 0 };
    const dfl_ast_node *missing;
    dfl_sized *w;
    dfl_machine *m;

    if (out != NULL)
        return out;
    out = DFL_NEW(s->arena, dfl_drafted);
    decl->drafted = out;
    decl->broken = true;
    if (s->nesting >= DFL_SEMA_MAX_NESTING) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, decl->node->name.span, "mappings are derived more than %d deep",
                   DFL_SEMA_MAX_NESTING);
        return out;
    }
    scope = dfl_scope_new(s, NULL, decl->unit);
    decl->busy = true;
    s->nesting++;
    if (dfl_args_bind(s, scope, decl->node->more->params, NULL, scope, decl, &missing) && gather(s, decl, scope, &g) &&
        g.work != NULL && g.machine != NULL) {
        w = dfl_workload_of(s, g.work_scope->unit, g.work_scope, g.work);
        m = dfl_machine_of(s, g.machine_scope->unit, g.machine_scope, g.machine);
        decl->broken = w == NULL || m == NULL;
        if (!decl->broken)
            lower(s, decl, &g, w, m, out);
    }
    s->nesting--;
    decl->busy = false;
    return out;
}
