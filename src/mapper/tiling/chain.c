#include "mapper/tiling/chain.h"

#include <math.h>

#include "mapper/problem/factors.h"

/* Largest number of different lengths of pieces: a cut leaves full tiles and, of each length above, at most one other. */
enum { LENGTHS = DFL_CHAIN_CUTS + 4 };

/* Numbers of pieces by length. */
typedef struct {
    uint32_t n;
    int64_t length[LENGTHS];
    double count[LENGTHS];
} piece_list;

/* Largest and smallest length of a full piece at the present cut of a box. */
typedef struct { int64_t least, most; } full_piece;

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static double least(double a, double b) { return a < b ? a : b; }

static bool is_counted(const dfl_chain *c, uint32_t cut, uint32_t axes)
{
    return c->at[cut].axis < 0 || (axes >> c->at[cut].axis & 1);
}

uint32_t dfl_chain_axes(const dfl_chain *c)
{
    uint32_t axes = 0;

    for (uint32_t i = 0; i < c->n; i++)
        axes |= c->at[i].axis >= 0 ? 1u << c->at[i].axis : 0;
    return axes;
}

static bool has_gap_above(dfl_chain_kind kind)
{
    return kind == DFL_CHAIN_STAYS || kind == DFL_CHAIN_CUTS_FULL || kind == DFL_CHAIN_RUNS;
}

/* Whether a cut stands above the loops of a figure. */
static bool is_above(const dfl_chain *c, uint32_t cut, const dfl_chain_figure *f)
{
    return f->from != DFL_CHAIN_TOP && c->at[cut].gap <= f->from;
}

/* The figure of this value with the least gap and the fewest axes. */
static dfl_chain_figure reduce(const dfl_chain *c, dfl_chain_figure f)
{
    dfl_chain_figure out = { .kind = f.kind };
    const bool is_all = f.kind == DFL_CHAIN_ELEMENTS || f.kind == DFL_CHAIN_PARTS;

    for (uint32_t i = 0; i < c->n && (is_all || c->at[i].gap <= f.gap); i++) {
        out.gap = is_all ? 0 : c->at[i].gap;
        if (c->at[i].axis >= 0 && f.kind != DFL_CHAIN_TILE)
            out.axes = (uint8_t)(out.axes | (f.axes & 1u << c->at[i].axis));
    }
    out.from = has_gap_above(f.kind) ? f.from : 0;
    return out;
}

uint32_t dfl_chain_ask(dfl_arena *arena, dfl_chain *c, dfl_chain_figure asked)
{
    const dfl_chain_figure f = reduce(c, asked);

    for (uint32_t i = 0; i < c->figures.n; i++) {
        const dfl_chain_figure *at = &c->figures.at[i];
        if (at->kind == f.kind && at->gap == f.gap && at->axes == f.axes && at->from == f.from)
            return i;
    }
    DFL_PUSH(arena, &c->figures, f);
    return (uint32_t)c->figures.n - 1;
}

static void add_pieces(piece_list *p, int64_t length, double count)
{
    uint32_t i = 0;

    if (length == 0)
        return;
    while (i < p->n && p->length[i] != length)
        i++;
    if (i == p->n) {
        p->length[i] = length;
        p->count[i] = 0;
        p->n++;
    }
    p->count[i] += count;
}

static void cut_pieces(piece_list *p, int64_t tile, bool first_only)
{
    piece_list out;

    out.n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (first_only) {
            add_pieces(&out, least_of(p->length[i], tile), p->count[i]);
            continue;
        }
        if (p->length[i] >= tile)
            add_pieces(&out, tile, p->count[i] * (double)(p->length[i] / tile));
        add_pieces(&out, p->length[i] % tile, p->count[i]);
    }
    *p = out;
}

/* Length of a full piece below a cut. */
static int64_t cut_full(const dfl_chain *c, uint32_t cut, int64_t full, int64_t amount)
{
    return c->at[cut].axis < 0 ? least_of(full, amount) : dfl_divide_up(full, amount);
}

bool dfl_chain_ends(const dfl_chain *c, const int64_t *amounts)
{
    int64_t full = c->extent;

    for (uint32_t i = 0; i < c->n; i++)
        full = cut_full(c, i, full, amounts[i]);
    return full == 1;
}

static double sum_counts(const piece_list *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->count[i];
    return sum;
}

static double sum_elements(const piece_list *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->count[i] * (double)p->length[i];
    return sum;
}

static double multiply_parts(const dfl_chain *c, const int64_t *amounts, uint32_t axes)
{
    double parts = 1;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].axis >= 0 && (axes >> c->at[i].axis & 1))
            parts *= (double)amounts[i];
    return parts;
}

/* STAYS or CUTS_FULL: keeps the pieces below gap `from` that no temporal loop behind it cuts. */
static double count_stays(const dfl_chain *c, const int64_t *amounts, const dfl_chain_figure *f)
{
    piece_list p = { .n = 1, .length = { c->extent }, .count = { 1 } };
    int64_t full = c->extent;
    bool cuts = false;

    for (uint32_t i = 0; i < c->n && c->at[i].gap <= f->gap; i++) {
        const int64_t tile = cut_full(c, i, full, amounts[i]);
        if (tile == full)
            continue;
        if (is_above(c, i, f) || c->at[i].axis >= 0) {
            cut_pieces(&p, tile, !is_counted(c, i, f->axes));
        } else {
            cuts = true;
            for (uint32_t k = 0; k < p.n; k++)
                p.count[k] = p.length[k] <= tile ? p.count[k] : 0;
        }
        full = tile;
    }
    if (f->kind == DFL_CHAIN_CUTS_FULL)
        return cuts;
    return cuts ? sum_elements(&p) : 0;
}

/* Lengths of a full piece below a cut of a box. */
static full_piece bound_cut(const dfl_chain *c, uint32_t cut, full_piece above, const int64_t *low, const int64_t *high)
{
    const bool is_axis = c->at[cut].axis >= 0;

    return (full_piece){ cut_full(c, cut, above.least, is_axis ? high[cut] : low[cut]),
                         cut_full(c, cut, above.most, is_axis ? low[cut] : high[cut]) };
}

/* RUNS, at most: no piece is longer than a full one, so a loop cuts it into no more tiles. */
static double bound_runs(const dfl_chain *c, const int64_t *low, const int64_t *high, const dfl_chain_figure *f)
{
    full_piece full = { c->extent, c->extent };
    double runs = 1;

    for (uint32_t i = 0; i < c->n && c->at[i].gap <= f->gap; i++) {
        const full_piece above = full;
        full = bound_cut(c, i, full, low, high);
        if (c->at[i].axis >= 0)
            runs *= is_counted(c, i, f->axes) ? (double)high[i] : 1;
        else if (is_above(c, i, f))
            runs *= (double)dfl_divide_up(above.most, full.least);
    }
    return runs;
}

static double count_figure(const dfl_chain *c, const int64_t *amounts, const dfl_chain_figure *f)
{
    piece_list p = { .n = 1, .length = { c->extent }, .count = { 1 } };
    int64_t full = c->extent;

    if (f->kind == DFL_CHAIN_STAYS || f->kind == DFL_CHAIN_CUTS_FULL)
        return count_stays(c, amounts, f);
    if (f->kind == DFL_CHAIN_RUNS)
        return bound_runs(c, amounts, amounts, f);
    if (f->kind == DFL_CHAIN_PARTS)
        return multiply_parts(c, amounts, f->axes);
    for (uint32_t i = 0; i < c->n && (f->kind == DFL_CHAIN_ELEMENTS || c->at[i].gap <= f->gap); i++) {
        const int64_t tile = cut_full(c, i, full, amounts[i]);
        if (tile != full && f->kind != DFL_CHAIN_TILE)
            cut_pieces(&p, tile, !is_counted(c, i, f->axes));
        full = tile;
    }
    return f->kind == DFL_CHAIN_TILE ? (double)full : f->kind == DFL_CHAIN_PIECES ? sum_counts(&p) : sum_elements(&p);
}

void dfl_chain_count(const dfl_chain *c, const int64_t *amounts, double *out)
{
    for (uint32_t i = 0; i < c->figures.n; i++)
        out[i] = count_figure(c, amounts, &c->figures.at[i]);
}

/* PIECES, ELEMENTS or TILE, at least. */
static double bound_figure(const dfl_chain *c, const int64_t *low, const int64_t *high, const dfl_chain_figure *f)
{
    full_piece full = { c->extent, c->extent };
    int64_t elements = c->extent, pieces = 1;

    for (uint32_t i = 0; i < c->n && (f->kind == DFL_CHAIN_ELEMENTS || c->at[i].gap <= f->gap); i++) {
        full = bound_cut(c, i, full, low, high);
        if (!is_counted(c, i, f->axes))
            elements = dfl_divide_up(elements, high[i]);
        else if (dfl_divide_up(elements, full.most) > pieces)
            pieces = dfl_divide_up(elements, full.most);
    }
    return (double)(f->kind == DFL_CHAIN_TILE ? full.least : f->kind == DFL_CHAIN_PIECES ? pieces : elements);
}

/*
 * Short pieces, for STAYS. A cut leaves at most one short piece of each full piece above it; of this one, each cut further in
 * leaves full pieces and at most one that is short. These are the short pieces that *stem* from the cut.
 */
typedef struct {
    double n;                 /* their number on the counted coordinates, at most */
    int64_t least, most;      /* their length */
    double elements;          /* that they have together, at most */
} short_pieces;

typedef struct {
    const dfl_chain *chain;
    const int64_t *low, *high;
    const dfl_chain_figure *figure;
    full_piece full;
    double pieces;            /* number of all pieces on the counted coordinates, at most */
    double elements;          /* on these coordinates, at most */
    uint32_t n;
    short_pieces stem[DFL_CHAIN_CUTS];
} short_bound;

/* What a cut leaves of each full piece: of L elements in tiles of `least` to `most`. Lengths are 0 if nothing short is left. */
static short_pieces first_stem(const short_bound *b, uint32_t cut, full_piece above, full_piece full)
{
    const bool is_axis = b->chain->at[cut].axis >= 0;
    const int64_t tiles = is_axis ? b->low[cut] : dfl_divide_up(above.least, full.most), whole = above.least / full.most;
    const double parents = least(b->pieces, b->elements / (double)above.least);
    short_pieces out = { .n = parents, .least = 0, .most = full.most - 1 };

    if (above.least == above.most && whole == above.most / full.least) {
        out.least = above.least - whole * full.most;
        out.most = least_of(out.most, above.least - whole * full.least);
    }
    if (is_axis && full.least >= b->high[cut] && full.least - b->high[cut] + 1 > out.least)
        out.least = full.least - b->high[cut] + 1;
    out.elements = b->elements / (double)(tiles < 2 ? 2 : tiles);
    if (full.least == full.most && above.least == above.most && above.least % full.least == 0)
        out.most = 0;
    return out;
}

/* A short piece of the lengths of `s` in tiles of the lengths of `tile`. */
static void cut_short(short_pieces *s, full_piece tile, bool first_only)
{
    if (first_only) {
        s->least = least_of(s->least, tile.least);
    } else if (s->most > tile.least) {
        const bool is_known = s->least == s->most && tile.least == tile.most;
        s->least = is_known ? s->most % tile.most : 0;
        s->most = is_known ? s->least : s->most;
    }
    s->most = least_of(s->most, tile.most);
}

/* Goes on below a cut: an axis, or a loop further out than those of the figure. */
static void cut_shorts(short_bound *b, uint32_t cut)
{
    const full_piece above = b->full, full = bound_cut(b->chain, cut, above, b->low, b->high);
    const bool first_only = !is_counted(b->chain, cut, b->figure->axes);

    for (uint32_t i = 0; i < b->n; i++)
        cut_short(&b->stem[i], full, first_only);
    b->full = full;
    if (full.least >= above.most)
        return;
    if (!first_only) {
        double tiles = (double)dfl_divide_up(above.most, full.least);
        b->stem[b->n] = first_stem(b, cut, above, full);
        b->n += b->stem[b->n].most > 0;
        if (b->chain->at[cut].axis >= 0)
            tiles = least(tiles, (double)b->high[cut]);
        b->pieces *= tiles;
    }
    b->elements = least(b->elements, b->pieces * (double)full.most);
}

/* Elements in short pieces that stay where the loop at `cut` is the first one of the figure that cuts full pieces, at most. Of a
   piece of at most T elements, the axes further in give at most a piece each to the coordinates that count. */
static double sum_shorts(const short_bound *b, uint32_t cut)
{
    const dfl_chain *c = b->chain;
    full_piece tile = b->full;
    double pieces = 1, longest = INFINITY, sum = 0;
    int64_t most = 0;

    for (uint32_t i = cut; i < c->n && c->at[i].gap <= b->figure->gap; i++) {
        const full_piece above = tile;
        tile = bound_cut(c, i, tile, b->low, b->high);
        if (i == cut)
            most = tile.most;
        if (c->at[i].axis >= 0 && is_counted(c, i, b->figure->axes))
            pieces *= least((double)b->high[i], (double)dfl_divide_up(above.most, tile.least));
        longest = least(longest, pieces * (double)tile.most);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        const short_pieces *s = &b->stem[i];
        if (s->least <= most)
            sum += least(s->n * least(longest, (double)s->most), s->elements);
    }
    return sum;
}

/* STAYS, at most. What stays is whole in the first loop of the figure that cuts full pieces: it is short, and no longer than the
   tiles of this loop. */
static double bound_stays(const dfl_chain *c, const int64_t *low, const int64_t *high, const dfl_chain_figure *f)
{
    short_bound b = { .chain = c, .low = low, .high = high, .figure = f, .full = { c->extent, c->extent }, .pieces = 1,
                      .elements = (double)c->extent };
    double largest = 0;

    for (uint32_t i = 0; i < c->n && c->at[i].gap <= f->gap; i++) {
        if (is_above(c, i, f) || c->at[i].axis >= 0) {
            cut_shorts(&b, i);
            continue;
        }
        const full_piece tile = bound_cut(c, i, b.full, low, high);
        if (tile.least < b.full.most) {
            const double sum = sum_shorts(&b, i);
            largest = sum > largest ? sum : largest;
        }
        if (tile.most < b.full.least) /* it cuts; else the next loop may be the first one */
            break;
    }
    return least(largest, (double)c->extent);
}

/* CUTS_FULL, at least. */
static double bound_cuts(const dfl_chain *c, const int64_t *low, const int64_t *high, const dfl_chain_figure *f)
{
    full_piece full = { c->extent, c->extent }, from = full;

    for (uint32_t i = 0; i < c->n && c->at[i].gap <= f->gap; i++) {
        full = bound_cut(c, i, full, low, high);
        if (is_above(c, i, f) || c->at[i].axis >= 0)
            from = full;
        else if (full.most < from.least)
            return 1;
    }
    return 0;
}

static double bound_any(const dfl_chain *c, const int64_t *low, const int64_t *high, const dfl_chain_figure *f)
{
    switch (f->kind) {
    case DFL_CHAIN_STAYS:
        return bound_stays(c, low, high, f);
    case DFL_CHAIN_CUTS_FULL:
        return bound_cuts(c, low, high, f);
    case DFL_CHAIN_RUNS:
        return bound_runs(c, low, high, f);
    case DFL_CHAIN_PARTS:
        return multiply_parts(c, low, f->axes);
    case DFL_CHAIN_PIECES:
    case DFL_CHAIN_ELEMENTS:
    case DFL_CHAIN_TILE:
        return bound_figure(c, low, high, f);
    }
    return 0;
}

void dfl_chain_bound(const dfl_chain *c, const int64_t *low, const int64_t *high, double *out)
{
    for (uint32_t i = 0; i < c->figures.n; i++)
        out[i] = bound_any(c, low, high, &c->figures.at[i]);
}
