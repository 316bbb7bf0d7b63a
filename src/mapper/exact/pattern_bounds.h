/*
 * The least that one pattern of a class costs, each measure (criteria.h) by itself: what every mapping of the einsum with that
 * pattern costs at least. First a short look at some templates, which finds limits, then all of them with growing effort, in
 * rounds: what takes long in one may be needless once others have been looked at, and a little too low is good enough. Where the
 * effort has not come to the end of a template, its own bound counts. To open a template takes long, so that the first round
 * looks at it for all measures at once. Between two rounds a mapping may become known: templates that cannot be part of a
 * better one are left out from then on, and what is found is the least of those that can.
 */
#ifndef DFL_MAPPER_EXACT_PATTERN_BOUNDS_H
#define DFL_MAPPER_EXACT_PATTERN_BOUNDS_H

#include "mapper/exact/einsum_classes.h"
#include "support/progress.h"

enum {
    DFL_LEAST_ROUNDS = 3,
    DFL_LEAST_ENOUGH = 1 << 24,
};

/* One measure: the least of a value. */
typedef struct {
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    bool by_time;
    double limit;                /* of the best so far */
    uint32_t *left, n_left;      /* candidates that looks have not come to the end of */
    uint64_t evaluated;
} dfl_pattern_bound_aim;

/* What is known of a pattern after some rounds. */
typedef struct {
    dfl_einsum_class *class;
    uint32_t pattern;
    uint64_t enough;             /* nodes that are looked at for one measure: behind them the bounds of the templates count */
    dfl_pmapping best;           /* one that shares no loops, and exchanges all in the outermost memory, form NULL = none */
    dfl_pattern_bound_aim aim[DFL_MIXES + 1];
    uint32_t n_aims;
} dfl_pattern_bound;

/* A round of one pattern: its work. */
typedef struct {
    dfl_tile_goal *goal;         /* of the whole search; changed */
    dfl_deadline *halt;              /* what it stops is left as it is */
    dfl_progress_meter *progress;
    const dfl_tile_goal *within; /* only what may be worth this: see dfl_tile_useful; NULL = all */
    dfl_arena *arena, *scratch;  /* what is left afterwards lies in the former */
    uint64_t evaluated, pruned;  /* found */
} dfl_pattern_bound_work;

/* Nothing known: `enough` nodes for each of the measures of `of`. */
dfl_pattern_bound dfl_pattern_bound_start(dfl_einsum_class *class, uint32_t pattern, const dfl_goal *of, bool by_time,
                                          uint64_t enough);
/* Round `round`, from 0 on, which takes up what the last one left. */
void dfl_pattern_bound_round(dfl_pattern_bound *k, uint32_t round, dfl_pattern_bound_work *work);
/* Sets `best` alone, to the first one that there is, whatever the pattern; of one with which nothing else is done. */
void dfl_pattern_bound_any(dfl_pattern_bound *k, dfl_pattern_bound_work *work);
/* Whether another round may find more. */
bool dfl_pattern_bound_open(const dfl_pattern_bound *k);
/* With arrays of its own. */
void dfl_pattern_bound_keep(dfl_arena *arena, dfl_pattern_bound *k);
/* Sets `least` of the pattern to what is known. */
void dfl_pattern_bound_tell(const dfl_pattern_bound *k, const dfl_goal *of);

#endif
