/*
 * The inside of the search of one template (divisors.h), from outside to inside:
 *     spreads          the parts of every rank on every axis (spatial_choices.c), and what they cost (spatial.c)
 *     shared loops     which ranks are cut by how much in the gaps above the homes (shared_loops.c): that is what other einsums
 *                      see, so rows compete only with others of the same choice
 *     cuts             rank by rank the ways to cut it along the other gaps (tile_chains.c, tile.c)
 * Each step has a lower bound of energy and time.
 */
#ifndef DFL_MAPPER_DIVISORS_DIVISORS_INTERNAL_H
#define DFL_MAPPER_DIVISORS_DIVISORS_INTERNAL_H

#include "mapper/divisors/pareto_set.h"
#include "mapper/divisors/spatial.h"
#include "mapper/problem/factors.h"
#include "mapper/skeleton/cost_terms.h"

enum {
    DFL_AXIS_SETS = 1 << DFL_PROBLEM_AXES,
    DFL_ORDERS = 24, /* of DFL_ROW_LOOPS shared loops */
};

typedef struct dfl_search {
    dfl_pareto_set *rows;
    const dfl_problem *problem;
    const dfl_tiling_template *t;
    dfl_tile_goal *goal;
    uint64_t effort;                               /* rows->evaluated at which to stop, 0 = never */
    bool spent;                                    /* it did */
    bool again;                                    /* prepared for any goal with `best_only` and no tracks */
    uint32_t n_gaps;
    uint32_t n_busy, ports, n_used;                /* terms, ports, a mask, and how many */
    uint32_t last_gap[DFL_PROBLEM_RANKS];          /* in which the rank may be cut */
    uint32_t own_gaps[DFL_PROBLEM_RANKS];          /* of loops of the einsum's own, */
    uint32_t own_needs[DFL_PROBLEM_RANKS];         /* mask of those that need one */
    uint32_t own_costs[DFL_PROBLEM_RANKS], own_rooms[DFL_PROBLEM_RANKS]; /* masks of gaps: see dfl_cuts */
    uint32_t n_whole_keeps;
    dfl_cut_tables tables;                         /* of this template alone */
    uint32_t n_shared;
    dfl_spatials spreads;                          /* all that are of use */
    size_t cap_bounds;
    uint32_t most_ways;                            /* of a rank: */
    double *bounds;                                /* joules and seconds of its ways, by depth, and scratch */
    uint32_t *picks;                               /* ways that are left to look at, by depth */
    /* what stands above is zero when a template is begun, what follows is set before it is used */
    dfl_terms terms;
    uint32_t axes_of[DFL_GAPS];                    /* around keep g; [n_keeps]: around the unit */
    dfl_axis_bound axis[DFL_PROBLEM_AXES];
    double undecided[DFL_PROBLEM_AXES + 1][DFL_TERMS]; /* by axes decided: what those that are left divide a factor by at most */
    uint32_t group_last[DFL_TERM_GROUPS];          /* mask: ranks of the group that are not cut behind its gap */
    double group_least[DFL_TERM_GROUPS], group_most[DFL_TERM_GROUPS]; /* iterations without any axis */
    double floor_joules;                           /* of the template */
    double gains[DFL_TERMS], losses[DFL_TERMS], sure[DFL_TERMS]; /* J by factor: positive, negative, all but what is taken back */
    uint8_t busy[DFL_TERMS];                       /* terms that keep a port busy */
    bool negative[DFL_TERM_GROUPS];                /* groups with a negative coefficient */
    uint32_t cut_above[DFL_GAPS];                  /* mask: ranks that some gap above keep g may cut, shared or not */
    /* keeps in memories of limited size, the ranks that only axes cut above them, and the bits of one element of the others: */
    struct { uint32_t keep, ranks; double bits; } whole_keep[DFL_TEMPLATE_KEEPS];
    bool limited[DFL_GAPS];                        /* keeps in memories of limited size */
    uint32_t own_above[DFL_GAPS];                  /* mask: those that a gap of the einsum's own may cut */
    uint8_t cut_at[DFL_PROBLEM_RANKS][DFL_GAPS];   /* of the own gaps of the rank, how many stand before that place */
    double need[DFL_PROBLEM_RANKS][DFL_GAPS];      /* iterations of the rank down to a gap, at least: see needs of a template */
    dfl_amounts divisors[DFL_PROBLEM_RANKS];
    uint8_t port_at[DFL_TERM_PORTS];               /* which of those in use a port is */
    double constant;                               /* J, whatever is chosen */
    uint32_t n_sets, set_of[DFL_GAPS];             /* by gap of the last shared loop: see port_time.h */
    uint32_t apart[DFL_GAPS];                      /* [set]: keeps before that one are left out */
    /* shared loops: */
    uint32_t shared_gap[DFL_PROBLEM_RANKS];
    int64_t shared_by[DFL_PROBLEM_RANKS];          /* 1 = none */
    const dfl_pass_through_way *through;           /* the loops in their order; NULL: any */
    uint32_t depth[DFL_GAPS];                      /* shared loops above keep g */
    dfl_way ways[DFL_ORDERS];                      /* by order of the loops */
    uint64_t way_hash[DFL_ORDERS], way_kind[DFL_ORDERS];
    dfl_criteria way_more[DFL_ORDERS + 1];         /* what the neighbours of the way cost more than the goal's `rest` */
    dfl_criteria rest;                             /* that, while the goal's has the least of it added */
    uint32_t n_ways;
    double loops[DFL_TERM_GROUPS];                 /* at least, of ranks that some gap behind the group can cut */
    double least_joules, least_seconds;            /* of the choice */
    bool placed;                                   /* pieces are of the present node */
    /* of the present spread: */
    int64_t parts[DFL_PROBLEM_AXES][DFL_PROBLEM_RANKS];
    double spread[DFL_AXIS_SETS][DFL_PROBLEM_RANKS];
    double inside[DFL_PROBLEM_OPERANDS][DFL_AXIS_SETS], outside[DFL_PROBLEM_OPERANDS][DFL_AXIS_SETS];
    double whole[DFL_PROBLEM_AXES + 1][DFL_PROBLEM_RANKS]; /* parts on the first axes */
    dfl_spatial *now;
    uint32_t set;                                  /* of its ports, for the shared loops that are chosen */
    const dfl_cuts *with[DFL_PROBLEM_RANKS];
    uint32_t order[DFL_PROBLEM_RANKS], n_order;
    double shared[DFL_TERM_GROUPS];                /* iterations of the shared loops */
    double rest_least[DFL_PROBLEM_RANKS + 1][DFL_TERM_GROUPS], rest_most[DFL_PROBLEM_RANKS + 1][DFL_TERM_GROUPS];
    double overlap[DFL_PROBLEM_RANKS + 1][DFL_TERM_GROUPS]; /* where windows slide, by ranks that are cut: see sliding.h */
    double behind[DFL_PROBLEM_RANKS][DFL_TERM_GROUPS]; /* of the present node at each depth: rest_least of the ranks behind it */
    /* of the present node: */
    uint32_t chosen[DFL_PROBLEM_RANKS];
    double piece[DFL_GAPS][DFL_PROBLEM_RANKS];
} dfl_search;

/* Iterations of the shared loop over a rank, if it stands in `gap` or above. */
static inline double dfl_shared_above(const dfl_search *s, uint32_t rank, uint32_t gap)
{
    return s->shared_gap[rank] <= gap ? (double)s->shared_by[rank] : 1;
}
/* Iterations of the own loops over a rank down to a gap, as they are chosen. */
static inline double dfl_own_loops(const dfl_search *s, uint32_t rank, uint32_t gap)
{
    return s->with[rank]->n[s->cut_at[rank][gap]][s->chosen[rank]];
}
/* Whether it matters how much room keep `i` takes: its memory is of limited size, or its peak is asked for. */
bool dfl_search_room_counts(const dfl_search *s, uint32_t i);
/* Finds where iterations of the own loops cost something, and where they save something: see dfl_cuts. Groups that results take
   back from others count as both, and where windows overlap, or lines are written, all gaps do. */
void dfl_cuts_prepare(dfl_search *s);
/* The ways to cut what the present spread and the shared loops leave of a rank. */
const dfl_cuts *dfl_cuts_of(dfl_search *s, uint32_t rank);
/* Whether the effort is spent; notes it. */
bool dfl_search_spent(dfl_search *s);
/* Elements of the rank below keep i on all its axes, if no loop cuts it. */
static inline double dfl_search_inner(const dfl_search *s, uint32_t i, uint32_t r)
{
    return s->now->inner[i * s->problem->n_ranks + r];
}

/* Parts that a rank is cut into on a set of axes; those without a choice yet count as one. */
static inline double dfl_spatial_parts(const dfl_search *s, uint32_t rank, uint32_t axes) { return s->spread[axes][rank]; }
/* What does not depend on the spread. */
void dfl_spatial_start(dfl_search *s);
/* What factors are at least, and at most where they count negative, if axes from `open` on may have any parts. */
void dfl_spatial_factors(const dfl_search *s, uint32_t decided, uint32_t open, double *low, double *high);
/* What the template costs at least, and what the ports are busy for at least, by port; and in `below` without the keeps above
   shared loops. */
void dfl_spatial_bound(const dfl_search *s, double *joules, double *seconds);
void dfl_spatial_port_time(const dfl_search *s, double *busy, double *below);
/* What does not depend on the goal; then calls `use` for every spread that can be of use. */
void dfl_spatials_prepare(dfl_search *s);
void dfl_spatials_each(dfl_search *s, void (*use)(dfl_search *s));
/* Room for what is chosen. */
dfl_spatial *dfl_spatial_new(const dfl_search *s, dfl_arena *arena);
/* Takes over `parts` and what follows from them to s->now; false if it can be of no use. */
bool dfl_spatial_take(dfl_search *s);
/* Adds s->now to the list, and makes room for the next, unless one of those is as good; drops those that are not. */
void dfl_spatials_add(dfl_search *s, dfl_spatials *all);
/* Takes over the shared loops so far; whether the present spread can be of use with them, and notes the least that costs. */
void dfl_sharing_loops(dfl_search *s);
bool dfl_sharing_useful(dfl_search *s);
/* The present spread without shared loops. */
void dfl_search_alone(dfl_search *s);
/* Every choice of shared loops that is of use with some of `n` spreads, and its rows with each of them; of loops of others. */
void dfl_share(dfl_search *s, dfl_spatial *const *spreads, uint32_t n);
void dfl_share_through(dfl_search *s, dfl_spatial *const *spreads, uint32_t n);
/* Rank by rank the cuts, for the spread and the shared loops that are chosen. */
void dfl_search_cuts(dfl_search *s);
/* Bits of the keeps by shared loops above, in the memories that are shared: at least, while pieces are undecided. */
void dfl_search_fill_room(const dfl_search *s, dfl_pmapping *row);
/* The gaps of the loops of a way. */
void dfl_search_find_gaps(const dfl_search *s, dfl_pmapping *row);
/* Whether a candidate that costs at least this can still be of use: within the limit and not undercut. */
bool dfl_search_useful(const dfl_search *s, double joules, double seconds);

#endif
