#include "ir/path/windows.h"

/* Whether an index over whole ranks takes every value between its minimum and its maximum. `slides` (DFL_NONE: no such
   term): a term with one value per position of a window. The index must have no gap at each position, nor between
   adjacent positions. */
static bool is_gapless(const dfl_workload *w, const dfl_index *index, uint32_t slides)
{
    dfl_i128 covered = 1, least = 0, last = slides == DFL_NONE ? 0 : index->terms[slides].coef;

    for (uint32_t done = 0; done < index->n_terms; done++) {
        dfl_i128 next = 0, added = 0;
        for (uint32_t t = 0; t < index->n_terms; t++) {
            dfl_i128 coef = index->terms[t].coef < 0 ? -(dfl_i128)index->terms[t].coef : index->terms[t].coef;
            dfl_i128 more = coef * (w->ranks[index->terms[t].rank].extent - 1);
            if (t == slides || more == 0 || coef <= least || (next != 0 && coef > next))
                continue;
            added = coef == next ? added + more : more;
            next = coef;
        }
        if (next > covered)
            return false;
        covered += added;
        least = next > least ? next : least;
    }
    return (last < 0 ? -last : last) <= covered;
}

void dfl_windows_add(const dfl_workload *w, const dfl_index *index, const int64_t *nominal, int64_t extent,
                     dfl_windows *out)
{
    dfl_i128 lo = index->offset, hi = lo + 1, first = lo, last = lo;
    int64_t coef = 0, tile = 0;
    uint32_t slides = DFL_NONE, n = 0;

    for (uint32_t t = 0; t < index->n_terms; t++) {
        int64_t length = w->ranks[index->terms[t].rank].extent, piece = nominal[index->terms[t].rank];
        dfl_i128 now = (dfl_i128)index->terms[t].coef * (piece - 1), far = (dfl_i128)index->terms[t].coef * (length - 1);
        lo += now < 0 ? now : 0;
        hi += now > 0 ? now : 0;
        first += far < 0 ? far : 0;
        last += far > 0 ? far : 0;
        out->in_order &= far >= 0;
        if (piece == length)
            continue;
        slides = t;
        coef = index->terms[t].coef;
        tile = piece;
        n++;
    }
    out->whole &= first <= 0 && last >= extent - 1 && is_gapless(w, index, DFL_NONE);
    out->in_order &= n <= 1 && is_gapless(w, index, slides);
    out->alike &= n <= 1;
    if (out->n++ == 0) {
        out->coef = coef;
        out->tile = tile;
        out->offset = index->offset;
        out->lo = lo;
        out->hi = hi;
    }
    int64_t apart = index->offset < out->offset ? out->offset - index->offset : index->offset - out->offset;
    out->apart = apart > out->apart ? apart : out->apart;
    out->in_order &= apart <= 1;
    out->alike &= coef == out->coef && tile == out->tile;
    out->longest = hi - lo > out->longest ? hi - lo : out->longest;
    out->lo = lo < out->lo ? lo : out->lo;
    out->hi = hi > out->hi ? hi : out->hi;
}
