/* Linear extensions of the dependences, breadth first by swaps of neighbours. */
#include "mapper/problem/einsum_orders.h"

#include <string.h>

static bool makes_what_touches(const dfl_workload *w, uint32_t maker, uint32_t other)
{
    return dfl_einsum_touches(&w->einsums[other], w->einsums[maker].output.tensor);
}

static bool is_known(const dfl_einsum_orders *o, const uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (memcmp(o->at[i], order, n * sizeof *order) == 0)
            return true;
    return false;
}

/* `order` with places i and i + 1 swapped. */
static const uint32_t *swapped(dfl_arena *arena, const uint32_t *order, uint32_t n, uint32_t i)
{
    uint32_t *out = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);

    memcpy(out, order, n * sizeof *out);
    out[i] = order[i + 1];
    out[i + 1] = order[i];
    return out;
}

const dfl_einsum_orders *dfl_einsum_orders_find(dfl_arena *arena, const dfl_workload *w)
{
    dfl_einsum_orders *out = DFL_NEW(arena, dfl_einsum_orders);
    uint32_t *declared = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_einsums + 1);

    for (uint32_t e = 0; e < w->n_einsums; e++)
        declared[e] = e;
    out->at[0] = declared;
    out->n = 1;
    out->all = true;
    for (uint32_t from = 0; from < out->n; from++)
        for (uint32_t i = 0; i + 1 < w->n_einsums; i++) {
            const uint32_t *order = out->at[from], *next;
            if (makes_what_touches(w, order[i], order[i + 1]) || makes_what_touches(w, order[i + 1], order[i]))
                continue;
            next = swapped(arena, order, w->n_einsums, i);
            if (is_known(out, next, w->n_einsums))
                continue;
            if (out->n == DFL_ORDERS_MOST) {
                out->all = false;
                return out;
            }
            out->at[out->n++] = next;
        }
    return out;
}
