#include "mapper/join/first_tiles.h"

/* The pieces into which loops of readers cut a dimension of a tensor, from the best case to the worst. */
typedef enum {
    EVEN,                     /* no piece is longer than the first one */
    HALO,                     /* no piece is, if no loop cuts the ranks over which the einsum with the window sums */
    UNEVEN,                   /* a later piece may be longer than the first one */
} evenness;

typedef struct {
    evenness is;
    uint32_t window;          /* HALO: the einsum that reads the dimension through a window */
} dim_cuts;

typedef struct {
    dfl_arena *arena;
    const dfl_workload *w;
    dim_cuts **cuts;          /* [tensor][dimension]; EVEN without readers */
} cut_table;

static int64_t extent_of(const cut_table *k, const dfl_term *t) { return k->w->ranks[t->rank].extent; }

/* The pieces of a rank of an einsum: the worst of those of the dimensions that it indexes in the result. */
static dim_cuts cuts_of(const cut_table *k, const dfl_access *output, uint32_t rank)
{
    dim_cuts out = { .is = EVEN };

    for (uint32_t d = 0; d < output->n_dims; d++)
        for (uint32_t i = 0; i < output->index[d].n_terms; i++)
            if (output->index[d].terms[i].rank == rank && k->cuts[output->tensor][d].is > out.is)
                out = k->cuts[output->tensor][d];
    return out;
}

/* Whether no piece of a dimension of `extent` elements is longer than the first one if a reader cuts it by the window `i` (B60).
   One rank of the window indexes the result of the reader, and its own pieces are even. The window moves by no more than its
   first position has inside of the dimension, and its last position reads up to the end. */
static bool is_halo(const cut_table *k, const dfl_einsum *reader, const dfl_index *i, int64_t extent)
{
    int64_t beside = i->offset, step = 0;
    uint32_t n = 0;
    bool is_one = i->offset <= 0;

    for (uint32_t t = 0; t < i->n_terms; t++) {
        const dfl_term *x = &i->terms[t];
        const bool moves = dfl_access_has_rank(&reader->output, x->rank);
        is_one &= x->coef > 0 && x->coef < 1 << 20 && extent_of(k, x) < INT32_MAX;
        is_one &= !moves || cuts_of(k, &reader->output, x->rank).is == EVEN;
        n += moves;
        step = moves ? x->coef : step;
        extent -= is_one && moves ? x->coef * (extent_of(k, x) - 1) : 0;
        beside += is_one && !moves ? x->coef * (extent_of(k, x) - 1) : 0;
    }
    return is_one && n == 1 && beside + 1 >= step && beside + 1 >= extent;
}

/* The pieces into which one reader cuts a dimension of an intermediate. */
static dim_cuts cuts_by(const cut_table *k, uint32_t reader, const dfl_access *read, uint32_t dim)
{
    const dfl_tensor *t = &k->w->tensors[read->tensor];
    const dfl_einsum *e = &k->w->einsums[reader];
    const dfl_index *made = &k->w->einsums[t->producers[0]].output.index[dim], *i = &read->index[dim];
    dim_cuts out = { .is = UNEVEN };
    uint32_t rank;

    if (t->n_producers > 1 || !dfl_index_is_bare(made, &rank))
        return out;
    if (dfl_index_is_bare(i, &rank) && extent_of(k, &i->terms[0]) == extent_of(k, &made->terms[0]))
        out = cuts_of(k, &e->output, rank);
    else if (is_halo(k, e, i, extent_of(k, &made->terms[0])))
        out = (dim_cuts){ .is = HALO, .window = reader };
    out.is = out.is == HALO && t->n_consumers > 1 ? UNEVEN : out.is;
    return out;
}

/* Fills the table, from the last einsum on: readers stand behind the producers of what they read. */
static void find_cuts(cut_table *k)
{
    k->cuts = DFL_NEW_ARRAY(k->arena, dim_cuts *, k->w->n_tensors + 1u);
    for (uint32_t t = 0; t < k->w->n_tensors; t++)
        k->cuts[t] = DFL_NEW_ARRAY(k->arena, dim_cuts, k->w->tensors[t].n_dims + 1u);
    for (uint32_t e = k->w->n_einsums; e-- > 0;)
        for (uint32_t i = 0; i < k->w->einsums[e].n_inputs; i++) {
            const dfl_access *read = &k->w->einsums[e].inputs[i];
            for (uint32_t d = 0; d < read->n_dims && k->w->tensors[read->tensor].n_producers > 0; d++) {
                const dim_cuts by = cuts_by(k, e, read, d);
                k->cuts[read->tensor][d] = by.is > k->cuts[read->tensor][d].is ? by : k->cuts[read->tensor][d];
            }
        }
}

/* Whether `einsum` reads the result of einsum `on`, or a result that depends on it. `on` stands before it in the workload. */
static bool depends_on(const cut_table *k, uint32_t einsum, uint32_t on)
{
    bool *needs = DFL_NEW_ARRAY(k->arena, bool, k->w->n_einsums + 1u);

    needs[on] = true;
    for (uint32_t e = on + 1; e <= einsum; e++)
        for (uint32_t i = 0; i < k->w->einsums[e].n_inputs; i++) {
            const dfl_tensor *t = &k->w->tensors[k->w->einsums[e].inputs[i].tensor];
            for (uint32_t p = 0; p < t->n_producers; p++)
                needs[e] |= needs[t->producers[p]];
        }
    return needs[einsum];
}

/* Whether the keep of an input for several einsums stands above no loop over the ranks of the sums of the einsum `window`: all
   other readers of the input need these sums, so that none of them can run below such a loop. */
static bool has_readers_behind(const cut_table *k, const dfl_tensor *t, uint32_t einsum, uint32_t window)
{
    bool behind = t->n_consumers > 1;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        behind &= t->consumers[i] == einsum || (t->consumers[i] > window && depends_on(k, t->consumers[i], window));
    return behind;
}

/* Sets the bit of an operand in a mask of `found` if it is an input whose first tiles count in the einsum. */
static void mark_input(const cut_table *k, const dfl_problem *problem, uint32_t operand, dfl_form_firsts *found)
{
    const dfl_problem_operand *o = &problem->operand[operand];
    const dfl_tensor *t = &k->w->tensors[o->tensor];
    bool is_sure = o->ranks == o->plain && !o->output && !o->shared && t->n_producers == 0 && o->home != DFL_NONE;
    bool is_even = true;

    for (uint32_t i = 0; i < problem->n_operands; i++)
        is_sure &= i == operand || problem->operand[i].tensor != o->tensor;
    for (uint32_t r = 0; r < problem->n_ranks && is_sure; r++) {
        const dim_cuts cuts = cuts_of(k, &k->w->einsums[problem->einsum].output, problem->rank[r]);
        if (!(o->ranks >> r & 1) || cuts.is == EVEN)
            continue;
        is_even = false;
        is_sure &= cuts.is == HALO && o->common != 0 && has_readers_behind(k, t, problem->einsum, cuts.window);
    }
    found->operands |= is_sure && is_even ? 1u << operand : 0;
    found->served |= is_sure && !is_even ? 1u << operand : 0;
}

/* The inputs whose first tiles count in an einsum, but for those that count in a reader before it. */
static dfl_form_firsts find_inputs(const cut_table *k, const dfl_einsum_classes *classes, uint32_t einsum)
{
    const dfl_problem *problem = classes->problems[einsum].at[0];
    dfl_form_firsts out = { .operands = 0 };

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const dfl_tensor *t = &k->w->tensors[problem->operand[o].tensor];
        dfl_form_firsts before = { .operands = 0 };
        for (uint32_t i = 0; i < t->n_consumers && t->consumers[i] < einsum && t->n_producers == 0; i++) {
            const dfl_problem *other = classes->problems[t->consumers[i]].at[0];
            const uint32_t at = dfl_problem_find_operand(other, problem->operand[o].tensor);
            if (at < other->n_operands)
                mark_input(k, other, at, &before);
        }
        if (before.operands == 0 && before.served == 0)
            mark_input(k, problem, o, &out);
    }
    return out;
}

/* The time, s, in which a memory is read once for all `inputs` of an einsum, a mask, whose home it is. */
static double read_all(const dfl_problem *problem, uint32_t inputs, uint32_t memory)
{
    double seconds = 0;

    for (uint32_t bits = inputs & ((1u << problem->n_operands) - 1); bits != 0; bits &= bits - 1) {
        const dfl_problem_operand *o = &problem->operand[__builtin_ctz(bits)];
        seconds += problem->place[o->home].memory == memory ? o->bits * o->elements * problem->place[o->home].read_seconds : 0;
    }
    return seconds;
}

/* Whether some memory is a stream. */
static bool has_streams(const dfl_system *s)
{
    bool found = false;

    for (uint32_t m = 0; m < s->n_memories; m++)
        found |= s->memories[m].stream;
    return found;
}

/* By memory: whether some skeleton fills it from a keep further out. Beside first tiles there, others from such keeps may move,
   at any port. */
static const bool *find_filled(dfl_arena *arena, const dfl_einsum_classes *classes)
{
    bool *out = DFL_NEW_ARRAY(arena, bool, classes->m->system->n_memories + 1u);

    for (size_t c = 0; c < classes->at.n; c++)
        for (size_t i = 0; i < classes->at.at[c].candidates.n; i++) {
            const dfl_candidate *x = &classes->at.at[c].candidates.at[i];
            for (uint32_t k = 0; k < x->form->n_keeps; k++) {
                const uint32_t memory = x->problem->place[x->form->keep[k].place].memory;
                if (memory != DFL_NONE && x->form->keep[k].parent >= 0)
                    out[memory] = true;
            }
        }
    return out;
}

const dfl_form_firsts *dfl_first_tiles_find(dfl_arena *arena, const dfl_einsum_classes *classes)
{
    cut_table k = { .arena = arena, .w = classes->m->workload };
    dfl_form_firsts *out = DFL_NEW_ARRAY(arena, dfl_form_firsts, classes->at.n + 1u);
    const bool *is_filled = find_filled(arena, classes);
    double most = 0;

    for (uint32_t c = 0; c < classes->at.n; c++)
        out[c] = (dfl_form_firsts){ .operands = ~0u, .served = ~0u, .memory = DFL_NONE, .is_filled = is_filled,
                                    .has_streams = has_streams(classes->m->system) };
    if (classes->m->options.overlap_perfect || k.w->n_carries > 0)
        return out;
    find_cuts(&k);
    for (uint32_t e = 0; e < classes->n; e++) {
        const dfl_form_firsts found = find_inputs(&k, classes, e);
        out[classes->of[e]].operands &= found.operands;
        out[classes->of[e]].served &= found.served;
    }
    for (uint32_t m = 0; m < classes->m->system->n_memories; m++) {
        double seconds = 0;
        for (uint32_t e = 0; e < classes->n; e++) {
            const dfl_form_firsts *of = &out[classes->of[e]];
            seconds += read_all(classes->problems[e].at[0], of->operands | of->served, m);
        }
        for (uint32_t c = 0; c < classes->at.n && seconds > most; c++)
            out[c].memory = m;
        most = seconds > most ? seconds : most;
    }
    return out;
}
