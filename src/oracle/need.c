/*
 * Blocks of iteration spaces, and the need of a producer (rule 11): the points that the producer computes in each
 * iteration of the loops above the branch that has the readers. The search for a need visits the blocks of
 * the readers, and the readers' own needs cut these blocks. The two tasks are mutually recursive, so they share this
 * file.
 *
 * Before the execution, the search enumerates the readers' accesses for every iteration. For each dimension, the
 * producer computes an index in the first iteration that reads it, and an index without readers in the last iteration.
 * If readers are below several branches, the loops above the inner branch divide the indices of each iteration of the
 * loops above the outer branch by the same rule.
 */
#include "oracle/need.h"

#include <string.h>

#include "support/limits.h"
#include "oracle/points.h"
#include "oracle/refuse.h"

/* ---- blocks ---- */

/* Compares the iteration with index `iter` with the present one by their first `n` loops: -1, 0 or 1. */
static int compare_iterations(const dfl_oracle_machine *machine, const dfl_oracle_need *need, uint32_t iter, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t then = need->index[iter * need->n_lines + i], now = machine->present[need->lines[i]];
        if (then != now)
            return then < now ? -1 : 1;
    }
    return 0;
}

static uint32_t find_iteration(dfl_oracle_machine *machine, const dfl_oracle_need *need)
{
    uint32_t lo = 0, hi = need->n_iter;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = compare_iterations(machine, need, mid, need->n_lines);
        if (order == 0)
            return mid;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!machine->failed)
        dfl_report(machine->sink, DFL_INTERNAL_ERROR, machine->mapping->span, "an unexpected iteration");
    machine->failed = true;
    return 0;
}

static bool cut_to_need(dfl_oracle_machine *machine, uint32_t id, dfl_oracle_interval *block)
{
    dfl_oracle_einsum *e = &machine->einsums[id];

    if (e->need.uncut)
        return true;
    uint32_t it = find_iteration(machine, &e->need);
    if (machine->failed || !e->need.works[it])
        return false;
    for (uint32_t d = 0; d < e->need.n_dims; d++) {
        const uint8_t *allowed = e->need.allowed[it * e->need.n_dims + d];
        uint32_t rank;
        if (!allowed || !dfl_index_is_bare(&e->einsum->output.index[d], &rank))
            continue;
        dfl_oracle_interval *p = &block[e->local_rank[rank]];
        while (p->lo < p->hi && !allowed[p->lo])
            p->lo++;
        while (p->lo < p->hi && !allowed[p->hi - 1])
            p->hi--;
        if (p->lo >= p->hi)
            return false;
    }
    return true;
}

static void descend_below(dfl_oracle_machine *machine, uint32_t id, uint32_t step, uint32_t upto, dfl_oracle_block_fn *visit,
                          void *data);

/* Divides the block by the line at `step`, and continues with the next step for every part of a spatial line, or for
   the present iteration of a temporal line. */
static void cut_by_line(dfl_oracle_machine *machine, uint32_t id, uint32_t step, uint32_t upto, dfl_oracle_block_fn *visit,
                        void *data)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    const dfl_path_step *s = &e->path->steps[step];

    if (step == upto) {
        for (uint32_t a = 0; a < machine->system->n_axes; a++)
            e->here[a] = e->coord[a] + (uint32_t)dfl_paths_place(machine->paths, id, a);
        visit(machine, id, e->block, e->here, data);
        return;
    }
    if (s->line->kind == DFL_LINE_KEEP || s->rank == DFL_NONE) {
        descend_below(machine, id, step + 1, upto, visit, data);
        return;
    }
    dfl_oracle_interval *block = &e->block[e->local_rank[s->rank]], whole = *block;
    bool spatial = s->line->kind == DFL_LINE_SPATIAL;
    uint32_t line = machine->line_base[s->body->id] + (uint32_t)(s->line - s->body->lines);
    uint32_t coord = spatial ? e->coord[s->line->axis] : 0;
    for (uint32_t i = spatial ? 0 : machine->present[line]; !machine->failed; i++) {
        block->lo = whole.lo + (int64_t)i * s->tile;
        block->hi = block->lo + s->tile < whole.hi ? block->lo + s->tile : whole.hi;
        if (block->hi <= block->lo)
            break;
        if (spatial && i >= e->radix[step]) {
            dfl_oracle_refuse_unsupported(machine, s->line->span, "a piece with more tiles than the line has coordinates");
            break;
        }
        if (spatial)
            e->coord[s->line->axis] = coord * e->radix[step] + i;
        descend_below(machine, id, step + 1, upto, visit, data);
        if (!spatial)
            break;
    }
    *block = whole;
    if (spatial)
        e->coord[s->line->axis] = coord;
}

static void descend_below(dfl_oracle_machine *machine, uint32_t id, uint32_t step, uint32_t upto, dfl_oracle_block_fn *visit,
                          void *data)
{
    dfl_oracle_einsum *e = &machine->einsums[id];

    if (machine->failed)
        return;
    if (step != e->path->n_above || !e->path->has_exchange || !e->path->exchange.restricts) {
        cut_by_line(machine, id, step, upto, visit, data);
        return;
    }
    /* the loops below the branch divide only the part that this iteration computes */
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->saved_block[r] = e->block[r];
    if (cut_to_need(machine, id, e->block))
        cut_by_line(machine, id, step, upto, visit, data);
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->block[r] = e->saved_block[r];
}

void dfl_oracle_visit_blocks(dfl_oracle_machine *machine, uint32_t einsum, uint32_t upto, dfl_oracle_block_fn *visit, void *data)
{
    dfl_oracle_einsum *e = &machine->einsums[einsum];

    if (upto >= e->path->n_above && !dfl_oracle_need_prepare(machine, einsum))
        return;
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->block[r] = (dfl_oracle_interval){ 0, e->extent[r] };
    for (uint32_t a = 0; a < machine->system->n_axes; a++)
        e->coord[a] = 0;
    descend_below(machine, einsum, 0, upto, visit, data);
}

typedef struct { const dfl_path_step *step; int64_t most; } trip_data;

static void find_longest(dfl_oracle_machine *machine, uint32_t einsum, const dfl_oracle_interval *block, const uint32_t *coord,
                         void *data)
{
    trip_data *t = data;
    const dfl_oracle_interval *p = &block[machine->einsums[einsum].local_rank[t->step->rank]];
    int64_t n = dfl_ceil_div(p->hi - p->lo, t->step->tile);

    (void)coord;
    t->most = n > t->most ? n : t->most;
}

uint32_t dfl_oracle_trip_count(dfl_oracle_machine *machine, const dfl_body *body, uint32_t line)
{
    uint32_t step = machine->paths->step[body->id][line];
    int64_t most = 1;

    for (uint32_t i = 0; i < body->n_einsums; i++) {
        trip_data t = { .step = &machine->einsums[body->einsums[i]].path->steps[step] };
        if (t.step->rank == DFL_NONE)
            continue;
        dfl_oracle_visit_blocks(machine, body->einsums[i], step, find_longest, &t);
        most = t.most > most ? t.most : most;
    }
    return (uint32_t)most;
}

/* ---- readers ---- */

/* Whether an einsum stands below the brace that contains the line of another einsum's step. */
static bool stands_below(const dfl_oracle_machine *machine, uint32_t id, const dfl_path_step *step)
{
    return dfl_body_within(machine->einsums[id].path->leaf, step->body);
}

/* Whether the loop at `step` changes the set of read indices in dimension `dim` of the einsum's output. This is so if a
   reader indexes the dimension with the rank of the loop, or with a rank that the loop restricts by the need of the
   reader's own readers. */
static bool is_moved(const dfl_oracle_machine *machine, uint32_t id, uint32_t dim, uint32_t step)
{
    const dfl_exchange *x = &machine->einsums[id].path->exchange;

    for (uint32_t k = 0; k < x->n_consumers; k++) {
        const dfl_oracle_einsum *c = &machine->einsums[x->consumers[k]];
        if (!stands_below(machine, x->consumers[k], &machine->einsums[id].path->steps[step]))
            continue;
        const dfl_path_step *s = &c->path->steps[step];
        for (uint32_t i = 0; i < c->einsum->n_inputs; i++) {
            const dfl_oracle_access *a = &c->inputs[i];
            if (a->tensor != x->tensor)
                continue;
            for (uint32_t r = 0; r < c->n_ranks; r++) {
                if (a->coef[dim * c->n_ranks + r] == 0)
                    continue;
                if (s->rank == c->einsum->ranks[r])
                    return true;
                for (uint32_t d = 0; s->bind == DFL_BIND_NEED && d < c->output.n_dims; d++)
                    if (c->output.coef[d * c->n_ranks + r] != 0 && c->path->has_exchange &&
                        is_moved(machine, x->consumers[k], d, step))
                        return true;
            }
        }
    }
    return false;
}

/* ---- iterations of the loops above the branch ---- */

typedef DFL_VEC(uint32_t) index_list;

static void list_iterations(dfl_oracle_machine *machine, const dfl_path *p, dfl_oracle_need *need, uint32_t step, uint32_t depth,
                            index_list *out)
{
    const dfl_path_step *s = &p->steps[step];

    if (!dfl_oracle_spend(machine, 1))
        return;
    if (step == p->n_above) {
        for (uint32_t i = 0; i < need->n_lines; i++)
            DFL_PUSH(machine->arena, out, machine->present[need->lines[i]]);
        need->n_iter++;
        return;
    }
    if (s->line->kind != DFL_LINE_TEMPORAL) {
        list_iterations(machine, p, need, step + 1, depth, out);
        return;
    }
    uint32_t line = need->lines[depth];
    uint32_t n = dfl_oracle_trip_count(machine, s->body, (uint32_t)(s->line - s->body->lines));
    for (machine->present[line] = 0; machine->present[line] < n && !machine->failed; machine->present[line]++)
        list_iterations(machine, p, need, step + 1, depth + 1, out);
    machine->present[line] = 0;
}

static void set_iteration(dfl_oracle_machine *machine, const dfl_oracle_need *need, uint32_t iter)
{
    for (uint32_t i = 0; i < need->n_lines; i++)
        machine->present[need->lines[i]] = need->index[iter * need->n_lines + i];
}

/* ---- reads of one iteration ---- */

typedef struct {
    uint32_t tensor, upto;
    uint8_t **read;            /* [n_dims][extent]: some access reads the index */
    bool any;                  /* some reader computes a point */
} read_data;

static void note_reads(dfl_oracle_machine *machine, uint32_t id, const dfl_oracle_interval *block, const uint32_t *coord,
                       void *data)
{
    read_data *r = data;
    const dfl_oracle_einsum *e = &machine->einsums[id];
    const dfl_tensor *t = &machine->workload->tensors[r->tensor];

    (void)coord;
    for (bool more = dfl_oracle_first_point(machine, id, block); more; more = dfl_oracle_next_point(machine, id, block)) {
        if (!dfl_oracle_need_has_point(machine, id, r->upto))
            continue;
        r->any = true;
        for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
            if (e->inputs[i].tensor != r->tensor)
                continue;
            /* each dimension is recorded separately, even if the access leaves the shape in another one */
            for (uint32_t d = 0; d < t->n_dims; d++) {
                dfl_i128 at = e->inputs[i].offset[d];
                for (uint32_t k = 0; k < e->n_ranks; k++)
                    at += (dfl_i128)e->inputs[i].coef[d * e->n_ranks + k] * e->point[k];
                if (at >= 0 && at < t->extents[d])
                    r->read[d][at] = 1;
            }
        }
    }
}

/* One branch with readers. The temporal loops that are above it and below the outer branch, as positions `first` to
   `end` - 1; the number of steps above the branch. */
typedef struct { uint32_t first, end, steps; } branch;

/* Whether two iterations are equal in all loops above the branch, except for the branch's own loops that restrict
   dimension `d` and stand at position `first` or later. */
static bool same_group(const dfl_oracle_need *need, const branch *b, uint32_t d, uint32_t first, uint32_t a, uint32_t c)
{
    for (uint32_t i = 0; i < b->end; i++)
        if ((i < b->first || i < first || !need->restricts[d * need->n_lines + i]) &&
            need->index[a * need->n_lines + i] != need->index[c * need->n_lines + i])
            return false;
    return true;
}

/* Whether two iterations are equal in all loops above the branch. */
static bool same_place(const dfl_oracle_need *need, const branch *b, uint32_t a, uint32_t c)
{
    return memcmp(&need->index[a * need->n_lines], &need->index[c * need->n_lines], b->end * sizeof *need->index) == 0;
}

/* Sets the indices of dimension `d` that each iteration may compute, from the indices that are read below the branch
   (`read`). An index that an earlier iteration has computed is not computed again, unless a loop before `first` has
   advanced since then. The last iteration adds the indices without readers. */
static void allow_indices(dfl_oracle_machine *machine, const dfl_oracle_need *need, const branch *b, uint32_t d, int64_t extent,
                          uint32_t first, uint8_t *const *read)
{
    uint32_t n = need->n_dims;

    for (uint32_t it = 0; it < need->n_iter && dfl_oracle_spend(machine, need->n_iter); it++) {
        uint8_t *out = DFL_NEW_ARRAY(machine->arena, uint8_t, (size_t)extent);
        uint8_t *ever = DFL_NEW_ARRAY(machine->arena, uint8_t, (size_t)extent);
        bool last = true;
        for (int64_t i = 0; i < extent; i++)
            out[i] = read[it * n + d][i];
        for (uint32_t other = 0; other < need->n_iter && dfl_oracle_spend(machine, (uint64_t)extent); other++) {
            if (!same_group(need, b, d, 0, it, other))
                continue;
            bool here = same_place(need, b, it, other);
            bool kept = other < it && !here && same_group(need, b, d, first, it, other);
            last &= other <= it || here;
            for (int64_t i = 0; i < extent; i++) {
                ever[i] |= read[other * n + d][i];
                if (kept)
                    out[i] = out[i] && !read[other * n + d][i];
            }
        }
        for (int64_t i = 0; last && i < extent; i++)
            out[i] |= !ever[i];
        /* an inner branch divides the part that the outer branches allow */
        for (int64_t i = 0; need->allowed[it * n + d] && i < extent; i++)
            out[i] = out[i] && need->allowed[it * n + d][i];
        need->allowed[it * n + d] = out;
    }
}

typedef struct { uint32_t iter; dfl_oracle_need *need; } mark_data;

static bool is_permitted(const dfl_oracle_machine *machine, const dfl_oracle_einsum *e, uint32_t iter)
{
    const dfl_oracle_need *need = &e->need;
    const dfl_tensor *t = &machine->workload->tensors[e->output.tensor];
    uint32_t elem = dfl_oracle_element(machine, e, &e->output);

    if (!need->works[iter] || elem == DFL_NONE)
        return false;
    for (uint32_t d = t->n_dims; d-- > 0; elem /= (uint32_t)t->extents[d]) {
        const uint8_t *allowed = need->allowed[iter * need->n_dims + d];
        if (allowed && !allowed[elem % (uint32_t)t->extents[d]])
            return false;
    }
    return true;
}

static void mark_runs(dfl_oracle_machine *machine, uint32_t id, const dfl_oracle_interval *block, const uint32_t *coord,
                      void *data)
{
    mark_data *m = data;
    const dfl_oracle_einsum *e = &machine->einsums[id];

    (void)coord;
    for (bool more = dfl_oracle_first_point(machine, id, block); more; more = dfl_oracle_next_point(machine, id, block)) {
        uint32_t point = dfl_oracle_point_index(e);
        if (is_permitted(machine, e, m->iter))
            m->need->runs[m->iter][point / 8] |= (uint8_t)(1u << point % 8);
    }
}

/* Finds the temporal loops above the branch, and the dimensions that each loop restricts. */
static void find_loops(dfl_oracle_machine *machine, uint32_t id)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    dfl_oracle_need *need = &e->need;
    const dfl_path *p = e->path;

    need->n_dims = e->output.n_dims;
    need->lines = DFL_NEW_ARRAY(machine->arena, uint32_t, p->n_above + 1);
    need->restricts = DFL_NEW_ARRAY(machine->arena, bool, (size_t)(need->n_dims + 1) * (p->n_above + 1));
    for (uint32_t s = 0; s < p->n_above; s++)
        need->n_lines += p->steps[s].line->kind == DFL_LINE_TEMPORAL;
    for (uint32_t s = 0, i = 0; s < p->n_above; s++) {
        const dfl_path_step *step = &p->steps[s];
        if (step->line->kind != DFL_LINE_TEMPORAL)
            continue;
        need->lines[i] = machine->line_base[step->body->id] + (uint32_t)(step->line - step->body->lines);
        for (uint32_t d = 0; step->bind == DFL_BIND_NEED && d < need->n_dims; d++)
            need->restricts[d * need->n_lines + i] = is_moved(machine, id, d, s);
        i++;
    }
}

/* The loops that repeat work because of `recompute`, as positions among the temporal loops above the outermost branch
   with readers. */
typedef struct {
    uint32_t above;            /* number of loops above the tensor's keep */
    uint32_t start;            /* position of the first loop that does not repeat work; the loops before it compute elements
                                  again that have left the keep */
    uint32_t innermost;        /* innermost loop from `start` to `above` that selects a part of the tensor, or DFL_NONE */
} repetition;

/* Whether the loop has a second iteration at any time. */
static bool has_second_iteration(const dfl_oracle_need *need, uint32_t line)
{
    for (uint32_t it = 0; it < need->n_iter; it++)
        if (need->index[it * need->n_lines + line] > 0)
            return true;
    return false;
}

/* Whether two loops restrict the same dimension. */
static bool restricts_same(const dfl_oracle_need *need, uint32_t a, uint32_t b)
{
    for (uint32_t d = 0; d < need->n_dims; d++)
        if (need->restricts[d * need->n_lines + a] && need->restricts[d * need->n_lines + b])
            return true;
    return false;
}

static repetition find_repetition(const dfl_oracle_einsum *e, const branch *b)
{
    const dfl_oracle_need *need = &e->need;
    const dfl_path *p = e->path;
    repetition a = { .innermost = DFL_NONE };
    uint32_t keep = 0;

    if (!p->exchange.recompute)
        return a;
    for (uint32_t s = 0; s < b->steps; s++)
        if (p->steps[s].line->kind == DFL_LINE_KEEP && p->steps[s].line->tensor == e->output.tensor)
            keep = s;
    for (uint32_t s = 0; s < keep; s++) {
        const dfl_path_step *step = &p->steps[s];
        bool is_selected = false;
        if (step->line->kind != DFL_LINE_TEMPORAL)
            continue;
        for (uint32_t d = 0; d < e->output.n_dims; d++) {
            is_selected |= need->restricts[d * need->n_lines + a.above];
            is_selected |= step->rank != DFL_NONE && e->output.coef[d * e->n_ranks + e->local_rank[step->rank]] != 0;
        }
        if (step->body != p->steps[keep].body)
            a.start = a.above + 1;
        else if (is_selected && has_second_iteration(need, a.above))
            a.innermost = a.above;
        a.above++;
    }
    /* loops that surround the innermost loop and iterate its dimension divide one range with it; the next loop outside
       that does not do so repeats the work */
    for (uint32_t i = a.innermost; i != DFL_NONE && i-- > a.start;)
        if (has_second_iteration(need, i) && !restricts_same(need, i, a.innermost))
            a.start = i + 1;
    return a;
}

/* Whether the einsum works in an iteration: the iteration is the first one of every loop that restricts no dimension
   and does not repeat the work. */
static bool is_working(const dfl_oracle_einsum *e, const repetition *a, uint32_t iter)
{
    const dfl_oracle_need *need = &e->need;

    for (uint32_t s = 0, i = 0; s < e->path->n_above; s++) {
        bool any = false;
        if (e->path->steps[s].line->kind != DFL_LINE_TEMPORAL)
            continue;
        for (uint32_t d = 0; d < need->n_dims; d++)
            any |= need->restricts[d * need->n_lines + i];
        if (e->path->steps[s].bind == DFL_BIND_NEED && !any && i >= a->start && need->index[iter * need->n_lines + i] > 0)
            return false;
        i++;
    }
    return true;
}

/* The branch after `after` (NULL: the first branch): the next loops with equal sets of readers below their braces. The
   last branch is followed by a branch without loops. */
static branch next_branch(const dfl_oracle_machine *machine, uint32_t id, const branch *after)
{
    const dfl_oracle_einsum *e = &machine->einsums[id];
    const dfl_exchange *x = &e->path->exchange;
    branch b = { .first = after ? after->end : 0, .steps = e->path->n_above };
    uint32_t first = DFL_NONE, loops = 0;

    b.end = b.first;
    for (uint32_t s = 0; s < e->path->n_above; s++) {
        const dfl_path_step *step = &e->path->steps[s];
        bool same = true, loop = step->line->kind == DFL_LINE_TEMPORAL;
        if (first == DFL_NONE && (!loop || loops++ < b.first))
            continue;
        first = first == DFL_NONE ? s : first;
        for (uint32_t k = 0; k < x->n_consumers; k++)
            same &=
                stands_below(machine, x->consumers[k], step) == stands_below(machine, x->consumers[k], &e->path->steps[first]);
        if (!same) {
            b.steps = s;
            break;
        }
        b.end += loop;
    }
    return b;
}

/* Divides the work among the iterations of a branch's loops, for each dimension that the loops restrict. */
static void divide_work(dfl_oracle_machine *machine, uint32_t id, const branch *b, const repetition *again_at)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    dfl_oracle_need *need = &e->need;
    const dfl_tensor *t = &machine->workload->tensors[e->output.tensor];
    const dfl_exchange *x = &e->path->exchange;
    uint8_t **read = DFL_NEW_ARRAY(machine->arena, uint8_t *, (size_t)need->n_iter * need->n_dims + 1);
    bool *any = DFL_NEW_ARRAY(machine->arena, bool, need->n_iter);

    for (uint32_t it = 0; it < need->n_iter && !machine->failed; it++) {
        read_data r = { .tensor = x->tensor, .upto = b->steps, .read = &read[(size_t)it * need->n_dims] };
        for (uint32_t d = 0; d < need->n_dims; d++)
            r.read[d] = DFL_NEW_ARRAY(machine->arena, uint8_t, (size_t)t->extents[d]);
        set_iteration(machine, need, it);
        for (uint32_t k = 0; k < x->n_consumers; k++)
            if (stands_below(machine, x->consumers[k], &e->path->steps[b->steps - 1]))
                dfl_oracle_visit_blocks(machine, x->consumers[k], b->steps, note_reads, &r);
        any[it] = r.any;
    }
    /* loops that repeat the work do so only in iterations in which some reader computes a point */
    const branch outside = { .end = again_at->start };
    for (uint32_t it = 0; b->first == 0 && it < need->n_iter && dfl_oracle_spend(machine, need->n_iter); it++) {
        bool asked = !x->recompute;
        for (uint32_t other = 0; other < need->n_iter; other++)
            asked |= any[other] && same_place(need, &outside, it, other);
        need->works[it] = asked && is_working(e, again_at, it);
    }
    for (uint32_t d = 0; d < need->n_dims && !machine->failed; d++) {
        bool restricted = false;
        for (uint32_t i = b->first; i < b->end; i++)
            restricted |= need->restricts[d * need->n_lines + i];
        if (restricted)
            allow_indices(machine, need, b, d, t->extents[d], again_at->start, read);
    }
}

bool dfl_oracle_need_prepare(dfl_oracle_machine *machine, uint32_t id)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    dfl_oracle_need *need = &e->need;
    const dfl_exchange *x = &e->path->exchange;
    index_list iterations = { 0 };

    if (!e->path->has_exchange || !x->restricts || need->state == NEED_READY || need->uncut)
        return !machine->failed;
    if (need->state == NEED_BUSY) {
        dfl_oracle_refuse_unsupported(machine, e->einsum->span, "a fused einsum that restricts itself");
        return false;
    }
    need->state = NEED_BUSY;
    for (uint32_t k = 0; k < x->n_consumers; k++)
        if (!dfl_oracle_need_prepare(machine, x->consumers[k]))
            return false;
    find_loops(machine, id);
    uint32_t *saved = DFL_NEW_ARRAY(machine->arena, uint32_t, machine->n_lines + 1);
    for (uint32_t i = 0; i < machine->n_lines; i++)
        saved[i] = machine->present[i];
    list_iterations(machine, e->path, need, 0, 0, &iterations);
    need->index = iterations.at;
    if ((uint64_t)need->n_iter * e->n_points > DFL_ORACLE_NEED_BITS)
        dfl_oracle_refuse_large(machine);
    if (machine->failed)
        return false;
    need->works = DFL_NEW_ARRAY(machine->arena, bool, need->n_iter);
    need->allowed = DFL_NEW_ARRAY(machine->arena, uint8_t *, (size_t)need->n_iter * need->n_dims + 1);
    need->runs = DFL_NEW_ARRAY(machine->arena, uint8_t *, need->n_iter);
    branch b = next_branch(machine, id, NULL);
    const repetition again_at = find_repetition(e, &b), never = { .innermost = DFL_NONE };
    for (; b.end > b.first; b = next_branch(machine, id, &b))
        divide_work(machine, id, &b, b.first == 0 ? &again_at : &never);
    need->uncut = true;
    for (uint32_t it = 0; it < need->n_iter && !machine->failed; it++) {
        mark_data m = { it, need };
        need->runs[it] = DFL_NEW_ARRAY(machine->arena, uint8_t, e->n_points / 8 + 1);
        set_iteration(machine, need, it);
        dfl_oracle_visit_blocks(machine, id, e->path->n_above, mark_runs, &m);
    }
    need->uncut = false;
    for (uint32_t i = 0; i < machine->n_lines; i++)
        machine->present[i] = saved[i];
    need->state = NEED_READY;
    return !machine->failed;
}

void dfl_oracle_need_forget(dfl_oracle_machine *machine, uint32_t id)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    uint32_t it = find_iteration(machine, &e->need);

    if (machine->failed)
        return;
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->block[r] = (dfl_oracle_interval){ 0, e->extent[r] };
    for (bool more = dfl_oracle_first_point(machine, id, e->block); more; more = dfl_oracle_next_point(machine, id, e->block)) {
        uint32_t point = dfl_oracle_point_index(e), elem = dfl_oracle_element(machine, e, &e->output);
        if (elem == DFL_NONE || !(e->need.runs[it][point / 8] >> point % 8 & 1))
            continue;
        machine->tensors[e->output.tensor].released[elem] = false;
        for (size_t i = 0; i < machine->keeps.n; i++) {
            const dfl_oracle_keep *keep = machine->keeps.at[i];
            for (uint32_t inst = 0; keep->tensor == e->output.tensor && inst < keep->n_inst; inst++) {
                dfl_oracle_cell *c = &keep->cells[(size_t)inst * keep->n_elem + elem];
                *c = (dfl_oracle_cell){ .present = c->present };
            }
        }
    }
}

bool dfl_oracle_need_has_point(dfl_oracle_machine *machine, uint32_t id, uint32_t upto)
{
    dfl_oracle_einsum *e = &machine->einsums[id];
    const dfl_path *p = e->path;
    uint32_t point, n = 0;

    if (!p->has_exchange || !p->exchange.restricts)
        return true;
    if (machine->failed)
        return false;
    point = dfl_oracle_point_index(e);
    if (upto >= p->n_above)
        return e->need.runs[find_iteration(machine, &e->need)][point / 8] >> point % 8 & 1;
    for (uint32_t s = 0; s < upto; s++)
        n += p->steps[s].line->kind == DFL_LINE_TEMPORAL;
    for (uint32_t it = 0; it < e->need.n_iter; it++)
        if (compare_iterations(machine, &e->need, it, n) == 0 && e->need.runs[it][point / 8] >> point % 8 & 1)
            return dfl_oracle_spend(machine, it);
    return false;
}
