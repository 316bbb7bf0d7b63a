/*
 * All mappings of a small problem, evaluated one by one by the model; it knows nothing of how the search works. The
 * space:
 *   - homes that are written above the hole stay, the others are in the outermost memory that may hold them;
 *   - every rank is cut into prime factors, each a loop of its own or a part of an axis; loops and keeps stand in any
 *     order, but for keeps of one tensor in the order of the memories (of an einsum with a sliding window all keeps),
 *     and parts of an axis above what is kept inside of it; operands are kept in any subset of the memories;
 *   - einsums next to each other may share up to two loops, over any rank, and what they exchange may be kept in any
 *     memory outside of all arrays, above or below any of these loops (in the outermost one only if that has a size); so may
 *     an input that at least two of them read, for all of those below; keeps of other operands outside of all arrays may stand
 *     above any of them (just below, what stays there from one iteration to the next would have room for one child only:
 *     MODEL.md, section 3).
 * What changes no count is written in one way only: the order of keeps with no loop between them, of neighbouring
 * loops whose ranks index the same of the keeps below, and of the loops behind the last keep. The loops of an einsum
 * with a sliding window stand in any order.
 *
 * With several einsums the lines of each are enumerated while the others have none but loops. As energies and times
 * add up, this says which choices could together be better than `limit`; those are evaluated as one mapping, the most
 * promising first. So a mapping that is better is never made up, whatever the sums say.
 */
#ifndef DFL_TESTS_MAPPER_ENUMERATE_H
#define DFL_TESTS_MAPPER_ENUMERATE_H

#include "ir/mapping.h"
#include "ir/result.h"
#include "support/arena.h"

typedef struct {
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    double (*of)(const void *objective, const dfl_result *r); /* lines of one einsum: in place of `value`, or NULL */
    double limit;               /* only what is below counts */
    uint64_t most;              /* ways to write the lines of an einsum; of more, a quarter of as many is looked at */
    bool down_to_exchange;      /* only loops above an exchange on the chip of what einsums make are shared, over ranks of all
                                   that is kept for several, and keeps of one einsum stand above what it exchanges: a keep
                                   above others would take its time beside another einsum's */
    uint32_t structures;        /* ways to share loops to look at, of all that there are */
    uint64_t seed;
    const dfl_mapping *start;   /* braces: one to begin with, or NULL */
    bool imperfect;             /* amounts: tiles that do not divide, too */
    bool just_above;            /* parts of an axis stand just above a keep inside of it or behind all keeps: without windows they
                                   count the same anywhere above it */
    bool sharing;               /* where everything is open: ranks that share no transfer on an axis stand there only where more of it
                                   is at work than all others together could give work to */
} enumerate_options;

typedef struct {
    double value;               /* of the best below the limit, or INFINITY */
    const dfl_mapping *mapping; /* that one, in the arena */
    uint64_t evaluated;
    bool complete;              /* everything was looked at */
} enumerate_result;

void enumerate_mappings(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                        const enumerate_options *options, enumerate_result *out);
/* The same for a mapping in which all that is open are amounts of loops: all that the holes may stand for, up to `most`
   of them. An amount is one of the set that is written, or divides what is left of the rank at the line (or, imperfect,
   is the least one with as many iterations). */
void enumerate_amounts(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                       const enumerate_options *options, enumerate_result *out);
/* The same for lines of one einsum that are written, with places for any others between them: all lines that may stand there,
   each loop a prime of its own, in any order; homes that are not written are in the outermost memory. Of more than `most`
   mappings so many are drawn at random. */
void enumerate_between(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                       const enumerate_options *options, enumerate_result *out);
/* Those of one body, for which so much is left of each rank; all other lines are written. */
void enumerate_lines(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, uint32_t body, const int64_t *left,
                     const enumerate_options *options, enumerate_result *out);
/* The same for braces of several einsums with places in them, below written lines whose amounts may be open: for every choice of
   these the lines of one brace after another, the others being the best so far, from nothing but loops on, and then from those of
   `options->start` on. `complete` if all lines of every brace were tried. */
void enumerate_braces(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open, const enumerate_options *options,
                      enumerate_result *out);
/* Whether the rank selects elements of the tensor. */
bool enumerate_indexed_by(const dfl_access *a, uint32_t rank);

#endif
