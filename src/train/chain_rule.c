#include "train/chain_rule.h"

#include <string.h>

/* Whether a call is `hold(x)`, which passes no gradient. */
static bool is_hold(const dfl_train_draft *draft, const dfl_eop *node)
{
    return node->kind == DFL_EOP_CALL && strcmp(dfl_sym_text(draft->names, node->op), "hold") == 0;
}

bool dfl_train_depends(const dfl_train_draft *draft, const dfl_eop *tree, uint32_t operand)
{
    if (tree->kind == DFL_EOP_ACCESS)
        return tree->operand == operand;
    if (tree->kind == DFL_EOP_GATHER)
        return tree->args[0]->operand == operand;
    for (uint32_t i = 0; i < tree->n_args && !is_hold(draft, tree); i++)
        if (dfl_train_depends(draft, tree->args[i], operand))
            return true;
    return false;
}

const dfl_eop *dfl_train_copy(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *tree)
{
    dfl_train_draft *draft = body->draft;
    const dfl_eop **args;
    dfl_eop *node;

    if (tree->kind == DFL_EOP_CONST)
        return tree;
    if (tree->kind == DFL_EOP_ACCESS)
        return dfl_train_access(body, einsum->inputs[tree->operand]);
    args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, tree->n_args);
    for (uint32_t i = 0; i < tree->n_args; i++)
        args[i] = dfl_train_copy(body, einsum, tree->args[i]);
    node = DFL_NEW(draft->arena, dfl_eop);
    *node = *tree;
    node->args = args;
    return node;
}

dfl_sym dfl_train_derivative_op(dfl_train_draft *draft, const dfl_einsum *einsum, dfl_sym op, const char *suffix,
                                uint32_t n_args, int64_t over, dfl_i128 *flops)
{
    const char *name = dfl_arena_printf(draft->arena, "%s%s", dfl_sym_text(draft->names, op), suffix);
    dfl_sym sym = dfl_intern_z(draft->names, name);
    dfl_diag *d;

    if (draft->training->op_cost(draft->training->context, sym, n_args, over, flops))
        return sym;
    d = dfl_report(draft->sink, DFL_OP_NO_DERIVATIVE, einsum->span, "`%s` calls `%s`, which has no derivative",
                   dfl_sym_text(draft->names, einsum->name), dfl_sym_text(draft->names, op));
    dfl_diag_label(draft->sink, d, draft->training->span, "asked for by `train`");
    dfl_diag_help(draft->sink, d, "declare its derivative with its cost: `op %s(%s)%s = 1FLOP;`", name,
                  n_args == 1 ? "x" : n_args == 2 ? "x, y" : "x, y, ...", over > 0 ? " over r" : "");
    draft->failed = true;
    return 0;
}

/* The sum of two derivatives; NULL = none. */
static const dfl_eop *add(dfl_train_draft *draft, const dfl_eop *a, const dfl_eop *b)
{
    return a == NULL ? b : b == NULL ? a : dfl_train_operate(draft, DFL_EOP_ADD, a, b);
}

/* The derivative of a call of an op. */
static const dfl_eop *differentiate_call(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *call, uint32_t operand,
                                         const dfl_eop *outer)
{
    dfl_train_draft *draft = body->draft;
    const dfl_eop *sum = NULL;

    for (uint32_t i = 0; i < call->n_args && !is_hold(draft, call); i++) {
        const dfl_eop **args, *inner;
        dfl_i128 flops = 0;
        dfl_sym op;

        if (!dfl_train_depends(draft, call->args[i], operand))
            continue;
        op = dfl_train_derivative_op(draft, einsum, call->op,
                                     call->n_args == 1 ? "_d" : dfl_arena_printf(draft->arena, "_d%u", i + 1), call->n_args, 0,
                                     &flops);
        if (op == 0)
            return NULL;
        args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, call->n_args);
        for (uint32_t k = 0; k < call->n_args; k++)
            args[k] = dfl_train_copy(body, einsum, call->args[k]);
        inner = dfl_train_operate(draft, DFL_EOP_MUL, outer, dfl_train_call(draft, op, flops, args, call->n_args));
        sum = add(draft, sum, dfl_train_differentiate(body, einsum, call->args[i], operand, inner));
    }
    return sum;
}

/* The derivative of a quotient a / b by what b depends on: -(g a / (b b)). */
static const dfl_eop *differentiate_divisor(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *quotient,
                                            uint32_t operand, const dfl_eop *outer)
{
    dfl_train_draft *draft = body->draft;
    const dfl_eop *a = dfl_train_copy(body, einsum, quotient->args[0]), *b = dfl_train_copy(body, einsum, quotient->args[1]);
    const dfl_eop *above = dfl_train_operate(draft, DFL_EOP_MUL, outer, a);
    const dfl_eop *below = dfl_train_operate(draft, DFL_EOP_MUL, b, b);

    return dfl_train_differentiate(body, einsum, quotient->args[1], operand,
                                   dfl_train_negate(draft, dfl_train_operate(draft, DFL_EOP_DIV, above, below)));
}

/* The derivative of a binary operator. */
static const dfl_eop *differentiate_operator(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *tree,
                                             uint32_t operand, const dfl_eop *outer)
{
    dfl_train_draft *draft = body->draft;
    const dfl_eop *left = NULL, *right = NULL;

    if (dfl_train_depends(draft, tree->args[0], operand)) {
        const dfl_eop *inner = outer;

        if (tree->kind == DFL_EOP_MUL || tree->kind == DFL_EOP_DIV)
            inner = dfl_train_operate(draft, tree->kind, outer, dfl_train_copy(body, einsum, tree->args[1]));
        left = dfl_train_differentiate(body, einsum, tree->args[0], operand, inner);
    }
    if (!dfl_train_depends(draft, tree->args[1], operand))
        return left;
    if (tree->kind == DFL_EOP_DIV)
        right = differentiate_divisor(body, einsum, tree, operand, outer);
    else if (tree->kind == DFL_EOP_MUL)
        right = dfl_train_differentiate(body, einsum, tree->args[1], operand,
                                        dfl_train_operate(draft, DFL_EOP_MUL, outer,
                                                          dfl_train_copy(body, einsum, tree->args[0])));
    else
        right = dfl_train_differentiate(body, einsum, tree->args[1], operand,
                                        tree->kind == DFL_EOP_SUB ? dfl_train_negate(draft, outer) : outer);
    return add(draft, left, right);
}

const dfl_eop *dfl_train_differentiate(dfl_train_body *body, const dfl_einsum *einsum, const dfl_eop *tree, uint32_t operand,
                                       const dfl_eop *outer)
{
    dfl_train_draft *draft = body->draft;

    if (!dfl_train_depends(draft, tree, operand))
        return NULL;
    switch (tree->kind) {
    case DFL_EOP_ACCESS:
        return outer;
    case DFL_EOP_NEG:
        return dfl_train_differentiate(body, einsum, tree->args[0], operand, dfl_train_negate(draft, outer));
    case DFL_EOP_ADD:
    case DFL_EOP_SUB:
    case DFL_EOP_MUL:
    case DFL_EOP_DIV:
        return differentiate_operator(body, einsum, tree, operand, outer);
    case DFL_EOP_CALL:
        return differentiate_call(body, einsum, tree, operand, outer);
    case DFL_EOP_GATHER:
        return dfl_train_scatter(draft, outer, dfl_train_copy(body, einsum, tree->args[1]));
    case DFL_EOP_CONST:
    case DFL_EOP_SCATTER:
        break;
    }
    return NULL;
}
