/*
 * A template is a mapping of one einsum without its tile sizes: which operands are kept where, in which order, and which
 * ranks may be cut in which gap. Gap g stands before keep g, gap n_keeps before the unit; in a gap the temporal loops
 * come first, then the axes that are entered there. Keeps stand in any order, those of one operand from outer to inner memories,
 * and those inside of arrays below all homes. An axis is entered just above the first keep inside of it; what is kept below that
 * outside of it holds what all its elements need. Operands stay in the memory that is their home; the home of a shared operand
 * that is exchanged on the chip, or may stand in parts (dfl_space_roomy), is a keep of its own, and all gaps above the last of
 * these are shared with the einsums that it is exchanged with.
 *
 * Loops that never help are left out (the keep above could stand below them with less room and the same transfers, or
 * the keep below could stand above them with fewer transfers and the same room):
 *   - no rank that indexes the operand of the keep just above, unless that keep is a home; in a shared gap, where the order
 *     of loops is not free, none as the first loop;
 *   - no rank that does not index the operand of the keep just below, once all homes have been seen;
 *   - above a home only ranks that index its operand, since parts of an operand that do not depend on the loop would be made
 *     or used before they are complete; and only those alone in their dimension, unless loops may be shared along windows
 *     (dfl_problem.slid_loops);
 *   - below a keep that has no room for two elements, no rank alone in a dimension of its operand.
 * Each template counts a transfer at every iteration of the loops above a keep. That is too much where the innermost of
 * these loops does not change the tile, but then another template with the keep further out counts it right.
 *
 * Where windows slide, what the elements of an array need together depends on where the array is entered. There a keep inside of
 * an array is not written above one outside of it, but it can stay while the loops above that one go on: then it stands where it
 * is filled, and is `written` further in, with no loop over ranks of its operand between.
 *
 * Where windows slide along an operand, the order of loops above its keeps matters, and what changes the innermost ones is not
 * left out: a loop may stand just below such a keep over any rank, and just above it over those along which it slides, whatever
 * the keep above; of two neighbours its keep is the outer one; and just above keeps outside of an array that one inside follows
 * with no loop between, there may be loops over all its ranks.
 *
 * Two neighbours that could change places without a loop between them: the loops above the outer one that do not index the
 * inner one could stand between them then, with fewer transfers of the inner one. So of the two orders only one may be
 * without a loop there: the one with the keep that has fewer arrays around it outside, or else by operand.
 *
 * An einsum between two others that share loops can have these, too, though it exchanges nothing below them. Such loops of others
 * stand in any gap outside of arrays, over any rank, above all loops of its own; keeps above them stay while the others run.
 * They are in templates of their own (`through`), whose last shared gap has one; behind it in the gap stand own loops, which
 * index the keep below.
 *
 * A keep from which every element goes inwards as often as it comes in is of no use: without it the next outer keep sends the
 * same elements as often, and what it costs to write and read them here, and their room, is saved. More goes inwards than comes
 * in only over a loop between it and the next inner keep of the operand (or the unit) that does not index the operand, over such
 * a rank on an axis between them that does not share, or where windows overlap. Keeps above shared loops are exempt, since their
 * transfers can overlap with the work of other einsums. So are those that are filled beside the work, where waits count and the
 * next inner keep, or the unit, would have the work wait for the next outer one.
 */
#ifndef DFL_MAPPER_SKELETON_TEMPLATE_H
#define DFL_MAPPER_SKELETON_TEMPLATE_H

#include "mapper/problem/einsum_problem.h"
#include "mapper/skeleton/family.h"
#include "support/deadline.h"

enum { DFL_TEMPLATE_KEEPS = DFL_PROBLEM_KEEPS };

typedef struct {
    uint8_t operand, place;
    bool home;
    int8_t parent;            /* keep of the operand further out, or -1: the home outside of the template */
} dfl_template_keep;

typedef struct {
    uint32_t n_keeps;
    dfl_template_keep keep[DFL_TEMPLATE_KEEPS];
    uint8_t written[DFL_TEMPLATE_KEEPS];      /* gap behind whose loops and axes it is written, its own or one further in */
    uint8_t axis_gap[DFL_PROBLEM_AXES];
    uint32_t allow[DFL_TEMPLATE_KEEPS + 1];   /* mask of ranks per gap */
    uint32_t needs;                           /* mask of gaps in which the only rank that is allowed is cut */
    uint32_t shared_gaps;                     /* the first of them stand above a home, or a loop of others */
    bool through;                             /* the last of these is for loops of others, then for its own: */
    uint32_t own_allow;                       /* mask of ranks of these */
    uint32_t home_gaps;                       /* the first gaps, which stand above a home */
    bool turned;                              /* some keep inside of an array stands above one outside of it */
    uint8_t exchange[DFL_PROBLEM_OPERANDS];   /* place of the home of each operand */
    int8_t innermost[DFL_PROBLEM_OPERANDS];   /* keep that serves the unit, or -1 */
    const struct dfl_fixed_skeleton *form;    /* what written lines ask of it (fixed_lines.h), NULL = nothing */
} dfl_tiling_template;

/* Times that a keep takes its room: what is made there has no second buffer. */
static inline uint32_t dfl_template_buffers(const dfl_problem *problem, const dfl_template_keep *k)
{
    return k->home && problem->operand[k->operand].common == 0 ? 1 : problem->place[k->place].buffers;
}

/* Whether a keep is filled beside the work, for something that the work would wait for longer without it: the next inner keep of
   its operand, `inner`, or for n_keeps the unit. */
static inline bool dfl_template_takes_ahead(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t keep,
                                            uint32_t inner)
{
    return problem->waits && !problem->place[t->keep[keep].place].waits &&
           (inner == t->n_keeps || problem->place[t->keep[inner].place].waits);
}

/* Ranks that own loops may cut in a gap. */
static inline uint32_t dfl_template_own(const dfl_tiling_template *t, uint32_t gap)
{
    return t->through && gap + 1 == t->shared_gaps ? t->own_allow : gap < t->shared_gaps ? 0 : t->allow[gap];
}

/* Calls `use` for every skeleton of the einsum in a fixed order. Stops when `use` returns false or the deadline `halt` passes;
   `halt` = NULL: no deadline. */
void dfl_templates_each(const dfl_problem *problem, dfl_deadline *halt, bool (*use)(void *context, const dfl_tiling_template *t),
                        void *context);
/* As dfl_templates_each, for the skeletons of one family: those with the places of the family for all operands, and with its
   outermost keeps, in its order, as their first keeps. dfl_family_handles (family.h) says for which problems. */
void dfl_templates_of(const dfl_problem *problem, const dfl_family *family, dfl_deadline *halt,
                      bool (*use)(void *context, const dfl_tiling_template *t), void *context);
/* Calls `use` for every skeleton that dfl_templates_each leaves out because another one is as good with every choice of tiles. */
void dfl_templates_useless(const dfl_problem *problem, dfl_deadline *halt,
                           bool (*use)(void *context, const dfl_tiling_template *t),
                           void *context);
/* Templates with loops of others; with `keeps` also those that have keeps above them which stand above no gap that shares loops
   for the sake of something exchanged: their transfers are part of the time that the einsum takes at least elsewhere. */
void dfl_templates_through(const dfl_problem *problem, dfl_deadline *halt, bool keeps,
                           bool (*use)(void *context, const dfl_tiling_template *t), void *context);

#endif
