/*
 * The check of a search for a plan over chips. Proof, if the plans with work for all chips are no more than the effort: the
 * certificate lists all divisions that give work to all chips, and no plan of them has a smaller value than the lower bound, or
 * a smaller latency than that of its division. The plans are enumerated anew and evaluated as written plans are; nothing of
 * the search and of its bounds is used. Beyond the effort, plans at equal distances are evaluated. Then, and if the model does
 * not evaluate a plan that may be legal (E0609), nothing is proven: the certificate is not refuted.
 */
#ifndef DFL_CERTIFY_PLANS_H
#define DFL_CERTIFY_PLANS_H

#include "certify/certify_internal.h"
#include "support/strbuf.h"

/* Whether a plan fills the open amounts of another one, and is the same in all else. */
bool dfl_certify_fills_plan(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *asked, const dfl_mapping *best,
                            const dfl_claims *claims);
/* Checks the claims behind the head. False after a report, or a stop. */
bool dfl_certify_plans(dfl_certify_run *run, const dfl_claims *claims, dfl_strbuf *said);

#endif
