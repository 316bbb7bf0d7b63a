/* Event simulation of a small nest. */
#include "tests/harness/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1500, PORTS = 2 * SCHEDULE_MEMORIES };

/* Elements that a tile gets and gives when a step begins. */
typedef struct { double filled, drained, added; } moved;

/* A tile: which elements it holds, which of them have a value, which were filled, and which were modified. */
typedef struct {
    bool held[SCHEDULE_ELEMENTS], valued[SCHEDULE_ELEMENTS], filled[SCHEDULE_ELEMENTS], modified[SCHEDULE_ELEMENTS];
} tile;

typedef struct {
    const schedule_nest *nest;
    int64_t trips[SCHEDULE_LOOPS], at[SCHEDULE_LOOPS];
    tile tiles[SCHEDULE_MEMORIES][SCHEDULE_TENSORS];
    moved (*moves)[SCHEDULE_MEMORIES][SCHEDULE_TENSORS]; /* [step]: when the step begins; after the last step: at the end */
    double *work;                                        /* [step] */
    uint32_t n_steps;
    bool (*entering)[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_ELEMENTS]; /* [step]: elements with a value */
    bool (*leaving)[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_ELEMENTS];
    double busy[PORTS];
} run;

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* The indices of a rank below the first `n` loops. */
static void find_piece(const run *r, uint32_t rank, uint32_t n, int64_t *from, int64_t *to)
{
    *from = 0;
    *to = r->nest->extent[rank];
    for (uint32_t i = 0; i < n; i++)
        if (r->nest->loop[i].rank == rank) {
            int64_t part = r->nest->loop[i].tile, end;
            *from += r->at[i] * part;
            end = *from + part;
            *to = end < *to ? end : *to;
        }
}

static bool is_idle(const run *r, uint32_t n)
{
    for (uint32_t rank = 0; rank < SCHEDULE_RANKS; rank++) {
        int64_t from, to;
        find_piece(r, rank, n, &from, &to);
        if (from >= to)
            return true;
    }
    return false;
}

/* Marks the elements of a tensor that the loops below the first `n` touch. */
static void find_touched(const run *r, uint32_t t, uint32_t n, bool *held)
{
    const schedule_tensor *tensor = &r->nest->tensor[t];
    bool touched[SCHEDULE_DIMS][SCHEDULE_ELEMENTS] = { { false } };

    memset(held, 0, SCHEDULE_ELEMENTS);
    if (is_idle(r, n))
        return;
    for (uint32_t d = 0; d < SCHEDULE_DIMS; d++) {
        int64_t a = 0, b = 1, c = 0, e = 1;
        if (d < tensor->n_dims)
            find_piece(r, tensor->rank[d], n, &a, &b);
        if (d < tensor->n_dims && tensor->other[d] != UINT32_MAX)
            find_piece(r, tensor->other[d], n, &c, &e);
        for (int64_t i = a; i < b; i++)
            for (int64_t k = c; k < e; k++)
                touched[d][i + k] = true;
    }
    int64_t columns = tensor->n_dims > 1 ? tensor->extent[1] : 1;
    for (int64_t i = 0; i < tensor->extent[0]; i++)
        for (int64_t k = 0; k < columns; k++)
            held[i * columns + k] = touched[0][i] && touched[1][k];
}

/* The next outer memory that keeps a tensor. */
static uint32_t outer_of(const schedule_nest *nest, uint32_t m, uint32_t t)
{
    do
        m--;
    while (!(nest->memory[m].keeps >> t & 1));
    return m;
}

/* Everything leaves, innermost first; then everything enters, outermost first. `end`: nothing enters. */
static void change_tiles(run *r, uint32_t step, bool end)
{
    const schedule_nest *nest = r->nest;
    static bool next[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_ELEMENTS];

    memset(r->moves[step], 0, sizeof r->moves[step]);
    memset(next, 0, sizeof next);
    for (uint32_t m = 1; m < nest->n_memories && !end; m++)
        for (uint32_t t = 0; t < nest->n_tensors; t++)
            if (nest->memory[m].keeps >> t & 1)
                find_touched(r, t, nest->memory[m].above, next[m][t]);
    for (uint32_t m = nest->n_memories; m-- > 1;)
        for (uint32_t t = 0; t < nest->n_tensors; t++) {
            tile *own = &r->tiles[m][t];
            for (uint32_t x = 0; nest->memory[m].keeps >> t & 1 && x < SCHEDULE_ELEMENTS; x++) {
                if (!own->held[x] || next[m][t][x])
                    continue;
                own->held[x] = false;
                if (!own->modified[x])
                    continue;
                tile *outer = &r->tiles[outer_of(nest, m, t)][t];
                r->moves[step][m][t].drained++;
                r->leaving[step][m][t][x] = true;
                r->moves[step][m][t].added += !own->filled[x] && outer->valued[x];
                outer->valued[x] = outer->modified[x] = true;
            }
        }
    for (uint32_t m = 1; m < nest->n_memories; m++)
        for (uint32_t t = 0; t < nest->n_tensors; t++) {
            tile *own = &r->tiles[m][t];
            for (uint32_t x = 0; nest->memory[m].keeps >> t & 1 && x < SCHEDULE_ELEMENTS; x++) {
                if (own->held[x] || !next[m][t][x])
                    continue;
                bool value = r->tiles[outer_of(nest, m, t)][t].valued[x];
                own->held[x] = true;
                own->modified[x] = false;
                own->valued[x] = own->filled[x] = value;
                r->moves[step][m][t].filled += value;
                r->entering[step][m][t][x] = value;
            }
        }
}

/* Points of a step, and the results that they update. */
static void work_on_step(run *r, uint32_t step)
{
    const schedule_nest *nest = r->nest;
    uint32_t last = nest->memory[nest->n_memories - 1].above;
    static bool touched[SCHEDULE_ELEMENTS];
    double points = 1;

    for (uint32_t rank = 0; rank < SCHEDULE_RANKS; rank++) {
        int64_t from, to;
        find_piece(r, rank, last, &from, &to);
        points *= from < to ? (double)(to - from) : 0;
    }
    r->work[step] = points * nest->point;
    for (uint32_t t = 0; t < nest->n_tensors; t++) {
        if (!nest->tensor[t].result)
            continue;
        find_touched(r, t, last, touched);
        tile *own = &r->tiles[outer_of(nest, nest->n_memories, t)][t];
        for (uint32_t x = 0; x < SCHEDULE_ELEMENTS; x++)
            if (touched[x])
                own->valued[x] = own->modified[x] = true;
    }
}

static bool step_forward(run *r, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        if (++r->at[i] < r->trips[i])
            return true;
        r->at[i] = 0;
    }
    return false;
}

static bool count_moves(run *r)
{
    const schedule_nest *nest = r->nest;
    uint32_t last = nest->memory[nest->n_memories - 1].above;

    for (uint32_t i = 0; i < nest->n_loops; i++) {
        int64_t nominal = nest->extent[nest->loop[i].rank];
        for (uint32_t k = 0; k < i; k++)
            if (nest->loop[k].rank == nest->loop[i].rank)
                nominal = nest->loop[k].tile < nominal ? nest->loop[k].tile : nominal;
        r->trips[i] = (nominal + nest->loop[i].tile - 1) / nest->loop[i].tile;
    }
    for (uint32_t t = 0; t < nest->n_tensors; t++)
        for (uint32_t x = 0; x < SCHEDULE_ELEMENTS; x++)
            r->tiles[0][t].held[x] = true, r->tiles[0][t].valued[x] = !nest->tensor[t].result;
    do {
        if (r->n_steps == STEPS)
            return false;
        if (is_idle(r, last)) /* a loop makes only as many iterations as its piece needs */
            continue;
        change_tiles(r, r->n_steps, false);
        work_on_step(r, r->n_steps);
        r->n_steps++;
    } while (step_forward(r, last));
    change_tiles(r, r->n_steps, true);
    return true;
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

/* Seconds of a transfer at each port. */
static bool find_loads(const run *r, uint32_t step, uint32_t m, uint32_t t, bool in, double *load)
{
    const schedule_nest *nest = r->nest;
    const moved *n = &r->moves[step][m][t];
    uint32_t outer = nest->memory[m].keeps >> t & 1 ? outer_of(nest, m, t) : 0;
    double bits = nest->tensor[t].bits;

    memset(load, 0, PORTS * sizeof *load);
    if (!(nest->memory[m].keeps >> t & 1) || (in ? n->filled : n->drained) == 0)
        return false;
    load[2 * outer] += (in ? n->filled : n->added) * bits / nest->memory[outer].read_rate;
    load[nest->memory[outer].one_port ? 2 * outer : 2 * outer + 1] += in ? 0 : n->drained * bits / nest->memory[outer].write_rate;
    load[2 * m] += in ? 0 : n->drained * bits / nest->memory[m].read_rate;
    load[nest->memory[m].one_port ? 2 * m : 2 * m + 1] += in ? n->filled * bits / nest->memory[m].write_rate : 0;
    return true;
}

/* Transfers of a memory at one step, all requested at once. */
static double serve_all(const run *r, uint32_t step, uint32_t m, bool out, bool in)
{
    double sum[PORTS] = { 0 }, load[PORTS], longest = 0;

    for (uint32_t t = 0; t < r->nest->n_tensors; t++)
        for (uint32_t way = 0; way < 2; way++)
            if ((way ? in : out) && find_loads(r, step, m, t, way, load))
                for (uint32_t p = 0; p < PORTS; p++)
                    sum[p] += load[p];
    for (uint32_t p = 0; p < PORTS; p++)
        longest = fmax(longest, sum[p]);
    return longest;
}

typedef struct { double ready; uint32_t step, tensor; bool in; } request;

/* A memory with two buffers at work. Steps are numbered from 0. */
typedef struct {
    const run *r;
    uint32_t m, n, begin[STEPS + 1];                  /* [step]: first step of the nest; begin[n]: the end */
    double work[STEPS], ended[STEPS], filled[STEPS];  /* ended: of the work; filled: all transfers into the tiles */
    uint32_t missing[STEPS];                          /* transfers into the tiles of a step that are not served yet */
    double left[STEPS][SCHEDULE_TENSORS];             /* end of the transfer of a result after a step, or -1 */
    request waiting[8 * SCHEDULE_TENSORS];
    uint32_t n_waiting, worked;
    double port[PORTS], end;
} double_buffer;

static bool moves_in(const double_buffer *b, uint32_t i, uint32_t t)
{
    double load[PORTS];
    return i < b->n && find_loads(b->r, b->begin[i], b->m, t, true, load);
}

static bool moves_out(const double_buffer *b, uint32_t i, uint32_t t)
{
    double load[PORTS];
    return find_loads(b->r, b->begin[i + 1], b->m, t, false, load);
}

static void ask(double_buffer *b, double ready, uint32_t step, uint32_t tensor, bool in)
{
    b->waiting[b->n_waiting++] = (request){ ready, step, tensor, in };
}

/* The time at which the elements of a result that enter before a step have left. */
static double left_before(const double_buffer *b, uint32_t t, uint32_t step)
{
    const run *r = b->r;
    double latest = 0;

    for (uint32_t i = 0; i + 1 < step; i++)
        for (uint32_t x = 0; moves_out(b, i, t) && x < SCHEDULE_ELEMENTS; x++)
            if (r->entering[b->begin[step]][b->m][t][x] && r->leaving[b->begin[i + 1]][b->m][t][x])
                latest = fmax(latest, b->left[i][t]);
    return latest;
}

/* The buffer of a new tile of a result: that of the tile before the previous one. -1 = it has not left yet. */
static double buffers_free(const double_buffer *b, uint32_t i)
{
    double free = 0;

    for (uint32_t t = 0; t < b->r->nest->n_tensors; t++) {
        uint32_t seen = 0;
        for (uint32_t k = i; k-- > 0 && seen < 2;)
            if (moves_out(b, k, t) && ++seen == 2) {
                if (b->left[k][t] < 0)
                    return -1;
                free = fmax(free, b->left[k][t]);
            }
    }
    return free;
}

/* Work on all steps whose tiles are there. */
static void work_on(double_buffer *b)
{
    while (b->worked < b->n && b->missing[b->worked] == 0) {
        uint32_t i = b->worked;
        double free = buffers_free(b, i);
        if (free < 0)
            return;
        b->ended[i] = fmax(fmax(free, b->filled[i]), i ? b->ended[i - 1] : 0) + b->work[i];
        b->end = fmax(b->end, b->ended[i]);
        b->worked++;
        for (uint32_t t = 0; t < b->r->nest->n_tensors; t++) {
            if (moves_out(b, i, t))
                ask(b, b->ended[i], i, t, false);
            if (moves_in(b, i + 2, t))
                ask(b, b->ended[i], i + 2, t, true);
        }
    }
}

static void serve_next(double_buffer *b)
{
    uint32_t next = 0;
    double load[PORTS], end;

    for (uint32_t i = 1; i < b->n_waiting; i++) {
        const request *a = &b->waiting[i], *c = &b->waiting[next];
        if (a->ready != c->ready ? a->ready < c->ready : a->in != c->in ? !a->in : a->step != c->step ? a->step < c->step
                                                                                                      : a->tensor < c->tensor)
            next = i;
    }
    request q = b->waiting[next];
    b->waiting[next] = b->waiting[--b->n_waiting];
    find_loads(b->r, b->begin[q.in ? q.step : q.step + 1], b->m, q.tensor, q.in, load);
    if (q.in && b->r->nest->tensor[q.tensor].result) /* it enters after it has left; those requests were served before */
        q.ready = fmax(q.ready, left_before(b, q.tensor, q.step));
    end = q.ready;
    for (uint32_t p = 0; p < PORTS; p++)
        if (load[p] > 0) {
            b->port[p] = fmax(b->port[p], q.ready) + load[p];
            end = fmax(end, b->port[p]);
        }
    b->end = fmax(b->end, end);
    if (q.in) {
        b->missing[q.step]--;
        b->filled[q.step] = fmax(b->filled[q.step], end);
    } else {
        b->left[q.step][q.tensor] = end;
    }
}

/* Seconds of the steps from `from` to `to` of the nest, with the transfers of memory `m` and of those inside. */
static double run_memory(const run *r, uint32_t m, uint32_t from, uint32_t to)
{
    double seconds = 0;

    if (m == r->nest->n_memories) {
        for (uint32_t s = from; s < to; s++)
            seconds += r->work[s];
        return seconds;
    }
    double_buffer *b = calloc(1, sizeof *b);
    *b = (double_buffer){ .r = r, .m = m };
    for (uint32_t s = from; s < to; s++) {
        bool moves = s == from;
        moves |= serve_all(r, s, m, true, true) > 0;
        if (moves)
            b->begin[b->n++] = s;
    }
    b->begin[b->n] = to;
    for (uint32_t i = 0; i < b->n; i++) {
        b->work[i] = run_memory(r, m + 1, b->begin[i], b->begin[i + 1]);
        for (uint32_t t = 0; t < r->nest->n_tensors; t++) {
            b->missing[i] += moves_in(b, i, t);
            b->left[i][t] = -1;
        }
    }
    if (r->nest->memory[m].buffers < 2) {
        for (uint32_t i = 0; i < b->n; i++)
            seconds += serve_all(r, b->begin[i], m, true, true) + b->work[i];
        if (to == r->n_steps)
            seconds += serve_all(r, to, m, true, false);
        free(b);
        return seconds;
    }
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t t = 0; t < r->nest->n_tensors; t++)
            if (moves_in(b, i, t))
                ask(b, 0, i, t, true);
    work_on(b);
    while (b->n_waiting > 0) {
        serve_next(b);
        work_on(b);
    }
    seconds = b->end;
    free(b);
    return seconds;
}

bool schedule_run(const schedule_nest *nest, schedule_time *out)
{
    run *r = calloc(1, sizeof *r);
    double load[PORTS], unit = 0;
    bool ok;

    r->nest = nest;
    r->moves = calloc(STEPS + 2, sizeof *r->moves);
    r->work = calloc(STEPS + 2, sizeof *r->work);
    r->entering = calloc(STEPS + 2, sizeof *r->entering);
    r->leaving = calloc(STEPS + 2, sizeof *r->leaving);
    ok = count_moves(r);
    if (ok) {
        out->seconds = run_memory(r, 1, 0, r->n_steps);
        for (uint32_t s = 0; s <= r->n_steps; s++)
            for (uint32_t m = 1; m < nest->n_memories; m++)
                for (uint32_t t = 0; t < nest->n_tensors; t++)
                    for (uint32_t in = 0; in < 2; in++)
                        if (find_loads(r, s, m, t, in, load))
                            for (uint32_t p = 0; p < PORTS; p++)
                                r->busy[p] += load[p];
        for (uint32_t s = 0; s < r->n_steps; s++)
            unit += r->work[s];
        out->busy = unit;
        for (uint32_t p = 0; p < PORTS; p++)
            out->busy = fmax(out->busy, r->busy[p]);
        out->limited = out->busy > out->seconds * (1 + 1e-9);
        out->seconds = fmax(out->seconds, out->busy);
    }
    free(r->leaving);
    free(r->entering);
    free(r->work);
    free(r->moves);
    free(r);
    return ok;
}
