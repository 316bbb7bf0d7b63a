/* The steps of the check (certify.h), each of which reports what does not hold and returns false then. */
#ifndef DFL_CERTIFY_STEPS_H
#define DFL_CERTIFY_STEPS_H

#include <stdatomic.h>

#include "certify/certify.h"

/* Of an extent, ascending. */
typedef struct {
    int64_t *primes, *divisors;
    uint32_t n_primes, n_divisors;
} dfl_certify_factors;

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
    uint64_t share, odd;       /* choices of tiles to look at for each template; of those with loops that cannot help */
    uint32_t templates, looked, complete; /* all; that were evaluated; all of whose choices were */
    uint64_t evaluated;
    bool stopped;              /* before all templates were */
    atomic_uint_fast64_t done; /* templates so far */
} dfl_certify_run;

/* One template of one einsum: what is to be looked at, and what came of it. */
typedef struct {
    uint32_t class;
    size_t at;                 /* template of the class */
    const dfl_frame *f;
    const dfl_certify_factors *factors; /* by rank of the frame */
    double least_joules, least_seconds; /* of the templates with no other keeps */
    double choices;            /* no more than so many */
    uint64_t evaluated;
    bool complete, wrong;
    dfl_stop why;              /* it was not looked at to the end */
} dfl_certify_unit;

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
/* No choice of tiles that was looked at is below a bound (E0806) or better than the rows (E0807). Templates by pieces on
   several threads, which do not show in what comes out unless it is stopped. */
bool dfl_certify_tiles(dfl_certify_run *run);
/* Of one template; tells what is wrong if there is a sink. From any thread. */
void dfl_certify_unit_check(dfl_certify_run *run, dfl_certify_unit *u, dfl_sink *sink);
/* Ways to cut an extent into `n` factors in order. */
double dfl_certify_cuts(const dfl_certify_factors *of, uint32_t n);
/* So many more choices were evaluated: whether to stop. From any thread. */
dfl_stop dfl_certify_tell(dfl_certify_run *run, uint64_t evaluated);

#endif
