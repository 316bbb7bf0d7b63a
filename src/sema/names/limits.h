/*
 * Limits of semantic analysis. Each limit bounds the time, memory or stack that a hostile or mistaken file can use.
 * Exceeding a limit of the first group is reported (E0606 unless stated otherwise).
 */
#ifndef DFL_SEMA_NAMES_LIMITS_H
#define DFL_SEMA_NAMES_LIMITS_H

#include <stdint.h>

enum {
    /* Depth of nested `apply`, `use` and derived declarations. Each level uses a few stack frames and multiplies the
       text; this limit also stops a declaration that contains itself. */
    DFL_SEMA_MAX_NESTING = 64,
    /* Depth of imports of imports. Bounds the stack: each level parses and declares one file. */
    DFL_SEMA_MAX_IMPORT_DEPTH = 64,
    /* Depth of expressions, summed along the constants that they name. Bounds the stack of the evaluation. */
    DFL_SEMA_MAX_EVAL_DEPTH = 4000,
    /* Depth of branches in one mapping. Bounds the stack of all later passes that traverse the tree of bodies. */
    DFL_SEMA_MAX_BRANCH_DEPTH = 400,
    /* Einsums of a workload, instances of a workload, and values of a range. The limit on ranks plus tensors of a
       workload, and on parts of a system, is twice as large. Bounds memory. */
    DFL_SEMA_MAX_PARTS = 100000,
    /* Iterations of all `for` loops of one workload together. Bounds the time of loops that add nothing. */
    DFL_SEMA_MAX_ITERATIONS = 1000000,
    /* Arguments of a built-in function (a larger number is reported as too many arguments). Also the size of an array
       on the stack. */
    DFL_SEMA_MAX_ARGUMENTS = 64,
    /* Bits of the data type `bits(n)` (E0303 beyond). No known number format is wider. */
    DFL_SEMA_MAX_TYPE_BITS = 4096,
};

enum {
    /* Names in the help line about an unknown name. A longer list is no help. */
    DFL_SEMA_SHOWN_NAMES = 12,
    /* Labelled einsums in the report of a dependency cycle. */
    DFL_SEMA_SHOWN_CYCLE = 8,
    /* Names that are compared with a misspelt one per step of the budget. */
    DFL_SEMA_NAMES_PER_STEP = 8,
    /* Number of named arguments of a reference from which a table finds parameters; with fewer arguments, a search of
       the list is faster. */
    DFL_SEMA_TABLE_ARGUMENTS = 8,
};

/* Lengths of lists of one einsum that start on the stack; longer lists move to the arena. Nearly all lists are shorter,
   which saves an allocation. */
enum {
    DFL_SEMA_STACK_RANKS = 16,   /* ranks of an einsum */
    DFL_SEMA_STACK_INPUTS = 8,   /* distinct inputs of an einsum */
    DFL_SEMA_STACK_TERMS = 8,    /* terms of an index */
};

/* Largest extent of a rank or dimension, tile size and number of parts; the sum of two such values fits 64 bits. */
#define DFL_SEMA_MAX_EXTENT (INT64_MAX / 2)
/* Largest offset of an index, in either direction; an index plus an extent fits 64 bits. */
#define DFL_SEMA_MAX_OFFSET (INT64_MAX / 2)
/* Largest coefficient of an index, in either direction, before equal ranks are merged; the sum of two coefficients fits
   64 bits. */
#define DFL_SEMA_MAX_COEFFICIENT (INT32_MAX * (int64_t)INT32_MAX)
/* Largest size of an axis, argument of a network, and whole-number attribute (`buffers`). */
#define DFL_SEMA_MAX_COUNT INT32_MAX

#endif
