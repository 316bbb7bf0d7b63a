/*
 * The machine of the oracle: the state of one execution of a mapping.
 *
 * For every keep and every instance of its memory, the machine holds one cell per element of the tensor. For every
 * einsum, it holds the functions from points to elements. The machine also holds the present iteration of every
 * temporal loop. Ids of lines, local ranks (the ranks of one einsum) and instances are dense. The instance of a memory
 * or a unit is the mixed-radix number of its coordinates on the axes around it, outer axes first. So instances are
 * numbered in the coordinate order of MODEL.md.
 */
#ifndef DFL_ORACLE_ORACLE_INTERNAL_H
#define DFL_ORACLE_ORACLE_INTERNAL_H

#include "oracle/oracle.h"
#include "support/vec.h"

/* The integers from `lo` to `hi` - 1; empty if hi <= lo. */
typedef struct { int64_t lo, hi; } dfl_oracle_interval;
typedef DFL_VEC(uint32_t) dfl_oracle_elements;

/* One element in one instance of a keep. */
typedef struct {
    bool present;              /* the element belongs to the tile */
    bool has_value;
    bool filled;               /* the value came from the outer keep, and this instance must return it */
    bool taken;                /* this keep or an inner one has updated a filled value, so the outer keep's value is void */
    bool dirty;                /* the element was updated since it entered */
    int64_t parts;             /* number of operations whose results are in the value */
    uint64_t value;            /* artificial value, modulo DFL_ORACLE_PRIME */
} dfl_oracle_cell;

/* An element of a transfer that crosses networks, on its way to or from one instance of the inner place. The elements of
   one group travel together: multicast reads them once, and reduction combines them. */
typedef struct { uint32_t elem, group, inst; } dfl_oracle_crossing;

/* An array that a connection crosses. */
typedef struct {
    uint32_t array;            /* element of the array */
    uint32_t below;            /* number of inner instances per instance of the array's element */
    struct dfl_oracle_array *wiring; /* the instance of the network whose bits count for this connection */
} dfl_oracle_level;

/* The connection of the instances of an inner place (the memory of a keep, or a unit) to the instances of an outer
   memory, for one tensor. */
typedef struct {
    uint32_t n_levels;         /* number of arrays between the two places */
    dfl_oracle_level *levels;  /* the arrays, outer ones first */
    bool wired;                /* some of these arrays have a network */
    DFL_VEC(dfl_oracle_crossing) crossings; /* crossings of the present tile change or operation, in one direction */
    uint32_t n_inner, n_outer;
    uint32_t first;            /* the inner instance with the lowest coordinates that the connection uses */
    uint32_t *outer_of;        /* [inner instance]: outer instance around the inner one */
    uint32_t *read_group;      /* [inner instance]: its read group; instances of one group share a read of the outer memory
                                  (multicast) */
    uint32_t *write_group;     /* [inner instance]: its write group; results of one group are combined on the way out
                                  (reduce) */
    uint32_t n_axes;           /* number of axes between the two places that forward elements */
    uint32_t *axes;
    uint32_t *lower, *higher;  /* [forwarding axis][inner instance]: the neighbour, or DFL_NONE */
} dfl_oracle_link;

/* Numbers of elements that entered and left a keep over the whole execution, by kind; used by the conservation laws. */
typedef struct {
    dfl_i128 served;           /* number of reads of the outer keep */
    dfl_i128 filled;           /* number of entries with a value from the outer keep */
    dfl_i128 passed;           /* number of entries with a value from a neighbour */
    dfl_i128 empty;            /* number of entries without a value */
    dfl_i128 drained, dropped; /* numbers of dirty elements that left, and of other elements that left */
    dfl_i128 flushed;          /* number of elements that were drained and remained in the tile */
    dfl_i128 updates;          /* number of updates of the outer keep by drained elements */
} dfl_oracle_balance;

typedef struct dfl_oracle_keep {
    const dfl_line *line;
    const dfl_body *body;      /* body of the line */
    uint32_t step;             /* position of the line on the paths below the line */
    uint32_t tensor, memory, n_inst, n_elem;
    uint32_t first;            /* the instance with the lowest coordinates among those that the einsums below use */
    uint32_t user;             /* an einsum below that touches the tensor, DFL_NONE if there is none */
    struct dfl_oracle_keep *outer; /* the next keep of the tensor further out, NULL for a home */
    dfl_oracle_link link;      /* connection to the outer keep */
    bool lasting;              /* the keep is the home of an input or output of the workload: it never releases a value */
    bool whole;                /* the keep is lasting, in a memory with one instance: it occupies the bits of the declared
                                  shape */
    dfl_i128 element_bits;     /* bits that one element occupies, buffers included */
    dfl_i128 peak_elements;    /* largest tile of one instance so far */
    bool written;              /* some einsum below the line produces the tensor */
    bool box;                  /* the tile is the bounding box of the touched elements */
    bool stays;                /* some instance held an element across an iteration of a loop */
    bool always_live;          /* the keep is live until the end of its brace; if false, it is live while the children run that
                                  touch the tensor */
    uint32_t first_child, last_child; /* first and last child below the keep that touch the tensor */
    dfl_oracle_cell *cells;    /* [instance][element]: cell of the element in the instance */
    uint32_t n_axes, *axes;    /* number of axes around the memory; the axes, outer ones first */
    uint32_t *stamp;           /* [instance][element]: tick of the last tile with the element */
    uint32_t *seen;            /* [group][element]: tick of the last entry; a group is an outer instance or a read group */
    dfl_oracle_elements *tile, *next_tile; /* [instance]: elements of its present and of its next tile, ascending */
    dfl_oracle_traffic *traffic;
    dfl_oracle_balance balance;
} dfl_oracle_keep;

/* One link of a mesh, torus or ring between two neighbours on an axis, in one direction; in networks of other kinds, the
   link over which neighbours forward. */
typedef struct {
    int64_t down, up, forward; /* bits from the outer side, bits to the outer side, bits that neighbours forward */
    uint32_t route;            /* serial number of the last route over the link */
} dfl_oracle_wire;

/* The network of an array, in one instance. A port is the mixed-radix number of the coordinates on the axes of the array, outer
   axes first. */
typedef struct dfl_oracle_array {
    uint32_t network;          /* DFL_NONE: the array has no network */
    enum { ORACLE_BUS, ORACLE_CROSSBAR, ORACLE_MESH } shape; /* torus, ring: MESH; switch and others: CROSSBAR */
    uint32_t first_axis, n_axes, n_ports;
    uint32_t outside;          /* mixed-radix number of the coordinates of this instance on the axes outside of the array */
    struct dfl_oracle_array *next; /* another instance of the network of the array, NULL if there is none */
    int64_t injected, arriving; /* bits that the outer side gives and gets */
    int64_t *delivered, *collected; /* [port]: bits that the port gets from the outer side, and gives to it */
    dfl_oracle_wire **wires;   /* [axis of the array]: two links per place, to the lower and to the higher neighbour */
    int64_t *place, *goal;     /* [axis of the array]: present place and last place of a route, scratch */
} dfl_oracle_array;

/* An update of an element on its way to a keep. */
typedef struct {
    uint32_t elem;
    uint32_t inst;             /* instance of the destination keep */
    uint32_t group;            /* write group; results of one group are combined on the way */
    bool filled;               /* the update continues the value that the destination keep had supplied */
    int64_t parts;
    uint64_t value;
} dfl_oracle_update;

/* An access of an einsum, as integer functions of its local ranks. */
typedef struct {
    uint32_t tensor, n_dims;
    int64_t *coef;             /* [n_dims][n_ranks of the einsum] */
    int64_t *offset;           /* [n_dims] */
    dfl_oracle_keep *keep;     /* innermost keep of the tensor on the einsum's path */
    dfl_oracle_link link;      /* connection from the unit to this keep */
    uint32_t *seen;            /* [read group][element]: tick of the last read */
    bool latched;              /* the unit's operand_reuse names the operand: an unchanged operand is not read again */
    uint32_t *last_use;        /* latched: [instance of the unit][element]: serial number of the last step that used it */
} dfl_oracle_access;

/* Rule 11 for one einsum: the points that it computes in each iteration of the loops above its exchange. An iteration
   is a combination of the present iterations of these loops. */
typedef struct {
    enum { NEED_UNKNOWN, NEED_BUSY, NEED_READY } state;
    bool uncut;                /* true while `runs` is computed: blocks are not cut */
    uint32_t n_lines;          /* number of temporal lines above the branch */
    uint32_t *lines;           /* ids of these lines, outermost first */
    uint32_t n_dims;
    bool *restricts;           /* [n_dims][n_lines]: the loop restricts the indices of the output's dimension */
    uint32_t n_iter;
    uint32_t *index;           /* [n_iter][n_lines]: present iterations of the loops, ascending */
    bool *works;               /* [n_iter]: the einsum computes a point in the iteration */
    uint8_t **allowed;         /* [n_iter][n_dims]: set of the indices that the iteration may compute, one byte per index; NULL
                                  = every index */
    uint8_t **runs;            /* [n_iter]: bitmap of the points that the iteration computes */
} dfl_oracle_need;

typedef struct {
    const dfl_einsum *einsum;
    const dfl_path *path;
    uint32_t n_ranks;
    uint32_t *local_rank;      /* [rank of the workload]: local rank, or DFL_NONE */
    int64_t *extent;           /* [local rank]: extent of the rank */
    uint32_t n_points;         /* number of points of the iteration space, without `where` */
    dfl_oracle_access *inputs, output;
    dfl_oracle_interval *block; /* [local rank]: interval of the rank in the block of the present visit */
    dfl_oracle_interval *saved_block; /* [local rank]: copy of `block` while a loop changes `block` */
    uint32_t *coord;           /* [axis]: coordinate of the present visit among the instances of the einsum */
    uint32_t *here;            /* [axis]: coordinate of the present visit */
    int64_t *point;            /* [local rank]: coordinate of the present point */
    uint32_t step;             /* serial number of the present step; a number is skipped when the leaf begins anew */
    uint32_t *radix;           /* [step]: number of parts of a spatial line, 1 for other lines */
    uint32_t *unit_axes, n_unit_axes; /* axes around the unit, outer ones first */
    uint32_t n_units;          /* number of instances of the unit */
    dfl_i128 work;             /* number of points of the workload; a rank taken whole by `over` counts as one point */
    dfl_i128 padding;          /* number of points of the workload with an operand outside of its shape */
    uint32_t n_online, *online; /* ids of the `online` lines that add to the same elements in every iteration */
    uint32_t *last_online;     /* [online line][element of the output]: serial number of the last iteration that added to the
                                  element */
    dfl_oracle_need need;
} dfl_oracle_einsum;

typedef struct {
    uint32_t n_elem;
    int64_t **total;           /* [producer, in the tensor's order][element]: number of operations that update the element */
    uint64_t *value;           /* [element]: value of the element by direct evaluation of the workload */
    bool *released;            /* [element]: the home has released a value of the element */
} dfl_oracle_tensor;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *paths;
    const dfl_mapping *mapping;
    const dfl_workload *workload;
    const dfl_system *system;
    dfl_oracle_einsum *einsums; /* [einsum]: state of the einsum */
    dfl_oracle_tensor *tensors; /* [tensor]: state of the tensor */
    dfl_oracle_keep **keep_of; /* [line id]: keep of the line; NULL for a loop */
    DFL_VEC(dfl_oracle_keep *) keeps;
    uint32_t *line_base;       /* [body]: id of its first line */
    uint32_t n_lines;
    bool *held;                /* [line id]: the keep held elements across iterations in an earlier execution; NULL in the first
                                  execution */
    uint32_t *present;         /* [line id]: present iteration of a temporal loop, from 0 */
    uint32_t *used;            /* [axis]: number of coordinates in use by some einsum */
    uint32_t *running_child;   /* [body]: the child that runs at present */
    uint32_t *n_instances;     /* [memory]: number of instances in use */
    dfl_oracle_array *arrays;  /* [element of the system]: network of the array */
    uint32_t route;            /* serial number of the present route */
    dfl_i128 *occupancy;       /* [instance]: occupancy of one memory (in bits) by the tiles of one body; overwritten for each */
    dfl_i128 ***peak;          /* [leaf or pipeline][memory][einsum]: largest occupancy so far (in bits), by the tiles that stand
                                  in the first instance of the einsum */
    uint32_t tick;             /* serial number of the present tile change or operation */
    uint32_t *trips;           /* [line id]: trip count of a temporal loop */
    uint32_t *serial;          /* [line id]: serial number of the present iteration of a loop, over the whole execution */
    uint32_t n_serials;        /* last serial number assigned to an iteration */
    DFL_VEC(dfl_oracle_update) updates; /* updates of the present tile change or operation */
    uint64_t n_steps;          /* steps of work so far, limited by DFL_ORACLE_STEPS */
    bool failed;               /* the execution has reported an error and ends */
    dfl_oracle_result *result;
} dfl_oracle_machine;

#endif
