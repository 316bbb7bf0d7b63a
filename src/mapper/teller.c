#include "mapper/teller.h"

#include <math.h>

#include "mapper/halt.h"

static const double PAUSE = 0.1; /* s */

void dfl_teller_open(dfl_teller *t, dfl_tell *tell, void *context)
{
    t->tell = tell;
    t->context = context;
    t->now = (dfl_telling){ .phase = "", .best = NAN, .bound = NAN };
    atomic_init(&t->evaluated, 0);
    atomic_flag_clear(&t->busy);
    t->next = tell != NULL ? dfl_halt_clock() + PAUSE : 0;
}

void dfl_teller_add(dfl_teller *t, uint64_t evaluated)
{
    double now;

    if (t == NULL || t->tell == NULL)
        return;
    atomic_fetch_add(&t->evaluated, evaluated);
    if (atomic_flag_test_and_set(&t->busy))
        return;
    now = dfl_halt_clock();
    if (now >= t->next) {
        t->next = now + PAUSE;
        t->now.evaluated = atomic_load(&t->evaluated);
        t->tell(t->context, &t->now);
    }
    atomic_flag_clear(&t->busy);
}
