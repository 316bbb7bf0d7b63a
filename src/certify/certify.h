/*
 * Verifies what a search claims, without the search: this room may include the language's data, the intermediate
 * representation and the model, and nothing of src/mapper. What is shown, from a certificate (claims.h) and a file:
 *
 *   proven    The certificate is for this file: digests of workload, system, mapping and objective. The best mapping is
 *             legal, has the lines that were written, and costs by the model what is claimed.
 *   proven    The templates of each class of einsums, with those that the search calls useless, are all that the stated
 *             space has (skeletons.c), by an enumeration of its own; two that differ in nothing but how the search counts
 *             them are one.
 *   proven    The bounds go together: what the patterns make at least (pattern_bounds.c), and the best way to put the rows
 *             together (join.c), are the values claimed; the mapping is called optimal if and only if its
 *             value is the lower bound.
 *   by the    For each template, useless or not, all choices of tiles, or a fixed sample of them where they are too many for
 *   model     the effort that is shared by all (sampling.c), are evaluated by the model (tiles.c): none is below the least
 *             of its pattern, or of the bounds of the templates with no other keeps, and where it could be part of a
 *             mapping below the lower bound some row
 *             covers it. Which templates were complete is told. Not among the choices are loops that stand just above a
 *             keep which they do not move (the keep further out is another template), just below a keep of which they
 *             select a part (above it they make it smaller), and other orders of the loops in one gap; a sample of the
 *             first two is looked at, too. Nor is it shown that no row is missing of those with loops that stand above nothing
 *             that the einsum exchanges, or that do not go along an input which a keep holds for several below them.
 *
 * Taken for granted are the language, the model, which `dflc prove` compares with an execution, and that a mapping of the
 * space costs no less than its einsums one by one, each with what it exchanges in its place, and with every input that a keep
 * holds for several of them fetched once: no other keep serves two.
 * Time is what the model tells for one einsum alone: transfers above shared loops are counted, so that rows are checked
 * against less of them.
 */
#ifndef DFL_CERTIFY_CERTIFY_H
#define DFL_CERTIFY_CERTIFY_H

#include "certify/claims.h"
#include "support/strbuf.h"

/* Choices of tiles of all templates. */
#define DFL_CERTIFY_EFFORT UINT64_C(1000000)

/* How far the check of tiles is. */
typedef struct { uint64_t evaluated; uint32_t templates, of; } dfl_certify_told;

typedef struct {
    const dfl_intern *names;
    const dfl_mapping *asked;      /* with holes */
    const dfl_mapping *best;       /* the certificate's, read from its text in the place of `asked` */
    double (*value)(const void *objective, double joules, double seconds);
    const void *objective;
    double rounding;               /* relative */
    uint64_t effort;
    unsigned jobs;                 /* threads */
    /* Called from any of them now and then with the choices evaluated since, and how far it is; says whether to stop. May be
       NULL. */
    dfl_stop (*tell)(void *context, uint64_t more, const dfl_certify_told *now);
    void *context;
} dfl_certify_task;

/* Appends lines on what was shown; false after reporting what does not hold: E0801, E0803 .. E0807, or what stopped it
   (E06xx): then the lines are on what was shown until then. */
bool dfl_certify(dfl_arena *arena, dfl_sink *sink, const dfl_certify_task *task, const dfl_claims *claims, dfl_strbuf *said);

#endif
