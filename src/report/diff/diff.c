/* Pairs the results of two reports, and finds the changes of a pair, except changes of the shapes. */
#include "report/diff/diff.h"

#include <string.h>

/* Adds a change unless both texts are equal. */
static void add_change(dfl_arena *arena, dfl_diff_pair *p, const char *kind, const char *what, const char *from, const char *to)
{
    const dfl_change one = { kind, what, from, to, NULL };

    if (strcmp(from, to) != 0)
        DFL_PUSH(arena, &p->changes, one);
}

static const char *digits_text(dfl_arena *arena, dfl_i128 value)
{
    char text[41];
    size_t len = dfl_i128_text(value, text);

    return dfl_arena_copy(arena, text, len);
}

/* Adds changes for einsums that only one side has, and for einsums that moved to another compute unit. */
static void compare_units(dfl_arena *arena, dfl_diff_pair *p)
{
    for (unsigned side = 0; side < 2; side++) {
        const dfl_side_result *a = side ? p->to : p->from, *b = side ? p->from : p->to;

        for (size_t i = 0; i < a->einsums.n; i++) {
            const dfl_side_einsum *e = &a->einsums.at[i];
            size_t k = 0;

            while (k < b->einsums.n && strcmp(b->einsums.at[k].name, e->name) != 0)
                k++;
            if (k == b->einsums.n) {
                const dfl_change one = { "einsum", e->name, side ? NULL : e->unit, side ? e->unit : NULL, NULL };
                DFL_PUSH(arena, &p->changes, one);
            } else if (!side) {
                add_change(arena, p, "unit", e->name, e->unit, b->einsums.at[k].unit);
            }
        }
    }
}

/* Adds changes for memories that only one side has, and for memories with another peak. */
static void compare_rooms(dfl_arena *arena, dfl_diff_pair *p)
{
    for (unsigned side = 0; side < 2; side++) {
        const dfl_side_result *a = side ? p->to : p->from, *b = side ? p->from : p->to;

        for (size_t i = 0; i < a->memories.n; i++) {
            const dfl_side_memory *m = &a->memories.at[i];
            const char *bits = digits_text(arena, m->peak_bits);
            size_t k = 0;

            while (k < b->memories.n && strcmp(b->memories.at[k].name, m->name) != 0)
                k++;
            if (k == b->memories.n) {
                const dfl_change one = { "memory", m->name, side ? NULL : bits, side ? bits : NULL, NULL };
                DFL_PUSH(arena, &p->changes, one);
            } else if (!side) {
                add_change(arena, p, "room", m->name, bits, digits_text(arena, b->memories.at[k].peak_bits));
            }
        }
    }
}

static dfl_diff_pair compare_results(dfl_arena *arena, const dfl_side_result *from, const dfl_side_result *to)
{
    dfl_diff_pair p = { .from = from, .to = to };

    add_change(arena, &p, "workload", "", from->workload, to->workload);
    add_change(arena, &p, "system", "", from->system, to->system);
    add_change(arena, &p, "status", "", from->has_costs ? "feasible" : "infeasible", to->has_costs ? "feasible" : "infeasible");
    if (from->has_costs && to->has_costs) {
        add_change(arena, &p, "mac", "", digits_text(arena, from->mac), digits_text(arena, to->mac));
        add_change(arena, &p, "flop", "", digits_text(arena, from->flop), digits_text(arena, to->flop));
        compare_units(arena, &p);
        dfl_diff_shapes(arena, &p);
        compare_rooms(arena, &p);
        add_change(arena, &p, "bound", "", from->bound_by, to->bound_by);
        dfl_ledgers_compute(arena, &p);
    }
    p.differs |= p.changes.n > 0;
    return p;
}

/* The first result called `name`; NULL = none. */
static const dfl_side_result *find_result(const dfl_side_results *side, const char *name)
{
    for (size_t i = 0; i < side->n; i++)
        if (strcmp(side->at[i].name, name) == 0)
            return &side->at[i];
    return NULL;
}

void dfl_diff_compare(dfl_arena *arena, const dfl_side_results *from, const dfl_side_results *to, dfl_difference *out)
{
    bool one = from->n == 1 && to->n == 1;

    for (size_t i = 0; i < from->n; i++) {
        const dfl_side_result *other = one ? to->at : find_result(to, from->at[i].name);

        if (!other) {
            DFL_PUSH(arena, &out->only_from, &from->at[i]);
            continue;
        }
        const dfl_diff_pair pair = compare_results(arena, &from->at[i], other);
        DFL_PUSH(arena, &out->pairs, pair);
        out->differs |= pair.differs;
    }
    for (size_t i = 0; i < to->n && !one; i++)
        if (!find_result(from, to->at[i].name))
            DFL_PUSH(arena, &out->only_to, &to->at[i]);
    out->differs |= out->only_from.n > 0 || out->only_to.n > 0;
}
