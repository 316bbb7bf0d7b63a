#include "solve/kind_lines.h"

#include <math.h>
#include <string.h>

#include "ir/path/unit_choice.h"
#include "mapper/conflict/conflict.h"
#include "mapper/first/first.h"
#include "mapper/problem/evaluate.h"
#include "mapper/problem/limits.h"
#include "solve/homes.h"
#include "solve/one_instance.h"
#include "solve/templates.h"
#include "support/deadline.h"
#include "support/limits.h"

/* Lines of one einsum that searches found. */
typedef DFL_VEC(dfl_found_lines) found_set;

const char *dfl_kind_lines_lack(const dfl_fill *fill, const dfl_mapping *mapping, uint32_t einsum)
{
    dfl_arena *work = dfl_arena_new(fill->solver->budget);
    const char *lack = dfl_mapper_lack(work, fill->solver->names, mapping, einsum);

    dfl_arena_free(work);
    return lack;
}
/* ---- the lines of one einsum ---- */

/* Limits of the next search: the remaining time and evaluations, divided by the number of kinds still to be searched. */
static dfl_search_limits share_limits(const dfl_assembly *a)
{
    dfl_search_limits limits = a->fill->limits;
    const double now = dfl_budget_time(a->fill->solver->budget);

    limits.gap = 0; /* which is of all einsums together */
    if (limits.deadline > 0)
        limits.deadline = now + (limits.deadline > now ? (limits.deadline - now) / a->n_left : 0);
    if (limits.evaluations > 0)
        limits.evaluations = dfl_evaluations_left(limits.evaluations, a->evaluated) / a->n_left + 1;
    return limits;
}

/* Budget of the next search: an equal share of half of the steps that are left for each kind that is left. The other half is
   for what follows the searches. */
static dfl_budget share_budget(const dfl_assembly *a)
{
    const dfl_budget *session = a->fill->solver->budget;
    dfl_budget out = dfl_budget_fresh(session);

    if (session->steps_limit > 0)
        out.steps_limit = (session->steps_limit > session->steps_used ? session->steps_limit - session->steps_used : 0) / 2 /
                          a->n_left + 1;
    if (session->memory_limit > 0)
        out.memory_limit = session->memory_limit > session->memory_used ? session->memory_limit - session->memory_used : 1;
    return out;
}

/* Whether a unit reads operands only when they change. */
static bool has_reuse(const dfl_system *s)
{
    bool has = false;

    for (uint32_t c = 0; c < s->n_computes; c++)
        has |= s->computes[c].operand_reuse.on;
    return has;
}

/* A mapping of one einsum alone with all lines open. */
static dfl_mapping *make_lone_mapping(const dfl_assembly *a, dfl_arena *work, const dfl_lone_einsum *one)
{
    dfl_mapping *m = DFL_NEW(work, dfl_mapping);
    dfl_body *root = DFL_NEW(work, dfl_body), **bodies = DFL_NEW_ARRAY(work, dfl_body *, 1);

    *root = *a->given->root;
    root->einsums = DFL_NEW_ARRAY(work, uint32_t, 1);
    root->n_einsums = 1;
    bodies[0] = root;
    *m = *a->given;
    m->workload = one->workload;
    m->system = one->mapped;
    m->root = root;
    m->bodies = bodies;
    m->n_bodies = 1;
    return m;
}

/* The objective of one einsum alone: requirements are those of all einsums together. */
static dfl_objective lone_objective(const dfl_assembly *a)
{
    dfl_objective out = *a->objective;

    out.figure = NULL;
    out.meets = NULL;
    out.n_required = 0;
    out.rooms = NULL;
    return out;
}

/* The unit of an einsum alone, where it is another than that which its lines alone name; else DFL_NONE. */
static uint32_t find_named_unit(const dfl_assembly *a, const dfl_mapping *m)
{
    dfl_arena *work = dfl_arena_new(NULL);
    dfl_body root = *m->root, *bodies[] = { &root };
    dfl_mapping plain = *m;
    const dfl_paths *paths;
    uint32_t unit = root.compute;

    root.compute = DFL_NONE;
    plain.root = &root;
    plain.bodies = bodies;
    plain.n_bodies = 1;
    paths = unit != DFL_NONE ? dfl_paths_resolve(work, dfl_sink_quiet(work), a->fill->solver->names, &plain) : NULL;
    if (paths != NULL && paths->paths[0].compute == unit)
        unit = DFL_NONE;
    dfl_arena_free(work);
    return unit;
}

/* The lines of an einsum alone, and its unit. */
static dfl_found_lines copy_lines(const dfl_assembly *a, const dfl_mapping *m)
{
    const dfl_body *from = m->root;
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)from->n_lines + 1);

    memcpy(lines, from->lines, from->n_lines * sizeof *lines);
    return (dfl_found_lines){ lines, from->n_lines, find_named_unit(a, m) };
}

/* The costs of lines of one einsum alone by the model; false if it refuses them. */
static bool judge_alone(const dfl_assembly *a, const dfl_mapping *m, const dfl_objective *objective, dfl_first_result *out)
{
    dfl_arena *work = dfl_arena_new(NULL);
    const dfl_result *costs = dfl_mapping_costs(work, a->fill->solver->names, m);

    if (costs != NULL)
        *out = (dfl_first_result){ .joules = costs->joules, .seconds = costs->seconds,
                                   .value = dfl_objective_value(objective, costs->joules, costs->seconds) };
    dfl_arena_free(work);
    return costs != NULL;
}

/* The same for a search that knows operands which units hold (SEARCH.md, D8). */
static dfl_mapping *make_holding_mapping(const dfl_assembly *a, dfl_arena *work, const dfl_lone_einsum *one)
{
    dfl_mapping *m = make_lone_mapping(a, work, one);
    dfl_system *s = DFL_NEW(work, dfl_system);

    *s = *m->system;
    s->computes = one->system->computes;
    m->system = s;
    return m;
}

/* Maps one einsum alone. The mapper evaluates at most `most` mappings (0 = no limit). `costs`, which may be NULL, gets those of
   the lines by the model. False if it finds none; if none fits, `sink` has the reason. */
static bool search_alone(dfl_assembly *a, dfl_sink *sink, const dfl_lone_einsum *one, const dfl_objective *objective,
                         const dfl_search_limits *limits, uint64_t most, dfl_found_lines *out, dfl_first_result *costs)
{
    const dfl_solver *solver = a->fill->solver;
    dfl_budget budget = share_budget(a);
    dfl_arena *work = dfl_arena_new(&budget);
    dfl_search_request request = { .objective = objective, .limits = *limits, .space = a->fill->space };
    const bool may_hold = has_reuse(one->system);
    const dfl_mapping *m = may_hold ? make_holding_mapping(a, work, one) : make_lone_mapping(a, work, one);
    const dfl_search_result *r;
    bool is_found, is_own;

    is_own = most > 0 && (request.limits.evaluations == 0 || request.limits.evaluations > most);
    if (is_own)
        request.limits.evaluations = most;
    r = dfl_mapper_search(work, may_hold ? dfl_sink_quiet(work) : sink, solver->names, m, &request);
    if (may_hold && r->status == DFL_SEARCH_REPORTED && dfl_budget_ok(&budget)) { /* no search for lines holds operands here */
        m = make_lone_mapping(a, work, one);
        r = dfl_mapper_search(work, sink, solver->names, m, &request);
    }
    if (r->status == DFL_SEARCH_INFEASIBLE)
        dfl_conflict_explain(work, sink, solver->names, m, &request, r);
    is_found = (r->status == DFL_SEARCH_OPTIMAL || r->status == DFL_SEARCH_NOT_PROVEN) && r->n > 0 &&
               r->at[0].mapping->root->kind == DFL_BODY_LEAF;
    a->evaluated += r->evaluated;
    if (r->stopped != DFL_STOP_NONE && !(is_own && r->stopped == DFL_STOP_EVALUATIONS)) /* limits that were given */
        a->stopped = r->stopped;
    if (is_found)
        *out = copy_lines(a, r->at[0].mapping);
    if (is_found && costs != NULL)
        is_found = judge_alone(a, r->at[0].mapping, objective, costs);
    dfl_arena_free(work);
    dfl_budget_add_steps(solver->budget, budget.steps_used);
    return is_found;
}

/* The same by the objective of the whole, in the share of the next search, half of whose time is for small changes. */
static bool search_by_share(dfl_assembly *a, dfl_sink *sink, const dfl_lone_einsum *one, uint64_t most, dfl_found_lines *out)
{
    const dfl_objective objective = lone_objective(a);
    dfl_search_limits limits = share_limits(a);

    if (limits.deadline > 0)
        limits.deadline -= (limits.deadline - dfl_budget_time(a->fill->solver->budget)) / 2;
    return search_alone(a, sink, one, &objective, &limits, most, out, NULL);
}

/* Searches for good lines of one einsum quickly, with an objective of this einsum alone: by starts (mapper/first); in the
   first round by boxes, where dfl_mapper_quick says that these are quick. Sets the value, energy and latency. False if there
   are none. */
static bool find_quickly(dfl_assembly *a, const dfl_lone_einsum *one, const dfl_objective *objective, dfl_first_breadth breadth,
                         dfl_found_lines *out, dfl_first_result *costs)
{
    const dfl_solver *solver = a->fill->solver;
    dfl_budget budget = share_budget(a);
    dfl_arena *work = dfl_arena_new(&budget);
    const dfl_search_limits limits = share_limits(a);
    const dfl_mapping *m = make_lone_mapping(a, work, one);

    *costs = (dfl_first_result){ .value = INFINITY };
    if (breadth == DFL_FIRST_STRAIGHT)
        *costs = dfl_mapper_quick(work, solver->names, m, objective, &limits);
    a->evaluated += costs->evaluated;
    if (costs->mapping == NULL) {
        *costs = dfl_first_find(work, solver->names, m, objective, &limits, true, breadth);
        a->evaluated += costs->evaluated;
    }
    if (costs->mapping != NULL)
        *out = copy_lines(a, costs->mapping);
    dfl_arena_free(work);
    dfl_budget_add_steps(solver->budget, budget.steps_used);
    return costs->mapping != NULL;
}

/* Evaluations for the first lines of an einsum whatever the limits: fewer where there are many kinds. */
static uint64_t least_evaluations(const dfl_assembly *a)
{
    const uint64_t share = DFL_LINE_SEARCH_LEAST_ALL / (a->kinds.n + 1) + 1;

    return !a->reports ? 0 : share < DFL_LINE_SEARCH_LEAST ? share : DFL_LINE_SEARCH_LEAST;
}

/* Improves the lines of one einsum by small changes, beginning with them or with the best of `others`, which may be none; with
   the templates, if it has no lines yet. A short search finds the first lines alone, of tiles that divide, whose evaluation is
   short. It goes on after an interrupt: it has few evaluations, and each of them a limit on steps. */
static void improve_alone(dfl_assembly *a, dfl_einsum_kind *k, const found_set *others, bool is_short)
{
    const dfl_search_limits limits = share_limits(a);
    const uint32_t over = a->workload->einsums[k->einsum].over_rank;
    dfl_budget calm = { .memory_limit = a->fill->solver->budget->memory_limit, .work = a->fill->solver->budget->work };
    dfl_solver solver = *a->fill->solver;
    dfl_line_search search = { .solver = &solver, .given = a->given, .objective = a->objective, .one = &k->one,
                               .over = over == DFL_NONE ? DFL_NONE : k->one.own_rank[over],
                               .uneven = a->fill->space.imperfect && !is_short, .inside = dfl_is_single_einsum(a->workload),
                               .deadline = limits.deadline,
                               .least = least_evaluations(a), .most = DFL_LINE_SEARCH_EVALUATIONS };
    dfl_found_lines found;

    if (is_short && a->reports && !dfl_budget_ok(a->fill->solver->budget)) {
        solver.budget = &calm;
        search.most = search.least;
        search.hurries = true;
        search.is_interrupted = a->fill->solver->budget->why == DFL_STOP_CANCELLED;
    }
    if (limits.evaluations > 0 && limits.evaluations < search.most)
        search.most = limits.evaluations > search.least ? limits.evaluations : search.least;
    dfl_line_search_start(a->arena, &search);
    for (size_t i = 0; i < others->n; i++) {
        search.unit = others->at[i].unit;
        (void)dfl_line_search_try(&search, others->at[i].lines, others->at[i].n_lines, true);
    }
    search.unit = k->lines.unit;
    (void)dfl_line_search_try(&search, k->lines.lines, k->lines.n_lines, true);
    search.unit = DFL_NONE;
    if (!k->is_found || isinf(search.value))
        dfl_templates_try(&search);
    if (k->one.exact && limits.deadline > 0) /* the other half is for evaluations with the conditions */
        search.deadline -= fmax(limits.deadline - dfl_budget_time(a->fill->solver->budget), 0) / 2;
    if (!is_short)
        dfl_line_search_climb(&search);
    search.deadline = limits.deadline;
    found = dfl_line_search_end(&search);
    if (found.n_lines > 0)
        k->lines = found;
    else if (others->n > 0 && (!k->one.has_where || dfl_budget_ok(a->fill->solver->budget)))
        k->lines = others->at[0];
    k->is_found = k->lines.n_lines > 0;
    a->evaluated += search.evaluated;
}

/* Whether the lines split the rank of an operation over a whole rank. */
static bool splits_over(const dfl_lone_einsum *one, const dfl_einsum *einsum, const dfl_found_lines *found)
{
    for (uint32_t i = 0; i < found->n_lines; i++)
        if (found->lines[i].kind != DFL_LINE_KEEP && einsum->over_rank != DFL_NONE &&
            one->rank_of[found->lines[i].rank] == einsum->over_rank)
            return true;
    return false;
}

/* Marks the axes around an outermost memory of the einsum. Returns whether there are such axes. */
static bool find_around(const dfl_assembly *a, const dfl_einsum *e, bool *around)
{
    bool any = false;

    for (uint32_t c = 0; c < a->system->n_computes; c++) {
        if (!dfl_unit_can_run(a->fill->solver->names, a->given, &a->system->computes[c], e))
            continue;
        for (uint32_t i = 0; i <= e->n_inputs; i++) {
            const uint32_t home = dfl_outermost_for(a->given, i < e->n_inputs ? e->inputs[i].tensor : e->output.tensor, c);
            for (uint32_t x = 0; home != DFL_NONE && x < a->system->n_axes; x++)
                if (dfl_axis_encloses(a->system, x, a->system->memories[home].element))
                    any = around[x] = true;
        }
    }
    return any;
}

/* Lines of one instance behind those that split the einsum. */
static dfl_found_lines put_behind(const dfl_assembly *a, const dfl_one_instance *part, const dfl_found_lines *found)
{
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)part->n_lines + found->n_lines + 1);

    memcpy(lines, part->lines, part->n_lines * sizeof *lines);
    memcpy(&lines[part->n_lines], found->lines, found->n_lines * sizeof *lines);
    return (dfl_found_lines){ lines, part->n_lines + found->n_lines, found->unit };
}

/* Lets the mapper search the lines of one einsum, which stands for all einsums of its kind. The only einsum of a workload is
   searched once for each way to split it over the arrays around its outermost memories. */
static found_set search_by_mapper(dfl_assembly *a, const dfl_einsum_kind *k)
{
    const dfl_einsum *e = &a->workload->einsums[k->einsum];
    bool *around = DFL_NEW_ARRAY(a->arena, bool, a->system->n_axes + 1);
    const dfl_instance_source source = { .arena = a->arena, .one = &k->one, .around = around, .span = a->given->hole_span,
                                         .over = e->over_rank == DFL_NONE ? DFL_NONE : k->one.own_rank[e->over_rank] };
    const uint32_t n_left = a->n_left;
    const uint32_t ways = dfl_is_single_einsum(a->workload) && find_around(a, e, around) ? dfl_one_instance_count(&source) : 0;
    dfl_sink *quiet = dfl_sink_new(a->arena, a->fill->solver->sources);
    found_set out = { NULL, 0, 0 };
    dfl_found_lines found;

    dfl_sink_limit(quiet, 0);
    if (ways == 0 && search_by_share(a, quiet, &k->one, 0, &found) && !splits_over(&k->one, e, &found))
        DFL_PUSH(a->arena, &out, found);
    for (uint32_t i = 0; i < ways; i++) {
        dfl_one_instance part;
        a->n_left = n_left + ways - i - 1;
        if (!dfl_one_instance_make(&source, i, a->fill->space.imperfect, &part) ||
            !search_by_share(a, quiet, &part.one, DFL_ONE_BY_ONE_EVALUATIONS / ways, &found) ||
            splits_over(&k->one, e, &found))
            continue;
        DFL_PUSH(a->arena, &out, put_behind(a, &part, &found));
    }
    a->n_left = n_left;
    return out;
}

/* The memory that must be the outermost of a tensor, or the first one outside of all arrays that may hold it and that the unit
   sees; DFL_NONE if there is none. */
static uint32_t outermost(const dfl_assembly *a, uint32_t tensor, uint32_t compute)
{
    if (a->asked_home != NULL)
        return a->asked_home[tensor];
    for (uint32_t m = 0; m < a->system->n_memories; m++) {
        const dfl_memory *memory = &a->system->memories[m];
        dfl_i128 n;
        if (dfl_compute_sees(a->system, compute, m) && !dfl_element_instances(a->system, memory->element, &n) && n == 1 &&
            (!memory->holds.on || dfl_selects(&memory->holds, &a->workload->tensors[tensor])))
            return m;
    }
    return DFL_NONE;
}

/* The first unit that can run the einsum; DFL_NONE if there is none. */
static uint32_t first_unit(const dfl_assembly *a, const dfl_einsum *einsum)
{
    for (uint32_t c = 0; c < a->system->n_computes; c++)
        if (dfl_unit_can_run(a->fill->solver->names, a->given, &a->system->computes[c], einsum))
            return c;
    return DFL_NONE;
}

/* Lines that always exist: every operand straight from its home, every rank element by element, on one instance. The rank that an
   operation takes whole has no loop. */
static bool make_plain_lines(dfl_assembly *a, const dfl_lone_einsum *one, const dfl_einsum *einsum, dfl_found_lines *out)
{
    const uint32_t compute = first_unit(a, einsum);
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)einsum->n_inputs + one->workload->n_ranks + 2);
    uint32_t n = 0;

    for (uint32_t t = 0; t < one->workload->n_tensors; t++) {
        const uint32_t memory = compute == DFL_NONE ? DFL_NONE : outermost(a, one->tensor_of[t], compute);

        if (memory == DFL_NONE)
            return false;
        lines[n++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = a->given->hole_span, .tensor = t, .memory = memory };
    }
    for (uint32_t r = 0; r < one->workload->n_ranks; r++)
        if (one->rank_of[r] != einsum->over_rank)
            lines[n++] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = a->given->hole_span,
                                     .amount_span = a->given->hole_span, .rank = r, .amount = 1 };
    out->lines = lines;
    out->n_lines = n;
    out->unit = DFL_NONE;
    return true;
}

/* Copies lines that were found for an einsum alone, with the ranks and tensors of the whole workload. Two accesses of one tensor
   share one keep in a memory. */
static dfl_found_lines translate(const dfl_assembly *a, const dfl_lone_einsum *one, const dfl_found_lines *from)
{
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, from->n_lines + 1);
    dfl_found_lines out = { lines, 0, from->unit };

    for (uint32_t i = 0; i < from->n_lines; i++) {
        dfl_line line = from->lines[i];
        bool is_double = false;

        line.span = line.amount_span = a->given->hole_span;
        line.only = NULL;
        line.n_only = 0;
        if (line.kind == DFL_LINE_KEEP)
            line.tensor = one->tensor_of[line.tensor];
        else
            line.rank = one->rank_of[line.rank];
        for (uint32_t k = 0; k < out.n_lines; k++)
            is_double |= line.kind == DFL_LINE_KEEP && lines[k].kind == DFL_LINE_KEEP && lines[k].tensor == line.tensor &&
                         lines[k].memory == line.memory;
        if (!is_double)
            lines[out.n_lines++] = line;
    }
    return out;
}

/* Reports why no lines of an einsum fit, if the mapper knows that. Returns whether it does. */
static bool explain_none(dfl_assembly *a, const dfl_einsum_kind *k)
{
    const size_t errors = dfl_sink_errors(a->fill->sink);
    dfl_found_lines found;

    a->n_left = 1;
    (void)search_by_share(a, a->fill->sink, &k->one, 1, &found);
    return dfl_sink_errors(a->fill->sink) > errors;
}

/* Whether the conditions `holds` of some memory admit the tensor. */
static bool has_place(const dfl_assembly *a, uint32_t tensor)
{
    bool has = false;

    for (uint32_t m = 0; m < a->system->n_memories; m++)
        has |= !a->system->memories[m].holds.on || dfl_selects(&a->system->memories[m].holds, &a->workload->tensors[tensor]);
    return has;
}

/* Whether no mapping of the workload fits if no lines of the einsum alone fit. Lines of an einsum alone have whole intermediates.
   If each tensor has a memory that may hold it, the einsum may still fit below loops that it shares with others, with a part of
   each intermediate at a time. */
static bool proves_none(const dfl_assembly *a, const dfl_einsum_kind *k)
{
    const dfl_einsum *e = &a->workload->einsums[k->einsum];
    bool has_intermediates = false, has_places = true;

    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const uint32_t t = i < e->n_inputs ? e->inputs[i].tensor : e->output.tensor;
        has_intermediates |= a->workload->tensors[t].role == DFL_ROLE_INTERMEDIATE;
        has_places &= has_place(a, t);
    }
    return !k->one.is_narrowed && (!has_intermediates || !has_places || a->fill->space.max_shared_loops == 0);
}

/* Finds the kinds of einsums. */
static void find_kinds(dfl_assembly *a)
{
    const dfl_lone_source source = { a->arena, a->workload, a->system, a->is_carried, a->asked_home };

    for (uint32_t e = 0; e < a->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &a->workload->einsums[e];
        dfl_einsum_kind k = { .einsum = e, .lines.unit = DFL_NONE };
        size_t i = 0;

        k.one = a->ones[e] = dfl_lone_einsum_take(&source, einsum);
        k.key = dfl_lone_einsum_key(&source, &k.one, einsum);
        while (i < a->kinds.n && strcmp(a->kinds.at[i].key, k.key) != 0)
            i++;
        if (i == a->kinds.n)
            DFL_PUSH(a->arena, &a->kinds, k);
        a->kind_of[e] = (uint32_t)i;
        a->kinds.at[i].n++;
    }
}

/* The share of the time for lines where homes of intermediates are moved in the rest. */
static const double LINES_SHARE = 0.75;

/* Searches the lines of all kinds. If no other search finds a mapping, templates come first for each kind, so that a limit leaves
   none without lines. */
static void search_kinds(dfl_assembly *a)
{
    const found_set none = { NULL, 0, 0 };
    const double now = dfl_budget_time(a->fill->solver->budget), whole = a->fill->limits.deadline;

    if (whole > now && a->reports)
        a->fill->limits.deadline = now + (whole - now) * LINES_SHARE;
    a->n_left = (uint32_t)a->kinds.n;
    for (size_t i = 0; i < a->kinds.n; i++)
        if (!a->kinds.at[i].one.exact && a->reports)
            improve_alone(a, &a->kinds.at[i], &none, true);
    for (size_t i = 0; i < a->kinds.n; i++) {
        dfl_einsum_kind *k = &a->kinds.at[i];
        found_set found;

        if (dfl_assembly_is_over(a)) {
            if (!k->is_found && a->reports)
                improve_alone(a, k, &none, true);
            continue;
        }
        found = search_by_mapper(a, k);
        if (a->reports && k->one.has_where && !dfl_budget_ok(a->fill->solver->budget)) {
            improve_alone(a, k, &none, true); /* lines of the mapper may take long to evaluate with the conditions */
        } else if (a->climbs) {
            improve_alone(a, k, &found, false);
        } else {
            k->is_found = found.n > 0;
            k->lines = k->is_found ? found.at[0] : (dfl_found_lines){ NULL, 0, DFL_NONE };
        }
        if (!k->is_found && a->reports && dfl_assembly_is_over(a))
            improve_alone(a, k, &none, true);
        a->n_left--;
    }
    a->fill->limits.deadline = whole;
    if (a->reports && !dfl_assembly_is_over(a) && a->stopped == DFL_STOP_TIME) /* which ended a share */
        a->stopped = DFL_STOP_NONE;
}

/* Finds lines of a kind in a round, and keeps them if they are better by the objective. */
static void improve_in_round(dfl_assembly *a, dfl_einsum_kind *k, const dfl_objective *objective, uint32_t round)
{
    static const dfl_first_breadth BREADTH[] = { DFL_FIRST_STRAIGHT, DFL_FIRST_NARROW, DFL_FIRST_WIDE };
    const bool is_quick = round < sizeof BREADTH / sizeof *BREADTH;
    const dfl_search_limits limits = share_limits(a);
    dfl_sink *quiet = dfl_sink_quiet(a->arena);
    dfl_found_lines found;
    dfl_first_result costs;

    if (!(is_quick ? find_quickly(a, &k->one, objective, BREADTH[round], &found, &costs)
                   : search_alone(a, quiet, &k->one, objective, &limits, 0, &found, &costs)) ||
        splits_over(&k->one, &a->workload->einsums[k->einsum], &found) ||
        (k->is_found && !(costs.value < dfl_objective_value(objective, k->joules, k->seconds))))
        return;
    k->is_found = true;
    k->lines = found;
    k->joules = costs.joules;
    k->seconds = costs.seconds;
}

/* The line of energy and time that touches the objective at the sum of the lines found. Another objective than a product stays as
   it is. */
static dfl_objective touching_line(const dfl_assembly *a)
{
    const dfl_objective objective = lone_objective(a);
    double joules = 0, seconds = 0, per_joule, per_second;

    for (size_t i = 0; i < a->kinds.n; i++) {
        joules += a->kinds.at[i].joules * a->kinds.at[i].n;
        seconds += a->kinds.at[i].seconds * a->kinds.at[i].n;
    }
    if (!dfl_objective_is_product(a->objective) || !(joules > 0) || !(seconds > 0))
        return objective;
    dfl_objective_slopes(a->objective, 0, joules, seconds, &per_joule, &per_second);
    return dfl_objective_line(&objective, per_joule, per_second);
}

/* The lines found for an einsum alone, moved to the homes that are asked for: a keep in each home comes first, and keeps in these
   memories or further out are left out. */
static dfl_found_lines put_home(const dfl_assembly *a, const dfl_lone_einsum *one, const dfl_found_lines *from)
{
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)from->n_lines + one->workload->n_tensors + 1);
    dfl_found_lines out = { lines, 0, from->unit };

    for (uint32_t t = 0; t < one->workload->n_tensors; t++)
        lines[out.n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = a->given->hole_span, .tensor = t,
                                           .memory = a->asked_home[one->tensor_of[t]] };
    for (uint32_t i = 0; i < from->n_lines; i++)
        if (from->lines[i].kind != DFL_LINE_KEEP ||
            dfl_memory_outside(a->system, a->asked_home[one->tensor_of[from->lines[i].tensor]], from->lines[i].memory))
            lines[out.n_lines++] = from->lines[i];
    return out;
}

/* Begins with the lines that a search with other homes has found, where the model takes them. */
static void begin_with_known(dfl_assembly *a)
{
    const dfl_objective objective = lone_objective(a);

    for (size_t i = 0; i < a->kinds.n; i++) {
        dfl_einsum_kind *k = &a->kinds.at[i];
        const dfl_einsum_kind *from = &a->known->kinds.at[a->known->kind_of[k->einsum]];
        dfl_arena *work = dfl_arena_new(a->fill->solver->budget);
        dfl_mapping *m = make_lone_mapping(a, work, &k->one);
        dfl_first_result costs;

        k->lines = put_home(a, &k->one, &from->lines);
        m->root->lines = DFL_NEW_ARRAY(work, dfl_line, (size_t)k->lines.n_lines + 1);
        memcpy(m->root->lines, k->lines.lines, k->lines.n_lines * sizeof *k->lines.lines);
        m->root->n_lines = k->lines.n_lines;
        m->root->compute = k->lines.unit;
        m->has_holes = false;
        k->is_found = from->is_found && judge_alone(a, m, &objective, &costs);
        k->joules = k->is_found ? costs.joules : 0;
        k->seconds = k->is_found ? costs.seconds : 0;
        a->evaluated++;
        dfl_arena_free(work);
    }
}

/* Whether a round may exceed its time: the first one shall find lines for each kind, while the whole time has just ended. */
static bool may_exceed(const dfl_assembly *a, uint32_t round)
{
    const dfl_budget *session = a->fill->solver->budget;

    return round == 0 && a->quick_end[0] > 0 && dfl_budget_ok(a->fill->solver->budget) &&
           dfl_budget_time(session) < a->quick_end[DFL_QUICK_ROUNDS] + DFL_GRACE_LEAST_SECONDS;
}

/* The share of the time that is left for the last round. */
static double apart_share(const dfl_assembly *a)
{
    dfl_arena *work = dfl_arena_new(a->fill->solver->budget);
    const double left = a->quick_end[DFL_QUICK_ROUNDS] - a->quick_end[DFL_QUICK_ROUNDS - 1];
    bool is_deep = false;

    for (size_t i = 0; i < a->kinds.n; i++)
        is_deep |= dfl_first_is_deep(work, a->fill->solver->names, make_lone_mapping(a, work, &a->kinds.at[i].one));
    dfl_arena_free(work);
    return is_deep && left * DFL_APART_DEEP >= DFL_APART_LIST * (double)a->kinds.n ? DFL_APART_DEEP : DFL_APART_SHARE;
}

/* Ends of the rounds under a limit on time: seconds, and shares of a short limit. The last one ends after a share of the time
   that the others leave (apart_share). */
static const double FIRST_SECONDS[DFL_QUICK_ROUNDS] = { 0.1, 0.1, 0.5, 0.5 };
static const double FIRST_SHARE[DFL_QUICK_ROUNDS] = { 0.85, 0.75, 0.4, 0.4 };

/* Sets the ends of the rounds, or a limit on evaluations. Returns the number of rounds. */
static uint32_t begin_rounds(dfl_assembly *a)
{
    const dfl_budget *budget = a->fill->solver->budget;
    dfl_search_limits *limits = &a->fill->limits;
    const double now = dfl_budget_time(budget), left = fmax(limits->deadline - now, 0);
    const bool is_timed = limits->deadline > 0 && budget->work == NULL;

    a->quick_end[DFL_QUICK_ROUNDS] = limits->deadline;
    for (uint32_t round = 0; round < DFL_QUICK_ROUNDS && is_timed; round++)
        a->quick_end[round] = now + fmin(FIRST_SECONDS[round], left * FIRST_SHARE[round]);
    if (is_timed && a->is_long)
        a->quick_end[DFL_QUICK_ROUNDS - 1] += (a->quick_end[DFL_QUICK_ROUNDS] - a->quick_end[DFL_QUICK_ROUNDS - 1]) *
                                              apart_share(a);
    if (limits->evaluations > 0 || !is_timed)
        limits->evaluations = limits->evaluations > 0 && limits->evaluations / 4 < DFL_FIRST_SEVERAL
                                  ? limits->evaluations / 4 + 1 : DFL_FIRST_SEVERAL;
    if (is_timed && a->known != NULL && !a->is_long && a->workload->n_einsums <= DFL_CLIMB_FIRST_EINSUMS)
        return 1; /* one round: the climb that follows needs the rest of the time */
    return !is_timed ? 2 : a->is_quick ? DFL_QUICK_ROUNDS : DFL_QUICK_ROUNDS - 1;
}

/* Finds lines of all kinds quickly: first the best of each kind by itself, then, as long as there is time, better ones by the
   line of energy and time that touches the objective at the sum of these. Kinds with conditions have other lines where a search
   follows. */
static void find_all_quickly(dfl_assembly *a)
{
    const dfl_search_limits given = a->fill->limits;
    const uint32_t n = begin_rounds(a);
    dfl_objective objective = lone_objective(a);

    if (a->known != NULL) {
        begin_with_known(a);
        objective = touching_line(a);
    }
    for (uint32_t round = 0; round < n; round++) {
        a->n_left = (uint32_t)a->kinds.n * (round == 0 ? 2 : 1);
        a->fill->limits.deadline = a->quick_end[round];
        for (size_t i = 0; i < a->kinds.n; i++, a->n_left--) {
            if (dfl_assembly_is_over(a) && (a->kinds.at[i].is_found || !may_exceed(a, round)))
                continue;
            if (a->is_quick || !a->kinds.at[i].one.has_where)
                improve_in_round(a, &a->kinds.at[i], &objective, round);
        }
        objective = touching_line(a);
    }
    a->fill->limits = given;
    a->n_left = (uint32_t)a->kinds.n;
    if (!a->is_quick && a->stopped == DFL_STOP_TIME) /* which ended a round */
        a->stopped = DFL_STOP_NONE;
}

/* Sets the outermost memories that keep tensors of the einsum. */
static void find_homes(dfl_assembly *a, uint32_t einsum)
{
    const dfl_found_lines *found = &a->found[einsum];

    for (uint32_t i = 0; i < found->n_lines; i++) {
        const dfl_line *line = &found->lines[i];
        bool is_first = line->kind == DFL_LINE_KEEP;
        for (uint32_t k = 0; k < i; k++)
            is_first &= found->lines[k].kind != DFL_LINE_KEEP || found->lines[k].tensor != line->tensor;
        if (is_first && (a->home[line->tensor] == DFL_NONE || line->memory < a->home[line->tensor]))
            a->home[line->tensor] = line->memory;
    }
}

/* Gives each einsum the lines of its kind, and each tensor its home. */
static void take_lines(dfl_assembly *a)
{
    for (uint32_t e = 0; e < a->workload->n_einsums; e++) {
        a->found[e] = translate(a, &a->ones[e], &a->kinds.at[a->kind_of[e]].lines);
        find_homes(a, e);
    }
}

bool dfl_kind_lines_find(dfl_assembly *a)
{
    find_kinds(a);
    if (a->is_quick || (a->reports && !a->fill->space.perfect))
        find_all_quickly(a);
    if (!a->is_quick)
        search_kinds(a);
    for (size_t i = 0; i < a->kinds.n; i++) {
        dfl_einsum_kind *k = &a->kinds.at[i];
        const dfl_einsum *e = &a->workload->einsums[k->einsum];
        const char *lack;
        dfl_diag *d;

        if (k->is_found || ((!a->reports || a->asked_home != NULL) && make_plain_lines(a, &k->one, e, &k->lines)))
            continue;
        if (!a->reports || (dfl_budget_ok(a->fill->solver->budget) && proves_none(a, k) && explain_none(a, k)))
            return false;
        if (make_plain_lines(a, &k->one, e, &k->lines))
            continue;
        lack = dfl_kind_lines_lack(a->fill, a->given, k->einsum);
        d = dfl_report(a->fill->sink, DFL_EVAL_UNSUPPORTED, e->span, "the search finds no lines for `%s`%s%s",
                       dfl_sym_text(a->fill->solver->names, e->name), lack ? ": " : "", lack ? lack : "");
        dfl_diag_label(a->fill->sink, d, a->given->span, "needed to fill the hole of this mapping");
        dfl_diag_help(a->fill->sink, d, "write the lines of the mapping");
        return false;
    }
    take_lines(a);
    return true;
}

bool dfl_kind_lines_shorten(dfl_assembly *a)
{
    bool any = false;

    for (size_t i = 0; i < a->kinds.n; i++) {
        dfl_einsum_kind *k = &a->kinds.at[i];
        any |= k->one.has_where && make_plain_lines(a, &k->one, &a->workload->einsums[k->einsum], &k->lines);
    }
    for (uint32_t t = 0; t < a->workload->n_tensors; t++)
        a->home[t] = DFL_NONE;
    take_lines(a);
    return any;
}
