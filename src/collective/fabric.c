#include "collective/fabric.h"

bool dfl_fabric_is_grid(const dfl_fabric *f)
{
    return f->kind == DFL_TOPOLOGY_RING || f->kind == DFL_TOPOLOGY_MESH || f->kind == DFL_TOPOLOGY_TORUS;
}

bool dfl_fabric_wraps(const dfl_fabric *f)
{
    return f->kind == DFL_TOPOLOGY_RING || f->kind == DFL_TOPOLOGY_TORUS;
}

uint32_t dfl_fabric_classes(const dfl_fabric *f)
{
    if (dfl_fabric_is_grid(f))
        return 2 * f->n_axes;
    if (f->kind == DFL_TOPOLOGY_FAT_TREE)
        return 2 * f->levels;
    return f->kind == DFL_TOPOLOGY_DRAGONFLY ? 4 : f->kind == DFL_TOPOLOGY_FULLY_CONNECTED ? 1 : 2;
}

const char *dfl_fabric_class_name(dfl_arena *arena, const dfl_intern *names, const dfl_system *system, const dfl_fabric *f,
                                  uint32_t class)
{
    static const char *const dragonfly[] = { "port", "port", "local", "global" };

    if (dfl_fabric_is_grid(f))
        return dfl_arena_printf(arena, "%s%c", dfl_sym_text(names, system->axes[f->axis[class / 2]].name), class % 2 ? '-' : '+');
    if (f->kind == DFL_TOPOLOGY_FAT_TREE && class > 1)
        return dfl_arena_printf(arena, "level %u", class / 2 + 1);
    if (f->kind == DFL_TOPOLOGY_DRAGONFLY)
        return dragonfly[class];
    return f->kind == DFL_TOPOLOGY_FULLY_CONNECTED ? "link" : "port";
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

/* The fewest ports per switch with which `levels` levels reach all ports. */
static int64_t find_radix(int64_t ports, uint32_t levels)
{
    for (int64_t radix = 1;; radix++) {
        int64_t reach = 1;
        for (uint32_t l = 0; l < levels && reach < ports; l++)
            reach *= radix;
        if (reach >= ports)
            return radix;
    }
}

static void set_levels(const dfl_topology *t, dfl_fabric *f)
{
    int64_t radix = find_radix(f->ports, t->levels);

    f->levels = t->levels;
    f->subtree[0] = 1;
    f->narrowing[0] = f->narrowing[1] = 1;
    for (uint32_t l = 1; l <= f->levels; l++) {
        f->subtree[l] = f->subtree[l - 1] >= f->ports ? f->ports : f->subtree[l - 1] * radix;
        if (l > 1)
            f->narrowing[l] = f->narrowing[l - 1] * t->oversubscription[l - 1];
    }
}

static bool refuse(dfl_sink *sink, const dfl_intern *names, const dfl_system *system, const dfl_fabric *f, dfl_span span,
                   const char *why)
{
    const dfl_network *net = &system->networks[f->network];
    dfl_diag *d = dfl_report(sink, DFL_EVAL_UNSUPPORTED, span, "the cost of an exchange over network `%s` is unknown: %s",
                             dfl_sym_text(names, net->name), why);

    dfl_diag_label(sink, d, net->span, "this network");
    return false;
}

/* The axes that number the ports, from the outermost over the network to the innermost one with ports of its own. Axes
   further in share the ports. */
static bool number_ports(const dfl_system *s, uint32_t network, uint32_t element, dfl_fabric *f, const char **why)
{
    const dfl_network *net = &s->networks[network];
    bool joined = !net->topology.separate_rails && !dfl_fabric_is_grid(f);
    uint32_t first = DFL_NONE, last = 0;

    f->sharers = f->ports = 1;
    for (uint32_t a = 0; a < s->n_axes; a++) {
        if (s->axes[a].network != network || !dfl_axis_encloses(s, a, element))
            continue;
        first = first == DFL_NONE ? a : first;
        last = a;
    }
    *why = "no chip lies over the network";
    if (first == DFL_NONE)
        return false;
    *why = "the axis of its ports lies inside of a chip, or not below the network";
    if (net->port != DFL_NONE && (!dfl_axis_encloses(s, net->port, element) || net->port < first))
        return false;
    last = net->port != DFL_NONE && net->port > last ? net->port : last;
    f->port_axis = last;
    for (uint32_t a = first; a < s->n_axes; a++) {
        if (!dfl_axis_encloses(s, a, element))
            continue;
        if (a > last) {
            f->sharers *= s->axes[a].size;
        } else if (joined || s->axes[a].network == network) {
            *why = "it joins too many axes";
            if (f->n_axes == DFL_FABRIC_AXES)
                return false;
            f->size[f->n_axes] = s->axes[a].size;
            f->axis[f->n_axes++] = a;
            f->ports *= s->axes[a].size;
        }
    }
    for (uint32_t k = f->n_axes; k-- > 0;)
        f->weight[k] = k + 1 == f->n_axes ? 1 : f->weight[k + 1] * f->size[k + 1];
    return true;
}

bool dfl_fabric_of(dfl_sink *sink, const dfl_intern *names, const dfl_system *system, uint32_t network, uint32_t element,
                   dfl_span span, dfl_fabric *out)
{
    const dfl_network *net = &system->networks[network];
    const dfl_topology *t = &net->topology;
    const char *why = NULL;

    *out = (dfl_fabric){ .network = network, .kind = t->kind, .latency = net->latency, .overhead = t->overhead };
    if (!number_ports(system, network, element, out, &why))
        return refuse(sink, names, system, out, span, why);
    if (t->kind == DFL_TOPOLOGY_FAT_TREE) {
        if (t->levels < 1 || t->levels > DFL_FABRIC_LEVELS)
            return refuse(sink, names, system, out, span, "a fat tree has 1 to 16 levels");
        set_levels(t, out);
    }
    if (t->kind == DFL_TOPOLOGY_DRAGONFLY) {
        out->groups = t->groups;
        out->routers = t->routers;
        out->global = t->global;
        if (t->groups < 1 || t->routers < 1 || out->ports % (t->groups * t->routers) != 0)
            return refuse(sink, names, system, out, span, "its routers do not have equally many ports");
        out->router_ports = out->ports / (t->groups * t->routers);
        if (t->routers * t->global < t->groups - 1)
            return refuse(sink, names, system, out, span, "a group has fewer global links than there are other groups");
    }
    return true;
}

/* ---- groups of ranks --------------------------------------------------------------------------------------------- */

int64_t dfl_team_rank(const dfl_fabric *f, const dfl_team *team, int64_t port)
{
    int64_t rank = 0;

    for (uint32_t k = 0; k < team->n; k++) {
        const dfl_team_part *p = &team->part[k];
        int64_t at = port / f->weight[p->dim] % f->size[p->dim], period = dfl_team_period(p), place = at % period;
        if (at >= f->size[p->dim] / period * period || place % p->stride >= dfl_team_starts(p))
            return -1;
        rank = rank * p->count + place / p->stride;
    }
    return rank;
}

int64_t dfl_team_port(const dfl_fabric *f, const dfl_team *team, int64_t port, int64_t from, int64_t to)
{
    for (uint32_t k = team->n; k-- > 0;) {
        const dfl_team_part *p = &team->part[k];
        port += (to % p->count - from % p->count) * p->stride * f->weight[p->dim];
        from /= p->count;
        to /= p->count;
    }
    return port;
}

bool dfl_team_strided(const dfl_fabric *f, const dfl_team *team, int64_t *stride)
{
    int64_t next = 0;

    for (uint32_t k = team->n; k-- > 0;) {
        const dfl_team_part *p = &team->part[k];
        int64_t here = p->stride * f->weight[p->dim];
        if (k + 1 == team->n)
            *stride = here;
        else if (here != next)
            return false;
        if (team->n > 1 && dfl_team_starts(p) != p->stride)
            return false;
        next = here * p->count;
    }
    return true;
}
