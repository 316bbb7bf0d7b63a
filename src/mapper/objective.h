/*
 * What a search makes small: a list of expressions over the figures of the report, compared in lexicographic order, the
 * first one first. Without `minimize` it is energy * latency, or the latency on a system that declares no energy.
 *
 * Every term must grow with its figures, or stay: then a bound of the figures from below is one of the term. That is
 * decided by its form: sums, products of what is never negative, max, min, floor, ceil, roots and powers, constants as
 * summands, and factors and divisors above zero. Terms over nothing but the energy and the latency of the mapping are
 * computed here, from two numbers (`native`); other figures are looked up in a result by a function of the caller.
 */
#ifndef DFL_MAPPER_OBJECTIVE_H
#define DFL_MAPPER_OBJECTIVE_H

#include "diag/diag.h"
#include "ir/program.h"
#include "ir/result.h"

/* The value of an expression over the figures of a result, in SI units; false after reporting. */
typedef bool dfl_figure_of(void *context, const dfl_result *result, const dfl_val *expr, double *out);
/* Whether a result meets one of the things that the file requires of the mapping; nothing is reported. */
typedef bool dfl_meets(void *context, uint32_t requirement, const dfl_result *result);

typedef struct {
    const dfl_intern *names;
    dfl_sym mapping;            /* whose name may stand before `energy` and `latency` */
    const dfl_val *const *terms;
    uint32_t n_terms;           /* 0 = energy * latency, or latency */
    bool free;                  /* the system declares no energy */
    bool native;                /* every term is over energy and latency alone, ... */
    const dfl_val *other;       /* ... or this is the first figure that is another; NULL */
    uint32_t room;              /* every term is that, or `peak` of this memory, which some are; else DFL_NONE */
    dfl_figure_of *figure;      /* may be NULL when `native` */
    dfl_meets *meets;           /* may be NULL when nothing is required */
    const dfl_span *required;   /* where it stands */
    uint32_t n_required;
    const struct dfl_required_room *rooms; /* of each memory of the system that is searched (required.h), NULL = none */
    void *context;
    const char *text;           /* "energy * latency", as it was written */
} dfl_objective;

enum { DFL_OBJECTIVE_TERMS = 64 };

/* The objective of a mapping, of at most so many terms, without the functions of the caller. False after reporting E0617. */
bool dfl_objective_make(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping, dfl_objective *out);
/* Whether the first term of a `native` objective is energy * latency. */
bool dfl_objective_is_product(const dfl_objective *objective);
/* Whether the logarithm of the first term of a `native` objective is concave, so that its least value over a convex set is at a
   corner: products and positive powers of what is linear with no constant below zero. It grows with energy and latency. */
bool dfl_objective_cornered(const dfl_objective *objective);
/* At least 1. */
uint32_t dfl_objective_count(const dfl_objective *objective);
/* The first term of a `native` objective; nondecreasing in both. */
double dfl_objective_value(const dfl_objective *objective, double joules, double seconds);
/* The memory of which an expression is the peak, `peak(sram)` or `best.peak(sram)`; or DFL_NONE. */
uint32_t dfl_objective_memory(const dfl_objective *objective, const dfl_system *s, const dfl_val *v);
/* Whether term `i` is the peak of a memory. */
bool dfl_objective_is_room(const dfl_objective *objective, uint32_t i);
/* Term `i` of a `native` objective; 0 for the peak of a memory. */
double dfl_objective_term(const dfl_objective *objective, uint32_t i, double joules, double seconds);
/* The derivatives of term `i` of a `native` objective; of `max` and `min` those of what they choose. */
void dfl_objective_slopes(const dfl_objective *objective, uint32_t i, double joules, double seconds, double *per_joule,
                          double *per_second);
/* All terms of a result, dfl_objective_count of them; false after reporting. */
bool dfl_objective_terms(const dfl_objective *objective, const dfl_result *result, double *out);
/* Whether a result meets what is required, but for what is `waived` (by number; NULL = nothing). */
bool dfl_objective_met(const dfl_objective *objective, const dfl_result *result, const bool *waived);
/* Whether terms `a` go before terms `b`. */
bool dfl_objective_less(const dfl_objective *objective, const double *a, const double *b);
/* `value * times` for times >= 1. A value below zero is raised by as much: `value + |value| * (times - 1)`. Used to compare
   values up to rounding, `a <= dfl_value_times(b, 1 + 1e-9)`. */
double dfl_value_times(double value, double times);

#endif
