/*
 * The machine of the oracle: the state of one execution of a mapping.
 *
 * The machine holds one cell per element of the tensor, for every keep and every instance of its memory; for every
 * einsum the functions from its points to elements; and the present iteration of every temporal loop. Ids of lines,
 * local ranks (those of one einsum) and instances are dense. The instance of a memory or a unit is the mixed-radix
 * number of its coordinates on the axes around it, outer axes first. So instances are numbered in the order of
 * coordinates that MODEL.md uses.
 */
#ifndef DFL_ORACLE_ORACLE_INTERNAL_H
#define DFL_ORACLE_ORACLE_INTERNAL_H

#include "oracle/oracle.h"
#include "support/vec.h"

/* The integers from `lo` to `hi` - 1; empty when hi <= lo. */
typedef struct { int64_t lo, hi; } dfl_oracle_interval;
typedef DFL_VEC(uint32_t) dfl_oracle_elements;

/* One element in one instance of a keep. */
typedef struct {
    bool present;              /* the element belongs to the tile */
    bool has_value;
    bool filled;               /* the value came from the outer keep, and this instance is responsible for it */
    bool taken;                /* a filled value was updated here or further in: the outer keep's value is void */
    bool dirty;                /* updated since the element entered */
    int64_t parts;             /* operations whose results are in the value */
    uint64_t value;            /* modulo DFL_ORACLE_PRIME */
} dfl_oracle_cell;

/* The connection of the instances of an inner place (the memory of a keep, or a unit) with those of an outer memory,
   for one tensor. */
typedef struct {
    uint32_t n_inner, n_outer;
    uint32_t *outer_of;        /* by inner instance: its outer instance */
    uint32_t *read_group;      /* by inner instance: instances of one group share a read of the outer memory (multicast) */
    uint32_t *write_group;     /* by inner instance: results of one group are combined on the way out (reduce) */
    uint32_t n_axes;           /* axes in between that forward */
    uint32_t *axes;
    uint32_t *lower, *higher;  /* by forwarding axis and inner instance: the neighbour, or DFL_NONE */
} dfl_oracle_link;

/* Elements that entered and left a keep over the whole execution, by kind; for the conservation laws. */
typedef struct {
    dfl_i128 served;           /* reads of the outer keep */
    dfl_i128 filled;           /* entries with a value from these reads */
    dfl_i128 passed;           /* entries with a value from a neighbour */
    dfl_i128 empty;            /* entries without a value */
    dfl_i128 drained, dropped; /* elements that left: dirty ones, others */
    dfl_i128 flushed;          /* elements that were drained and remained in the tile */
    dfl_i128 updates;          /* updates of the outer keep by drained elements */
} dfl_oracle_balance;

typedef struct dfl_oracle_keep {
    const dfl_line *line;
    const dfl_body *body;      /* the body of the line */
    uint32_t step;             /* position of the line on the paths below it */
    uint32_t tensor, memory, n_inst, n_elem;
    struct dfl_oracle_keep *outer; /* the next keep of the tensor further out; NULL for a home */
    dfl_oracle_link link;      /* to the outer keep */
    bool lasting;              /* home of an input or output of the workload: never releases a value */
    bool whole;                /* lasting, in a memory with one instance: occupies the room of the declared shape */
    dfl_i128 element_bits;     /* bits that one element occupies, buffers included */
    dfl_i128 peak_elements;    /* largest tile of one instance so far */
    bool written;              /* some einsum below the line produces the tensor */
    bool box;                  /* the tile is the bounding box of the touched elements */
    bool stays;                /* some instance held some element across an iteration of a loop */
    bool always_live;          /* live until the brace ends; else while the children below run that touch the tensor */
    uint32_t first_child, last_child; /* these children */
    dfl_oracle_cell *cells;    /* [n_inst][n_elem] */
    uint32_t n_axes, *axes;    /* axes around the memory, outer first */
    uint32_t *stamp;           /* [n_inst][n_elem]: tick of the last tile that had the element */
    uint32_t *seen;            /* [group][n_elem]: tick of the last entry by the outer instance or read group */
    dfl_oracle_elements *tile, *next_tile; /* by instance, ascending */
    dfl_oracle_traffic *traffic;
    dfl_oracle_balance balance;
} dfl_oracle_keep;

/* An updated element on its way to a keep. */
typedef struct {
    uint32_t elem;
    uint32_t inst;             /* instance of that keep */
    uint32_t group;            /* write group: results of one group are combined on the way */
    bool filled;               /* continues the value that the keep had given out */
    int64_t parts;
    uint64_t value;
} dfl_oracle_update;

/* An access of an einsum, as integer functions of its local ranks. */
typedef struct {
    uint32_t tensor, n_dims;
    int64_t *coef;             /* [n_dims][n_ranks of the einsum] */
    int64_t *offset;           /* [n_dims] */
    dfl_oracle_keep *keep;     /* innermost keep of the tensor on the einsum's path */
    dfl_oracle_link link;      /* from the unit to that keep */
    uint32_t *seen;            /* [read group][n_elem]: tick of the last read */
    bool latched;              /* named in the unit's operand_reuse: an operand that does not change is not read again */
    uint32_t *latch;           /* by instance of the unit: element of the step before, or DFL_NONE */
    uint32_t *fresh_latch;     /* by instance of the unit: element of the present step */
} dfl_oracle_access;

/* Rule 11 for one einsum: what it computes in each iteration of the loops above its exchange. An iteration is a
   combination of the present iterations of these loops. */
typedef struct {
    enum { NEED_UNKNOWN, NEED_BUSY, NEED_READY } state;
    bool uncut;                /* set while `runs` is computed: blocks are not cut */
    uint32_t n_lines;          /* temporal lines above the branch */
    uint32_t *lines;           /* their line ids, outermost first */
    uint32_t n_dims;
    bool *restricts;           /* [n_dims][n_lines]: the loop decides what of the output's dimension is computed */
    uint32_t n_iter;
    uint32_t *index;           /* [n_iter][n_lines]: present iterations of the loops, ascending */
    bool *works;               /* [n_iter]: the einsum computes something */
    uint8_t **allowed;         /* [n_iter][n_dims]: indices that may be computed, one byte each; NULL = every index */
    uint8_t **runs;            /* [n_iter]: bitmap over the points that are computed */
} dfl_oracle_need;

typedef struct {
    const dfl_einsum *einsum;
    const dfl_path *path;
    uint32_t n_ranks;
    uint32_t *local_rank;      /* by rank of the workload: local rank, or DFL_NONE */
    int64_t *extent;           /* by local rank */
    uint32_t n_points;         /* points of the iteration space, without `where` */
    dfl_oracle_access *inputs, output;
    dfl_oracle_interval *block; /* by local rank: the block of the present visit */
    dfl_oracle_interval *saved_block; /* by local rank: scratch */
    uint32_t *coord;           /* by axis: coordinates of the present visit */
    int64_t *point;            /* by local rank: the present point */
    uint32_t *radix;           /* by step: parts of a spatial line, else 1 */
    uint32_t *unit_axes, n_unit_axes; /* axes around the unit, outer first */
    uint32_t n_units;          /* instances of the unit */
    dfl_i128 work;             /* points that the workload has; a rank taken whole by `over` counts once */
    dfl_i128 padding;          /* points of the workload with an operand outside its shape */
    uint32_t n_online, *online; /* line ids of the `online` loops that add to the same elements in every iteration */
    uint32_t *last_online;     /* [n_online][n_elem of the output]: serial of the last iteration that added to the element */
    dfl_oracle_need need;
    const dfl_oracle_access *held; /* the access whose tile is found, if idle instances hold the tile too; else NULL */
} dfl_oracle_einsum;

typedef struct {
    uint32_t n_elem;
    int64_t **total;           /* [producer, in the tensor's order][n_elem]: operations that update the element */
    uint64_t *value;           /* [n_elem]: by direct evaluation of the workload */
    bool *released;            /* [n_elem]: the home released a value of the element */
} dfl_oracle_tensor;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *paths;
    const dfl_mapping *mapping;
    const dfl_workload *workload;
    const dfl_system *system;
    dfl_oracle_einsum *einsums; /* by einsum */
    dfl_oracle_tensor *tensors; /* by tensor */
    dfl_oracle_keep **keep_of; /* by line id; NULL for loops */
    DFL_VEC(dfl_oracle_keep *) keeps;
    uint32_t *line_base;       /* by body: id of its first line */
    uint32_t n_lines;
    bool *held;                /* by line id: a keep that stayed in an earlier execution; NULL in the first execution */
    uint32_t *present;         /* by line id: present iteration of a temporal loop, from 0 */
    uint32_t *used;            /* by axis: coordinates that some einsum uses */
    uint32_t *running_child;   /* by body */
    uint32_t *n_instances;     /* by memory: instances that can be in use */
    dfl_i128 **occupancy;      /* [memory][instance], bits: scratch */
    dfl_i128 ***peak;          /* [leaf or pipeline][memory][instance], bits: largest occupancy so far */
    uint32_t tick;             /* serial number of the present change of tiles or operation */
    uint32_t *trips;           /* by line id: trip count of a temporal loop */
    uint32_t *serial;          /* by line id: serial number of the present iteration of a loop, over the whole execution */
    uint32_t n_serials;        /* the last one given */
    DFL_VEC(dfl_oracle_update) updates; /* of the present change or operation */
    uint64_t n_steps;          /* steps of work so far, against DFL_ORACLE_STEPS */
    bool failed;               /* a report was made: the execution ends */
    dfl_oracle_result *result;
} dfl_oracle_machine;

#endif
