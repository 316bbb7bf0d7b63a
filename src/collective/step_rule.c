#include "collective/step_rule.h"

#include "collective/limits.h"

/* Bits on all links of one copy of a network. */
typedef struct {
    const dfl_fabric *f;
    double *now, *all;     /* [link]: bits of the present step, of all steps */
    size_t n_links;
    size_t *used;          /* links with bits in the present step, n_used */
    size_t n_used;
    double *arrived;       /* [port]: bits that one rank behind the port receives in the present step */
    double share;          /* share of the message that is on its route */
    double bits;           /* of the message */
} link_loads;

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* Links of a dragonfly: ports up and down, then between the routers of a group, then from group to group. */
static size_t find_local_link(const dfl_fabric *f, int64_t router, int64_t other)
{
    return (size_t)(2 * f->ports + router * f->routers + other % f->routers);
}

static size_t find_global_link(const dfl_fabric *f, int64_t group, int64_t end)
{
    return (size_t)(2 * f->ports + f->groups * f->routers * f->routers + group * f->routers * f->global + end);
}

/* Links of a fat tree: two for each switch and port, those of a level behind those of the levels below. */
static size_t find_tree_link(const dfl_fabric *f, uint32_t level, int64_t subtree, bool down)
{
    size_t before = 0;

    for (uint32_t l = 0; l < level; l++)
        before += (size_t)((f->ports + f->subtree[l] - 1) / f->subtree[l]);
    return 2 * (before + (size_t)subtree) + down;
}

static size_t count_links(const dfl_fabric *f)
{
    if (dfl_fabric_is_grid(f))
        return (size_t)(2 * f->ports * f->n_axes);
    if (f->kind == DFL_TOPOLOGY_FULLY_CONNECTED)
        return (size_t)(f->ports * f->ports);
    if (f->kind == DFL_TOPOLOGY_FAT_TREE)
        return find_tree_link(f, f->levels, 0, false);
    if (f->kind == DFL_TOPOLOGY_DRAGONFLY)
        return find_global_link(f, f->groups, 0);
    return (size_t)(2 * f->ports);
}

static uint32_t find_class(const dfl_fabric *f, size_t link)
{
    if (dfl_fabric_is_grid(f))
        return (uint32_t)(link % (2 * f->n_axes));
    if (f->kind == DFL_TOPOLOGY_FAT_TREE) {
        uint32_t level = 0;
        while (level + 1 < f->levels && link >= find_tree_link(f, level + 1, 0, false))
            level++;
        return 2 * level + (uint32_t)(link % 2);
    }
    if (f->kind == DFL_TOPOLOGY_FULLY_CONNECTED)
        return 0;
    if (link < (size_t)(2 * f->ports))
        return (uint32_t)(link % 2);
    return link < find_global_link(f, 0, 0) ? 2 : 3;
}

/* Number of links of the network's bandwidth that the link stands for: those between a subtree and the level above. */
static double find_width(const dfl_fabric *f, size_t link)
{
    uint32_t level = find_class(f, link) / 2;
    int64_t first, ports;

    if (f->kind != DFL_TOPOLOGY_FAT_TREE)
        return 1;
    first = (int64_t)(link - find_tree_link(f, level, 0, false)) / 2 * f->subtree[level];
    ports = f->ports - first < f->subtree[level] ? f->ports - first : f->subtree[level];
    return (double)ports / f->narrowing[level + 1];
}

static void use_link(link_loads *l, size_t link)
{
    if (l->now[link] == 0)
        l->used[l->n_used++] = link;
    l->now[link] += l->bits * l->share;
}

/* ---- routes: the number of links ---------------------------------------------------------------------------------- */

static int64_t cross_grid(link_loads *l, int64_t from, int64_t to)
{
    const dfl_fabric *f = l->f;
    int64_t hops = 0;

    for (uint32_t d = 0; d < f->n_axes; d++) {
        int64_t size = f->size[d], a = from / f->weight[d] % size, b = to / f->weight[d] % size;
        int64_t ahead = dfl_fabric_wraps(f) ? (b - a + size) % size : b - a;
        bool back = dfl_fabric_wraps(f) ? 2 * ahead > size : ahead < 0;
        while (a != b) {
            use_link(l, (size_t)((from * f->n_axes + d) * 2 + back));
            hops++;
            from -= a * f->weight[d];
            a = (a + (back ? size - 1 : 1)) % size;
            from += a * f->weight[d];
        }
    }
    return hops;
}

static int64_t cross_fat_tree(link_loads *l, int64_t from, int64_t to)
{
    const dfl_fabric *f = l->f;
    uint32_t level = 0;

    for (; level < f->levels && from / f->subtree[level] != to / f->subtree[level]; level++) {
        use_link(l, find_tree_link(f, level, from / f->subtree[level], false));
        use_link(l, find_tree_link(f, level, to / f->subtree[level], true));
    }
    return 2 * (int64_t)level;
}

/* End number `end` of a group leads to the group 1 + end mod (groups - 1) further; ends behind the last whole round are not
   connected. Router number k of a group has the ends k * global ... . */
static int64_t cross_groups(link_loads *l, int64_t from, int64_t to)
{
    const dfl_fabric *f = l->f;
    int64_t group = from / f->routers, other = to / f->routers, ahead = (other - group + f->groups) % f->groups;
    int64_t rounds = f->routers * f->global / (f->groups - 1), best = 4, paths = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < rounds; k++) {
            int64_t out = k * (f->groups - 1) + ahead - 1, in = k * (f->groups - 1) + f->groups - ahead - 1;
            int64_t exit = group * f->routers + out / f->global, entry = other * f->routers + in / f->global;
            int64_t hops = (exit != from) + 1 + (entry != to);
            if (pass == 0 && hops <= best) {
                paths = hops < best ? 1 : paths + 1;
                best = hops;
            } else if (pass == 1 && hops == best) {
                l->share = 1.0 / (double)paths;
                if (exit != from)
                    use_link(l, find_local_link(f, from, exit));
                use_link(l, find_global_link(f, group, out));
                if (entry != to)
                    use_link(l, find_local_link(f, entry, to));
            }
        }
    l->share = 1;
    return best;
}

static int64_t cross_dragonfly(link_loads *l, int64_t from, int64_t to)
{
    const dfl_fabric *f = l->f;
    int64_t router = from / f->router_ports, other = to / f->router_ports;

    use_link(l, (size_t)(2 * from));
    use_link(l, (size_t)(2 * to + 1));
    if (router == other)
        return 2;
    if (router / f->routers != other / f->routers)
        return 2 + cross_groups(l, router, other);
    use_link(l, find_local_link(f, router, other));
    return 3;
}

static int64_t cross(link_loads *l, int64_t from, int64_t to)
{
    if (dfl_fabric_is_grid(l->f))
        return cross_grid(l, from, to);
    if (l->f->kind == DFL_TOPOLOGY_FULLY_CONNECTED) {
        use_link(l, (size_t)(from * l->f->ports + to));
        return 1;
    }
    if (l->f->kind == DFL_TOPOLOGY_FAT_TREE)
        return cross_fat_tree(l, from, to);
    if (l->f->kind == DFL_TOPOLOGY_DRAGONFLY)
        return cross_dragonfly(l, from, to);
    use_link(l, (size_t)(2 * from));
    use_link(l, (size_t)(2 * to + 1));
    return 2;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Seconds of one step; adds its bits, `times` times, to those of all steps. */
static double take_step(link_loads *l, const dfl_team *team, const dfl_team_exchange *e, const dfl_step *step, int64_t *first)
{
    double busiest = 0, largest = 0, most = 0;
    int64_t hops = 0;

    l->n_used = 0;
    for (size_t i = 0; i < step->n; i++) {
        const dfl_message *m = &step->messages[i];
        l->bits = m->bits * (double)e->sharers;
        largest = m->bits > largest ? m->bits : largest;
        for (int64_t g = 0; first[g] >= 0; g++) {
            int64_t from = dfl_team_port(l->f, team, first[g], 0, m->from), to = dfl_team_port(l->f, team, first[g], 0, m->to);
            int64_t links = cross(l, from, to);
            hops = links > hops ? links : hops;
            l->arrived[to] += m->bits;
        }
    }
    for (size_t k = 0; k < l->n_used; k++) {
        double bits = l->now[l->used[k]] / find_width(l->f, l->used[k]);
        busiest = bits > busiest ? bits : busiest;
        l->all[l->used[k]] += bits * (double)step->times;
        l->now[l->used[k]] = 0;
    }
    for (int64_t port = 0; port < l->f->ports; port++) {
        most = l->arrived[port] > most ? l->arrived[port] : most;
        l->arrived[port] = 0;
    }
    return l->f->overhead + (double)hops * l->f->latency + (e->alone ? largest : busiest) / e->rate +
           (step->reduces && e->memory_rate > 0 ? most / e->memory_rate : 0);
}

/* Shifting all ports by those of a group of routers changes neither the groups of ranks nor the links. So the messages of one
   group of routers load the global links of that group, and the local links of all groups together as all messages load one
   group. */
int64_t dfl_step_rule_all_pairs(const dfl_fabric *f, int64_t stride, double *loads)
{
    int64_t apart = stride > f->router_ports ? stride / f->router_ports : 1, n = f->groups * f->routers, hops = 2;
    int64_t members = stride > f->router_ports ? 1 : f->router_ports / stride;
    dfl_arena *arena;
    link_loads l = { .f = f, .share = 1, .bits = (double)(f->router_ports * members) };

    if (f->ports % stride != 0 || (stride % f->router_ports != 0 && f->router_ports % stride != 0) || n % apart != 0)
        return 0;
    arena = dfl_arena_new(NULL);
    l.now = DFL_NEW_ARRAY(arena, double, count_links(f));
    l.used = DFL_NEW_ARRAY(arena, size_t, count_links(f));
    for (int64_t from = 0; from < f->routers; from++)
        for (int64_t to = from % apart; to < n; to += apart) {
            int64_t links = 2;
            if (to / f->routers != 0) {
                links += cross_groups(&l, from, to);
            } else if (to != from) {
                use_link(&l, find_local_link(f, from, to));
                links++;
            }
            hops = links > hops ? links : hops;
        }
    loads[0] = loads[1] = (double)(f->ports / stride - 1);
    loads[2] = loads[3] = 0;
    for (int64_t i = 0; i < f->routers * f->routers; i++) {
        double sum = 0;
        for (int64_t g = 0; g < f->groups; g++)
            sum += l.now[2 * f->ports + g * f->routers * f->routers + i];
        loads[2] = sum > loads[2] ? sum : loads[2];
    }
    for (int64_t end = 0; end < f->routers * f->global; end++)
        loads[3] = l.now[find_global_link(f, 0, end)] > loads[3] ? l.now[find_global_link(f, 0, end)] : loads[3];
    dfl_arena_free(arena);
    return hops;
}

bool dfl_step_rule_fits(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e)
{
    double groups = (double)f->ports / (double)team->ranks;

    return f->ports <= DFL_STEP_RULE_PORTS && count_links(f) <= DFL_STEP_RULE_LINKS &&
           dfl_algorithm_messages(team, e) * groups <= DFL_STEP_RULE_MESSAGES;
}

void dfl_step_rule(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_exchange_cost *out)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    size_t n = count_links(f), n_groups = 0;
    link_loads l = { .f = f, .n_links = n, .share = 1 };
    int64_t *first = DFL_NEW_ARRAY(arena, int64_t, (size_t)f->ports + 1);
    dfl_steps steps = { 0 };

    *out = (dfl_exchange_cost){ .seconds = f->overhead };
    l.now = DFL_NEW_ARRAY(arena, double, n);
    l.all = DFL_NEW_ARRAY(arena, double, n);
    l.used = DFL_NEW_ARRAY(arena, size_t, n);
    l.arrived = DFL_NEW_ARRAY(arena, double, (size_t)f->ports);
    for (int64_t port = 0; port < f->ports; port++)
        if (dfl_team_rank(f, team, port) == 0)
            first[n_groups++] = port;
    first[n_groups] = -1;
    dfl_algorithm_steps(arena, f, team, e, &steps);
    for (size_t s = 0; s < steps.n; s++)
        out->seconds += (double)steps.at[s].times * take_step(&l, team, e, &steps.at[s], first);
    for (size_t link = 0; link < n; link++) {
        double *most = &out->bits[find_class(f, link)];
        *most = l.all[link] > *most ? l.all[link] : *most;
    }
    dfl_arena_free(arena);
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* Keeps the links of one message for the stage that sends it or, with `arrives`, for that which receives it; a port is kept for
   its own stage alone. `loads`: [way][link]. */
static void keep_links(link_loads *l, const dfl_stage_traffic *t, double *const *loads, bool arrives, dfl_stage_link *out)
{
    const bool has_ports = !dfl_fabric_is_grid(l->f) && l->f->kind != DFL_TOPOLOGY_FULLY_CONNECTED;

    for (size_t k = 0; k < l->n_used; k++) {
        const size_t link = l->used[k];
        const uint32_t class = find_class(l->f, link);
        double messages = 0, running = 0;

        if (has_ports && class == (arrives ? 0 : 1))
            continue;
        for (uint32_t w = 0; w < DFL_N_WAYS; w++) {
            messages += (double)t->times[w] * loads[w][link];
            running += loads[w][link] > 0 ? (double)t->times[w] * t->seconds[w] : 0;
        }
        dfl_stage_link_keep(&out[class], messages / find_width(l->f, link), running);
    }
}

bool dfl_step_rule_stages(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out)
{
    dfl_arena *arena;
    link_loads l = { .f = f, .n_links = count_links(f), .share = 1, .bits = 1 };
    double *loads[DFL_N_WAYS], *one;

    if (f->ports > DFL_STEP_RULE_PORTS || l.n_links > DFL_STEP_RULE_LINKS)
        return false;
    arena = dfl_arena_new(NULL);
    one = DFL_NEW_ARRAY(arena, double, l.n_links);
    l.used = DFL_NEW_ARRAY(arena, size_t, l.n_links);
    for (uint32_t w = 0; w < DFL_N_WAYS; w++)
        loads[w] = DFL_NEW_ARRAY(arena, double, l.n_links);
    for (uint32_t pass = 0; pass < 2; pass++) /* the loads of all messages, then the links of each one */
        for (int64_t port = 0; port < f->ports; port++) {
            const int64_t stage = dfl_team_rank(f, team, port);

            for (uint32_t w = 0; w < DFL_N_WAYS && stage >= 0; w++) {
                const int64_t to = traffic->times[w] > 0 ? dfl_stage_target((dfl_stage_way)w, stage, team->ranks) : -1;

                if (to < 0)
                    continue;
                l.now = pass == 0 ? loads[w] : one;
                l.n_used = 0;
                cross(&l, port, dfl_team_port(f, team, port, stage, to));
                for (uint32_t end = 0; end < 2 && pass == 1; end++)
                    keep_links(&l, traffic, loads, end == 1, &out[(end == 0 ? stage : to) * DFL_LINK_CLASSES]);
                for (size_t k = 0; k < l.n_used && pass == 1; k++)
                    one[l.used[k]] = 0;
            }
        }
    dfl_arena_free(arena);
    return true;
}
