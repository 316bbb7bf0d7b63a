/*
 * The plans over chips that an open plan stands for: every combination of its open amounts and decisions. A combination has a
 * number, whose digits are the amounts, the last hole as the lowest digit.
 */
#ifndef DFL_SOLVE_PLAN_SPACE_H
#define DFL_SOLVE_PLAN_SPACE_H

#include "diag/diag.h"
#include "ir/mapping.h"
#include "plan/plan.h"

/* Holes are listed in this order. */
typedef enum {
    DFL_OPEN_DIVIDING,                 /* a decision about a home or a divided rank: it decides which chips have work */
    DFL_OPEN_SPATIAL, DFL_OPEN_TEMPORAL, /* the amount of a line */
    DFL_OPEN_OTHER,                    /* another decision */
} dfl_open_kind;

/* An open amount of a line, or the value of an open decision, and what it may be. */
typedef struct {
    dfl_open_kind kind;
    uint32_t line;                     /* of the root, the first one of its written loop; DFL_NONE = a decision */
    uint32_t decision;                 /* index; DFL_NONE = the amount of a line */
    dfl_by by;
    int64_t *amounts; uint32_t n;      /* ascending */
    uint32_t at;                       /* index of the present amount */
} dfl_open_amount;

typedef struct {
    const dfl_mapping *given;
    dfl_open_amount *holes; uint32_t n_holes;
    uint32_t n_dividing;               /* of the holes, the first ones: decisions that divide */
    uint64_t combinations;
} dfl_plan_space;

/* Collects the open amounts of a plan; `imperfect`: of a temporal line all, also those that do not divide. False after a report:
   their combinations have no number of 63 bits. */
bool dfl_plan_space_find(dfl_arena *arena, dfl_sink *sink, const dfl_mapping *given, bool imperfect, dfl_plan_space *out);
/* Reports that a plan leaves more than `most` plans open. Returns false. */
bool dfl_plan_space_report_many(dfl_sink *sink, const dfl_mapping *given, const char *what, double most);
/* Sets the first combination of the amounts of a kind. */
void dfl_plan_space_reset(dfl_plan_space *space, dfl_open_kind kind);
/* The next combination of the amounts of a kind; false behind the last, all being the first ones then. */
bool dfl_plan_space_next(dfl_plan_space *space, dfl_open_kind kind);
/* The number of combinations of the amounts of a kind. */
uint64_t dfl_plan_space_count(const dfl_plan_space *space, dfl_open_kind kind);
/* The present amount of a hole in words: `b/8 on node`, `interleave 2`, `recompute A, B`. */
const char *dfl_plan_space_text(dfl_arena *arena, const dfl_intern *names, const dfl_plan_space *space, uint32_t hole);
/* The plan with the present amounts, in `arena`. */
dfl_mapping *dfl_plan_space_make(dfl_arena *arena, const dfl_plan_space *space);
/* Sets the amounts of a combination. */
void dfl_plan_space_set(dfl_plan_space *space, uint64_t number);
/* Numbers of the present combination (dfl_plan_key): of what divides chips or cuts passes, and of all but the interleave. */
dfl_plan_key dfl_plan_space_key(const dfl_plan_space *space);
/* The number of the combination with the present amounts. */
uint64_t dfl_plan_space_number(const dfl_plan_space *space);

#endif
