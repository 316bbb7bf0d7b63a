/*
 * The plans over chips that an open plan stands for: every combination of its open amounts. A combination has a number, whose
 * digits are the amounts, the last hole as the lowest digit.
 */
#ifndef DFL_SOLVE_PLAN_SPACE_H
#define DFL_SOLVE_PLAN_SPACE_H

#include "diag/diag.h"
#include "ir/mapping.h"

/* An open amount and what it may be. */
typedef struct {
    uint32_t line;                     /* of the root */
    bool is_spatial;
    dfl_by by;
    int64_t *amounts; uint32_t n;      /* ascending */
    uint32_t at;                       /* index of the present amount */
} dfl_open_amount;

typedef struct {
    const dfl_mapping *given;
    dfl_open_amount *holes; uint32_t n_holes;
    uint64_t combinations;
} dfl_plan_space;

/* Collects the open amounts of a plan. False after a report: their combinations have no number of 63 bits. */
bool dfl_plan_space_find(dfl_arena *arena, dfl_sink *sink, const dfl_mapping *given, dfl_plan_space *out);
/* Reports that a plan leaves more than `most` plans open. Returns false. */
bool dfl_plan_space_report_many(dfl_sink *sink, const dfl_mapping *given, const char *what, double most);
/* The plan with the present amounts, in `arena`. */
dfl_mapping *dfl_plan_space_make(dfl_arena *arena, const dfl_plan_space *space);
/* Sets the amounts of a combination. */
void dfl_plan_space_set(dfl_plan_space *space, uint64_t number);
/* The number of the combination with the present amounts. */
uint64_t dfl_plan_space_number(const dfl_plan_space *space);

#endif
