/* Finishing a workload: roles, types, users of each tensor, names of einsums, and what only the whole shows. */
#include "sema/workload/build.h"

#include "lint/workload.h"

typedef struct {
    bool *produced, *read;     /* by tensor */
    uint32_t *writer, *reader; /* by tensor: first einsum that writes or reads it */
} usage;

static const char *text(const dfl_build *b, dfl_sym sym)
{
    return dfl_sym_text(b->names, sym);
}

static usage find_usage(dfl_build *b)
{
    size_t n = b->tensors.n + 1;
    usage u = { DFL_NEW_ARRAY(b->arena, bool, n), DFL_NEW_ARRAY(b->arena, bool, n),
                DFL_NEW_ARRAY(b->arena, uint32_t, n), DFL_NEW_ARRAY(b->arena, uint32_t, n) };

    for (uint32_t e = (uint32_t)b->einsums.n; e-- > 0;) {
        const dfl_einsum *x = &b->einsums.at[e].e;

        u.produced[x->output.tensor] = true;
        u.writer[x->output.tensor] = e;
        for (uint32_t i = 0; i < x->n_inputs; i++) {
            u.read[x->inputs[i].tensor] = true;
            u.reader[x->inputs[i].tensor] = e;
        }
    }
    return u;
}

/* A name that is read, never produced and not declared is an input, unless it looks like a slip of the keyboard. */
static void check_implicit_input(dfl_build *b, uint32_t tensor, const dfl_sym *known, size_t n)
{
    dfl_build_tensor *t = &b->tensors.at[tensor];
    dfl_sym near;
    dfl_diag *d;

    if (!dfl_budget_spend(dfl_arena_budget(b->arena), n / 8))
        return;
    near = dfl_suggest(b->names, text(b, t->name), known, n);
    if (near == 0)
        return;
    d = dfl_report(b->sink, DFL_NAME_UNKNOWN, t->span, "no tensor `%s` in workload `%s`", text(b, t->name),
                   text(b, b->name));
    dfl_diag_help(b->sink, d, "did you mean `%s`? A new input is declared: `input %s[...]`", text(b, near),
                  text(b, t->name));
    dfl_diag_fix(b->sink, d, t->span, text(b, near), DFL_FIX_MAYBE);
    b->broken = true;
}

static dfl_role role_of(const dfl_build_tensor *t, bool produced, bool read)
{
    if (t->has_role)
        return t->role;
    if (!produced)
        return DFL_ROLE_INPUT;
    return read ? DFL_ROLE_INTERMEDIATE : DFL_ROLE_OUTPUT;
}

static void check_roles(dfl_build *b, const usage *u)
{
    dfl_sym *known = DFL_NEW_ARRAY(b->arena, dfl_sym, b->tensors.n);
    size_t n_known = 0;

    for (uint32_t i = 0; i < b->tensors.n; i++)
        if (b->tensors.at[i].has_role || u->produced[i])
            known[n_known++] = b->tensors.at[i].name;
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        const dfl_build_tensor *t = &b->tensors.at[i];
        bool given = t->has_role && (t->role == DFL_ROLE_INPUT || t->role == DFL_ROLE_WEIGHT);
        dfl_diag *d;

        if (given && u->produced[i]) {
            const char *role = t->role == DFL_ROLE_INPUT ? "input" : "weight";

            d = dfl_report(b->sink, DFL_TENSOR_INPUT_PRODUCED, b->einsums.at[u->writer[i]].e.span,
                           "%s `%s` cannot be produced", role, text(b, t->name));
            dfl_diag_label(b->sink, d, t->span, "declared `%s` here", role);
            dfl_diag_help(b->sink, d, "remove `%s`, or declare it `state` if it persists and is updated", role);
            b->broken = true;
        } else if (t->has_role && t->role == DFL_ROLE_OUTPUT && !u->produced[i] && !t->broken) {
            d = dfl_report(b->sink, DFL_TENSOR_NEVER_PRODUCED, t->span, "output `%s` is never produced",
                           text(b, t->name));
            dfl_diag_help(b->sink, d, "write an einsum with `%s` on its left side", text(b, t->name));
            b->broken = true;
        } else if (!t->has_role && u->read[i] && !u->produced[i] && !t->broken && !b->open) {
            check_implicit_input(b, i, known, n_known);
        }
    }
}

static void check_types(dfl_build *b)
{
    for (size_t i = 0; i < b->tensors.n; i++) {
        const dfl_build_tensor *t = &b->tensors.at[i];
        dfl_diag *d;

        if (t->type.name != 0 || t->broken)
            continue;
        d = dfl_report(b->sink, DFL_TYPE_UNKNOWN, t->span, "`%s` has no data type", text(b, t->name));
        dfl_diag_help(b->sink, d, "give the workload a default, as in `workload %s(...) : bf16`", text(b, b->name));
        b->broken = true;
        return; /* the cause is one: no default */
    }
}

static void check_ranks(dfl_build *b)
{
    for (size_t i = 0; i < b->ranks.n && b->lints != NULL && !b->open; i++) {
        const dfl_build_rank *r = &b->ranks.at[i];

        if (!r->used && !r->silent && dfl_build_lints(b, r->span))
            dfl_lint_unused_rank(b->sink, b->lints, r->span, text(b, r->name));
    }
}

/* The shape and type of a tensor against what an applied body declares for it, or against those of another tensor. */
static void check_claim(dfl_build *b, const dfl_build_tensor *t, const dfl_build_claim *c)
{
    const int64_t *extents = t->extents + t->n_lead;
    const char *name = text(b, t->name), *formal = text(b, c->formal);
    uint32_t n = t->n_dims - t->n_lead;
    dfl_diag *d = NULL;

    if (n != c->n_dims)
        d = dfl_report(b->sink, DFL_TENSOR_DIMENSIONS, c->span, "`%s` stands for `%s`, but has %u dimension%s instead of %u",
                       name, formal, n, n == 1 ? "" : "s", c->n_dims);
    for (uint32_t k = 0; d == NULL && k < n; k++)
        if (extents[k] > 0 && c->extents[k] > 0 && extents[k] != c->extents[k])
            d = dfl_report(b->sink, DFL_TENSOR_SHAPE_CONFLICT, c->span,
                           "`%s` stands for `%s`, but dimension %u has %lld elements instead of %lld", name, formal,
                           k + 1, (long long)extents[k], (long long)c->extents[k]);
    if (d == NULL && t->type.name != 0 && c->type.name != 0 && t->type.name != c->type.name)
        d = dfl_report(b->sink, DFL_TENSOR_TYPE_CONFLICT, c->span, "`%s` stands for `%s`, but is %s instead of %s", name,
                       formal, text(b, t->type.name), text(b, c->type.name));
    if (d != NULL) {
        dfl_diag_label(b->sink, d, t->span, "`%s` comes from here", name);
        b->broken = true;
    }
}

static void check_claims(dfl_build *b)
{
    for (size_t i = 0; i < b->claims.n; i++) {
        dfl_build_claim c = b->claims.at[i];
        const dfl_build_tensor *t = &b->tensors.at[c.tensor];

        if (c.like != DFL_NONE) {
            const dfl_build_tensor *like = &b->tensors.at[c.like];

            c.n_dims = like->broken ? t->n_dims - t->n_lead : like->n_dims - like->n_lead;
            c.extents = like->extents + like->n_lead;
            c.type = like->type;
        }
        if (!t->broken && (c.like == DFL_NONE || !b->tensors.at[c.like].broken))
            check_claim(b, t, &c);
    }
}

/* A second `=` of the same elements, or an `=` after the tensor has been accumulated into, loses what was there. */
static void check_redefined(dfl_build *b)
{
    uint32_t *last = DFL_NEW_ARRAY(b->arena, uint32_t, b->tensors.n + 1);

    for (uint32_t e = 0; e < b->einsums.n; e++) {
        const dfl_build_einsum *x = &b->einsums.at[e];
        uint32_t t = x->e.output.tensor, before = last[t];
        const dfl_einsum *old = before > 0 ? &b->einsums.at[before - 1].e : NULL;
        bool apart = old == NULL || x->e.reduce != DFL_REDUCE_NONE || b->tensors.at[t].role == DFL_ROLE_STATE;
        dfl_diag *d;

        last[t] = e + 1;
        for (uint32_t dim = 0; !apart && dim < x->e.output.n_dims && dim < old->output.n_dims; dim++) {
            int64_t low, high, old_low, old_high;

            apart = x->vague || b->einsums.at[before - 1].vague ||
                    !dfl_build_range(b, &x->e.output.index[dim], &low, &high) ||
                    !dfl_build_range(b, &old->output.index[dim], &old_low, &old_high) || low > old_high ||
                    high < old_low;
        }
        if (apart || x->e.n_where > 0)
            continue;
        d = dfl_report(b->sink, DFL_TENSOR_REDEFINED, x->e.span, "`%s` is defined twice",
                       text(b, b->tensors.at[t].name));
        dfl_diag_label(b->sink, d, old->span, "first defined here");
        dfl_diag_help(b->sink, d, "name the second result differently, or accumulate with `+=`");
        b->broken = true;
    }
}

/* ---- lowering ------------------------------------------------------------------------------------------------- */

/* A tensor's second einsum is "T#2". */
static void name_einsums(dfl_build *b, dfl_einsum *einsums, size_t n)
{
    uint32_t *count = DFL_NEW_ARRAY(b->arena, uint32_t, b->tensors.n + 1);

    for (size_t e = 0; e < n; e++) {
        uint32_t t = einsums[e].output.tensor;

        einsums[e].name = b->tensors.at[t].name;
        if (++count[t] > 1)
            einsums[e].name = dfl_intern_z(
                b->new_names, dfl_arena_printf(b->arena, "%s#%u", text(b, b->tensors.at[t].name), count[t]));
    }
}

static dfl_tensor *lower_tensors(dfl_build *b, const usage *u)
{
    dfl_tensor *out = DFL_NEW_ARRAY(b->arena, dfl_tensor, b->tensors.n);

    for (uint32_t t = 0; t < b->tensors.n; t++) {
        const dfl_build_tensor *from = &b->tensors.at[t];

        out[t] = (dfl_tensor){ .name = from->name, .span = from->span, .type = from->type, .n_dims = from->n_dims,
                               .role = role_of(from, u->produced[t], u->read[t]), .extents = from->extents };
    }
    return out;
}

/* Counts the users of every tensor, then lists them. */
static void link_tensors(dfl_build *b, const dfl_einsum *einsums, size_t n, dfl_tensor *tensors)
{
    size_t n_tensors = b->tensors.n;
    uint32_t *made = DFL_NEW_ARRAY(b->arena, uint32_t, n_tensors + 1);
    uint32_t *used = DFL_NEW_ARRAY(b->arena, uint32_t, n_tensors + 1);
    uint32_t **producers = DFL_NEW_ARRAY(b->arena, uint32_t *, n_tensors + 1);
    uint32_t **consumers = DFL_NEW_ARRAY(b->arena, uint32_t *, n_tensors + 1);

    for (int fill = 0; fill < 2; fill++) {
        for (size_t t = 0; t < n_tensors && fill; t++) {
            tensors[t].producers = producers[t] = DFL_NEW_ARRAY(b->arena, uint32_t, made[t]);
            tensors[t].consumers = consumers[t] = DFL_NEW_ARRAY(b->arena, uint32_t, used[t]);
        }
        for (size_t e = 0; e < n; e++) {
            uint32_t out = einsums[e].output.tensor;

            if (fill)
                producers[out][tensors[out].n_producers++] = (uint32_t)e;
            else
                made[out]++;
            for (uint32_t i = 0; i < einsums[e].n_inputs; i++) {
                uint32_t t = einsums[e].inputs[i].tensor;

                if (!fill)
                    used[t]++;
                else if (tensors[t].n_consumers == 0 || consumers[t][tensors[t].n_consumers - 1] != e)
                    consumers[t][tensors[t].n_consumers++] = (uint32_t)e;
            }
        }
    }
}

static bool check_counts(dfl_build *b, const dfl_workload *w)
{
    dfl_i128 n, m;

    for (uint32_t t = 0; t < w->n_tensors && !b->broken; t++)
        if (dfl_tensor_elements(&w->tensors[t], &n) || dfl_mul(n, w->tensors[t].type.bits, &m)) {
            dfl_report(b->sink, DFL_EVAL_OVERFLOW, w->tensors[t].span, "`%s` has more bits than 128 bits can count",
                       text(b, w->tensors[t].name));
            b->broken = true;
        }
    for (uint32_t e = 0; e < w->n_einsums && !b->broken; e++)
        if (dfl_einsum_points(w, &w->einsums[e], &n) || dfl_mul(n, w->einsums[e].flops_per_point, &m)) {
            dfl_report(b->sink, DFL_EVAL_OVERFLOW, w->einsums[e].span,
                       "`%s` has more operations than 128 bits can count", text(b, w->einsums[e].name));
            b->broken = true;
        }
    return !b->broken;
}

static const dfl_workload *lower(dfl_build *b, const uint32_t *order, const usage *u)
{
    dfl_workload *w = DFL_NEW(b->arena, dfl_workload);
    dfl_einsum *einsums = DFL_NEW_ARRAY(b->arena, dfl_einsum, b->einsums.n);
    dfl_rank *ranks = DFL_NEW_ARRAY(b->arena, dfl_rank, b->ranks.n);
    dfl_tensor *tensors;

    for (size_t e = 0; e < b->einsums.n; e++)
        einsums[e] = b->einsums.at[order[e]].e;
    for (size_t r = 0; r < b->ranks.n; r++)
        ranks[r] = (dfl_rank){ b->ranks.at[r].name, b->ranks.at[r].span, b->ranks.at[r].extent };
    name_einsums(b, einsums, b->einsums.n);
    tensors = lower_tensors(b, u);
    link_tensors(b, einsums, b->einsums.n, tensors);
    *w = (dfl_workload){ .name = b->name, .span = b->span, .ranks = ranks, .n_ranks = (uint32_t)b->ranks.n,
                         .tensors = tensors, .n_tensors = (uint32_t)b->tensors.n, .einsums = einsums,
                         .n_einsums = (uint32_t)b->einsums.n, .carries = b->carries };
    return check_counts(b, w) ? w : NULL;
}

const dfl_workload *dfl_build_finish(dfl_build *b, bool typed)
{
    usage u = find_usage(b);

    check_roles(b, &u);
    dfl_build_shapes(b, u.produced);
    check_claims(b);
    check_redefined(b);
    if (!b->broken)
        check_ranks(b);
    if (typed && !b->broken)
        check_types(b);
    b->order = dfl_build_order(b);
    if (b->order == NULL || b->broken || b->unsized || !dfl_build_goes_on(b))
        return NULL;
    return lower(b, b->order, &u);
}
