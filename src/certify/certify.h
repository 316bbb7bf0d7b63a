/*
 * Checks the claims of a search without the search: this room sees the intermediate representation and the model, and
 * nothing of src/mapper. The input is a certificate (claims.h) and the mapping with holes; the check has four parts.
 *
 *   certify.c         Proved: the best mapping of the certificate is legal, keeps the lines that were written, and costs what
 *                     is claimed by the model. The caller compares the digests of workload, system, mapping and objective.
 *   skeletons.c       Proved: the skeletons of each class of einsums, useless ones included, are exactly those of the space.
 *                     They are enumerated anew; skeletons that differ only in how the search counts them are one.
 *   pattern_bounds.c  Proved: the claims follow from each other. The lower bounds of the patterns and the best combination of
 *   join.c            rows have the claimed values, and the mapping is called optimal if and only if its value is the lower
 *                     bound.
 *   sampling.c        Tested by the model: for each skeleton, useless or not, all tile choices, or a fixed sample where they
 *   tiles.c           exceed the effort. No choice is below the bound of its pattern, or below the bounds of the skeletons that
 *                     keep a subset. A row covers each choice that could be part of a mapping below the lower bound. The result
 *                     tells which skeletons were checked completely.
 *
 * The complete tile choices leave out loops that cannot help: loops just above a keep that they do not move (the keep
 * further out is another skeleton), loops just below a keep of which they select a part (above it they make the tile
 * smaller), and other orders of the loops in one slot. A sample of the first two is evaluated, too. Not shown: that no
 * row is missing whose loops stand above nothing that the einsum exchanges, or do not go along an input in a keep for
 * several einsums.
 *
 * Trusted: the language; the model, which `dflc prove` compares with an execution; and that a mapping of the space
 * costs at least its einsums one by one, each with its exchanges in their memories, with every input in a keep for
 * several einsums fetched once. No other keep serves two einsums. Time is that of the model for the einsum alone: it
 * counts transfers above shared loops, so a row is compared with fewer of them.
 */
#ifndef DFL_CERTIFY_CERTIFY_H
#define DFL_CERTIFY_CERTIFY_H

#include "certify/claims.h"
#include "certify/limits.h"
#include "support/strbuf.h"

/* Progress of the check of tiles: evaluations since the last report; skeletons checked, and all. */
typedef struct { uint64_t evaluated; uint32_t checked, total; } dfl_certify_progress;

typedef struct {
    const dfl_intern *names;
    const dfl_mapping *asked;      /* the mapping with holes */
    const dfl_mapping *best;       /* the certificate's mapping, read from its text in the place of `asked` */
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    double rounding;               /* relative difference up to which two costs are equal */
    uint64_t effort;               /* evaluations by the model for all skeletons; DFL_CERTIFY_EFFORT */
    unsigned jobs;                 /* threads */
    /* Called from any thread every few milliseconds with the evaluations since the last call; may ask to stop. May be
       NULL. */
    dfl_stop (*tell)(void *context, uint64_t more, const dfl_certify_progress *now);
    void *context;
} dfl_certify_task;

/* Checks the claims and appends one line on the outcome to `said`. False after reporting the first claim that does not
   hold (E0801, E0803 .. E0807) or what ended the check early (E06xx); in the second case the line is on the skeletons
   checked. */
bool dfl_certify(dfl_arena *arena, dfl_sink *sink, const dfl_certify_task *task, const dfl_claims *claims, dfl_strbuf *said);

#endif
