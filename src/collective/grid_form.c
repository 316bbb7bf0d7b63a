#include "collective/grid_form.h"

/* How the ranks of a group lie on the line of one dimension. */
typedef enum {
    LINE_CLOSED, /* around the whole ring */
    LINE_OPEN,   /* the shortest way between two ranks stays between them */
    LINE_OTHER,
} line_shape;

/* The busiest link of a line in each direction, in messages, and the links of the farthest message. */
typedef struct { double ahead, back; int64_t hops; } line_load;

static line_shape find_shape(const dfl_fabric *f, const dfl_team_part *part)
{
    int64_t size = f->size[part->dim];

    if (dfl_fabric_wraps(f) && part->stride * part->count == size)
        return LINE_CLOSED;
    return !dfl_fabric_wraps(f) || 2 * (part->count - 1) * part->stride < size ? LINE_OPEN : LINE_OTHER;
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

/* Messages between all pairs. On a closed line those of distance 1, 2, ... up to half of the ranks go ahead, the others back. On
   an open one the link in the middle parts the ranks into halves. */
static line_load load_all(line_shape shape, int64_t stride, int64_t count)
{
    double s = (double)stride, half = (double)(count / 2), lower = (double)((count - 1) / 2);

    if (shape == LINE_CLOSED)
        return (line_load){ s * half * (half + 1) / 2, s * lower * (lower + 1) / 2, stride * (count / 2) };
    half *= s * (double)(count - count / 2);
    return (line_load){ half, half, stride * (count - 1) };
}

/* One pattern of the ranks of one part. */
static line_load load_line(line_shape shape, int64_t stride, int64_t count, const dfl_round *p)
{
    double s = (double)stride;
    bool closed = shape == LINE_CLOSED;

    if (p->kind == DFL_PATTERN_ALL)
        return load_all(shape, stride, count);
    if (p->kind == DFL_PATTERN_NEXT)
        return (line_load){ s, closed ? 0 : s, closed ? stride : stride * (count - 1) };
    if (p->kind == DFL_PATTERN_BOTH)
        return closed ? (line_load){ count == 2 ? s : s / 2, count == 2 ? 0 : s / 2, stride }
                      : (line_load){ s, s, stride * (count - 1) };
    if (p->kind == DFL_PATTERN_SWAP) {
        s *= (double)p->distance;
        return (line_load){ s, closed && 2 * p->distance == count ? 0 : s, stride * p->distance };
    }
    return (line_load){ s, 0, stride };
}

static double largest_of(line_load l)
{
    return l.ahead > l.back ? l.ahead : l.back;
}

static void add_bits(const dfl_team_part *part, line_load l, double bits, dfl_exchange_cost *out)
{
    out->bits[2 * part->dim] += l.ahead * bits;
    out->bits[2 * part->dim + 1] += l.back * bits;
}

/* Two ranks among idle instances. No more groups start in a period than links lie between the ranks, so that the messages of all
   of them cross one link: ahead, or back over the ends of a closed line if that way is shorter. */
static bool cost_pair(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns,
                      dfl_exchange_cost *out)
{
    const dfl_team_part *part = &team->part[0];
    const double groups = (double)dfl_team_starts(part), sharers = (double)e->sharers;
    const bool back = dfl_fabric_wraps(f) && 2 * part->stride > f->size[part->dim];
    const int64_t hops = back ? f->size[part->dim] - part->stride : part->stride;

    if (team->ranks != 2)
        return false;
    for (uint32_t i = 0; i < patterns->n; i++) {
        const dfl_round *p = &patterns->at[i];

        if (p->kind != DFL_PATTERN_ONWARD && p->kind != DFL_PATTERN_CHAIN)
            return false;
        dfl_pattern_add_time(f, team, e, p, (double)hops, groups * p->bits * sharers, out);
        out->bits[2 * part->dim + back] += groups * p->bits * sharers * (double)p->uses;
    }
    return true;
}

/* ---- swaps ------------------------------------------------------------------------------------------------------- */

/* The part in which two ranks `distance` apart differ, and their distance in it. */
static const dfl_team_part *find_part(const dfl_team *team, int64_t distance, int64_t *local)
{
    uint32_t k = team->n - 1;

    while (k > 0 && distance >= team->part[k].count)
        distance /= team->part[k--].count;
    *local = distance;
    return &team->part[k];
}

/* Bits of all swaps over the link behind each rank of one part. Swaps of distance d load the link m strides from the start of a
   block with as many groups of messages as m is away from the ends of its 2 d ranks. */
static void add_swap_bits(const dfl_team *team, const dfl_team_part *part, line_shape shape, const dfl_rounds *patterns,
                          double sharers, dfl_exchange_cost *out)
{
    for (int64_t m = 0; m < part->count; m++) {
        double ahead = 0, back = 0;
        for (uint32_t i = 0; i < patterns->n; i++) {
            const dfl_round *p = &patterns->at[i];
            int64_t d, at;
            double bits;
            if (find_part(team, p->distance, &d) != part)
                continue;
            at = m % (2 * d);
            bits = (double)(part->stride * p->uses) * p->bits * sharers;
            if (shape == LINE_CLOSED && 2 * d == part->count) {
                ahead += bits * (double)d;
            } else {
                ahead += bits * (double)(at < d ? at : 2 * d - at);
                back += bits * (double)(at < d ? at : 2 * d - at);
            }
        }
        out->bits[2 * part->dim] = ahead > out->bits[2 * part->dim] ? ahead : out->bits[2 * part->dim];
        out->bits[2 * part->dim + 1] = back > out->bits[2 * part->dim + 1] ? back : out->bits[2 * part->dim + 1];
    }
}

/* ---- several parts ----------------------------------------------------------------------------------------------- */

/* Bits of a ring or a chain through several parts. Each link is used by at most one message of the group, and the directions that
   are in use follow from the order of the ranks. */
static void add_order_bits(const dfl_fabric *f, const dfl_team *team, const dfl_round *p, double bits, dfl_exchange_cost *out)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    int64_t *order = DFL_NEW_ARRAY(arena, int64_t, (size_t)team->ranks);
    bool used[DFL_LINK_CLASSES] = { false }, closed = p->kind != DFL_PATTERN_CHAIN;

    dfl_team_order(arena, f, team, closed, order);
    for (int64_t i = 0; i < team->ranks - (closed ? 0 : 1); i++) {
        int64_t a = order[i], b = order[(i + 1) % team->ranks];
        for (uint32_t k = team->n; k-- > 0; a /= team->part[k].count, b /= team->part[k].count) {
            int64_t count = team->part[k].count, ahead = b % count - a % count;
            bool back = ahead < 0, two = p->kind == DFL_PATTERN_BOTH;
            if (ahead == 0)
                continue;
            if (find_shape(f, &team->part[k]) == LINE_CLOSED) {
                back = 2 * ((ahead + count) % count) > count;
                two &= count > 2;
            }
            used[2 * team->part[k].dim + back] = true;
            used[2 * team->part[k].dim + !back] |= two;
        }
    }
    for (uint32_t k = 0; k < team->n; k++)
        for (uint32_t c = 2 * team->part[k].dim; c < 2 * team->part[k].dim + 2; c++)
            out->bits[c] += used[c] ? bits * (double)team->part[k].stride : 0;
    dfl_arena_free(arena);
}

/* Rings, chains and direct exchanges of several parts. */
static bool cost_parts(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_round *p, bool links,
                       dfl_exchange_cost *out)
{
    double most = 0, bits = p->bits * (double)e->sharers;
    int64_t hops = 0;

    if (p->kind == DFL_PATTERN_ONWARD)
        return false;
    for (uint32_t k = 0; k < team->n; k++) {
        const dfl_team_part *part = &team->part[k];
        line_shape shape = find_shape(f, part);
        if (p->kind == DFL_PATTERN_ALL) {
            line_load l = load_all(shape, part->stride, part->count);
            double others = (double)(team->ranks / part->count);
            if (shape == LINE_OTHER)
                return false;
            most = others * largest_of(l) > most ? others * largest_of(l) : most;
            hops += l.hops;
            add_bits(part, l, others * bits * (double)p->uses, out);
        } else {
            if (p->kind == DFL_PATTERN_CHAIN && part->stride != team->part[0].stride)
                return false;
            most = (double)part->stride > most ? (double)part->stride : most;
            hops = part->stride > hops ? part->stride : hops;
        }
    }
    bits *= p->kind == DFL_PATTERN_BOTH ? 0.5 : 1;
    if (links && p->kind != DFL_PATTERN_ALL)
        add_order_bits(f, team, p, bits * (double)p->uses, out);
    dfl_pattern_add_time(f, team, e, p, (double)hops, most * bits, out);
    return true;
}

bool dfl_grid_form(const dfl_fabric *f, const dfl_team *team, const dfl_team_exchange *e, const dfl_rounds *patterns, bool links,
                   dfl_exchange_cost *out)
{
    bool swaps = false;

    for (uint32_t k = 0; k < team->n; k++)
        if (dfl_team_starts(&team->part[k]) != team->part[k].stride)
            return cost_pair(f, team, e, patterns, out);
    for (uint32_t k = 1; k < team->n; k++)
        for (uint32_t j = 0; j < k; j++)
            if (team->part[j].dim == team->part[k].dim)
                return false;
    for (uint32_t i = 0; i < patterns->n; i++) {
        const dfl_round *p = &patterns->at[i];
        dfl_round local = *p;
        const dfl_team_part *part = p->kind == DFL_PATTERN_SWAP ? find_part(team, p->distance, &local.distance) : &team->part[0];
        line_shape shape = find_shape(f, part);
        line_load l;
        if (p->kind != DFL_PATTERN_SWAP && team->n > 1) {
            if (!cost_parts(f, team, e, p, links, out))
                return false;
            continue;
        }
        if (shape == LINE_OTHER && p->kind != DFL_PATTERN_CHAIN)
            return false;
        if (p->kind == DFL_PATTERN_ONWARD && e->algorithm == DFL_ALGORITHM_TREE)
            return false;
        l = load_line(shape, part->stride, part->count, &local);
        dfl_pattern_add_time(f, team, e, p, (double)l.hops, largest_of(l) * p->bits * (double)e->sharers, out);
        swaps |= p->kind == DFL_PATTERN_SWAP;
        if (p->kind != DFL_PATTERN_SWAP)
            add_bits(part, l, p->bits * (double)(p->uses * e->sharers), out);
    }
    for (uint32_t k = 0; swaps && links && k < team->n; k++)
        add_swap_bits(team, &team->part[k], find_shape(f, &team->part[k]), patterns, (double)e->sharers, out);
    return true;
}
