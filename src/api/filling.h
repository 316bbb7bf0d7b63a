/*
 * What the files that fill holes share: the search for one mapping, and what is required of it. A search makes small what is to
 * be minimized; what is required it uses only as far as it is the room in a memory. So the best of all may not meet the rest:
 * then fronts are looked through, and what searches for the required figures by themselves find (unmet.c).
 */
#ifndef DFL_API_FILLING_H
#define DFL_API_FILLING_H

#include "api/session.h"
#include "mapper/front.h"
#include "mapper/required.h"

/* What a search asks about a mapping that it has evaluated. */
typedef struct {
    dfl_session *s;
    dfl_sink *sink;              /* where the search reports */
    dfl_search_options limits;   /* what the session asks for, or what is left of that for one of several choices */
    dfl_results one;             /* of the mapping alone, reports go nowhere */
    dfl_result_item item;
    DFL_VEC(const dfl_check *) required;
    DFL_VEC(dfl_span) required_at;
    DFL_VEC(dfl_required) asked; /* the same as a search can use it */
    bool ruled;                  /* some of it is more than the room in a memory */
    dfl_progress_meter *meter;
    bool told;
    double started;              /* by dfl_deadline_clock */
    const double *known;         /* terms of another mapping: one that is no better is of no use; NULL = everything is */
    uint32_t choice, choices;    /* the one that is searched, of so many; 0 of 0 without */
    double begun;                /* the first of them, by dfl_deadline_clock */
} dfl_filling;

/* Finds what is required of the mapping, in its braces or by its name. */
void dfl_filling_require(dfl_filling *f);
/* What was found on a system with less room, for the one that it was asked of. */
dfl_mapping *dfl_filling_copy(dfl_session *s, const dfl_mapping *found, const dfl_mapping *given);
/* What a mapping costs, in dfl_session_after; NULL after reporting. */
const dfl_result *dfl_filling_costs(const dfl_filling *f, const dfl_mapping *m);
/* The searches for one figure each that may find what a front has not, in `arena`: the figures that are required; `terms`: and
   what is to be small, term by term, and energy * latency. */
dfl_front_alone dfl_filling_alone(const dfl_filling *f, dfl_arena *arena, const dfl_objective *o, bool terms);
/* The best of a front, where other terms of the objective decide, or a requirement that the best of all does not meet (`best`
   NULL, else what was found before). False if none meets it. */
bool dfl_filling_choose(dfl_filling *f, const dfl_mapping *within, const dfl_map_options *options, const dfl_result *best,
                        dfl_filled *out, dfl_search_summary *found, dfl_stop *stopped);
/* The best mapping does not meet what is required: E0618 if none can, E0616 if nobody knows. `within`: dfl_required_within. */
void dfl_filling_unmet(dfl_filling *f, const dfl_filled *out, const dfl_mapping *within, const dfl_map_options *options,
                       dfl_stop stopped);

/* ---- map_choices.c ---- */

/* The search for what a mapping without choices leaves open, of `out->given`; false after reporting. `f->known`: terms of the
   objective that are to be undercut, NULL = none; `out->mapping` may be NULL where nothing does. */
typedef bool dfl_fill_open(dfl_filling *f, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped);
/* The same for one with choices of what is written (mapper/choices.h), each of which is searched so. */
bool dfl_filling_each(dfl_filling *f, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                      dfl_stop *stopped);

#endif
