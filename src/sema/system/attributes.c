/* Attributes of parts: their values by what the attribute takes, and overrides from outside. */
#include "sema/system/machine.h"

#include <string.h>

#include "lint/unit.h"

static const char *text(const dfl_setup *c, dfl_sym sym)
{
    return dfl_sema_text(c->s, sym);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

static bool take_word(dfl_setup *c, const dfl_expr *e, dfl_sys_value *out)
{
    uint32_t n = 0;
    dfl_sym *args;
    dfl_span *spans;

    if (e->kind != DFL_EXPR_PATH && e->kind != DFL_EXPR_CALL)
        return false;
    out->kind = DFL_SYS_WORD;
    out->word = e->path->text;
    if (e->kind == DFL_EXPR_PATH)
        return true;
    args = DFL_NEW_ARRAY(c->s->arena, dfl_sym, e->n_args);
    spans = DFL_NEW_ARRAY(c->s->arena, dfl_span, e->n_args);
    for (const dfl_expr *a = e->args; a != NULL; a = a->next, n++) {
        args[n] = a->kind == DFL_EXPR_PATH ? a->path->text : 0;
        spans[n] = a->span;
        if (args[n] == 0) {
            dfl_report(c->s->sink, DFL_EXPR_TYPE, a->span, "expected the name of a role or tensor");
            c->sys->broken = true;
            return true;
        }
    }
    out->args = args;
    out->arg_spans = spans;
    out->n_args = n;
    return true;
}

static bool is_word(const dfl_setup *c, const dfl_expr *e, const char *word)
{
    return e->kind == DFL_EXPR_PATH && e->path->n == 1 && strcmp(text(c, e->path->text), word) == 0;
}

/* False when the value is wrong and was reported. */
static bool take_value(dfl_setup *c, const dfl_attr_info *info, const dfl_expr *e, dfl_sys_value *out)
{
    dfl_value v;

    *out = (dfl_sys_value){ .kind = DFL_SYS_UNKNOWN, .span = e->span };
    if (info->takes == DFL_TAKES_ANY)
        return true;
    if ((info->takes >= DFL_TAKES_TENSORS || info->takes == DFL_TAKES_WORD) && take_word(c, e, out))
        return true;
    if (info->takes == DFL_TAKES_SIZE && is_word(c, e, "unlimited"))
        return take_word(c, e, out);
    v = dfl_eval(c->s, c->scope, e);
    switch (v.kind) {
    case DFL_VALUE_BAD:
        c->sys->broken = true;
        return false;
    case DFL_VALUE_UNKNOWN:
        return true;
    case DFL_VALUE_QUANTITY:
        out->kind = DFL_SYS_QUANTITY;
        out->quantity = v.quantity;
        return true;
    case DFL_VALUE_STRING:
        out->kind = DFL_SYS_STRING;
        out->word = v.text;
        return true;
    case DFL_VALUE_BOOL:
        break;
    }
    dfl_report(c->s->sink, DFL_EXPR_TYPE, e->span, "expected a value, found a condition");
    c->sys->broken = true;
    return false;
}

/* ---- setting -------------------------------------------------------------------------------------------------- */

static dfl_sym joined(dfl_setup *c, dfl_sym group, dfl_sym name)
{
    if (group == 0)
        return name;
    return dfl_intern_z(c->s->names, dfl_arena_printf(c->s->arena, "%s.%s", text(c, group), text(c, name)));
}

static void set(dfl_setup *c, uint32_t part, int info, dfl_sym key, dfl_sym sub, dfl_span span, const dfl_expr *values,
                uint32_t layer)
{
    dfl_sys_attr attr = { .info = info, .name = dfl_attr_at(info)->name, .keys = { key, sub }, .span = span, .layer = layer };
    dfl_sys_value *at;
    uint32_t n = 0;
    bool ok = true;

    for (const dfl_expr *e = values; e != NULL; e = e->next)
        n++;
    at = DFL_NEW_ARRAY(c->s->arena, dfl_sys_value, n);
    n = 0;
    for (const dfl_expr *e = values; e != NULL; e = e->next) {
        ok = take_value(c, dfl_attr_at(info), e, &at[n++]) && ok;
        if (c->sys->parts.at[part].kind == DFL_PART_MEMORY && dfl_sys_lints(c->sys, e->span))
            dfl_lint_bit_byte(c->s->sink, c->sys->lints, e, dfl_attr_at(info)->name, &dfl_attr_at(info)->dim);
    }
    if (!ok) {
        c->sys->parts.at[part].silent = true;
        return;
    }
    attr.values = at;
    attr.n_values = n;
    dfl_sys_set(c->sys, part, attr);
}

void dfl_setup_attribute(dfl_setup *c, uint32_t part, dfl_ast_name group, dfl_ast_name name, const dfl_expr *values,
                         uint32_t layer)
{
    dfl_part_kind kind = c->sys->parts.at[part].kind;
    const char *full = text(c, joined(c, group.sym, name.sym));
    int info = dfl_attr_find(full, kind);
    bool free_key = info >= 0 && dfl_attr_at(info)->name[strlen(dfl_attr_at(info)->name) - 1] == '*';

    if (name.sym == 0)
        return;
    if (info < 0) {
        dfl_attr_report_unknown(c->sys, full, kind, group.sym != 0 ? dfl_span_join(group.span, name.span) : name.span);
        c->sys->parts.at[part].silent = true; /* it may be the misspelt one that would be missing */
        return;
    }
    set(c, part, info, free_key ? name.sym : 0, 0, name.span, values, layer);
}

/* `rate { mac { bf16 = ...; } }`: the innermost braces of an attribute with free keys. */
static void set_deep(dfl_setup *c, uint32_t part, dfl_ast_name group, const dfl_ast_node *n)
{
    dfl_part_kind kind = c->sys->parts.at[part].kind;
    int info = dfl_attr_find(text(c, joined(c, group.sym, n->name.sym)), kind);

    for (const dfl_ast_node *a = n->body; a != NULL; a = a->next) {
        if (a->kind != DFL_AST_ATTR || info < 0) {
            dfl_attr_report_unknown(c->sys, text(c, joined(c, joined(c, group.sym, n->name.sym), a->name.sym)), kind,
                                    a->name.span);
            continue;
        }
        set(c, part, info, n->name.sym, a->name.sym, a->name.span, a->args, 0);
    }
}

/* The attributes in the braces of a part. */
static void set_group(dfl_setup *c, uint32_t part, const dfl_ast_node *n)
{
    dfl_part_kind kind = c->sys->parts.at[part].kind;

    if (!dfl_attr_has_group(text(c, n->name.sym), kind)) {
        dfl_attr_report_unknown(c->sys, text(c, n->name.sym), kind, n->name.span);
        return;
    }
    for (const dfl_ast_node *a = n->body; a != NULL; a = a->next) {
        if (a->kind == DFL_AST_ATTR)
            dfl_setup_attribute(c, part, n->name, a->name, a->args, 0);
        else if (a->kind == DFL_AST_ATTRS)
            set_deep(c, part, n->name, a);
    }
}

void dfl_setup_attributes(dfl_setup *c, uint32_t part, const dfl_ast_node *items)
{
    const dfl_ast_name none = { 0 };

    for (const dfl_ast_node *n = items; n != NULL; n = n->next) {
        if (n->kind == DFL_AST_ATTR)
            dfl_setup_attribute(c, part, none, n->name, n->args, 0);
        else if (n->kind == DFL_AST_ATTRS)
            set_group(c, part, n);
    }
}

/* ---- overrides ------------------------------------------------------------------------------------------------ */

static const dfl_part_kind overridable[] = { DFL_PART_MEMORY, DFL_PART_COMPUTE, DFL_PART_NETWORK, DFL_PART_ELEMENT };
enum { N_OVERRIDABLE = sizeof overridable / sizeof overridable[0] };

typedef struct {
    dfl_lookup by_kind[N_OVERRIDABLE];
} targets;

static targets list_targets(dfl_setup *c, uint32_t first)
{
    targets t;

    for (int k = 0; k < N_OVERRIDABLE; k++)
        dfl_lookup_init(&t.by_kind[k], c->s->arena, c->s->names);
    for (uint32_t i = first; i < c->sys->parts.n; i++)
        for (int k = 0; k < N_OVERRIDABLE; k++)
            if (c->sys->parts.at[i].kind == overridable[k] && c->sys->parts.at[i].name != 0)
                dfl_lookup_add(&t.by_kind[k], c->sys->parts.at[i].name, i);
    return t;
}

/* The dotted text of the first `n` names of a path, 0 for none. */
static dfl_sym first_names(dfl_setup *c, const dfl_ast_path *path, uint32_t n, const dfl_ast_name **rest)
{
    dfl_sym joined_name = 0;
    const dfl_ast_name *at = path->head;

    for (; n > 0; n--, at++)
        joined_name = joined(c, joined_name, at->sym);
    *rest = at;
    return joined_name;
}

static void report_no_part(dfl_setup *c, const dfl_ast_path *path, targets *t)
{
    const dfl_ast_name *rest;
    dfl_sym name = first_names(c, path, path->n > 1 ? path->n - 1 : 1, &rest), near = 0;
    dfl_diag *d = dfl_report(c->s->sink, DFL_NAME_UNKNOWN, path->head->span, "no part `%s` to override",
                             text(c, name));

    for (int k = 0; k < N_OVERRIDABLE && near == 0 && !dfl_sink_drops(c->s->sink); k++)
        near = dfl_lookup_suggest(&t->by_kind[k], name);
    if (near != 0)
        dfl_diag_help(c->s->sink, d, "did you mean `%s`?", text(c, near));
    c->sys->broken = true;
}

/* The part that the first `n` names mean, for an attribute `attr` that its kind has. DFL_NONE if there is none;
 * `*some` gets a part that has the name but not the attribute. */
static uint32_t find_part(dfl_setup *c, targets *t, const dfl_ast_path *path, uint32_t n, uint32_t root, dfl_sym *attr,
                          uint32_t *some)
{
    const dfl_ast_name *rest;
    dfl_sym part = first_names(c, path, n, &rest);
    uint32_t found = DFL_NONE;

    *attr = 0;
    for (; rest < path->head + path->n; rest++)
        *attr = joined(c, *attr, rest->sym);
    if (n == 0 && path->n > 1)
        return DFL_NONE;
    if (n == 0) {
        *some = root;
        return dfl_attr_find(text(c, *attr), DFL_PART_ELEMENT) >= 0 ? root : DFL_NONE;
    }
    for (int k = 0; k < N_OVERRIDABLE; k++) {
        const dfl_named *f = dfl_lookup_find(&t->by_kind[k], part);

        if (f == NULL)
            continue;
        if (f->ambiguous) {
            dfl_diag *d = dfl_report(c->s->sink, DFL_NAME_AMBIGUOUS, path->span, "`%s` is ambiguous", text(c, part));

            dfl_diag_label(c->s->sink, d, c->sys->parts.at[f->id].span, "`%s`",
                           text(c, c->sys->parts.at[f->id].name));
            dfl_diag_label(c->s->sink, d, c->sys->parts.at[f->other].span, "`%s`",
                           text(c, c->sys->parts.at[f->other].name));
            c->sys->broken = true;
        }
        *some = f->id;
        if (dfl_attr_find(text(c, *attr), overridable[k]) >= 0)
            found = f->id;
    }
    return found;
}

void dfl_setup_overrides(dfl_setup *c, const dfl_ast_node *binds, uint32_t root, uint32_t first)
{
    targets t;
    uint32_t layer;

    if (binds == NULL)
        return;
    t = list_targets(c, first);
    layer = ++c->sys->layers;
    for (const dfl_ast_node *b = binds; b != NULL && dfl_sema_ok(c->s); b = b->next) {
        uint32_t part = DFL_NONE, some = DFL_NONE;
        dfl_sym attr = 0, shown = 0;

        if (b->path->n == 0 || b->value == NULL)
            continue;
        /* `read.energy` is two names: the shorter part first */
        for (uint32_t n = b->path->n - 1, tries = 0; part == DFL_NONE && tries < 2; n--, tries++) {
            part = find_part(c, &t, b->path, n, root, &attr, &some);
            if (some != DFL_NONE && shown == 0)
                shown = attr;
            if (n == 0)
                break;
        }
        if (part == DFL_NONE && some == DFL_NONE) {
            report_no_part(c, b->path, &t);
        } else if (part == DFL_NONE) {
            dfl_attr_report_unknown(c->sys, text(c, shown), c->sys->parts.at[some].kind, dfl_path_last(b->path)->span);
        } else {
            int info = dfl_attr_find(text(c, attr), c->sys->parts.at[part].kind);
            bool free_key = dfl_attr_at(info)->name[strlen(dfl_attr_at(info)->name) - 1] == '*';

            set(c, part, info, free_key ? dfl_path_last(b->path)->sym : 0, 0, b->path->span, b->value, layer);
        }
    }
}
