/*
 * Inside the oracle: a machine that runs one mapping. It holds, for every keep and every instance of its memory, one
 * cell per element of the tensor; for every einsum the ways from its points to elements; and the present iteration of
 * every temporal loop. Ids of lines, local ranks and instances are dense. An instance of a memory or a unit is the
 * mixed radix number of its coordinates on the axes around it, outer axes first, so instances are also numbered in
 * the order of coordinates that MODEL.md speaks of.
 */
#ifndef DFL_ORACLE_MACHINE_H
#define DFL_ORACLE_MACHINE_H

#include "oracle/cells.h"

/* What rule 11 lets an einsum compute in each iteration of the loops above its exchange. */
typedef struct {
    enum { NEED_UNKNOWN, NEED_BUSY, NEED_READY } state;
    bool uncut;                /* while `runs` is made */
    uint32_t n_lines;          /* temporal lines above the branch, as line ids */
    uint32_t *lines;
    uint32_t n_dims;
    bool *restricts;           /* per dimension of the output and line */
    uint32_t n_iter;
    uint32_t *index;           /* n_iter x n_lines, ascending */
    bool *works;               /* per iteration */
    uint8_t **allowed;         /* per iteration and dimension, by index; NULL = every index */
    uint8_t **runs;            /* per iteration: bitmap over points */
} oracle_need;

typedef struct {
    const dfl_einsum *e;
    const dfl_path *path;
    uint32_t n_ranks;
    uint32_t *local;           /* rank of the workload -> local rank, or DFL_NONE */
    int64_t *extent;           /* per local rank */
    uint32_t n_points;
    oracle_access *in, out;
    oracle_piece *piece, *whole; /* scratch of the walk over blocks */
    uint32_t *coord;
    int64_t *x;                /* scratch of the walk over points */
    uint32_t *radix;           /* per step: parts of a spatial line, else 1 */
    uint32_t *unit_axes, n_unit_axes, n_unit;
    dfl_i128 work, padding;    /* points that the workload asks for; those with an operand outside its shape */
    uint32_t n_online, *online; /* `online` loops that add to the same elements in every iteration, as line ids */
    uint32_t *last_online;     /* per such loop and element of the output: the last iteration that added to it */
    oracle_need need;
    const oracle_access *held; /* the access whose tile is asked for, where idle instances hold it, too; else NULL */
} oracle_einsum;

typedef struct {
    uint32_t n_elem;
    int64_t **total;           /* per producer (in the tensor's order): operations that update the element */
    uint64_t *value;           /* by direct evaluation of the workload */
    bool *released;            /* the home dropped a value of the element */
} oracle_tensor;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *paths;
    const dfl_mapping *m;
    const dfl_workload *w;
    const dfl_system *s;
    oracle_einsum *ein;
    oracle_tensor *ten;
    oracle_keep **keep_of;     /* per line id; NULL for loops */
    DFL_VEC(oracle_keep *) keeps;
    uint32_t *line_base;       /* per body: id of its first line */
    uint32_t n_lines;
    bool *held;                /* per line id: a keep that an earlier run found to stay; NULL in the first run */
    uint32_t *at;              /* per line id: present iteration of a temporal loop */
    uint32_t *used;            /* per axis: coordinates that some einsum uses */
    uint32_t *child;           /* per body: the child that runs */
    uint32_t *mem_inst;        /* per memory: instances that can be in use */
    dfl_i128 **room;           /* per memory and instance, bits: scratch */
    dfl_i128 ***peak;          /* per leaf or pipeline, memory and instance: largest so far */
    uint32_t tick;             /* number of the present change or operation */
    uint32_t *trip;            /* per line id: iterations of a temporal loop */
    uint32_t *iteration;       /* per line id: number of the present iteration of a loop, over the whole run */
    uint32_t n_iterations;
    DFL_VEC(oracle_result) results; /* of the present change or operation */
    uint64_t work;
    bool failed;
    dfl_oracle_result *result;
} oracle;

enum { ORACLE_PRIME = 1000003 };

/* Counts work; false once the run is to end, after a report. */
bool oracle_work(oracle *o, uint64_t n);
void oracle_unsupported(oracle *o, dfl_span span, const char *what);

/* Reports that elements are needed that the home has released. */
void oracle_released(oracle *o, uint32_t tensor, dfl_span at, const oracle_keep *keep);

/* setup.c: everything but values and needs. False after a report. */
bool oracle_setup(oracle *o);

/* space.c */
typedef void oracle_block_fn(oracle *o, uint32_t einsum, const oracle_piece *piece, const uint32_t *coord, void *data);
/* Every non-empty block of the einsum's iteration space above step `upto`, for the present temporal iterations: one
   for each combination of coordinates of the spatial lines above the step. */
void oracle_blocks(oracle *o, uint32_t einsum, uint32_t upto, oracle_block_fn *visit, void *data);
/* Starts the walk over the points of a block, and advances it; the point is in `ein[einsum].x`. */
bool oracle_first_point(oracle *o, uint32_t einsum, const oracle_piece *piece);
bool oracle_next_point(oracle *o, uint32_t einsum, const oracle_piece *piece);
uint32_t oracle_point_index(const oracle_einsum *e);
/* Whether the workload has the point at all. */
bool oracle_where(const oracle_einsum *e);
/* The element that the present point accesses, or DFL_NONE outside the shape. */
uint32_t oracle_element(const oracle *o, const oracle_einsum *e, const oracle_access *a);
/* Iterations of a temporal loop for the present iterations of the loops above it, at least 1. */
uint32_t oracle_trip(oracle *o, const dfl_body *body, uint32_t line);
/* Instance of a place with these axes around it. */
uint32_t oracle_instance(const oracle *o, const uint32_t *axes, uint32_t n_axes, const uint32_t *coord);

/* need.c: rule 11 */
/* Finds out what the einsum computes when; before anything is asked about it. False after a report. */
bool oracle_prepare(oracle *o, uint32_t einsum);
/* Whether the einsum runs its present point at some iteration below step `upto` of the present one. */
bool oracle_runs(oracle *o, uint32_t einsum, uint32_t upto);
/* Cuts the pieces at the branch down to what is computed in the present iteration; false when nothing is. */
bool oracle_need_cut(oracle *o, uint32_t einsum, oracle_piece *piece);
/* What the einsum computes in the present iteration loses the value it may have. */
void oracle_start_anew(oracle *o, uint32_t einsum);

/* keep.c */
/* A temporal line of the body advanced (or the body begins: line 0, `begins`): keeps below it change. */
void oracle_advance(oracle *o, const dfl_body *body, uint32_t line, bool begins);
/* The body ends: its keeps become empty. */
void oracle_close(oracle *o, const dfl_body *body);
/* Brings results to a keep: those of one group meet on the way, and the filled one goes first. `define`: each is the
   value itself, not a part of a sum. */
void oracle_deliver(oracle *o, oracle_keep *k, oracle_result *list, size_t n, bool define);

/* values.c */
/* Evaluates the workload directly: values and number of updates of every element. */
bool oracle_evaluate(oracle *o);
/* Combines two partial results of a tensor; multiplies two operands. */
uint64_t oracle_combine(const oracle *o, uint32_t tensor, uint64_t a, uint64_t b);
uint64_t oracle_product(uint64_t a, uint64_t b);
/* Elements of results at home that differ from the direct evaluation. */
dfl_i128 oracle_wrong(oracle *o);

#endif
