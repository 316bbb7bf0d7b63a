/*
 * A mapping made better as it stands, by a climb over its lines (tree_climb.h) without random walks. Where transfers are waited
 * for, or windows slide, a search leaves out keeps and loops that would be useless if nothing waited or overlapped, and judges
 * tiles by bounds; the climb judges them by the model. Loops do not come above branches. Of a mapping with written lines only the
 * amounts that the search chose are changed.
 */
#ifndef DFL_MAPPER_IMPROVE_POLISH_H
#define DFL_MAPPER_IMPROVE_POLISH_H

#include "ir/mapping.h"
#include "mapper/problem/objective.h"
#include "mapper/problem/options.h"

typedef struct {
    const dfl_objective *objective;
    const dfl_mapping *given;    /* mapping of the file: keeps at its root stay; NULL = there are none */
    dfl_search_limits limits;    /* the deadline counts; the limit of evaluations does not, `left` does */
    dfl_search_space space;
    bool same_kind;              /* the mapping keeps its kind (divisors/signature.h) */
    uint64_t *left;              /* evaluations that all climbs with these options may still take, each counted once for each
                                    einsum; NULL = any number */
} dfl_polish_options;

/* A copy of `m`, without holes, in `arena`, as good or better; `*value` is the value of the copy by the model. */
dfl_mapping *dfl_polish(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_polish_options *options,
                        double *value);

#endif
