#include "train/optimizer.h"

#include "train/tables.h"

/* What an optimizer keeps for each weight beside its gradient and a copy in high precision, and the op that computes the new
   weight. */
typedef struct {
    const char *op;
    uint32_t n_moments;
} optimizer_kind;

static const optimizer_kind kinds[] = {
    [DFL_OPTIMIZER_ADAM] = { "adam", 2 }, [DFL_OPTIMIZER_SGD] = { "sgd", 0 }, [DFL_OPTIMIZER_MOMENTUM] = { "momentum", 1 },
};

/* Adds a state of the optimizer for a weight: its shape and place are those of the weight. */
static uint32_t add_state(dfl_train_draft *draft, const char *kind, uint32_t weight)
{
    dfl_tensor state = draft->forward->tensors[weight];

    state.name = dfl_train_name(draft, kind, state.name);
    state.role = DFL_ROLE_STATE;
    state.type = draft->training->moments;
    state.part = DFL_PART_MOMENT;
    state.of = weight;
    if (state.gathered)
        state.table = (uint32_t)draft->tensors.n;
    return dfl_train_add_tensor(draft, state);
}

/* Adds `update.W`: the new weight from the old one (or its copy in high precision), the gradient and the moments. */
static void add_update(dfl_train_draft *draft, uint32_t weight)
{
    static const char *const moments[] = { "moment1", "moment2" };
    const dfl_training *training = draft->training;
    const optimizer_kind *kind = &kinds[training->optimizer];
    const dfl_tensor *t = &draft->forward->tensors[weight];
    uint32_t *ranks = DFL_NEW_ARRAY(draft->arena, uint32_t, t->n_dims + 1), n = 0;
    const dfl_access whole = dfl_train_visit(draft, weight, ranks);
    const dfl_eop **args = DFL_NEW_ARRAY(draft->arena, const dfl_eop *, kind->n_moments + 2);
    dfl_train_body body = { .draft = draft };
    dfl_access access = whole;
    dfl_i128 flops = 0;
    dfl_sym op = dfl_intern_z(draft->names, kind->op);

    if (!training->op_cost(training->context, op, kind->n_moments + 2, 0, &flops)) {
        dfl_diag *d = dfl_report(draft->sink, DFL_OP_UNKNOWN, training->span, "no operation `%s` with %u arguments", kind->op,
                                 kind->n_moments + 2);
        dfl_diag_help(draft->sink, d, "std.ops declares the costs of the optimizers; set DFL_STDLIB");
        draft->failed = true;
        return;
    }
    if (t->type.bits != training->moments.bits || t->type.name != training->moments.name)
        access.tensor = add_state(draft, "master", weight);
    args[n++] = dfl_train_access(&body, access);
    access.tensor = draft->gradient[weight];
    args[n++] = dfl_train_access(&body, access);
    for (uint32_t m = 0; m < kind->n_moments; m++) {
        access.tensor = add_state(draft, moments[m], weight);
        args[n++] = dfl_train_access(&body, access);
    }
    dfl_train_add_einsum(&body,
                         (dfl_einsum){ .name = dfl_train_name(draft, "update", t->name), .span = t->span, .output = whole,
                                       .reduce = DFL_REDUCE_NONE, .ranks = ranks, .n_ranks = t->n_dims,
                                       .over_rank = DFL_NONE, .phase = DFL_PHASE_UPDATE, .of = weight },
                         dfl_train_call(draft, op, flops, args, n));
}

void dfl_train_add_updates(dfl_train_draft *draft)
{
    for (uint32_t t = 0; t < draft->forward->n_tensors && !draft->failed; t++) {
        const dfl_tensor *tensor = &draft->forward->tensors[t];

        /* the rows of a table have their gradient and their update in the table */
        if (tensor->role == DFL_ROLE_WEIGHT && draft->gradient[t] != DFL_NONE && (!tensor->gathered || tensor->table == t))
            add_update(draft, t);
    }
}
