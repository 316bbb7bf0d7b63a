/*
 * The shape and the price of a network between chips. Such a network joins the instances of the axes whose arrays lie
 * `over` it. Times are in seconds, rates in bit/s, prices in USD, powers in watts.
 */
#ifndef DFL_IR_TOPOLOGY_H
#define DFL_IR_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    DFL_TOPOLOGY_NONE,            /* a network inside of a chip, such as a bus */
    DFL_TOPOLOGY_RING,            /* dimensions of ring, mesh and torus: the axes of the array */
    DFL_TOPOLOGY_MESH,
    DFL_TOPOLOGY_TORUS,
    DFL_TOPOLOGY_SWITCH,          /* switch and the following kinds join all instances of all axes */
    DFL_TOPOLOGY_FULLY_CONNECTED,
    DFL_TOPOLOGY_FAT_TREE,
    DFL_TOPOLOGY_DRAGONFLY,
} dfl_topology_kind;

/* Algorithms of collectives, in the order that decides between equal times. */
typedef enum {
    DFL_ALGORITHM_RING,
    DFL_ALGORITHM_TWO_RINGS,
    DFL_ALGORITHM_DIRECT,
    DFL_ALGORITHM_HALVING_DOUBLING,
    DFL_ALGORITHM_DOUBLE_TREE,
    DFL_ALGORITHM_PER_DIMENSION,
    DFL_ALGORITHM_ROTATED,
    DFL_ALGORITHM_CHAIN,          /* broadcast: pipelined chain */
    DFL_ALGORITHM_TREE,           /* broadcast: binomial tree */
    DFL_ALGORITHM_MESSAGE,        /* point to point: one message */
    DFL_N_ALGORITHMS,
} dfl_algorithm;

typedef struct {
    dfl_topology_kind kind;
    uint32_t levels;              /* fat tree: number of levels, >= 1 */
    const double *oversubscription; /* fat tree, [level - 1]: factor by which the bandwidth of this level is below that of the
                                     level below; levels factors in all, the first is 1 */
    int64_t groups, routers, global; /* dragonfly: number of groups, routers in a group, links of a router to other groups */
    double overhead;              /* time that a rank needs before its first message and after each step (in s) */
    bool separate_rails;          /* ports whose inner coordinates differ are not joined (`rails = separate`) */
    uint32_t algorithms;          /* mask of the algorithms that the file permits, 1u << dfl_algorithm each; 0 = all */
    double price, power;          /* per port (USD, W) */
    double link_price, link_power; /* per cable (USD, W) */
} dfl_topology;

/* Number of cables of one instance of a network with `ports` ports. `sides`: the sizes of the axes over the network. A ring or
   torus has one cable between neighbours, a fully connected network one between each two ports, a switch one for each port, a fat
   tree one for each port and level, fewer above a narrowing, a dragonfly those of ports, between routers of a group, and the
   global links that whole rounds over the other groups use. With separate rails each coordinate of other axes is a copy. */
double dfl_topology_cables(const dfl_topology *t, int64_t ports, const int64_t *sides, uint32_t n_sides);

/* The word of the language for a kind ("fat_tree") and for an algorithm ("halving_doubling"). */
const char *dfl_topology_name(dfl_topology_kind kind);
const char *dfl_algorithm_name(dfl_algorithm algorithm);

#endif
