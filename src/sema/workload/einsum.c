/* One einsum: its result, its ranks, how it reduces, and what must hold between the two sides. */
#include "sema/workload/workload.h"

#include <stdlib.h>
#include <string.h>

static bool find_reduce(dfl_work *c, const dfl_ast_node *n, dfl_reduce *out)
{
    const char *name = dfl_sema_text(c->s, n->more->assign_name.sym);
    dfl_diag *d;

    *out = n->assign == DFL_ASSIGN_ADD ? DFL_REDUCE_ADD : DFL_REDUCE_NONE;
    if (n->assign != DFL_ASSIGN_NAMED)
        return true;
    if (strcmp(name, "max") == 0)
        *out = DFL_REDUCE_MAX;
    else if (strcmp(name, "min") == 0)
        *out = DFL_REDUCE_MIN;
    else {
        d = dfl_report(c->s->sink, DFL_OP_UNKNOWN, n->more->assign_name.span, "no reduction `%s=`", name);
        dfl_diag_help(c->s->sink, d, "reductions are `+=`, `max=` and `min=`");
        return false;
    }
    return true;
}

static bool has_state(const dfl_build_tensor *t)
{
    return t->has_role && (t->role == DFL_ROLE_OUTPUT || t->role == DFL_ROLE_STATE);
}

/* The tensor on the left: one that exists, or a new one. DFL_NONE after reporting. */
static uint32_t find_result(dfl_work *c, const dfl_ast_node *n, dfl_reduce reduce)
{
    const dfl_ast_node *t = n->more->target;
    const dfl_binding *here = t->path->n == 1 ? dfl_scope_find_here(c->scope, t->path->head->sym) : NULL;
    const dfl_binding *b = t->path->n == 1 ? dfl_scope_find(c->scope, t->path->head->sym) : NULL;
    uint32_t id = dfl_work_find_tensor(c, t->path);
    dfl_given *given = c->given != NULL && t->path->n == 1 ? dfl_symmap_get(c->given, t->path->head->sym) : NULL;

    if (t->path->n > 1 && id == DFL_NONE) {
        dfl_work_report_no_tensor(c, t->path);
        return DFL_NONE;
    }
    /* inside `for` and `repeat` a definition makes a tensor of its own */
    if (id != DFL_NONE && here == NULL && c->local && t->path->n == 1 && reduce == DFL_REDUCE_NONE &&
        !has_state(&c->b->tensors.at[id]))
        id = DFL_NONE;
    else if (id == DFL_NONE && b != NULL && b == here) {
        dfl_diag *d = dfl_report(c->s->sink, DFL_NAME_WRONG_KIND, t->path->span, "`%s` is not a tensor",
                                 dfl_sema_text(c->s, t->path->text));

        dfl_diag_label(c->s->sink, d, b->span, "declared here");
        return DFL_NONE;
    }
    if (id == DFL_NONE && given != NULL) {
        dfl_binding *name = dfl_scope_declare(c->s, c->scope, t->path->head->sym, t->path->span, DFL_NAMES_TENSOR);

        given->used = true;
        return name->id = given->tensor;
    }
    if (id == DFL_NONE && dfl_work_new_tensor(c, t->path, true, t->n_args, &id) == NULL)
        return DFL_NONE;
    return id;
}

/* What the left side says of its tensor besides the indices: role and data type. */
static bool describe_result(dfl_work *c, const dfl_ast_node *n, uint32_t id)
{
    static const dfl_role roles[] = {
        [DFL_AST_NO_ROLE] = DFL_ROLE_INTERMEDIATE, [DFL_AST_INPUT] = DFL_ROLE_INPUT, [DFL_AST_WEIGHT] = DFL_ROLE_WEIGHT,
        [DFL_AST_OUTPUT] = DFL_ROLE_OUTPUT,        [DFL_AST_STATE] = DFL_ROLE_STATE,
    };
    dfl_build_tensor *t = &c->b->tensors.at[id];
    dfl_dtype type;
    dfl_diag *d;

    if (n->role != DFL_AST_NO_ROLE && t->has_role && t->role != roles[n->role]) {
        dfl_scope_twice(c->s, n->more->target->path->span, t->span, "declared", dfl_sema_text(c->s, t->name));
        return false;
    }
    if (n->role != DFL_AST_NO_ROLE) {
        t->has_role = true;
        t->role = roles[n->role];
    }
    if (!dfl_work_type(c, n->more->target->more->type, &type))
        return false;
    if (type.name == 0)
        return true;
    if (t->type_span.start != 0 && t->type.name != type.name) {
        d = dfl_report(c->s->sink, DFL_TENSOR_TYPE_CONFLICT, n->more->target->more->type->span, "`%s` is %s elsewhere",
                       dfl_sema_text(c->s, t->name), dfl_sema_text(c->s, t->type.name));
        dfl_diag_label(c->s->sink, d, t->type_span, "stated here");
        return false;
    }
    t->type = type;
    t->type_span = n->more->target->more->type->span;
    return true;
}

/* ---- ranks ---------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool is_repeat(const dfl_work *c, uint32_t rank)
{
    for (uint32_t i = 0; i < c->n_repeats; i++)
        if (c->repeats[i] == rank)
            return true;
    return false;
}

static void report_reduced(dfl_work *c, const dfl_ast_node *n, const dfl_access *a, uint32_t dim, uint32_t rank)
{
    const char *name = dfl_sema_text(c->s, c->b->ranks.at[rank].name);
    dfl_diag *d = dfl_report(c->s->sink, DFL_RANK_REDUCED_UNDER_DEFINE, n->more->assign_span,
                             "`=` defines each element once, but `%s` is only on the right", name);

    dfl_diag_label(c->s->sink, d, a->index[dim].span, "`%s` would be reduced over", name);
    dfl_diag_fix(c->s->sink, d, n->more->assign_span, "+=", DFL_FIX_MAYBE);
    c->b->broken = true;
}

static void report_left_only(dfl_work *c, const dfl_access *left, uint32_t dim, uint32_t rank)
{
    const char *name = dfl_sema_text(c->s, c->b->ranks.at[rank].name);
    dfl_diag *d = dfl_report(c->s->sink, DFL_RANK_ONLY_ON_LEFT, left->index[dim].span,
                             "rank `%s` is only on the left", name);

    dfl_diag_help(c->s->sink, d, "every element along `%s` would be the same; leave the rank out, or use it on the right",
                  name);
    c->b->broken = true;
}

/* Calls for every rank of an access once, with the dimension it stands in. */
typedef void each_rank(dfl_work *c, const dfl_access *a, uint32_t dim, uint32_t rank, void *context);

typedef struct {
    const dfl_ast_node *n;
    dfl_build_einsum *x;
    uint32_t mark;
    DFL_VEC(uint32_t) ranks;
    bool reported;
} sides;

static void walk(dfl_work *c, const dfl_access *a, each_rank *visit, sides *s)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            visit(c, a, d, a->index[d].terms[i].rank, s);
}

static void visit_left(dfl_work *c, const dfl_access *a, uint32_t dim, uint32_t rank, void *context)
{
    sides *s = context;
    dfl_build_rank *r = &c->b->ranks.at[rank];

    r->used = true;
    if (r->left == s->mark)
        return;
    r->left = s->mark;
    DFL_PUSH(c->s->arena, &s->ranks, rank);
    if (r->right != s->mark && r->table != s->mark && !is_repeat(c, rank) && !s->reported) {
        report_left_only(c, a, dim, rank);
        s->reported = true;
    }
}

static void visit_right(dfl_work *c, const dfl_access *a, uint32_t dim, uint32_t rank, void *context)
{
    sides *s = context;
    dfl_build_rank *r = &c->b->ranks.at[rank];

    /* `left` doubles as "listed already"; a rank of a gathered table alone is chosen by the data, not iterated */
    if (r->left == s->mark || r->right != s->mark)
        return;
    r->left = s->mark;
    DFL_PUSH(c->s->arena, &s->ranks, rank);
    if (s->x->e.reduce == DFL_REDUCE_NONE && rank != s->x->e.over_rank && !s->reported) {
        report_reduced(c, s->n, a, dim, rank);
        s->reported = true;
    }
}

static void collect_ranks(dfl_work *c, const dfl_ast_node *n, dfl_build_einsum *x)
{
    uint32_t room[16], *ranks;
    sides s = { .n = n, .x = x, .mark = (uint32_t)c->b->einsums.n + 1, .ranks = { .at = room, .cap = 16 } };

    walk(c, &x->e.output, visit_left, &s);
    for (uint32_t i = 0; i < x->e.n_inputs; i++)
        walk(c, &x->e.inputs[i], visit_right, &s);
    if (s.ranks.n > 1)
        qsort(s.ranks.at, s.ranks.n, sizeof *s.ranks.at, ascending);
    ranks = DFL_NEW_ARRAY(c->s->arena, uint32_t, s.ranks.n);
    if (s.ranks.n > 0)
        memcpy(ranks, s.ranks.at, s.ranks.n * sizeof *ranks);
    x->e.ranks = ranks;
    x->e.n_ranks = (uint32_t)s.ranks.n;
}

/* A condition may only speak of ranks that the einsum iterates. */
static void check_where(dfl_work *c, const dfl_build_einsum *x)
{
    for (uint32_t i = 0; i < x->e.n_where; i++)
        for (uint32_t k = 0; k < x->e.where[i].sum.n_terms; k++) {
            uint32_t rank = x->e.where[i].sum.terms[k].rank;

            if (c->b->ranks.at[rank].left == (uint32_t)c->b->einsums.n + 1)
                continue;
            dfl_report(c->s->sink, DFL_RANK_UNKNOWN, x->e.where[i].sum.span,
                       "the condition is about `%s`, which the einsum does not iterate",
                       dfl_sema_text(c->s, c->b->ranks.at[rank].name));
            c->b->broken = true;
            return;
        }
}

static bool find_over(dfl_work *c, const dfl_ast_node *n, uint32_t *rank)
{
    const dfl_binding *b;

    *rank = DFL_NONE;
    if (n->more->over.sym == 0)
        return true;
    b = dfl_scope_find(c->scope, n->more->over.sym);
    if (b != NULL && b->kind == DFL_NAMES_RANK) {
        *rank = b->id;
        return true;
    }
    dfl_diag *d = dfl_report(c->s->sink, DFL_RANK_UNKNOWN, n->more->over.span, "no rank `%s` in workload `%s`",
                             dfl_sema_text(c->s, n->more->over.sym), dfl_sema_text(c->s, c->b->name));
    dfl_sym near = dfl_scope_suggest(c->s, c->scope, n->more->over.sym, DFL_NAMES_RANK);
    if (near != 0)
        dfl_diag_fix(c->s->sink, d, n->more->over.span, dfl_sema_text(c->s, near), DFL_FIX_MAYBE);
    return false;
}

void dfl_work_einsum(dfl_work *c, const dfl_ast_node *n)
{
    dfl_build_einsum x = { .e = { .span = n->more->target->path->span }, .instance = c->instance };
    uint32_t tensor;
    bool ok;

    /* The right side first: a name that is new on both sides is read before it is made. */
    ok = find_reduce(c, n, &x.e.reduce) && find_over(c, n, &x.e.over_rank);
    ok = ok && dfl_work_right_side(c, n, &x);
    tensor = find_result(c, n, x.e.reduce);
    ok = ok && tensor != DFL_NONE;
    if (tensor != DFL_NONE) {
        const dfl_ast_node *target = n->more->target;

        ok = describe_result(c, n, tensor) && ok;
        ok = dfl_work_access(c, target->path, target->args, target->n_args, target->span, tensor, &x.e.output,
                             &x.vague) && ok;
    }
    if (!ok) {
        c->b->broken = true;
        if (tensor != DFL_NONE)
            c->b->tensors.at[tensor].broken = true;
        return;
    }
    collect_ranks(c, n, &x);
    dfl_work_where(c, n, &x);
    check_where(c, &x);
    DFL_PUSH(c->s->arena, &c->b->einsums, x);
}
