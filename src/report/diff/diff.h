/*
 * Two results compared: what is mapped otherwise, and what that does to energy and time. Both sides are results of
 * `dfl-report/1`, so that reports of other days and files evaluated now are one. The mapping is compared by its shape,
 * as far as there is one: for each einsum the loops and keeps from outer to inner, and which einsums share loops.
 *
 * A difference of energy is the sum of its parts, one for each memory, tensor and action, unit and einsum, network, and
 * leakage; a difference of time has a part for each einsum, and one for what no einsum takes alone. A ledger rounds
 * them to one decimal place, so that printed parts of a side add up to its printed total, and their differences to its
 * difference.
 */
#ifndef DFL_REPORT_DIFF_DIFF_H
#define DFL_REPORT_DIFF_DIFF_H

#include "diag/diag.h"
#include "report/figures.h"
#include "support/json.h"
#include "support/strbuf.h"
#include "support/vec.h"

/* ---- shapes of mappings ---- */

typedef struct {
    const char *rank;
    const char *axis;          /* "" for temporal loops */
    const char *amount;        /* ":128", "/16 cyclic", "" */
} dfl_shape_loop;

typedef DFL_VEC(dfl_shape_loop) dfl_shape_loops;

/* All loops from the root to one einsum. */
typedef struct { const char *einsum; dfl_shape_loops loops; } dfl_shape_chain;

typedef struct {
    const char *tensor, *memory;
    const char *outer;         /* memory of the next keep of the tensor further out; NULL = none */
    const char *place, *bare;  /* "below m:128, n", and without the tiles */
} dfl_shape_keep;

/* Einsums that run in turns, or side by side, below loops that they share. */
typedef struct { const char *einsums, *how, *loops; } dfl_shape_group;

typedef struct {
    DFL_VEC(dfl_shape_chain) chains;
    DFL_VEC(dfl_shape_keep) keeps; /* in text order */
    const dfl_shape_keep **by_name; /* by tensor, then memory, then text order */
    DFL_VEC(dfl_shape_group) groups;
    const char *overlap;       /* "perfect", or "" */
} dfl_shape;

/* ---- results ---- */

typedef struct {
    const char *memory, *tensor;
    dfl_i128 counts[DFL_ACTIONS];
    double joules[DFL_ACTIONS];
} dfl_side_traffic;

typedef struct { const char *name, *unit, *bound_by; double seconds, joules; dfl_i128 points; } dfl_side_einsum;
typedef struct { const char *name; double joules; } dfl_side_network;
typedef struct { const char *name; dfl_i128 peak_bits; } dfl_side_memory;

/* One result of a report. */
typedef struct {
    const char *file, *name, *workload, *system, *status, *bound_by;
    bool costs;                /* else infeasible: all below is empty */
    double seconds, joules, leakage;
    dfl_i128 mac, flop;
    DFL_VEC(dfl_side_traffic) traffic;
    DFL_VEC(dfl_side_einsum) einsums;
    DFL_VEC(dfl_side_network) networks;
    DFL_VEC(dfl_side_memory) memories;
    const char *mapping;       /* text; NULL when the report has none */
    const dfl_shape *shape;    /* NULL without the text, or when it cannot be read */
} dfl_side_result;

typedef DFL_VEC(dfl_side_result) dfl_side_results;

/* The results of a report; `file` is what messages call it. False after E0619. */
bool dfl_diff_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *text, size_t len,
                   dfl_side_results *out);

/* ---- differences ---- */

/* What is mapped otherwise: "fusion", "unit", "keep", "loop", ... `from` or `to` is NULL where there is none. */
typedef struct { const char *kind, *what, *from, *to, *einsums; } dfl_change;
typedef DFL_VEC(dfl_change) dfl_changes;

/* A part of a sum on both sides; `where` is a memory, unit, network or einsum. */
typedef struct {
    const char *where, *what, *how;
    double from, to;
    bool counted;
    dfl_i128 count_from, count_to;
    const char *cause;         /* NULL when nothing changed */
    dfl_i128 units_from, units_to; /* rounded: multiples of the ledger's unit */
} dfl_ledger_part;

typedef struct {
    DFL_VEC(dfl_ledger_part) parts;   /* largest difference first, then as the reports have them */
    double from, to;           /* totals */
    dfl_i128 units_from, units_to;
    int decimals;              /* the unit is 10^-decimals */
} dfl_ledger;

typedef struct {
    const dfl_side_result *from, *to;
    dfl_changes changes;
    const char *spread, *loops; /* what of them changes how often operands are read; NULL = nothing */
    dfl_ledger energy, time;
    bool differs;
} dfl_diff_pair;

typedef struct {
    DFL_VEC(dfl_diff_pair) pairs;
    DFL_VEC(const dfl_side_result *) only_from, only_to;
    bool differs;
} dfl_difference;

/* Compares the results of both sides: one with one, else those of equal names. */
void dfl_diff_compare(dfl_arena *arena, const dfl_side_results *from, const dfl_side_results *to, dfl_difference *out);
void dfl_diff_text(dfl_strbuf *out, dfl_difference *difference, bool details);
void dfl_diff_json(dfl_strbuf *out, dfl_difference *difference);
/* The first changes, and what energy and latency differ by as sums of their largest parts and all else. */
void dfl_diff_brief(dfl_strbuf *out, dfl_diff_pair *pair);

/* ---- inside ---- */

/* "m:128, m/16 on row": the loops, or those of one rank; with or without their tiles. NULL when there is none. */
const char *dfl_shape_text(dfl_arena *arena, const dfl_shape_loops *loops, const char *rank, bool amounts);
/* Fills by_name. */
void dfl_shape_index(dfl_arena *arena, dfl_shape *shape);
void dfl_diff_shapes(dfl_arena *arena, dfl_diff_pair *pair);
/* Why what moves at `memory` changed: a keep of the tensor there, or one further in. NULL when no line tells. */
const char *dfl_diff_cause(dfl_arena *arena, const dfl_diff_pair *pair, const char *memory, const char *tensor,
                           dfl_action action);
void dfl_ledger_fill(dfl_arena *arena, dfl_diff_pair *pair);
/* Rounds to `digits` digits of the larger total. */
void dfl_ledger_settle(dfl_arena *arena, dfl_ledger *ledger, int digits);

#endif
