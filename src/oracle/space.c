/* Iteration spaces: which block of an einsum is meant by the present iterations, and the points in it. */
#include "oracle/machine.h"

static void descend(oracle *o, uint32_t id, uint32_t step, uint32_t upto, oracle_block_fn *visit, void *data);

/* Whether the tile that is asked for does not depend on a rank, so that instances for which it is exhausted hold it. */
static bool held_without(const oracle_einsum *e, uint32_t rank)
{
    if (!e->held)
        return false;
    for (uint32_t d = 0; d < e->held->n_dims; d++)
        if (e->held->coef[d * e->n_ranks + rank] != 0)
            return false;
    return true;
}

/* Cuts by the line at `step` and goes on below it. */
static void cut(oracle *o, uint32_t id, uint32_t step, uint32_t upto, oracle_block_fn *visit, void *data)
{
    oracle_einsum *e = &o->ein[id];
    const dfl_path_step *s = &e->path->steps[step];

    if (step == upto) {
        visit(o, id, e->piece, e->coord, data);
        return;
    }
    if (s->line->kind == DFL_LINE_KEEP || s->rank == DFL_NONE) {
        descend(o, id, step + 1, upto, visit, data);
        return;
    }
    oracle_piece *piece = &e->piece[e->local[s->rank]], whole = *piece;
    bool spatial = s->line->kind == DFL_LINE_SPATIAL;
    uint32_t line = o->line_base[s->body->id] + (uint32_t)(s->line - s->body->lines);
    uint32_t coord = spatial ? e->coord[s->line->axis] : 0;
    for (uint32_t i = spatial ? 0 : o->at[line]; !o->failed; i++) {
        piece->lo = whole.lo + (int64_t)i * s->tile;
        piece->hi = piece->lo + s->tile < whole.hi ? piece->lo + s->tile : whole.hi;
        if (piece->hi <= piece->lo) {
            /* nothing is left of the rank: any of its values shows what the instance goes on holding */
            if (!held_without(e, e->local[s->rank]) || (spatial && (int64_t)i * s->tile >= s->nominal))
                break;
            *piece = (oracle_piece){ whole.lo, whole.lo + 1 };
        }
        if (spatial && i >= e->radix[step]) {
            oracle_unsupported(o, s->line->span, "a piece with more tiles than the line has coordinates");
            break;
        }
        if (spatial)
            e->coord[s->line->axis] = coord * e->radix[step] + i;
        descend(o, id, step + 1, upto, visit, data);
        if (!spatial)
            break;
    }
    *piece = whole;
    if (spatial)
        e->coord[s->line->axis] = coord;
}

static void descend(oracle *o, uint32_t id, uint32_t step, uint32_t upto, oracle_block_fn *visit, void *data)
{
    oracle_einsum *e = &o->ein[id];

    if (o->failed)
        return;
    if (step != e->path->n_above || !e->path->has_exchange || !e->path->exchange.restricts) {
        cut(o, id, step, upto, visit, data);
        return;
    }
    /* the loops below the branch divide only what is computed in this iteration */
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->whole[r] = e->piece[r];
    if (oracle_need_cut(o, id, e->piece))
        cut(o, id, step, upto, visit, data);
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->piece[r] = e->whole[r];
}

void oracle_blocks(oracle *o, uint32_t einsum, uint32_t upto, oracle_block_fn *visit, void *data)
{
    oracle_einsum *e = &o->ein[einsum];

    if (upto >= e->path->n_above && !oracle_prepare(o, einsum))
        return;
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->piece[r] = (oracle_piece){ 0, e->extent[r] };
    for (uint32_t a = 0; a < o->s->n_axes; a++)
        e->coord[a] = 0;
    descend(o, einsum, 0, upto, visit, data);
}

bool oracle_first_point(oracle *o, uint32_t einsum, const oracle_piece *piece)
{
    oracle_einsum *e = &o->ein[einsum];

    for (uint32_t r = 0; r < e->n_ranks; r++) {
        e->x[r] = piece[r].lo;
        if (piece[r].hi <= piece[r].lo)
            return false;
    }
    return oracle_where(e) || oracle_next_point(o, einsum, piece);
}

bool oracle_next_point(oracle *o, uint32_t einsum, const oracle_piece *piece)
{
    oracle_einsum *e = &o->ein[einsum];

    while (oracle_work(o, 1)) {
        uint32_t r = e->n_ranks;
        while (r > 0 && ++e->x[r - 1] >= piece[r - 1].hi) {
            e->x[r - 1] = piece[r - 1].lo;
            r--;
        }
        if (r == 0)
            return false;
        if (oracle_where(e))
            return true;
    }
    return false;
}

uint32_t oracle_point_index(const oracle_einsum *e)
{
    uint64_t index = 0;

    for (uint32_t r = 0; r < e->n_ranks; r++)
        index = index * (uint64_t)e->extent[r] + (uint64_t)e->x[r];
    return (uint32_t)index;
}

bool oracle_where(const oracle_einsum *e)
{
    for (uint32_t c = 0; c < e->e->n_where; c++) {
        const dfl_index *sum = &e->e->where[c].sum;
        int64_t value = sum->offset;
        for (uint32_t t = 0; t < sum->n_terms; t++)
            value += sum->terms[t].coef * e->x[e->local[sum->terms[t].rank]];
        if (value < 0)
            return false;
    }
    return true;
}

uint32_t oracle_element(const oracle *o, const oracle_einsum *e, const oracle_access *a)
{
    const int64_t *extents = o->w->tensors[a->tensor].extents;
    uint64_t element = 0;

    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_i128 i = a->offset[d];
        for (uint32_t r = 0; r < e->n_ranks; r++)
            i += (dfl_i128)a->coef[d * e->n_ranks + r] * e->x[r];
        if (i < 0 || i >= extents[d])
            return DFL_NONE;
        element = element * (uint64_t)extents[d] + (uint64_t)i;
    }
    return (uint32_t)element;
}

typedef struct { const dfl_path_step *step; int64_t most; } trip_data;

static void longest(oracle *o, uint32_t einsum, const oracle_piece *piece, const uint32_t *coord, void *data)
{
    trip_data *t = data;
    const oracle_piece *p = &piece[o->ein[einsum].local[t->step->rank]];
    int64_t n = dfl_ceil_div(p->hi - p->lo, t->step->tile);

    (void)coord;
    t->most = n > t->most ? n : t->most;
}

uint32_t oracle_trip(oracle *o, const dfl_body *body, uint32_t line)
{
    uint32_t step = o->paths->step[body->id][line];
    int64_t most = 1;

    for (uint32_t i = 0; i < body->n_einsums; i++) {
        trip_data t = { .step = &o->ein[body->einsums[i]].path->steps[step] };
        if (t.step->rank == DFL_NONE)
            continue;
        oracle_blocks(o, body->einsums[i], step, longest, &t);
        most = t.most > most ? t.most : most;
    }
    return (uint32_t)most;
}
