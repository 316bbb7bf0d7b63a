/*
 * Crossings: the transfers that pass over the networks of arrays, and the bits that they bring to each class of links
 * (MODEL.md, section 2.9). A transfer crosses the network of each array between its two ends. The inner end is a keep,
 * or a unit that reads an operand or updates a result in an outer memory.
 */
#ifndef DFL_MODEL_COUNTS_CROSSINGS_H
#define DFL_MODEL_COUNTS_CROSSINGS_H

#include "model/counts/traffic_plan.h"

typedef enum {
    DFL_CROSSING_FILL,   /* down, from the outer keep to a keep */
    DFL_CROSSING_DRAIN,  /* up, from a keep to the outer keep */
    DFL_CROSSING_READ,   /* down, from the innermost keep of an operand to a unit */
    DFL_CROSSING_RESULT, /* up, from a unit to the innermost keep of the result */
} dfl_crossing_kind;

/* One transfer over the network of one array. */
typedef struct {
    dfl_crossing_kind kind;
    uint32_t at;      /* the keep of a fill or drain; the operand of the plan of the traffic of a read or result */
    uint32_t network;
    uint32_t element; /* the element that the array repeats */
    uint32_t tensor;
    /* The following members hold values of the present sizes. */
    dfl_i128 outside; /* bits injected by the outer side (down) or arriving there (up), over all instances of the network */
    dfl_i128 inside;  /* bits delivered to the instances (down; forwarded ones included) or collected from them (up) */
    dfl_i128 *bits;   /* [class of the network]: bits of this transfer on its busiest link of the class, in the instance of
                         the network at coordinate 0 of the axes outside; the sum over all steps */
} dfl_crossing;

/* All crossings of a mapping. */
typedef struct {
    dfl_crossing *at;
    uint32_t n;
    uint32_t *of_keep;    /* [keep]: its first crossing; the crossings of a keep end where those of the next one begin */
    uint32_t *of_operand; /* [operand of the plan of the traffic]: as `of_keep` */
    dfl_network_cost *networks; /* [network]: costs at the present sizes; the members in s and bit/s are not set here */
} dfl_crossings;

#endif
