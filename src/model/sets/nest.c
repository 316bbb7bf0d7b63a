/* Derivation of a loop nest. */
#include "model/sets/nest.h"

#include "support/vec.h"

void dfl_setting_refuse(dfl_setting *set, dfl_span at, const char *what, const char *help)
{
    if (set->refused)
        return;
    set->refused = true;
    dfl_diag *d = dfl_report(set->sink, DFL_EVAL_UNSUPPORTED, at, "%s is checked, but not evaluated", what);
    dfl_diag_help(set->sink, d, "%s", help);
}

bool dfl_flow_too_big(dfl_setting *set, dfl_span at)
{
    dfl_diag *d = dfl_report(set->sink, DFL_EVAL_OVERFLOW, at, "a count of this mapping passes 2^127");

    dfl_diag_help(set->sink, d, "use smaller extents");
    return false;
}

uint32_t dfl_place_driver(const dfl_setting *set, uint32_t e, uint32_t i)
{
    const dfl_path *p = &set->paths->paths[e];

    if (p->steps[i].rank != DFL_NONE)
        return e;
    for (uint32_t k = 0; k < p->steps[i].body->n_einsums; k++) {
        uint32_t f = p->steps[i].body->einsums[k];
        if (set->paths->paths[f].steps[i].rank != DFL_NONE)
            return f;
    }
    return DFL_NONE;
}

static bool temporal(const dfl_path *p, uint32_t i) { return p->steps[i].line->kind == DFL_LINE_TEMPORAL; }

/* Whether another einsum under the same loop needs another number of iterations (a spatial line `for` some of them): where that
   is so for one, it is for all that are bound to the loop, so only the first of them looks. */
static bool uneven(const dfl_setting *set, const dfl_path *p, uint32_t i)
{
    const dfl_body *body = p->steps[i].body;
    bool differs = false;

    for (uint32_t k = 0; p->steps[i].rank != DFL_NONE && k < body->n_einsums && !differs; k++) {
        const dfl_path_step *s = &set->paths->paths[body->einsums[k]].steps[i];
        if (s->rank != DFL_NONE && body->einsums[k] < p->einsum)
            return false;
        differs = s->rank != DFL_NONE && (s->nominal != p->steps[i].nominal || s->tile != p->steps[i].tile);
    }
    return differs;
}

static void refuse_uneven(dfl_setting *set, uint32_t e, uint32_t i)
{
    const dfl_path *p = &set->paths->paths[e];

    if (temporal(p, i) && uneven(set, p, i))
        dfl_setting_refuse(set, p->steps[i].line->span, "a loop with more iterations for one einsum than for another",
                           "move it into the branches of the einsums");
}

bool dfl_setting_fits(dfl_setting *set)
{
    for (uint32_t e = 0; set->w->n_einsums > 1 && e < set->w->n_einsums; e++)
        for (uint32_t i = 0; i < set->paths->paths[e].n_steps; i++)
            refuse_uneven(set, e, i);
    return !set->refused;
}

static bool plain_enough(dfl_setting *set, uint32_t e)
{
    const dfl_einsum *me = &set->w->einsums[e];
    const dfl_path *p = &set->paths->paths[e];
    const char *help = "`dflc check` still checks it";

    if (me->gathers)
        dfl_setting_refuse(set, me->span, "an einsum that reads by a data-dependent index", help);
    if (me->n_where)
        dfl_setting_refuse(set, me->span, "an einsum with a `where` clause", help);
    if (me->over_rank != DFL_NONE)
        dfl_setting_refuse(set, me->span, "an operation over a whole rank", help);
    if (p->n_steps > DFL_MAX_STEPS)
        dfl_setting_refuse(set, p->leaf->span, "a path of more than 64 loops and groups of keeps",
                           "write keeps of different tensors next to each other: they make one group");
    for (uint32_t i = 0; i < p->n_steps && i < DFL_MAX_STEPS; i++) {
        if (p->steps[i].line->kind != DFL_LINE_KEEP && p->steps[i].line->cyclic)
            dfl_setting_refuse(set, p->steps[i].line->span, "a cyclic loop", help);
        refuse_uneven(set, e, i);
        for (uint32_t k = 0; k < i && temporal(p, i) && p->steps[i].line->online && p->steps[i].rank != DFL_NONE; k++)
            if (temporal(p, k) && !p->steps[k].line->online && p->steps[k].rank == p->steps[i].rank)
                dfl_setting_refuse(set, p->steps[i].line->span, "an `online` loop inside one over the same rank that is not",
                                   "say `online` on the outer loop, too");
    }
    for (uint32_t i = 0; i < me->n_inputs + 1; i++) {
        const dfl_access *a = i < me->n_inputs ? &me->inputs[i] : &me->output;
        for (uint32_t d = 0; d < a->n_dims; d++) {
            dfl_i128 reach = a->index[d].offset;
            for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
                dfl_i128 part;
                if (dfl_mul(a->index[d].terms[t].coef, set->w->ranks[a->index[d].terms[t].rank].extent, &part))
                    part = (dfl_i128)1 << 100;
                reach += part < 0 ? -part : part;
            }
            if (reach > (dfl_i128)1 << 61)
                dfl_setting_refuse(set, a->span, "an index beyond 2^61", "use smaller extents");
        }
    }
    return !set->refused;
}

/* Which steps cut which rank, and which are spatial. */
static void find_cuts(dfl_setting *set, uint32_t e)
{
    const dfl_einsum *me = &set->w->einsums[e];
    const dfl_path *p = &set->paths->paths[e];

    set->cuts[e] = DFL_NEW_ARRAY(set->arena, uint64_t, me->n_ranks + 1);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].line->kind == DFL_LINE_SPATIAL)
            set->spatial[e] |= UINT64_C(1) << i;
        for (uint32_t k = 0; p->steps[i].rank != DFL_NONE && k < me->n_ranks; k++)
            set->cuts[e][k] |= me->ranks[k] == p->steps[i].rank ? UINT64_C(1) << i : 0;
    }
}

bool dfl_setting_init(dfl_setting *set, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                      const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    uint32_t n = m->workload->n_einsums;

    *set = (dfl_setting){ .arena = arena, .sink = sink, .names = names, .given = paths, .m = m, .w = m->workload,
                          .s = m->system };
    set->fold = dfl_fold_make(arena, paths);
    set->paths = &set->fold->paths;
    set->wants = DFL_NEW_ARRAY(arena, dfl_dim_want *, n);
    set->gates = DFL_NEW_ARRAY(arena, uint32_t *, n);
    set->n_gates = DFL_NEW_ARRAY(arena, uint32_t, n);
    set->cuts = DFL_NEW_ARRAY(arena, uint64_t *, n + 1);
    set->spatial = DFL_NEW_ARRAY(arena, uint64_t, n + 1);
    set->asks = DFL_NEW_ARRAY(arena, uint32_t, n);
    set->asks_steps = DFL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t e = 0; e < n; e++)
        set->asks[e] = DFL_NONE;
    if (m->refused)
        dfl_setting_refuse(set, m->refused_span, m->refused, "leave it out to evaluate the rest");
    if (set->w->carries)
        dfl_setting_refuse(set, set->w->span, "a `repeat` that carries a tensor",
                           "evaluate one iteration as a workload of its own");
    for (uint32_t t = 0; t < set->w->n_tensors; t++)
        if (set->w->tensors[t].n_producers > 1)
            dfl_setting_refuse(set, set->w->tensors[t].span, "a tensor that several einsums produce",
                               "give each result a name of its own");
    for (uint32_t e = 0; e < n && !set->refused; e++)
        plain_enough(set, e);
    for (uint32_t e = 0; e < n && !set->refused; e++)
        find_cuts(set, e);
    return !set->refused;
}
