#include "mapper/halt.h"

#include <time.h>

enum { LOOK = 128 };

double dfl_halt_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool dfl_halted(dfl_halt *halt)
{
    if (halt->why != DFL_STOP_NONE)
        return true;
    if (halt->looks++ % LOOK != 0)
        return false;
    if (!dfl_budget_spend(halt->budget, LOOK))
        halt->why = halt->budget->why;
    else if (halt->deadline > 0 && dfl_halt_clock() >= halt->deadline)
        halt->why = DFL_STOP_TIME;
    return halt->why != DFL_STOP_NONE;
}
