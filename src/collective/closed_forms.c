#include "collective/closed_forms.h"

#include "collective/fat_tree_form.h"
#include "collective/grid_form.h"
#include "collective/patterns.h"
#include "collective/step_rule.h"

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

static void add(dfl_rounds *out, dfl_pattern_kind kind, int64_t distance, int64_t senders, double bits, int64_t times,
                bool reduces)
{
    if (times > 0 && out->n < DFL_PATTERNS)
        out->at[out->n++] = (dfl_round){ .kind = kind, .distance = distance, .senders = senders, .bits = bits, .times = times,
                                           .uses = times, .reduces = reduces };
}

static void list_exchanges(const dfl_team *team, const dfl_team_exchange *e, dfl_rounds *out)
{
    int64_t p = team->ranks, turns = e->algorithm == DFL_ALGORITHM_DIRECT ? 1 : p - 1;
    bool all = e->kind == DFL_COLLECTIVE_ALL_TO_ALL;
    bool sums = e->kind == DFL_COLLECTIVE_ALL_REDUCE || e->kind == DFL_COLLECTIVE_REDUCE_SCATTER;
    bool gathers = e->kind == DFL_COLLECTIVE_ALL_REDUCE || e->kind == DFL_COLLECTIVE_ALL_GATHER;

    if (e->algorithm == DFL_ALGORITHM_HALVING_DOUBLING) {
        for (int64_t d = 1; d < p; d *= 2) {
            double bits = all ? e->bits / 2 : e->bits / (double)(2 * d);
            add(out, DFL_PATTERN_SWAP, d, p, bits, sums, true);
            add(out, DFL_PATTERN_SWAP, d, p, bits, gathers || all, false);
        }
    } else {
        dfl_pattern_kind kind = e->algorithm == DFL_ALGORITHM_RING        ? DFL_PATTERN_NEXT
                                : e->algorithm == DFL_ALGORITHM_TWO_RINGS ? DFL_PATTERN_BOTH
                                                                          : DFL_PATTERN_ALL;
        int64_t rounds = all && kind != DFL_PATTERN_ALL ? p * (p - 1) / 2 : all ? 1 : gathers ? turns : 0;
        add(out, kind, 1, p, e->bits / (double)p, sums ? turns : 0, true);
        add(out, kind, 1, p, e->bits / (double)p, rounds, false);
    }
}

/* False for algorithms that do not consist of patterns. */
static bool list_patterns(const dfl_team *team, const dfl_team_exchange *e, dfl_rounds *out)
{
    int64_t p = team->ranks;

    out->n = 0;
    switch (e->algorithm) {
    case DFL_ALGORITHM_RING:
    case DFL_ALGORITHM_TWO_RINGS:
    case DFL_ALGORITHM_DIRECT:
    case DFL_ALGORITHM_HALVING_DOUBLING: list_exchanges(team, e, out); return true;
    case DFL_ALGORITHM_CHAIN:
        add(out, DFL_PATTERN_CHAIN, 1, p - 1, e->bits / (double)e->pieces, p - 1 + e->pieces - 1, false);
        out->at[0].uses = e->pieces;
        return true;
    case DFL_ALGORITHM_TREE:
        for (int64_t d = 1; d < p; d *= 2)
            add(out, DFL_PATTERN_ONWARD, d, p - d < d ? p - d : d, e->bits, 1, false);
        return true;
    case DFL_ALGORITHM_MESSAGE: add(out, DFL_PATTERN_ONWARD, 1, p - 1, e->bits, 1, false); return true;
    case DFL_ALGORITHM_DOUBLE_TREE:
    case DFL_ALGORITHM_PER_DIMENSION:
    case DFL_ALGORITHM_ROTATED:
    case DFL_N_ALGORITHMS: break;
    }
    return false;
}

/* ---- switch, fully connected ------------------------------------------------------------------------------------- */

/* Each rank sends and receives at most one message in a step, or one for each other rank. In a tree the first rank sends in all
   steps, and each other one receives in one of them. */
static void cost_switch(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns,
                        dfl_exchange_cost *out)
{
    for (uint32_t i = 0; i < patterns->n; i++) {
        const dfl_round *p = &patterns->at[i];
        double load = p->bits * (double)(p->kind == DFL_PATTERN_ALL ? team->ranks - 1 : 1) * (double)e->sharers;
        dfl_pattern_add_time(f, team, e, p, 2, load, out);
        dfl_pattern_add_port(p, load * (double)p->uses, out);
    }
}

/* A message has a link of its own, but for both messages to the only other rank. Swaps and trees use other links in every step,
   the other patterns the same ones. */
static void cost_fully_connected(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e,
                                 const dfl_rounds *patterns, dfl_exchange_cost *out)
{
    double here = 0;

    for (uint32_t i = 0; i < patterns->n; i++) {
        const dfl_round *p = &patterns->at[i];
        double load = p->bits * (double)e->sharers * (p->kind == DFL_PATTERN_BOTH && team->ranks > 2 ? 0.5 : 1);
        here = i > 0 && p->distance == patterns->at[i - 1].distance ? here : 0;
        here += load * (double)p->uses;
        dfl_pattern_add_time(f, team, e, p, 1, load, out);
        out->bits[0] = here > out->bits[0] ? here : out->bits[0];
    }
}

/* ---- double tree ------------------------------------------------------------------------------------------------- */

/* All steps but the last one upwards and the first one downwards have a rank with two children, whose messages share its port. A
   port has all bits upwards and all bits downwards. In step t the ranks of the heights t - pieces + 1 to t send. `hops`: links to
   the parents of each height; `loads`: dfl_fat_tree_loads, or NULL. */
static void cost_double_tree(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, uint32_t heights,
                             const uint32_t *hops, const double *loads, dfl_exchange_cost *out)
{
    double piece = e->bits / (double)(2 * e->pieces), sharers = (double)e->sharers, steps, links = 0, busy = 0, pairs;
    int64_t last = heights + e->pieces - 2;

    steps = (double)(last + 1);
    for (int64_t t = 0; t <= last; t++) {
        int64_t from = t >= e->pieces ? t - e->pieces + 1 : 0, to = t < heights ? t + 1 : heights;
        double load = team->ranks > 2 && t < last ? 2 : 1;
        uint32_t most = 0;
        for (int64_t h = from; h < to; h++)
            most = hops[h] > most ? hops[h] : most;
        links += most;
        if (loads != NULL && loads[from * (heights + 1) + to] > load)
            load = loads[from * (heights + 1) + to];
        busy += load;
    }
    pairs = team->ranks > 2 ? steps - 1 : 0;
    out->seconds += e->memory_rate > 0 ? (pairs + steps) * piece / e->memory_rate : 0;
    out->seconds += 2 * (steps * f->overhead + links * f->latency);
    out->seconds += 2 * piece * (e->alone ? steps : busy * sharers) / e->rate;
    out->bits[0] = out->bits[1] = (team->ranks > 2 ? 2 : 1) * e->bits * sharers;
}

/* A double tree on a switch or a fat tree; false if no formula holds. */
static bool find_double_tree(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, bool links,
                             dfl_exchange_cost *out)
{
    uint32_t hops[64], heights = 0;
    bool narrow = false;
    dfl_arena *arena = NULL;
    double *loads = NULL;

    while (INT64_C(1) << heights < team->ranks)
        hops[heights++] = 2;
    if (f->kind == DFL_TOPOLOGY_SWITCH) {
        cost_double_tree(f, team, e, heights, hops, NULL, out);
        return true;
    }
    if (f->kind != DFL_TOPOLOGY_FAT_TREE || !dfl_fat_tree_heights(f, team, hops))
        return false;
    for (uint32_t l = 1; l < f->levels; l++)
        narrow |= f->narrowing[l + 1] != 1;
    if (narrow && (e->tree_loads == NULL || e->tree_loads->loads == NULL)) {
        arena = e->tree_loads != NULL ? e->tree_loads->arena : dfl_arena_new(NULL);
        loads = DFL_NEW_ARRAY(arena, double, (size_t)(heights + 1) * (heights + 1));
        dfl_fat_tree_loads(arena, f, team, heights, loads);
        if (e->tree_loads != NULL)
            e->tree_loads->loads = loads;
    } else if (narrow) {
        loads = e->tree_loads->loads;
    }
    cost_double_tree(f, team, e, heights, hops, loads, out);
    if (arena != NULL && e->tree_loads == NULL)
        dfl_arena_free(arena);
    if (links)
        dfl_fat_tree_add_tree_bits(f, team, e, out);
    return true;
}

/* ---- rotated dimensions ------------------------------------------------------------------------------------------ */

/* Equal sides take equal times, so every step is that of one dimension with its part of the data; a rank adds what arrives over
   all dimensions. */
static bool cost_rotated(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, bool links,
                         dfl_exchange_cost *out)
{
    uint32_t n = team->n;
    dfl_team_exchange part = *e;

    part.algorithm = e->inner;
    part.bits = e->bits / n;
    part.memory_rate = e->memory_rate / n;
    for (uint32_t k = 1; k < n; k++)
        if (team->part[k].stride != team->part[0].stride || f->size[team->part[k].dim] != f->size[team->part[0].dim])
            return false;
    for (uint32_t phase = 0; phase < n; phase++) {
        for (uint32_t k = 0; k < n; k++) {
            dfl_team line = { .n = 1, .part = { team->part[k] }, .ranks = team->part[k].count };
            dfl_exchange_cost cost;
            if (!dfl_closed_form(f, &line, &part, links, &cost))
                return false;
            if (k == 0)
                out->seconds += cost.seconds - f->overhead;
            for (uint32_t c = 0; c < DFL_LINK_CLASSES; c++)
                out->bits[c] += cost.bits[c];
        }
        if (e->kind != DFL_COLLECTIVE_ALL_TO_ALL)
            part.bits /= (double)team->part[0].count;
    }
    return true;
}

/* ---- dragonflies ------------------------------------------------------------------------------------------------- */

/* The number of ports from the first port of a group to that of the next group; 0 = no such number holds for all groups. Sets the
   distance between the ranks of a group. */
static int64_t find_block(const dfl_fabric *f, const dfl_team *team, int64_t *stride)
{
    const dfl_team_part *first = &team->part[0];

    if (!dfl_team_strided(f, team, stride) || f->size[first->dim] % dfl_team_period(first) != 0)
        return 0;
    return dfl_team_period(first) * f->weight[first->dim];
}

bool dfl_dragonfly_part(const dfl_fabric *f, const dfl_team *team, dfl_fabric *part, dfl_team *inside)
{
    int64_t stride;
    const int64_t block = find_block(f, team, &stride);

    if (block == 0)
        return false;
    *part = *f;
    part->groups = 1;
    part->ports = f->routers * f->router_ports;
    if (f->router_ports % block == 0) {
        part->routers = 1;
        part->ports = f->router_ports;
    }
    part->n_axes = 1;
    part->size[0] = part->ports;
    part->weight[0] = 1;
    *inside = (dfl_team){ .n = 1, .ranks = team->ranks,
                          .part = { { .dim = 0, .stride = stride, .count = team->ranks, .period = block } } };
    return part->ports % block == 0;
}

/* Groups that lie inside of one router or of one group of routers exchange data as in each other such part: the step rule of
   one part alone. A direct exchange of groups over the whole network: pairs of routers. */
static bool cost_dragonfly(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_exchange_cost *out)
{
    double loads[4], most = 0;
    const dfl_team_part *first = &team->part[0];
    dfl_team inside;
    dfl_fabric part;
    int64_t stride;
    const int64_t block = find_block(f, team, &stride);

    if (block == 0)
        return false;
    if (e->algorithm == DFL_ALGORITHM_DIRECT && block == f->ports && dfl_team_starts(first) == first->stride) {
        dfl_rounds patterns = { .n = 0 };
        int64_t hops = dfl_step_rule_all_pairs(f, stride, loads);
        for (uint32_t c = 0; c < 4 && hops > 0; c++)
            most = loads[c] > most ? loads[c] : most;
        list_exchanges(team, e, &patterns);
        for (uint32_t i = 0; i < patterns.n && hops > 0; i++) {
            const dfl_round *p = &patterns.at[i];
            dfl_pattern_add_time(f, team, e, p, (double)hops, most * p->bits * (double)e->sharers, out);
            for (uint32_t c = 0; c < 4; c++)
                out->bits[c] += loads[c] * p->bits * (double)e->sharers;
        }
        return hops > 0;
    }
    if (!dfl_dragonfly_part(f, team, &part, &inside) || !dfl_step_rule_fits(&part, &inside, e))
        return false;
    dfl_step_rule(&part, &inside, e, out);
    return true;
}

bool dfl_closed_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, bool links, dfl_exchange_cost *out)
{
    dfl_rounds patterns;

    *out = (dfl_exchange_cost){ .seconds = f->overhead };
    if (f->kind == DFL_TOPOLOGY_DRAGONFLY)
        return cost_dragonfly(f, team, e, out);
    if (e->algorithm == DFL_ALGORITHM_ROTATED)
        return cost_rotated(f, team, e, links, out);
    if (e->algorithm == DFL_ALGORITHM_DOUBLE_TREE)
        return find_double_tree(f, team, e, links, out);
    if (!list_patterns(team, e, &patterns))
        return false;
    if (f->kind == DFL_TOPOLOGY_SWITCH)
        cost_switch(f, team, e, &patterns, out);
    else if (f->kind == DFL_TOPOLOGY_FULLY_CONNECTED)
        cost_fully_connected(f, team, e, &patterns, out);
    else if (f->kind == DFL_TOPOLOGY_FAT_TREE)
        return dfl_fat_tree_form(f, team, e, &patterns, links, out);
    else
        return dfl_fabric_is_grid(f) && dfl_grid_form(f, team, e, &patterns, links, out);
    return true;
}

double dfl_closed_bound(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e)
{
    bool grid = dfl_fabric_is_grid(f) || f->kind == DFL_TOPOLOGY_FULLY_CONNECTED;
    dfl_fabric free = *f;
    dfl_exchange_cost cost;

    free.kind = grid ? DFL_TOPOLOGY_FULLY_CONNECTED : DFL_TOPOLOGY_SWITCH;
    if (!dfl_closed_form(&free, team, e, false, &cost))
        return 0;
    if (f->kind == DFL_TOPOLOGY_FAT_TREE && e->algorithm == DFL_ALGORITHM_DOUBLE_TREE && !e->alone) {
        /* all groups send 2 n (p - 1) bits in all, so that some link of a level which they cross has its share of them */
        double share = 2 * e->bits * (double)e->sharers * (double)(team->ranks - 1) / (double)team->ranks;
        double seconds = share * dfl_fat_tree_narrowing(f, team) / e->rate;
        int64_t steps = 0;
        while (INT64_C(1) << steps < team->ranks)
            steps++;
        steps += e->pieces - 1;
        seconds += f->overhead + 2 * (double)steps * (f->overhead + 2 * f->latency);
        return seconds > cost.seconds ? seconds : cost.seconds;
    }
    return cost.seconds;
}
