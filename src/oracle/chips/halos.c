#include "oracle/chips/halos.h"

#include <string.h>

#include "oracle/chips/life.h"

/* The place of the elements that a chip gets for a reading from the neighbours before (side 0) or behind (1). */
static size_t place_of(const chips *c, uint32_t reading, uint32_t group, uint32_t side)
{
    return (((size_t)reading * c->n_groups + group) * 2 + side) * c->n_chips;
}

element_set *dfl_chips_open_halos(const chips *c, uint32_t einsum)
{
    const chip_einsum *e = &c->einsums[einsum];
    const uint32_t n = e->einsum->n_inputs * N_READINGS;
    uint64_t any = 0;

    for (uint32_t i = 0; i < n; i++)
        any |= e->reads[i].halo;
    return any != 0 ? DFL_NEW_ARRAY(c->arena, element_set, place_of(c, n, 0, 0) + 1) : NULL;
}

/* The first operand with the same tensor: all accesses of an einsum to a tensor share the messages. */
static uint32_t first_alike(const dfl_einsum *e, uint32_t operand)
{
    for (uint32_t i = 0; i < operand; i++)
        if (e->inputs[i].tensor == e->inputs[operand].tensor)
            return i;
    return operand;
}

/* The mask of groups along which readings of an operand, and of those alike, ask for neighbours. */
static uint64_t halos_of(const chip_einsum *e, uint32_t operand, uint32_t kind)
{
    uint64_t out = 0;

    for (uint32_t i = operand; i < e->einsum->n_inputs; i++)
        if (e->einsum->inputs[i].tensor == e->einsum->inputs[operand].tensor)
            out |= e->reads[i * N_READINGS + kind].halo;
    return out;
}

/* Whether an access of the operand, or of one alike, touches an element in the present visit. */
static bool is_touched(const chips *c, const chip_einsum *e, uint32_t operand, uint32_t kind, uint32_t element)
{
    for (uint32_t i = operand; i < e->einsum->n_inputs; i++)
        if (e->einsum->inputs[i].tensor == e->einsum->inputs[operand].tensor &&
            e->reads[i * N_READINGS + kind].seen[element] == c->visit)
            return true;
    return false;
}

static void miss(const chip_pass *p, uint32_t tensor)
{
    if (p->c->out->missing++ == 0) {
        p->c->out->missing_tensor = tensor;
        p->c->out->missing_einsum = p->einsum;
    }
}

/* Marks an element that a chip lacks. Groups exchange in their order, so that the last one along which the chip lacks it brings
   it: its neighbour has got it from the groups before. What lies further away than a neighbour is missing. */
static void mark_element(const chip_pass *p, uint32_t reading, uint64_t halo, uint32_t chip, uint32_t element, element_set *halos)
{
    const chips *c = p->c;
    const uint32_t tensor = c->einsums[p->einsum].reads[reading].tensor;

    for (uint32_t g = c->n_groups; g-- > 0;) {
        bool is_found = false;

        if ((halo >> g & 1) == 0 || c->tensors[tensor].side[g][chip][element] != 0)
            continue;
        for (uint32_t side = 0; side < 2 && !is_found; side++) {
            const int64_t place = (int64_t)chips_digit(c, chip, g) + (side == 0 ? -1 : 1);
            const bool is_in = place >= 0 && place < c->groups[g].count;
            const uint32_t other = is_in ? dfl_chips_move_chip(c, chip, g, (uint32_t)place) : chip;
            element_set *of = &halos[place_of(c, reading, g, side) + chip];

            if (!is_in || c->tensors[tensor].side[g][other][element] == 0)
                continue;
            if (*of == NULL)
                *of = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[tensor].n_elem + 1);
            (*of)[element] = 1;
            chip = other;
            is_found = true;
        }
        if (!is_found) {
            miss(p, tensor);
            return;
        }
    }
}

void dfl_chips_mark_halos(const chip_pass *p, element_set *halos)
{
    const chips *c = p->c;
    const chip_einsum *e = &c->einsums[p->einsum];

    for (uint32_t i = 0; i < e->einsum->n_inputs && halos != NULL; i++)
        for (uint32_t kind = 0; kind < N_READINGS && first_alike(e->einsum, i) == i; kind++) {
            const uint64_t halo = halos_of(e, i, kind);
            const uint32_t tensor = e->reads[i * N_READINGS + kind].tensor;

            for (uint32_t k = 0; halo != 0 && k < c->tensors[tensor].n_elem; k++)
                if (is_touched(c, e, i, kind, k))
                    mark_element(p, i * N_READINGS + kind, halo, p->chip, k, halos);
        }
}

/* Whether positions of a dimension of a reading (DFL_NONE: of the result) are dealt round-robin among chips: they stand apart. */
static bool is_dealt(const chip_pass *p, uint32_t tensor, uint32_t reading, uint32_t dim)
{
    const chip_einsum *e = &p->c->einsums[p->einsum];
    const dfl_access *a = reading != DFL_NONE ? &e->einsum->inputs[reading / N_READINGS] : &e->einsum->output;
    uint32_t n_dims;

    (void)dfl_chips_shape(p->c, tensor, &n_dims);
    for (uint32_t g = 0; g < p->c->n_groups && dim + a->n_dims >= n_dims; g++) /* the iterations of a carried tensor come first */
        if (e->divides[g] != NULL && (e->divides[g]->cyclic || e->divides[g]->rounds) &&
            dfl_index_coef(&a->index[dim + a->n_dims - n_dims], e->divides[g]->rank) != 0)
            return true;
    return false;
}

/* Elements of the smallest box around a set of elements of a tensor: a message has them all. Positions that are dealt count one
   by one. */
static uint32_t count_box(const chip_pass *p, uint32_t tensor, uint32_t reading, const uint8_t *set)
{
    const chips *c = p->c;
    uint32_t n_dims, box = 1;
    const int64_t *shape;

    if (set == NULL)
        return 0;
    shape = dfl_chips_shape(c, tensor, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++) {
        uint8_t *has = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)shape[d] + 1);
        int64_t least = shape[d], most = -1, n = 0;

        for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
            const int64_t x = set[i] != 0 ? dfl_chips_coordinate(c, tensor, i, d) : -1;

            n += x >= 0 && has[x] == 0;
            has[x >= 0 ? x : shape[d]] = 1;
            least = x >= 0 && x < least ? x : least;
            most = x > most ? x : most;
        }
        box *= is_dealt(p, tensor, reading, d) ? (uint32_t)n : most >= least ? (uint32_t)(most - least + 1) : 0;
    }
    return box;
}

/* Records the message from or to the neighbours of a group on one side, for a reading (DFL_NONE: of the result) with elements of
   `holder`. */
static void record_side(const chip_pass *p, uint32_t tensor, uint32_t holder, uint32_t reading, uint32_t group, uint32_t side,
                        element_set *of_chip)
{
    chips *c = p->c;
    uint32_t most = 0, value = DFL_NONE;

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const uint32_t n = count_box(p, holder, reading, of_chip[chip]);

        if (n > 0 && value == DFL_NONE)
            value = dfl_chips_buffer(c, tensor, p->layer, (const char *)&c->einsums[p->einsum].divides[group] + side);
        if (n > 0)
            c->values.at[value].size[chip] = n;
        most = n > most ? n : most;
    }
    dfl_chips_use_on(c, value, p->stages);
    if (most > 0)
        dfl_chips_record_neighbour(c, tensor, p->einsum, 1 + 2 * group + side,
                                   (dfl_i128)most * c->w->tensors[tensor].type.bits, p->stages);
}

void dfl_chips_record_halos(const chip_pass *p, element_set *halos)
{
    const chips *c = p->c;

    for (uint32_t i = 0; i < c->w->einsums[p->einsum].n_inputs * N_READINGS && halos != NULL; i++)
        for (uint32_t g = 0; g < c->n_groups && c->einsums[p->einsum].reads[i].tensor != DFL_NONE; g++)
            for (uint32_t side = 0; side < 2; side++)
                record_side(p, c->w->einsums[p->einsum].inputs[i / N_READINGS].tensor,
                            c->einsums[p->einsum].reads[i].tensor, i, g, side, &halos[place_of(c, i, g, side)]);
}

/* ---- results ---- */

/* Moves what chips have in a set, but not at home by a group, to the neighbours that have it there. Marks it in `sent`: [side *
   chips + chip]; NULL = it is not noted. */
static void move_beside(const chip_pass *p, uint32_t tensor, uint32_t group, element_set *sets, element_set *sent)
{
    const chips *c = p->c;
    const uint32_t n_elem = c->tensors[tensor].n_elem;
    element_set *const at_home = c->tensors[tensor].side[group];
    element_set *next = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        next[chip] = sets[chip] != NULL ? DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n_elem + 1) : NULL;
        for (uint32_t i = 0; i < n_elem && sets[chip] != NULL; i++)
            next[chip][i] = sets[chip][i] & at_home[chip][i];
    }
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        for (uint32_t i = 0; i < n_elem && sets[chip] != NULL; i++) {
            bool is_taken = sets[chip][i] == 0 || at_home[chip][i] != 0;

            for (uint32_t side = 0; side < 2 && !is_taken; side++) {
                const int64_t place = (int64_t)chips_digit(c, chip, group) + (side == 0 ? -1 : 1);
                const bool is_in = place >= 0 && place < c->groups[group].count;
                const uint32_t other = is_in ? dfl_chips_move_chip(c, chip, group, (uint32_t)place) : chip;

                if (at_home[other][i] == 0 || next[other] == NULL)
                    continue;
                is_taken = true;
                next[other][i] = 1;
                if (sent != NULL && sent[side * c->n_chips + chip] == NULL)
                    sent[side * c->n_chips + chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n_elem + 1);
                if (sent != NULL)
                    sent[side * c->n_chips + chip][i] = 1;
            }
            if (!is_taken)
                miss(p, tensor);
        }
    memcpy(sets, next, c->n_chips * sizeof *sets);
}

void dfl_chips_send_beside(const chip_pass *p, element_set *made)
{
    const chips *c = p->c;
    const uint32_t tensor = c->einsums[p->einsum].target;
    element_set *all = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t chip = 0; chip < c->n_chips && c->einsums[e].target == tensor; chip++) {
            const uint8_t *of_einsum = c->einsums[e].outgoing[chip];

            if (of_einsum == NULL || c->w->einsums[e].body->kind == DFL_EOP_CONST)
                continue;
            if (all[chip] == NULL)
                all[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[tensor].n_elem + 1);
            for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++)
                all[chip][i] |= of_einsum[i];
        }
    for (uint32_t g = c->n_groups; g-- > 0;) { /* corners pass on through the groups before */
        element_set *sent = DFL_NEW_ARRAY(c->arena, element_set, 2 * (size_t)c->n_chips + 1);

        if ((c->tensors[tensor].beside >> g & 1) == 0 || c->tensors[tensor].side[g] == NULL)
            continue;
        move_beside(p, tensor, g, all, sent);
        for (uint32_t side = 0; side < 2; side++)
            record_side(p, c->w->einsums[p->einsum].output.tensor, tensor, DFL_NONE, g, side, &sent[side * c->n_chips]);
        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            if (c->einsums[e].target == tensor)
                move_beside(p, tensor, g, c->einsums[e].latest, NULL);
        move_beside(p, tensor, g, made, NULL);
    }
}
