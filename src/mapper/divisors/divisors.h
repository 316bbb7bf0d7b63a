/*
 * Tile sizes for the templates of a problem. With the template and the spread over the axes fixed, every count is a sum of
 * terms, each a coefficient times one factor per rank: the iterations of the loops above a gap, for the ranks that do not
 * index the operand. So the search goes rank by rank through the ways to cut the rank along the gaps, multiplies the
 * factors in, and gives up where a lower bound of the energy and the time, or of the room, says that nothing can come of
 * it: terms grow with every factor, and the rest is taken at its least.
 *
 * What is left are rows: one for every way to share loops and memories with other einsums, with the energy, the time
 * and the room that no other row of the same way undercuts in all of them.
 */
#ifndef DFL_MAPPER_DIVISORS_DIVISORS_H
#define DFL_MAPPER_DIVISORS_DIVISORS_H

#include "mapper/problem/criteria.h"
#include "mapper/skeleton/template.h"
#include "support/deadline.h"

enum {
    DFL_ROW_LOOPS = 4,        /* shared loops of one einsum */
    DFL_ROW_TRACKS = 3,       /* memories in which operands may be exchanged */
    DFL_TOP = 64,             /* kinds of mappings (signature.h) */
};

/* What other einsums see of a row; bytes without meaning are 0. */
typedef struct {
    uint32_t n_loops;         /* shared loops, outer first; none with a single iteration */
    uint8_t loop_rank[DFL_ROW_LOOPS];
    int64_t trips[DFL_ROW_LOOPS];
    uint16_t memory[DFL_PROBLEM_OPERANDS]; /* where a shared operand is exchanged, else 0 */
    uint8_t depth[DFL_PROBLEM_OPERANDS]; /* shared loops above that */
} dfl_way;

/* The shared loops of rows of a template with loops of others, and where those of the inputs are that are exchanged and alive, a
   mask, below so many of them; bytes without meaning are 0. */
typedef struct {
    int64_t trips[DFL_ROW_LOOPS];
    uint32_t memory[DFL_PROBLEM_OPERANDS];
    uint8_t n_loops, rank[DFL_ROW_LOOPS], known, depth[DFL_PROBLEM_OPERANDS];
} dfl_pass_through_way;

typedef struct {
    dfl_pass_through_way way;
    dfl_criteria *rest;       /* by pattern of the class: everything else there, at least */
} dfl_pass_request;

typedef struct {
    const dfl_pass_request *at;
    size_t n;
} dfl_pass_requests;

typedef struct {
    dfl_way way;
    double joules;            /* without leakage */
    double seconds;           /* at least: of ports and unit */
    double busy[DFL_PORTS];   /* seconds of the ports of the goal, at least, whatever the row of the pattern */
    double room[DFL_ROW_TRACKS][DFL_ROW_LOOPS + 1]; /* bits of keeps by the loops above; no homes */
    const dfl_tiling_template *form;
    const dfl_problem *problem;
    uint8_t gap[DFL_ROW_LOOPS]; /* of the shared loops */
    const int64_t *cut;       /* iterations of the loops, shared or not: [gap][rank], then parts [axis][rank] */
    uint64_t hash;            /* of the way */
    uint64_t kind;            /* if kinds count (signature.h), else 0 */
    uint32_t next;            /* of the same way to share */
} dfl_pmapping;

/* With cuts of its own. */
const dfl_pmapping *dfl_pmapping_copy(dfl_arena *arena, const dfl_pmapping *row);
/* Shared loops above keep `i` of its template. */
uint32_t dfl_pmapping_loops_above(const dfl_pmapping *row, uint32_t i);
/* Mask of the memories (modulo 32) that the einsum keeps the operand in for itself, and of those above the last of `loops`
   shared loops. */
uint32_t dfl_pmapping_kept(const dfl_pmapping *row, uint32_t operand, uint32_t loops, uint32_t *above);

typedef struct dfl_compatibility dfl_compatibility;

/* What a search is for. A candidate is of use while what costs at least as much as it and `rest` is worth at most `limit`. */
typedef struct {
    dfl_goal of;
    bool by_energy, by_time;  /* whether rows differ in these */
    bool alone;               /* count the time of all transfers, as if nothing else ran beside those above shared loops: more
                                 than it takes at least */
    bool beside;              /* rows compete in what they keep the ports busy, too, and tell it */
    dfl_criteria rest;        /* everything else, and what the einsum itself keeps the ports busy */
    double busy[DFL_PORTS];   /* the latter alone */
    double limit;
    bool best_only;           /* one row is enough, the best: `limit` follows it */
    dfl_deadline *halt;
    dfl_pmapping *best;       /* with `best_only`: where the best row goes that shares no loops, and exchanges
                                 all in the outermost memory, or NULL */
    /* whether some neighbour goes with the way, and how much more than `rest` that costs at least; NULL = all do */
    bool (*wanted)(const dfl_compatibility *filter, const dfl_problem *problem, const dfl_way *way, dfl_criteria *more);
    /* the same for one loop above an operand that is exchanged in the memory */
    bool (*loop_wanted)(const dfl_compatibility *filter, const dfl_problem *problem, uint32_t operand, uint32_t memory,
                        uint32_t rank,
                        int64_t trips);
    const dfl_compatibility *filter;
    const dfl_pass_requests *through; /* for templates with loops of others: these and no others; */
    uint32_t pattern;         /* of the present template */
    const struct dfl_join_between *between; /* for einsums between others, NULL = none (join.h) */
    uint64_t effort;          /* look at no more than about so many nodes of a template, 0 = all */
    double best_joules, best_seconds, seen_seconds; /* with `best_only`: of the best row, and the least of all looked at */
    uint32_t max_loops;       /* shared loops */
    uint32_t top;             /* so many kinds are wanted; 0 = the best of all */
    bool whole_loops;         /* these have all iterations that they can have */
    bool any_keeps;           /* rows go together whatever they keep above loops that they share: for a bound alone */
    uint32_t n_ports;
    uint32_t port[DFL_PORTS]; /* 2 * memory + (1 for writes of their own) */
    uint32_t room;            /* 1 + the track whose peak counts, too; 0 = none */
    uint32_t n_tracks;
    uint32_t track[DFL_ROW_TRACKS];   /* memories */
} dfl_tile_goal;

typedef struct dfl_pareto_set dfl_pareto_set;

/* `scratch` is reset by every search. */
dfl_pareto_set *dfl_pareto_set_new(dfl_arena *arena, dfl_arena *scratch);
/* What every mapping of the template costs at least, and in `busy` the seconds of the ports 2 * place + (1 for writes of their
   own) with all transfers, whatever the room; in `below` without those of keeps above shared loops. The scratch memory is
   reset. */
void dfl_tile_bound(dfl_pareto_set *rows, const dfl_problem *problem, const dfl_tiling_template *t, double *joules,
                    double *seconds, double *busy, double *below);
/* Raises the bounds of the template that was bounded last by what room asks for. */
void dfl_tile_squeeze(dfl_pareto_set *rows, double *joules, double *seconds);
/* Whether something of this cost is worth a look. */
bool dfl_tile_useful(const dfl_tile_goal *goal, double joules, double seconds);
/* Adds the rows of one template. `goal->limit` is lowered with `best_only`. False if its effort has not come to the end. */
bool dfl_tile_search(dfl_pareto_set *rows, const dfl_problem *problem, const dfl_tiling_template *t, dfl_tile_goal *goal);
/* Those that are left, in a fixed order. */
const dfl_pmapping *const *dfl_pareto_set_list(dfl_pareto_set *rows, uint32_t *n);

/* Nodes looked at, and those of them below which nothing was searched. */
uint64_t dfl_pareto_set_evaluated(const dfl_pareto_set *rows);
uint64_t dfl_pareto_set_pruned(const dfl_pareto_set *rows);

#endif
