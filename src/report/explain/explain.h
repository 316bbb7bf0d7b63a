/*
 * Why a mapping costs what it does: the derivatives of its objective, latency and energy with respect to the numbers
 * of the system, how far they hold, what bounds each einsum, and how much room is left in the memories. The numbers
 * are those of model/sensitivity.h; here they get names, units and an order. `dfl-why/1` is described by grammar/dfl-
 * why-1.schema.json.
 *
 * An elasticity is the percentage by which something changes when a parameter grows by a percent.
 */
#ifndef DFL_REPORT_EXPLAIN_EXPLAIN_H
#define DFL_REPORT_EXPLAIN_EXPLAIN_H

#include "model/sensitivity.h"
#include "report/diff/diff.h"
#include "report/report.h"

typedef struct {
    const dfl_results *results;      /* file, names and sources */
    const dfl_result_item *item;     /* with a result */
    const dfl_sensitivity *found;
    const char *minimize;            /* the objective of the mapping, as written */
    const char *objective;           /* what is derived: its first expression, or energy * latency where that is over
                                        other figures */
    bool other;                      /* the latter */
    uint32_t n_terms;
    double value, per_joule, per_second;
    dfl_dim dim;                     /* of the value */
    dfl_diff_pair *runner_up;             /* the mapping and the best one of another kind; NULL = not searched */
    double runner_value;
    bool runner_proven;              /* no mapping of another kind is better */
} dfl_explanation;

/* Per unit of a parameter, or per percent in percent. */
typedef struct { double objective, latency, energy; } dfl_derivatives;

void dfl_explanation_text(dfl_strbuf *out, const dfl_explanation *why);
void dfl_explanation_json(dfl_strbuf *out, const dfl_explanation *why);

/* ---- shared by the printers ---- */

/* As the language writes the attribute: "dram.read.bandwidth", "mac.rate.bf16". */
const char *dfl_explanation_parameter_name(dfl_arena *arena, const dfl_explanation *why, const dfl_param *param);
/* "bit/s", "MAC/s", "J/bit", "W". */
const char *dfl_explanation_unit(const dfl_explanation *why, const dfl_param *param);
/* Towards larger values of the parameter, or smaller ones. */
dfl_derivatives dfl_explanation_derivatives(const dfl_explanation *why, const dfl_param *param, bool faster);
dfl_derivatives dfl_explanation_elasticity(const dfl_explanation *why, const dfl_param *param, bool faster);
/* Whether the present value is itself a wall. */
bool dfl_explanation_is_at_edge(const dfl_param *param);
/* The parameters by the size of what the objective loses or gains, the largest first; found->n_params of them. */
const uint32_t *dfl_explanation_order(dfl_arena *arena, const dfl_explanation *why);

#endif
