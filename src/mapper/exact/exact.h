/*
 * The search for the best mapping of a workload when all of it is left open (`...`). Templates of every einsum on every
 * unit that can run it (skeleton/template.h), their tile sizes (divisors/divisors.h), and the join over the operands that
 * einsums exchange (join.h). Exact in its space: candidates are given up only by bounds. The search is repeated with a limit
 * that grows from the sum of the least that every einsum can cost: a best mapping within the limit is the best of all.
 *
 * Rows count no more time than there is, as if transfers overlapped perfectly. The mapping found is evaluated by the model; where
 * its cost is the one that was searched for, it is proven optimal in the space, else the difference is the gap. Where that is the
 * time of ports with transfers above shared loops, another search lets rows compete in it, too.
 */
#ifndef DFL_MAPPER_EXACT_EXACT_H
#define DFL_MAPPER_EXACT_EXACT_H

#include "mapper/problem/request.h"

/* A request with the choices in which the searches for one request differ. */
typedef struct {
    const dfl_objective *objective;
    dfl_search_limits limits;
    dfl_search_space space;
    double ceiling;          /* nothing of a value above it is of use; 0 = all is */
    bool front;              /* all mappings that no other undercuts in energy and time, and the room of the objective */
    double front_limit;      /* of those of at most this value; 0 = of all */
    uint32_t top;            /* the best of each of so many kinds (signature.h), at most DFL_MAP_TOP; 0 = the best of all */
    bool any;                /* any choice of amounts above written branches will do */
    bool certificate;        /* say what the search knows */
} dfl_map_options;

/* A point of a front. */
typedef struct {
    dfl_mapping *mapping;
    double joules, seconds;  /* as the search counts them */
    double room;             /* bits at the peak of the memory of the objective, if there is one */
} dfl_map_point;

typedef struct {
    dfl_mapping *mapping;    /* without holes; NULL = none is below the ceiling */
    double joules, seconds;  /* as the search counts them */
    double objective, lower_bound;
    double floor;            /* a lower bound for tiles that do not divide, too: the einsums by themselves */
    double floor_beside;     /* and when they run at the same time */
    double floor_units;      /* lower bound by the time of the units alone, for exchanges in any memory */
    double floor_lifted;     /* and when keeps of several may stand above their branch (weights.h) */
    bool optimal;
    bool inside;             /* the best of tiles that divide, and of nothing beyond, is proven */
    bool windows, lost;      /* why it is not: some slide; not all states were followed */
    bool any_tiles;          /* the bound is that of all tile sizes; */
    bool ragged;             /* then: see is_ragged of the result */
    bool settled;            /* then: see is_settled of the result */
    bool least;              /* then: see is_least_transfers of the result */
    bool uneven;             /* what was found has tiles that do not divide, though they were not asked for */
    dfl_stop stopped;        /* before the end: the best so far, `lower_bound` is a bound all the same */
    uint64_t evaluated, pruned;
    const char *space;       /* what was searched (space_text.h) */
    const char *certificate; /* what it knows (certificate.h), if that was asked for */
    double certified;        /* the lower bound that follows from it */
    const dfl_map_point *front; /* with that option, fastest first, or the kinds, by value; `mapping` is the first of them */
    uint32_t n_front;
} dfl_map_result;

/* The search without written branches (branches/branches.h), but for one around the only einsum (exact.c). NULL after
   reporting, or with `*fits` false where nothing fits: then nothing is reported. */
dfl_map_result *dfl_mapper_alone(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                 const dfl_map_options *options, bool *fits);

#endif
