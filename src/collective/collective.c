#include "collective/collective.h"

#include <math.h>

#include "collective/closed_forms.h"
#include "collective/limits.h"
#include "collective/pieces.h"
#include "collective/step_rule.h"
#include "support/limits.h"

/* ---- words ------------------------------------------------------------------------------------------------------- */

const char *dfl_collective_name(dfl_collective_kind kind)
{
    static const char *const names[DFL_N_COLLECTIVES] = {
        [DFL_COLLECTIVE_ALL_REDUCE] = "all_reduce",
        [DFL_COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
        [DFL_COLLECTIVE_ALL_GATHER] = "all_gather",
        [DFL_COLLECTIVE_ALL_TO_ALL] = "all_to_all",
        [DFL_COLLECTIVE_BROADCAST] = "broadcast",
        [DFL_COLLECTIVE_POINT_TO_POINT] = "point_to_point",
    };

    return names[kind];
}

/* ---- the collective on its networks ------------------------------------------------------------------------------ */

/* A group on one network: all its parts, or one of them. */
typedef struct {
    const dfl_fabric *fabric;
    dfl_team team;
    dfl_tree_loads *tree_loads;
    bool alone;              /* one part of several on this network: its algorithm is one within a dimension */
} network_group;

/* One phase, and the algorithm that takes it. */
typedef struct {
    const network_group *group;
    dfl_team_exchange exchange;
    double seconds;
    bool unknown;            /* `seconds` is only a bound: no formula holds, and there are too many messages to follow */
    uint64_t engines;
} collective_phase;

typedef struct {
    collective_phase phase[DFL_COLLECTIVE_PHASES];
    uint32_t n;
    int64_t pieces;
    double seconds;
} collective_schedule;

/* What does not change between the schedules of one collective. */
typedef struct {
    dfl_arena *arena;        /* for scratch */
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_system *system;
    dfl_span span;
    const dfl_collective *collective;
    const dfl_collective_options *options;
    dfl_fabric fabric[DFL_FABRIC_AXES];
    network_group segment[DFL_FABRIC_AXES]; /* one for each network, outer ones first, n_segments */
    uint32_t n_segments;
    network_group unit[DFL_FABRIC_AXES];    /* groups of the schedule that is being built, outer ones first, n_units */
    uint32_t n_units;
} collective_search;

static bool refuse_axis(collective_search *s, uint32_t axis)
{
    dfl_diag *d = dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, s->span, "an exchange along `%s` has no network between chips",
                             dfl_sym_text(s->names, s->system->axes[axis].name));

    dfl_diag_label(s->sink, d, s->system->axes[axis].span, "this array lies over no ring, mesh, torus, switch, fat tree, "
                   "dragonfly or fully connected network");
    return false;
}

/* Adds a part to the group on its network; parts that continue each other on one axis are one. */
static bool add_part(collective_search *s, const dfl_group_part *part)
{
    uint32_t network = s->system->axes[part->axis].network;
    network_group *g = s->n_segments > 0 ? &s->segment[s->n_segments - 1] : NULL;
    int64_t period = part->period == part->stride * part->count ? 0 : part->period;
    dfl_team_part *last;

    if (network == DFL_NONE || s->system->networks[network].topology.kind == DFL_TOPOLOGY_NONE)
        return refuse_axis(s, part->axis);
    if (g == NULL || g->fabric->network != network) {
        dfl_fabric *f = &s->fabric[s->n_segments];
        if (!dfl_fabric_of(s->sink, s->names, s->system, network, s->collective->element, s->span, f))
            return false;
        g = &s->segment[s->n_segments++];
        *g = (network_group){ .fabric = f, .team.ranks = 1 };
    }
    g->team.ranks *= part->count;
    for (uint32_t d = 0; d < g->fabric->n_axes; d++) {
        if (g->fabric->axis[d] != part->axis)
            continue;
        last = g->team.n > 0 ? &g->team.part[g->team.n - 1] : NULL;
        if (last != NULL && last->dim == d && last->stride == part->stride * part->count && last->period == 0 && period == 0)
            *last = (dfl_team_part){ d, part->stride, last->count * part->count, 0 };
        else
            g->team.part[g->team.n++] = (dfl_team_part){ d, part->stride, part->count, period };
    }
    return true;
}

static bool find_segments(collective_search *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->collective->n_parts; i++) {
        const dfl_group_part *part = &s->collective->parts[i];
        if (part->count == 1)
            continue;
        if (!dfl_axis_encloses(s->system, part->axis, s->collective->element) || ++n > DFL_FABRIC_AXES) {
            dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, s->span, "an exchange along `%s`, which does not contain whole chips",
                       dfl_sym_text(s->names, s->system->axes[part->axis].name));
            return false;
        }
        if (!add_part(s, part))
            return false;
    }
    return true;
}

/* ---- the best algorithm of one phase ----------------------------------------------------------------------------- */

static bool find_cost(const collective_phase *p, bool links, dfl_exchange_cost *out)
{
    if (dfl_closed_form(p->group->fabric, &p->group->team, &p->exchange, links, out))
        return true;
    if (!dfl_step_rule_fits(p->group->fabric, &p->group->team, &p->exchange))
        return false;
    dfl_step_rule(p->group->fabric, &p->group->team, &p->exchange, out);
    return true;
}

/* The algorithms that the file permits for the group, as a mask; within a dimension those that are no order of dimensions. */
static uint32_t find_permitted(const collective_search *s, const network_group *g)
{
    uint32_t orders = 1u << DFL_ALGORITHM_PER_DIMENSION | 1u << DFL_ALGORITHM_ROTATED;
    uint32_t all = (1u << DFL_N_ALGORITHMS) - 1, mask = s->system->networks[g->fabric->network].topology.algorithms;

    /* a message between two ranks has one way, which is no choice among algorithms of collectives */
    mask = mask == 0 ? all : mask | 1u << DFL_ALGORITHM_MESSAGE;
    if (!g->alone)
        return mask;
    return (mask & ~orders) != 0 ? mask & ~orders : all & ~orders;
}

/* Tries an algorithm and keeps it if it is faster than the present one; a difference of rounding is none. If its cost cannot be
   found, its bound counts. */
static void try_algorithm(collective_phase *p, dfl_algorithm algorithm, dfl_algorithm inner, int64_t pieces)
{
    collective_phase candidate = *p;
    dfl_exchange_cost cost;

    candidate.exchange.algorithm = algorithm;
    candidate.exchange.inner = inner;
    candidate.exchange.pieces = pieces;
    candidate.unknown = false;
    candidate.seconds = dfl_closed_bound(p->group->fabric, &p->group->team, &candidate.exchange);
    if (candidate.seconds >= p->seconds * (1 - DFL_SUM_TOLERANCE))
        return;
    if (find_cost(&candidate, false, &cost))
        candidate.seconds = cost.seconds;
    else
        candidate.unknown = true;
    if (candidate.seconds < p->seconds * (1 - DFL_SUM_TOLERANCE))
        *p = candidate;
}

/* `most` is the largest number of pieces of a chain or a double tree, `least` the smallest. The other algorithms have one
   piece. */
static void find_algorithm(const collective_search *s, collective_phase *p, int64_t least, int64_t most)
{
    network_group within = *p->group;
    uint32_t permitted = find_permitted(s, p->group), inner;

    within.alone = true;
    inner = find_permitted(s, &within);
    p->seconds = INFINITY;
    for (uint32_t a = 0; a < DFL_N_ALGORITHMS; a++) {
        dfl_algorithm algorithm = (dfl_algorithm)a;
        if (!(permitted >> a & 1) || !dfl_algorithm_legal(p->group->fabric, &p->group->team, p->exchange.kind, algorithm))
            continue;
        if (algorithm == DFL_ALGORITHM_CHAIN || algorithm == DFL_ALGORITHM_DOUBLE_TREE) {
            for (int64_t pieces = least; pieces <= most; pieces *= 2)
                try_algorithm(p, algorithm, algorithm, pieces);
        } else if (least > 1) {
            continue;
        } else if (algorithm == DFL_ALGORITHM_ROTATED) {
            dfl_team line = { .n = 1, .part = { p->group->team.part[0] }, .ranks = p->group->team.part[0].count };
            for (uint32_t i = 0; i < DFL_ALGORITHM_DOUBLE_TREE; i++)
                if ((inner >> i & 1) && dfl_algorithm_legal(p->group->fabric, &line, p->exchange.kind, (dfl_algorithm)i))
                    try_algorithm(p, algorithm, (dfl_algorithm)i, 1);
        } else {
            try_algorithm(p, algorithm, algorithm, 1);
        }
    }
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

/* Ranks that send over one port at the same time. In a broadcast, only one of the ranks of the group that lie inside sends. */
static int64_t count_sharers(const collective_search *s, uint32_t unit)
{
    const dfl_fabric *f = s->unit[unit].fabric;
    int64_t sharers = f->sharers;

    for (uint32_t u = unit + 1; s->collective->kind == DFL_COLLECTIVE_BROADCAST && u < s->n_units; u++) {
        const network_group *g = &s->unit[u];
        if (g->fabric->axis[g->team.part[0].dim] > f->port_axis)
            sharers /= g->team.ranks;
    }
    return sharers;
}

/* The networks, or the dimensions of a grid, that a unit occupies. */
static uint64_t find_engines(const collective_search *s, const network_group *g)
{
    uint64_t engines = 0;

    for (uint32_t i = 0; i < s->n_segments; i++)
        for (uint32_t k = 0; k < g->team.n && s->segment[i].fabric == g->fabric; k++)
            engines |= UINT64_C(1) << (i * DFL_FABRIC_AXES + (dfl_fabric_is_grid(g->fabric) ? g->team.part[k].dim : 0));
    return engines;
}

/* Adds a phase with `bits` bits. False if they are fewer than the first point of the efficiency of the network. */
static bool add_phase(collective_search *s, collective_schedule *out, uint32_t unit, dfl_collective_kind kind, double bits)
{
    const network_group *g = &s->unit[unit];
    const dfl_network *net = &s->system->networks[g->fabric->network];
    double share = net->efficiency != NULL ? dfl_efficiency_share(net->efficiency, bits) : 1;

    out->phase[out->n++] = (collective_phase){
        .group = g,
        .exchange = { .kind = kind, .bits = bits, .pieces = 1, .sharers = count_sharers(s, unit),
                      .rate = net->bandwidth * share, .memory_rate = s->collective->memory_rate,
                      .alone = s->options->contention_none, .tree_loads = g->tree_loads },
        .engines = find_engines(s, g),
    };
    return share > 0;
}

/* The phases of one piece: inner networks first for sums, outer ones first for what is gathered or sent to all. */
static bool list_phases(collective_search *s, double bits, collective_schedule *out)
{
    dfl_collective_kind kind = s->collective->kind;
    bool all = kind == DFL_COLLECTIVE_ALL_REDUCE, shrinks = all || kind == DFL_COLLECTIVE_REDUCE_SCATTER, enough = true;
    double here = bits;

    out->n = 0;
    for (uint32_t u = s->n_units; u-- > 0 && (shrinks || kind == DFL_COLLECTIVE_ALL_TO_ALL);) {
        enough &= add_phase(s, out, u, all && u > 0 ? DFL_COLLECTIVE_REDUCE_SCATTER : kind, here);
        here /= shrinks ? (double)s->unit[u].team.ranks : 1;
    }
    if (shrinks || kind == DFL_COLLECTIVE_ALL_TO_ALL) {
        for (uint32_t u = 1; all && u < s->n_units; u++) {
            double inner = bits;
            for (uint32_t v = u + 1; v < s->n_units; v++)
                inner /= (double)s->unit[v].team.ranks;
            enough &= add_phase(s, out, u, DFL_COLLECTIVE_ALL_GATHER, inner);
        }
        return enough;
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        double inner = bits;
        for (uint32_t v = u + 1; v < s->n_units && kind == DFL_COLLECTIVE_ALL_GATHER; v++)
            inner /= (double)s->unit[v].team.ranks;
        enough &= add_phase(s, out, u, kind, inner);
    }
    return enough;
}

/* The units of a schedule: each group as a whole, or its parts, for the groups of the mask. */
static void list_units(collective_search *s, uint32_t split)
{
    s->n_units = 0;
    for (uint32_t i = 0; i < s->n_segments; i++) {
        const network_group *g = &s->segment[i];
        for (uint32_t k = 0; k < (split >> i & 1 ? g->team.n : 1); k++) {
            s->unit[s->n_units] = *g;
            if (split >> i & 1)
                s->unit[s->n_units] = (network_group){
                    .fabric = g->fabric, .alone = true,
                    .team = { .n = 1, .part = { g->team.part[k] }, .ranks = g->team.part[k].count },
                };
            s->unit[s->n_units].tree_loads = DFL_NEW(s->arena, dfl_tree_loads);
            s->unit[s->n_units].tree_loads->arena = s->arena;
            s->n_units++;
        }
    }
}

/* Whether the group may be taken part by part. */
static bool may_split(const collective_search *s, const network_group *g)
{
    uint32_t mask = s->system->networks[g->fabric->network].topology.algorithms;

    if (s->collective->kind == DFL_COLLECTIVE_POINT_TO_POINT)
        return false;
    return mask == 0 ? g->team.n > 1 : mask >> DFL_ALGORITHM_PER_DIMENSION & 1;
}

/* Finds the schedule with so many pieces, each of whose phases cuts chains and double trees into `least` to `most` pieces. False
   if a phase has no algorithm (`*failed` is its number), or too few bits for the efficiency (`*failed` = DFL_NONE). */
static bool find_schedule(collective_search *s, int64_t pieces, int64_t least, int64_t most, collective_schedule *out,
                          uint32_t *failed)
{
    dfl_phase_time times[DFL_COLLECTIVE_PHASES];

    *failed = DFL_NONE;
    out->pieces = pieces;
    if (!list_phases(s, s->collective->bits / (double)pieces, out))
        return false;
    for (uint32_t i = 0; i < out->n; i++) {
        find_algorithm(s, &out->phase[i], least, most);
        *failed = i;
        if (isinf(out->phase[i].seconds))
            return false;
        times[i] = (dfl_phase_time){ out->phase[i].seconds, out->phase[i].engines };
    }
    out->seconds = dfl_pieces_end(s->arena, times, out->n, pieces);
    return true;
}

/* Reports a phase whose algorithm may be the fastest, but whose cost cannot be found. */
static bool refuse_unknown(collective_search *s, const collective_phase *p)
{
    const dfl_network *net = &s->system->networks[p->group->fabric->network];
    dfl_diag *d = dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, s->span, "the time of %s of %lld ranks over network `%s` by %s is "
                             "unknown, and it may be the least", dfl_collective_name(p->exchange.kind),
                             (long long)p->group->team.ranks, dfl_sym_text(s->names, net->name),
                             dfl_algorithm_name(p->exchange.algorithm));

    dfl_diag_label(s->sink, d, net->span, "`algorithm = ...;` in this network names those to choose from");
    dfl_diag_note(s->sink, d, "without a closed form, an exchange has at most %d ports and %d messages", DFL_STEP_RULE_PORTS,
                  DFL_STEP_RULE_MESSAGES);
    return false;
}

static bool refuse_phase(collective_search *s, const collective_schedule *schedule, uint32_t failed)
{
    const collective_phase *p = failed != DFL_NONE ? &schedule->phase[failed] : NULL;
    const dfl_network *net;
    dfl_diag *d;

    if (p == NULL) {
        for (uint32_t i = 0; p == NULL; i++)
            p = schedule->phase[i].exchange.rate > 0 ? NULL : &schedule->phase[i];
        net = &s->system->networks[p->group->fabric->network];
        d = dfl_report(s->sink, DFL_SYS_EFFICIENCY_SMALL, s->span,
                       "%s of %.6g bit over `%s`: its efficiency starts at %.6g bit", dfl_collective_name(p->exchange.kind),
                       p->exchange.bits, dfl_sym_text(s->names, net->name), net->efficiency->at[0]);
        dfl_diag_label(s->sink, d, net->efficiency->span, "the first point");
        dfl_diag_help(s->sink, d, "give the efficiency a first point at the smallest transfer, for example at `0B`");
        return false;
    }
    net = &s->system->networks[p->group->fabric->network];
    d = dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, s->span, "no algorithm of network `%s` is known for %s of %lld ranks",
                   dfl_sym_text(s->names, net->name), dfl_collective_name(p->exchange.kind), (long long)p->group->team.ranks);
    dfl_diag_label(s->sink, d, net->span, "%s", net->topology.algorithms != 0 ? "this network permits only some algorithms"
                                                                              : "this network");
    dfl_diag_note(s->sink, d, "halving_doubling and double_tree need a power of two, ring neighbours in a cycle, two_rings and "
                  "rotated a ring or torus");
    return false;
}

/* The fastest schedule: groups whole or by parts, pieces of the whole and of chains and trees. Pieces of a single phase follow
   one another, which only costs overhead: the file must ask for them. */
static bool find_best(collective_search *s, collective_schedule *best)
{
    int64_t chunks = s->options->chunks, most = chunks > 0 ? chunks : 64;
    collective_schedule first = { .n = 0 }, now;
    uint32_t failed = 0, first_failed = 0;

    best->seconds = INFINITY;
    for (uint32_t split = 0; split < 1u << s->n_segments; split++) {
        bool allowed = true;
        for (uint32_t i = 0; i < s->n_segments; i++)
            allowed &= !(split >> i & 1) || may_split(s, &s->segment[i]);
        if (!allowed)
            continue;
        list_units(s, split);
        for (int64_t pieces = 1; pieces <= most; pieces = chunks > 0 ? (pieces < chunks ? chunks : most + 1) : 2 * pieces) {
            bool found = find_schedule(s, pieces, chunks > 0 ? most / pieces : 1, most / pieces, &now, &failed);
            if (first.n == 0) {
                first = now;
                first_failed = failed;
            }
            if (found && now.seconds < best->seconds * (1 - DFL_SUM_TOLERANCE)) {
                *best = now;
                for (uint32_t i = 0; i < best->n; i++) {
                    network_group *copy = DFL_NEW(s->arena, network_group);
                    *copy = *best->phase[i].group;
                    best->phase[i].group = copy;
                }
            }
            if (chunks == 0 && now.n == 1)
                break;
        }
    }
    if (isinf(best->seconds))
        return refuse_phase(s, &first, first_failed);
    for (uint32_t i = 0; i < best->n; i++)
        if (best->phase[i].unknown)
            return refuse_unknown(s, &best->phase[i]);
    return true;
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

/* Adds the bits of a phase to those of its links; `seconds`: time of all phases. */
static void add_links(collective_search *s, dfl_arena *arena, const collective_phase *p, int64_t pieces, double seconds,
                      dfl_link_use *links, uint32_t *n)
{
    const dfl_fabric *f = p->group->fabric;
    dfl_exchange_cost cost;

    if (!find_cost(p, true, &cost))
        return;
    for (uint32_t c = 0; c < dfl_fabric_classes(f); c++) {
        dfl_link_use *use = links;
        const char *name = dfl_fabric_class_name(arena, s->names, s->system, f, c);
        if (cost.bits[c] == 0)
            continue;
        while (use < links + *n && (use->network != f->network || use->class != c))
            use++;
        if (use == links + *n)
            links[(*n)++] = (dfl_link_use){ .network = f->network, .class = c, .name = name, .running = seconds };
        use->largest_bits += cost.bits[c] * (double)pieces;
        use->seconds += cost.bits[c] * (double)pieces / p->exchange.rate;
    }
}

/* Sets what a rank sends over each network, whichever algorithm takes it there. With p ranks on a network and q ranks inside of
   each of them, which have summed before or gather behind: a q-th of the result, of which each of the p ranks has a p-th. Of an
   all-to-all, every rank takes all of its bits over each network in turn. A broadcast reaches p - 1 further ranks for each one
   that has it, and then those inside. */
static void give_shares(const collective_search *s, dfl_arena *arena, dfl_collective_cost *out)
{
    dfl_network_share *shares = DFL_NEW_ARRAY(arena, dfl_network_share, s->n_segments);
    double inside = 1;

    for (uint32_t i = s->n_segments; i-- > 0;) {
        const double ranks = (double)s->segment[i].team.ranks;
        double share = (ranks - 1) / ranks;

        if (s->collective->kind == DFL_COLLECTIVE_POINT_TO_POINT)
            share = 1;
        else if (s->collective->kind != DFL_COLLECTIVE_ALL_TO_ALL)
            share *= (s->collective->kind == DFL_COLLECTIVE_ALL_REDUCE ? 2 : 1) / inside;
        shares[i] = (dfl_network_share){ .network = s->segment[i].fabric->network, .share = share };
        inside *= ranks;
    }
    out->shares = shares;
    out->n_shares = s->n_segments;
}

static void give_result(collective_search *s, dfl_arena *arena, const collective_schedule *best, dfl_collective_cost *out)
{
    dfl_link_use *links = DFL_NEW_ARRAY(arena, dfl_link_use, (size_t)s->n_segments * DFL_LINK_CLASSES);
    double longest = -1;

    out->seconds = best->seconds;
    out->algorithm = best->n == 1 ? best->phase[0].exchange.algorithm : DFL_ALGORITHM_PER_DIMENSION;
    out->chunks = (uint32_t)best->pieces;
    for (uint32_t i = 0; i < best->n; i++) {
        const collective_phase *p = &best->phase[i];
        double seconds = 0;
        for (uint32_t j = 0; j < best->n; j++)
            seconds += best->phase[j].group->fabric == p->group->fabric ? best->phase[j].seconds : 0;
        if (seconds > longest) {
            longest = seconds;
            out->network = p->group->fabric->network;
        }
        if (best->n == 1)
            out->chunks = (uint32_t)(best->pieces * p->exchange.pieces);
        add_links(s, arena, p, best->pieces, best->seconds, links, &out->n_links);
    }
    out->links = links;
    give_shares(s, arena, out);
}

bool dfl_collective_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_system *system, dfl_span span,
                         const dfl_collective *collective, const dfl_collective_options *options, dfl_collective_cost *out)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    collective_search s = { .arena = scratch, .sink = sink, .names = names, .system = system, .span = span,
                            .collective = collective, .options = options };
    collective_schedule best;
    bool found = find_segments(&s);

    *out = (dfl_collective_cost){ .algorithm = DFL_ALGORITHM_MESSAGE, .chunks = 1, .network = DFL_NONE };
    if (found && s.n_segments > 1 && collective->kind == DFL_COLLECTIVE_POINT_TO_POINT) {
        dfl_report(sink, DFL_EVAL_UNSUPPORTED, span, "messages between neighbours along axes of several networks");
        found = false;
    }
    if (found && options->chunks > DFL_COLLECTIVE_CHUNKS) {
        dfl_report(sink, DFL_EVAL_UNSUPPORTED, span, "a collective in %u chunks; at most %d are evaluated", options->chunks,
                   DFL_COLLECTIVE_CHUNKS);
        found = false;
    }
    if (found && s.n_segments > 0 && collective->bits > 0) {
        found = find_best(&s, &best);
        if (found)
            give_result(&s, arena, &best, out);
    }
    dfl_arena_free(scratch);
    return found;
}
