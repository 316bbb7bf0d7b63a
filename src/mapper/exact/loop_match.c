/* Which loops of a row are which open loops, and whether they can be. */
#include "mapper/exact/loop_match.h"

#include <string.h>

#include "mapper/exact/compatibility.h"
#include "mapper/exact/shared_inputs.h"

const dfl_join_alive *dfl_join_find(const dfl_join_way *w, uint32_t tensor)
{
    for (uint32_t i = 0; i < w->n_live; i++)
        if (w->live[i].tensor == tensor)
            return &w->live[i];
    return NULL;
}

bool dfl_join_is_last(const dfl_joiner *j, uint32_t tensor)
{
    const dfl_tensor *t = &j->w->tensors[tensor];

    return t->consumers[t->n_consumers - 1] <= j->einsum;
}

/* Operand that other einsums read, or n_operands. */
static uint32_t result_of(const dfl_problem *problem)
{
    uint32_t o = 0;

    while (o < problem->n_operands && !(problem->operand[o].output && problem->operand[o].shared))
        o++;
    return o;
}

uint32_t dfl_loop_match_may_skip(const dfl_problem *problem, const dfl_join_way *w)
{
    uint32_t skip = 0;

    if (result_of(problem) == problem->n_operands)
        return 0;
    for (uint32_t i = 0; i < w->n_live; i++) /* what is only open for its own operands need not be */
        if (dfl_problem_find_operand(problem, w->live[i].tensor) == problem->n_operands)
            skip |= (1u << w->live[i].depth) - 1;
    for (uint32_t k = 0; k < w->n_open; k++)
        if (dfl_problem_find_rank(problem, w->name[k]) < problem->n_ranks)
            skip &= ~(1u << k);
    return skip;
}

bool dfl_loop_match_set(const dfl_join_way *w, const dfl_pmapping *row, uint32_t skipped, dfl_loop_match *out)
{
    uint32_t own = 0;

    *out = (dfl_loop_match){ .skipped = skipped };
    for (uint32_t k = 0; k < w->n_open || own < row->way.n_loops; k++) {
        if (k == DFL_ROW_LOOPS)
            return false;
        out->own[k] = -1;
        out->n = k + 1;
        if (k < w->n_open && (skipped >> k & 1))
            continue;
        if (own == row->way.n_loops || (k < w->n_open && row->way.trips[own] != w->trips[k]))
            return false;
        out->bound += k < w->n_open;
        out->at[own] = (uint8_t)k;
        out->own[k] = (int8_t)own++;
    }
    return out->bound == row->way.n_loops || !row->form->through;
}

uint32_t dfl_loop_match_depth(const dfl_loop_match *a, uint32_t depth) { return depth == 0 ? 0 : a->at[depth - 1] + 1u; }

uint32_t dfl_loop_match_own(const dfl_loop_match *a, uint32_t depth)
{
    return depth - (uint32_t)__builtin_popcount(a->skipped & ((1u << depth) - 1));
}

static int8_t dimension(const dfl_problem *problem, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o, uint32_t k)
{
    return a->own[k] < 0 ? DFL_JOIN_NO_DIM : dfl_way_dimension(problem, &row->way, o, (uint32_t)a->own[k]);
}

int8_t dfl_loop_match_dimension(const dfl_problem *problem, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o,
                                uint32_t k, uint32_t depth)
{
    int8_t along = dimension(problem, row, a, o, k);

    if (along >= 0)
        return along;
    if (!problem->operand[o].output)
        return DFL_JOIN_AGAIN;
    if (a->own[k] >= 0)
        return DFL_JOIN_NO_DIM;
    return k < depth ? DFL_JOIN_FIRST : DFL_JOIN_WHOLE;
}

/* Whether the loop at place k reaches the einsum through an input, not counting one that owes a reader itself. */
static bool follows(const dfl_joiner *j, const dfl_join_way *w, uint32_t k)
{
    const dfl_problem *problem = j->step->problem;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const dfl_join_alive *live = problem->operand[o].output ? NULL : dfl_join_find(w, problem->operand[o].tensor);
        if (live != NULL && live->kind == DFL_JOIN_MADE && live->within > k && live->dim[k] >= 0 && !(live->owes >> k & 1))
            return true;
    }
    return false;
}

/* Whether loop k can be written for the einsum, too. */
static bool named(const dfl_joiner *j, const dfl_join_way *w, const dfl_pmapping *row, uint32_t k, dfl_loop_match *a)
{
    const dfl_problem *problem = j->step->problem;
    uint32_t result;

    if (a->own[k] < 0) {
        a->owes |= 1u << k;
        return true;
    }
    if (problem->rank[row->way.loop_rank[a->own[k]]] == w->name[k])
        return true;
    if (dfl_problem_find_rank(problem, w->name[k]) < problem->n_ranks)
        return false;
    if (follows(j, w, k))
        return true;
    result = result_of(problem);
    a->owes |= 1u << k;
    return result < problem->n_operands && dimension(problem, row, a, result, k) >= 0;
}

uint32_t dfl_loop_match_kept(const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o, uint32_t k, uint32_t *above)
{
    uint32_t outside, kept = dfl_pmapping_kept(row, o, dfl_loop_match_own(a, k + 1), above);

    if (*above != 0) {
        (void)dfl_pmapping_kept(row, o, dfl_loop_match_own(a, k), &outside);
        *above &= ~outside;
    }
    return kept;
}

/* Whether the row can stand below the loops that are open since another einsum touched the operand: what one of them keeps above
   such a loop serves the other, too, so that must keep it there as well. */
static bool keeps_alike(const dfl_joiner *j, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o,
                        const dfl_join_alive *live)
{
    bool alike = true;

    for (uint32_t k = 0; k < live->since && alike && !j->goal->any_keeps; k++) {
        uint32_t above, kept = dfl_loop_match_kept(row, a, o, k, &above);
        alike = (above & ~live->kept[k]) == 0 && (live->above[k] & ~kept) == 0;
    }
    return alike;
}

/* Whether a keep above such a loop serves the einsum that makes the operand, too: written once, it fetches nothing for the row.
   That is the operand exchanged in the keep, which costs no more, and is of another kind (signature.h). */
static bool serves_both(const dfl_joiner *j, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o,
                        const dfl_join_alive *live)
{
    uint32_t above;

    if (live->since == 0 || live->kind != DFL_JOIN_MADE || j->goal->any_keeps || j->step->problem->operand[o].settled ||
        j->w->tensors[live->tensor].n_consumers > 1)
        return false;
    (void)dfl_pmapping_kept(row, o, dfl_loop_match_own(a, live->since), &above);
    for (uint32_t k = 0; k < live->since; k++)
        above |= live->above[k];
    return above != 0;
}

/* Whether the loops around an operand that is there go with those of the row. */
static bool takes_over(const dfl_joiner *j, const dfl_pmapping *row, const dfl_loop_match *a, uint32_t o,
                       const dfl_join_alive *live)
{
    const dfl_problem *problem = j->step->problem;

    if (live->memory != row->way.memory[o] || dfl_loop_match_own(a, live->depth) != row->way.depth[o] ||
        !keeps_alike(j, row, a, o, live))
        return false;
    for (uint32_t k = 0; k < live->within; k++) {
        bool fine = live->dim[k] == DFL_JOIN_FIRST ? a->own[k] < 0
                    : live->dim[k] == DFL_JOIN_WHOLE ? dimension(problem, row, a, o, k) < 0
                    : live->dim[k] == DFL_JOIN_AGAIN ? true
                                                     : live->dim[k] >= 0 && dimension(problem, row, a, o, k) == live->dim[k];
        if (!fine)
            return false;
    }
    return true;
}

bool dfl_loop_match_fits(const dfl_joiner *j, const dfl_join_way *w, const dfl_pmapping *row, dfl_loop_match *a)
{
    const dfl_problem *problem = j->step->problem;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const dfl_problem_operand *op = &problem->operand[o];
        const dfl_join_alive *live = dfl_problem_exchanged(op) && !op->output ? dfl_join_find(w, op->tensor) : NULL;
        uint32_t depth = dfl_loop_match_depth(a, row->way.depth[o]);
        if (op->common != 0 && (live == NULL || live->kind == DFL_JOIN_APART)) {
            bool begins = !dfl_join_is_last(j, op->tensor) && (live == NULL || live->within < depth);
            bool served = dfl_shared_input_served(row->problem, row->form, o);
            if ((served && !begins) || (live != NULL && !keeps_alike(j, row, a, o, live)))
                return false;
        } else if (live != NULL && (!takes_over(j, row, a, o, live) || serves_both(j, row, a, o, live))) {
            return false;
        }
    }
    a->owes = 0;
    for (uint32_t k = 0; k < w->n_open; k++)
        if (!named(j, w, row, k, a))
            return false;
    return true;
}
