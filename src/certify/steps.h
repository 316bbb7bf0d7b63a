/* The steps of the check (certify.h), each of which reports what does not hold and returns false then. */
#ifndef DFL_CERTIFY_STEPS_H
#define DFL_CERTIFY_STEPS_H

#include "certify/certify.h"

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_certify_task *task;
    const dfl_claim_search *s;
    double leakage;            /* W of the whole system */
    bool by_time;              /* whether time counts */
    double *free_bits;         /* by memory: what inputs and outputs of the workload leave, INFINITY = unlimited */
    /* by class, then pattern: the least energy and time of all other einsums */
    double **others_joules, **others_seconds;
    uint32_t templates, complete; /* that were evaluated; all of whose choices were */
    uint64_t evaluated;
} dfl_certify_run;

/* Times that a home takes the room of its tile: what is fetched may have a second buffer. */
double dfl_certify_buffers(const dfl_certify_run *run, const dfl_frame *f, uint32_t operand, uint32_t place);
/* J to fetch the operand into a memory, for one that may be common; 0 if that is its home. */
double dfl_certify_fetch(const dfl_certify_run *run, const dfl_frame *f, uint32_t operand, uint32_t memory);
/* The value when so many joules without leakage and seconds are spent. */
double dfl_certify_value(const dfl_certify_run *run, double joules, double seconds);
/* Whether two values are one but for rounding. */
bool dfl_certify_same(const dfl_certify_run *run, double a, double b);

/* The templates of every class are those that the space has: E0804. */
bool dfl_certify_templates(dfl_certify_run *run);
/* What all einsums cost at least, by their patterns, is no less than what is claimed: E0805. Finds what the others need. */
bool dfl_certify_least(dfl_certify_run *run);
/* The best way to put rows together has the value that is claimed, no less than the lower bound: E0805. */
bool dfl_certify_join(dfl_certify_run *run);
/* No choice of tiles that was looked at is below a bound (E0806) or better than the rows (E0807). */
bool dfl_certify_tiles(dfl_certify_run *run);

#endif
