#include "mapper/tiling/form.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "mapper/tiling/written.h"

typedef struct {
    dfl_arena *arena;
    const dfl_problem *problem;
    const dfl_terms *terms;
    dfl_form *out;
    uint16_t *figure;
    dfl_form_count *count;
    dfl_form_port *port;
    dfl_form_link *link;
    dfl_form_keep *keep;
    /* by factor of the terms: its count and the constant part of its product; by count: a factor of it */
    uint16_t count_index[DFL_TERMS];
    double scale[DFL_TERMS];
    double gain[DFL_TERMS];   /* sum of the positive coefficients */
    const dfl_term_factor *count_of[DFL_TERMS];
} form_maker;

static uint32_t all_axes(const dfl_problem *problem) { return (1u << problem->n_axes) - 1; }

static bool make_chain(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t rank, dfl_chain *out)
{
    if (dfl_written_is_whole(t))
        return dfl_written_chain(problem, t, rank, out);
    *out = (dfl_chain){ .extent = problem->extent[rank], .last = -1 };
    for (uint32_t g = 0; g <= t->n_keeps; g++) {
        if (t->allow[g] >> rank & 1) {
            out->last = (int)out->n;
            out->at[out->n++] = (dfl_chain_cut){ .gap = (uint8_t)g, .axis = -1 };
        }
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if (t->axis_gap[a] == g && (problem->axis[a].ranks >> rank & 1))
                out->at[out->n++] = (dfl_chain_cut){ .gap = (uint8_t)g, .axis = (int8_t)a };
    }
    return true;
}

static uint16_t ask(const form_maker *k, uint32_t rank, dfl_chain_figure figure)
{
    return (uint16_t)dfl_chain_ask(k->arena, &k->out->chain[rank], figure);
}

/* A new product, as its figures by rank. */
static uint16_t *add_product(form_maker *k)
{
    uint16_t *at = &k->figure[(size_t)k->out->n_products++ * k->problem->n_ranks];

    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        at[r] = DFL_FORM_NONE;
    return at;
}

/* Elements of a rank on the coordinates of a set. All of them are a constant, which `scale` takes. */
static uint16_t ask_elements(const form_maker *k, uint32_t rank, uint32_t axes, double *scale)
{
    const dfl_chain *c = &k->out->chain[rank];

    if ((dfl_chain_axes(c) & ~axes) != 0)
        return ask(k, rank, (dfl_chain_figure){ .kind = DFL_CHAIN_ELEMENTS, .axes = (uint8_t)axes });
    *scale *= (double)c->extent;
    return DFL_FORM_NONE;
}

/* Whether the term is of the unit, which reads at each step. */
static bool is_of_unit(const form_maker *k, const dfl_term_factor *x)
{
    return !x->distinct && k->terms->group[x->group].gap >= k->out->skeleton->n_keeps;
}

/* Whether a rank of the dimension has parts on axes of which only one coordinate counts. */
static bool is_spread(const form_maker *k, const dfl_problem_dim *d, uint32_t under)
{
    uint32_t axes = 0;

    for (uint32_t i = 0; i < d->n; i++)
        axes |= dfl_chain_axes(&k->out->chain[d->rank[i]]);
    return (axes & under) != 0;
}

static dfl_chain_figure pieces_of(const form_maker *k, const dfl_term_factor *x)
{
    return (dfl_chain_figure){ .kind = DFL_CHAIN_PIECES, .gap = k->terms->group[x->group].gap, .axes = (uint8_t)x->over };
}

/* Sets the figures of one dimension; returns the constant part (lemma B10). At coordinate 0 a window may be cut off at the border
   of the shape: then nothing is known of it. */
static double set_dimension(const form_maker *k, const dfl_term_factor *x, const dfl_problem_dim *d, uint16_t *figure)
{
    const bool is_unit = is_of_unit(k, x), has_one = is_spread(k, d, x->under);
    const uint32_t main = d->n > 0 ? d->rank[d->main] : 0;
    bool has_all = !has_one;       /* all coordinates of axes over the other ranks count */
    double scale = 1;

    for (uint32_t i = 0; i < d->n; i++)
        has_all &= i == d->main || (dfl_chain_axes(&k->out->chain[d->rank[i]]) & ~x->over) == 0;
    for (uint32_t i = 0; is_unit && !has_all && i < d->n; i++)
        if (i != d->main)
            figure[d->rank[i]] = ask(k, d->rank[i], pieces_of(k, x));
    if (d->n == 0 || (!has_one && !is_unit))
        return d->touched;
    if (has_one && d->outside > 0)
        return 0;
    if (has_one)
        figure[main] = ask_elements(k, main, all_axes(k->problem) & ~x->under, &scale);
    return has_one ? scale : has_all ? d->points : d->row;
}

/* Sets the figures of a factor of the terms; returns the constant part of its product. */
static double set_figures(const form_maker *k, const dfl_term_factor *x, uint16_t *figure)
{
    const dfl_problem_operand *o = &k->problem->operand[x->operand];
    double scale = 1;

    for (uint32_t d = 0; d < o->n_dims; d++)
        if (dfl_form_is_plain(o, &o->dims[d])) {
            const uint32_t r = o->dims[d].rank[0];
            figure[r] = ask_elements(k, r, all_axes(k->problem) & ~x->under, &scale);
        } else {
            scale *= set_dimension(k, x, &o->dims[d], figure);
        }
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        if (!(o->ranks >> r & 1) && !x->distinct)
            figure[r] = ask(k, r, pieces_of(k, x));
    return scale;
}

/* The loops over ranks of an operand in the gaps from `first` to `last`. */
static uint32_t find_between(const form_maker *k, uint32_t operand, uint32_t first, uint32_t last)
{
    uint32_t found = 0;

    for (uint32_t g = first; g <= last; g++)
        found |= k->out->skeleton->allow[g];
    return found & k->problem->operand[operand].ranks;
}

/* Ranks over which windows slide: the order of their loops in a gap matters. */
static uint32_t find_sliding(const dfl_problem *problem)
{
    uint32_t ranks = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        ranks |= problem->operand[o].ranks & ~problem->operand[o].plain;
    return ranks;
}

/* Ranks whose loops in a gap may stand further in than others of the gap, since the order of both is not free (B11): those over
   which windows slide; in shared gaps, beside windows, also those that are cut further out, too: a short piece may come in. */
static uint32_t find_ordered(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t gap)
{
    uint32_t ranks = find_sliding(problem);

    for (uint32_t g = 0; g < gap && gap < t->shared_gaps && find_sliding(problem) != 0; g++)
        ranks |= t->allow[g];
    return ranks;
}

/* The gaps with loops during which short pieces of a keep's tile may stay, inner ones first; their number. Such a gap has loops
   over other ranks, and loops over ranks of the operand may stand between it and the keep. Rule D1: other loops
   are not listed. Of the ranks in the same gap only ordered ones stand further in (lemma B11). */
static uint32_t find_stays(const form_maker *k, const dfl_term_factor *x, uint8_t *from)
{
    const dfl_tiling_template *t = k->out->skeleton;
    const uint32_t ranks = k->problem->operand[x->operand].ranks, gap = k->terms->group[x->group].gap;
    uint32_t n = 0;

    if (x->distinct || gap >= t->n_keeps)
        return 0;
    for (uint32_t g = gap + 1; g-- > 0;)
        if ((t->allow[g] & ~ranks) != 0 &&
            (find_between(k, x->operand, g + 1, gap) | (t->allow[g] & ranks & find_ordered(k->problem, t, g))) != 0)
            from[n++] = (uint8_t)g;
    return n;
}

static bool has_equal_stays(const form_maker *k, const dfl_term_factor *a, const dfl_term_factor *b)
{
    uint8_t from[DFL_TEMPLATE_KEEPS + 1];

    if (find_stays(k, a, from) == 0 && find_stays(k, b, from) == 0)
        return true;
    return a->operand == b->operand && a->distinct == b->distinct && a->over == b->over && a->under == b->under &&
           k->terms->group[a->group].gap == k->terms->group[b->group].gap;
}

/* Whether equal figures of both factors have equal floors. */
static bool has_equal_floors(const form_maker *k, const dfl_term_factor *a, const dfl_term_factor *b)
{
    const dfl_problem_operand *of_a = &k->problem->operand[a->operand], *of_b = &k->problem->operand[b->operand];

    return (of_a->ranks == of_a->plain && of_b->ranks == of_b->plain) ||
           (a->operand == b->operand && is_of_unit(k, a) == is_of_unit(k, b));
}

/* Maps a factor of the terms to a count; equal factors to one count. */
static void add_count(form_maker *k, uint32_t factor)
{
    const dfl_term_factor *x = &k->terms->factor[factor];
    const uint32_t n = k->out->n_counts, n_ranks = k->problem->n_ranks;
    const uint16_t *figure = add_product(k);
    double scale = set_figures(k, x, &k->figure[(size_t)n * n_ranks]);

    for (uint32_t i = 0; i <= n; i++) {
        const dfl_term_factor *like = i < n ? k->count_of[i] : x;
        k->count_index[factor] = (uint16_t)i;
        k->count_of[i] = like;
        if (i < n && like->under == x->under && has_equal_stays(k, like, x) && has_equal_floors(k, like, x) &&
            memcmp(&k->figure[(size_t)i * n_ranks], figure, n_ranks * sizeof *figure) == 0)
            break;
    }
    k->scale[factor] = scale;
    if (k->count_index[factor] == n)
        k->out->n_counts++;
    else
        k->out->n_products--;
}

/* One instance of the axes `under` has at least its share of the elements, over all ranks together (lemma B3). */
static void add_floor(form_maker *k, uint32_t i)
{
    const dfl_term_factor *x = k->count_of[i];
    const dfl_problem_operand *o = &k->problem->operand[x->operand];
    const uint16_t *of = &k->figure[(size_t)i * k->problem->n_ranks];
    uint16_t *figure;

    k->count[i].floor = DFL_FORM_NONE;
    if (x->under == 0)
        return;
    for (uint32_t d = 0; d < o->n_dims; d++)
        if (!dfl_form_is_plain(o, &o->dims[d]) && o->dims[d].outside > 0 && is_spread(k, &o->dims[d], x->under))
            return;
    k->count[i].floor = (uint16_t)k->out->n_products;
    k->count[i].floor_scale = 1;
    figure = add_product(k);
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        figure[r] = of[r];
    for (uint32_t d = 0; d < o->n_dims; d++) {
        const dfl_problem_dim *dim = &o->dims[d];
        const uint32_t r = dim->n > 0 ? dim->rank[dim->main] : 0;
        if (dim->n == 0 || of[r] == DFL_FORM_NONE)
            continue;
        k->count[i].floor_scale *= dfl_form_is_plain(o, dim) || is_of_unit(k, x) ? (double)k->problem->extent[r] : dim->touched;
        figure[r] = DFL_FORM_NONE;
    }
    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        if (x->under >> a & 1)
            k->count[i].floor_scale /= (double)k->problem->axis[a].size;
}

/* Asks for the figures of the loops over `ranks` of an operand down to gap `f.gap`. */
static dfl_form_between ask_between(const form_maker *k, uint32_t operand, uint32_t ranks, dfl_chain_figure f)
{
    const dfl_problem_operand *o = &k->problem->operand[operand];
    dfl_form_between out = { .ranks = ranks };

    for (uint32_t d = 0; d < o->n_dims; d++) {
        const uint32_t r = o->dims[d].n > 0 ? o->dims[d].rank[o->dims[d].main] : 0;
        out.stays[d] = out.cuts[d] = out.runs[d] = DFL_FORM_NONE;
        if (o->dims[d].n == 0 || ranks == 0)
            continue;
        f.kind = DFL_CHAIN_STAYS;
        out.stays[d] = ask(k, r, f);
        f.kind = DFL_CHAIN_CUTS_FULL;
        out.cuts[d] = ask(k, r, f);
        f.kind = DFL_CHAIN_RUNS;
        if (!dfl_form_is_plain(o, &o->dims[d]))
            out.runs[d] = ask(k, r, f);
    }
    return out;
}

static void add_stay(form_maker *k, uint32_t i, uint8_t from, dfl_form_stay *out)
{
    const dfl_term_factor *x = k->count_of[i];
    const uint32_t gap = k->terms->group[x->group].gap, ranks = k->problem->operand[x->operand].ranks;
    const uint32_t own = k->out->skeleton->allow[from] & ranks & find_ordered(k->problem, k->out->skeleton, from);
    dfl_chain_figure f = { .gap = k->out->skeleton->written[gap], .from = from,
                           .axes = (uint8_t)(all_axes(k->problem) & ~x->under) };
    const dfl_chain_figure above = { .kind = DFL_CHAIN_PIECES, .gap = (uint8_t)(from - 1), .axes = (uint8_t)x->over };
    uint16_t *figure;

    out->hoisted = (uint16_t)k->out->n_products;
    figure = add_product(k);
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        if (ranks >> r & 1)
            figure[r] = k->figure[(size_t)i * k->problem->n_ranks + r];
        else if (from > 0)
            figure[r] = ask(k, r, above);
    out->inner = ask_between(k, x->operand, find_between(k, x->operand, from + 1u, gap), f);
    f.from = from > 0 ? (uint8_t)(from - 1) : DFL_CHAIN_TOP;
    out->own = ask_between(k, x->operand, own, f);
}

static void add_stays(form_maker *k, uint32_t i)
{
    const dfl_term_factor *x = k->count_of[i];
    const dfl_problem_operand *o = &k->problem->operand[x->operand];
    uint8_t from[DFL_TEMPLATE_KEEPS + 1];

    k->count[i].operand = x->operand;
    for (uint32_t d = 0; d < o->n_dims; d++)
        k->count[i].spread |= (uint32_t)is_spread(k, &o->dims[d], x->under) << d;
    k->count[i].n_stays = find_stays(k, x, from);
    k->count[i].stay = DFL_NEW_ARRAY(k->arena, dfl_form_stay, k->count[i].n_stays);
    for (uint32_t n = 0; n < k->count[i].n_stays; n++)
        add_stay(k, i, from[n], &k->count[i].stay[n]);
}

/* Whether the inner end of a way is the unit, or what it holds of an operand. */
static bool is_served(const form_maker *k, uint32_t keep)
{
    return keep == k->out->n_keeps || k->problem->place[k->out->skeleton->keep[keep].place].memory == DFL_NONE;
}

/* Whether a count does not depend on amounts. */
static bool is_fixed(const form_maker *k, uint32_t count)
{
    bool is_it = true;

    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        is_it &= k->figure[(size_t)count * k->problem->n_ranks + r] == DFL_FORM_NONE;
    return is_it;
}

/* Whether it is known how many elements of results there are: of windows with gaps, `touched` may be less. */
static bool has_counted_results(const dfl_problem *problem)
{
    bool is_counted = true;

    for (uint32_t i = 0; i < problem->n_operands; i++)
        for (uint32_t d = 0; problem->operand[i].output && d < problem->operand[i].n_dims; d++) {
            const dfl_problem_dim *dim = &problem->operand[i].dims[d];
            double most = 1;
            for (uint32_t n = 0; n < dim->n; n++)
                most += (double)dim->coef[n] * (double)(problem->extent[dim->rank[n]] - 1);
            is_counted &= dfl_form_is_plain(&problem->operand[i], dim) || dim->touched >= most;
        }
    return is_counted;
}

/* Adds up the coefficients of every count. The parts of a result that enter a keep inside of an array pay to be read when they
   leave it, and those that are read back are fewer by the entries: both have the same count. Only first visits are left with a
   negative coefficient then, and their number does not depend on amounts. */
static void add_costs(form_maker *k)
{
    dfl_form *f = k->out;

    for (uint32_t i = 0; i < k->terms->n; i++) {
        const dfl_term_of *t = &k->terms->at[i];
        const uint16_t count = k->count_index[t->factor];
        const double scale = k->scale[t->factor];
        const bool serves = is_served(k, t->keep);
        k->count[count].joules += t->joules * scale;
        if (t->joules > 0)
            k->gain[count] += t->joules * scale;
        k->count[count].sure += t->sure * scale;
        if (t->above)
            continue;
        if (t->link_seconds > 0)
            k->link[f->n_links++] = (dfl_form_link){ count, t->link, t->link_waits, serves, t->by.operand,
                                                     t->link_seconds * scale };
        if (t->seconds < 0) { /* behind the term that it is taken from */
            k->port[f->n_ports - 1].less = count;
            k->port[f->n_ports - 1].less_seconds = t->seconds * scale;
        } else if (t->seconds * scale > 0) {
            k->port[f->n_ports++] = (dfl_form_port){ .count = count, .port = t->port, .waits = t->waits, .serves = serves,
                                                     .keep = t->keep, .operand = t->by.operand, .seconds = t->seconds * scale,
                                                     .less = DFL_FORM_NONE };
        }
    }
    f->has_counted_results = has_counted_results(k->problem);
    f->has_known_losses = f->has_counted_results;
    for (uint32_t i = 0; i < f->n_counts; i++) {
        if (k->count[i].joules < 0 && k->count[i].joules >= -DFL_FORM_ROUNDING * k->gain[i])
            k->count[i].joules = 0;
        f->has_known_losses &= !(k->count[i].joules < 0) || is_fixed(k, i);
    }
    for (uint32_t i = 0; i < f->n_ports; i++) {
        const dfl_problem_operand *o = &k->problem->operand[k->port[i].operand];
        k->port[i].has_known_visits = k->port[i].less != DFL_FORM_NONE && o->ranks == o->plain && is_fixed(k, k->port[i].less);
    }
}

/* The tile of a keep. With windows it holds in each dimension at least the values of the main rank, where that can lie inside of
   the shape (lemma B12). */
static void add_keep(form_maker *k, uint32_t i)
{
    const dfl_template_keep *keep = &k->out->skeleton->keep[i];
    const dfl_problem_operand *o = &k->problem->operand[keep->operand];
    const dfl_chain_figure tile = { .kind = DFL_CHAIN_TILE, .gap = k->out->skeleton->written[i] };
    uint16_t *figure;

    k->keep[i] = (dfl_form_keep){ .tile = (uint16_t)k->out->n_products, .place = keep->place, .operand = keep->operand,
                                  .has_windows = o->ranks != o->plain,
                                  .bits = o->bits * (double)dfl_template_buffers(k->problem, keep) };
    figure = add_product(k);
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        if (o->ranks >> r & 1)
            k->keep[i].piece[r] = ask(k, r, tile);
    for (uint32_t d = 0; d < o->n_dims; d++)
        if (o->dims[d].n > 0 && (o->dims[d].inside || dfl_form_is_plain(o, &o->dims[d])))
            figure[o->dims[d].rank[o->dims[d].main]] = k->keep[i].piece[o->dims[d].rank[o->dims[d].main]];
}

/* The products of steps and of parts on axes. */
static void add_work(form_maker *k)
{
    dfl_form *f = k->out;
    const dfl_problem *problem = k->problem;
    double units = 1;
    uint16_t *figure;

    f->steps = (uint16_t)f->n_products;
    figure = add_product(k);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_PIECES, .gap = (uint8_t)f->skeleton->n_keeps });
    f->parts = (uint16_t)f->n_products;
    for (uint32_t a = 0; a < problem->n_axes; a++) {
        units *= (double)problem->axis[a].size;
        figure = add_product(k);
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_PARTS, .axes = (uint8_t)(1u << a) });
    }
    f->least_steps = problem->points / units;
}

static size_t sum_stays(const form_maker *k)
{
    uint8_t from[DFL_TEMPLATE_KEEPS + 1];
    size_t n = 0;

    for (uint32_t i = 0; i < k->terms->n_factors; i++)
        n += find_stays(k, &k->terms->factor[i], from);
    return n;
}

static void allocate(form_maker *k, size_t n_stays)
{
    const uint32_t n = k->terms->n_factors;
    const size_t products = 2 * n + k->out->n_keeps + 1 + k->problem->n_axes + n_stays;

    k->figure = DFL_NEW_ARRAY(k->arena, uint16_t, products * k->problem->n_ranks);
    k->count = DFL_NEW_ARRAY(k->arena, dfl_form_count, n);
    k->port = DFL_NEW_ARRAY(k->arena, dfl_form_port, k->terms->n);
    k->link = DFL_NEW_ARRAY(k->arena, dfl_form_link, k->terms->n);
    k->keep = DFL_NEW_ARRAY(k->arena, dfl_form_keep, k->out->n_keeps);
    k->out->figure = k->figure;
    k->out->count = k->count;
    k->out->port = k->port;
    k->out->link = k->link;
    k->out->keep = k->keep;
}

dfl_form *dfl_form_make(dfl_arena *arena, const dfl_problem *problem, const dfl_tiling_template *skeleton, dfl_terms *terms)
{
    dfl_form *out = DFL_NEW(arena, dfl_form);
    dfl_tiling_template *copy = DFL_NEW(arena, dfl_tiling_template);
    form_maker k = { .arena = arena, .problem = problem, .terms = terms, .out = out };
    size_t n_stays;

    *copy = *skeleton;
    dfl_terms_make(problem, copy, terms);
    *out = (dfl_form){ .problem = problem, .skeleton = copy, .n_keeps = copy->n_keeps };
    out->chain = DFL_NEW_ARRAY(arena, dfl_chain, problem->n_ranks);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        if (!make_chain(problem, copy, r, &out->chain[r]))
            return NULL;
    n_stays = sum_stays(&k);
    if (n_stays > DFL_FORM_STAYS)
        return NULL;
    allocate(&k, n_stays);
    for (uint32_t i = 0; i < terms->n_factors; i++)
        add_count(&k, i);
    for (uint32_t i = 0; i < out->n_counts; i++) {
        add_floor(&k, i);
        add_stays(&k, i);
    }
    add_costs(&k);
    for (uint32_t i = 0; i < copy->n_keeps; i++)
        add_keep(&k, i);
    add_work(&k);
    return out;
}
