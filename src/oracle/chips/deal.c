#include "oracle/chips/deal.h"

#include <math.h>
#include <string.h>

#include "oracle/chips/rows.h"

/* Counters of a pass: points so far; those of the first part; of the others. */
typedef struct { int64_t n, first, others; } dealt_points;

/* Rows of a part of a table, from `*first` on: the groups divide it one after the other, each into blocks of one size, so that
   the last ones may be short or empty. */
static int64_t rows_of_part(const chips *c, const chip_einsum *e, int64_t extent, int64_t part, int64_t *first)
{
    int64_t block = extent, end = extent, below = 1;

    for (uint32_t g = 0; g < c->n_groups; g++)
        below *= (e->rows >> g & 1) != 0 ? c->groups[g].count : 1;
    *first = 0;
    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((e->rows >> g & 1) != 0) {
            below /= c->groups[g].count;
            block = (block + c->groups[g].count - 1) / c->groups[g].count;
            *first += part / below * block;
            part %= below;
            end = *first + block < end ? *first + block : end;
        }
    return end > *first ? end - *first : 0;
}

/* The row for one more point: the first part of the table gets its share, which is the largest, and the others that have rows
   take turns. `next` = [part]: rows of it that points with the same other indices have got; each gets another one. */
static int64_t deal(const chips *c, const chip_einsum *e, dealt_points *d, uint32_t *next)
{
    uint32_t n_dims;
    const int64_t extent = dfl_chips_shape(c, e->rows_of, &n_dims)[e->rows_dim];
    const int64_t parts = dfl_chips_instances(c, (uint32_t)(e - c->einsums));
    const double load = c->w->einsums[e->rows_by].load;
    int64_t first, others = 0, wanted, turn;
    const int64_t largest = rows_of_part(c, e, extent, 0, &first);
    double share;

    share = load > 0 ? load / (double)parts : (double)largest / (double)extent; /* without a load, rows are read alike */
    wanted = isinf(load) || share > 1 || largest == extent ? d->n + 1 : (int64_t)ceil((double)(d->n + 1) * share - 1e-9);
    d->n++;
    if (wanted > d->first) {
        d->first++;
        return next[0]++ % largest;
    }
    for (int64_t part = 1; part < parts; part++)
        others += rows_of_part(c, e, extent, part, &first) > 0;
    turn = d->others++;
    for (int64_t part = 1, k = turn % others; part < parts; part++) {
        const int64_t rows = rows_of_part(c, e, extent, part, &first);

        if (rows > 0 && k-- == 0)
            return first + next[part]++ % rows;
    }
    return 0;
}

/* The rows of the table by which the points of an einsum go, among its operands; NULL = it gathers none of them. */
static const dfl_access *find_rows(const chips *c, const chip_einsum *e)
{
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++)
        if (c->w->tensors[e->einsum->inputs[i].tensor].gathered &&
            dfl_chips_holder(c, e->einsum->inputs[i].tensor) == e->rows_of)
            return &e->einsum->inputs[i];
    return NULL;
}

/* Deals the points of the present pass of an einsum that come to the groups of a chip. `next` = [element of the table with row 0
   * parts + part], as of `deal`. */
static void deal_pass(chips *c, uint32_t einsum, uint32_t chip, int64_t micro_batch, int64_t layer, bool *is_dealt,
                      uint32_t *next)
{
    chip_einsum *e = &c->einsums[einsum];
    chip_pass p = { .c = c, .einsum = einsum, .micro_batch = micro_batch, .layer = layer };
    dealt_points counters = { 0 };

    p.lo = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    p.hi = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    for (uint32_t block = dfl_chips_next_block(c, einsum, chip, DFL_NONE); block != DFL_NONE;
         block = dfl_chips_next_block(c, einsum, chip, block)) {
        dfl_chips_find_block(&p, block);
        for (bool more = dfl_chips_first(c, einsum, p.lo, p.hi, layer); more;
             more = dfl_chips_next(c, einsum, p.lo, p.hi, e->step, layer)) {
            const int64_t at = dfl_chips_position_of(c, e), parts = dfl_chips_instances(c, einsum);
            const dfl_access *rows = find_rows(c, e);
            uint32_t tensor;
            const int64_t first = rows != NULL ? dfl_chips_element(c, einsum, rows, 0, false, &tensor) : 0;

            if (at < 0 || is_dealt[at])
                continue;
            is_dealt[at] = true;
            c->tensors[e->rows_at->tensor].alone[at] = (uint32_t)deal(c, e, &counters, &next[first < 0 ? 0 : first * parts]);
        }
    }
}

/* Deals distinct rows to the points of an einsum that gathers from a table which no line divides: the points that have the other
   indices of the table alike get one row after the other. */
static void deal_distinct(chips *c, uint32_t einsum, const dfl_access *rows, const dfl_access *at, bool *is_dealt)
{
    uint32_t *next = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->tensors[dfl_chips_holder(c, rows->tensor)].n_elem + 1);
    int64_t *lo = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    int64_t *hi = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);

    for (uint32_t r = 0; r < c->w->n_ranks; r++)
        hi[r] = c->w->ranks[r].extent;
    for (bool more = dfl_chips_first(c, einsum, lo, hi, -1); more; more = dfl_chips_next(c, einsum, lo, hi, NULL, -1)) {
        uint32_t tensor;
        const int64_t position = dfl_chips_element(c, einsum, at, -1, false, &tensor);
        const int64_t first = dfl_chips_element(c, einsum, rows, 0, false, &tensor);

        if (position < 0 || first < 0 || is_dealt[position])
            continue;
        is_dealt[position] = true;
        c->tensors[at->tensor].alone[position] = next[first]++;
    }
}

/* The same for each gather of an einsum whose positions are an input. */
static void deal_gathers(chips *c, uint32_t einsum, bool **is_dealt)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const uint32_t rows = e->inputs[i].tensor;
        const dfl_access *at = c->w->tensors[rows].gathered ? dfl_chips_find_gather(e, e->body, rows) : NULL;

        if (at == NULL || c->w->tensors[at->tensor].n_producers > 0 || c->w->tensors[at->tensor].gathered)
            continue;
        if (is_dealt[at->tensor] == NULL)
            is_dealt[at->tensor] = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->tensors[at->tensor].n_elem + 1);
        deal_distinct(c, einsum, &e->inputs[i], at, is_dealt[at->tensor]);
        c->tensors[at->tensor].is_dealt = true;
    }
}

void dfl_chips_deal_rows(chips *c)
{
    bool **is_dealt = DFL_NEW_ARRAY(c->arena, bool *, (size_t)c->w->n_tensors + 1);

    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        const uint32_t tensor = c->einsums[e].rows != 0 ? c->einsums[e].rows_at->tensor : DFL_NONE;
        const int64_t layers = c->einsums[e].repeat != DFL_NONE ? c->w->ranks[c->einsums[e].repeat].extent : 0;
        uint32_t *next;

        if (tensor == DFL_NONE || c->w->einsums[e].phase != DFL_PHASE_FORWARD)
            continue;
        if (is_dealt[tensor] == NULL)
            is_dealt[tensor] = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->tensors[tensor].n_elem + 1);
        next = DFL_NEW_ARRAY(c->arena, uint32_t, ((size_t)c->tensors[c->einsums[e].rows_of].n_elem + 1) *
                                                     (size_t)dfl_chips_instances(c, e));
        for (uint32_t chip = 0; chip < c->n_chips; chip++)
            for (int64_t m = 0; m < c->micro_batches; m++)
                for (int64_t i = layers > 0 ? 0 : -1; i < layers && !c->failed; i++)
                    deal_pass(c, e, chip, m, i, is_dealt[tensor], next);
        c->tensors[tensor].is_dealt = true;
    }
    for (uint32_t e = 0; e < c->w->n_einsums && !c->failed; e++)
        if (c->w->einsums[e].phase == DFL_PHASE_FORWARD)
            deal_gathers(c, e, is_dealt);
    for (uint32_t t = 0; t < c->w->n_tensors; t++)
        if (c->tensors[t].is_dealt) {
            c->tensors[t].dealt = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->tensors[t].n_elem + 1);
            memcpy(c->tensors[t].dealt, c->tensors[t].alone, c->tensors[t].n_elem * sizeof *c->tensors[t].dealt);
        }
}
