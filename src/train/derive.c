/*
 * The backward einsums. The forward einsums are visited in reverse order. Each adds to the gradients of its operands:
 *
 *   grad.A[g] += grad.Z[i] * d f / d A,  over the same points as Z[i] op= f(A[g], ...)
 *
 * The first einsum of a gradient defines it by `=` if no two points meet in one element; all others accumulate. Where the readers
 * of a tensor leave out elements, zeros come first (train/covered.h).
 *
 * A `repeat` that carries Y into X runs backwards with a carry of its own: its iterations run downwards, and each reads as
 * gradient of Y what the iteration above left as gradient of X. So `layer.grad.Y` has no rank of the repeat and is written behind
 * the repeat, and `layer.grad.X` has it. Where X is read outside of the repeat, or starts several repeats, or is the result of a
 * repeat, what the first iteration leaves is added to a gradient of its own.
 */
#include "train/train.h"

#include <string.h>

#include "ir/mapping.h"
#include "train/chain_rule.h"
#include "train/covered.h"
#include "train/draft.h"
#include "train/optimizer.h"
#include "train/tables.h"

/* ---- carried tensors ---- */

/* The carry from or into a forward tensor; NULL if it is not carried. */
static const dfl_carry *find_carry(const dfl_workload *w, uint32_t tensor, bool into)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if ((into ? w->carries[c].to : w->carries[c].from) == tensor)
            return &w->carries[c];
    return NULL;
}

/* The leading dimension of a carry's `to` that is the rank of the repeat. */
static uint32_t find_lead(const dfl_workload *w, const dfl_carry *carry)
{
    const dfl_tensor *to = &w->tensors[carry->to];
    const dfl_access *made = to->n_producers > 0 ? &w->einsums[to->producers[0]].output : NULL;
    uint32_t rank;

    for (uint32_t d = 0; made != NULL && d < made->n_dims; d++)
        if (dfl_index_is_bare(&made->index[d], &rank) && rank == carry->rank)
            return d;
    return 0;
}

/* An access with one more index at dimension `at`. */
static dfl_access insert_index(dfl_train_draft *draft, dfl_access access, uint32_t at, dfl_index index)
{
    dfl_index *all = DFL_NEW_ARRAY(draft->arena, dfl_index, access.n_dims + 1);

    for (uint32_t d = 0; d < access.n_dims; d++)
        all[d + (d >= at)] = access.index[d];
    all[at] = index;
    access.index = all;
    access.n_dims++;
    return access;
}

/* An access without the index of dimension `at`. */
static dfl_access remove_index(dfl_train_draft *draft, dfl_access access, uint32_t at)
{
    dfl_index *rest = DFL_NEW_ARRAY(draft->arena, dfl_index, access.n_dims);

    for (uint32_t d = 0; d + 1 < access.n_dims; d++)
        rest[d] = access.index[d + (d >= at)];
    access.index = rest;
    access.n_dims--;
    return access;
}

static dfl_index bare_index(dfl_train_draft *draft, uint32_t rank, dfl_span span)
{
    dfl_term *term = DFL_NEW(draft->arena, dfl_term);

    *term = (dfl_term){ .rank = rank, .coef = 1 };
    return (dfl_index){ .terms = term, .n_terms = 1, .offset = 0, .span = span };
}

/* ---- gradients of tensors ---- */

/* Whether a data type has integers (`i8`, `u8`): a gradient has no such type unless its tensor has. */
static bool has_integers(const dfl_train_draft *draft, const dfl_dtype *type)
{
    const char *name = dfl_sym_text(draft->names, type->name);

    return (name[0] == 'i' || name[0] == 'u') && name[1] >= '0' && name[1] <= '9';
}

/* The data type of the gradient of a forward tensor: that of the tensor. If products of floating-point numbers alone make it, it
   is no wider than the type in which they compute: their derivatives multiply the gradient by an operand of this type. So a
   product whose result is cast has the gradient of the type before the cast under automatic mixed precision (PyTorch,
   `torch.amp`). What a `repeat` carries has one type. */
static const dfl_dtype *gradient_type(const dfl_train_draft *draft, uint32_t tensor)
{
    const dfl_workload *w = draft->forward;
    const dfl_tensor *of = &w->tensors[tensor];
    const dfl_dtype *widest = NULL;

    if (of->role == DFL_ROLE_WEIGHT && draft->training->gradients.bits > 0)
        return &draft->training->gradients;
    if (find_carry(w, tensor, false) != NULL || find_carry(w, tensor, true) != NULL)
        return &of->type;
    for (uint32_t p = 0; p < of->n_producers; p++) {
        const dfl_einsum *producer = &w->einsums[of->producers[p]];
        const dfl_dtype *type = dfl_einsum_type(w, producer);

        if (!producer->is_mac || has_integers(draft, type))
            return &of->type;
        widest = widest == NULL || type->bits > widest->bits ? type : widest;
    }
    return widest != NULL && widest->bits <= of->type.bits ? widest : &of->type;
}

/* Adds the gradient of a forward tensor. `narrow`: dimension to leave out; `widen`: dimension to insert among the others, with
   the extent `extent`; DFL_NONE = none. */
static uint32_t add_gradient(dfl_train_draft *draft, uint32_t tensor, dfl_sym name, uint32_t widen, int64_t extent,
                             uint32_t narrow)
{
    const dfl_tensor *of = &draft->forward->tensors[tensor];
    int64_t *extents = DFL_NEW_ARRAY(draft->arena, int64_t, of->n_dims + 1);
    dfl_tensor gradient = { .name = name, .span = of->span, .role = DFL_ROLE_INPUT, .n_dims = 0, .extents = extents,
                            .type = *gradient_type(draft, tensor), .gathered = of->gathered,
                            .n_table_dims = of->n_table_dims, .table_extents = of->table_extents,
                            .table_index = of->table_index, .table = DFL_NONE, .stored = of->stored,
                            .part = DFL_PART_GRADIENT, .of = tensor };

    for (uint32_t d = 0; d <= of->n_dims; d++) {
        if (gradient.n_dims == widen)
            extents[gradient.n_dims++] = extent;
        if (d < of->n_dims && d != narrow)
            extents[gradient.n_dims++] = of->extents[d];
    }
    if (of->gathered) {
        bool sparse = of->table == tensor;

        gradient.table = sparse ? (uint32_t)draft->tensors.n : draft->gradient[of->table];
        gradient.stored = sparse ? -1 : 0;
    }
    return dfl_train_add_tensor(draft, gradient);
}

/* The gradient of a tensor at the place of an access, to which an einsum with the ranks of `einsum` adds. Adds the tensor on
   first use. */
static dfl_access gradient_target(dfl_train_draft *draft, dfl_access access, const dfl_einsum *einsum)
{
    const dfl_workload *w = draft->forward;
    const dfl_carry *from = dfl_train_find_start(w, access.tensor, einsum), *to = find_carry(w, access.tensor, true);
    const uint32_t tensor = access.tensor, lead = to != NULL ? find_lead(w, to) : DFL_NONE;
    bool inside = from == NULL && to != NULL && access.index[lead].n_terms > 0;
    uint32_t *id = from != NULL ? &draft->start[from - w->carries] : inside ? &draft->inside[tensor] : &draft->gradient[tensor];

    if (to != NULL && !inside)
        access = remove_index(draft, access, lead);
    if (from != NULL)
        access = insert_index(draft, access, find_lead(w, from), bare_index(draft, from->rank, access.span));
    if (*id == DFL_NONE && from != NULL) {
        dfl_sym at = w->ranks[from->rank].name;
        const char *name = dfl_arena_printf(draft->arena, "%s.grad.%s", dfl_sym_text(draft->names, at),
                                            dfl_sym_text(draft->names, w->tensors[tensor].name));
        *id = add_gradient(draft, tensor, dfl_intern_z(draft->names, name), find_lead(w, from), w->ranks[from->rank].extent,
                           lead);
    } else if (*id == DFL_NONE) {
        *id = add_gradient(draft, tensor, dfl_train_name(draft, inside ? "sum" : "grad", w->tensors[tensor].name), DFL_NONE, 0,
                           inside ? DFL_NONE : lead);
    }
    access.tensor = *id;
    return access;
}

/* Whether each element of the result belongs to one point: every rank of the space stands alone in some index. */
static bool is_injective(const dfl_einsum *einsum)
{
    for (uint32_t r = 0; r < einsum->n_ranks; r++) {
        bool found = false;

        for (uint32_t d = 0; d < einsum->output.n_dims; d++)
            found |= einsum->output.index[d].n_terms == 1 && einsum->output.index[d].terms[0].rank == einsum->ranks[r];
        if (!found)
            return false;
    }
    return true;
}

/* Adds an einsum of the backward pass. */
static void add_backward(dfl_train_body *body, dfl_einsum einsum, const dfl_eop *root)
{
    const dfl_tensor *target = &body->draft->tensors.at[einsum.output.tensor];
    bool first = body->draft->written.at[einsum.output.tensor] == 0;

    einsum.reduce = first && is_injective(&einsum) && root->kind != DFL_EOP_SCATTER ? DFL_REDUCE_NONE : DFL_REDUCE_ADD;
    einsum.phase = DFL_PHASE_BACKWARD;
    einsum.is_input_gradient = body->draft->forward->tensors[target->of].role != DFL_ROLE_WEIGHT;
    dfl_train_add_einsum(body, einsum, root);
}

/* Adds `to = from` or `to += from` over the ranks of an access that uses each in one index. */
static void add_copy(dfl_train_draft *draft, dfl_access to, dfl_access from, uint32_t of)
{
    const dfl_einsum *forward = &draft->forward->einsums[of];
    dfl_train_body body = { .draft = draft };
    uint32_t *ranks = DFL_NEW_ARRAY(draft->arena, uint32_t, forward->n_ranks + 1), n = 0;

    for (uint32_t r = 0; r < forward->n_ranks; r++) {
        bool used = false;

        for (uint32_t d = 0; d < to.n_dims; d++)
            used |= dfl_index_coef(&to.index[d], forward->ranks[r]) != 0;
        if (used)
            ranks[n++] = forward->ranks[r];
    }
    add_backward(&body, (dfl_einsum){ .span = forward->span, .output = to, .ranks = ranks, .n_ranks = n,
                                      .over_rank = DFL_NONE, .of = of }, dfl_train_access(&body, from));
}

/* Adds `grad.T = 0` over all elements of a table, before a gather adds to rows of it. */
static void fill_with_zeros(dfl_train_draft *draft, uint32_t table, uint32_t of)
{
    uint32_t *ranks = DFL_NEW_ARRAY(draft->arena, uint32_t, draft->forward->tensors[table].n_dims + 1);
    dfl_einsum einsum = { .span = draft->forward->tensors[table].span, .output = dfl_train_visit(draft, table, ranks),
                          .ranks = ranks, .n_ranks = draft->forward->tensors[table].n_dims, .over_rank = DFL_NONE, .of = of };
    dfl_train_body body = { .draft = draft };

    if (draft->gradient[table] == DFL_NONE)
        draft->gradient[table] = add_gradient(draft, table, dfl_train_name(draft, "grad", draft->forward->tensors[table].name),
                                              DFL_NONE, 0, DFL_NONE);
    einsum.output.tensor = draft->gradient[table];
    add_backward(&body, einsum, dfl_train_constant(draft, 0));
}

/* Whether a tensor has the rank of a `repeat` as a dimension. */
static bool is_repeated(dfl_train_draft *draft, uint32_t tensor)
{
    const dfl_workload *w = draft->forward;
    uint32_t rank;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;

            for (uint32_t d = 0; a->tensor == tensor && d < a->n_dims; d++)
                for (uint32_t c = 0; c < w->n_carries; c++)
                    if (dfl_index_is_bare(&a->index[d], &rank) && rank == w->carries[c].rank)
                        return true;
        }
    return false;
}

/* Fills the gradients of tables outside of a `repeat` with zeros, at the start of the backward pass: their gathers may stand in
   the `repeat`. */
static void fill_tables(dfl_train_draft *draft)
{
    const dfl_workload *w = draft->forward;

    for (uint32_t t = 0; t < w->n_tensors && !draft->failed; t++) {
        const uint32_t table = dfl_train_table_of(w, t);

        if (table == DFL_NONE || !draft->wanted[table] || w->tensors[table].role == DFL_ROLE_STATE)
            continue;
        if (find_carry(w, table, false) != NULL || find_carry(w, table, true) != NULL)
            dfl_train_refuse(draft, w->tensors[t].span, "a gather of a tensor that a `repeat` carries",
                             "copy the tensor, and gather from the copy");
        else if (draft->gradient[table] == DFL_NONE && !is_repeated(draft, t) && dfl_train_needs_zeros(w, table))
            fill_with_zeros(draft, table, w->tensors[t].consumers[0]);
    }
}

/* ---- reading gradients ---- */

/* Whether the gradient of a tensor is given: a result that leaves the workload, or the loss. */
static bool is_seed(const dfl_train_draft *draft, uint32_t tensor)
{
    if (draft->training->loss != DFL_NONE)
        return tensor == draft->training->loss;
    return draft->forward->tensors[tensor].role == DFL_ROLE_OUTPUT;
}

/* Number of repeats that start from a tensor and have left a gradient of it. Sets `*one` to the last of them. */
static uint32_t count_starts(const dfl_train_draft *draft, uint32_t tensor, const dfl_carry **one)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < draft->forward->n_carries; c++)
        if (draft->forward->carries[c].from == tensor && draft->start[c] != DFL_NONE) {
            *one = &draft->forward->carries[c];
            n++;
        }
    return n;
}

/* What the first iteration of a repeat leaves as the gradient of the tensor that it starts from, at the place `access`. */
static dfl_access read_start(dfl_train_draft *draft, const dfl_carry *from, dfl_access access)
{
    access = insert_index(draft, access, find_lead(draft->forward, from), (dfl_index){ .span = access.span });
    access.tensor = draft->start[from - draft->forward->carries];
    return access;
}

/* Adds what the first iterations of all repeats leave to the gradient of the tensor that they start from. */
static void add_starts(dfl_train_draft *draft, dfl_access access, uint32_t narrow, uint32_t of)
{
    const uint32_t tensor = access.tensor;
    dfl_access target = access;

    if (draft->gradient[tensor] == DFL_NONE)
        draft->gradient[tensor] = add_gradient(draft, tensor, dfl_train_name(draft, "grad", draft->forward->tensors[tensor].name),
                                               DFL_NONE, 0, narrow);
    target.tensor = draft->gradient[tensor];
    for (uint32_t c = 0; c < draft->forward->n_carries; c++)
        if (draft->forward->carries[c].from == tensor && draft->start[c] != DFL_NONE)
            add_copy(draft, target, read_start(draft, &draft->forward->carries[c], access), of);
}

/* Adds a given gradient to what the readers of a tensor have left. */
static void add_seed(dfl_train_draft *draft, dfl_access access, uint32_t of)
{
    const uint32_t tensor = access.tensor;
    const dfl_sym name = draft->forward->tensors[tensor].name;
    const dfl_carry *to = find_carry(draft->forward, tensor, true);
    const uint32_t lead = to != NULL ? find_lead(draft->forward, to) : DFL_NONE;
    uint32_t *id = &draft->gradient[tensor];
    const dfl_carry *start;
    bool alone = *id == DFL_NONE && count_starts(draft, tensor, &start) == 0;
    dfl_access target = to != NULL ? remove_index(draft, access, lead) : access, seed = target;

    if (*id == DFL_NONE)
        *id = add_gradient(draft, tensor, dfl_train_name(draft, "grad", name), DFL_NONE, 0, lead);
    if (alone)
        return;
    target.tensor = *id;
    seed.tensor = add_gradient(draft, tensor, dfl_train_name(draft, "seed", name), DFL_NONE, 0, lead);
    add_copy(draft, target, seed, of);
}

/* The access to the gradient of the result of forward einsum `of`, which all readers of the result have completed. False if the
   result has none. */
static bool read_gradient(dfl_train_draft *draft, uint32_t of, dfl_access *out)
{
    const dfl_workload *w = draft->forward;
    const dfl_einsum *einsum = &w->einsums[of];
    const uint32_t tensor = einsum->output.tensor;
    const dfl_carry *to = find_carry(w, tensor, true), *start = NULL;
    const uint32_t lead = to != NULL ? find_lead(w, to) : DFL_NONE, n_starts = count_starts(draft, tensor, &start);
    uint32_t *outside = &draft->gradient[tensor], *inside = &draft->inside[tensor];
    bool last = w->tensors[tensor].producers[w->tensors[tensor].n_producers - 1] == of;
    dfl_access whole = einsum->output, narrow = to != NULL ? remove_index(draft, whole, lead) : whole;

    if (last && is_seed(draft, tensor))
        add_seed(draft, whole, of);
    if (n_starts == 1 && to == NULL && *outside == DFL_NONE) {
        *out = read_start(draft, start, narrow);
        return true;
    }
    if (last && n_starts > 0)
        add_starts(draft, narrow, lead, of);
    if (*outside == DFL_NONE && *inside == DFL_NONE)
        return false;
    if (*outside == DFL_NONE) {
        dfl_train_refuse(draft, einsum->span, "a carried tensor that nothing reads behind its `repeat`",
                         "read the result of the last iteration, or declare it `output`");
        return false;
    }
    narrow.tensor = *outside;
    *out = narrow;
    if (*inside != DFL_NONE) {
        whole.tensor = *inside;
        if (last)
            add_copy(draft, whole, narrow, of);
        *out = whole;
    }
    return true;
}

/* ---- contributions ---- */

/* Whether a rank is that of a `repeat`, whose iterations read different elements by one access to a carried tensor. */
static bool is_repeat(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == rank)
            return true;
    return false;
}

/* Drops the ranks that no access of the einsum has, and that no condition limits: the value is the same at each of their points.
   Returns the number of these points. */
static double drop_ranks(dfl_train_body *body, dfl_einsum *einsum)
{
    uint32_t *ranks = DFL_NEW_ARRAY(body->draft->arena, uint32_t, einsum->n_ranks + 1), n = 0;
    double times = 1;

    for (uint32_t r = 0; r < einsum->n_ranks; r++) {
        bool used = einsum->over_rank == einsum->ranks[r] || is_repeat(body->draft->forward, einsum->ranks[r]);

        for (size_t i = 0; i <= body->inputs.n; i++) {
            const dfl_access *a = i < body->inputs.n ? &body->inputs.at[i] : &einsum->output;

            for (uint32_t d = 0; d < a->n_dims; d++)
                used |= dfl_index_coef(&a->index[d], einsum->ranks[r]) != 0;
        }
        for (uint32_t c = 0; c < einsum->n_where; c++)
            used |= dfl_index_coef(&einsum->where[c].sum, einsum->ranks[r]) != 0;
        if (used)
            ranks[n++] = einsum->ranks[r];
        else
            times *= (double)body->draft->forward->ranks[einsum->ranks[r]].extent;
    }
    einsum->ranks = ranks;
    einsum->n_ranks = n;
    return times;
}

/* The value of a tree times a number; the scatter of a row stays the root. */
static const dfl_eop *scale(dfl_train_draft *draft, const dfl_eop *root, double times)
{
    const dfl_eop *value = root->kind == DFL_EOP_SCATTER ? root->args[0] : root;
    const dfl_eop *product = dfl_train_operate(draft, DFL_EOP_MUL, value, dfl_train_constant(draft, times));

    return root->kind == DFL_EOP_SCATTER ? dfl_train_scatter(draft, product, root->args[1]) : product;
}

/* The condition sign * index + offset >= 0. */
static dfl_condition limit_index(dfl_train_draft *draft, const dfl_index *index, int sign, int64_t offset)
{
    dfl_term *terms = DFL_NEW_ARRAY(draft->arena, dfl_term, index->n_terms + 1);

    for (uint32_t t = 0; t < index->n_terms; t++)
        terms[t] = (dfl_term){ .rank = index->terms[t].rank, .coef = sign * index->terms[t].coef };
    return (dfl_condition){ .sum = { .terms = terms, .n_terms = index->n_terms, .offset = sign * index->offset + offset,
                                     .span = index->span } };
}

/* Limits the einsum to the points whose result lies inside of the shape: what a window reads beyond it is padding. */
static void limit_to_shape(dfl_train_draft *draft, dfl_einsum *einsum)
{
    const dfl_tensor *t = &draft->tensors.at[einsum->output.tensor];
    dfl_condition *where = DFL_NEW_ARRAY(draft->arena, dfl_condition, einsum->n_where + 2 * t->n_dims + 1);

    if (einsum->n_where > 0)
        memcpy(where, einsum->where, einsum->n_where * sizeof *where);
    for (uint32_t d = 0; d < t->n_dims; d++) {
        dfl_i128 low, high;

        dfl_train_find_range(draft, &einsum->output.index[d], &low, &high);
        if (low < 0)
            where[einsum->n_where++] = limit_index(draft, &einsum->output.index[d], 1, 0);
        if (high >= t->extents[d])
            where[einsum->n_where++] = limit_index(draft, &einsum->output.index[d], -1, t->extents[d] - 1);
    }
    einsum->where = where;
}

/* How the points of all einsums that produce a tensor meet in an element: `Z = a` and `Z max= b` is a maximum of all of them.
   Reports a mixture. */
static dfl_reduce find_reduction(dfl_train_draft *draft, const dfl_einsum *einsum)
{
    const dfl_workload *w = draft->forward;
    const dfl_tensor *t = &w->tensors[einsum->output.tensor];
    dfl_reduce found = DFL_REDUCE_NONE;
    bool mixed = false;

    for (uint32_t p = 0; p < t->n_producers; p++) {
        dfl_reduce reduce = w->einsums[t->producers[p]].reduce;

        mixed |= reduce != DFL_REDUCE_NONE && found != DFL_REDUCE_NONE && reduce != found;
        found = reduce != DFL_REDUCE_NONE ? reduce : found;
    }
    if (mixed)
        dfl_train_refuse(draft, einsum->span, "a tensor that einsums reduce in different ways",
                         "give the result of each reduction a name of its own");
    return found;
}

/* The derivative of the loss by the right side at a point: that by the result; of a maximum, only where the point attains it. */
static const dfl_eop *differentiate_reduction(dfl_train_body *body, const dfl_einsum *einsum, dfl_access gradient)
{
    dfl_train_draft *draft = body->draft;
    const dfl_reduce reduce = find_reduction(draft, einsum);
    const dfl_eop *outer = dfl_train_access(body, gradient), **args;
    dfl_i128 flops = 0;
    dfl_sym op;

    if (draft->failed)
        return NULL;
    if (reduce != DFL_REDUCE_MAX && reduce != DFL_REDUCE_MIN)
        return outer;
    op = dfl_train_derivative_op(draft, einsum, dfl_intern_z(draft->names, reduce == DFL_REDUCE_MAX ? "max" : "min"),
                                 "_share", 2, 0, &flops);
    args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, 2);
    args[0] = dfl_train_copy(body, einsum, einsum->body);
    args[1] = dfl_train_access(body, einsum->output);
    return op == 0 ? NULL : dfl_train_operate(draft, DFL_EOP_MUL, outer, dfl_train_call(draft, op, flops, args, 2));
}

/* The adjoint of an op that takes a whole rank: `f_d(g) over r` of a linear op, else `f_d(g, x) over r`. NULL after a
   report. */
static const dfl_eop *differentiate_over(dfl_train_body *body, const dfl_einsum *einsum, dfl_access gradient, uint32_t operand,
                                         dfl_i128 *per_output)
{
    dfl_train_draft *draft = body->draft;
    const dfl_eop *call = einsum->body, **args;
    const int64_t extent = draft->forward->ranks[einsum->over_rank].extent;
    dfl_sym name, op;
    bool linear;

    if (call->kind != DFL_EOP_CALL || einsum->reduce != DFL_REDUCE_NONE || call->n_args != 1 ||
        call->args[0]->kind != DFL_EOP_ACCESS || call->args[0]->operand != operand) {
        dfl_train_refuse(draft, einsum->span, "an op over a whole rank inside of another expression",
                         "let one einsum hold the op of one tensor alone, `Z[i, r] = f(X[i, r]) over r`");
        return NULL;
    }
    name = dfl_intern_z(draft->names, dfl_arena_printf(draft->arena, "%s_d", dfl_sym_text(draft->names, call->op)));
    linear = draft->training->op_cost(draft->training->context, name, 1, extent, per_output);
    op = linear ? name : dfl_train_derivative_op(draft, einsum, call->op, "_d", 2, extent, per_output);
    args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, 2);
    args[0] = dfl_train_access(body, gradient);
    if (!linear)
        args[1] = dfl_train_copy(body, einsum, call->args[0]);
    return op == 0 ? NULL : dfl_train_call(draft, op, 0, args, linear ? 1 : 2);
}

/* Whether a gradient of an operand is computed: a weight, or what is computed from one. Inside of a `repeat`, what is carried. */
static bool is_wanted(const dfl_train_draft *draft, const dfl_einsum *einsum, uint32_t tensor)
{
    const dfl_role role = draft->forward->tensors[tensor].role;

    if (!draft->wanted[tensor] || role == DFL_ROLE_STATE)
        return false;
    return role != DFL_ROLE_INPUT || dfl_train_find_start(draft->forward, tensor, einsum) != NULL;
}

/* Whether an einsum adds to the gradient of its operand `k`. */
static bool leaves_gradient(const dfl_train_draft *draft, const dfl_einsum *e, uint32_t k)
{
    return draft->wanted[e->output.tensor] && draft->forward->tensors[e->output.tensor].role != DFL_ROLE_STATE &&
           is_wanted(draft, e, e->inputs[k].tensor) && dfl_train_depends(draft, e->body, k);
}

/* Whether the iterations of a repeat, in which an einsum stands, all add to one gradient of what its operand `k` reads. */
static bool adds_in_each(const dfl_train_draft *draft, const dfl_einsum *e, uint32_t k, const dfl_carry *from)
{
    for (uint32_t r = 0; r < e->n_ranks; r++) {
        bool has = from != NULL && from->rank == e->ranks[r];

        for (uint32_t d = 0; d < e->inputs[k].n_dims; d++)
            has |= dfl_index_coef(&e->inputs[k].index[d], e->ranks[r]) != 0;
        if (is_repeat(draft->forward, e->ranks[r]) && !has)
            return true;
    }
    return false;
}

/* Adds zeros to all elements of the gradient to which operand `k` of forward einsum `of` adds; `from` and `lead` as of the
   readers. */
static void fill_target(dfl_train_draft *draft, uint32_t of, uint32_t k, const dfl_carry *from, uint32_t lead)
{
    const dfl_einsum *e = &draft->forward->einsums[of];
    const uint32_t tensor = e->inputs[k].tensor, n_dims = draft->forward->tensors[tensor].n_dims;
    uint32_t *ranks = DFL_NEW_ARRAY(draft->arena, uint32_t, n_dims + 2), n = n_dims;
    dfl_access whole = dfl_train_visit(draft, tensor, ranks);
    dfl_train_body body = { .draft = draft };

    if (lead != DFL_NONE) { /* of the last iteration alone */
        dfl_index *index = DFL_NEW_ARRAY(draft->arena, dfl_index, n_dims + 1);

        memcpy(index, whole.index, n_dims * sizeof *index);
        for (uint32_t r = n = 0; r < n_dims; r++)
            if (dfl_index_coef(&index[lead], ranks[r]) == 0)
                ranks[n++] = ranks[r];
        index[lead] = (dfl_index){ .span = e->inputs[k].span };
        whole.index = index;
    }
    if (from != NULL)
        dfl_train_insert_rank(ranks, n++, from->rank);
    add_backward(&body, (dfl_einsum){ .span = draft->forward->tensors[tensor].span, .output = gradient_target(draft, whole, e),
                                      .ranks = ranks, .n_ranks = n, .over_rank = DFL_NONE, .of = of },
                 dfl_train_constant(draft, 0));
}

/* Adds zeros before the first contribution, by operand `k` of forward einsum `of`, to a gradient of which the readers of its
   tensor leave out elements. */
static void fill_rest(dfl_train_draft *draft, uint32_t of, uint32_t k)
{
    const dfl_workload *w = draft->forward;
    const dfl_einsum *e = &w->einsums[of];
    const uint32_t tensor = e->inputs[k].tensor;
    const dfl_carry *from = dfl_train_find_start(w, tensor, e), *to = find_carry(w, tensor, true);
    const dfl_train_readers readers = { tensor, from, to != NULL ? find_lead(w, to) : DFL_NONE };
    const bool is_inside = from == NULL && to != NULL && e->inputs[k].index[readers.lead].n_terms > 0;
    const uint32_t has = from != NULL ? draft->start[from - w->carries] : draft->gradient[tensor];
    const bool is_added_to = from == NULL && (is_seed(draft, tensor) || find_carry(w, tensor, false) != NULL);

    if (has != DFL_NONE || w->tensors[tensor].gathered || is_inside || is_added_to ||
        dfl_train_is_covered(draft, &readers, leaves_gradient))
        return;
    if (adds_in_each(draft, e, k, from))
        dfl_train_refuse(draft, e->span, "a `repeat` that reads a part of a tensor from outside",
                         "copy the tensor before the `repeat`, element by element of the part, and read the copy");
    else
        fill_target(draft, of, k, from, readers.lead);
}

/* Adds what forward einsum `of` contributes to the gradient of its operand `k`. */
static void add_contribution(dfl_train_draft *draft, uint32_t of, uint32_t k, dfl_access gradient)
{
    const dfl_einsum *forward = &draft->forward->einsums[of];
    dfl_train_body body = { .draft = draft };
    dfl_einsum einsum = { .span = forward->span, .ranks = forward->ranks, .n_ranks = forward->n_ranks, .over_rank = DFL_NONE,
                          .where = forward->where, .n_where = forward->n_where, .of = of };
    const uint32_t table = dfl_train_table_of(draft->forward, forward->inputs[k].tensor);
    const dfl_eop *root;
    double times;

    if (forward->over_rank != DFL_NONE) {
        einsum.over_rank = forward->over_rank;
        root = differentiate_over(&body, forward, gradient, k, &einsum.flops_per_output);
    } else {
        root = differentiate_reduction(&body, forward, gradient);
        root = root != NULL ? dfl_train_differentiate(&body, forward, forward->body, k, root) : NULL;
    }
    if (root == NULL || draft->failed)
        return;
    if (table != DFL_NONE && draft->gradient[table] == DFL_NONE)
        fill_with_zeros(draft, table, of);
    fill_rest(draft, of, k);
    einsum.output = gradient_target(draft, forward->inputs[k], forward);
    limit_to_shape(draft, &einsum);
    times = drop_ranks(&body, &einsum);
    if (times != 1)
        root = scale(draft, root, times);
    add_backward(&body, einsum, root);
}

/* Adds the backward einsums of one forward einsum. */
static void differentiate_einsum(dfl_train_draft *draft, uint32_t of)
{
    const dfl_einsum *einsum = &draft->forward->einsums[of];
    dfl_access gradient;

    if (!draft->wanted[einsum->output.tensor] || draft->forward->tensors[einsum->output.tensor].role == DFL_ROLE_STATE ||
        !read_gradient(draft, of, &gradient))
        return;
    for (uint32_t k = 0; k < einsum->n_inputs && !draft->failed; k++)
        if (is_wanted(draft, einsum, einsum->inputs[k].tensor) && dfl_train_depends(draft, einsum->body, k))
            add_contribution(draft, of, k, gradient);
}

/* ---- the whole step ---- */

/* Finds the tensors that depend on a weight. */
static void find_wanted(dfl_train_draft *draft)
{
    const dfl_workload *w = draft->forward;
    bool more = true;

    for (uint32_t t = 0; t < w->n_tensors; t++)
        draft->wanted[t] = w->tensors[t].role == DFL_ROLE_WEIGHT;
    while (more) {
        more = false;
        for (uint32_t e = 0; e < w->n_einsums; e++) {
            bool *out = &draft->wanted[w->einsums[e].output.tensor];

            for (uint32_t i = 0; i < w->einsums[e].n_inputs && !*out; i++)
                more |= *out = draft->wanted[w->einsums[e].inputs[i].tensor] && dfl_train_depends(draft, w->einsums[e].body, i);
        }
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (dfl_train_table_of(w, t) != DFL_NONE && draft->wanted[w->tensors[t].table] && !draft->wanted[t])
                more = draft->wanted[t] = true;
        for (uint32_t c = 0; c < w->n_carries; c++)
            if (draft->wanted[w->carries[c].to] && !draft->wanted[w->carries[c].from])
                more = draft->wanted[w->carries[c].from] = true;
    }
}

/* Reports that no weight has a gradient. */
static void check_reached(dfl_train_draft *draft)
{
    const dfl_workload *w = draft->forward;
    bool has_weight = false, reached = false;
    dfl_diag *d;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        has_weight |= w->tensors[t].role == DFL_ROLE_WEIGHT;
        reached |= w->tensors[t].role == DFL_ROLE_WEIGHT && draft->gradient[t] != DFL_NONE;
    }
    if (reached)
        return;
    d = dfl_report(draft->sink, DFL_TRAIN_NOTHING, draft->training->span, has_weight ? "the loss depends on no weight of `%s`"
                                                                                     : "`%s` has no weight to train",
                   dfl_sym_text(draft->names, w->name));
    dfl_diag_label(draft->sink, d, w->span, "declared here");
    dfl_diag_help(draft->sink, d, has_weight ? "name another tensor as `loss`, or let an `output` depend on a weight"
                                             : "declare the tensors to train as `weight`, as in `weight W[k, n];`");
    draft->failed = true;
}

/* Copies the forward workload into the draft. */
static void copy_forward(dfl_train_draft *draft)
{
    const dfl_workload *w = draft->forward;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        DFL_PUSH(draft->arena, &draft->ranks, w->ranks[r]);
    for (uint32_t t = 0; t < w->n_tensors; t++)
        (void)dfl_train_add_tensor(draft, w->tensors[t]);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        DFL_PUSH(draft->arena, &draft->einsums, w->einsums[e]);
    for (uint32_t c = 0; c < w->n_carries; c++)
        DFL_PUSH(draft->arena, &draft->carries, w->carries[c]);
    draft->wanted = DFL_NEW_ARRAY(draft->arena, bool, w->n_tensors + 1);
    draft->gradient = DFL_NEW_ARRAY(draft->arena, uint32_t, w->n_tensors + 1);
    draft->inside = DFL_NEW_ARRAY(draft->arena, uint32_t, w->n_tensors + 1);
    draft->start = DFL_NEW_ARRAY(draft->arena, uint32_t, w->n_carries + 1);
    for (uint32_t c = 0; c < w->n_carries; c++)
        draft->start[c] = DFL_NONE;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        draft->gradient[t] = draft->inside[t] = DFL_NONE;
}

/* Adds the carries of the gradients. */
static void add_carries(dfl_train_draft *draft)
{
    for (uint32_t c = 0; c < draft->forward->n_carries; c++) {
        const dfl_carry *carry = &draft->forward->carries[c];

        if (draft->gradient[carry->to] == DFL_NONE)
            continue;
        if (draft->start[c] == DFL_NONE)
            dfl_train_refuse(draft, draft->ranks.at[carry->rank].span,
                             "a `repeat` whose result depends on nothing that it carries",
                             "read the carried tensor in the `repeat`, or remove `carrying`");
        else
            DFL_PUSH(draft->arena, &draft->carries,
                     ((dfl_carry){ .rank = carry->rank, .from = draft->gradient[carry->to], .to = draft->start[c],
                                   .downwards = true }));
    }
}

/* Lists the producers and consumers of every tensor, and sets the roles of the gradients. */
static void link_tensors(dfl_train_draft *draft)
{
    for (uint32_t t = 0; t < draft->tensors.n; t++) {
        DFL_VEC(uint32_t) producers = { 0 }, consumers = { 0 };
        dfl_tensor *tensor = &draft->tensors.at[t];

        for (uint32_t e = 0; e < draft->einsums.n; e++) {
            if (draft->einsums.at[e].output.tensor == t)
                DFL_PUSH(draft->arena, &producers, e);
            if (dfl_einsum_reads(&draft->einsums.at[e], t))
                DFL_PUSH(draft->arena, &consumers, e);
        }
        tensor->producers = producers.at;
        tensor->n_producers = (uint32_t)producers.n;
        tensor->consumers = consumers.at;
        tensor->n_consumers = (uint32_t)consumers.n;
        if (tensor->part == DFL_PART_GRADIENT)
            tensor->role = producers.n == 0 ? DFL_ROLE_INPUT : consumers.n == 0 ? DFL_ROLE_OUTPUT : DFL_ROLE_INTERMEDIATE;
    }
}

const dfl_workload *dfl_training_derive(dfl_arena *arena, dfl_sink *sink, dfl_intern *names, const dfl_workload *forward,
                                        const dfl_training *training)
{
    dfl_train_draft draft = { .arena = arena, .sink = sink, .names = names, .training = training };
    dfl_workload *step;

    draft.forward = dfl_train_split_tables(&draft, forward);
    copy_forward(&draft);
    find_wanted(&draft);
    fill_tables(&draft);
    for (uint32_t e = forward->n_einsums; e-- > 0 && !draft.failed;)
        differentiate_einsum(&draft, e);
    if (!draft.failed)
        add_carries(&draft);
    if (!draft.failed)
        check_reached(&draft);
    if (!draft.failed)
        dfl_train_add_updates(&draft);
    if (draft.failed)
        return NULL;
    link_tensors(&draft);
    step = DFL_NEW(arena, dfl_workload);
    *step = *forward;
    step->name = training->name;
    step->span = training->span;
    step->ranks = draft.ranks.at;
    step->n_ranks = (uint32_t)draft.ranks.n;
    step->tensors = draft.tensors.at;
    step->n_tensors = (uint32_t)draft.tensors.n;
    step->einsums = draft.einsums.at;
    step->n_einsums = (uint32_t)draft.einsums.n;
    step->carries = draft.carries.at;
    step->n_carries = (uint32_t)draft.carries.n;
    return step;
}
