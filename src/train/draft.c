#include "train/draft.h"

#include <string.h>

dfl_sym dfl_train_name(dfl_train_draft *draft, const char *kind, dfl_sym tensor)
{
    const char *name = dfl_sym_text(draft->names, tensor), *last = name;
    int depth = 0;

    for (const char *c = name; *c != '\0'; c++) {
        depth += (*c == '[') - (*c == ']');
        if (*c == '.' && depth == 0)
            last = c + 1;
        if (*c == '@') /* the rows that a gather reads: "layer.T@layer.Z" */
            break;
    }
    return dfl_intern_z(draft->names, dfl_arena_printf(draft->arena, "%.*s%s.%s", (int)(last - name), name, kind, last));
}

uint32_t dfl_train_add_tensor(dfl_train_draft *draft, dfl_tensor tensor)
{
    DFL_PUSH(draft->arena, &draft->tensors, tensor);
    DFL_PUSH(draft->arena, &draft->written, 0);
    return (uint32_t)draft->tensors.n - 1;
}

void dfl_train_refuse(dfl_train_draft *draft, dfl_span span, const char *what, const char *help)
{
    dfl_diag *d = dfl_report(draft->sink, DFL_EVAL_UNSUPPORTED, span, "%s has no derivative", what);

    dfl_diag_label(draft->sink, d, draft->training->span, "asked for by `train`");
    dfl_diag_help(draft->sink, d, "%s", help);
    draft->failed = true;
}

/* ---- trees ---- */

static dfl_eop *make_node(dfl_train_draft *draft, dfl_eop_kind kind, uint32_t n_args)
{
    dfl_eop *node = DFL_NEW(draft->arena, dfl_eop);

    node->kind = kind;
    node->n_args = n_args;
    return node;
}

const dfl_eop *dfl_train_constant(dfl_train_draft *draft, double value)
{
    dfl_eop *node = make_node(draft, DFL_EOP_CONST, 0);

    node->value = value;
    return node;
}

static bool equal_accesses(const dfl_access *a, const dfl_access *b)
{
    if (a->tensor != b->tensor)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const dfl_index *x = &a->index[d], *y = &b->index[d];

        if (x->n_terms != y->n_terms || x->offset != y->offset)
            return false;
        for (uint32_t t = 0; t < x->n_terms; t++)
            if (x->terms[t].rank != y->terms[t].rank || x->terms[t].coef != y->terms[t].coef)
                return false;
    }
    return true;
}

const dfl_eop *dfl_train_access(dfl_train_body *body, dfl_access access)
{
    dfl_eop *node = make_node(body->draft, DFL_EOP_ACCESS, 0);

    for (; node->operand < body->inputs.n; node->operand++)
        if (equal_accesses(&body->inputs.at[node->operand], &access))
            return node;
    DFL_PUSH(body->draft->arena, &body->inputs, access);
    return node;
}

const dfl_eop *dfl_train_negate(dfl_train_draft *draft, const dfl_eop *a)
{
    const dfl_eop **args;
    dfl_eop *node;

    if (a->kind == DFL_EOP_CONST)
        return dfl_train_constant(draft, -a->value);
    if (a->kind == DFL_EOP_NEG)
        return a->args[0];
    args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, 1);
    args[0] = a;
    node = make_node(draft, DFL_EOP_NEG, 1);
    node->args = args;
    return node;
}

/* The value of an operator with constant operands. */
static double fold(dfl_eop_kind kind, double a, double b)
{
    switch ((int)kind) {
    case DFL_EOP_ADD: return a + b;
    case DFL_EOP_SUB: return a - b;
    case DFL_EOP_MUL: return a * b;
    default:          return a / b;
    }
}

const dfl_eop *dfl_train_operate(dfl_train_draft *draft, dfl_eop_kind kind, const dfl_eop *a, const dfl_eop *b)
{
    bool product = kind == DFL_EOP_MUL || kind == DFL_EOP_DIV;
    const dfl_eop **args;
    dfl_eop *node;

    if (a->kind == DFL_EOP_CONST && b->kind == DFL_EOP_CONST)
        return dfl_train_constant(draft, fold(kind, a->value, b->value));
    if (product && a->kind == DFL_EOP_NEG && b->kind == DFL_EOP_CONST) { /* -x * c = x * -c */
        a = a->args[0];
        b = dfl_train_constant(draft, -b->value);
    }
    if (product && b->kind == DFL_EOP_CONST && b->value == 1)
        return a;
    if (kind == DFL_EOP_MUL && a->kind == DFL_EOP_CONST && a->value == 1)
        return b;
    args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, 2);
    args[0] = a;
    args[1] = b;
    node = make_node(draft, kind, 2);
    node->args = args;
    return node;
}

const dfl_eop *dfl_train_scatter(dfl_train_draft *draft, const dfl_eop *value, const dfl_eop *position)
{
    dfl_eop *node = make_node(draft, DFL_EOP_SCATTER, 2);
    const dfl_eop **args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, 2);

    args[0] = value;
    args[1] = position;
    node->args = args;
    return node;
}

const dfl_eop *dfl_train_call(dfl_train_draft *draft, dfl_sym op, dfl_i128 flops, const dfl_eop *const *args, uint32_t n_args)
{
    dfl_eop *node = make_node(draft, DFL_EOP_CALL, n_args);

    node->op = op;
    node->flops = flops;
    node->args = args;
    return node;
}

/* ---- einsums ---- */

/* FLOP of one evaluation of the tree. */
static dfl_i128 count_flops(dfl_train_draft *draft, const dfl_eop *node)
{
    bool operator = node->kind == DFL_EOP_NEG || node->kind == DFL_EOP_ADD || node->kind == DFL_EOP_SUB ||
                    node->kind == DFL_EOP_MUL || node->kind == DFL_EOP_DIV;
    dfl_i128 sum = node->kind == DFL_EOP_CALL ? node->flops : operator;

    for (uint32_t i = 0; i < node->n_args; i++)
        draft->failed |= dfl_add(sum, count_flops(draft, node->args[i]), &sum);
    return sum;
}

/* Whether a node reads one element, at a given or at a data-dependent position. */
static bool is_read(const dfl_eop *node) { return node->kind == DFL_EOP_ACCESS || node->kind == DFL_EOP_GATHER; }

/* The name of the next einsum that produces the tensor: "T", "T#2". */
static dfl_sym name_einsum(dfl_train_draft *draft, uint32_t tensor)
{
    dfl_sym name = draft->tensors.at[tensor].name;

    if (++draft->written.at[tensor] == 1)
        return name;
    return dfl_intern_z(draft->names, dfl_arena_printf(draft->arena, "%s#%u", dfl_sym_text(draft->names, name),
                                                       draft->written.at[tensor]));
}

void dfl_train_add_einsum(dfl_train_body *body, dfl_einsum einsum, const dfl_eop *root)
{
    dfl_train_draft *draft = body->draft;
    const dfl_eop *value = root->kind == DFL_EOP_SCATTER ? root->args[0] : root;
    dfl_i128 flops = count_flops(draft, root);

    einsum.is_mac = einsum.reduce == DFL_REDUCE_ADD && value->kind == DFL_EOP_MUL && is_read(value->args[0]) &&
                    is_read(value->args[1]);
    if (einsum.reduce != DFL_REDUCE_NONE)
        draft->failed |= dfl_add(flops, 1, &flops);
    if (einsum.over_rank != DFL_NONE) { /* one point computes all elements along the rank */
        draft->failed |= dfl_add(einsum.flops_per_output, flops, &einsum.flops_per_output);
        flops = 0;
    }
    einsum.flops_per_point = einsum.is_mac ? 0 : flops;
    einsum.body = root;
    einsum.inputs = body->inputs.at;
    einsum.n_inputs = (uint32_t)body->inputs.n;
    if (einsum.name == 0)
        einsum.name = name_einsum(draft, einsum.output.tensor);
    DFL_PUSH(draft->arena, &draft->einsums, einsum);
}
