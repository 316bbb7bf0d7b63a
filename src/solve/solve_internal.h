/*
 * What the files that fill one mapping share. A search minimizes the objective; of the requirements it uses only limits on the
 * room of a memory. So the best mapping may violate another requirement: then fronts and searches for the required figures are
 * looked through (requirements.c), and the conflict is explained if none meets it.
 */
#ifndef DFL_SOLVE_SOLVE_INTERNAL_H
#define DFL_SOLVE_SOLVE_INTERNAL_H

#include "mapper/mapper.h"
#include "solve/solve.h"
#include "support/vec.h"

/* The state of filling one mapping. */
typedef struct {
    const dfl_solver *solver;
    dfl_sink *sink;                    /* where searches report */
    dfl_search_limits limits;          /* of the options, or what one of several choices has left of them */
    dfl_search_space space;
    bool certificate;                  /* the options ask for one */
    dfl_results one;                   /* results of the mapping alone, for its figures and checks; quiet */
    dfl_result_item item;              /* the only item of `one` */
    DFL_VEC(const dfl_check *) required;
    DFL_VEC(dfl_span) required_at;     /* spans of `required` */
    DFL_VEC(dfl_required) asked;       /* `required` as searches use them */
    bool has_requirement;              /* a requirement is more than a limit on the room of a memory */
    bool was_progress_shown;
    const double *incumbent;           /* terms of a mapping that is to be undercut; NULL = none */
    uint32_t choice, n_choices;        /* number of the choice that is searched, of so many; 0 of 0 without choices */
    double choices_start;              /* start of the first choice, of dfl_deadline_clock */
} dfl_fill;

/* ---- requirements.c ---- */

/* Finds the requirements of the mapping, inside its braces or by its name. */
void dfl_fill_find_requirements(dfl_fill *fill);
/* A copy of a mapping found on a system whose memories have less room, on the system of the given one. */
dfl_mapping *dfl_fill_copy(const dfl_solver *solver, const dfl_mapping *found, const dfl_mapping *given);
/* The costs of a mapping by the model, in the arena `after`; NULL after reporting. */
const dfl_result *dfl_fill_costs(const dfl_fill *fill, const dfl_mapping *m);
/* Objectives of searches for one figure each, in `arena`: the required figures; with `terms` also each term of the objective, and
   energy * latency. */
dfl_front_alone dfl_fill_single_objectives(const dfl_fill *fill, dfl_arena *arena, const dfl_objective *objective, bool terms);
/* Takes the best mapping of a front into `out` and `summary`: where later terms decide, or where the best of all violates a
   requirement (`best` NULL, else its costs). False if none of the front meets the requirements. */
bool dfl_fill_choose(dfl_fill *fill, const dfl_mapping *within, const dfl_search_request *request, const dfl_result *best,
                     dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped);
/* Reports that the best mapping violates requirements: E0618 if all do, E0616 if that is not known. `within` is the mapping of
   dfl_required_within, `out` what was found, its mapping may be NULL. */
void dfl_fill_report_violated(dfl_fill *fill, const dfl_filled *out, const dfl_mapping *within, const dfl_search_request *request,
                              dfl_stop stopped);

/* ---- choices.c ---- */

/* Fills a mapping without choices, `out->given`; false after reporting. With `fill->incumbent` `out->mapping` is NULL where
   nothing undercuts it. */
typedef bool dfl_fill_open(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped);
/* Fills a mapping with choices of what is written (mapper/choices.h): fills each choice by `search` and takes the best one. */
bool dfl_fill_choices(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped);

/* ---- proof_status.c ---- */

/* Why a result may not be proven, beside what the search itself says. */
typedef struct {
    bool has_stalls;           /* the mapping takes more time than the search counted */
    bool has_requirement;      /* requirements do not restrict the bound */
    bool has_open_terms;       /* proven in the first term alone */
    bool is_one_of_several;    /* one of a front, or of several kinds */
    uint64_t refused;          /* choices that the model does not evaluate */
} dfl_proof_gaps;

/* Clauses with "; " between them: why a result is not proven, and what can be done. `found` is NULL for amounts alone. */
const char *dfl_proof_gaps_text(dfl_arena *arena, const dfl_search_space *space, const dfl_mapping *given, dfl_stop stopped,
                                const dfl_search_result *found, dfl_proof_gaps gaps);

/* ---- unused_options.c ---- */

/* Lints options that change nothing in the search for a mapping. */
void dfl_unused_options_report(const dfl_solver *solver, const dfl_mapping *m);

#endif
