/*
 * Why nothing fits. When a search ends without a mapping, some of what the file says cannot be true together: sizes of memories,
 * what they may hold, lines and amounts that are fixed, and what is required. To find out which, the search is asked again and
 * again whether there is anything at all when some of these limits are lifted:
 *
 *   - Limits are lifted, half by half, as long as there is still nothing. Those that are left are a smallest conflicting set:
 *     without any one of them the others can be met.
 *   - Each memory in the set gets the least `size` with which there is a mapping, everything else as the file says it.
 *
 * Each limit of the set is a label at its line, and the smallest change that would do is the help: of the memory that needs the
 * fewest bits more, or of what is required, whichever changes by the smaller factor. Where searches did not prove that less is
 * not enough, the help says that it is enough, and no more. Where no size of a memory of the set is enough, the limits that
 * conflict all the same are labelled as well. A search may not know the answer, because it was stopped or its bound is too low:
 * then a limit counts as one that is needed, and a note says so.
 */
#ifndef DFL_MAPPER_CONFLICT_CONFLICT_INTERNAL_H
#define DFL_MAPPER_CONFLICT_CONFLICT_INTERNAL_H

#include "diag/diag.h"
#include "mapper/exact/feasibility.h"
#include "mapper/problem/request.h"
#include "mapper/problem/requirements.h"
#include "mapper/sizes/size_search.h"

/* What could be required instead, NULL where that is not known: so many times what is required now, and whether it is proven
   to be the least. */
typedef struct { const char *text; double ratio; bool proven; } dfl_instead;

/* What is open: amounts of loops, all lines, or lines between written ones. */
typedef enum { DFL_QUESTION_AMOUNTS, DFL_QUESTION_LINES, DFL_QUESTION_BETWEEN } dfl_question_kind;

typedef struct {
    /* Whether a mapping without some of the limits can be filled in, when the requirements that are waived do not count. With
       a memory that is `measured`: whatever its size, and what is the least, and the line it is live at where that is known. */
    dfl_answer (*answer)(void *context, const dfl_mapping *m, const bool *waived, uint32_t measured, int64_t *bits,
                         dfl_span *at);
    /* Whether the size that was measured last is proven to be the least. NULL: all are. */
    bool (*proven)(void *context);
    /* What a requirement can be at least, everything else as it is, in words; and what to require instead. Returns NULL if
       nothing is known. The function may be NULL. */
    const char *(*least)(void *context, dfl_arena *arena, const dfl_mapping *m, uint32_t requirement, dfl_instead *instead);
    void *context;
    const dfl_span *required; /* where what is required of the mapping stands, but for rooms */
    uint32_t n_required;
    const dfl_required_room *rooms; /* that are required of the memories of the mapping's system, NULL = none */
    dfl_question_kind kind;
    bool doubtful;            /* other limits are looked into all the same after an answer that is not known */
} dfl_question;

/* Reports E0618 with a smallest conflicting set. False, and nothing is said, if no set of limits is the cause. */
bool dfl_conflict_set_report(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_question *question,
                             dfl_budget *budget);
/* The same for a mapping of which all lines are open; E0618 in any case. `session` may be NULL. */
void dfl_conflict_set_find(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_search_request *request,
                           const dfl_budget *session);
/* The same for one with written lines. */
void dfl_conflict_lines(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_search_request *request,
                        const dfl_budget *session);
/* The same for one with open amounts alone; E0618 in any case, or what is wrong with every choice. */
void dfl_conflict_sizes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                        const dfl_search_request *request, const dfl_size_search_conflict *nothing);
/* Reports E0616: nothing fits as the search counts room, which is more than there may be (dfl_space_overstates). */
void dfl_conflict_set_unknown(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);

#endif
