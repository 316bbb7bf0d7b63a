/* Writes the machine as .dfl text. */
#include "import/accelforge/print_system.h"

#include <math.h>
#include <string.h>

#include "import/accelforge/copy.h"
#include "import/accelforge/expr.h"

/* Rate of a unit without a limit, operations per second: DFL requires a number. */
static const double endless = 1e30;

/* Whether the mapping keeps the tensor in the node; without a mapping, whether the source's mapper may keep it there. */
static bool holds(const dfl_af_printer *p, uint32_t node, uint32_t tensor)
{
    for (uint32_t e = 0; p->plan != NULL && e < p->f->einsums.n; e++) {
        const dfl_af_path *path = &p->plan->paths[e];

        for (uint32_t i = 0; i < path->n_events; i++) {
            if (path->events[i].kind == DFL_AF_KEEP && path->events[i].node == node && path->events[i].tensor == tensor)
                return true;
        }
    }
    return p->plan == NULL && dfl_af_has(&p->f->nodes.at[node].allowed, tensor);
}

/* Actions per bit of a tensor (`which` 0 read, 1 write), or bits of capacity per bit (2). DFL has one value for all tensors of a
   memory: if tensors differ, the most expensive one stands for all, and a loss is reported. */
static double per_bit(dfl_af_printer *p, uint32_t n, int which)
{
    static const char *const what[] = { "reads differ", "writes differ", "room differs" };
    const dfl_af_node *node = &p->f->nodes.at[n];
    double out = 0;
    bool differs = false;

    for (uint32_t t = 0; t < p->f->tensors.n; t++) {
        double value = which == 2 ? node->width[t] : node->values_to_actions[which][t];
        double one = value / (double)p->f->tensors.at[t].bits;

        if (p->uses[t] == 0 || !holds(p, n, t))
            continue;
        differs |= out != 0 && fabs(one - out) > 1e-12 * out;
        out = one > out ? one : out;
    }
    if (differs) {
        dfl_report(p->f->report->sink, DFL_FOREIGN_LOST, node->span,
                   "`%s`: %s between tensors: the most expensive stands for all", node->name, what[which]);
        dfl_strbuf_printf(&p->out, "// %s between tensors: the most expensive stands for all\n", what[which]);
    }
    return out > 0 ? out : which == 2 ? 1 : node->actions_scale;
}

static void print_size(dfl_af_printer *p, uint32_t n)
{
    const dfl_af_node *node = &p->f->nodes.at[n];

    if (isinf(node->size) || node->kind == DFL_AF_TOLL)
        dfl_strbuf_z(&p->out, "size = unlimited;\n");
    else
        dfl_writer_quantity(&p->out, "size", fmax(floor(node->size / per_bit(p, n, 2)), 1) / 8, "B");
}

static void print_port(dfl_af_printer *p, uint32_t n, int which)
{
    const dfl_af_action *action = which == 0 ? &p->f->nodes.at[n].read : &p->f->nodes.at[n].write;
    double actions = per_bit(p, n, which);

    dfl_strbuf_z(&p->out, which == 0 ? "read {\n" : "write {\n");
    if (!isinf(action->throughput))
        dfl_writer_quantity(&p->out, "bandwidth", action->throughput / actions / 8, "B/s");
    dfl_writer_quantity(&p->out, "energy", action->energy * actions, "J/bit");
    dfl_strbuf_z(&p->out, "}\n");
}

/* Whether the mapping has the home of a tensor inside of the node: then the tensor never stands in the node. */
static bool is_home_inside(const dfl_af_printer *p, uint32_t node, uint32_t tensor)
{
    for (uint32_t e = 0; p->plan != NULL && e < p->f->einsums.n; e++) {
        const dfl_af_path *path = &p->plan->paths[e];

        for (uint32_t i = 0; i < path->n_events; i++) {
            const dfl_af_event *event = &path->events[i];

            if (event->kind == DFL_AF_KEEP && event->home && event->tensor == tensor && event->node > node)
                return true;
        }
    }
    return false;
}

/* Whether a tensor of the result may stand in the node. */
static bool may_hold(const dfl_af_printer *p, uint32_t node, uint32_t tensor)
{
    return p->uses[tensor] > 0 && dfl_af_has(&p->f->nodes.at[node].allowed, tensor) &&
           (dfl_af_made(p->f, tensor) || !is_home_inside(p, node, tensor));
}

static uint32_t count_held(const dfl_af_printer *p, uint32_t node)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < p->f->tensors.n; t++)
        n += may_hold(p, node, t);
    return n;
}

static uint32_t count_tensors(const dfl_af_printer *p)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < p->f->tensors.n; t++)
        n += p->uses[t] > 0;
    return n;
}

/* Writes `holds = W0, W1;` unless the node may hold all tensors. */
static void print_holds(dfl_af_printer *p, uint32_t node)
{
    dfl_list_writer list = dfl_writer_list(&p->out, "holds = ");

    if (count_held(p, node) == count_tensors(p))
        return;
    for (uint32_t t = 0; t < p->f->tensors.n; t++) {
        if (!may_hold(p, node, t))
            continue;
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, p->tensors[t]);
    }
    dfl_writer_end_list(&list);
}

static void print_memory(dfl_af_printer *p, uint32_t n)
{
    const dfl_af_node *node = &p->f->nodes.at[n];
    bool limited = !isinf(node->read.throughput) || !isinf(node->write.throughput);

    if (p->plan == NULL && count_held(p, n) == 0) {
        dfl_strbuf_printf(&p->out, "// %s holds nothing\n", p->nodes[n]);
        if (node->leakage > 0)
            dfl_report(p->f->report->sink, DFL_FOREIGN_LOST, node->span,
                       "`%s` may keep no tensor: it is left out, and its leakage with it", node->name);
        return;
    }
    if (node->kind == DFL_AF_TOLL)
        dfl_strbuf_printf(&p->out, "// a toll: what passes is read once\n");
    dfl_strbuf_printf(&p->out, "memory %s {\n", p->nodes[n]);
    print_size(p, n);
    print_holds(p, n);
    if (!node->separate_ports && limited && node->kind == DFL_AF_MEMORY)
        dfl_strbuf_z(&p->out, "ports = shared;\n");
    print_port(p, n, 0);
    print_port(p, n, 1);
    if (node->leakage > 0)
        dfl_writer_quantity(&p->out, "leakage", node->leakage, "W");
    if (node->area > 0)
        dfl_writer_quantity(&p->out, "area", node->area, "m2");
    dfl_strbuf_z(&p->out, "}\n");
}

/* The operation of an einsum in the result. */
static const char *op_of(const dfl_af_printer *p, uint32_t e)
{
    return p->ops[e] != NULL ? p->ops[e] : p->f->einsums.at[e].n_accesses == 3 ? "mac" : "flop";
}

/* Whether some einsum of the result has the operation, among those that the unit runs (`enabled` is their table) or does not. */
static bool has_op(const dfl_af_printer *p, const bool *enabled, bool runs, const char *op)
{
    for (uint32_t e = 0; e < p->f->einsums.n; e++) {
        if (!p->f->einsums.at[e].left_out && enabled[e] == runs && strcmp(op_of(p, e), op) == 0)
            return true;
    }
    return false;
}

/* Writes the operations of the unit if `enabled` restricts them to some einsums. A unit that runs no einsum gets an operation
   that none has. */
static void print_enabled(dfl_af_printer *p, uint32_t n)
{
    const dfl_yaml *at = dfl_yaml_get(p->f->nodes.at[n].at, "enabled");
    bool *enabled = DFL_NEW_ARRAY(p->f->report->arena, bool, p->f->einsums.n);
    dfl_intern *done = dfl_intern_new(p->f->report->arena);
    dfl_list_writer list = dfl_writer_list(&p->out, "ops = ");
    const char *shared = NULL;
    bool any = false;

    for (uint32_t e = 0; at != NULL && e < p->f->einsums.n; e++) {
        double yes = 0;

        enabled[e] = dfl_af_number(p->f, e, at, 1, &yes) && yes != 0;
        any |= enabled[e] && !p->f->einsums.at[e].left_out;
    }
    for (uint32_t e = 0; any && e < p->f->einsums.n; e++) {
        const char *op = op_of(p, e);

        if (p->f->einsums.at[e].left_out || !enabled[e] || dfl_intern_find(done, op, strlen(op)) != 0)
            continue;
        dfl_intern_z(done, op);
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, op);
        shared = has_op(p, enabled, false, op) ? op : shared;
    }
    if (at != NULL && !any) {
        shared = !has_op(p, enabled, false, "flop") ? NULL : "flop";
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, has_op(p, enabled, false, "flop") && !has_op(p, enabled, false, "mac") ? "mac" : "flop");
        shared = has_op(p, enabled, false, "mac") ? shared : NULL;
    }
    dfl_writer_end_list(&list);
    if (shared != NULL)
        dfl_report(p->f->report->sink, DFL_FOREIGN_LOST, at->span,
                   "`%s` runs only some einsums with the operation `%s` in the source: in the result all may run on it",
                   p->f->nodes.at[n].name, shared);
}

static void print_compute(dfl_af_printer *p, uint32_t n)
{
    const dfl_af_node *node = &p->f->nodes.at[n];
    double rate = isinf(node->compute.throughput) ? endless : node->compute.throughput / node->actions_scale;
    double energy = node->compute.energy * node->actions_scale;

    dfl_strbuf_printf(&p->out, "compute %s {\n", p->nodes[n]);
    print_enabled(p, n);
    dfl_strbuf_z(&p->out, "rate {\n");
    dfl_writer_quantity(&p->out, "mac", rate, "MAC/s");
    dfl_writer_quantity(&p->out, "flop", rate, "FLOP/s");
    dfl_strbuf_z(&p->out, "}\nenergy {\n");
    dfl_writer_quantity(&p->out, "mac", energy, "J/MAC");
    dfl_writer_quantity(&p->out, "flop", energy, "J/FLOP");
    dfl_strbuf_z(&p->out, "}\n");
    if (node->leakage > 0)
        dfl_writer_quantity(&p->out, "leakage", node->leakage, "W");
    if (node->area > 0)
        dfl_writer_quantity(&p->out, "area", node->area, "m2");
    dfl_strbuf_z(&p->out, "}\n");
}

/* Writes `multicast = X, Y(T0);` with the tensors that each axis reuses. */
static void print_reuse(dfl_af_printer *p, uint32_t n, const char *word, bool writes)
{
    const dfl_af_node *node = &p->f->nodes.at[n];
    dfl_list_writer list = dfl_writer_list(&p->out, word);

    for (uint32_t a = 0; a < node->n_axes; a++) {
        const dfl_af_set *set = writes ? &node->axes[a].write_reuse : &node->axes[a].read_reuse;
        uint32_t in = 0, of = 0;
        const char *between = "(";

        for (uint32_t t = 0; t < p->f->tensors.n; t++) {
            bool made = dfl_af_made(p->f, t);
            bool used = p->uses[t] > 0 && (writes ? made : p->uses[t] > made);

            of += used;
            in += used && dfl_af_has(set, t);
        }
        if (in == 0)
            continue;
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, p->axes[n][a]);
        for (uint32_t t = 0; in < of && t < p->f->tensors.n; t++) {
            if (p->uses[t] == 0 || !dfl_af_has(set, t))
                continue;
            dfl_strbuf_printf(&p->out, "%s%s", between, p->tensors[t]);
            between = ", ";
        }
        dfl_strbuf_z(&p->out, in < of ? ")" : "");
    }
    dfl_writer_end_list(&list);
}

static void open_array(dfl_af_printer *p, uint32_t n)
{
    const dfl_af_node *node = &p->f->nodes.at[n];
    dfl_list_writer list = dfl_writer_list(&p->out, "array ");

    dfl_strbuf_printf(&p->out, "network %s_links = bus {\n", p->nodes[n]);
    print_reuse(p, n, "multicast = ", false);
    print_reuse(p, n, "reduce = ", true);
    dfl_strbuf_z(&p->out, "}\n");
    for (uint32_t a = 0; a < node->n_axes; a++) {
        dfl_writer_item(&list);
        dfl_strbuf_printf(&p->out, "%s[%lld]", p->axes[n][a], (long long)node->axes[a].fanout);
    }
    dfl_strbuf_printf(&p->out, " over %s_links {\n", p->nodes[n]);
}

/* Writes the nodes of `fork` from index `n` on. Returns the index of the first node outside of the fork. */
static uint32_t print_nodes(dfl_af_printer *p, uint32_t n, uint32_t fork)
{
    uint32_t open = 0;

    while (n < p->f->nodes.n && p->f->nodes.at[n].fork == fork) {
        const dfl_af_node *node = &p->f->nodes.at[n];

        if (node->kind == DFL_AF_FORK) {
            dfl_strbuf_printf(&p->out, "element %s {\n", p->nodes[n]);
            n = print_nodes(p, n + 1, n);
            dfl_strbuf_z(&p->out, "}\n");
            continue;
        }
        if (node->n_axes > 0) {
            open_array(p, n);
            open++;
        }
        if (node->kind == DFL_AF_MEMORY || node->kind == DFL_AF_TOLL)
            print_memory(p, n);
        else if (node->kind == DFL_AF_COMPUTE)
            print_compute(p, n);
        n++;
    }
    for (; open > 0; open--)
        dfl_strbuf_z(&p->out, "}\n");
    return n;
}

void dfl_af_print_system(dfl_af_printer *p)
{
    dfl_strbuf_printf(&p->out, "system %s {\n", p->system);
    print_nodes(p, 0, DFL_AF_NONE);
    dfl_strbuf_z(&p->out, "}\n\n");
}
