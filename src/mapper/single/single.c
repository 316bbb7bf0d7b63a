#include "mapper/single/single.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/exact/reconstruct.h"
#include "mapper/exact/weights.h"
#include "mapper/nests/nests.h"
#include "mapper/problem/factors.h"
#include "mapper/problem/limits.h"
#include "mapper/problem/space_text.h"
#include "mapper/skeleton/fixed_lines.h"
#include "mapper/tiling/box.h"
#include "mapper/tiling/written.h"
#include "support/vec.h"

/* Values that differ by less are equal. */
static const double ROUNDING = 1 + 1e-9;

bool dfl_single_knows(const dfl_mapping *m, const dfl_map_options *options)
{
    return m->workload->n_einsums == 1 && options->objective->native && options->objective->n_terms <= 1 &&
           (options->space.imperfect || options->objective->n_required == 0);
}

bool dfl_single_applies(const dfl_mapping *m, const dfl_map_options *options)
{
    return dfl_single_is_one(m) && options->space.extensions == 0 &&
           (dfl_mapping_all_lines_open(m) || !options->space.imperfect) &&
           !options->front && options->top == 0 && !options->certificate &&
           options->ceiling == 0 && dfl_single_knows(m, options);
}

/* Whether an axis takes some ranks only if more instances are at work with them: boxes do not know this. */
static bool has_other_ranks(const dfl_problem *problem)
{
    for (uint32_t a = 0; a < problem->n_axes; a++)
        if (problem->axis[a].others != 0)
            return true;
    return false;
}

/* Makes the problems of the einsum on all units; false if there is none, or if no search by lines knows it. `spread`: any ranks
   on axes whose network shares transfers. */
static bool make_any(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, bool spread, dfl_problems *out)
{
    const dfl_problem_limits limits = { .spread = spread, .holds = dfl_mapping_all_lines_open(m) };
    const char *lack = NULL;

    *out = dfl_problems_make(arena, names, m, 0, &limits, dfl_space_roomy(arena, m, &limits), &lack);
    return lack == NULL && out->n > 0;
}

bool dfl_single_problems(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, bool divides, bool spread,
                         dfl_problems *out)
{
    if (!make_any(arena, names, m, spread, out))
        return false;
    for (size_t i = 0; i < out->n; i++) {
        out->at[i]->given = dfl_fixed_lines_make(arena, m, out->at[i]);
        if (!dfl_box_handles(m, out->at[i], divides) || has_other_ranks(out->at[i]))
            return false;
    }
    return true;
}

/* Whether the tile sizes that divide an extent are a poor choice: neighbours differ by a large factor, or there are so many that
   a search by lists takes long. */
static bool is_coarse(dfl_arena *arena, int64_t extent)
{
    const dfl_amounts divisors = dfl_divisors(arena, extent);
    bool has_step = false;

    for (uint32_t i = 0; i + 1 < divisors.n; i++)
        has_step |= divisors.at[i + 1] > divisors.at[i] * DFL_COARSE_STEP;
    return extent > DFL_COARSE_LEAST && (has_step || divisors.n > DFL_COARSE_DIVISORS);
}

bool dfl_single_wants_any_tiles(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_problems problems;
    bool is_any = false;

    if (m->workload->n_einsums != 1 || !dfl_mapping_all_lines_open(m) ||
        !dfl_single_problems(arena, names, m, false, true, &problems))
        return false;
    for (uint32_t r = 0; r < problems.at[0]->n_ranks; r++)
        is_any |= is_coarse(arena, problems.at[0]->extent[r]);
    return is_any;
}

/* Whether dives of a search by boxes soon find good tiles that divide: no windows slide, whose points prove little, the einsum
   has few keeps, and its extents have many divisors. */
static bool is_quick(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, dfl_problems *problems)
{
    bool is_quick = (dfl_single_problems(arena, names, m, true, false, problems) ||
                     dfl_single_problems(arena, names, m, true, true, problems)) && !dfl_first_is_deep(arena, names, m);

    for (size_t i = 0; i < problems->n && is_quick; i++)
        is_quick &= !problems->at[i]->windows;
    for (uint32_t r = 0; is_quick && r < problems->at[0]->n_ranks; r++)
        is_quick &= !is_coarse(arena, problems->at[0]->extent[r]);
    return is_quick;
}

dfl_first_result dfl_single_quick(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_objective *objective, const dfl_search_limits *limits)
{
    const dfl_box_start start = dfl_single_start(mapping);
    dfl_search_limits splits = *limits;
    dfl_problems problems;
    const dfl_box_result *found;

    if (!dfl_first_handles(mapping, objective) || !is_quick(arena, names, mapping, &problems))
        return (dfl_first_result){ .value = INFINITY };
    splits.evaluations *= DFL_BOX_LEAF;
    found = dfl_box_search(arena, names, mapping, dfl_problems_list(&problems), (uint32_t)problems.n, objective, &splits, &start);
    return (dfl_first_result){ .mapping = found->mapping, .value = found->value, .joules = found->joules,
                               .seconds = found->seconds, .evaluated = found->nodes / DFL_BOX_LEAF + 1 };
}

/* The result of a search that begins with a mapping that nothing undercuts. */
static const dfl_box_result *known_best(dfl_arena *arena, const dfl_box_start *start, double lower_bound)
{
    dfl_box_result *out = DFL_NEW(arena, dfl_box_result);

    *out = (dfl_box_result){ .mapping = start->mapping, .value = start->value, .joules = start->joules,
                             .seconds = start->seconds, .lower_bound = lower_bound, .is_complete = true };
    return out;
}

/* The mapping of amounts that divide, among written lines. `context`: the mapping that is searched. */
static dfl_mapping *write_lines(const void *context, dfl_arena *arena, const dfl_form *form, const int64_t *const *amounts)
{
    const dfl_mapping *given = context;
    const dfl_problem *problem = form->problem;
    const size_t n_gaps = (size_t)form->skeleton->n_keeps + 1;
    int64_t *cut = DFL_NEW_ARRAY(arena, int64_t, (n_gaps + problem->n_axes) * problem->n_ranks);
    dfl_pmapping row = { .form = form->skeleton, .problem = problem, .cut = cut };
    const dfl_pmapping *rows[1] = { &row };
    uint32_t open[1] = { 0 }, names[1][DFL_ROW_LOOPS] = { { 0 } };
    const uint32_t none[1] = { 0 };
    const dfl_join_result chosen = { .rows = rows, .open = open, .names = (const uint32_t (*)[DFL_ROW_LOOPS])names, .ends = none,
                                     .skipped = none };

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        dfl_box_cuts(form, r, amounts[r], problem->n_ranks, cut + r, cut + n_gaps * problem->n_ranks + r);
    return dfl_reconstruct(arena, given, &problem, &chosen);
}

/* The mapping with these amounts of its lines. `context`: the mapping that is searched. */
static dfl_mapping *set_lines(const void *context, dfl_arena *arena, const dfl_form *form, const int64_t *const *amounts)
{
    const dfl_mapping *given = context;
    dfl_mapping *out = dfl_mapping_copy(arena, given);

    for (uint32_t r = 0; r < form->problem->n_ranks; r++)
        dfl_written_set(form->problem, form->skeleton, r, amounts[r], given->root->lines, out);
    out->has_holes = false;
    return out;
}

/* Whether a search by lists would look at many fillings. */
static bool has_many_fillings(dfl_arena *arena, const dfl_mapping *m, bool imperfect)
{
    double n = 1;

    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        if (line->kind == DFL_LINE_KEEP || line->by != DFL_BY_HOLE)
            continue;
        const int64_t extent = m->workload->ranks[line->rank].extent;
        n *= line->hole->choices != NULL ? line->hole->n_choices
             : imperfect                 ? 2 * sqrt((double)extent)
                                         : dfl_divisors(arena, extent).n;
    }
    return n > DFL_SIZES_LISTED;
}

/* The only problem of an einsum whose lines are all written; NULL if boxes do not know the lines. */
static const dfl_problem *make_written(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m)
{
    const dfl_body *root = m->root;
    dfl_sink *quiet = dfl_sink_quiet(arena);
    dfl_problems problems;

    if (m->workload->n_einsums != 1 || m->n_bodies != 1 || m->n_choices > 0 || root->n_lines > DFL_CHAIN_CUTS ||
        !dfl_fixed_lines_check(quiet, names, m, root) || !dfl_single_problems(arena, names, m, true, true, &problems) ||
        problems.n != 1 || problems.at[0]->windows || problems.at[0]->given == NULL)
        return NULL;
    for (uint32_t i = 0; i < problems.at[0]->given->n; i++) {
        const dfl_fixed_line *line = &problems.at[0]->given->at[i];
        if (line->kind != DFL_GIVEN_KEEP && line->rank >= problems.at[0]->n_ranks)
            return NULL;
    }
    return problems.at[0];
}

const dfl_box_result *dfl_single_sizes(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                       const dfl_search_request *request)
{
    const dfl_objective *o = request->objective;
    dfl_box_start start = { .value = INFINITY, .write = set_lines, .context = mapping, .is_whole = true,
                            .imperfect = request->space.imperfect };
    dfl_search_limits limits = request->limits;
    const double now = dfl_budget_time(dfl_arena_budget(arena));
    const dfl_problem *problem;
    const dfl_box_result *found;

    if (request->mode != DFL_SEARCH_BEST || request->incumbent != NULL || !o->native || o->n_terms > 1 || o->n_required > 0 ||
        dfl_weights_count_waits(mapping, o, false) ||
        !has_many_fillings(arena, mapping, start.imperfect) || (problem = make_written(arena, names, mapping)) == NULL)
        return NULL;
    if (limits.evaluations == 0 || limits.evaluations > DFL_SIZES_NODES)
        limits.evaluations = DFL_SIZES_NODES;
    if (limits.deadline > now)
        limits.deadline = now + (limits.deadline - now) / 2;
    found = dfl_box_search(arena, names, mapping, &problem, 1, o, &limits, &start);
    return found->mapping != NULL ? found : NULL;
}

bool dfl_single_is_one(const dfl_mapping *m) { return m->workload->n_einsums == 1 && !dfl_mapping_has_open_branches(m); }

dfl_box_start dfl_single_start(const dfl_mapping *m)
{
    return (dfl_box_start){ .value = INFINITY, .divides = true, .write = dfl_mapping_all_lines_open(m) ? NULL : write_lines,
                            .context = m };
}

/* Where the search begins. Over dividing tile sizes it begins with nothing: the mapping of a quick search may have others. */
static dfl_box_start start_of(const dfl_mapping *m, const dfl_map_options *options, const dfl_first_result *first)
{
    if (!options->space.imperfect)
        return dfl_single_start(m);
    return (dfl_box_start){ .mapping = first->mapping, .value = first->value, .joules = first->joules,
                            .seconds = first->seconds };
}

dfl_nests_result dfl_single_nests(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_map_options *options, uint64_t evaluated, double value)
{
    dfl_search_limits limits = options->limits;
    dfl_problems problems;

    const bool is_ragged = options->space.imperfect;

    if (!make_any(arena, names, mapping, is_ragged || options->space.any_spread, &problems) ||
        !dfl_nests_handles(arena, mapping, dfl_problems_list(&problems), (uint32_t)problems.n, is_ragged))
        return (dfl_nests_result){ .value = value };
    limits.evaluations = dfl_evaluations_left(limits.evaluations, evaluated);
    return dfl_nests_search(arena, names, mapping, dfl_problems_list(&problems), (uint32_t)problems.n, is_ragged,
                            options->objective, &limits, value);
}

/* The result of a search by boxes with that of nests. */
static const dfl_box_result *add_nests(dfl_arena *arena, const dfl_nests_result *nests, const dfl_box_result *found)
{
    dfl_box_result *out = DFL_NEW(arena, dfl_box_result);

    *out = *found;
    out->nodes += nests->evaluated;
    out->stopped = nests->stopped;
    if (nests->mapping != NULL) {
        out->mapping = nests->mapping;
        out->value = nests->value;
        out->joules = nests->joules;
        out->seconds = nests->seconds;
    }
    if (nests->is_complete) {
        out->lower_bound = out->value;
        out->is_complete = out->is_least = true;
        out->is_settled = out->is_ragged = false;
    }
    return out;
}

dfl_map_result *dfl_single_search(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                  const dfl_map_options *options, const dfl_first_result *first)
{
    const bool any_tiles = options->space.imperfect, spread = any_tiles || options->space.any_spread;
    const dfl_box_start start = start_of(mapping, options, first);
    dfl_search_limits limits = options->limits;
    dfl_problems problems;
    const dfl_box_result *found;
    dfl_map_result *out;
    const dfl_budget *session = dfl_arena_budget(arena);
    const bool is_timed = limits.deadline > 0 && (session == NULL || session->work == NULL);
    bool has_windows = false;

    if (!dfl_single_problems(arena, names, mapping, start.divides, spread, &problems))
        return NULL;
    for (size_t i = 0; i < problems.n; i++)
        has_windows |= problems.at[i]->windows;
    if (limits.evaluations == 0)
        limits.evaluations = has_windows && !is_timed ? DFL_BOX_WINDOW_NODES : DFL_BOX_NODES;
    if (start.mapping != NULL && start.value <= dfl_value_times(first->lower_bound, ROUNDING))
        found = known_best(arena, &start, first->lower_bound);
    else
        found = dfl_box_search(arena, names, mapping, dfl_problems_list(&problems), (uint32_t)problems.n, options->objective,
                               &limits, &start);
    if (!found->is_complete && found->stopped == DFL_STOP_NONE) {
        const dfl_nests_result nests = dfl_single_nests(arena, names, mapping, options, found->nodes, found->value);
        found = add_nests(arena, &nests, found);
    }
    if (found->mapping == NULL)
        return NULL;
    out = DFL_NEW(arena, dfl_map_result);
    *out = (dfl_map_result){ .mapping = found->mapping, .joules = found->joules, .seconds = found->seconds,
                             .objective = found->value, .lower_bound = found->lower_bound,
                             .optimal = found->is_complete, .inside = found->is_complete && !any_tiles, .any_tiles = any_tiles,
                             .windows = has_windows && !found->is_complete,
                             .least = found->is_least && start.write == NULL, .settled = found->is_settled,
                             .ragged = found->is_ragged && !found->is_complete,
                             .stopped = found->stopped,
                             .evaluated = found->nodes + first->evaluated, .pruned = found->pruned };
    if (start.write != NULL)
        out->seconds = INFINITY; /* the search counts no latency of its own: solve compares that of the model with the bound */
    out->floor = any_tiles ? found->lower_bound : fmax(found->floor, first->lower_bound);
    out->floor_units = out->floor_beside = out->floor_lifted = out->floor;
    out->space = dfl_mapper_words(arena, mapping, &(dfl_words){ .any_tiles = any_tiles, .spread = spread });
    return out;
}
