#include "report/check/lookup_list.h"

typedef const dfl_node *parent;

static void add(dfl_node_list *list, const char *name, dfl_node node)
{
    const dfl_node_entry entry = { name, node };

    DFL_PUSH(list->arena, &list->entries, entry);
}

static const char *text_of(const dfl_node_list *list, dfl_sym sym)
{
    return dfl_sym_text(list->results->names, sym);
}

/* ---- figures ---- */

dfl_node dfl_node_quantity(dfl_quantity value)
{
    return (dfl_node){ .kind = DFL_NODE_VALUE, .value = { .kind = DFL_FOUND_QUANTITY, .quantity = value } };
}

static dfl_quantity real(double value, dfl_dim dim)
{
    return dfl_quantity_real(value, dim);
}

static dfl_quantity joules(double value)
{
    return real(value, dfl_dim_of(DFL_BASE_ENERGY));
}

static dfl_quantity seconds(double value)
{
    return real(value, dfl_dim_of(DFL_BASE_TIME));
}

static dfl_quantity watts(double value)
{
    return real(value, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME));
}

static dfl_quantity bits(dfl_i128 value)
{
    dfl_quantity q = dfl_quantity_int(value);

    q.dim = dfl_dim_of(DFL_BASE_DATA);
    return q;
}

static void add_quantity(dfl_node_list *list, const char *name, dfl_quantity value)
{
    add(list, name, dfl_node_quantity(value));
}

static void add_number(dfl_node_list *list, const char *name, double value)
{
    add_quantity(list, name, real(value, DFL_DIM_NONE));
}

static void add_count(dfl_node_list *list, const char *name, dfl_i128 value)
{
    add_quantity(list, name, dfl_quantity_int(value));
}

static void add_sum(dfl_node_list *list, const char *name, bool overflow, dfl_i128 value)
{
    if (overflow)
        add(list, name, (dfl_node){ .kind = DFL_NODE_OVERFLOW });
    else
        add_count(list, name, value);
}

static void add_text(dfl_node_list *list, const char *name, const char *text)
{
    add(list, name, (dfl_node){ .kind = DFL_NODE_VALUE,
                                .value = { .kind = DFL_FOUND_TEXT, .text = text ? text : "" } });
}

/* A node below `from`, which keeps its design; `value` is what the node stands for. */
static dfl_node below(parent from, dfl_node_kind kind, uint32_t a, dfl_found value)
{
    dfl_node node = *from;

    node.kind = kind;
    node.a = a;
    node.value = value;
    return node;
}

static dfl_found stands_for(dfl_quantity value)
{
    return (dfl_found){ .kind = DFL_FOUND_QUANTITY, .quantity = value };
}

static const dfl_found nothing = { .kind = DFL_FOUND_NOTHING };

/* ---- below a mapping ---- */

static double memory_joules(const dfl_result *r, uint32_t memory)
{
    return r->memories[memory].read_joules + r->memories[memory].write_joules;
}

static void list_operations(dfl_node_list *list, dfl_i128 macs, dfl_i128 flops)
{
    dfl_i128 total;
    bool overflow = dfl_mul(macs, 2, &total) || dfl_add(total, flops, &total);

    add_count(list, "mac", macs);
    add_count(list, "flop", flops);
    add_count(list, "macs", macs);
    add_count(list, "flops", flops);
    add_sum(list, "total_flop", overflow, total);
}

static void list_memories(dfl_node_list *list, parent from, dfl_node_kind kind)
{
    const dfl_system *s = from->system;

    for (uint32_t i = 0; i < s->n_memories; i++) {
        bool energy = kind == DFL_NODE_MEMORY_ENERGY;

        add(list, text_of(list, s->memories[i].name),
            below(from, kind, i, energy ? stands_for(joules(memory_joules(from->item->result, i))) : nothing));
    }
}

static void list_einsums(dfl_node_list *list, parent from)
{
    for (uint32_t i = 0; i < from->workload->n_einsums; i++)
        add(list, text_of(list, from->workload->einsums[i].name), below(from, DFL_NODE_EINSUM, i, nothing));
}

static void list_networks(dfl_node_list *list, parent from)
{
    const dfl_system *s = from->system;

    for (uint32_t i = 0; i < s->n_networks; i++)
        add(list, text_of(list, s->networks[i].name), below(from, DFL_NODE_NETWORK, i, nothing));
}

static void list_components(dfl_node_list *list, parent from)
{
    const dfl_system *s = from->system;
    const dfl_result *r = from->item->result;

    list_memories(list, from, DFL_NODE_MEMORY_ENERGY);
    for (uint32_t i = 0; i < s->n_computes; i++)
        add_quantity(list, text_of(list, s->computes[i].name), joules(r->compute_joules[i]));
    for (uint32_t i = 0; i < s->n_networks; i++)
        add_quantity(list, text_of(list, s->networks[i].name), joules(r->network_joules[i]));
}

static void list_design(dfl_node_list *list, parent from)
{
    const dfl_result *r = from->item->result;
    double area = from->system->area;

    add(list, "latency", below(from, DFL_NODE_LATENCY, 0, stands_for(seconds(r->seconds))));
    add(list, "energy", below(from, DFL_NODE_ENERGY, 0, stands_for(joules(r->joules))));
    add(list, "operations", below(from, DFL_NODE_OPERATIONS, 0, nothing));
    add_number(list, "utilization", r->utilization);
    add_text(list, "bound_by", r->bound_by);
    add_quantity(list, "power", watts(r->watts));
    add_quantity(list, "area", real(r->area > 0 ? r->area : area, dfl_dim_of(DFL_BASE_AREA)));
    add_quantity(list, "price", real(from->system->price, dfl_dim_of(DFL_BASE_MONEY)));
    add_number(list, "cycles", dfl_report_cycles(from->system, r->seconds));
    list_operations(list, r->macs, r->flops);
    add_count(list, "padding", r->padding);
    add_count(list, "extra", r->extra);
    add(list, "memories", below(from, DFL_NODE_MEMORIES, 0, nothing));
    add(list, "einsums", below(from, DFL_NODE_EINSUMS, 0, nothing));
    add(list, "networks", below(from, DFL_NODE_NETWORKS, 0, nothing));
    add(list, "machine", below(from, DFL_NODE_MACHINE, 0, nothing));
    add_text(list, "status", dfl_status_text(from->item->status));
    list_memories(list, from, DFL_NODE_MEMORY);
    list_einsums(list, from);
    list_networks(list, from);
}

static void list_memory(dfl_node_list *list, parent from)
{
    const dfl_result *r = from->item->result;
    const dfl_memory_cost *cost = &r->memories[from->a];
    int64_t size = from->system->memories[from->a].size_bits;

    if (size >= 0) {
        add_quantity(list, "size", bits(size));
        add_quantity(list, "size_bits", bits(size));
    }
    add_quantity(list, "peak", bits(cost->peak_bits));
    add_quantity(list, "peak_bits", bits(cost->peak_bits));
    add_count(list, "instances", cost->instances);
    add_quantity(list, "read_seconds", seconds(cost->read_seconds));
    add_quantity(list, "write_seconds", seconds(cost->write_seconds));
    add_quantity(list, "energy", joules(memory_joules(r, from->a)));
    add(list, "tensors", below(from, DFL_NODE_TENSORS, from->a, nothing));
}

/* A tensor that the memory never keeps moved nothing there. */
static void list_tensors(dfl_node_list *list, parent from)
{
    for (uint32_t i = 0; i < from->workload->n_tensors; i++) {
        dfl_node node = below(from, DFL_NODE_TRAFFIC, from->a, nothing);

        node.b = i;
        add(list, text_of(list, from->workload->tensors[i].name), node);
    }
}

static void list_traffic(dfl_node_list *list, parent from)
{
    const dfl_result *r = from->item->result;
    dfl_traffic t = { .memory = from->a, .tensor = from->b };
    dfl_i128 sum;
    bool overflow;

    for (uint32_t i = 0; i < r->n_traffic; i++)
        if (r->traffic[i].memory == from->a && r->traffic[i].tensor == from->b)
            t = r->traffic[i];
    overflow = dfl_counts_reads(&t.counts, &sum);
    add_sum(list, "reads", overflow, sum);
    overflow = dfl_counts_writes(&t.counts, &sum);
    add_sum(list, "writes", overflow, sum);
    add_count(list, "serve", t.counts.serve);
    add_count(list, "drain", t.counts.drain);
    add_count(list, "accumulate", t.counts.accumulate);
    add_count(list, "fill", t.counts.fill);
    add_count(list, "update", t.counts.update);
    add_quantity(list, "peak", bits(t.peak_bits));
    add_quantity(list, "peak_bits", bits(t.peak_bits));
    add_quantity(list, "energy", joules(t.joules));
    add_quantity(list, "joules", joules(t.joules));
}

static void list_einsum(dfl_node_list *list, parent from)
{
    const dfl_einsum_cost *e = &from->item->result->einsums[from->a];

    add_quantity(list, "latency", seconds(e->seconds));
    add_quantity(list, "seconds", seconds(e->seconds));
    add_quantity(list, "energy", joules(e->joules));
    add_quantity(list, "joules", joules(e->joules));
    add_text(list, "bound_by", e->bound_by);
    add_text(list, "unit", text_of(list, from->system->computes[e->compute].name));
    list_operations(list, e->macs, e->flops);
    add_count(list, "padding", e->padding);
    add_count(list, "extra", e->extra);
    add_count(list, "points", e->points);
    add_count(list, "steps", e->steps);
}

static void list_network(dfl_node_list *list, parent from)
{
    const dfl_result *r = from->item->result;
    const dfl_system *s = from->system;
    dfl_i128 forwarded = 0;
    bool overflow = false;

    for (uint32_t i = 0; i < s->n_axes; i++)
        if (s->axes[i].network == from->a)
            overflow |= dfl_add(forwarded, r->links[i].forwarded, &forwarded);
    add_sum(list, "forwarded", overflow, forwarded);
    add_quantity(list, "energy", joules(r->network_joules[from->a]));
    add_quantity(list, "joules", joules(r->network_joules[from->a]));
}

/* ---- below a workload and a system ---- */

static void list_workload(dfl_node_list *list, parent from)
{
    const dfl_workload *w = from->workload;
    dfl_i128 macs, flops, parameters = 0, n;
    bool overflow = false;

    if (!dfl_workload_countable(w)) {
        static const char *const names[] = { "macs", "flops", "mac", "flop", "total_flop" };

        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            add(list, names[i], (dfl_node){ .kind = DFL_NODE_UNCOUNTED });
    } else if (dfl_workload_operations(w, &macs, &flops)) {
        add_sum(list, "macs", true, 0);
        add_sum(list, "flops", true, 0);
    } else {
        list_operations(list, macs, flops);
    }
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (w->tensors[i].role == DFL_ROLE_WEIGHT)
            overflow |= dfl_tensor_elements(&w->tensors[i], &n) || dfl_add(parameters, n, &parameters);
    add_sum(list, "parameters", overflow, parameters);
    for (uint32_t i = 0; i < w->n_tensors; i++)
        add(list, text_of(list, w->tensors[i].name), below(from, DFL_NODE_TENSOR, i, nothing));
}

static void list_tensor(dfl_node_list *list, parent from)
{
    const dfl_tensor *t = &from->workload->tensors[from->a];
    dfl_i128 n, size = 0;
    bool overflow = dfl_tensor_elements(t, &n);

    add_sum(list, "elements", overflow, n);
    if (overflow || dfl_mul(n, t->type.bits, &size))
        add_sum(list, "size", true, 0);
    else
        add_quantity(list, "size", bits(size));
}

static void list_system(dfl_node_list *list, parent from)
{
    const dfl_system *s = from->system;
    double clock = dfl_report_clock(s);

    add_quantity(list, "area", real(s->area, dfl_dim_of(DFL_BASE_AREA)));
    add_quantity(list, "tdp", watts(s->tdp));
    add_quantity(list, "price", real(s->price, dfl_dim_of(DFL_BASE_MONEY)));
    if (clock > 0)
        add_quantity(list, "clock", real(clock, dfl_dim_ratio(DFL_BASE_CYCLE, DFL_BASE_TIME)));
    for (uint32_t i = 0; i < s->n_memories; i++)
        add(list, text_of(list, s->memories[i].name), below(from, DFL_NODE_SYSTEM_MEMORY, i, nothing));
    for (uint32_t i = 0; i < s->n_computes; i++)
        add(list, text_of(list, s->computes[i].name), below(from, DFL_NODE_SYSTEM_COMPUTE, i, nothing));
    for (uint32_t i = 0; i < s->n_networks; i++)
        add(list, text_of(list, s->networks[i].name), below(from, DFL_NODE_SYSTEM_NETWORK, i, nothing));
    for (uint32_t i = 0; i < s->n_axes; i++)
        add_count(list, text_of(list, s->axes[i].name), s->axes[i].size);
}

static void list_system_memory(dfl_node_list *list, parent from)
{
    const dfl_memory *m = &from->system->memories[from->a];
    dfl_dim rate = dfl_dim_ratio(DFL_BASE_DATA, DFL_BASE_TIME), energy = dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_DATA);
    dfl_node port = below(from, DFL_NODE_PORT, from->a, nothing);

    if (m->size_bits >= 0)
        add_quantity(list, "size", bits(m->size_bits));
    add_count(list, "buffers", m->buffers);
    if (m->read_rate == m->write_rate)
        add_quantity(list, "bandwidth", real(m->read_rate, rate));
    if (m->read_energy == m->write_energy)
        add_quantity(list, "energy", real(m->read_energy, energy));
    add(list, "read", port);
    port.b = 1;
    add(list, "write", port);
    add_quantity(list, "latency", seconds(m->latency));
    add_quantity(list, "leakage", watts(m->leakage));
    add_quantity(list, "area", real(m->area, dfl_dim_of(DFL_BASE_AREA)));
}

static void list_port(dfl_node_list *list, parent from)
{
    const dfl_memory *m = &from->system->memories[from->a];
    bool write = from->b == 1;

    add_quantity(list, "bandwidth", real(write ? m->write_rate : m->read_rate,
                                         dfl_dim_ratio(DFL_BASE_DATA, DFL_BASE_TIME)));
    add_quantity(list, "energy", real(write ? m->write_energy : m->read_energy,
                                      dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_DATA)));
}

static void list_system_compute(dfl_node_list *list, parent from)
{
    const dfl_compute *u = &from->system->computes[from->a];
    dfl_dim energy = dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_OPS);

    /* A MAC is two operations. */
    if (u->mac_energy != 0)
        add_quantity(list, "energy", real(u->mac_energy / 2, energy));
    else
        add_quantity(list, "energy", real(u->flop_energy, energy));
    add_quantity(list, "area", real(u->area, dfl_dim_of(DFL_BASE_AREA)));
}

static void list_system_network(dfl_node_list *list, parent from)
{
    const dfl_network *n = &from->system->networks[from->a];

    add_quantity(list, "bandwidth", real(n->bandwidth, dfl_dim_ratio(DFL_BASE_DATA, DFL_BASE_TIME)));
    add_quantity(list, "latency", seconds(n->latency));
    add_quantity(list, "energy", real(n->energy, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_DATA)));
}

/* ---- the file ---- */

static dfl_node design_node(const dfl_result_item *item)
{
    return (dfl_node){ .kind = item->result ? DFL_NODE_DESIGN : DFL_NODE_LATER, .item = item,
                       .workload = item->mapping->workload, .system = item->mapping->system };
}

/* The `k`-th of what a path may start with, in order of preference; 0 behind the last. */
static dfl_sym root_at(const dfl_results *r, uint32_t k, dfl_node *node)
{
    const dfl_program *p = r->program;

    if (k < r->n_items) {
        *node = design_node(&r->items[k]);
        return r->items[k].mapping->name;
    }
    k -= r->n_items;
    if (!p)
        return 0;
    if (k < p->n_workloads) {
        *node = (dfl_node){ .kind = DFL_NODE_WORKLOAD, .workload = p->workloads[k].workload };
        return node->workload->name;
    }
    k -= p->n_workloads;
    if (k < p->n_systems) {
        *node = (dfl_node){ .kind = DFL_NODE_SYSTEM, .system = p->systems[k] };
        return node->system->name;
    }
    k -= p->n_systems;
    *node = (dfl_node){ .kind = DFL_NODE_LATER }; /* those that were not evaluated */
    return k < p->n_designs ? p->designs[k].mapping->name : 0;
}

static void list_root(dfl_node_list *list)
{
    dfl_node node;
    dfl_sym name;

    for (uint32_t k = 0; (name = root_at(list->results, k, &node)) != 0; k++)
        add(list, text_of(list, name), node);
}

bool dfl_node_root(const dfl_results *results, dfl_sym name, dfl_node *node)
{
    dfl_node candidate;
    dfl_sym found;

    for (uint32_t k = 0; (found = root_at(results, k, &candidate)) != 0; k++)
        if (found == name) {
            *node = candidate;
            return true;
        }
    return false;
}

void dfl_node_children(dfl_node_list *list, const dfl_node *node)
{
    list->entries.n = 0;
    switch (node->kind) {
    case DFL_NODE_ROOT: list_root(list); break;
    case DFL_NODE_DESIGN: list_design(list, node); break;
    case DFL_NODE_LATENCY:
        add_quantity(list, "seconds", seconds(node->item->result->seconds));
        add_number(list, "cycles", dfl_report_cycles(node->system, node->item->result->seconds));
        add_text(list, "bound_by", node->item->result->bound_by);
        break;
    case DFL_NODE_ENERGY:
        add_quantity(list, "joules", joules(node->item->result->joules));
        add_quantity(list, "leakage", joules(node->item->result->leakage_joules));
        add(list, "components", below(node, DFL_NODE_COMPONENTS, 0, nothing));
        list_components(list, node);
        break;
    case DFL_NODE_COMPONENTS: list_components(list, node); break;
    case DFL_NODE_MEMORY_ENERGY:
        add_quantity(list, "joules", joules(memory_joules(node->item->result, node->a)));
        add_quantity(list, "read", joules(node->item->result->memories[node->a].read_joules));
        add_quantity(list, "write", joules(node->item->result->memories[node->a].write_joules));
        break;
    case DFL_NODE_OPERATIONS:
        list_operations(list, node->item->result->macs, node->item->result->flops);
        add_count(list, "padding", node->item->result->padding);
        add_count(list, "extra", node->item->result->extra);
        break;
    case DFL_NODE_EINSUMS: list_einsums(list, node); break;
    case DFL_NODE_EINSUM: list_einsum(list, node); break;
    case DFL_NODE_MEMORIES: list_memories(list, node, DFL_NODE_MEMORY); break;
    case DFL_NODE_MEMORY:
        list_memory(list, node);
        list_tensors(list, node);
        break;
    case DFL_NODE_TENSORS: list_tensors(list, node); break;
    case DFL_NODE_TRAFFIC: list_traffic(list, node); break;
    case DFL_NODE_NETWORKS: list_networks(list, node); break;
    case DFL_NODE_NETWORK: list_network(list, node); break;
    case DFL_NODE_MACHINE:
        add_quantity(list, "usd", real(node->system->price, dfl_dim_of(DFL_BASE_MONEY)));
        add_quantity(list, "watts", watts(node->item->result->watts));
        add_quantity(list, "tdp_watts", watts(node->system->tdp));
        break;
    case DFL_NODE_WORKLOAD: list_workload(list, node); break;
    case DFL_NODE_TENSOR: list_tensor(list, node); break;
    case DFL_NODE_SYSTEM: list_system(list, node); break;
    case DFL_NODE_SYSTEM_MEMORY: list_system_memory(list, node); break;
    case DFL_NODE_PORT: list_port(list, node); break;
    case DFL_NODE_SYSTEM_COMPUTE: list_system_compute(list, node); break;
    case DFL_NODE_SYSTEM_NETWORK: list_system_network(list, node); break;
    case DFL_NODE_VALUE:
    case DFL_NODE_LATER:
    case DFL_NODE_OVERFLOW:
    case DFL_NODE_UNCOUNTED: break;
    }
}
