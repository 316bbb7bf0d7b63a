#include "support/budget.h"

#include <time.h>

dfl_budget dfl_budget_fresh(const dfl_budget *session)
{
    if (!session)
        return (dfl_budget){ 0 };
    return (dfl_budget){ .memory_limit = session->memory_limit, .steps_limit = session->steps_limit,
                         .cancel = session->cancel, .work = session->work, .blocks = session->blocks };
}

void dfl_budget_stop(dfl_budget *budget, dfl_stop why)
{
    if (budget && budget->why == DFL_STOP_NONE)
        budget->why = why;
}

double dfl_budget_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double dfl_budget_time(const dfl_budget *budget)
{
    return budget != NULL && budget->work != NULL ? (double)budget->work->units / DFL_WORK_SECOND : dfl_budget_clock();
}

void dfl_budget_work(dfl_budget *budget, uint64_t units)
{
    if (budget != NULL && budget->work != NULL)
        budget->work->units += units;
}

bool dfl_budget_spend(dfl_budget *budget, uint64_t n)
{
    if (budget == NULL || budget->why == DFL_STOP_NONE)
        dfl_budget_work(budget, n);
    return dfl_budget_add_steps(budget, n);
}

bool dfl_budget_add_steps(dfl_budget *budget, uint64_t n)
{
    if (!budget)
        return true;
    if (budget->why != DFL_STOP_NONE)
        return false;
    if (__builtin_add_overflow(budget->steps_used, n, &budget->steps_used))
        budget->steps_used = UINT64_MAX;
    if (budget->steps_limit != 0 && budget->steps_used > budget->steps_limit)
        dfl_budget_stop(budget, DFL_STOP_STEPS);
    else if (budget->cancel && atomic_load_explicit(budget->cancel, memory_order_relaxed))
        dfl_budget_stop(budget, DFL_STOP_CANCELLED);
    else if (budget->deadline > 0 && budget->polls++ % DFL_BUDGET_CALLS_PER_READING == 0 &&
             dfl_budget_time(budget) >= budget->deadline)
        dfl_budget_stop(budget, DFL_STOP_TIME);
    return budget->why == DFL_STOP_NONE;
}

bool dfl_budget_ok(dfl_budget *budget)
{
    return dfl_budget_spend(budget, 1);
}

const char *dfl_stop_text(dfl_stop why)
{
    switch (why) {
    case DFL_STOP_NONE:
        return "not stopped";
    case DFL_STOP_MEMORY:
        return "memory limit reached";
    case DFL_STOP_STEPS:
        return "step limit reached";
    case DFL_STOP_TIME:
        return "time limit reached";
    case DFL_STOP_EVALUATIONS:
        return "limit on evaluations reached";
    case DFL_STOP_CANCELLED:
        return "cancelled";
    case DFL_STOP_GAP:
        return "gap reached";
    case DFL_STOP_WORK:
        return "default limit of work reached";
    }
    return "stopped";
}
