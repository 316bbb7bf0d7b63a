/* Rows of homes alone, and whether they can be joined. */
#include "mapper/exact/feasibility.h"

#include <math.h>

#include "ir/path/unit_choice.h"
#include "mapper/exact/pass_through.h"
#include "mapper/exact/reconstruct.h"
#include "mapper/exact/reservations.h"

/* A mapping with all that is open prepared. */
typedef struct {
    const dfl_feasibility *f;
    const dfl_mapping *m;
    dfl_arena *arena, *scratch;
    dfl_einsum_classes classes;
    dfl_tile_goal goal;
    double capacity[DFL_ROW_TRACKS];
    dfl_join_step *steps;
    dfl_cost_to_go *bounds;
    const dfl_tile_goal *between; /* the goal with einsums between others, NULL = there are none */
    dfl_pass_through *through;
    bool any_size;               /* capacities are changed afterwards */
} fitter;

static double nothing(const void *objective, double joules, double seconds)
{
    (void)objective;
    (void)joules;
    (void)seconds;
    return 0;
}

static bool is_home_form(const dfl_tiling_template *t)
{
    for (uint32_t i = 0; i < t->n_keeps; i++)
        if (!t->keep[i].home)
            return false;
    return true;
}

static void search_class(fitter *k, dfl_einsum_class *c)
{
    dfl_pareto_set *rows = dfl_pareto_set_new(k->arena, k->scratch);

    for (size_t i = 0; i < c->candidates.n && !dfl_deadline_passed(k->f->halt); i++)
        if (is_home_form(c->candidates.at[i].form))
            dfl_tile_search(rows, c->candidates.at[i].problem, c->candidates.at[i].form, &k->goal);
    c->list = dfl_pareto_set_list(rows, &c->n_list);
    c->others = DFL_NEW_ARRAY(k->arena, dfl_criteria, c->patterns.n + 1);
    for (size_t p = 0; p < c->patterns.n; p++)
        c->patterns.at[p].least = c->others[p] = dfl_criteria_zero();
}

static dfl_answer prepare(fitter *k)
{
    const dfl_problem_limits limits = { .homes_only = true, .any_size = k->any_size };
    dfl_sink *quiet = dfl_sink_quiet(k->arena);
    uint32_t more = DFL_NONE;

    if (dfl_feasibility_homeless(k->f->names, k->m))
        return DFL_ANSWER_NO;
    if (!dfl_einsum_classes_make(k->arena, k->scratch, quiet, k->f->names, k->m, &limits, 1, k->f->halt, &k->classes))
        return DFL_ANSWER_UNKNOWN;
    k->goal = (dfl_tile_goal){ .of = { .value = nothing }, .limit = INFINITY, .max_loops = k->f->max_fused, .whole_loops = true,
                               .halt = k->f->halt };
    if (!dfl_reservations_find(k->arena, &k->classes, &k->goal, k->capacity, DFL_NONE, &more))
        return DFL_ANSWER_NO;
    if (more != DFL_NONE)
        return DFL_ANSWER_UNKNOWN;
    for (size_t c = 0; c < k->classes.at.n; c++)
        search_class(k, &k->classes.at.at[c]);
    k->steps = dfl_einsum_classes_steps(k->arena, &k->classes);
    k->bounds = dfl_einsum_classes_cost_to_go(k->arena, &k->classes);
    k->through = dfl_pass_through_make(k->arena, &k->classes);
    if (k->through != NULL)
        k->between = dfl_pass_through_begin(k->through, &k->goal, k->bounds, k->f->halt, NULL);
    return k->f->halt->why == DFL_STOP_NONE ? DFL_ANSWER_YES : DFL_ANSWER_UNKNOWN;
}

/* Einsums between others only where there is nothing else. */
static const dfl_join_result *join_rows(const fitter *k, dfl_arena *arena, bool *full)
{
    const dfl_join_result *r = NULL;
    bool some = false;
    uint32_t n;

    *full = false;
    for (const dfl_tile_goal *goal = &k->goal; goal != NULL && r == NULL; goal = goal == &k->goal ? k->between : NULL) {
        r = dfl_join(arena, k->m->workload, k->steps, goal, k->bounds, k->capacity, false, 0, &n, &some);
        *full |= some;
    }
    return r;
}

static dfl_answer join(const fitter *k)
{
    dfl_arena *arena = dfl_arena_new(dfl_arena_budget(k->arena));
    bool full, found = join_rows(k, arena, &full) != NULL;

    dfl_arena_free(arena);
    if (found)
        return DFL_ANSWER_YES;
    return full || k->f->halt->why != DFL_STOP_NONE ? DFL_ANSWER_UNKNOWN : DFL_ANSWER_NO;
}

static void open_fitter(fitter *k, const dfl_feasibility *f, const dfl_mapping *m)
{
    *k = (fitter){ .f = f, .m = m, .arena = dfl_arena_new(f->halt->budget), .scratch = dfl_arena_new(f->halt->budget) };
}

static void close_fitter(const fitter *k)
{
    uint64_t evaluated = 0, pruned = 0;

    dfl_pass_through_end(k->through, &evaluated, &pruned);
    dfl_arena_free(k->arena);
    dfl_arena_free(k->scratch);
}

dfl_answer dfl_feasibility_any(const dfl_feasibility *f, const dfl_mapping *m)
{
    fitter k;
    dfl_answer answer;

    open_fitter(&k, f, m);
    answer = prepare(&k);
    if (answer == DFL_ANSWER_YES)
        answer = join(&k);
    close_fitter(&k);
    return answer;
}

dfl_mapping *dfl_feasibility_first(dfl_arena *arena, const dfl_feasibility *f, const dfl_mapping *m, double *joules,
                                   double *seconds)
{
    const dfl_join_result *r = NULL;
    dfl_mapping *first = NULL;
    fitter k;
    bool full;

    open_fitter(&k, f, m);
    if (prepare(&k) == DFL_ANSWER_YES)
        r = join_rows(&k, k.arena, &full);
    if (r != NULL) {
        *joules = r->joules;
        *seconds = r->seconds;
        first = dfl_reconstruct(arena, m, dfl_einsum_classes_chosen(k.arena, &k.classes, r->rows), r);
    }
    close_fitter(&k);
    return first;
}

double dfl_feasibility_bits(const dfl_workload *w)
{
    double bits = 0;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        dfl_i128 elements = 0;
        (void)dfl_tensor_stored(&w->tensors[t], &elements);
        bits += dfl_i128_double(elements) * w->tensors[t].type.bits;
    }
    return bits;
}

/* The least capacity of a track with which there is a mapping, given that `most` is enough. */
static dfl_answer least_capacity(fitter *k, uint32_t track, double most)
{
    int64_t low = -1, high = (int64_t)most; /* no, yes */

    k->capacity[track] = most;
    if (join(k) != DFL_ANSWER_YES)
        return k->f->halt->why == DFL_STOP_NONE ? DFL_ANSWER_NO : DFL_ANSWER_UNKNOWN;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        k->capacity[track] = (double)middle;
        switch (join(k)) {
        case DFL_ANSWER_YES: high = middle; break;
        case DFL_ANSWER_NO: low = middle; break;
        case DFL_ANSWER_UNKNOWN: return DFL_ANSWER_UNKNOWN;
        }
    }
    k->capacity[track] = (double)high;
    return DFL_ANSWER_YES;
}

dfl_answer dfl_feasibility_least(const dfl_feasibility *f, const dfl_mapping *m, uint32_t memory, int64_t *bits)
{
    static const double exact = 0x1p53, most_bits = 0x1p60, rounding = 1 + 0x1p-40;
    const double most = dfl_feasibility_bits(m->workload);
    fitter k;
    dfl_answer answer;
    double least = 0;

    open_fitter(&k, f, m);
    if (most * 2 > most_bits) {
        answer = DFL_ANSWER_UNKNOWN;
    } else {
        dfl_mapping roomy = *m;
        dfl_system system = *m->system;
        dfl_memory *memories = DFL_NEW_ARRAY(k.arena, dfl_memory, system.n_memories + 1);
        for (uint32_t i = 0; i < system.n_memories; i++)
            memories[i] = m->system->memories[i];
        memories[memory].size_bits = (int64_t)(most * 2);
        system.memories = memories;
        roomy.system = &system;
        k.m = &roomy;
        k.any_size = true;
        answer = prepare(&k);
        if (answer == DFL_ANSWER_YES) {
            uint32_t t = 0;
            least = dfl_reservations_settled(k.arena, &k.classes, memory);
            while (t < k.goal.n_tracks && k.goal.track[t] != memory)
                t++;
            answer = t < k.goal.n_tracks ? least_capacity(&k, t, most) : join(&k);
            least += t < k.goal.n_tracks ? k.capacity[t] : 0;
        }
    }
    *bits = (int64_t)(least >= exact ? least * rounding : least);
    close_fitter(&k);
    return answer;
}

/* Whether each tensor of the einsum has a memory that the unit sees and that may hold it. */
static bool has_homes(const dfl_mapping *m, const dfl_einsum *e, uint32_t unit)
{
    for (uint32_t a = 0; a <= e->n_inputs; a++) {
        const dfl_access *access = a < e->n_inputs ? &e->inputs[a] : &e->output;
        bool held = false;
        for (uint32_t i = 0; i < m->system->n_memories && !held; i++)
            held = dfl_compute_sees(m->system, unit, i) &&
                   (!m->system->memories[i].holds.on ||
                    dfl_selects(&m->system->memories[i].holds, &m->workload->tensors[access->tensor]));
        if (!held)
            return false;
    }
    return true;
}

bool dfl_feasibility_homeless(const dfl_intern *names, const dfl_mapping *m)
{
    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        bool runs = false, held = false;
        for (uint32_t u = 0; u < m->system->n_computes; u++)
            if (dfl_unit_can_run(names, m, &m->system->computes[u], &m->workload->einsums[e])) {
                runs = true;
                held |= has_homes(m, &m->workload->einsums[e], u);
            }
        if (runs && !held)
            return true;
    }
    return false;
}
