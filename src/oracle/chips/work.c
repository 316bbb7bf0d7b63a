#include "oracle/chips/work.h"

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

void dfl_chips_count_work(const chips *c, uint32_t einsum, const uint8_t *made, uint64_t points, dfl_chips_work *most)
{
    const chip_einsum *e = &c->einsums[einsum];
    const dfl_i128 n_made = (dfl_i128)dfl_chips_count_set(made, c->tensors[e->target].n_elem);

    most->points = (dfl_i128)points > most->points ? (dfl_i128)points : most->points;
    most->made = n_made > most->made ? n_made : most->made;
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
        const dfl_i128 n = (dfl_i128)e->reads[i * N_READINGS].n_seen + e->reads[i * N_READINGS + READING_CARRIED].n_seen;

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
