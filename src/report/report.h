/*
 * What a run found, printed: as text for people (one screen a mapping), as JSON `dfl-report/1` for programs, as CSV
 * for spreadsheets. Everything here only shows what the model counted: sums over a memory's tensors, changes of unit
 * and shares are all the arithmetic there is. Reports name files without directories and carry no time, so equal
 * results are equal bytes.
 */
#ifndef DFL_REPORT_REPORT_H
#define DFL_REPORT_REPORT_H

#include "diag/diag.h"
#include "ir/program.h"
#include "ir/result.h"
#include "support/strbuf.h"
#include "support/vec.h"

typedef DFL_VEC(const char *) dfl_attribute_list;

typedef enum {
    DFL_STATUS_COMPLETE,   /* as written */
    DFL_STATUS_FILLED,     /* holes filled by the mapper */
    DFL_STATUS_INFEASIBLE, /* refused: the diagnostics say why, there is no result */
} dfl_result_status;

/* How the holes of a mapping were filled. */
typedef struct {
    const char *objective;    /* as written */
    const char *first;        /* its first expression */
    dfl_dim dim;              /* of that */
    double value;             /* of it, in SI units */
    double lower_bound;       /* no mapping of the space has less; NAN = not known */
    bool optimal;
    bool front;               /* the mapping is one of those that no other undercuts in the objectives */
    uint32_t nth;             /* it is the best of the kind of this number, from 1; 0 = kinds do not count */
    double best;              /* nth: value of the first kind */
    uint64_t evaluated, pruned, refused;
    const char *space;        /* "amounts of 3 loops, perfect tiles"; clauses with "; " between them */
    const char *unproven;     /* why it is not proven and what to do, clauses; NULL if it is */
    uint64_t most_evaluations;/* limits in force; 0 = none */
    double time_limit;
    uint32_t max_fused;       /* 1 + loops that einsums may share */
} dfl_search_found;

typedef struct {
    const dfl_mapping *mapping;
    const dfl_result *result; /* NULL when infeasible */
    dfl_result_status status;
    const dfl_search_found *search; /* NULL unless it was filled */
} dfl_result_item;

typedef enum {
    DFL_OUTCOME_PASSED,
    DFL_OUTCOME_FAILED,
    DFL_OUTCOME_UNKNOWN, /* not evaluated: a part of it names no result, or has none */
} dfl_outcome;

/* What became of one `require`, `expect` or `assume`. */
typedef struct {
    const dfl_check *check;
    dfl_outcome outcome;
    const char *value; /* the left side in human units, or NULL */
    bool has_number;
    double number;     /* the left side in SI units */
    const char *word;  /* the left side when it is a text, else NULL */
} dfl_check_outcome;

/* Everything that was found out about one file. */
typedef struct {
    const char *file;  /* as the user named it; reports show the part behind the last `/` */
    const dfl_intern *names;
    dfl_sink *sink;
    const dfl_program *program; /* NULL when the file has errors */
    const dfl_result_item *items;
    uint32_t n_items;
    const dfl_check_outcome *checks;
    uint32_t n_checks;
    bool blank;        /* the figures of `items` are blanks: only which there are and their dimensions count */
    bool broken;       /* the file has errors: a name without figures may be declared where one is */
} dfl_results;

/* E0412 at `at`: something asks for a figure of a template. */
void dfl_report_template(const dfl_results *results, const dfl_template *t, dfl_span at);

/* ---- shared by the printers ---- */

const char *dfl_status_text(dfl_result_status status);
const char *dfl_check_kind_text(dfl_check_kind kind);
/* "passed", "failed", "unknown". */
const char *dfl_outcome_text(dfl_outcome outcome);
/* The part of a file name behind its last slash. */
const char *dfl_report_file(const char *file);
/* Line of a span in its file, 0 for nowhere. */
uint32_t dfl_report_line(const dfl_results *results, dfl_span span);
/* "line 12", with the file before it when it is not the one asked for; NULL for nowhere. */
const char *dfl_report_place(dfl_arena *arena, const dfl_results *results, dfl_span span);
/* reads = serve + drain + accumulate; writes = fill + update. True on overflow. */
bool dfl_counts_reads(const dfl_counts *counts, dfl_i128 *out);
bool dfl_counts_writes(const dfl_counts *counts, dfl_i128 *out);
/* Bits that all tensors together read and write in a memory, over all instances. True on overflow. */
bool dfl_memory_bits(const dfl_result *result, uint32_t memory, dfl_i128 *read, dfl_i128 *written);
/* The clock that cycles of a report are counted in: that of the outermost element that has one; 0 without any. */
double dfl_report_clock(const dfl_system *system);
/* seconds * clock; a value within 1e-9 of a whole number of cycles is that number. */
double dfl_report_cycles(const dfl_system *system, double seconds);
/* Attributes that the system declares about time and the model does not use: "net.bandwidth", "dram.latency". */
const dfl_attribute_list *dfl_report_untimed(dfl_arena *arena, const dfl_results *results, const dfl_system *system);
/* Memories that keep something, or ports of such memories ("sram.write"), without a declared bandwidth: they take no time. */
const dfl_attribute_list *dfl_report_free(dfl_arena *arena, const dfl_results *results, const dfl_result *result);
/* What the doc comment's line `source_name: TEXT` says, or NULL. */
const char *dfl_source_name(dfl_arena *arena, const dfl_mapping *mapping);

#endif
