/*
 * The state of the enumeration, shared by its files: build.c makes and evaluates mappings, lines.c enumerates the lines of one
 * einsum, share.c the ways to share loops.
 */
#ifndef DFL_TESTS_MAPPER_ENUMERATOR_H
#define DFL_TESTS_MAPPER_ENUMERATOR_H

#include "support/vec.h"
#include "tests/mapper/enumerate.h"

enum {
    RANKS = 12, EINSUMS = 5, LONGEST = 40, BODIES = 10, MOST_PRIMES = 24,
    MOST_LOOPS = 2,   /* upper limit of shared loops */
    MOST_JOINT = 40,  /* upper limit of combinations evaluated for one structure */
    ENOUGH = 30,      /* counting stops at this multiple of the ways to be evaluated */
};

typedef enum { ITEM_LOOP, ITEM_SPATIAL, ITEM_KEEP } item_kind;

/* One line. by: a prime, of a shared loop any divisor; what: a rank or a tensor; where: an axis or a memory. */
typedef struct { uint8_t kind, what, where, by; } item;
typedef struct { uint32_t n; item at[LONGEST]; } sequence;

/* The lines of one einsum: keeps that stand above the shared line `at`, and the lines of its leaf. */
typedef struct {
    struct { item keep; uint32_t at; } among[LONGEST];
    uint32_t n_among;
    sequence leaf;
} own_lines;

typedef struct { own_lines lines; double joules, seconds; } choice;

/* A brace around several einsums: shared lines, then a child for each run of einsums. */
typedef struct { uint32_t first, last; sequence shared; uint32_t parent; } brace;

typedef struct { uint8_t rank, by; uint32_t n; } factor;

typedef struct {
    dfl_arena *arena, *scratch;
    const dfl_intern *names;
    const dfl_mapping *open;
    const dfl_workload *w;
    const dfl_system *s;
    const enumerate_options *options;
    enumerate_result *out;
    uint64_t random;
    uint32_t home[64];          /* by tensor: memory of its home, unless exchanged on the chip */
    bool settled[64];           /* by tensor: the home is written */
    bool in_parts[64];          /* by tensor: the home may also hold parts of it */
    /* the structure, a way to share loops: */
    brace braces[BODIES];
    uint32_t n_braces;          /* 0 = one einsum, no shared loops */
    uint32_t brace_of[EINSUMS]; /* innermost brace of the einsum */
    bool on_chip[64];           /* by tensor: exchanged on the chip */
    DFL_VEC(choice) choices[EINSUMS];
    own_lines bare[EINSUMS];
    /* the einsum whose lines are enumerated: */
    uint32_t einsum;
    sequence prefix;            /* its shared lines, the outermost first */
    bool loop_below[LONGEST];   /* by shared line: a shared loop of the same brace is this line or further in */
    bool next_below[LONGEST];   /* by shared line: no loop, and a keep above the next loop has equal counts */
    bool home_below[LONGEST];   /* by shared line: at it or further in is a loop below which the einsum exchanges a tensor */
    factor factors[MOST_PRIMES];
    uint32_t n_factors;
    bool windows;               /* an operand has a sliding window: each order of loops counts */
    int64_t room[RANKS];        /* by axis: instances that are left */
    uint32_t spread[RANKS];     /* by axis: mask of the ranks that may stand on it */
    item keeps[LONGEST];
    uint32_t n_keeps;
    uint32_t wanted, placed;    /* masks of keeps: to be placed, placed */
    uint32_t first_keeps;       /* first mask of `wanted` that is tried */
    uint64_t found, taken;
    bool counting, enough;
} enumerator;

uint32_t enumerator_random(enumerator *k, uint32_t n);
const dfl_access *enumerator_access(const dfl_einsum *e, uint32_t tensor);
/* The rank of einsum `e` that a shared loop over `rank` cuts: `rank`, or the rank in the same dimension of a tensor that another
   einsum of the brace indexes by `rank`. DFL_NONE = none. */
uint32_t enumerator_cut(const enumerator *k, const brace *b, uint32_t e, uint32_t rank);
/* Evaluates the mapping in which each einsum has its lines of `own`. False if the model refuses the mapping. The best mapping
   below the limit goes into `out`. */
bool enumerator_evaluate(enumerator *k, const own_lines *const *own, double *joules, double *seconds);
/* Evaluates the ways to write the lines of einsum `e` while the other einsums have only loops, and appends to its choices. */
void enumerator_lines(enumerator *k, uint32_t e);
/* Gives einsum `e` lines of only loops. */
void enumerator_bare(enumerator *k, uint32_t e);
/* Enumerates the structures of several einsums and the combinations of their choices. */
void enumerator_shared(enumerator *k);

#endif
