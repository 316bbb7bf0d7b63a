/*
 * Memo tables: results of a pure function by its arguments. Plans of one file that differ in numbers which the function does
 * not see call it with equal arguments; it then runs once. The caller writes all numbers that determine the result into a key.
 * Keys are compared number by number, so that no result is that of other arguments. One table has the results of one function.
 */
#ifndef DFL_SUPPORT_MEMO_H
#define DFL_SUPPORT_MEMO_H

#include "support/vec.h"

typedef struct dfl_memo dfl_memo;

/* The numbers that determine a result, in a fixed order. */
typedef DFL_VEC(uint64_t) dfl_memo_key;

static inline void dfl_memo_put(dfl_arena *arena, dfl_memo_key *key, uint64_t number) { DFL_PUSH(arena, key, number); }
/* Adds the bits of a double to a key. */
void dfl_memo_put_double(dfl_arena *arena, dfl_memo_key *key, double number);

/* An empty table. It lies in `arena` with its keys, which have at most `room` numbers in all. */
dfl_memo *dfl_memo_new(dfl_arena *arena, size_t room);
/* The arena of a table, in which results that are kept must lie. */
dfl_arena *dfl_memo_arena(const dfl_memo *memo);
/* The result for a key; NULL if the table does not have it. Spends the steps of the call in `budget`, so that a limit on steps
   ends a run at the same call whether results are kept or not. `budget` may be NULL. */
const void *dfl_memo_find(const dfl_memo *memo, const dfl_memo_key *key, dfl_budget *budget);
/* Whether one more key fits. */
bool dfl_memo_has_room(const dfl_memo *memo, const dfl_memo_key *key);
/* Keeps a result for a key that the table does not have and that fits. `steps` are those that the call spent. */
void dfl_memo_keep(dfl_memo *memo, const dfl_memo_key *key, const void *result, uint64_t steps);

#endif
