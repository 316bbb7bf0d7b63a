/*
 * The costs of a template as sums of terms. Below, `spread` is what the axes do to a rank: the parts it is cut into on
 * a set of them. For a keep at gap g with the next outer keep P at gap p, and n(r) the iterations of the loops of rank r
 * down to gap g,
 *     moved through P     = elements * product over ranks r outside of the operand of n(r) * spread(r, axes down to p and
 *                           those between p and g on which the operand does not share),
 *     moved at the keep   = the same with all axes down to g,
 * since the ranks of the operand make every element pass once per iteration of the others (MODEL.md, section 2, for
 * loops that divide what they cut). One instance sees elements / spread(ranks of the operand, axes around it) of them, and
 * no factor for the other ranks but those that are not shared between. Of a result, what comes through less the first visits is
 * read outside; what axes down to p count less the first visits fills the keep, since of instances that collect sums of one
 * element one is filled: rule 4 of MODEL.md.
 */
#ifndef DFL_MAPPER_SKELETON_COST_TERMS_H
#define DFL_MAPPER_SKELETON_COST_TERMS_H

#include "mapper/skeleton/template.h"

/*
 * Each keep, and the unit for each operand, has one way to the next outer keep: W = DFL_TEMPLATE_KEEPS + DFL_PROBLEM_OPERANDS
 * ways. A way of an input has up to 4 terms, one of the result 11 and 2 more for each of its keeps further out, of which there
 * are fewer than places; each way has DFL_TERM_NETS more for networks outside of the innermost one that it crosses. A way has one
 * group, or with windows one for each end, and first visits have one in all.
 */
enum {
    DFL_TERM_WAYS = DFL_TEMPLATE_KEEPS + DFL_PROBLEM_OPERANDS,
    DFL_TERM_NETS = 2,
    DFL_TERMS = (4 + DFL_TERM_NETS) * DFL_TERM_WAYS + DFL_PROBLEM_PLACES * (7 + DFL_PROBLEM_PLACES - 1),
    DFL_TERM_GROUPS = 2 * DFL_TERM_WAYS + 1,
    DFL_TERM_PORTS = 2 * DFL_PROBLEM_PLACES,
    DFL_TERM_SLOTS = 512,
};

/* What terms are multiplied with for a spread: elements / spread(indexing ranks, `under`) * spread(the others, `over`) */
typedef struct {
    uint8_t operand, group;
    bool distinct;            /* the others do not count: elements, each once */
    bool negative;            /* some term with it has a negative coefficient */
    uint32_t over, under;     /* masks of axes */
} dfl_term_factor;

/* coefficient * factor * product over the ranks of the group of n at its gap */
typedef struct {
    dfl_term_factor by;
    uint16_t factor;          /* index of `by` among those of all terms */
    bool waits;               /* the work stands still for it */
    uint8_t keep;             /* inner end of the way: a keep, or n_keeps for the unit */
    bool out;                 /* it moves outwards */
    bool above;               /* of a keep that may stand above a shared loop: its transfers can overlap with the work of the
                                 other einsums below, and are no part of the time that this one takes at least */
    double joules;            /* coefficient in the energy */
    double sure;              /* without what a result takes back, which is never less than nothing; not negative */
    uint8_t port;             /* or in the time of a port: 2 * place + 1 for writes of their own */
    double seconds;
    uint8_t link;             /* or in the time of a link of a network: 2 * `link` of the axis, + 1 outwards unless it has
                                 `one_link` (einsum_problem.h) */
    double link_seconds;      /* s per element */
    bool link_waits;          /* the work stands still for the transfer */
} dfl_term_of;

/* Terms that grow with the same loops. */
typedef struct {
    uint32_t ranks;           /* mask: those with a factor */
    uint8_t gap;
    int8_t window;            /* operand whose windows overlap, or -1 */
    uint32_t axes, inner;     /* then: masks of axes whose parts the factors count, and of those around the inner end */
} dfl_term_group;

typedef struct {
    dfl_term_of at[DFL_TERMS];
    uint32_t n;
    dfl_term_factor factor[DFL_TERMS];
    uint32_t n_factors;
    dfl_term_group group[DFL_TERM_GROUPS];
    uint32_t n_groups;
    uint32_t constant;        /* the group that grows with nothing, where work waits for transfers */
    uint32_t factor_key[DFL_TERMS], group_key[DFL_TERM_GROUPS]; /* equal where the factors, the groups are */
    uint16_t factor_slot[DFL_TERM_SLOTS];                       /* by hash of the key: 1 + factor */
} dfl_terms;

void dfl_terms_make(const dfl_problem *problem, const dfl_tiling_template *t, dfl_terms *out);
/* J that the einsum bears of a fetch of one element by a keep for several einsums, in equal shares (SEARCH.md, B46); 0 = none. */
double dfl_template_refetch(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t operand);
/* Axes around keep `i`, or around the unit for n_keeps; -1: none. */
uint32_t dfl_template_axes(const dfl_problem *problem, const dfl_tiling_template *t, int i);

#endif
