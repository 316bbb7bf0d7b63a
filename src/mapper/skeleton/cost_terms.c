/* Terms of a template: what every keep, and the unit, gets from and gives to the next outer keep. */
#include "mapper/skeleton/cost_terms.h"

#include <math.h>
#include <string.h>

_Static_assert(DFL_TERMS < DFL_TERM_SLOTS, "there is a free slot");
_Static_assert(DFL_PROBLEM_PLACES <= 8, "masks of places are bytes");
_Static_assert(DFL_PROBLEM_RANKS <= 12 && DFL_TEMPLATE_KEEPS < 32 && DFL_PROBLEM_OPERANDS < 7 && DFL_PROBLEM_AXES <= 6 &&
               DFL_TERM_GROUPS <= 64, "keys of groups and of factors have room for these");

typedef struct {
    const dfl_problem *problem;
    const dfl_tiling_template *t;
    dfl_terms *out;
    bool above;
    uint8_t keep;
    bool waits;
    uint32_t inner;           /* axes around the inner end of the way */
} maker;

uint32_t dfl_template_axes(const dfl_problem *problem, const dfl_tiling_template *t, int i)
{
    if (i < 0)
        return 0;
    return i < (int)t->n_keeps ? problem->place[t->keep[i].place].axes : (1u << problem->n_axes) - 1;
}

static uint8_t group_of(maker *k, const dfl_term_factor *f, uint32_t gap)
{
    uint32_t operand = f->operand;
    bool distinct = f->distinct;
    const dfl_problem_operand *o = &k->problem->operand[operand];
    bool window = !distinct && o->ranks != o->plain;
    dfl_term_group g = { .ranks = distinct ? 0 : ((1u << k->problem->n_ranks) - 1) & ~o->ranks,
                         .gap = distinct ? 0 : (uint8_t)gap, .window = window ? (int8_t)operand : -1 };
    dfl_terms *out = k->out;
    uint32_t key;

    if (g.ranks == 0 && g.window < 0)
        g.gap = 0;
    if (g.window >= 0) {
        g.axes = f->over | f->under;
        g.inner = k->inner;
    }
    key = g.ranks | (uint32_t)g.gap << 12 | (uint32_t)(g.window + 1) << 17 | g.axes << 20 | g.inner << 26;
    for (uint32_t i = 0; i < out->n_groups; i++)
        if (out->group_key[i] == key)
            return (uint8_t)i;
    out->group_key[out->n_groups] = key;
    out->group[out->n_groups] = g;
    return (uint8_t)out->n_groups++;
}

static uint16_t factor_of(maker *k, const dfl_term_of *term)
{
    dfl_terms *out = k->out;
    const dfl_term_factor *f = &term->by;
    uint32_t key = f->operand | (uint32_t)f->group << 3 | (uint32_t)f->distinct << 9 | f->over << 10 | f->under << 16;
    uint32_t at = key * UINT32_C(0x9e3779b1) >> 23, i;

    while (out->factor_slot[at] != 0 && out->factor_key[out->factor_slot[at] - 1] != key)
        at = (at + 1) % DFL_TERM_SLOTS;
    if (out->factor_slot[at] == 0) {
        out->factor_key[out->n_factors] = key;
        out->factor[out->n_factors] = term->by;
        out->factor_slot[at] = (uint16_t)++out->n_factors;
    }
    i = out->factor_slot[at] - 1u;
    out->factor[i].negative |= term->joules < 0 || term->seconds < 0;
    return (uint16_t)i;
}

static void add(maker *k, dfl_term_of term, uint32_t gap)
{
    if (term.joules == 0 && term.seconds == 0 && term.link_seconds == 0)
        return;
    term.above = k->above;
    term.keep = k->keep;
    term.waits = term.seconds != 0 && k->waits;
    term.link_waits = term.link_seconds != 0 && k->waits;
    term.by.group = group_of(k, &term.by, gap);
    term.factor = factor_of(k, &term);
    k->out->at[k->out->n++] = term;
}

static uint8_t port(const dfl_problem *problem, uint32_t place, bool write)
{
    return (uint8_t)(2 * place + (write && !problem->place[place].one_port));
}

/* One way between an outer keep (or the home above all of them, -1) and an inner one (or the unit, n_keeps). */
typedef struct {
    uint32_t operand, outer, inner;   /* places */
    int outer_keep, inner_keep;
    uint32_t around, within, apart;   /* axes around the outer end; around the inner one; between, not shared */
    double bits;
    double net;                       /* energy of all networks between the two memories: J per bit */
    struct { double joules; uint32_t over; } nets[DFL_TERM_NETS + 1]; /* each network's J per bit and its axes, innermost first */
    uint32_t n_nets;
    const dfl_problem_axis *link;     /* the outermost axis between, whose link all elements of the outer end pass; NULL = none */
} way;

/* Adds the time of the link at the outer end of a way to a term for the elements that pass it. */
static void add_link(const way *w, bool out, dfl_term_of *term)
{
    term->link = 0;
    term->link_seconds = 0;
    if (w->link == NULL || !(w->link->link_seconds > 0))
        return;
    term->link = (uint8_t)(2 * w->link->link + (out && !w->link->one_link));
    term->link_seconds = w->bits * w->link->link_seconds;
}

/* Adds the energy of the networks of a way: an element counts once for each instance of an array that gets or gives it. Networks
   after the first DFL_TERM_NETS, counted from the inside, are left out, so the sum is a lower bound. */
static void add_nets(maker *k, const way *w, double joules, uint32_t gap)
{
    dfl_term_of all = { .by = { .operand = (uint8_t)w->operand, .over = w->within }, .joules = joules, .sure = joules };

    if (w->n_nets > 0 && w->nets[0].over == w->within)
        all.joules = all.sure = joules + w->bits * w->nets[0].joules;
    add(k, all, gap);
    for (uint32_t i = w->n_nets > 0 && w->nets[0].over == w->within; i < w->n_nets; i++) {
        const double net = w->bits * w->nets[i].joules;
        dfl_term_of one = { .by = { .operand = (uint8_t)w->operand, .over = w->nets[i].over }, .joules = net, .sure = net };
        if (k->problem->operand[w->operand].ranks == k->problem->operand[w->operand].plain)
            add(k, one, gap); /* windows would need a group for each */
    }
}

static void add_input(maker *k, const way *w)
{
    const dfl_problem *problem = k->problem;
    const dfl_problem_place *p = &problem->place[w->outer], *c = &problem->place[w->inner];
    dfl_term_of serve = { .by = { .operand = (uint8_t)w->operand, .over = w->around | w->apart },
                          .joules = w->bits * p->read_joules, .sure = w->bits * p->read_joules };
    dfl_term_of serve_one = { .by = { .operand = (uint8_t)w->operand, .over = w->apart, .under = w->around },
                              .port = port(problem, w->outer, false), .seconds = w->bits * p->read_seconds };
    dfl_term_of fill_one = { .by = { .operand = (uint8_t)w->operand, .under = w->within }, .port = port(problem, w->inner, true),
                             .seconds = w->bits * c->write_seconds };

    add_link(w, false, &serve_one);
    add(k, serve, (uint32_t)w->inner_keep);
    add(k, serve_one, (uint32_t)w->inner_keep);
    if (w->inner_keep < (int)k->t->n_keeps) {
        add_nets(k, w, w->bits * c->write_joules, (uint32_t)w->inner_keep);
        add(k, fill_one, (uint32_t)w->inner_keep);
    } else {
        add_nets(k, w, 0, (uint32_t)w->inner_keep);
    }
}

/* `coefficient` times the elements without a value at a keep: first visits at home, and inside what enters less what was
   filled, that is the sum over the keeps down to it of entries less joint entries, plus the first visits. A joint entry fills one
   of the instances that collect sums of the element, whether the axes between share or not (MODEL.md, section 2.4). */
static void add_unfilled(maker *k, const way *w, double coefficient)
{
    const dfl_tiling_template *t = k->t;
    dfl_term_of first = { .by = { .operand = (uint8_t)w->operand, .distinct = true }, .joules = coefficient };

    add(k, first, 0);
    for (int i = w->outer_keep; i >= 0 && !t->keep[i].home; i = t->keep[i].parent) {
        uint32_t within = dfl_template_axes(k->problem, t, i), around = dfl_template_axes(k->problem, t, t->keep[i].parent);
        dfl_term_of entries = { .by = { .operand = (uint8_t)w->operand, .over = within }, .joules = coefficient };
        dfl_term_of joint = { .by = { .operand = (uint8_t)w->operand, .over = around }, .joules = -coefficient };
        if (entries.by.over == joint.by.over)
            continue;
        k->inner = within;
        add(k, entries, (uint32_t)i);
        add(k, joint, (uint32_t)i);
    }
    k->inner = w->within;
}

static void add_output(maker *k, const way *w)
{
    const dfl_problem *problem = k->problem;
    const dfl_problem_place *p = &problem->place[w->outer], *c = &problem->place[w->inner];
    bool unit = w->inner_keep == (int)k->t->n_keeps;
    /* joules of an element that is read outside, and of one that fills a memory inside */
    double read = w->bits * p->read_joules, fill = unit ? 0 : w->bits * (c->write_joules + w->net);
    uint8_t operand = (uint8_t)w->operand;
    /* of the parts of an element that axes which do not share bring, one is filled, and all are added to what is there */
    dfl_term_of filled = { .by = { .operand = operand, .over = w->around }, .joules = w->apart == 0 ? 0 : fill };
    dfl_term_of through = { .by = { .operand = operand, .over = w->around | w->apart },
                            .joules = w->bits * p->write_joules + read + (w->apart == 0 ? fill : 0),
                            .sure = w->bits * p->write_joules };
    dfl_term_of one = { .by = { .operand = operand, .over = w->apart, .under = w->around }, .port = port(problem, w->outer, true),
                        .seconds = w->bits * p->write_seconds, .out = true };
    dfl_term_of first = { .by = { .operand = operand, .distinct = true, .under = w->around },
                          .port = port(problem, w->outer, false), .seconds = -w->bits * p->read_seconds, .out = true };

    add(k, through, (uint32_t)w->inner_keep);
    add(k, filled, (uint32_t)w->inner_keep);
    add_unfilled(k, w, -read - fill);
    add_link(w, true, &one);
    add(k, one, (uint32_t)w->inner_keep);
    one.link_seconds = 0; /* what is read outside crosses nothing */
    one.port = port(problem, w->outer, false);
    one.seconds = w->bits * p->read_seconds;
    add(k, one, (uint32_t)w->inner_keep);
    add(k, first, 0);
    add_nets(k, w, unit ? 0 : w->bits * c->drain_joules, (uint32_t)w->inner_keep);
    if (unit)
        return;
    dfl_term_of own = { .by = { .operand = operand, .under = w->within }, .port = port(problem, w->inner, false),
                        .seconds = w->bits * c->drain_seconds, .out = true };
    add(k, own, (uint32_t)w->inner_keep);
    own.out = false;
    own.port = first.port = port(problem, w->inner, true);
    own.seconds = w->bits * c->write_seconds;
    first.seconds = -own.seconds;
    first.out = false;
    first.by.under = w->within;
    add(k, own, (uint32_t)w->inner_keep);
    add(k, first, 0);
}

static void add_way(maker *k, uint32_t operand, int outer_keep, int inner_keep)
{
    const dfl_problem *problem = k->problem;
    const dfl_tiling_template *t = k->t;
    way w = { .operand = operand, .outer_keep = outer_keep, .inner_keep = inner_keep,
              .bits = problem->operand[operand].bits };

    w.outer = outer_keep < 0 ? problem->operand[operand].home : t->keep[outer_keep].place;
    w.inner = inner_keep == (int)t->n_keeps ? 0 : t->keep[inner_keep].place;
    w.around = dfl_template_axes(problem, t, outer_keep);
    w.within = dfl_template_axes(problem, t, inner_keep);
    for (uint32_t a = 0; a < problem->n_axes; a++)
        if ((w.within & ~w.around) >> a & 1) {
            w.link = w.link == NULL ? &problem->axis[a] : w.link;
            w.apart |= (problem->axis[a].shared >> operand & 1 ? 0u : 1u) << a;
            w.net += problem->axis[a].joules;
        }
    for (uint32_t a = problem->n_axes; a-- > 0 && w.n_nets <= DFL_TERM_NETS;)
        if (((w.within & ~w.around) >> a & 1) && problem->axis[a].joules > 0) {
            w.nets[w.n_nets].joules = problem->axis[a].joules;
            w.nets[w.n_nets++].over = w.around | w.apart | (w.within & problem->axis[a].upto);
        }
    k->inner = w.within;
    k->keep = (uint8_t)inner_keep;
    k->waits = inner_keep < (int)t->n_keeps && problem->place[w.inner].waits;
    k->above = false;
    for (uint32_t g = (uint32_t)inner_keep + 1; g < t->shared_gaps; g++)
        k->above |= t->allow[g] != 0;
    if (problem->operand[operand].output)
        add_output(k, &w);
    else
        add_input(k, &w);
}

double dfl_template_refetch(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand)
{
    const dfl_problem_operand *o = &problem->operand[operand];
    const uint32_t place = t->exchange[operand];
    double read = INFINITY;

    if (o->sharers == 0 || o->common == 0 || place == o->home)
        return 0;
    for (uint32_t p = 0; p < problem->n_places; p++)
        if (p == o->home || (o->common >> p & 1 && p != place))
            read = fmin(read, problem->place[p].read_joules);
    return o->bits * (read + problem->place[place].write_joules) / o->sharers;
}

/* The share of the einsum in what the keep for several einsums fetches. */
static void add_fetch(maker *k, uint32_t keep)
{
    const uint32_t operand = k->t->keep[keep].operand;
    const double joules = dfl_template_refetch(k->problem, k->t, operand);

    k->inner = 0;
    k->keep = (uint8_t)keep;
    k->waits = k->above = false;
    add(k, (dfl_term_of){ .by = { .operand = (uint8_t)operand }, .joules = joules, .sure = joules }, keep);
}

void dfl_terms_make(const dfl_problem *problem, const dfl_tiling_template *t, dfl_terms *out)
{
    maker k = { .problem = problem, .t = t, .out = out };

    out->n = out->n_factors = out->n_groups = 0;
    memset(out->factor_slot, 0, sizeof out->factor_slot);
    for (uint32_t i = 0; i < t->n_keeps; i++)
        if (!t->keep[i].home)
            add_way(&k, t->keep[i].operand, t->keep[i].parent, (int)i);
        else
            add_fetch(&k, i);
    for (uint32_t o = 0; o < problem->n_operands; o++)
        add_way(&k, o, t->innermost[o], (int)t->n_keeps);
    if (problem->waits)
        out->constant = group_of(&k, &(dfl_term_factor){ .distinct = true }, 0);
}
