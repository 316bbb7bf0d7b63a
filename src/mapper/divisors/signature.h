/*
 * What kind of mapping one is: for every einsum its unit, the memories in which each operand is kept and exchanged, and the
 * ranks of the loops that it shares with others. Mappings of a kind differ in the order of their keeps and shared loops, in the
 * loops of an einsum by itself, and in all amounts.
 *
 * To find the best of each of the K best kinds, rows and states are given up that one of their kind is at most in everything,
 * or that K are of different kinds: whatever follows, so many kinds are as good.
 */
#ifndef DFL_MAPPER_DIVISORS_SIGNATURE_H
#define DFL_MAPPER_DIVISORS_SIGNATURE_H

#include "mapper/divisors/divisors.h"

/* Different kinds that are at most something; begun with n = 0, the others are set before they are used. */
typedef struct {
    uint64_t at[DFL_TOP];
    uint32_t n;
} dfl_signatures;

/* Of an einsum. */
uint64_t dfl_signature_of(const dfl_problem *problem, const dfl_tiling_template *t, const dfl_way *way);
/* The same for a mapping that is written: what stands in a body counts for all einsums of the body that it is about. */
uint64_t dfl_signature_of_mapping(const dfl_mapping *m);
/* Of all einsums to one behind those of kind `before`. */
uint64_t dfl_kind_join(uint64_t before, uint64_t kind);
/* Adds a kind; whether something of kind `own` can be given up now, when `top` kinds are wanted (0 = kinds do not count). */
bool dfl_signatures_settle(dfl_signatures *k, uint64_t kind, uint64_t own, uint32_t top);

#endif
