/*
 * Local moves of a mapping, judged by the model: where transfers are waited for, or windows slide, the search leaves out keeps
 * and loops that would be useless if nothing waited or overlapped, and counts no two tensors side by side that are refilled by
 * different loops. Moves stay inside the braces of an einsum, or among the lines of a branch:
 *
 *   a keep stands at another place among the loops, where its tiles come in beside those of others;
 *   an operand is kept in a memory in which it was not, or not kept where it was;
 *   two adjacent temporal loops change places.
 *
 * The outermost keep of a tensor stays as it is. The first move that makes it better is taken, until none does.
 * What is evaluated is limited by a count, less often the more einsums there are, so that the work grows no faster than the
 * mapping.
 */
#ifndef DFL_MAPPER_IMPROVE_LOCAL_SEARCH_H
#define DFL_MAPPER_IMPROVE_LOCAL_SEARCH_H

#include "mapper/improve/pair_search.h"
#include "support/deadline.h"

/* A copy of `m`, without holes, in `arena`, as good or better. `*value` is that of `m` by dfl_mapping_value, then of the copy. */
dfl_mapping *dfl_moves(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_pair_search_options *options,
                       dfl_deadline *halt, double *value);

#endif
