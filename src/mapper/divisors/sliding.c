/* Transfers of windows. */
#include "mapper/divisors/sliding.h"

#include <math.h>

#include "mapper/problem/extents.h"

/* Loops over one rank of the operand above the group's gap, and what one instance has of it below. */
typedef struct {
    bool known;               /* it is cut already */
    double all;               /* iterations, */
    double inner;             /* and those in the innermost gap: see find_inner */
    double piece;             /* elements below all loops and axes */
    double parts;             /* on axes that share transfers: those between which loops of the rank stand, and the others */
    double strided;
} rank_loops;

typedef struct {
    const dfl_search *s;
    const dfl_problem_operand *o;
    const dfl_term_group *group;
    rank_loops of[DFL_PROBLEM_RANKS];
} mover;

/* Iterations of the rank down to a gap. */
static double loops_to(const mover *k, uint32_t r, uint32_t gap)
{
    const dfl_search *s = k->s;

    return k->of[r].known && s->now->left[r] > 1 ? dfl_own_loops(s, r, gap) * dfl_shared_above(s, r, gap) : 1;
}

/* Sets the loops of a rank: iterations, and the parts on the axes inside of the gap, those whose tiles stand apart (strided) by
   themselves. `known`: its cuts are chosen. */
static void look(mover *k, uint32_t r, bool known)
{
    const dfl_search *s = k->s;
    rank_loops *l = &k->of[r];

    l->known = known;
    l->all = loops_to(k, r, k->group->gap);
    l->inner = 1;
    l->piece = (double)s->problem->extent[r] / (dfl_spatial_parts(s, r, k->group->inner | k->group->axes) * l->all);
    l->parts = l->strided = 1;
    for (uint32_t axes = k->group->inner & ~k->group->axes; axes != 0; axes &= axes - 1) {
        uint32_t a = (uint32_t)__builtin_ctz(axes), gap = s->t->axis_gap[a];
        bool strided = gap < k->group->gap && loops_to(k, r, gap) < l->all;
        *(strided ? &l->strided : &l->parts) *= dfl_spatial_parts(s, r, 1u << a);
    }
}

/* What the dimension holds in all instances that share. */
static double held(const mover *k, const dfl_problem_dim *d)
{
    double piece[4], parts = 1;

    for (uint32_t i = 0; i < d->n; i++) {
        const rank_loops *l = &k->of[d->rank[i]];
        piece[i] = l->piece * l->parts;
        parts *= l->strided;
    }
    return dfl_dim_values(d, piece) * parts;
}

/* What comes in at least in one dimension when the tile of each instance moves so far: in all instances, and in each. */
static double come_in(const mover *k, const dfl_problem_dim *d, double all, double shift)
{
    double piece[4] = { 1 }, parts = 1, stays;

    for (uint32_t i = 0; i < d->n; i++) {
        const rank_loops *l = &k->of[d->rank[i]];
        piece[i] = l->piece;
        parts *= l->parts * l->strided;
    }
    stays = dfl_dim_stays(d, piece, shift);
    return parts == 1 ? all - stays : fmax(all - parts * stays, dfl_dim_values(d, piece) - stays);
}

/* What dimension `d`, of which `all` is held at once, brings in all its iterations when the tile slides along rank `j` of it. */
static double sliding(const mover *k, const dfl_problem_dim *d, uint32_t j, double all)
{
    double each = come_in(k, d, all, (double)d->coef[j] * k->of[d->rank[j]].piece), n = k->of[d->rank[j]].inner, runs = 1 / n;

    for (uint32_t i = 0; i < d->n; i++)
        runs *= k->of[d->rank[i]].all;
    return runs * ((n - 1) * each + all);
}

double dfl_sliding_parts(const dfl_search *s, const dfl_problem_operand *o, uint32_t axes)
{
    double parts = 1;
    int64_t piece[DFL_PROBLEM_RANKS];

    for (uint32_t r = 0; r < s->problem->n_ranks; r++) {
        piece[r] = s->problem->extent[r] / (int64_t)dfl_spatial_parts(s, r, axes);
        parts *= o->ranks >> r & 1 ? dfl_spatial_parts(s, r, axes) : 1;
    }
    return fmax(1, dfl_problem_tile(o, piece) * parts / o->elements);
}

/* Finds what is cut in the innermost gap with a loop over a rank of the operand; others say in which order shared loops stand. */
static void find_inner(mover *k)
{
    bool found = false;

    for (uint32_t g = k->group->gap + 1; g-- > k->s->t->shared_gaps && !found;)
        for (uint32_t ranks = k->o->ranks; ranks != 0; ranks &= ranks - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(ranks);
            k->of[r].inner = k->of[r].all / (g > 0 ? loops_to(k, r, g - 1) : 1);
            found |= k->of[r].inner > 1;
        }
}

/* What the group moves, of all that its ranks are cut into, when the first `depth` ranks of the order are cut. */
static double moved(const dfl_search *s, uint32_t group, uint32_t depth)
{
    mover k;
    uint32_t known = 0;
    double all[DFL_PROBLEM_DIMS], whole = 1, least, parts = 1;

    k.s = s;
    k.group = &s->terms.group[group];
    k.o = &s->problem->operand[k.group->window];
    for (uint32_t i = 0; i < depth; i++)
        known |= 1u << s->order[i];
    for (uint32_t ranks = k.o->ranks; ranks != 0; ranks &= ranks - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(ranks);
        look(&k, r, known >> r & 1);
        whole *= k.of[r].all;
        parts *= dfl_spatial_parts(s, r, k.group->axes);
    }
    if (k.group->gap < s->t->n_keeps)
        find_inner(&k);
    for (uint32_t d = 0; d < k.o->n_dims; d++) {
        all[d] = held(&k, &k.o->dims[d]);
        whole *= all[d];
    }
    least = whole;
    for (uint32_t d = 0; d < k.o->n_dims && k.group->gap < s->t->n_keeps; d++) {
        const dfl_problem_dim *dim = &k.o->dims[d];
        double loops = all[d];
        for (uint32_t j = 0; j < dim->n; j++)
            loops *= k.of[dim->rank[j]].all;
        for (uint32_t j = 0; j < dim->n && dim->n > 1; j++)
            if (k.of[dim->rank[j]].inner > 1)
                least = fmin(least, whole / loops * sliding(&k, dim, j, all[d]));
    }
    return least * parts;
}

double dfl_sliding_least(const dfl_search *s, uint32_t group)
{
    const dfl_term_group *g = &s->terms.group[group];

    return g->window < 0 ? 1 : dfl_sliding_parts(s, &s->problem->operand[g->window], g->axes);
}

double dfl_sliding_overlap(const dfl_search *s, uint32_t group, uint32_t depth)
{
    return fmax(1, moved(s, group, depth) / (s->problem->operand[s->terms.group[group].window].elements * s->now->window[group]));
}

/* What keep `i` of the row brings in along a dimension, times as much as it holds of it, when the tile slides along term `j`. */
static double brings(const dfl_pmapping *row, uint32_t i, const dfl_problem_dim *d, uint32_t j, double n)
{
    const dfl_problem *problem = row->problem;
    uint32_t axes = problem->place[row->form->keep[i].place].axes;
    double piece[4], all;

    for (uint32_t t = 0; t < d->n; t++) {
        uint32_t r = d->rank[t];
        piece[t] = (double)problem->extent[r];
        for (uint32_t g = 0; g <= i; g++)
            piece[t] /= (double)row->cut[g * problem->n_ranks + r];
        for (uint32_t a = 0; a < problem->n_axes; a++)
            piece[t] /= axes >> a & 1 ? (double)row->cut[(row->form->n_keeps + 1 + a) * problem->n_ranks + r] : 1;
    }
    all = dfl_dim_values(d, piece);
    return ((n - 1) * (all - dfl_dim_stays(d, piece, (double)d->coef[j] * piece[j])) + all) / (n * all);
}

uint32_t dfl_sliding_innermost(const dfl_pmapping *row, uint32_t gap)
{
    const dfl_problem *problem = row->problem;
    const dfl_tiling_template *t = row->form;
    uint32_t found = DFL_NONE, cut = 0;
    double least = 1;

    for (uint32_t i = gap; i < t->n_keeps && problem->windows && found == DFL_NONE; i++) {
        const dfl_problem_operand *o = &problem->operand[t->keep[i].operand];
        for (uint32_t r = 0; r < problem->n_ranks && i > gap; r++)
            cut |= (uint32_t)(row->cut[i * problem->n_ranks + r] > 1) << r;
        for (uint32_t d = 0; d < o->n_dims && (o->ranks & cut) == 0; d++)
            for (uint32_t j = 0; j < o->dims[d].n && o->dims[d].n > 1; j++) {
                double n = (double)row->cut[gap * problem->n_ranks + o->dims[d].rank[j]];
                double part = n > 1 ? brings(row, i, &o->dims[d], j, n) : 1;
                found = part < least ? o->dims[d].rank[j] : found;
                least = fmin(least, part);
            }
    }
    return found;
}
