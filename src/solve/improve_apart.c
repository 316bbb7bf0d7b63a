/*
 * Improves a mapping that was found einsum by einsum. Neighbours that share loops may be a worse start of changes than the
 * einsums apart. So the search without shared loops is the first stage of the one with them, both begin with the same lines,
 * and the better result goes on: what may share loops is never above what may not, unless the time is too short for both.
 */
#include "mapper/problem/limits.h"
#include "solve/one_by_one.h"
#include "solve/solve_internal.h"
#include "support/deadline.h"

/* Shares of the limits that are left: of the time, for what shares no loops; then for neighbours together; then, if that is not
   below what shares no loops, for changes of it. The rest is for changes of the best one, and for the bound. */
static const double UNFUSED_SHARE = 0.1, SEGMENTS_SHARE = 0.7, FUSED_SHARE = 0.5;
/* Seconds in which a layer of 20 to 30 einsums finds its first lines (BERT-large, GPT-2 small on a100_80g and h100: 0.2 to 0.3).
   A share below that finds nothing: then neighbours begin together. */
static const double UNFUSED_LEAST = 0.3;
/* The share of neighbours with conditions, whose counts take tenths of a second: the rest is for the evaluation of the mapping
   found, twice. BRIEF: less than WHERE_LEAST seconds are left. Then tiles of conditions divide, whose counts take less. */
static const double SEGMENTS_SHARE_WHERE = 0.3, SEGMENTS_SHARE_BRIEF = 0.4, SEGMENTS_WHERE_LEAST = 3;

/* What all stages have in common. */
typedef struct {
    const dfl_objective *objective;
    const dfl_mapping *within;
    dfl_fill_open *search;
    dfl_stop *stopped;
} apart;

/* Changes lines of a mapping. */
static void change_lines(const apart *a, dfl_fill *fill, dfl_filled *out, dfl_search_summary *summary)
{
    if (*a->stopped != DFL_STOP_CANCELLED && dfl_budget_ok(fill->solver->budget))
        dfl_fill_improve_several(fill, a->objective, a->within, a->search, out, summary, a->stopped);
}

/* Searches neighbouring einsums together for a share of the limits that are left. */
static void try_segments_in(const apart *a, dfl_fill *fill, double share, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_search_limits given = fill->limits;

    fill->limits = dfl_fill_share_limits(fill, share);
    fill->judged_until = given.deadline;
    if (given.evaluations > 0)
        fill->limits.evaluations =
            (uint64_t)((double)dfl_evaluations_left(given.evaluations, summary->evaluated) * share) + 1;
    dfl_fill_try_segments(fill, a->objective, a->search, out, summary);
    fill->judged_until = 0;
    fill->limits = given;
}

/* Searches neighbouring einsums together. With conditions, tiles that divide come next if no other mapping is evaluated in
   time, and come first if the time is short. */
static void try_segments(const apart *a, dfl_fill *fill, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_search_space given = fill->space;
    const dfl_mapping *before = out->mapping;
    const double left = fill->limits.deadline - dfl_budget_time(fill->solver->budget);
    const bool is_brief = fill->limits.deadline > 0 && left < SEGMENTS_WHERE_LEAST;

    if (!dfl_fill_has_conditions(out->given->workload)) {
        try_segments_in(a, fill, SEGMENTS_SHARE, out, summary);
        return;
    }
    if (!is_brief)
        try_segments_in(a, fill, SEGMENTS_SHARE_WHERE, out, summary);
    if (out->mapping == before) {
        fill->space.perfect = true;
        fill->space.imperfect = false;
        try_segments_in(a, fill, is_brief ? SEGMENTS_SHARE_BRIEF : SEGMENTS_SHARE_WHERE, out, summary);
        fill->space = given;
    }
}

/* Searches without shared loops, with a share of the time that is left, but with all evaluations, as if no loops might be shared:
   fewer might find less. Needs no bound. */
static void try_unfused(const apart *a, const dfl_fill *fill, dfl_filled *out, dfl_search_summary *summary)
{
    dfl_fill part = *fill;

    part.is_segment = true;
    part.limits = dfl_fill_share_limits(fill, UNFUSED_SHARE);
    part.space.max_shared_loops = 0;
    try_segments(a, &part, out, summary);
    change_lines(a, &part, out, summary);
}

/* Whether the share of the time for what shares no loops lets a layer find its first lines. */
static bool has_time_unfused(const dfl_fill *fill)
{
    return fill->limits.deadline <= 0 ||
           (fill->limits.deadline - dfl_budget_time(fill->solver->budget)) * UNFUSED_SHARE >= UNFUSED_LEAST;
}

/* Changes lines of neighbours that share loops, with a share of the limits that are left. */
static void change_fused(const apart *a, const dfl_fill *fill, dfl_filled *out, dfl_search_summary *summary)
{
    dfl_fill part = *fill;

    part.is_segment = true;
    part.limits = dfl_fill_share_limits(fill, FUSED_SHARE);
    if (fill->limits.evaluations > 0)
        part.limits.evaluations = summary->evaluated + 1 +
            (uint64_t)((double)dfl_evaluations_left(fill->limits.evaluations, summary->evaluated) * FUSED_SHARE);
    change_lines(a, &part, out, summary);
}

/* Searches neighbours together, from lines apart, and takes the result if it is below what shares no loops. */
static void try_fused(const apart *a, dfl_fill *fill, const dfl_filled *start, const dfl_search_summary *start_summary,
                      dfl_filled *out, dfl_search_summary *summary)
{
    dfl_filled fused = *start;
    dfl_search_summary mine = *start_summary;

    mine.evaluated = summary->evaluated;
    try_segments(a, fill, &fused, &mine);
    if (fused.mapping != start->mapping && mine.value >= summary->value) /* of equal ones either may be the better start */
        change_fused(a, fill, &fused, &mine);
    summary->evaluated = mine.evaluated;
    if (mine.value < summary->value) {
        *summary = mine;
        dfl_filled_set(out, fused.mapping, fused.costs);
    }
}

/* Searches einsum by einsum once more in half of the time that is left; the evaluation of what it finds may take the rest. */
static void try_alone(const apart *a, dfl_fill *fill, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_search_limits given = fill->limits;

    fill->judged_until = given.deadline;
    fill->limits = dfl_fill_share_limits(fill, DFL_CLIMB_REST);
    dfl_fill_improve_one_by_one(fill, a->objective, out, summary, a->stopped);
    fill->judged_until = 0;
    fill->limits = given;
    if (*a->stopped == DFL_STOP_TIME && dfl_budget_time(fill->solver->budget) < given.deadline)
        *a->stopped = DFL_STOP_NONE;
}

void dfl_fill_improve_apart(dfl_fill *fill, const dfl_objective *objective, const dfl_mapping *within, dfl_fill_open *search,
                            dfl_filled *out, dfl_search_summary *summary, dfl_stop *stopped)
{
    const apart a = { objective, within, search, stopped };
    const bool is_timed = fill->limits.deadline > 0;
    const bool is_brief = is_timed && dfl_fill_has_conditions(out->given->workload); /* counts take much of the time */
    const dfl_filled start = *out;
    const dfl_search_summary start_summary = *summary;

    if (fill->space.max_shared_loops != 0 && !is_brief && has_time_unfused(fill))
        try_unfused(&a, fill, out, summary);
    try_fused(&a, fill, &start, &start_summary, out, summary);
    if (is_timed)
        fill->limits.deadline -= fill->report_seconds;
    if (is_brief)
        try_alone(&a, fill, out, summary);
    change_lines(&a, fill, out, summary);
}
