#include "support/deadline.h"
#include "support/limits.h"

double dfl_deadline_clock(void)
{
    return dfl_budget_clock();
}

/* Sums the evaluations of all stages so far. */
static uint64_t count_evaluations(const dfl_deadline *deadline)
{
    return deadline->counted + (deadline->counter != NULL ? *deadline->counter : 0);
}

void dfl_deadline_grace(dfl_deadline *deadline, dfl_budget *budget, dfl_stop why, double at, const dfl_budget *session)
{
    const bool counted = why == DFL_STOP_STEPS || why == DFL_STOP_EVALUATIONS;

    *budget = (dfl_budget){ .steps_limit = counted ? DFL_GRACE_COUNTED : DFL_GRACE_TIMED };
    if (session != NULL && why != DFL_STOP_CANCELLED)
        budget->cancel = session->cancel;
    if (session != NULL && why != DFL_STOP_CANCELLED) /* a signal asks for an end by the clock */
        budget->work = session->work;
    *deadline = (dfl_deadline){ .budget = budget };
    if (why != DFL_STOP_TIME && why != DFL_STOP_CANCELLED) {
        deadline->at = at;
        return;
    }
    deadline->at = dfl_budget_time(budget) + DFL_GRACE_LEAST_SECONDS;
    if (at > 0 && why == DFL_STOP_TIME && at + DFL_GRACE_SECONDS > deadline->at)
        deadline->at = at + DFL_GRACE_SECONDS;
}

uint64_t dfl_deadline_left(const dfl_deadline *deadline, uint64_t most)
{
    const dfl_budget *b = deadline->budget;
    uint64_t left = b == NULL || b->steps_limit == 0 ? most : b->steps_limit > b->steps_used ? b->steps_limit - b->steps_used : 1;

    return left < most ? left : most;
}

void dfl_deadline_count(dfl_deadline *deadline, const uint64_t *counter)
{
    deadline->counted = count_evaluations(deadline);
    deadline->counter = counter;
}

bool dfl_deadline_passed(dfl_deadline *deadline)
{
    if (deadline->why != DFL_STOP_NONE)
        return true;
    if (deadline->most_evaluations > 0 && count_evaluations(deadline) >= deadline->most_evaluations)
        deadline->why = DFL_STOP_EVALUATIONS;
    else if (deadline->polls++ % DFL_POLLS_PER_READING != 0)
        return false;
    else if (!dfl_budget_spend(deadline->budget, DFL_POLLS_PER_READING))
        deadline->why = deadline->budget->why;
    else if (deadline->at > 0 && dfl_budget_time(deadline->budget) >= deadline->at)
        deadline->why = DFL_STOP_TIME;
    return deadline->why != DFL_STOP_NONE;
}
