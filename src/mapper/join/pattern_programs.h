/*
 * The geometric programs of the skeletons of exchange patterns, and what is known of each skeleton: what the bounds of patterns
 * (pattern_bound.h) and those with ranges of tiles (pattern_ranges.h) have in common.
 */
#ifndef DFL_MAPPER_JOIN_PATTERN_PROGRAMS_H
#define DFL_MAPPER_JOIN_PATTERN_PROGRAMS_H

#include "mapper/join/skeleton_tree.h"
#include "mapper/tiling/form_program.h"

/* Relative distance from a whole number above which lengths and parts are split (B58): smaller ones raise the bound by less. */
#define DFL_CELL_NEAR 0.005
/* Programs over whole lengths for a class in a line, at most, about a second. Where more are needed, cells raise the bound by
   little. */
enum { DFL_CELL_PROGRAMS = 1 << 15 };
/* Precision of programs over whole lengths. With a coarser one, bounds of good cells stay low, and more cells are split. */
#define DFL_CELL_PRECISION 0.0005

/* A program that ranges of tiles have asked for. */
typedef struct dfl_kept_program {
    const dfl_form *form;
    uint32_t operand, held;           /* mask of keeps above its exchange whose room the program limits (B62); DFL_NONE, 0 */
    /* programs that limit what may be held above the exchange of an operand: all these keeps, then fewer, with no loop below the
       others; NULL = none, or not `is_listed` */
    struct dfl_kept_program *limits[DFL_PROBLEM_OPERANDS], *next;
    uint32_t is_listed;               /* mask of operands */
    dfl_form_program *program;
    dfl_geometric_box range;          /* of all amounts */
    dfl_geometric_state state;        /* of the last solution */
    bool has_plane;
    dfl_geometric_plane plane;
} dfl_kept_program;

/* Weights of the times of some skeletons of a pattern (B41, B47). */
typedef struct {
    const dfl_problem *problem;       /* problem of all these skeletons: one unit */
    uint64_t innermost;               /* innermost keeps of all these skeletons, by operand */
    uint32_t turns, failed;           /* times that other weights may still be tried; the last ones without a gain */
    double at[DFL_FORM_TIMES];        /* [time]: weight >= 0, at most 1 in sum */
} dfl_time_weights;

typedef struct {
    double least;                     /* lower bound with all tiles */
    const dfl_candidate *candidate;
    dfl_time_weights *weights;        /* those of its group (B47) */
    bool is_impossible;               /* no amounts fit */
    bool has_program;                 /* it may have a program: none has failed so far */
    dfl_kept_program *kept;           /* NULL = not asked for */
    struct dfl_part_cell *cell;       /* the cell with the least bound over whole numbers (part_cells.h); NULL = not known */
} dfl_bounded_skeleton;

/* What is known of a node of the tree with more than one skeleton. */
typedef struct {
    double least;                     /* lower bound of its skeletons */
    bool is_solved;                   /* by its program */
} dfl_node_bound;

typedef struct dfl_pattern_bounds {
    dfl_arena *arena, *scratch;
    const dfl_einsum_class *class;
    dfl_objective line;
    dfl_form_goal goal;               /* the same for programs that take the largest of the times */
    dfl_form_firsts firsts;           /* first tiles that count (B60) */
    uint32_t alone;                   /* mask: operands that no other operand or einsum reads: their keeps may count in B62 */
    bool has_whole_parts;             /* skeletons are bounded by cells of parts (part_cells.h) */
    bool has_lengths;                 /* by cells of parts and lengths: all programs, also of nodes, have the goal `has_parts` */
    uint32_t *mixed;                  /* [pattern]: `mixed` of the goal of these programs */
    uint32_t left;                    /* number of programs that cells of lengths may still solve; at 0 no bound is stated */
    double known;                     /* value of the line at a mapping: no bound need be higher; INFINITY = no mapping */
    DFL_VEC(dfl_time_weights *) weights;
    dfl_deadline *deadline;
    dfl_bounded_skeleton *at;         /* by pattern, in the order of the tree */
    uint32_t n;
    uint32_t *first, *root;           /* by pattern, and the end: its skeletons; its nodes, the first of which is a root */
    dfl_skeleton_tree tree;
    dfl_node_bound *of_node;          /* by node */
    dfl_bounded_skeleton **sorted;    /* by pattern: after its least, least bound first */
    dfl_terms terms;
    dfl_geometric_draft draft;
    uint64_t *programs;
} dfl_pattern_bounds;

/* Whether first tiles count, of this class or of another one (B60). */
static inline bool dfl_bounded_has_firsts(const dfl_pattern_bounds *b) { return b->firsts.memory != DFL_NONE; }
/* The goal of programs: without windows, nothing stays, and times count with the weights of the skeleton. */
dfl_form_goal dfl_bounded_goal(const dfl_pattern_bounds *b, const dfl_bounded_skeleton *s);
/* New weights of skeletons with these innermost keeps: the work alone. */
dfl_time_weights *dfl_bounded_weights(dfl_pattern_bounds *b, const dfl_problem *problem, uint64_t innermost);
/* Makes the form of a skeleton; NULL = it has none. */
dfl_form *dfl_bounded_form(dfl_pattern_bounds *b, dfl_arena *arena, dfl_bounded_skeleton *s);
/* Makes the program of a skeleton for all amounts. False if no amounts fit, or if it has no program: then it keeps its bound. */
bool dfl_bounded_program(dfl_pattern_bounds *b, dfl_arena *arena, const dfl_form *form, const dfl_form_goal *goal,
                         dfl_bounded_skeleton *s, dfl_kept_program *out);
/* Solves a program in a range as far as it takes to know that its bound is above `enough`. */
double dfl_bounded_solve(dfl_pattern_bounds *b, const dfl_kept_program *k, const dfl_geometric_box *range,
                         const dfl_geometric_state *start, double enough, dfl_geometric_solution *out);
/* Relative precision of the bounds of programs. */
double dfl_bounded_precision(const dfl_pattern_bounds *b);
/* A bound without the first fetches that the sum over einsums counts, too. */
double dfl_bounded_rebate(const dfl_pattern_bounds *b, uint32_t pattern, double bound);

#endif
