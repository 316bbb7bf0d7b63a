/* Which inputs may be kept for several einsums, and what it costs to fetch them. */
#include "mapper/exact/shared_inputs.h"

#include <math.h>

#include "mapper/exact/join.h"
#include "mapper/exact/rank_links.h"
#include "mapper/exact/reservations.h"
#include "mapper/skeleton/cost_terms.h"

/* Places outside of arrays. */
static uint32_t open_places(const dfl_problem *problem)
{
    uint32_t open = 0;

    for (uint32_t p = 0; p < problem->n_places; p++)
        open |= (uint32_t)(problem->place[p].axes == 0) << p;
    return open;
}

/* Whether every einsum that reads the tensor has the same home for it, touches as much of it, and every rank in it is alone. */
static bool is_common(const dfl_einsum_classes *k, const dfl_tensor *t, uint32_t tensor)
{
    const dfl_problem *first = NULL;
    const dfl_problem_operand *like = NULL;

    if (t->n_producers > 0 || t->n_consumers < 2)
        return false;
    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (size_t u = 0; u < k->problems[t->consumers[i]].n; u++) {
            dfl_problem *problem = k->problems[t->consumers[i]].at[u];
            const dfl_problem_operand *o = &problem->operand[dfl_problem_find_operand(problem, tensor)];
            if (first == NULL) {
                first = problem;
                like = o;
            }
            if (o->plain != o->ranks || o->elements != like->elements ||
                problem->place[o->home].memory != first->place[like->home].memory)
                return false;
        }
    return true;
}

/* The least elements of a keep that serves two einsums: shared loops cut a dimension for both only if these have linked ranks
   there (B45). `links`: see rank_links.h. */
static double least_for_both(const dfl_problem *a, const dfl_problem *b, uint32_t tensor, const uint32_t *links)
{
    const dfl_problem_operand *x = &a->operand[dfl_problem_find_operand(a, tensor)];
    const dfl_problem_operand *y = &b->operand[dfl_problem_find_operand(b, tensor)];
    double elements = 1;

    for (uint32_t d = 0; d < x->n_dims && d < y->n_dims; d++)
        if (x->dims[d].n > 0 && y->dims[d].n > 0 && links[a->rank[x->dims[d].rank[0]]] != links[b->rank[y->dims[d].rank[0]]])
            elements *= (double)a->extent[x->dims[d].rank[0]];
    return elements;
}

/* The least elements of a keep that serves several of the einsums that read the tensor. */
static double least_for_several(const dfl_einsum_classes *k, uint32_t tensor, const uint32_t *links)
{
    const dfl_tensor *t = &k->m->workload->tensors[tensor];
    double least = INFINITY;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (uint32_t j = 0; j < i; j++)
            if (t->consumers[i] != t->consumers[j])
                least = fmin(least, least_for_both(k->problems[t->consumers[i]].at[0], k->problems[t->consumers[j]].at[0],
                                                   tensor, links));
    return least < INFINITY ? least : 0;
}

/* Places that have room for so many bits. */
static uint32_t roomy_places(const dfl_problem *problem, double bits)
{
    uint32_t roomy = 0;

    for (uint32_t p = 0; p < problem->n_places; p++)
        roomy |= (uint32_t)(problem->place[p].bits >= bits) << p;
    return roomy;
}

/* Number of einsums that read the tensor. */
static uint32_t count_readers(const dfl_tensor *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        n += i == 0 || t->consumers[i] != t->consumers[i - 1];
    return n;
}

/* `links`: NULL = the tensor has no keep for several einsums. */
static void set_common(dfl_einsum_classes *k, uint32_t tensor, const uint32_t *links, const dfl_problem_limits *limits)
{
    const dfl_tensor *t = &k->m->workload->tensors[tensor];
    const bool on = links != NULL;
    const double least = on ? least_for_several(k, tensor, links) : 0;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (size_t u = 0; u < k->problems[t->consumers[i]].n; u++) {
            dfl_problem *problem = k->problems[t->consumers[i]].at[u];
            dfl_problem_operand *o = &problem->operand[dfl_problem_find_operand(problem, tensor)];
            o->common = on ? o->places & open_places(problem) & roomy_places(problem, least * o->bits) : 0;
            o->sharers = on && limits->unjoined ? count_readers(t) : 0;
            problem->common_loops = on && limits->common_loops;
        }
}

/* Whether the join can follow all that is alive at once, in all memories and `counted` (1 + number, 0 = none). */
static bool has_room(const dfl_einsum_classes *k, uint32_t counted)
{
    const dfl_workload *w = k->m->workload;
    const dfl_system *s = k->m->system;
    uint32_t tracks = 0;

    for (uint32_t m = 0; m < s->n_memories; m++)
        tracks += m + 1 == counted || dfl_reservations_needed(k, m);
    if (tracks > DFL_ROW_TRACKS)
        return false;
    for (uint32_t e = 0; e < k->n; e++) {
        uint32_t alive = 0;
        for (uint32_t t = 0; t < w->n_tensors; t++) {
            const dfl_tensor *x = &w->tensors[t];
            if (x->n_consumers > 0 && (x->n_producers > 0 || x->n_consumers > 1))
                alive += (x->n_producers > 0 ? x->producers[0] : x->consumers[0]) <= e &&
                         x->consumers[x->n_consumers - 1] > e;
        }
        if (alive > DFL_JOIN_LIVE)
            return false;
    }
    return true;
}

/* Whether lines of some einsum are written. */
static bool has_lines(const dfl_einsum_classes *k)
{
    for (uint32_t e = 0; e < k->n; e++)
        for (size_t u = 0; u < k->problems[e].n; u++)
            if (k->problems[e].at[u]->given != NULL)
                return true;
    return false;
}

void dfl_shared_input_find(dfl_arena *arena, dfl_einsum_classes *k, const dfl_problem_limits *limits)
{
    const dfl_workload *w = k->m->workload;
    const uint32_t *links = dfl_rank_links(arena, w);
    bool any = false;

    if (has_lines(k))
        return;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (is_common(k, &w->tensors[t], t)) {
            set_common(k, t, links, limits);
            any = true;
        }
    if (any && !limits->unjoined && !has_room(k, limits->counted))
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (w->tensors[t].n_producers == 0)
                set_common(k, t, NULL, limits);
}

bool dfl_shared_input_served(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand)
{
    return problem->operand[operand].common != 0 && t->exchange[operand] != problem->operand[operand].home;
}

double dfl_shared_input_joules(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand)
{
    const dfl_problem_operand *o = &problem->operand[operand];

    return dfl_shared_input_served(problem, t, operand)
               ? o->elements * o->bits *
                     (problem->place[o->home].read_joules + problem->place[t->exchange[operand]].write_joules)
               : 0;
}

double dfl_shared_input_rebate(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand)
{
    return problem->operand[operand].elements * dfl_template_refetch(problem, t, operand);
}

double dfl_shared_input_seconds(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand)
{
    const dfl_problem_operand *o = &problem->operand[operand];

    return dfl_shared_input_served(problem, t, operand)
               ? o->elements * o->bits * fmax(problem->place[o->home].read_seconds,
                                              problem->place[t->exchange[operand]].write_seconds)
               : 0;
}
