#include "plan/layout/parts.h"

#include "support/number.h"

dfl_chip_part dfl_chip_part_in(const dfl_frame *f, uint32_t rank, uint64_t slots, const int64_t *place)
{
    return dfl_chip_part_of(f, f->workload->ranks[rank].extent, slots, place);
}

dfl_chip_part dfl_chip_part_of(const dfl_frame *f, int64_t extent, uint64_t slots, const int64_t *place)
{
    int64_t nominal = extent;
    dfl_chip_part out = { 0, 1, nominal };

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if ((slots >> s & 1) == 0)
            continue;
        nominal = dfl_ceil_div(nominal, f->slots[s].count);
        if (f->slots[s].is_cyclic) {
            out.first += place[s] * out.step;
            out.n = out.n > place[s] ? dfl_ceil_div(out.n - place[s], f->slots[s].count) : 0;
            out.step *= f->slots[s].count;
            continue;
        }
        out.first += place[s] * nominal * out.step;
        out.n = out.n - place[s] * nominal < nominal ? out.n - place[s] * nominal : nominal;
    }
    return out;
}

dfl_chip_part dfl_chip_parts_common(dfl_chip_part a, dfl_chip_part b)
{
    const int64_t end_a = a.first + a.step * a.n, end_b = b.first + b.step * b.n; /* behind the last value */
    const int64_t end = end_a - a.step < end_b - b.step ? end_a - a.step : end_b - b.step;
    int64_t step = a.step;
    dfl_chip_part out = { a.first, 1, 0 };

    while (step % b.step != 0)
        step += a.step;
    if (b.first > a.first)
        out.first += dfl_ceil_div(b.first - a.first, a.step) * a.step;
    for (int64_t tries = 0; tries < step / a.step && (out.first - b.first) % b.step != 0; tries++)
        out.first += a.step;
    out.step = step;
    if (a.n > 0 && b.n > 0 && out.first <= end && out.first >= b.first && (out.first - b.first) % b.step == 0)
        out.n = (end - out.first) / step + 1;
    return out;
}
