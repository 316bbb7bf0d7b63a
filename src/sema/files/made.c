#include "sema/files/made.h"

#include "support/hash.h"

/* One in the chain of those with equal hashes of their arguments. */
typedef struct made {
    void *what;
    const dfl_scope *args;
    bool broken;
    struct made *next;
} made;

/* Unknown and bad values are equal to themselves. */
static uint32_t hash_of(const dfl_scope *scope, const dfl_ast_node *params)
{
    uint64_t hash = 1;

    for (; params != NULL; params = params->next) {
        const dfl_binding *b = dfl_scope_find_here(scope, params->name.sym);
        struct { uint64_t kind, low, high, text; double real; } key = { 0 };

        key.kind = b->value.kind;
        key.low = (uint64_t)b->value.quantity.integer;
        key.high = (uint64_t)(b->value.quantity.integer >> 64);
        key.text = b->value.text;
        key.real = b->value.quantity.real;
        hash = dfl_hash(&key, sizeof key, hash);
    }
    return (uint32_t)hash | 1u;
}

static bool same(const dfl_value *a, const dfl_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == DFL_VALUE_BOOL)
        return a->truth == b->truth;
    if (a->kind == DFL_VALUE_STRING)
        return a->text == b->text;
    if (a->kind != DFL_VALUE_QUANTITY)
        return true;
    return a->quantity.exact == b->quantity.exact && a->quantity.integer == b->quantity.integer &&
           a->quantity.real == b->quantity.real && dfl_dim_equal(a->quantity.dim, b->quantity.dim);
}

static bool equal(const dfl_scope *a, const dfl_scope *b, const dfl_ast_node *params)
{
    for (; params != NULL; params = params->next)
        if (!same(&dfl_scope_find_here(a, params->name.sym)->value, &dfl_scope_find_here(b, params->name.sym)->value))
            return false;
    return true;
}

static const made *find(const dfl_decl *decl, const dfl_scope *args, uint32_t hash)
{
    const made *m = dfl_symmap_get(&decl->cache, hash);

    while (m != NULL && !equal(m->args, args, decl->node->more->params))
        m = m->next;
    return m;
}

static const made *add(dfl_sema *s, dfl_decl *decl, dfl_scope *args, uint32_t hash, const dfl_ast_node *missing,
                       const dfl_lint_levels *lints, dfl_make *make)
{
    made *m = DFL_NEW(s->arena, made);

    m->args = args;
    m->what = make(s, decl, args, missing, lints, &m->broken);
    m->next = dfl_symmap_get(&decl->cache, hash);
    dfl_symmap_put(s->arena, &decl->cache, hash, m);
    return m;
}

void *dfl_made_default(dfl_sema *s, dfl_decl *decl, dfl_make *make)
{
    dfl_scope *args = dfl_scope_new(s, NULL, decl->unit);
    const dfl_ast_node *missing;
    const made *m;
    uint32_t hash;

    if (decl->broken)
        return NULL;
    if (!dfl_args_bind(s, args, decl->node->more->params, NULL, args, decl, &missing)) {
        decl->checked = decl->broken = true;
        return NULL;
    }
    hash = hash_of(args, decl->node->more->params);
    m = find(decl, args, hash);
    if (m == NULL)
        m = add(s, decl, args, hash, missing, dfl_sema_lints(s, decl->unit), make);
    decl->checked = true;
    decl->broken = m->broken;
    return m->what;
}

void *dfl_made_of(dfl_sema *s, dfl_decl *decl, dfl_scope *from, const dfl_ast_ref *ref, dfl_make *make)
{
    const dfl_ast_node *missing;
    dfl_scope *args;
    const made *m;
    uint32_t hash;

    if (decl == NULL || (!decl->checked && dfl_made_default(s, decl, make) == NULL) || decl->broken)
        return NULL;
    args = dfl_scope_new(s, NULL, decl->unit);
    if (!dfl_args_bind(s, args, decl->node->more->params, ref, from, decl, &missing))
        return NULL;
    hash = hash_of(args, decl->node->more->params);
    m = find(decl, args, hash);
    if (m == NULL) {
        size_t before = dfl_sink_count(s->sink);

        m = add(s, decl, args, hash, missing, NULL, make);
        dfl_sema_blame(s, before, ref->span, "with the values given here");
    }
    return m->broken ? NULL : m->what;
}
