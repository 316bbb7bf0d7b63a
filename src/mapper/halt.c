#include "mapper/halt.h"

#include <time.h>

#include "mapper/tile.h"

enum { LOOK = 128 };

double dfl_halt_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t evaluated(const dfl_halt *halt)
{
    return halt->counted + (halt->rows != NULL ? dfl_rows_evaluated(halt->rows) : 0);
}

void dfl_halt_patiently(dfl_halt *halt, dfl_budget *budget, dfl_stop why)
{
    const bool counted = why == DFL_STOP_STEPS || why == DFL_STOP_EVALUATIONS;

    *budget = (dfl_budget){ .steps_limit = counted ? DFL_HALT_PATIENT : DFL_HALT_BRIEF };
    *halt = (dfl_halt){ .budget = budget };
}

uint64_t dfl_halt_left(const dfl_halt *halt, uint64_t most)
{
    const dfl_budget *b = halt->budget;
    uint64_t left = b == NULL || b->steps_limit == 0 ? most : b->steps_limit > b->steps_used ? b->steps_limit - b->steps_used : 1;

    return left < most ? left : most;
}

void dfl_halt_count(dfl_halt *halt, const struct dfl_rows *rows)
{
    halt->counted = evaluated(halt);
    halt->rows = rows;
}

bool dfl_halted(dfl_halt *halt)
{
    if (halt->why != DFL_STOP_NONE)
        return true;
    if (halt->most > 0 && evaluated(halt) >= halt->most)
        halt->why = DFL_STOP_EVALUATIONS;
    else if (halt->looks++ % LOOK != 0)
        return false;
    else if (!dfl_budget_spend(halt->budget, LOOK))
        halt->why = halt->budget->why;
    else if (halt->deadline > 0 && dfl_halt_clock() >= halt->deadline)
        halt->why = DFL_STOP_TIME;
    return halt->why != DFL_STOP_NONE;
}
