/* Declarations of tensors: roles, shapes, data types. */
#include "sema/workload/workload.h"
#include "sema/expr/types.h"

#include <string.h>

dfl_sym dfl_work_full_name(dfl_work *c, dfl_sym name)
{
    if (c->prefix == 0 && c->family[0] == '\0')
        return name;
    return dfl_intern_z(c->s->names, dfl_arena_printf(c->s->arena, "%s%s%s%s", dfl_sema_text(c->s, c->prefix),
                                                      c->prefix != 0 ? "." : "", dfl_sema_text(c->s, name), c->family));
}

/* ---- data types ----------------------------------------------------------------------------------------------- */

static void unknown_type(dfl_work *c, const dfl_ast_ref *ref)
{
    static const char *const types[] = { "i4", "i8", "i16", "i32", "u8", "fp8", "fp16", "bf16", "tf32", "fp32", "fp64",
                                         "c64", "c128" };
    enum { N = sizeof types / sizeof types[0] };
    dfl_sym known[N], near;
    dfl_diag *d = dfl_report(c->s->sink, DFL_TYPE_UNKNOWN, ref->span, "no data type `%s`",
                             dfl_sema_text(c->s, ref->path->text));

    for (size_t i = 0; i < N; i++)
        known[i] = dfl_intern_z(c->s->names, types[i]);
    near = dfl_suggest(c->s->names, dfl_sema_text(c->s, ref->path->text), known, N);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, ref->path->span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(c->s->sink, d, "data types are i4 i8 i16 i32 u8 fp8 fp16 bf16 tf32 fp32 fp64 c64 c128 bits(n)");
}

bool dfl_work_type(dfl_work *c, const dfl_ast_ref *ref, dfl_dtype *out)
{
    const char *name = dfl_sema_text(c->s, ref->path->text);
    int64_t bits;
    bool unknown;

    *out = (dfl_dtype){ 0 };
    if (ref->path->n == 0)
        return true;
    if (strcmp(name, "bits") == 0 && ref->n_args == 1) {
        if (!dfl_eval_int(c->s, c->scope, ref->args, "a number of bits", 1, 4096, &bits, &unknown)) {
            c->b->broken |= !unknown;
            c->b->unsized |= unknown;
            return unknown;
        }
        out->bits = (uint32_t)bits;
        out->name = dfl_intern_z(c->s->names, dfl_arena_printf(c->s->arena, "bits(%u)", out->bits));
        return true;
    }
    out->bits = ref->has_args ? 0 : dfl_type_bits(name);
    out->name = ref->path->text;
    if (out->bits > 0)
        return true;
    unknown_type(c, ref);
    *out = (dfl_dtype){ 0 };
    c->b->broken = true;
    return false;
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

dfl_build_tensor *dfl_work_new_tensor(dfl_work *c, const dfl_ast_path *path, bool lead, uint32_t n_dims, uint32_t *id)
{
    dfl_build_tensor t = { .span = path->span, .type = c->type, .n_dims = n_dims };
    dfl_binding *b;

    if (path->n > 1) {
        dfl_report(c->s->sink, DFL_NAME_UNKNOWN, path->span, "no tensor `%s`", dfl_sema_text(c->s, path->text));
        c->b->broken = true;
        return NULL;
    }
    b = dfl_scope_declare(c->s, c->scope, path->head->sym, path->span, DFL_NAMES_TENSOR);
    if (b == NULL) {
        c->b->broken = true;
        return NULL;
    }
    t.name = dfl_work_full_name(c, path->head->sym);
    if (lead) {
        t.lead = c->repeats;
        t.n_lead = c->n_repeats;
        t.n_dims += c->n_repeats;
    }
    t.extents = DFL_NEW_ARRAY(c->s->arena, int64_t, t.n_dims);
    for (uint32_t i = 0; i < t.n_lead; i++)
        t.extents[i] = c->b->ranks.at[t.lead[i]].extent;
    *id = b->id = (uint32_t)c->b->tensors.n;
    DFL_PUSH(c->s->arena, &c->b->tensors, t);
    return &c->b->tensors.at[*id];
}

uint32_t dfl_work_find_tensor(dfl_work *c, const dfl_ast_path *path)
{
    const dfl_binding *b;
    const dfl_scope *scope = c->scope;

    for (const dfl_ast_name *n = path->head; n <= dfl_path_last(path); n++) {
        b = n == path->head ? dfl_scope_find(scope, n->sym) : dfl_scope_find_here(scope, n->sym);
        if (b == NULL)
            return DFL_NONE;
        if (n == dfl_path_last(path))
            return b->kind == DFL_NAMES_TENSOR ? b->id : DFL_NONE;
        if (b->instance == NULL)
            return DFL_NONE;
        scope = b->instance;
    }
    return DFL_NONE;
}

void dfl_work_report_no_tensor(dfl_work *c, const dfl_ast_path *path)
{
    const dfl_binding *b;
    dfl_scope *scope = c->scope;
    const dfl_ast_name *n = path->head;
    dfl_sym near;
    dfl_diag *d;

    c->b->broken = true;
    if (c->b->open)
        return;
    for (; n < dfl_path_last(path); n++) {
        b = dfl_scope_find(scope, n->sym);
        if (b == NULL || b->instance == NULL)
            break;
        scope = b->instance;
    }
    d = dfl_report(c->s->sink, DFL_NAME_UNKNOWN, n->span, n == dfl_path_last(path) ? "no tensor `%s`" : "no instance `%s`",
                   dfl_sema_text(c->s, n->sym));
    near = dfl_scope_suggest(c->s, scope, n->sym, n == dfl_path_last(path) ? DFL_NAMES_TENSOR : DFL_NAMES_INSTANCE);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, n->span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
}

/* One dimension of a declaration: `y: H`, a bare rank, or an extent. 0 = unknown, -1 after reporting. */
static int64_t extent_of(dfl_work *c, const dfl_expr *e)
{
    const dfl_binding *b = e->label.sym == 0 && e->kind == DFL_EXPR_PATH && e->path->n == 1
                               ? dfl_scope_find(c->scope, e->path->head->sym) : NULL;
    int64_t extent;
    bool unknown;

    if (b != NULL && b->kind == DFL_NAMES_RANK)
        c->b->ranks.at[b->id].used = true;
    if (b != NULL && b->kind == DFL_NAMES_RANK)
        return c->b->ranks.at[b->id].silent ? -1 : c->b->ranks.at[b->id].extent;
    if (b == NULL && e->label.sym == 0 && e->kind == DFL_EXPR_PATH && e->path->n == 1) {
        bool broken;

        if (dfl_decl_find(c->s, c->scope->unit, e->path, &broken) == NULL && !broken) {
            dfl_affine unused = { 0 };

            dfl_affine_add(c, e, 1, &unused); /* reports the unknown rank */
            return -1;
        }
    }
    if (dfl_eval_int(c->s, c->scope, e, "an extent", 1, INT64_MAX / 2, &extent, &unknown))
        return extent;
    return unknown ? 0 : -1;
}

/* What an applied body declares about a tensor that it was given is checked when all shapes are known. */
static bool claim(dfl_work *c, const dfl_ast_node *t, const int64_t *extents, uint32_t n, dfl_dtype type)
{
    dfl_sym name = t->path->head->sym;
    dfl_given *given = c->given != NULL ? dfl_symmap_get(c->given, name) : NULL;
    dfl_binding *b;

    if (given == NULL)
        return false;
    b = dfl_scope_declare(c->s, c->scope, name, t->path->span, DFL_NAMES_TENSOR);
    c->b->broken |= b == NULL;
    if (b == NULL)
        return true;
    b->id = given->tensor;
    given->used = true;
    DFL_PUSH(c->s->arena, &c->b->claims,
             ((dfl_build_claim){ .tensor = given->tensor, .like = DFL_NONE, .formal = name, .span = given->span,
                                 .n_dims = n, .extents = extents, .type = type }));
    return true;
}

static const dfl_role roles[] = {
    [DFL_AST_NO_ROLE] = DFL_ROLE_INTERMEDIATE, [DFL_AST_INPUT] = DFL_ROLE_INPUT, [DFL_AST_WEIGHT] = DFL_ROLE_WEIGHT,
    [DFL_AST_OUTPUT] = DFL_ROLE_OUTPUT,        [DFL_AST_STATE] = DFL_ROLE_STATE,
};

static void declare_tensor(dfl_work *c, const dfl_ast_node *t, dfl_ast_role role)
{
    int64_t *extents = DFL_NEW_ARRAY(c->s->arena, int64_t, t->n_args + 1);
    bool given, lead = role != DFL_AST_INPUT, bad = false;
    dfl_build_tensor *made;
    dfl_dtype type;
    uint32_t n = 0, id;

    for (const dfl_expr *e = t->args; e != NULL; e = e->next, n++) {
        extents[n] = extent_of(c, e);
        bad |= extents[n] < 0;
        c->b->unsized |= extents[n] == 0;
    }
    c->b->broken |= bad;
    (void)dfl_work_type(c, t->more->type, &type);
    if (type.name == 0)
        type = c->type;
    given = t->path->n == 1 && claim(c, t, extents, n, type);
    if (given)
        return;
    made = dfl_work_new_tensor(c, t->path, lead, n, &id);
    if (made == NULL)
        return;
    made->declared = true;
    made->has_role = true;
    made->role = roles[role];
    made->type = type;
    made->type_span = t->more->type->span;
    made->broken = bad;
    for (uint32_t i = 0; i < n; i++)
        made->extents[made->n_lead + i] = bad && extents[i] < 0 ? 0 : extents[i];
}

void dfl_work_tensors(dfl_work *c, const dfl_ast_node *n)
{
    for (const dfl_ast_node *t = n->items; t != NULL && dfl_sema_ok(c->s); t = t->next)
        declare_tensor(c, t, n->role);
}
