/* Reads the nodes of an architecture and applies all scales. */
#include "import/accelforge/arch.h"

#include <math.h>
#include <string.h>

#include "import/accelforge/constraints.h"
#include "import/accelforge/expr.h"
#include "support/limits.h"

static const struct { const char *tag; dfl_af_kind kind; } kinds[] = {
    { "Memory", DFL_AF_MEMORY },       { "Toll", DFL_AF_TOLL },       { "Compute", DFL_AF_COMPUTE },
    { "Container", DFL_AF_CONTAINER }, { "Network", DFL_AF_NETWORK }, { "Fork", DFL_AF_FORK },
};

static const char *const known_keys[] = {
    "name", "size", "leak_power", "leak_power_scale", "area", "area_scale", "tensors", "actions", "spatial",
    "energy_scale", "throughput_scale", "actions_scale", "n_parallel_instances", "bits_per_action",
    "values_per_action", "bits_per_value", "total_latency", "skip_initial_output_write", "direction",
    "enabled", "topology", "nodes", "component_class",
};

static const char *const action_keys[] = {
    "name", "energy", "energy_scale", "throughput", "throughput_scale", "latency", "bits_per_action",
    "values_per_action",
};
static const char *const arch_keys[] = { "nodes", "variables", "version" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const axis_keys[] = {
    "name", "fanout", "may_reuse", "reuse", "min_usage", "loop_bounds", "power_gateable",
};

static bool wrong(dfl_af_file *f, dfl_code code, dfl_span span, const char *what)
{
    dfl_report(f->report->sink, code, span, "%s", what);
    return false;
}

static bool in_range(double n)
{
    return n >= 1 / DFL_IMPORT_LARGEST && n <= DFL_IMPORT_LARGEST;
}

/* The largest value of a number over all einsums: zero, infinite, or in range. False after reporting. */
static bool find_largest(dfl_af_file *f, const dfl_yaml *at, double fallback, double *out)
{
    double least = INFINITY;

    *out = fallback;
    if (at == NULL)
        return true;
    *out = -INFINITY;
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        double n;

        if (!dfl_af_number(f, e, at, fallback, &n))
            return false;
        *out = fmax(*out, n);
        least = fmin(least, n);
    }
    if (least < 0)
        return wrong(f, DFL_FOREIGN_RANGE, at->span, "the number is negative");
    if (*out != 0 && !isinf(*out) && !in_range(*out))
        return wrong(f, DFL_FOREIGN_RANGE, at->span, "the number is not from 1e-30 to 1e30");
    if (least != *out)
        dfl_loss_remark(f->report, at->span, "differs between einsums: the largest is used");
    return true;
}

static const dfl_yaml *action_of(const dfl_yaml *node, const char *name)
{
    const dfl_yaml *list = dfl_yaml_get(node, "actions");

    for (uint32_t i = 0; list != NULL && list->kind == DFL_YAML_LIST && i < list->n; i++) {
        const dfl_yaml *called = dfl_yaml_get(&list->items[i], "name");

        if (called != NULL && strcmp(called->text, name) == 0)
            return &list->items[i];
    }
    return NULL;
}

static bool read_action(dfl_af_file *f, const dfl_yaml *node, const char *name, dfl_af_action *out)
{
    const dfl_yaml *at = action_of(node, name), *rate = dfl_yaml_get(at, "throughput");
    double scale, all, parallel, latency;

    *out = (dfl_af_action){ .at = at, .energy = 0, .throughput = INFINITY };
    if (at == NULL)
        return true;
    dfl_af_look_at_keys(f, at, action_keys, COUNT(action_keys), name);
    if (!find_largest(f, dfl_yaml_get(at, "energy"), 0, &out->energy) ||
        !find_largest(f, dfl_yaml_get(at, "energy_scale"), 1, &scale) ||
        !find_largest(f, dfl_yaml_get(node, "energy_scale"), 1, &all))
        return false;
    out->energy *= scale * all;
    if (!find_largest(f, rate, INFINITY, &out->throughput) || !find_largest(f, dfl_yaml_get(at, "latency"), 0, &latency) ||
        !find_largest(f, dfl_yaml_get(at, "throughput_scale"), 1, &scale) ||
        !find_largest(f, dfl_yaml_get(node, "throughput_scale"), 1, &all) ||
        !find_largest(f, dfl_yaml_get(node, "n_parallel_instances"), 1, &parallel))
        return false;
    if (rate == NULL && latency > 0)
        out->throughput = 1 / latency;
    out->throughput *= scale * all * parallel;
    if (!isinf(out->throughput) && !in_range(out->throughput))
        return wrong(f, DFL_FOREIGN_RANGE, at->span, "the throughput is not from 1e-30 to 1e30");
    if (!(out->energy <= DFL_IMPORT_LARGEST))
        return wrong(f, DFL_FOREIGN_RANGE, at->span, "the energy is beyond 1e30");
    return true;
}

/* The value for a tensor in a map from sets to numbers; `fallback` if no set contains the tensor. */
static bool of_tensor(dfl_af_file *f, const dfl_yaml *map, uint32_t tensor, double fallback, double *out)
{
    uint32_t n = map != NULL && map->kind == DFL_YAML_MAP ? map->n : 0;

    *out = fallback;
    for (uint32_t k = 0; k < 2 * n; k++) { /* `Other` last: it names the tensors that no other set contains */
        uint32_t i = k % n;
        bool other = strcmp(map->keys[i].text, "Other") == 0;

        for (uint32_t e = 0; other == (k >= n) && e < f->einsums.n; e++) {
            dfl_af_set set;

            if (dfl_af_access_of(&f->einsums.at[e], tensor) == NULL)
                continue;
            if (!other && !dfl_af_tensors(f, e, &map->keys[i], &set))
                return false;
            if (!other && !dfl_af_has(&set, tensor))
                continue;
            if (!dfl_af_number(f, e, &map->items[i], fallback, out))
                return false;
            return in_range(*out) ||
                   wrong(f, DFL_FOREIGN_RANGE, map->items[i].span, "the number is not from 1e-30 to 1e30");
        }
    }
    return true;
}

/* Sets the actions per value of each tensor: width / bits_per_action, or 1 / values_per_action. */
static bool read_scale(dfl_af_file *f, dfl_af_node *node, const dfl_yaml *action, double *out)
{
    const dfl_yaml *bits_at = dfl_yaml_get(action, "bits_per_action");
    double per_action;

    bits_at = bits_at != NULL ? bits_at : dfl_yaml_get(node->at, "bits_per_action");
    if (!find_largest(f, bits_at, 1, &per_action))
        return false;
    if (!in_range(per_action))
        return wrong(f, DFL_FOREIGN_RANGE, bits_at->span, "the number is not from 1e-30 to 1e30");
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        double bits, values;

        if (!of_tensor(f, dfl_yaml_get(node->at, "bits_per_value"), t, (double)f->tensors.at[t].bits, &bits) ||
            !of_tensor(f, dfl_yaml_get(node->at, "values_per_action"), t, 0, &values) ||
            !of_tensor(f, dfl_yaml_get(action, "values_per_action"), t, values, &values))
            return false;
        node->width[t] = bits;
        out[t] = node->actions_scale * (values > 0 ? 1 / values : bits / per_action);
    }
    return true;
}

static const char *without_blanks(dfl_af_file *f, const char *text)
{
    char *out = dfl_arena_copy(f->report->arena, text, strlen(text));
    size_t n = 0;

    for (const char *c = text; *c != '\0'; c++) {
        if (*c != ' ' && *c != '\n' && *c != '\t')
            out[n++] = *c;
    }
    out[n] = '\0';
    return out;
}

/* Reads how the times of actions combine: one port, separate ports, or one rate for all actions. */
static bool read_latency(dfl_af_file *f, dfl_af_node *node)
{
    static const char calls[] = "sum(a.n_callsforainactions)";
    const dfl_yaml *at = dfl_yaml_get(node->at, "total_latency");
    const char *text = at != NULL ? without_blanks(f, at->text) : "sum(a.n_calls/a.throughputforainactions)";
    dfl_af_value rate;

    if (strcmp(text, "sum(a.n_calls/a.throughputforainactions)") == 0)
        return true;
    if (strcmp(text, "max(a.n_calls/a.throughputforainactions)") == 0) {
        node->separate_ports = true;
        return true;
    }
    if (strncmp(text, calls, sizeof calls - 1) == 0 && text[sizeof calls - 1] == '/') {
        text = dfl_arena_printf(f->report->arena, "1%s", text + sizeof calls - 1);
        if (!dfl_af_eval_text(f, 0, text, strlen(text), at->span, &rate))
            return false;
        if (rate.is_set || !in_range(rate.number))
            return wrong(f, DFL_FOREIGN_RANGE, at->span, "the throughput is not from 1e-30 to 1e30");
        node->read.throughput = node->write.throughput = node->compute.throughput = 1 / rate.number;
        return true;
    }
    dfl_lose(f->report, DFL_FOREIGN_LOST, at->span,
             "this latency of `%s` is imported as the sum over its actions", node->name);
    return true;
}

/* Reads `direction` of a toll: one for all tensors, or a map from tensors. */
static bool read_direction(dfl_af_file *f, dfl_af_node *node)
{
    const dfl_yaml *at = dfl_yaml_get(node->at, "direction");

    if (at == NULL)
        return wrong(f, DFL_FOREIGN_SYNTAX, node->span, "the toll has no `direction`");
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        const dfl_yaml *one = at->kind == DFL_YAML_MAP ? dfl_yaml_get(at, f->tensors.at[t].name) : at;
        const char *text = one != NULL ? one->text : "up_and_down";

        if (strcmp(text, "up") != 0 && strcmp(text, "down") != 0 && strcmp(text, "up_and_down") != 0)
            return wrong(f, DFL_FOREIGN_SYNTAX, one != NULL ? one->span : at->span,
                         "a direction must be `up`, `down` or `up_and_down`");
        if (strcmp(text, "up") != 0)
            dfl_af_put(&node->down, t);
        if (strcmp(text, "down") != 0)
            dfl_af_put(&node->up, t);
    }
    return true;
}

/* Sets the tensors that the axis multicasts to readers and reduces from writers. A tensor is multicast only if every
   einsum that reads the tensor reuses it; otherwise a loss is reported. `at` = NULL means all tensors. */
static bool read_reuse(dfl_af_file *f, const dfl_yaml *at, dfl_span span, dfl_af_axis *axis)
{
    dfl_af_set refused[2] = { { { 0 } }, { { 0 } } };

    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];
        dfl_af_set set;

        if (at != NULL && !dfl_af_tensors(f, e, at, &set))
            return false;
        for (uint32_t a = 0; a < einsum->n_accesses; a++) {
            uint32_t t = einsum->accesses[a].tensor;
            bool yes = at == NULL || dfl_af_has(&set, t);

            dfl_af_put(yes ? einsum->accesses[a].output ? &axis->write_reuse : &axis->read_reuse
                           : &refused[einsum->accesses[a].output], t);
        }
    }
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        if (dfl_af_has(&refused[0], t) && dfl_af_has(&axis->read_reuse, t)) {
            dfl_lose(f->report, DFL_FOREIGN_LOST, span,
                     "`%s` is reused along `%s` by some einsums only: no reuse is taken", f->tensors.at[t].name,
                     axis->name);
            axis->read_reuse.word[t / 64] &= ~(UINT64_C(1) << t % 64);
        }
    }
    return true;
}

static bool read_axes(dfl_af_file *f, dfl_af_node *node)
{
    const dfl_yaml *list = dfl_yaml_get(node->at, "spatial");
    dfl_af_axis *axes;

    if (list == NULL)
        return true;
    if (list->kind != DFL_YAML_LIST)
        return wrong(f, DFL_FOREIGN_SYNTAX, list->span, "`spatial` must be a list");
    node->axes = axes = DFL_NEW_ARRAY(f->report->arena, dfl_af_axis, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const dfl_yaml *name = dfl_yaml_get(&list->items[i], "name");
        const dfl_yaml *may = dfl_yaml_get(&list->items[i], "may_reuse");
        const dfl_yaml *must = dfl_yaml_get(&list->items[i], "reuse");
        dfl_span span = list->items[i].span;

        if (name == NULL || dfl_yaml_get(&list->items[i], "fanout") == NULL)
            return wrong(f, DFL_FOREIGN_SYNTAX, span, "a spatial dimension needs a `name` and a `fanout`");
        axes[i] = (dfl_af_axis){ .name = name->text, .span = span };
        dfl_af_look_at_keys(f, &list->items[i], axis_keys, COUNT(axis_keys), name->text);
        if (!dfl_af_count(f, DFL_AF_NONE, dfl_yaml_get(&list->items[i], "fanout"), 1, 1, &axes[i].fanout))
            return false;
        if (axes[i].fanout > INT32_MAX)
            return wrong(f, DFL_FOREIGN_RANGE, span, "the fanout is beyond 2^31 - 1");
        if (!read_reuse(f, may != NULL ? may : must, span, &axes[i]))
            return false;
        if (dfl_af_truth(dfl_yaml_get(&list->items[i], "power_gateable")))
            dfl_lose(f->report, DFL_FOREIGN_LOST, span,
                     "instances along `%s` that are not used leak: there is no power gating", name->text);
        node->n_axes++;
    }
    return true;
}

static bool read_numbers(dfl_af_file *f, dfl_af_node *node)
{
    const dfl_yaml *skip = dfl_yaml_get(node->at, "skip_initial_output_write");
    double scale, parallel;

    if (!find_largest(f, dfl_yaml_get(node->at, "size"), INFINITY, &node->size) ||
        !find_largest(f, dfl_yaml_get(node->at, "actions_scale"), 1, &node->actions_scale) ||
        !find_largest(f, dfl_yaml_get(node->at, "n_parallel_instances"), 1, &parallel) ||
        !find_largest(f, dfl_yaml_get(node->at, "leak_power"), 0, &node->leakage) ||
        !find_largest(f, dfl_yaml_get(node->at, "leak_power_scale"), 1, &scale))
        return false;
    node->leakage *= scale * parallel;
    if (!find_largest(f, dfl_yaml_get(node->at, "area"), 0, &node->area) ||
        !find_largest(f, dfl_yaml_get(node->at, "area_scale"), 1, &scale))
        return false;
    node->area *= scale * parallel;
    if (!(node->leakage <= DFL_IMPORT_LARGEST) || !(node->area <= DFL_IMPORT_LARGEST) ||
        !in_range(node->actions_scale) || node->size < 1)
        return wrong(f, DFL_FOREIGN_RANGE, node->span,
                     node->size < 1 ? "the memory has no room" : "a leakage, an area or a scale is out of range");
    if (skip != NULL && !dfl_af_truth(skip))
        dfl_lose(f->report, DFL_FOREIGN_LOST, skip->span,
                 "`%s` reads the first value of an output: in the result nothing is read before it has a value", node->name);
    return true;
}

/* Reports a loss for each action without an energy: the source computes the energy from `component_class`, DFL charges
   0. */
static void look_for_energy(const dfl_af_file *f, const dfl_af_node *node)
{
    static const char *const names[] = { "read", "write", "compute" };
    const dfl_yaml *const at[] = { node->read.at, node->write.at, node->compute.at };
    const bool wanted[] = { node->kind == DFL_AF_MEMORY || node->kind == DFL_AF_TOLL, node->kind == DFL_AF_MEMORY,
                            node->kind == DFL_AF_COMPUTE };

    for (size_t i = 0; i < 3; i++) {
        if (wanted[i] && dfl_yaml_get(at[i], "energy") == NULL)
            dfl_lose(f->report, DFL_FOREIGN_LOST, at[i] != NULL ? at[i]->span : node->span,
                     "`%s` of `%s` has no energy in the source: it is free here", names[i], node->name);
    }
}

static bool read_part(dfl_af_file *f, dfl_af_node *node)
{
    double enabled;

    if (!find_largest(f, dfl_yaml_get(node->at, "enabled"), 1, &enabled))
        return false;
    node->width = DFL_NEW_ARRAY(f->report->arena, double, f->tensors.n + 1);
    for (int i = 0; i < 2; i++)
        node->values_to_actions[i] = DFL_NEW_ARRAY(f->report->arena, double, f->tensors.n + 1);
    if (!read_numbers(f, node) || !read_action(f, node->at, "read", &node->read) ||
        !read_action(f, node->at, "write", &node->write) || !read_action(f, node->at, "compute", &node->compute))
        return false;
    look_for_energy(f, node);
    return read_scale(f, node, node->read.at, node->values_to_actions[0]) &&
           read_scale(f, node, node->write.at, node->values_to_actions[1]) &&
           (node->kind == DFL_AF_NETWORK || read_latency(f, node)) &&
           (node->kind != DFL_AF_TOLL || read_direction(f, node));
}

static bool read_nodes(dfl_af_file *f, const dfl_yaml *list, uint32_t fork)
{
    if (list == NULL || list->kind != DFL_YAML_LIST)
        return wrong(f, DFL_FOREIGN_SYNTAX, list != NULL ? list->span : f->arch->span, "expected a list of `nodes`");
    for (uint32_t i = 0; i < list->n; i++) {
        const dfl_yaml *at = &list->items[i], *name = dfl_yaml_get(at, "name");
        dfl_af_node node = { .span = at->span, .at = at, .fork = fork, .size = INFINITY, .actions_scale = 1 };
        size_t k = 0;

        while (k < sizeof kinds / sizeof kinds[0] && strcmp(kinds[k].tag, at->tag) != 0)
            k++;
        if (k == sizeof kinds / sizeof kinds[0] || at->kind != DFL_YAML_MAP)
            return wrong(f, DFL_FOREIGN_UNSUPPORTED, at->span,
                         "a node must be a `!Memory`, `!Toll`, `!Compute`, `!Container`, `!Network` or `!Fork`");
        node.kind = kinds[k].kind;
        f->fork = fork;
        node.name = name != NULL && name->text[0] != '\0' ? name->text : "fork";
        if (name == NULL && node.kind != DFL_AF_FORK)
            return wrong(f, DFL_FOREIGN_SYNTAX, at->span, "a node needs a `name`");
        if (name != NULL && dfl_af_find_node(f, node.name) != DFL_AF_NONE)
            return wrong(f, DFL_FOREIGN_SYNTAX, name->span, "two nodes have the same name");
        dfl_af_look_at_keys(f, at, known_keys, COUNT(known_keys), node.name);
        if (node.kind != DFL_AF_FORK && (!read_axes(f, &node) || !read_part(f, &node)))
            return false;
        if (node.kind == DFL_AF_NETWORK)
            dfl_lose(f->report, DFL_FOREIGN_LOST, node.span,
                     "hops and links of the network `%s` are not counted: its transfers are free", node.name);
        if ((node.kind == DFL_AF_MEMORY || node.kind == DFL_AF_TOLL) && !dfl_af_read_constraints(f, &node))
            return false;
        DFL_PUSH(f->report->arena, &f->nodes, node);
        if (node.kind == DFL_AF_FORK && !read_nodes(f, dfl_yaml_get(at, "nodes"), (uint32_t)f->nodes.n - 1))
            return false;
    }
    return true;
}

bool dfl_af_read_arch(dfl_af_file *f)
{
    dfl_af_look_at_keys(f, f->arch, arch_keys, COUNT(arch_keys), "arch");
    if (!read_nodes(f, dfl_yaml_get(f->arch, "nodes"), DFL_AF_NONE))
        return false;
    f->fork = DFL_AF_NONE;
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        if (f->nodes.at[n].kind == DFL_AF_COMPUTE)
            return true;
    }
    return wrong(f, DFL_FOREIGN_SYNTAX, f->arch->span, "the architecture has no `!Compute`");
}
