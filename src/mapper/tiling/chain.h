/*
 * The chain of one rank: the loops of a skeleton that cut the rank, from outer to inner, with their amounts.
 *
 * A cut is a temporal loop or an axis. The amount of a temporal loop is its tile size T: the loop cuts a piece of L elements into
 * ceil(L / T) tiles. The amount of an axis is its number of parts p: the axis cuts pieces into tiles of ceil(n / p) elements,
 * where n is the largest piece above. Coordinate 0 of an axis gets the first tile of every piece, which is the largest.
 *
 * Costs are computed from *figures* of a chain. A figure belongs to a gap of the skeleton and counts the pieces below all cuts of
 * the gaps down to this gap. Its *set* of axes says whose coordinates count; coordinate 0 stands for every other axis.
 *     pieces      number of pieces that are not empty, over all iterations
 *     elements    number of elements of the pieces below all cuts
 *     tile        number of elements of the largest piece
 *     parts       product of the numbers of parts that the axes of the set have in this rank
 *
 * A tile of a tensor stays while a loop over another rank advances, if no loop between this loop and the keep has a second
 * iteration. In a ragged chain this can be so for short pieces only. Two figures describe the loops of the gaps from + 1 to gap:
 *     stays       number of elements in pieces below gap `from` that these loops do not cut, although they cut a full piece;
 *                 0 if they do not cut a full piece
 *     cuts        1 if these loops cut a full piece, else 0
 * Where windows slide, a part of each first tile stays from the last tile of the pass before. One more figure counts passes:
 *     runs        number of pieces below the loops of the gaps down to `from`, times the parts of the axes of the set
 *                 down to the gap
 */
#ifndef DFL_MAPPER_TILING_CHAIN_H
#define DFL_MAPPER_TILING_CHAIN_H

#include "support/vec.h"

/* Largest number of cuts of a chain: one temporal loop per gap and one per axis. */
enum { DFL_CHAIN_CUTS = 28 };

typedef struct {
    uint8_t gap;
    int8_t axis;      /* -1 = a temporal loop */
} dfl_chain_cut;

typedef enum {
    DFL_CHAIN_PIECES, DFL_CHAIN_ELEMENTS, DFL_CHAIN_TILE, DFL_CHAIN_PARTS, DFL_CHAIN_STAYS, DFL_CHAIN_CUTS_FULL, DFL_CHAIN_RUNS
} dfl_chain_kind;

/* `from` of a figure without a gap above: its loops begin with gap 0. */
enum { DFL_CHAIN_TOP = 0xff };

typedef struct {
    dfl_chain_kind kind;
    uint8_t gap;
    uint8_t from;     /* STAYS, CUTS_FULL, RUNS: the gap above, or DFL_CHAIN_TOP */
    uint8_t axes;     /* mask: the set */
} dfl_chain_figure;

typedef struct {
    int64_t extent;
    uint32_t n;       /* number of cuts */
    dfl_chain_cut at[DFL_CHAIN_CUTS];
    int last;         /* innermost temporal loop; its tile size is the product of the parts below it; -1 = no temporal loop */
    DFL_VEC(dfl_chain_figure) figures;
} dfl_chain;

/* Mask of the axes among the cuts. */
uint32_t dfl_chain_axes(const dfl_chain *chain);
/* Index of a figure of the chain. Adds the figure if the chain does not have it. Figures that differ only in axes and gaps
   without cuts are the same. */
uint32_t dfl_chain_ask(dfl_arena *arena, dfl_chain *chain, dfl_chain_figure figure);
/* Whether these amounts leave pieces of one element. */
bool dfl_chain_ends(const dfl_chain *chain, const int64_t *amounts);
/* Computes all figures at these amounts (by cut), exactly. `out` has one item per figure. */
void dfl_chain_count(const dfl_chain *chain, const int64_t *amounts, double *out);
/* Computes bounds of all figures over all amounts between `low` and `high` (by cut), lemma B1 of SEARCH.md: upper bounds of
   `stays` and `runs`, lower bounds of the others. */
void dfl_chain_bound(const dfl_chain *chain, const int64_t *low, const int64_t *high, double *out);

#endif
