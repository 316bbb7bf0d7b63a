/*
 * The loop nest.
 */
#ifndef DFL_MODEL_SETS_NEST_H
#define DFL_MODEL_SETS_NEST_H

#include "model/sets/step_numbers.h"
#include "model/sets/interval_set.h"
#include "model/sets/loop_sizes.h"

/* How a dimension of a restricted result is computed over the iterations above a branch. */
typedef struct dfl_demand {
    bool is_restricted;     /* else the rank is cut by its own loops only, and the rest means nothing */
    bool has_gaps;           /* the indices need sets (demand.h); else windows that leave nothing out move up one by one */
    const uint32_t *consumers;
    uint32_t n_consumers;/* readers below the branch */
    uint32_t end;        /* steps above the branch */
    uint32_t *lines;     /* temporal steps < end that decide what is read, ascending; with those of outer branches */
    uint32_t n_lines;
    uint32_t *driver;    /* einsum whose rank each of the lines iterates */
    uint64_t stepping;   /* those of the lines in whose earlier iterations something may have been computed */
    uint32_t from;       /* lines before this step make everything be computed again */
    struct dfl_demand *outer; /* the next outer branch with further readers that restricts the dimension, or NULL */
    struct dfl_demand_entry **known;   /* sets found before (demand.c) */
    uint32_t run;               /* in which */
} dfl_demand;

/* What the model derives from the paths once per evaluation. */
typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *input_paths; /* what is evaluated */
    const dfl_step_numbers *numbers;
    const dfl_paths *paths; /* the same with steps numbered anew */
    const dfl_mapping *mapping;
    const dfl_workload *workload;
    const dfl_system *system;
    dfl_demand **demands;   /* [einsum][dimension of its output]; NULL where nothing restricts */
    uint32_t **gates;       /* [einsum] steps whose first iteration alone it works in */
    uint32_t *n_gates;
    uint32_t *trigger;         /* [einsum] recomputed: the reader without whose work it does not work either; or DFL_NONE */
    uint32_t *trigger_steps;   /* ... in an iteration of the loops among these first steps */
    bool refused;           /* E0609 was reported */
    uint64_t **cuts;        /* [einsum][position in its ranks] steps that cut the rank */
    uint64_t *spatial;      /* [einsum] spatial steps */
    dfl_loop_sizes *sizes;       /* per einsum */
    struct dfl_footprint *footprints;  /* all that somebody asks for (delta.h), */
    struct dfl_rank_chain **chains; /* and all chains, per einsum (rank_chain.h) */
    uint32_t run;           /* number of the run whose sizes these are */
} dfl_nest;

/* Fills the derived parts; false after E0609. */
bool dfl_nest_init(dfl_nest *nest, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                   const dfl_paths *paths);
/* Whether what was derived holds at the present sizes of the paths, too; false after E0609. */
bool dfl_nest_sizes_are_countable(dfl_nest *nest);
/* Reports E0609 once per evaluation: the mapping is right but this part of it is not counted. */
void dfl_nest_refuse(dfl_nest *nest, dfl_span at, const char *what, const char *help);

/* Reports a count that passes 2^127 (E0608); false. */
bool dfl_nest_report_overflow(dfl_nest *nest, dfl_span at);
/* An einsum below the body of step `i` of `e` that has a rank bound to it. */
uint32_t dfl_nest_driver(const dfl_nest *nest, uint32_t e, uint32_t i);
/* The steps < n <= 64, and those of them that cut a rank. */
static inline uint64_t dfl_nest_steps_below(uint32_t n) { return (n < 64 ? UINT64_C(1) << n : 0) - 1; }

enum { DFL_MAX_STEPS = 64 };

#endif
