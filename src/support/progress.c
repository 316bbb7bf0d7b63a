#include "support/progress.h"

#include <math.h>

#include "support/deadline.h"
#include "support/limits.h"

void dfl_progress_open(dfl_progress_meter *meter, dfl_progress_show *show, void *context)
{
    meter->show = show;
    meter->context = context;
    meter->now = (dfl_progress_state){ .phase = "", .best = NAN, .bound = NAN };
    atomic_init(&meter->evaluated, 0);
    atomic_flag_clear(&meter->busy);
    meter->next = show != NULL ? dfl_deadline_clock() + DFL_PROGRESS_PAUSE : 0;
}

void dfl_progress_add(dfl_progress_meter *meter, uint64_t evaluated)
{
    double now;

    if (meter == NULL || meter->show == NULL)
        return;
    atomic_fetch_add(&meter->evaluated, evaluated);
    if (atomic_flag_test_and_set(&meter->busy))
        return;
    now = dfl_deadline_clock();
    if (now >= meter->next) {
        meter->next = now + DFL_PROGRESS_PAUSE;
        meter->now.evaluated = atomic_load(&meter->evaluated);
        meter->show(meter->context, &meter->now);
    }
    atomic_flag_clear(&meter->busy);
}
