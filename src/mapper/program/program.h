/*
 * Geometric programs: the least value of a sum of monomials under bounds on other such sums.
 *
 * A *monomial* is c * T_1^a_1 * ... * T_n^a_n with c > 0, real powers a and variables T > 0. A *sum* is a sum of monomials. A
 * program has one sum that is to be small, the *objective*, and *limits*: sums that are at most 1. Each variable has a range.
 * With x = ln T, ln (sum) is a convex function of x (log-sum-exp), and every range is an interval of x, a side of a *box*. So a
 * program in x is convex, and its multipliers give lower bounds (plane.h). This file builds programs; interior.h solves them.
 *
 * The largest of several sums is a variable L and limits sum / L <= 1: an objective that grows with L finds L = max (sums).
 * Everything outside of the draft is in logarithms: ranges, points, values, bounds.
 */
#ifndef DFL_MAPPER_PROGRAM_PROGRAM_H
#define DFL_MAPPER_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Capacities of a program: a solver has a matrix of VARS * VARS numbers on its stack. */
enum { DFL_GEOMETRIC_VARS = 40, DFL_GEOMETRIC_SUMS = 96, DFL_GEOMETRIC_TERMS = 256 };

/* A range of each variable: natural logarithms, low <= high. */
typedef struct {
    double low[DFL_GEOMETRIC_VARS], high[DFL_GEOMETRIC_VARS];
} dfl_geometric_box;

/*
 * A finished program. Sum 0 is the objective, the others are the limits: at first those of several monomials, then those of one.
 * Monomial t is exp (offset[t] + sum of power[i] * x[var[i]]) for i from first_power[t] to first_power[t + 1].
 */
typedef struct {
    uint32_t n_vars, n_sums, n_terms;
    uint32_t n_curved;            /* the objective and the limits of several monomials: sums 0 .. n_curved - 1 */
    double *offset;
    const uint32_t *first_power;  /* n_terms + 1 items */
    const uint8_t *var;           /* ascending in each monomial */
    const double *power;          /* none is 0 */
    const uint32_t *first_term;   /* by sum, n_sums + 1 items */
    const uint32_t *first_slope;  /* by sum, n_sums + 1 items: its variables in `slope_var` */
    const uint8_t *slope_var;     /* ascending in each sum */
    dfl_geometric_box range;      /* every box of the program lies in it */
    uint32_t n_knobs;
    const uint16_t *knob_term;    /* by knob: its monomial, or DFL_GEOMETRIC_NO_TERM if its coefficient is 0 */
    const double *knob_offset;    /* by knob: offset for the factor 1 */
    double magnitude;             /* largest |exponent| of a monomial over `range`, added up by absolute values; at least 1 */
    double rounding;              /* relative allowance for rounding (plane.h) */
} dfl_geometric_program;

/* A program being written. The members are private to program.c. */
typedef struct {
    uint32_t n_vars, n_sums, n_terms;
    bool failed;                  /* a capacity was exceeded, or a number was none */
    dfl_geometric_box range;
    uint32_t first_term[DFL_GEOMETRIC_SUMS + 2];
    double coefficient[DFL_GEOMETRIC_TERMS];
    uint32_t n_knobs;
    uint16_t knob[DFL_GEOMETRIC_TERMS];   /* 1 + knob of a monomial, 0 = none */
    double power[DFL_GEOMETRIC_TERMS][DFL_GEOMETRIC_VARS];
} dfl_geometric_draft;

/*
 * Drafts: variables first; then each sum, the objective before the limits: its monomials with their powers, and its end. A sum
 * without monomials is left out; the objective has at least one.
 */
void dfl_geometric_begin(dfl_geometric_draft *d);
/* A new variable and its range: natural logarithms. */
uint32_t dfl_geometric_var(dfl_geometric_draft *d, double low, double high);
/* A new monomial, at first without variables. Its coefficient may be negative if the sum has an equal monomial that is larger;
   0 = none. */
void dfl_geometric_term(dfl_geometric_draft *d, double coefficient);
/* Multiplies the last monomial with a number > 0, and with a power of a variable. */
void dfl_geometric_scale(dfl_geometric_draft *d, double factor);
void dfl_geometric_raise(dfl_geometric_draft *d, uint32_t var, double power);
/* Gives the last monomial a *knob*, which multiplies its coefficient in the finished program; the number of the knob. */
uint32_t dfl_geometric_knob(dfl_geometric_draft *d);
/* Ends a sum. Fails if a coefficient is negative; less than DFL_GEOMETRIC_CANCELLED of what it is the difference of is 0. */
void dfl_geometric_end(dfl_geometric_draft *d);
#define DFL_GEOMETRIC_CANCELLED 1e-12
/* Raises the upper end of the range of a variable until all limits that have it in every monomial, with the power -1, hold there
   for all values of the others. */
void dfl_geometric_enclose(dfl_geometric_draft *d, uint32_t var);
/* The place in the finished program of a sum of the draft: sums of one monomial stand behind the others. */
uint32_t dfl_geometric_place(const dfl_geometric_draft *d, uint32_t sum);
/* The finished program; NULL if a capacity was exceeded, a number was not finite, or exponents leave DFL_EXPONENT_MAX. */
dfl_geometric_program *dfl_geometric_close(dfl_arena *arena, dfl_geometric_draft *d);
/* Sets the factor of a knob, from 0 to 1; at first it is 1. A factor below DFL_GEOMETRIC_LEAST_FACTOR counts as this one. */
void dfl_geometric_turn(dfl_geometric_program *p, uint32_t knob, double factor);
#define DFL_GEOMETRIC_LEAST_FACTOR 0x1p-90
enum { DFL_GEOMETRIC_NO_TERM = 0xffff };

#endif
