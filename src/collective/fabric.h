/*
 * A network between chips as ports and links, and a group of ranks as places of ports. The ports of one copy of a network are
 * numbered 0, 1, ... with the last axis fastest. The chips inside of a port share it. Ports whose inner coordinates are not
 * joined (separate rails; own ports on a ring, mesh or torus) are copies of the network.
 */
#ifndef DFL_COLLECTIVE_FABRIC_H
#define DFL_COLLECTIVE_FABRIC_H

#include "diag/diag.h"
#include "ir/system.h"

enum {
    DFL_FABRIC_AXES = 8,     /* axes that number the ports of one network, and parts of one group */
    DFL_FABRIC_LEVELS = 16,  /* levels of a fat tree */
    DFL_LINK_CLASSES = 32,   /* classes of links of one network: two directions of every axis, or of every level of a fat tree */
};

typedef struct {
    uint32_t network;
    dfl_topology_kind kind;
    double latency, overhead;                 /* latency of one link, overhead of a step (in s) */
    uint32_t n_axes;                          /* axes that number the ports, outer first */
    uint32_t axis[DFL_FABRIC_AXES];
    int64_t size[DFL_FABRIC_AXES], weight[DFL_FABRIC_AXES]; /* instances; number of ports between neighbours of the axis */
    int64_t ports, sharers;                   /* ports; ranks that share one port */
    uint32_t port_axis;                       /* innermost axis whose instances have ports of their own */
    uint32_t levels;                          /* fat tree */
    int64_t subtree[DFL_FABRIC_LEVELS + 1];   /* fat tree: ports below a switch of a level, [0] = 1 */
    double narrowing[DFL_FABRIC_LEVELS + 1];  /* fat tree: bandwidth per port at level 1 over that at a level */
    int64_t groups, routers, global, router_ports; /* dragonfly: groups, routers of a group, global links and ports of a router */
} dfl_fabric;

/* Instances of one axis of a fabric, as dfl_group_part. */
typedef struct { uint32_t dim; int64_t stride, count, period; } dfl_team_part; /* dim: index in dfl_fabric.axis */

/* A group of ranks on one fabric. Rank numbers count the combinations of the instances, the last part fastest. */
typedef struct {
    uint32_t n;
    dfl_team_part part[DFL_FABRIC_AXES];
    int64_t ranks;
} dfl_team;

/* The fabric of a network for ranks that are instances of `element`. False after a report at `span`. */
bool dfl_fabric_of(dfl_sink *sink, const dfl_intern *names, const dfl_system *system, uint32_t network, uint32_t element,
                   dfl_span span, dfl_fabric *out);
/* Whether the axes of the network are dimensions of a grid of links: ring, mesh, torus. */
bool dfl_fabric_is_grid(const dfl_fabric *f);
/* Whether the dimensions of a grid are closed to rings. */
bool dfl_fabric_wraps(const dfl_fabric *f);
/* Number of classes of links. */
uint32_t dfl_fabric_classes(const dfl_fabric *f);
/* Number of the class: index of the axis times two, plus 1 against its direction; twice the level - 1, plus 1 downwards; ports: 0
   up, 1 down; dragonfly: ports, 2 local, 3 global. Classes of both directions of ports and levels have one name. */
const char *dfl_fabric_class_name(dfl_arena *arena, const dfl_intern *names, const dfl_system *system, const dfl_fabric *f,
                                  uint32_t class);

/* The number of instances after which the groups of a part repeat. */
static inline int64_t dfl_team_period(const dfl_team_part *p) { return p->period > 0 ? p->period : p->stride * p->count; }
/* The number of groups in a period: they start at its first instances. */
static inline int64_t dfl_team_starts(const dfl_team_part *p) { return dfl_team_period(p) - p->stride * (p->count - 1); }
/* The rank of the instance that lies at a port; -1 if the port lies behind the last period of a part, or in no group. */
int64_t dfl_team_rank(const dfl_fabric *f, const dfl_team *team, int64_t port);
/* The port of rank `to` in the group in which `port` has the rank `from`. */
int64_t dfl_team_port(const dfl_fabric *f, const dfl_team *team, int64_t port, int64_t from, int64_t to);
/* The group as ports a fixed distance apart: true if there is one distance, and then the distance. False for several parts with
   idle instances. */
bool dfl_team_strided(const dfl_fabric *f, const dfl_team *team, int64_t *stride);

#endif
