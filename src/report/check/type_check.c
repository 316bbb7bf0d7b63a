/* Type check of checks and objectives, before there are results. Paths lead to blank figures: figures with names and
   dimensions, but without values. */
#include "report/check/check.h"

/* Numbers of parts of each kind that have figures. */
typedef struct {
    uint32_t einsums, memories, axes, computes, networks;
} extent;

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Raises each number to the number of parts of the mapping, if that is larger. */
static void add_extent(extent *most, const dfl_mapping *m)
{
    most->einsums = larger(most->einsums, m->workload->n_einsums);
    most->memories = larger(most->memories, m->system->n_memories);
    most->axes = larger(most->axes, m->system->n_axes);
    most->computes = larger(most->computes, m->system->n_computes);
    most->networks = larger(most->networks, m->system->n_networks);
}

/* The largest numbers of parts over all mappings of the program, so that one blank result serves all mappings. */
static extent extent_of(const dfl_program *p)
{
    extent most = { 0 };

    for (uint32_t i = 0; i < p->n_designs; i++)
        add_extent(&most, p->designs[i].mapping);
    return most;
}

/* A result of zeros with the numbers of parts `most`; figures that exist only if they are positive are 1. */
static const dfl_result *make_blank_result(dfl_arena *arena, extent most)
{
    dfl_result *blank = DFL_NEW(arena, dfl_result);
    dfl_memory_cost *memories = DFL_NEW_ARRAY(arena, dfl_memory_cost, (size_t)most.memories + 1);

    blank->einsums = DFL_NEW_ARRAY(arena, dfl_einsum_cost, (size_t)most.einsums + 1);
    blank->memories = memories;
    blank->links = DFL_NEW_ARRAY(arena, dfl_link_cost, (size_t)most.axes + 1);
    blank->networks = DFL_NEW_ARRAY(arena, dfl_network_cost, (size_t)most.networks + 1);
    blank->compute_joules = DFL_NEW_ARRAY(arena, double, (size_t)most.computes + 1);
    blank->network_joules = DFL_NEW_ARRAY(arena, double, (size_t)most.networks + 1);
    for (uint32_t m = 0; m < most.memories; m++)
        memories[m].bandwidth_required = 1;
    blank->seconds = 1; /* `flops(PART)` divides by the latency */
    return blank;
}

/* Evaluates all expressions that the mapping minimizes or lists in `pareto`. */
static void check_objective(dfl_arena *scratch, const dfl_results *blank, const dfl_mapping *m)
{
    double value;

    for (uint32_t k = 0; k < m->n_minimize && dfl_budget_ok(dfl_arena_budget(scratch)); k++)
        (void)dfl_check_number(blank, m->name, m->minimize[k], &value);
    for (uint32_t k = 0; k < m->n_front && dfl_budget_ok(dfl_arena_budget(scratch)); k++)
        (void)dfl_check_number(blank, m->name, m->front[k], &value);
}

/* The results of the mapping alone, with blank figures. */
static dfl_results blank_results(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping)
{
    extent most = { 0 };
    dfl_results one = *results;
    dfl_result_item *item = DFL_NEW(scratch, dfl_result_item);

    add_extent(&most, mapping);
    item->mapping = mapping;
    item->result = make_blank_result(scratch, most);
    one.items = item;
    one.n_items = 1;
    one.is_blank = true;
    return one;
}

/* Evaluates the criteria and the requirements of the sweeps. */
static void check_sweeps(dfl_arena *scratch, const dfl_results *results)
{
    const dfl_program *p = results->program;

    for (uint32_t i = 0; i < p->n_sweeps; i++) {
        const dfl_sweep *sweep = &p->sweeps[i];
        const dfl_results one = blank_results(scratch, results, sweep->mapping);

        check_objective(scratch, &one, sweep->mapping);
        for (uint32_t k = 0; k < sweep->n_requirements && dfl_budget_ok(dfl_arena_budget(scratch)); k++)
            (void)dfl_check_evaluate(&one, &sweep->requirements[k]);
    }
}

/* Whether the program has a check, or a mapping with an objective. */
static bool has_expressions(const dfl_program *p)
{
    bool has = p->n_checks > 0;

    for (uint32_t i = 0; i < p->n_designs && !has; i++)
        has = p->designs[i].mapping->n_minimize > 0 || p->designs[i].mapping->n_front > 0;
    return has;
}

void dfl_check_types(dfl_arena *scratch, const dfl_results *results, bool only_expected)
{
    const dfl_program *p = results->program;
    dfl_results all = *results;
    dfl_result_item *items;
    const dfl_result *blank;

    if (!only_expected)
        check_sweeps(scratch, results);
    if (!has_expressions(p))
        return;
    items = DFL_NEW_ARRAY(scratch, dfl_result_item, (size_t)p->n_designs + 1);
    blank = make_blank_result(scratch, extent_of(p));
    for (uint32_t i = 0; i < p->n_designs; i++) {
        const dfl_mapping *m = p->designs[i].mapping;

        items[i].mapping = m;
        if (m->system->n_computes > 0) /* without a compute unit the einsums have no unit to name, so their figures count as
                                          unknown */
            items[i].result = blank;
    }
    all.items = items;
    all.n_items = p->n_designs;
    all.is_blank = true;
    all.has_errors = dfl_sink_errors(results->sink) > 0;
    for (uint32_t i = 0; i < p->n_checks && dfl_budget_ok(dfl_arena_budget(scratch)); i++)
        if (!only_expected || p->checks[i].kind == DFL_CHECK_EXPECT)
            (void)dfl_check_evaluate(&all, &p->checks[i]);
    for (uint32_t i = 0; i < p->n_designs && !only_expected; i++)
        check_objective(scratch, &all, p->designs[i].mapping);
}

bool dfl_check_objective_types(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping)
{
    const size_t errors = dfl_sink_errors(results->sink);
    const dfl_results one = blank_results(scratch, results, mapping);

    check_objective(scratch, &one, mapping);
    return dfl_sink_errors(results->sink) == errors;
}

dfl_dim dfl_check_dim(dfl_arena *scratch, const dfl_results *results, const dfl_mapping *mapping, const dfl_val *expr)
{
    const dfl_results one = blank_results(scratch, results, mapping);
    dfl_quantity value;

    return dfl_check_quantity(&one, mapping->name, expr, &value) ? value.dim : DFL_DIM_NONE;
}
