/*
 * Why nothing fits. When a search ends without a mapping, some of what the file says cannot be true together: sizes of memories,
 * what they may hold, lines and amounts that are fixed, and what is required. To find out which, the search is asked again and
 * again whether there is anything at all when some of these limits are lifted:
 *
 *   - Limits are lifted, half by half, as long as there is still nothing. Those that are left are a smallest conflicting set:
 *     without any one of them the others can be met.
 *   - Each memory in the set gets the least `size` with which there is a mapping, everything else as the file says it.
 *
 * Each limit of the set is a label at its line, and the memory that needs the smallest growth is the help. A search may not know
 * the answer, because it was stopped: then a limit counts as one that is needed, and a note says so.
 */
#ifndef DFL_MAPPER_INFEASIBLE_H
#define DFL_MAPPER_INFEASIBLE_H

#include "diag/diag.h"
#include "mapper/fitting.h"

/* What is open: amounts of loops, all lines, or lines between written ones. */
typedef enum { DFL_QUESTION_AMOUNTS, DFL_QUESTION_LINES, DFL_QUESTION_BETWEEN } dfl_question_kind;

typedef struct {
    /* Whether a mapping without some of the limits can be filled in, when the requirements that are waived do not count. With
       a memory that is `measured`: whatever its size, and what is the least, and the line it is live at where that is known. */
    dfl_answer (*answer)(void *context, const dfl_mapping *m, const bool *waived, uint32_t measured, int64_t *bits,
                         dfl_span *at);
    void *context;
    const dfl_span *required; /* where what is required of the mapping stands */
    uint32_t n_required;
    dfl_question_kind kind;
} dfl_question;

/* Reports E0618 with a smallest conflicting set. False, and nothing is said, if no set of limits is the cause. */
bool dfl_infeasible_report(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_question *question,
                           dfl_budget *budget);
/* The same for a mapping of which all lines are open; E0618 in any case. `session` may be NULL, a deadline 0. */
void dfl_infeasible_lines(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, uint32_t max_fused,
                          const dfl_budget *session, double deadline);

/* The same for one with written lines. */
void dfl_infeasible_between(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, uint32_t max_fused,
                            const dfl_budget *session, double deadline);

#endif
