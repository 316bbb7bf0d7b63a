/* Builds and rounds the ledgers: the parts of energy and time on both sides. */
#include "report/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/intern.h"
#include "support/limits.h"

typedef struct { dfl_arena *arena; dfl_diff_pair *pair; dfl_ledger *ledger; dfl_intern *names; } context;

static bool part_differs(const dfl_ledger_part *p)
{
    return p->from != p->to || p->count_from != p->count_to;
}

/* Finds a part by its names, or adds a new part. The index of a part is its symbol in `names` - 1. */
static dfl_ledger_part *find_part(const context *c, const char *where, const char *what, const char *action)
{
    const dfl_ledger_part fresh = { .where = where, .what = what, .action = action };
    uint32_t known = dfl_intern_count(c->names);
    dfl_sym name = dfl_intern_z(c->names, dfl_arena_printf(c->arena, "%s\n%s\n%s", where, what, action));

    if (dfl_intern_count(c->names) > known)
        DFL_PUSH(c->arena, &c->ledger->parts, fresh);
    return &c->ledger->parts.at[name - 1];
}

/* Adds `value` to one side of a part and sets its count. */
static void add_to_part(dfl_ledger_part *p, bool to, double value, bool counted, dfl_i128 count)
{
    *(to ? &p->to : &p->from) += value;
    *(to ? &p->count_to : &p->count_from) = count;
    p->has_counts |= counted;
}

static void add_energy(const context *c, const dfl_side_result *side, bool to)
{
    for (size_t i = 0; i < side->traffic.n; i++) {
        const dfl_side_traffic *t = &side->traffic.at[i];

        for (dfl_action a = 0; a < DFL_ACTIONS; a++)
            if (t->counts[a] != 0 || t->joules[a] != 0)
                add_to_part(find_part(c, t->memory, t->tensor, dfl_action_text(a)), to, t->joules[a], true, t->counts[a]);
    }
    for (size_t i = 0; i < side->einsums.n; i++) {
        const dfl_side_einsum *e = &side->einsums.at[i];

        add_to_part(find_part(c, e->unit, e->name, "compute"), to, e->joules, true, e->points);
    }
    for (size_t i = 0; i < side->networks.n; i++)
        add_to_part(find_part(c, side->networks.at[i].name, "", "transfer"), to, side->networks.at[i].joules, false, 0);
    if (side->leakage != 0)
        add_to_part(find_part(c, "leakage", "", ""), to, side->leakage, false, 0);
}

static void add_time(const context *c, const dfl_side_result *side, bool to)
{
    double all = 0;

    for (size_t i = 0; i < side->einsums.n; i++) {
        add_to_part(find_part(c, side->einsums.at[i].name, "", ""), to, side->einsums.at[i].seconds, false, 0);
        all += side->einsums.at[i].seconds;
    }
    if (side->seconds != all)
        add_to_part(find_part(c, "shared", "", ""), to, side->seconds - all, false, 0);
}

/* Adds the difference between the total and the sum of the parts as a part, unless the difference is a rounding error. */
static void add_rest(const context *c, double total, bool to)
{
    double all = 0, size = fabs(total);

    for (size_t i = 0; i < c->ledger->parts.n; i++) {
        double value = to ? c->ledger->parts.at[i].to : c->ledger->parts.at[i].from;

        all += value;
        size = fabs(value) > size ? fabs(value) : size;
    }
    if (fabs(total - all) > DFL_SUM_TOLERANCE * size)
        add_to_part(find_part(c, "not attributed", "", ""), to, total - all, false, 0);
}

/* ---- causes ---- */

static bool is_memory(const dfl_side_result *side, const char *name)
{
    for (size_t i = 0; i < side->memories.n; i++)
        if (strcmp(side->memories.at[i].name, name) == 0)
            return true;
    return false;
}

static bool has_traffic(const dfl_side_result *side, const dfl_ledger_part *p)
{
    for (size_t i = 0; i < side->traffic.n; i++)
        if (strcmp(side->traffic.at[i].memory, p->where) == 0 && strcmp(side->traffic.at[i].tensor, p->what) == 0)
            return true;
    return false;
}

static const dfl_side_einsum *find_einsum(const dfl_side_result *side, const char *name)
{
    for (size_t i = 0; i < side->einsums.n; i++)
        if (strcmp(side->einsums.at[i].name, name) == 0)
            return &side->einsums.at[i];
    return NULL;
}

static const char *traffic_cause(const context *c, const dfl_ledger_part *p, dfl_action action)
{
    bool before = has_traffic(c->pair->from, p), after = has_traffic(c->pair->to, p);
    const char *why = NULL;

    if (before && after && p->count_from == p->count_to)
        return "energy of an access";
    why = dfl_diff_cause(c->arena, c->pair, p->where, p->what, action);
    if (why || (before && after))
        return why ? why : "moved more or less often";
    return dfl_arena_printf(c->arena, before ? "%s no longer in %s" : "%s placed in %s", p->what, p->where);
}

static const char *energy_cause(const context *c, const dfl_ledger_part *p)
{
    const dfl_side_einsum *before = find_einsum(c->pair->from, p->what), *after = find_einsum(c->pair->to, p->what);

    for (dfl_action a = 0; a < DFL_ACTIONS; a++)
        if (strcmp(p->action, dfl_action_text(a)) == 0 &&
            (is_memory(c->pair->from, p->where) || is_memory(c->pair->to, p->where)))
            return traffic_cause(c, p, a);
    if (strcmp(p->action, "transfer") == 0)
        return "transfers over it";
    if (strcmp(p->action, "compute") != 0)
        return strcmp(p->where, "leakage") == 0 ? "time and power" : "the reports do not say";
    if (!before || !after)
        return dfl_arena_printf(c->arena, "%s computed on one side alone", p->what);
    if (strcmp(before->unit, after->unit) != 0)
        return dfl_arena_printf(c->arena, "%s on another unit", p->what);
    if (before->points != after->points)
        return dfl_arena_printf(c->arena, "points of %s", p->what);
    return "energy of an operation";
}

static const char *time_cause(const context *c, const dfl_ledger_part *p)
{
    const dfl_side_einsum *before = find_einsum(c->pair->from, p->where), *after = find_einsum(c->pair->to, p->where);

    if (before && after && strcmp(before->bound_by, after->bound_by) != 0)
        return dfl_arena_printf(c->arena, "bound by %s -> %s", before->bound_by, after->bound_by);
    if (before && after)
        return dfl_arena_printf(c->arena, "bound by %s", before->bound_by);
    if (before || after)
        return dfl_arena_printf(c->arena, "only %s, bound by %s", before ? "before" : "after",
                                (before ? before : after)->bound_by);
    return "first and last tiles, shared loops, overlap";
}

/* ---- both ledgers ---- */

/* Compares two parts for sorting: parts with the largest difference of values first, then parts that differ only in counts,
   then equal parts; ties keep the order of the reports. */
static int by_difference(const void *a, const void *b)
{
    const dfl_ledger_part *const *x = a, *const *y = b;
    double p = fabs((*x)->to - (*x)->from), q = fabs((*y)->to - (*y)->from);

    if (p != q)
        return p < q ? 1 : -1;
    if (part_differs(*x) != part_differs(*y))
        return part_differs(*x) ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

static void sort_parts(dfl_arena *arena, dfl_ledger *l)
{
    dfl_ledger_part **order = DFL_NEW_ARRAY(arena, dfl_ledger_part *, l->parts.n + 1);
    dfl_ledger_part *sorted = DFL_NEW_ARRAY(arena, dfl_ledger_part, l->parts.n + 1);

    for (size_t i = 0; i < l->parts.n; i++)
        order[i] = &l->parts.at[i];
    qsort(order, l->parts.n, sizeof *order, by_difference);
    for (size_t i = 0; i < l->parts.n; i++)
        sorted[i] = *order[i];
    l->parts.at = sorted;
    l->parts.cap = l->parts.n + 1;
}

void dfl_ledgers_compute(dfl_arena *arena, dfl_diff_pair *pair)
{
    dfl_ledger *ledgers[] = { &pair->energy, &pair->time };
    const dfl_side_result *sides[] = { pair->from, pair->to };

    for (unsigned k = 0; k < 2; k++) {
        context c = { arena, pair, ledgers[k], dfl_intern_new(arena) };
        dfl_ledger *l = ledgers[k];

        for (unsigned to = 0; to < 2; to++) {
            *(to ? &l->to : &l->from) = k == 0 ? sides[to]->joules : sides[to]->seconds;
            if (k == 0)
                add_energy(&c, sides[to], to);
            else
                add_time(&c, sides[to], to);
        }
        add_rest(&c, l->from, false);
        add_rest(&c, l->to, true);
        for (size_t i = 0; i < l->parts.n; i++)
            if (part_differs(&l->parts.at[i])) {
                l->parts.at[i].cause = k == 0 ? energy_cause(&c, &l->parts.at[i]) : time_cause(&c, &l->parts.at[i]);
                pair->differs = true;
            }
        sort_parts(arena, l);
    }
}

/* ---- rounding ---- */

/* The number of decimal places with which the largest total or part has `digits` digits. */
static int decimals_for(const dfl_ledger *l, int digits)
{
    enum { MOST = 300 };
    double size = fabs(l->from) > fabs(l->to) ? fabs(l->from) : fabs(l->to);
    char text[40];
    int places;

    for (size_t i = 0; i < l->parts.n; i++) {
        size = fabs(l->parts.at[i].from) > size ? fabs(l->parts.at[i].from) : size;
        size = fabs(l->parts.at[i].to) > size ? fabs(l->parts.at[i].to) : size;
    }
    if (!(size > 0) || !isfinite(size))
        return 0;
    snprintf(text, sizeof text, "%.*e", digits - 1, size);
    places = digits - 1 - (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return places > MOST ? MOST : places;
}

/* Scales a value to units of the ledger: value * 10^decimals. */
static double scale_value(double value, int decimals)
{
    char text[16];

    snprintf(text, sizeof text, "1e%d", decimals);
    return value * strtod(text, NULL);
}

/* Rounds a value to whole units of 10^-decimals; 0 for values beyond 10^18 units. */
static dfl_i128 round_value(double value, int decimals)
{
    double units = scale_value(value, decimals);

    return fabs(units) < 1e18 ? (dfl_i128)llround(units) : 0;
}

/* A part and its rounding error in the direction of the missing units: the larger `left`, the sooner the part gets a unit. */
typedef struct { dfl_ledger_part *part; double left; } rest;

static int by_rest(const void *a, const void *b)
{
    const rest *x = a, *y = b;

    return x->left != y->left ? (x->left < y->left ? 1 : -1) : (x->part > y->part) - (x->part < y->part);
}

/* Makes the rounded parts of a side add up to the rounded total by adding or subtracting one unit per part. Parts with the
   largest rounding error in the needed direction come first. With `differing` only parts that differ between the sides
   change; else only equal parts change, by the same unit on both sides. */
static void distribute_rest(dfl_arena *arena, dfl_ledger *l, bool to, bool differing)
{
    rest *order = DFL_NEW_ARRAY(arena, rest, l->parts.n + 1);
    dfl_i128 missing = round_value(to ? l->to : l->from, l->decimals);
    dfl_i128 step;
    size_t n = 0;

    for (size_t i = 0; i < l->parts.n; i++)
        missing -= to ? l->parts.at[i].units_to : l->parts.at[i].units_from;
    step = missing > 0 ? 1 : -1;
    for (size_t i = 0; i < l->parts.n; i++) {
        dfl_ledger_part *p = &l->parts.at[i];
        double value = to ? p->to : p->from;

        if (value != 0 && (p->from != p->to) == differing)
            order[n++] = (rest){ p, (scale_value(value, l->decimals) -
                                     dfl_i128_double(to ? p->units_to : p->units_from)) * (double)step };
    }
    qsort(order, n, sizeof *order, by_rest);
    for (size_t i = 0; i < n && missing != 0; i++, missing -= step) {
        dfl_ledger_part *p = order[i].part;

        p->units_from += !to || !differing ? step : 0;
        p->units_to += to || !differing ? step : 0;
    }
}

void dfl_ledger_round(dfl_arena *arena, dfl_ledger *l, int digits)
{
    l->decimals = decimals_for(l, digits);
    l->units_from = l->units_to = 0;
    for (size_t i = 0; i < l->parts.n; i++) {
        l->parts.at[i].units_from = round_value(l->parts.at[i].from, l->decimals);
        l->parts.at[i].units_to = round_value(l->parts.at[i].to, l->decimals);
    }
    for (unsigned to = 0; to < 2; to++) {
        distribute_rest(arena, l, to, true);
        distribute_rest(arena, l, to, false);
    }
    distribute_rest(arena, l, false, true);
    for (size_t i = 0; i < l->parts.n; i++) {
        l->units_from += l->parts.at[i].units_from;
        l->units_to += l->parts.at[i].units_to;
    }
}
