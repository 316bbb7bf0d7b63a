/*
 * Enumeration of all mappings of a small problem. The model evaluates each mapping; the enumeration shares no code with the
 * search. The space:
 *   - Homes that are written above the hole stay. Any other home is in the outermost memory that may hold the tensor.
 *   - In an einsum each rank is cut into prime factors. A factor is a loop of its own or a part of an axis.
 *   - Loops and keeps stand in any order, with two exceptions: the keeps of one tensor follow the order of the memories (for an
 *     einsum with a sliding window, all keeps do), and a part of an axis stands above the keeps inside of the array.
 *   - An operand is kept in any subset of the memories.
 *   - Neighbouring einsums may share up to two loops, over any rank, with any amount that divides; no two of them cut the same
 *     rank of an einsum, as in the space that the search reports. A tensor that they exchange may be kept in any memory
 *     outside of all arrays, above or below any shared loop; in the outermost memory only if that memory has a size. The same
 *     holds for an input that at least two of them read, for all readers below.
 *   - Keeps of other operands outside of all arrays may stand above any shared loop. Just below a shared loop such a keep would
 *     have room for one child only (MODEL.md, section 3).
 * Lines whose order changes no count are written in one order: keeps with no loop between them, neighbouring loops whose ranks
 * index the same keeps below, and the loops after the last keep. The loops of an einsum with a sliding window stand in any
 * order.
 *
 * For several einsums, the lines of each einsum are enumerated while the others have only loops. Energies and times add up, so
 * the sums tell the combinations that could be better than `limit`. These are evaluated as one mapping each, the smallest sum
 * first. A mapping counts by this evaluation, never by its sum.
 */
#ifndef DFL_TESTS_MAPPER_ENUMERATE_H
#define DFL_TESTS_MAPPER_ENUMERATE_H

#include "ir/mapping.h"
#include "ir/result.h"
#include "support/arena.h"

typedef struct {
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    double (*of)(const void *objective, const dfl_result *r); /* replaces `value` for the lines of one einsum; may be NULL */
    double limit;               /* mappings of this value or more are ignored */
    uint64_t most;              /* upper limit of ways to write the lines of an einsum; of more ways, most / 4 are sampled */
    bool down_to_exchange;      /* shared loops stand only above a keep, on the chip, of a tensor that einsums exchange, and run
                                   over ranks of all tensors kept for several einsums. Keeps of one einsum stand above the
                                   tensors that it exchanges: a keep above other einsums would overlap its time with theirs */
    uint32_t structures;        /* upper limit of ways to share loops; a sample if there are more */
    uint64_t seed;
    const dfl_mapping *start;   /* for braces: the mapping to start from; may be NULL */
    bool imperfect;             /* for amounts: also tile sizes that do not divide their rank */
    bool just_above;            /* a part of an axis stands just above a keep inside of the array, or after all keeps. Without
                                   windows, other places above the keep have equal counts */
    bool sharing;               /* if all lines are open: a rank that shares no transfer on an axis stands there only where it
                                   uses more instances of the axis than all other ranks together could */
} enumerate_options;

typedef struct {
    double value;               /* value of the best mapping below the limit; INFINITY = none */
    const dfl_mapping *mapping; /* the best mapping, in the arena */
    uint64_t evaluated;
    bool complete;              /* the whole space was evaluated */
} enumerate_result;

void enumerate_mappings(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                        const enumerate_options *options, enumerate_result *out);
/* Enumerates the amounts of loops, the only holes of the mapping, up to `most` mappings. An amount is a member of the written
   set, or divides the extent that is left of the rank at the line. With `imperfect` it may also be the smallest amount of its
   number of iterations. */
void enumerate_amounts(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                       const enumerate_options *options, enumerate_result *out);
/* Enumerates all lines that may stand between the written lines of one einsum. Each loop is over one prime; loops stand in any
   order; a home that is not written is in the outermost memory. If there are more than `most` mappings, `most` are drawn at
   random. */
void enumerate_between(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                       const enumerate_options *options, enumerate_result *out);
/* Enumerates the lines of one body; all other lines are written. `left`: by rank, the extent that the body has left. */
void enumerate_lines(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, uint32_t body, const int64_t *left,
                     const enumerate_options *options, enumerate_result *out);
/* Enumerates the open lines in the braces of several einsums, below written lines whose amounts may be open. For each choice of
   these amounts the braces are improved in turn, while the other braces keep their best lines so far: first from braces with
   only loops, then from `options->start`. `complete` means that all lines of each brace were tried. */
void enumerate_braces(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, const enumerate_options *options,
                      enumerate_result *out);
/* True if the rank appears in an index of the access. */
bool enumerate_indexed_by(const dfl_access *a, uint32_t rank);

#endif
