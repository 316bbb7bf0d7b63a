/*
 * Whether a mapping of several einsums surely lies in the space of the bound of all exchanges (SEARCH.md, B40, scope). If a
 * mapping of this space costs less than the bound, the bound is false. A mapping outside of the space may cost less.
 */
#ifndef DFL_MAPPER_JOIN_EXCHANGE_SCOPE_H
#define DFL_MAPPER_JOIN_EXCHANGE_SCOPE_H

#include "ir/mapping.h"
#include "support/arena.h"

/* True only if B40 holds for the mapping; false also where this is not known. A function of the mapping alone. */
bool dfl_exchange_covers(dfl_arena *work, const dfl_mapping *mapping);

#endif
