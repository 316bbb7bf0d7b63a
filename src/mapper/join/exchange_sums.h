/*
 * Least sum over einsums of choices that agree on every tensor: dynamic programming over the tensors that are alive. A choice of
 * an einsum takes one *way* for each tensor that it exchanges; ways are numbers that the caller gives out for each tensor.
 */
#ifndef DFL_MAPPER_JOIN_EXCHANGE_SUMS_H
#define DFL_MAPPER_JOIN_EXCHANGE_SUMS_H

#include "mapper/problem/einsum_problem.h"
#include "support/deadline.h"

/* A lower bound of a choice in the room that tiles of other einsums leave (SEARCH.md, B48). */
typedef struct {
    const double *taken;       /* [memory]: bits that these tiles take */
    double value;
} dfl_exchange_crowd;

typedef struct {
    double value;
    uint32_t way[DFL_PROBLEM_OPERANDS]; /* of operands that are exchanged, else 0 */
    double fetch[DFL_PROBLEM_OPERANDS]; /* added where no einsum before has taken the same way of the tensor */
    const dfl_exchange_crowd *crowd;    /* [n_crowd]: bounds with less room */
    uint32_t n_crowd;
} dfl_exchange_choice;

/* The tile of an exchanged tensor that one way keeps in a memory while the tensor is alive: the memory, and the least bits. */
typedef struct {
    uint32_t memory;
    double bits;
} dfl_exchange_room;

/* The room that exchanged tensors take from the einsums between their first and last one. */
typedef struct {
    uint32_t n_memories;
    const dfl_exchange_room *const *of; /* [tensor][way]; NULL for a tensor = its tiles take no room */
} dfl_exchange_rooms;

/* An einsum: the n choices at[0], at[1] ... that lie `size` bytes apart. */
typedef struct {
    const dfl_problem *problem;
    const dfl_exchange_choice *choices;
    size_t size;
    uint32_t n;
} dfl_exchange_step;

/*
 * The least sum; INFINITY = no choices agree; 0 if the deadline passes meanwhile. `steps` and `path` are by einsum, `ways` by
 * tensor: the number of its ways. Sets `path` to the choices of a least sum that was found. If there are too many states, some
 * tensors are left out: then einsums need not agree on them, and the sum is no greater.
 */
double dfl_exchange_sums(dfl_arena *arena, const dfl_workload *w, const dfl_exchange_step *steps, const uint32_t *ways,
                         const dfl_exchange_rooms *rooms, dfl_deadline *deadline, uint32_t *path);

#endif
