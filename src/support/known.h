/*
 * Results of pure calls by the numbers that determine them. A piece of work that makes the same call often, such as plans
 * of one file that differ in numbers that the call does not see, makes it once. Keys are compared as a whole, so that a result
 * is never that of another call. The caller states all numbers of a call, and one table has the results of one function.
 */
#ifndef DFL_SUPPORT_KNOWN_H
#define DFL_SUPPORT_KNOWN_H

#include "support/vec.h"

typedef struct dfl_known dfl_known;

/* The numbers of a call: a vector that the caller fills. */
typedef DFL_VEC(uint64_t) dfl_known_key;

static inline void dfl_known_put(dfl_arena *arena, dfl_known_key *key, uint64_t number) { DFL_PUSH(arena, key, number); }
/* Adds the bits of a number. */
void dfl_known_put_double(dfl_arena *arena, dfl_known_key *key, double number);

/* A table without results, which keeps keys of `room` numbers together at most: further results are not kept. It lies in `arena`
   with its keys. */
dfl_known *dfl_known_new(dfl_arena *arena, size_t room);
/* The arena of a table: results that are kept must lie there. */
dfl_arena *dfl_known_arena(const dfl_known *known);
/* The result of a call, NULL if it is not known. Counts the steps of the call in `budget`, so that a limit on steps ends the same
   runs at the same calls; `budget` may be NULL. */
const void *dfl_known_find(const dfl_known *known, const dfl_known_key *key, dfl_budget *budget);
/* Whether there is room for one more key. */
bool dfl_known_has_room(const dfl_known *known, const dfl_known_key *key);
/* Keeps the result of a call that is not known and for which there is room; the call took `steps` of a budget. */
void dfl_known_keep(dfl_known *known, const dfl_known_key *key, const void *result, uint64_t steps);

#endif
