/*
 * Tiny problems for the search, drawn at random: a few einsums on two to four memories, with or without a small array, or one
 * inside of another.
 * They become .dfl text; everything else works on what `dflc` reads there.
 */
#ifndef DFL_TESTS_MAPPER_TINY_H
#define DFL_TESTS_MAPPER_TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TINY_RANKS = 8, TINY_TENSORS = 8, TINY_DIMS = 3, TINY_EINSUMS = 5, TINY_MEMORIES = 4, TINY_AXES = 2 };

typedef struct {
    uint32_t tensor, n, rank[TINY_DIMS];
    int32_t second[TINY_DIMS];      /* index rank + second, or -1; */
    uint32_t step[TINY_DIMS], apart[TINY_DIMS]; /* step * rank + apart * second - before, 0 for steps of 1 */
    uint32_t before[TINY_DIMS];     /* outside of the shape, in front of it; */
    int32_t behind[TINY_DIMS];      /* and behind, negative if it is longer */
} tiny_access;

typedef struct {
    tiny_access out, in[2];
    uint32_t n_in;
    bool reduces, sum;              /* `+=`; operands are added, not multiplied */
} tiny_einsum;

typedef struct {
    uint32_t bits;                  /* 0 = unlimited */
    uint32_t read_energy, write_energy, read_rate, write_rate; /* J/bit, bytes/s; rate 0 = takes no time */
    bool one_port, inside;          /* of the array */
    bool foreign;                   /* holds nothing that einsums exchange */
    uint32_t buffers, leakage;
    bool stream;                    /* its transfers run beside the work */
} tiny_memory;

typedef enum { TINY_ENERGY, TINY_LATENCY, TINY_PRODUCT } tiny_objective;

typedef struct {
    uint32_t n_ranks, n_tensors, n_einsums, n_memories, n_axes;
    int64_t extent[TINY_RANKS];
    uint32_t bits[TINY_TENSORS];
    tiny_einsum einsum[TINY_EINSUMS];
    tiny_memory memory[TINY_MEMORIES];
    uint32_t size[TINY_AXES];
    bool nested;                    /* the second axis is that of an array inside of the first one, around memory 3 */
    bool multicast[TINY_AXES], reduce[TINY_AXES];
    uint32_t unit_energy, unit_rate;
    tiny_objective objective;
    bool waits;                     /* work waits for transfers */
    uint32_t home[TINY_TENSORS];    /* memory that a line above the hole names, from 1; 0 = none is written */
} tiny;

/* Choices from a generator, or from bytes as long as there are any, and then zeros. */
typedef struct { uint64_t state; const uint8_t *bytes; size_t n; } tiny_random;
/* Those of problem number `index` of a stream. */
tiny_random tiny_seeded(uint64_t seed, uint64_t index);
/* `bytes` is not NULL. */
tiny_random tiny_of_bytes(const uint8_t *bytes, size_t n);
/* Below `n`, at most 65536. */
uint32_t tiny_below(tiny_random *r, uint32_t n);

/* A problem; `windows`: sliding ones among them, without an array. */
void tiny_draw(tiny *t, tiny_random *r, bool windows);
/* A chain of four or five einsums over two small ranks, with a tensor that the last but one or the last reads again. */
void tiny_draw_chain(tiny *t, tiny_random *r);
/* Homes for some tensors. */
void tiny_draw_homes(tiny *t, tiny_random *r);
/* Less room for what einsums exchange: the outermost memory has a size, or holds nothing of it. */
void tiny_draw_limits(tiny *t, tiny_random *r);
/* Other steps for all windows, and shapes that are shorter or longer; false if there are none. */
bool tiny_draw_steps(tiny *t, tiny_random *r);
/* An array, or one inside of another, with memories inside, and perhaps less room outside. */
void tiny_draw_arrays(tiny *t, tiny_random *r);
/* Axes on which some ranks share transfers and others none, and time that counts. */
void tiny_draw_spreads(tiny *t, tiny_random *r);
/* Work that waits for transfers, but for some memories. */
void tiny_draw_waits(tiny *t, tiny_random *r);
/* Its workload and its system. */
void tiny_print_problem(const tiny *t, uint32_t shift, FILE *out);
const char *tiny_objective_text(const tiny *t);
/* The problem as a file, its mapping left open; names of ranks and tensors are rotated by `shift`, and declarations
   stand in reverse order if it is odd. */
void tiny_print(const tiny *t, uint32_t shift, FILE *out);
/* Makes a problem smaller as long as it fails. */
void tiny_shrink(tiny *t, bool (*fails)(void *context, const tiny *t), void *context);

#endif
