#include "plan/layout/touched.h"

#include <string.h>

/* Makes all steps positive, leaves out strides of one summand, and puts the smallest step first. Adds what the negative ones
   reach to `base`. Returns the number of strides. */
static uint32_t sort_strides(dfl_stride *s, uint32_t n, dfl_i128 *base)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        dfl_stride x = s[i];
        uint32_t at = kept;

        if (x.n <= 1 || x.step == 0)
            continue;
        if (x.step < 0) {
            *base += (dfl_i128)x.step * (x.n - 1);
            x.step = -x.step;
        }
        for (; at > 0 && s[at - 1].step > x.step; at--)
            s[at] = s[at - 1];
        s[at] = x;
        kept++;
    }
    return kept;
}

/* The sums of a row that lie in low .. high. */
static int64_t count_row(dfl_touched_row r, dfl_i128 low, dfl_i128 high)
{
    const dfl_i128 first = r.first < low ? (low - r.first + r.gap - 1) / r.gap : 0;
    const dfl_i128 end = high < r.first ? 0 : (high - r.first) / r.gap + 1;
    const dfl_i128 last = end < r.n ? end : r.n;

    return last > first ? (int64_t)(last - first) : 0;
}

/* Counts sums one by one, in units of what divides all steps. `span`: the distance between their ends. */
static bool count_listed(dfl_arena *arena, dfl_i128 base, dfl_stride *s, uint32_t n, dfl_i128 span, int64_t low, int64_t high,
                         int64_t *out)
{
    int64_t unit = 0;
    uint8_t *has;

    for (uint32_t i = 0; i < n; i++)
        unit = dfl_gcd(unit, s[i].step);
    for (uint32_t i = 0; i < n; i++)
        s[i].step /= unit;
    span /= unit;
    if (span > DFL_TOUCHED_SPAN)
        return false;
    has = DFL_NEW_ARRAY(arena, uint8_t, (size_t)span + 1);
    has[0] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (int64_t joined = 1; joined < s[i].n; joined *= 2) { /* the first `joined` summands are there */
            const int64_t more = joined < s[i].n - joined ? joined : s[i].n - joined;

            for (int64_t at = (int64_t)span; at >= more * s[i].step; at--)
                has[at] |= has[at - more * s[i].step];
        }
    *out = 0;
    for (int64_t at = 0; at <= (int64_t)span; at++)
        *out += has[at] != 0 && base + (dfl_i128)unit * at >= low && base + (dfl_i128)unit * at <= high;
    return true;
}

/* Adds a stride to sums: whether they stay in one row. */
static bool join(dfl_touched_row *row, dfl_stride x)
{
    if (row->n == 1)
        *row = (dfl_touched_row){ row->first, x.step, x.n };
    else if (x.step % row->gap == 0 && x.step / row->gap <= row->n)
        row->n += (x.n - 1) * (x.step / row->gap);
    else
        return false;
    return true;
}

bool dfl_touched_row_of(dfl_i128 base, dfl_stride *strides, uint32_t n, dfl_touched_row *out)
{
    bool is_row = true;

    *out = (dfl_touched_row){ base, 1, 1 };
    n = sort_strides(strides, n, &out->first);
    for (uint32_t i = 0; i < n && is_row; i++)
        is_row = join(out, strides[i]);
    return is_row;
}

bool dfl_touched_count(dfl_arena *arena, int64_t base, dfl_stride *strides, uint32_t n, int64_t low, int64_t high, int64_t *out)
{
    dfl_touched_row row = { base, 1, 1 };
    dfl_i128 span = 0, all = 1;
    bool is_row = true, is_apart = true;

    n = sort_strides(strides, n, &row.first);
    for (uint32_t i = 0; i < n; i++) {
        const dfl_stride x = strides[i];

        is_row = is_row && join(&row, x);
        is_apart &= x.step > span;
        span += (dfl_i128)x.step * (x.n - 1);
        all = is_row ? row.n : all * x.n;
    }
    if (is_row) {
        *out = count_row(row, low, high);
        return true;
    }
    if (is_apart && row.first >= low && row.first + span <= high && all <= INT64_MAX) {
        *out = (int64_t)all;
        return true;
    }
    return count_listed(arena, row.first, strides, n, span, low, high, out);
}
