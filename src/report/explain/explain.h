/*
 * The explanation of the costs of one mapping: the derivatives of its objective, latency and energy with respect to the
 * parameters of the system, the range in which each derivative holds, the bottleneck of each einsum, and the free capacity
 * of the memories. model/sensitivity.h computes the numbers; this room gives them names, units and an order.
 * grammar/dfl-why-1.schema.json describes the JSON, `dfl-why/1`.
 *
 * An elasticity is the relative change of a cost per relative change of a parameter: percent per percent.
 */
#ifndef DFL_REPORT_EXPLAIN_EXPLAIN_H
#define DFL_REPORT_EXPLAIN_EXPLAIN_H

#include "model/sensitivity.h"
#include "report/diff/diff.h"
#include "report/report.h"

typedef struct {
    const dfl_results *results;      /* file, names and sources */
    const dfl_result_item *item;     /* the mapping; it has a result */
    const dfl_sensitivity *sensitivity;
    const char *minimize;            /* objective of the mapping, as written */
    const char *objective;           /* the expression that is derived: the first of `minimize`, or energy * latency */
    bool is_substituted;             /* energy * latency replaces `minimize`, which is over figures without a derivative */
    uint32_t n_terms;                /* number of expressions of `minimize` */
    double value;                    /* value of `objective`, in SI units */
    double per_joule, per_second;    /* derivatives of `value` with respect to energy and latency */
    dfl_dim dim;                     /* dimension of `value` */
    dfl_diff_pair *runner_up;        /* comparison with the best mapping of another structure; NULL = not searched */
    double runner_up_value;
    bool is_runner_up_proven;        /* no mapping of another structure has a lower value */
} dfl_explanation;

/* Derivatives with respect to a parameter, or elasticities. */
typedef struct { double objective, latency, energy; } dfl_derivatives;

void dfl_explanation_text(dfl_strbuf *out, const dfl_explanation *explanation);
void dfl_explanation_json(dfl_strbuf *out, const dfl_explanation *explanation);

/* ---- shared by the printers ---- */

/* The name of the attribute in DFL: "dram.read.bandwidth", "mac.rate.bf16". */
const char *dfl_explanation_parameter_name(dfl_arena *arena, const dfl_explanation *explanation, const dfl_param *param);
/* The unit of a parameter: "bit/s", "MAC/s", "J/bit", "W". */
const char *dfl_explanation_unit(const dfl_explanation *explanation, const dfl_param *param);
/* Derivatives in SI units, towards larger values of the parameter (`faster`) or towards smaller values. */
dfl_derivatives dfl_explanation_derivatives(const dfl_explanation *explanation, const dfl_param *param, bool faster);
/* The elasticities of a parameter, towards larger values (`faster`) or smaller values; 0 for a cost of 0. */
dfl_derivatives dfl_explanation_elasticity(const dfl_explanation *explanation, const dfl_param *param, bool faster);
/* Whether the derivative jumps at the present value: the derivatives towards larger and smaller values differ. */
bool dfl_explanation_is_at_edge(const dfl_param *param);
/* Indices of all parameters by the size of the elasticity of the objective, then of latency; the largest first. */
const uint32_t *dfl_explanation_order(dfl_arena *arena, const dfl_explanation *explanation);

#endif
