/*
 * The mapping of a workload whose einsums are searched one by one: their lines below the homes of the tensors, repeats as loops
 * around the einsums of their bodies, and intermediates that move to inner memories.
 */
#ifndef DFL_SOLVE_ASSEMBLY_H
#define DFL_SOLVE_ASSEMBLY_H

#include "solve/line_search.h"
#include "solve/lone_einsum.h"
#include "solve/solve_internal.h"

/* Rounds of quick searches: starts alone; their neighbours; and, under a limit on time alone, more starts, and the search for the
   best lines. */
enum { DFL_QUICK_ROUNDS = 4 };

/* A class of equal einsums, which have the same best lines. */
typedef struct {
    const char *key;         /* text that is equal for the einsums of the class alone */
    uint32_t einsum;         /* first einsum of the class */
    dfl_lone_einsum one;     /* the first einsum alone */
    dfl_found_lines lines;   /* lines in the ranks and tensors of `one` */
    bool is_found;
    uint32_t n;              /* einsums of the class */
    double joules, seconds;  /* of the lines, if find_quickly found them */
} dfl_einsum_kind;

/* The search for a mapping of all einsums, one by one, with what it knows so far. */
typedef struct dfl_assembly {
    dfl_fill *fill;
    dfl_arena *arena;               /* arena of the search; its owner copies the result */
    const dfl_objective *objective;
    const dfl_mapping *given;
    const dfl_workload *workload;
    const dfl_system *system;
    bool *is_carried;               /* [rank]: rank of a repeat that carries a tensor */
    uint32_t *home;                 /* [tensor]: outermost memory that keeps it, DFL_NONE = not known yet */
    bool has_moved;                 /* some home has moved to an inner memory */
    const uint32_t *asked_home;     /* [tensor]: the memory that must be the outermost; NULL = any */
    const struct dfl_assembly *known; /* a search with other homes, with whose lines this one begins; NULL = none */
    DFL_VEC(dfl_einsum_kind) kinds;
    uint32_t *kind_of;              /* [einsum]: index in `kinds` */
    dfl_lone_einsum *ones;          /* [einsum]: the einsum alone */
    dfl_found_lines *found;         /* [einsum]: its lines, in ranks and tensors of the workload */
    uint32_t n_left;                /* kinds that are still to be searched */
    uint64_t evaluated;
    dfl_stop stopped;
    bool is_quick;                  /* lines of a quick search are enough */
    double quick_end[DFL_QUICK_ROUNDS + 1]; /* rounds of quick searches, and all that follows, end then (s of
                                       dfl_deadline_clock; 0 = no limit on time) */
    bool is_long;                   /* the last of these rounds gets a share of the time until the end, too */
    bool climbs;                    /* lines are improved by small changes, too */
    bool reports;                   /* no other search finds a mapping: the first templates are tried whatever the limits, and the
                                       search reports an error if it finds none */
    DFL_VEC(dfl_body *) bodies;
    const dfl_result *costs;        /* of the mapping with the homes before any moves; then of that found; NULL = not known */
} dfl_assembly;

/* What a mapping is worth: legal ones before others, those that meet the requirements before others, then by value. */
typedef struct {
    bool is_met;
    double value; /* INFINITY = not legal */
} dfl_assembly_score;

/* Whether the workload is one einsum, whose outermost memories may stand inside of arrays. */
static inline bool dfl_is_single_einsum(const dfl_workload *w) { return w->n_einsums == 1 && w->n_carries == 0; }
/* Whether the search must end; notes what ended it. */
bool dfl_assembly_is_over(dfl_assembly *a);
/* The mapping with the present lines and homes. */
dfl_mapping *dfl_assembly_make(dfl_assembly *a);
/* The score of a mapping with these costs. */
dfl_assembly_score dfl_assembly_score_of(const dfl_assembly *a, const dfl_result *costs);
/* The score of a mapping; that of a mapping that is not legal if its evaluation takes too many steps or passes `deadline` (in
   seconds of dfl_deadline_clock, 0 = none). Reports nothing. */
dfl_assembly_score dfl_assembly_judge(const dfl_assembly *a, const dfl_mapping *mapping, double deadline);
/* Moves the homes of intermediates to inner memories outside of arrays wherever that makes the mapping better: all that may
   stand in a memory at once, or else each half of them. */
void dfl_assembly_move_homes(dfl_assembly *a);

#endif
