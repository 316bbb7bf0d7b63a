#include "mapper/join/workload_floor.h"

#include <math.h>
#include <string.h>

/* The least steps of an einsum on a unit (dfl_floor_steps), with the members of its problem on which they depend. */
typedef struct {
    uint32_t n_ranks;
    int64_t extent[DFL_PROBLEM_RANKS];
    double points, instances, steps;
} known_steps;

typedef struct {
    const dfl_mapping *m;
    double *busy;               /* by port of a memory, 2 * memory + (1 for writes of their own): s */
    double *moved;              /* by tensor: bits that leave or enter its home, at least */
    dfl_arena *arena;
    DFL_VEC(known_steps) known; /* one for each shape so far; a search takes up to 10 ms, and many einsums have the same shape */
} census;

/* Whether a tensor is an input or a result of the workload. */
static bool is_outside(const dfl_workload *w, const dfl_problem_operand *o)
{
    return w->tensors[o->tensor].n_producers == 0 || w->tensors[o->tensor].n_consumers == 0;
}

/* Operands that no other einsum touches. */
static uint32_t find_alone(const dfl_workload *w, const dfl_problem *problem)
{
    uint32_t alone = 0;

    for (uint32_t i = 0; i < problem->n_operands; i++) {
        const dfl_tensor *t = &w->tensors[problem->operand[i].tensor];
        alone |= (uint32_t)(is_outside(w, &problem->operand[i]) && t->n_producers + t->n_consumers == 1) << i;
    }
    return alone;
}

/* An operand at the outermost place that may hold it, on one unit. */
typedef struct {
    double bits;    /* that move there, at least */
    double seconds; /* per bit */
    uint32_t port;  /* index in `busy` of the census; DFL_NONE = none */
} home_traffic;

/* What an operand moves at its home, at least. A home below an axis counts as none. */
static home_traffic find_traffic(const dfl_problem *problem, uint32_t operand)
{
    const dfl_problem_operand *o = &problem->operand[operand];
    const dfl_problem_place *home = &problem->place[o->home != DFL_NONE ? o->home : 0];

    if (o->home == DFL_NONE || home->axes != 0)
        return (home_traffic){ .port = DFL_NONE };
    return (home_traffic){ o->touched * o->bits, o->output ? home->write_seconds : home->read_seconds,
                           2 * home->memory + (o->output && !home->one_port) };
}

/* Notes what moves at the homes of inputs and results of the workload: of several readers that of the one that touches most, and
   of several units, whose problems have equal operands, the least. If units reach different homes, nothing moves. */
static void note_homes(census *c, const dfl_problems *problems)
{
    const dfl_problem *first = problems->at[0];

    for (uint32_t i = 0; i < first->n_operands; i++) {
        const uint32_t tensor = first->operand[i].tensor;
        home_traffic least = find_traffic(first, i);
        for (size_t k = 1; k < problems->n; k++) {
            const dfl_problem *other = problems->at[k];
            const home_traffic t = find_traffic(other, i);
            const bool same = i < other->n_operands && other->operand[i].tensor == tensor && t.port == least.port;
            least = (home_traffic){ fmin(least.bits, t.bits), fmin(least.seconds, t.seconds), same ? t.port : DFL_NONE };
        }
        const double more = fmax(0, least.bits - c->moved[tensor]);
        if (!is_outside(c->m->workload, &first->operand[i]) || least.port == DFL_NONE)
            continue;
        c->moved[tensor] += more;
        c->busy[least.port] += more * least.seconds;
    }
}

/* The least steps of a problem. Those of equal shapes are searched once. */
static double find_steps(census *c, const dfl_problem *problem)
{
    known_steps one = { .n_ranks = problem->n_ranks, .points = problem->points,
                        .instances = dfl_problem_instances(problem, ~0u) };

    memcpy(one.extent, problem->extent, problem->n_ranks * sizeof *one.extent);
    for (size_t i = 0; i < c->known.n; i++) {
        const known_steps *k = &c->known.at[i];
        if (k->n_ranks == one.n_ranks && k->points == one.points && k->instances == one.instances &&
            memcmp(k->extent, one.extent, sizeof one.extent) == 0)
            return k->steps;
    }
    one.steps = dfl_floor_steps(problem);
    DFL_PUSH(c->arena, &c->known, one);
    return one.steps;
}

/* Adds an einsum: the least of its floors on the units that can run it, and what moves at homes. False if there is none. */
static bool add_einsum(dfl_arena *arena, const dfl_intern *names, census *c, const bool *roomy, uint32_t e, dfl_floor *out)
{
    const dfl_problem_limits all = { .spread = true };
    const char *lack = NULL;
    const dfl_problems problems = dfl_problems_make(arena, names, c->m, e, &all, roomy, &lack);
    dfl_floor least = { INFINITY, INFINITY };

    for (size_t i = 0; i < problems.n; i++) {
        const dfl_floor f = dfl_floor_among(problems.at[i], find_steps(c, problems.at[i]),
                                            find_alone(c->m->workload, problems.at[i]));
        least.joules = fmin(least.joules, f.joules);
        least.seconds = fmin(least.seconds, f.seconds);
    }
    if (problems.n > 0)
        note_homes(c, &problems);
    out->joules += least.joules;
    out->seconds += least.seconds;
    return lack == NULL && problems.n > 0;
}

dfl_floor dfl_workload_floor(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping)
{
    const uint32_t n_ports = 2 * mapping->system->n_memories;
    const dfl_problem_limits all = { .spread = true };
    const bool *roomy = dfl_space_roomy(arena, mapping, &all);
    census c = { .m = mapping, .arena = arena, .busy = DFL_NEW_ARRAY(arena, double, (size_t)n_ports + 1),
                 .moved = DFL_NEW_ARRAY(arena, double, (size_t)mapping->workload->n_tensors + 1) };
    dfl_floor out = { 0 };

    memset(c.busy, 0, n_ports * sizeof *c.busy);
    memset(c.moved, 0, mapping->workload->n_tensors * sizeof *c.moved);
    for (uint32_t e = 0; e < mapping->workload->n_einsums; e++)
        if (!add_einsum(arena, names, &c, roomy, e, &out))
            return (dfl_floor){ 0 };
    for (uint32_t p = 0; p < n_ports; p++)
        out.seconds = fmax(out.seconds, c.busy[p]);
    return out;
}
