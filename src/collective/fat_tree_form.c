#include "collective/fat_tree_form.h"

/* Ports [0, used) in blocks of stride x count: one block for `stride` groups. */
typedef struct { int64_t stride, count, block, used; } team_layout;

static bool lay_out(const dfl_fabric *f, const dfl_team *team, team_layout *out)
{
    const dfl_team_part *first = &team->part[0];
    int64_t size = f->size[first->dim], span = first->stride * first->count;

    if (!dfl_team_strided(f, team, &out->stride) || (size % span != 0 && first->dim != 0))
        return false;
    out->count = team->ranks;
    out->block = out->stride * out->count;
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

/* Whether every message of the group crosses the boundaries between the subtrees of a level: 1, none: 0, some: -1. */
static int crosses(const dfl_fabric *f, const team_layout *t, int64_t subtree)
{
    if (subtree >= f->ports || subtree >= t->used || subtree % t->block == 0)
        return 0;
    return subtree <= t->stride ? 1 : -1;
}

bool dfl_fat_tree_hops(const dfl_fabric *f, const dfl_team *team, uint32_t *hops)
{
    team_layout t;

    *hops = 2;
    if (!lay_out(f, team, &t))
        return false;
    for (uint32_t l = 1; l < f->levels; l++) {
        int c = crosses(f, &t, f->subtree[l]);
        if (c < 0 || f->narrowing[l + 1] != 1)
            return false;
        *hops += c > 0 ? 2 : 0;
    }
    return true;
}

/* The largest number of messages for each link of a level in one step of a pattern; `bits`: the largest bits of all patterns
   together, times uses. Every switch below the level is looked at. */
static double find_load(const dfl_fabric *f, const team_layout *t, const dfl_round *p, uint32_t n, uint32_t level, double *bits)
{
    int64_t subtree = f->subtree[level];
    double most = 0;

    *bits = 0;
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
        *bits = largest_of(out, in, *bits);
    }
    return most;
}

/* Whether no formula gives the largest number of links of each step of the pattern. */
static bool is_askew(const dfl_fabric *f, const team_layout *t, const dfl_round *p)
{
    for (uint32_t l = 1; l < f->levels; l++)
        if (p->kind == DFL_PATTERN_CHAIN && (crosses(f, t, f->subtree[l]) < 0 || f->narrowing[l + 1] != 1))
            return true;
    return p->kind == DFL_PATTERN_BOTH;
}

/* Whether a message of the pattern crosses the boundaries of a level; patterns other than ONWARD reach over each boundary
   inside of a block. */
static bool pattern_crosses(const dfl_fabric *f, const team_layout *t, const dfl_round *p, uint32_t level, double load)
{
    int64_t subtree = f->subtree[level], reach = p->distance * t->stride;

    if (subtree >= t->used)
        return false;
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
    double bits;

    if (!lay_out(f, team, &t))
        return false;
    for (uint32_t i = 0; i < patterns->n; i++) {
        const dfl_round *p = &patterns->at[i];
        double messages = p->kind == DFL_PATTERN_ALL ? (double)(team->ranks - 1) : 1, hops = 2;
        if (is_askew(f, &t, p))
            return false;
        out->bits[0] += messages * p->bits * (double)(p->uses * e->sharers);
        for (uint32_t l = 1; l < f->levels; l++) {
            bool look = f->narrowing[l + 1] != 1 || p->kind == DFL_PATTERN_ONWARD;
            double load = look ? find_load(f, &t, p, 1, l, &bits) : 0;
            messages = load > messages ? load : messages;
            hops = pattern_crosses(f, &t, p, l, load) ? 2 * (double)(l + 1) : hops;
        }
        dfl_pattern_add_time(f, team, e, p, hops, messages * p->bits * (double)e->sharers, out);
    }
    for (uint32_t l = 1; links && l < f->levels; l++) {
        find_load(f, &t, patterns->at, patterns->n, l, &bits);
        out->bits[l] = bits * (double)e->sharers;
    }
    return true;
}
