#include "report/figures.h"

#include <math.h>
#include <string.h>

#include "ir/print_mapping.h"
#include "support/limits.h"

/* ---- values ---- */

static dfl_figure_value none(void)
{
    return (dfl_figure_value){ .state = DFL_VALUE_NONE };
}

static dfl_figure_value count(dfl_i128 value)
{
    return (dfl_figure_value){ .state = DFL_VALUE_GIVEN, .count = value };
}

static dfl_figure_value count_or_overflow(bool is_overflow, dfl_i128 value)
{
    if (is_overflow)
        return (dfl_figure_value){ .state = DFL_VALUE_OVERFLOW };
    return count(value);
}

static dfl_figure_value count_unless_negative(int64_t value)
{
    return value < 0 ? none() : count(value);
}

static dfl_figure_value count_if_positive(uint64_t value)
{
    return value > 0 ? count(value) : none();
}

static dfl_figure_value real(double value)
{
    return (dfl_figure_value){ .state = DFL_VALUE_GIVEN, .real = value };
}

static dfl_figure_value real_if_equal(double a, double b)
{
    return a == b ? real(a) : none();
}

static dfl_figure_value real_if_positive(double value)
{
    return value > 0 && isfinite(value) ? real(value) : none();
}

/* The value of an attribute; UNDECLARED and 0 if the system does not declare it. */
static dfl_figure_value declared(double value)
{
    return (dfl_figure_value){ .state = value > 0 ? DFL_VALUE_GIVEN : DFL_VALUE_UNDECLARED, .real = value };
}

static dfl_figure_value truth(bool value)
{
    return (dfl_figure_value){ .state = DFL_VALUE_GIVEN, .truth = value };
}

static dfl_figure_value text(const char *value)
{
    return (dfl_figure_value){ .state = DFL_VALUE_GIVEN, .text = value };
}

static dfl_figure_value text_or_none(const char *value)
{
    return value ? text(value) : none();
}

static dfl_figure_value names(const dfl_attribute_list *list)
{
    return (dfl_figure_value){ .state = DFL_VALUE_GIVEN, .names = list };
}

static dfl_figure_value name_of(const dfl_figure_place *at, dfl_sym name)
{
    return text(dfl_sym_text(at->results->names, name));
}

static dfl_figure_value name_or_none(const dfl_figure_place *at, dfl_sym name)
{
    return name ? name_of(at, name) : none();
}

/* ---- what a place is about ---- */

static const dfl_result *costs(const dfl_figure_place *at) { return at->item->result; }
static const dfl_search_summary *search(const dfl_figure_place *at) { return at->item->search; }
/* The plan of a mapping; in a type check, one without parts. */
static const dfl_plan_result *plan(const dfl_figure_place *at)
{
    static const dfl_plan_result blank = { .chip = "" };

    return costs(at)->plan ? costs(at)->plan : &blank;
}
static const dfl_plan_part *plan_part(const dfl_figure_place *at) { return &plan(at)->parts[at->part]; }
static const dfl_plan_link *plan_link(const dfl_figure_place *at) { return &plan(at)->links[at->part]; }
static const dfl_plan_stage *stage(const dfl_figure_place *at) { return &plan(at)->stages[at->part]; }
static const dfl_plan_memory *held(const dfl_figure_place *at) { return &stage(at)->memories[at->tensor]; }
static const dfl_plan_collective *collective(const dfl_figure_place *at)
{
    static const dfl_plan_collective blank = { .kind = "" };

    return costs(at)->plan ? &plan(at)->collectives[at->part] : &blank;
}
/* Excess of the value over the lower bound, as a share of the bound; NAN without a bound. */
static double search_gap(const dfl_search_summary *s)
{
    if (s->optimal || s->value <= s->lower_bound * (1 + DFL_VALUE_TOLERANCE))
        return 0;
    return s->lower_bound > 0 ? s->value / s->lower_bound - 1 : (double)NAN;
}

/* A word for what ended a search early; NULL if nothing did. */
static const char *stop_name(dfl_stop why)
{
    switch (why) {
    case DFL_STOP_NONE: return NULL;
    case DFL_STOP_MEMORY: return "memory";
    case DFL_STOP_STEPS: return "steps";
    case DFL_STOP_TIME: return "time";
    case DFL_STOP_EVALUATIONS: return "evaluations";
    case DFL_STOP_CANCELLED: return "interrupt";
    case DFL_STOP_GAP: return "gap";
    case DFL_STOP_WORK: return "work";
    }
    return NULL;
}

static const dfl_memory *memory(const dfl_figure_place *at) { return &at->system->memories[at->part]; }
static const dfl_memory_cost *memory_cost(const dfl_figure_place *at) { return &costs(at)->memories[at->part]; }
static const dfl_compute *compute(const dfl_figure_place *at) { return &at->system->computes[at->part]; }
static const dfl_network *network(const dfl_figure_place *at) { return &at->system->networks[at->part]; }
static const dfl_network_cost *network_cost(const dfl_figure_place *at) { return &costs(at)->networks[at->part]; }
static const dfl_link_class *link_class(const dfl_figure_place *at) { return &network_cost(at)->classes[at->tensor]; }
static const dfl_einsum_cost *einsum_cost(const dfl_figure_place *at) { return &costs(at)->einsums[at->part]; }
static const dfl_tensor *tensor(const dfl_figure_place *at) { return &at->workload->tensors[at->part]; }

/* Finds the traffic of a tensor in a memory by binary search; traffic is sorted by memory, then tensor. NULL if the memory
   never keeps the tensor. */
static const dfl_traffic *find_traffic(const dfl_figure_place *at)
{
    const dfl_result *result = costs(at);
    uint32_t low = 0, high = result->n_traffic;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const dfl_traffic *t = &result->traffic[middle];

        if (t->memory < at->part || (t->memory == at->part && t->tensor < at->tensor))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == result->n_traffic || result->traffic[low].memory != at->part || result->traffic[low].tensor != at->tensor)
        return NULL;
    return &result->traffic[low];
}

static const dfl_traffic *traffic(const dfl_figure_place *at)
{
    static const dfl_traffic never_kept;
    const dfl_traffic *found = find_traffic(at);

    return found ? found : &never_kept;
}

/* ---- values that are computed ---- */

/* One MAC counts as two operations. */
static dfl_figure_value all_operations(dfl_i128 macs, dfl_i128 flops)
{
    dfl_i128 total;
    bool is_overflow = dfl_mul(macs, 2, &total) || dfl_add(total, flops, &total);

    return count_or_overflow(is_overflow, total);
}

static dfl_figure_value mapping_text(const dfl_figure_place *at)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, at->arena);
    dfl_mapping_print(&out, at->results->names, at->item->mapping, DFL_PRINT_INDENT);
    return text(out.text);
}

static dfl_figure_value checks_passed(const dfl_figure_place *at)
{
    const dfl_results *results = at->results;
    uint32_t n = 0;

    for (uint32_t i = 0; i < results->n_checks; i++)
        n += results->checks[i].check->scope == at->item->mapping->name && results->checks[i].outcome == DFL_OUTCOME_PASSED;
    return count(n);
}

static dfl_figure_value fused_loops(uint32_t max_fused)
{
    return max_fused > 0 ? count(max_fused - 1) : none();
}

static dfl_figure_value cycles(const dfl_figure_place *at)
{
    dfl_figure_value value = real(dfl_report_cycles(at->system, costs(at)->seconds));

    if (!(dfl_report_clock(at->system) > 0))
        value.state = DFL_VALUE_UNDECLARED;
    return value;
}

static double memory_joules(const dfl_figure_place *at)
{
    const dfl_memory_cost *cost = memory_cost(at);

    return cost->read_joules + cost->drain_joules + cost->write_joules;
}

/* Whether the drains of the memory have an energy of their own. */
static bool has_drains(const dfl_figure_place *at) { return memory(at)->has_drain_energy; }

static dfl_figure_value bits_read(const dfl_figure_place *at)
{
    dfl_charged_bits bits;
    bool is_overflow = dfl_memory_charged_bits(costs(at), at->part, &bits);

    return count_or_overflow(is_overflow, bits.read);
}

static dfl_figure_value bits_drained(const dfl_figure_place *at)
{
    dfl_charged_bits bits;
    bool is_overflow = dfl_memory_charged_bits(costs(at), at->part, &bits);

    return count_or_overflow(is_overflow, bits.drained);
}

static dfl_figure_value bits_written(const dfl_figure_place *at)
{
    dfl_charged_bits bits;
    bool is_overflow = dfl_memory_charged_bits(costs(at), at->part, &bits);

    return count_or_overflow(is_overflow, bits.written);
}

static dfl_figure_value reads(const dfl_figure_place *at)
{
    dfl_i128 sum;
    bool is_overflow = dfl_counts_reads(&traffic(at)->counts, &sum);

    return count_or_overflow(is_overflow, sum);
}

static dfl_figure_value writes(const dfl_figure_place *at)
{
    dfl_i128 sum;
    bool is_overflow = dfl_counts_writes(&traffic(at)->counts, &sum);

    return count_or_overflow(is_overflow, sum);
}

/* Operations of an einsum; a MAC is one operation. */
static double operations_of(const dfl_einsum_cost *einsum)
{
    return dfl_i128_double(einsum->macs) + dfl_i128_double(einsum->flops);
}

static bool einsum_has_tensor(const dfl_einsum *einsum, uint32_t tensor)
{
    for (uint32_t i = 0; i < einsum->n_inputs; i++)
        if (einsum->inputs[i].tensor == tensor)
            return true;
    return einsum->output.tensor == tensor;
}

/* Operations of the einsums that read or write the tensor, for each element that the memory fills from outer keeps or drains to
   them. */
static dfl_figure_value reuse(const dfl_figure_place *at)
{
    const dfl_counts *counts = &traffic(at)->counts;
    double operations = 0, moved = dfl_i128_double(counts->fill) + dfl_i128_double(counts->drain);

    for (uint32_t e = 0; e < at->workload->n_einsums; e++)
        if (einsum_has_tensor(&at->workload->einsums[e], at->tensor))
            operations += operations_of(&costs(at)->einsums[e]);
    return moved > 0 ? real(operations / moved) : none();
}

/* Positions of a gather for each row of its table. */
static dfl_figure_value load(const dfl_figure_place *at)
{
    const dfl_tensor *rows = &at->workload->tensors[at->tensor];
    dfl_i128 read, stored;

    if (!rows->gathered || dfl_tensor_elements(rows, &read))
        return none();
    const dfl_tensor *table = &at->workload->tensors[rows->table];
    return (table == rows ? dfl_tensor_stored(rows, &stored) : dfl_tensor_elements(table, &stored)) || stored == 0
               ? none()
               : real(dfl_i128_double(read) / dfl_i128_double(stored));
}

static dfl_figure_value intensity(const dfl_figure_place *at)
{
    const dfl_result *r = costs(at);
    dfl_i128 read = 0, written = 0;
    double bytes;

    if (r->n_traffic == 0 || dfl_memory_bits(r, r->traffic[0].memory, &read, &written))
        return none();
    bytes = (dfl_i128_double(read) + dfl_i128_double(written)) / 8;
    return bytes > 0 ? real((dfl_i128_double(r->macs) + dfl_i128_double(r->flops)) / bytes) : none();
}

static dfl_figure_value forwarded_over_network(const dfl_figure_place *at)
{
    dfl_i128 sum = 0;
    bool is_overflow = false;

    for (uint32_t i = 0; i < at->system->n_axes; i++)
        if (at->system->axes[i].network == at->part)
            is_overflow |= dfl_add(sum, costs(at)->links[i].forwarded, &sum);
    return count_or_overflow(is_overflow, sum);
}

/* The class of links with a name; NULL = the network has none. */
static const dfl_link_class *find_class(const dfl_figure_place *at, uint32_t network, const char *name)
{
    const dfl_network_cost *cost = &costs(at)->networks[network];

    for (uint32_t k = 0; k < cost->n_classes; k++)
        if (strcmp(cost->classes[k].name, name) == 0)
            return &cost->classes[k];
    return NULL;
}

/* The bits on the busiest link of a class of a network. No value if the network has no such class. */
static dfl_figure_value bits_of_class(const dfl_figure_place *at, const char *name)
{
    const dfl_link_class *class = find_class(at, at->part, name);

    if (at->results->is_blank)
        return count(0);
    return class ? count(class->bits) : none();
}

/* The bits on the busiest link of a class along an axis: "AXIS" and `what` form the name of the class. */
static dfl_figure_value bits_along(const dfl_figure_place *at, const char *what)
{
    const dfl_axis *axis = &at->system->axes[at->part];
    const char *name = dfl_sym_text(at->results->names, axis->name);
    const size_t len = strlen(name);

    if (!at->item || axis->network == DFL_NONE)
        return none();
    if (at->results->is_blank)
        return count(0);
    const dfl_network_cost *cost = &costs(at)->networks[axis->network];
    for (uint32_t k = 0; k < cost->n_classes; k++)
        if (strncmp(cost->classes[k].name, name, len) == 0 && strcmp(cost->classes[k].name + len, what) == 0)
            return count(cost->classes[k].bits);
    return none();
}

/* Counts the operations of a workload without a mapping. The state is GIVEN, OVERFLOW or UNCOUNTED. */
static dfl_value_state count_workload(const dfl_figure_place *at, dfl_i128 *macs, dfl_i128 *flops)
{
    if (!dfl_workload_countable(at->workload))
        return DFL_VALUE_UNCOUNTED;
    return dfl_workload_operations(at->workload, macs, flops) ? DFL_VALUE_OVERFLOW : DFL_VALUE_GIVEN;
}

static dfl_figure_value macs_of_workload(const dfl_figure_place *at)
{
    dfl_i128 macs = 0, flops = 0;
    dfl_value_state state = count_workload(at, &macs, &flops);

    return (dfl_figure_value){ .state = state, .count = macs };
}

static dfl_figure_value flops_of_workload(const dfl_figure_place *at)
{
    dfl_i128 macs = 0, flops = 0;
    dfl_value_state state = count_workload(at, &macs, &flops);

    return (dfl_figure_value){ .state = state, .count = flops };
}

static dfl_figure_value operations_of_workload(const dfl_figure_place *at)
{
    dfl_i128 macs = 0, flops = 0;
    dfl_value_state state = count_workload(at, &macs, &flops);

    return state == DFL_VALUE_GIVEN ? all_operations(macs, flops) : (dfl_figure_value){ .state = state };
}

static dfl_figure_value parameters_of_workload(const dfl_figure_place *at)
{
    dfl_i128 sum = 0, n;
    bool is_overflow = false;

    for (uint32_t i = 0; i < at->workload->n_tensors; i++)
        if (at->workload->tensors[i].role == DFL_ROLE_WEIGHT)
            is_overflow |= dfl_tensor_stored(&at->workload->tensors[i], &n) || dfl_add(sum, n, &sum);
    return count_or_overflow(is_overflow, sum);
}

static dfl_figure_value elements_of_tensor(const dfl_figure_place *at)
{
    dfl_i128 n;
    bool is_overflow = dfl_tensor_stored(tensor(at), &n);

    return count_or_overflow(is_overflow, n);
}

static dfl_figure_value bits_of_tensor(const dfl_figure_place *at)
{
    dfl_i128 n;
    bool is_overflow = dfl_tensor_stored(tensor(at), &n) || dfl_mul(n, tensor(at)->type.bits, &n);

    return count_or_overflow(is_overflow, n);
}

static dfl_figure_value clock_of_system(const dfl_figure_place *at)
{
    double clock = dfl_report_clock(at->system);

    return clock > 0 ? real(clock) : none();
}

/* ---- lists ---- */

/* ---- plans over chips ---- */

static bool has_plan(const dfl_figure_place *at)
{
    return at->item->result && (costs(at)->plan || (at->results->is_blank && dfl_mapping_is_plan(at->item->mapping)));
}

static double bubble_share(const dfl_figure_place *at)
{
    return costs(at)->seconds > 0 ? plan(at)->bubble_seconds / costs(at)->seconds : 0;
}

/* Time in which no unit works because data moves between chips. */
static double exposed(const dfl_figure_place *at)
{
    const double *step = plan(at)->step;

    return step[DFL_STEP_COLLECTIVES] + step[DFL_STEP_POINT_TO_POINT] + step[DFL_STEP_OFFLOAD];
}

static const dfl_attribute_list *ranks_of_part(const dfl_figure_place *at)
{
    const dfl_plan_part *part = plan_part(at);
    dfl_attribute_list *out = at->arena ? DFL_NEW(at->arena, dfl_attribute_list) : NULL;

    for (uint32_t i = 0; out && i < part->n_ranks; i++)
        DFL_PUSH(at->arena, out, dfl_sym_text(at->results->names, part->ranks[i]));
    return out;
}

static dfl_figure_value pipeline_axis(const dfl_figure_place *at)
{
    return plan(at)->pipeline_axis < at->system->n_axes ? name_of(at, at->system->axes[plan(at)->pipeline_axis].name) : none();
}

/* Sets `item` to the part with index `part` of the place `at`, in the scope `scope`. Returns true. */
static bool set_item(const dfl_figure_place *at, dfl_figure_scope scope, uint32_t part, dfl_sym name, dfl_figure_item *item)
{
    item->place = *at;
    item->place.scope = scope;
    item->place.part = part;
    item->name = name;
    item->is_unused = false;
    return true;
}

static bool next_einsum(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->workload->n_einsums && set_item(at, DFL_SCOPE_EINSUM, k, at->workload->einsums[k].name, item);
}

static bool next_memory(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->system->n_memories && set_item(at, DFL_SCOPE_MEMORY, k, at->system->memories[k].name, item);
}

static bool next_network(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->system->n_networks && set_item(at, DFL_SCOPE_NETWORK, k, at->system->networks[k].name, item);
}

/* Item `k` of the components of a system: memories, then compute units, then networks. */
static bool next_component(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    const dfl_system *s = at->system;

    if (k < s->n_memories)
        return set_item(at, DFL_SCOPE_MEMORY_ENERGY, k, s->memories[k].name, item);
    k -= s->n_memories;
    if (k < s->n_computes)
        return set_item(at, DFL_SCOPE_UNIT_ENERGY, k, s->computes[k].name, item);
    k -= s->n_computes;
    return k < s->n_networks && set_item(at, DFL_SCOPE_NETWORK_ENERGY, k, s->networks[k].name, item);
}

/* Item `k` of the tensors of the workload in the memory of the place. */
static bool next_traffic(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    if (k >= at->workload->n_tensors)
        return false;
    set_item(at, DFL_SCOPE_TRAFFIC, at->part, at->workload->tensors[k].name, item);
    item->place.tensor = k;
    item->is_unused = !find_traffic(&item->place);
    return true;
}

/* The only item of the list: the compute unit that runs the einsum. */
static bool next_unit_of_einsum(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < 1 && set_item(at, DFL_SCOPE_EINSUM_UNIT, at->part, at->system->computes[einsum_cost(at)->compute].name, item);
}

static bool next_link_of_network(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    if (k >= network_cost(at)->n_classes)
        return false;
    set_item(at, DFL_SCOPE_LINK, at->part, 0, item);
    item->place.tensor = k;
    return true;
}

static bool next_axis_of_network(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    for (uint32_t i = 0; i < at->system->n_axes; i++)
        if (at->system->axes[i].network == at->part && k-- == 0)
            return set_item(at, DFL_SCOPE_AXIS, i, at->system->axes[i].name, item);
    return false;
}

static bool next_plan_part(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < plan(at)->n_parts && set_item(at, DFL_SCOPE_PLAN_PART, k, 0, item);
}

/* Exchanges have the names of their tensors; in a type check, every tensor has one. */
static bool next_collective(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    if (!costs(at)->plan)
        return k < at->workload->n_tensors && set_item(at, DFL_SCOPE_PLAN_COLLECTIVE, k, at->workload->tensors[k].name, item);
    return k < plan(at)->n_collectives &&
           set_item(at, DFL_SCOPE_PLAN_COLLECTIVE, k, at->workload->tensors[plan(at)->collectives[k].tensor].name, item);
}

static bool next_plan_link(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < plan(at)->n_links && set_item(at, DFL_SCOPE_PLAN_LINK, k, 0, item);
}

static bool next_stage(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return (int64_t)k < plan(at)->n_stages && set_item(at, DFL_SCOPE_PLAN_STAGE, k, 0, item);
}

/* The memories in which the stage holds data. */
static bool next_memory_of_stage(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    for (uint32_t m = 0; m < at->system->n_memories; m++)
        if (stage(at)->memories[m].peak_bits > 0 && k-- == 0) {
            set_item(at, DFL_SCOPE_PLAN_MEMORY, at->part, at->system->memories[m].name, item);
            item->place.tensor = m;
            return true;
        }
    return false;
}

static bool next_tensor(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->workload->n_tensors && set_item(at, DFL_SCOPE_TENSOR, k, at->workload->tensors[k].name, item);
}

static bool next_system_memory(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->system->n_memories && set_item(at, DFL_SCOPE_SYSTEM_MEMORY, k, at->system->memories[k].name, item);
}

static bool next_system_unit(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->system->n_computes && set_item(at, DFL_SCOPE_SYSTEM_UNIT, k, at->system->computes[k].name, item);
}

static bool next_system_network(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->system->n_networks && set_item(at, DFL_SCOPE_SYSTEM_NETWORK, k, at->system->networks[k].name, item);
}

static bool next_axis_of_system(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return k < at->system->n_axes && set_item(at, DFL_SCOPE_AXIS, k, at->system->axes[k].name, item);
}

/* ---- the table ---- */

/* Defines one function for the value of each row of figures.def. */
#define FIGURE(scope, key, kind, measure, presence, views, column, expression)                    \
    static dfl_figure_value value_##scope##_##key(const dfl_figure_place *at)                     \
    {                                                                                             \
        (void)at;                                                                                 \
        return expression;                                                                        \
    }
#define OBJECT(scope, key, below, presence, views, column, condition)                             \
    static bool has_##scope##_##key(const dfl_figure_place *at)                                   \
    {                                                                                             \
        (void)at;                                                                                 \
        return condition;                                                                         \
    }
#define LIST(scope, key, kind, below, presence, views, next)
#include "report/figures.def"
#undef FIGURE
#undef OBJECT
#undef LIST

enum { JSON = DFL_VIEW_JSON, PATH = DFL_VIEW_PATH, OPEN = DFL_VIEW_OPEN, LAST = DFL_VIEW_LAST };

static const dfl_figure table[] = {
#define FIGURE(scope, key, kind, measure, presence, views, column, expression)                                              \
    { DFL_SCOPE_##scope, #key, DFL_FIGURE_##kind, DFL_MEASURE_##measure, DFL_PRESENCE_##presence, (views), (column),         \
      DFL_N_SCOPES, value_##scope##_##key, NULL, NULL },
#define OBJECT(scope, key, below, presence, views, column, condition)                                                       \
    { DFL_SCOPE_##scope, #key, DFL_FIGURE_OBJECT, DFL_MEASURE_NUMBER, DFL_PRESENCE_##presence, (views), (column),            \
      DFL_SCOPE_##below, NULL, has_##scope##_##key, NULL },
#define LIST(scope, key, kind, below, presence, views, next)                                                                \
    { DFL_SCOPE_##scope, #key, DFL_FIGURE_##kind, DFL_MEASURE_NUMBER, DFL_PRESENCE_##presence, (views), NULL,                \
      DFL_SCOPE_##below, NULL, NULL, next },
#include "report/figures.def"
#undef FIGURE
#undef OBJECT
#undef LIST
};

static const struct { const char *schema, *obvious; } scopes[DFL_N_SCOPES] = {
#define SCOPE(name, schema, obvious) { schema, obvious },
#include "report/figures.def"
#undef SCOPE
};

uint32_t dfl_figures_count(void)
{
    return sizeof table / sizeof table[0];
}

const dfl_figure *dfl_figures(dfl_figure_scope scope, uint32_t *n)
{
    const uint32_t all = dfl_figures_count();
    uint32_t first = 0, end = all;

    while (first < end) {
        const uint32_t middle = (first + end) / 2;

        if (table[middle].scope < scope)
            first = middle + 1;
        else
            end = middle;
    }
    for (*n = 0; first + *n < all && table[first + *n].scope == scope;)
        ++*n;
    return table + first;
}

const dfl_figure *dfl_figure_find(dfl_figure_scope scope, const char *key)
{
    uint32_t n;
    const dfl_figure *figures = dfl_figures(scope, &n);

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(figures[i].key, key) == 0)
            return &figures[i];
    return NULL;
}

const dfl_figure *dfl_figure_obvious(dfl_figure_scope scope)
{
    return scopes[scope].obvious ? dfl_figure_find(scope, scopes[scope].obvious) : NULL;
}

const char *dfl_figure_schema(dfl_figure_scope scope)
{
    return scopes[scope].schema;
}

dfl_dim dfl_measure_dim(dfl_measure measure)
{
    switch (measure) {
    case DFL_MEASURE_NUMBER: break;
    case DFL_MEASURE_DATA: return dfl_dim_of(DFL_BASE_DATA);
    case DFL_MEASURE_TIME: return dfl_dim_of(DFL_BASE_TIME);
    case DFL_MEASURE_ENERGY: return dfl_dim_of(DFL_BASE_ENERGY);
    case DFL_MEASURE_POWER: return dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME);
    case DFL_MEASURE_AREA: return dfl_dim_of(DFL_BASE_AREA);
    case DFL_MEASURE_MONEY: return dfl_dim_of(DFL_BASE_MONEY);
    case DFL_MEASURE_FREQUENCY: return dfl_dim_ratio(DFL_BASE_CYCLE, DFL_BASE_TIME);
    case DFL_MEASURE_BANDWIDTH: return dfl_dim_ratio(DFL_BASE_DATA, DFL_BASE_TIME);
    case DFL_MEASURE_ENERGY_PER_BIT: return dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_DATA);
    case DFL_MEASURE_ENERGY_PER_OPERATION: return dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_OPS);
    }
    return DFL_DIM_NONE;
}

dfl_figure_place dfl_figure_place_of(const dfl_results *results, const dfl_result_item *item, dfl_arena *arena)
{
    return (dfl_figure_place){ .scope = DFL_SCOPE_MAPPING, .results = item->of ? item->of : results, .item = item, .arena = arena,
                               .workload = item->mapping->workload, .system = item->mapping->system };
}

bool dfl_figure_place_of_sum(const dfl_results *results, dfl_arena *arena, dfl_figure_place *out)
{
    dfl_result *sum = DFL_NEW(arena, dfl_result);
    dfl_result_item *item = DFL_NEW(arena, dfl_result_item);
    const dfl_system *system = NULL;
    bool is_overflow = false, one_clock = true;
    uint32_t n = 0;

    for (uint32_t i = 0; i < results->n_items; i++) {
        const dfl_result *r = results->items[i].result;
        const dfl_system *own = results->items[i].mapping->system;

        if (!r)
            continue;
        n++;
        sum->seconds += r->seconds;
        sum->joules += r->joules;
        sum->leakage_joules += r->leakage_joules;
        is_overflow |= dfl_add(sum->macs, r->macs, &sum->macs) || dfl_add(sum->flops, r->flops, &sum->flops) ||
                       dfl_add(sum->padding, r->padding, &sum->padding) || dfl_add(sum->extra, r->extra, &sum->extra);
        one_clock &= !system || dfl_report_clock(system) == dfl_report_clock(own);
        system = own;
    }
    item->result = sum;
    *out = (dfl_figure_place){ .scope = DFL_SCOPE_SUM, .results = results, .item = item, .arena = arena, .part = n,
                               .system = one_clock ? system : NULL };
    return !is_overflow;
}

/* Whether a figure needs the costs of a mapping that has none. */
static bool lacks_costs(const dfl_figure *figure, const dfl_figure_place *at)
{
    return figure->presence == DFL_PRESENCE_OF_COST && !at->item->result;
}

dfl_figure_value dfl_figure_get(const dfl_figure *figure, const dfl_figure_place *at)
{
    return lacks_costs(figure, at) ? none() : figure->value(at);
}

bool dfl_figure_is_part(const dfl_figure *figure)
{
    return figure->kind == DFL_FIGURE_OBJECT || figure->kind == DFL_FIGURE_ARRAY || figure->kind == DFL_FIGURE_MAP;
}

bool dfl_figure_is_there(const dfl_figure *figure, const dfl_figure_place *at)
{
    return !lacks_costs(figure, at) && (!figure->has_object || figure->has_object(at));
}

dfl_figure_place dfl_figure_below(const dfl_figure *object, const dfl_figure_place *at)
{
    dfl_figure_place place = *at;

    place.scope = object->below;
    return place;
}

bool dfl_figure_item_at(const dfl_figure *list, const dfl_figure_place *at, uint32_t k, dfl_figure_item *item)
{
    return list->next_item(at, k, item);
}

/* ---- the counts of a keep ---- */

const char *dfl_action_text(dfl_action action)
{
    static const char *const texts[DFL_ACTIONS] = { "serve", "drain", "accumulate", "fill", "update" };

    return texts[action];
}

dfl_i128 dfl_action_count(const dfl_counts *counts, dfl_action action)
{
    const dfl_i128 all[DFL_ACTIONS] = { counts->serve, counts->drain, counts->accumulate, counts->fill, counts->update };

    return all[action];
}
