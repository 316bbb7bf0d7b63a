/* Indices and conditions: affine forms over ranks with constant coefficients. */
#include "sema/workload/workload.h"

#include <stdlib.h>
#include <string.h>

static bool is_rank(const dfl_work *c, const dfl_expr *e)
{
    const dfl_binding *b = e->kind == DFL_EXPR_PATH && e->path->n == 1 ? dfl_scope_find(c->scope, e->path->head->sym) : NULL;

    return b != NULL && b->kind == DFL_NAMES_RANK;
}

static bool has_rank(const dfl_work *c, const dfl_expr *e)
{
    if (e == NULL)
        return false;
    if (is_rank(c, e) || has_rank(c, e->left) || has_rank(c, e->right))
        return true;
    for (const dfl_expr *a = e->args; a != NULL; a = a->next)
        if (has_rank(c, a))
            return true;
    return false;
}

static void not_affine(dfl_work *c, const dfl_expr *e, dfl_affine *out, const char *why)
{
    dfl_diag *d = dfl_report(c->s->sink, DFL_INDEX_NOT_AFFINE, e->span, "index is not affine");

    dfl_diag_here(c->s->sink, d, "%s", why);
    dfl_diag_help(c->s->sink, d, "an index is a sum of ranks with constant factors, like `2*p + r - 1`");
    out->bad = true;
}

/* An integer constant; false when it is bad or unknown, with the flags set. */
static bool constant(dfl_work *c, const dfl_expr *e, dfl_affine *out, dfl_i128 *value)
{
    int64_t v;
    bool unknown;

    *value = 0;
    if (!dfl_eval_int(c->s, c->scope, e, "an index", INT64_MIN, INT64_MAX, &v, &unknown)) {
        out->vague |= unknown;
        out->bad |= !unknown;
        return false;
    }
    *value = v;
    return true;
}

static void add_constant(dfl_work *c, const dfl_expr *e, dfl_i128 scale, dfl_affine *out)
{
    dfl_i128 value, product;

    if (!constant(c, e, out, &value))
        return;
    if (dfl_mul(value, scale, &product) || dfl_add(out->offset, product, &out->offset)) {
        dfl_report(c->s->sink, DFL_UNIT_OVERFLOW, e->span, "index is out of range");
        out->bad = true;
    }
}

static void add_term(dfl_work *c, const dfl_expr *e, uint32_t rank, dfl_i128 scale, dfl_affine *out)
{
    if (scale > INT32_MAX * (dfl_i128)INT32_MAX || scale < -(INT32_MAX * (dfl_i128)INT32_MAX)) {
        dfl_report(c->s->sink, DFL_UNIT_OVERFLOW, e->span, "factor of an index is out of range");
        out->bad = true;
        return;
    }
    DFL_PUSH(c->s->arena, &out->terms, ((dfl_term){ rank, (int64_t)scale }));
}

static void unknown_rank(dfl_work *c, const dfl_expr *e, dfl_affine *out)
{
    dfl_sym name = e->path->head->sym, near;
    dfl_diag *d;

    out->bad = true;
    if (c->b->open)
        return;
    d = dfl_report(c->s->sink, DFL_RANK_UNKNOWN, e->span, "no rank `%s` in workload `%s`",
                   dfl_sema_text(c->s, name), dfl_sema_text(c->s, c->b->name));
    near = dfl_scope_suggest(c->s, c->scope, name, DFL_NAMES_RANK);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, e->span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(c->s->sink, d, "declare it: `rank %s = ...;`", dfl_sema_text(c->s, name));
}

static void add_path(dfl_work *c, const dfl_expr *e, dfl_i128 scale, dfl_affine *out)
{
    const dfl_binding *b = e->path->n == 1 ? dfl_scope_find(c->scope, e->path->head->sym) : NULL;
    bool broken;

    if (b != NULL && b->kind == DFL_NAMES_RANK) {
        add_term(c, e, b->id, scale, out);
        return;
    }
    if (b == NULL && e->path->n == 1 && dfl_decl_find(c->s, c->scope->unit, e->path, &broken) == NULL && !broken) {
        unknown_rank(c, e, out);
        return;
    }
    add_constant(c, e, scale, out);
}

static void add_product(dfl_work *c, const dfl_expr *e, dfl_i128 scale, dfl_affine *out)
{
    bool left = has_rank(c, e->left), right = has_rank(c, e->right);
    dfl_i128 factor;

    if (left && right) {
        not_affine(c, e, out, "a product of ranks");
        return;
    }
    if (!constant(c, left ? e->right : e->left, out, &factor)) {
        /* the shape of the index is still of interest */
        if (out->vague && !out->bad)
            dfl_affine_add(c, left ? e->left : e->right, scale, out);
        return;
    }
    if (dfl_mul(factor, scale, &factor)) {
        dfl_report(c->s->sink, DFL_UNIT_OVERFLOW, e->span, "factor of an index is out of range");
        out->bad = true;
        return;
    }
    dfl_affine_add(c, left ? e->left : e->right, factor, out);
}

void dfl_affine_add(dfl_work *c, const dfl_expr *e, dfl_i128 scale, dfl_affine *out)
{

    if (out->bad)
        return;
    switch ((int)e->kind) {
    case DFL_EXPR_PATH:
        add_path(c, e, scale, out);
        return;
    case DFL_EXPR_ADD:
        dfl_affine_add(c, e->left, scale, out);
        dfl_affine_add(c, e->right, scale, out);
        return;
    case DFL_EXPR_SUB:
        dfl_affine_add(c, e->left, scale, out);
        dfl_affine_add(c, e->right, -scale, out);
        return;
    case DFL_EXPR_NEG:
        dfl_affine_add(c, e->left, -scale, out);
        return;
    case DFL_EXPR_MUL:
        add_product(c, e, scale, out);
        return;
    default:
        break;
    }
    if (has_rank(c, e)) {
        not_affine(c, e, out, e->kind == DFL_EXPR_DIV ? "a quotient of a rank" : "not a sum or a product");
        return;
    }
    add_constant(c, e, scale, out);
}

static int by_rank(const void *a, const void *b)
{
    const dfl_term *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

bool dfl_affine_finish(dfl_work *c, dfl_affine *a, dfl_span span, dfl_index *out)
{
    uint32_t n = 0;

    *out = (dfl_index){ .span = span };
    if (a->bad)
        return false;
    if (a->terms.n > 1)
        qsort(a->terms.at, a->terms.n, sizeof *a->terms.at, by_rank);
    for (size_t i = 0; i < a->terms.n; i++) {
        dfl_term t = a->terms.at[i];

        if (n > 0 && a->terms.at[n - 1].rank == t.rank) {
            if (__builtin_add_overflow(a->terms.at[n - 1].coef, t.coef, &a->terms.at[n - 1].coef))
                a->bad = true;
        } else {
            a->terms.at[n++] = t;
        }
        if (a->terms.at[n - 1].coef == 0)
            n--;
    }
    if (a->bad || a->offset > INT64_MAX / 2 || a->offset < INT64_MIN / 2) {
        dfl_report(c->s->sink, DFL_UNIT_OVERFLOW, span, "index is out of range");
        a->bad = true;
        return false;
    }
    if (n > 0) {
        dfl_term *terms = DFL_NEW_ARRAY(c->s->arena, dfl_term, n);

        memcpy(terms, a->terms.at, n * sizeof *terms);
        out->terms = terms;
    }
    out->n_terms = n;
    out->offset = (int64_t)a->offset;
    return true;
}

/* ---- where ---------------------------------------------------------------------------------------------------- */

/* left - right + offset >= 0, or its negative. */
static void condition(dfl_work *c, const dfl_expr *e, int sign, int64_t offset, dfl_build_einsum *x, dfl_condition *out)
{
    dfl_affine a = { .offset = offset };

    dfl_affine_add(c, e->left, sign, &a);
    dfl_affine_add(c, e->right, -sign, &a);
    x->vague |= a.vague;
    if (dfl_affine_finish(c, &a, e->span, &out->sum))
        x->e.n_where++;
    else
        c->b->broken = true;
}

static uint32_t count_conditions(const dfl_expr *e)
{
    return e->kind == DFL_EXPR_AND ? count_conditions(e->left) + count_conditions(e->right) : 2;
}

static void add_conditions(dfl_work *c, const dfl_expr *e, dfl_build_einsum *x, dfl_condition *room)
{
    dfl_diag *d;

    switch ((int)e->kind) {
    case DFL_EXPR_AND:
        add_conditions(c, e->left, x, room);
        add_conditions(c, e->right, x, room);
        return;
    case DFL_EXPR_LE:
        condition(c, e, -1, 0, x, &room[x->e.n_where]);
        return;
    case DFL_EXPR_LT:
        condition(c, e, -1, -1, x, &room[x->e.n_where]);
        return;
    case DFL_EXPR_GE:
        condition(c, e, 1, 0, x, &room[x->e.n_where]);
        return;
    case DFL_EXPR_GT:
        condition(c, e, 1, -1, x, &room[x->e.n_where]);
        return;
    case DFL_EXPR_EQ:
        condition(c, e, 1, 0, x, &room[x->e.n_where]);
        condition(c, e, -1, 0, x, &room[x->e.n_where]);
        return;
    default:
        break;
    }
    d = dfl_report(c->s->sink, DFL_INDEX_NOT_AFFINE, e->span, "condition is not an affine comparison");
    dfl_diag_help(c->s->sink, d, "write a comparison of ranks, like `n <= m`, several joined by `&&` or commas");
    c->b->broken = true;
}

void dfl_work_where(dfl_work *c, const dfl_ast_node *n, dfl_build_einsum *x)
{
    uint32_t room = 0;
    dfl_condition *conditions;

    for (const dfl_expr *e = n->more->where; e != NULL; e = e->next)
        room += count_conditions(e);
    if (room == 0)
        return;
    conditions = DFL_NEW_ARRAY(c->s->arena, dfl_condition, room);
    for (const dfl_expr *e = n->more->where; e != NULL; e = e->next)
        add_conditions(c, e, x, conditions);
    x->e.where = conditions;
}

/* ---- accesses ------------------------------------------------------------------------------------------------- */

bool dfl_work_access(dfl_work *c, const dfl_ast_path *path, const dfl_expr *dims, uint32_t n_dims, dfl_span span,
                     uint32_t tensor, dfl_access *out, bool *vague)
{
    const dfl_build_tensor *t = &c->b->tensors.at[tensor];
    dfl_index *index = DFL_NEW_ARRAY(c->s->arena, dfl_index, n_dims + t->n_lead);
    uint32_t n = 0;
    bool ok = true;

    (void)path;
    /* Inside the repeat, its rank; outside, the last iteration. */
    for (; n < t->n_lead; n++) {
        uint32_t rank = t->lead[n];
        int64_t extent = c->b->ranks.at[rank].extent;

        index[n].span = span;
        if (n < c->n_repeats && c->repeats[n] == rank) {
            dfl_term *term = DFL_NEW(c->s->arena, dfl_term);

            *term = (dfl_term){ rank, 1 };
            index[n].terms = term;
            index[n].n_terms = 1;
        } else {
            index[n].offset = extent > 0 ? extent - 1 : 0;
            *vague |= extent == 0;
        }
    }
    for (const dfl_expr *e = dims; e != NULL; e = e->next, n++) {
        dfl_term room[8];
        dfl_affine a = { .terms = { .at = room, .cap = 8 } };

        if (e->label.sym != 0) {
            dfl_diag *d = dfl_report(c->s->sink, DFL_INDEX_NOT_AFFINE, e->label.span, "an index has no `name:`");

            dfl_diag_help(c->s->sink, d, "extents stand in declarations; here write the index alone");
            ok = false;
            continue;
        }
        dfl_affine_add(c, e, 1, &a);
        *vague |= a.vague;
        ok = dfl_affine_finish(c, &a, e->span, &index[n]) && ok;
    }
    *out = (dfl_access){ .tensor = tensor, .n_dims = n_dims + t->n_lead, .index = index, .span = span };
    if (!ok)
        c->b->broken = true;
    return ok;
}
