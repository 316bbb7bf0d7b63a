/*
 * One test case: a workload, a system and a mapping in plain arrays, small enough to copy, change and print. It turns
 * into the structures of src/ir for the oracle and the model, and into .dfl text for people. Property tests draw cases
 * at random; unit tests write them with case_einsum, case_line and friends.
 *
 * A system is a chain of elements: element 0 is the root, element i + 1 stands inside the axes of element i + 1.
 */
#ifndef DFL_TESTS_PROPERTY_CASE_H
#define DFL_TESTS_PROPERTY_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/mapping.h"

enum {
    CASE_NAME = 8, CASE_RANKS = 24, CASE_TENSORS = 16, CASE_DIMS = 4, CASE_TERMS = 3, CASE_EINSUMS = 8,
    CASE_INPUTS = 3, CASE_WHERE = 2, CASE_MEMORIES = 6, CASE_AXES = 4, CASE_UNITS = 3, CASE_ELEMENTS = 3, CASE_LINES = 44,
    CASE_BODIES = 20
};

typedef struct { char name[CASE_NAME]; int64_t extent; } case_rank;

typedef struct {
    char name[CASE_NAME];
    dfl_role role;
    bool state;                /* produced, and has values before the first einsum */
    uint32_t bits, n_dims;
    int64_t extents[CASE_DIMS];
} case_tensor;

typedef struct {
    uint32_t n_terms, rank[CASE_TERMS];
    int64_t coef[CASE_TERMS], offset;
} case_index;

typedef struct { uint32_t tensor; case_index index[CASE_DIMS]; } case_access;

typedef struct {
    case_access out, in[CASE_INPUTS];
    uint32_t n_in;
    dfl_reduce reduce;
    bool whole;                /* the operation takes the rank `over` whole */
    uint32_t over;
    case_index where[CASE_WHERE]; /* conditions: each index is at least 0 */
    uint32_t n_where;
} case_einsum;

/* A set of tensors that an axis or a unit serves. */
typedef enum { CASE_NO, CASE_ALL, CASE_INPUTS_ONLY, CASE_WEIGHTS_ONLY, CASE_OUTPUTS_ONLY } case_set;

/* `access`: bits of a row, 0 = the memory moves elements. */
typedef struct { char name[CASE_NAME]; uint32_t element; int64_t buffers, access; } case_memory;
typedef struct { char name[CASE_NAME]; uint32_t element; int64_t size; case_set multicast, reduce; bool forward; } case_axis;
typedef struct { char name[CASE_NAME]; uint32_t element; case_set reuse; } case_unit;
/* The network over the axes of an element, by its kind in the language; CASE_WIRELESS: no network. */
typedef enum {
    CASE_BUS, CASE_CROSSBAR, CASE_SWITCH, CASE_FULLY_CONNECTED, CASE_MESH, CASE_TORUS, CASE_RING, CASE_WIRELESS,
    CASE_NETWORKS = CASE_WIRELESS
} case_network;
extern const char *const case_network_names[CASE_NETWORKS];

typedef struct {
    dfl_line_kind kind;
    uint32_t rank;             /* loops */
    dfl_by by;
    int64_t amount;
    bool online;
    uint32_t axis;
    uint32_t only;             /* bit set of einsums, 0 = all */
    uint32_t tensor, memory;   /* keeps */
    dfl_keep_mode mode;
} case_line;

typedef struct {
    uint32_t parent;           /* DFL_NONE for body 0, the root */
    dfl_body_kind kind;
    uint32_t einsum;           /* einsum of a leaf */
    uint32_t recompute;        /* bit set of tensors */
    uint32_t unit;             /* or DFL_NONE */
    uint32_t n_lines;
    case_line lines[CASE_LINES];
} case_body;

typedef struct {
    case_rank ranks[CASE_RANKS]; uint32_t n_ranks;
    case_tensor tensors[CASE_TENSORS]; uint32_t n_tensors;
    case_einsum einsums[CASE_EINSUMS]; uint32_t n_einsums;
    case_memory memories[CASE_MEMORIES]; uint32_t n_memories;
    case_axis axes[CASE_AXES]; uint32_t n_axes;
    case_unit units[CASE_UNITS]; uint32_t n_units;
    uint32_t n_elements;
    case_network networks[CASE_ELEMENTS]; /* [element], element 0 excepted */
    bool one_network;          /* the arrays of elements 1 and 2 have one network together, that of element 1 */
    case_body bodies[CASE_BODIES]; uint32_t n_bodies; /* parents before children, children in order */
} dfl_case;

/* The case as structures of src/ir, in `arena`. */
const dfl_mapping *case_mapping(const dfl_case *c, dfl_arena *arena, dfl_intern *names);
/* The case as a .dfl file. */
void case_print(const dfl_case *c, FILE *out);

/* ---- comparing and drawing --------------------------------------------------------------------------------------- */

typedef enum {
    CASE_AGREES,               /* every count is equal, or both refuse the mapping with the same code */
    CASE_REFUSED,              /* the model cannot count the case: E0609 */
    CASE_INVALID,              /* the mapping is illegal, as reported before counting */
    CASE_LIMIT,                /* too large for the oracle */
    CASE_DIFFERS,
    CASE_VERDICTS
} case_verdict;

/* Features that a case exercises, indices of case_feature_names. */
typedef enum {
    CASE_RAGGED, CASE_HALO, CASE_STRIDE, CASE_SPILL, CASE_MULTICAST, CASE_MULTICAST_2, CASE_NESTED, CASE_RECOMPUTE,
    CASE_ONLINE, CASE_ROUTED, CASE_STRAIGHT, CASE_ARRAYS,
    CASE_WANTED, /* number of features that must occur often enough */
    CASE_FUSED = CASE_WANTED, CASE_RESTRICTED, CASE_REDUCED, CASE_FORWARDED, CASE_MODES, CASE_PADDED, CASE_IDLE,
    CASE_BOUNDED, CASE_BRANCHES, CASE_PIPELINE, CASE_ROUGH,
    CASE_UNEVEN, CASE_ROUGH_LINKS, CASE_CONDITIONS, CASE_OVER, CASE_STATE,
    CASE_FEATURES
} case_feature;
extern const char *const case_feature_names[CASE_FEATURES];

typedef struct {
    case_verdict verdict;
    char why[400];             /* first difference, or the message of the refusal */
    uint32_t features;         /* bit set */
} case_report;

/* Runs the oracle and the model and compares every count. */
void case_compare(const dfl_case *c, case_report *out);
/* Draws case number `index` of a stream: deterministic, and always a mapping that dfl_paths_resolve accepts. */
void case_draw(dfl_case *c, uint64_t seed, uint64_t index);
/* Makes a case that differs smaller as long as it differs; false if it does not differ. */
bool case_shrink(dfl_case *c, case_report *out);
/* Removes parts that a change left without use, so that the case is consistent again. */
bool case_remove_einsum(dfl_case *c, uint32_t einsum);

/* ---- writing cases by hand; a mistake aborts --------------------------------------------------------------------- */

void case_init(dfl_case *c);
uint32_t case_add_rank(dfl_case *c, const char *name, int64_t extent);
/* A tensor that is read and never produced, with its shape. */
uint32_t case_add_input(dfl_case *c, const char *name, dfl_role role, uint32_t n_dims, const int64_t *extents);
/* "Z[m,n] += A[m,k] * B[k,n]", operators `=`, `+=`, `max=`, `min=`; operands are separated by ` * `, whatever they do.
   The produced tensor is as large as its indices reach. After the operands may follow ` over x`, and conditions:
   ` where m - n >= 0 && 3 - m >= 0`. */
uint32_t case_add_einsum(dfl_case *c, const char *text);
uint32_t case_add_memory(dfl_case *c, const char *name, uint32_t element, int64_t buffers);
uint32_t case_add_axis(dfl_case *c, const char *name, uint32_t element, int64_t size, case_set multicast, case_set reduce);
uint32_t case_add_unit(dfl_case *c, const char *name, uint32_t element);
/* The root is body 0. A leaf of an einsum, or a branch, below `parent`. */
uint32_t case_add_leaf(dfl_case *c, uint32_t parent, const char *produced);
uint32_t case_add_branch(dfl_case *c, uint32_t parent);
/* "temporal m:2", "spatial m/4 on row", "keep A, B in sram fresh", several separated by `;`. */
void case_lines(dfl_case *c, uint32_t body, const char *text);
uint32_t case_tensor_named(const dfl_case *c, const char *name);
uint32_t case_memory_named(const dfl_case *c, const char *name);
/* Produced tensors without a reader become outputs, other produced tensors intermediates. */
void case_set_roles(dfl_case *c);
/* An empty case with the product Z[m,n] of A[m,k] and B[k,n]. */
void case_init_matmul(dfl_case *c, int64_t m, int64_t n, int64_t k);

#endif
