/*
 * Limits of semantic analysis. Each bounds the time, memory or stack that a hostile or mistaken file can take; exceeding
 * one of the first group is reported (E0606 unless stated otherwise).
 */
#ifndef DFL_SEMA_NAMES_LIMITS_H
#define DFL_SEMA_NAMES_LIMITS_H

#include <stdint.h>

enum {
    /* Levels of nested `apply`, `use` and derived declarations. Each level takes a few stack frames and multiplies the
     * text; a declaration that contains itself stops here. */
    DFL_SEMA_MAX_NESTING = 64,
    /* Levels of imports of imports. Stack: each level parses and declares one file. */
    DFL_SEMA_MAX_IMPORT_DEPTH = 64,
    /* Levels of expressions, summed along the constants that they name. Bounds the stack of the evaluation. */
    DFL_SEMA_MAX_EVAL_DEPTH = 4000,
    /* Levels of branches in one mapping. Stack of every later pass that walks the tree of bodies. */
    DFL_SEMA_MAX_BRANCH_DEPTH = 400,
    /* Einsums of a workload, instances of a workload, and values of a range; ranks plus tensors of a workload and parts
     * of a system may be twice as many. Bounds memory. */
    DFL_SEMA_MAX_PARTS = 100000,
    /* Iterations of all `for` loops of one workload together. Time: loops that add nothing still run. */
    DFL_SEMA_MAX_ITERATIONS = 1000000,
    /* Arguments of a built-in function (reported as too many arguments). Size of an array on the stack. */
    DFL_SEMA_MAX_ARGUMENTS = 64,
    /* Bits of the data type `bits(n)` (E0303). No known number format is wider. */
    DFL_SEMA_MAX_TYPE_BITS = 4096,
};

enum {
    /* Names in the help line of an unknown name. A longer list helps nobody. */
    DFL_SEMA_SHOWN_NAMES = 12,
    /* Einsums of a dependency cycle that get a label. */
    DFL_SEMA_SHOWN_CYCLE = 8,
    /* Names compared with a misspelt one per step of the budget. */
    DFL_SEMA_NAMES_PER_STEP = 8,
    /* Named arguments of a reference from which parameters are found through a table; below, by a walk along the list,
     * which is faster there. */
    DFL_SEMA_TABLE_ARGUMENTS = 8,
};

/* Lists of one einsum that start on the stack; longer ones move to the arena. Nearly all are shorter: an allocation saved. */
enum {
    DFL_SEMA_STACK_RANKS = 16,   /* ranks of an einsum */
    DFL_SEMA_STACK_INPUTS = 8,   /* distinct inputs of an einsum */
    DFL_SEMA_STACK_TERMS = 8,    /* terms of an index */
};

/* Largest extent of a rank or dimension, tile size and number of parts: sums of two stay in 64 bits. */
#define DFL_SEMA_MAX_EXTENT (INT64_MAX / 2)
/* Largest offset of an index, in either direction: an index plus an extent stays in 64 bits. */
#define DFL_SEMA_MAX_OFFSET (INT64_MAX / 2)
/* Largest coefficient of an index, in either direction, before equal ranks are merged: two of them stay in 64 bits. */
#define DFL_SEMA_MAX_COEFFICIENT (INT32_MAX * (int64_t)INT32_MAX)
/* Largest size of an axis, argument of a network, and whole number of an attribute (`buffers`). */
#define DFL_SEMA_MAX_COUNT INT32_MAX

#endif
