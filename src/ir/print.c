/* Workloads and systems as text. */
#include "ir/print.h"

#include <math.h>

#include "ir/print_check.h"
#include "ir/print_mapping.h"
#include "ir/unit_text.h"

static void name(dfl_strbuf *out, const dfl_intern *names, dfl_sym sym)
{
    dfl_strbuf_z(out, sym != 0 ? dfl_sym_text(names, sym) : "-");
}

const char *dfl_role_text(dfl_role role)
{
    static const char *const texts[] = {
        [DFL_ROLE_INTERMEDIATE] = "intermediate", [DFL_ROLE_INPUT] = "input",   [DFL_ROLE_WEIGHT] = "weight",
        [DFL_ROLE_STATE] = "state",               [DFL_ROLE_OUTPUT] = "output",
    };

    return texts[role];
}

/* ---- workloads ---- */

static void print_index(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++) {
        int64_t coef = index->terms[t].coef;

        if (t > 0)
            dfl_strbuf_z(out, coef < 0 ? " - " : " + ");
        else if (coef < 0)
            dfl_strbuf_char(out, '-');
        if (coef != 1 && coef != -1) {
            dfl_strbuf_i128(out, coef < 0 ? -(dfl_i128)coef : coef);
            dfl_strbuf_char(out, '*');
        }
        name(out, names, w->ranks[index->terms[t].rank].name);
    }
    if (index->n_terms == 0)
        dfl_strbuf_i128(out, index->offset);
    else if (index->offset != 0) {
        dfl_strbuf_z(out, index->offset < 0 ? " - " : " + ");
        dfl_strbuf_i128(out, index->offset < 0 ? -(dfl_i128)index->offset : index->offset);
    }
}

static void print_access(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w, const dfl_access *a)
{
    name(out, names, w->tensors[a->tensor].name);
    dfl_strbuf_char(out, '[');
    for (uint32_t d = 0; d < a->n_dims; d++) {
        if (d > 0)
            dfl_strbuf_z(out, ", ");
        print_index(out, names, w, &a->index[d]);
    }
    dfl_strbuf_char(out, ']');
}

static void print_eop(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e,
                      const dfl_eop *op)
{
    const char *sign = op->kind == DFL_EOP_ADD ? " + " : op->kind == DFL_EOP_SUB ? " - " : op->kind == DFL_EOP_MUL
                           ? " * " : " / ";

    switch (op->kind) {
    case DFL_EOP_ACCESS:
        print_access(out, names, w, &e->inputs[op->operand]);
        return;
    case DFL_EOP_CONST:
        dfl_strbuf_printf(out, "%.9g", op->value);
        return;
    case DFL_EOP_CALL:
        name(out, names, op->op);
        sign = ", ";
        break;
    case DFL_EOP_GATHER:
        dfl_strbuf_z(out, "gather");
        sign = ", ";
        break;
    case DFL_EOP_SCATTER:
        dfl_strbuf_z(out, "scatter");
        sign = ", ";
        break;
    case DFL_EOP_NEG:
        dfl_strbuf_char(out, '-');
        break;
    case DFL_EOP_ADD:
    case DFL_EOP_SUB:
    case DFL_EOP_MUL:
    case DFL_EOP_DIV:
        break;
    }
    dfl_strbuf_char(out, '(');
    for (uint32_t i = 0; i < op->n_args; i++) {
        if (i > 0)
            dfl_strbuf_z(out, sign);
        print_eop(out, names, w, e, op->args[i]);
    }
    dfl_strbuf_char(out, ')');
}

static void print_tensor(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w, const dfl_tensor *t)
{
    dfl_strbuf_printf(out, "  %s ", dfl_role_text(t->role));
    name(out, names, t->name);
    dfl_strbuf_char(out, '[');
    for (uint32_t d = 0; d < t->n_dims; d++) {
        if (d > 0)
            dfl_strbuf_z(out, ", ");
        dfl_strbuf_i128(out, t->extents[d]);
    }
    dfl_strbuf_z(out, "] : ");
    name(out, names, t->type.name);
    dfl_strbuf_printf(out, " (%u bit);  // made by", t->type.bits);
    for (uint32_t i = 0; i < t->n_producers; i++) {
        dfl_strbuf_char(out, ' ');
        name(out, names, w->einsums[t->producers[i]].name);
    }
    dfl_strbuf_z(out, t->n_producers == 0 ? " nothing, read by" : ", read by");
    for (uint32_t i = 0; i < t->n_consumers; i++) {
        dfl_strbuf_char(out, ' ');
        name(out, names, w->einsums[t->consumers[i]].name);
    }
    dfl_strbuf_z(out, t->n_consumers == 0 ? " nothing\n" : "\n");
}

static void print_einsum(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e)
{
    static const char *const assign[] = { " = ", " += ", " max= ", " min= " };
    dfl_i128 points;

    dfl_strbuf_z(out, "  einsum ");
    name(out, names, e->name);
    dfl_strbuf_z(out, ": ");
    print_access(out, names, w, &e->output);
    dfl_strbuf_z(out, assign[e->reduce]);
    print_eop(out, names, w, e, e->body);
    if (e->over_rank != DFL_NONE) {
        dfl_strbuf_z(out, " over ");
        name(out, names, w->ranks[e->over_rank].name);
    }
    if (e->reuse > 0)
        dfl_strbuf_printf(out, " reuse %g", e->reuse);
    if (e->load > 0)
        dfl_strbuf_printf(out, isinf(e->load) ? " load worst" : " load %g", e->load);
    for (uint32_t i = 0; i < e->n_where; i++) {
        dfl_strbuf_z(out, i == 0 ? " where " : ", ");
        print_index(out, names, w, &e->where[i].sum);
        dfl_strbuf_z(out, " >= 0");
    }
    dfl_strbuf_z(out, ";  // ranks");
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        dfl_strbuf_char(out, ' ');
        name(out, names, w->ranks[e->ranks[i]].name);
    }
    if (dfl_einsum_points(w, e, &points)) {
        dfl_strbuf_z(out, ", more points than 128 bits hold, ");
    } else {
        dfl_strbuf_z(out, ", ");
        dfl_strbuf_i128(out, points);
        dfl_strbuf_z(out, " points, ");
    }
    if (e->is_mac) {
        dfl_strbuf_z(out, "1 MAC each");
    } else {
        dfl_strbuf_i128(out, e->flops_per_point);
        dfl_strbuf_z(out, " FLOP each");
    }
    if (e->flops_per_output != 0) {
        dfl_strbuf_z(out, ", ");
        dfl_strbuf_i128(out, e->flops_per_output);
        dfl_strbuf_z(out, " FLOP per element");
    }
    if (e->phase != DFL_PHASE_FORWARD) {
        bool update = e->phase == DFL_PHASE_UPDATE;

        dfl_strbuf_z(out, update ? ", update of " : ", backward of ");
        name(out, names, update ? w->tensors[e->of].name : w->einsums[e->of].name);
    }
    dfl_strbuf_char(out, '\n');
}

/* The tensors that repeats carry: `X = layer.Y`, the tensor that the first iteration reads and the one that later ones read. */
static void print_carries(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w)
{
    for (uint32_t c = 0; c < w->n_carries; c++) {
        dfl_strbuf_z(out, c == 0 ? "  // carries " : ", ");
        name(out, names, w->tensors[w->carries[c].from].name);
        dfl_strbuf_z(out, " = ");
        name(out, names, w->tensors[w->carries[c].to].name);
        dfl_strbuf_z(out, w->carries[c].downwards ? " downwards" : "");
    }
}

void dfl_workload_print(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w)
{
    dfl_strbuf_z(out, "workload ");
    name(out, names, w->name);
    dfl_strbuf_z(out, " {");
    print_carries(out, names, w);
    dfl_strbuf_char(out, '\n');
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        dfl_strbuf_z(out, "  rank ");
        name(out, names, w->ranks[r].name);
        dfl_strbuf_z(out, " = ");
        dfl_strbuf_i128(out, w->ranks[r].extent);
        dfl_strbuf_z(out, ";\n");
    }
    for (uint32_t t = 0; t < w->n_tensors; t++)
        print_tensor(out, names, w, &w->tensors[t]);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        print_einsum(out, names, w, &w->einsums[e]);
    dfl_strbuf_z(out, "}\n");
}

/* ---- systems ---- */

static void quantity(dfl_strbuf *out, const char *what, double value, dfl_dim dim)
{
    dfl_strbuf_printf(out, " %s ", what);
    if (isinf(value))
        dfl_strbuf_z(out, "unlimited");
    else
        dfl_quantity_print(out, dfl_quantity_real(value, dim));
}

static void selection(dfl_strbuf *out, const dfl_intern *names, const char *what, const dfl_selection *sel)
{
    if (!sel->on)
        return;
    dfl_strbuf_printf(out, " %s", what);
    if (sel->all)
        dfl_strbuf_z(out, " all");
    for (unsigned r = 0; r <= DFL_ROLE_OUTPUT; r++)
        if (sel->roles & 1u << r)
            dfl_strbuf_printf(out, " %s", dfl_role_text((dfl_role)r));
    for (uint32_t i = 0; i < sel->n_names; i++) {
        dfl_strbuf_char(out, ' ');
        name(out, names, sel->names[i]);
    }
}

static void efficiency(dfl_strbuf *out, const dfl_efficiency *e)
{
    if (e == NULL)
        return;
    dfl_strbuf_z(out, " efficiency");
    dfl_efficiency_print(out, e);
}

static void print_memory(dfl_strbuf *out, const dfl_intern *names, const dfl_memory *m)
{
    const dfl_dim rate = dfl_dim_ratio(DFL_BASE_DATA, DFL_BASE_TIME);
    const dfl_dim energy = dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_DATA);

    dfl_strbuf_z(out, "  memory ");
    name(out, names, m->name);
    dfl_strbuf_printf(out, " in %u: size ", m->element);
    if (m->size_bits < 0) {
        dfl_strbuf_z(out, "unlimited");
    } else {
        dfl_quantity size = dfl_quantity_int(m->size_bits);

        size.dim = dfl_dim_of(DFL_BASE_DATA);
        dfl_quantity_print(out, size);
    }
    quantity(out, "read", m->read_rate, rate);
    quantity(out, "write", m->write_rate, rate);
    dfl_strbuf_z(out, m->one_port ? " one port" : "");
    dfl_strbuf_z(out, m->free_drains ? " drains beside" : "");
    if (m->has_read_energy)
        quantity(out, "read energy", m->read_energy, energy);
    if (m->has_write_energy)
        quantity(out, "write energy", m->write_energy, energy);
    if (m->has_drain_energy)
        quantity(out, "drain energy", m->drain_energy, energy);
    if (m->access_bits != 0)
        quantity(out, "access", (double)m->access_bits, dfl_dim_of(DFL_BASE_DATA));
    if (m->latency != 0)
        quantity(out, "latency", m->latency, dfl_dim_of(DFL_BASE_TIME));
    if (m->leakage != 0)
        quantity(out, "leakage", m->leakage, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME));
    if (m->area != 0)
        quantity(out, "area", m->area, dfl_dim_of(DFL_BASE_AREA));
    dfl_strbuf_z(out, " buffers ");
    dfl_strbuf_i128(out, m->buffers);
    dfl_strbuf_z(out, m->stream ? " stream" : "");
    efficiency(out, m->efficiency);
    selection(out, names, "holds", &m->holds);
    dfl_strbuf_char(out, '\n');
}

static void print_compute(dfl_strbuf *out, const dfl_intern *names, const dfl_compute *c)
{
    const dfl_dim energy = dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_OPS);

    dfl_strbuf_z(out, "  compute ");
    name(out, names, c->name);
    dfl_strbuf_printf(out, " in %u after %u memories:", c->element, c->after_memory);
    for (uint32_t i = 0; i < c->n_rates; i++) {
        dfl_strbuf_z(out, " rate ");
        dfl_strbuf_z(out, c->rates[i].op != 0 ? dfl_sym_text(names, c->rates[i].op) : "any");
        dfl_strbuf_char(out, ' ');
        dfl_strbuf_z(out, c->rates[i].type != 0 ? dfl_sym_text(names, c->rates[i].type) : "any");
        dfl_strbuf_printf(out, " %.6g/s", c->rates[i].rate);
    }
    for (uint32_t i = 0; i < c->n_efficiencies; i++) {
        const dfl_efficiency *e = &c->efficiencies[i];

        dfl_strbuf_z(out, " efficiency ");
        dfl_strbuf_z(out, e->op != 0 ? dfl_sym_text(names, e->op) : "any");
        dfl_strbuf_char(out, ' ');
        dfl_strbuf_z(out, e->type != 0 ? dfl_sym_text(names, e->type) : "any");
        dfl_efficiency_print(out, e);
    }
    if (c->launch != 0)
        quantity(out, "launch", c->launch, dfl_dim_of(DFL_BASE_TIME));
    if (c->units != 0)
        dfl_strbuf_printf(out, " units %lld of %lld x %lld", (long long)c->units, (long long)c->lanes, (long long)c->rows);
    if (c->has_energy) {
        quantity(out, "energy per MAC", c->mac_energy, dfl_dim_of(DFL_BASE_ENERGY));
        quantity(out, "per FLOP", c->flop_energy, energy);
    }
    if (c->leakage != 0)
        quantity(out, "leakage", c->leakage, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME));
    if (c->area != 0)
        quantity(out, "area", c->area, dfl_dim_of(DFL_BASE_AREA));
    for (uint32_t i = 0; i < c->n_type_energies; i++) {
        dfl_strbuf_printf(out, " %s", dfl_sym_text(names, c->type_energies[i].type));
        quantity(out, "energy", c->type_energies[i].joules, energy);
    }
    for (uint32_t i = 0; i < c->n_ops; i++) {
        dfl_strbuf_z(out, i == 0 ? " ops " : ", ");
        name(out, names, c->ops[i]);
    }
    selection(out, names, "operand reuse", &c->operand_reuse);
    dfl_strbuf_char(out, '\n');
}

static void print_axis(dfl_strbuf *out, const dfl_intern *names, const dfl_system *s, const dfl_axis *a)
{
    dfl_strbuf_z(out, "  axis ");
    name(out, names, a->name);
    dfl_strbuf_char(out, '[');
    dfl_strbuf_i128(out, a->size);
    dfl_strbuf_printf(out, "] of element %u", a->element);
    if (a->network != DFL_NONE) {
        dfl_strbuf_z(out, " over ");
        name(out, names, s->networks[a->network].name);
    }
    selection(out, names, "multicast", &a->multicast);
    selection(out, names, "reduce", &a->reduce);
    dfl_strbuf_z(out, a->forward ? " forward\n" : "\n");
}

/* The shape and the price of a network between chips, as far as the file states them. */
static void print_topology(dfl_strbuf *out, const dfl_topology *t)
{
    const struct { const char *what; double value; dfl_dim dim; } numbers[] = {
        { "overhead", t->overhead, dfl_dim_of(DFL_BASE_TIME) },
        { "price", t->price, dfl_dim_of(DFL_BASE_MONEY) },
        { "power", t->power, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME) },
        { "link price", t->link_price, dfl_dim_of(DFL_BASE_MONEY) },
        { "link power", t->link_power, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME) },
    };

    if (t->kind == DFL_TOPOLOGY_FAT_TREE) {
        dfl_strbuf_printf(out, " levels %u", t->levels);
        for (uint32_t i = 1; i < t->levels; i++)
            dfl_strbuf_printf(out, "%s%.6g", i == 1 ? " oversubscription " : ", ", t->oversubscription[i]);
    } else if (t->kind == DFL_TOPOLOGY_DRAGONFLY) {
        dfl_strbuf_printf(out, " groups %lld routers %lld global %lld", (long long)t->groups, (long long)t->routers,
                          (long long)t->global);
    }
    dfl_strbuf_z(out, t->separate_rails ? " separate rails" : "");
    for (unsigned i = 0; i < DFL_N_ALGORITHMS; i++)
        if (t->algorithms & 1u << i)
            dfl_strbuf_printf(out, " algorithm %s", dfl_algorithm_name((dfl_algorithm)i));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value != 0)
            quantity(out, numbers[i].what, numbers[i].value, numbers[i].dim);
}

static void print_network(dfl_strbuf *out, const dfl_intern *names, const dfl_system *s, const dfl_network *n)
{
    dfl_strbuf_z(out, "  network ");
    name(out, names, n->name);
    dfl_strbuf_z(out, " = ");
    name(out, names, n->kind);
    dfl_strbuf_printf(out, " in %u:", n->element);
    quantity(out, "bandwidth", n->bandwidth, dfl_dim_ratio(DFL_BASE_DATA, DFL_BASE_TIME));
    quantity(out, "latency", n->latency, dfl_dim_of(DFL_BASE_TIME));
    if (n->has_energy)
        quantity(out, "energy", n->energy, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_DATA));
    if (n->port != DFL_NONE) {
        dfl_strbuf_z(out, " port ");
        name(out, names, s->axes[n->port].name);
    }
    print_topology(out, &n->topology);
    efficiency(out, n->efficiency);
    dfl_strbuf_char(out, '\n');
}

void dfl_system_print(dfl_strbuf *out, const dfl_intern *names, const dfl_system *s)
{
    dfl_strbuf_z(out, "system ");
    name(out, names, s->name);
    dfl_strbuf_z(out, " {\n");
    for (uint32_t i = 0; i < s->n_elements; i++) {
        const dfl_element *e = &s->elements[i];

        dfl_strbuf_printf(out, "  element %u ", i);
        name(out, names, e->name);
        if (e->parent != DFL_NONE)
            dfl_strbuf_printf(out, " in %u", e->parent);
        dfl_strbuf_z(out, e->side ? " side" : "");
        if (e->clock != 0)
            quantity(out, "clock", e->clock, dfl_dim_ratio(DFL_BASE_CYCLE, DFL_BASE_TIME));
        dfl_strbuf_char(out, '\n');
    }
    for (uint32_t i = 0; i < s->n_memories; i++)
        print_memory(out, names, &s->memories[i]);
    for (uint32_t i = 0; i < s->n_computes; i++)
        print_compute(out, names, &s->computes[i]);
    for (uint32_t i = 0; i < s->n_networks; i++)
        print_network(out, names, s, &s->networks[i]);
    for (uint32_t i = 0; i < s->n_axes; i++)
        print_axis(out, names, s, &s->axes[i]);
    if (s->tdp != 0)
        quantity(out, "tdp", s->tdp, dfl_dim_ratio(DFL_BASE_ENERGY, DFL_BASE_TIME));
    if (s->area != 0)
        quantity(out, "area", s->area, dfl_dim_of(DFL_BASE_AREA));
    if (s->price != 0)
        quantity(out, "price", s->price, dfl_dim_of(DFL_BASE_MONEY));
    dfl_strbuf_z(out, s->tdp != 0 || s->area != 0 || s->price != 0 ? "\n}\n" : "}\n");
}

/* ---- programs ---- */

void dfl_ir_print(dfl_strbuf *out, const dfl_intern *names, const dfl_program *p)
{
    for (uint32_t i = 0; i < p->n_workloads; i++)
        dfl_workload_print(out, names, p->workloads[i].workload);
    for (uint32_t i = 0; i < p->n_systems; i++)
        dfl_system_print(out, names, p->systems[i]);
    for (uint32_t i = 0; i < p->n_designs; i++)
        dfl_mapping_print(out, names, p->designs[i].mapping, DFL_PRINT_INDENT);
    for (uint32_t i = 0; i < p->n_checks; i++)
        dfl_check_print(out, names, &p->checks[i]);
}
