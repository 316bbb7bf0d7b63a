/*
 * The geometric program of a form and one box per rank (lemma B22): its bound holds for all amounts in the boxes.
 *
 * The variables are the full lengths of pieces below each cut, and the latency. Counts lose their roundings upwards: an axis or a
 * loop has (length above) / (length below) parts or tiles, so every product of figures is a monomial. Boxes bound the objective
 * well where lengths are known to a factor; the program is as good where only products of lengths are limited, as by the room
 * of a memory.
 */
#ifndef DFL_MAPPER_TILING_FORM_PROGRAM_H
#define DFL_MAPPER_TILING_FORM_PROGRAM_H

#include "mapper/problem/objective.h"
#include "mapper/program/interior.h"
#include "mapper/tiling/box.h"
#include "mapper/tiling/ramp.h"

/* The first tiles that count in the times of an einsum, of keeps that the home of an input fills (B60). */
typedef struct {
    uint32_t operands;        /* mask: inputs of which all such keeps count */
    uint32_t served;          /* mask: inputs of which only such keeps for several einsums count */
    uint32_t memory;          /* the home; inputs with another home do not count; DFL_NONE = none count */
    const bool *is_filled;    /* by memory of the system: some keep may fill it, so first tiles of its keeps do not count */
    bool has_streams;         /* some memory is a stream: first tiles do not add to the work and what it waits for at a port */
} dfl_form_firsts;

/* An objective that programs can have: factor * energy^joules * latency^seconds. In a line of both, time is leakage. */
typedef struct {
    double factor, joules, seconds;
    double leakage;           /* W, part of the energy */
    bool is_whole;            /* short pieces do not stay: no bound of mappings in which they do */
    bool has_splits;          /* the parts of a mapping may be points of several forms (B41); else all have one form */
    /* NULL, or by time (dfl_form_program): the latency is a mean with these weights of the times that it is the largest of */
    const double *weights;
    bool has_visits;          /* of a line of energy and time: results that are read back take time (B70) */
    bool has_others;          /* tiles of other einsums may take room: dfl_form_program_take */
    uint32_t limited;         /* mask: keeps of one place whose room dfl_form_program_limit_keeps may limit */
    bool has_parts;           /* numbers of parts are variables of their own (B63) */
    bool has_lengths;         /* with `has_parts`: full tiles and steps by parts are, too (B58) */
    uint32_t mixed;           /* with `has_lengths`: 1 + the rank whose pieces count by a least number (B58, d); 0 = none */
    const dfl_form_firsts *firsts; /* first tiles that the times hold; NULL = none. Not with `ramp` */
    const dfl_ramp *ramp;     /* of the form; NULL = nothing before the first step and after the last one counts */
} dfl_form_goal;

/* Times that a latency is the largest of: work alone, and by port all its transfers, or the work and what waits for them. */
enum { DFL_FORM_TIME_WORK = 4 * DFL_PROBLEM_PLACES, DFL_FORM_TIMES };

/* A count of which a part may stay. In one sum, `knob` (program.h) is the knob of its own monomial; the next knobs are those of
   its hoisted counts, in order. */
typedef struct {
    uint16_t count, knob;
} dfl_form_share;

/* The variable of the elements that a rank has on coordinate 0 of its axes over all iterations (w in B58, c). */
typedef struct {
    uint32_t rank;
    uint32_t axes;            /* mask: those on which the rank stands */
    uint32_t var;
} dfl_form_end;

typedef struct {
    const dfl_form *form;
    bool is_whole;                                /* of the goal */
    dfl_geometric_program *program;
    uint32_t var[DFL_PROBLEM_RANKS][DFL_CHAIN_CUTS]; /* length below a cut; DFL_FORM_NO_VAR = 1 */
    /* by cut on an axis: the length above over the number of parts; that is `var`, but for a loose axis (B61) */
    uint32_t spread[DFL_PROBLEM_RANKS][DFL_CHAIN_CUTS];
    uint32_t loose[DFL_PROBLEM_RANKS];            /* mask of cuts: those on loose axes */
    /* by cut on an axis: knob of its parts, or with `has_parts` the variable of their number */
    uint32_t parts[DFL_PROBLEM_RANKS][DFL_CHAIN_CUTS];
    bool has_parts, has_lengths;                  /* of the goal */
    uint32_t whole[DFL_PROBLEM_RANKS][DFL_CHAIN_CUTS]; /* with `has_lengths`: full tile below a cut, t_i or u_i (B58) */
    uint32_t n_ends;                              /* with `has_lengths`: ranks on axes */
    dfl_form_end end[DFL_PROBLEM_RANKS];
    uint32_t mixed, n_mixes;                      /* of the goal; number of monomials with few pieces */
    struct { uint16_t cut, knob; } mix[DFL_GEOMETRIC_TERMS]; /* the cut of these pieces, the knob of their least number */
    uint32_t others[DFL_PROBLEM_PLACES];          /* knob of what others take of a place; DFL_FORM_NO_VAR = none */
    uint32_t limited;                             /* knob of what `limited` keeps may not take; DFL_FORM_NO_VAR = none */
    uint32_t latency;                             /* variable; with `has_visits` it is more than the latency by `visits` */
    double visits;                                /* time of first visits, s; 0 without `has_visits` */
    uint32_t n_times, time_sum[DFL_FORM_TIMES];   /* sums of the program that limit the latency, without weights; */
    uint8_t time[DFL_FORM_TIMES];                 /* the time of each: 2 * port + (1 with the work), or DFL_FORM_TIME_WORK */
    uint32_t n_shares;
    dfl_form_share share[DFL_GEOMETRIC_TERMS];    /* by count */
} dfl_form_program;

#define DFL_FORM_NO_VAR UINT32_MAX
/* Shares of B58, for goals with `has_lengths`: h, the share of the work that counts by numbers of parts, and g, the share of the
   pieces of the rank `mixed` that counts by their least number. Each share from 0 to 1 gives a bound; these were good ones. */
#define DFL_FORM_WHOLE_STEPS 0.95
#define DFL_FORM_WHOLE_PIECES 0.5

/* Reads the first term of an objective. False for other objectives. */
bool dfl_form_goal_make(const dfl_objective *objective, double leakage, dfl_form_goal *out);
/* The program of a form; `roots` are the boxes of all amounts, all possible. NULL if it has too many variables or monomials. */
dfl_form_program *dfl_form_program_make(dfl_arena *arena, dfl_geometric_draft *draft, const dfl_form *form, dfl_box *const *roots,
                                        const dfl_form_goal *goal);
/* Fits the program to boxes that are possible: sets its knobs, and `range` to its box. */
void dfl_form_program_fit(dfl_form_program *program, dfl_box *const *boxes, dfl_geometric_box *range);
/* Sets `range` as dfl_form_program_fit does, but no knobs: in it, a plane that was found for larger boxes gives a bound. */
void dfl_form_program_range(const dfl_form_program *program, dfl_box *const *boxes, dfl_geometric_box *range);
/* Limits the parts of a rank at its cut on an axis to at most `parts`. Does nothing for a goal with `has_parts`. */
void dfl_form_program_limit(dfl_form_program *program, uint32_t rank, uint32_t cut, int64_t parts);
/* For a goal with `has_lengths`: narrows `range` to full tiles of `low` to `high` elements below a cut. False if none is left. */
bool dfl_form_program_tile(const dfl_form_program *program, uint32_t rank, uint32_t cut, int64_t low, int64_t high,
                           dfl_geometric_box *range);
/* For a goal with `mixed`: sets the least number of pieces, 1 or 2, of this rank down to a cut. */
void dfl_form_program_mix(dfl_form_program *program, uint32_t cut, uint32_t least);
/* For a goal with `has_parts`: sets `range` to numbers of parts of a rank from `low` to `high` [axis]. */
void dfl_form_program_parts(const dfl_form_program *program, uint32_t rank, const int64_t *low, const int64_t *high,
                            dfl_geometric_box *range);
/* Sets the share of a place, from 0 to 1, that tiles of other einsums take, for a goal with `has_others`. */
void dfl_form_program_take(dfl_form_program *program, uint32_t place, double share);
/* Leaves the keeps `limited` of the goal a share, from 0 to 1, of their place. */
void dfl_form_program_limit_keeps(dfl_form_program *program, double share);
/* Narrows `range` to lengths below a cut of a rank from `low` to `high`; cut -1: the extent. False if nothing is left. */
bool dfl_form_program_narrow(const dfl_form_program *program, uint32_t rank, int cut, int64_t low, int64_t high,
                             dfl_geometric_box *range);
/* The logarithm of the length below a cut of a rank at a point of the program; cut -1: of the extent. */
double dfl_form_program_length(const dfl_form_program *program, uint32_t rank, int cut, const double *x);
/* The logarithm of the number of parts at a cut on an axis, at a point of the program. */
double dfl_form_program_spread(const dfl_form_program *program, uint32_t rank, uint32_t cut, const double *x);
/* Lower bound of the objective from a bound of a program, rounded downwards; and the bound that a program must exceed for a lower
   bound of the objective above `value`. */
double dfl_form_goal_bound(const dfl_form_goal *goal, double bound);
double dfl_form_goal_cutoff(const dfl_form_goal *goal, double value);
/* The same for a goal that may be one with `has_visits`: the line without the time of first visits. */
double dfl_form_program_bound(const dfl_form_program *program, const dfl_form_goal *goal, double bound);
double dfl_form_program_cutoff(const dfl_form_program *program, const dfl_form_goal *goal, double value);

#endif
