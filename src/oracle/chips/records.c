/* Records of the exchanges that the execution made: kind, group, bits, and how many times each ran on each stage in a step. */
#include <string.h>

#include "oracle/chips/chips_internal.h"
#include "oracle/chips/life.h"
#include "oracle/chips/rows.h"
#include "oracle/chips/windows.h"

static int64_t size_of_group(const chips *c, uint64_t groups)
{
    int64_t n = 1;

    for (uint32_t g = 0; g < c->n_groups; g++)
        n *= (groups >> g & 1) != 0 ? c->groups[g].count : 1;
    return n;
}

/* Records an exchange of a pass; `stages` = those that run it now, 0 = it runs later. Returns its record; NULL = it moves
   nothing. */
static dfl_chips_exchange *record_side(chips *c, const char *kind, uint32_t tensor, uint32_t einsum, int64_t group, uint32_t side,
                                       dfl_i128 bits, uint64_t stages)
{
    dfl_chips_exchange *x = NULL;

    if (bits == 0) /* no chip needs anything */
        return NULL;
    for (size_t i = 0; i < c->exchanges.n && x == NULL; i++) {
        dfl_chips_exchange *is = &c->exchanges.at[i];

        x = is->tensor == tensor && is->einsum == einsum && is->group == group && is->side == side &&
                    strcmp(is->kind, kind) == 0 ? is : NULL;
    }
    if (x == NULL) {
        DFL_PUSH(c->arena, &c->exchanges, ((dfl_chips_exchange){ .kind = kind, .tensor = tensor, .einsum = einsum, .group = group,
                                                                 .side = side, .part = -1 }));
        x = &c->exchanges.at[c->exchanges.n - 1];
        x->count = DFL_NEW_ARRAY(c->arena, dfl_i128, c->n_stages);
        x->received = DFL_NEW_ARRAY(c->arena, dfl_i128, c->n_stages);
    }
    x->bits = bits > x->bits ? bits : x->bits;
    x->all_bits += stages != 0 ? bits : 0;
    for (uint32_t s = 0; s < c->n_stages; s++)
        x->count[s] += (stages >> s & 1) != 0;
    return x;
}

static void record(chips *c, const char *kind, uint32_t tensor, uint32_t einsum, int64_t group, dfl_i128 bits,
                   uint64_t stages)
{
    (void)record_side(c, kind, tensor, einsum, group, 0, bits, stages);
}

/* The same, with the most bits that one chip gets from one other chip; if it gets none, nothing moves. */
static void record_parts(chips *c, const char *kind, uint32_t tensor, uint32_t einsum, int64_t group, dfl_i128 bits,
                         dfl_i128 part, uint64_t stages)
{
    dfl_chips_exchange *x = part > 0 ? record_side(c, kind, tensor, einsum, group, 0, bits, stages) : NULL;

    if (x != NULL)
        x->part = part > x->part ? part : x->part;
}

void dfl_chips_record_neighbour(chips *c, uint32_t tensor, uint32_t einsum, uint32_t side, dfl_i128 bits, uint64_t stages)
{
    (void)record_side(c, "point_to_point", tensor, einsum, 2, side, bits, stages);
}

static dfl_i128 bits_of(const chips *c, uint32_t tensor, uint64_t elements)
{
    return (dfl_i128)elements * c->w->tensors[tensor].type.bits;
}

void dfl_chips_record_message(chips *c, uint32_t tensor, dfl_i128 bits, uint32_t from, uint32_t to)
{
    dfl_chips_exchange *x = record_side(c, "point_to_point", tensor, c->w->tensors[tensor].producers[0], 2, 0, bits,
                                        UINT64_C(1) << from);

    if (x != NULL)
        x->received[to]++;
}

/* ---- operands ---- */

bool dfl_chips_is_one_value(const chips *c, const dfl_index *index)
{
    for (uint32_t k = 0; k < index->n_terms; k++)
        if (!c->repeats[index->terms[k].rank])
            return false;
    return true;
}

static bool is_same_sum(const dfl_index *a, const dfl_index *b)
{
    bool same = a->n_terms == b->n_terms && a->offset == b->offset;

    for (uint32_t k = 0; same && k < a->n_terms; k++)
        same = a->terms[k].rank == b->terms[k].rank && a->terms[k].coef == b->terms[k].coef;
    return same;
}

/* Whether two einsums may read different elements in a pass although their lines divide the tensor alike: by conditions, or by
   single elements along a dimension. */
static bool reads_apart(const chips *c, const chip_copy *x, uint32_t einsum, const dfl_access *access)
{
    const dfl_einsum *a = &c->w->einsums[x->einsum], *b = &c->w->einsums[einsum];
    bool apart = a->n_where != b->n_where;

    for (uint32_t k = 0; !apart && k < a->n_where; k++)
        apart = !is_same_sum(&a->where[k].sum, &b->where[k].sum);
    for (uint32_t d = 0; !apart && d < access->n_dims && d < x->access->n_dims; d++)
        apart = (dfl_chips_is_one_value(c, &access->index[d]) || dfl_chips_is_one_value(c, &x->access->index[d])) &&
                !is_same_sum(&access->index[d], &x->access->index[d]);
    return apart;
}

/* Whether exchanges bring the same elements to a chip for two readings of a tensor: those that messages of neighbours do not. A
   chip without points in one of them takes part in its exchange and keeps nothing. */
static bool brings_same(const chips *c, const chip_reading *a, const chip_reading *b, uint32_t chip)
{
    if (dfl_chips_is_empty(c, a->tensor, a->of_chip[chip]) || dfl_chips_is_empty(c, b->tensor, b->of_chip[chip]))
        return true;
    for (uint32_t i = 0; i < c->tensors[a->tensor].n_elem; i++)
        if ((a->of_chip[chip][i] != 0 && dfl_chips_is_within(c, a->tensor, chip, i, a->halo)) !=
            (b->of_chip[chip][i] != 0 && dfl_chips_is_within(c, b->tensor, chip, i, b->halo)))
            return false;
    return true;
}

/* What an exchange of this pass has already brought: the same sets to the same stages. A new one with `is_new`. */
static chip_copy *find_copy(chips *c, const chip_pass *p, const dfl_access *access, const chip_reading *r,
                             bool *is_new)
{
    const dfl_phase phase = c->w->einsums[p->einsum].phase;

    for (size_t i = 0; i < c->copies.n; i++) {
        chip_copy *x = &c->copies.at[i];
        bool is_same = x->phase == phase && x->reading->tensor == r->tensor && (x->layer < 0 || x->layer == p->layer) &&
                       (p->stages & ~x->stages) == 0 && !reads_apart(c, x, p->einsum, access) &&
                       x->reading->to_rows == r->to_rows && x->reading->is_joint == r->is_joint;

        for (uint32_t g = 0; g < c->n_groups && is_same; g++) /* chips without points do not show what an access asks for */
            is_same = dfl_chips_asks_for_parts(c, x->einsum, x->access, g) == dfl_chips_asks_for_parts(c, p->einsum, access, g);
        for (uint32_t chip = 0; chip < c->n_chips && is_same; chip++)
            is_same = brings_same(c, x->reading, r, chip);
        if (is_same)
            return x;
    }
    *is_new = true;
    DFL_PUSH(c->arena, &c->copies, ((chip_copy){ r, p->einsum, access, phase, p->layer, p->stages,
                                                 { DFL_NONE, DFL_NONE, DFL_NONE } }));
    return &c->copies.at[c->copies.n - 1];
}

/* The most that a chip touched of an operand. */
static touched_counts find_most(const chips *c, const touched_counts *counts, uint32_t reading, uint32_t n)
{
    touched_counts most = { 0 };

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const touched_counts *x = &counts[(size_t)chip * n + reading];

        most.seen = x->seen > most.seen ? x->seen : most.seen;
        most.part = x->part > most.part ? x->part : most.part;
        most.own = x->own > most.own ? x->own : most.own;
        most.sent = x->sent > most.sent ? x->sent : most.sent;
        most.gathered = x->gathered > most.gathered ? x->gathered : most.gathered;
    }
    return most;
}

/* Whether a broadcast brings what the points of all chips read, before they go to rows. */
static bool is_joint_broadcast(const chip_reading *r) { return r->is_joint && (r->all & ~r->one) == 0; }

/* Whether what goes across lies by the rows of a table: other data would move some of it, too, if these move nothing. */
static bool goes_by_data(const chips *c, const chip_reading *r) { return (c->tensors[r->tensor].by_rows & r->other) != 0; }

/* Opens the buffers of an exchange: what is brought across, and all that an einsum reads. */
static void open_buffers(const chip_pass *p, chip_copy *copy, uint32_t tensor, const touched_counts *counts,
                         const touched_counts *most, uint32_t reading, uint32_t n)
{
    chips *c = p->c;
    const chip_reading *r = copy->reading;

    copy->values[0] = r->other != 0 && (most->sent > 0 || goes_by_data(c, r)) ? dfl_chips_buffer(c, tensor, p->layer, &r->other)
                                                                              : DFL_NONE;
    copy->values[1] = (r->all & ~r->one) != 0 && most->gathered > 0 ? dfl_chips_buffer(c, tensor, p->layer, &r->all) : DFL_NONE;
    copy->values[2] = r->one != 0 ? dfl_chips_buffer(c, tensor, p->layer, &r->one) : DFL_NONE;
    copy->values[3] = r->to_rows != 0 ? dfl_chips_buffer(c, tensor, p->layer, &r->to_rows) : DFL_NONE;
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const touched_counts *x = &counts[(size_t)chip * n + reading];

        if (copy->values[0] != DFL_NONE)
            c->values.at[copy->values[0]].size[chip] = x->own;
        if (copy->values[1] != DFL_NONE)
            c->values.at[copy->values[1]].size[chip] =
                r->is_joint ? dfl_chips_joint_of(c, p->einsum, reading, chip) : x->seen;
        if (copy->values[2] != DFL_NONE)
            c->values.at[copy->values[2]].size[chip] =
                is_joint_broadcast(r) ? dfl_chips_joint_of(c, p->einsum, reading, chip) : x->part;
        if (copy->values[3] != DFL_NONE)
            c->values.at[copy->values[3]].size[chip] = dfl_chips_pairs_of(c, p->einsum, reading, chip);
    }
}

void dfl_chips_record_operands(chip_pass *p, const touched_counts *counts)
{
    chips *c = p->c;
    const dfl_einsum *e = &c->w->einsums[p->einsum];
    const uint32_t n = e->n_inputs * N_READINGS;

    for (uint32_t i = 0; i < n; i++) {
        const chip_reading *r = &c->einsums[p->einsum].reads[i];
        const touched_counts most = find_most(c, counts, i, n);
        const uint32_t tensor = e->inputs[i / N_READINGS].tensor;
        bool is_read = r->tensor != DFL_NONE && (p->layer < 0 || dfl_chips_carried(c, p->einsum, tensor) == DFL_NONE);

        if (r->tensor != DFL_NONE && !is_read) /* the first layer reads one tensor, and the others another one */
            is_read = dfl_chips_is_carried(c, p->einsum, &e->inputs[i / N_READINGS]) == (i % N_READINGS == READING_CARRIED);
        for (uint32_t k = 0; k < i / N_READINGS && is_read; k++) /* the exchange of the first one brings all */
            is_read = !dfl_chips_is_alike(&e->inputs[k], &e->inputs[i / N_READINGS]);
        if (!is_read || r->by_rows || (r->other | r->all | r->to_rows) == 0)
            continue;
        bool is_new = false;
        chip_copy *copy = find_copy(c, p, &e->inputs[i / N_READINGS], r, &is_new);
        if (is_new)
            open_buffers(p, copy, tensor, counts, &most, i, n);
        for (uint32_t k = 0; k < N_BUFFERS; k++)
            dfl_chips_use_on(c, copy->values[k], p->stages);
        if (!is_new)
            continue;
        if (r->to_rows != 0)
            record(c, "all_to_all", tensor, p->einsum, size_of_group(c, r->to_rows),
                   bits_of(c, tensor, dfl_chips_most_pairs(c, p->einsum, i)), p->stages);
        if (goes_by_data(c, r))
            record(c, "all_to_all", tensor, p->einsum, size_of_group(c, r->other), bits_of(c, tensor, most.own), p->stages);
        else if (r->other != 0) /* what is gathered comes behind */
            record_parts(c, "all_to_all", tensor, p->einsum, size_of_group(c, r->other), bits_of(c, tensor, most.own),
                         bits_of(c, tensor, most.sent), p->stages);
        if (r->one != 0)
            record(c, "broadcast", tensor, p->einsum, size_of_group(c, r->one),
                   bits_of(c, tensor, is_joint_broadcast(r) ? dfl_chips_most_joint(c, p->einsum, i) : most.part), p->stages);
        if ((r->all & ~r->one) != 0)
            record_parts(c, "all_gather", tensor, p->einsum, size_of_group(c, r->all & ~r->one),
                         bits_of(c, tensor, r->is_joint ? dfl_chips_most_joint(c, p->einsum, i) : most.seen),
                         bits_of(c, tensor, most.gathered), p->stages);
    }
}

void dfl_chips_record_rows(chip_pass *p, uint64_t made)
{
    chips *c = p->c;
    const dfl_einsum *e = &c->w->einsums[p->einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const chip_reading *r = &c->einsums[p->einsum].reads[i * N_READINGS];

        uint64_t divided = 0;

        for (uint32_t g = 0; g < c->n_groups; g++)
            divided |= (uint64_t)chips_is_divided(&c->einsums[p->einsum], g) << g;
        if (r->by_rows && ((r->other | r->all) & divided) != 0) /* each chip has the points of its own */
            record(c, "all_to_all", e->output.tensor, p->einsum, size_of_group(c, (r->other | r->all) & divided),
                   bits_of(c, e->output.tensor, made), p->stages);
        if (r->by_rows && ((r->other | r->all) & ~divided) != 0)
            record(c, "all_gather", e->output.tensor, p->einsum, size_of_group(c, (r->other | r->all) & ~divided),
                   bits_of(c, e->output.tensor, made), p->stages);
    }
}

/* ---- results ---- */

/* Elements of those that a chip has made in the pass which lie within its part by the groups of a mask. What lies outside is of
   use to no chip of its group: others have made it, too. */
static uint64_t count_within(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *made, uint64_t groups)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++)
        n += made[i] != 0 && dfl_chips_is_within(c, tensor, chip, i, groups);
    return n;
}

bool dfl_chips_has_conditions(const chips *c, uint32_t tensor)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->einsums[e].target == tensor && c->einsums[e].is_thinned)
            return true;
    return false;
}

/* Whether chips that make parts of a sum with the einsums of `only` (NULL: any) may make different elements of it: by conditions,
   as rows that data select, or of the points that have gone to the rows of a chip. */
static bool is_thin(const chips *c, uint32_t tensor, const bool *only)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->einsums[e].target == tensor && (only == NULL || only[e]) &&
            (c->einsums[e].is_thinned || (c->einsums[e].rows != 0 && c->w->einsums[e].phase != DFL_PHASE_UPDATE)))
            return true;
    return dfl_chips_has_rows_alone(c, tensor);
}

/* Whether an einsum that makes a tensor made an element on a chip in its latest pass, one of `only` (NULL: any). Zeros before a
   sum move nothing. */
static bool has_made(const chips *c, uint32_t tensor, uint32_t chip, uint32_t element, const bool *only)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        const element_set *latest = c->einsums[e].latest;

        if (c->einsums[e].target == tensor && (only == NULL || only[e]) &&
            c->w->einsums[e].body->kind != DFL_EOP_CONST && latest[chip] != NULL && latest[chip][element] != 0)
            return true;
    }
    return false;
}

/* Whether the chips of a group that gathers the result have made different elements with an einsum. */
static bool makes_own(const chips *c, uint32_t einsum, uint64_t gathered)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((gathered >> g & 1) != 0 && dfl_chips_varies(c, c->einsums[einsum].target, c->einsums[einsum].made.of_chip, g))
            return true;
    return false;
}

/* Whether a chip at the same places of the gathered groups as `chip` has made an element with an einsum in its latest pass. */
static bool sends_later(const chips *c, uint32_t einsum, uint32_t chip, uint32_t element, uint64_t gathered)
{
    for (uint32_t other = 0; other < c->n_chips; other++) {
        bool is_in = c->einsums[einsum].latest[other] != NULL && c->einsums[einsum].latest[other][element] != 0 &&
                     chips_stage(c, other) == chips_stage(c, chip);

        for (uint32_t g = 0; g < c->n_groups && is_in; g++)
            is_in = (gathered >> g & 1) == 0 || chips_digit(c, other, g) == chips_digit(c, chip, g);
        if (is_in)
            return true;
    }
    return false;
}

/* Whether a chip sums an element: of those that the groups which gather the result bring behind it, it sums what it sends. */
static bool sums_own(const chips *c, uint32_t tensor, uint32_t chip, uint32_t element)
{
    const uint64_t gathered = c->tensors[tensor].gathered;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->einsums[e].target == tensor && makes_own(c, e, gathered) && !sends_later(c, e, chip, element, gathered) &&
            sends_later(c, e, chip, element, 0))
            return false;
    return true;
}

/* Elements that a chip needs within its part by the groups of a mask, and that it or another chip of the groups of `summed` has
   made with the einsums of `only` (NULL: with any): conditions may leave each of them others. */
static uint64_t count_sums(const chips *c, uint32_t tensor, uint32_t chip, uint64_t summed, uint64_t groups, const bool *only)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
        bool is_in = false;

        for (uint32_t other = 0; other < c->n_chips && !is_in && dfl_chips_is_within(c, tensor, chip, i, groups); other++) {
            is_in = has_made(c, tensor, other, i, only);
            for (uint32_t g = 0; g < c->n_groups && is_in; g++)
                is_in = (summed >> g & 1) != 0 || chips_digit(c, other, g) == chips_digit(c, chip, g);
        }
        n += is_in && (only == NULL || sums_own(c, tensor, chip, i));
    }
    return n;
}

/* Whether a chip of a group has made an element, by the einsums of `only` (NULL: by any), within its part of the `scattered`
   groups. A chip has there what those of the `summed` groups have made. */
static bool is_made_in(const chips *c, uint32_t tensor, uint32_t chip, uint32_t element, element_set *made, uint64_t gathered,
                       uint64_t summed, uint64_t scattered, const bool *only)
{
    for (uint32_t other = 0; other < c->n_chips; other++) {
        bool is_in = made[other] != NULL && has_made(c, tensor, other, element, only);
        uint32_t at = other; /* the chip with its sums */

        for (uint32_t g = 0; g < c->n_groups && is_in; g++)
            if ((summed >> g & 1) != 0)
                at = dfl_chips_move_chip(c, at, g, chips_digit(c, chip, g));
        for (uint32_t g = 0; g < c->n_groups && is_in; g++)
            is_in = (gathered >> g & 1) != 0 || chips_digit(c, at, g) == chips_digit(c, chip, g);
        if (is_in && dfl_chips_is_within(c, tensor, at, element, scattered))
            return true;
    }
    return false;
}

/* Elements that the chips of a group have made together, by all einsums of `only` that make them on some chip (NULL: by any).
   Each adds to the sum. */
static uint64_t count_together(const chips *c, uint32_t tensor, uint32_t chip, element_set *made, uint64_t gathered,
                               uint64_t scattered, const bool *only)
{
    const uint64_t summed = is_thin(c, tensor, only) ? c->tensors[tensor].summed & ~gathered : 0;
    bool *one = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_einsums + 1);
    uint64_t n = 0;

    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
        bool is_in = is_made_in(c, tensor, chip, i, made, gathered, summed, scattered, only);

        for (uint32_t e = 0; e < c->w->n_einsums && is_in && only != NULL; e++) {
            one[e] = true;
            is_in = !only[e] || is_made_in(c, tensor, chip, i, made, gathered, summed, scattered, one) ||
                    !is_made_in(c, tensor, chip, i, made, gathered | c->tensors[tensor].gathered, summed, scattered, one);
            one[e] = false;
        }
        n += is_in;
    }
    return n;
}

/* Elements that a chip has made within its part by the groups of a mask; with conditions, and on a chip without points, those
   that some chip of the sum has made with the einsums of `only`: all have the same buffer, and any of them may be the home. */
static uint64_t count_made(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *made, uint64_t groups, const bool *only)
{
    return is_thin(c, tensor, only) || dfl_chips_is_empty(c, tensor, made)
               ? count_sums(c, tensor, chip, c->tensors[tensor].summed, groups, only)
               : count_within(c, tensor, chip, made, groups);
}

/* Elements of the home of a chip that the chips which divide the rows have made in the pass. */
static uint64_t count_across(const chips *c, uint32_t tensor, uint32_t chip, element_set *made)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
        bool is_in = false;

        for (uint32_t other = 0; other < c->n_chips && !is_in && c->tensors[tensor].home[chip][i] != 0; other++) {
            is_in = made[other] != NULL && made[other][i] != 0;
            for (uint32_t g = 0; g < c->n_groups && is_in; g++)
                is_in = (c->tensors[tensor].across >> g & 1) != 0 || chips_digit(c, other, g) == chips_digit(c, chip, g);
        }
        n += is_in;
    }
    return n;
}

/* Whether the chips of some of the groups make parts of the sums of an einsum. */
static bool leaves_parts(const chips *c, uint32_t einsum, uint64_t groups)
{
    for (uint32_t g = 0; g < c->n_groups && c->w->einsums[einsum].body->kind != DFL_EOP_CONST; g++)
        if ((groups >> g & 1) != 0 && dfl_chips_makes_parts(c, einsum, g))
            return true;
    return false;
}

/* The elements of which each chip has made a part of the sum over some groups, with any einsum; of those that are gathered
   behind, the ones that it sends then. `made`: by the last einsum alone, for results that are no sums. */
static element_set *find_parts(const chips *c, uint32_t tensor, element_set *made, uint64_t groups)
{
    const chip_tensor *t = &c->tensors[tensor];
    element_set *out = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        out[chip] = made[chip];
        if (groups == 0 || made[chip] == NULL || t->is_tied) /* the first stage sends what the last one has made, too */
            continue;
        out[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)t->n_elem + 1);
        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            for (uint32_t i = 0; c->einsums[e].target == tensor && i < t->n_elem && leaves_parts(c, e, groups); i++)
                out[chip][i] |= c->einsums[e].latest[chip] != NULL && c->einsums[e].latest[chip][i] != 0;
        for (uint32_t i = 0; i < t->n_elem; i++)
            out[chip][i] &= sums_own(c, tensor, chip, i);
    }
    return out;
}

/* The einsums that make parts of a sum over some groups; NULL = any, as in find_parts(). */
static const bool *find_adders(const chips *c, uint32_t tensor, uint64_t groups)
{
    bool *out = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_einsums + 1);

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        out[e] = c->einsums[e].target == tensor && leaves_parts(c, e, groups);
    return groups == 0 || c->tensors[tensor].is_tied ? NULL : out;
}

/* Opens the buffer of the parts of a sum that are sent: all that each chip has made. */
static void open_parts(const chip_pass *p, uint32_t tensor, element_set *made, const bool *adders)
{
    chips *c = p->c;
    const uint32_t value = dfl_chips_buffer(c, tensor, p->layer, &c->einsums[p->einsum]);

    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        if (made[chip] != NULL)
            c->values.at[value].size[chip] = (uint32_t)count_made(c, tensor, chip, made[chip], ~c->tensors[tensor].summed,
                                                                       adders);
    dfl_chips_use_on(c, value, p->stages);
}

/* The einsums with which chips of a group that gathers a result have made different elements: each sends its own. */
static bool *find_own(const chips *c, uint32_t tensor, uint64_t gathered)
{
    bool *out = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_einsums + 1);

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        out[e] = c->einsums[e].target == tensor && makes_own(c, e, gathered);
    return out;
}

void dfl_chips_record_result(const chip_pass *p, element_set *made, bool is_last)
{
    chips *c = p->c;
    const uint32_t tensor = c->einsums[p->einsum].target;
    const chip_tensor *t = &c->tensors[tensor];
    const uint64_t tied = UINT64_C(1) | UINT64_C(1) << (c->n_stages - 1);
    const uint64_t once = dfl_chips_ends_late(c, tensor) && !is_last ? 0 : t->is_tied ? tied : p->stages;
    const uint64_t now = t->scattered & ~t->late, late = t->scattered & t->late, whole = t->summed & ~t->scattered & ~t->back;
    const uint64_t back = t->back;
    element_set *const parts[3] = { find_parts(c, tensor, made, now), find_parts(c, tensor, made, late),
                                    find_parts(c, tensor, made, whole) };
    const bool *adders[3] = { find_adders(c, tensor, now), find_adders(c, tensor, late), find_adders(c, tensor, whole) };
    const bool *own_makers = find_own(c, tensor, t->gathered);
    uint64_t n[4] = { 0 }, sent[4] = { 0 }, across = 0;

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const uint64_t own = ~t->summed, masks[3] = { own | back, own | back | now, own | back | t->scattered };

        if (made[chip] == NULL)
            continue;
        for (uint32_t k = 0; k < 3; k++) {
            const uint64_t of = count_made(c, tensor, chip, parts[k][chip], masks[k], adders[k]);
            n[k] = of > n[k] ? of : n[k];
            const uint64_t at_home =
                k < 2 ? count_made(c, tensor, chip, parts[k][chip], masks[k] | (k == 0 ? now : late), adders[k]) : 0;
            sent[k] = at_home > sent[k] ? at_home : sent[k];
        }
        const uint64_t all =
            t->gathered != 0 ? count_together(c, tensor, chip, made, t->gathered, t->scattered | own, own_makers) : 0;
        const uint64_t own_part =
            t->gathered != 0 ? count_together(c, tensor, chip, made, 0, t->scattered | own, own_makers) : 0;
        n[3] = all > n[3] ? all : n[3];
        sent[3] = own_part > sent[3] ? own_part : sent[3];
    }
    if (back != 0)
        record(c, "all_to_all", tensor, p->einsum, size_of_group(c, back),
               bits_of(c, tensor, dfl_chips_most_pairs(c, p->einsum, c->w->einsums[p->einsum].n_inputs * N_READINGS)),
               p->stages);
    for (uint32_t chip = 0; chip < c->n_chips && t->across != 0; chip++) {
        const uint64_t of = count_across(c, tensor, chip, made);
        across = of > across ? of : across;
    }
    if (now != 0)
        open_parts(p, tensor, parts[0], adders[0]);
    if (now != 0)
        record_parts(c, "reduce_scatter", tensor, p->einsum, size_of_group(c, now), bits_of(c, tensor, n[0]),
                     bits_of(c, tensor, sent[0]), t->is_tied ? tied : p->stages);
    if (late != 0)
        record_parts(c, "reduce_scatter", tensor, p->einsum, size_of_group(c, late), bits_of(c, tensor, n[1]),
                     bits_of(c, tensor, sent[1]), once);
    if (whole != 0)
        record(c, "all_reduce", tensor, p->einsum, size_of_group(c, whole), bits_of(c, tensor, n[2]), once);
    if (t->is_tied && is_last)
        record(c, "all_reduce", tensor, p->einsum, 2, bits_of(c, tensor, n[2]), tied);
    if (t->across != 0)
        record(c, "all_to_all", tensor, p->einsum, size_of_group(c, t->across), bits_of(c, tensor, across), once);
    if (t->gathered != 0)
        record_parts(c, "all_gather", tensor, p->einsum, size_of_group(c, t->gathered), bits_of(c, tensor, n[3]),
                     bits_of(c, tensor, sent[3]), once);
}
