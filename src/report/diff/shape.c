/* What is mapped otherwise: branches, keeps, and loops. */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

typedef struct { dfl_arena *arena; dfl_diff_pair *pair; const dfl_shape *from, *to; } context;

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A loop by what it iterates and where, whatever its tiles. */
static bool same_loop(const dfl_shape_loop *a, const dfl_shape_loop *b)
{
    return same(a->rank, b->rank) && same(a->axis, b->axis);
}

/* Adds a change, or its einsum to the same change of others. */
static void add(const context *c, dfl_change change)
{
    for (size_t i = 0; change.einsums && i < c->pair->changes.n; i++) {
        dfl_change *k = &c->pair->changes.at[i];

        if (!k->einsums || !same(k->kind, change.kind) || !same(k->what, change.what) || !same(k->from, change.from) ||
            !same(k->to, change.to))
            continue;
        k->einsums = dfl_arena_printf(c->arena, "%s, %s", k->einsums, change.einsums);
        return;
    }
    DFL_PUSH(c->arena, &c->pair->changes, change);
}

static const dfl_shape_chain *find_chain(const dfl_shape *s, const char *einsum)
{
    for (size_t i = 0; i < s->chains.n; i++)
        if (same(s->chains.at[i].einsum, einsum))
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
        if (!rank || same(loops->at[i].rank, rank))
            print_loop(&out, &loops->at[i], amounts);
    return out.len > 0 ? out.text : NULL;
}

static void compare_rank(const context *c, const dfl_shape_chain *a, const dfl_shape_chain *b, const char *rank)
{
    const char *from = dfl_shape_text(c->arena, &a->loops, rank, true);
    const char *to = dfl_shape_text(c->arena, &b->loops, rank, true);

    if (!same(from, to))
        add(c, (dfl_change){ "loop", rank, from, to, a->einsum });
}

/* Whether one of the first `n` loops is over the rank. */
static bool has_rank(const dfl_shape_loops *loops, size_t n, const char *rank)
{
    for (size_t i = 0; i < n; i++)
        if (same(loops->at[i].rank, rank))
            return true;
    return false;
}

static size_t times(const dfl_shape_loops *loops, size_t n, const dfl_shape_loop *loop)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += same_loop(&loops->at[i], loop);
    return found;
}

/* The loops that the others have, too. */
static dfl_shape_loops common(const context *c, const dfl_shape_loops *loops, const dfl_shape_loops *others)
{
    dfl_shape_loops out = { 0 };

    for (size_t i = 0; i < loops->n; i++)
        if (times(loops, i, &loops->at[i]) < times(others, others->n, &loops->at[i]))
            DFL_PUSH(c->arena, &out, loops->at[i]);
    return out;
}

static void compare_order(const context *c, const dfl_shape_chain *a, const dfl_shape_chain *b)
{
    dfl_shape_loops x = common(c, &a->loops, &b->loops), y = common(c, &b->loops, &a->loops);
    size_t i = 0;

    while (i < x.n && i < y.n && same_loop(&x.at[i], &y.at[i]))
        i++;
    if (i < x.n)
        add(c, (dfl_change){ "order", "", dfl_shape_text(c->arena, &a->loops, NULL, true),
                             dfl_shape_text(c->arena, &b->loops, NULL, true), a->einsum });
}

/* Which ranks an axis works on decides what its instances share; all loops decide how often operands are read. */
static void find_spread(const context *c, const dfl_shape_loops *from, const dfl_shape_loops *to)
{
    const dfl_shape_loops *sides[] = { from, to };

    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->n && !c->pair->spread; i++) {
            const dfl_shape_loop *l = &sides[s]->at[i];
            size_t k = 0;

            while (k < sides[!s]->n && !(same_loop(&sides[!s]->at[k], l) && same(sides[!s]->at[k].amount, l->amount)))
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

/* The first keep of the tensor in by_name, in that memory or for NULL in any; *n gets how many there are. */
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
    while (low + *n < s->keeps.n && same(s->by_name[low + *n]->tensor, tensor) &&
           (!memory || same(s->by_name[low + *n]->memory, memory)))
        ++*n;
    return s->by_name + low;
}

/* All places of the keeps of a tensor in a memory. NULL when there is none. */
static const char *places(dfl_arena *arena, const dfl_shape *s, const char *tensor, const char *memory, bool amounts)
{
    size_t n;
    const dfl_shape_keep **all = find_keeps(s, tensor, memory, &n);
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (size_t i = 0; i < n; i++) {
        const char *place = amounts ? all[i]->place : all[i]->bare;
        size_t k = 0;

        while (k < i && !same(amounts ? all[k]->place : all[k]->bare, place))
            k++;
        if (k == i)
            dfl_strbuf_printf(&out, "%s%s", out.len > 0 ? "; " : "", place);
    }
    return out.len > 0 ? out.text : NULL;
}

/* The keeps of one side, each tensor in each memory once; `fresh`: only those that the other side lacks. Those that
   differ in tiles alone are told by their loops. */
static void compare_keeps(const context *c, const dfl_shape *side, bool fresh)
{
    for (size_t i = 0; i < side->keeps.n; i++) {
        const dfl_shape_keep *k = &side->keeps.at[i];
        const char *from = places(c->arena, c->from, k->tensor, k->memory, false);
        const char *to = places(c->arena, c->to, k->tensor, k->memory, false);
        size_t n;

        if (same(from, to) || (fresh && from) || find_keeps(side, k->tensor, k->memory, &n)[0] != k)
            continue;
        add(c, (dfl_change){ "keep", dfl_arena_printf(c->arena, "%s in %s", k->tensor, k->memory),
                             places(c->arena, c->from, k->tensor, k->memory, true),
                             places(c->arena, c->to, k->tensor, k->memory, true), NULL });
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
        if (same(s->groups.at[i].einsums, einsums))
            return &s->groups.at[i];
    return NULL;
}

static void compare_groups(const context *c)
{
    for (size_t i = 0; i < c->from->groups.n; i++) {
        const dfl_shape_group *a = &c->from->groups.at[i], *b = find_group(c->to, a->einsums);

        if (!b || !same(a->how, b->how) || !same(a->loops, b->loops))
            add(c, (dfl_change){ "fusion", a->einsums, group_text(c, a), b ? group_text(c, b) : NULL, NULL });
    }
    for (size_t i = 0; i < c->to->groups.n; i++) {
        const dfl_shape_group *b = &c->to->groups.at[i];

        if (!find_group(c->from, b->einsums))
            add(c, (dfl_change){ "fusion", b->einsums, NULL, group_text(c, b), NULL });
    }
}

void dfl_diff_shapes(dfl_arena *arena, dfl_diff_pair *pair)
{
    const context c = { arena, pair, pair->from->shape, pair->to->shape };

    if (!c.from || !c.to)
        return;
    if (!same(c.from->overlap, c.to->overlap))
        add(&c, (dfl_change){ "overlap", "", c.from->overlap, c.to->overlap, NULL });
    compare_groups(&c);
    compare_keeps(&c, c.from, false);
    compare_keeps(&c, c.to, true);
    for (size_t i = 0; i < c.from->chains.n; i++) {
        const dfl_shape_chain *b = find_chain(c.to, c.from->chains.at[i].einsum);

        if (b)
            compare_loops(&c, &c.from->chains.at[i], b);
    }
    for (size_t i = 0; i < pair->changes.n && !pair->loops; i++)
        if (same(pair->changes.at[i].kind, "loop"))
            pair->loops = dfl_arena_printf(arena, "loops of %s", pair->changes.at[i].what);
}

/* ---- causes ---- */

typedef enum { SAME, PLACED, REMOVED, MOVED, RESIZED } verdict;

/* What became of the keeps of a tensor in a memory. `*why` gets the words for it. */
static verdict judge(const context *c, const char *tensor, const char *memory, const char **why)
{
    static const char *const words[][3] = {
        [SAME] = { "", " in ", "" }, [PLACED] = { "", " placed in ", "" }, [REMOVED] = { "", " no longer in ", "" },
        [MOVED] = { "", " in ", " moved" }, [RESIZED] = { "tiles above ", " in ", "" },
    };
    const char *before = places(c->arena, c->from, tensor, memory, true);
    const char *after = places(c->arena, c->to, tensor, memory, true);
    verdict found = SAME;

    if (!before || !after)
        found = before ? REMOVED : after ? PLACED : SAME;
    else if (!same(places(c->arena, c->from, tensor, memory, false), places(c->arena, c->to, tensor, memory, false)))
        found = MOVED;
    else if (!same(before, after))
        found = RESIZED;
    *why = dfl_arena_printf(c->arena, "%s%s%s%s%s", words[found][0], tensor, words[found][1], memory, words[found][2]);
    return found;
}

/* What became of the keeps next to those in `memory`, on either side; of outer ones only whether they are there. */
static const char *judge_next(const context *c, const char *tensor, const char *memory, bool inside)
{
    const dfl_shape *sides[] = { c->from, c->to };

    for (unsigned s = 0; s < 2; s++) {
        size_t n;
        const dfl_shape_keep **all = find_keeps(sides[s], tensor, NULL, &n);

        for (size_t i = 0; i < n; i++) {
            bool here = same(inside ? all[i]->outer : all[i]->memory, memory);
            const char *next = inside ? all[i]->memory : all[i]->outer, *why;
            verdict found = here && next ? judge(c, tensor, next, &why) : SAME;

            if (found == PLACED || found == REMOVED || (inside && found != SAME))
                return why;
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
    verdict found;

    if (!c.from || !c.to)
        return NULL;
    found = judge(&c, tensor, memory, &own);
    if (found == PLACED || found == REMOVED)
        return own;
    next = judge_next(&c, tensor, memory, inside);
    if (next)
        return next;
    if (inside && pair->spread)
        return pair->spread;
    return found != SAME ? own : pair->loops;
}
