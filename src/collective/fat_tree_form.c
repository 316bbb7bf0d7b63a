#include "collective/fat_tree_form.h"

/* Ports [0, used) in blocks. In each block `starts` groups start at the first ports; `starts` = `stride` if no port is idle. */
typedef struct { int64_t stride, count, block, used, starts; } team_layout;

static bool lay_out(const dfl_fabric *f, const dfl_team *team, team_layout *out)
{
    const dfl_team_part *first = &team->part[0];
    int64_t size = f->size[first->dim], span = dfl_team_period(first), weight = f->weight[first->dim];

    if (!dfl_team_strided(f, team, &out->stride) || (size % span != 0 && first->dim != 0))
        return false;
    out->count = team->ranks;
    out->block = out->stride * out->count;
    out->starts = out->stride;
    if (dfl_team_starts(first) != first->stride) {
        /* Idle ports: formulas for two ranks, whose axis is the innermost one or has all ports inside of it alike. */
        if (team->ranks != 2)
            return false;
        out->block = span * weight;
        out->starts = dfl_team_starts(first) * weight;
    }
    out->used = first->dim == 0 ? size / span * span * f->weight[0] : f->ports;
    return true;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static double largest_of(double a, double b, double c)
{
    double most = a > b ? a : b;

    return most > c ? most : c;
}

/* Number of ports in [from, to) whose place in their block of `block` ports is below `limit`. */
static int64_t count_below(int64_t block, int64_t limit, int64_t from, int64_t to)
{
    if (from >= to)
        return 0;
    return to / block * limit + smaller(to % block, limit) - from / block * limit - smaller(from % block, limit);
}

/* Messages from x to x + reach, sent by the places [0, limit) of blocks of `block` ports: how many leave the ports [a, e),
   and how many enter them. */
typedef struct { int64_t out, in; } crossing;

static crossing count_onward(int64_t block, int64_t limit, int64_t reach, int64_t a, int64_t e)
{
    return (crossing){ .out = count_below(block, limit, larger(a, e - reach), e),
                       .in = count_below(block, limit, larger(0, a - reach), smaller(a, e - reach)) };
}

/* Pairs of a rank in the ports [a, e) and a rank of its group outside of them. A block that lies in part inside has m or m + 1
   ranks of each of its groups there. */
static int64_t count_pairs(const team_layout *t, int64_t a, int64_t e)
{
    int64_t pairs = 0;
    int64_t last = (e - 1) / t->block;

    for (int64_t block = a / t->block; block <= last; block = block < last ? last : block + 1) {
        int64_t from = larger(a, block * t->block), to = smaller(e, (block + 1) * t->block);
        int64_t m = (to - from) / t->stride, more = (to - from) % t->stride;
        pairs += more * (m + 1) * (t->count - m - 1) + (t->stride - more) * m * (t->count - m);
    }
    return pairs;
}

/* Messages of a pattern that leave the ports [a, e), and that enter them. */
static crossing count_messages(const team_layout *t, const dfl_round *p, int64_t a, int64_t e)
{
    int64_t reach = p->distance * t->stride, last = (t->count - 1) * t->stride;
    crossing c;

    if (t->starts != t->stride) {
        c = count_onward(t->block, t->starts, t->stride, a, e);
        return p->kind == DFL_PATTERN_ONWARD || p->kind == DFL_PATTERN_CHAIN ? c : (crossing){ c.out + c.in, c.out + c.in };
    }
    if (p->kind == DFL_PATTERN_ALL)
        return (crossing){ .out = count_pairs(t, a, e), .in = count_pairs(t, a, e) };
    if (p->kind == DFL_PATTERN_SWAP) {
        c = count_onward(2 * reach, reach, reach, a, e);
        return (crossing){ .out = c.out + c.in, .in = c.out + c.in };
    }
    c = count_onward(t->block, p->kind == DFL_PATTERN_ONWARD ? p->senders * t->stride : last, reach, a, e);
    if (p->kind == DFL_PATTERN_NEXT) {
        int64_t to = smaller(e, a + last);
        c.out += larger(to - a, 0) - count_below(t->block, last, a, larger(a, to));
        c.in = c.out;
    }
    return c;
}

/* ---- trees and chains -------------------------------------------------------------------------------------------- */

/* Number of links that the farthest message between the ranks a < b of all groups crosses. Ports part at the multiples of the
   ports of a subtree; the groups of a block have their messages between the ports a * stride + i and b * stride + i for i <
   starts. */
static uint32_t find_hops(const dfl_fabric *f, const team_layout *t, int64_t a, int64_t b)
{
    for (uint32_t l = f->levels - 1; l > 0; l--)
        for (int64_t block = 0; f->subtree[l] < t->used && block < t->used; block += t->block) {
            int64_t first = block + a * t->stride, last = block + b * t->stride + t->starts - 1;
            if (last / f->subtree[l] > first / f->subtree[l])
                return 2 * (l + 1);
            if (t->block % f->subtree[l] == 0)
                break;
        }
    return 2;
}

static bool narrows(const dfl_fabric *f)
{
    for (uint32_t l = 1; l < f->levels; l++)
        if (f->narrowing[l + 1] != 1)
            return true;
    return false;
}

/* The largest number of links of the messages of one step of a chain, on average over the steps: piece after piece passes the
   ranks, so that the message from rank i takes part in the steps i to i + pieces - 1. */
static double average_chain(const dfl_fabric *f, const team_layout *t, int64_t pieces)
{
    int64_t links = 0, steps = t->count - 1 + pieces - 1;

    for (uint32_t l = 0; l < f->levels; l++) {
        int64_t next = 0;
        for (int64_t i = 0; i + 1 < t->count; i++) {
            if (l > 0 && find_hops(f, t, i, i + 1) <= 2 * l)
                continue;
            links += 2 * (i + pieces - larger(i, next));
            next = i + pieces;
        }
    }
    return (double)links / (double)steps;
}

bool dfl_fat_tree_heights(const dfl_fabric *f, const dfl_team *team, uint32_t *hops)
{
    int64_t p = team->ranks;
    team_layout t;

    if (!lay_out(f, team, &t))
        return false;
    for (uint32_t h = 0; INT64_C(1) << h < p; h++) {
        hops[h] = 2;
        for (int64_t r = INT64_C(1) << h; r < p && hops[h] < 2 * f->levels; r += INT64_C(2) << h)
            for (int64_t shift = 0; shift < 2; shift++) {
                int64_t from = (r + shift) % p, to = (dfl_tree_parent(r, p) + shift) % p;
                uint32_t here = find_hops(f, &t, smaller(from, to), larger(from, to));
                hops[h] = here > hops[h] ? here : hops[h];
            }
    }
    return true;
}

/* Counts the messages from the ports [from, from + starts) to the ports that start at `to`, port by port, which leave and enter
   the ports below each switch, in one column of tables with `row` columns. */
static void count_runs(const team_layout *t, int64_t subtree, int64_t row, int64_t from, int64_t to, int64_t *leave,
                       int64_t *enter)
{
    int64_t a = from / subtree, b = to / subtree;

    for (int64_t left = t->starts, run; left > 0; left -= run, from += run, to += run) {
        run = smaller(smaller((a + 1) * subtree - from, (b + 1) * subtree - to), left);
        if (a != b) {
            leave[a * row] += run;
            enter[b * row] += run;
        }
        a += from + run == (a + 1) * subtree;
        b += to + run == (b + 1) * subtree;
    }
}

/* Messages from ranks of each height to their parents, in both trees, that leave and that enter the ports below each switch of a
   level: [switch][height + 1], summed over the heights before it. */
static void count_heights(const team_layout *t, int64_t subtree, uint32_t heights, int64_t *leave, int64_t *enter)
{
    int64_t p = t->count, row = heights + 1, n = (t->used + subtree - 1) / subtree;

    for (int64_t i = 0; i < n * row; i++)
        leave[i] = enter[i] = 0;
    for (int64_t rank = 0; rank < 2 * p; rank++) {
        int64_t second = rank & 1, r = (rank / 2 - second) & (p - 1), parent = (dfl_tree_parent(r, p) + second) & (p - 1);
        int64_t column = r > 0 ? __builtin_ctzll((unsigned long long)r) + 1 : 0;
        for (int64_t block = 0; r > 0 && block < t->used; block += t->block)
            count_runs(t, subtree, row, block + rank / 2 * t->stride, block + parent * t->stride, leave + column, enter + column);
    }
    for (int64_t i = 0; i < n * row; i++) {
        leave[i] += i % row > 0 ? leave[i - 1] : 0;
        enter[i] += i % row > 0 ? enter[i - 1] : 0;
    }
}

void dfl_fat_tree_loads(dfl_arena *arena, const dfl_fabric *f, const dfl_team *team, uint32_t heights, double *loads)
{
    team_layout t = { 0 };
    int64_t *leave, *enter, row = heights + 1;

    lay_out(f, team, &t);
    leave = DFL_NEW_ARRAY(arena, int64_t, (size_t)(t.used * row));
    enter = DFL_NEW_ARRAY(arena, int64_t, (size_t)(t.used * row));
    for (int64_t i = 0; i < row * row; i++)
        loads[i] = 0;
    for (uint32_t l = 1; l < f->levels; l++) {
        int64_t subtree = f->subtree[l];
        if (f->narrowing[l + 1] == 1)
            continue;
        count_heights(&t, subtree, heights, leave, enter);
        for (int64_t i = 0; i * subtree < t.used; i++)
            for (int64_t from = 0; from < row; from++)
                for (int64_t to = from + 1; to < row; to++) {
                    double width = (double)smaller(subtree, f->ports - i * subtree) / f->narrowing[l + 1];
                    int64_t out = leave[i * row + to] - leave[i * row + from], in = enter[i * row + to] - enter[i * row + from];
                    double load = (double)larger(out, in) / width;
                    loads[from * row + to] = load > loads[from * row + to] ? load : loads[from * row + to];
                }
    }
}

void dfl_fat_tree_add_tree_bits(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, dfl_exchange_cost *out)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    uint32_t heights = 0;
    team_layout t = { 0 };
    int64_t *leave, *enter;

    lay_out(f, team, &t);
    while (INT64_C(1) << heights < t.count)
        heights++;
    leave = DFL_NEW_ARRAY(arena, int64_t, (size_t)(t.used * (heights + 1)));
    enter = DFL_NEW_ARRAY(arena, int64_t, (size_t)(t.used * (heights + 1)));
    for (uint32_t l = 1; l < f->levels; l++) {
        int64_t subtree = f->subtree[l];
        count_heights(&t, subtree, heights, leave, enter);
        for (int64_t i = 0; i * subtree < t.used; i++) {
            double width = (double)smaller(subtree, f->ports - i * subtree) / f->narrowing[l + 1];
            double messages = (double)(leave[i * (heights + 1) + heights] + enter[i * (heights + 1) + heights]);
            double bits = messages * e->bits / 2 * (double)e->sharers / width;
            out->bits[2 * l] = out->bits[2 * l + 1] = largest_of(bits, out->bits[2 * l], 0);
        }
    }
    dfl_arena_free(arena);
}

double dfl_fat_tree_narrowing(const dfl_fabric *f, const dfl_team *team)
{
    double most = 1;
    team_layout t;

    if (!lay_out(f, team, &t))
        return 1;
    for (uint32_t l = 1; l < f->levels && f->subtree[l] <= t.stride; l++)
        most = largest_of(most, f->narrowing[l + 1] * (double)(t.used / t.block * t.count * t.starts) / (double)f->ports, 1);
    return most;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* Ways that leave the ports below a switch, and how often. */
typedef struct { double messages, running; } stage_load;

static stage_load load_switch(const dfl_stage_traffic *t, crossing next, crossing first_to_last, bool down)
{
    const int64_t up[DFL_N_WAYS] = { [DFL_WAY_NEXT] = next.out, [DFL_WAY_CLOSING] = first_to_last.in,
                                     [DFL_WAY_NEXT_BACK] = next.in, [DFL_WAY_CLOSING_BACK] = first_to_last.out };
    const int64_t in[DFL_N_WAYS] = { [DFL_WAY_NEXT] = next.in, [DFL_WAY_CLOSING] = first_to_last.out,
                                     [DFL_WAY_NEXT_BACK] = next.out, [DFL_WAY_CLOSING_BACK] = first_to_last.in };
    stage_load out = { 0, 0 };

    for (uint32_t w = 0; w < DFL_N_WAYS; w++) {
        const int64_t n = down ? in[w] : up[w];

        out.messages += (double)(n * t->times[w]);
        out.running += n > 0 ? (double)t->times[w] * t->seconds[w] : 0;
    }
    return out;
}

/* Whether messages of some of these ways leave (or enter, with `down`) the ports below a switch. */
static bool uses_switch(const dfl_stage_traffic *t, crossing next, crossing first_to_last, bool down)
{
    return load_switch(t, next, first_to_last, down).messages > 0;
}

/* The links of one direction between a switch and the level above: of each stage with a message there. */
static void use_switch(const team_layout *t, const dfl_stage_traffic *traffic, int64_t a, int64_t e, uint32_t class, double width,
                       dfl_stage_link *out)
{
    const int64_t stages = t->count, last = (stages - 1) * t->stride;
    const crossing none = { 0, 0 }, next = count_onward(t->block, last, t->stride, a, e);
    const crossing ends = count_onward(t->block, t->stride, last, a, e);
    const stage_load load = load_switch(traffic, next, ends, class % 2);
    crossing before = none;

    if (load.messages == 0)
        return;
    for (int64_t s = 0; s + 1 < stages; s++) {
        const crossing here = count_onward(t->block, (s + 1) * t->stride, t->stride, a, e);
        const crossing pair = { here.out - before.out, here.in - before.in };

        before = here;
        for (int64_t k = s; k <= s + 1 && uses_switch(traffic, pair, none, class % 2); k++)
            dfl_stage_link_keep(&out[k * DFL_LINK_CLASSES + class], load.messages / width, load.running);
    }
    for (int64_t k = 0; k < stages && uses_switch(traffic, none, ends, class % 2); k += stages - 1)
        dfl_stage_link_keep(&out[k * DFL_LINK_CLASSES + class], load.messages / width, load.running);
}

bool dfl_fat_tree_stage_links(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out)
{
    team_layout t;

    if (!lay_out(f, team, &t) || t.starts != t.stride)
        return false;
    for (uint32_t l = 1; l < f->levels; l++)
        for (int64_t a = 0; a < t.used; a += f->subtree[l]) {
            const double width = (double)smaller(f->subtree[l], f->ports - a) / f->narrowing[l + 1];

            for (uint32_t down = 0; down < 2; down++)
                use_switch(&t, traffic, a, smaller(a + f->subtree[l], t.used), 2 * l + down, width, out);
        }
    return true;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* The largest number of messages for each link of a level in one step of a pattern; `bits`: the largest bits of all patterns
   together, times uses, up and down. Every switch below the level is looked at. */
static double find_load(const dfl_fabric *f, const team_layout *t, const dfl_round *p, uint32_t n, uint32_t level, double *bits)
{
    int64_t subtree = f->subtree[level];
    double most = 0;

    bits[0] = bits[1] = 0;
    for (int64_t a = 0; a < t->used; a += subtree) {
        int64_t e = smaller(a + subtree, t->used);
        double width = (double)smaller(subtree, f->ports - a) / f->narrowing[level + 1], out = 0, in = 0;
        for (uint32_t i = 0; i < n; i++) {
            crossing c = count_messages(t, &p[i], a, e);
            double load = (double)larger(c.out, c.in) / width, share = p[i].bits * (double)p[i].uses / width;
            most = load > most ? load : most;
            out += (double)c.out * share;
            in += (double)c.in * share;
        }
        bits[0] = largest_of(out, bits[0], 0);
        bits[1] = largest_of(in, bits[1], 0);
    }
    return most;
}

/* Whether a message of the pattern crosses the boundaries of a level; patterns other than ONWARD reach over each boundary
   inside of a block. */
static bool pattern_crosses(const dfl_fabric *f, const team_layout *t, const dfl_round *p, uint32_t level, double load)
{
    int64_t subtree = f->subtree[level], reach = p->distance * t->stride;

    if (subtree >= t->used)
        return false;
    if (t->starts != t->stride)
        return find_hops(f, t, 0, 1) > 2 * level;
    if (p->kind == DFL_PATTERN_SWAP)
        return subtree % (2 * reach) != 0;
    if (p->kind == DFL_PATTERN_ONWARD && subtree % t->block != 0 && subtree > reach)
        return load > 0;
    return subtree % t->block != 0;
}

bool dfl_fat_tree_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns,
                       bool links, dfl_exchange_cost *out)
{
    team_layout t;
    double bits[2];

    if (!lay_out(f, team, &t))
        return false;
    for (uint32_t i = 0; i < patterns->n; i++) {
        const dfl_round *p = &patterns->at[i];
        double messages = p->kind == DFL_PATTERN_ALL ? (double)(team->ranks - 1) : 1, hops = 2;
        if (p->kind == DFL_PATTERN_BOTH || (p->kind == DFL_PATTERN_CHAIN && narrows(f)))
            return false;
        dfl_pattern_add_port(p, messages * p->bits * (double)(p->uses * e->sharers), out);
        for (uint32_t l = 1; l < f->levels; l++) {
            bool look = f->narrowing[l + 1] != 1 || p->kind == DFL_PATTERN_ONWARD;
            double load = look ? find_load(f, &t, p, 1, l, bits) : 0;
            messages = load > messages ? load : messages;
            hops = pattern_crosses(f, &t, p, l, load) ? 2 * (double)(l + 1) : hops;
        }
        if (p->kind == DFL_PATTERN_CHAIN)
            hops = average_chain(f, &t, e->pieces);
        dfl_pattern_add_time(f, team, e, p, hops, messages * p->bits * (double)e->sharers, out);
    }
    for (uint32_t l = 1; links && l < f->levels; l++) {
        find_load(f, &t, patterns->at, patterns->n, l, bits);
        out->bits[2 * l] = bits[0] * (double)e->sharers;
        out->bits[2 * l + 1] = bits[1] * (double)e->sharers;
    }
    return true;
}
