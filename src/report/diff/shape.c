/* Finds the changes between two shapes (branches, keeps, loops) and the causes of different counts. */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

typedef struct { dfl_arena *arena; dfl_diff_pair *pair; const dfl_shape *from, *to; } context;

/* Whether both texts are equal, or both are NULL. */
static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether two loops have the same rank and axis; the tile sizes may differ. */
static bool is_same_loop(const dfl_shape_loop *a, const dfl_shape_loop *b)
{
    return is_same(a->rank, b->rank) && is_same(a->axis, b->axis);
}

/* Adds a change. If an equal change of other einsums exists, appends the einsum to it instead. */
static void add_change(const context *c, dfl_change change)
{
    for (size_t i = 0; change.einsums && i < c->pair->changes.n; i++) {
        dfl_change *k = &c->pair->changes.at[i];

        if (!k->einsums || !is_same(k->kind, change.kind) || !is_same(k->what, change.what) || !is_same(k->from, change.from) ||
            !is_same(k->to, change.to))
            continue;
        k->einsums = dfl_arena_printf(c->arena, "%s, %s", k->einsums, change.einsums);
        return;
    }
    DFL_PUSH(c->arena, &c->pair->changes, change);
}

static const dfl_shape_chain *find_chain(const dfl_shape *s, const char *einsum)
{
    for (size_t i = 0; i < s->chains.n; i++)
        if (is_same(s->chains.at[i].einsum, einsum))
            return &s->chains.at[i];
    return NULL;
}

/* ---- loops ---- */

static void print_loop(dfl_strbuf *out, const dfl_shape_loop *l, bool amounts)
{
    dfl_strbuf_printf(out, "%s%s%s%s%s", out->len > 0 ? ", " : "", l->rank, amounts ? l->amount : "",
                      *l->axis ? " on " : "", l->axis);
}

const char *dfl_shape_text(dfl_arena *arena, const dfl_shape_loops *loops, const char *rank, bool amounts)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (size_t i = 0; i < loops->n; i++)
        if (!rank || is_same(loops->at[i].rank, rank))
            print_loop(&out, &loops->at[i], amounts);
    return out.len > 0 ? out.text : NULL;
}

static void compare_rank(const context *c, const dfl_shape_chain *a, const dfl_shape_chain *b, const char *rank)
{
    const char *from = dfl_shape_text(c->arena, &a->loops, rank, true);
    const char *to = dfl_shape_text(c->arena, &b->loops, rank, true);

    if (!is_same(from, to))
        add_change(c, (dfl_change){ "loop", rank, from, to, a->einsum });
}

/* Whether one of the first `n` loops is over the rank. */
static bool has_rank(const dfl_shape_loops *loops, size_t n, const char *rank)
{
    for (size_t i = 0; i < n; i++)
        if (is_same(loops->at[i].rank, rank))
            return true;
    return false;
}

/* Number of loops with the rank and axis of `loop` among the first `n` loops. */
static size_t count_loop(const dfl_shape_loops *loops, size_t n, const dfl_shape_loop *loop)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += is_same_loop(&loops->at[i], loop);
    return found;
}

/* The loops of `loops` that `others` also has, in the order of `loops`. */
static dfl_shape_loops common_loops(const context *c, const dfl_shape_loops *loops, const dfl_shape_loops *others)
{
    dfl_shape_loops out = { 0 };

    for (size_t i = 0; i < loops->n; i++)
        if (count_loop(loops, i, &loops->at[i]) < count_loop(others, others->n, &loops->at[i]))
            DFL_PUSH(c->arena, &out, loops->at[i]);
    return out;
}

/* Adds a change if the loops that both sides have are in a different order. */
static void compare_order(const context *c, const dfl_shape_chain *a, const dfl_shape_chain *b)
{
    dfl_shape_loops x = common_loops(c, &a->loops, &b->loops), y = common_loops(c, &b->loops, &a->loops);
    size_t i = 0;

    while (i < x.n && i < y.n && is_same_loop(&x.at[i], &y.at[i]))
        i++;
    if (i < x.n)
        add_change(c, (dfl_change){ "order", "", dfl_shape_text(c->arena, &a->loops, NULL, true),
                             dfl_shape_text(c->arena, &b->loops, NULL, true), a->einsum });
}

/* Sets the cause `spread` to the first axis with a loop that only one side has. The ranks on an axis decide which elements
   the instances along the axis share. */
static void find_spread(const context *c, const dfl_shape_loops *from, const dfl_shape_loops *to)
{
    const dfl_shape_loops *sides[] = { from, to };

    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->n && !c->pair->spread; i++) {
            const dfl_shape_loop *l = &sides[s]->at[i];
            size_t k = 0;

            while (k < sides[!s]->n && !(is_same_loop(&sides[!s]->at[k], l) && is_same(sides[!s]->at[k].amount, l->amount)))
                k++;
            if (*l->axis && k == sides[!s]->n)
                c->pair->spread = dfl_arena_printf(c->arena, "spread on %s", l->axis);
        }
}

static void compare_loops(const context *c, const dfl_shape_chain *a, const dfl_shape_chain *b)
{
    for (size_t i = 0; i < a->loops.n; i++)
        if (!has_rank(&a->loops, i, a->loops.at[i].rank))
            compare_rank(c, a, b, a->loops.at[i].rank);
    for (size_t i = 0; i < b->loops.n; i++)
        if (!has_rank(&b->loops, i, b->loops.at[i].rank) && !has_rank(&a->loops, a->loops.n, b->loops.at[i].rank))
            compare_rank(c, a, b, b->loops.at[i].rank);
    compare_order(c, a, b);
    find_spread(c, &a->loops, &b->loops);
}

/* ---- keeps ---- */

static int by_name(const void *a, const void *b)
{
    const dfl_shape_keep *const *x = a, *const *y = b;
    int order = strcmp((*x)->tensor, (*y)->tensor);

    order = order ? order : strcmp((*x)->memory, (*y)->memory);
    return order ? order : (*x > *y) - (*x < *y);
}

void dfl_shape_index(dfl_arena *arena, dfl_shape *s)
{
    s->by_name = DFL_NEW_ARRAY(arena, const dfl_shape_keep *, s->keeps.n + 1);
    for (size_t i = 0; i < s->keeps.n; i++)
        s->by_name[i] = &s->keeps.at[i];
    qsort(s->by_name, s->keeps.n, sizeof *s->by_name, by_name);
}

/* The keeps of a tensor in `memory`, or for NULL in all memories: *n adjacent items of `by_name`. */
static const dfl_shape_keep **find_keeps(const dfl_shape *s, const char *tensor, const char *memory, size_t *n)
{
    size_t low = 0, high = s->keeps.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(s->by_name[middle]->tensor, tensor);

        if (order < 0 || (order == 0 && memory && strcmp(s->by_name[middle]->memory, memory) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    *n = 0;
    while (low + *n < s->keeps.n && is_same(s->by_name[low + *n]->tensor, tensor) &&
           (!memory || is_same(s->by_name[low + *n]->memory, memory)))
        ++*n;
    return s->by_name + low;
}

/* The places of the keeps of a tensor in a memory as text, each place once; NULL = no keep. */
static const char *places_text(dfl_arena *arena, const dfl_shape *s, const char *tensor, const char *memory, bool amounts)
{
    size_t n;
    const dfl_shape_keep **all = find_keeps(s, tensor, memory, &n);
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (size_t i = 0; i < n; i++) {
        const char *place = amounts ? all[i]->place : all[i]->bare_place;
        size_t k = 0;

        while (k < i && !is_same(amounts ? all[k]->place : all[k]->bare_place, place))
            k++;
        if (k == i)
            dfl_strbuf_printf(&out, "%s%s", out.len > 0 ? "; " : "", place);
    }
    return out.len > 0 ? out.text : NULL;
}

/* Adds the changed keeps of one side, once per tensor and memory; with `fresh`, only keeps that the other side lacks. Skips
   keeps whose surrounding loops differ only in tile sizes: the loops are changes of their own. */
static void compare_keeps(const context *c, const dfl_shape *side, bool fresh)
{
    for (size_t i = 0; i < side->keeps.n; i++) {
        const dfl_shape_keep *k = &side->keeps.at[i];
        const char *from = places_text(c->arena, c->from, k->tensor, k->memory, false);
        const char *to = places_text(c->arena, c->to, k->tensor, k->memory, false);
        size_t n;

        if (is_same(from, to) || (fresh && from) || find_keeps(side, k->tensor, k->memory, &n)[0] != k)
            continue;
        add_change(c, (dfl_change){ "keep", dfl_arena_printf(c->arena, "%s in %s", k->tensor, k->memory),
                             places_text(c->arena, c->from, k->tensor, k->memory, true),
                             places_text(c->arena, c->to, k->tensor, k->memory, true), NULL });
    }
}

/* ---- fusion ---- */

static const char *group_text(const context *c, const dfl_shape_group *g)
{
    return dfl_arena_printf(c->arena, "%s below %s", g->how, g->loops);
}

static const dfl_shape_group *find_group(const dfl_shape *s, const char *einsums)
{
    for (size_t i = 0; i < s->groups.n; i++)
        if (is_same(s->groups.at[i].einsums, einsums))
            return &s->groups.at[i];
    return NULL;
}

static void compare_groups(const context *c)
{
    for (size_t i = 0; i < c->from->groups.n; i++) {
        const dfl_shape_group *a = &c->from->groups.at[i], *b = find_group(c->to, a->einsums);

        if (!b || !is_same(a->how, b->how) || !is_same(a->loops, b->loops))
            add_change(c, (dfl_change){ "fusion", a->einsums, group_text(c, a), b ? group_text(c, b) : NULL, NULL });
    }
    for (size_t i = 0; i < c->to->groups.n; i++) {
        const dfl_shape_group *b = &c->to->groups.at[i];

        if (!find_group(c->from, b->einsums))
            add_change(c, (dfl_change){ "fusion", b->einsums, NULL, group_text(c, b), NULL });
    }
}

void dfl_diff_shapes(dfl_arena *arena, dfl_diff_pair *pair)
{
    const context c = { arena, pair, pair->from->shape, pair->to->shape };

    if (!c.from || !c.to)
        return;
    if (!is_same(c.from->overlap, c.to->overlap))
        add_change(&c, (dfl_change){ "overlap", "", c.from->overlap, c.to->overlap, NULL });
    compare_groups(&c);
    compare_keeps(&c, c.from, false);
    compare_keeps(&c, c.to, true);
    for (size_t i = 0; i < c.from->chains.n; i++) {
        const dfl_shape_chain *b = find_chain(c.to, c.from->chains.at[i].einsum);

        if (b)
            compare_loops(&c, &c.from->chains.at[i], b);
    }
    for (size_t i = 0; i < pair->changes.n && !pair->loops; i++)
        if (is_same(pair->changes.at[i].kind, "loop"))
            pair->loops = dfl_arena_printf(arena, "loops of %s", pair->changes.at[i].what);
}

/* ---- causes ---- */

/* Categories of changes of the keeps of a tensor in a memory. RESIZED = the loops above have other tile sizes. */
typedef enum { SAME, PLACED, REMOVED, MOVED, RESIZED } keep_change;

/* Finds the change of the keeps of a tensor in a memory; *text receives a description. */
static keep_change find_keep_change(const context *c, const char *tensor, const char *memory, const char **text)
{
    static const char *const words[][3] = {
        [SAME] = { "", " in ", "" }, [PLACED] = { "", " placed in ", "" }, [REMOVED] = { "", " no longer in ", "" },
        [MOVED] = { "", " in ", " moved" }, [RESIZED] = { "tiles above ", " in ", "" },
    };
    const char *before = places_text(c->arena, c->from, tensor, memory, true);
    const char *after = places_text(c->arena, c->to, tensor, memory, true);
    keep_change found = SAME;

    if (!before || !after)
        found = before ? REMOVED : after ? PLACED : SAME;
    else if (!is_same(places_text(c->arena, c->from, tensor, memory, false), places_text(c->arena, c->to, tensor, memory, false)))
        found = MOVED;
    else if (!is_same(before, after))
        found = RESIZED;
    *text = dfl_arena_printf(c->arena, "%s%s%s%s%s", words[found][0], tensor, words[found][1], memory, words[found][2]);
    return found;
}

/* Describes a change of a keep adjacent to the keeps in `memory` on either side: with `inside` the next inner keeps, else
   the next outer keeps. Among outer keeps only new and removed keeps count. NULL = no such change. */
static const char *next_change_text(const context *c, const char *tensor, const char *memory, bool inside)
{
    const dfl_shape *sides[] = { c->from, c->to };

    for (unsigned s = 0; s < 2; s++) {
        size_t n;
        const dfl_shape_keep **all = find_keeps(sides[s], tensor, NULL, &n);

        for (size_t i = 0; i < n; i++) {
            bool here = is_same(inside ? all[i]->outer : all[i]->memory, memory);
            const char *next = inside ? all[i]->memory : all[i]->outer, *text;
            keep_change found = here && next ? find_keep_change(c, tensor, next, &text) : SAME;

            if (found == PLACED || found == REMOVED || (inside && found != SAME))
                return text;
        }
    }
    return NULL;
}

const char *dfl_diff_cause(dfl_arena *arena, const dfl_diff_pair *pair, const char *memory, const char *tensor,
                           dfl_action action)
{
    const context c = { arena, NULL, pair->from->shape, pair->to->shape };
    bool inside = action != DFL_FILL && action != DFL_DRAIN;
    const char *own, *next;
    keep_change found;

    if (!c.from || !c.to)
        return NULL;
    found = find_keep_change(&c, tensor, memory, &own);
    if (found == PLACED || found == REMOVED)
        return own;
    next = next_change_text(&c, tensor, memory, inside);
    if (next)
        return next;
    if (inside && pair->spread)
        return pair->spread;
    return found != SAME ? own : pair->loops;
}
