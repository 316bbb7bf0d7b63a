/* Jobs from the IR. */
#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/extents.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "ir/path/unit_choice.h"

enum {
    FILL_STEPS = 1 << 16,   /* parts that are tried to find out how much of all axes can be at work */
    ROWS = 1 << 10,         /* values of a term with which those of another term that lie in the shape are counted */
};

typedef struct {
    const dfl_intern *names;
    const dfl_mapping *m;
    const dfl_workload *w;
    const dfl_system *s;
    const dfl_einsum *e;
    const bool *roomy;
    dfl_problem *problem;
    const char *lack; /* what the search does not support; NULL = it supports the einsum so far */
} maker;

/* Whether where it is exchanged is to be found. */
static bool is_exchanged(const dfl_tensor *t)
{
    return t->role == DFL_ROLE_INTERMEDIATE && t->n_producers > 0 && t->n_consumers > 0;
}

static void refuse(maker *k, const char *lack)
{
    if (!k->lack)
        k->lack = lack;
}

static void add_dim(maker *k, dfl_problem_operand *o, const dfl_index *index)
{
    dfl_problem_dim *d = &o->dims[o->n_dims++];
    uint32_t rank;

    if (index->n_terms > 4) {
        refuse(k, "an index sums more than four ranks");
        return;
    }
    for (uint32_t i = 0; i < index->n_terms; i++) {
        uint32_t r = dfl_problem_find_rank(k->problem, index->terms[i].rank);
        int64_t coef = index->terms[i].coef;
        if (o->ranks >> r & 1)
            refuse(k, "a rank stands in two dimensions of one tensor");
        o->ranks |= 1u << r;
        d->rank[d->n] = (uint8_t)r;
        d->coef[d->n++] = coef < 0 ? -coef : coef;
    }
    if (dfl_index_is_bare(index, &rank))
        o->plain |= 1u << d->rank[0];
    else if (index->n_terms > 0)
        k->problem->windows = true;
}

/* Values of an index outside of the shape, gaps included. */
static double outside_of(const dfl_workload *w, const dfl_index *index, int64_t shape)
{
    double low = (double)index->offset, high = low;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        double reach = (double)index->terms[t].coef * (double)(w->ranks[index->terms[t].rank].extent - 1);
        *(reach < 0 ? &low : &high) += reach;
    }
    return fmax(0, -low) + fmax(0, high - (double)(shape - 1));
}

/* Different values of an index within the shape, at least. From small coefficients to large ones: steps that are no longer than
   what is there without gaps leave none; steps over all that is there repeat it; else a sum has as many values as its terms
   have together, less one. */
static double values_of(const dfl_workload *w, const dfl_index *index, int64_t shape)
{
    double count = 1, span = 1, below = 0;
    bool dense = true;

    for (uint32_t i = 0; i < index->n_terms; i++) {
        double coef = INFINITY, steps = 0;
        for (uint32_t t = 0; t < index->n_terms; t++) { /* the next larger one; of equal ones the sum of their steps */
            double c = fabs((double)index->terms[t].coef), n = (double)(w->ranks[index->terms[t].rank].extent - 1);
            if (c > below && c <= coef) {
                steps = c < coef ? n : steps + n;
                coef = c;
            }
        }
        if (isinf(coef))
            break;
        if (steps > 0 && dense && coef <= count) {
            count += coef * steps;
        } else if (steps > 0) {
            dense = false;
            count = coef >= span ? count * (steps + 1) : count + steps;
        }
        span += coef * steps;
        below = coef;
    }
    return fmax(0, count - outside_of(w, index, shape));
}

/* Number of x from 0 to n - 1 with at + step * x in the shape. */
static int64_t count_inside(int64_t at, int64_t step, int64_t n, int64_t shape)
{
    const int64_t end = at + step * (n - 1), low = step < 0 ? end : at, high = step < 0 ? at : end;
    const int64_t by = step < 0 ? -step : step, below = low < 0 ? (-low + by - 1) / by : 0;
    const int64_t above = high >= shape ? (high - shape + by) / by : 0;

    return below + above >= n ? 0 : n - below - above;
}

/* Sets what lies in the shape of the values of the main rank, by value of the other rank. */
static void describe_rows(const dfl_workload *w, const dfl_index *index, int64_t shape, dfl_problem_dim *d)
{
    const dfl_term *of = &index->terms[d->main], *other = index->n_terms == 2 ? &index->terms[1 - d->main] : NULL;
    const int64_t extent = w->ranks[of->rank].extent, n = other != NULL ? w->ranks[other->rank].extent : 1;

    d->row = fmax(0, (double)extent - d->outside);
    d->points = d->row;
    for (uint32_t i = 0; i < index->n_terms; i++)
        d->points *= i == d->main ? 1 : (double)w->ranks[index->terms[i].rank].extent;
    if (index->n_terms > 2 || n > ROWS)
        return;
    d->row = (double)extent;
    d->points = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = index->offset + (other != NULL ? other->coef * i : 0);
        const double inside = (double)count_inside(at, of->coef, extent, shape);
        d->row = fmin(d->row, inside);
        d->points += inside;
        d->inside |= inside == (double)extent;
    }
}

/* Whether an index has values outside of the shape, or gaps, be it in some tile alone: then some step is longer than one. */
static bool is_sparse(const dfl_workload *w, const dfl_index *index, int64_t shape)
{
    double box = 1;
    bool steps = false;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        double coef = fabs((double)index->terms[t].coef), n = (double)(w->ranks[index->terms[t].rank].extent - 1);
        steps |= coef > 1 && n > 0;
        box += coef * n;
    }
    return steps || values_of(w, index, shape) < box;
}

bool dfl_space_overstates(const dfl_workload *w)
{
    bool sparse = false;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;
            for (uint32_t d = 0; d < a->n_dims; d++)
                sparse |= is_sparse(w, &a->index[d], w->tensors[a->tensor].extents[d]);
        }
    return sparse;
}

/* Sets what the shape says of a dimension. */
static void describe_dim(const maker *k, dfl_problem_dim *d, const dfl_index *index, int64_t shape)
{
    d->touched = values_of(k->w, index, shape);
    d->outside = outside_of(k->w, index, shape);
    for (uint32_t i = 1; i < d->n; i++)
        d->main = k->problem->extent[d->rank[i]] > k->problem->extent[d->rank[d->main]] ? i : d->main;
    if (d->n > 0)
        describe_rows(k->w, index, shape, d);
}

static void add_operand(maker *k, const dfl_access *a, bool output)
{
    const dfl_tensor *t = &k->w->tensors[a->tensor];
    dfl_problem *problem = k->problem;
    dfl_problem_operand *o;

    for (uint32_t i = 0; i < problem->n_operands; i++)
        if (problem->operand[i].tensor == a->tensor) {
            refuse(k, "it touches one tensor twice");
            return;
        }
    if (problem->n_operands == DFL_PROBLEM_OPERANDS || a->n_dims > DFL_PROBLEM_DIMS) {
        refuse(k, "it has more operands or dimensions than the search supports");
        return;
    }
    o = &problem->operand[problem->n_operands++];
    *o = (dfl_problem_operand){ .tensor = a->tensor, .output = output, .bits = t->type.bits, .several = t->n_consumers > 1 };
    o->shared = is_exchanged(t);
    if (t->n_producers > 1)
        refuse(k, "several einsums write one of its tensors");
    o->touched = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        add_dim(k, o, &a->index[d]);
        describe_dim(k, &o->dims[d], &a->index[d], t->extents[d]);
        o->touched *= o->dims[d].touched;
    }
    o->elements = dfl_problem_tile(o, problem->extent);
}

/* The link between the network of an axis and the memory outside (MODEL.md, section 2.9), where all instances have one. */
static void add_link(const maker *k, uint32_t axis)
{
    dfl_problem *problem = k->problem;
    const dfl_axis *a = &k->s->axes[problem->axis[axis].axis];
    const dfl_network *network = a->network == DFL_NONE ? NULL : &k->s->networks[a->network];
    const char *kind = network == NULL ? "" : dfl_sym_text(k->names, network->kind);

    if (network == NULL || !isfinite(network->bandwidth) || network->port != DFL_NONE || strcmp(kind, "mesh") == 0 ||
        strcmp(kind, "ring") == 0 || strcmp(kind, "torus") == 0)
        return;
    problem->axis[axis].link_seconds = 1 / network->bandwidth;
    problem->axis[axis].one_link = strcmp(kind, "bus") == 0;
    problem->axis[axis].link = axis;
    for (uint32_t b = axis; b-- > 0;)
        if (k->s->axes[problem->axis[b].axis].network == a->network)
            problem->axis[axis].link = b;
}

static void add_places(maker *k)
{
    dfl_problem *problem = k->problem;
    const dfl_system *s = k->s;
    uint32_t inside = s->computes[problem->unit].element;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        const dfl_axis *axis = &s->axes[a];
        dfl_problem_axis *out = &problem->axis[problem->n_axes];
        double joules = axis->network != DFL_NONE && a == s->elements[axis->element].first_axis
                            ? s->networks[axis->network].energy : 0;
        if (!dfl_axis_encloses(s, a, inside) || (axis->size <= 1 && joules == 0))
            continue;
        if (problem->n_axes == DFL_PROBLEM_AXES) {
            refuse(k, "its unit is inside of more array axes than the search supports");
            return;
        }
        *out = (dfl_problem_axis){ .axis = a, .size = axis->size };
        if (axis->forward)
            refuse(k, "an array forwards between neighbours");
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (dfl_selects(problem->operand[o].output ? &axis->reduce : &axis->multicast,
                            &k->w->tensors[problem->operand[o].tensor]))
                out->shared |= 1u << o;
        out->joules = joules;
        add_link(k, problem->n_axes);
        problem->n_axes++;
    }
    for (uint32_t a = 0; a < problem->n_axes; a++) {
        const dfl_element *array = &s->elements[s->axes[problem->axis[a].axis].element];
        for (uint32_t b = 0; b < problem->n_axes; b++)
            problem->axis[a].upto |= (problem->axis[b].axis < array->first_axis + array->n_axes ? 1u : 0u) << b;
    }
    for (uint32_t m = 0; m < s->n_memories; m++) {
        const dfl_memory *mem = &s->memories[m];
        dfl_problem_place *p = &problem->place[problem->n_places];
        if (!dfl_compute_sees(s, problem->unit, m))
            continue;
        if (problem->n_places == DFL_PROBLEM_PLACES) {
            refuse(k, "its unit reaches more memories than the search supports");
            return;
        }
        *p = (dfl_problem_place){ .memory = m, .bits = mem->size_bits < 0 ? INFINITY : (double)mem->size_bits,
                                  .read_joules = mem->read_energy, .write_joules = mem->write_energy,
                                  .drain_joules = dfl_drain_energy(mem),
                                  .drain_seconds = mem->free_drains ? 0 : 1 / mem->read_rate,
                                  .read_seconds = 1 / mem->read_rate, .write_seconds = 1 / mem->write_rate,
                                  .one_port = mem->one_port, .buffers = (uint32_t)mem->buffers };
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if (dfl_axis_encloses(s, problem->axis[a].axis, mem->element))
                p->axes |= 1u << a;
        problem->n_places++;
    }
}

/* Where work waits for transfers. */
static void find_waits(dfl_problem *problem, const dfl_mapping *m, const dfl_problem_limits *limits)
{
    const bool overlapped = m->options.overlap_perfect || limits->overlapped || limits->homes_only ||
                            m->workload->n_einsums > DFL_PROBLEM_WAITING;

    for (uint32_t p = 0; p < problem->n_places && !overlapped; p++) {
        const dfl_memory *mem = &m->system->memories[problem->place[p].memory];
        problem->place[p].waits = mem->buffers < 2 && !mem->stream;
        problem->waits = true;
    }
}

/* Memory of the home that a line above the hole gives the tensor. */
static uint32_t written_home(const dfl_mapping *m, uint32_t tensor)
{
    for (uint32_t i = 0; i < dfl_body_count_homes(m->root); i++)
        if (m->root->lines[i].tensor == tensor)
            return m->root->lines[i].memory;
    return DFL_NONE;
}

/* Bits that all tensors with their home in the memory, `home` by tensor, have together. Shared loops, which others ask for, can
   make any of them live as long as the others. */
static double all_at_home(const dfl_workload *w, const uint32_t *home, uint32_t memory)
{
    double all = 0;

    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const dfl_tensor *t = &w->tensors[i];
        dfl_i128 elements = 0;
        if (home[i] != memory || t->n_producers + t->n_consumers == 0)
            continue;
        (void)dfl_tensor_stored(t, &elements);
        all += dfl_i128_double(elements) * t->type.bits;
    }
    return all;
}

const bool *dfl_space_roomy(dfl_arena *arena, const dfl_mapping *m, const dfl_problem_limits *limits)
{
    const dfl_workload *w = m->workload;
    bool *roomy = DFL_NEW_ARRAY(arena, bool, (size_t)m->system->n_memories + 1);
    uint32_t *home = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1);

    for (uint32_t t = 0; t < w->n_tensors; t++)
        home[t] = dfl_space_outermost(m, t);
    for (uint32_t i = 0; i < dfl_body_count_homes(m->root); i++)
        home[m->root->lines[i].tensor] = m->root->lines[i].memory;
    for (uint32_t i = 0; i < m->system->n_memories; i++) {
        const dfl_memory *memory = &m->system->memories[i];
        if (i + 1 == limits->counted || (memory->size_bits >= 0 && limits->any_size))
            continue;
        roomy[i] = memory->size_bits < 0 || all_at_home(w, home, i) <= (double)memory->size_bits;
        for (uint32_t t = 0; t < w->n_tensors && roomy[i] && memory->size_bits >= 0; t++)
            roomy[i] = home[t] == i || (memory->holds.on && !dfl_selects(&memory->holds, &w->tensors[t]));
    }
    return roomy;
}

static void place_operands(maker *k)
{
    dfl_problem *problem = k->problem;

    for (uint32_t i = 0; i < problem->n_operands; i++) {
        dfl_problem_operand *o = &problem->operand[i];
        const dfl_tensor *t = &k->w->tensors[o->tensor];
        uint32_t written = written_home(k->m, o->tensor);
        o->home = DFL_NONE;
        o->settled = written != DFL_NONE;
        for (uint32_t p = 0; p < problem->n_places; p++) {
            if (o->settled && o->home == DFL_NONE && problem->place[p].memory != written)
                continue;
            const dfl_memory *mem = &k->s->memories[problem->place[p].memory];
            if (mem->holds.on && !dfl_selects(&mem->holds, t))
                continue;
            if (o->home == DFL_NONE)
                o->home = p;
            else
                o->places |= 1u << p;
        }
        if (o->home == DFL_NONE)
            refuse(k, "no memory that its unit reaches may hold one of its tensors");
        else if (problem->place[o->home].axes != 0)
            refuse(k, "the outermost memory of one of its tensors is inside of an array");
        else if (o->shared && !o->settled && !k->roomy[problem->place[o->home].memory]) {
            o->places |= 1u << o->home;
            o->home = DFL_NONE;
        }
        o->again = !o->output && dfl_selects(&k->s->computes[problem->unit].operand_reuse, t);
    }
}

/* Places for what the unit holds of operands that it reads only when they change (MODEL.md, rule 7): one element of each. */
static void add_held(maker *k, const dfl_problem_limits *limits)
{
    dfl_problem *problem = k->problem;

    for (uint32_t i = 0; i < problem->n_operands; i++) {
        dfl_problem_operand *o = &problem->operand[i];
        if (!o->again)
            continue;
        if (!limits->holds || problem->windows || problem->n_places == DFL_PROBLEM_PLACES) {
            refuse(k, "its unit reuses operands between steps");
            return;
        }
        problem->place[problem->n_places] = (dfl_problem_place){ .memory = DFL_NONE, .axes = (1u << problem->n_axes) - 1,
                                                                 .bits = o->bits, .buffers = 1 };
        o->places |= 1u << problem->n_places++;
    }
}

/* The most instances of an axis that iterations of some ranks fill, by divisors of what axes outside of it leave. */
static double most_filled(const dfl_problem *problem, uint32_t axis, uint32_t ranks, const double *outside)
{
    bool can[DFL_PROBLEM_FILLED + 1] = { [1] = true };
    uint32_t most = (uint32_t)problem->axis[axis].size, filled = 1;

    for (; ranks != 0; ranks &= ranks - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(ranks);
        int64_t left = problem->extent[r] / (int64_t)outside[r];
        for (uint32_t n = filled; n > 0; n--)
            for (uint32_t d = 2; can[n] && d <= most / n; d++)
                can[n * d] |= left % d == 0;
        for (uint32_t n = filled + 1; n <= most; n++)
            filled = can[n] ? n : filled;
    }
    return filled;
}

double dfl_problem_filled(const dfl_problem *problem, uint32_t axis, const double *outside)
{
    return problem->axis[axis].others == 0 ? 0 : most_filled(problem, axis, problem->axis[axis].sharing, outside);
}

/* A search for the most instances of all axes that are at work. */
typedef struct {
    const dfl_problem *problem;
    const uint32_t *ranks;          /* by axis: mask of those that may be spread over it */
    int64_t left[DFL_PROBLEM_RANKS];
    double most, best;              /* if all were, and so far */
    uint32_t steps;                 /* that are left to find out */
} filler;

/* Rank `r` and those behind it over axis `a`, of which `free` instances are left for each that is at work, then the others. */
static void fill(filler *k, uint32_t a, uint32_t r, int64_t free, double used, double rest)
{
    while (a < k->problem->n_axes && (r == k->problem->n_ranks || free < 2)) {
        r = 0;
        if (++a < k->problem->n_axes) {
            free = k->problem->axis[a].size;
            rest /= (double)free;
        }
    }
    if (a == k->problem->n_axes) {
        k->best = used > k->best ? used : k->best;
        return;
    }
    for (int64_t d = (k->ranks[a] >> r & 1) == 0 ? 1 : free < k->left[r] ? free : k->left[r]; d > 0 && k->steps > 0; d--) {
        k->steps--;
        if (k->left[r] % d != 0 || used * (double)(d * (free / d)) * rest <= k->best)
            continue;
        k->left[r] /= d;
        fill(k, a, r + 1, free / d, used * (double)d, rest);
        k->left[r] *= d;
    }
}

/* The most instances of the axes from `first` on that are at work; INFINITY if that takes too long to find out. */
static double most_at_work(const dfl_problem *problem, const uint32_t *ranks, uint32_t first)
{
    filler k = { .problem = problem, .ranks = ranks, .most = 1, .best = first == problem->n_axes, .steps = FILL_STEPS };

    memcpy(k.left, problem->extent, sizeof k.left);
    for (uint32_t a = first; a < problem->n_axes; a++)
        k.most *= (double)problem->axis[a].size;
    if (first < problem->n_axes)
        fill(&k, first, 0, problem->axis[first].size, 1, k.most / (double)problem->axis[first].size);
    return k.best < k.most && k.steps == 0 ? INFINITY : k.best;
}

/* The same with the ranks that may be spread, and no more than there are. */
static void find_at_work(dfl_problem *problem)
{
    uint32_t ranks[DFL_PROBLEM_AXES];
    double all = 1;

    for (uint32_t a = 0; a < problem->n_axes; a++)
        ranks[a] = problem->axis[a].ranks;
    for (uint32_t a = problem->n_axes + 1; a-- > 0;) {
        all *= a < problem->n_axes ? (double)problem->axis[a].size : 1;
        problem->at_work[a] = fmin(all, most_at_work(problem, ranks, a));
    }
}

/* Ranks that may be spread over an axis: all, or where transfers are shared those that let some operand share one, and others
   only if more of all axes can be at work with them. All where lines are written: these use up parts of ranks and of axes,
   and how many instances ranks can fill in what is left differs from place to place. */
static void allow_spatial(maker *k, const dfl_problem_limits *limits)
{
    dfl_problem *problem = k->problem;
    uint32_t all[DFL_PROBLEM_AXES] = { 0 }, sharing[DFL_PROBLEM_AXES] = { 0 };
    const bool any = limits->spread || !dfl_mapping_all_lines_open(k->m);
    bool restricted = false, known = true;

    for (uint32_t a = 0; a < problem->n_axes; a++) {
        all[a] = (1u << problem->n_ranks) - 1;
        sharing[a] = 0;
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->axis[a].shared >> o & 1)
                sharing[a] |= all[a] & ~problem->operand[o].ranks;
        if (any || sharing[a] == 0)
            sharing[a] = all[a];
        restricted |= sharing[a] != all[a];
        known &= problem->axis[a].size <= DFL_PROBLEM_FILLED;
    }
    if (restricted && !limits->plain && known) {
        double most = most_at_work(problem, sharing, 0);
        restricted = most < INFINITY && most >= most_at_work(problem, all, 0);
    }
    for (uint32_t a = 0; a < problem->n_axes; a++) {
        problem->axis[a].sharing = sharing[a];
        problem->axis[a].ranks = restricted ? sharing[a] : all[a];
        problem->axis[a].others = restricted ? 0 : all[a] & ~sharing[a];
    }
}

/* Leaves the memories outside of all arrays, which are the first ones, and in them the homes. */
static void keep_homes(dfl_problem *problem)
{
    uint32_t n = 0;

    while (n < problem->n_places && problem->place[n].axes == 0)
        n++;
    memset(&problem->place[n], 0, (problem->n_places - n) * sizeof *problem->place);
    memset(problem->axis, 0, sizeof problem->axis);
    problem->n_places = n;
    problem->n_axes = 0;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        problem->operand[o].places &= problem->operand[o].shared ? (1u << n) - 1 : 0;
}

/* Fills those members of the problem from which the search tells whether it supports the einsum. */
static void describe(maker *k, const dfl_problem_limits *limits)
{
    dfl_problem *out = k->problem;
    uint32_t keeps = 0;

    if (k->e->n_where > 0 || k->e->over_rank != DFL_NONE)
        refuse(k, "it has a condition, a gather or an operation over a whole rank");
    if (k->e->n_ranks > DFL_PROBLEM_RANKS) {
        refuse(k, "it has more ranks than the search supports");
        return;
    }
    out->points = 1;
    for (uint32_t i = 0; i < k->e->n_ranks; i++) {
        out->rank[out->n_ranks] = k->e->ranks[i];
        out->extent[out->n_ranks++] = k->w->ranks[k->e->ranks[i]].extent;
        out->points *= (double)k->w->ranks[k->e->ranks[i]].extent;
    }
    for (uint32_t i = 0; i < k->e->n_inputs; i++)
        add_operand(k, &k->e->inputs[i], false);
    add_operand(k, &k->e->output, true);
    add_places(k);
    find_waits(out, k->m, limits);
    out->slid_loops = limits->unjoined;
    if (!k->lack)
        place_operands(k);
    if (!k->lack)
        add_held(k, limits);
    for (uint32_t i = 0; i < out->n_operands; i++)
        keeps += (uint32_t)__builtin_popcount(out->operand[i].places);
    if (keeps > (limits->plain ? DFL_PROBLEM_CLAIMED : DFL_PROBLEM_KEEPS))
        refuse(k, "its operands may be kept in more places than the search supports");
}

bool dfl_problem_make(const dfl_intern *names, const dfl_mapping *m, uint32_t einsum, uint32_t unit,
                      const dfl_problem_limits *limits, const bool *roomy, dfl_problem *out, const char **lack)
{
    const dfl_workload *w = m->workload;
    maker k = { .names = names, .m = m, .w = w, .s = m->system, .e = &w->einsums[einsum], .roomy = roomy, .problem = out };
    const dfl_compute *u = &m->system->computes[unit];

    memset(out, 0, sizeof *out);
    if (!dfl_unit_can_run(names, m, u, k.e))
        return false;
    out->einsum = einsum;
    out->unit = unit;
    out->seconds = dfl_point_seconds(names, w, k.e, u);
    out->joules = dfl_point_joules(w, k.e, u);
    describe(&k, limits);
    if (k.lack) {
        *lack = k.lack;
        return false;
    }
    allow_spatial(&k, limits);
    if (limits->homes_only)
        keep_homes(out);
    find_at_work(out);
    return true;
}

dfl_problems dfl_problems_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, uint32_t einsum,
                               const dfl_problem_limits *limits, const bool *roomy, const char **lack)
{
    const dfl_body *leaf = dfl_mapping_leaf(m, einsum);
    dfl_problems out = { NULL, 0, 0 };

    for (uint32_t u = 0; u < m->system->n_computes; u++) {
        dfl_problem *problem = DFL_NEW(arena, dfl_problem);
        const char *here = NULL;
        if (leaf != NULL && leaf->compute != DFL_NONE && leaf->compute != u)
            continue;
        if (dfl_problem_make(names, m, einsum, u, limits, roomy, problem, &here))
            DFL_PUSH(arena, &out, problem);
        *lack = *lack != NULL ? *lack : here;
    }
    return out;
}

const char *dfl_problem_lack(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, uint32_t einsum)
{
    const dfl_problem_limits limits = { .overlapped = true };
    const char *lack = NULL;

    (void)dfl_problems_make(arena, names, m, einsum, &limits, dfl_space_roomy(arena, m, &limits), &lack);
    return lack;
}

bool dfl_problem_slides(const dfl_problem *problem)
{
    bool found = problem->windows;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        found |= problem->operand[o].ranks != problem->operand[o].plain;
    return found;
}

void dfl_problem_divide(dfl_arena *arena, const dfl_problem *problem, dfl_amounts *out)
{
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        out[r] = dfl_divisors(arena, problem->extent[r]);
}

bool dfl_problem_same(const dfl_problem *a, const dfl_problem *b)
{
    dfl_problem x = *a, y = *b;

    x.einsum = y.einsum = 0;
    memset(x.rank, 0, sizeof x.rank);
    memset(y.rank, 0, sizeof y.rank);
    for (uint32_t i = 0; i < DFL_PROBLEM_OPERANDS; i++)
        x.operand[i].tensor = y.operand[i].tensor = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

double dfl_problem_tile(const dfl_problem_operand *o, const int64_t *piece)
{
    double product = 1;

    for (uint32_t d = 0; d < o->n_dims; d++) {
        double of[4];
        for (uint32_t i = 0; i < o->dims[d].n; i++)
            of[i] = (double)piece[o->dims[d].rank[i]];
        product *= dfl_dim_values(&o->dims[d], of);
    }
    return product;
}

uint32_t dfl_space_outermost(const dfl_mapping *m, uint32_t tensor)
{
    uint32_t i = 0;

    while (i + 1 < m->system->n_memories && m->system->memories[i].holds.on &&
           !dfl_selects(&m->system->memories[i].holds, &m->workload->tensors[tensor]))
        i++;
    return i;
}

uint32_t dfl_problem_find_operand(const dfl_problem *problem, uint32_t tensor)
{
    uint32_t o = 0;

    while (o < problem->n_operands && problem->operand[o].tensor != tensor)
        o++;
    return o;
}

uint32_t dfl_problem_find_rank(const dfl_problem *problem, uint32_t rank)
{
    uint32_t r = 0;

    while (r < problem->n_ranks && problem->rank[r] != rank)
        r++;
    return r;
}
