/*
 * A workload: ranks, tensors and einsums with all sizes resolved to integers. Parts from `apply` or `for` have full
 * paths as names ("conv1.p", "L[3].O"). Ids are dense and index the arrays below. Einsums are sorted in workload order,
 * which is a legal order of execution.
 */
#ifndef DFL_IR_WORKLOAD_H
#define DFL_IR_WORKLOAD_H

#include <stdbool.h>

#include "support/checked.h"
#include "support/intern.h"
#include "support/span.h"

#define DFL_NONE UINT32_MAX

typedef struct {
    dfl_sym name;
    dfl_span span;
    int64_t extent; /* number of values of the rank, > 0 */
} dfl_rank;

/* An index: the sum of coef * rank over the terms, plus the offset. Each term has its own rank and a coefficient other
   than 0; terms are sorted by rank. */
typedef struct {
    uint32_t rank;
    int64_t coef;
} dfl_term;

typedef struct {
    const dfl_term *terms;
    uint32_t n_terms;
    int64_t offset;
    dfl_span span;
} dfl_index;

typedef enum {
    DFL_ROLE_INTERMEDIATE, /* produced and read; a mapping may fuse it away */
    DFL_ROLE_INPUT,        /* read, never produced */
    DFL_ROLE_WEIGHT,       /* read, persistent; produced only by the update of a training step, in place */
    DFL_ROLE_STATE,        /* persistent, updated in place */
    DFL_ROLE_OUTPUT,       /* leaves the chip: produced and never read, or declared `output` (then it may also be read) */
} dfl_role;

/*
 * What a tensor is to a training step. The gradient of a tensor of the forward pass is
 *
 *   - an input, if nothing computes it: the derivative of the loss by itself, 1 everywhere. It occupies memory and is read as
 *     any input: `grad.lm_head`
 *   - an intermediate, else
 *   - an output and gathered, if a gather reads rows: `grad.token@T`, the rows that are added to the gradient of the table, which
 *     is `table`. They occupy no room of their own (`stored` is 0), and what reads the table runs behind their producer
 */
typedef enum {
    DFL_PART_PLAIN,        /* a tensor of the forward pass */
    DFL_PART_GRADIENT,     /* the gradient of `of` */
    DFL_PART_MOMENT,       /* a state of the optimizer for the weight `of`, the master copy included */
} dfl_part;

/* The part of a training step that an einsum belongs to. */
typedef enum { DFL_PHASE_FORWARD, DFL_PHASE_BACKWARD, DFL_PHASE_UPDATE } dfl_phase;

typedef struct {
    dfl_sym name; /* name of the data type: "bf16" */
    uint32_t bits;
} dfl_dtype;

typedef struct {
    dfl_sym name;
    dfl_span span;
    dfl_role role;
    dfl_dtype type;
    uint32_t n_dims;
    const int64_t *extents;    /* declared or inferred shape; elements outside of the shape read as zero */
    bool gathered;             /* the rows of a table that one `gather` reads: the leading dimensions are those of the tensor
                                  with the positions, and all rows are distinct */
    uint32_t table;            /* gathered: the table, or the tensor itself if nothing else reads the table; else DFL_NONE */
    uint32_t n_table_dims;     /* gathered: the shape of the table, and the indices by which the gather reads it: of `gather
                                  T[x, d] by p` x and d, although x is no rank of the einsum */
    const int64_t *table_extents;
    const dfl_index *table_index;
    dfl_i128 stored;           /* elements in the memory at home, if the shape does not give them: those of the table for a
                                  gathered tensor that stands for the table, 0 for other gathered tensors; else -1 */
    const uint32_t *producers; /* einsums that write the tensor, in workload order */
    uint32_t n_producers;
    const uint32_t *consumers; /* einsums that read the tensor, in workload order */
    uint32_t n_consumers;
    dfl_part part;
    uint32_t of;               /* gradient or moment: the tensor of the forward pass; else DFL_NONE */
    const char *label;         /* a copy for one iteration of a repeat: its name with this iteration, "layer[3].T"; else NULL */
} dfl_tensor;

typedef struct {
    uint32_t tensor;
    uint32_t n_dims;
    const dfl_index *index; /* [dimension]: its index, n_dims in all */
    dfl_span span;
} dfl_access;

typedef enum { DFL_REDUCE_NONE, DFL_REDUCE_ADD, DFL_REDUCE_MAX, DFL_REDUCE_MIN } dfl_reduce;

/* The right side of an einsum as a tree. The tree determines the legality of `online` loops and the units that can run
   the einsum. */
typedef enum {
    DFL_EOP_ACCESS, /* an access: inputs[operand] */
    DFL_EOP_CONST,  /* a whole tree only in a training step: `grad.T = 0`, without inputs, before a gather adds rows */
    DFL_EOP_NEG, DFL_EOP_ADD, DFL_EOP_SUB, DFL_EOP_MUL, DFL_EOP_DIV,
    DFL_EOP_CALL,   /* call of an `op` by name */
    DFL_EOP_GATHER, /* a row of a table, at the position that an access reads: args[0] is the row, args[1] the position */
    DFL_EOP_SCATTER,/* a value that is added to the row at the position that an access reads: args[0] is the value, args[1] the
                       position; only as the root of a tree */
} dfl_eop_kind;

typedef struct dfl_eop {
    dfl_eop_kind kind;
    uint32_t operand;
    double value;
    dfl_sym op;
    dfl_i128 flops; /* CALL: operations per point */
    const struct dfl_eop *const *args;
    uint32_t n_args;
} dfl_eop;

/* A condition of `where`: sum >= 0. */
typedef struct { dfl_index sum; } dfl_condition;

typedef struct {
    dfl_sym name;               /* name of the produced tensor; the second einsum of one tensor is "T#2" */
    dfl_span span;              /* place of the head: the produced tensor's name */
    dfl_access output;
    const dfl_access *inputs;   /* distinct accesses of the right side, in order of appearance */
    uint32_t n_inputs;
    dfl_reduce reduce;
    const uint32_t *ranks;      /* all ranks of the iteration space, ascending */
    uint32_t n_ranks;
    const dfl_eop *body;
    bool is_mac;                /* `+=` over a product of two tensors: one MAC per point */
    dfl_i128 flops_per_point;   /* operations per point: operators, reduction and ops; 0 for a MAC */
    dfl_i128 flops_per_output;  /* operations of an `op ... over` per output element; 0 without `over` */
    uint32_t over_rank;         /* rank of `over`, or DFL_NONE */
    double reuse;               /* `gather ... reuse r`: share of the rows that was read before, 0 to 1 */
    double load;                /* `gather ... load r`: points of the largest instance over the mean, >= 1; infinite = `worst`;
                                   0 = not stated */
    dfl_span rows_span;         /* place of the first of the two; start == 0 = none is stated */
    const dfl_condition *where; /* conditions of the `where` clause */
    uint32_t n_where;
    dfl_phase phase;
    uint32_t of;                /* backward einsum: the einsum of the forward pass; update: the weight; else DFL_NONE */
    bool is_input_gradient;     /* backward: computes the gradient of an intermediate, else that of a weight */
    const char *label;          /* as of a tensor */
} dfl_einsum;

/* A tensor that `repeat N as rank carrying from = to` carries: the first iteration reads `from`, each later one reads the
   `to` of the iteration before. */
typedef struct {
    uint32_t rank;     /* rank of the iterations */
    uint32_t from, to; /* tensors; `to` has the rank as a leading dimension */
    bool downwards;    /* the iterations run from the last one to the first one, and each later one reads the `to` of the
                          iteration above: gradients of a forward carry. `from` = layer.grad.Y, which the readers of Y behind
                          the repeat have written; `to` = layer.grad.X, whose first iteration the producers of X read */
} dfl_carry;

typedef struct {
    dfl_sym name;
    dfl_span span;
    const dfl_rank *ranks;
    uint32_t n_ranks;
    const dfl_tensor *tensors;
    uint32_t n_tensors;
    bool has_gathered;          /* some tensor is gathered */
    const dfl_einsum *einsums;
    uint32_t n_einsums;
    const dfl_carry *carries;   /* tensors that repeats carry from one iteration to the next */
    uint32_t n_carries;
} dfl_workload;

/* Name of a tensor or einsum for users: its label if it has one. */
const char *dfl_tensor_label(const dfl_intern *names, const dfl_tensor *t);
const char *dfl_einsum_label(const dfl_intern *names, const dfl_einsum *e);
bool dfl_einsum_has_rank(const dfl_einsum *e, uint32_t rank);
/* Number of points of the iteration space (without `where`); true on overflow. */
bool dfl_einsum_points(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out);
/* Number of points that the einsum computes: those of its iteration space that satisfy the `where` conditions. A rank that
   `over` takes whole counts as one point. True on overflow. The caller must ensure dfl_einsum_countable. */
bool dfl_einsum_work(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out);
/* Whether a count of the points that satisfy the `where` conditions visits at most DFL_WHERE_VISITS positions. */
bool dfl_einsum_countable(const dfl_workload *w, const dfl_einsum *e);
/* FLOP of one point; with `over`, of all elements of the result that one point computes. True on overflow. */
bool dfl_einsum_point_flops(const dfl_workload *w, const dfl_einsum *e, dfl_i128 *out);
/* Number of elements that the tensor occupies at home; true on overflow. */
bool dfl_tensor_stored(const dfl_tensor *t, dfl_i128 *out);
/* Number of elements of the declared shape; true on overflow. */
bool dfl_tensor_elements(const dfl_tensor *t, dfl_i128 *out);
/* Whether some index sums several ranks, so that windows may slide. */
bool dfl_workload_slides(const dfl_workload *w);
/* Operations of the whole workload; a MAC does not count as a FLOP. True on overflow. The caller must ensure
   dfl_workload_countable. */
bool dfl_workload_operations(const dfl_workload *w, dfl_i128 *macs, dfl_i128 *flops);
/* Whether the operations can be counted: the counts of all `where` clauses together visit at most DFL_WHERE_VISITS
   positions. */
bool dfl_workload_countable(const dfl_workload *w);
/* Coefficient of a rank in an index; 0 if the rank is not in it. */
static inline int64_t dfl_index_coef(const dfl_index *index, uint32_t rank)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (index->terms[t].rank == rank)
            return index->terms[t].coef;
    return 0;
}
/* Whether an index is one rank with coefficient 1 and offset 0; sets `*rank` to it. */
bool dfl_index_is_bare(const dfl_index *index, uint32_t *rank);
/* Whether an index of an access has a rank. */
static inline bool dfl_access_has_rank(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (dfl_index_coef(&a->index[d], rank) != 0)
            return true;
    return false;
}
/* Whether two indices have the same terms and the same offset. */
static inline bool dfl_index_equal(const dfl_index *a, const dfl_index *b)
{
    if (a->n_terms != b->n_terms || a->offset != b->offset)
        return false;
    for (uint32_t t = 0; t < a->n_terms; t++)
        if (a->terms[t].rank != b->terms[t].rank || a->terms[t].coef != b->terms[t].coef)
            return false;
    return true;
}
/* Whether the tensor persists and is updated in place: a state, or a weight of a training step. */
static inline bool dfl_tensor_is_updated(const dfl_tensor *t)
{
    return t->role == DFL_ROLE_STATE || (t->role == DFL_ROLE_WEIGHT && t->n_producers > 0);
}
/* Whether an einsum also writes back the tensor of input `i`, each element once: an optimizer renews its moments. */
static inline bool dfl_einsum_renews(const dfl_workload *w, const dfl_einsum *e, uint32_t i)
{
    return e->phase == DFL_PHASE_UPDATE && w->tensors[e->inputs[i].tensor].part == DFL_PART_MOMENT;
}
bool dfl_einsum_renews_any(const dfl_workload *w, const dfl_einsum *e);
/* The carry that brings what an iteration of a repeat makes of a tensor to the next one; NULL = none carries it. */
const dfl_carry *dfl_tensor_carry(const dfl_workload *w, uint32_t tensor);
/* Whether an einsum may touch a tensor in another iteration of a repeat than the one that makes it: a repeat carries the tensor,
   or makes it for einsums outside. */
bool dfl_tensor_leaves_iteration(const dfl_workload *w, uint32_t tensor);
bool dfl_einsum_reads(const dfl_einsum *e, uint32_t tensor);
/* Whether the einsum reads or produces the tensor. */
bool dfl_einsum_touches(const dfl_einsum *e, uint32_t tensor);
/* Whether the tree has only calls of the listed ops, accesses and constants, and no plain operator. */
bool dfl_eop_calls_within(const dfl_eop *body, const dfl_sym *ops, uint32_t n_ops);

#endif
