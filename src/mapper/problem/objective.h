/*
 * The objective of a search: a list of expressions (terms) over figures of the report, minimized in lexicographic order.
 * Without `minimize` the objective is energy * latency, or the latency on a system that declares no energy.
 *
 * Every term must be nondecreasing in its figures, so that lower bounds of the figures give a lower bound of the term. The
 * form of a term decides this. Allowed are sums, products of nonnegative operands, max, min, floor, ceil, roots, powers,
 * constant summands, and positive factors and divisors. This file computes `native` terms, those over the energy and the
 * latency of the mapping alone. A function of the caller looks up other figures in a result.
 */
#ifndef DFL_MAPPER_PROBLEM_OBJECTIVE_H
#define DFL_MAPPER_PROBLEM_OBJECTIVE_H

#include "diag/diag.h"
#include "ir/program.h"
#include "ir/result.h"

/* The value of an expression over the figures of a result, in SI units; false after reporting. */
typedef bool dfl_figure_of(void *context, const dfl_result *result, const dfl_val *expr, double *out);
/* Whether a result meets the requirement with index `requirement` of the mapping; reports nothing. */
typedef bool dfl_meets(void *context, uint32_t requirement, const dfl_result *result);

typedef struct {
    const dfl_intern *names;
    dfl_sym mapping;            /* mapping whose name may precede `energy` and `latency` in a path */
    const dfl_val *const *terms;
    uint32_t n_terms;           /* number of terms; 0 = energy * latency, or latency if `free` */
    bool free;                  /* the system declares no energy */
    bool is_line;               /* without terms: the value is per_joule * energy + per_second * latency */
    double per_joule, per_second;
    bool native;                /* every term is over energy and latency alone */
    const dfl_val *other;       /* first figure of a term that is neither energy nor latency; NULL if `native` */
    uint32_t room;              /* every term is over energy and latency or is `peak` of this one memory; DFL_NONE = other
                                   objectives */
    dfl_figure_of *figure;      /* looks up a term in a result; may be NULL if `native` */
    dfl_meets *meets;           /* checks a requirement on a result; may be NULL if there are no requirements */
    const dfl_span *required;   /* spans of the requirements */
    const struct dfl_required *asked; /* the requirements as a search reads them, `n_required` */
    uint32_t n_required;
    const struct dfl_required_room *rooms; /* required room of each memory of the system; NULL = no memory has one */
    void *context;
    const char *text;           /* text of the objective as the file has it: "energy * latency" */
} dfl_objective;

enum { DFL_OBJECTIVE_TERMS = 64 };

/* Reads the objective of a mapping, at most DFL_OBJECTIVE_TERMS terms. The caller sets `figure`, `meets` and the
   requirements. False after reporting E0617. */
bool dfl_objective_make(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping, dfl_objective *out);
/* An objective with the requirements of `base` and the value per_joule * energy + per_second * latency. */
dfl_objective dfl_objective_line(const dfl_objective *base, double per_joule, double per_second);
/* Whether the first term of a `native` objective is energy * latency. */
bool dfl_objective_is_product(const dfl_objective *objective);
/* Whether the logarithm of the first term of a `native` objective is concave, so that the minimum over a convex set lies at
   a corner. This holds for products and positive powers of linear functions with nonnegative constants. */
bool dfl_objective_cornered(const dfl_objective *objective);
/* Number of terms, at least 1: a default objective has one term. */
uint32_t dfl_objective_count(const dfl_objective *objective);
/* The first term of a `native` objective; nondecreasing in joules and seconds. */
double dfl_objective_value(const dfl_objective *objective, double joules, double seconds);
/* The memory whose peak an expression is, as `peak(sram)` or `best.peak(sram)`; DFL_NONE for other expressions. */
uint32_t dfl_objective_memory(const dfl_objective *objective, const dfl_system *s, const dfl_val *v);
/* Whether term `i` is the peak of a memory. */
bool dfl_objective_is_room(const dfl_objective *objective, uint32_t i);
/* Term `i` of a `native` objective; 0 for the peak of a memory. */
double dfl_objective_term(const dfl_objective *objective, uint32_t i, double joules, double seconds);
/* The derivatives of term `i` of a `native` objective. `max` and `min` have the derivatives of the argument that they select. */
void dfl_objective_slopes(const dfl_objective *objective, uint32_t i, double joules, double seconds, double *per_joule,
                          double *per_second);
/* Computes the values of all dfl_objective_count terms for a result; false after reporting. */
bool dfl_objective_terms(const dfl_objective *objective, const dfl_result *result, double *out);
/* Whether a result meets all requirements except the waived ones. `waived` has one item per requirement; NULL = none is
   waived. */
bool dfl_objective_met(const dfl_objective *objective, const dfl_result *result, const bool *waived);
/* Whether terms `a` are lexicographically less than terms `b`. */
bool dfl_objective_less(const dfl_objective *objective, const double *a, const double *b);
/* `value * times` for times >= 1. A negative value increases, too: `value + |value| * (times - 1)`. For comparisons up to
   rounding: `a <= dfl_value_times(b, 1 + 1e-9)`. */
double dfl_value_times(double value, double times);
/* Reports E0690 at `span` if a mapping has a value below a lower bound of all mappings, but for rounding. NAN and -INFINITY
   bound nothing. Returns whether the bound holds. */
bool dfl_objective_check_bound(dfl_sink *sink, dfl_span span, double value, double lower_bound);

#endif
