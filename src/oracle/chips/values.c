/*
 * Elements and artificial values of a plan. Sums and products are those of integers modulo a prime; any other operation is a
 * fixed function of its operands. So a sum in another order has the same value, and a lost or doubled part another one.
 */
#include <string.h>

#include "oracle/chips/chips_internal.h"
#include "support/limits.h"

static uint32_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) % DFL_ORACLE_PRIME);
}

uint32_t dfl_chips_given(const chips *c, uint32_t tensor, uint32_t element)
{
    return c->tensors[tensor].is_dealt ? c->tensors[tensor].dealt[element] : mix((uint64_t)tensor << 32 | element);
}

uint32_t dfl_chips_combine(dfl_reduce reduce, uint32_t a, uint32_t b)
{
    switch (reduce) {
    case DFL_REDUCE_MAX: return a > b ? a : b;
    case DFL_REDUCE_MIN: return a < b ? a : b;
    case DFL_REDUCE_ADD: return (a + b) % DFL_ORACLE_PRIME;
    case DFL_REDUCE_NONE: break;
    }
    return b;
}

/* ---- elements ---- */

uint32_t dfl_chips_holder(const chips *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    return t->gathered && t->table != DFL_NONE ? t->table : tensor;
}

const int64_t *dfl_chips_shape(const chips *c, uint32_t holder, uint32_t *n_dims)
{
    const dfl_tensor *t = &c->w->tensors[holder];

    *n_dims = t->gathered ? t->n_table_dims : t->n_dims;
    return t->gathered ? t->table_extents : t->extents;
}

static int64_t sum_index(const chips *c, const dfl_index *index)
{
    int64_t sum = index->offset;

    for (uint32_t k = 0; k < index->n_terms; k++)
        sum += index->terms[k].coef * c->at[index->terms[k].rank];
    return sum;
}

uint32_t dfl_chips_carried(const chips *c, uint32_t einsum, uint32_t tensor)
{
    for (uint32_t k = 0; k < c->w->n_carries; k++)
        if (c->w->carries[k].from == tensor && dfl_einsum_has_rank(&c->w->einsums[einsum], c->w->carries[k].rank))
            return k;
    return DFL_NONE;
}

/* The iteration whose result a carry reads at the present point; -1 = the first iteration reads what is before the repeat. */
static int64_t iteration_before(const chips *c, const dfl_carry *carry)
{
    const int64_t before = c->at[carry->rank] + (carry->downwards ? 1 : -1);

    return before >= 0 && before < c->w->ranks[carry->rank].extent ? before : -1;
}

bool dfl_chips_is_carried(const chips *c, uint32_t einsum, const dfl_access *a)
{
    const uint32_t carry = dfl_chips_carried(c, einsum, a->tensor);

    return carry != DFL_NONE && iteration_before(c, &c->w->carries[carry]) >= 0;
}

/* The dimension of a carried tensor that is the iteration. */
static uint32_t iteration_dim(const chips *c, const dfl_carry *carry)
{
    const dfl_tensor *to = &c->w->tensors[carry->to];
    uint32_t rank;

    for (uint32_t p = 0; p < to->n_producers; p++)
        for (uint32_t d = 0; d < to->n_dims; d++)
            if (dfl_index_is_bare(&c->w->einsums[to->producers[p]].output.index[d], &rank) && rank == carry->rank)
                return d;
    return 0;
}

static int64_t flatten(const int64_t *at, const int64_t *extents, uint32_t n_dims)
{
    int64_t element = 0;

    for (uint32_t d = 0; d < n_dims; d++) {
        if (at[d] < 0 || at[d] >= extents[d])
            return -1;
        element = element * extents[d] + at[d];
    }
    return element;
}

int64_t dfl_chips_element(const chips *c, uint32_t einsum, const dfl_access *a, int64_t row, bool carried, uint32_t *tensor)
{
    const dfl_tensor *t = &c->w->tensors[a->tensor];
    const dfl_einsum *e = &c->w->einsums[einsum];
    const uint32_t carry = carried ? dfl_chips_carried(c, einsum, a->tensor) : DFL_NONE;
    uint32_t n_dims, holder = dfl_chips_holder(c, a->tensor);
    const int64_t *extents = dfl_chips_shape(c, holder, &n_dims);
    int64_t at[CHIPS_DIMS];

    for (uint32_t d = 0; d < n_dims; d++) {
        const dfl_index *index = t->gathered ? &t->table_index[d] : &a->index[d];
        bool by_data = false;

        for (uint32_t k = 0; t->gathered && k < index->n_terms; k++)
            by_data |= !dfl_einsum_has_rank(e, index->terms[k].rank);
        at[d] = by_data && row >= 0 ? row % extents[d] : sum_index(c, index);
    }
    *tensor = holder;
    if (carry == DFL_NONE)
        return flatten(at, extents, n_dims);
    const dfl_carry *by = &c->w->carries[carry];
    const dfl_tensor *to = &c->w->tensors[by->to];
    const uint32_t lead = iteration_dim(c, by);

    if (n_dims < to->n_dims)
        memmove(at + lead + 1, at + lead, (n_dims - lead) * sizeof *at);
    at[lead] = iteration_before(c, by);
    *tensor = by->to;
    return flatten(at, to->extents, to->n_dims);
}

bool dfl_chips_has_point(const chips *c, uint32_t einsum)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    for (uint32_t k = 0; k < e->n_where; k++)
        if (sum_index(c, &e->where[k].sum) < 0)
            return false;
    return true;
}

/* ---- points ---- */

/* Counts a visited point. False after a report. */
static bool visit(chips *c)
{
    if (c->failed)
        return false;
    if (++c->visits <= CHIPS_VISITS && dfl_budget_spend(dfl_arena_budget(c->arena), 1))
        return true;
    c->failed = true;
    dfl_budget_stop(dfl_arena_budget(c->arena), DFL_STOP_STEPS);
    return dfl_report_stop(c->sink, dfl_arena_budget(c->arena));
}

static bool is_fixed(const chips *c, uint32_t einsum, uint32_t rank, int64_t layer)
{
    return layer >= 0 && rank == c->einsums[einsum].repeat;
}

bool dfl_chips_first(chips *c, uint32_t einsum, const int64_t *lo, const int64_t *hi, int64_t layer)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];

        c->at[r] = is_fixed(c, einsum, r, layer) ? layer : lo[r];
        if (lo[r] >= hi[r] && !is_fixed(c, einsum, r, layer))
            return false;
    }
    return visit(c);
}

bool dfl_chips_next(chips *c, uint32_t einsum, const int64_t *lo, const int64_t *hi, const int64_t *step, int64_t layer)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    for (uint32_t i = e->n_ranks; i-- > 0;) {
        const uint32_t r = e->ranks[i];

        if (is_fixed(c, einsum, r, layer))
            continue;
        c->at[r] += step != NULL ? step[r] : 1;
        if (c->at[r] < hi[r])
            return visit(c);
        c->at[r] = lo[r];
    }
    return false;
}

void dfl_chips_find_block(chip_pass *p, uint32_t chip)
{
    const chips *c = p->c;
    const chip_einsum *e = &c->einsums[p->einsum];
    const size_t n = c->w->n_ranks;

    memcpy(p->lo, &e->lo[chip * n], n * sizeof *p->lo);
    memcpy(p->hi, &e->hi[chip * n], n * sizeof *p->hi);
    for (uint32_t k = 0; k < c->n_tiled; k++) {
        const uint32_t r = c->tiled[k];

        if (e->einsum->phase == DFL_PHASE_UPDATE || !dfl_einsum_has_rank(e->einsum, r))
            continue;
        const int64_t width = e->pass[r] * e->step[r];

        p->lo[r] += p->micro_batch / c->tile_stride[k] % c->tiles[k] * width;
        p->hi[r] = p->lo[r] + width < p->hi[r] ? p->lo[r] + width : p->hi[r];
    }
}

/* ---- rows ---- */

/* The operand with the positions at which an expression gathers rows of a table; NULL = it gathers none of it. */
static const dfl_access *find_positions(const dfl_workload *w, const dfl_einsum *e, const dfl_eop *node, uint32_t table)
{
    const dfl_access *found = NULL;

    if (node->kind == DFL_EOP_GATHER && node->args[1]->kind == DFL_EOP_ACCESS &&
        w->tensors[e->inputs[node->args[0]->operand].tensor].table == table)
        return &e->inputs[node->args[1]->operand];
    for (uint32_t i = 0; i < node->n_args && found == NULL; i++)
        found = find_positions(w, e, node->args[i], table);
    return found;
}

bool dfl_chips_renews_rows(const chips *c, uint32_t einsum)
{
    return c->w->einsums[einsum].phase == DFL_PHASE_UPDATE && c->w->tensors[c->w->einsums[einsum].output.tensor].gathered;
}

/* The row that the present point of such an optimizer renews: the forward pass has gathered it there. */
static int64_t renewed_row(const chips *c, uint32_t einsum)
{
    const uint32_t of = c->w->einsums[einsum].of;

    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        const dfl_einsum *x = &c->w->einsums[e];
        const dfl_access *a = x->phase == DFL_PHASE_FORWARD ? find_positions(c->w, x, x->body, of) : NULL;
        uint32_t tensor;
        int64_t element;

        if (a == NULL)
            continue;
        element = dfl_chips_element(c, e, a, -1, false, &tensor);
        return element >= 0 ? (int64_t)c->tensors[tensor].alone[element] : -1;
    }
    return -1;
}

/* ---- values ---- */

/* What an evaluation at one point needs. */
typedef struct { chips *c; uint32_t einsum; chips_read read; void *context; int64_t row, renewed; } evaluation;

static uint32_t evaluate(evaluation *v, const dfl_eop *node)
{
    uint64_t x[4] = { 0 };

    switch (node->kind) {
    case DFL_EOP_ACCESS:
        return v->read(v->context, v->einsum, node->operand, v->renewed);
    case DFL_EOP_CONST:
        return node->value == 0 ? 0 : mix((uint64_t)(int64_t)(node->value * 4096));
    case DFL_EOP_GATHER:
        return v->read(v->context, v->einsum, node->args[0]->operand, evaluate(v, node->args[1]));
    case DFL_EOP_SCATTER:
        v->row = evaluate(v, node->args[1]);
        return evaluate(v, node->args[0]);
    case DFL_EOP_NEG: case DFL_EOP_ADD: case DFL_EOP_SUB: case DFL_EOP_MUL: case DFL_EOP_DIV: case DFL_EOP_CALL:
        break;
    }
    for (uint32_t i = 0; i < node->n_args && i < 4; i++)
        x[i] = evaluate(v, node->args[i]);
    if (node->kind == DFL_EOP_NEG)
        return (uint32_t)((DFL_ORACLE_PRIME - x[0]) % DFL_ORACLE_PRIME);
    if (node->kind == DFL_EOP_ADD)
        return (uint32_t)((x[0] + x[1]) % DFL_ORACLE_PRIME);
    if (node->kind == DFL_EOP_SUB)
        return (uint32_t)((x[0] + DFL_ORACLE_PRIME - x[1]) % DFL_ORACLE_PRIME);
    if (node->kind == DFL_EOP_MUL)
        return (uint32_t)(x[0] * x[1] % DFL_ORACLE_PRIME);
    for (uint32_t i = 1; i < 4; i++) /* a function that no operand leaves unchanged */
        x[0] = mix(x[0] * 4 + i) + x[i];
    return mix(x[0] ^ (uint64_t)node->op << 24 ^ (uint64_t)node->kind << 56);
}

uint32_t dfl_chips_value(chips *c, uint32_t einsum, chips_read read, void *context, int64_t *row)
{
    const dfl_einsum *e = &c->w->einsums[einsum];
    evaluation v = { c, einsum, read, context, -1, dfl_chips_renews_rows(c, einsum) ? renewed_row(c, einsum) : -1 };
    uint32_t out;

    if (e->over_rank == DFL_NONE) {
        out = evaluate(&v, e->body);
    } else { /* each element of the result depends on all elements of the operands along the rank */
        const int64_t at = c->at[e->over_rank];
        uint64_t all = (uint64_t)at;

        for (int64_t k = 0; k < c->w->ranks[e->over_rank].extent; k++) {
            c->at[e->over_rank] = k;
            for (uint32_t i = 0; i < e->body->n_args; i++)
                all = all * 31 + evaluate(&v, e->body->args[i]);
            all = mix(all);
        }
        c->at[e->over_rank] = at;
        out = mix(all);
    }
    *row = v.renewed >= 0 ? v.renewed : v.row;
    return out;
}

/* ---- one chip ---- */

static uint32_t read_alone(void *context, uint32_t einsum, uint32_t operand, int64_t row)
{
    chips *c = context;
    const dfl_access *a = &c->w->einsums[einsum].inputs[operand];
    uint32_t tensor;
    const int64_t element = dfl_chips_element(c, einsum, a, row, dfl_chips_is_carried(c, einsum, a), &tensor);

    return element < 0 ? 0 : c->tensors[tensor].alone[element];
}

static void run_alone(chips *c, uint32_t einsum, int64_t layer)
{
    const dfl_einsum *e = &c->w->einsums[einsum];
    int64_t *lo = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    int64_t *hi = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);

    for (uint32_t r = 0; r < c->w->n_ranks; r++)
        hi[r] = c->w->ranks[r].extent;
    for (bool more = dfl_chips_first(c, einsum, lo, hi, layer); more; more = dfl_chips_next(c, einsum, lo, hi, NULL, layer)) {
        int64_t row, element;
        uint32_t value, tensor;
        chip_tensor *t;

        if (!dfl_chips_has_point(c, einsum))
            continue;
        value = dfl_chips_value(c, einsum, read_alone, c, &row);
        element = dfl_chips_element(c, einsum, &e->output, row, false, &tensor);
        t = &c->tensors[tensor];
        if (element < 0 || (dfl_chips_renews_rows(c, einsum) && t->written[element] != 0)) /* each row once */
            continue;
        t->alone[element] = t->written[element] != 0 ? dfl_chips_combine(e->reduce, t->alone[element], value) : value;
        t->written[element] = 1;
    }
}

void dfl_chips_run_alone(chips *c)
{
    const dfl_workload *w = c->w;

    for (uint32_t e = 0, end; e < w->n_einsums; e = end) {
        const uint32_t repeat = w->einsums[e].phase == DFL_PHASE_UPDATE ? DFL_NONE : c->einsums[e].repeat;
        const int64_t n = repeat != DFL_NONE ? w->ranks[repeat].extent : 1;

        for (end = e + 1; repeat != DFL_NONE && end < w->n_einsums && w->einsums[end].phase == w->einsums[e].phase &&
                          c->einsums[end].repeat == repeat;)
            end++;
        for (int64_t i = 0; i < n; i++)
            for (uint32_t k = e; k < end && !c->failed; k++)
                run_alone(c, k, repeat == DFL_NONE ? -1 : w->einsums[e].phase == DFL_PHASE_BACKWARD ? n - 1 - i : i);
    }
}
