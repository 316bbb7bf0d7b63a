/* The search of one template: spreads over the axes, then cuts rank by rank. */
#include <math.h>
#include <string.h>

#include "mapper/rows.h"
#include "mapper/terms.h"

enum { GAPS = DFL_TEMPLATE_KEEPS + 1 };

/* The ways to cut `left` elements of a rank along the gaps; n[g] = iterations of its loops down to gap g. */
typedef struct {
    int64_t left;
    uint32_t count;
    double (*n)[GAPS];
    int32_t (*cut)[GAPS];
    double least[GAPS], most[GAPS];
} cuts;

typedef struct {
    dfl_rows *rows;
    const dfl_job *job;
    const dfl_tiling_template *t;
    dfl_tile_goal *goal;
    dfl_terms terms;
    uint32_t n_gaps;
    uint32_t axes_of[GAPS];            /* around keep g; [n_keeps]: around the unit */
    cuts *cached[DFL_JOB_RANKS];
    uint32_t n_cached[DFL_JOB_RANKS], cap_cached[DFL_JOB_RANKS];
    /* of the present spread */
    int64_t parts[DFL_JOB_AXES][DFL_JOB_RANKS];
    int64_t left[DFL_JOB_RANKS];
    const cuts *with[DFL_JOB_RANKS];
    uint32_t order[DFL_JOB_RANKS], n_order;
    double joules[DFL_TERM_GROUPS], ports[DFL_TERM_PORTS][DFL_TERM_GROUPS];
    uint32_t used_ports[DFL_TERM_PORTS], n_used;
    double constant, unit_seconds;
    double inner[GAPS][DFL_JOB_RANKS]; /* elements of rank r below keep g on all its axes, if no loop cuts it */
    double rest_least[DFL_JOB_RANKS + 1][DFL_TERM_GROUPS], rest_most[DFL_JOB_RANKS + 1][DFL_TERM_GROUPS];
    /* of the present node */
    uint32_t chosen[DFL_JOB_RANKS];
    double piece[GAPS][DFL_JOB_RANKS];
} search;

static int64_t spread(const search *s, uint32_t rank, uint32_t axes)
{
    int64_t product = 1;

    for (uint32_t bits = axes; bits != 0; bits &= bits - 1)
        product *= s->parts[__builtin_ctz(bits)][rank];
    return product;
}

/* Divisors of n, ascending. */
static uint32_t divisors(dfl_arena *arena, int64_t n, int64_t **out)
{
    uint32_t count = 0, low = 0;

    *out = DFL_NEW_ARRAY(arena, int64_t, 4096);
    for (int64_t d = 1; d <= n / d && count < 4094; d++)
        if (n % d == 0) {
            (*out)[count++] = d;
            low = count;
        }
    for (uint32_t i = low; i-- > 0;)
        if ((*out)[i] != n / (*out)[i])
            (*out)[count++] = n / (*out)[i];
    return count;
}

typedef struct {
    const search *s;
    dfl_arena *arena;
    uint32_t rank;
    const int64_t *divisors;
    uint32_t n_divisors;
    uint32_t gaps[GAPS], n_gaps;
    int32_t cut[GAPS];
    struct { int32_t (*at)[GAPS]; size_t n, cap; } out;
} cutter;

static void cut_from(cutter *k, uint32_t i, int64_t left, uint32_t shared)
{
    bool above = i < k->n_gaps && k->gaps[i] < k->s->t->shared_gaps;

    if (i == k->n_gaps) {
        if (left == 1) {
            if (k->out.n == k->out.cap) {
                void *grown = k->out.at;
                dfl_vec_grow(k->arena, &grown, k->out.n, &k->out.cap, sizeof *k->out.at, _Alignof(int32_t));
                k->out.at = grown;
            }
            memcpy(k->out.at[k->out.n++], k->cut, sizeof k->cut);
        }
        return;
    }
    for (uint32_t d = 0; d < k->n_divisors && k->divisors[d] <= left; d++) {
        int64_t by = k->divisors[d];
        if (left % by != 0 || (i + 1 == k->n_gaps && by != left) || (above && by > 1 && shared > 0))
            continue;
        k->cut[k->gaps[i]] = (int32_t)by;
        cut_from(k, i + 1, left / by, shared + (above && by > 1));
    }
    k->cut[k->gaps[i]] = 1;
}

static const cuts *cuts_of(search *s, uint32_t rank, int64_t left)
{
    dfl_arena *arena = s->rows->arena;
    cutter k = { .s = s, .arena = arena, .rank = rank };
    cuts *c;
    int64_t *list;

    for (uint32_t i = 0; i < s->n_cached[rank]; i++)
        if (s->cached[rank][i].left == left)
            return &s->cached[rank][i];
    if (s->n_cached[rank] == s->cap_cached[rank]) {
        cuts *more = DFL_NEW_ARRAY(arena, cuts, 2 * s->cap_cached[rank] + 8);
        if (s->n_cached[rank] > 0)
            memcpy(more, s->cached[rank], s->n_cached[rank] * sizeof *more);
        s->cached[rank] = more;
        s->cap_cached[rank] = 2 * s->cap_cached[rank] + 8;
    }
    k.n_divisors = divisors(arena, left, &list);
    k.divisors = list;
    for (uint32_t g = 0; g < s->n_gaps; g++) {
        k.cut[g] = 1;
        if (s->t->allow[g] >> rank & 1)
            k.gaps[k.n_gaps++] = g;
    }
    cut_from(&k, 0, left, 0);
    c = &s->cached[rank][s->n_cached[rank]++];
    *c = (cuts){ .left = left, .count = (uint32_t)k.out.n, .cut = k.out.at };
    c->n = dfl_arena_alloc(arena, c->count + 1, sizeof *c->n, _Alignof(double));
    for (uint32_t g = 0; g < s->n_gaps; g++) {
        c->least[g] = INFINITY;
        for (uint32_t i = 0; i < c->count; i++) {
            c->n[i][g] = (g > 0 ? c->n[i][g - 1] : 1) * c->cut[i][g];
            c->least[g] = fmin(c->least[g], c->n[i][g]);
            c->most[g] = fmax(c->most[g], c->n[i][g]);
        }
    }
    return c;
}

/* More than the distinct elements because the windows of operand `o` overlap: see dfl_term_group.window. */
static double overlap(const search *s, uint32_t operand, uint32_t gap, uint32_t depth)
{
    const dfl_job_operand *o = &s->job->operand[operand];
    double product = 1;
    uint32_t known = 0;

    for (uint32_t i = 0; i < depth; i++)
        known |= 1u << s->order[i];
    for (uint32_t d = 0; d < o->n_dims; d++) {
        double n = 1, length = 1, whole = 1;
        for (uint32_t i = 0; i < o->dims[d].n; i++) {
            uint32_t r = o->dims[d].rank[i];
            double iterations = known >> r & 1 ? s->with[r]->n[s->chosen[r]][gap] : 1;
            n *= iterations;
            length += (double)o->dims[d].coef[i] * ((double)s->left[r] / iterations - 1);
            whole += (double)o->dims[d].coef[i] * ((double)s->left[r] - 1);
        }
        product *= fmax(1, n * length / whole);
    }
    return product;
}

static bool fits(const search *s)
{
    const dfl_job *job = s->job;
    double room[DFL_JOB_PLACES] = { 0 };

    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_template_keep *k = &s->t->keep[i];
        const dfl_job_operand *o = &job->operand[k->operand];
        double bits = o->bits * (k->home ? 1 : job->place[k->place].buffers);
        for (uint32_t d = 0; d < o->n_dims; d++) {
            double length = 1;
            for (uint32_t j = 0; j < o->dims[d].n; j++)
                length += (double)o->dims[d].coef[j] * (s->piece[i][o->dims[d].rank[j]] - 1);
            bits *= length;
        }
        room[k->place] += bits;
        if (room[k->place] > job->place[k->place].bits)
            return false;
    }
    return true;
}

static double value(const search *s, double joules, double seconds)
{
    const dfl_tile_goal *g = s->goal;

    seconds += g->rest_seconds;
    return g->value(g->objective, joules + g->rest_joules + g->leakage * seconds, seconds);
}

static bool useful(const search *s, double joules, double seconds)
{
    double v = value(s, joules, seconds);

    return s->goal->best_only ? v < s->goal->limit : v <= s->goal->limit;
}

/* Bits of the keeps by shared loops above, in the memories that are shared. */
static void fill_room(const search *s, const uint32_t *depth, dfl_row *row)
{
    const dfl_job *job = s->job;
    int64_t piece[DFL_JOB_RANKS];

    for (uint32_t i = 0; i < s->t->n_keeps; i++) {
        const dfl_template_keep *k = &s->t->keep[i];
        const dfl_job_place *p = &job->place[k->place];
        for (uint32_t t = 0; t < s->goal->n_tracks; t++) {
            if (s->goal->track[t] != p->memory || k->home)
                continue;
            for (uint32_t r = 0; r < job->n_ranks; r++)
                piece[r] = (int64_t)s->piece[i][r];
            row->room[t][depth[i]] += dfl_job_tile(&job->operand[k->operand], piece) *
                                      job->operand[k->operand].bits * p->buffers;
        }
    }
}

static void remember_cuts(const search *s, dfl_row *row)
{
    uint32_t n = s->job->n_ranks;
    int32_t *cut = DFL_NEW_ARRAY(s->rows->arena, int32_t, (size_t)(s->n_gaps + s->job->n_axes) * n);

    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t g = 0; g < s->n_gaps; g++)
            cut[g * n + r] = 1;
        for (uint32_t a = 0; a < s->job->n_axes; a++)
            cut[(s->n_gaps + a) * n + r] = (int32_t)s->parts[a][r];
    }
    for (uint32_t i = 0; i < s->n_order; i++) {
        uint32_t r = s->order[i];
        for (uint32_t g = 0; g < s->n_gaps; g++)
            cut[g * n + r] = s->with[r]->cut[s->chosen[r]][g];
    }
    row->cut = cut;
}

/* Shared loops in every order that loops of one gap can stand in. */
static void add_rows(search *s, dfl_row *row, uint32_t gap, uint32_t left, uint32_t *depth)
{
    if (gap == s->t->shared_gaps) {
        for (uint32_t i = gap; i < s->t->n_keeps; i++)
            depth[i] = row->n_loops;
        memset(row->room, 0, sizeof row->room);
        fill_room(s, depth, row);
        for (uint32_t o = 0; o < s->job->n_operands; o++) {
            uint32_t p = s->t->exchange[o];
            row->memory[o] = s->job->operand[o].shared ? s->job->place[p].memory : 0;
            row->depth[o] = 0;
        }
        for (uint32_t i = 0; i < s->t->n_keeps; i++)
            if (s->t->keep[i].home)
                row->depth[s->t->keep[i].operand] = (uint8_t)depth[i];
        if (dfl_rows_wants(s->rows, row, s->goal)) {
            remember_cuts(s, row);
            dfl_rows_add(s->rows, row, s->goal);
        }
        return;
    }
    if (left == 0) {
        uint32_t next = 0;
        depth[gap] = row->n_loops;
        if (gap + 1 < s->t->shared_gaps)
            for (uint32_t i = 0; i < s->n_order; i++)
                next |= (uint32_t)(s->with[s->order[i]]->cut[s->chosen[s->order[i]]][gap + 1] > 1) << s->order[i];
        add_rows(s, row, gap + 1, next, depth);
        return;
    }
    if (row->n_loops == DFL_ROW_LOOPS || row->n_loops == s->goal->max_loops)
        return;
    for (uint32_t bits = left; bits != 0; bits &= bits - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(bits);
        row->loop_rank[row->n_loops] = (uint8_t)r;
        row->trips[row->n_loops++] = s->with[r]->cut[s->chosen[r]][gap];
        add_rows(s, row, gap, left & ~(1u << r), depth);
        row->n_loops--;
    }
}

static void leaf(search *s, double joules, double seconds)
{
    dfl_row row = { .joules = joules, .seconds = seconds, .form = s->t, .job = s->job };
    uint32_t depth[GAPS], first = 0;

    if (s->goal->best_only)
        s->goal->limit = value(s, joules, seconds);
    if (s->t->shared_gaps > 0)
        for (uint32_t i = 0; i < s->n_order; i++)
            first |= (uint32_t)(s->with[s->order[i]]->cut[s->chosen[s->order[i]]][0] > 1) << s->order[i];
    add_rows(s, &row, 0, first, depth);
}

static void set_pieces(search *s, uint32_t r, const double *n)
{
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        s->piece[i][r] = s->inner[i][r] / n[i];
}

static void choose(search *s, uint32_t depth, const double *product)
{
    const dfl_terms *terms = &s->terms;
    uint32_t r = s->order[depth];
    const cuts *with = s->with[r];

    for (uint32_t c = 0; c < with->count; c++) {
        double next[DFL_TERM_GROUPS], joules = s->constant, seconds = s->unit_seconds;
        double low[DFL_TERM_GROUPS];
        s->chosen[r] = c;
        s->rows->evaluated++;
        for (uint32_t g = 0; g < terms->n_groups; g++) {
            next[g] = product[g] * (terms->group[g].ranks >> r & 1 ? with->n[c][terms->group[g].gap] : 1);
            low[g] = next[g] * s->rest_least[depth + 1][g];
            if (terms->group[g].window >= 0)
                low[g] *= overlap(s, (uint32_t)terms->group[g].window, terms->group[g].gap, depth + 1);
            joules += s->joules[g] * (s->joules[g] < 0 ? next[g] * s->rest_most[depth + 1][g] : low[g]);
        }
        for (uint32_t i = 0; i < s->n_used; i++) {
            double busy = 0;
            for (uint32_t g = 0; g < terms->n_groups; g++)
                busy += s->ports[s->used_ports[i]][g] * low[g];
            seconds = fmax(seconds, busy);
        }
        if (!useful(s, joules, seconds)) {
            s->rows->pruned++;
            continue;
        }
        set_pieces(s, r, with->n[c]);
        if (!fits(s)) {
            s->rows->pruned++;
            continue;
        }
        if (depth + 1 == s->n_order)
            leaf(s, joules, seconds);
        else
            choose(s, depth + 1, next);
    }
    {   /* undecided again: as small as it gets */
        double n[GAPS];
        for (uint32_t g = 0; g < s->n_gaps; g++)
            n[g] = with->most[g];
        set_pieces(s, r, n);
    }
}

/* Coefficients of the groups for the present spread. */
static void scale_terms(search *s)
{
    const dfl_job *job = s->job;

    memset(s->joules, 0, sizeof s->joules);
    memset(s->ports, 0, sizeof s->ports);
    s->n_used = 0;
    for (uint32_t i = 0; i < s->terms.n; i++) {
        const dfl_term_of *t = &s->terms.at[i];
        const dfl_job_operand *o = &job->operand[t->operand];
        double factor = o->elements;
        for (uint32_t r = 0; r < job->n_ranks; r++) {
            if (o->ranks >> r & 1)
                factor /= (double)spread(s, r, t->under);
            else if (!t->distinct)
                factor *= (double)spread(s, r, t->over);
        }
        s->joules[t->group] += t->joules * factor;
        s->ports[t->port][t->group] += t->seconds * factor;
    }
    for (uint32_t p = 0; p < 2 * job->n_places; p++) {
        bool any = false;
        for (uint32_t g = 0; g < s->terms.n_groups; g++)
            any |= s->ports[p][g] != 0;
        if (any)
            s->used_ports[s->n_used++] = p;
    }
}

/* The spread is chosen: the ranks with most cuts come last, where a node costs least. */
static void search_cuts(search *s)
{
    const dfl_job *job = s->job;
    double product[DFL_TERM_GROUPS], steps = 1;

    s->n_order = 0;
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        s->left[r] = job->extent[r] / spread(s, r, s->axes_of[s->t->n_keeps]);
        steps *= (double)s->left[r];
    }
    s->unit_seconds = steps * job->seconds;
    s->constant = job->points * job->joules;
    if (!useful(s, s->constant, s->unit_seconds)) {
        s->rows->pruned++;
        return;
    }
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        s->with[r] = cuts_of(s, r, s->left[r]);
        s->chosen[r] = 0;
        if (s->with[r]->count == 0)
            return;
        for (uint32_t i = 0; i < s->t->n_keeps; i++)
            s->inner[i][r] = (double)(job->extent[r] / spread(s, r, s->axes_of[i]));
        set_pieces(s, r, s->with[r]->most);
        if (s->left[r] > 1) {
            uint32_t at = s->n_order++;
            for (; at > 0 && s->with[s->order[at - 1]]->count > s->with[r]->count; at--)
                s->order[at] = s->order[at - 1];
            s->order[at] = r;
        }
    }
    if (!fits(s))
        return;
    scale_terms(s);
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        s->rest_least[s->n_order][g] = s->rest_most[s->n_order][g] = 1;
        for (uint32_t i = s->n_order; i-- > 0;) {
            const cuts *with = s->with[s->order[i]];
            bool factor = s->terms.group[g].ranks >> s->order[i] & 1;
            uint32_t gap = s->terms.group[g].gap;
            s->rest_least[i][g] = s->rest_least[i + 1][g] * (factor ? with->least[gap] : 1);
            s->rest_most[i][g] = s->rest_most[i + 1][g] * (factor ? with->most[gap] : 1);
        }
        product[g] = 1;
    }
    if (s->n_order == 0) {
        double joules = s->constant, seconds = s->unit_seconds;
        for (uint32_t g = 0; g < s->terms.n_groups; g++)
            joules += s->joules[g];
        for (uint32_t i = 0; i < s->n_used; i++) {
            double busy = 0;
            for (uint32_t g = 0; g < s->terms.n_groups; g++)
                busy += s->ports[s->used_ports[i]][g];
            seconds = fmax(seconds, busy);
        }
        if (useful(s, joules, seconds))
            leaf(s, joules, seconds);
        return;
    }
    choose(s, 0, product);
}

/* Spreads rank `r` and those behind it over axis `a`, then the axes inside of it. */
static void search_spreads(search *s, uint32_t a, uint32_t r, int64_t free)
{
    const dfl_job *job = s->job;

    if (a == job->n_axes) {
        search_cuts(s);
        return;
    }
    if (r == job->n_ranks) {
        search_spreads(s, a + 1, 0, a + 1 < job->n_axes ? job->axis[a + 1].size : 1);
        return;
    }
    for (int64_t d = 1; d <= free; d++) {
        int64_t left = job->extent[r];
        for (uint32_t b = 0; b < a; b++)
            left /= s->parts[b][r];
        if (d > left || left % d != 0 || (d > 1 && !(job->axis[a].ranks >> r & 1)))
            continue;
        s->parts[a][r] = d;
        search_spreads(s, a, r + 1, free / d);
    }
    s->parts[a][r] = 1;
}

void dfl_tile_search(dfl_rows *rows, const dfl_job *job, const dfl_tiling_template *t, dfl_tile_goal *goal)
{
    search *s = DFL_NEW(rows->arena, search);

    *s = (search){ .rows = rows, .job = job, .t = t, .goal = goal, .n_gaps = t->n_keeps + 1 };
    dfl_terms_make(job, t, &s->terms);
    for (uint32_t g = 0; g < s->n_gaps; g++)
        s->axes_of[g] = dfl_template_axes(job, t, (int)g);
    search_spreads(s, 0, 0, job->n_axes > 0 ? job->axis[0].size : 1);
}
