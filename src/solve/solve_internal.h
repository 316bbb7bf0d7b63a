/*
 * Declarations that the files of this room share. A search minimizes the objective and prunes only by requirements on the
 * peak of a memory. So the best mapping may violate another requirement. Then requirements.c searches the Pareto set and
 * minimizes each required figure, and reports the conflict if no mapping found meets all requirements.
 */
#ifndef DFL_SOLVE_SOLVE_INTERNAL_H
#define DFL_SOLVE_SOLVE_INTERNAL_H

#include "mapper/mapper.h"
#include "model/sensitivity.h"
#include "solve/solve.h"
#include "support/vec.h"

/* The state of the search for one mapping. */
typedef struct {
    const dfl_solver *solver;
    dfl_sink *sink;                    /* receives the reports of searches */
    dfl_search_limits limits;          /* limits from the options; for one structural choice, the rest of these limits */
    dfl_search_space space;
    bool certificate;                  /* the options ask for a certificate */
    dfl_results one;                   /* results with this mapping as the only item, for lookups of figures and checks; its
                                          sink drops reports */
    dfl_result_item item;              /* the only item of `one` */
    DFL_VEC(const dfl_check *) required;
    DFL_VEC(dfl_span) required_at;     /* spans of `required` */
    DFL_VEC(dfl_required) asked;       /* `required` in the form that searches use */
    bool has_requirement;              /* at least one requirement is not a bound on the peak of a memory */
    bool has_default_limit;            /* no limit was asked for: the search ends after a fixed amount of work */
    bool is_last;                      /* all einsums are searched together, with all the time that is left */
    double judged_until; /* end of the evaluation of whole mappings of which `limits` let search a part; 0 = `limits.deadline` */
    double report_seconds;             /* time that the report takes to evaluate the best mapping, where that is known and long */
    bool is_part;                      /* of the search for another mapping, which needs no lower bound */
    bool is_segment;                   /* some of the einsums of a network: the search needs no lower bound */
    const dfl_mapping *alone;          /* the best lines of each einsum alone (dfl_fill_first); NULL = not searched for */
    double alone_value;                /* its value */
    bool was_progress_shown;
    const double *incumbent;           /* terms of the incumbent that a result must undercut; NULL = none */
    uint32_t choice, n_choices;        /* `choice`: index of the current structural choice; `n_choices`: number of all
                                          structural choices; if there are none, both are 0 */
    double choices_start;              /* start time of the first choice (in seconds of dfl_budget_time) */
} dfl_fill;

/* ---- mapper_search.c ---- */

/* Reports E0616 with the message `what` and the name of the mapping. Returns false. */
bool dfl_fill_refuse(const dfl_fill *fill, dfl_span span, const char *what, const char *here, const char *help);
/* The same of the `pareto` statement. */
bool dfl_fill_refuse_front(const dfl_fill *fill, const char *here, const char *help);
/* Reports that searches for open lines do not minimize a figure of the objective, with advice. Returns false. */
bool dfl_fill_refuse_figure(const dfl_fill *fill, const dfl_objective *o, const dfl_mapping *m);
/* Runs a search and, if nothing fits, reports why. */
const dfl_search_result *dfl_fill_search(const dfl_fill *fill, dfl_arena *arena, const dfl_mapping *within,
                                         const dfl_search_request *request);
static inline bool dfl_fill_has_result(const dfl_search_result *found)
{
    return found->status == DFL_SEARCH_OPTIMAL || found->status == DFL_SEARCH_NOT_PROVEN;
}
/* Whether one mapping is searched over all tile sizes although the options do not ask for that. */
bool dfl_fill_takes_any_tiles(const dfl_fill *fill, const dfl_mapping *m);

/* ---- summary.c ---- */

/* A summary with the members that are known before the search: objective and limits. */
dfl_search_summary dfl_fill_start_summary(const dfl_fill *fill, const dfl_objective *objective);
/* The limits of a search with a share of the time that is left. */
dfl_search_limits dfl_fill_share_limits(const dfl_fill *fill, double share);
/* Whether a mapping is one that the options ask for, and one that a file can state: with `--tiles perfect` each tile divides what
   the lines above leave, and with `--max-fused N` einsums share at most N loops besides those of carrying repeats. */
bool dfl_fill_admits(const dfl_fill *fill, const dfl_mapping *mapping);
/* Notes what ended a search. A gap that is small enough is no limit: the next search goes on, and the exit status is 0. */
void dfl_fill_note_stop(const dfl_fill *fill, dfl_search_summary *summary, dfl_stop *stopped);
/* Fits the lower bound to the value: where the value is less by rounding alone, it is the bound; where it is less by more, the
   bound is that of a space without the mapping, or wrong, and there is none (NAN). */
void dfl_fill_fit_bound(dfl_search_summary *summary);
/* Replaces `out->mapping` by a mapping of that value if it is better than that of `summary`; `unproven` says why it is not
   proven. */
void dfl_fill_take_better(dfl_fill *fill, const dfl_mapping *mapping, double value, const char *unproven, dfl_filled *out,
                          dfl_search_summary *summary);
/* The same with a mapping that a climb found (dfl_fill_climb), which may lie outside of the space of `summary`: this then names
   the changes. */
void dfl_fill_take_climbed(dfl_fill *fill, const dfl_mapping *mapping, double value, const char *unproven, dfl_filled *out,
                           dfl_search_summary *summary);

/* Adds a filled mapping to the list of the solver. `*next` is the number of the next name: 0 = the name of `given`. */
void dfl_fill_add(const dfl_solver *solver, const dfl_mapping *given, const dfl_mapping *found, const dfl_search_summary *search,
                  uint32_t *next);

/* ---- requirements.c ---- */

/* Finds the `require` checks of the mapping: those in its braces, and those of the file whose paths all start with its name. */
void dfl_fill_find_requirements(dfl_fill *fill);
/* The mapping itself, or a copy whose evaluations find the required bandwidths, if a requirement is on one of these. */
const dfl_mapping *dfl_fill_ask_bandwidth(const dfl_fill *fill, const dfl_mapping *m);
/* Copies a mapping that was found on a system with smaller memories (dfl_required_within) to the system of `given`. */
dfl_mapping *dfl_fill_copy(const dfl_solver *solver, const dfl_mapping *found, const dfl_mapping *given);
/* Evaluates a mapping by the model; the costs lie in the arena `after`. NULL after reporting. */
const dfl_result *dfl_fill_costs(const dfl_fill *fill, const dfl_mapping *m);
/* The same without reports. NULL also if an interrupt, more than `steps` (0 = any number), or `deadline` (s of dfl_budget_time,
   0 = none) ends the evaluation. */
const dfl_result *dfl_fill_costs_until(const dfl_fill *fill, const dfl_mapping *m, uint64_t steps, double deadline);
/* The costs of `out->mapping`, by which a stage decides: those that are kept there, or else those of an evaluation, which is then
   kept. NULL also if the time of the limits ends it. */
const dfl_result *dfl_fill_deciding_costs(const dfl_fill *fill, dfl_filled *out);
/* The value of a mapping by the model. INFINITY if it is not legal, violates a requirement, or takes long to evaluate: more than
   half of the time that is left, since the report evaluates the result once more. Reports nothing. */
double dfl_fill_value(const dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m);
/* Objectives of additional searches with one term each, in `arena`: each required figure and energy * latency, and with
   `terms` also each term of the objective. */
dfl_front_alone dfl_fill_single_objectives(const dfl_fill *fill, dfl_arena *arena, const dfl_objective *objective, bool terms);
/* Searches for a Pareto set and stores its best mapping in `out` and `summary`. Needed if later terms decide between mappings
   that are equal in the first term (`best` = costs of the best mapping), or if the best mapping violates a requirement
   (`best` = NULL). False if no mapping of the Pareto set meets the requirements. */
bool dfl_fill_choose(dfl_fill *fill, const dfl_mapping *within, const dfl_search_request *request, const dfl_result *best,
                     dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped);
/* Reports that the best mapping violates requirements: E0618 if no mapping can meet them, E0616 if that is not known.
   `within` is the mapping that dfl_required_within returned. `out` is the result of the search; its mapping may be NULL. */
void dfl_fill_report_violated(dfl_fill *fill, const dfl_filled *out, const dfl_mapping *within, const dfl_search_request *request,
                              dfl_stop stopped);

/* ---- choices.c ---- */

/* Fills `out->given`, a mapping without structural choices; false after reporting. With `fill->incumbent`, `out->mapping`
   is NULL if no mapping undercuts the incumbent. */
typedef bool dfl_fill_open(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped);
/* Fills a mapping with structural choices (mapper/skeleton/structure_choices.h): fills each by `search` and keeps the best
   result. */
bool dfl_fill_choices(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped);
/* Adds the Pareto set of all structural choices of a mapping without open lines, with all tile sizes of each choice, in ascending
   order of the first expression. False after reporting. */
bool dfl_fill_front_choices(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *given, dfl_stop *stopped);

/* ---- tile_sizes.c ---- */

/* Searches the tile sizes, and describes the search in `*summary`. NULL if there is no result, after reporting. */
const dfl_search_result *dfl_fill_search_sizes(const dfl_fill *fill, const dfl_objective *objective, dfl_search_mode mode,
                                               const dfl_mapping *given, dfl_search_summary *summary, dfl_stop *stopped);
/* Fills the tile sizes of a mapping without open lines. False after reporting. */
bool dfl_fill_tile_sizes(const dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped);
/* Adds the Pareto set of all tile sizes of such a mapping, in ascending order of the first expression. False after reporting. */
bool dfl_fill_front_sizes(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *given, dfl_stop *stopped);

/* ---- mapping_set.c ---- */

/* Adds the Pareto set over the expressions of `pareto`, in ascending order of the first expression. `search` searches for one
   mapping of each expression: no end of the set is worse. False after reporting. */
bool dfl_fill_front(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, dfl_fill_open *search,
                    dfl_stop *stopped);
/* Adds the best mappings of the K best structures, best first. The first one gets the name of the given mapping, and is no worse
   than that of `search`. False after reporting. */
bool dfl_fill_kinds(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *m, dfl_fill_open *search,
                    dfl_stop *stopped);

/* ---- several.c ---- */

/* Searches several einsums with open lines in stages. Each stage replaces `out->mapping`, with its value in `summary`, if it
   finds a better mapping, and gets a share of the time that is left (mapper/problem/limits.h):
     1. the workload with one element of a rank that all einsums share, by `search` (common_rank.c);
     2. fused groups;
     3. all einsums together again, by `search`, if a limit on time ended that before (`*stopped`) and groups are no better.
   Then raises the lower bound to that of all exchanges. `within` is the mapping that dfl_required_within returned. Reports
   nothing. */
void dfl_fill_improve_several(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_fill_open *search,
                              dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped);
/* Searches all einsums together by `search` in the space of `--tiles perfect` alone, for a share of the time that is left. Takes
   what is better as `out->mapping`, which may be NULL before, with its value in `summary`. Reports nothing. False if there is
   none. */
bool dfl_fill_start_narrow(const dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                           dfl_search_summary *summary);
/* After a proof over tiles that divide: tries fused groups, whose tiles need not, once. Reports nothing. */
void dfl_fill_try_ragged(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_filled *out,
                         dfl_search_summary *summary);
/* Climbs from a mapping over all its lines (mapper/improve/tree_climb.h), for a share of the time that is left, with so many
   random walks at most. The result lies in `arena`. */
const dfl_mapping *dfl_fill_climb(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *from, double share,
                                  uint32_t walks, dfl_arena *arena, dfl_search_summary *summary, double *value);
/* Whether a climb from the mapping of each einsum alone may come below `value`, or there is no such mapping yet. */
bool dfl_fill_alone_is_near(const dfl_fill *fill, double value);
/* The same from `out->mapping`, which a better mapping replaces. Reports nothing. */
void dfl_fill_try_climb(dfl_fill *fill, const dfl_objective *objective, double share, uint32_t walks, dfl_filled *out,
                        dfl_search_summary *summary);
/* Raises the lower bound of an einsum alone, whose lines are all open, to that of all its skeletons without short pieces that
   stay (SEARCH.md, B41). */
void dfl_fill_raise_alone(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary);
/* Raises the lower bound to the floor of all einsums (mapper/join/workload_floor.h). A result of one term that reaches it is
   proven. */
void dfl_fill_raise_floor(const dfl_fill *fill, const dfl_objective *objective, const dfl_filled *out,
                          dfl_search_summary *summary);


/* ---- even_rows.c ---- */

/* Whether a memory in an array moves rows. */
bool dfl_fill_has_rows_inside(const dfl_system *s);
/* Fills open lines where memories in arrays move rows, after a search whose mapping the model refuses: searches tiles that
   divide, and mappings on one instance of each array. False if no mapping is found; reports nothing. */
bool dfl_fill_evenly(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped);

/* ---- common_rank.c ---- */

/* Replaces `out->mapping` by a mapping whose outermost shared loop goes element by element over a rank that all einsums share, if
   that is better. `search` searches the workload with one element of the rank. Reports nothing. */
void dfl_fill_try_common(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                         dfl_search_summary *summary);

/* ---- improve_apart.c ---- */

/* Whether an einsum has conditions (`where`), which neither lists nor boxes know. */
bool dfl_fill_has_conditions(const dfl_workload *w);
/* Improves `out->mapping`, which was found einsum by einsum, with its value in `summary`: by searches of neighbours together, and
   by changes of lines. Takes the time that a report needs from the limit. Reports nothing. */
void dfl_fill_improve_apart(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_fill_open *search,
                            dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped);

/* ---- segments.c ---- */

/* Searches neighbouring einsums of a network together by `search`: longest runs of those that the joint search knows, below the
   loops of repeats around them. Puts each mapping into `out->mapping`, einsum by einsum so far, if that is better. Reports
   nothing. */
void dfl_fill_try_segments(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                           dfl_search_summary *summary);
/* Searches all einsums together by `search`, where an einsum alone does not fit with all of the intermediates that it touches.
   The search takes units without `operand_reuse`, which does not change which mappings fit. Sets the mapping, its costs and the
   summary. False after a report. */
bool dfl_fill_whole(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped);
/* Searches the lines of each einsum that shares no loop again, by `search`, in shares of the time that is left,
   each times `share`: its tensors are at home in the keeps around it in `out->mapping`, and of a product the line counts that
   touches it at the costs of the whole. Puts lines into `out->mapping` where that is better. Reports nothing. */
void dfl_fill_try_leaves(dfl_fill *fill, const dfl_objective *objective, double share, dfl_fill_open *search, dfl_filled *out,
                         dfl_search_summary *summary);

/* ---- proof_status.c ---- */

/* Proof gaps of a result in addition to those in dfl_search_result. */
typedef struct {
    bool has_stalls;           /* transfers stall, so the latency of the mapping exceeds the latency that the search counted */
    bool has_uncounted;        /* the latency exceeds the latency that the search counted by more than the stalls */
    bool has_stalls_above;     /* the value exceeds the lower bound because of stalls; said if there is no other gap */
    bool has_others_above;     /* it does so because of something else; said if there is no other gap */
    bool is_above;             /* it does so by more than a rounding error; said if there is no other gap */
    bool has_requirement;      /* the lower bound ignores a requirement */
    bool has_open_terms;       /* the result is proven only in the first term of the objective */
    bool is_one_of_several;    /* the result is one mapping of a Pareto set or of several structures */
    uint64_t refused;          /* number of candidates that the model does not evaluate */
} dfl_proof_gaps;

/* Clauses with "; " between them: the reasons why a result is not proven, with advice. `found` is NULL for searches of tile
   sizes alone. */
const char *dfl_proof_gaps_text(dfl_arena *arena, const dfl_search_space *space, const dfl_mapping *given, dfl_stop stopped,
                                const dfl_search_result *found, dfl_proof_gaps gaps);
/* The reasons for a mapping of the workload that was searched einsum by einsum, after the limit that stopped the search, if any.
   `lack` is what the mapper does not support of a single einsum (dfl_mapper_lack), or NULL. */
const char *dfl_proof_gaps_one_by_one(dfl_arena *arena, const dfl_workload *w, const char *lack, dfl_stop stopped);
/* The reasons for a plan over chips: combinations of open amounts that were not tried, or that the model does not evaluate;
   `why` is the report about the first of the latter. */
const char *dfl_proof_gaps_plans(dfl_arena *arena, bool has_untried, uint64_t unevaluated, const char *why);
/* The reasons `unproven` with the clause of the stop in front, in place of the clause of another stop, which ended a part of the
   search. With `is_left`, the limit `stopped` is not used up: the clause says that parts of the search ended at their shares of
   it. It says so, too, of the limit in front if nothing stopped the whole. NULL = there is no reason. */
const char *dfl_proof_gaps_after_stop(dfl_arena *arena, const char *unproven, dfl_stop stopped, bool is_left);
/* The stop whose clause stands in front of the reasons; DFL_STOP_NONE = there is none. */
dfl_stop dfl_proof_gaps_stop(const char *unproven);

/* What ended a search, in words of the user: the end of the default amount of work is no limit that was asked for, and after an
   interrupt a search ends by a short limit on time. */
dfl_stop dfl_fill_stop(const dfl_fill *fill, dfl_stop stopped);

/* ---- plan_fill.c ---- */

/* Fills the open amounts of a plan over chips by the best combination, and with `--top` by the best ones, best first. False
   after a report. */
bool dfl_fill_plan(dfl_fill *fill, const dfl_objective *objective, dfl_stop *stopped);

/* ---- plan_sensitivity.c ---- */

/* Sensitivities of a plan over chips. The result is allocated in `arena`. */
const dfl_sensitivity *dfl_plan_sensitivity(const dfl_solver *solver, dfl_arena *arena, const dfl_result *result);

/* ---- unused_options.c ---- */

/* Reports the lint unused-option for each search option that has no effect on the search for a mapping. */
void dfl_unused_options_report(const dfl_solver *solver, const dfl_mapping *m);

#endif
