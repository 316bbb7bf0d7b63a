#include "oracle/chips/work.h"

#include "oracle/chips/windows.h"

uint64_t dfl_chips_count_set(const uint8_t *set, uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += set[i] != 0;
    return sum;
}

/* Iterations of the repeat of an einsum; 1 without a repeat. */
static int64_t count_iterations(const chips *c, uint32_t einsum)
{
    return c->einsums[einsum].repeat != DFL_NONE ? c->w->ranks[c->einsums[einsum].repeat].extent : 1;
}

void dfl_chips_start_work(chips *c)
{
    c->work = DFL_NEW_ARRAY(c->arena, dfl_chips_work *, (size_t)c->w->n_einsums + 1);
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        c->work[e] = DFL_NEW_ARRAY(c->arena, dfl_chips_work, (size_t)count_iterations(c, e));
}

/* Elements that a chip touches in the present visit by a reading and by the later ones that differ from it by offsets alone; 0
   if an earlier one counts them. */
static uint64_t count_together(const chips *c, const chip_einsum *e, uint32_t input, uint32_t kind)
{
    const chip_reading *first = &e->reads[input * N_READINGS + kind];
    uint64_t n = 0;

    for (uint32_t i = 0; i < input; i++)
        if (dfl_chips_is_alike(&e->einsum->inputs[i], &e->einsum->inputs[input]))
            return 0;
    for (uint32_t k = 0; first->tensor != DFL_NONE && k < c->tensors[first->tensor].n_elem; k++) {
        bool is_in = false;

        for (uint32_t i = input; i < e->einsum->n_inputs && !is_in; i++) {
            const chip_reading *r = &e->reads[i * N_READINGS + kind];

            is_in = (i == input || dfl_chips_is_alike(&e->einsum->inputs[input], &e->einsum->inputs[i])) &&
                    r->tensor == first->tensor && r->seen[k] == c->visit;
        }
        n += is_in;
    }
    return n;
}

void dfl_chips_count_work(const chips *c, uint32_t einsum, const uint8_t *made, uint64_t points, dfl_chips_work *most)
{
    const chip_einsum *e = &c->einsums[einsum];
    const dfl_i128 n_made = (dfl_i128)dfl_chips_count_set(made, c->tensors[e->target].n_elem);

    most->points = (dfl_i128)points > most->points ? (dfl_i128)points : most->points;
    most->made = n_made > most->made ? n_made : most->made;
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
        const dfl_i128 n = (dfl_i128)count_together(c, e, i, 0) + count_together(c, e, i, READING_CARRIED);

        most->read[i] = n > most->read[i] ? n : most->read[i];
    }
}

void dfl_chips_add_work(chips *c, uint32_t einsum, int64_t layer, const dfl_chips_work *most)
{
    const uint32_t n = c->w->einsums[einsum].n_inputs;
    dfl_chips_work *of = &c->work[einsum][layer < 0 ? 0 : layer];

    if (of->read == NULL)
        of->read = DFL_NEW_ARRAY(c->arena, dfl_i128, (size_t)n + 1);
    of->points = most->points > of->points ? most->points : of->points;
    of->made = most->made > of->made ? most->made : of->made;
    for (uint32_t i = 0; i < n; i++)
        of->read[i] = most->read[i] > of->read[i] ? most->read[i] : of->read[i];
}

void dfl_chips_sum_work(chips *c)
{
    c->out->work = DFL_NEW_ARRAY(c->arena, dfl_chips_work, (size_t)c->w->n_einsums + 1);
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        dfl_chips_work *out = &c->out->work[e];
        const int64_t layers = count_iterations(c, e);

        out->read = DFL_NEW_ARRAY(c->arena, dfl_i128, (size_t)c->w->einsums[e].n_inputs + 1);
        for (int64_t k = 0; k < layers; k++) {
            out->points += c->work[e][k].points;
            out->made += c->work[e][k].made;
            for (uint32_t i = 0; i < c->w->einsums[e].n_inputs && c->work[e][k].read != NULL; i++)
                out->read[i] += c->work[e][k].read[i];
        }
    }
}
