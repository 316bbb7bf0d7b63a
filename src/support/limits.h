/*
 * The limits, tolerances and tuning numbers of all rooms but the mapper, in one table: name, unit, reason. None of them changes a
 * number in a result; exceeding a limit is a diagnostic or takes a slower way, as its entry says.
 */
#ifndef DFL_SUPPORT_LIMITS_H
#define DFL_SUPPORT_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* ---- equality of computed numbers ---- */

/* Relative difference below which two values of an objective, two latencies or two numbers of cycles are equal: sums of energies
   and times differ by less when they are taken in another order. */
#define DFL_VALUE_TOLERANCE 1e-9
/* Relative difference below which two numbers of a check, or a sum and its total, are equal: rounding of one expression. */
#define DFL_SUM_TOLERANCE 1e-12

/* ---- source files ---- */

/* Deepest nesting of brackets, of nodes and of expressions. Recursion over a tree needs no other limit. */
enum { DFL_MAX_DEPTH = 200 };
enum { DFL_MOST_NAME = 255 }; /* longest name, characters */
/* Largest file (in bytes): far more than anybody writes. The places of all files of a session are 32-bit numbers. */
enum { DFL_MAX_FILE = 16 << 20 };

/* ---- mappings ---- */

/* Largest number of einsums of a workload whose repeats are unrolled: a thousand layers of some dozens of einsums. The work grows
   with their number. */
enum { DFL_UNROLL_EINSUMS = 1 << 16 };

/* ---- sessions and messages ---- */

/* Memory of a session (in bytes), unless the caller says otherwise. */
#define DFL_DEFAULT_MEMORY ((size_t)4 << 30)

enum {
    /* Default limit on the diagnostics that a session shows: few users read more in one run. */
    DFL_DEFAULT_DIAGNOSTICS = 200,
    /* Default limit on the steps of a session, the loop iterations of all passes: tens of seconds of the slowest pass. */
    DFL_DEFAULT_STEPS = 100 * 1000 * 1000,
    /* Default limit on the mappings of a report with a full text each: some screens. */
    DFL_DETAILED_MAPPINGS = 4,
    /* Rounds of `check --fix` on one file: a correction can make another one possible. */
    DFL_FIX_ROUNDS = 8,
    /* Levels of directories that `test` descends: deeper ones are a cycle of links. */
    DFL_DEEPEST_DIRECTORY = 64,
    /* Limit on the expected tokens that a message lists; with more tokens the message says "unexpected". */
    DFL_SHOWN_TOKENS = 5,
    /* Bytes of source text that "remove `...`" quotes. */
    DFL_LONGEST_QUOTE = 60,
    /* Characters of a misspelt word; a longer one gets no suggestion. */
    DFL_LONGEST_SUGGESTION = 64,
};

/* ---- threads and deadlines ---- */

enum {
    /* Limit on the threads of a pool; bounds the array of handles on the stack. */
    DFL_MOST_THREADS = 256,
    /* Polls between two readings of the clock and the budget: a reading costs about as much as 100 polls. */
    DFL_POLLS_PER_READING = 128,
};

/* Seconds between two progress reports, and before the first. */
#define DFL_PROGRESS_PAUSE 0.1

/* ---- searches; solve/search_options.c applies the default ---- */

/* Default limit on the evaluations of a search over tile sizes: some seconds. A search over lines has no default. */
#define DFL_DEFAULT_EVALUATIONS UINT64_C(20000000)
#define DFL_DEFAULT_SECONDS 30.0 /* of the clock that goes by work (support/budget.h), for a search without any limit */
/* Evaluations of a search einsum by einsum that follows a search of all einsums together: some seconds. */
#define DFL_ONE_BY_ONE_EVALUATIONS UINT64_C(2000000)
#define DFL_LINE_SEARCH_EVALUATIONS UINT64_C(20000) /* of the lines of one einsum by small changes: less than a second */
#define DFL_LINE_SEARCH_LEAST UINT64_C(40) /* evaluations that it always has: those of its first templates */
#define DFL_LINE_SEARCH_LEAST_ALL UINT64_C(2000) /* such evaluations of all einsums together, but for one of each */
/* Steps of one evaluation of that search: lines that need more are not considered. */
#define DFL_LINE_SEARCH_STEPS UINT64_C(200000)
/* Steps of one evaluation with the conditions of `where`; lines that are evaluated with them, and of these the legal ones. */
#define DFL_LINE_SEARCH_EXACT_STEPS UINT64_C(4000000)
#define DFL_LINE_SEARCH_SHORT 8 /* best lines that are tried then, with so many steps each */
#define DFL_LINE_SEARCH_SHORT_STEPS UINT64_C(200000)
#define DFL_LINE_SEARCH_HURRY_STEPS UINT64_C(20000) /* the same after a time limit or an interrupt, if some lines need less */
#define DFL_LINE_SEARCH_EXACT 40
#define DFL_LINE_SEARCH_LEGAL 4
#define DFL_INSTANCE_WAYS 8 /* ways to split an einsum over the arrays around its outermost memories that the mapper searches */
#define DFL_JUDGE_STEPS UINT64_C(25000000) /* of one evaluation of all einsums: a mapping that needs more is not the result */
#define DFL_SMALL_GAP 0.01 /* relative gap below which a result is not searched for again einsum by einsum */

/* ---- semantic analysis: bounds on time, memory and stack; exceeding one of the first group is E0606 unless its entry says
        otherwise ---- */

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
    /* Iterations of all `for` loops of one workload together. This limit bounds the time of loops without effect. */
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
#define DFL_SEMA_MAX_LEVELS 16 /* levels of a fat tree (DFL_FABRIC_LEVELS) */

/* ---- model: capacities; a mapping that exceeds one is refused with E0609, or counted in a slower way ---- */

enum {
    /* Limit on the steps of a path (step_numbers.h). A set of steps is one 64-bit word. A longer path is refused
       (E0609). */
    DFL_MAX_STEPS = 64,
    /* Limit on the temporal steps, and on the spatial steps, of one group (footprint.h). Arrays of a group have this
       size. A group with more steps is refused (E0609). */
    DFL_MAX_GROUP = 16,
    /* Axes of an array whose coordinates need no memory of their own (link_loads.c). */
    DFL_NETWORK_AXES = 8,
    /* Limit on the terms of an index of a restricted dimension. An index with more terms is counted with interval
       sets. */
    DFL_WINDOW_TERMS = 16,
    /* Limit on the bits of the largest absolute value of an index, summed over its terms. Twice this value still fits
       in an int64_t. A larger index is refused (E0609). */
    DFL_INDEX_BITS = 61,
    /* Number of buckets of the table of known demand sets (rank_piece.c). The top 8 bits of a 64-bit hash select a
       bucket. */
    DFL_DEMAND_BUCKETS = 256,
    /* Limit on the length classes of one rank chain (rank_chain.c). A rank has one class if all its loops divide the
       pieces that they cut. With more classes the group sums give the count (group_sums.h). */
    DFL_LENGTH_CLASSES = 16,
    /* Limit on the bits of a count in product form (product_form.h). Counts are int64_t, and no product exceeds the
       number of points of the einsum. Larger counts come from the group sums, in 128 bits. */
    DFL_PRODUCT_BITS = 62,
    /* Limit on the positions that counts of `where` clauses visit: about 0.2 s, which each evaluation takes. */
    DFL_WHERE_VISITS = 1 << 22,
    /* Limit on the bounds on indices of one einsum that some point violates (padding.c). Bounds beyond this number are
       ignored. */
    DFL_PADDING_BOUNDS = 64,
    /* Limit on the mixed axes of one memory, over which only some of the live tiles are spread (occupancy.c). Each
       mixed axis doubles the number of instances to compare. On axes beyond this number, every instance is assumed to
       hold all tiles. */
    DFL_MIXED_AXES = 8,
    /* Limit on the live tiles that are compared jointly (joint_peak.c). A larger set is refused (E0609). */
    DFL_JOINT_TILES = 64,
    /* Limit on the bits of a count in the quick check (quick_check.c). A count has 127 bits; sums over keeps, loops and
       instances use the remaining ones. */
    DFL_SAFE_BITS = 110,
    /* Limit on the iterations of Newton's method at the end of a piece (sensitivity.c). If these iterations do not find
       the end, the reported piece is the part that was proven straight. */
    DFL_NEWTON_STEPS = 200,
    /* Limit on the halvings of a step until three points lie on a line (sensitivity.c): 2^-30 of the first step is
       close to the rounding of a latency. */
    DFL_SLOPE_HALVINGS = 30,
    /* Largest exponent e of a searched value, 4^e times or 4^-e times the present value (sensitivity.c). */
    DFL_FARTHEST_POWER = 16
};

/* Ragged tiles whose mean is at least this share of the largest one: their stalls count as those of full tiles (time_level.c).
   For smaller shares, the sum of all transfers is the smaller of the two limits for most mappings. */
#define DFL_NEARLY_FULL 0.6
/* Relative difference below which two latencies count as equal; larger than the rounding of the sums in a latency. */
#define DFL_LATENCY_TOLERANCE 1e-12
/* Difference below which two latencies count as equal, relative to the present latency: about 45 units of the last
   place. */
#define DFL_LATENCY_ROUNDING 1e-14
/* Step in (present value / value) - 1 for the first estimate of a slope: a power of two, so that the product is exact. */
#define DFL_SLOPE_STEP 0x1p-10
/* The same step for the parameter for which an einsum waits most: small enough to stay on one piece. */
#define DFL_BOUND_STEP 0x1p-20

#define DFL_PLAN_COMBINATIONS 1e18 /* of the open amounts of a plan over chips: their numbers fit 63 bits */
enum { DFL_PLAN_CANDIDATES = 1 << 20 }; /* of them, plans that may run: 16 MB, minutes of evaluations */

/* ---- oracle and proof: a larger execution is refused with E0602; `prove` shrinks a design until it fits ---- */

enum {
    DFL_ORACLE_POINTS = 1 << 24,    /* limit on the points of an einsum, elements of a tensor, parts of a line, and instances of
                                       a system */
    DFL_ORACLE_CELLS = 1 << 26,     /* limit on the cells of all keeps, 24 bytes each */
    DFL_ORACLE_NEED_BITS = 1 << 27, /* limit on the bits of the bitmaps of rule 11: iterations above an exchange times points */
    DFL_ORACLE_STEPS = 1 << 30,     /* limit on the work: visited points plus moved elements; this work takes some seconds */
};

/* Modulus of the artificial values: the smallest prime above a million. A product of two values fits 64 bits. */
enum { DFL_ORACLE_PRIME = 1000003 };

/* Steps of one attempt to execute a shrunk design: seconds. */
#define DFL_PROVE_STEPS UINT64_C(2000000000)
/* Memory of one attempt (in bytes): far less than a session may use. */
#define DFL_PROVE_MEMORY ((size_t)1 << 30)
/* Differences of one design that are reported; the summary counts all. */
enum { DFL_PROVE_REPORTS = 20 };

/* ---- certificates: sizes that the check supports, and its effort; a larger certificate is refused as a whole ---- */

/* Default limit on tile choices that the model evaluates for all skeletons together; such a check takes some
   seconds. */
#define DFL_CERTIFY_EFFORT UINT64_C(1000000)

/* Limits of one einsum problem. Sets of ranks, operands, levels and axes are masks of 32 bits, and a set of pairs
   (operand, level) is a mask of 64 bits: OPERANDS * LEVELS <= 64. The search has equal limits, so a larger einsum has
   no certificate. */
enum {
    DFL_CERTIFY_RANKS = 12,    /* ranks of one einsum */
    DFL_CERTIFY_OPERANDS = 5,  /* inputs and output of one einsum */
    DFL_CERTIFY_LEVELS = 8,    /* memories that one compute unit sees */
    DFL_CERTIFY_AXES = 6,      /* axes of more than one instance around one unit */
};

/* Limits of the claims. The search has equal limits. */
enum {
    DFL_CLAIM_KEEPS = 16,      /* keeps of one skeleton */
    DFL_CLAIM_LOOPS = 4,       /* loops that an einsum shares with others */
    DFL_CLAIM_TRACKS = 3,      /* tracked memories: those whose occupancy a row states */
};

/* Limits of the join of rows. */
enum {
    DFL_CERTIFY_LIVE = 16,     /* tensors live between two einsums, the capacity of a state's key; a join with more fails with
                                  E0805 */
};

/* Limits of the enumeration of tile choices. */
enum {
    DFL_CERTIFY_LISTED = 1 << 16, /* factorizations of one extent in a list, at most 12 MB a rank; beyond this limit, the check
                                     draws a sample */
    DFL_CERTIFY_VISITS = 8, /* combinations of factorizations visited per evaluation; bounds the time if no combination is
                               legal */
    DFL_CERTIFY_DRAWS = 8, /* attempts to draw one legal choice; after these, the sample omits the choice */
    DFL_CERTIFY_POLL = 64, /* evaluations between two polls of the deadline, a few milliseconds */
    DFL_CERTIFY_USELESS_PART = 8, /* divisor: 1 / 8 of the effort is for choices with loops that cannot help */
    DFL_CERTIFY_USELESS_MOST = 2500, /* limit on evaluations of such choices per skeleton */
};

/* ---- importers ---- */

enum {
    DFL_IMPORT_LINKED_UNITS = 1 << 16, /* multipliers of a Timeloop architecture whose links are compared one by one: a second */
    /* Widest word of a memory (in bits); it keeps sizes below 2^62 bits. */
    DFL_IMPORT_WORD_BITS = 4096,
    /* Deepest nesting of lists and maps of a YAML file; keeps the recursion within the stack. */
    DFL_IMPORT_YAML_DEPTH = 60,
    /* Nested parentheses and names of an expression or index of an AccelForge or Timeloop file: bounds the recursion. */
    DFL_IMPORT_EXPRESSION_DEPTH = 40,
    DFL_IMPORT_EXPRESSION_NAMES = 1024, /* names that one attribute of a Timeloop file may look up, also inside of variables */
    DFL_IMPORT_YAML_NODES = 1 << 20, /* nodes of a YAML file; each alias counts with the nodes of what it stands for */
    DFL_IMPORT_YAML_MERGED = 4096, /* keys of a map with `<<`; each key is compared with all others */
    /* Lines of the path to one einsum of an AccelForge mapping. */
    DFL_IMPORT_PATH_LINES = 4096,
    /* Rounds that tighten bounds of rank variables: one, and one for each link of a chain of dependent indices. */
    DFL_IMPORT_BOUND_ROUNDS = 8,
    /* Cluster levels of a MAESTRO mapping; published mappings have at most three. */
    DFL_IMPORT_CLUSTER_LEVELS = 16,
};

/* Largest number of a specification; its inverse is the smallest positive one. Products of several such numbers stay in
   the range of a double. */
#define DFL_IMPORT_LARGEST 1e30

#endif
