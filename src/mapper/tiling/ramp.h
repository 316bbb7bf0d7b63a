/*
 * The time that a mapping takes besides its work before the first step and after the last one: launch, latencies, first tiles
 * and last results (MODEL.md, sections 4.4 and 4.6). Lemmas B6 to B9 and B14 of SEARCH.md: these are lower bounds for every
 * mapping whose relaxed cost a form has, also for those with loops and keeps that move nothing.
 */
#ifndef DFL_MAPPER_TILING_RAMP_H
#define DFL_MAPPER_TILING_RAMP_H

#include "mapper/tiling/box.h"

/* The way of one operand from its home to the unit. */
typedef struct {
    double latencies;         /* s: of all memories and links on the way */
    double of_levels;         /* s, a part of `latencies`: without the innermost memory and its links to the unit */
    bool is_outer;            /* first tiles that are fetched ahead come before those for which the work waits later (B15) */
    uint32_t n;               /* number of keeps on the way */
    struct {
        uint16_t tile;        /* index of the product of the form that is the elements of the first tile in one instance */
        bool is_ahead;        /* the work does not wait for later tiles */
        double seconds;       /* s per element, at the slower of the two ports of the keep */
    } first[DFL_PROBLEM_PLACES]; /* by keep, from outer to inner */
} dfl_ramp_way;

typedef struct {
    bool serves;              /* B17 applies */
    bool has_levels;          /* no keep may stand in a stream: B19 applies */
    uint32_t ahead;           /* place: B24 applies to its keeps; DFL_NONE = to none */
    double launch;            /* s, on top of all other time */
    double latencies;         /* s: longest way of an input plus way of the result, on top of the work and its waits (B6) */
    double serial;            /* s: latencies on top of all that one port is busy with (B8); 0 where B8 does not apply */
    double last_latencies;    /* s: of the way of the result */
    double last;              /* s: the same plus the time of one element of it over each of its keeps */
    /* keeps of the result: the last tile leaves each (B7, B19) */
    uint32_t n_lasts;
    struct {
        uint8_t keep;
        double seconds;       /* s per element, at the slower of the two ports */
        /* s per element of one instance by port, if the work waits for the tiles that leave: outside, for all instances, with
           the old values that their parts are added to */
        struct { uint8_t port; double seconds; } waits[3];
    } last_of[DFL_PROBLEM_PLACES];
    /* first tiles of inputs for which the work does not wait later, by keep and port (B14) */
    uint32_t n_firsts;
    struct {
        uint16_t tile;        /* as above */
        uint8_t port;
        double seconds;       /* s per element at the port */
    } first[2 * DFL_TEMPLATE_KEEPS];
    uint32_t n;               /* number of ways */
    dfl_ramp_way way[DFL_PROBLEM_OPERANDS]; /* of the inputs */
    /* masks: ports at which the work waits for the result and for no input; and for inputs, not for the result; 0 = none */
    uint32_t result_ports, input_ports;
    uint32_t result;          /* the only keep of the result that the work waits for; valid if neither mask is 0 */
} dfl_ramp;

/* The ramp of a form. `mapping`: the one that is searched. */
dfl_ramp *dfl_ramp_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_form *form);
/* Sets the s in which the last tile leaves each keep of the result, at least: `lasts`, as in `last_of`. */
void dfl_ramp_find_lasts(const dfl_ramp *ramp, const dfl_form *form, dfl_box *const *boxes, double *lasts);
/* Of these, the s that come on top of what the work waits for at a port (lemma B19). */
double dfl_ramp_lasts_beside(const dfl_ramp *ramp, const double *lasts, uint32_t port);
/* Lower bound, in s, of the time in which the first tiles of one input enter, which come on top of what the work waits for of the
   result (lemma B19). */
double dfl_ramp_firsts(const dfl_ramp *ramp, const double *value);
/* Lower bound, in s, of the time before the first step of the work and after its last one, without the launch (B6, B7).
   `value`: values of the products of the form. */
double dfl_ramp_ends(const dfl_ramp *ramp, const double *value, const double *lasts);
/* Lower bound, in s, of the first tiles of one input for which the work does not wait later (lemma B15); 0 where B15 does not
   apply. */
double dfl_ramp_ahead(const dfl_ramp *ramp, const double *value);
/* Adds to the s that the work waits for each port those of first tiles at the port (lemma B14). */
void dfl_ramp_add_firsts(const dfl_ramp *ramp, const double *value, double *waits);
/* Lower bound, in s, of the time that the work waits for two ports that take turns (lemma B9); 0 if there are no such ports.
   `waits`: by port, the s that the work waits for it (B2). */
double dfl_ramp_turns(const dfl_ramp *ramp, const dfl_form *form, dfl_box *const *boxes, const double *value,
                      const double *waits);
/* Whether the time of a mapping follows from the numbers of elements that it moves, whatever its loops and keeps (rule D3). */
bool dfl_ramp_time_is_counted(const dfl_mapping *mapping, const dfl_problem *problem);

#endif
