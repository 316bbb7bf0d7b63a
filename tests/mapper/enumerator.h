/*
 * The inside of the enumeration: build.c makes mappings and evaluates them, lines.c goes through the lines of one
 * einsum, share.c through the ways to share loops.
 */
#ifndef DFL_TESTS_MAPPER_ENUMERATOR_H
#define DFL_TESTS_MAPPER_ENUMERATOR_H

#include "support/vec.h"
#include "tests/mapper/enumerate.h"

enum {
    RANKS = 12, EINSUMS = 5, LONGEST = 40, BODIES = 10, MOST_PRIMES = 24,
    MOST_LOOPS = 2,   /* shared */
    MOST_JOINT = 40,  /* choices that go together to evaluate for one structure */
    ENOUGH = 30,      /* times as many ways as are to be looked at: no need to know how many there are */
};

typedef enum { ITEM_LOOP, ITEM_SPATIAL, ITEM_KEEP } item_kind;

/* One line. `by` is a prime; `what` a rank or a tensor, `where` an axis or a memory. */
typedef struct { uint8_t kind, what, where, by; } item;
typedef struct { uint32_t n; item at[LONGEST]; } sequence;

/* The own lines of an einsum: keeps above shared line `at`, and everything in its leaf. */
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
    uint32_t home[64];          /* memory of a tensor that is not exchanged on the chip */
    bool settled[64];           /* it is written */
    bool in_parts[64];          /* it may stand there in parts, too */
    /* of the present structure: */
    brace braces[BODIES];
    uint32_t n_braces;          /* 0: one einsum, no sharing */
    uint32_t brace_of[EINSUMS]; /* innermost */
    bool on_chip[64];           /* tensor: exchanged there */
    DFL_VEC(choice) choices[EINSUMS];
    own_lines bare[EINSUMS];
    /* of the einsum whose lines are enumerated: */
    uint32_t einsum;
    sequence prefix;            /* shared lines, from outside */
    bool loop_below[LONGEST];   /* a shared loop of the same brace stands there or further in, */
    bool next_below[LONGEST];   /* but another line there, and a keep above the next loop would count the same */
    bool home_below[LONGEST];   /* the einsum exchanges something there or further in */
    factor factors[MOST_PRIMES];
    uint32_t n_factors;
    bool windows;               /* some operand slides: every order of loops counts */
    int64_t room[RANKS];        /* left on an axis */
    uint32_t spread[RANKS];     /* mask of ranks that an axis may take */
    item keeps[LONGEST];
    uint32_t n_keeps;
    uint32_t wanted, placed;    /* masks of keeps */
    uint32_t first_keeps;       /* the mask to begin with */
    uint64_t found, taken;
    bool counting, enough;
} enumerator;

uint32_t enumerator_random(enumerator *k, uint32_t n);
const dfl_access *enumerator_access(const dfl_einsum *e, uint32_t tensor);
/* The rank of einsum `e` that a shared loop over `rank` cuts: its own, or the one in the same dimension of a tensor
   that another einsum of the brace indexes by it; DFL_NONE: none. */
uint32_t enumerator_cut(const enumerator *k, const brace *b, uint32_t e, uint32_t rank);
/* Costs of the mapping in which every einsum has these lines; false if it is refused. What is better than the limit and
   all before is remembered. */
bool enumerator_evaluate(enumerator *k, const own_lines *const *own, double *joules, double *seconds);
/* Evaluates the ways to write the lines of einsum `e`, the others being bare; its choices, if there are any. */
void enumerator_lines(enumerator *k, uint32_t e);
/* Only loops. */
void enumerator_bare(enumerator *k, uint32_t e);
/* Everything, of several einsums. */
void enumerator_shared(enumerator *k);

#endif
