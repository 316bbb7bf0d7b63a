/* The search of one template: shared loops, then cuts for every spread. */
#include <math.h>
#include <string.h>

#include "mapper/search.h"

/* More than the distinct elements because the windows of operand `o` overlap: see dfl_term_group.window. */
static double overlap(const dfl_search *s, uint32_t group, uint32_t depth)
{
    const dfl_job_operand *o = &s->job->operand[s->terms.group[group].window];
    uint32_t gap = s->terms.group[group].gap;
    bool moves = false;
    double product = 1;
    uint32_t known = 0;

    for (uint32_t i = 0; i < depth; i++)
        known |= 1u << s->order[i];
    for (uint32_t d = 0; d < o->n_dims; d++) {
        double n = 1, length = 1, whole = 1;
        for (uint32_t i = 0; i < o->dims[d].n; i++) {
            uint32_t r = o->dims[d].rank[i];
            double iterations = known >> r & 1 ? s->with[r]->n[gap][s->chosen[r]] : 1;
            n *= iterations;
            moves |= iterations > 1 && o->dims[d].n > 1;
            length += (double)o->dims[d].coef[i] * ((double)s->left[r] / iterations - 1);
            whole += (double)o->dims[d].coef[i] * ((double)s->left[r] - 1);
        }
        product *= fmax(1, n * length / whole);
    }
    return moves ? product * s->strided[group] : product;
}

static bool fits(const dfl_search *s)
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

/* Bits of the keeps by shared loops above, in the memories that are shared: at least, while pieces are undecided. */
static void fill_room(const dfl_search *s, dfl_row *row)
{
    const dfl_job *job = s->job;
    int64_t piece[DFL_JOB_RANKS];

    memset(row->room, 0, sizeof row->room);
    for (uint32_t t = 0; t < s->goal->n_tracks; t++)
        for (uint32_t i = 0; i < s->t->n_keeps; i++) {
            const dfl_template_keep *k = &s->t->keep[i];
            const dfl_job_place *p = &job->place[k->place];
            if (s->goal->track[t] != p->memory || k->home)
                continue;
            for (uint32_t r = 0; r < job->n_ranks; r++)
                piece[r] = (int64_t)s->piece[i][r];
            row->room[t][s->depth[i]] += dfl_job_tile(&job->operand[k->operand], piece) *
                                         job->operand[k->operand].bits * p->buffers;
        }
}

bool dfl_search_useful(const dfl_search *s, double joules, double seconds)
{
    dfl_row least = { .joules = joules, .seconds = seconds };
    bool undercut = true, known = false;

    if (!dfl_tile_useful(s->goal, joules, seconds))
        return false;
    if (s->goal->best_only)
        return true;
    for (uint32_t w = 0; w < s->n_ways && undercut; w++)
        undercut = dfl_rows_cheaper(s->rows, &s->ways[w], s->way_hash[w], joules, seconds, s->goal);
    if (!undercut)
        return true;
    for (uint32_t w = 0; w < s->n_ways; w++) {
        if (!known) {
            if (s->placed)
                fill_room(s, &least);
            known = true;
        }
        least.way = s->ways[w];
        least.hash = s->way_hash[w];
        if (dfl_rows_wants(s->rows, &least, s->goal))
            return true;
    }
    return false;
}

static void remember_cuts(const dfl_search *s, dfl_row *row)
{
    uint32_t n = s->job->n_ranks;
    int64_t *cut = DFL_NEW_ARRAY(s->rows->arena, int64_t, (size_t)(s->n_gaps + s->job->n_axes) * n);

    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t g = 0; g < s->n_gaps; g++)
            cut[g * n + r] = 1;
        for (uint32_t a = 0; a < s->job->n_axes; a++)
            cut[(s->n_gaps + a) * n + r] = s->parts[a][r];
    }
    for (uint32_t i = 0; i < s->n_order; i++) {
        uint32_t r = s->order[i];
        for (uint32_t g = 0; g < s->n_gaps; g++)
            cut[g * n + r] = s->with[r]->cut[s->chosen[r]][g];
    }
    row->cut = cut;
}

/* Seconds of ports and unit for the ways that are chosen. */
static double seconds_of(const dfl_search *s)
{
    double seconds = s->unit_seconds;

    for (uint32_t i = 0; i < s->n_used; i++) {
        double busy = 0;
        for (uint32_t g = 0; g < s->terms.n_groups; g++) {
            double product = s->ports[s->used_ports[i]][g];
            for (uint32_t k = 0; k < s->n_order; k++)
                if (s->terms.group[g].ranks >> s->order[k] & 1)
                    product *= s->with[s->order[k]]->n[s->terms.group[g].gap][s->chosen[s->order[k]]];
            busy += product;
        }
        seconds = fmax(seconds, busy);
    }
    return seconds;
}

static void leaf(dfl_search *s, double joules, double seconds)
{
    dfl_row row;

    if (s->goal->best_only) {
        if (!s->goal->by_time)
            seconds = seconds_of(s);
        double all = seconds + s->goal->rest_seconds;
        s->goal->seen_seconds = fmin(s->goal->seen_seconds, seconds);
        if (s->goal->best != NULL && s->t->shared_gaps == 0) {
            *s->goal->best = (dfl_row){ .way = s->ways[0], .joules = joules, .seconds = seconds, .form = s->t,
                                        .job = s->job };
            remember_cuts(s, s->goal->best);
        }
        s->goal->limit = s->goal->value(s->goal->objective, joules + s->goal->rest_joules + s->goal->leakage * all, all);
        return;
    }
    for (uint32_t w = 0; w < s->n_ways; w++) {
        row = (dfl_row){ .way = s->ways[w], .hash = s->way_hash[w], .joules = joules, .seconds = seconds, .form = s->t,
                         .job = s->job };
        fill_room(s, &row);
        if (dfl_rows_wants(s->rows, &row, s->goal)) {
            remember_cuts(s, &row);
            dfl_rows_add(s->rows, &row, s->goal);
        }
    }
}

static void set_piece(dfl_search *s, uint32_t r, uint32_t way)
{
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        s->piece[i][r] = s->inner[i][r] / s->with[r]->n[i][way];
}

/* Undecided: as small as it gets. */
static void unset_piece(dfl_search *s, uint32_t r)
{
    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        s->piece[i][r] = s->inner[i][r] / s->with[r]->most[i];
}

/* to[c] = constant + sum over gaps of factor[g] * n[g][c], for all ways c. */
static void weigh(const dfl_cuts *with, uint32_t n_gaps, double constant, const double *factor, double *to)
{
    for (uint32_t c = 0; c < with->count; c++)
        to[c] = constant;
    for (uint32_t g = 0; g < n_gaps; g++) {
        const double *n = with->n[g];
        double f = factor[g];
        if (f == 0)
            continue;
        for (uint32_t c = 0; c < with->count; c++)
            to[c] += f * n[c];
    }
}

/* Lower bounds of the joules and the seconds for every way to cut rank order[depth]: sums of one factor each. */
static void weigh_ways(dfl_search *s, uint32_t depth, const double *product, double *joules, double *seconds, double *busy)
{
    const dfl_terms *terms = &s->terms;
    uint32_t r = s->order[depth];
    const dfl_cuts *with = s->with[r];
    double factor[DFL_GAPS] = { 0 }, constant = s->constant;

    for (uint32_t g = 0; g < terms->n_groups; g++) {
        double c = s->joules[g] * product[g] * (s->joules[g] < 0 ? s->rest_most : s->rest_least)[depth + 1][g];
        if (terms->group[g].ranks >> r & 1)
            factor[terms->group[g].gap] += c;
        else
            constant += c;
    }
    weigh(with, s->n_gaps, constant, factor, joules);
    for (uint32_t c = 0; c < with->count; c++)
        seconds[c] = s->unit_seconds;
    for (uint32_t i = 0; i < s->n_used && s->goal->by_time; i++) {
        const double *port = s->ports[s->used_ports[i]];
        constant = 0;
        memset(factor, 0, sizeof factor);
        for (uint32_t g = 0; g < terms->n_groups; g++) {
            double c = port[g] * product[g] * s->rest_least[depth + 1][g];
            if (terms->group[g].ranks >> r & 1)
                factor[terms->group[g].gap] += c;
            else
                constant += c;
        }
        weigh(with, s->n_gaps, constant, factor, busy);
        for (uint32_t c = 0; c < with->count; c++)
            seconds[c] = seconds[c] > busy[c] ? seconds[c] : busy[c];
    }
}

/* What overlapping windows add to the bounds of one way. */
static void add_overlaps(const dfl_search *s, uint32_t depth, const double *next, double *joules, double *seconds)
{
    const dfl_terms *terms = &s->terms;
    double more[DFL_TERM_PORTS] = { 0 };

    for (uint32_t g = 0; g < terms->n_groups; g++) {
        double all = next[g] * s->rest_least[depth + 1][g];
        if (terms->group[g].window < 0)
            continue;
        all *= overlap(s, g, depth + 1) - 1;
        *joules += s->joules[g] > 0 ? s->joules[g] * all : 0;
        for (uint32_t i = 0; i < s->n_used; i++)
            more[i] += s->ports[s->used_ports[i]][g] * all;
    }
    for (uint32_t i = 0; i < s->n_used; i++) {
        double busy = more[i];
        for (uint32_t g = 0; g < terms->n_groups; g++)
            busy += s->ports[s->used_ports[i]][g] * next[g] * s->rest_least[depth + 1][g];
        *seconds = fmax(*seconds, busy);
    }
}

static void choose(dfl_search *s, uint32_t depth, const double *product);

/* One way to cut rank order[depth], whose bounds are known. */
static void take_way(dfl_search *s, uint32_t depth, const double *product, uint32_t c, double joules, double seconds)
{
    const dfl_terms *terms = &s->terms;
    uint32_t r = s->order[depth];
    const dfl_cuts *with = s->with[r];
    double next[DFL_TERM_GROUPS];

    s->chosen[r] = c;
    set_piece(s, r, c);
    if (!fits(s)) {
        s->rows->pruned++;
        return;
    }
    for (uint32_t g = 0; g < terms->n_groups && (depth + 1 < s->n_order || s->job->windows); g++)
        next[g] = product[g] * (terms->group[g].ranks >> r & 1 ? with->n[terms->group[g].gap][c] : 1);
    if (s->job->windows) {
        add_overlaps(s, depth, next, &joules, &seconds);
        if (!dfl_search_useful(s, joules, seconds))
            return;
    }
    if (depth + 1 == s->n_order)
        leaf(s, joules, seconds);
    else
        choose(s, depth + 1, next);
}

/* All ways to cut rank order[depth] that can be of use; the best first where only the best is wanted. */
static void choose(dfl_search *s, uint32_t depth, const double *product)
{
    uint32_t r = s->order[depth], n = s->with[r]->count, left = 0, *picks;
    double *joules = s->bounds + (size_t)3 * depth * s->most_ways, *seconds = joules + s->most_ways;
    double *values = seconds + s->most_ways;

    if (dfl_halted(s->goal->halt))
        return;
    weigh_ways(s, depth, product, joules, seconds, values);
    s->rows->evaluated += n;
    if (!s->goal->best_only) {
        for (uint32_t c = 0; c < n; c++)
            if (dfl_search_useful(s, joules[c], seconds[c])) {
                take_way(s, depth, product, c, joules[c], seconds[c]);
                unset_piece(s, r); /* the room of the next way is not that of this one */
            } else {
                s->rows->pruned++;
            }
        return;
    }
    picks = s->picks + (size_t)depth * s->most_ways;
    for (uint32_t c = 0; c < n; c++) {
        values[left] = s->goal->value(s->goal->objective, joules[c], seconds[c]);
        picks[left] = c;
        left += values[left] < s->goal->limit;
    }
    while (left > 0) {
        uint32_t best = 0, c;
        for (uint32_t i = 1; i < left; i++)
            if (values[i] < values[best])
                best = i;
        if (!(values[best] < s->goal->limit))
            break;
        c = picks[best];
        values[best] = values[--left];
        picks[best] = picks[left];
        take_way(s, depth, product, c, joules[c], seconds[c]);
    }
    unset_piece(s, r);
}

/* Least and most of what the ranks from order[i] on multiply the groups with. */
static void bound_rest(dfl_search *s)
{
    for (uint32_t g = 0; g < s->terms.n_groups; g++) {
        uint32_t gap = s->terms.group[g].gap;
        s->rest_least[s->n_order][g] = s->rest_most[s->n_order][g] = 1;
        for (uint32_t i = s->n_order; i-- > 0;) {
            const dfl_cuts *with = s->with[s->order[i]];
            bool factor = s->terms.group[g].ranks >> s->order[i] & 1;
            s->rest_least[i][g] = s->rest_least[i + 1][g] * (factor ? with->least[gap] : 1);
            s->rest_most[i][g] = s->rest_most[i + 1][g] * (factor ? with->most[gap] : 1);
        }
    }
}

/* Lower bounds for the whole spread; the costs, if no rank is left to cut. */
static bool spread_useful(const dfl_search *s, double *joules, double *seconds)
{
    *joules = s->constant;
    *seconds = s->unit_seconds;
    for (uint32_t g = 0; g < s->terms.n_groups; g++)
        *joules += s->joules[g] * (s->joules[g] < 0 ? s->rest_most : s->rest_least)[0][g];
    for (uint32_t i = 0; i < s->n_used; i++) {
        double busy = 0;
        for (uint32_t g = 0; g < s->terms.n_groups; g++)
            busy += s->ports[s->used_ports[i]][g] * s->rest_least[0][g];
        *seconds = fmax(*seconds, busy);
    }
    return dfl_search_useful(s, *joules, *seconds);
}

/* Whether there is room once the spread and the shared loops are chosen, with all other loops as long as can be. */
bool dfl_search_room(dfl_search *s)
{
    const dfl_job *job = s->job;

    for (uint32_t i = 0; i < s->t->n_keeps; i++)
        for (uint32_t r = 0; r < job->n_ranks; r++) {
            bool own = (s->goal->best_only ? s->cut_above[i] : s->own_above[i]) >> r & 1;
            s->inner[i][r] = (double)job->extent[r] / dfl_spread(s, r, s->axes_of[i]);
            s->piece[i][r] = s->inner[i][r] / (own ? (double)s->left[r] : s->shared_gap[r] <= i ? (double)s->shared_by[r] : 1);
        }
    return fits(s);
}

/* The spread and the shared loops are chosen: the ranks with most cuts come last, where a node costs least. */
void dfl_search_cuts(dfl_search *s)
{
    const dfl_job *job = s->job;
    double product[DFL_TERM_GROUPS], joules, seconds;

    s->n_order = 0;
    s->placed = false;
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        s->with[r] = dfl_cuts_of(s, r);
        if (s->with[r]->count == 0)
            return;
        if (s->left[r] > 1) {
            uint32_t at = s->n_order++;
            for (; at > 0 && s->with[s->order[at - 1]]->count > s->with[r]->count; at--)
                s->order[at] = s->order[at - 1];
            s->order[at] = r;
        }
    }
    bound_rest(s);
    s->rows->evaluated++;
    if (!spread_useful(s, &joules, &seconds)) {
        s->rows->pruned++;
        return;
    }
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        unset_piece(s, r);
        s->chosen[r] = 0;
        if (s->with[r]->count > s->most_ways)
            s->most_ways = s->with[r]->count;
    }
    if (!fits(s))
        return;
    s->placed = true;
    if (s->n_order == 0) {
        leaf(s, joules, seconds);
        return;
    }
    for (uint32_t g = 0; g < s->terms.n_groups; g++)
        product[g] = 1;
    if ((size_t)3 * s->n_order * s->most_ways > s->cap_bounds) {
        s->cap_bounds = (size_t)6 * s->n_order * s->most_ways;
        s->bounds = DFL_NEW_ARRAY(s->rows->scratch, double, s->cap_bounds);
        s->picks = DFL_NEW_ARRAY(s->rows->scratch, uint32_t, s->cap_bounds / 3 + 1);
    }
    choose(s, 0, product);
}

/* The spread is chosen. */
static void search_spread(dfl_search *s)
{
    const dfl_job *job = s->job;
    double steps = 1;

    if (dfl_halted(s->goal->halt))
        return;
    dfl_spread_note(s);
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        s->left[r] = job->extent[r] / (int64_t)dfl_spread(s, r, s->axes_of[s->t->n_keeps]);
        steps *= (double)s->left[r];
    }
    s->unit_seconds = steps * job->seconds;
    s->constant = job->points * job->joules;
    s->rows->evaluated++;
    if (dfl_tile_useful(s->goal, s->constant, s->unit_seconds)) {
        dfl_spread_scale(s);
        s->ports = s->all_ports[s->t->shared_gaps > 0]; /* no more than what holds with shared loops, too */
        if (dfl_sharing_useful(s)) {
            if (s->goal->best_only)
                dfl_search_shared(s);
            else
                dfl_share_from(s, 0);
            return;
        }
    }
    s->rows->pruned++;
}

static dfl_search *start(dfl_arena *scratch, const dfl_job *job, const dfl_tiling_template *t)
{
    dfl_search *s;

    dfl_arena_reset(scratch);
    s = DFL_NEW(scratch, dfl_search);
    s->job = job;
    s->t = t;
    s->n_gaps = t->n_keeps + 1;
    dfl_terms_make(job, t, &s->terms);
    for (uint32_t g = 0; g < s->n_gaps; g++)
        s->axes_of[g] = dfl_template_axes(job, t, (int)g);
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        for (uint32_t g = 0; g < s->n_gaps; g++) {
            uint32_t above = g > 0 ? s->cut_above[g - 1] : 0, own = g > 0 ? s->own_above[g - 1] : 0;
            if (t->allow[g] >> r & 1)
                s->last_gap[r] = g;
            s->cut_above[g] = above | t->allow[g];
            s->own_above[g] = own | (g >= t->shared_gaps ? t->allow[g] : 0);
        }
        for (uint32_t g = 0; g < s->n_gaps; g++)
            s->need[r][g] = (g > 0 ? s->need[r][g - 1] : 1) * ((t->needs & 1u << g) != 0 && t->allow[g] == 1u << r ? 2 : 1);
        for (uint32_t a = 0; a < job->n_axes; a++)
            s->parts[a][r] = 1;
        s->shared_by[r] = 1;
        s->shared_gap[r] = DFL_NONE;
    }
    for (uint32_t p = 0; p < 2 * job->n_places; p++) {
        bool any = false;
        for (uint32_t i = 0; i < s->terms.n; i++)
            any |= s->terms.at[i].port == p && s->terms.at[i].seconds != 0;
        if (any)
            s->used_ports[s->n_used++] = p;
    }
    dfl_spread_start(s);
    return s;
}

void dfl_tile_bound(dfl_arena *scratch, const dfl_job *job, const dfl_tiling_template *t, double *joules, double *seconds)
{
    dfl_spread_bound(start(scratch, job, t), 0, joules, seconds);
}

void dfl_tile_search(dfl_rows *rows, const dfl_job *job, const dfl_tiling_template *t, dfl_tile_goal *goal)
{
    dfl_search *s = start(rows->scratch, job, t);
    double seconds;

    s->rows = rows;
    s->goal = goal;
    s->effort = goal->effort == 0 ? 0 : rows->evaluated + goal->effort;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        s->divisors[r] = dfl_divisors(rows->scratch, job->extent[r]);
    dfl_spread_bound(s, 0, &s->floor_joules, &seconds);
    dfl_spreads_each(s, search_spread);
}

bool dfl_tile_useful(const dfl_tile_goal *goal, double joules, double seconds)
{
    double v;

    seconds += goal->rest_seconds;
    v = goal->value(goal->objective, joules + goal->rest_joules + goal->leakage * seconds, seconds);
    return goal->best_only ? v < goal->limit : v <= goal->limit;
}
