/*
 * States of a joint group. Positions and coordinates of the steps taken so far are in one state if the sets go on alike from
 * them. A row of numbers holds a state and one position in it. The steps of the group are taken one after another, the outermost
 * first: each makes the rows behind it from those before it (derivation: MODEL.md, section 2.8, "States"). joint_sums.h makes the
 * sums of the group.
 */
#ifndef DFL_MODEL_COUNTS_JOINT_STATES_H
#define DFL_MODEL_COUNTS_JOINT_STATES_H

#include "model/counts/footprint.h"
#include "support/checked.h"
#include "support/hashmap.h"
#include "support/vec.h"

/* A rank whose pieces the rows follow. */
typedef struct {
    const dfl_rank_source *rank;
    bool at_zero;       /* only its piece at coordinate 0 counts, which decides the iterations of a loop */
    uint32_t reference; /* number of the reference that has the rank; DFL_NONE: `at_zero` */
    uint32_t k;         /* number among the ranks of the reference's joint form; DFL_NONE: it only makes the reference idle */
} dfl_joint_source;

/* A condition of a reference. */
typedef struct {
    uint32_t reference;
    uint32_t number;    /* among the conditions of the reference's joint form */
    uint32_t first;     /* source of the first rank of the reference's joint form; those of the other ranks follow */
} dfl_joint_condition;

typedef enum {
    DFL_JOINT_LOOP,
    DFL_JOINT_FREE,     /* spatial: each coordinate has a set of its own */
    DFL_JOINT_FIXED,    /* spatial: one coordinate counts */
    DFL_JOINT_KEPT,     /* spatial: all coordinates have one set together */
    DFL_JOINT_FORWARD   /* spatial: each coordinate has a set, of which its neighbours' sets are a part */
} dfl_joint_kind;

/* A step of the group. */
typedef struct {
    uint32_t step;      /* step number of the path */
    dfl_joint_kind kind;
    uint32_t level;     /* loop: its position in the group's lines */
    uint32_t driver;    /* loop: the source that decides the number of its iterations */
    int64_t parts;      /* spatial: number of coordinates */
    int64_t at;         /* DFL_JOINT_FIXED: the coordinate; DFL_JOINT_FORWARD: the only one that counts, or -1: all count */
    uint32_t mark;      /* place in a row of the numbers that this step adds to a state */
    bool gate;          /* a reference is idle at all positions of this step but 0 */
    bool exact;         /* positions of this step are in different states */
} dfl_joint_step;

/* A state, and how many positions are in it. */
typedef struct {
    int64_t *row;       /* [dfl_joint_walk.width] */
    dfl_i128 times;
} dfl_joint_state;

/* Different states. */
typedef struct {
    DFL_VEC(dfl_joint_state) all;
    dfl_hashmap by_key; /* item: number in `all`, plus 1 */
} dfl_joint_states;

/*
 * A walk over the steps of a group. A row has, in this order: six numbers for each source; for each condition its value at the
 * low corner of the pieces, now and at the step before; for each further reference and index rank the distance of its piece from
 * that of the first reference; the marks of the steps. These `key` numbers are the state. Behind them stand the positions of the
 * steps, now and at the step before.
 */
typedef struct {
    dfl_arena *arena;   /* of the rows */
    dfl_budget *budget;
    const dfl_footprint *footprint;
    const dfl_group *group;
    const dfl_restriction *only; /* coordinates that count; NULL = all */
    dfl_joint_source *sources;
    uint32_t n_sources;
    dfl_joint_condition *conditions;
    uint32_t n_conditions;
    dfl_joint_step *steps; /* the outermost first */
    uint32_t n_steps;
    uint32_t values, apart, key, width; /* places of the values and of the distances; numbers of a state and of a row */
    int64_t *row;       /* room for one row */
    bool compare;       /* the positions at the step before count, too */
    uint32_t advancing; /* level of the loop that advances; DFL_NONE: none */
    uint32_t level;     /* loops from this level on stand at their first iteration, and stood at their last one */
    bool overflow;      /* a number of positions exceeds 2^127 */
} dfl_joint_walk;

/* Sets the places in a row, which follow from the sources, conditions and steps. */
void dfl_joint_walk_layout(dfl_joint_walk *walk);
/* The state before all steps, with one position. */
dfl_joint_states dfl_joint_walk_start(dfl_joint_walk *walk);
/* The states behind step `i`. Uses up the rows of `from`. */
dfl_joint_states dfl_joint_walk_pass(dfl_joint_walk *walk, const dfl_joint_states *from, uint32_t i);
/* Number of the cut of a rank by a step; DFL_NONE if the step does not cut the rank. */
uint32_t dfl_joint_cut(const dfl_rank_source *rank, uint32_t step);

#endif
