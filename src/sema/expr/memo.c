#include "sema/expr/memo.h"

#include "sema/expr/arguments.h"
#include "sema/names/module.h"
#include "support/hash.h"

/* One elaboration of a declaration. The table `cache` of the declaration holds chains of equal hashes. */
typedef struct memo {
    void *result;          /* result of the elaboration */
    const dfl_scope *args; /* scope with the values of all parameters */
    bool broken;           /* the elaboration has reported an error */
    struct memo *next;     /* another elaboration with the same hash */
} memo;

/* Hash of the values of all parameters; never 0, since 0 is no key. */
static uint32_t hash_arguments(const dfl_scope *scope, const dfl_ast_node *params)
{
    uint64_t hash = 1;

    for (; params != NULL; params = params->next) {
        const dfl_scope_entry *entry = dfl_scope_find_here(scope, params->name.sym);
        struct { uint64_t kind, low, high, text; double real; } key = { 0 };

        key.kind = entry->value.kind;
        key.low = (uint64_t)entry->value.quantity.integer;
        key.high = (uint64_t)(entry->value.quantity.integer >> 64);
        key.text = entry->value.text;
        key.real = entry->value.quantity.real;
        hash = dfl_hash(&key, sizeof key, hash);
    }
    return (uint32_t)hash | 1u;
}

/* Whether all parameters have equal values in two scopes. */
static bool equal_arguments(const dfl_scope *a, const dfl_scope *b, const dfl_ast_node *params)
{
    for (; params != NULL; params = params->next)
        if (!dfl_value_equal(&dfl_scope_find_here(a, params->name.sym)->value, &dfl_scope_find_here(b, params->name.sym)->value))
            return false;
    return true;
}

/* The earlier elaboration with equal arguments, or NULL. */
static const memo *find_memo(const dfl_decl *decl, const dfl_scope *args, uint32_t hash)
{
    const memo *entry = dfl_symmap_get(&decl->cache, hash);

    while (entry != NULL && !equal_arguments(entry->args, args, decl->node->more->params))
        entry = entry->next;
    return entry;
}

/* Elaborates the declaration and stores the result. */
static const memo *add_memo(dfl_sema *sema, dfl_decl *decl, dfl_scope *args, uint32_t hash, const dfl_ast_node *missing,
                            const dfl_lint_levels *lints, dfl_elaborate *elaborate)
{
    memo *entry = DFL_NEW(sema->arena, memo);

    entry->args = args;
    entry->result = elaborate(sema, decl, args, missing, lints, &entry->broken);
    entry->next = dfl_symmap_get(&decl->cache, hash);
    dfl_symmap_put(sema->arena, &decl->cache, hash, entry);
    return entry;
}

void *dfl_memo_default(dfl_sema *sema, dfl_decl *decl, dfl_elaborate *elaborate)
{
    dfl_scope *args = dfl_scope_new(sema, NULL, decl->module);
    const dfl_ast_node *missing;
    const memo *entry;
    uint32_t hash;

    if (decl->broken)
        return NULL;
    if (!dfl_args_bind(sema, args, decl->node->more->params, NULL, args, decl, &missing)) {
        decl->checked = decl->broken = true;
        return NULL;
    }
    hash = hash_arguments(args, decl->node->more->params);
    entry = find_memo(decl, args, hash);
    if (entry == NULL)
        entry = add_memo(sema, decl, args, hash, missing, dfl_module_lints(sema, decl->module), elaborate);
    decl->checked = true;
    decl->broken = entry->broken;
    return entry->result;
}

void *dfl_memo_reference(dfl_sema *sema, dfl_decl *decl, dfl_scope *from, const dfl_ast_ref *ref, dfl_elaborate *elaborate)
{
    const dfl_ast_node *missing;
    dfl_scope *args;
    const memo *entry;
    uint32_t hash;

    if (decl == NULL || (!decl->checked && dfl_memo_default(sema, decl, elaborate) == NULL) || decl->broken)
        return NULL;
    args = dfl_scope_new(sema, NULL, decl->module);
    if (!dfl_args_bind(sema, args, decl->node->more->params, ref, from, decl, &missing))
        return NULL;
    hash = hash_arguments(args, decl->node->more->params);
    entry = find_memo(decl, args, hash);
    if (entry == NULL) {
        size_t before = dfl_sink_count(sema->sink);

        entry = add_memo(sema, decl, args, hash, missing, NULL, elaborate);
        dfl_sema_blame(sema, before, ref->span, "with the values given here");
    }
    return entry->broken ? NULL : entry->result;
}
