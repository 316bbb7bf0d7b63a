/*
 * What is known behind each einsum of a join (join.h): states, by what the einsums to come see of them. One is given up if
 * another of the same way is at most as much in everything; of the last layer those are chosen that were asked for.
 */
#ifndef DFL_MAPPER_EXACT_DP_STATES_H
#define DFL_MAPPER_EXACT_DP_STATES_H

#include "mapper/exact/join.h"
#include "support/hashmap.h"
#include "support/vec.h"

typedef enum {
    DFL_JOIN_MADE,               /* by an einsum before */
    DFL_JOIN_SERVED,             /* an input, from a keep for all that read it below the loops above that */
    DFL_JOIN_APART,              /* an input that the last einsum with it had to itself: no keep for several may stand below
                                    `within` loops or fewer, since these were open ever since */
} dfl_join_alive_kind;

typedef enum {
    DFL_JOIN_NO_DIM = -1,        /* none: not complete below the loop */
    DFL_JOIN_WHOLE = -2,         /* made in its first iteration, and whole in all */
    DFL_JOIN_FIRST = -3,         /* made in its first iteration, and there in no other */
    DFL_JOIN_AGAIN = -4,         /* fetched in all of them */
} dfl_join_dim;

typedef struct {
    uint32_t tensor, memory;
    uint8_t depth;               /* loops above its home */
    uint8_t within;              /* open loops that its producer ran in; of what nothing makes those above its keep */
    uint8_t kind;                /* dfl_join_alive_kind */
    uint8_t since;               /* loops that are open since an einsum touched it; by those below each of these it is, but for
                                    homes, kept in by all, and kept in just above the loop by one: masks of memories */
    uint32_t kept[DFL_ROW_LOOPS], above[DFL_ROW_LOOPS];
    int8_t dim[DFL_ROW_LOOPS];   /* dimension that each of these goes along, or dfl_join_dim */
    uint64_t owes;               /* mask of these loops: below them it has to be read (loop_match.h) */
    double bits;                 /* of the tile, on the chip */
} dfl_join_alive;

/* What the einsums to come see, bytes without meaning 0. */
typedef struct dfl_join_way {
    uint32_t n_open, n_live;
    int64_t trips[DFL_ROW_LOOPS];
    uint32_t name[DFL_ROW_LOOPS];
    dfl_join_alive live[DFL_JOIN_LIVE];
} dfl_join_way;

typedef struct {
    double joules, seconds;
    double busy[DFL_PORTS];      /* seconds of the ports of the goal, at least */
    double least;                /* value of any mapping that goes on from it, at least */
    double resident[DFL_ROW_TRACKS][DFL_ROW_LOOPS]; /* below k loops, k < n_open */
    double finished[DFL_ROW_TRACKS][DFL_ROW_LOOPS + 1];
    const dfl_pmapping *row;
    uint64_t kind;               /* of the rows so far, if kinds count (signature.h), else 0 */
    uint32_t names[DFL_ROW_LOOPS];
    uint32_t ends, skipped;      /* see dfl_join_result */
    uint32_t before;             /* choice for the einsum before */
    uint32_t choice;             /* number among those of this einsum that were not dropped */
    uint32_t next;               /* of the same way: 1 + index */
    bool dropped;
} dfl_join_state;

typedef struct {
    dfl_join_way way;
    uint32_t first;              /* state: 1 + index */
} dfl_join_bucket;

typedef DFL_VEC(dfl_join_state) dfl_join_states;

typedef struct {
    dfl_join_states states;
    DFL_VEC(dfl_join_bucket) buckets;
    dfl_hashmap map;             /* buckets by way */
} dfl_join_layer;

/* What is remembered of a state when the einsum after it is joined. */
typedef struct {
    const dfl_pmapping *row;
    uint32_t before, ends, skipped;
    uint32_t names[DFL_ROW_LOOPS];
} dfl_join_choice;

/* Rows of an einsum by what a way with so many open loops that are theirs asks of them: `first` by hash and `next` by row are
   1 + row. */
typedef struct {
    uint32_t *first, *next, n_slots;
    uint32_t inputs;             /* mask: operands that are alive */
} dfl_join_index;

typedef struct {
    dfl_arena *arena;            /* of the layers */
    dfl_arena *scratch;          /* while an einsum is joined */
    dfl_join_index rows[DFL_ROW_LOOPS + 1]; /* of the present einsum, by open loops */
    const dfl_workload *w;
    const dfl_tile_goal *goal;
    const dfl_cost_to_go *bounds;
    const double *capacity;
    uint32_t *memory;            /* by tensor that is alive: scratch */
    const dfl_join_step *step;
    uint32_t einsum;
    bool few;                    /* only states that promise most are gone on from */
    bool full;
} dfl_joiner;

/* Seconds of a state: at least those of the einsums one after another, and of every port. */
double dfl_state_seconds(const dfl_join_state *s);
double dfl_state_joules(const dfl_joiner *j, const dfl_join_state *s);
double dfl_state_value(const dfl_joiner *j, const dfl_join_state *s);
/* Adds a state to bucket `to`, unless it is useless, and drops those that it makes so. */
void dfl_dp_states_add(dfl_joiner *j, dfl_join_layer *l, uint32_t to, const dfl_join_state *s);
/* Drops all states of a layer but the `most` that promise most, of equal ones first one of each way. */
void dfl_dp_states_thin_out(dfl_joiner *j, dfl_join_layer *l, uint32_t most);
/* Numbers the states of a layer that were not dropped, and remembers how they came about. */
dfl_join_choice *dfl_dp_states_remember(dfl_arena *arena, dfl_join_layer *l);
/* Of the last layer what the goal asks for, `*n` states: a front, kinds, or the best of all. */
const dfl_join_state **dfl_dp_states_choose(const dfl_joiner *j, const dfl_join_layer *l, bool front, uint32_t *n);

#endif
