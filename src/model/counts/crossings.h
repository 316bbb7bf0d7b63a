/*
 * Crossings: the transfers that pass over the networks of arrays, and the bits that they bring to each class of links
 * (MODEL.md, section 2.9). A transfer crosses the network of each array between its two ends. The inner end is a keep,
 * or a unit that reads an operand or updates a result in an outer memory. This file makes the crossings and counts them;
 * link_loads.h finds the busiest links.
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

/* How the loads of the links follow from the coordinates of an array. */
typedef enum {
    DFL_CROSSING_EVEN,    /* all instances in use carry equally much */
    DFL_CROSSING_ORDERED, /* no instance carries more than that at coordinate 0 */
    DFL_CROSSING_ANY,     /* any instance may carry most */
    DFL_CROSSING_ROUGH,   /* the loads are an estimate */
} dfl_crossing_mode;

/* One transfer over the network of one array. */
typedef struct {
    dfl_crossing_kind kind;
    uint32_t at;      /* the keep of a fill or drain; the operand of the plan of the traffic of a read or result */
    uint32_t network;
    uint32_t element; /* the element that the array repeats */
    uint32_t tensor;
    int64_t width;    /* bits of one element of the tensor */
    /* Bit sets of spatial steps on the path of the transfer: */
    uint64_t outer;   /* steps on axes outside of the array */
    uint64_t own;     /* steps on axes of the array */
    uint64_t inner;   /* steps on axes between the array and the inner end */
    uint64_t shared;  /* the steps in `own` and `inner` along which instances share the transfer */
    uint64_t between; /* all steps on axes between the two ends of the transfer */
    uint64_t still;   /* if the transfer moves a result (`result`): the steps in `between` whose ranks do not index the result.
                         Values return to coordinate 0 of these steps */
    bool result;      /* the fill of a written keep, or the drain of a keep in which consumers meet the producer */
    bool by_change;   /* a read only of changed operands */
    dfl_footprint *footprint;
    dfl_footprint *made;   /* `result`: elements that the producer makes below the keep; NULL if some are made again */
    dfl_footprint *direct; /* with forwarding: the footprint whose entries include those from neighbours */
    dfl_sharing how;       /* which instances share a transfer; `united` and `first_only` are 0 */
    dfl_delta *outside_all, *inside_all; /* over all instances: as the outer side sees the transfer; as the instances do */
    dfl_delta *outside_first; /* as `outside_all`, in the instance of the network at coordinate 0 */
    dfl_delta *first;      /* as `inside_all`, for the instance at coordinate 0 */
    /* The following members hold values of the present sizes. */
    dfl_crossing_mode mode;
    bool valued;      /* elements move only if they have a value: the fill of a written keep, or the drain of a keep in which
                         each element leaves only the tile in which it is made */
    dfl_i128 unit;    /* elements on the port of the instance at coordinate 0, if `mode` is even or ordered */
    dfl_i128 outside; /* bits injected by the outer side (down) or arriving there (up), over all instances of the network */
    dfl_i128 inside;  /* bits delivered to the instances (down; forwarded ones included) or collected from them (up) */
    dfl_i128 *bits;   /* [class of the network]: bits of this transfer on its busiest link of the class, in the instance of
                         the network at coordinate 0 of the axes outside; the sum over all steps */
    double **by_step; /* [class of the network][step]: with a bandwidth, elements on the busiest link when the step advances, and
                         at [footprint->n] those of the first (up: last) tiles. NULL if they are in proportion to those at the
                         outer end, or not known */
} dfl_crossing;

/* Shapes of networks. */
typedef enum {
    DFL_NETWORK_BUS,   /* one medium */
    DFL_NETWORK_PORTS, /* a port of the outer side and one of each instance: crossbar, switch, and all others */
    DFL_NETWORK_LINES, /* mesh, torus, ring: links between neighbours */
} dfl_network_shape;

/* Classes of a bus and of a network of ports. The classes of axes follow. */
enum { DFL_CLASS_MEDIUM = 0, DFL_CLASS_OUTER_DOWN = 0, DFL_CLASS_OUTER_UP, DFL_CLASS_INNER_DOWN, DFL_CLASS_INNER_UP };

/* Array with a network that some transfer crosses. */
typedef struct {
    uint32_t element, network;
    dfl_network_shape shape;
    uint32_t *crossings;  /* crossings of the array */
    uint32_t n;
} dfl_crossed_array;

/* All crossings of a mapping. */
typedef struct {
    dfl_crossing *at;
    uint32_t n;
    uint32_t *of_keep;    /* [keep]: its first crossing; the crossings of a keep end where those of the next one begin */
    uint32_t *of_operand; /* [operand of the plan of the traffic]: as `of_keep` */
    dfl_crossed_array *arrays;
    uint32_t n_arrays;
    uint32_t *axis_class; /* [axis]: class of its links down (up: the next class) or of its forwarding links; DFL_NONE = none */
    dfl_network_cost *networks; /* [network]: costs at the present sizes; the members in s and bit/s are not set here */
} dfl_crossings;

/* Whether a crossing goes up, from the inner end to the outer end. */
bool dfl_crossing_goes_up(const dfl_crossing *c);
/* The number of elements of a crossing that one of its deltas counts. */
dfl_i128 dfl_crossing_elements(const dfl_crossing *c, const dfl_delta *delta);
/* Bits of a number of elements. Sets *over on overflow. The usual numbers need no check. */
static inline dfl_i128 dfl_crossing_bits(const dfl_crossing *c, dfl_i128 elements, bool *over)
{
    dfl_i128 bits;

    if (elements >> 62 == 0)
        return (dfl_i128)(int64_t)elements * c->width;
    *over |= dfl_mul(elements, c->width, &bits);
    return bits;
}
/* Finds the crossings of a mapping. The traffic must be planned. False after E0609. */
bool dfl_crossings_make(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_crossings *out);
/* Counts the bits at both sides of all crossings at the present sizes, and clears the bits of the classes. The traffic must be
   counted. False after E0602 or E0608. */
bool dfl_crossings_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_sums *sums, dfl_crossings *out);

#endif
