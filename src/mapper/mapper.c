#include "mapper/mapper.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/branches/branches.h"
#include "mapper/improve/neighbourhoods.h"
#include "mapper/pareto_front.h"
#include "mapper/portfolio.h"
#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/factors.h"
#include "mapper/problem/space_text.h"
#include "mapper/single/single.h"
#include "mapper/sizes/size_front.h"
#include "mapper/sizes/size_search.h"

/* Whether a search for lines lists the divisors of each extent in short time; false after reporting E0606. */
static bool extents_fit(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    const dfl_workload *w = mapping->workload;
    dfl_diag *d;

    for (uint32_t r = 0; r < w->n_ranks; r++) {
        if (w->ranks[r].extent <= DFL_LATTICE_MOST)
            continue;
        d = dfl_report(sink, DFL_LIMIT_COUNT, mapping->hole_span, "rank `%s` has more than 2^40 elements to choose tiles from",
                       dfl_sym_text(names, w->ranks[r].name));
        dfl_diag_label(sink, d, w->ranks[r].span, "declared here");
        dfl_diag_help(sink, d, "write the lines of the mapping: a mapping without holes has no such limit");
        return false;
    }
    return true;
}

bool dfl_mapper_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    if (dfl_mapping_lines_are_written(mapping))
        return true;
    return (dfl_mapping_all_lines_open(mapping) || dfl_open_lines_check(sink, names, mapping)) &&
           extents_fit(sink, names, mapping);
}

bool dfl_mapper_wants_any_tiles(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping)
{
    return dfl_single_wants_any_tiles(arena, names, mapping);
}

dfl_first_result dfl_mapper_quick(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, const dfl_search_limits *limits)
{
    return dfl_single_quick(arena, names, mapping, objective, limits);
}

const char *dfl_mapper_lack(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, uint32_t einsum)
{
    return dfl_problem_lack(arena, names, mapping, einsum);
}

uint32_t dfl_mapper_extensions(const dfl_mapping *mapping, uint32_t extensions)
{
    return dfl_neighbourhoods_kinds(mapping, extensions);
}

/* The request as the searches for lines pass it on, without the extensions that change no mapping: of one einsum none does. */
static dfl_map_options read_request(const dfl_mapping *mapping, const dfl_search_request *request)
{
    dfl_map_options out = { .objective = request->objective, .limits = request->limits, .space = request->space,
                            .certificate = request->certificate };

    out.space.extensions = dfl_mapping_all_lines_open(mapping)
                           ? dfl_mapper_extensions(mapping, request->space.extensions) : 0;
    return out;
}

static dfl_search_status status_of(bool is_found, bool fits, bool is_optimal)
{
    if (!is_found)
        return fits ? DFL_SEARCH_REPORTED : DFL_SEARCH_INFEASIBLE;
    return is_optimal ? DFL_SEARCH_OPTIMAL : DFL_SEARCH_NOT_PROVEN;
}

/* Points the result at one mapping; at none if that is NULL. */
static void set_mapping(dfl_arena *arena, dfl_search_result *out, const dfl_mapping *mapping)
{
    dfl_front_point *point;

    if (mapping == NULL)
        return;
    point = DFL_NEW(arena, dfl_front_point);
    point->mapping = mapping;
    out->at = point;
    out->n = 1;
}

/* Copies what a search for lines says about itself. */
static void copy_facts(dfl_search_result *out, const dfl_map_result *found)
{
    out->stopped = found->stopped;
    out->counted_seconds = found->seconds;
    out->lower_bound = found->lower_bound;
    out->evaluated = found->evaluated;
    out->pruned = found->pruned;
    out->space = found->space;
    out->certificate = found->certificate;
    out->certified = found->certified;
    out->has_windows = found->windows;
    out->has_lost_states = found->lost;
    out->is_uneven = found->uneven;
    out->has_any_tiles = found->any_tiles;
    out->is_ragged = found->ragged;
    out->is_least_transfers = found->least;
    out->is_settled = found->settled;
    out->is_best_perfect = found->inside;
}

/* The result of a search for amounts by boxes; `stopped` is what ended the whole search without a proof. */
static void copy_sizes(dfl_arena *arena, const dfl_mapping *mapping, const dfl_search_request *request,
                       const dfl_box_result *found, dfl_stop stopped, dfl_search_result *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < mapping->root->n_lines; i++)
        n += mapping->root->lines[i].kind != DFL_LINE_KEEP && mapping->root->lines[i].by == DFL_BY_HOLE;
    set_mapping(arena, out, found->mapping);
    out->status = found->is_complete ? DFL_SEARCH_OPTIMAL : DFL_SEARCH_NOT_PROVEN;
    out->stopped = stopped;
    out->value = found->value;
    out->lower_bound = found->is_complete ? found->value : found->lower_bound;
    out->evaluated += found->nodes + found->leaves;
    out->pruned += found->pruned;
    out->space = dfl_arena_printf(arena, "tile sizes of %u loop%s, %s", n, n == 1 ? "" : "s",
                                  request->space.imperfect ? "imperfect" : "perfect");
}

/* Copies the result of a search for amounts by lists. */
static void copy_listed(dfl_arena *arena, const dfl_size_search_result *found, dfl_search_result *out)
{
    out->status = found->optimal ? DFL_SEARCH_OPTIMAL : DFL_SEARCH_NOT_PROVEN;
    set_mapping(arena, out, found->mapping);
    if (found->n_front > 0) {
        out->at = found->front;
        out->n = found->n_front;
    }
    out->stopped = found->stopped;
    out->value = found->objective;
    out->lower_bound = found->lower_bound;
    out->evaluated = found->evaluated;
    out->pruned = found->pruned;
    out->refused = found->refused;
    out->space = found->space;
}

/* Boxes first. Without a proof by them, lists follow, and what the boxes found remains if lists find nothing better. Lists alone
   search a Pareto set, and memories that move rows: whole rows cost more than the boxes count, but not more than the model. */
static void search_amounts(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                           const dfl_search_request *request, dfl_search_result *out)
{
    dfl_size_search_conflict *conflict = DFL_NEW(arena, dfl_size_search_conflict);
    const bool has_rows = dfl_system_without_rows(arena, mapping->system) != mapping->system;
    const bool has_boxes = request->mode == DFL_SEARCH_BEST && !has_rows;
    const dfl_box_result *by_boxes = has_boxes ? dfl_single_sizes(arena, names, mapping, request) : NULL;
    const dfl_size_search_result *found = NULL;
    dfl_sink *quiet;

    if (by_boxes != NULL && (by_boxes->is_complete || by_boxes->stopped == DFL_STOP_CANCELLED)) {
        copy_sizes(arena, mapping, request, by_boxes, by_boxes->is_complete ? DFL_STOP_NONE : by_boxes->stopped, out);
        return;
    }
    quiet = dfl_sink_quiet(arena); /* with a result, a limit is no error */
    found = dfl_size_search_run(arena, by_boxes != NULL ? quiet : sink, names, mapping, request, conflict);
    out->status = status_of(found != NULL, conflict->fits, found != NULL && found->optimal);
    out->amounts = conflict->fits ? NULL : conflict;
    if (found != NULL)
        copy_listed(arena, found, out);
    if (found != NULL && by_boxes != NULL && !found->optimal && !(out->lower_bound >= by_boxes->lower_bound))
        out->lower_bound = fmin(by_boxes->lower_bound, out->value);
    if (by_boxes != NULL && !out->amounts && (found == NULL || (!found->optimal && by_boxes->value < found->objective)))
        copy_sizes(arena, mapping, request, by_boxes,
                   found != NULL ? found->stopped : dfl_arena_budget(arena) != NULL ? dfl_arena_budget(arena)->why
                                                                                    : DFL_STOP_EVALUATIONS, out);
}

static void search_best(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                        const dfl_search_request *request, dfl_search_result *out)
{
    const dfl_map_options options = read_request(mapping, request);
    bool fits = true;
    const dfl_map_result *found = dfl_mapper_run(arena, sink, names, mapping, &options, &fits);

    out->status = status_of(found != NULL, fits, found != NULL && found->optimal);
    if (found == NULL)
        return;
    set_mapping(arena, out, found->mapping);
    copy_facts(out, found);
}

/* A front, or the best of several structures. */
static void search_several(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                           const dfl_search_request *request, dfl_search_result *out)
{
    dfl_map_options options = read_request(mapping, request);
    const dfl_front *front;
    bool fits = true;

    options.limits.gap = 0; /* `--gap` is that of one mapping */
    front = request->mode == DFL_SEARCH_FRONT
            ? dfl_pareto_front_find(arena, sink, names, mapping, &options, request->front_limit, request->alone, &fits)
            : dfl_pareto_front_kinds(arena, sink, names, mapping, &options, request->top, request->best, &fits);

    out->status = status_of(front != NULL, fits,
                            front != NULL && front->exact && front->search->optimal && front->search->stopped == DFL_STOP_NONE);
    if (front == NULL)
        return;
    copy_facts(out, front->search);
    out->at = front->at;
    out->n = front->n;
    out->has_dropped = front->lossy;
}

const dfl_search_result *dfl_mapper_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                           const dfl_search_request *request)
{
    dfl_search_result *out = DFL_NEW(arena, dfl_search_result);
    dfl_mapping plain = *mapping;

    /* Without rows no mapping costs more, so the bound of the search holds. Solve compares it with the model's costs. */
    plain.system = dfl_system_without_rows(arena, mapping->system);
    if (dfl_mapping_lines_are_written(mapping))
        search_amounts(arena, sink, names, mapping, request, out);
    else if (request->mode == DFL_SEARCH_BEST)
        search_best(arena, sink, names, plain.system == mapping->system ? mapping : &plain, request, out);
    else
        search_several(arena, sink, names, mapping, request, out);
    return out;
}

bool dfl_mapper_add(dfl_arena *arena, const dfl_intern *names, const dfl_objective *objective, dfl_search_mode mode,
                    const dfl_mapping *mapping, dfl_search_result *found)
{
    dfl_front set = { .at = found->at, .n = found->n };

    if (!dfl_front_add(arena, names, objective, mode == DFL_SEARCH_FRONT, mapping, &set))
        return false;
    found->at = set.at;
    found->n = set.n;
    found->status = DFL_SEARCH_NOT_PROVEN;
    return true;
}

void dfl_mapper_join_fronts(dfl_arena *arena, const dfl_objective *objective, const dfl_search_result *more,
                            dfl_search_result *all)
{
    dfl_size_front front = { .arena = arena, .objective = objective, .n_amounts = 1 };
    dfl_front_point *joined;

    for (int64_t i = 0; i < (int64_t)all->n + more->n; i++) {
        const double *terms = i < all->n ? all->at[i].terms : more->at[i - all->n].terms;

        if (!dfl_size_front_excludes(&front, terms))
            dfl_size_front_add(&front, terms, &i);
    }
    joined = DFL_NEW_ARRAY(arena, dfl_front_point, front.points.n);
    for (size_t i = 0; i < front.points.n; i++) {
        const int64_t from = front.points.at[i].amounts[0];

        joined[i] = from < all->n ? all->at[from] : more->at[from - all->n];
    }
    all->at = joined;
    all->n = (uint32_t)front.points.n;
}

const char *dfl_mapper_certified_space(dfl_arena *arena, const dfl_mapping *mapping)
{
    return dfl_mapper_words(arena, mapping, &(dfl_words){ .certified = true });
}

const char *dfl_mapper_default_space(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, bool perfect)
{
    const bool any_tiles = !perfect && dfl_mapper_wants_any_tiles(arena, names, mapping);

    return dfl_mapper_words(arena, mapping, &(dfl_words){ .any_tiles = any_tiles, .spread = any_tiles });
}
