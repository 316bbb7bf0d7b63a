/*
 * A form is a skeleton (skeleton/template.h) with its chains and with its costs as sums over *products*. A product has
 * one figure of a chain per rank, or 1. Bounds of the figures over a box give a bound of the costs (box_bound.h).
 *
 * The number of elements that move over one way of terms.h, in ragged chains:
 *     product over the ranks r of the operand of elements(r, all axes but `under`)
 *     * product over the other ranks of pieces(r, gap of the term, `over`).
 * The sum counts a transfer at every iteration of the loops above, so it is too large where a short piece stays.
 */
#ifndef DFL_MAPPER_TILING_FORM_H
#define DFL_MAPPER_TILING_FORM_H

#include "mapper/problem/hole_lattice.h"
#include "mapper/skeleton/template.h"
#include "mapper/skeleton/terms.h"
#include "mapper/tiling/chain.h"

/* Largest number of products of a form: counts, their floors, tiles of keeps, steps, parts on axes, and hoisted counts. */
enum { DFL_FORM_STAYS = 256, DFL_FORM_PRODUCTS = 2 * DFL_TERMS + DFL_TEMPLATE_KEEPS + 1 + DFL_JOB_AXES + DFL_FORM_STAYS };

/* No product, no figure. */
enum { DFL_FORM_NONE = 0xffff };

/* Loops over other ranks in one gap, during which short pieces of a tile may stay. */
typedef struct {
    uint16_t hoisted;         /* product: the count as if the keep stood above these loops */
    uint16_t stay[DFL_JOB_RANKS], cuts[DFL_JOB_RANKS]; /* figures `stays` and `cuts`, DFL_FORM_NONE for other ranks */
} dfl_form_stay;

/* Elements that move, and their cost. Count `i` of a form is its product `i`, up to a factor that the coefficients contain. */
typedef struct {
    double joules;            /* sum of its coefficients, J per unit of the product; may be negative */
    double sure;              /* sum without what a result takes back, J per unit of the product */
    uint16_t floor;           /* product whose value times `floor_scale` the count does not fall below, or DFL_FORM_NONE */
    double floor_scale;
    uint32_t n_stays;
    dfl_form_stay *stay;      /* inner loops first */
} dfl_form_count;

/* Time of one port for the elements of a count. */
typedef struct {
    uint16_t count;
    uint8_t port;
    bool waits;               /* the work stands still meanwhile */
    double seconds;           /* per unit of the product */
    uint16_t less;            /* count of the first visits of result elements, which read nothing; DFL_FORM_NONE = none */
    double less_seconds;
} dfl_form_port;

typedef struct {
    uint16_t tile;            /* product */
    uint8_t place;
    double bits;              /* of an element, times the buffers */
} dfl_form_keep;

typedef struct {
    const dfl_job *job;
    const dfl_tiling_template *skeleton;
    dfl_chain *chain;                       /* by rank */
    uint32_t n_products;
    const uint16_t *figure;                 /* [product][rank]; DFL_FORM_NONE = 1 */
    uint32_t n_counts;
    const dfl_form_count *count;
    bool has_known_losses;                  /* counts with negative `joules` do not depend on amounts */
    uint32_t n_ports;
    const dfl_form_port *port;
    uint32_t n_keeps;
    const dfl_form_keep *keep;
    uint16_t steps;                         /* product: steps of the unit on coordinate 0 */
    double least_steps;
    uint16_t parts;                         /* product of axis 0; those of the other axes follow */
    const dfl_amounts *divisors;            /* by rank: amounts divide what they cut; NULL = any amounts. Set after making */
} dfl_form;

/* Makes the form of a skeleton, which is copied. `terms` is for temporary data. NULL for a skeleton with more than DFL_FORM_STAYS
   hoisted counts. */
dfl_form *dfl_form_make(dfl_arena *arena, const dfl_job *job, const dfl_tiling_template *skeleton, dfl_terms *terms);

#endif
