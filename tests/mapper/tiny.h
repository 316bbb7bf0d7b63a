/*
 * Tiny problems, drawn at random: a few einsums on two to four memories, with no array, a small one, or one inside of another. A
 * problem is printed as DFL text; the tests read this text as dflc does.
 */
#ifndef DFL_TESTS_MAPPER_TINY_H
#define DFL_TESTS_MAPPER_TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TINY_RANKS = 8, TINY_TENSORS = 8, TINY_DIMS = 3, TINY_EINSUMS = 5, TINY_MEMORIES = 4, TINY_AXES = 2, TINY_KINDS = 6 };

typedef struct {
    uint32_t tensor, n, rank[TINY_DIMS];
    int32_t second[TINY_DIMS];      /* index is rank + second; -1 = rank alone */
    uint32_t step[TINY_DIMS], apart[TINY_DIMS]; /* index is step * rank + apart * second - before; 0 = steps of 1 */
    uint32_t before[TINY_DIMS];     /* indices before the shape */
    int32_t behind[TINY_DIMS];      /* indices after the shape; negative = unread elements at its end */
} tiny_access;

typedef struct {
    tiny_access out, in[2];
    uint32_t n_in;
    bool reduces, sum;              /* `reduces`: written with `+=`; `sum`: adds its operands, does not multiply them */
} tiny_einsum;

typedef struct {
    uint32_t bits;                  /* size, bits; 0 = unlimited */
    uint32_t read_energy, write_energy, read_rate, write_rate; /* J/bit; byte/s, 0 = takes no time */
    uint32_t access;                /* bits of a row; 0 = elements move */
    uint32_t drain_energy;          /* J/bit, if `has_drain` */
    bool has_drain, free_drains;
    bool one_port, inside;          /* `inside`: the memory is inside of the array */
    bool foreign;                   /* the memory holds no tensor that einsums exchange */
    uint32_t buffers, leakage;
    bool stream;                    /* transfers overlap with the work */
    uint32_t latency;               /* of the memory, s */
} tiny_memory;

typedef enum { TINY_ENERGY, TINY_LATENCY, TINY_PRODUCT } tiny_objective;

typedef struct {
    uint32_t n_ranks, n_tensors, n_einsums, n_memories, n_axes;
    int64_t extent[TINY_RANKS];
    uint32_t bits[TINY_TENSORS];
    tiny_einsum einsum[TINY_EINSUMS];
    tiny_memory memory[TINY_MEMORIES];
    uint32_t size[TINY_AXES];
    bool nested;                    /* the second axis belongs to an array inside of the first one, around memory 3 */
    bool multicast[TINY_AXES], reduce[TINY_AXES];
    uint32_t links[TINY_AXES];      /* energy of the network of the array that begins with the axis, J/bit */
    uint32_t link_rate[TINY_AXES];  /* its bandwidth, byte/s; 0 = it takes no time */
    uint32_t link_latency[TINY_AXES], link_kind[TINY_AXES]; /* of a link, s; the kind of the network, 0 to TINY_KINDS - 1 */
    uint32_t unit_energy, unit_rate;
    uint32_t launch;                /* time before the unit starts, s */
    tiny_objective objective;
    bool waits;                     /* the work stalls for transfers */
    uint32_t home[TINY_TENSORS];    /* written home of the tensor: memory + 1; 0 = no home is written */
} tiny;

/* A source of choices: a generator, or bytes followed by zeros. */
typedef struct { uint64_t state; const uint8_t *bytes; size_t n; } tiny_random;
/* The generator of problem `index` of the stream `seed`. */
tiny_random tiny_seeded(uint64_t seed, uint64_t index);
/* The source of the choices `bytes`, which outlive it; not NULL. */
tiny_random tiny_of_bytes(const uint8_t *bytes, size_t n);
/* A choice in 0 .. n - 1; n is 1 to 65536. */
uint32_t tiny_below(tiny_random *r, uint32_t n);

/* Draws a problem. `windows`: with sliding windows among the accesses, and no array. */
void tiny_draw(tiny *t, tiny_random *r, bool windows);
/* Draws a chain of four or five einsums over two small ranks. The last einsum, or the one before it, reads an early tensor
   again. */
void tiny_draw_chain(tiny *t, tiny_random *r);
/* Draws written homes for some tensors. */
void tiny_draw_homes(tiny *t, tiny_random *r);
/* Draws less room for exchanged tensors: the outermost memory gets a size, or may hold none of them. */
void tiny_draw_limits(tiny *t, tiny_random *r);
/* Draws steps for all windows, and shapes that are shorter or longer. False if the problem has no window. */
bool tiny_draw_steps(tiny *t, tiny_random *r);
/* Draws an array, or one inside of another, with memories inside, and perhaps less room outside. */
void tiny_draw_arrays(tiny *t, tiny_random *r);
/* Draws axes on which some ranks share transfers and others do not, and an objective that contains time. */
void tiny_draw_spreads(tiny *t, tiny_random *r);
/* Draws bandwidth, latency and energy of networks of all kinds, latencies of memories, and times before the unit starts. */
void tiny_draw_charges(tiny *t, tiny_random *r);
/* Draws rows that accesses of memories outside of arrays move, and an objective over the energy. */
void tiny_draw_rows(tiny *t, tiny_random *r);
/* Draws work that stalls for transfers, except those of some memories. */
void tiny_draw_waits(tiny *t, tiny_random *r);
/* Prints the workload and the system. */
void tiny_print_problem(const tiny *t, uint32_t shift, FILE *out);
const char *tiny_objective_text(const tiny *t);
/* Prints the problem as a file with an open mapping. The names of ranks and tensors are rotated by `shift`; an odd shift reverses
   the declarations. */
void tiny_print(const tiny *t, uint32_t shift, FILE *out);
/* Removes parts of a problem as long as it fails. */
void tiny_shrink(tiny *t, bool (*fails)(void *context, const tiny *t), void *context);

#endif
