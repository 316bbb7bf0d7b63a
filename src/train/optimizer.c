#include "train/optimizer.h"

#include <string.h>

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
    if (state.gathered) {
        const uint32_t table = state.table;
        bool first = true;

        /* the state covers the whole table, once for all gathers from it */
        for (uint32_t t = 0; t < weight && table != weight; t++)
            first &= t == table || draft->forward->tensors[t].table != table;
        state.table = (uint32_t)draft->tensors.n;
        if (table != weight)
            draft->failed |= first && dfl_tensor_elements(&draft->forward->tensors[table], &state.stored);
    }
    return dfl_train_add_tensor(draft, state);
}

/* The rank that runs along dimension `d` of a weight: that of its first reader, if the reader visits every element by it; else a
   new rank. */
static uint32_t find_rank(dfl_train_draft *draft, uint32_t weight, uint32_t d, const uint32_t *taken)
{
    const dfl_tensor *t = &draft->forward->tensors[weight];
    const dfl_einsum *reader = t->n_consumers > 0 ? &draft->forward->einsums[t->consumers[0]] : NULL;
    uint32_t rank;
    bool is_free = true;

    for (uint32_t i = 0; reader != NULL && i < reader->n_inputs; i++) {
        if (reader->inputs[i].tensor != weight || !dfl_index_is_bare(&reader->inputs[i].index[d], &rank))
            continue;
        for (uint32_t k = 0; k < d; k++)
            is_free &= taken[k] != rank;
        if (is_free && draft->ranks.at[rank].extent == t->extents[d])
            return rank;
    }
    DFL_PUSH(draft->arena, &draft->ranks,
             ((dfl_rank){ .name = dfl_intern_z(draft->names, dfl_arena_printf(draft->arena, "%s.dim%u",
                                                                              dfl_sym_text(draft->names, t->name), d + 1)),
                          .span = t->span, .extent = t->extents[d] }));
    return (uint32_t)draft->ranks.n - 1;
}

/* Inserts a rank into an ascending list. */
static void insert(uint32_t *ranks, uint32_t n, uint32_t rank)
{
    while (n > 0 && ranks[n - 1] > rank) {
        ranks[n] = ranks[n - 1];
        n--;
    }
    ranks[n] = rank;
}

/* The access to all elements of a weight, each once. `ranks` is set to the ranks, ascending. */
static dfl_access visit_elements(dfl_train_draft *draft, uint32_t weight, uint32_t *ranks)
{
    const dfl_tensor *t = &draft->forward->tensors[weight];
    dfl_index *index = DFL_NEW_ARRAY(draft->arena, dfl_index, t->n_dims + 1);
    uint32_t *along = DFL_NEW_ARRAY(draft->arena, uint32_t, t->n_dims + 1);

    for (uint32_t d = 0; d < t->n_dims; d++) {
        dfl_term *term = DFL_NEW(draft->arena, dfl_term);

        along[d] = find_rank(draft, weight, d, along);
        *term = (dfl_term){ .rank = along[d], .coef = 1 };
        index[d] = (dfl_index){ .terms = term, .n_terms = 1, .offset = 0, .span = t->span };
        insert(ranks, d, along[d]);
    }
    return (dfl_access){ .tensor = weight, .n_dims = t->n_dims, .index = index, .span = t->span };
}

/* Adds `update.W`: the new weight from the old one (or its copy in high precision), the gradient and the moments. */
static void add_update(dfl_train_draft *draft, uint32_t weight)
{
    static const char *const moments[] = { "moment1", "moment2" };
    const dfl_training *training = draft->training;
    const optimizer_kind *kind = &kinds[training->optimizer];
    const dfl_tensor *t = &draft->forward->tensors[weight];
    uint32_t *ranks = DFL_NEW_ARRAY(draft->arena, uint32_t, t->n_dims + 1), n = 0;
    const dfl_access whole = visit_elements(draft, weight, ranks);
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

        /* a table that other einsums read as a whole takes the gradients of its rows */
        if (tensor->role != DFL_ROLE_WEIGHT || draft->gradient[t] == DFL_NONE ||
            (tensor->gathered && tensor->table != t && draft->gradient[tensor->table] != DFL_NONE))
            continue;
        add_update(draft, t);
    }
}
