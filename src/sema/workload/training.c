/* Training steps: `workload step = train(W, optimizer = adam(fp32))`. Room `train` derives the step from the finished workload W;
   here its arguments are read, and its parts get the names by which mappings find them. */
#include "sema/workload/training.h"

#include <string.h>

#include "sema/expr/arguments.h"
#include "sema/expr/data_type.h"
#include "sema/expr/eval.h"
#include "sema/names/module.h"
#include "sema/workload/workload_internal.h"
#include "support/limits.h"
#include "train/train.h"

/* The arguments of `train`. */
typedef struct {
    dfl_ast_ref work;               /* reference to the forward workload */
    const dfl_expr *optimizer, *gradients, *recompute, *loss; /* NULL = default */
} training_arguments;

/* Suggests the most similar of some names for the place `span`. False if none is similar. */
static bool suggest(dfl_sema *sema, dfl_diag *d, dfl_span span, dfl_sym wrong, const char *const *known, size_t n)
{
    DFL_VEC(dfl_sym) syms = { 0 };
    dfl_sym near;

    for (size_t i = 0; i < n; i++)
        DFL_PUSH(sema->arena, &syms, dfl_intern_z(sema->names, known[i]));
    near = dfl_suggest(sema->names, dfl_sema_text(sema, wrong), syms.at, syms.n);
    if (near != 0)
        dfl_diag_fix(sema->sink, d, span, dfl_sema_text(sema, near), DFL_FIX_MAYBE);
    return near != 0;
}

/* Reads the first argument of `train`: a workload with its own arguments. */
static bool read_work(dfl_sema *sema, const dfl_expr *arg, dfl_ast_ref *out)
{
    if (arg->kind != DFL_EXPR_PATH && arg->kind != DFL_EXPR_CALL) {
        dfl_report(sema->sink, DFL_EXPR_TYPE, arg->span, "expected a workload, as in `train(gpt(layers = 12))`");
        return false;
    }
    *out = (dfl_ast_ref){ .path = arg->path, .args = arg->args, .n_args = arg->n_args, .has_args = arg->kind == DFL_EXPR_CALL,
                          .span = arg->span };
    return true;
}

/* Reads the arguments. False after reporting. */
static bool read_arguments(dfl_sema *sema, const dfl_ast_ref *ref, training_arguments *out)
{
    static const char *const known[] = { "optimizer", "gradients", "recompute", "loss" };
    const dfl_expr **slots[] = { &out->optimizer, &out->gradients, &out->recompute, &out->loss };
    const size_t n = sizeof known / sizeof known[0];
    const dfl_expr *first = NULL;
    bool ok = true;
    dfl_diag *d;

    for (const dfl_expr *arg = ref->args; arg != NULL; arg = arg->next) {
        size_t i = 0;

        if (arg->label.sym == 0 && first == NULL) {
            first = arg;
            ok = read_work(sema, arg, &out->work) && ok;
            continue;
        }
        while (i < n && arg->label.sym != 0 && strcmp(dfl_sema_text(sema, arg->label.sym), known[i]) != 0)
            i++;
        if (arg->label.sym == 0) {
            d = dfl_report(sema->sink, DFL_ARGUMENT_TOO_MANY, arg->span, "`train` takes one workload");
            dfl_diag_label(sema->sink, d, first->span, "this one");
            dfl_diag_help(sema->sink, d, "write other arguments with their names, as in `optimizer = adam(fp32)`");
            ok = false;
        } else if (i == n) {
            d = dfl_report(sema->sink, DFL_ARGUMENT_UNKNOWN, arg->label.span, "`train` has no parameter `%s`",
                           dfl_sema_text(sema, arg->label.sym));
            if (!suggest(sema, d, arg->label.span, arg->label.sym, known, n))
                dfl_diag_help(sema->sink, d, "the parameters are `optimizer`, `gradients`, `recompute` and `loss`");
            ok = false;
        } else if (*slots[i] != NULL) {
            dfl_scope_report_twice(sema, arg->label.span, (*slots[i])->span, "given", known[i]);
            ok = false;
        } else {
            *slots[i] = arg;
        }
    }
    if (first == NULL) {
        d = dfl_report(sema->sink, DFL_ARGUMENT_MISSING, ref->span, "`train` needs a workload");
        dfl_diag_help(sema->sink, d, "write `train(W, optimizer = adam(fp32))`");
    }
    return ok && first != NULL;
}

/* Reads the name of a data type. False after reporting. */
static bool read_type(dfl_sema *sema, const dfl_expr *expr, dfl_dtype *out)
{
    const char *name = expr->kind == DFL_EXPR_PATH ? dfl_sema_text(sema, expr->path->text) : "";
    const char *near;
    dfl_diag *d;

    *out = (dfl_dtype){ .name = dfl_intern_z(sema->names, name), .bits = dfl_data_type_bits(name) };
    if (out->bits > 0)
        return true;
    if (expr->kind != DFL_EXPR_PATH) {
        dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "expected a data type, as in `fp32`");
        return false;
    }
    d = dfl_report(sema->sink, DFL_TYPE_UNKNOWN, expr->span, "no data type `%s`", name);
    near = dfl_data_type_suggest(sema->names, name);
    if (near != NULL)
        dfl_diag_fix(sema->sink, d, expr->span, near, DFL_FIX_MAYBE);
    return false;
}

/* Whether the gradients have the type of their weights: `gradients = weights`. */
static bool names_weights(const dfl_sema *sema, const dfl_expr *expr)
{
    return expr != NULL && expr->kind == DFL_EXPR_PATH && expr->path->n == 1 &&
           strcmp(dfl_sema_text(sema, expr->path->text), "weights") == 0;
}

/* Index of the name that an argument states; `n` after reporting that it is none. */
static size_t read_choice(dfl_sema *sema, const dfl_expr *expr, const char *what, const char *const *known, size_t n)
{
    const bool is_name = (expr->kind == DFL_EXPR_PATH || expr->kind == DFL_EXPR_CALL) && expr->path->n == 1;
    size_t i = 0;
    dfl_diag *d;

    while (is_name && i < n && strcmp(dfl_sema_text(sema, expr->path->text), known[i]) != 0)
        i++;
    if (is_name && i < n)
        return i;
    d = dfl_report(sema->sink, is_name ? DFL_ARGUMENT_UNKNOWN : DFL_EXPR_TYPE, expr->span, "`train` knows no such %s", what);
    if (!is_name || !suggest(sema, d, expr->path->span, expr->path->text, known, n))
        dfl_diag_help(sema->sink, d, "write `%s`, `%s` or `%s`", known[0], known[1], known[2]);
    return n;
}

/* Reads the optimizer, the data types and the recomputation. False after reporting. */
static bool read_options(dfl_sema *sema, const training_arguments *args, dfl_training *out)
{
    static const char *const optimizers[] = { "adam", "sgd", "momentum" }, *const recompute[] = { "none", "selective", "full" };
    const dfl_expr *optimizer = args->optimizer;
    const dfl_dtype fp32 = { .name = dfl_intern_z(sema->names, "fp32"), .bits = 32 };
    size_t kind = optimizer != NULL ? read_choice(sema, optimizer, "optimizer", optimizers, 3) : 0;
    size_t again = args->recompute != NULL ? read_choice(sema, args->recompute, "recomputation", recompute, 3) : 0;
    dfl_diag *d;

    if (kind == 3 || again == 3)
        return false;
    out->optimizer = kind == 0 ? DFL_OPTIMIZER_ADAM : kind == 1 ? DFL_OPTIMIZER_SGD : DFL_OPTIMIZER_MOMENTUM;
    out->moments = out->gradients = fp32;
    if (optimizer != NULL && optimizer->n_args > 1) {
        d = dfl_report(sema->sink, DFL_ARGUMENT_TOO_MANY, optimizer->span, "`%s` takes the data type of its state alone",
                       optimizers[kind]);
        dfl_diag_here(sema->sink, d, "%u arguments", optimizer->n_args);
        dfl_diag_help(sema->sink, d, "write `%s(fp32)`", optimizers[kind]);
        return false;
    }
    if (optimizer != NULL && optimizer->n_args == 1 && !read_type(sema, optimizer->args, &out->moments))
        return false;
    if (names_weights(sema, args->gradients))
        out->gradients = (dfl_dtype){ .bits = 0 };
    else if (args->gradients != NULL && !read_type(sema, args->gradients, &out->gradients))
        return false;
    if (again == 0)
        return true;
    d = dfl_report(sema->sink, DFL_EVAL_UNSUPPORTED, args->recompute->span, "a training step that recomputes is not derived");
    dfl_diag_help(sema->sink, d, "what is recomputed is a matter of the mapping: write `recompute %s;` there",
                  again == 2 ? "forward" : "qk, A");
    return false;
}

/* ---- costs of ops ---- */

/* The modules whose ops the forward workload may call. */
typedef struct {
    dfl_sema *sema;
    DFL_VEC(dfl_module *) modules;
} op_modules;

static void add_module(op_modules *ops, dfl_module *module)
{
    for (size_t i = 0; i < ops->modules.n; i++)
        if (ops->modules.at[i] == module)
            return;
    DFL_PUSH(ops->sema->arena, &ops->modules, module);
}

static void add_modules(op_modules *ops, const dfl_elaborated_workload *forward)
{
    for (size_t i = 0; i < forward->instances.n; i++)
        for (const dfl_decl *decl = forward->instances.at[i].decl; decl != NULL; decl = decl->base)
            add_module(ops, decl->module);
}

/* Callback of type dfl_op_cost. */
static bool find_cost(void *context, dfl_sym name, uint32_t n_args, int64_t over, dfl_i128 *flops)
{
    op_modules *ops = context;
    dfl_sema *sema = ops->sema;

    for (size_t i = 0; i < ops->modules.n; i++) {
        dfl_decl *op = dfl_decl_op(sema, ops->modules.at[i], name);
        const dfl_ast_node *node = op != NULL ? op->node : NULL;
        dfl_scope *scope;
        dfl_value v;

        if (op == NULL || node->more->n_names != n_args || (node->more->over.sym != 0) != (over > 0))
            continue;
        scope = dfl_scope_new(sema, NULL, op->module);
        if (over > 0)
            dfl_scope_declare(sema, scope, node->more->over.sym, node->more->over.span, DFL_ENTRY_VALUE)->value =
                dfl_value_of(dfl_quantity_int(over));
        v = dfl_eval(sema, scope, node->value);
        if (v.kind != DFL_VALUE_QUANTITY || !dfl_dim_equal(v.quantity.dim, dfl_dim_of(DFL_BASE_OPS)) || v.quantity.real < 0 ||
            dfl_quantity_round(v.quantity, true, &v.quantity) != DFL_ARITH_OK)
            continue;
        *flops = v.quantity.integer;
        return true;
    }
    return false;
}

/* ---- the names of the step ---- */

/* The first einsum of the forward pass that reads a tensor or gathered rows of it; DFL_NONE = there is none. */
static uint32_t find_forward_reader(const dfl_elaborated_workload *forward, const dfl_workload *step, uint32_t tensor)
{
    uint32_t first = DFL_NONE;

    for (uint32_t t = 0; t < step->n_tensors; t++) {
        const dfl_tensor *read = &step->tensors[t];
        const bool is_rows = read->gathered && read->table == tensor && read->part == DFL_PART_PLAIN;

        if ((t == tensor || is_rows) && read->n_consumers > 0 && read->consumers[0] < forward->workload->n_einsums &&
            (first == DFL_NONE || read->consumers[0] < first))
            first = read->consumers[0];
    }
    return first;
}

/* The instance that encloses a derived einsum: that of the forward einsum, or of the first reader of the weight. */
static uint32_t find_instance(const dfl_elaborated_workload *forward, const dfl_workload *step, const dfl_einsum *einsum)
{
    uint32_t of = einsum->phase == DFL_PHASE_UPDATE ? find_forward_reader(forward, step, einsum->of) : einsum->of;

    if (of == DFL_NONE || of >= forward->workload->n_einsums)
        return 0;
    return forward->draft.einsums.at[forward->draft.order[of]].instance;
}

/* Makes the draft of the step: that of the forward workload, and after it what is derived, in the order of execution. */
static void fill_draft(dfl_elaborated_workload *step, const dfl_elaborated_workload *forward, dfl_decl *decl)
{
    const dfl_workload_draft *from = &forward->draft;
    dfl_workload_draft *to = &step->draft;
    dfl_arena *arena = from->arena;

    *to = (dfl_workload_draft){ .arena = arena, .sink = from->sink, .names = from->names, .new_names = from->new_names,
                                .name = decl->name, .span = decl->node->name.span, .full = from->full, .unsized = from->unsized,
                                .partial = from->partial || step->workload == NULL };
    for (size_t i = 0; i < from->ranks.n; i++)
        DFL_PUSH(arena, &to->ranks, from->ranks.at[i]);
    for (size_t i = 0; i < from->tensors.n; i++)
        DFL_PUSH(arena, &to->tensors, from->tensors.at[i]);
    for (size_t i = 0; i < from->einsums.n; i++)
        DFL_PUSH(arena, &to->einsums, from->einsums.at[i]);
    for (size_t i = 0; i < forward->instances.n; i++)
        DFL_PUSH(arena, &step->instances, forward->instances.at[i]);
    step->instances.at[0].decl = decl;
    step->n_written = (uint32_t)from->tensors.n;
    to->order = from->order;
    if (step->workload == NULL)
        return;
    to->order = DFL_NEW_ARRAY(arena, uint32_t, step->workload->n_einsums + 1);
    memcpy(to->order, from->order, from->einsums.n * sizeof *to->order);
    for (uint32_t r = (uint32_t)from->ranks.n; r < step->workload->n_ranks; r++) {
        const dfl_rank *rank = &step->workload->ranks[r];

        DFL_PUSH(arena, &to->ranks,
                 ((dfl_draft_rank){ .name = rank->name, .span = rank->span, .extent = rank->extent, .used = true }));
    }
    for (uint32_t t = (uint32_t)from->tensors.n; t < step->workload->n_tensors; t++) {
        const dfl_tensor *tensor = &step->workload->tensors[t];
        int64_t *extents = DFL_NEW_ARRAY(arena, int64_t, tensor->n_dims + 1);

        memcpy(extents, tensor->extents, tensor->n_dims * sizeof *extents);
        DFL_PUSH(arena, &to->tensors,
                 ((dfl_draft_tensor){ .name = tensor->name, .span = tensor->span, .declared = true, .has_role = true,
                                      .role = tensor->role, .type = tensor->type, .n_dims = tensor->n_dims,
                                      .extents = extents }));
    }
    for (uint32_t e = (uint32_t)from->einsums.n; e < step->workload->n_einsums; e++) {
        to->order[e] = e;
        DFL_PUSH(arena, &to->einsums,
                 ((dfl_draft_einsum){ .ir = step->workload->einsums[e],
                                      .instance = find_instance(forward, step->workload, &step->workload->einsums[e]) }));
    }
    step->instances.at[0].last_einsum = step->workload->n_einsums;
}

/* ---- elaboration ---- */

/* The tensor of the forward workload that `loss` names. False after reporting. */
static bool find_loss(dfl_sema *sema, const dfl_elaborated_workload *forward, const dfl_expr *expr, uint32_t *out)
{
    DFL_VEC(const char *) known = { 0 };
    dfl_diag *d;

    *out = DFL_NONE;
    if (expr == NULL)
        return true;
    if (expr->kind != DFL_EXPR_PATH) {
        dfl_report(sema->sink, DFL_EXPR_TYPE, expr->span, "expected the name of a tensor");
        return false;
    }
    for (uint32_t t = 0; t < forward->draft.tensors.n; t++) {
        if (forward->draft.tensors.at[t].name == expr->path->text) {
            *out = t;
            return true;
        }
        DFL_PUSH(sema->arena, &known, dfl_sema_text(sema, forward->draft.tensors.at[t].name));
    }
    d = dfl_report(sema->sink, DFL_NAME_UNKNOWN, expr->span, "no tensor `%s` in workload `%s`",
                   dfl_sema_text(sema, expr->path->text), dfl_sema_text(sema, forward->decl->name));
    if (!suggest(sema, d, expr->span, expr->path->text, known.at, known.n))
        dfl_diag_help(sema->sink, d, "name a result of the workload; the default is every `output`");
    return false;
}

/* Derives the step from its forward workload. NULL after reporting, and for a template. */
static const dfl_workload *derive(dfl_sema *sema, const dfl_decl *decl, const dfl_ast_ref *ref,
                                  const dfl_elaborated_workload *forward, dfl_training *training, const dfl_expr *loss)
{
    op_modules *ops = DFL_NEW(sema->arena, op_modules);

    if (forward->workload == NULL || !find_loss(sema, forward, loss, &training->loss))
        return NULL;
    if (forward->n_written > 0) {
        dfl_diag *d = dfl_report(sema->sink, DFL_EVAL_UNSUPPORTED, ref->span,
                                 "a training step of a training step is not derived");

        dfl_diag_label(sema->sink, d, forward->decl->node->name.span, "is a training step");
        dfl_diag_help(sema->sink, d, "name the workload of the forward pass, as in `train(gpt)`");
        return NULL;
    }
    ops->sema = sema;
    add_modules(ops, forward);
    training->name = decl->name;
    training->span = ref->span;
    training->op_cost = find_cost;
    training->context = ops;
    return dfl_training_derive(sema->arena, sema->sink, sema->names, forward->workload, training);
}

/* The declaration at the end of a chain `A = B(...)` that is a training step, with the values of its parameters; NULL if there is
   none. */
static dfl_decl *find_training(dfl_sema *sema, dfl_decl *decl, dfl_scope **args)
{
    dfl_decl *chain[DFL_SEMA_MAX_NESTING];
    uint32_t n = 0;
    bool broken;

    for (dfl_decl *at = decl; at != NULL && n < DFL_SEMA_MAX_NESTING && at->node->kind == DFL_AST_WORKLOAD;) {
        const dfl_ast_ref *ref = at->node->more->ref;

        chain[n++] = at;
        if (ref->path->n == 0)
            return NULL;
        if (!dfl_workload_is_training(sema, ref)) {
            at = dfl_decl_find(sema, at->module, ref->path, &broken);
            continue;
        }
        for (uint32_t i = 1; i < n; i++) {
            const dfl_ast_node *missing;
            const dfl_ast_ref *use = chain[i - 1]->node->more->ref;
            dfl_scope *inner = dfl_scope_new(sema, NULL, chain[i]->module);

            chain[i - 1]->base = chain[i];
            if (!dfl_args_bind(sema, inner, chain[i]->node->more->params, use, *args, chain[i], &missing) ||
                (missing != NULL && !dfl_args_need(sema, use, missing))) {
                *args = NULL;
                break;
            }
            *args = inner;
        }
        return at;
    }
    return NULL;
}

dfl_elaborated_workload *dfl_workload_elaborate_training(dfl_sema *sema, dfl_decl *decl, dfl_scope *args,
                                                         const dfl_ast_node *missing, dfl_elaborate *elaborate, bool *broken)
{
    dfl_scope *inner = args;
    dfl_decl *at = find_training(sema, decl, &inner);
    dfl_insertion self = { .decl = at, .args = inner };
    dfl_elaborated_workload *step, *forward = NULL;
    training_arguments given = { 0 };
    dfl_training training = { 0 };
    const dfl_ast_ref *ref;

    if (at == NULL)
        return NULL;
    ref = at->node->more->ref;
    self.use = ref->span;
    step = DFL_NEW(sema->arena, dfl_elaborated_workload);
    step->decl = decl;
    step->args = args;
    step->missing = missing;
    if (inner != NULL && dfl_decl_enter(sema, &self)) {
        if (read_arguments(sema, ref, &given) && read_options(sema, &given, &training))
            forward = dfl_workload_refuse_training(sema, &given.work)
                          ? NULL
                          : dfl_memo_reference(sema, dfl_decl_need(sema, at->module, given.work.path, DFL_AST_WORKLOAD), inner,
                                               &given.work, elaborate);
        dfl_decl_leave(sema);
    }
    if (forward != NULL && forward->missing != NULL) {
        (void)dfl_args_need(sema, &given.work, forward->missing);
        forward = NULL;
    }
    if (forward != NULL) {
        at->base = forward->decl;
        step->workload = derive(sema, decl, ref, forward, &training, given.loss);
        fill_draft(step, forward, decl);
    }
    step->broken = *broken = forward == NULL || (step->workload == NULL && forward->workload != NULL);
    step->draft.broken = step->broken;
    if (step->instances.n == 0)
        DFL_PUSH(sema->arena, &step->instances,
                 ((dfl_instance){ .span = decl->node->name.span, .decl = decl, .parent = DFL_NONE }));
    return step;
}
