#include "mapper/tiling/form.h"

#include "mapper/limits.h"

typedef struct {
    dfl_arena *arena;
    const dfl_job *job;
    const dfl_terms *terms;
    dfl_form *out;
    uint16_t *figure;
    dfl_form_count *count;
    dfl_form_port *port;
    dfl_form_keep *keep;
} form_maker;

static uint32_t all_axes(const dfl_job *job) { return (1u << job->n_axes) - 1; }

static void make_chain(const dfl_job *job, const dfl_tiling_template *t, uint32_t rank, dfl_chain *out)
{
    *out = (dfl_chain){ .extent = job->extent[rank], .last = -1 };
    for (uint32_t g = 0; g <= t->n_keeps; g++) {
        if (t->allow[g] >> rank & 1) {
            out->last = (int)out->n;
            out->at[out->n++] = (dfl_chain_cut){ .gap = (uint8_t)g, .axis = -1 };
        }
        for (uint32_t a = 0; a < job->n_axes; a++)
            if (t->axis_gap[a] == g && (job->axis[a].ranks >> rank & 1))
                out->at[out->n++] = (dfl_chain_cut){ .gap = (uint8_t)g, .axis = (int8_t)a };
    }
}

static uint16_t ask(const form_maker *k, uint32_t rank, dfl_chain_figure figure)
{
    return (uint16_t)dfl_chain_ask(k->arena, &k->out->chain[rank], figure);
}

/* A new product, as its figures by rank. */
static uint16_t *add_product(form_maker *k)
{
    uint16_t *at = &k->figure[(size_t)k->out->n_products++ * k->job->n_ranks];

    for (uint32_t r = 0; r < k->job->n_ranks; r++)
        at[r] = DFL_FORM_NONE;
    return at;
}

static void add_count(form_maker *k, uint32_t i)
{
    const dfl_term_factor *x = &k->terms->factor[i];
    const dfl_job_operand *o = &k->job->operand[x->operand];
    const uint8_t gap = k->terms->group[x->group].gap;
    const uint8_t outside = (uint8_t)(all_axes(k->job) & ~x->under), over = (uint8_t)x->over;
    uint16_t *figure = add_product(k);

    k->count[i] = (dfl_form_count){ .scale = o->touched / o->elements, .floor = DFL_FORM_NONE };
    k->count[i].floor_scale = k->count[i].scale;
    for (uint32_t r = 0; r < k->job->n_ranks; r++)
        if (o->ranks >> r & 1)
            figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_ELEMENTS, .axes = outside });
        else if (!x->distinct)
            figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_PIECES, .gap = gap, .axes = over });
}

/* One instance of the axes `under` has at least its share of the elements, over all ranks together (lemma B3). */
static void add_floor(form_maker *k, uint32_t i)
{
    const dfl_term_factor *x = &k->terms->factor[i];
    const dfl_job_operand *o = &k->job->operand[x->operand];
    uint16_t *figure;

    if (x->under == 0)
        return;
    k->count[i].floor = (uint16_t)k->out->n_products;
    figure = add_product(k);
    for (uint32_t r = 0; r < k->job->n_ranks; r++)
        if (o->ranks >> r & 1)
            k->count[i].floor_scale *= (double)k->job->extent[r];
        else
            figure[r] = k->figure[(size_t)i * k->job->n_ranks + r];
    for (uint32_t a = 0; a < k->job->n_axes; a++)
        if (x->under >> a & 1)
            k->count[i].floor_scale /= (double)k->job->axis[a].size;
}

/* Finds out whether short pieces of a keep's tile may stay while loops over other ranks advance. */
static void add_stays(form_maker *k, uint32_t i)
{
    const dfl_term_factor *x = &k->terms->factor[i];
    const dfl_job_operand *o = &k->job->operand[x->operand];
    const dfl_tiling_template *t = k->out->skeleton;
    const uint8_t gap = k->terms->group[x->group].gap;
    uint8_t from = 0;
    bool has_other = false;

    if (x->distinct || gap >= t->n_keeps)
        return;
    for (uint8_t g = 0; g <= gap; g++) {
        k->count[i].stays |= has_other && (t->allow[g] & o->ranks) != 0;
        if (g < gap && (t->allow[g] & ~o->ranks) != 0) {
            has_other = true;
            from = g;
        }
    }
    for (uint32_t r = 0; r < k->job->n_ranks && k->count[i].stays; r++) {
        dfl_chain_figure f = { .kind = DFL_CHAIN_STAYS, .gap = gap, .from = from,
                               .axes = (uint8_t)(all_axes(k->job) & ~x->under) };
        k->count[i].stay[r] = k->count[i].cuts[r] = DFL_FORM_NONE;
        if (!(o->ranks >> r & 1))
            continue;
        k->count[i].stay[r] = ask(k, r, f);
        f.kind = DFL_CHAIN_CUTS_FULL;
        k->count[i].cuts[r] = ask(k, r, f);
    }
}

/* Adds up the coefficients of every count. The parts of a result that enter a keep inside of an array pay to be read when they
   leave it, and those that are read back are fewer by the entries: both have the same count. Only first visits are left with a
   negative coefficient then, and their number does not depend on amounts. */
static void net_losses(form_maker *k)
{
    k->out->has_known_losses = true;
    for (uint32_t i = 0; i < k->terms->n_factors; i++) {
        dfl_form_count *x = &k->count[i];
        if (x->gain + x->loss >= -DFL_FORM_ROUNDING * x->gain) {
            x->gain = x->gain + x->loss > 0 ? x->gain + x->loss : 0;
            x->loss = 0;
        }
        if (x->loss < 0 && !(k->terms->factor[i].distinct && k->terms->factor[i].under == 0))
            k->out->has_known_losses = false;
    }
}

static void add_costs(form_maker *k)
{
    dfl_form *f = k->out;

    for (uint32_t i = 0; i < k->terms->n; i++) {
        const dfl_term_of *t = &k->terms->at[i];
        *(t->joules < 0 ? &k->count[t->factor].loss : &k->count[t->factor].gain) += t->joules;
        k->count[t->factor].sure += t->sure;
        if (t->seconds < 0) { /* behind the term that it is taken from */
            k->port[f->n_ports - 1].less = t->factor;
            k->port[f->n_ports - 1].less_seconds = t->seconds;
        } else if (t->seconds > 0) {
            k->port[f->n_ports++] = (dfl_form_port){ .count = t->factor, .port = t->port, .waits = t->waits,
                                                     .seconds = t->seconds, .less = DFL_FORM_NONE };
        }
    }
    net_losses(k);
}

static void add_keep(form_maker *k, uint32_t i)
{
    const dfl_template_keep *keep = &k->out->skeleton->keep[i];
    const dfl_job_operand *o = &k->job->operand[keep->operand];
    uint16_t *figure;

    k->keep[i] = (dfl_form_keep){ .tile = (uint16_t)k->out->n_products, .place = keep->place,
                                  .bits = o->bits * (double)dfl_template_buffers(k->job, keep) };
    figure = add_product(k);
    for (uint32_t r = 0; r < k->job->n_ranks; r++)
        if (o->ranks >> r & 1)
            figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_TILE, .gap = (uint8_t)i });
}

/* The products of steps and of parts on axes. */
static void add_work(form_maker *k)
{
    dfl_form *f = k->out;
    const dfl_job *job = k->job;
    double units = 1;
    uint16_t *figure;

    f->steps = (uint16_t)f->n_products;
    figure = add_product(k);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_PIECES, .gap = (uint8_t)f->skeleton->n_keeps });
    f->parts = (uint16_t)f->n_products;
    for (uint32_t a = 0; a < job->n_axes; a++) {
        units *= (double)job->axis[a].size;
        figure = add_product(k);
        for (uint32_t r = 0; r < job->n_ranks; r++)
            figure[r] = ask(k, r, (dfl_chain_figure){ .kind = DFL_CHAIN_PARTS, .axes = (uint8_t)(1u << a) });
    }
    f->least_steps = job->points / units;
}

dfl_form *dfl_form_make(dfl_arena *arena, const dfl_job *job, const dfl_tiling_template *skeleton, dfl_terms *terms)
{
    dfl_form *out = DFL_NEW(arena, dfl_form);
    dfl_tiling_template *copy = DFL_NEW(arena, dfl_tiling_template);
    form_maker k = { .arena = arena, .job = job, .terms = terms, .out = out };

    *copy = *skeleton;
    dfl_terms_make(job, copy, terms);
    *out = (dfl_form){ .job = job, .skeleton = copy, .n_counts = terms->n_factors, .n_keeps = copy->n_keeps };
    out->chain = DFL_NEW_ARRAY(arena, dfl_chain, job->n_ranks);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        make_chain(job, copy, r, &out->chain[r]);
    k.figure = DFL_NEW_ARRAY(arena, uint16_t, (2 * (size_t)terms->n_factors + copy->n_keeps + 1 + job->n_axes) * job->n_ranks);
    k.count = DFL_NEW_ARRAY(arena, dfl_form_count, terms->n_factors);
    k.port = DFL_NEW_ARRAY(arena, dfl_form_port, terms->n);
    k.keep = DFL_NEW_ARRAY(arena, dfl_form_keep, copy->n_keeps);
    for (uint32_t i = 0; i < terms->n_factors; i++)
        add_count(&k, i);
    for (uint32_t i = 0; i < terms->n_factors; i++) {
        add_floor(&k, i);
        add_stays(&k, i);
    }
    add_costs(&k);
    for (uint32_t i = 0; i < copy->n_keeps; i++)
        add_keep(&k, i);
    add_work(&k);
    out->figure = k.figure;
    out->count = k.count;
    out->port = k.port;
    out->keep = k.keep;
    return out;
}
