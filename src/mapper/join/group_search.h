/*
 * One fused group: neighbouring einsums that exchange some tensors in one memory below shared loops. Given the tiles below these
 * loops, each einsum is searched by itself (pattern_search.h); one tile changes by a factor, or two by inverse factors, as long
 * as that makes the group better. Nothing is proven.
 */
#ifndef DFL_MAPPER_JOIN_GROUP_SEARCH_H
#define DFL_MAPPER_JOIN_GROUP_SEARCH_H

#include "mapper/exact/einsum_classes.h"
#include "mapper/join/assemble.h"
#include "mapper/join/pattern_search.h"
#include "mapper/problem/limits.h"
#include "mapper/problem/objective.h"

/* One einsum of a choice, with its costs as bounds count them. */
typedef struct {
    const dfl_form *form;                   /* NULL = nothing fits */
    int64_t *amounts[DFL_PROBLEM_RANKS];
    double cost, joules, seconds;
} dfl_group_einsum;

/* A group and the choices of its einsums. */
typedef struct {
    dfl_fused_group group;
    dfl_group_einsum *choices;              /* by einsum of the group */
    int64_t tile[DFL_PROBLEM_RANKS];        /* below the shared loops, by rank of the search */
    double cost;                            /* sum */
} dfl_group_choice;

/* What the searches of all groups have in common. */
typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_objective *objective;
    dfl_objective line;
    double leakage;                         /* W */
    double joules, seconds;                 /* of a mapping that is known; 0 = none is */
    double split_joules, split_seconds;     /* of the best split so far, J without leakage; 0 = there is none */
    const dfl_einsum_classes *classes;
    dfl_arena *scratch;
    DFL_VEC(dfl_arena *) line_arenas;       /* forms of all lines: choices use them */
    dfl_pattern_forms **forms;              /* by class */
    dfl_pattern_forms **flat;               /* by einsum: for tiles below shared loops; einsums of a class may have the same */
    double *const *resident;                /* by einsum and memory: bits that tiles outside of groups take; NULL = none do */
    dfl_group_einsum *alone;                /* by class */
    dfl_deadline deadline;
    uint64_t nodes;
    uint32_t effort;                        /* factor of nodes and of tiles that are tried */
    bool is_quick;                          /* einsums alone are searched for a short time */
    DFL_VEC(dfl_group_choice) groups;
} dfl_composer;

/* Consecutive einsums that may share loops, and exchange what is between them in one memory. */
typedef struct {
    uint32_t first, n, memory;              /* the first einsum, the number of einsums, the memory */
    double saving;                          /* by the line, at most: costs alone less the least bounds in the group */
    bool is_done;                           /* it was searched */
} dfl_group_run;

/* For qsort: the largest saving first, then the fewest einsums, the first einsum, the memory. */
int dfl_group_run_order(const void *a, const void *b);

/* Tiles below the shared loops of a group, by rank. */
typedef struct { int64_t at[DFL_PROBLEM_RANKS]; } dfl_group_tiles;

/* A group that is being searched. */
typedef struct {
    dfl_composer *k;
    uint32_t first, n, memory;
    uint32_t inside[DFL_GROUP_EINSUMS];     /* by einsum: mask of its operands that are exchanged in `memory` */
    uint32_t pattern[DFL_GROUP_EINSUMS];
    uint32_t n_ranks, rank[DFL_PROBLEM_RANKS]; /* of the workload: those of the shared loops */
    int64_t extent[DFL_PROBLEM_RANKS], tile[DFL_PROBLEM_RANKS];
    dfl_group_einsum choices[DFL_GROUP_EINSUMS];
    double cost;
    double least[DFL_GROUP_EINSUMS];        /* by einsum: lower bound of the line, summed over it and all behind */
    DFL_VEC(dfl_group_tiles) tried;
} dfl_group_search;

static inline const dfl_problem *dfl_composer_problem(const dfl_composer *k, uint32_t e)
{
    return k->classes->problems[e].at[0];
}

static inline const dfl_einsum_class *dfl_composer_class(const dfl_composer *k, uint32_t e)
{
    return &k->classes->at.at[k->classes->of[e]];
}

/* The pattern of an einsum that exchanges the operands in the mask `inside` in `memory`, and all others outermost;
   DFL_NONE = there is none. */
uint32_t dfl_composer_pattern(const dfl_composer *k, uint32_t e, uint32_t inside, uint32_t memory);
/* Searches one einsum for less than `cutoff`; `tile`: below the shared loops, NULL = alone. */
void dfl_composer_search(dfl_composer *k, uint32_t e, uint32_t pattern, const dfl_shared_tile *tile, double cutoff,
                         uint64_t nodes, dfl_group_einsum *out);

/* Sets `inside` and the ranks of the shared loops. False if some einsum exchanges no operand in `memory`. */
bool dfl_group_mark(dfl_group_search *g);
/* The same, and sets the patterns. False also if some einsum has none, or if all is exchanged where it is without
   the group, too. */
bool dfl_group_open(dfl_group_search *g);
/* Searches tiles from the best ones so far, or some whole ranks, and from single elements. `cost` is INFINITY if nothing fits. */
void dfl_group_search_tiles(dfl_group_search *g);
/* The group as it is written: its tensors and its loops. */
dfl_fused_group dfl_group_written(const dfl_group_search *g);

#endif
