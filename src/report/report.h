/*
 * The results of a file: evaluated mappings, outcomes of checks, summaries of searches. report/print prints results,
 * report/check evaluates expressions over them, report/diff compares them, report/explain prints their derivatives. This
 * folder computes only sums over the tensors of a memory, changes of unit, and shares; the model computes all other
 * numbers.
 */
#ifndef DFL_REPORT_REPORT_H
#define DFL_REPORT_REPORT_H

#include "diag/diag.h"
#include "ir/program.h"
#include "ir/result.h"
#include "support/budget.h"
#include "support/strbuf.h"
#include "support/vec.h"

/* Names of attributes or ports of a system. */
typedef DFL_VEC(const char *) dfl_attribute_list;

typedef enum {
    DFL_STATUS_COMPLETE,   /* evaluated as written */
    DFL_STATUS_FILLED,     /* evaluated after a search filled the holes */
    DFL_STATUS_INFEASIBLE, /* refused; diagnostics give the reason */
} dfl_result_status;

/* How a search filled the holes of a mapping. Texts live as long as the results. */
typedef struct {
    const char *objective;    /* text of the objective in the file */
    const char *first_term;   /* first expression of the objective */
    dfl_dim dim;              /* dimension of the first expression */
    double value;             /* value of the first expression for this mapping, in SI units */
    double lower_bound;       /* lower bound of the first expression over the search space; NAN = not known */
    bool optimal;             /* proven: no mapping of the search space has a lower value */
    bool is_of_front;         /* the mapping is one point of a Pareto set */
    uint32_t top_position;    /* rank of the structure in a top-k search, from 1; 0 = another search */
    double top_value;         /* value of the mapping at position 1 of a top-k search */
    uint64_t evaluated, pruned, refused;
    const char *space;        /* search space: clauses with "; " between them */
    const char *unproven;     /* reasons why the mapping is not proven optimal, with advice: clauses with "; " between them;
                                 NULL if `optimal` */
    uint64_t most_evaluations; /* limit on evaluations in force; 0 = none */
    double time_limit;        /* s; 0 = none */
    double gap_limit;         /* gap at which the search may stop, a share; 0 = none */
    dfl_stop stopped;         /* what ended the search before its end; DFL_STOP_NONE = it came to its end */
    uint32_t max_fused;       /* 1 + largest number of loops that einsums share; 0 = no limit */
} dfl_search_summary;

struct dfl_results;

typedef struct {
    const dfl_mapping *mapping;
    const dfl_result *result; /* costs of the mapping; NULL if the mapping is infeasible */
    dfl_result_status status;
    const dfl_search_summary *search; /* summary of the search; NULL unless the status is FILLED */
    const struct dfl_results *of; /* results of the file of the mapping, in results of several files; else NULL */
} dfl_result_item;

typedef enum {
    DFL_OUTCOME_PASSED,
    DFL_OUTCOME_FAILED,
    DFL_OUTCOME_UNKNOWN, /* not evaluated: a path of the check has no value */
} dfl_outcome;

/* The outcome of one `require`, `expect` or `assume`. */
typedef struct {
    const dfl_check *check;
    dfl_outcome outcome;
    const char *value; /* value of the left side of the check in readable units, or NULL */
    bool has_number;
    double number;     /* value of the left side of the check in SI units */
    const char *word;  /* value of the left side of the check if the value is a text, else NULL */
    const struct dfl_results *of; /* results of the file of the check, in results of several files; else NULL */
} dfl_check_outcome;

/* The value of a `param` that the caller gave in place of the value in the file; both as the caller wrote them. */
typedef struct { const char *name, *value; } dfl_given;

/* The results of one file, or of several files. */
typedef struct dfl_results {
    const char *file;  /* path of the file as the user gave it; reports show only the name after the last slash */
    const dfl_intern *names;
    dfl_sink *sink;
    const dfl_program *program; /* analysed program; NULL if the file has errors */
    const dfl_result_item *items;
    uint32_t n_items;
    const dfl_check_outcome *checks;
    uint32_t n_checks;
    const struct dfl_results *const *parts; /* several files: results of each; `items` and `checks` are those of all parts, and
                                               `file` and `program` belong to the first */
    size_t n_parts;    /* 0 = the results are those of one file */
    dfl_sink *const *sinks; /* several files: diagnostics of each, also of files without results */
    size_t n_sinks;
    const dfl_given *given;
    size_t n_given;
    bool verbose;      /* texts about searches include the search space and the numbers of evaluated choices */
    bool has_sum;      /* reports include the sum of all mappings with costs */
    bool is_blank;     /* type check: the figures of `items` have names and dimensions, but no values */
    bool has_errors;   /* type check: an unknown name may be a declaration with errors */
} dfl_results;

/* Reports E0412 at `at`: the source needs a figure of a template. */
void dfl_report_template(const dfl_results *results, const dfl_template *template, dfl_span at);

/* ---- texts ---- */

const char *dfl_status_text(dfl_result_status status);
const char *dfl_check_kind_text(dfl_check_kind kind);
/* The name of an outcome: "passed", "failed" or "unknown". */
const char *dfl_outcome_text(dfl_outcome outcome);
/* The name of a mapping in a table: NAME, or FILE:NAME in results of several files. */
const char *dfl_report_name(dfl_arena *arena, const dfl_results *results, const dfl_result_item *item);
/* The part of a path after its last slash. */
const char *dfl_report_file(const char *file);
/* The line number of a span in its file, from 1; 0 = the span lies in no file. */
uint32_t dfl_report_line(const dfl_results *results, dfl_span span);
/* The position of a span as text: "line 12", or "lib.dfl line 12" in another file than the file of the results; NULL = the
   span lies in no file. */
const char *dfl_report_place(dfl_arena *arena, const dfl_results *results, dfl_span span);
/* The name of the mapping in the file that it was imported from: TEXT of the line `source_name: TEXT` in its doc comment. NULL
   without such a line. */
const char *dfl_source_name(dfl_arena *arena, const dfl_mapping *mapping);

/* ---- sums ---- */

/* Sums the elements read and written: reads = serve + drain + accumulate, writes = fill + update. Returns true on overflow. */
bool dfl_counts_reads(const dfl_counts *counts, dfl_i128 *out);
bool dfl_counts_writes(const dfl_counts *counts, dfl_i128 *out);
/* Sums the bits read and written in a memory over all tensors and all instances. Returns true on overflow. */
bool dfl_memory_bits(const dfl_result *result, uint32_t memory, dfl_i128 *read, dfl_i128 *written);
/* Bits of a memory by the energy that they cost, those of whole rows in a memory with `access`. `drained` = 0 unless drains have
   an energy of their own, else they are read. */
typedef struct { dfl_i128 read, drained, written; } dfl_charged_bits;
/* Sums the charged bits over all tensors and all instances. Returns true on overflow. */
bool dfl_memory_charged_bits(const dfl_result *result, uint32_t memory, dfl_charged_bits *out);
/* The clock that converts seconds to cycles in a report, Hz: the clock of the outermost element with a clock; 0 = no
   element has a clock. */
double dfl_report_clock(const dfl_system *system);
/* The number of cycles, seconds * clock. A product within a relative distance of 1e-9 from a whole number becomes that number. */
double dfl_report_cycles(const dfl_system *system, double seconds);
/* Names of the declared attributes that do not enter the time of a mapping: "net.bandwidth" and "net.latency" of a network that
   no transfer crosses, and all latencies under `option overlap = perfect`. */
const dfl_attribute_list *dfl_report_untimed(dfl_arena *arena, const dfl_results *results, const dfl_result *result);
/* Names of memories that keep a tensor, or of their ports ("sram.write"), without a declared bandwidth; their transfers
   take no time. */
const dfl_attribute_list *dfl_report_free(dfl_arena *arena, const dfl_results *results, const dfl_result *result);

#endif
