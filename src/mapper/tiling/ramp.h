/*
 * The time that a mapping takes besides its work before the first step and after the last one: launch, latencies, first tiles
 * and last results (MODEL.md, sections 4.4 and 4.6). Lemmas B6 to B9 of SEARCH.md: these are lower bounds for every mapping
 * whose relaxed cost a form has, also for those with loops and keeps that move nothing.
 */
#ifndef DFL_MAPPER_TILING_RAMP_H
#define DFL_MAPPER_TILING_RAMP_H

#include "mapper/tiling/box.h"

/* The way of one operand from its home to the unit. */
typedef struct {
    double latencies;         /* s; of these */
    double of_levels;         /* those of its keeps, without that of the first operand */
    uint32_t n;
    struct {
        uint16_t tile;        /* product: elements of the first tile in one instance */
        double seconds;       /* per element */
    } first[DFL_PROBLEM_PLACES]; /* its keeps */
} dfl_ramp_way;

typedef struct {
    double launch;            /* s, besides all other time */
    double latencies;         /* s, besides the work and what it waits for: of the longest way of an input, and of the result */
    double serial;            /* s, of these besides all that a port is busy with (lemma B8) */
    double last;              /* s: latencies of the result, and one element of it over each of its keeps */
    uint32_t n;
    dfl_ramp_way way[DFL_PROBLEM_OPERANDS]; /* of the inputs */
    uint32_t result_ports, input_ports; /* masks of ports where the work waits for the result alone, for inputs alone; 0 = none */
    uint32_t result;          /* the one keep of the result that the work waits for, if these are not 0 */
} dfl_ramp;

/* The ramp of a form. `mapping`: the one that is searched. */
dfl_ramp *dfl_ramp_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_form *form);
/* Time besides the work before its first step and after its last one, at least, without the launch. `value`: by product. */
double dfl_ramp_ends(const dfl_ramp *ramp, const double *value);
/* What the work waits for at two ports that take turns, at least (lemma B9); `waits`: seconds by port. */
double dfl_ramp_turns(const dfl_ramp *ramp, const dfl_form *form, dfl_box *const *boxes, const double *value,
                      const double *waits);
/* Whether the time of a mapping follows from the numbers of elements that it moves, whatever its loops and keeps (rule D3). */
bool dfl_ramp_time_is_counted(const dfl_mapping *mapping, const dfl_problem *problem);

#endif
