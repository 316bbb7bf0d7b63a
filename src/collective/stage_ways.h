/*
 * The ways of messages between the stages of a pipeline. A message goes from each stage to the next one, and with several chunks
 * of layers from the last stage to the first one, which is a longer way on some networks. Gradients go back.
 */
#ifndef DFL_COLLECTIVE_STAGE_WAYS_H
#define DFL_COLLECTIVE_STAGE_WAYS_H

#include "collective/fabric.h"

typedef enum {
    DFL_WAY_NEXT,         /* from each stage but the last one to the next one */
    DFL_WAY_CLOSING,      /* from the last stage to the first one */
    DFL_WAY_NEXT_BACK,    /* against DFL_WAY_NEXT */
    DFL_WAY_CLOSING_BACK, /* against DFL_WAY_CLOSING */
    DFL_N_WAYS,
} dfl_stage_way;

typedef struct {
    int64_t times[DFL_N_WAYS];  /* messages each way, from each stage that sends one: fewer closing ones than others */
    double seconds[DFL_N_WAYS]; /* time of one (in s) */
} dfl_stage_traffic;

/* The busiest link of a class among those that the messages of a stage use; of the class of ports, the stage's own port. Of
   equally busy links, the one in use for the shorter time. */
typedef struct {
    double messages;      /* of all stages and ways, on one link of the network's bandwidth */
    double running;       /* time of the messages on the ways that use the link (in s) */
} dfl_stage_link;

/* The stage to which a stage sends its message of a way; -1 = it sends none. */
int64_t dfl_stage_target(dfl_stage_way way, int64_t stage, int64_t stages);
/* Keeps the busier one of two links. */
void dfl_stage_link_keep(dfl_stage_link *link, double messages, double running);
#endif
