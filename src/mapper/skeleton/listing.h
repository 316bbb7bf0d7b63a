/*
 * The limit of an enumeration of skeletons. To list them takes time, but is no evaluation, so a search with a limit on
 * evaluations gives the enumeration a limit on steps in proportion, which ends at the same skeleton on every machine.
 */
#ifndef DFL_MAPPER_SKELETON_LISTING_H
#define DFL_MAPPER_SKELETON_LISTING_H

#include "support/deadline.h"

typedef struct {
    dfl_budget *session;  /* of the deadline before; may be NULL */
    dfl_budget few;
    bool is_short;        /* the enumeration has a limit of its own */
} dfl_listing;

/* Puts the limit that goes with so many evaluations (0 = none) on the deadline of an enumeration. `out` must live until
   dfl_listing_end. */
void dfl_listing_begin(dfl_listing *out, dfl_deadline *halt, uint64_t evaluations);
/* Takes the limit from the deadline, and charges its steps to the session. If this limit ended the enumeration, the reason of the
   stop is the limit on evaluations. */
void dfl_listing_end(dfl_listing *listing, dfl_deadline *halt);

#endif
