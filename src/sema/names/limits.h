/*
 * Limits of semantic analysis. Each bounds the time, memory or stack that a hostile or mistaken file can take; exceeding
 * one of the first group is reported (E0606 unless stated otherwise).
 */
#ifndef DFL_SEMA_NAMES_LIMITS_H
#define DFL_SEMA_NAMES_LIMITS_H

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
    /* Arguments of a built-in function. Size of an array on the stack. */
    DFL_SEMA_MAX_ARGUMENTS = 64,
    /* Bits of the data type `bits(n)` (E0303). No known number format is wider. */
    DFL_SEMA_MAX_TYPE_BITS = 4096,
};

enum {
    /* Names in the help line of an unknown name. A longer list helps nobody. */
    DFL_SEMA_SHOWN_NAMES = 12,
    /* Einsums of a dependency cycle that get a label. */
    DFL_SEMA_SHOWN_CYCLE = 8,
    /* Named arguments of a reference from which parameters are found through a table; below, by a walk along the list,
     * which is faster there. */
    DFL_SEMA_TABLE_ARGUMENTS = 8,
};

/* Largest extent of a rank or dimension, tile size and number of parts: sums of two stay in 64 bits. */
#define DFL_SEMA_MAX_EXTENT (INT64_MAX / 2)

#endif
