#include "ir/plan_result.h"

const char *dfl_parallel_name(dfl_parallel kind)
{
    static const char *const names[] = {
        [DFL_PARALLEL_DATA] = "data", [DFL_PARALLEL_TENSOR] = "tensor", [DFL_PARALLEL_SEQUENCE] = "sequence",
        [DFL_PARALLEL_EXPERT] = "expert", [DFL_PARALLEL_CONTEXT] = "context", [DFL_PARALLEL_PIPELINE] = "pipeline",
        [DFL_PARALLEL_OPTIMIZER] = "optimizer",
    };

    return names[kind];
}

const char *dfl_step_part_name(dfl_step_part part)
{
    static const char *const names[DFL_N_STEP_PARTS] = {
        [DFL_STEP_FORWARD] = "forward", [DFL_STEP_BACKWARD] = "backward", [DFL_STEP_RECOMPUTE] = "recompute",
        [DFL_STEP_UPDATE] = "update", [DFL_STEP_COLLECTIVES] = "collectives", [DFL_STEP_POINT_TO_POINT] = "point_to_point",
        [DFL_STEP_OFFLOAD] = "offload", [DFL_STEP_BUBBLE] = "bubble",
    };

    return names[part];
}

const char *dfl_held_name(dfl_held part)
{
    static const char *const names[DFL_N_HELD] = {
        [DFL_HELD_WEIGHTS] = "weights", [DFL_HELD_GRADIENTS] = "gradients", [DFL_HELD_MOMENTS] = "moments",
        [DFL_HELD_ACTIVATIONS] = "activations", [DFL_HELD_WORKING] = "working", [DFL_HELD_CACHE] = "cache",
        [DFL_HELD_OTHER] = "other",
    };

    return names[part];
}
