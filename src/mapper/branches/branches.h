/*
 * Written branches whose braces have lines open. Lines of a brace, with their keeps, live for one iteration of the loops above
 * it, so whatever is chosen there, what happens further out stays the same: the transfers of keeps above the branches, and what
 * they have live while a brace runs. So every brace with holes is a problem of its own (a part), that of a mapping of its einsum
 * whose operands are at home in the memories in which they are kept just above the brace, below the loops that stand there:
 *
 *   - The bare mapping has nothing but loops in the open braces, and everything else as it is written. It is evaluated once.
 *     What it costs less what its open braces cost is what all mappings have in common (rest of the tree).
 *   - The memories of a part have the room that what is live around it leaves.
 *   - Energies add, and times are at least the sum of those of the einsums.
 *
 * Where only energy or only time counts the best of every part is the best of all, else the fronts of the parts are added.
 *
 * A part of several einsums is a brace with nothing but homes and `...`, or einsums next to each other for which there is
 * no brace but a `...` among the branches. Below loops its problem is that of one of their iterations: nothing stays from one to
 * the next, and where every loop goes along a dimension of all results that is no window, every iteration is like the others.
 */
#ifndef DFL_MAPPER_BRANCHES_BRANCHES_H
#define DFL_MAPPER_BRANCHES_BRANCHES_H

#include "diag/diag.h"
#include "ir/path/path.h"
#include "mapper/exact/exact.h"

typedef struct {
    const dfl_body *at;        /* its brace, or the branch of which it takes the `...` */
    const uint32_t *einsums;   /* in workload order */
    uint32_t n;
    bool braced;
    uint32_t leaf;             /* number of its first leaf in the bare mapping, in text order */
    uint32_t n_above;          /* lines of the problem that are written above the brace */
    dfl_mapping *problem;
    double times;              /* that the problem is run */
} dfl_branch_part;

typedef struct {
    const dfl_mapping *m;      /* amounts above branches are chosen */
    const dfl_mapping *bare;
    dfl_branch_part *parts;
    uint32_t n;
    double joules, seconds;    /* of all that is no part; seconds at least */
} dfl_branches;

enum { DFL_TREE_CHOICES = 1 << 12 }; /* that are tried */

typedef enum { DFL_TREE_ILLEGAL, DFL_TREE_REFUSED, DFL_TREE_FULL, DFL_TREE_FINE } dfl_branches_state;

/* Whether the open lines of a mapping, in branches or not, can be searched; false after reporting. */
bool dfl_open_lines_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m);
/* The parts of a mapping. Illegal, or refused since it is not searched: after reporting to `sink`; full: what is written has no
   room. */
dfl_branches_state dfl_branches_make(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                                     dfl_branches *out);
/* The mapping with what was found for every part. */
dfl_mapping *dfl_branches_put(dfl_arena *arena, const dfl_branches *tree, const dfl_mapping *const *found);
/* Whether the amounts that are open above branches have no more than so many choices. */
bool dfl_branches_choices(const dfl_mapping *m, uint64_t most);
/* Like dfl_mapper_alone, with or without written branches. */
dfl_map_result *dfl_branches_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                                    const dfl_map_options *options, bool *fits);

#endif
