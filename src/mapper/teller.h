/*
 * Telling how far a search is. Threads add what they have looked at, and at most ten times a second one of them calls the
 * function of the caller, never two at the same time, the first time a tenth of a second after the start. Nothing of what is
 * found depends on it.
 */
#ifndef DFL_MAPPER_TELLER_H
#define DFL_MAPPER_TELLER_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct {
    const char *phase;        /* static text, lower case */
    uint64_t evaluated;
    double best, bound;       /* values of the objective: found, and not to be beaten; NAN = not known yet */
} dfl_telling;

typedef void dfl_tell(void *context, const dfl_telling *now);

typedef struct {
    dfl_tell *tell;           /* NULL = nobody listens */
    void *context;
    dfl_telling now;          /* changed only while no thread adds */
    atomic_uint_fast64_t evaluated;
    atomic_flag busy;
    double next;              /* of dfl_halt_clock; by the one that is busy */
} dfl_teller;

void dfl_teller_open(dfl_teller *teller, dfl_tell *tell, void *context);
/* From any thread; `teller` may be NULL. */
void dfl_teller_add(dfl_teller *teller, uint64_t evaluated);

#endif
