#include "mapper/join/group_search.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"

/* ---- one einsum ---- */

uint32_t dfl_composer_pattern(const dfl_composer *k, uint32_t e, uint32_t inside, uint32_t memory)
{
    const dfl_problem *problem = dfl_composer_problem(k, e);
    const dfl_einsum_class *c = dfl_composer_class(k, e);

    for (uint32_t p = 0; p < c->patterns.n; p++) {
        bool is_it = true;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (dfl_problem_exchanged(&problem->operand[o]))
                is_it &= c->patterns.at[p].memory[o] ==
                         (inside >> o & 1 ? memory : problem->place[dfl_problem_outermost(&problem->operand[o])].memory);
        if (is_it)
            return p;
    }
    return DFL_NONE;
}

static void copy_choice(const dfl_composer *k, const dfl_pattern_state *from, dfl_group_einsum *out)
{
    *out = (dfl_group_einsum){ .form = from->form, .cost = from->form != NULL ? from->best : INFINITY, .joules = from->joules,
                            .seconds = from->seconds };
    for (uint32_t r = 0; from->form != NULL && r < from->form->problem->n_ranks; r++) {
        const uint32_t n = from->form->chain[r].n;
        out->amounts[r] = DFL_NEW_ARRAY(k->arena, int64_t, (size_t)n + 1);
        memcpy(out->amounts[r], from->amounts[r], n * sizeof(int64_t));
    }
}

/* `nodes`, but no more than the limit on evaluations leaves. */
static uint64_t nodes_left(const dfl_composer *k, uint64_t nodes)
{
    const uint64_t left = dfl_evaluations_left(k->deadline.most_evaluations, k->nodes);

    return left > 0 && left < nodes ? left : nodes;
}

void dfl_composer_search(dfl_composer *k, uint32_t e, uint32_t pattern, const dfl_shared_tile *tile, double cutoff,
                         uint64_t nodes, dfl_group_einsum *out)
{
    dfl_pattern_forms *forms = tile != NULL ? k->flat[e] : k->forms[k->classes->of[e]];
    dfl_pattern_search *s = dfl_pattern_search_open(forms, pattern, tile, cutoff);

    dfl_pattern_search_run(s, nodes_left(k, nodes), &k->deadline);
    k->nodes += dfl_pattern_search_state(s)->nodes;
    copy_choice(k, dfl_pattern_search_state(s), out);
    dfl_pattern_search_close(s);
}

/* ---- groups ---- */

/* Whether all einsums that make and read the tensor are in the group. */
static bool is_within(const dfl_group_search *g, uint32_t tensor)
{
    const dfl_tensor *t = &g->k->mapping->workload->tensors[tensor];
    bool is_in = t->n_producers > 0 && t->n_consumers > 0;

    for (uint32_t i = 0; i < t->n_producers; i++)
        is_in &= t->producers[i] >= g->first && t->producers[i] < g->first + g->n;
    for (uint32_t i = 0; i < t->n_consumers; i++)
        is_in &= t->consumers[i] >= g->first && t->consumers[i] < g->first + g->n;
    return is_in;
}

/* Keeps of the shared ranks those that index the operand alone in a dimension. */
static void meet_ranks(dfl_group_search *g, const dfl_problem *problem, const dfl_problem_operand *o, bool is_first)
{
    uint32_t n = 0;

    if (is_first)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (o->plain >> r & 1) {
                g->extent[g->n_ranks] = problem->extent[r];
                g->rank[g->n_ranks++] = problem->rank[r];
            }
    for (uint32_t i = 0; i < g->n_ranks; i++) {
        const uint32_t r = dfl_problem_find_rank(problem, g->rank[i]);
        if (r == problem->n_ranks || !(o->plain >> r & 1) || problem->extent[r] != g->extent[i])
            continue;
        g->extent[n] = g->extent[i];
        g->rank[n++] = g->rank[i];
    }
    g->n_ranks = n;
}

bool dfl_group_mark(dfl_group_search *g)
{
    bool is_first = true, has_all = true;

    for (uint32_t i = 0; i < g->n; i++) {
        const dfl_problem *problem = dfl_composer_problem(g->k, g->first + i);
        g->inside[i] = 0;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->operand[o].shared && is_within(g, problem->operand[o].tensor)) {
                g->inside[i] |= 1u << o;
                meet_ranks(g, problem, &problem->operand[o], is_first);
                is_first = false;
            }
        has_all &= g->inside[i] != 0;
    }
    return has_all;
}

bool dfl_group_open(dfl_group_search *g)
{
    bool is_inner = false;

    if (!dfl_group_mark(g))
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        g->pattern[i] = dfl_composer_pattern(g->k, g->first + i, g->inside[i], g->memory);
        if (g->pattern[i] == DFL_NONE)
            return false;
        is_inner |= g->pattern[i] != dfl_composer_pattern(g->k, g->first + i, 0, DFL_NONE);
    }
    if (!is_inner)
        return false;
    for (uint32_t i = g->n; i-- > 0;)
        g->least[i] = dfl_pattern_search_roomy(g->k->flat[g->first + i], g->pattern[i]) + (i + 1 < g->n ? g->least[i + 1] : 0);
    return true;
}

/* Notes tiles that are tried. False if they were before. */
static bool note_tiles(dfl_group_search *g, const int64_t *tile)
{
    dfl_group_tiles x = { { 0 } };

    memcpy(x.at, tile, g->n_ranks * sizeof *tile);
    for (size_t i = 0; i < g->tried.n; i++)
        if (memcmp(&g->tried.at[i], &x, sizeof x) == 0)
            return false;
    DFL_PUSH(g->k->arena, &g->tried, x);
    return true;
}

/* Number of elements in the tile of an operand below the shared loops: `tile[k]` along the rank g->rank[k] of the group, the
   whole extent along all others. */
static double find_tile(const dfl_group_search *g, const dfl_problem *problem, const dfl_problem_operand *o, const int64_t *tile)
{
    int64_t piece[DFL_PROBLEM_RANKS];

    memcpy(piece, problem->extent, sizeof piece);
    for (uint32_t k = 0; k < g->n_ranks; k++)
        piece[dfl_problem_find_rank(problem, g->rank[k])] = tile[k];
    return dfl_problem_tile(o, piece);
}

/* Leaves an einsum of the group the room that tiles outside of it do not take, nor those inside that are alive meanwhile and that
   the einsum does not touch. */
static void take_room(const dfl_group_search *g, uint32_t e, const int64_t *tile)
{
    const dfl_workload *w = g->k->mapping->workload;
    const uint32_t n = g->k->mapping->system->n_memories;
    double *taken = DFL_NEW_ARRAY(g->k->scratch, double, (size_t)n + 1);

    memcpy(taken, g->k->resident[e], n * sizeof *taken);
    for (uint32_t i = 0; g->first + i < e; i++) {
        const dfl_problem *problem = dfl_composer_problem(g->k, g->first + i);
        const dfl_problem_operand *o = &problem->operand[problem->n_operands - 1];
        const dfl_tensor *t = &w->tensors[o->tensor];
        if ((g->inside[i] >> (problem->n_operands - 1) & 1) && t->consumers[t->n_consumers - 1] > e &&
            dfl_problem_find_operand(dfl_composer_problem(g->k, e), o->tensor) ==
                dfl_composer_problem(g->k, e)->n_operands)
            taken[g->memory] += o->bits * find_tile(g, problem, o, tile);
    }
    dfl_pattern_forms_take(g->k->flat[e], taken);
}

/* Searches the einsums of the group with these tiles. Returns whether that is better than the best tiles, which it replaces. */
static bool try_tiles(dfl_group_search *g, const int64_t *tile)
{
    dfl_group_einsum choices[DFL_GROUP_EINSUMS] = { { 0 } };
    double cost = 0;

    if (!note_tiles(g, tile))
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        const dfl_problem *problem = dfl_composer_problem(g->k, g->first + i);
        dfl_shared_tile shared = { 0 };
        for (uint32_t k = 0; k < g->n_ranks; k++) {
            const uint32_t r = dfl_problem_find_rank(problem, g->rank[k]);
            shared.ranks |= 1u << r;
            shared.tile[r] = tile[k];
        }
        if (g->k->resident != NULL)
            take_room(g, g->first + i, tile);
        dfl_composer_search(g->k, g->first + i, g->pattern[i], &shared, g->cost - cost - (i + 1 < g->n ? g->least[i + 1] : 0),
                      (uint64_t)DFL_GROUP_NODES * g->k->effort, &choices[i]);
        cost += choices[i].cost;
        if (!(cost < g->cost))
            return false;
    }
    memcpy(g->tile, tile, sizeof g->tile);
    memcpy(g->choices, choices, sizeof choices);
    g->cost = cost;
    return true;
}

/* Tries the best tiles with one of them changed by a factor, and another one, if `other` is one, by its inverse. */
static bool try_change(dfl_group_search *g, uint32_t rank, uint32_t other, double factor)
{
    int64_t tile[DFL_PROBLEM_RANKS];

    memcpy(tile, g->tile, sizeof tile);
    tile[rank] = dfl_even_tile(g->extent[rank], (double)tile[rank] * factor);
    if (other != rank)
        tile[other] = dfl_even_tile(g->extent[other], (double)tile[other] / factor);
    if (tile[rank] == g->tile[rank] || (other != rank && tile[other] == g->tile[other]))
        return false;
    return try_tiles(g, tile);
}

/* Tries a factor: on one tile and, if that makes the group no better, on two tiles by inverse factors, as the room of a memory
   limits their product. */
static bool try_factor(dfl_group_search *g, double factor, uint32_t most)
{
    bool is_better = false;

    for (uint32_t i = 0; i < 2 * g->n_ranks && g->tried.n < most; i++)
        is_better |= try_change(g, i / 2, i / 2, i % 2 ? 1 / factor : factor);
    for (uint32_t i = 0; i < g->n_ranks && !is_better; i++)
        for (uint32_t j = 0; j < g->n_ranks && g->tried.n < most; j++)
            is_better |= j != i && try_change(g, i, j, factor);
    return is_better;
}

/* Changes tiles by factors that become smaller, as long as that makes the group better. */
static void descend(dfl_group_search *g)
{
    static const double FACTORS[] = { 16, 4, 2, 1.4, 1.15 };
    const uint32_t most = DFL_GROUP_TRIES * g->k->effort;

    for (uint32_t f = 0; f < sizeof FACTORS / sizeof *FACTORS; f++)
        while (g->tried.n < most && try_factor(g, FACTORS[f], most))
            ;
}

/* Loops over ranks that all results of the group have stand outermost: no result is read back for them. */
static void order_loops(const dfl_group_search *g, dfl_fused_group *out)
{
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->n_ranks; i++) {
            bool is_kept = true;
            for (uint32_t e = 0; e < g->n; e++) {
                const dfl_problem *problem = dfl_composer_problem(g->k, g->first + e);
                is_kept &= problem->operand[problem->n_operands - 1].ranks >> dfl_problem_find_rank(problem, g->rank[i]) & 1;
            }
            if (g->tile[i] >= g->extent[i] || is_kept != (pass == 0))
                continue;
            out->rank[out->n_loops] = g->rank[i];
            out->tile[out->n_loops++] = g->tile[i];
        }
}

/* Tries whole ranks, and one element of one rank each. */
static void try_starts(dfl_group_search *g)
{
    int64_t tile[DFL_PROBLEM_RANKS];

    for (uint32_t start = 0; start <= g->n_ranks; start++) {
        for (uint32_t i = 0; i < g->n_ranks; i++)
            tile[i] = start == i + 1 ? 1 : g->extent[i];
        (void)try_tiles(g, tile);
    }
}

void dfl_group_search_tiles(dfl_group_search *g)
{
    dfl_group_search ones = *g;

    try_starts(g);
    descend(g);
    ones.cost = INFINITY;
    for (uint32_t i = 0; i < ones.n_ranks; i++)
        ones.tile[i] = 1;
    (void)try_tiles(&ones, ones.tile);
    descend(&ones);
    if (ones.cost < g->cost)
        *g = ones;
}

dfl_fused_group dfl_group_written(const dfl_group_search *g)
{
    dfl_fused_group out = { .first = g->first, .n = g->n, .memory = g->memory };
    DFL_VEC(uint32_t) tensors = { NULL, 0, 0 };

    for (uint32_t i = 0; i < g->n; i++) {
        const dfl_problem *problem = dfl_composer_problem(g->k, g->first + i);
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if ((g->inside[i] >> o & 1) && problem->operand[o].output)
                DFL_PUSH(g->k->arena, &tensors, problem->operand[o].tensor);
    }
    out.tensors = tensors.at;
    out.n_tensors = (uint32_t)tensors.n;
    order_loops(g, &out);
    return out;
}

int dfl_group_run_order(const void *a, const void *b)
{
    const dfl_group_run *x = a, *y = b;

    if (x->saving != y->saving)
        return x->saving > y->saving ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->memory > y->memory) - (x->memory < y->memory);
}
