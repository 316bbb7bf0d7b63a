/*
 * The state of a search by boxes (box_search.c), and how it evaluates a point: by the model, with each factoring of merged axes
 * and each order of loops that matters.
 */
#ifndef DFL_MAPPER_TILING_BOX_POINTS_H
#define DFL_MAPPER_TILING_BOX_POINTS_H

#include "mapper/problem/limits.h"
#include "mapper/tiling/box_bound.h"
#include "mapper/tiling/box_heap.h"
#include "mapper/tiling/box_search.h"
#include "mapper/tiling/form_program.h"
#include "mapper/tiling/merge.h"
#include "mapper/tiling/point.h"
#include "support/deadline.h"

/* A problem whose skeletons have forms. */
typedef struct {
    const dfl_problem *problem;
    const dfl_merge *merge;        /* NULL = no axes of the problem are merged */
    const dfl_amounts *divisors;   /* by rank; NULL = any amounts */
} dfl_form_source;

/* A form of the search. */
typedef struct {
    const dfl_form_source *source;
    const dfl_family *family;      /* a family whose skeletons are listed when its bound is the least; NULL = a form */
    bool is_loose;                 /* its bound is that of its loose form (B55), too */
    const dfl_tiling_template *waiting; /* its skeleton; the form is made when its bound is the least; NULL = it is made */
    bool is_bounded;               /* of a skeleton that waits: its program (B22) is solved, and its bound is no lower */
    dfl_form *form;
    dfl_ramp *ramp;
    dfl_form *real;                /* with the axes of the system; `form` itself if none are merged; NULL = not made */
    dfl_ramp *real_ramp;           /* of `real` */
    dfl_point *point[1 + DFL_PROBLEM_RANKS]; /* loops in the usual order, and by rank with its loop innermost in each gap;
                                                NULL = not prepared */
    dfl_form_program *program;     /* NULL = none */
    dfl_geometric_state *solved;   /* last solution of the program */
    bool is_dived;
    uint32_t n_points;             /* that were evaluated, */
    double excess;                 /* and the least quotient of value and relaxed cost among them */
} dfl_open_form;

typedef struct {
    dfl_arena *arena, *work;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_search_limits *limits;
    const dfl_box_start *start;
    dfl_box_costs costs;
    bool has_goal;           /* programs can have the objective */
    dfl_form_goal goal;
    dfl_geometric_draft *draft;
    dfl_geometric_solution solution;
    dfl_terms terms;
    DFL_VEC(dfl_open_form) forms;
    dfl_box_heap heap;
    uint64_t reported;       /* nodes that a progress report contains */
    uint64_t effort;         /* skeletons made and nodes split: what a limit on evaluations counts */
    uint64_t descent;        /* value of `effort` at which the next family that is opened is followed down to a mapping */
    bool is_partial;         /* some skeleton has no form, so the lower bound is not known */
    dfl_arena *trial;        /* of forms that are made for their bound alone */
    const dfl_form_source *source; /* of the skeletons that are listed, */
    double least;            /* and a lower bound of all of them */
    double of_families;      /* the least bound of a family that was listed */
    bool has_families;       /* all skeletons belong to families */
    bool is_uneven;          /* families alone are bounded (D12) */
    bool has_windows;
    bool is_open_in_time;    /* values of points prove nothing about mappings outside of the skeletons (rules D2 and D3) */
    uint64_t turn;           /* work when the lower bound was final, or at the last better mapping since; 0 = it may rise */
    dfl_box_result *out;
    dfl_deadline deadline;
} dfl_box_run;

/* Whether a node with this bound can have a mapping that is better than the best by more than rounding. */
static inline bool dfl_box_is_useful(const dfl_box_run *s, double bound)
{
    return bound < s->out->value * (1 - DFL_BOX_ROUNDING);
}

/* What was done so far, in splits of nodes. */
static inline uint64_t dfl_box_work(const dfl_box_run *s) { return s->out->nodes + s->out->leaves * DFL_BOX_LEAF; }

/* Evaluates a point of the search. */
void dfl_box_evaluate(dfl_box_run *s, const dfl_box_node *node);

#endif
