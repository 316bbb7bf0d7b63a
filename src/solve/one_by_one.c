#include "solve/one_by_one.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "ir/path/unit_choice.h"
#include "mapper/conflict/conflict.h"
#include "mapper/first/first.h"
#include "mapper/problem/limits.h"
#include "model/model.h"
#include "solve/homes.h"
#include "solve/one_instance.h"
#include "solve/templates.h"
#include "support/deadline.h"
#include "support/limits.h"

/* Rounds of quick searches: starts alone; their neighbours; and, under a limit on time alone, more starts. */
enum { FIRST_ROUNDS = 3 };

/* A class of equal einsums, which have the same best lines. */
typedef struct {
    const char *key;     /* text that is equal for the einsums of the class alone */
    uint32_t einsum;     /* first einsum of the class */
    dfl_lone_einsum one;         /* the first einsum alone */
    dfl_found_lines lines;   /* lines in the ranks and tensors of `one` */
    bool is_found;
    uint32_t n;              /* einsums of the class */
    double joules, seconds;  /* of the lines, if find_quickly found them */
} kind;

/* Lines of one einsum that searches found. */
typedef DFL_VEC(dfl_found_lines) found_set;

typedef struct {
    dfl_fill *fill;
    dfl_arena *arena;               /* arena of the search; its owner copies the result */
    const dfl_objective *objective;
    const dfl_mapping *given;
    const dfl_workload *workload;
    const dfl_system *system;
    bool *is_carried;               /* [rank]: rank of a repeat that carries a tensor */
    uint32_t *home;                 /* [tensor]: outermost memory that keeps it, DFL_NONE = not known yet */
    const uint32_t *asked_home;     /* [tensor]: the memory that must be the outermost; NULL = any */
    DFL_VEC(kind) kinds;
    uint32_t *kind_of;              /* [einsum]: index in `kinds` */
    dfl_lone_einsum *ones;                    /* [einsum]: the einsum alone */
    dfl_found_lines *found;             /* [einsum]: its lines, in ranks and tensors of the workload */
    uint32_t n_left;                /* kinds that are still to be searched */
    uint64_t evaluated;
    dfl_stop stopped;
    bool is_quick;                  /* lines of a quick search are enough, */
    double quick_end[FIRST_ROUNDS + 1]; /* whose rounds, and all that follows, end then (s of dfl_deadline_clock; 0 = no
                                       limit on time) */
    bool climbs;                    /* lines are improved by small changes, too */
    bool reports;                   /* no other search finds a mapping: the first templates are tried whatever the limits, and the
                                       search reports an error if it finds none */
    DFL_VEC(dfl_body *) bodies;
} assembly;

/* Name of the first construct of an einsum that the mapper does not support; NULL = it supports all of them. */
static const char *lack_of(const dfl_fill *fill, const dfl_mapping *mapping, uint32_t einsum)
{
    dfl_arena *work = dfl_arena_new(fill->solver->budget);
    const char *lack = dfl_mapper_lack(work, fill->solver->names, mapping, einsum);

    dfl_arena_free(work);
    return lack;
}

bool dfl_one_by_one_applies(const dfl_fill *fill, const dfl_mapping *mapping)
{
    const dfl_workload *w = mapping->workload;

    if (!dfl_mapping_all_lines_open(mapping) || mapping->root->n_lines > 0)
        return false;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (lack_of(fill, mapping, e))
            return true;
    return w->n_carries > 0;
}

/* ---- the lines of one einsum ---- */

/* Limits of the next search: the remaining time and evaluations, divided by the number of kinds still to be searched. */
static dfl_search_limits share_limits(const assembly *a)
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
static dfl_budget share_budget(const assembly *a)
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

/* Whether the workload is one einsum, whose outermost memories may stand inside of arrays. */
static bool is_single(const dfl_workload *w) { return w->n_einsums == 1 && w->n_carries == 0; }

/* A mapping of one einsum alone with all lines open. */
static dfl_mapping *make_lone_mapping(const assembly *a, dfl_arena *work, const dfl_lone_einsum *one)
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
static dfl_objective lone_objective(const assembly *a)
{
    dfl_objective out = *a->objective;

    out.figure = NULL;
    out.meets = NULL;
    out.n_required = 0;
    out.rooms = NULL;
    return out;
}

static dfl_found_lines copy_lines(const assembly *a, const dfl_body *from)
{
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)from->n_lines + 1);

    memcpy(lines, from->lines, from->n_lines * sizeof *lines);
    return (dfl_found_lines){ lines, from->n_lines };
}

/* Searches for the lines of one einsum by the mapper, which reports to `sink`, with at most `most` evaluations; 0 = any number.
   If nothing fits, reports why. False if the mapper finds no lines. */
static bool search_alone(assembly *a, dfl_sink *sink, const dfl_lone_einsum *one, uint64_t most, dfl_found_lines *out)
{
    const dfl_solver *solver = a->fill->solver;
    dfl_budget budget = share_budget(a);
    dfl_arena *work = dfl_arena_new(&budget);
    const dfl_objective objective = lone_objective(a);
    dfl_search_request request = { .objective = &objective, .limits = share_limits(a), .space = a->fill->space };
    const dfl_mapping *m = make_lone_mapping(a, work, one);
    const dfl_search_result *r;
    bool is_found, is_own;

    is_own = most > 0 && (request.limits.evaluations == 0 || request.limits.evaluations > most);
    if (is_own)
        request.limits.evaluations = most;
    if (request.limits.deadline > 0) /* half of the time is for small changes */
        request.limits.deadline -= (request.limits.deadline - dfl_budget_time(solver->budget)) / 2;
    r = dfl_mapper_search(work, sink, solver->names, m, &request);
    if (r->status == DFL_SEARCH_INFEASIBLE)
        dfl_conflict_explain(work, sink, solver->names, m, &request, r);
    is_found = (r->status == DFL_SEARCH_OPTIMAL || r->status == DFL_SEARCH_NOT_PROVEN) && r->n > 0 &&
               r->at[0].mapping->root->kind == DFL_BODY_LEAF;
    a->evaluated += r->evaluated;
    if (r->stopped != DFL_STOP_NONE && !(is_own && r->stopped == DFL_STOP_EVALUATIONS)) /* limits that were given */
        a->stopped = r->stopped;
    if (is_found)
        *out = copy_lines(a, r->at[0].mapping->root);
    dfl_arena_free(work);
    dfl_budget_add_steps(solver->budget, budget.steps_used);
    return is_found;
}

/* Searches for good lines of one einsum quickly (mapper/first), with an objective of this einsum alone. Sets the value, energy
   and latency. False if there are none. */
static bool find_quickly(assembly *a, const dfl_lone_einsum *one, const dfl_objective *objective, dfl_first_breadth breadth,
                         dfl_found_lines *out, dfl_first_result *costs)
{
    const dfl_solver *solver = a->fill->solver;
    dfl_budget budget = share_budget(a);
    dfl_arena *work = dfl_arena_new(&budget);
    const dfl_search_limits limits = share_limits(a);

    *costs = dfl_first_find(work, solver->names, make_lone_mapping(a, work, one), objective, &limits, true, breadth);
    a->evaluated += costs->evaluated;
    if (costs->mapping != NULL)
        *out = copy_lines(a, costs->mapping->root);
    dfl_arena_free(work);
    dfl_budget_add_steps(solver->budget, budget.steps_used);
    return costs->mapping != NULL;
}

/* Evaluations for the first lines of an einsum whatever the limits: fewer where there are many kinds. */
static uint64_t least_evaluations(const assembly *a)
{
    const uint64_t share = DFL_LINE_SEARCH_LEAST_ALL / (a->kinds.n + 1) + 1;

    return !a->reports ? 0 : share < DFL_LINE_SEARCH_LEAST ? share : DFL_LINE_SEARCH_LEAST;
}

/* Improves the lines of one einsum by small changes, beginning with them or with the best of `others`, which may be none; with
   the templates, if it has no lines yet. A short search finds the first lines alone, of tiles that divide, whose evaluation is
   short. It goes on after an interrupt: it has few evaluations, and each of them a limit on steps. */
static void improve_alone(assembly *a, kind *k, const found_set *others, bool is_short)
{
    const dfl_search_limits limits = share_limits(a);
    const uint32_t over = a->workload->einsums[k->einsum].over_rank;
    dfl_budget calm = { .memory_limit = a->fill->solver->budget->memory_limit, .work = a->fill->solver->budget->work };
    dfl_solver solver = *a->fill->solver;
    dfl_line_search search = { .solver = &solver, .given = a->given, .objective = a->objective, .one = &k->one,
                               .over = over == DFL_NONE ? DFL_NONE : k->one.own_rank[over],
                               .uneven = a->fill->space.imperfect && !is_short, .inside = is_single(a->workload),
                               .deadline = limits.deadline,
                               .least = least_evaluations(a), .most = DFL_LINE_SEARCH_EVALUATIONS };
    dfl_found_lines found;

    if (is_short && a->reports && !dfl_budget_ok(a->fill->solver->budget)) {
        solver.budget = &calm;
        search.most = search.least;
        search.hurries = true;
    }
    if (limits.evaluations > 0 && limits.evaluations < search.most)
        search.most = limits.evaluations > search.least ? limits.evaluations : search.least;
    dfl_line_search_start(a->arena, &search);
    for (size_t i = 0; i < others->n; i++)
        (void)dfl_line_search_try(&search, others->at[i].lines, others->at[i].n_lines, true);
    (void)dfl_line_search_try(&search, k->lines.lines, k->lines.n_lines, true);
    if (!k->is_found)
        dfl_templates_try(&search);
    if (!is_short)
        dfl_line_search_climb(&search);
    found = dfl_line_search_end(&search);
    k->lines = found.n_lines > 0 ? found : others->n > 0 ? others->at[0] : k->lines;
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
static bool find_around(const assembly *a, const dfl_einsum *e, bool *around)
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
static dfl_found_lines put_behind(const assembly *a, const dfl_one_instance *part, const dfl_found_lines *found)
{
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)part->n_lines + found->n_lines + 1);

    memcpy(lines, part->lines, part->n_lines * sizeof *lines);
    memcpy(&lines[part->n_lines], found->lines, found->n_lines * sizeof *lines);
    return (dfl_found_lines){ lines, part->n_lines + found->n_lines };
}

/* Lets the mapper search the lines of one einsum, which stands for all einsums of its kind. The only einsum of a workload is
   searched once for each way to split it over the arrays around its outermost memories. */
static found_set search_by_mapper(assembly *a, const kind *k)
{
    const dfl_einsum *e = &a->workload->einsums[k->einsum];
    bool *around = DFL_NEW_ARRAY(a->arena, bool, a->system->n_axes + 1);
    const dfl_instance_source source = { .arena = a->arena, .one = &k->one, .around = around, .span = a->given->hole_span,
                                         .over = e->over_rank == DFL_NONE ? DFL_NONE : k->one.own_rank[e->over_rank] };
    const uint32_t n_left = a->n_left;
    const uint32_t ways = is_single(a->workload) && find_around(a, e, around) ? dfl_one_instance_count(&source) : 0;
    dfl_sink *quiet = dfl_sink_new(a->arena, a->fill->solver->sources);
    found_set out = { NULL, 0, 0 };
    dfl_found_lines found;

    dfl_sink_limit(quiet, 0);
    if (ways == 0 && search_alone(a, quiet, &k->one, 0, &found) && !splits_over(&k->one, e, &found))
        DFL_PUSH(a->arena, &out, found);
    for (uint32_t i = 0; i < ways; i++) {
        dfl_one_instance part;
        a->n_left = n_left + ways - i - 1;
        if (!dfl_one_instance_make(&source, i, a->fill->space.imperfect, &part) ||
            !search_alone(a, quiet, &part.one, DFL_ONE_BY_ONE_EVALUATIONS / ways, &found) ||
            splits_over(&k->one, e, &found))
            continue;
        DFL_PUSH(a->arena, &out, put_behind(a, &part, &found));
    }
    a->n_left = n_left;
    return out;
}

/* The memory that must be the outermost of a tensor, or the first one outside of all arrays that may hold it and that the unit
   sees; DFL_NONE if there is none. */
static uint32_t outermost(const assembly *a, uint32_t tensor, uint32_t compute)
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
static uint32_t first_unit(const assembly *a, const dfl_einsum *einsum)
{
    for (uint32_t c = 0; c < a->system->n_computes; c++)
        if (dfl_unit_can_run(a->fill->solver->names, a->given, &a->system->computes[c], einsum))
            return c;
    return DFL_NONE;
}

/* Lines that always exist: every operand straight from its home, every rank element by element, on one instance. The rank that an
   operation takes whole has no loop. */
static bool make_plain_lines(assembly *a, const dfl_lone_einsum *one, const dfl_einsum *einsum, dfl_found_lines *out)
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
    return true;
}

/* Copies lines that were found for an einsum alone, with the ranks and tensors of the whole workload. Two accesses of one tensor
   share one keep in a memory. */
static dfl_found_lines translate(const assembly *a, const dfl_lone_einsum *one, const dfl_found_lines *from)
{
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, from->n_lines + 1);
    dfl_found_lines out = { lines, 0 };

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
static bool explain_none(assembly *a, const kind *k)
{
    const size_t errors = dfl_sink_errors(a->fill->sink);
    dfl_found_lines found;

    a->n_left = 1;
    (void)search_alone(a, a->fill->sink, &k->one, 1, &found);
    return dfl_sink_errors(a->fill->sink) > errors;
}

/* Finds the kinds of einsums. */
static void find_kinds(assembly *a)
{
    const dfl_lone_source source = { a->arena, a->workload, a->system, a->is_carried, a->asked_home };

    for (uint32_t e = 0; e < a->workload->n_einsums; e++) {
        const dfl_einsum *einsum = &a->workload->einsums[e];
        kind k = { .einsum = e };
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

/* Whether the search must end; notes what ended it. */
static bool is_time_over(assembly *a)
{
    const dfl_budget *session = a->fill->solver->budget;

    if (!dfl_budget_ok(a->fill->solver->budget)) {
        if (session->why == DFL_STOP_CANCELLED || a->stopped == DFL_STOP_NONE)
            a->stopped = session->why;
        return true;
    }
    if (a->fill->limits.deadline <= 0 || dfl_budget_time(session) < a->fill->limits.deadline)
        return false;
    a->stopped = DFL_STOP_TIME;
    return true;
}

/* Searches the lines of all kinds. If no other search finds a mapping, templates come first for each kind, so that a limit leaves
   none without lines. */
static void search_kinds(assembly *a)
{
    const found_set none = { NULL, 0, 0 };

    a->n_left = (uint32_t)a->kinds.n;
    for (size_t i = 0; i < a->kinds.n; i++)
        if (!a->kinds.at[i].one.exact && a->reports)
            improve_alone(a, &a->kinds.at[i], &none, true);
    for (size_t i = 0; i < a->kinds.n; i++) {
        kind *k = &a->kinds.at[i];
        found_set found;

        if (is_time_over(a)) {
            if (!k->is_found && a->reports)
                improve_alone(a, k, &none, true);
            continue;
        }
        found = search_by_mapper(a, k);
        if (a->climbs) {
            improve_alone(a, k, &found, false);
        } else {
            k->is_found = found.n > 0;
            k->lines = k->is_found ? found.at[0] : (dfl_found_lines){ NULL, 0 };
        }
        if (!k->is_found && a->reports && is_time_over(a))
            improve_alone(a, k, &none, true);
        a->n_left--;
    }
}

/* Finds lines of a kind quickly, and keeps them if they are better by the objective. */
static void improve_quickly(assembly *a, kind *k, const dfl_objective *objective, dfl_first_breadth breadth)
{
    dfl_found_lines found;
    dfl_first_result costs;

    if (!find_quickly(a, &k->one, objective, breadth, &found, &costs) ||
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
static dfl_objective touching_line(const assembly *a)
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

/* Whether a round may exceed its time: the first one shall find lines for each kind, while the whole time has just ended. */
static bool may_exceed(const assembly *a, uint32_t round)
{
    const dfl_budget *session = a->fill->solver->budget;

    return round == 0 && a->quick_end[0] > 0 && dfl_budget_ok(a->fill->solver->budget) &&
           dfl_budget_time(session) < a->quick_end[FIRST_ROUNDS] + DFL_GRACE_LEAST_SECONDS;
}

/* Finds lines of all kinds quickly: first the best of each kind by itself, then, as long as there is time, better ones by the
   line of energy and time that touches the objective at the sum of these. */
static void find_all_quickly(assembly *a)
{
    static const dfl_first_breadth BREADTH[FIRST_ROUNDS] = { DFL_FIRST_STRAIGHT, DFL_FIRST_NARROW, DFL_FIRST_WIDE };
    const uint32_t n = a->quick_end[0] > 0 ? FIRST_ROUNDS : FIRST_ROUNDS - 1;
    dfl_objective objective = lone_objective(a);

    for (uint32_t round = 0; round < n; round++) {
        a->n_left = (uint32_t)a->kinds.n * (round == 0 ? 2 : 1);
        a->fill->limits.deadline = a->quick_end[round];
        for (size_t i = 0; i < a->kinds.n; i++, a->n_left--) {
            if (is_time_over(a) && !may_exceed(a, round))
                break;
            improve_quickly(a, &a->kinds.at[i], &objective, BREADTH[round]);
        }
        objective = touching_line(a);
    }
    a->fill->limits.deadline = a->quick_end[FIRST_ROUNDS];
    a->n_left = (uint32_t)a->kinds.n;
}

/* Sets the outermost memories that keep tensors of the einsum. */
static void find_homes(assembly *a, uint32_t einsum)
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

/* Finds the lines of all einsums, and the outermost memories of all tensors. False after reporting. */
static bool find_lines(assembly *a)
{
    find_kinds(a);
    if (a->is_quick)
        find_all_quickly(a);
    else
        search_kinds(a);
    for (size_t i = 0; i < a->kinds.n; i++) {
        kind *k = &a->kinds.at[i];
        const dfl_einsum *e = &a->workload->einsums[k->einsum];
        const char *lack;
        dfl_diag *d;

        if (k->is_found || ((!a->reports || a->asked_home != NULL) && make_plain_lines(a, &k->one, e, &k->lines)))
            continue;
        if (!a->reports || explain_none(a, k))
            return false;
        if (make_plain_lines(a, &k->one, e, &k->lines))
            continue;
        lack = lack_of(a->fill, a->given, k->einsum);
        d = dfl_report(a->fill->sink, DFL_EVAL_UNSUPPORTED, e->span, "the search finds no lines for `%s`%s%s",
                       dfl_sym_text(a->fill->solver->names, e->name), lack ? ": " : "", lack ? lack : "");
        dfl_diag_label(a->fill->sink, d, a->given->span, "needed to fill the hole of this mapping");
        dfl_diag_help(a->fill->sink, d, "write the lines of the mapping");
        return false;
    }
    for (uint32_t e = 0; e < a->workload->n_einsums; e++) {
        a->found[e] = translate(a, &a->ones[e], &a->kinds.at[a->kind_of[e]].lines);
        find_homes(a, e);
    }
    return true;
}

/* ---- the mapping ---- */

static dfl_body *add_body(assembly *a, dfl_body *parent, const uint32_t *einsums, uint32_t n)
{
    dfl_body *b = DFL_NEW(a->arena, dfl_body);

    *b = (dfl_body){ .kind = n > 1 ? DFL_BODY_FUSE : DFL_BODY_LEAF, .span = a->given->root->span, .id = (uint32_t)a->bodies.n,
                     .parent = parent, .depth = parent ? parent->depth + 1 : 0, .einsums = einsums, .n_einsums = n,
                     .compute = DFL_NONE };
    DFL_PUSH(a->arena, &a->bodies, b);
    return b;
}

/* Appends the lines found for an einsum to its leaf. Keeps of a tensor at home, and outside of the home, are left out: the root
   has them. */
static void add_lines(const assembly *a, uint32_t einsum, dfl_body *leaf)
{
    const dfl_found_lines *found = &a->found[einsum];
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)leaf->n_lines + found->n_lines + 1);

    if (leaf->n_lines > 0)
        memcpy(lines, leaf->lines, leaf->n_lines * sizeof *lines);
    for (uint32_t i = 0; i < found->n_lines; i++)
        if (found->lines[i].kind != DFL_LINE_KEEP ||
            dfl_memory_outside(a->system, a->home[found->lines[i].tensor], found->lines[i].memory))
            lines[leaf->n_lines++] = found->lines[i];
    leaf->lines = lines;
}

/* Whether einsum `e` reads, directly or through other einsums, what the marked einsums produce. */
static bool follows(const assembly *a, const bool *marked, const bool *behind, uint32_t e)
{
    const dfl_einsum *einsum = &a->workload->einsums[e];

    for (uint32_t i = 0; i < einsum->n_inputs; i++) {
        const dfl_tensor *t = &a->workload->tensors[einsum->inputs[i].tensor];
        for (uint32_t p = 0; p < t->n_producers; p++)
            if (marked[t->producers[p]] || behind[t->producers[p]])
                return true;
    }
    return false;
}

/* A carried rank of the einsum that no enclosing body iterates; DFL_NONE if there is none. */
static uint32_t open_repeat(const assembly *a, uint32_t einsum, const bool *iterated)
{
    const dfl_einsum *e = &a->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (a->is_carried[e->ranks[i]] && !iterated[e->ranks[i]])
            return e->ranks[i];
    return DFL_NONE;
}

static void add_children(assembly *a, dfl_body *body, bool *iterated);

/* Adds the branch of a repeat: all einsums of `body` with the rank. */
static dfl_body *add_repeat(assembly *a, dfl_body *body, uint32_t rank, const bool *in_repeat, bool *iterated)
{
    uint32_t *einsums = DFL_NEW_ARRAY(a->arena, uint32_t, body->n_einsums + 1), n = 0;
    dfl_line *line = DFL_NEW_ARRAY(a->arena, dfl_line, 1);
    dfl_body *out;

    for (uint32_t i = 0; i < body->n_einsums; i++)
        if (in_repeat[body->einsums[i]])
            einsums[n++] = body->einsums[i];
    out = add_body(a, body, einsums, n);
    *line = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = a->given->hole_span, .amount_span = a->given->hole_span,
                        .rank = rank, .amount = 1 };
    out->lines = line;
    out->n_lines = 1;
    iterated[rank] = true;
    if (n == 1)
        add_lines(a, einsums[0], out);
    else
        add_children(a, out, iterated);
    iterated[rank] = false;
    return out;
}

/* Adds one child per einsum and per repeat. Einsums of the body that read results of a repeat follow it. */
static void add_children(assembly *a, dfl_body *body, bool *iterated)
{
    bool *done = DFL_NEW_ARRAY(a->arena, bool, a->workload->n_einsums + 1);

    body->children = DFL_NEW_ARRAY(a->arena, dfl_body *, body->n_einsums + 1);
    for (uint32_t i = 0; i < body->n_einsums; i++) {
        const uint32_t e = body->einsums[i], rank = open_repeat(a, e, iterated);

        if (done[e])
            continue;
        if (rank != DFL_NONE) {
            bool *in_repeat = DFL_NEW_ARRAY(a->arena, bool, a->workload->n_einsums + 1);
            bool *behind = DFL_NEW_ARRAY(a->arena, bool, a->workload->n_einsums + 1);
            for (uint32_t k = 0; k < body->n_einsums; k++)
                in_repeat[body->einsums[k]] = dfl_einsum_has_rank(&a->workload->einsums[body->einsums[k]], rank);
            for (uint32_t k = i; k < body->n_einsums; k++) {
                const uint32_t other = body->einsums[k];
                if (done[other] || in_repeat[other])
                    continue;
                behind[other] = follows(a, in_repeat, behind, other) || open_repeat(a, other, iterated) != DFL_NONE;
                if (behind[other])
                    continue;
                dfl_body *leaf = add_body(a, body, &body->einsums[k], 1);
                add_lines(a, other, leaf);
                body->children[body->n_children++] = leaf;
                done[other] = true;
            }
            body->children[body->n_children++] = add_repeat(a, body, rank, in_repeat, iterated);
            for (uint32_t k = i; k < body->n_einsums; k++)
                done[body->einsums[k]] |= in_repeat[body->einsums[k]];
            continue;
        }
        dfl_body *leaf = add_body(a, body, &body->einsums[i], 1);
        add_lines(a, e, leaf);
        body->children[body->n_children++] = leaf;
        done[e] = true;
    }
}

/* Whether the home of some tensor stands inside of arrays. */
static bool has_inner_home(const assembly *a)
{
    bool any = false;

    for (uint32_t t = 0; t < a->workload->n_tensors; t++)
        any |= a->home[t] != DFL_NONE && dfl_memory_is_in_array(a->system, a->home[t]);
    return any;
}

static dfl_mapping *assemble(assembly *a)
{
    const dfl_workload *w = a->workload;
    uint32_t *all = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_einsums + 1);
    dfl_mapping *out = DFL_NEW(a->arena, dfl_mapping);
    dfl_body *root;

    a->bodies.n = a->bodies.cap = 0;
    a->bodies.at = NULL;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        all[e] = e;
    root = add_body(a, NULL, all, w->n_einsums);
    root->lines = DFL_NEW_ARRAY(a->arena, dfl_line, w->n_tensors + 1);
    for (uint32_t m = 0; m < a->system->n_memories; m++)
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (a->home[t] == m)
                root->lines[root->n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = a->given->hole_span, .tensor = t,
                                                           .memory = m };
    if (is_single(w) && has_inner_home(a)) { /* these homes stand behind the lines that split the einsum */
        root->n_lines = a->found[0].n_lines;
        root->lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)root->n_lines + 1);
        memcpy(root->lines, a->found[0].lines, root->n_lines * sizeof *root->lines);
    } else if (is_single(w)) {
        add_lines(a, 0, root);
    } else {
        root->kind = DFL_BODY_FUSE;
        add_children(a, root, DFL_NEW_ARRAY(a->arena, bool, w->n_ranks + 1));
    }
    *out = *a->given;
    out->root = root;
    out->bodies = a->bodies.at;
    out->n_bodies = (uint32_t)a->bodies.n;
    out->has_holes = false;
    return out;
}

/* ---- tensors that stay on the chip ---- */

/* What a mapping is worth: legal ones before others, those that meet the requirements before others, then by value. */
typedef struct {
    bool is_met;
    double value; /* INFINITY = not legal */
} score;

static bool is_better(score one, score other)
{
    return one.is_met != other.is_met ? one.is_met : one.value < other.value;
}

/* The score of a mapping; that of a mapping that is not legal if its evaluation takes too many steps or passes `deadline` (in
   seconds of dfl_deadline_clock, 0 = none). Reports nothing. */
static score judge_mapping(const assembly *a, const dfl_mapping *mapping, double deadline)
{
    const dfl_solver *solver = a->fill->solver;
    dfl_budget budget = dfl_budget_fresh(solver->budget);
    dfl_arena *work = dfl_arena_new(&budget);
    dfl_sink *quiet = dfl_sink_new(work, solver->sources);
    const dfl_paths *paths;
    const dfl_result *r;
    score out = { false, INFINITY };

    if (budget.steps_limit == 0 || budget.steps_limit > DFL_JUDGE_STEPS)
        budget.steps_limit = DFL_JUDGE_STEPS;
    budget.deadline = deadline;
    dfl_sink_limit(quiet, 0);
    paths = dfl_paths_resolve(work, quiet, solver->names, mapping);
    r = paths ? dfl_model_eval(work, quiet, solver->names, paths) : NULL;
    if (r)
        out = (score){ dfl_objective_met(a->objective, r, NULL), dfl_objective_value(a->objective, r->joules, r->seconds) };
    dfl_arena_free(work);
    dfl_budget_add_steps(solver->budget, budget.steps_used);
    return out;
}

/* The score of the mapping with the present homes. */
static score judge_homes(assembly *a)
{
    dfl_arena *kept = a->arena;
    score out;

    a->arena = dfl_arena_new(a->fill->solver->budget);
    out = judge_mapping(a, assemble(a), a->fill->limits.deadline);
    dfl_arena_free(a->arena);
    a->arena = kept;
    return out;
}

/* Moves the homes of intermediates to inner memories outside of arrays, one after another, wherever that makes the mapping
   better. */
static void move_homes(assembly *a)
{
    const dfl_workload *w = a->workload;
    score best = judge_homes(a);

    for (uint32_t t = 0; t < w->n_tensors && !isinf(best.value); t++) {
        if (w->tensors[t].role != DFL_ROLE_INTERMEDIATE || a->home[t] == DFL_NONE)
            continue;
        for (uint32_t m = a->home[t] + 1; m < a->system->n_memories; m++) {
            const dfl_memory *memory = &a->system->memories[m];
            const uint32_t before = a->home[t];
            dfl_i128 n;
            score one;

            if (dfl_element_instances(a->system, memory->element, &n) || n > 1 || !dfl_memory_outside(a->system, before, m) ||
                (memory->holds.on && !dfl_selects(&memory->holds, &w->tensors[t])))
                continue;
            if (is_time_over(a))
                return;
            a->home[t] = m;
            one = judge_homes(a);
            a->evaluated++;
            if (is_better(one, best))
                best = one;
            else
                a->home[t] = before;
        }
    }
}

/* Finds a mapping of all einsums. NULL after reporting. */
static dfl_mapping *map_one_by_one(assembly *a)
{
    const dfl_workload *w = a->workload;

    a->is_carried = DFL_NEW_ARRAY(a->arena, bool, w->n_ranks + 1);
    a->home = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_tensors + 1);
    a->found = DFL_NEW_ARRAY(a->arena, dfl_found_lines, w->n_einsums + 1);
    a->ones = DFL_NEW_ARRAY(a->arena, dfl_lone_einsum, w->n_einsums + 1);
    a->kind_of = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_einsums + 1);
    for (uint32_t c = 0; c < w->n_carries; c++)
        a->is_carried[w->carries[c].rank] = true;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        a->home[t] = DFL_NONE;
    if (!find_lines(a))
        return NULL;
    move_homes(a);
    return assemble(a);
}

/* Maps the einsums one by one and copies the mapping to `out`. Returns its costs by the model; NULL after reporting. */
static const dfl_result *fill_from(assembly *a, dfl_filled *out)
{
    const dfl_mapping *found = map_one_by_one(a);

    out->mapping = found ? dfl_mapping_copy(a->fill->solver->arena, found) : NULL;
    return out->mapping ? dfl_fill_costs(a->fill, out->mapping) : NULL;
}

/* Maps the einsums one by one where the outermost memories have too little room for all tensors, with other homes of
   intermediates. If that gives a mapping, takes back the reports from `first` on. */
static const dfl_result *fill_packed(assembly *a, dfl_filled *out, size_t first)
{
    uint32_t *home = DFL_NEW_ARRAY(a->arena, uint32_t, a->workload->n_tensors + 1);
    dfl_sink *sink = a->fill->sink;
    const dfl_result *costs;

    if (a->stopped != DFL_STOP_NONE || !dfl_homes_pack(a->arena, a->given, home))
        return NULL;
    a->asked_home = home;
    a->kinds.n = a->kinds.cap = 0;
    a->kinds.at = NULL;
    a->fill->sink = dfl_sink_new(a->arena, a->fill->solver->sources);
    costs = fill_from(a, out);
    a->fill->sink = sink;
    if (costs) {
        dfl_sink_withdraw(sink, first, DFL_EVAL_INFEASIBLE);
        dfl_sink_withdraw(sink, first, DFL_MAP_CAPACITY);
    }
    return costs;
}

bool dfl_fill_one_by_one(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_stop *stopped)
{
    const dfl_solver *solver = fill->solver;
    assembly a = { .fill = fill, .arena = dfl_arena_new(solver->budget), .objective = objective, .given = out->given,
                   .workload = out->given->workload, .system = out->given->system, .reports = true, .climbs = true };
    dfl_search_summary *summary = DFL_NEW(solver->arena, dfl_search_summary);
    const size_t reports = dfl_sink_count(fill->sink);
    const dfl_result *costs = fill_from(&a, out);

    if (!costs)
        costs = fill_packed(&a, out, reports);
    *stopped = a.stopped;
    dfl_arena_free(a.arena);
    if (!costs)
        return false;
    if (!dfl_objective_met(objective, costs, NULL)) {
        dfl_diag *d = dfl_report(fill->sink, DFL_EVAL_HOLE_KIND, objective->required[0],
                                 "the mapping that the search found does not meet the requirements");
        dfl_diag_label(fill->sink, d, out->given->span, "the einsums of this mapping were mapped one by one");
        dfl_diag_help(fill->sink, d, "write some lines of the mapping, or remove requirements");
        return false;
    }
    *summary = dfl_fill_start_summary(fill, objective);
    summary->value = dfl_objective_value(objective, costs->joules, costs->seconds);
    summary->lower_bound = NAN;
    summary->evaluated = a.evaluated;
    summary->space = is_single(a.workload)
                         ? "templates, and small changes of lines"
                         : "lines of each einsum alone; each intermediate at home in one memory outside of arrays";
    summary->unproven = dfl_proof_gaps_one_by_one(solver->arena, a.workload,
                                                  is_single(a.workload) ? lack_of(fill, a.given, 0) : NULL,
                                                  dfl_fill_stop(fill, a.stopped));
    summary->stopped = dfl_fill_stop(fill, a.stopped);
    out->search = summary;
    return true;
}

void dfl_fill_improve_one_by_one(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary,
                                 dfl_stop *stopped)
{
    const dfl_search_limits given = fill->limits;
    const bool is_own = given.evaluations == 0 || given.evaluations > DFL_ONE_BY_ONE_EVALUATIONS;
    assembly a = { .fill = fill, .arena = dfl_arena_new(fill->solver->budget), .objective = objective, .given = out->given,
                   .workload = out->given->workload, .system = out->given->system, .climbs = is_own };
    const dfl_mapping *found;
    score one = { false, INFINITY };

    /* The search needs at least a quarter of the limit on evaluations: each einsum gets an equal part of it. */
    if (is_time_over(&a) || (!is_own && summary->evaluated >= given.evaluations - given.evaluations / 4)) {
        dfl_arena_free(a.arena);
        return;
    }
    if (is_own)
        fill->limits.evaluations = DFL_ONE_BY_ONE_EVALUATIONS;
    else /* a limit that was given is one of both searches together */
        fill->limits.evaluations = dfl_evaluations_left(given.evaluations, summary->evaluated);
    found = map_one_by_one(&a);
    if (found)
        one = judge_mapping(&a, found, given.deadline > 0 ? fmax(given.deadline, dfl_budget_time(fill->solver->budget)) +
                                                                DFL_GRACE_SECONDS : 0);
    fill->limits = given;
    summary->evaluated += a.evaluated;
    /* the limit of this search alone is no limit that was given */
    if (*stopped == DFL_STOP_NONE && !(is_own && a.stopped == DFL_STOP_EVALUATIONS))
        *stopped = a.stopped;
    if (one.is_met && dfl_value_times(one.value, 1 + DFL_VALUE_TOLERANCE) < summary->value) {
        out->mapping = dfl_mapping_copy(fill->solver->arena, found);
        summary->value = one.value;
        if (one.value < summary->lower_bound) /* the bound is that of a space without this mapping */
            summary->lower_bound = NAN;
        summary->unproven = "the einsums of the best mapping were mapped one by one: mappings that fuse them may be better";
    }
    dfl_arena_free(a.arena);
}

/* Ends of the rounds under a limit on time: seconds, and shares of a short limit. */
static const double FIRST_SECONDS[FIRST_ROUNDS] = { 0.1, 0.1, 0.5 }, FIRST_SHARE[FIRST_ROUNDS] = { 0.85, 0.75, 0.5 };

bool dfl_fill_first(dfl_fill *fill, const dfl_objective *objective, dfl_filled *out, dfl_search_summary *summary)
{
    const dfl_search_limits given = fill->limits;
    const double now = dfl_budget_time(fill->solver->budget);
    assembly a = { .fill = fill, .arena = dfl_arena_new(fill->solver->budget), .objective = objective, .given = out->given,
                   .workload = out->given->workload, .system = out->given->system, .is_quick = true };
    const dfl_mapping *found;
    score one = { false, INFINITY };

    a.quick_end[FIRST_ROUNDS] = given.deadline;
    for (uint32_t round = 0; round < FIRST_ROUNDS && given.deadline > 0; round++)
        a.quick_end[round] = now + fmin(FIRST_SECONDS[round], fmax(given.deadline - now, 0) * FIRST_SHARE[round]);
    if (given.evaluations > 0 || given.deadline <= 0)
        fill->limits.evaluations = given.evaluations > 0 && given.evaluations / 4 < DFL_FIRST_SEVERAL ? given.evaluations / 4 + 1
                                                                                                  : DFL_FIRST_SEVERAL;
    found = map_one_by_one(&a);
    fill->limits = given;
    if (found)
        one = judge_mapping(&a, found, given.deadline > 0 ? given.deadline + DFL_GRACE_SECONDS : 0);
    summary->evaluated += a.evaluated;
    if (one.is_met && !isinf(one.value)) {
        out->mapping = dfl_mapping_copy(fill->solver->arena, found);
        summary->value = one.value;
    }
    dfl_arena_free(a.arena);
    return one.is_met && !isinf(one.value);
}
