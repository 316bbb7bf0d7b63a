/*
 * The loop nests of a mapping: for each einsum its steps, and all data that the model derives from the lines alone,
 * before the sizes of tiles are known. Every function of the model takes a nest. The nest also holds the arena of the
 * present run, the sink of diagnostics, and the lists of all footprints and rank chains in use.
 */
#ifndef DFL_MODEL_SETS_NEST_H
#define DFL_MODEL_SETS_NEST_H

#include "model/sets/step_numbers.h"
#include "model/sets/interval_set.h"
#include "support/limits.h"
#include "model/sets/loop_sizes.h"

/* Demand: the indices of one dimension that a restricted producer computes in each iteration of the loops above a
   branch (MODEL.md, rule 11). Demands of inner branches point to those of outer ones. */
typedef struct dfl_demand {
    bool is_restricted;              /* the consumers decide which indices each iteration computes; if false, only the loops of
                                        the rank itself cut it, and the other members are unused */
    bool has_gaps;                   /* demanded indices are sets (find_demand_set); if false, they are intervals
                                        that follow one another in ascending order */
    const uint32_t *consumers;
    uint32_t n_consumers;            /* number of consumers below the branch */
    uint32_t end;                    /* number of steps above the branch */
    uint32_t *lines;                 /* temporal steps < `end` that decide which indices the consumers read, those of outer
                                        branches included, ascending */
    uint32_t n_lines;
    uint32_t *driver;                /* [position in `lines`]: an einsum with a rank that the step iterates */
    uint64_t stepping;               /* bit set: the steps in `lines` in whose earlier iterations a demanded index may have been
                                        computed */
    uint32_t from;                   /* first step that does not repeat work: when an earlier step advances, all indices are
                                        computed again (`recompute`) */
    struct dfl_demand *outer;        /* demand at the next outer branch with further consumers; NULL without such a branch */
    struct dfl_demand_entry **known; /* hash table of demanded sets of the present run (rank_piece.c) */
    uint32_t run;                    /* serial number of the run that filled `known` */
} dfl_demand;

/* Loop nests of all einsums of one mapping. Arrays are indexed by einsum id unless stated otherwise. */
typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *input_paths;     /* paths as the caller gave them; they must live as long as the nest */
    const dfl_step_numbers *numbers;
    const dfl_paths *paths;           /* the same paths, with steps numbered by `numbers` */
    const dfl_mapping *mapping;
    const dfl_workload *workload;
    const dfl_system *system;
    dfl_demand **demands;             /* [einsum][dimension of the einsum's output]: demand on this dimension; NULL for an
                                         einsum without restrictions */
    uint32_t **gates;                 /* [einsum]: steps in whose first iteration alone the einsum works */
    uint32_t *n_gates;
    uint32_t *trigger;                /* [recomputed einsum]: the consumer whose idle iterations make the einsum idle, too; else
                                         DFL_NONE */
    uint32_t *trigger_steps;          /* [einsum]: number of steps that decide whether its `trigger` is idle */
    bool refused;                     /* E0609 was reported */
    uint64_t **cuts;                  /* [einsum][position in its ranks]: bit set of the steps that cut the rank */
    uint64_t *spatial;                /* [einsum]: bit set of the einsum's spatial steps */
    dfl_loop_sizes *sizes;            /* sizes of the present run */
    struct dfl_footprint *footprints; /* list of all footprints that some count needs (footprint.h) */
    struct dfl_rank_chain **chains;   /* lists of rank chains (rank_chain.h) */
    uint32_t run;                     /* serial number of the present run; 0 before the first one */
} dfl_nest;

/* Fills a nest, except for its demands (producer_limits.h). The nest is allocated in `arena`. False after E0609. */
bool dfl_nest_init(dfl_nest *nest, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                   const dfl_paths *paths);
/* Tells whether the model can count the mapping at the present sizes of the paths. False after E0609. */
bool dfl_nest_sizes_are_countable(dfl_nest *nest);
/* Reports E0609, at most once per run: the part of the mapping named by `what` is legal, but the model does not count
   it. */
void dfl_nest_refuse(dfl_nest *nest, dfl_span at, const char *what, const char *help);

/* Reports a count that exceeds 2^127 (E0608). Returns false, so that a caller can return the result of this function. */
bool dfl_nest_report_overflow(dfl_nest *nest, dfl_span at);
/* An einsum that binds a rank to step `i`: `e` if possible, else the first one in the body of the line. DFL_NONE if no
   einsum binds a rank to the step. */
uint32_t dfl_nest_driver(const dfl_nest *nest, uint32_t e, uint32_t i);
/* Bit set of the steps < n, for n <= 64. */
static inline uint64_t dfl_nest_steps_below(uint32_t n) { return (n < 64 ? UINT64_C(1) << n : 0) - 1; }

#endif
