/* The time of a step as Calculon sums it up, and parts of it that the text of a run states in another way. Times are in s. */
#ifndef DFL_IMPORT_CALCULON_PEER_H
#define DFL_IMPORT_CALCULON_PEER_H

#include "import/calculon/calculon_internal.h"

/* Weights whose gradients the text exchanges one after another. In tiles, query, key and value are one. */
enum { DFL_CALC_WEIGHTS = 7 };

/* Sums over the operations of a layer, for one micro-batch on one chip: [forward, gradients of operands, gradients of weights],
   and [inside of a chunk, its last layer][forward, gradients of operands]. */
typedef struct {
    double time[3];              /* of the operations, as Calculon slows them down beside exchanges */
    double work[3], moves[3];    /* on the units; in the memory */
    double again;                /* of the operations that the backward pass repeats */
    double again_work, again_moves;
    double running_work, running_moves; /* at each of them, all forward work of the layer up to it */
    double optimizer, optimizer_work, optimizer_moves;
    double link[2][2], exposed[2][2];   /* exchanges among the chips of a layer */
    double link_again[2], exposed_again[2]; /* those that the backward pass repeats */
    double weight_bytes;
    double weight_share[DFL_CALC_WEIGHTS], weight_left[DFL_CALC_WEIGHTS]; /* of the weights, in the order in which the backward
                                    pass of the text makes their gradients: share of all, and time from there to its end */
} dfl_calc_sums;

/* What Calculon assumes of a step, and the text of a run does not. */
typedef enum {
    DFL_CALC_TWICE,      /* the exchange of a tile counts twice with `pipe` */
    DFL_CALC_REPEATED,   /* gradients of weights hide what is gathered again, which slows them down */
    DFL_CALC_TILED,      /* the sums of an exchange run beside the product, and transfers of the product hide no exchange */
    DFL_CALC_PORT,       /* no transfer to the second memory runs while a layer uses the first one */
    DFL_CALC_STATE,      /* each backward pass of a layer moves the state of its optimizer */
    DFL_CALC_IDLE,       /* activations leave the chip in inference, too */
    DFL_CALC_LUMPED,     /* all transfers of a pass are one, as large as the longer way forward */
    DFL_CALC_MESSAGES,   /* transfers run beside the messages between stages, too */
    DFL_CALC_RUNNING,    /* recomputed work counts as a sum of running sums */
    DFL_CALC_WAITS,      /* no gradient is exchanged while a layer uses its memory */
    DFL_CALC_SLOWED,     /* the exchange of gradients takes a share of the work of the chips */
    DFL_CALC_SHARED,     /* dimensions share the links of a network */
    DFL_CALC_OPTIMIZED,  /* the optimizer of a layer hides gradients of others */
    DFL_CALC_WINDOW,     /* what hides gradients is a sum over passes, and weights are gathered with them */
    DFL_CALC_UNEQUAL,    /* where stages lack a layer, it leaves out passes of the bubble; the text has shorter passes */
    DFL_CALC_N_QUIRKS,
} dfl_calc_quirk;

dfl_calc_sums dfl_calc_sum_layer(const dfl_calc_run *run, const bool as_peer[DFL_CALC_N_QUIRKS]);
/* The time of a step with some of these assumptions: with all of them that of Calculon, with none that of the text. */
double dfl_calc_step_seconds(const dfl_calc_run *run, const bool as_peer[DFL_CALC_N_QUIRKS]);
/* Time of a transfer to or from the second memory. */
double dfl_calc_outer_seconds(const dfl_calc_run *run, double bytes);

#endif
