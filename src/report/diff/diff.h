/*
 * Comparison of two results: changes of the mapping, and the parts of energy and time with the causes of their differences.
 * Both sides come from `dfl-report/1` reports, so a stored report and a freshly evaluated file are compared in the same
 * way. Mappings are compared by their shapes: the loops and keeps of each einsum from outer to inner, and the einsums that
 * share loops.
 *
 * A ledger lists the parts of a sum for both sides. Energy has a part for each memory, tensor and action, for each unit and
 * einsum, for each network, and for leakage. Time has a part for each einsum, and one for the time that no single einsum
 * causes. All values of a ledger are rounded to the same decimal place, and adjusted so that the printed parts of a side
 * add up to the printed total of the side, and the printed differences to the printed difference.
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
    const char *axis;          /* axis of a spatial loop; "" for a temporal loop */
    const char *amount;        /* tile size as text: ":128", "/16 cyclic"; "" for tiles of one element */
} dfl_shape_loop;

typedef DFL_VEC(dfl_shape_loop) dfl_shape_loops;

/* The loop nest of one einsum: all loops from the root to the einsum. */
typedef struct { const char *einsum; dfl_shape_loops loops; } dfl_shape_chain;

typedef struct {
    const char *tensor, *memory;
    const char *outer;         /* memory of the next outer keep of the same tensor; NULL = none */
    const char *place;         /* loops around the keep: "below m:128, n" */
    const char *bare_place;    /* `place` without tile sizes: "below m, n" */
} dfl_shape_keep;

/* Einsums that share loops; `how` is "fused" or "pipelined". */
typedef struct { const char *einsums, *how, *loops; } dfl_shape_group;

typedef struct {
    DFL_VEC(dfl_shape_chain) chains;
    DFL_VEC(dfl_shape_keep) keeps; /* all keeps of the mapping in text order */
    const dfl_shape_keep **by_name; /* the keeps sorted by tensor, then memory, then text order */
    DFL_VEC(dfl_shape_group) groups;
    const char *overlap;       /* value of `option overlap`; "" = the option is not set */
} dfl_shape;

/* ---- results ---- */

/* A tensor in a memory. */
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
    bool has_costs;            /* false = an infeasible mapping; all members below are empty */
    double seconds, joules, leakage;
    dfl_i128 mac, flop;
    DFL_VEC(dfl_side_traffic) traffic;
    DFL_VEC(dfl_side_einsum) einsums;
    DFL_VEC(dfl_side_network) networks;
    DFL_VEC(dfl_side_memory) memories;
    const char *mapping;       /* DFL text of the mapping; NULL = the report has none */
    const dfl_shape *shape;    /* shape of the mapping; NULL = the report has no text of the mapping, or the text has syntax
                                  errors */
} dfl_side_result;

typedef DFL_VEC(dfl_side_result) dfl_side_results;

/* Reads the results of a report, without their shapes. `file` is the name of the report in messages. False after E0619. */
bool dfl_diff_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *text, size_t len,
                   dfl_side_results *out);

/* ---- differences ---- */

/* A change of the mapping. `kind` is "fusion", "unit", "keep", "loop" or another category; `what` is the changed part;
   `from` and `to` are the texts of the part on both sides, NULL on a side without the part; `einsums` names the einsums of
   a loop, or is NULL. */
typedef struct { const char *kind, *what, *from, *to, *einsums; } dfl_change;
typedef DFL_VEC(dfl_change) dfl_changes;

/* A part of a sum on both sides. */
typedef struct {
    const char *where;         /* name of a memory, compute unit, network or einsum; or "leakage", "shared", "not attributed" */
    const char *what;          /* tensor in a memory, einsum on a unit; "" = none */
    const char *action;        /* action of a memory as "serve", or "compute", "transfer"; "" = none */
    double from, to;           /* value of the part on both sides (in J or s) */
    bool has_counts;
    dfl_i128 count_from, count_to; /* elements that the action moves, or points of the einsum */
    const char *cause;         /* cause of the difference; NULL = the part is equal on both sides */
    dfl_i128 units_from, units_to; /* rounded `from` and `to`, in units of the ledger */
} dfl_ledger_part;

typedef struct {
    DFL_VEC(dfl_ledger_part) parts; /* parts, largest difference first, then in the order of the reports */
    double from, to;           /* totals (in J or s) */
    dfl_i128 units_from, units_to;
    int decimals;              /* number of decimal places: the unit of the ledger is 10^-decimals J or s */
} dfl_ledger;

typedef struct {
    const dfl_side_result *from, *to;
    dfl_changes changes;
    const char *spread, *loops; /* causes of different counts as text: `spread` for changed loops on an axis, `loops` for any
                                   changed loop; NULL = no such change */
    dfl_ledger energy, time;
    bool differs;              /* the sides differ in at least one change or part of a ledger */
} dfl_diff_pair;

typedef struct {
    DFL_VEC(dfl_diff_pair) pairs;
    DFL_VEC(const dfl_side_result *) only_from, only_to;
    bool differs;
} dfl_difference;

/* Compares the results of both sides: a single result with a single result, else results of equal names. */
void dfl_diff_compare(dfl_arena *arena, const dfl_side_results *from, const dfl_side_results *to, dfl_difference *out);
void dfl_diff_text(dfl_strbuf *out, dfl_difference *difference, bool details);
void dfl_diff_json(dfl_strbuf *out, dfl_difference *difference);
/* Prints a short comparison: the first changes, and the differences of energy and latency as sums of their largest parts
   and the rest. */
void dfl_diff_summary(dfl_strbuf *out, dfl_diff_pair *pair);

/* ---- shared by the files of this folder ---- */

/* The loops over `rank`, or all loops for NULL, as text: "m:128, m/16 on row" with `amounts`, else without tile sizes. NULL
   = no such loop. */
const char *dfl_shape_text(dfl_arena *arena, const dfl_shape_loops *loops, const char *rank, bool amounts);
/* Sorts the keeps into `by_name`. */
void dfl_shape_index(dfl_arena *arena, dfl_shape *shape);
/* Adds the changes between the shapes of the pair. */
void dfl_diff_shapes(dfl_arena *arena, dfl_diff_pair *pair);
/* The cause of a different count of an action: a changed keep of the tensor in the memory or in an adjacent memory, or
   changed loops. NULL = the shapes show no cause. */
const char *dfl_diff_cause(dfl_arena *arena, const dfl_diff_pair *pair, const char *memory, const char *tensor,
                           dfl_action action);
/* Fills both ledgers of the pair with parts and causes; does not round. */
void dfl_ledgers_compute(dfl_arena *arena, dfl_diff_pair *pair);
/* Rounds all parts to the decimal place that gives the larger total `digits` digits. */
void dfl_ledger_round(dfl_arena *arena, dfl_ledger *ledger, int digits);

#endif
