/* What restricts producers, worked out once per evaluation; everything that place.c relies on is checked here. */
#include "model/place.h"

#include "support/vec.h"

static bool temporal(const dfl_path *p, uint32_t i) { return p->steps[i].line->kind == DFL_LINE_TEMPORAL; }

/* Whether the values of an index are all of an interval, for whole ranks and any piece of the term that moves. */
static bool gapless(const dfl_setting *set, const dfl_index *index, uint32_t moving)
{
    dfl_i128 covered = 1;
    bool used[16] = { false };

    if (index->n_terms > 16)
        return false;
    for (uint32_t done = 0; done < index->n_terms; done++) {
        uint32_t best = DFL_NONE;
        for (uint32_t t = 0; t < index->n_terms; t++)
            if (!used[t] && t != moving && (best == DFL_NONE || index->terms[t].coef < index->terms[best].coef))
                best = t;
        best = best == DFL_NONE ? moving : best; /* last: its piece may be a single index */
        used[best] = true;
        int64_t extent = set->w->ranks[index->terms[best].rank].extent;
        if (extent == 1)
            continue;
        if (index->terms[best].coef < 0 || index->terms[best].coef > covered)
            return false;
        covered += (dfl_i128)index->terms[best].coef * (extent - 1);
    }
    return true;
}

/* Whether a reader computes parts of a rank again, so that what it reads goes back. */
static bool goes_back(const dfl_setting *set, uint32_t c, uint32_t rank)
{
    const dfl_access *out = &set->w->einsums[c].output;
    bool back = false;
    uint32_t found;

    for (uint32_t d = 0; set->wants[c] && d < out->n_dims; d++)
        if (dfl_index_is_bare(&out->index[d], &found) && found == rank)
            back |= set->wants[c][d].restricted && (set->wants[c][d].want == DFL_WANT_ALL || set->wants[c][d].from > 0);
    return back;
}

/* The reader's index of a restricted dimension: windows that move up one after another without leaving anything out. */
static bool readable(dfl_setting *set, const dfl_path *p, uint32_t c, const dfl_access *a, uint32_t d)
{
    const dfl_index *index = &a->index[d];
    uint32_t moving = 0, last = DFL_NONE;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        uint64_t bits = 0;
        dfl_place_lines(set, c, index->terms[t].rank, p->n_above, &bits);
        moving += bits != 0;
        last = bits != 0 ? t : last;
        if (!goes_back(set, c, index->terms[t].rank))
            continue;
        dfl_setting_refuse(set, a->span, "a restricted producer whose consumer is recomputed",
                           "exchange the tensor above the loops of this branch");
        return false;
    }
    if (moving <= 1 && index->offset <= 0 && gapless(set, index, last))
        return true;
    dfl_setting_refuse(set, a->span, "a restricted producer whose consumer reads it with gaps",
                       "exchange the tensor above the loops of this branch, or loop over one rank of the index only");
    return false;
}

static bool restrict_dim(dfl_setting *set, uint32_t e, uint32_t d, dfl_dim_want *want, uint64_t needed)
{
    const dfl_path *p = &set->paths->paths[e];
    const dfl_index *mine = &set->w->einsums[e].output.index[d];
    uint64_t bits = 0;
    uint32_t rank, accesses = 0;
    int64_t first_offset = 0;

    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t c = p->exchange.consumers[k];
        const dfl_einsum *reader = &set->w->einsums[c];
        for (uint32_t i = 0; i < reader->n_inputs; i++)
            for (uint32_t t = 0; reader->inputs[i].tensor == p->exchange.tensor && t < reader->inputs[i].index[d].n_terms; t++)
                dfl_place_lines(set, c, reader->inputs[i].index[d].terms[t].rank, p->n_above, &bits);
    }
    if ((bits & needed) == 0)
        return true;
    if (!dfl_index_is_bare(mine, &rank)) {
        dfl_setting_refuse(set, set->w->einsums[e].span, "a restricted producer that writes through an index expression",
                           "exchange the tensor above the loops of this branch");
        return false;
    }
    for (uint32_t i = 0; i < p->n_above; i++)
        if (p->steps[i].rank == rank) {
            dfl_setting_refuse(set, p->steps[i].line->span,
                               "a dimension that is both looped over and restricted by its consumers",
                               "loop over the consumer's rank only");
            return false;
        }
    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t c = p->exchange.consumers[k];
        const dfl_einsum *reader = &set->w->einsums[c];
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            const dfl_access *a = &reader->inputs[i];
            if (a->tensor != p->exchange.tensor)
                continue;
            if (!readable(set, p, c, a, d))
                return false;
            if (accesses++ == 0)
                first_offset = a->index[d].offset;
            /* the hull of two windows is read in full only where they touch */
            int64_t apart = a->index[d].offset - first_offset;
            if (apart > 1 || apart < -1) {
                dfl_setting_refuse(set, a->span, "a restricted producer that is read at two distant places",
                                   "exchange the tensor above the loops of this branch");
                return false;
            }
        }
    }
    want->restricted = true;
    want->lines = DFL_NEW_ARRAY(set->arena, uint32_t, DFL_MAX_STEPS);
    want->driver = DFL_NEW_ARRAY(set->arena, uint32_t, DFL_MAX_STEPS);
    for (uint32_t i = 0; i < p->n_above; i++)
        if (bits >> i & 1) {
            want->driver[want->n_lines] = dfl_place_driver(set, e, i);
            want->lines[want->n_lines++] = i;
            if (p->steps[i].line->kind == DFL_LINE_SPATIAL) {
                dfl_setting_refuse(set, p->steps[i].line->span, "a producer restricted by a spatial loop of its consumers",
                                   "split the producer's own rank over the axis");
                return false;
            }
        }
    return true;
}

/* Whether a loop has more than one iteration. */
static bool iterates(const dfl_setting *set, uint32_t e, uint32_t i)
{
    uint32_t driver = dfl_place_driver(set, e, i);
    const dfl_path_step *s = driver == DFL_NONE ? NULL : &set->paths->paths[driver].steps[i];

    return s && s->line->kind == DFL_LINE_TEMPORAL && s->tile < s->nominal;
}

/* `recompute`: what has left the tensor's keep above the branch is computed again. Loops below that keep change nothing
   in it, loops outside its brace empty it; of those between, the innermost that selects a part of the tensor brings new
   elements, together with the loops around it over the same dimension, and every other loop outside brings the same ones
   back. Marks the loops that repeat work in `open`. */
static bool recompute_einsum(dfl_setting *set, uint32_t e, uint64_t *open)
{
    const dfl_path *p = &set->paths->paths[e];
    const dfl_einsum *me = &set->w->einsums[e];
    uint32_t kept = 0, start = 0, innermost = DFL_NONE;
    uint64_t selecting = *open, together = 0;

    for (uint32_t i = 0; i < p->n_above; i++) {
        if (p->steps[i].line->kind == DFL_LINE_KEEP && p->steps[i].line->tensor == me->output.tensor)
            kept = i;
        for (uint32_t d = 0; d < me->output.n_dims && temporal(p, i); d++)
            for (uint32_t k = 0; k < me->output.index[d].n_terms; k++)
                if (me->output.index[d].terms[k].rank == p->steps[i].rank)
                    selecting |= UINT64_C(1) << i;
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (p->steps[i].body != p->steps[kept].body)
            start = i + 1;
        else if ((selecting >> i & 1) && iterates(set, e, i))
            innermost = i;
    }
    for (uint32_t d = 0; d < me->output.n_dims; d++) {
        const dfl_dim_want *want = &set->wants[e][d];
        uint64_t bits = 0;
        for (uint32_t k = 0; k < want->n_lines; k++)
            bits |= UINT64_C(1) << want->lines[k];
        if (innermost != DFL_NONE && (bits >> innermost & 1))
            together = bits;
    }
    for (uint32_t i = innermost; i != DFL_NONE && i-- > start;)
        if (iterates(set, e, i) && !(together >> i & 1))
            start = i + 1;
    for (uint32_t d = 0; d < me->output.n_dims; d++) {
        dfl_dim_want *want = &set->wants[e][d];
        uint32_t above = 0;
        bool has = false;
        for (uint32_t k = 0; k < want->n_lines; k++) {
            above += want->lines[k] < kept;
            has |= want->lines[k] == innermost;
        }
        if (!want->restricted || above == 0)
            continue;
        want->from = start;
        if (has)
            continue;
        want->want = DFL_WANT_ALL;
        if (above == want->n_lines)
            continue;
        dfl_setting_refuse(set, me->span, "a recomputed tensor whose keep stands between the loops of one of its dimensions",
                           "put the loops of a dimension on the same side of the keep");
        return false;
    }
    uint64_t idle = UINT64_MAX;
    for (uint32_t k = 0; k < p->exchange.n_consumers; k++) {
        uint32_t c = p->exchange.consumers[k];
        uint64_t gates = 0;
        for (uint32_t i = 0; i < set->n_gates[c]; i++)
            gates |= UINT64_C(1) << set->gates[c][i];
        gates &= (UINT64_C(1) << start) - 1;
        if (k > 0 && (gates & idle) != gates && (gates & idle) != idle) {
            dfl_setting_refuse(set, me->span, "a recomputed tensor whose readers work in different iterations",
                               "exchange the tensor in a branch of its own for each reader");
            return false;
        }
        idle &= gates;
    }
    for (uint32_t i = 0; i < start; i++)
        if (!(idle >> i & 1)) /* nobody reads it there */
            *open |= UINT64_C(1) << i;
    return true;
}

static bool init_einsum(dfl_setting *set, uint32_t e)
{
    const dfl_path *p = &set->paths->paths[e];
    const dfl_einsum *me = &set->w->einsums[e];
    const dfl_tensor *t = &set->w->tensors[me->output.tensor];
    uint64_t needed = 0, restricting = 0;

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (temporal(p, i) && p->steps[i].bind == DFL_BIND_NEED)
            needed |= UINT64_C(1) << i;
    if (needed == 0)
        return true;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        if (!(needed >> i & 1))
            continue;
        bool inside = p->has_exchange && i < p->n_above;
        for (uint32_t k = 0; inside && k < t->n_consumers; k++) {
            const dfl_body *leaf = set->paths->paths[t->consumers[k]].leaf;
            if (dfl_body_within(leaf, p->steps[i].body) && !dfl_body_within(leaf, p->exchange.branch))
                inside = false;
        }
        if (!inside) {
            dfl_setting_refuse(set, p->steps[i].line->span, "a loop that restricts a producer for readers in several branches",
                               "put the producer and all its readers into one branch");
            return false;
        }
    }
    set->wants[e] = DFL_NEW_ARRAY(set->arena, dfl_dim_want, me->output.n_dims ? me->output.n_dims : 1);
    for (uint32_t d = 0; d < me->output.n_dims; d++) {
        set->wants[e][d].want = DFL_WANT_FIRST;
        if (!restrict_dim(set, e, d, &set->wants[e][d], needed))
            return false;
        for (uint32_t k = 0; k < set->wants[e][d].n_lines; k++) {
            uint32_t i = set->wants[e][d].lines[k];
            if (restricting >> i & 1) {
                dfl_setting_refuse(set, p->steps[i].line->span, "a loop that restricts two dimensions of a tensor at once",
                                   "exchange the tensor above this loop");
                return false;
            }
            restricting |= UINT64_C(1) << i;
        }
    }
    if (p->exchange.recompute && !recompute_einsum(set, e, &restricting))
        return false;
    set->gates[e] = DFL_NEW_ARRAY(set->arena, uint32_t, DFL_MAX_STEPS);
    for (uint32_t i = 0; i < p->n_above; i++)
        if ((needed & ~restricting) >> i & 1)
            set->gates[e][set->n_gates[e]++] = i;
    return true;
}

/* Whether another einsum under the same loop needs another number of iterations (a spatial line `for` some of them). */
static bool uneven(const dfl_setting *set, const dfl_path *p, uint32_t i)
{
    bool differs = false;

    for (uint32_t k = 0; p->steps[i].rank != DFL_NONE && k < p->steps[i].body->n_einsums; k++) {
        const dfl_path_step *s = &set->paths->paths[p->steps[i].body->einsums[k]].steps[i];
        differs |= s->rank != DFL_NONE && (s->nominal != p->steps[i].nominal || s->tile != p->steps[i].tile);
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
        dfl_setting_refuse(set, p->leaf->span, "a path of more than 64 lines", "use fewer loops and keeps");
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

    *set = (dfl_setting){ .arena = arena, .sink = sink, .names = names, .paths = paths, .m = m, .w = m->workload,
                          .s = m->system };
    set->wants = DFL_NEW_ARRAY(arena, dfl_dim_want *, n);
    set->gates = DFL_NEW_ARRAY(arena, uint32_t *, n);
    set->n_gates = DFL_NEW_ARRAY(arena, uint32_t, n);
    set->cuts = DFL_NEW_ARRAY(arena, uint64_t *, n + 1);
    set->spatial = DFL_NEW_ARRAY(arena, uint64_t, n + 1);
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
    for (uint32_t e = n; e-- > 0 && !set->refused;)
        init_einsum(set, e);
    return !set->refused;
}
