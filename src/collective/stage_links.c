#include "collective/stage_links.h"

#include "collective/closed_forms.h"
#include "collective/collective.h"
#include "collective/fat_tree_form.h"
#include "collective/limits.h"
#include "collective/step_rule.h"

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* The messages over a link that the ways of a mask use, `load` groups at a time. */
static void add_ways(const dfl_stage_traffic *t, uint32_t ways, double load, dfl_stage_link *link)
{
    double messages = 0, running = 0;

    for (uint32_t w = 0; w < DFL_N_WAYS; w++)
        if (ways >> w & 1) {
            messages += load * (double)t->times[w];
            running += (double)t->times[w] * t->seconds[w];
        }
    if (messages > 0)
        dfl_stage_link_keep(link, messages, running);
}

/* The ways on which `from` sends to `to`; to = -1: to any stage, from = -1: any stage. */
static uint32_t ways_between(int64_t from, int64_t to, int64_t stages)
{
    uint32_t ways = 0;

    for (uint32_t w = 0; w < DFL_N_WAYS; w++)
        for (int64_t s = from >= 0 ? from : 0; s < (from >= 0 ? from + 1 : stages); s++) {
            const int64_t target = dfl_stage_target((dfl_stage_way)w, s, stages);

            ways |= target >= 0 && (to < 0 || target == to) ? 1u << w : 0;
        }
    return ways;
}

/* A port has what its stage sends, and what it receives. */
static void use_ports(const dfl_team *team, const dfl_stage_traffic *t, dfl_stage_link *out)
{
    for (int64_t s = 0; s < team->ranks; s++) {
        add_ways(t, ways_between(s, -1, team->ranks), 1, &out[s * DFL_LINK_CLASSES]);
        add_ways(t, ways_between(-1, s, team->ranks), 1, &out[s * DFL_LINK_CLASSES + 1]);
    }
}

/* Each two stages have a link in each direction. */
static void use_pairs(const dfl_team *team, const dfl_stage_traffic *t, dfl_stage_link *out)
{
    for (int64_t s = 0; s < team->ranks; s++)
        for (uint32_t w = 0; w < DFL_N_WAYS; w++) {
            const int64_t to = dfl_stage_target((dfl_stage_way)w, s, team->ranks);
            const uint32_t ways = to >= 0 ? ways_between(s, to, team->ranks) : 0;

            if (to < 0)
                continue;
            add_ways(t, ways, 1, &out[s * DFL_LINK_CLASSES]);
            add_ways(t, ways, 1, &out[to * DFL_LINK_CLASSES]);
        }
}

/* Messages along a line: between two stages lie as many links as groups beside each other, and one of them has messages of all
   groups. Closing messages go back over the links of all stages, or, on a closed line that is no longer that way, over its ends,
   where no other messages go. Messages between opposite instances all go ahead. */
static void use_line(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *t, dfl_stage_link *out)
{
    enum { NEXT = 1u << DFL_WAY_NEXT, CLOSING = 1u << DFL_WAY_CLOSING, NEXT_BACK = 1u << DFL_WAY_NEXT_BACK,
           CLOSING_BACK = 1u << DFL_WAY_CLOSING_BACK };
    const dfl_team_part *part = &team->part[0];
    const int64_t size = f->size[part->dim], reach = (part->count - 1) * part->stride;
    const bool round = dfl_fabric_wraps(f) && 2 * reach >= size, ahead_alone = round && 2 * reach == size;
    const bool opposite = ahead_alone && part->count == 2;
    const uint32_t ahead = NEXT | (!round || ahead_alone ? CLOSING_BACK : 0);
    const uint32_t back = NEXT_BACK | (!round || opposite ? CLOSING : 0);

    for (int64_t s = 0; s < team->ranks; s++) {
        const bool is_end = s == 0 || s + 1 == team->ranks;
        dfl_stage_link *links = &out[s * DFL_LINK_CLASSES + 2 * part->dim];

        add_ways(t, ahead, (double)part->stride, &links[0]);
        if (is_end || t->times[DFL_WAY_NEXT_BACK] > 0) /* else no message of the stage goes back */
            add_ways(t, back, (double)part->stride, &links[opposite ? 0 : 1]);
    }
}

bool dfl_stage_links_form(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out)
{
    if (f->kind == DFL_TOPOLOGY_DRAGONFLY)
        return false;
    if (dfl_fabric_is_grid(f)) {
        use_line(f, team, traffic, out);
        return true;
    }
    if (f->kind == DFL_TOPOLOGY_FULLY_CONNECTED) {
        use_pairs(team, traffic, out);
        return true;
    }
    if (f->kind == DFL_TOPOLOGY_FAT_TREE && !dfl_fat_tree_stage_links(f, team, traffic, out))
        return false;
    use_ports(team, traffic, out);
    return true;
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

/* The stages as a group on the network of their axis. False after a report. */
static bool find_team(dfl_sink *sink, const dfl_intern *names, const dfl_system *system, dfl_span span,
                      const dfl_stage_messages *m, dfl_fabric *f, dfl_team *team)
{
    const dfl_axis *axis = &system->axes[m->stages.axis];

    if (!dfl_fabric_of(sink, names, system, axis->network, m->element, span, f))
        return false;
    *team = (dfl_team){ .n = 1, .part = { { .stride = m->stages.stride, .count = m->stages.count } }, .ranks = m->stages.count };
    while (f->axis[team->part[0].dim] != m->stages.axis)
        team->part[0].dim++;
    return true;
}

/* By formula, else by the step rule: of one part of a dragonfly, if the groups lie inside of one, as all parts are alike. */
static bool find_links(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out)
{
    dfl_fabric part = *f;
    dfl_team inside = *team;

    if (dfl_stage_links_form(f, team, traffic, out))
        return true;
    if (f->kind == DFL_TOPOLOGY_DRAGONFLY && !dfl_dragonfly_part(f, team, &part, &inside)) {
        part = *f;
        inside = *team;
    }
    return dfl_step_rule_stages(&part, &inside, traffic, out);
}

bool dfl_stage_links_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_system *system, dfl_span span,
                          const dfl_stage_messages *messages, dfl_stage_uses *out)
{
    dfl_fabric f;
    dfl_team team;
    dfl_stage_link *links = DFL_NEW_ARRAY(arena, dfl_stage_link, (size_t)messages->stages.count * DFL_LINK_CLASSES);
    const dfl_network *net;
    double bits, rate;

    if (!find_team(sink, names, system, span, messages, &f, &team))
        return false;
    net = &system->networks[f.network];
    if (!find_links(&f, &team, &messages->traffic, links)) {
        dfl_report(sink, DFL_EVAL_UNSUPPORTED, span,
                   "the links of messages between stages over `%s`, which has more than %d links or %d ports",
                   dfl_sym_text(names, net->name), DFL_STEP_RULE_LINKS, DFL_STEP_RULE_PORTS);
        return false;
    }
    bits = messages->bits * (double)f.sharers;
    rate = net->bandwidth * (net->efficiency != NULL ? dfl_efficiency_share(net->efficiency, messages->bits) : 1);
    for (int64_t s = 0; s < team.ranks; s++) {
        dfl_link_use *uses = DFL_NEW_ARRAY(arena, dfl_link_use, DFL_LINK_CLASSES);

        out[s] = (dfl_stage_uses){ .links = uses, .n_links = 0 };
        for (uint32_t c = 0; c < dfl_fabric_classes(&f); c++) {
            const dfl_stage_link *link = &links[s * DFL_LINK_CLASSES + c];

            if (link->messages > 0)
                uses[out[s].n_links++] = (dfl_link_use){ .network = f.network, .class = c,
                    .name = dfl_fabric_class_name(arena, names, system, &f, c), .largest_bits = link->messages * bits,
                    .seconds = link->messages * bits / rate, .running = link->running };
        }
    }
    return true;
}
