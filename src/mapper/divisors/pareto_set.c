/* The set of rows that no other undercuts, by the way they share. */
#include "mapper/divisors/pareto_set.h"

#include <string.h>

#include "mapper/divisors/signature.h"

dfl_pareto_set *dfl_pareto_set_new(dfl_arena *arena, dfl_arena *scratch)
{
    dfl_pareto_set *rows = DFL_NEW(arena, dfl_pareto_set);

    rows->arena = arena;
    rows->scratch = scratch;
    return rows;
}

/* Whether the row keeps the operand of keep `i` of another one in that memory, too, below no more than `loops` shared loops. */
static bool keeps_like(const dfl_pmapping *row, const dfl_pmapping *other, uint32_t i, uint32_t loops)
{
    const dfl_template_keep *like = &other->form->keep[i];

    for (uint32_t k = 0; k < row->form->n_keeps; k++) {
        const dfl_template_keep *keep = &row->form->keep[k];
        if (keep->operand == like->operand && !keep->home &&
            row->problem->place[keep->place].memory == other->problem->place[like->place].memory &&
                dfl_pmapping_loops_above(row, k) <= loops)
            return true;
    }
    return false;
}

/* Whether others that touch the operand of keep `i` may keep it there above a loop, which they do nowhere inside of arrays
   (skeleton/template.h). */
static bool is_seen(const dfl_pmapping *row, uint32_t i)
{
    const dfl_template_keep *keep = &row->form->keep[i];

    return !keep->home && row->problem->place[keep->place].axes == 0 &&
        dfl_problem_exchanged(&row->problem->operand[keep->operand]);
}

/* Whether `a` goes below loops with every row with which `b` does. Of an operand that others touch, too, what one keeps above
   such a loop serves the other, which must keep it there as well, and it does not go with what makes it for that one alone
   (loop_match.c). So `a` keeps no more above them, and in all no less of what several read. */
static bool goes_where(const dfl_pmapping *a, const dfl_pmapping *b)
{
    const uint32_t loops = a->way.n_loops;

    if (loops == 0 || (a->form == b->form && memcmp(a->gap, b->gap, sizeof a->gap) == 0))
        return true;
    for (uint32_t i = 0; i < a->form->n_keeps; i++)
        if (is_seen(a, i) && dfl_pmapping_loops_above(a, i) < loops && !keeps_like(b, a, i, dfl_pmapping_loops_above(a, i)))
            return false;
    for (uint32_t i = 0; i < b->form->n_keeps; i++) {
        const dfl_problem_operand *o = &b->problem->operand[b->form->keep[i].operand];
        if ((o->several || o->settled) && is_seen(b, i) && !keeps_like(a, b, i, loops))
            return false;
    }
    return true;
}

/* Whether `a` is at most `b` in everything. Of room what counts below a number of loops is all that stands above and there:
   what others have below shares it with the whole of that. */
static bool undercuts(const dfl_pmapping *a, const dfl_pmapping *b, const dfl_tile_goal *goal)
{
    if ((goal->by_energy && a->joules > b->joules) || (goal->by_time && a->seconds > b->seconds))
        return false;
    for (uint32_t p = 0; p < goal->n_ports && goal->beside; p++)
        if (a->busy[p] > b->busy[p])
            return false;
    for (uint32_t t = 0; t < goal->n_tracks; t++) {
        double of_a = 0, of_b = 0;
        for (uint32_t d = 0; d <= a->way.n_loops; d++) {
            of_a += a->room[t][d];
            of_b += b->room[t][d];
            if (of_a > of_b)
                return false;
        }
    }
    return goes_where(a, b);
}

/* 1 + the index of a way in rows->last; 0 = there are no rows of it. */
static uint32_t item_of(const dfl_pareto_set *rows, const dfl_way *way, uint64_t hash)
{
    uint32_t at, item = dfl_hashmap_first(&rows->of_ways, hash, &at);

    while (item != 0 && memcmp(&rows->at[rows->last.at[item - 1] - 1]->way, way, sizeof *way) != 0)
        item = dfl_hashmap_next(&rows->of_ways, hash, &at);
    return item;
}

/* 1 + the index of the last row of a way; 0 = there is none. */
static uint32_t last_of(const dfl_pareto_set *rows, const dfl_way *way, uint64_t hash)
{
    const uint32_t item = item_of(rows, way, hash);

    return item != 0 ? rows->last.at[item - 1] : 0;
}

bool dfl_pareto_set_is_open_to(dfl_pareto_set *rows, const dfl_pmapping *row, const dfl_tile_goal *goal)
{
    dfl_signatures kinds;

    kinds.n = 0;
    for (uint32_t i = last_of(rows, &row->way, row->hash); i != 0; i = rows->at[i - 1]->next)
        if (undercuts(rows->at[i - 1], row, goal) && dfl_signatures_settle(&kinds, rows->at[i - 1]->kind, row->kind, goal->top))
            return false;
    return true;
}

bool dfl_pareto_set_cheaper(dfl_pareto_set *rows, const dfl_way *way, uint64_t hash, uint64_t kind, double joules, double seconds,
                            const dfl_tile_goal *goal)
{
    dfl_signatures kinds;

    kinds.n = 0;
    for (uint32_t i = last_of(rows, way, hash); i != 0; i = rows->at[i - 1]->next)
        if ((!goal->by_energy || rows->at[i - 1]->joules <= joules) &&
            (!goal->by_time || rows->at[i - 1]->seconds <= seconds) &&
            dfl_signatures_settle(&kinds, rows->at[i - 1]->kind, kind, goal->top))
            return true;
    return false;
}

/* Whether the rows from `first` on, and another one, make `victim` useless. */
static bool useless(const dfl_pareto_set *rows, uint32_t first, const dfl_pmapping *other, const dfl_pmapping *victim,
                    const dfl_tile_goal *goal)
{
    dfl_signatures kinds;

    kinds.n = 0;
    if (!undercuts(other, victim, goal))
        return false;
    if (dfl_signatures_settle(&kinds, other->kind, victim->kind, goal->top))
        return true;
    for (uint32_t i = first; i != 0; i = rows->at[i - 1]->next)
        if (rows->at[i - 1] != victim && undercuts(rows->at[i - 1], victim, goal) &&
            dfl_signatures_settle(&kinds, rows->at[i - 1]->kind, victim->kind, goal->top))
            return true;
    return false;
}

void dfl_pareto_set_add(dfl_pareto_set *rows, const dfl_pmapping *row, const dfl_tile_goal *goal)
{
    uint32_t item = item_of(rows, &row->way, row->hash), *slot, *link;
    dfl_pmapping *copy = DFL_NEW(rows->arena, dfl_pmapping);
    struct { dfl_pmapping **at; size_t n, cap; } all = { rows->at, rows->n, rows->cap };

    if (item == 0) {
        DFL_PUSH(rows->arena, &rows->last, 0);
        item = (uint32_t)rows->last.n;
        dfl_hashmap_add(rows->arena, &rows->of_ways, row->hash, item);
    }
    slot = link = &rows->last.at[item - 1];
    while (*link != 0) {
        dfl_pmapping *other = rows->at[*link - 1];
        if (useless(rows, *slot, row, other, goal)) {
            other->form = NULL;
            *link = other->next;
        } else {
            link = &other->next;
        }
    }
    *copy = *row;
    copy->next = *slot;
    DFL_PUSH(rows->arena, &all, copy);
    rows->at = all.at;
    rows->n = (uint32_t)all.n;
    rows->cap = all.cap;
    *slot = rows->n;
}

const dfl_pmapping *const *dfl_pareto_set_list(dfl_pareto_set *rows, uint32_t *n)
{
    const dfl_pmapping **list = DFL_NEW_ARRAY(rows->arena, const dfl_pmapping *, (size_t)rows->n + 1);

    *n = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->at[i]->form != NULL)
            list[(*n)++] = rows->at[i];
    return list;
}

uint64_t dfl_pareto_set_evaluated(const dfl_pareto_set *rows) { return rows->evaluated; }
uint64_t dfl_pareto_set_pruned(const dfl_pareto_set *rows) { return rows->pruned; }

const dfl_pmapping *dfl_pmapping_copy(dfl_arena *arena, const dfl_pmapping *row)
{
    size_t n = (size_t)(row->form->n_keeps + 1 + row->problem->n_axes) * row->problem->n_ranks;
    dfl_pmapping *copy = DFL_NEW(arena, dfl_pmapping);
    int64_t *cut = DFL_NEW_ARRAY(arena, int64_t, n);

    *copy = *row;
    memcpy(cut, row->cut, n * sizeof *cut);
    copy->cut = cut;
    return copy;
}

uint32_t dfl_pmapping_loops_above(const dfl_pmapping *row, uint32_t i)
{
    uint32_t loops = 0;

    while (loops < row->way.n_loops && row->gap[loops] <= i)
        loops++;
    return loops;
}

uint32_t dfl_pmapping_kept(const dfl_pmapping *row, uint32_t operand, uint32_t loops, uint32_t *above)
{
    const dfl_tiling_template *t = row->form;
    uint32_t kept = 0;

    *above = 0;
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        uint32_t memory = 1u << (row->problem->place[t->keep[i].place].memory & 31);
        if (t->keep[i].operand != operand || t->keep[i].home)
            continue;
        kept |= memory;
        if (i < t->shared_gaps && dfl_pmapping_loops_above(row, i) < loops)
            *above |= memory;
    }
    return kept;
}
