#include "collective/stage_ways.h"

int64_t dfl_stage_target(dfl_stage_way way, int64_t stage, int64_t stages)
{
    switch (way) {
    case DFL_WAY_NEXT: return stage + 1 < stages ? stage + 1 : -1;
    case DFL_WAY_CLOSING: return stage + 1 == stages ? 0 : -1;
    case DFL_WAY_NEXT_BACK: return stage - 1;
    case DFL_WAY_CLOSING_BACK: return stage == 0 ? stages - 1 : -1;
    case DFL_N_WAYS: break;
    }
    return -1;
}

void dfl_stage_link_keep(dfl_stage_link *link, double messages, double running)
{
    if (messages > link->messages || (messages == link->messages && running < link->running))
        *link = (dfl_stage_link){ messages, running };
}
