/* Enumeration of the lines of one einsum. */
#include "tests/mapper/enumerator.h"

#include <string.h>

static const dfl_access *access_at(const dfl_einsum *e, uint32_t i)
{
    return i < e->n_inputs ? &e->inputs[i] : &e->output;
}

bool enumerate_indexed_by(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            if (a->index[d].terms[i].rank == rank)
                return true;
    return false;
}

/* The largest number of the `size` instances that parts of the ranks of a mask can use, if the parts divide the
   remaining extents. */
static int64_t most_at_work(const enumerator *k, const int64_t *left, uint32_t ranks, int64_t size)
{
    int64_t most = 1;

    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        for (int64_t parts = ranks >> r & 1 ? size : 0; parts > 1; parts--)
            if (left[r] % parts == 0) {
                int64_t others = most_at_work(k, left, ranks & ~((2u << r) - 1), size / parts);
                most = parts * others > most ? parts * others : most;
            }
    return most;
}

/* The largest number of used instances over the axes from `a` on; of axis `a` at most `size` instances, by ranks from
   `r` on. */
static int64_t most_of_all(const enumerator *k, int64_t *left, const uint32_t *ranks, uint32_t a, uint32_t r, int64_t size)
{
    int64_t most = 0;

    if (a == k->s->n_axes)
        return 1;
    if (r == k->w->n_ranks)
        return most_of_all(k, left, ranks, a + 1, 0, a + 1 < k->s->n_axes ? k->s->axes[a + 1].size : 1);
    for (int64_t parts = 1; parts <= (ranks[a] >> r & 1 ? size : 1); parts++)
        if (left[r] % parts == 0) {
            int64_t n;
            left[r] /= parts;
            n = parts * most_of_all(k, left, ranks, a, r + 1, size / parts);
            left[r] *= parts;
            most = n > most ? n : most;
        }
    return most;
}

/* Whether the axis shares the transfers of an operand that the rank does not index. */
static bool is_shared(const dfl_system *s, const dfl_workload *w, const dfl_einsum *e, uint32_t a, uint32_t rank)
{
    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *x = access_at(e, i);
        const dfl_selection *once = i < e->n_inputs ? &s->axes[a].multicast : &s->axes[a].reduce;
        if (dfl_selects(once, &w->tensors[x->tensor]) && !enumerate_indexed_by(x, rank))
            return true;
    }
    return false;
}

/*
 * Whether parts stand on axes as in a search with default spreading. An axis takes ranks that share transfers. If all
 * axes together can use more instances with other ranks, an axis also takes other ranks that use more of its instances
 * than the sharing ranks could, given the extents that the outer axes leave.
 */
static bool is_spread_to_share(const enumerator *k, const own_lines *lines)
{
    const dfl_einsum *e = &k->w->einsums[k->einsum];
    int64_t left[RANKS];
    uint32_t all[RANKS] = { 0 }, sharing[RANKS] = { 0 };
    bool any = false;

    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        left[r] = k->w->ranks[r].extent;
    for (uint32_t a = 0; a < k->s->n_axes; a++) {
        int64_t at_work = 1, could;
        bool others = false;
        for (uint32_t r = 0; r < k->w->n_ranks; r++) {
            all[a] |= (uint32_t)dfl_einsum_has_rank(e, r) << r;
            sharing[a] |= (uint32_t)(dfl_einsum_has_rank(e, r) && is_shared(k->s, k->w, e, a, r)) << r;
        }
        sharing[a] = sharing[a] == 0 ? all[a] : sharing[a];
        could = most_at_work(k, left, sharing[a], k->s->axes[a].size);
        for (uint32_t i = 0; i < lines->leaf.n; i++) {
            const item *line = &lines->leaf.at[i];
            if (line->kind != ITEM_SPATIAL || line->where != a)
                continue;
            at_work *= line->by;
            others |= !(sharing[a] >> line->what & 1);
            left[line->what] /= line->by;
        }
        if (others && at_work <= could)
            return false;
        any |= others;
    }
    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        left[r] = k->w->ranks[r].extent;
    return !any || most_of_all(k, left, all, 0, 0, k->s->axes[0].size) > most_of_all(k, left, sharing, 0, 0, k->s->axes[0].size);
}

static void take(enumerator *k, const own_lines *lines)
{
    const own_lines *own[EINSUMS];
    choice c = { .lines = *lines };

    if (k->options->sharing && !is_spread_to_share(k, lines))
        return;
    k->enough = ++k->found > ENOUGH * k->options->most;
    if (k->counting)
        return;
    if (k->taken > k->options->most && enumerator_random(k, 4096) * k->taken >= 1024 * k->options->most)
        return;
    for (uint32_t e = 0; e < k->w->n_einsums; e++)
        own[e] = e == k->einsum ? lines : &k->bare[e];
    if (enumerator_evaluate(k, own, &c.joules, &c.seconds) && k->n_braces > 0)
        DFL_PUSH(k->arena, &k->choices[k->einsum], c);
}

static void push(own_lines *lines, item i) { lines->leaf.at[lines->leaf.n++] = i; }

/* Whether a keep inside of axis `a` is written already, so that no further line can spread over the axis. */
static bool is_sealed(const enumerator *k, uint32_t a)
{
    for (uint32_t i = 0; i < k->n_keeps; i++)
        if ((k->placed >> i & 1) && dfl_axis_encloses(k->s, a, k->s->memories[k->keeps[i].where].element))
            return true;
    return false;
}

/* Adds the loops behind the last keep, from the factors `f` on: first factors on axes, then temporal loops. */
static void finish(enumerator *k, own_lines *lines, uint32_t f)
{
    if (f == k->n_factors) {
        uint32_t n = lines->leaf.n;
        for (uint32_t i = 0; i < k->n_factors; i++)
            for (uint32_t c = 0; c < k->factors[i].n; c++)
                push(lines, (item){ ITEM_LOOP, k->factors[i].rank, 0, k->factors[i].by });
        take(k, lines);
        lines->leaf.n = n;
        return;
    }
    finish(k, lines, f + 1);
    for (uint32_t a = 0; a < k->s->n_axes; a++) {
        factor *at = &k->factors[f];
        int64_t room = k->room[a];
        if (at->n == 0 || room < at->by || !(k->spread[a] >> at->rank & 1) || is_sealed(k, a))
            continue;
        k->room[a] /= at->by;
        at->n--;
        push(lines, (item){ ITEM_SPATIAL, at->rank, (uint8_t)a, at->by });
        finish(k, lines, f);
        lines->leaf.n--;
        at->n++;
        k->room[a] = room;
    }
}

/* Whether keep `i` may be the next: those of its tensor stand in the order of the memories, of an einsum with windows all;
   among keeps with no loop between the order is given. */
static bool may_keep(const enumerator *k, uint32_t i, const item *last_keep, bool adjacent)
{
    const item *keep = &k->keeps[i];

    if (!(k->wanted >> i & 1) || (k->placed >> i & 1))
        return false;
    for (uint32_t o = 0; o < k->n_keeps; o++)
        if (((k->wanted & ~k->placed) >> o & 1) && k->keeps[o].what == keep->what && k->keeps[o].where < keep->where)
            return false;
    if (last_keep == NULL)
        return true;
    if ((k->windows || adjacent) && last_keep->where > keep->where)
        return false;
    return !adjacent || last_keep->where < keep->where || last_keep->what < keep->what;
}

/* Whether parts of axes before `next` stand where they have to, see enumerate_options. */
static bool may_spread(const enumerator *k, const own_lines *lines, const item *next)
{
    const item *last = lines->leaf.n > 0 ? &lines->leaf.at[lines->leaf.n - 1] : NULL;

    if (!k->options->just_above || last == NULL || last->kind != ITEM_SPATIAL)
        return true;
    if (next->kind == ITEM_KEEP)
        return dfl_axis_encloses(k->s, last->where, k->s->memories[next->where].element);
    return next->kind == ITEM_SPATIAL && (last->where < next->where || (last->where == next->where && last->what <= next->what));
}

/* Mask of the keeps to come that the rank indexes. */
static uint32_t moves(const enumerator *k, uint32_t rank)
{
    const dfl_einsum *e = &k->w->einsums[k->einsum];
    uint32_t out = 0;

    for (uint32_t i = 0; i < k->n_keeps; i++)
        if (((k->wanted & ~k->placed) >> i & 1) && enumerate_indexed_by(enumerator_access(e, k->keeps[i].what), rank))
            out |= 1u << i;
    return out;
}

/* Whether a loop may stand right behind the last line. If two neighbouring loops have equal effects on all keeps below,
   only one order is enumerated. */
static bool may_follow(const enumerator *k, const own_lines *lines, const factor *x)
{
    const item *last = lines->leaf.n > 0 ? &lines->leaf.at[lines->leaf.n - 1] : NULL;

    return k->windows || last == NULL || last->kind != ITEM_LOOP || last->what < x->rank ||
           (last->what == x->rank && last->by <= x->by) ||
           (last->what != x->rank && moves(k, last->what) != moves(k, x->rank));
}

static bool all_cut(const enumerator *k)
{
    for (uint32_t f = 0; f < k->n_factors; f++)
        if (k->factors[f].n > 0)
            return false;
    return true;
}

/* Continues behind shared line `at` with keeps, loops, or the end. */
static void lines_from(enumerator *k, own_lines *lines, uint32_t at, const item *last_keep, bool adjacent)
{
    bool in_leaf = at == k->prefix.n;

    if (k->enough)
        return;
    if (in_leaf && k->placed == k->wanted && (!k->windows || all_cut(k))) {
        finish(k, lines, 0);
        return;
    }
    for (uint32_t i = 0; i < k->n_keeps; i++) {
        if (!may_keep(k, i, last_keep, adjacent) || (in_leaf && !may_spread(k, lines, &k->keeps[i])))
            continue;
        if (!in_leaf && (k->keeps[i].by == 0 || !k->loop_below[at] || k->next_below[at] || k->s->memories[k->keeps[i].where].element != 0 ||
                         (k->options->down_to_exchange && !k->home_below[at])))
            continue;
        k->placed |= 1u << i;
        if (in_leaf) {
            push(lines, k->keeps[i]);
        } else {
            lines->among[lines->n_among].keep = k->keeps[i];
            lines->among[lines->n_among++].at = at;
        }
        lines_from(k, lines, at, &k->keeps[i], true);
        lines->leaf.n -= in_leaf;
        lines->n_among -= !in_leaf;
        k->placed &= ~(1u << i);
    }
    if (!in_leaf) {
        const item *line = &k->prefix.at[at];
        bool home = line->kind == ITEM_KEEP;
        if (home && k->windows && last_keep && last_keep->where > line->where)
            return;
        lines_from(k, lines, at + 1, home ? line : last_keep, false);
        return;
    }
    for (uint32_t f = 0; f < k->n_factors; f++) {
        factor *x = &k->factors[f];
        if (x->n == 0)
            continue;
        x->n--;
        if (may_follow(k, lines, x) && may_spread(k, lines, &(item){ ITEM_LOOP, x->rank, 0, x->by })) {
            push(lines, (item){ ITEM_LOOP, x->rank, 0, x->by });
            lines_from(k, lines, at, last_keep, false);
            lines->leaf.n--;
        }
        for (uint32_t a = 0; a < k->s->n_axes; a++) {
            const item part = { ITEM_SPATIAL, x->rank, (uint8_t)a, x->by };
            int64_t room = k->room[a];
            if (room < x->by || !(k->spread[a] >> x->rank & 1) || is_sealed(k, a) || !may_spread(k, lines, &part))
                continue;
            k->room[a] /= x->by;
            push(lines, part);
            lines_from(k, lines, at, last_keep, false);
            lines->leaf.n--;
            k->room[a] = room;
        }
        x->n++;
    }
}

static uint32_t ranks_of(const enumerator *k, const dfl_einsum *e)
{
    uint32_t all = 0;

    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        all |= (uint32_t)dfl_einsum_has_rank(e, r) << r;
    return all;
}

static uint32_t touching(const enumerator *k, uint32_t first, uint32_t last, uint32_t tensor)
{
    uint32_t n = 0;

    for (uint32_t e = first; e <= last; e++)
        n += dfl_einsum_touches(&k->w->einsums[e], tensor);
    return n;
}

/* Shared lines, factors that are left and keeps that there may be, of einsum `e`. */
static void prepare(enumerator *k, uint32_t e)
{
    const dfl_einsum *einsum = &k->w->einsums[e];
    int64_t left[RANKS];
    uint32_t chain[BODIES], n = 0;

    k->einsum = e;
    k->prefix.n = k->n_factors = k->n_keeps = k->placed = 0;
    memset(k->loop_below, 0, sizeof k->loop_below);
    memset(k->home_below, 0, sizeof k->home_below);
    k->windows = false;
    for (uint32_t i = 0; i <= einsum->n_inputs; i++)
        for (uint32_t d = 0; d < access_at(einsum, i)->n_dims; d++)
            k->windows |= access_at(einsum, i)->index[d].n_terms > 1;
    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        left[r] = dfl_einsum_has_rank(einsum, r) ? k->w->ranks[r].extent : 1;
    for (uint32_t b = k->n_braces > 0 ? k->brace_of[e] : DFL_NONE; b != DFL_NONE; b = k->braces[b].parent)
        chain[n++] = b;
    while (n > 0) {
        const brace *b = &k->braces[chain[--n]];
        for (uint32_t i = 0; i < b->shared.n; i++) {
            const item *line = &b->shared.at[i];
            uint32_t rank = line->kind == ITEM_LOOP ? enumerator_cut(k, b, e, line->what) : DFL_NONE;
            for (uint32_t o = i; o < b->shared.n; o++)
                k->loop_below[k->prefix.n] |= b->shared.at[o].kind == ITEM_LOOP;
            k->prefix.at[k->prefix.n++] = b->shared.at[i];
            if (rank != DFL_NONE)
                left[rank] /= b->shared.at[i].by;
        }
    }
    for (uint32_t i = k->prefix.n, exchanges = 0, below = 0; i-- > 0;) {
        below |= k->prefix.at[i].kind == ITEM_LOOP && exchanges;
        exchanges |= k->prefix.at[i].kind == ITEM_KEEP && dfl_einsum_touches(einsum, k->prefix.at[i].what);
        k->home_below[i] = below;
    }
    for (uint32_t i = 0; i < k->prefix.n; i++) {
        uint32_t next = i;
        while (k->loop_below[i] && k->prefix.at[next].kind != ITEM_LOOP)
            next++;
        k->next_below[i] = next > i && !k->windows && (!k->options->down_to_exchange || k->home_below[next]);
    }
    for (uint32_t r = 0; r < k->w->n_ranks; r++)
        for (uint8_t p = 2; left[r] > 1; p++) {
            factor f = { .rank = (uint8_t)r, .by = p };
            for (; left[r] % p == 0; left[r] /= p)
                f.n++;
            if (f.n > 0)
                k->factors[k->n_factors++] = f;
        }
    for (uint32_t a = 0; a < k->s->n_axes; a++) {
        k->room[a] = k->s->axes[a].size;
        k->spread[a] = ranks_of(k, einsum);
    }
    for (uint32_t t = 0; t < k->w->n_tensors; t++) {
        uint32_t from = k->home[t] + 1;
        if (!dfl_einsum_touches(einsum, t))
            continue;
        for (uint32_t i = 0; i < k->prefix.n; i++)
            if (k->prefix.at[i].kind == ITEM_KEEP && k->prefix.at[i].what == t)
                from = k->prefix.at[i].where + 1;
        /* keeps among shared lines are for operands of one einsum; `by` says so */
        for (uint32_t m = from; m < k->s->n_memories; m++)
            k->keeps[k->n_keeps++] = (item){ ITEM_KEEP, (uint8_t)t, (uint8_t)m,
                                             touching(k, 0, k->w->n_einsums - 1, t) == 1 };
    }
}

/* Shuffles the factors, so that each sample of the enumeration covers other mappings. */
static void shuffle(enumerator *k)
{
    for (uint32_t i = 0; i + 1 < k->n_factors; i++) {
        uint32_t o = i + enumerator_random(k, k->n_factors - i);
        factor f = k->factors[i];
        k->factors[i] = k->factors[o];
        k->factors[o] = f;
    }
    for (uint32_t i = 0; i + 1 < k->n_keeps; i++) {
        uint32_t o = i + enumerator_random(k, k->n_keeps - i);
        item kept = k->keeps[i];
        k->keeps[i] = k->keeps[o];
        k->keeps[o] = kept;
    }
}

static void all_lines(enumerator *k)
{
    own_lines lines = { .n_among = 0 };

    k->found = 0;
    k->enough = false;
    for (uint32_t i = 0; i < 1u << k->n_keeps; i++) {
        k->wanted = i ^ k->first_keeps;
        lines_from(k, &lines, 0, NULL, false);
    }
}

void enumerator_lines(enumerator *k, uint32_t e)
{
    prepare(k, e);
    k->counting = true;
    all_lines(k);
    k->counting = false;
    k->taken = k->found;
    if (k->taken > k->options->most) {
        k->out->complete = false;
        shuffle(k);
        k->first_keeps = enumerator_random(k, 1u << k->n_keeps);
    }
    all_lines(k);
    k->first_keeps = 0;
}

/* Only loops. */
void enumerator_bare(enumerator *k, uint32_t e)
{
    own_lines *lines = &k->bare[e];

    prepare(k, e);
    *lines = (own_lines){ .n_among = 0 };
    for (uint32_t i = 0; i < k->n_factors; i++)
        for (uint32_t c = 0; c < k->factors[i].n; c++)
            push(lines, (item){ ITEM_LOOP, k->factors[i].rank, 0, k->factors[i].by });
}
