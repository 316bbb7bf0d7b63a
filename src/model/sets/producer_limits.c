/*
 * Demands on restricted producers (MODEL.md, rule 11), derived from the lines. This file checks all conditions that
 * rank_piece.c relies on.
 */
#include "model/sets/producer_limits.h"

#include "model/sets/rank_piece.h"
#include "support/vec.h"

static bool is_temporal(const dfl_path *path, uint32_t i) { return path->steps[i].line->kind == DFL_LINE_TEMPORAL; }

/* Tells whether the values of an index fill an interval, for whole ranks and for any piece of the rank in term
   `moving`. True if each term, in ascending order of coefficients, steps no further than the length of the interval
   that the earlier terms cover. */
static bool is_gapless(const dfl_nest *nest, const dfl_index *index, uint32_t moving)
{
    dfl_i128 covered = 1;
    bool used[DFL_WINDOW_TERMS] = { false };

    if (index->n_terms > DFL_WINDOW_TERMS)
        return false;
    for (uint32_t done = 0; done < index->n_terms; done++) {
        uint32_t best = DFL_NONE;
        for (uint32_t t = 0; t < index->n_terms; t++)
            if (!used[t] && t != moving && (best == DFL_NONE || index->terms[t].coef < index->terms[best].coef))
                best = t;
        best = best == DFL_NONE ? moving : best; /* the moving term comes last, since its piece may be a single index */
        used[best] = true;
        int64_t extent = nest->workload->ranks[index->terms[best].rank].extent;
        if (extent == 1)
            continue;
        if (index->terms[best].coef < 0 || index->terms[best].coef > covered)
            return false;
        covered += (dfl_i128)index->terms[best].coef * (extent - 1);
    }
    return true;
}

/* Tells whether a consumer's index of a restricted dimension is a window that moves only upwards and omits no index: at
   most one term moves, and the values of the index fill an interval. */
static bool is_window(const dfl_nest *nest, uint32_t end, uint32_t c, const dfl_index *index)
{
    uint32_t moving = 0, last = DFL_NONE;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        uint64_t bits = 0;
        dfl_rank_piece_steps(nest, c, index->terms[t].rank, end, &bits);
        moving += bits != 0;
        last = bits != 0 ? t : last;
        if (dfl_rank_piece_has_gaps(nest, c, index->terms[t].rank))
            return false;
    }
    return moving <= 1 && index->offset <= 0 && is_gapless(nest, index, last);
}

/* Tells whether all consumers below a branch read windows of dimension `d` that move side by side. */
static bool are_windows(const dfl_nest *nest, uint32_t e, uint32_t d, const dfl_demand *demand)
{
    uint32_t tensor = nest->workload->einsums[e].output.tensor, accesses = 0;
    int64_t first_offset = 0;

    for (uint32_t k = 0; k < demand->n_consumers; k++) {
        const dfl_einsum *reader = &nest->workload->einsums[demand->consumers[k]];
        for (uint32_t i = 0; i < reader->n_inputs; i++) {
            const dfl_index *index = &reader->inputs[i].index[d];
            if (reader->inputs[i].tensor != tensor)
                continue;
            if (!is_window(nest, demand->end, demand->consumers[k], index))
                return false;
            if (accesses++ == 0)
                first_offset = index->offset;
            /* two windows fill their hull only if they overlap or touch */
            if (index->offset > first_offset + 1 || index->offset < first_offset - 1)
                return false;
        }
    }
    return true;
}

/* Collects the consumers below the brace of step `i` of the producer, in workload order. Returns their number. */
static uint32_t find_readers(const dfl_nest *nest, uint32_t e, uint32_t i, uint32_t *out)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint32_t n = 0;

    for (uint32_t k = 0; k < path->exchange.n_consumers; k++)
        if (dfl_body_within(nest->paths->paths[path->exchange.consumers[k]].leaf, path->steps[i].body))
            out[n++] = path->exchange.consumers[k];
    return n;
}

/* Bit set of the steps < `end` that decide which indices of dimension `d` the consumers read. */
static uint64_t find_reading_steps(const dfl_nest *nest, uint32_t e, uint32_t d, const dfl_demand *demand)
{
    uint64_t bits = 0;

    for (uint32_t k = 0; k < demand->n_consumers; k++) {
        const dfl_einsum *reader = &nest->workload->einsums[demand->consumers[k]];
        for (uint32_t i = 0; i < reader->n_inputs; i++)
            for (uint32_t t = 0; reader->inputs[i].tensor == nest->workload->einsums[e].output.tensor &&
                 t < reader->inputs[i].index[d].n_terms; t++)
                dfl_rank_piece_steps(nest, demand->consumers[k], reader->inputs[i].index[d].terms[t].rank, demand->end, &bits);
    }
    return bits;
}

/* Adds the demand at one branch, whose loops are the steps `first` to `end`. All of these loops stand above the same
   consumers. The new demand replaces `*demand`, which becomes the new demand's next outer one. */
static void restrict_branch(dfl_nest *nest, uint32_t e, uint32_t d, dfl_demand *demand, uint32_t first, uint32_t end,
                            uint64_t needed)
{
    const dfl_path *path = &nest->paths->paths[e];
    dfl_demand own = { .end = end };
    uint32_t *consumers = DFL_NEW_ARRAY(nest->arena, uint32_t, path->exchange.n_consumers + 1);

    own.n_consumers = find_readers(nest, e, first, consumers);
    own.consumers = consumers;
    uint64_t bits = find_reading_steps(nest, e, d, &own);
    own.stepping = bits & needed & ~((UINT64_C(1) << first) - 1);
    if (own.stepping == 0)
        return;
    if (demand->is_restricted) {
        own.outer = DFL_NEW(nest->arena, dfl_demand);
        *own.outer = *demand;
        for (uint32_t k = 0; k < demand->n_lines; k++)
            bits |= UINT64_C(1) << demand->lines[k];
    }
    own.is_restricted = true;
    own.lines = DFL_NEW_ARRAY(nest->arena, uint32_t, DFL_MAX_STEPS);
    own.driver = DFL_NEW_ARRAY(nest->arena, uint32_t, DFL_MAX_STEPS);
    for (uint32_t i = 0; i < end; i++)
        if (bits >> i & 1 && is_temporal(path, i)) {
            own.driver[own.n_lines] = dfl_nest_driver(nest, e, i);
            own.lines[own.n_lines++] = i;
        }
    own.has_gaps = own.outer || bits != own.stepping || !are_windows(nest, e, d, &own);
    *demand = own;
}

/* Reports E0609 and returns false if the model does not count a restriction of dimension `d`. */
static bool check_countable(dfl_nest *nest, uint32_t e, uint32_t d)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint32_t rank;

    if (!dfl_index_is_bare(&nest->workload->einsums[e].output.index[d], &rank)) {
        dfl_nest_refuse(nest, nest->workload->einsums[e].span, "an einsum that writes through an index expression and "
                        "computes only what its readers need",
                        "exchange the tensor above the loops of this branch");
        return false;
    }
    for (uint32_t i = 0; i < path->n_above; i++)
        if (path->steps[i].rank == rank && path->steps[i].line->kind != DFL_LINE_KEEP) {
            dfl_nest_refuse(nest, path->steps[i].line->span,
                            "a dimension that is divided both by a loop over its rank and by a loop over a rank of its readers",
                            "loop over the rank of the reader only");
            return false;
        }
    return true;
}

/* Finds the demands on dimension `d`, from the outermost branch with consumers to the innermost. */
static void restrict_dim(dfl_nest *nest, uint32_t e, uint32_t d, dfl_demand *demand, uint64_t needed)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint32_t *unused = DFL_NEW_ARRAY(nest->arena, uint32_t, path->exchange.n_consumers + 1), first = 0;

    for (uint32_t i = 1; i <= path->n_above; i++)
        if (i == path->n_above || find_readers(nest, e, i, unused) != find_readers(nest, e, first, unused)) {
            restrict_branch(nest, e, d, demand, first, i, needed);
            first = i;
        }
}

/* Number of steps above the outermost branch with consumers: all consumers stand below these steps. */
static uint32_t count_common_steps(const dfl_nest *nest, uint32_t e)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint32_t *unused = DFL_NEW_ARRAY(nest->arena, uint32_t, path->exchange.n_consumers + 1), n = 0;

    while (n < path->n_above && find_readers(nest, e, n, unused) == path->exchange.n_consumers)
        n++;
    return n;
}

/* The demand on dimension `d` at the outermost branch with consumers, or NULL. */
static dfl_demand *find_outer_demand(const dfl_nest *nest, uint32_t e, uint32_t d, uint32_t end)
{
    dfl_demand *demand = &nest->demands[e][d];

    while (demand && demand->end > end)
        demand = demand->outer;
    return demand && demand->is_restricted ? demand : NULL;
}

/* Tells whether a step is a temporal loop with more than one iteration. */
static bool has_iterations(const dfl_nest *nest, uint32_t e, uint32_t i)
{
    uint32_t driver = dfl_nest_driver(nest, e, i);
    const dfl_path_step *s = driver == DFL_NONE ? NULL : &nest->paths->paths[driver].steps[i];

    return s && s->line->kind == DFL_LINE_TEMPORAL && s->tile < s->nominal;
}

/* Tells whether a restricted dimension has no demanded index in some iteration of the loops among the first `n` steps.
   Also true if the budget is spent. */
static bool is_ever_empty(const dfl_nest *nest, uint32_t e, uint32_t d, uint32_t n)
{
    const dfl_demand *demand = &nest->demands[e][d];
    int64_t pos[DFL_MAX_STEPS] = { 0 };
    dfl_interval_set piece = { 0 };
    uint32_t rank, k;

    (void)dfl_index_is_bare(&nest->workload->einsums[e].output.index[d], &rank);
    do {
        dfl_rank_piece_set(nest, e, rank, n, pos, &piece);
        if (piece.n == 0 || !dfl_budget_spend(dfl_arena_budget(nest->arena), 4))
            return true;
        for (k = demand->n_lines; k-- > 0;) {
            uint32_t i = demand->lines[k];
            if (i < n && pos[i] + 1 < dfl_rank_piece_trips(nest, demand->driver[k], i, pos)) {
                pos[i]++;
                break;
            }
            pos[i] = 0;
        }
    } while (k != DFL_NONE);
    return false;
}

/* Tells whether a consumer is idle in some iteration of the loops among the first `n` steps, other than because of its
   gates. */
static bool is_ever_idle(const dfl_nest *nest, uint32_t c, uint32_t n)
{
    bool idle = nest->trigger[c] != DFL_NONE;

    for (uint32_t d = 0; nest->demands[c] && !idle && d < nest->workload->einsums[c].output.n_dims; d++)
        idle = nest->demands[c][d].is_restricted && is_ever_empty(nest, c, d, n);
    return idle;
}

/* Finds the trigger of a recomputed einsum: the einsum computes again only in iterations in which some consumer works.
   False after E0609. */
static bool find_trigger(dfl_nest *nest, uint32_t e, uint32_t start)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint32_t n_idle = 0;

    nest->trigger_steps[e] = start;
    for (uint32_t k = 0; k < path->exchange.n_consumers && start > 0; k++) {
        uint32_t c = path->exchange.consumers[k];
        if (is_ever_idle(nest, c, start))
            nest->trigger[e] = c;
        n_idle += is_ever_idle(nest, c, start);
    }
    if (n_idle < path->exchange.n_consumers)
        nest->trigger[e] = DFL_NONE; /* no trigger: some consumer works in each iteration */
    if (n_idle <= 1 || n_idle < path->exchange.n_consumers)
        return true;
    dfl_nest_refuse(nest, nest->workload->einsums[e].span, "a recomputed tensor whose readers work in different iterations",
                    "exchange the tensor in a branch of its own for each reader");
    return false;
}

/* Finds the loops that make a producer compute again (`recompute`): those that bring back elements that have left the
   keep of the tensor above the outermost branch. Loops below this keep change no element in it, and loops outside its
   brace empty it. Consider the loops in between. The innermost of them that selects a part of the tensor brings new
   elements, together with the loops around it over the same dimension. Every other loop further out brings back the
   same elements. Adds the loops that repeat work to the bit set `open`. */
static bool recompute_einsum(dfl_nest *nest, uint32_t e, uint64_t *open)
{
    const dfl_path *path = &nest->paths->paths[e];
    const dfl_einsum *me = &nest->workload->einsums[e];
    uint32_t kept = 0, start = 0, innermost = DFL_NONE, end = count_common_steps(nest, e);
    uint64_t selecting = *open, together = 0;

    for (uint32_t i = 0; i < end; i++) {
        if (path->steps[i].line->kind == DFL_LINE_KEEP && path->steps[i].line->tensor == me->output.tensor)
            kept = i;
        for (uint32_t d = 0; d < me->output.n_dims && is_temporal(path, i); d++)
            for (uint32_t k = 0; k < me->output.index[d].n_terms; k++)
                if (me->output.index[d].terms[k].rank == path->steps[i].rank)
                    selecting |= UINT64_C(1) << i;
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (path->steps[i].body != path->steps[kept].body)
            start = i + 1;
        else if ((selecting >> i & 1) && has_iterations(nest, e, i))
            innermost = i;
    }
    for (uint32_t d = 0; d < me->output.n_dims; d++) {
        const dfl_demand *demand = find_outer_demand(nest, e, d, end);
        uint64_t bits = 0;
        for (uint32_t k = 0; demand && k < demand->n_lines; k++)
            bits |= UINT64_C(1) << demand->lines[k];
        if (innermost != DFL_NONE && (bits >> innermost & 1))
            together = bits;
    }
    for (uint32_t i = innermost; i != DFL_NONE && i-- > start;)
        if (has_iterations(nest, e, i) && !(together >> i & 1))
            start = i + 1;
    for (uint32_t d = 0; d < me->output.n_dims; d++) {
        dfl_demand *demand = find_outer_demand(nest, e, d, end);
        if (!demand || demand->lines[0] >= start)
            continue;
        demand->from = start;
        demand->has_gaps = true; /* if work is repeated, the windows start again at the lower end */
    }
    uint64_t idle = UINT64_MAX;
    for (uint32_t k = 0; k < path->exchange.n_consumers; k++) {
        uint32_t c = path->exchange.consumers[k];
        uint64_t gates = 0;
        for (uint32_t i = 0; i < nest->n_gates[c]; i++)
            gates |= UINT64_C(1) << nest->gates[c][i];
        gates &= (UINT64_C(1) << start) - 1;
        if (k > 0 && (gates & idle) != gates && (gates & idle) != idle) {
            dfl_nest_refuse(nest, me->span, "a recomputed tensor whose readers work in different iterations",
                            "exchange the tensor in a branch of its own for each reader");
            return false;
        }
        idle &= gates;
    }
    for (uint32_t i = 0; i < start; i++)
        if (!(idle >> i & 1)) /* after the first iteration of a step in `idle`, no consumer reads the tensor */
            *open |= UINT64_C(1) << i;
    return find_trigger(nest, e, start);
}

static bool find_einsum_demands(dfl_nest *nest, uint32_t e)
{
    const dfl_path *path = &nest->paths->paths[e];
    const dfl_einsum *me = &nest->workload->einsums[e];
    uint64_t needed = 0, restricting = 0;

    for (uint32_t i = 0; i < path->n_above; i++)
        if (is_temporal(path, i) && path->steps[i].bind == DFL_BIND_NEED)
            needed |= UINT64_C(1) << i;
    if (needed == 0)
        return true;
    nest->demands[e] = DFL_NEW_ARRAY(nest->arena, dfl_demand, me->output.n_dims ? me->output.n_dims : 1);
    for (uint32_t d = 0; d < me->output.n_dims; d++) {
        restrict_dim(nest, e, d, &nest->demands[e][d], needed);
        if (nest->demands[e][d].is_restricted && !check_countable(nest, e, d))
            return false;
        for (const dfl_demand *w = &nest->demands[e][d]; w; w = w->outer) {
            uint64_t twice = restricting & w->stepping;
            if (twice) {
                dfl_nest_refuse(nest, path->steps[__builtin_ctzll(twice)].line->span,
                                "a loop that restricts two dimensions of a tensor at once",
                                "exchange the tensor above this loop");
                return false;
            }
            restricting |= w->stepping;
        }
    }
    if (path->exchange.recompute && !recompute_einsum(nest, e, &restricting))
        return false;
    nest->gates[e] = DFL_NEW_ARRAY(nest->arena, uint32_t, DFL_MAX_STEPS);
    for (uint32_t i = 0; i < path->n_above; i++)
        if ((needed & ~restricting) >> i & 1)
            nest->gates[e][nest->n_gates[e]++] = i;
    return true;
}

bool dfl_producer_limits_find(dfl_nest *nest)
{
    for (uint32_t e = nest->workload->n_einsums; e-- > 0 && !nest->refused;)
        find_einsum_demands(nest, e);
    return !nest->refused;
}

