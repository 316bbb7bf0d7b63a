/*
 * Transfers at the present sizes: how many elements move when a loop advances, and how long each resource is busy with
 * them.
 */
#ifndef DFL_MODEL_COST_TIME_TRANSFER_H
#define DFL_MODEL_COST_TIME_TRANSFER_H

#include "model/cost/time_plan.h"

/* Counts the elements of `n` transfers. False after E0602, E0608 or E0609. */
bool dfl_transfers_fill(dfl_nest *nest, const dfl_time_plan *plan, const dfl_traffic_sums *sums, dfl_transfer *transfers,
                        uint32_t n);

/* How many times longer than at full bandwidth transfers of `bits` take. 0 after E0509. */
double dfl_efficiency_stretch(dfl_nest *nest, const dfl_efficiency *e, double bits);

/* Directions of a transfer: out of the tile, and into the tile. */
enum { DFL_OUT, DFL_IN, DFL_BOTH };

/* Seconds for which a use of a transfer keeps its resource busy. */
static inline double dfl_use_seconds(const dfl_use *use, const dfl_moves *amounts, uint32_t way)
{
    return way == DFL_IN ? use->in * amounts->in[use->end] : use->out * amounts->out[use->end];
}

/* Seconds of a transfer in one direction: those of its busiest resource. */
static inline double dfl_transfer_seconds(const dfl_transfer *transfer, const dfl_moves *amounts, uint32_t way)
{
    double longest = 0;

    for (uint32_t u = 0; u < transfer->n_uses; u++) {
        double busy = dfl_use_seconds(&transfer->uses[u], amounts, way);
        longest = busy > longest ? busy : longest;
    }
    return longest;
}

/* Adds the seconds of a transfer, in both directions, to a row of all resources. */
static inline void dfl_transfer_add(const dfl_transfer *transfer, const dfl_moves *amounts, double *row)
{
    for (uint32_t u = 0; u < transfer->n_uses; u++)
        row[transfer->uses[u].resource] += dfl_use_seconds(&transfer->uses[u], amounts, DFL_OUT) +
                                           dfl_use_seconds(&transfer->uses[u], amounts, DFL_IN);
}

static inline dfl_moves dfl_moves_scaled(const dfl_moves *a, double factor)
{
    return (dfl_moves){ { a->in[0] * factor, a->in[1] * factor }, { a->out[0] * factor, a->out[1] * factor } };
}

/* Which elements of results count as filled when they enter a tile again. */
typedef enum {
    DFL_AGAIN_MEAN, /* the fraction of the advances at which they find a value */
    DFL_AGAIN_ALL,  /* all of them, if they find a value at some advances of the loop */
    DFL_AGAIN_NONE, /* none of them, unless they find a value at all advances of the loop */
    DFL_AGAIN_MOST, /* all of them, and as many elements as any advance moves */
} dfl_again;

/* Elements that move in one advance of loop `j`, which advances `advances` times. */
static inline dfl_moves dfl_transfer_amounts(const dfl_transfer *transfer, uint32_t j, double advances, dfl_again again)
{
    dfl_moves a;

    if (transfer->even || (again == DFL_AGAIN_MOST && !transfer->uniform)) {
        double own = (double)(int64_t)(transfer->steps[j + 1] - transfer->steps[j]);
        a = transfer->each;
        if (transfer->even && own < advances) /* an einsum that does not iterate all loops around it moves tiles less often */
            a = dfl_moves_scaled(&a, own / advances);
    } else {
        a = dfl_moves_scaled(&transfer->by_loop[j], 1 / advances);
    }
    if (transfer->again) {
        double share = transfer->share[j];
        if (again != DFL_AGAIN_MEAN && share * transfer->filled < 1)
            share = share == 0 || again == DFL_AGAIN_NONE ? 0 : 1 / transfer->filled;
        a.in[DFL_INNER] *= share;
        a.in[DFL_OUTER] *= share;
    }
    return a;
}

/* Fraction of the advances of loop `j` at which the elements of a result find a value. */
static inline double dfl_transfer_share(const dfl_transfer *transfer, uint32_t j)
{
    double share = transfer->again ? transfer->share[j] * transfer->filled : 1;

    return share > 0 && share < 1 ? share : 1;
}

#endif
