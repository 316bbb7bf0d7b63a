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
