/* Parts of a mapping, each searched as a workload of its own: runs of neighbours in a whole network that the joint search knows,
   to be fused; and single einsums that share no loop. */
#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "solve/kind_lines.h"
#include "solve/solve_internal.h"
#include "solve/sub_workload.h"
#include "support/deadline.h"

typedef struct {
    dfl_fill *fill;
    const dfl_objective *objective;
    dfl_arena *arena;
    const dfl_mapping *given;
    const uint32_t *home;           /* [tensor]: its outermost memory */
    DFL_VEC(dfl_sub_workload) parts;
} segments;

/* ---- which ---- */

/* Some einsums of a body with the loops around it as fixed ranks. */
static bool take(const segments *k, const uint32_t *einsums, uint32_t n, const bool *is_fixed, dfl_sub_workload *out)
{
    const dfl_sub_source source = { k->arena, k->given, einsums, n, is_fixed, k->home };

    return dfl_sub_workload_take(&source, out);
}

/* Whether the joint search knows the einsum, a leaf of a body with these fixed ranks. */
static bool is_known(const segments *k, const dfl_body *leaf, const bool *is_fixed)
{
    dfl_sub_workload one;

    return leaf->kind == DFL_BODY_LEAF && take(k, leaf->einsums, 1, is_fixed, &one) &&
           dfl_kind_lines_lack(k->fill, one.mapping, 0) == NULL;
}

/* Adds the einsums of neighbouring leaves as a part, or, where these exchange nothing that the whole needs apart, none. */
static void add_part(segments *k, const dfl_body *body, uint32_t first, uint32_t n, const bool *is_fixed)
{
    uint32_t *einsums = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)n + 1);
    dfl_sub_workload part;

    for (uint32_t c = 0; c < n; c++)
        einsums[c] = body->children[first + c]->einsums[0];
    if (n > 1 && take(k, einsums, n, is_fixed, &part))
        DFL_PUSH(k->arena, &k->parts, part);
}

/* Finds the parts below a body: longest runs of neighbouring leaves that the joint search knows, in workload order. */
static void find_below(segments *k, const dfl_body *body, const bool *is_around)
{
    const uint32_t n_ranks = k->given->workload->n_ranks;
    bool *is_fixed = DFL_NEW_ARRAY(k->arena, bool, (size_t)n_ranks + 1);
    uint32_t first = 0;

    memcpy(is_fixed, is_around, n_ranks * sizeof *is_fixed);
    for (uint32_t i = 0; i < body->n_lines; i++)
        if (body->lines[i].kind == DFL_LINE_TEMPORAL)
            is_fixed[body->lines[i].rank] = true;
    for (uint32_t c = 0; c < body->n_children; c++) {
        const bool is_part = is_known(k, body->children[c], is_fixed);
        const bool follows = c > first && body->children[c]->einsums[0] > body->children[c - 1]->einsums[0];
        if (is_part && (c == first || follows))
            continue;
        add_part(k, body, first, c - first, is_fixed);
        first = is_part ? c : c + 1;
        find_below(k, body->children[c], is_fixed);
    }
    if (body->n_children > first)
        add_part(k, body, first, body->n_children - first, is_fixed);
}

/* [tensor]: the memory of its innermost keep in a body or in those around it; DFL_NONE = it has none there. */
static const uint32_t *find_homes(dfl_arena *arena, const dfl_workload *w, const dfl_body *body)
{
    uint32_t *home = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1);

    for (uint32_t t = 0; t < w->n_tensors; t++)
        home[t] = dfl_sub_home(body, t);
    return home;
}

/* Whether a body and those around it only keep tensors. */
static bool has_keeps_alone(const dfl_body *b)
{
    bool has_others = false;

    for (; b != NULL; b = b->parent)
        for (uint32_t i = 0; i < b->n_lines; i++)
            has_others |= b->lines[i].kind != DFL_LINE_KEEP;
    return !has_others;
}

/* Adds each einsum that has its own lines in the mapping, and shares no loop, as a part: of those that take any tile sizes by
   themselves, as an einsum alone does, or of the others. */
static void find_leaves(segments *k, const dfl_mapping *m, bool takes_any)
{
    const bool *none = DFL_NEW_ARRAY(k->arena, bool, (size_t)m->workload->n_ranks + 1);

    for (uint32_t b = 0; b < m->n_bodies; b++) {
        const dfl_body *leaf = m->bodies[b];
        dfl_sub_workload part;
        if (leaf->kind != DFL_BODY_LEAF || leaf->n_einsums != 1 || leaf->parent == NULL || !has_keeps_alone(leaf->parent))
            continue;
        k->home = find_homes(k->arena, m->workload, leaf->parent);
        if (is_known(k, leaf, none) && take(k, leaf->einsums, 1, none, &part) &&
            dfl_fill_takes_any_tiles(k->fill, part.mapping) == takes_any)
            DFL_PUSH(k->arena, &k->parts, part);
    }
}

/* ---- the search ---- */

/* The objective of a part: of a product the line of energy and time that touches it at the costs of the whole. Requirements are
   those of all einsums together. */
static dfl_objective part_objective(const segments *k, const dfl_result *costs)
{
    dfl_objective out = *k->objective;
    double per_joule, per_second;

    out.figure = NULL;
    out.meets = NULL;
    out.n_required = 0;
    out.rooms = NULL;
    if (costs == NULL || !dfl_objective_is_product(k->objective) || !(costs->joules > 0) || !(costs->seconds > 0))
        return out;
    dfl_objective_slopes(k->objective, 0, costs->joules, costs->seconds, &per_joule, &per_second);
    return dfl_objective_line(&out, per_joule, per_second);
}

/* The weight of a part in the division of the time: the share of its einsums in all of them, and that of their costs. */
static double find_weight(const segments *k, const dfl_sub_workload *part, const dfl_result *costs)
{
    double weight = (double)part->n_einsums / k->given->workload->n_einsums;

    for (uint32_t i = 0; i < part->n_einsums && costs != NULL; i++) {
        const dfl_einsum_cost *one = &costs->einsums[part->einsums[i]];
        weight += costs->joules > 0 ? one->joules / costs->joules : 0;
        weight += costs->seconds > 0 ? one->seconds / costs->seconds : 0;
    }
    return weight;
}

/* Searches a part in a share of the time that is left. `sink` receives the reports of the search. */
static bool search_part(const segments *k, const dfl_sub_workload *part, double share, const dfl_objective *objective,
                        dfl_fill_open *search, dfl_sink *sink, dfl_filled *out)
{
    dfl_budget *budget = k->fill->solver->budget;
    const double now = dfl_budget_time(budget);
    dfl_fill one = *k->fill;
    dfl_stop stopped = DFL_STOP_NONE;
    bool is_found;

    one.sink = sink;
    one.is_segment = true;
    one.alone = NULL;
    one.judged_until = 0;
    one.limits.progress = NULL;          /* whose values are those of the whole */
    one.limits.gap = 0;
    if (one.limits.deadline > now)
        one.limits.deadline = now + (one.limits.deadline - now) * share;
    if (one.limits.evaluations > 0)
        one.limits.evaluations = (uint64_t)((double)one.limits.evaluations * share) + 1;
    *out = (dfl_filled){ .given = part->mapping };
    is_found = search(&one, objective, out, &stopped);
    if (budget->why == DFL_STOP_TIME || (budget->why == DFL_STOP_STEPS && budget->steps_used < budget->steps_limit))
        budget->why = DFL_STOP_NONE;
    return is_found && out->mapping != NULL;
}

/* Puts the mapping of a part into the whole, and keeps it there if that is better. */
static void put_part(const segments *k, const dfl_sub_workload *part, const dfl_mapping *found, const char *unproven,
                     dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_mapping *m = dfl_sub_workload_put(k->arena, part, out->mapping, found), *before = out->mapping;
    const dfl_budget *budget = k->fill->solver->budget;
    const double start = dfl_budget_time(budget);

    if (m != NULL)
        dfl_fill_take_better(k->fill, m, dfl_fill_value(k->fill, k->objective, m), unproven, out, summary);
    if (out->mapping != before)
        k->fill->report_seconds = dfl_budget_time(budget) - start;
}

/* Seconds left below which no search of a part begins: it finds plain lines. */
static const double LEAST_SECONDS = 0.02;

/* Whether a search of a part can begin. */
static bool has_time(const dfl_fill *fill)
{
    dfl_budget *budget = fill->solver->budget;

    return dfl_budget_ok(budget) && (fill->limits.deadline <= 0 ||
                                     fill->limits.deadline - dfl_budget_time(budget) > LEAST_SECONDS);
}

/* Sorts the parts by falling weight, equal ones in the order of the workload: what a part gains is at most its costs, and of a
   short time the first part gets the most that is useful. */
static void sort_parts(segments *k, double *weight)
{
    for (size_t i = 1; i < k->parts.n; i++) {
        const dfl_sub_workload part = k->parts.at[i];
        const double mine = weight[i];
        size_t at = i;

        for (; at > 0 && weight[at - 1] < mine; at--) {
            k->parts.at[at] = k->parts.at[at - 1];
            weight[at] = weight[at - 1];
        }
        k->parts.at[at] = part;
        weight[at] = mine;
    }
}

/* Searches the parts one after another, of a time the heaviest first, each in a share by its weight, and puts what it finds into
   the whole. */
static void search_parts(segments *k, dfl_fill_open *search, const char *unproven, dfl_filled *out,
                         dfl_search_summary *summary)
{
    const bool needs_costs = k->parts.n > 1 || (k->parts.n > 0 && dfl_objective_is_product(k->objective));
    const dfl_result *costs = needs_costs ? dfl_fill_deciding_costs(k->fill, out) : NULL;
    const dfl_objective mine = part_objective(k, costs);
    double *weight = DFL_NEW_ARRAY(k->arena, double, k->parts.n + 1), left = 0;

    for (size_t i = 0; i < k->parts.n; i++)
        left += weight[i] = find_weight(k, &k->parts.at[i], costs);
    if (k->fill->limits.deadline > 0)
        sort_parts(k, weight);
    for (size_t i = 0; i < k->parts.n && has_time(k->fill); i++) {
        dfl_filled found;
        dfl_sink *quiet = dfl_sink_quiet(k->arena); /* a search without a mapping is no error */
        if (search_part(k, &k->parts.at[i], weight[i] / left, &mine, search, quiet, &found)) {
            summary->evaluated += found.search->evaluated;
            put_part(k, &k->parts.at[i], found.mapping, unproven, out, summary);
        }
        left -= weight[i];
    }
}

void dfl_fill_try_segments(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out,
                           dfl_search_summary *summary)
{
    static const char space[] = "neighbouring einsums together";
    static const char unproven[] = "neighbouring einsums were mapped together, part by part: mappings that fuse others may be "
                                   "better";
    const dfl_mapping *before = out->mapping;
    segments k = { .fill = fill, .objective = objective, .arena = dfl_arena_new(fill->solver->budget), .given = out->given };

    k.home = find_homes(k.arena, k.given->workload, out->mapping->root);
    find_below(&k, out->mapping->root, DFL_NEW_ARRAY(k.arena, bool, (size_t)k.given->workload->n_ranks + 1));
    search_parts(&k, search, unproven, out, summary);
    if (out->mapping != before)
        summary->space = dfl_arena_printf(fill->solver->arena, "%s; %s", space, summary->space);
    dfl_arena_free(k.arena);
}

/* Searches the lines of each einsum that shares no loop, over tiles that divide or any tiles, in a share of the time that is
   left. */
static void search_leaves(const dfl_fill *fill, const dfl_objective *objective, bool takes_any, bool is_imperfect, double share,
                          dfl_fill_open *search, dfl_filled *out, dfl_search_summary *summary)
{
    static const char unproven[] = "the lines of each einsum were searched again within the best mapping: mappings that fuse "
                                   "others may be better";
    dfl_fill part = *fill;
    segments k = { .fill = &part, .objective = objective, .arena = dfl_arena_new(fill->solver->budget), .given = out->given };

    part.is_part = true; /* an einsum needs no lower bound */
    part.limits = dfl_fill_share_limits(fill, share);
    find_leaves(&k, out->mapping, takes_any);
    part.space.imperfect |= is_imperfect;
    search_parts(&k, search, unproven, out, summary);
    dfl_arena_free(k.arena);
}

/* Shares of the time that is left for einsums that share no loop: where extents have few divisors; of the others, first over
   tiles that divide, then over any tiles. */
static const double ANY_SHARE = 0.2, EVEN_SHARE = 0.15, RAGGED_SHARE = 0.35;

void dfl_fill_try_leaves(dfl_fill *fill, const dfl_objective *objective, double share, dfl_fill_open *search,
                         dfl_filled *out, dfl_search_summary *summary)
{
    search_leaves(fill, objective, true, true, share * ANY_SHARE, search, out, summary);
    search_leaves(fill, objective, false, false, share * EVEN_SHARE, search, out, summary);
    if (!fill->space.perfect && !fill->space.imperfect)
        search_leaves(fill, objective, false, true, share * RAGGED_SHARE, search, out, summary);
}

/* ---- all einsums as one part ---- */

bool dfl_fill_has_conditions(const dfl_workload *w)
{
    bool any = false;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        any |= w->einsums[e].n_where > 0;
    return any;
}

/* Makes a part of all einsums. False if the joint search does not support one of them. */
static bool take_all(const segments *k, dfl_sub_workload *out)
{
    const dfl_workload *w = k->given->workload;
    uint32_t *einsums = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)w->n_einsums + 1);
    bool is_known;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        einsums[e] = e;
    is_known = take(k, einsums, w->n_einsums, DFL_NEW_ARRAY(k->arena, bool, (size_t)w->n_ranks + 1), out);
    for (uint32_t e = 0; e < w->n_einsums && is_known; e++)
        is_known = dfl_kind_lines_lack(k->fill, out->mapping, e) == NULL;
    return is_known;
}

/* The given mapping with an empty root: no written lines, and no `...;`. It lies in the arena of the segments. */
static const dfl_mapping *make_bare(const segments *k)
{
    dfl_mapping *out = dfl_mapping_copy(k->arena, k->given);

    out->root->n_opens = out->root->n_lines = 0;
    out->has_holes = false;
    return out;
}

/* Reports E0616: the search found no mapping, but did not prove that none fits. Returns false. */
static bool report_none(const segments *k)
{
    dfl_fill *fill = k->fill;
    const char *name = dfl_sym_text(fill->solver->names, k->given->workload->name);
    dfl_diag *d = dfl_report(fill->sink, DFL_EVAL_HOLE_KIND, k->given->hole_span,
                             "the search found no mapping of `%s` that fits", name);

    dfl_diag_here(fill->sink, d, "the einsums were mapped one by one, each with all of the intermediates that it touches");
    dfl_diag_help(fill->sink, d, "write the lines, with `?` for tile sizes: einsums below one loop may exchange an "
                  "intermediate part by part");
    return false;
}

bool dfl_fill_whole(dfl_fill *fill, const dfl_objective *objective, dfl_fill_open *search, dfl_filled *out, dfl_stop *stopped)
{
    segments k = { .fill = fill, .objective = objective, .arena = dfl_arena_new(fill->solver->budget), .given = out->given };
    const size_t reports = dfl_sink_count(fill->sink);
    const dfl_objective mine = part_objective(&k, NULL);
    const dfl_mapping *m = NULL;
    const dfl_result *costs = NULL;
    dfl_sub_workload part;
    dfl_filled found;

    if (take_all(&k, &part) && search_part(&k, &part, 1, &mine, search, fill->sink, &found))
        m = dfl_sub_workload_put(k.arena, &part, make_bare(&k), found.mapping);
    if (m != NULL) {
        dfl_filled_set(out, dfl_mapping_copy(fill->solver->arena, m), NULL);
        costs = dfl_fill_costs_until(fill, out->mapping, 0, 0);
    }
    if (costs != NULL && dfl_objective_met(objective, costs, NULL)) {
        dfl_search_summary *summary = DFL_NEW(fill->solver->arena, dfl_search_summary);
        *summary = dfl_fill_start_summary(fill, objective);
        summary->value = dfl_objective_value(objective, costs->joules, costs->seconds);
        summary->lower_bound = NAN;
        summary->evaluated = found.search->evaluated;
        summary->space = "lines of all einsums together, without `operand_reuse`";
        summary->unproven = "all einsums were searched together without `operand_reuse`: other mappings may be better";
        summary->stopped = dfl_fill_stop(fill, *stopped);
        dfl_filled_set(out, out->mapping, costs);
        out->search = summary;
    } else if (dfl_fill_has_conditions(out->given->workload) || dfl_sink_count(fill->sink) == reports) {
        dfl_sink_withdraw(fill->sink, reports, DFL_EVAL_INFEASIBLE); /* proven only without the conditions */
        costs = NULL;
        (void)report_none(&k);
    }
    dfl_arena_free(k.arena);
    return costs != NULL;
}
