/*
 * What there is to choose for one einsum on one compute unit, in the numbers that the search multiplies. A problem has
 * ranks, operands (the inputs, then the output), places (the memories that the unit sees, outer first) and axes (the
 * arrays around the unit, outer first); sets of any of them are bit masks. Rates are turned into seconds, energies
 * into joules per bit. Two problems with equal numbers are one class: they are searched once, whatever their names are.
 */
#ifndef DFL_MAPPER_PROBLEM_EINSUM_PROBLEM_H
#define DFL_MAPPER_PROBLEM_EINSUM_PROBLEM_H

#include "diag/diag.h"
#include "ir/mapping.h"
#include "mapper/problem/factors.h"
#include "support/vec.h"

enum {
    DFL_PROBLEM_RANKS = 12,
    DFL_PROBLEM_OPERANDS = 5,
    DFL_PROBLEM_DIMS = 8,
    DFL_PROBLEM_PLACES = 8,
    DFL_PROBLEM_WAITING = 12,     /* einsums of workloads in which waits count: of more there are too many sums to compare */
    DFL_PROBLEM_FILLED = 1 << 12, /* instances of an axis of which it is found out how many the ranks can fill */
    DFL_PROBLEM_AXES = 6,
    DFL_PROBLEM_KEEPS = 21,       /* keeps of a skeleton inside of the homes: seven memories, three operands */
    DFL_PROBLEM_CLAIMED = 16,     /* the same of a search with a certificate: its check knows no more */
};

/* One dimension of an operand's access: 1 + sum of coef * (piece of the rank - 1) elements. */
typedef struct {
    uint32_t n;
    uint8_t rank[4];
    int64_t coef[4];
    uint32_t main;            /* term of the rank with the largest extent */
    uint32_t inside;          /* 1 if the other ranks have values with which all values of that one are in the shape, else 0 */
    double touched;           /* values of the index in the shape, at least */
    double outside;           /* values of the index outside of it */
    double row;               /* values of the main rank with the index in the shape, for any values of the others, at least */
    double points;            /* values of all its ranks together with the index in the shape, at least */
} dfl_problem_dim;

typedef struct {
    uint32_t tensor;          /* of the workload */
    bool output;
    bool shared;              /* an intermediate: where it is exchanged is for the search to choose */
    uint32_t bits;            /* of an element */
    uint32_t ranks;           /* mask: all that index it */
    uint32_t plain;           /* mask: those alone in their dimension, with coefficient 1 */
    uint32_t n_dims;
    dfl_problem_dim dims[DFL_PROBLEM_DIMS];
    double elements;          /* that the einsum touches in all, with those between and outside of the shape; */
    double touched;           /* without, at least */
    uint32_t home;            /* place of the outermost memory that may hold it, or of the home that is written; DFL_NONE: it is
                                 shared, and always exchanged in one of `places` */
    bool settled;             /* the home is written: it is exchanged there */
    bool several;             /* more than one einsum reads it */
    uint32_t places;          /* mask: those inside of `home`, or all, that may hold it */
    bool again;               /* the unit reads it only when it changes; its last place is then the unit (SEARCH.md, D8) */
    uint32_t common;          /* mask: those in which one keep may serve several einsums that read it; see shared_inputs.h */
    uint32_t sharers;         /* number of einsums that read it, if each bears a share of the fetches of a keep in `common`
                                 (SEARCH.md, B46); else 0 */
} dfl_problem_operand;

/* A memory, or what the unit holds of an operand that it reads only when it changes: one element that costs nothing. */
typedef struct {
    uint32_t memory;          /* DFL_NONE: the unit */
    uint32_t axes;            /* mask: those around it */
    double bits;              /* capacity, INFINITY = unlimited */
    double read_joules, write_joules, read_seconds, write_seconds; /* per bit, of one instance */
    double drain_joules, drain_seconds; /* per bit of a result that leaves for the next outer keep */
    bool one_port;
    uint32_t buffers;
    bool waits;               /* work stands still while its keeps are filled and drained, as far as time is counted that way */
} dfl_problem_place;

typedef struct {
    uint32_t axis;
    int64_t size;
    uint32_t shared;          /* mask of operands: multicast inputs, a reduced output */
    uint32_t ranks;           /* mask: those that may be spread over it; */
    uint32_t others;          /* those of them that do so only where more instances are at work than can be with those that */
    uint32_t sharing;         /* share transfers: see dfl_problem_filled */
    double link_seconds;      /* s per bit on the link between its network and the memory outside; 0 = the link takes no time */
    uint32_t link;            /* where it takes time: first axis of the same network, which names the link */
    bool one_link;            /* both directions share the link, as on a bus */
    double joules;            /* per bit that an instance gets or gives across it; on one axis of each network, the first of
                                 its array; */
    uint32_t upto;            /* then: mask of the axes of that array and of those outside of it */
} dfl_problem_axis;

typedef struct {
    uint32_t einsum, unit;
    uint32_t n_ranks, n_operands, n_places, n_axes;
    uint32_t rank[DFL_PROBLEM_RANKS]; /* of the workload */
    int64_t extent[DFL_PROBLEM_RANKS];
    dfl_problem_operand operand[DFL_PROBLEM_OPERANDS];
    dfl_problem_place place[DFL_PROBLEM_PLACES];
    dfl_problem_axis axis[DFL_PROBLEM_AXES];
    double at_work[DFL_PROBLEM_AXES + 1]; /* instances of the axes from that one on that parts keep busy at most */
    double points;                  /* of the iteration space */
    double joules, seconds;         /* of the unit, per point */
    bool windows;                   /* some dimension is a sum of ranks */
    const struct dfl_fixed_lines *given; /* its written lines (fixed_lines.h), NULL = none */
    bool common_loops;              /* loops may be shared for nothing but a keep for several einsums: see shared_inputs.h */
    bool slid_loops;                /* loops may be shared over ranks along which windows of what is exchanged slide */
    bool waits;                     /* transfers take time besides the work */
} dfl_problem;

/* Product of the sizes of the axes of a mask. */
static inline double dfl_problem_instances(const dfl_problem *problem, uint32_t axes)
{
    double n = 1;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        n *= axes >> a & 1 ? (double)problem->axis[a].size : 1;
    return n;
}

/* Whether where other einsums find the operand is a choice. */
static inline bool dfl_problem_exchanged(const dfl_problem_operand *o) { return o->shared || o->common != 0; }

/* The outermost place that may hold the operand. */
static inline uint32_t dfl_problem_outermost(const dfl_problem_operand *o)
{
    return o->home != DFL_NONE ? o->home : (uint32_t)__builtin_ctz(o->places);
}

/* Choices that restrict a search. */
typedef struct {
    bool unjoined;                  /* no join follows: any number of memories in which einsums compete, and of live tensors, and
                                       shared loops along windows */
    bool homes_only;                /* no arrays and no keeps but homes: what takes the least room */
    bool common_loops;              /* see dfl_problem */
    bool overlapped;                /* time is counted as if transfers waited for nothing */
    bool plain;                     /* templates have the bounds that a certificate tells, which do not look at room */
    bool any_size;                  /* no memory that has a size counts as one with room for everything */
    bool holds;                     /* units with `operand_reuse` are supported: the unit is a place of its operands (D8) */
    bool spread;                    /* any rank over any axis, as where lines are written, even if transfers are shared and others
                                       share none there */
    uint32_t counted;               /* memory whose peak counts: 1 + number, 0 = none */
} dfl_problem_limits;

/*
 * The problem of an einsum on a unit; false if the unit cannot run it, or if the search does not support it: then `*lack` is the
 * clause that says what it does not support, a static text. `roomy` is by memory.
 */
bool dfl_problem_make(const dfl_intern *names, const dfl_mapping *m, uint32_t einsum, uint32_t unit,
                      const dfl_problem_limits *limits, const bool *roomy, dfl_problem *out, const char **lack);
typedef DFL_VEC(dfl_problem *) dfl_problems;
/* The problems of an einsum on all units that can run it, or on the one that the mapping names; `*lack`, NULL before, is the
   first clause that says what the search does not support on one of them. */
dfl_problems dfl_problems_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, uint32_t einsum,
                               const dfl_problem_limits *limits, const bool *roomy, const char **lack);
static inline const dfl_problem *const *dfl_problems_list(const dfl_problems *problems)
{
    return (const dfl_problem *const *)problems->at;
}
/* What the search does not support of an einsum on some unit that can run it, as above; NULL if there is nothing. */
const char *dfl_problem_lack(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, uint32_t einsum);
/*
 * By memory: whether all that it may hold has its home there, and it has room for all of that at once, or has no size. What
 * einsums exchange there as a whole is in nobody's way, and need not be looked at in parts. Not so the memory that counts.
 */
const bool *dfl_space_roomy(dfl_arena *arena, const dfl_mapping *m, const dfl_problem_limits *limits);
/* Whether tiles of some tensor may hold less than a search takes them to: windows with gaps, or outside of the shape. */
bool dfl_space_overstates(const dfl_workload *w);
/* The outermost memory that may hold the tensor, or the last one. */
uint32_t dfl_space_outermost(const dfl_mapping *m, uint32_t tensor);
/* The most instances of an axis that are at work with the ranks that share transfers, where so many parts of each are on axes
   outside of it; 0 where there are no others. */
double dfl_problem_filled(const dfl_problem *problem, uint32_t axis, const double *outside);
/* Whether a dimension of an operand is not a rank alone: parts of its tiles may stay. */
bool dfl_problem_slides(const dfl_problem *problem);
/* Sets the divisors of all extents, by rank. */
void dfl_problem_divide(dfl_arena *arena, const dfl_problem *problem, dfl_amounts *out);
/* Whether both have the same numbers. */
bool dfl_problem_same(const dfl_problem *a, const dfl_problem *b);
/* The operand that is a tensor, the rank that is one of the workload; their number if there is none. */
uint32_t dfl_problem_find_operand(const dfl_problem *problem, uint32_t tensor);
uint32_t dfl_problem_find_rank(const dfl_problem *problem, uint32_t rank);
/* Elements of the operand's tile when rank r has pieces of piece[r]: at least those within the shape. */
double dfl_problem_tile(const dfl_problem_operand *o, const int64_t *piece);

#endif
