/*
 * Execution of a training step in double precision, einsum by einsum and point by point. A `repeat` runs its iterations one after
 * the other, the backward ones downwards. Rows that `gather` reads are rows of their table, at the positions that its operand
 * holds.
 */
#ifndef DFL_TESTS_UNIT_TRAIN_INTERPRETER_H
#define DFL_TESTS_UNIT_TRAIN_INTERPRETER_H

#include "tests/unit/train/trained.h"

#include <math.h>

#define INTERPRETER_DIMS 8

typedef struct {
    const dfl_workload *w;
    const dfl_intern *names;
    double **value;  /* [tensor][element], row by row; NULL for rows of another tensor */
    bool **written;  /* [tensor][element]: in this run */
    bool *given;     /* [tensor]: has its values before the first einsum */
    int64_t *pos;    /* [rank]: of the point */
} interpreter;

/* ---- operations ---- */

static inline double op_sigmoid(double x) { return 1 / (1 + exp(-x)); }

static const double gelu_scale = 0.7978845608028654, gelu_cube = 0.044715;

static inline double op_gelu(double x)
{
    return 0.5 * x * (1 + tanh(gelu_scale * (x + gelu_cube * x * x * x)));
}

static inline double op_gelu_d(double x)
{
    double t = tanh(gelu_scale * (x + gelu_cube * x * x * x));

    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_scale * (1 + 3 * gelu_cube * x * x);
}

static inline double call_op(const char *name, double x, double y)
{
#define OP(op, value) \
    if (strcmp(name, op) == 0) \
        return (value);
    OP("exp", exp(x)) OP("exp_d", exp(x))
    OP("rsqrt", 1 / sqrt(x)) OP("rsqrt_d", -0.5 / (x * sqrt(x)))
    OP("square", x * x) OP("square_d", 2 * x)
    OP("gelu", op_gelu(x)) OP("gelu_d", op_gelu_d(x))
    OP("silu", x * op_sigmoid(x)) OP("silu_d", op_sigmoid(x) * (1 + x * (1 - op_sigmoid(x))))
    OP("tanh", tanh(x)) OP("tanh_d", 1 - tanh(x) * tanh(x))
    OP("sigmoid", op_sigmoid(x)) OP("sigmoid_d", op_sigmoid(x) * (1 - op_sigmoid(x)))
    OP("relu", x > 0 ? x : 0) OP("relu_d", x > 0)
    OP("rope", 3 * x) OP("rope_d", 3)
    OP("hold", x)
    OP("max", x >= y ? x : y) OP("max_d1", x >= y) OP("max_d2", y > x)
    OP("min", x <= y ? x : y) OP("min_d1", x <= y) OP("min_d2", y < x)
    OP("pow", pow(x, y)) OP("pow_d1", y * pow(x, y - 1)) OP("pow_d2", pow(x, y) * log(x))
    OP("max_share", x == y) OP("min_share", x == y)
#undef OP
    fail_msg("the interpreter knows no `%s`", name);
    return 0;
}

/* Element i of an op over n elements: `mix` is linear, x[i] + 2 x[i + 1] (cyclic); `soft` is a softmax. */
static inline double call_over(const char *name, const double *x, const double *y, int64_t n, int64_t i)
{
    double sum = 0, dot = 0;

    if (strcmp(name, "mix") == 0)
        return x[i] + 2 * x[(i + 1) % n];
    if (strcmp(name, "mix_d") == 0) /* the transpose */
        return x[i] + 2 * x[(i + n - 1) % n];
    for (int64_t k = 0; k < n; k++)
        sum += exp(strcmp(name, "soft") == 0 ? x[k] : y[k]);
    if (strcmp(name, "soft") == 0)
        return exp(x[i]) / sum;
    assert_string_equal(name, "soft_d");
    for (int64_t k = 0; k < n; k++)
        dot += x[k] * exp(y[k]) / sum;
    return exp(y[i]) / sum * (x[i] - dot);
}

/* ---- elements ---- */

/* The tensor that holds the elements of a tensor, and the shape of what it holds. */
static inline uint32_t find_holder(const dfl_workload *w, uint32_t tensor, const int64_t **extents, uint32_t *n_dims)
{
    const dfl_tensor *t = &w->tensors[tensor];
    const dfl_tensor *holder = t->gathered ? &w->tensors[t->table] : t;

    *n_dims = holder->gathered ? holder->n_table_dims : holder->n_dims;
    *extents = holder->gathered ? holder->table_extents : holder->extents;
    return (uint32_t)(holder - w->tensors);
}

static inline int64_t count_held(const dfl_workload *w, uint32_t tensor)
{
    const int64_t *extents;
    uint32_t n_dims;
    int64_t n = 1;

    (void)find_holder(w, tensor, &extents, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++)
        n *= extents[d];
    return n;
}

static inline int64_t place_index(const interpreter *m, const dfl_index *index)
{
    int64_t at = index->offset;

    for (uint32_t t = 0; t < index->n_terms; t++)
        at += index->terms[t].coef * m->pos[index->terms[t].rank];
    return at;
}

/* The element at some coordinates; -1 outside of the shape. */
static inline int64_t find_element(const int64_t *at, const int64_t *extents, uint32_t n_dims)
{
    int64_t element = 0;

    for (uint32_t d = 0; d < n_dims; d++) {
        if (at[d] < 0 || at[d] >= extents[d])
            return -1;
        element = element * extents[d] + at[d];
    }
    return element;
}

/* The dimension of a carry's `to` that is the rank of the repeat. */
static inline uint32_t find_carried_dim(const dfl_workload *w, const dfl_carry *carry)
{
    const dfl_tensor *to = &w->tensors[carry->to];
    uint32_t rank;

    for (uint32_t p = 0; p < to->n_producers; p++)
        for (uint32_t d = 0; d < to->n_dims; d++)
            if (dfl_index_is_bare(&w->einsums[to->producers[p]].output.index[d], &rank) && rank == carry->rank)
                return d;
    fail_msg("a carried tensor lacks the rank of its repeat");
    return 0;
}

/* The tensor and element of an access at the point. `position`: the row that a gather or scatter reads, else -1. The element is
   -1 outside of the shape. */
static inline uint32_t find_place(const interpreter *m, const dfl_einsum *e, const dfl_access *a, int64_t position,
                                  int64_t *element)
{
    const dfl_workload *w = m->w;
    const dfl_tensor *t = &w->tensors[a->tensor];
    int64_t at[INTERPRETER_DIMS];
    const int64_t *extents;
    uint32_t n_dims, holder = find_holder(w, a->tensor, &extents, &n_dims);

    assert_true(n_dims < INTERPRETER_DIMS && t->gathered == (position >= 0));
    for (uint32_t d = 0; d < n_dims; d++) {
        const dfl_index *index = t->gathered ? &t->table_index[d] : &a->index[d];
        bool by_data = false;

        for (uint32_t k = 0; t->gathered && k < index->n_terms; k++)
            by_data |= !dfl_einsum_has_rank(e, index->terms[k].rank);
        at[d] = by_data ? position : place_index(m, index);
    }
    for (uint32_t c = 0; c < w->n_carries; c++) {
        const dfl_carry *carry = &w->carries[c];
        const int64_t before = m->pos[carry->rank] + (carry->downwards ? 1 : -1);

        if (carry->from == a->tensor && dfl_einsum_has_rank(e, carry->rank) && before >= 0 &&
            before < w->ranks[carry->rank].extent) {
            uint32_t lead = find_carried_dim(w, carry);

            /* a tensor that is itself the result of a repeat has the rank of that repeat in this place */
            if (n_dims < w->tensors[carry->to].n_dims)
                memmove(at + lead + 1, at + lead, (n_dims - lead) * sizeof *at);
            at[lead] = before;
            *element = find_element(at, w->tensors[carry->to].extents, w->tensors[carry->to].n_dims);
            return carry->to;
        }
    }
    *element = find_element(at, extents, n_dims);
    return holder;
}

static inline double read_element(const interpreter *m, const dfl_einsum *e, const dfl_access *a, int64_t position)
{
    int64_t element;
    uint32_t tensor = find_place(m, e, a, position, &element);

    return element < 0 ? 0 : m->value[tensor][element];
}

/* ---- einsums ---- */

static inline double evaluate(interpreter *m, const dfl_einsum *e, const dfl_eop *node)
{
    double a[4] = { 0 };

    if (node->kind == DFL_EOP_ACCESS)
        return read_element(m, e, &e->inputs[node->operand], -1);
    if (node->kind == DFL_EOP_GATHER)
        return read_element(m, e, &e->inputs[node->args[0]->operand], (int64_t)evaluate(m, e, node->args[1]));
    if (node->kind == DFL_EOP_SCATTER)
        return evaluate(m, e, node->args[0]);
    for (uint32_t i = 0; i < node->n_args; i++)
        a[i] = evaluate(m, e, node->args[i]);
    switch ((int)node->kind) {
    case DFL_EOP_CONST: return node->value;
    case DFL_EOP_NEG:   return -a[0];
    case DFL_EOP_ADD:   return a[0] + a[1];
    case DFL_EOP_SUB:   return a[0] - a[1];
    case DFL_EOP_MUL:   return a[0] * a[1];
    case DFL_EOP_DIV:   return a[0] / a[1];
    default:            return call_op(dfl_sym_text(m->names, node->op), a[0], a[1]);
    }
}

/* The value of an op over a whole rank at the point. */
static inline double evaluate_over(interpreter *m, const dfl_einsum *e)
{
    const int64_t n = m->w->ranks[e->over_rank].extent, at = m->pos[e->over_rank];
    double x[16], y[16] = { 0 };

    assert_true(e->body->kind == DFL_EOP_CALL && e->body->n_args <= 2 && n <= 16);
    for (int64_t k = 0; k < n; k++) {
        m->pos[e->over_rank] = k;
        x[k] = evaluate(m, e, e->body->args[0]);
        if (e->body->n_args == 2)
            y[k] = evaluate(m, e, e->body->args[1]);
    }
    m->pos[e->over_rank] = at;
    return call_over(dfl_sym_text(m->names, e->body->op), x, y, n, at);
}

static inline void run_point(interpreter *m, const dfl_einsum *e)
{
    double value;
    int64_t element, position = -1;
    uint32_t tensor;
    bool fresh;

    for (uint32_t c = 0; c < e->n_where; c++)
        if (place_index(m, &e->where[c].sum) < 0)
            return;
    value = e->over_rank != DFL_NONE ? evaluate_over(m, e) : evaluate(m, e, e->body);
    if (e->body->kind == DFL_EOP_SCATTER)
        position = (int64_t)evaluate(m, e, e->body->args[1]);
    tensor = find_place(m, e, &e->output, position, &element);
    assert_true(element >= 0);
    fresh = !m->written[tensor][element] || e->reduce == DFL_REDUCE_NONE;
    m->written[tensor][element] = true;
    if (e->reduce == DFL_REDUCE_ADD)
        m->value[tensor][element] += value;
    else if (fresh || (e->reduce == DFL_REDUCE_MAX ? value > m->value[tensor][element] : value < m->value[tensor][element]))
        m->value[tensor][element] = value;
}

/* Runs an einsum; in iteration `at` of rank `fixed`, DFL_NONE = none. */
static inline void run_einsum(interpreter *m, const dfl_einsum *e, uint32_t fixed, int64_t at)
{
    uint32_t r = 0;

    for (uint32_t i = 0; i < e->n_ranks; i++)
        m->pos[e->ranks[i]] = e->ranks[i] == fixed ? at : 0;
    do {
        run_point(m, e);
        for (r = 0; r < e->n_ranks; r++) {
            if (e->ranks[r] == fixed)
                continue;
            if (++m->pos[e->ranks[r]] < m->w->ranks[e->ranks[r]].extent)
                break;
            m->pos[e->ranks[r]] = 0;
        }
    } while (r < e->n_ranks);
}

/* The rank of the repeat that an einsum stands in, or DFL_NONE. */
static inline uint32_t find_repeat(const dfl_workload *w, const dfl_einsum *e)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (dfl_einsum_has_rank(e, w->carries[c].rank))
            return w->carries[c].rank;
    return DFL_NONE;
}

/* Runs the einsums of the forward phase and, if `backward`, of the backward phase. */
static inline void run_step(interpreter *m, bool backward)
{
    const dfl_workload *w = m->w;
    const dfl_phase last = backward ? DFL_PHASE_BACKWARD : DFL_PHASE_FORWARD;
    uint32_t end;

    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (m->value[t] != NULL && !m->given[t]) {
            memset(m->value[t], 0, (size_t)count_held(w, t) * sizeof **m->value);
            memset(m->written[t], 0, (size_t)count_held(w, t) * sizeof **m->written);
        }
    for (uint32_t e = 0; e < w->n_einsums && w->einsums[e].phase <= last; e = end) {
        const dfl_phase phase = w->einsums[e].phase;
        const uint32_t rank = find_repeat(w, &w->einsums[e]);
        const int64_t n = rank != DFL_NONE ? w->ranks[rank].extent : 1;

        for (end = e + 1; rank != DFL_NONE && end < w->n_einsums && w->einsums[end].phase == phase &&
                          find_repeat(w, &w->einsums[end]) == rank;)
            end++;
        for (int64_t i = 0; i < n; i++)
            for (uint32_t k = e; k < end; k++)
                run_einsum(m, &w->einsums[k], rank, phase == DFL_PHASE_BACKWARD ? n - 1 - i : i);
    }
}

/* ---- given values ---- */

/* A value that is not close to zero: from -1.2 to -0.2 and from 0.2 to 1.2. */
static inline double draw_value(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (0.2 + (double)(x >> 12) * 0x1p-52) * ((x & 1) != 0 ? 1 : -1);
}

/* The number of rows of the table that a tensor selects from by its values; 0 = it holds no positions. */
static inline int64_t find_rows(const dfl_workload *w, uint32_t tensor)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_einsum *einsum = &w->einsums[e];
            const dfl_tensor *rows = &w->tensors[einsum->inputs[i].tensor];
            bool reads = rows->gathered && dfl_einsum_reads(einsum, tensor) && w->tensors[tensor].type.bits == 32 &&
                         w->tensors[tensor].role == DFL_ROLE_INPUT && w->tensors[tensor].part == DFL_PART_PLAIN;

            for (uint32_t d = 0; reads && d < rows->n_table_dims; d++)
                for (uint32_t k = 0; k < rows->table_index[d].n_terms; k++)
                    if (!dfl_einsum_has_rank(einsum, rows->table_index[d].terms[k].rank))
                        return rows->table_extents[d];
        }
    return 0;
}

static inline interpreter start_interpreter(trained *a, const dfl_workload *w)
{
    interpreter m = { .w = w, .names = a->names };
    uint64_t state = 7;

    m.value = DFL_NEW_ARRAY(a->arena, double *, w->n_tensors + 1);
    m.written = DFL_NEW_ARRAY(a->arena, bool *, w->n_tensors + 1);
    m.given = DFL_NEW_ARRAY(a->arena, bool, w->n_tensors + 1);
    m.pos = DFL_NEW_ARRAY(a->arena, int64_t, w->n_ranks + 1);
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const int64_t n = count_held(w, t), rows = find_rows(w, t);
        const dfl_tensor *tensor = &w->tensors[t];

        if (tensor->gathered && tensor->table != t)
            continue;
        m.given[t] = tensor->part != DFL_PART_MOMENT && (tensor->n_producers == 0 || dfl_tensor_is_updated(tensor));
        m.value[t] = DFL_NEW_ARRAY(a->arena, double, (size_t)n);
        m.written[t] = DFL_NEW_ARRAY(a->arena, bool, (size_t)n);
        for (int64_t i = 0; i < n && m.given[t]; i++) {
            m.value[t][i] = draw_value(&state);
            if (rows > 0)
                m.value[t][i] = floor(fabs(m.value[t][i]) * 1000) - floor(floor(fabs(m.value[t][i]) * 1000) / (double)rows) *
                                                                        (double)rows;
        }
    }
    return m;
}

/* The loss: the sum of each result times its given gradient; of a result that a repeat carries, that of the last iteration. */
static inline double sum_loss(const interpreter *m)
{
    const dfl_workload *w = m->w;
    double loss = 0;

    for (uint32_t s = 0; s < w->n_tensors; s++) {
        const dfl_tensor *seed = &w->tensors[s];
        int64_t n, skip = 0;

        if (seed->part != DFL_PART_GRADIENT || seed->n_producers > 0 || seed->gathered)
            continue;
        n = count_held(w, s);
        if (w->tensors[seed->of].n_dims > seed->n_dims) /* the repeat is the leading dimension */
            skip = count_held(w, seed->of) - n;
        for (int64_t i = 0; i < n; i++)
            loss += m->value[s][i] * m->value[seed->of][skip + i];
    }
    return loss;
}

#endif
