/*
 * Checks the claims of a search independently of the search: this room includes the intermediate representation and the
 * model, and nothing of src/mapper. The input is a certificate (claims.h) and the mapping with holes. Plans over chips have
 * a check of their own (plans.h), by the evaluation of written plans. The check of other mappings has four parts.
 *
 *   certify.c
 *       Proof: the best mapping of the certificate is legal, keeps the lines that the user wrote, and has the claimed costs
 *       in the model. The caller compares the digests of workload, system, mapping and objective.
 *   skeletons.c
 *       Proof: the skeletons of each class of einsums, useless ones included, are exactly those of the space. The check
 *       enumerates the skeletons anew. Skeletons that differ only in the accounting of the search count as one.
 *   pattern_bounds.c, join.c
 *       Proof: the claims follow from each other. The lower bounds of the patterns and the best combination of rows have
 *       the claimed values. The mapping is called optimal if and only if its value is the lower bound.
 *   box_proof.c, box_terms.c
 *       Proof, for one einsum whose tensors have one rank in each dimension: no tile choice of a skeleton costs less than the
 *       lower bound (SEARCH.md, B50 to B52). The result states how many skeletons this proves; with all of them, the lower
 *       bound is proven.
 *   sampling.c, tiles.c
 *       Test by the model, for each skeleton, useless or not: all tile choices, or a fixed sample if their number exceeds
 *       the effort. No choice costs less than the bound of its pattern, or than the bounds of the skeletons that keep a
 *       subset. A row covers each choice that some mapping below the lower bound could contain. The result states which
 *       skeletons were checked completely.
 *
 * A complete check of tile choices omits loops that cannot help. Such a loop stands just above a keep that it does not
 * move (the keep further out is another skeleton), or just below a keep of which it selects a part (above the keep it
 * would make the tile smaller). Other orders of the loops in one slot are omitted, too. The check evaluates a sample of
 * the choices with loops that cannot help.
 *
 * Two kinds of missing rows remain undetected: rows with loops above none of the einsum's exchanges, and rows with
 * loops that do not move along an input in a keep for several einsums.
 *
 * The check trusts the language, and the model, which `dflc prove` compares with an execution. The check also trusts
 * that a mapping of the space costs at least the sum of its einsums one by one, each with its exchanges in their
 * memories, if every input in a keep for several einsums is fetched once. No other keep serves two einsums. The time of
 * an einsum is that of the model for the einsum alone. This time includes transfers above shared loops, so fewer tile
 * choices fall below the lower bound and are compared with rows.
 */
#ifndef DFL_CERTIFY_CERTIFY_H
#define DFL_CERTIFY_CERTIFY_H

#include "certify/claims.h"
#include "support/limits.h"
#include "support/strbuf.h"

/* Progress of the check of tile choices: evaluations since the last report; skeletons checked so far; all skeletons. */
typedef struct { uint64_t evaluated; uint32_t checked, total; } dfl_certify_progress;

typedef struct {
    const dfl_intern *names;
    const dfl_mapping *asked;      /* the mapping with holes */
    const dfl_mapping *best;       /* the best mapping of the certificate, parsed in the place of `asked` */
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    double rounding;               /* relative difference up to which two costs are equal */
    uint64_t effort;               /* limit on the evaluations by the model for all skeletons together; default
                                      DFL_CERTIFY_EFFORT */
    unsigned jobs;                 /* number of threads */
    /* Called from any thread every few milliseconds with the evaluations since the last call; the callback may ask to
       stop. May be NULL. */
    dfl_stop (*tell)(void *context, uint64_t more, const dfl_certify_progress *now);
    void *context;
} dfl_certify_task;

/* Checks the claims and appends one line on the outcome to `said`. False after a report: of the first claim that does
   not hold (E0801, E0803 .. E0807), or of the error that ended the check early (E06xx). After an early end the line
   states how many skeletons were checked. */
bool dfl_certify(dfl_arena *arena, dfl_sink *sink, const dfl_certify_task *task, const dfl_claims *claims, dfl_strbuf *said);

#endif
