/*
 * The oracle executes a mapping step by step, with explicit sets of elements, by the rules of MODEL.md section 1. The
 * oracle counts transfers, operations and occupancy. The oracle is deliberately slow and simple. The oracle and the
 * model share only the resolved paths, so equal counts are evidence for both.
 */
#ifndef DFL_ORACLE_ORACLE_H
#define DFL_ORACLE_ORACLE_H

#include "ir/path/path.h"

/* Transfers in elements, with the names of MODEL.md. */
typedef struct { dfl_i128 serve, drain, accumulate, fill, update; } dfl_oracle_counts;

typedef struct {
    uint32_t memory, tensor;
    dfl_i128 serve, drain, accumulate, fill, update;
    dfl_oracle_counts first;   /* the counts of the instance at coordinate 0 of every axis */
    dfl_i128 rows[4];          /* in a memory with `access`: rows that are read for the inside, drained, filled, updated */
    struct dfl_oracle_rows *open; /* [instance]: rows that still have room; NULL without `access` */
    dfl_i128 peak_elements;    /* largest tile of one instance, without buffers */
    dfl_i128 peak_bits;        /* largest tile of one instance (in bits); of a refilled keep, all buffers together */
} dfl_oracle_traffic;

/* A class of links of a network: the `medium` of a bus; the ports of a crossbar, `outer_down`, `outer_up`, `inner_down` and
   `inner_up`; links between neighbours, `AXIS.down`, `AXIS.up`, and `AXIS.forward` in networks without such links. */
typedef struct {
    const char *name;
    dfl_i128 bits;             /* bits on the busiest link of the class, at coordinate 0 of the axes outside of the array */
    dfl_i128 first;            /* bits on the busiest link of the class that touches the instance with all coordinates 0 */
} dfl_oracle_link_class;

/* Bits that cross a network, over all its instances. */
typedef struct {
    dfl_i128 injected;         /* bits that the outer side gives; a multicast counts once */
    dfl_i128 delivered;        /* bits that instances get, from the outer side and from neighbours */
    dfl_i128 collected;        /* bits that instances give to the outer side */
    dfl_i128 arriving;         /* bits that the outer side gets, after reduction */
    dfl_i128 forwarded;        /* part of `delivered`: bits that neighbours forward */
    dfl_oracle_link_class *classes; uint32_t n_classes;
} dfl_oracle_network;

typedef struct {
    dfl_oracle_traffic *traffic; uint32_t n_traffic; /* sorted by memory, then by tensor */
    dfl_i128 *points;          /* [einsum]: number of executed points */
    dfl_i128 *extra;           /* [einsum]: number of executed points in excess of the workload's, plus the rescalings by
                                  `online` */
    dfl_i128 *padding;         /* [einsum]: number of points of the workload with an operand outside of its shape */
    dfl_i128 *steps;           /* [einsum]: number of steps in which some instance works */
    dfl_i128 *peak_bits;       /* [memory]: largest sum of live tiles of one instance (in bits), buffers included */
    dfl_oracle_network *networks; /* [network] */
    dfl_i128 *forwarded;       /* [axis]: number of elements passed on between neighbours */
    dfl_i128 broken;           /* number of violations of conservation laws, over all keeps; 0 unless the oracle is wrong */
    dfl_i128 wrong;            /* number of result elements whose artificial value differs from a direct evaluation; 0 without
                                  `online` loops, unless the rules or the mapping are wrong */
} dfl_oracle_result;

/* Executes a mapping; the result lies in `arena`. NULL after a report: E0409 or E0414 if the execution violates these
   rules, E0602 if the sizes exceed the oracle's limits (limits.h), or a report of a construct that the oracle does not
   execute. */
const dfl_oracle_result *dfl_oracle_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                        const dfl_paths *paths);

#endif
