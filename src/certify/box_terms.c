#include "certify/box_terms.h"

#include <string.h>

enum { ONE = -1, REST = -2 };

/* Terms under construction. */
typedef struct {
    const dfl_certify_run *run;
    const dfl_certify_problem *problem;
    const dfl_claim_form *form;
    int above[DFL_CLAIM_KEEPS + 1][DFL_CERTIFY_RANKS]; /* [keep, or the unit][rank]: variable of A, ONE, or REST, the extent
                                                           over all parts */
    int parts[DFL_CERTIFY_AXES][DFL_CERTIFY_RANKS];    /* [axis][rank]: variable, or ONE */
    dfl_box_terms *out;
    double lost[DFL_CLAIM_KEEPS];                      /* [keep]: J per bit that enters it and is not read back further in */
    bool failed;
} maker;

/* The way of an operand between an outer keep or its home (-1), and an inner keep or the unit (n_keeps). */
typedef struct {
    uint32_t operand, outer_level, inner_level;
    uint32_t inner;                                  /* keep, or n_keeps */
    uint32_t around, within, apart;                  /* axes: around the outer end, the inner end, between without sharing */
} way;

static uint32_t all_axes(const maker *k) { return (1u << k->problem->n_axes) - 1; }

/* ---- variables ---- */

static int add_variable(maker *k, uint32_t rank, uint32_t axis)
{
    if (k->out->n_vars == DFL_BOX_VARIABLES) {
        k->failed = true;
        return ONE;
    }
    k->out->var[k->out->n_vars] = (dfl_box_variable){ .rank = rank, .axis = axis };
    return (int)k->out->n_vars++;
}

static void add_rank(maker *k, uint32_t r)
{
    const uint32_t n = k->form->n_keeps;
    bool was_in = false;
    int last = ONE;

    for (uint32_t i = 0; i < n; i++) {
        const bool in = k->problem->operand[k->form->operand[i]].ranks >> r & 1;
        if (!in && was_in && k->problem->extent[r] > 1)
            last = add_variable(k, r, DFL_NONE);
        k->above[i][r] = last;
        was_in = in;
    }
    last = k->problem->extent[r] > 1 ? REST : ONE;
    for (uint32_t i = n + 1; i-- > 0;) {
        if (i == n || (k->problem->operand[k->form->operand[i]].ranks >> r & 1))
            k->above[i][r] = last;
        last = k->above[i][r];
    }
    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        k->parts[a][r] = k->problem->extent[r] > 1 && (k->problem->spread[a] >> r & 1) ? add_variable(k, r, a) : ONE;
}

/* ---- monomials ---- */

static void times(maker *k, dfl_box_monomial *x, int var, bool inverse)
{
    if (var == ONE)
        return;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->var[i] == var && x->inverse[i] != inverse) {
            x->n--;
            x->var[i] = x->var[x->n];
            x->inverse[i] = x->inverse[x->n];
            return;
        }
    if (x->n == DFL_BOX_POWERS) {
        k->failed = true;
        return;
    }
    x->var[x->n] = (uint8_t)var;
    x->inverse[x->n++] = inverse;
}

static void times_parts(maker *k, dfl_box_monomial *x, uint32_t r, uint32_t axes, bool inverse)
{
    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        if (axes >> a & 1)
            times(k, x, k->parts[a][r], inverse);
}

static void times_above(maker *k, dfl_box_monomial *x, uint32_t keep, uint32_t r, bool inverse)
{
    const double extent = (double)k->problem->extent[r];

    if (k->above[keep][r] != REST) {
        times(k, x, k->above[keep][r], inverse);
        return;
    }
    x->scale = inverse ? x->scale / extent : x->scale * extent;
    times_parts(k, x, r, all_axes(k), !inverse);
}

/* B50: bits of an operand that pass keep `inner`, on all coordinates of the axes `over`, in one instance inside of the axes
   `under`. */
static dfl_box_monomial count_bits(maker *k, uint32_t operand, uint32_t inner, uint32_t over, uint32_t under)
{
    const dfl_certify_operand *o = &k->problem->operand[operand];
    dfl_box_monomial x = { .scale = o->bits, .n = 0 };

    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        if (o->ranks >> r & 1) {
            times_parts(k, &x, r, under, true);
        } else {
            times_above(k, &x, inner, r, false);
            times_parts(k, &x, r, over, false);
        }
    }
    return x;
}

static void add_term(maker *k, dfl_box_monomial bits, double joules, double sure)
{
    if (joules == 0)
        return;
    if (k->out->n_terms == DFL_BOX_TERMS)
        k->failed = true;
    else
        k->out->term[k->out->n_terms++] = (dfl_box_term){ .bits = bits, .joules = joules, .sure = sure, .port = DFL_NONE };
}

static void add_time(maker *k, dfl_box_monomial bits, uint32_t level, bool write)
{
    const dfl_memory *m = &k->run->search->asked->system->memories[k->problem->memory[level]];

    if (k->out->n_terms == DFL_BOX_TERMS)
        k->failed = true;
    else
        k->out->term[k->out->n_terms++] = (dfl_box_term){ .bits = bits, .port = 2 * level + (write && !m->one_port),
                                                          .seconds = 1 / (write ? m->write_rate : m->read_rate) };
}

/* ---- ways ---- */

/* Energy of the network that an axis is the first one of, per bit; 0 for other axes. Sets the axes outside of the network's
   instances. */
static double network_joules(const maker *k, uint32_t a, uint32_t *upto)
{
    const dfl_system *s = k->run->search->asked->system;
    const dfl_axis *axis = &s->axes[k->problem->axis[a]];
    const dfl_element *array = &s->elements[axis->element];

    *upto = 0;
    if (axis->network == DFL_NONE || k->problem->axis[a] != array->first_axis)
        return 0;
    for (uint32_t b = 0; b < k->problem->n_axes; b++)
        *upto |= (k->problem->axis[b] < array->first_axis + array->n_axes ? 1u : 0u) << b;
    return s->networks[axis->network].energy;
}

/* Bits over the networks between both ends: each bit once for each instance that gets or gives it (MODEL.md, section 2.9).
   Returns the energy of a bit that passes all of them once. */
static double add_networks(maker *k, const way *w)
{
    double all = 0;

    for (uint32_t a = 0; a < k->problem->n_axes; a++) {
        uint32_t upto;
        double joules = (w->within & ~w->around) >> a & 1 ? network_joules(k, a, &upto) : 0;
        if (joules == 0)
            continue;
        add_term(k, count_bits(k, w->operand, w->inner, w->around | w->apart | (w->within & upto), 0), joules, joules);
        all += joules;
    }
    return all;
}

static void add_input(maker *k, const way *w)
{
    const dfl_memory *memories = k->run->search->asked->system->memories;
    const dfl_memory *p = &memories[k->problem->memory[w->outer_level]];

    add_term(k, count_bits(k, w->operand, w->inner, w->around | w->apart, 0), p->read_energy, p->read_energy);
    add_time(k, count_bits(k, w->operand, w->inner, w->apart, w->around), w->outer_level, false);
    (void)add_networks(k, w);
    if (w->inner < k->form->n_keeps) {
        const dfl_memory *c = &memories[k->problem->memory[w->inner_level]];
        add_term(k, count_bits(k, w->operand, w->inner, w->within, 0), c->write_energy, c->write_energy);
        add_time(k, count_bits(k, w->operand, w->inner, 0, w->within), w->inner_level, true);
    }
}

/* Axes around keep `i`; of the home for -1. */
static uint32_t axes_of(const maker *k, uint32_t operand, int i)
{
    return k->problem->axes_around[i < 0 ? k->form->exchange[operand] : k->form->level[i]];
}

/* The next outer keep of an operand, from keep `i` (not included) outwards; -1 = the home. */
static int parent_of(const maker *k, uint32_t operand, int i)
{
    while (--i >= 0 && k->form->operand[i] != operand) {
    }
    return i;
}

/* `joules` times the bits that enter keep `i` without a value, or its home for -1 (MODEL.md, section 2.4): at home each element
   once; further in what enters, less the joint entries, plus those of the next outer keep. */
static void add_unfilled(maker *k, uint32_t operand, int i, double joules)
{
    dfl_box_monomial first = { .scale = k->problem->operand[operand].bits, .n = 0 };

    for (; i >= 0; i = parent_of(k, operand, i)) {
        const uint32_t within = axes_of(k, operand, i), around = axes_of(k, operand, parent_of(k, operand, i));
        if (within == around)
            continue;
        k->lost[i] -= joules;
        add_term(k, count_bits(k, operand, (uint32_t)i, within, 0), joules, 0);
        add_term(k, count_bits(k, operand, (uint32_t)i, around, 0), -joules, 0);
    }
    add_term(k, first, joules, 0);
}

static void add_output(maker *k, const way *w)
{
    const dfl_memory *memories = k->run->search->asked->system->memories;
    const dfl_memory *p = &memories[k->problem->memory[w->outer_level]];
    const dfl_box_monomial through = count_bits(k, w->operand, w->inner, w->around | w->apart, 0);
    const double networks = add_networks(k, w);
    double fill = 0;

    add_term(k, through, p->write_energy, p->write_energy);
    add_term(k, through, p->read_energy, 0);
    add_time(k, count_bits(k, w->operand, w->inner, w->apart, w->around), w->outer_level, true);
    if (w->inner < k->form->n_keeps) {
        const dfl_memory *c = &memories[k->problem->memory[w->inner_level]];
        const dfl_box_monomial drained = count_bits(k, w->operand, w->inner, w->within, 0);
        fill = c->write_energy + networks;
        add_term(k, drained, dfl_drain_energy(c), dfl_drain_energy(c));
        add_term(k, count_bits(k, w->operand, w->inner, w->around, 0), fill, 0);
        if (!c->free_drains)
            add_time(k, count_bits(k, w->operand, w->inner, 0, w->within), w->inner_level, false);
    }
    add_unfilled(k, w->operand, parent_of(k, w->operand, (int)w->inner), -p->read_energy - fill);
}

static void add_way(maker *k, uint32_t operand, uint32_t inner)
{
    const int outer = parent_of(k, operand, (int)inner);
    way w = { .operand = operand, .inner = inner,
              .outer_level = outer < 0 ? k->form->exchange[operand] : k->form->level[outer],
              .inner_level = inner < k->form->n_keeps ? k->form->level[inner] : 0,
              .around = axes_of(k, operand, outer),
              .within = inner < k->form->n_keeps ? axes_of(k, operand, (int)inner) : all_axes(k) };

    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        w.apart |= (w.within & ~w.around) >> a & 1 && !(k->problem->shares[a] >> operand & 1) ? 1u << a : 0;
    if (k->problem->operand[operand].output)
        add_output(k, &w);
    else
        add_input(k, &w);
}

/* ---- skeletons ---- */

/* Whether every element goes inwards from keep `i` as often as it comes in (D50). */
static bool saves_nothing(const maker *k, uint32_t i)
{
    const uint32_t operand = k->form->operand[i], n = k->form->n_keeps;
    const dfl_certify_operand *o = &k->problem->operand[operand];
    uint32_t inner = i + 1, between;

    while (inner < n && k->form->operand[inner] != operand)
        inner++;
    between = (inner < n ? axes_of(k, operand, (int)inner) : all_axes(k)) & ~axes_of(k, operand, (int)i);
    if (o->output && (between != 0 || axes_of(k, operand, (int)i) != axes_of(k, operand, parent_of(k, operand, (int)i))))
        return false;
    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        if (o->ranks >> r & 1)
            continue;
        if (k->above[i][r] != k->above[inner][r])
            return false;
        for (uint32_t a = 0; a < k->problem->n_axes; a++)
            if ((between >> a & 1) && !(k->problem->shares[a] >> operand & 1) && k->parts[a][r] != ONE)
                return false;
    }
    return true;
}

bool dfl_box_terms_apply(const dfl_certify_run *run, const dfl_certify_problem *problem)
{
    const dfl_mapping *m = run->search->asked;
    const dfl_einsum *e = &m->workload->einsums[problem->einsum];

    if (m->workload->n_einsums != 1 || e->n_where > 0 || e->over_rank != DFL_NONE || m->workload->n_carries > 0)
        return false;
    for (uint32_t a = 0; a < problem->n_axes; a++)
        if (m->system->axes[problem->axis[a]].forward)
            return false;
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        const dfl_certify_operand *of = &problem->operand[o];
        const dfl_tensor *t = &m->workload->tensors[of->tensor];
        if (of->ranks != of->plain || of->home == DFL_NONE || dfl_certify_is_exchanged(of) ||
            (uint32_t)__builtin_popcount(of->ranks) != of->access->n_dims ||
            problem->axes_around[of->home] != 0 || dfl_selects(&m->system->computes[problem->unit].operand_reuse, t))
            return false;
        for (uint32_t d = 0; d < of->access->n_dims; d++)
            if (t->extents[d] < m->workload->ranks[of->access->index[d].terms[0].rank].extent)
                return false;
    }
    return true;
}

bool dfl_box_terms_make(const dfl_certify_run *run, const dfl_certify_problem *problem, const dfl_claim_form *form,
                        dfl_box_terms *out)
{
    const dfl_mapping *m = run->search->asked;
    const dfl_einsum *e = &m->workload->einsums[problem->einsum];
    const dfl_compute *unit = &m->system->computes[problem->unit];
    maker k = { .run = run, .problem = problem, .form = form, .out = out };
    double points = 1;

    out->problem = problem;
    out->n_vars = out->n_terms = 0;
    out->is_sure = out->is_useless = false;
    out->n_keeps = form->n_keeps;
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        add_rank(&k, r);
        points *= (double)problem->extent[r];
    }
    out->work = (dfl_box_monomial){ .scale = points * dfl_point_seconds(run->task->names, m->workload, e, unit), .n = 0 };
    out->joules = points * dfl_point_joules(m->workload, e, unit);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        times_parts(&k, &out->work, r, all_axes(&k), true);
    for (uint32_t i = 0; i < form->n_keeps; i++) {
        const dfl_certify_operand *o = &problem->operand[form->operand[i]];
        const dfl_memory *memory = &m->system->memories[problem->memory[form->level[i]]];
        out->level[i] = form->level[i];
        out->tile[i] = (dfl_box_monomial){ .scale = o->bits * (double)memory->buffers, .n = 0 };
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if (o->ranks >> r & 1) {
                times_above(&k, &out->tile[i], i, r, true);
                times_parts(&k, &out->tile[i], r, problem->axes_around[form->level[i]], true);
            }
        out->is_useless |= saves_nothing(&k, i);
        add_way(&k, form->operand[i], i);
    }
    for (uint32_t o = 0; o < problem->n_operands; o++)
        add_way(&k, o, form->n_keeps);
    for (uint32_t i = 0; i < form->n_keeps; i++)
        out->is_sure |= k.lost[i] > dfl_drain_energy(&m->system->memories[problem->memory[form->level[i]]]) * (1 + 1e-12);
    return !k.failed;
}
