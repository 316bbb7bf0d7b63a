/*
 * Plan of the time of a mapping: attributes of the system that affect the time, and buffers for intermediate sums. The
 * plan is allocated once for a mapping.
 *
 * A resource is what one transfer or one einsum keeps busy: a port of a memory, or a class of links of a network. A
 * level is a set of keeps of one body whose memories lie at the same depth: none of these memories is filled from
 * another one, except through streams.
 */
#ifndef DFL_MODEL_COST_TIME_PLAN_H
#define DFL_MODEL_COST_TIME_PLAN_H

#include "model/counts/crossings.h"

/* A pair of numbers for the reads and the writes of a memory. */
typedef double dfl_ports __attribute__((vector_size(2 * sizeof(double))));
enum { DFL_READ, DFL_WRITE };

/* What a transfer does at a port; a port of a memory with a single port does all of its end. */
enum { DFL_USE_FILL = 1, DFL_USE_DRAIN = 2, DFL_USE_SERVE = 4, DFL_USE_ADD = 8, DFL_USE_UPDATE = 16 };

/* A port of a memory, or a class of links of a network. */
typedef struct {
    const char *name;
    double rate[2];     /* bit/s of reads and of writes, both that of a link; infinite without a limit */
    uint32_t memory;    /* DFL_NONE for a class of links */
    uint32_t network, link; /* the network, and the class among those of the network */
} dfl_resource;

/* A resource that a transfer keeps busy. */
typedef struct {
    uint32_t resource;
    uint32_t local;     /* index of the resource among those of the level of its body */
    uint32_t end;       /* the end of the transfer at which elements are counted: DFL_INNER or DFL_OUTER */
    uint32_t what;      /* bit set: DFL_USE_... */
    double in, out;     /* at the present sizes: seconds for each element that enters and that leaves */
    double peak;        /* an upper limit of these seconds over their mean; 1 for a port of a memory */
    double out_read;    /* the part of `out` that reads */
    double all;         /* at the present sizes: seconds of all loops */
} dfl_use;

enum { DFL_INNER, DFL_OUTER };

/* Elements that enter and leave a tile, counted at the inner and at the outer end of its transfer: the two differ if
   several instances share a transfer, or if one instance of the outer memory serves several of the inner one. */
typedef struct { double in[2], out[2]; } dfl_moves;

/* Transfer: the elements that move between a keep and the next outer one. */
typedef struct {
    uint32_t keep, step, tensor;
    uint32_t inner, outer;    /* memories at the inner and the outer end */
    uint32_t level;           /* number of the level, from 0 */
    const struct dfl_keep_level *of; /* level of its body */
    double bits;              /* bits of one element */
    double latency[2];        /* [direction]: seconds from the request of a tile to its first element, at the present sizes */
    double memory_latency;    /* the part of the outer memory */
    dfl_delta *mine, *theirs; /* deltas of one instance of the inner memory, and of one instance of the outer memory */
    const uint64_t *steps;    /* [step]: number of positions, from the sizes of the loops (loop_sizes.h) */
    uint64_t ragged_at;       /* bit set: steps whose raggedness changes the size of the tile */
    uint64_t spread_at;       /* bit set: those whose raggedness changes the number of instances in the transfer */
    uint64_t repeats;         /* bit set: temporal steps over ranks that do not index a result: their iterations add to the
                                 same elements; 0 if that is not certain */
    const dfl_efficiency *share_of[2]; /* [end]: share of the bandwidths by the bits of a transfer; NULL = the whole bandwidth */
    dfl_use *uses;            /* ports of memories, then classes of links from `first_link` on */
    uint32_t n_uses, first_link;
    bool written;             /* an einsum below writes the tensor; if false, no element is drained */
    bool free_drains;         /* elements leave the memory over a port of their own that takes no time */
    bool stream;              /* the memory has `overlap = stream` */
    bool waited;              /* the memory has a single buffer, so the work below stops during a refill */
    bool ahead;               /* the memory has two buffers: one tile is fetched ahead */
    /* The following members hold values of the present sizes. */
    bool even;                /* `each` moves at every load; `by_loop` is not set */
    bool uniform;             /* the advances of one loop move equally many elements */
    bool spread;              /* the number of instances in the transfer changes: the two ends are not in proportion */
    dfl_moves each;         /* `even`: elements of one load; else: upper limits of a load */
    double *load[3];        /* `even`, [direction, or DFL_BOTH][resource of the level]: seconds of one load; if some elements
                               that enter find a value, of a load all of whose elements do */
    double *now;            /* [resource]: seconds of the advance at hand */
    dfl_moves *by_loop;     /* [step]: elements that all advances of a loop move */
    dfl_moves ends;         /* elements of the first tile (in) and of the last tile (out) */
    dfl_moves all;          /* elements of all loops; with perfect overlap, first and last tiles included */
    double seconds;           /* time of `all` */
    bool again;               /* the elements of a result find a value at some entries; `share` is set */
    double *share;            /* [step]: fraction of the advances of a loop at which the entering elements find a value, over the
                                 fraction of all entries */
    double filled;            /* fraction of all entries of the busiest instance that find a value */
    bool fetches;             /* some entry of some instance finds a value; also an instance that was idle may take one back */
    bool close;               /* a result may enter again right after it has left */
    double in_part[2], out_part[2]; /* [end]: fraction of the elements that enter and that leave for which bits move */
    uint64_t lasting;         /* bit set: loops whose advance takes time */
    uint64_t stops;           /* bit set: loops whose advance stops the work below */
} dfl_transfer;

/* Port of an operand or of the result of an einsum, in the memory of the tensor's innermost keep. */
typedef struct {
    uint32_t operand, keep;
    uint32_t resource[2];    /* for reads and for writes */
    bool output;
    double bits;             /* bits of one element */
    double moved[2];         /* bits read and written at the present sizes */
    double seconds[2];       /* seconds of `moved` at the resources */
    double latency;          /* seconds of latency of the memory; 0 for a result */
    uint64_t adding;         /* bit set: spatial steps between the memory and the unit along which instances share no transfer */
} dfl_operand_port;

/* Class of links that an operand or a result crosses between a memory and a unit. */
typedef struct { uint32_t crossing, resource, port; } dfl_operand_link; /* port: index among the ports of the einsum */

/* Time of one einsum without the transfers of keeps. */
typedef struct {
    dfl_operand_port *ports; /* ports of the operands, sorted by memory */
    uint32_t n_ports;
    dfl_operand_link *links;
    uint32_t n_links;
    double latency;          /* of the memories: seconds from the request of an operand to its arrival at the unit */
    uint64_t repeats;        /* bit set: temporal steps over ranks that do not index the result */
    const dfl_compute *unit; /* the unit, with the rates that count */
    double point_seconds;    /* seconds of the unit for one point at full rate */
    double instances;        /* number of instances of the unit */
} dfl_einsum_time;

/* Transfers of one level of a body, or those of one level whose first tiles enter together or whose last tiles leave
   together. */
typedef struct dfl_keep_level {
    uint32_t *at, n;         /* transfers, outer lines first */
    uint32_t *chains;        /* [position in `at`]: index of the tensor among those of the level */
    bool chained;            /* some tensor has two transfers */
    bool local;              /* all transfers are of one level of a body: `n_locals` are its resources, else all resources */
    uint32_t n_locals;       /* their number, or one more: always even */
    const uint64_t *steps;   /* positions by step if they are the same for all transfers, else NULL (loop_sizes.h) */
    uint64_t ahead;          /* if `steps` is set, bit set of positions in `at` with two buffers */
    bool fetches_ahead;      /* some memory of the level has two buffers */
    bool beside;             /* this is so for some level of the body further out */
    uint32_t from;           /* at the present sizes: steps < `from` belong to the levels around this one */
} dfl_keep_level;

/* A transfer that moves beside others: its position in their level, and its seconds at each resource. */
typedef struct { uint32_t position; const double *seconds; } dfl_moving_transfer;

/* A temporal loop above the inner end of a body, and an einsum with a rank that the loop iterates. */
typedef struct { uint32_t step, driver; } dfl_body_loop;

/* Seconds for which one advance of each loop stops the work below a body: before the advance, in which tiles leave, and
   after it, in which tiles enter. */
typedef struct {
    uint64_t loops;          /* bit set: loops whose advance stops the work */
    double *seconds[2];      /* [direction][step]: seconds of one advance */
    double *full[2];         /* as `seconds`, an upper limit for full tiles */
    double *part;            /* [step]: a lower limit of seconds / full that does not depend on rates */
} dfl_stalls;

/* Times of a body: `n` transfers from index `first` on. The transfers of inner bodies have the indices from `below` to
   `first` - 1. */
typedef struct {
    uint32_t first, n, below;
    uint32_t apart;               /* steps < `apart` stand around the innermost `fuse` of several children around the body: other
                                     children work between two of their iterations */
    dfl_keep_level *levels;       /* outermost first */
    uint32_t n_levels;
    dfl_body_loop *loops;    /* temporal loops above the end of the lines of the body, outermost first */
    uint32_t n_loops;
    /* The following members hold values of the present sizes. */
    double *advances;        /* [step]: number of advances of the loop */
    double *positions;       /* [step]: iterations of all loops above the step */
    dfl_stalls stalls;
    double ends[2];          /* [direction]: seconds in which the last tiles leave and the first tiles enter, as far as levels
                                further in are concerned */
    double absorbed;         /* seconds of first and last tiles that pass beside transfers of other levels */
} dfl_body_time;

/* Transfers whose first tiles enter together, or whose last tiles leave together. */
typedef struct { dfl_keep_level *levels; uint32_t n_levels; } dfl_transfer_ends;

/* Plan of the time of a mapping. */
typedef struct {
    dfl_transfer *transfers;    /* transfers; those of inner bodies precede those of the bodies around them */
    uint32_t n_transfers;
    dfl_body_time *bodies;      /* [body id]: transfers of the body */
    dfl_transfer_ends *ends[2]; /* groups of first tiles that enter together, and of last tiles that leave together (MODEL.md,
                                   section 4) */
    uint32_t n_ends[2];
    dfl_einsum_time *einsums;
    dfl_resource *resources;
    uint32_t n_resources;
    const dfl_crossings *crossings;
    bool *limits;               /* [network]: the network has a bandwidth, and some transfer crosses it */
    uint32_t **links;           /* [crossing][class of its network]: resource; NULL if the network limits nothing */
    double *network_latency;    /* [network]: seconds for each link */
    bool waits_for_links;       /* some network has a latency */
    bool stretched;             /* some memory has an efficiency */
    uint32_t (*ports)[2];       /* [keep]: resources of the reads and the writes of its memory, DFL_NONE without a limit; equal if
                                   the memory has one port */
    uint32_t *beside;           /* [keep]: the first keep in the same instances of the same memory: the two share ports */
    uint32_t *memory;           /* [keep]: memory of the keep */
    double *bits;               /* [keep]: bits of one element */
    dfl_ports *busy;            /* [keep]: seconds of the ports of the evaluation at hand, for the first keep of an instance */
    dfl_moving_transfer *sides;            /* [transfer]: those that move side by side in the stall at hand */
    double *rows;               /* rows of the evaluation at hand, in s */
    uint32_t width;             /* numbers of a row; at least that of all resources */
    const char **bound;         /* [body]: name of the port or unit that bounds the body in the evaluation at hand */
} dfl_time_plan;

/* Rows of a plan: sums, and from DFL_ROW_LOOPS on three for each loop. */
enum { DFL_ROW_SUMS, DFL_ROW_LOOPS };
#define DFL_TIME_ROWS (3 * DFL_MAX_STEPS + DFL_ROW_LOOPS)

/* Plans the time of a mapping. `crossings` must outlive the plan. False after E0609. */
bool dfl_time_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_crossings *crossings, dfl_time_plan *out);
/* Replaces the bandwidths, latencies and rates by those of `like`, a system with the same parts. */
void dfl_time_plan_set_rates(const dfl_nest *nest, const dfl_system *like, dfl_time_plan *out);

#endif
