#include "groups/groups.h"

#include <math.h>
#include <stdlib.h>

#include "support/hash.h"
#include "support/hashmap.h"
#include "support/limits.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_einsum_set) set_list;

typedef struct { dfl_einsum_set group; double cost; } known_cost;

typedef struct {
    dfl_arena *arena;
    const dfl_group_problem *problem;
    DFL_VEC(known_cost) known;     /* groups that were evaluated */
    dfl_hashmap known_by_group;
    double slack;                  /* more than roundings change a sum of floors */
    double best;                   /* cost of the best chain so far */
} group_search;

/* Least costs of down-sets: with j groups in row j, or with any number of groups in row 0. */
typedef struct {
    const set_list *sets;          /* ascending: a set stands behind its subsets; the first is empty, the last is full */
    uint32_t rows;                 /* most + 1, or 1 */
    double *least;                 /* [row][set] */
    uint32_t *from;                /* [row][set]: the down-set before the last group */
    double *floors;                /* [set * n_floors + row]: sum of row `row` of the floors over its members */
    double *rest;                  /* [set]: lower bound of the cost of all other einsums, in any groups */
} chain_table;

static uint32_t count_members(dfl_einsum_set set)
{
    return (uint32_t)(__builtin_popcountll((uint64_t)set) + __builtin_popcountll((uint64_t)(set >> 64)));
}

/* ---- down-sets --------------------------------------------------------------------------------------------------- */

static int compare_sets(const void *x, const void *y)
{
    const dfl_einsum_set a = *(const dfl_einsum_set *)x, b = *(const dfl_einsum_set *)y;
    const uint32_t members_a = count_members(a), members_b = count_members(b);

    if (members_a != members_b)
        return members_a < members_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* All down-sets in ascending order; false if there are too many. A down-set of the first i + 1 einsums is one of the first i
   einsums, without einsum i or, if that contains all einsums before einsum i, with it. */
static bool list_down_sets(dfl_arena *arena, const dfl_group_problem *problem, set_list *sets)
{
    DFL_PUSH(arena, sets, 0);
    for (uint32_t i = 0; i < problem->n; i++)
        for (size_t k = 0, n = sets->n; k < n; k++) {
            dfl_einsum_set set = sets->at[k];
            if (problem->before[i] & ~set)
                continue;
            if (sets->n == DFL_GROUPS_DOWN_SETS)
                return false;
            DFL_PUSH(arena, sets, set | DFL_EINSUM_BIT(i));
        }
    qsort(sets->at, sets->n, sizeof *sets->at, compare_sets);
    return true;
}

/* The down-sets of the first k einsums, for every k. */
static void list_prefixes(dfl_arena *arena, const dfl_group_problem *problem, set_list *sets)
{
    dfl_einsum_set set = 0;

    DFL_PUSH(arena, sets, set);
    for (uint32_t i = 0; i < problem->n; i++) {
        set |= DFL_EINSUM_BIT(i);
        DFL_PUSH(arena, sets, set);
    }
}

/* ---- costs of groups --------------------------------------------------------------------------------------------- */

static double find_cost(group_search *search, dfl_einsum_set group)
{
    const uint64_t hash = dfl_hash(&group, sizeof group, 0);
    uint32_t at, item;

    for (item = dfl_hashmap_first(&search->known_by_group, hash, &at); item != 0;
         item = dfl_hashmap_next(&search->known_by_group, hash, &at))
        if (search->known.at[item - 1].group == group)
            return search->known.at[item - 1].cost;
    known_cost known = { .group = group, .cost = search->problem->cost(search->problem->context, group) };
    DFL_PUSH(search->arena, &search->known, known);
    dfl_hashmap_add(search->arena, &search->known_by_group, hash, (uint32_t)search->known.n);
    return known.cost;
}

/* ---- chains of down-sets ----------------------------------------------------------------------------------------- */

/* A lower bound of the cost of all einsums between down-sets `i` and `j`, in one group or several. */
static double find_floor(const group_search *search, const chain_table *table, size_t i, size_t j)
{
    const uint32_t rows = search->problem->n_floors;
    const double *before = &table->floors[i * rows], *behind = &table->floors[j * rows];
    double least = 0;

    for (uint32_t row = 0; row < rows; row++) {
        const double sum = behind[row] - before[row] - search->slack;

        least = sum > least ? sum : least;
    }
    return least;
}

static chain_table *make_table(const group_search *search, const set_list *sets)
{
    const uint32_t n = search->problem->n, rows = search->problem->n_floors;
    chain_table *table = DFL_NEW(search->arena, chain_table);

    table->sets = sets;
    table->rows = search->problem->most > 0 ? search->problem->most + 1 : 1;
    table->least = DFL_NEW_ARRAY(search->arena, double, table->rows * sets->n);
    table->from = DFL_NEW_ARRAY(search->arena, uint32_t, table->rows * sets->n);
    table->floors = DFL_NEW_ARRAY(search->arena, double, sets->n * rows + 1);
    table->rest = DFL_NEW_ARRAY(search->arena, double, sets->n);
    for (size_t i = 0; i < table->rows * sets->n; i++)
        table->least[i] = i == 0 ? 0 : INFINITY;
    for (size_t k = 0; k < sets->n; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t row = 0; row < rows && sets->at[k] & DFL_EINSUM_BIT(i); row++)
                table->floors[k * rows + row] += search->problem->floors[(size_t)row * n + i];
    for (size_t k = 0; k < sets->n; k++)
        table->rest[k] = find_floor(search, table, k, sets->n - 1);
    return table;
}

/* Whether a chain through down-set `i` may cost less than the best one. */
static bool may_improve(const group_search *search, const chain_table *table, size_t i)
{
    const size_t n = table->sets->n;

    for (size_t row = 0; row < (table->rows > 1 ? table->rows - 1 : 1); row++)
        if (table->least[row * n + i] + table->rest[i] < search->best)
            return true;
    return false;
}

/* Extends the chains to down-set `i` by the group between it and down-set `j`. */
static void extend_chains(group_search *search, chain_table *table, size_t i, size_t j)
{
    const size_t n = table->sets->n, step = table->rows > 1 ? n : 0;
    const double rest = table->rest[i], least = find_floor(search, table, i, j);
    bool improves = false;

    for (size_t row = 0; row < (step ? table->rows - 1 : 1); row++) {
        double before = table->least[row * n + i];
        improves = improves || (before + rest < search->best && before + least < table->least[row * n + step + j]);
    }
    if (!improves)
        return;
    double cost = find_cost(search, table->sets->at[j] & ~table->sets->at[i]);
    for (size_t row = 0; row < (step ? table->rows - 1 : 1); row++) {
        double sum = table->least[row * n + i] + cost, *to = &table->least[row * n + step + j];
        if (sum < *to) {
            *to = sum;
            table->from[row * n + step + j] = (uint32_t)i;
        }
        if (j == n - 1 && sum < search->best)
            search->best = sum;
    }
}

/* The groups of the best chain in a table. */
static dfl_groups trace_groups(const group_search *search, const chain_table *table)
{
    const size_t n = table->sets->n;
    dfl_groups found = { .n = 0, .groups = NULL, .cost = INFINITY, .proven = false, .down_sets = n, .evaluated = 0 };
    size_t best = 0;

    for (size_t row = 0; row < table->rows; row++)
        if (table->least[row * n + n - 1] < found.cost) {
            found.cost = table->least[row * n + n - 1];
            best = row;
        }
    if (isinf(found.cost))
        return found;
    found.groups = DFL_NEW_ARRAY(search->arena, dfl_einsum_set, search->problem->n + 1);
    for (size_t at = n - 1, row = best; at > 0; row -= row > 0) {
        size_t before = table->from[row * n + at];
        found.groups[found.n++] = table->sets->at[at] & ~table->sets->at[before];
        at = before;
    }
    for (uint32_t i = 0; i < found.n / 2; i++) {
        dfl_einsum_set last = found.groups[found.n - 1 - i];
        found.groups[found.n - 1 - i] = found.groups[i];
        found.groups[i] = last;
    }
    return found;
}

/* The best chain of the given down-sets; sets `complete` to whether all chains were looked at. */
static dfl_groups search_chains(group_search *search, const set_list *sets, bool *complete)
{
    chain_table *table = make_table(search, sets);
    dfl_budget *budget = dfl_arena_budget(search->arena);

    *complete = true;
    for (size_t i = 0; i < sets->n; i++) {
        for (size_t j = i + 1; j < sets->n && may_improve(search, table, i); j++)
            if (!(sets->at[i] & ~sets->at[j]))
                extend_chains(search, table, i, j);
        if (budget && !dfl_budget_spend(budget, sets->n - i)) {
            *complete = false;
            break;
        }
    }
    return trace_groups(search, table);
}

dfl_groups dfl_groups_find(dfl_arena *arena, const dfl_group_problem *problem)
{
    group_search search = { .arena = arena, .problem = problem, .known = { NULL, 0, 0 }, .known_by_group = { NULL, 0, 0 },
                            .slack = 0, .best = INFINITY };
    set_list prefixes = { NULL, 0, 0 }, all = { NULL, 0, 0 };
    bool complete;

    for (uint32_t row = 0; row < problem->n_floors; row++) {
        double sum = 0;

        for (uint32_t i = 0; i < problem->n; i++)
            sum += problem->floors[(size_t)row * problem->n + i];
        search.slack = fmax(search.slack, sum * DFL_SUM_TOLERANCE);
    }
    /* groups cut from the given order bound the search of all chains from above */
    list_prefixes(arena, problem, &prefixes);
    dfl_groups found = search_chains(&search, &prefixes, &complete);
    if (list_down_sets(arena, problem, &all)) {
        dfl_groups better = search_chains(&search, &all, &complete);
        if (better.cost < found.cost)
            found = better;
        found.proven = complete;
        found.down_sets = all.n;
    }
    found.evaluated = search.known.n;
    return found;
}
