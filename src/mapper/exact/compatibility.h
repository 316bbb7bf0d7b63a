/*
 * What neighbours offer: the ways in which the rows of an einsum exchange an operand, that is the memory and the loops above
 * its home, by dimension of the operand and iterations. An einsum that is searched later only needs the ways that some row
 * of the neighbour has, since the join keeps no other.
 */
#ifndef DFL_MAPPER_EXACT_COMPATIBILITY_H
#define DFL_MAPPER_EXACT_COMPATIBILITY_H

#include "mapper/divisors/divisors.h"
#include "support/hashmap.h"
#include "support/vec.h"

/* A set of hashes: one that is there by chance only costs time. */
typedef struct {
    dfl_hashmap map;
    DFL_VEC(uint64_t) at;          /* [item - 1] */
} dfl_hashes;

/* Ways to exchange one operand, with what rows of each cost more than the least of their pattern, at least; and the loops of all
   of them by themselves. */
typedef struct {
    dfl_hashes ways, loops;
    DFL_VEC(dfl_criteria) more;    /* by way */
} dfl_interfaces_offered;

/* Adds what a row offers for operand `o` of its problem, which costs so much more than the least of its pattern. */
void dfl_interfaces_offered_add(dfl_arena *arena, dfl_interfaces_offered *offers, const dfl_problem *problem, const dfl_way *way,
                                uint32_t o,
                                const dfl_criteria *more);
/* What rows that offer the way cost more, at least; NULL if none does. */
const dfl_criteria *dfl_interfaces_offered_find(const dfl_interfaces_offered *offers, const dfl_problem *problem,
                                                const dfl_way *way, uint32_t o);
/* Whether some way of exchange in the memory has a loop of so many iterations along rank `rank` of the problem in operand `o`. */
bool dfl_interfaces_offered_loop(const dfl_interfaces_offered *offers, const dfl_problem *problem, uint32_t o, uint32_t memory,
                                 uint32_t rank, int64_t trips);
/* Dimension of the operand that loop `k` of the way goes along, -1 = none. */
int8_t dfl_way_dimension(const dfl_problem *problem, const dfl_way *way, uint32_t o, uint32_t k);

#endif
