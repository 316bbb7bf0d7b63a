/*
 * The inside of the search of one template (tile.h), from outside to inside:
 *     spreads          the parts of every rank on every axis (spread.c)
 *     shared loops     which ranks are cut by how much in the gaps above the homes (share.c): that is what other einsums
 *                      see, so rows compete only with others of the same choice
 *     cuts             rank by rank the ways to cut it along the other gaps (cuts.c, tile.c)
 * Each step has a lower bound of energy and time.
 */
#ifndef DFL_MAPPER_SEARCH_H
#define DFL_MAPPER_SEARCH_H

#include "mapper/hole_lattice.h"
#include "mapper/rows.h"
#include "mapper/terms.h"

enum {
    DFL_GAPS = DFL_TEMPLATE_KEEPS + 1,
    DFL_AXIS_SETS = 1 << DFL_JOB_AXES,
    DFL_ORDERS = 24,              /* of DFL_ROW_LOOPS shared loops */
};

/* The ways to cut `left` elements of a rank along the gaps, of which `by` are cut by a shared loop in `gap`. */
typedef struct {
    int64_t left, by;
    uint32_t gap;
    uint32_t count;
    double *n[DFL_GAPS];          /* by gap, then way: iterations of its loops down to there */
    int64_t (*cut)[DFL_GAPS];
    double least[DFL_GAPS], most[DFL_GAPS];
} dfl_cuts;

typedef struct {
    dfl_rows *rows;
    const dfl_job *job;
    const dfl_tiling_template *t;
    dfl_tile_goal *goal;
    uint64_t effort;                               /* rows->evaluated at which to stop looking at spreads, 0 = never */
    dfl_terms terms;
    uint32_t n_gaps;
    uint32_t axes_of[DFL_GAPS];                    /* around keep g; [n_keeps]: around the unit */
    uint32_t last_gap[DFL_JOB_RANKS];              /* in which the rank may be cut */
    double undecided[DFL_JOB_AXES + 1][DFL_TERMS]; /* by axes decided: what those that are left divide a factor by at most */
    uint32_t group_last[DFL_TERM_GROUPS];          /* mask: ranks of the group that are not cut behind its gap */
    double group_least[DFL_TERM_GROUPS], group_most[DFL_TERM_GROUPS]; /* iterations without any axis */
    double floor_joules;                           /* of the template */
    double gains[DFL_TERMS], losses[DFL_TERMS];    /* J by factor, of terms with positive and negative coefficients */
    uint8_t busy[DFL_TERMS];                       /* terms that keep a port busy */
    uint32_t n_busy;
    bool negative[DFL_TERM_GROUPS];                /* groups with a negative coefficient */
    uint32_t cut_above[DFL_GAPS];                  /* mask: ranks that some gap above keep g may cut, shared or not */
    /* keeps in memories of limited size, the ranks that only axes cut above them, and the bits of one element of the others: */
    struct { uint32_t keep, ranks; double bits; } whole_keep[DFL_TEMPLATE_KEEPS];
    uint32_t n_whole_keeps;
    uint32_t own_above[DFL_GAPS];                  /* mask: those that a gap of the einsum's own may cut */
    double need[DFL_JOB_RANKS][DFL_GAPS];          /* iterations of the rank down to a gap, at least: see needs of a template */
    dfl_amounts divisors[DFL_JOB_RANKS];
    uint32_t used_ports[DFL_TERM_PORTS], n_used;
    struct { dfl_cuts *at; size_t n, cap; uint32_t *slots, n_slots; } cached[DFL_JOB_RANKS];
    /* shared loops: */
    uint32_t shared_gap[DFL_JOB_RANKS];
    int64_t shared_by[DFL_JOB_RANKS];              /* 1 = none */
    uint32_t n_shared;
    uint32_t depth[DFL_GAPS];                      /* shared loops above keep g */
    dfl_way ways[DFL_ORDERS];                      /* by order of the loops */
    uint64_t way_hash[DFL_ORDERS];
    uint32_t n_ways;
    double least_joules, least_seconds;            /* of the choice */
    bool placed;                                   /* pieces are of the present node */
    /* of the present spread: */
    int64_t parts[DFL_JOB_AXES][DFL_JOB_RANKS];
    double spread[DFL_AXIS_SETS][DFL_JOB_RANKS];
    double inside[DFL_JOB_OPERANDS][DFL_AXIS_SETS], outside[DFL_JOB_OPERANDS][DFL_AXIS_SETS];
    double whole[DFL_JOB_AXES + 1][DFL_JOB_RANKS]; /* parts on the first axes */
    int64_t left[DFL_JOB_RANKS];
    const dfl_cuts *with[DFL_JOB_RANKS];
    uint32_t order[DFL_JOB_RANKS], n_order;
    double factor[DFL_TERMS];
    double strided[DFL_TERM_GROUPS];               /* how much more windows take once a loop goes on below the axes */
    double joules[DFL_TERM_GROUPS];
    double all_ports[2][DFL_TERM_PORTS][DFL_TERM_GROUPS]; /* of all keeps; without those above shared loops */
    double (*ports)[DFL_TERM_GROUPS];              /* the one that holds for the shared loops chosen */
    double constant, unit_seconds;
    double inner[DFL_GAPS][DFL_JOB_RANKS];         /* elements below keep g on all its axes, if no loop cuts the rank */
    double rest_least[DFL_JOB_RANKS + 1][DFL_TERM_GROUPS], rest_most[DFL_JOB_RANKS + 1][DFL_TERM_GROUPS];
    /* of the present node: */
    uint32_t chosen[DFL_JOB_RANKS];
    double piece[DFL_GAPS][DFL_JOB_RANKS];
    uint32_t most_ways;                            /* of a rank: */
    double *bounds;                                /* joules and seconds of its ways, by depth, and scratch */
    size_t cap_bounds;
    uint32_t *picks;                               /* ways that are left to look at, by depth */
} dfl_search;

/* The ways to cut what the present spread and the shared loops leave of a rank. */
const dfl_cuts *dfl_cuts_of(dfl_search *s, uint32_t rank);

/* Parts that a rank is cut into on a set of axes; those without a choice yet count as one. */
static inline double dfl_spread(const dfl_search *s, uint32_t rank, uint32_t axes) { return s->spread[axes][rank]; }
/* Takes over `parts`. */
void dfl_spread_note(dfl_search *s);
/* What does not depend on the spread. */
void dfl_spread_start(dfl_search *s);
/* Coefficients of the groups for the present spread. */
void dfl_spread_scale(dfl_search *s);
/* What the template costs at least once the shared loops and the first `decided` axes are chosen. */
void dfl_spread_bound(const dfl_search *s, uint32_t decided, double *joules, double *seconds);
/* Calls `search` for every spread that can be of use. */
void dfl_spreads_each(dfl_search *s, void (*search)(dfl_search *s));
/* Whether the spread and the shared loops chosen so far can be of use; notes the least they cost. */
bool dfl_sharing_useful(dfl_search *s);
/* Cuts rank r and those behind it by a shared loop, or not, and searches what each choice leaves. */
void dfl_share_from(dfl_search *s, uint32_t r);
/* The shared loops are chosen: what all rows of the choice have in common, then the cuts. */
void dfl_search_shared(dfl_search *s);
/* Whether there is room once the spread and the shared loops are chosen, with all other loops as long as can be. */
bool dfl_search_room(dfl_search *s);
/* The spread and the shared loops are chosen: rank by rank the cuts. */
void dfl_search_cuts(dfl_search *s);
/* Whether a candidate that costs at least this can still be of use: within the limit and not undercut. */
bool dfl_search_useful(const dfl_search *s, double joules, double seconds);

#endif
