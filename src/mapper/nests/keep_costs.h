/*
 * What the keeps of one operand cost in a nest. Energy, the time of each port and of each link class, and the room of a mapping
 * are sums over its operands, and what one operand adds depends on its own keeps alone (lemma B35 of SEARCH.md). So the model
 * says what the keeps of an operand add, from two mappings: one with these keeps, and one in which the unit reads all operands
 * from their homes. In a set of nests (nest.h) the numbers follow from the loops above the innermost keep, and above the reads of
 * an operand that the unit holds, so they are found once; with tiles that divide from the iterations by rank above each keep.
 */
#ifndef DFL_MAPPER_NESTS_KEEP_COSTS_H
#define DFL_MAPPER_NESTS_KEEP_COSTS_H

#include "mapper/nests/nest_lines.h"
#include "support/hashmap.h"

enum { DFL_NEST_PORTS = 2 * DFL_PROBLEM_PLACES, DFL_NEST_LINKS = 16 };

typedef struct {
    double joules;                     /* without leakage */
    double own;                        /* energy of the memories for the operand, J; 0 if the model takes no mapping */
    double served[DFL_NEST_PORTS];     /* s, by port as below: what the memories serve of the operand at coordinate 0 */
    double busy[DFL_NEST_PORTS];       /* s, by port: 2 * place reads, and writes if they share it; 2 * place + 1 writes */
    double waits[DFL_NEST_PORTS];      /* s, by port: for these transfers the work stands still */
    double links[DFL_NEST_LINKS];      /* s, by link class, those of all networks in turn; 0 if tiles need not divide: then the
                                          busiest link of one operand may not be that of another */
    double room[DFL_PROBLEM_PLACES];   /* bits of one instance, buffers included */
    struct {                           /* `input`: largest values of one input; `result`: values of the result */
        double latency;                /* s: latencies of the memories on the way between home and unit */
        double ramp;                   /* s: `latency`, and transfers of the first tile (result: the last one) of each keep */
    } input, result;
} dfl_keep_costs;

/* Keeps of one operand, from outer to inner memories. */
typedef struct {
    uint32_t n;
    dfl_nest_keep keep[DFL_PROBLEM_PLACES];
} dfl_nest_keeps;

typedef struct {
    const dfl_intern *names;
    const dfl_mapping *given;
    const dfl_problem *problem;
    bool is_ragged;                    /* tiles need not divide: the order of loops counts */
    bool has_streams;                  /* a keep may be in a stream */
    bool is_held;                      /* the unit holds an operand until it changes: the order of all loops counts */
    dfl_arena *work;                   /* costs of the parts of the last nest */
    dfl_arena *scratch;
    uint64_t evaluated;                /* mappings that the model evaluated */
    dfl_bare_nest nest;                /* the last one */
    bool is_known;                     /* the model takes the mapping without keeps; else no costs are known */
    double compute_seconds;            /* then: work of the unit */
    dfl_keep_costs base;               /* then: of the mapping without keeps */
    dfl_hashmap map;
    DFL_VEC(struct dfl_keep_entry *) entries;
} dfl_keep_book;

/* A book for the nests of a problem, with tiles that divide or not; free with dfl_keep_book_free. */
dfl_keep_book *dfl_keep_book_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                                  const dfl_problem *problem, bool is_ragged);
void dfl_keep_book_free(dfl_keep_book *book);
/* Turns to a nest. */
void dfl_keep_book_turn(dfl_keep_book *book, const dfl_bare_nest *nest);
/* Bits of the tiles of a keep in one instance, buffers included, as the model holds them. */
double dfl_keep_book_room(const dfl_keep_book *book, const dfl_nest_keep *keep);
/* The room and the ends of the same keeps, and zeros: what the model need not find. */
void dfl_keep_book_ends(const dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps, dfl_keep_costs *out);
/* What keeps of one operand add to the costs of the mapping without keeps; zeros, but for the room, where that is not known.
   Lives as long as the parts of the nest stay. */
const dfl_keep_costs *dfl_keep_book_find(dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps);

#endif
