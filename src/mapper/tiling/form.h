/*
 * A form is a skeleton (skeleton/template.h) with its chains and with its costs as sums over *products*. A product has
 * one figure of a chain per rank, or 1. Bounds of the figures over a box give a bound of the costs (box_bound.h).
 *
 * The number of elements that move over one way of cost_terms.h, in ragged chains:
 *     product over the ranks r of the operand of elements(r, all axes but `under`)
 *     * product over the other ranks of pieces(r, gap of the term, `over`).
 * The sum counts a transfer at every iteration of the loops above, so it is too large where a short piece stays.
 *
 * Windows: the *main* rank of a dimension has the largest extent of its ranks. A pass over a dimension moves at least the values
 * of its index in the shape. The unit reads its operand at each step, so there the main rank counts like a rank of the operand,
 * and the others of the dimension like ranks outside of it (lemmas B10 to B12 of SEARCH.md).
 */
#ifndef DFL_MAPPER_TILING_FORM_H
#define DFL_MAPPER_TILING_FORM_H

#include "mapper/problem/factors.h"
#include "mapper/skeleton/cost_terms.h"
#include "mapper/skeleton/template.h"
#include "mapper/tiling/chain.h"

/* Largest number of products of a form: counts, their floors, tiles of keeps, steps, parts on axes, and hoisted counts. */
enum { DFL_FORM_STAYS = 256, DFL_FORM_PRODUCTS = 2 * DFL_TERMS + DFL_TEMPLATE_KEEPS + 1 + DFL_PROBLEM_AXES + DFL_FORM_STAYS };

/* No product, no figure. */
enum { DFL_FORM_NONE = 0xffff };

/* The loops over ranks of an operand between a loop over another rank and a keep. The figures belong to the main rank of each
   dimension. */
typedef struct {
    uint32_t ranks;           /* mask: ranks of the operand with such a loop */
    uint16_t stays[DFL_PROBLEM_DIMS], cuts[DFL_PROBLEM_DIMS];
    uint16_t runs[DFL_PROBLEM_DIMS];                   /* of dimensions with windows */
} dfl_form_between;

/* Loops over other ranks in one gap, during which short pieces of a tile may stay, and parts of tiles with windows. */
typedef struct {
    uint16_t hoisted;         /* product: the count as if the keep stood above these loops */
    dfl_form_between inner;   /* loops of gaps further in */
    dfl_form_between own;     /* with windows: with those of the same gap; their order is not fixed. `ranks` = 0: none */
} dfl_form_stay;

/* Elements that move, and their cost. Count `i` of a form is its product `i`, up to a factor that the coefficients contain. */
typedef struct {
    double joules;            /* sum of its coefficients, J per unit of the product; may be negative */
    double sure;              /* sum without what a result takes back, J per unit of the product */
    uint16_t floor;           /* product whose value times `floor_scale` the count does not fall below, or DFL_FORM_NONE */
    double floor_scale;
    uint8_t operand;          /* one of those that it counts */
    uint32_t spread;          /* mask: dimensions with windows of which the count has one instance alone */
    uint32_t n_stays;
    dfl_form_stay *stay;      /* inner loops first */
} dfl_form_count;

/* Time of one port for the elements of a count. */
typedef struct {
    uint16_t count;
    uint8_t port;
    bool waits;               /* the work stands still meanwhile */
    bool serves;              /* the unit itself reads or writes: the time is part of the work (B17) */
    uint8_t keep;             /* else the inner end of the transfer */
    uint8_t operand;          /* what moves; counts of several operands may be one */
    double seconds;           /* per unit of the product */
    uint16_t less;            /* count of the first visits of result elements, which read nothing; DFL_FORM_NONE = none */
    double less_seconds;      /* s for each first visit; negative */
    bool has_known_visits;    /* the number of first visits is known and does not depend on amounts: they save -less_seconds. Of a
                                 result with windows only a lower bound is known, which could take too little off. */
} dfl_form_port;

/* Time of a link of a network for the elements of a count (B18). */
typedef struct {
    uint16_t count;
    uint8_t link;             /* as in cost_terms.h */
    bool waits;               /* the work stands still meanwhile */
    bool serves;              /* as above */
    uint8_t operand;
    double seconds;           /* per unit of the product */
} dfl_form_link;

enum { DFL_FORM_LINKS = 2 * DFL_PROBLEM_AXES };

typedef struct {
    uint16_t tile;            /* product; of a dimension with windows it has the tile of the main rank, or 1 */
    uint8_t place, operand;
    bool has_windows;
    double bits;              /* of an element, times the buffers */
    uint16_t piece[DFL_PROBLEM_RANKS]; /* with windows: figure TILE of each rank of the operand */
} dfl_form_keep;

typedef struct {
    const dfl_problem *problem;
    const dfl_tiling_template *skeleton;
    dfl_chain *chain;                       /* by rank */
    uint32_t n_products;
    const uint16_t *figure;                 /* [product][rank]; DFL_FORM_NONE = 1 */
    uint32_t n_counts;
    const dfl_form_count *count;
    bool has_counted_results;               /* it is known how many elements of results there are: no window has gaps */
    bool has_known_losses;                  /* then: counts with negative `joules` do not depend on amounts */
    uint32_t n_ports;
    const dfl_form_port *port;
    uint32_t n_links;
    const dfl_form_link *link;
    uint32_t n_keeps;
    const dfl_form_keep *keep;
    uint16_t steps;                         /* product: steps of the unit on coordinate 0 */
    double least_steps;
    uint16_t parts;                         /* product of axis 0; those of the other axes follow */
    const dfl_amounts *divisors;            /* by rank: amounts divide what they cut; NULL = any amounts. Set after making */
    bool has_any_places;                    /* its programs hold for axes anywhere among loops (D12). Set after making */
    const struct dfl_merge *merge;          /* the axes are merged (merge.h); NULL = they are not. Set after making */
    const struct dfl_written_amounts *written; /* what written lines say (written.h); NULL = nothing. Set after making */
} dfl_form;

/* Whether a dimension is one rank alone. */
static inline bool dfl_form_is_plain(const dfl_problem_operand *o, const dfl_problem_dim *d)
{
    return d->n == 1 && (o->plain >> d->rank[0] & 1);
}
/* Makes the form of a skeleton, which is copied. `terms` is for temporary data. NULL for a skeleton with more than DFL_FORM_STAYS
   hoisted counts, or with written lines that its chains cannot have (dfl_written_chain). */
dfl_form *dfl_form_make(dfl_arena *arena, const dfl_problem *problem, const dfl_tiling_template *skeleton, dfl_terms *terms);

#endif
