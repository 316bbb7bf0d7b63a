/* Tables of ways to cut a rank, made once. */
#include <math.h>
#include <string.h>

#include "mapper/divisors/divisors_internal.h"
#include "mapper/skeleton/fixed_factors.h"
#include "mapper/skeleton/fixed_lines.h"

enum {
    SMALL = 1 << 12,       /* numbers of a table that is kept for other templates */
    KEPT = 1 << 21,        /* numbers of all of these */
};

typedef struct {
    dfl_arena *arena;
    dfl_amounts divisors;
    dfl_cuts *table;
    int64_t cut[DFL_GAPS];
    size_t n, cap;
    dfl_deadline *halt;
    const dfl_search *s;
    uint32_t rank;
} cutter;

/* Whether the lines that are written for the template go with the cut. */
static bool is_admitted(const cutter *k)
{
    const dfl_search *s = k->s;
    int64_t cut[DFL_GAPS];

    for (uint32_t g = 0; g < s->n_gaps; g++) {
        uint32_t at = s->cut_at[k->rank][g];
        cut[g] = at > (g > 0 ? s->cut_at[k->rank][g - 1] : 0) ? k->cut[at - 1] : 1;
    }
    return dfl_fixed_lines_admits(s->t->form, s->problem, k->rank, cut, 1, k->table->parts, 1, NULL);
}

/* Whether gap `i` needs no more than a loop that it must have: a longer one could stand in the next gap where nothing takes
   room between, or in the one before where that costs nothing. Between two gaps at most one of these holds, so that loops that
   are moved come to an end. */
static bool is_short(const dfl_cuts *t, uint32_t i)
{
    bool down = i + 1 < t->n_gaps && !(t->rooms >> (i + 1) & 1);
    bool up = i > 0 && (t->rooms >> i & 1) && !(t->costs >> i & 1);

    return down || up;
}

/* Divisors are in order, so those before are all that it can have. */
static bool is_prime(const cutter *k, uint32_t d)
{
    for (uint32_t e = 1; e < d; e++)
        if (k->divisors.at[d] % k->divisors.at[e] == 0)
            return false;
    return d > 0;
}

static void cut_from(cutter *k, uint32_t i, int64_t left)
{
    dfl_cuts *t = k->table;
    bool any = i < t->n_gaps && !is_short(t, i), needed = t->needs >> i & 1;

    if (i == t->n_gaps) {
        if (left != 1 || (k->s->t->form && !is_admitted(k)))
            return;
        if (k->n == k->cap) {
            void *grown = t->cut;
            dfl_vec_grow(k->arena, &grown, k->n, &k->cap, sizeof *t->cut, _Alignof(int64_t));
            t->cut = grown;
        }
        memcpy(t->cut[k->n++], k->cut, sizeof k->cut);
        return;
    }
    if (dfl_deadline_passed(k->halt))
        return;
    for (uint32_t d = needed; d < k->divisors.n && k->divisors.at[d] <= left && (any || needed || d == 0); d++) {
        int64_t by = k->divisors.at[d];
        if ((!any && needed && !is_prime(k, d)) || left % by != 0 || (i + 1 == t->n_gaps && by != left))
            continue;
        k->cut[i] = by;
        cut_from(k, i + 1, left / by);
    }
    k->cut[i] = 1;
}

static uint64_t hash_of(const dfl_cuts *c)
{
    uint64_t h = ((((uint64_t)c->left * 31 + c->n_gaps) * 31 + c->needs) * 31 + c->costs) * 31 + c->rooms;

    return h * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static bool is_same(const dfl_cuts *a, const dfl_cuts *b)
{
    return a->left == b->left && a->n_gaps == b->n_gaps && a->needs == b->needs && a->rank == b->rank && a->costs == b->costs &&
           a->rooms == b->rooms && memcmp(a->parts, b->parts, sizeof a->parts) == 0;
}

static dfl_cuts *find_table(const dfl_cut_tables *all, const dfl_cuts *c)
{
    uint32_t at, i = dfl_hashmap_first(&all->map, hash_of(c), &at);

    while (i != 0 && !is_same(all->at.at[i - 1], c))
        i = dfl_hashmap_next(&all->map, hash_of(c), &at);
    return i != 0 ? all->at.at[i - 1] : NULL;
}

static void add_table(dfl_arena *arena, dfl_cut_tables *all, dfl_cuts *c)
{
    DFL_PUSH(arena, &all->at, c);
    dfl_hashmap_add(arena, &all->map, hash_of(c), (uint32_t)all->at.n);
}

/* The numbers of a table whose cuts are known. */
static void fill_table(dfl_arena *arena, dfl_cuts *c)
{
    for (uint32_t p = 0; p <= c->n_gaps; p++) {
        c->n[p] = DFL_NEW_ARRAY(arena, double, (size_t)c->count + 1);
        c->least[p] = INFINITY;
        c->most[p] = 0;
        for (uint32_t i = 0; i < c->count; i++) {
            double n = p > 0 ? c->n[p - 1][i] * (double)c->cut[i][p - 1] : 1;
            c->n[p][i] = n;
            c->least[p] = n < c->least[p] ? n : c->least[p];
            c->most[p] = n > c->most[p] ? n : c->most[p];
        }
    }
}

const dfl_cuts *dfl_cuts_of(dfl_search *s, uint32_t rank)
{
    dfl_pareto_set *rows = s->rows;
    cutter k = { .divisors = s->divisors[rank], .halt = s->goal->halt, .s = s, .rank = rank };
    dfl_cuts c = { .n_gaps = s->own_gaps[rank], .needs = s->own_needs[rank], .costs = s->own_costs[rank],
                   .rooms = s->own_rooms[rank] }, *found;
    bool kept;

    c.left = s->now->left[rank] / s->shared_by[rank];
    c.rank = s->t->form ? rank + 1 : 0;
    for (uint32_t a = 0; a < s->problem->n_axes && s->t->form; a++)
        c.parts[a] = s->now->parts[a * s->problem->n_ranks + rank];
    found = s->t->form ? NULL : find_table(&rows->tables, &c);
    if (found == NULL)
        found = find_table(&s->tables, &c);
    if (found != NULL)
        return found;
    k.arena = rows->scratch;
    k.table = &c;
    for (uint32_t i = 0; i < DFL_GAPS; i++)
        k.cut[i] = 1;
    cut_from(&k, 0, c.left);
    c.count = (uint32_t)k.n;
    kept = !s->t->form && k.n * (c.n_gaps + 1) <= SMALL && rows->tables.numbers + k.n * (c.n_gaps + 1) <= KEPT &&
           !dfl_deadline_passed(k.halt);
    k.arena = kept ? rows->arena : rows->scratch;
    if (kept) {
        void *cuts = dfl_arena_alloc(k.arena, k.n + 1, sizeof *c.cut, _Alignof(int64_t));
        if (k.n > 0)
            memcpy(cuts, c.cut, k.n * sizeof *c.cut);
        c.cut = cuts;
        rows->tables.numbers += k.n * (c.n_gaps + 1);
    }
    fill_table(k.arena, &c);
    found = DFL_NEW(k.arena, dfl_cuts);
    *found = c;
    add_table(k.arena, kept ? &rows->tables : &s->tables, found);
    return found;
}

bool dfl_search_room_counts(const dfl_search *s, uint32_t i)
{
    bool counts = s->limited[i];

    for (uint32_t t = 0; t < s->goal->n_tracks; t++)
        counts |= s->goal->track[t] == s->problem->place[s->t->keep[i].place].memory;
    return counts;
}

void dfl_cuts_prepare(dfl_search *s)
{
    for (uint32_t r = 0; r < s->problem->n_ranks; r++) {
        uint32_t inside = (1u << s->own_gaps[r]) - 1, costs = 0, rooms = 0;
        for (uint32_t g = 0; g < s->terms.n_groups; g++) {
            uint32_t at = s->terms.group[g].ranks >> r & 1 ? 1u << s->cut_at[r][s->terms.group[g].gap] : 0;
            costs |= at;
            rooms |= s->negative[g] ? at : 0;
        }
        for (uint32_t i = 0; i < s->t->n_keeps; i++)
            if ((s->problem->operand[s->t->keep[i].operand].ranks >> r & 1) && dfl_search_room_counts(s, i))
                rooms |= 1u << s->cut_at[r][i];
        inside &= ~1u; /* none before the first, and all behind the last */
        s->own_costs[r] = s->problem->windows || s->t->form != NULL ? inside : costs & inside;
        s->own_rooms[r] = s->problem->windows || s->t->form != NULL ? inside : rooms & inside;
    }
}
