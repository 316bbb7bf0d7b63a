#include "ir/topology.h"

const char *dfl_topology_name(dfl_topology_kind kind)
{
    static const char *const names[] = {
        [DFL_TOPOLOGY_NONE] = "none",
        [DFL_TOPOLOGY_RING] = "ring",
        [DFL_TOPOLOGY_MESH] = "mesh",
        [DFL_TOPOLOGY_TORUS] = "torus",
        [DFL_TOPOLOGY_SWITCH] = "switch",
        [DFL_TOPOLOGY_FULLY_CONNECTED] = "fully_connected",
        [DFL_TOPOLOGY_FAT_TREE] = "fat_tree",
        [DFL_TOPOLOGY_DRAGONFLY] = "dragonfly",
    };

    return names[kind];
}

const char *dfl_algorithm_name(dfl_algorithm algorithm)
{
    static const char *const names[DFL_N_ALGORITHMS] = {
        [DFL_ALGORITHM_RING] = "ring",
        [DFL_ALGORITHM_TWO_RINGS] = "two_rings",
        [DFL_ALGORITHM_DIRECT] = "direct",
        [DFL_ALGORITHM_HALVING_DOUBLING] = "halving_doubling",
        [DFL_ALGORITHM_DOUBLE_TREE] = "double_tree",
        [DFL_ALGORITHM_PER_DIMENSION] = "per_dimension",
        [DFL_ALGORITHM_ROTATED] = "rotated",
        [DFL_ALGORITHM_CHAIN] = "chain",
        [DFL_ALGORITHM_TREE] = "tree",
        [DFL_ALGORITHM_MESSAGE] = "message",
    };

    return names[algorithm];
}

/* Cables along one side of a grid. */
static int64_t side_cables(const dfl_topology *t, int64_t side)
{
    return t->kind == DFL_TOPOLOGY_MESH || side < 3 ? side - 1 : side;
}

static double dragonfly_cables(const dfl_topology *t, double ports)
{
    const double groups = (double)t->groups, routers = (double)t->routers;
    const int64_t others = t->groups - 1, out = t->routers * t->global;
    const double global = others > 0 ? (double)(out - out % others) : 0;

    return ports + groups * routers * (routers - 1) / 2 + groups * global / 2;
}

double dfl_topology_cables(const dfl_topology *t, int64_t ports, const int64_t *sides, uint32_t n_sides)
{
    double joined = (double)ports, copies = 1, all = 0, narrowing = 1;

    if (t->separate_rails) {
        joined = 1;
        for (uint32_t i = 0; i < n_sides; i++)
            joined *= (double)sides[i];
        copies = (double)ports / joined;
    }
    switch (t->kind) {
    case DFL_TOPOLOGY_NONE:
        return 0;
    case DFL_TOPOLOGY_RING:
    case DFL_TOPOLOGY_MESH:
    case DFL_TOPOLOGY_TORUS:
        for (uint32_t i = 0; i < n_sides; i++)
            all += (double)ports / (double)sides[i] * (double)side_cables(t, sides[i]);
        return all;
    case DFL_TOPOLOGY_SWITCH:
        return (double)ports;
    case DFL_TOPOLOGY_FULLY_CONNECTED:
        return copies * joined * (joined - 1) / 2;
    case DFL_TOPOLOGY_FAT_TREE:
        for (uint32_t l = 0; l < t->levels; l++) {
            narrowing *= t->oversubscription[l];
            all += (double)ports / narrowing;
        }
        return all;
    case DFL_TOPOLOGY_DRAGONFLY:
        return copies * dragonfly_cables(t, joined);
    }
    return 0;
}
