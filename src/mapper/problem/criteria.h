/*
 * What something costs at least, in several measures at once, each a sum over einsums and each a lower bound by itself:
 *     joules             without leakage
 *     seconds            as if transfers above shared loops took no time
 *     mixed              joules + rate * seconds, for each rate of the goal: few einsums are cheapest and fastest in one and
 *                        the same way, so this is more than the sum of the two least
 *     busy               seconds of the ports of the goal, with all transfers: no mapping takes less time than a port
 *
 * The joules J and the seconds S of whole mappings that cost at least this are those with J >= joules, S >= seconds,
 * S >= busy and J + rate * S >= mixed, a polygon that is open upwards. A goal that is a product of powers of sums of J and S has
 * the logarithm of a concave function, so its least value is at a corner of the polygon: the ends of the chain of its lower
 * edges, and where two of them meet. Any other goal takes only J and S for themselves.
 */
#ifndef DFL_MAPPER_PROBLEM_CRITERIA_H
#define DFL_MAPPER_PROBLEM_CRITERIA_H

#include "mapper/problem/objective.h"

enum {
    DFL_MIXES = 2,
    DFL_PORTS = 2,
    DFL_COST_JOULES = 0,
    DFL_COST_SECONDS = 1,
    DFL_COST_MIXED = 2,
    DFL_COST_BUSY = DFL_COST_MIXED + DFL_MIXES,
    DFL_COSTS = DFL_COST_BUSY + DFL_PORTS,
};

typedef struct { double at[DFL_COSTS]; } dfl_criteria;

/* How costs are valued. */
typedef struct {
    double (*value)(const void *objective, double joules, double seconds); /* joules with leakage; nondecreasing */
    const void *objective;
    bool product;             /* `value` is joules * seconds, and need not be called */
    double leakage;           /* W of the whole system */
    uint32_t n_mixes;
    double rate[DFL_MIXES];   /* W, the larger first, two of them differ */
    double per_rate[DFL_MIXES], per_step[DFL_MIXES]; /* 1 / rate, and 1 / (rate - the next one) */
} dfl_goal;

/* Values for `value`: one of the two alone, and joules + rate * seconds, of the rate that is the objective. */
double dfl_value_joules(const void *objective, double joules, double seconds);
double dfl_value_seconds(const void *objective, double joules, double seconds);
double dfl_value_mixed(const void *rate, double joules, double seconds);

/* Values that differ by less than so many times are equal. */
#define DFL_VALUE_EQUAL (1 + 1e-12)

/* Nothing there, and nothing known to be possible. */
dfl_criteria dfl_criteria_zero(void);
dfl_criteria dfl_criteria_none(void);
/* `rest` and something of which only joules and seconds are known to be this much at least. */
dfl_criteria dfl_criteria_with(const dfl_goal *goal, const dfl_criteria *rest, double joules, double seconds);
void dfl_criteria_add(dfl_criteria *to, const dfl_criteria *more);
/* The less of both, measure by measure. */
void dfl_criteria_lower(dfl_criteria *to, const dfl_criteria *other);
/* Sets the rates, the first one first, each a part of the one before. */
void dfl_goal_rates(dfl_goal *goal, double first, double part);
/* The least value of what costs at least this. */
double dfl_goal_least(const dfl_goal *goal, const dfl_criteria *c);
/* Whether that is at most `limit`; and the same of dfl_criteria_with of `rest`, joules and seconds. */
bool dfl_goal_within(const dfl_goal *goal, const dfl_criteria *c, double limit);
bool dfl_goal_worth(const dfl_goal *goal, const dfl_criteria *rest, double joules, double seconds, double limit);

#endif
