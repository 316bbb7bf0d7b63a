/*
 * The lines of one einsum by templates and small changes: for einsums for which the mapper finds no lines in its share of the
 * limits, or no good ones. It starts from lines that always exist (templates.h) or from those of the mapper, and changes one
 * or two lines at a time as long as the value by the model improves. The result is the same for any number of threads,
 * unless a limit on time ends the search.
 */
#ifndef DFL_SOLVE_LINE_SEARCH_H
#define DFL_SOLVE_LINE_SEARCH_H

#include "mapper/problem/objective.h"
#include "solve/lone_einsum.h"
#include "solve/solve.h"
#include "support/vec.h"

typedef struct {
    const dfl_line *lines;
    uint32_t n_lines;
    uint32_t unit;     /* compute unit, where it is another than that which the lines alone name; else DFL_NONE */
} dfl_found_lines;

typedef struct {
    dfl_found_lines found;
    double value;
    double work;       /* estimate of the work to evaluate the exact form: parts and tiles that the evaluation visits */
    size_t order;      /* number of lines that were kept before */
} dfl_valued_lines;

typedef struct {
    const dfl_solver *solver;
    const dfl_mapping *given;        /* mapping with the hole */
    const dfl_objective *objective;
    const dfl_lone_einsum *one;
    uint32_t over;                   /* own rank that an operation takes whole: it has no loop; DFL_NONE = there is none */
    bool uneven;                     /* tiles need not divide */
    bool inside;                     /* homes may stand inside arrays: the einsum is the only one */
    double deadline;                 /* of dfl_deadline_clock (in s), which the first `least` evaluations ignore; 0 = none */
    uint64_t least;
    uint64_t most;                   /* evaluations */
    bool hurries;                    /* the session was stopped before the search: any lines whose evaluation is short will do */
    bool is_interrupted;             /* an interrupt stopped it */
    /* state */
    dfl_arena *work;                 /* emptied for each evaluation */
    dfl_arena *arena;                /* owns lines */
    dfl_budget budget;               /* of one evaluation */
    uint64_t evaluated;
    uint32_t unit;                   /* of the lines that are tried next, as in dfl_found_lines */
    dfl_found_lines best;
    double value;                    /* of `best`; INFINITY = there is none */
    bool is_uneven;                  /* `best` has tiles that do not divide */
    DFL_VEC(dfl_valued_lines) valued; /* with an exact form: templates, and lines that were the best ones for a time */
} dfl_line_search;

/* Begins a search without lines; `arena` owns the lines found. */
void dfl_line_search_start(dfl_arena *arena, dfl_line_search *search);
/* Evaluates lines and keeps them if they are better than the best. False if they are not. `is_template`: the lines are a
   beginning, and may be the result of an einsum with conditions even if others are better without these. */
bool dfl_line_search_try(dfl_line_search *search, const dfl_line *lines, uint32_t n, bool is_template);
/* Whether the lines evaluate: they are legal, and they fit. */
bool dfl_line_search_fits(dfl_line_search *search, const dfl_line *lines, uint32_t n);
/* Whether a limit ended the search. */
bool dfl_line_search_is_over(const dfl_line_search *search);
/* Changes the best lines as long as that makes them better. */
void dfl_line_search_climb(dfl_line_search *search);
/* Ends the search. Returns the best lines; none if no lines evaluate, or if the session is stopped and the lines of an einsum
   with conditions take long to evaluate. */
dfl_found_lines dfl_line_search_end(dfl_line_search *search);

/* Steps of the exact evaluation of the best lines of an einsum with conditions, if none needs less: tenths of a second. More find
   better lines, whose evaluation takes longer. */
#define DFL_LINE_SEARCH_LONG_STEPS UINT64_C(100000000)
/* Steps of the evaluation of all einsums with conditions together: some 10 s. Lines of a short evaluation follow. */
#define DFL_WHOLE_STEPS (UINT64_C(1) << 30)

/* The largest number of lines of an einsum that this search handles. */
enum { DFL_LINES_MOST = 48 };

#endif
