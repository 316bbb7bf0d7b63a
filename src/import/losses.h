/*
 * Losses: what an import could not take over into DFL. An importer translates the meaning of a foreign file to DFL.
 * Each difference that remains is a warning at its place in the source and a comment line above the mapping that it
 * touches.
 *
 * Work that a source maps twice (overlapping tiles of a rank) or not at all (gaps) has no syntax in DFL. An importer
 * writes the nearest legal mapping, which does every operation once, and reports the difference as a loss.
 */
#ifndef DFL_IMPORT_LOSSES_H
#define DFL_IMPORT_LOSSES_H

#include "diag/diag.h"
#include "support/strbuf.h"
#include "support/vec.h"

typedef struct {
    dfl_span span;
    const char *text;
} dfl_loss;

/* Collects the losses of one declaration of the result while the importer reads its source. */
typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_source_map *sources;
    DFL_VEC(dfl_loss) losses;
} dfl_loss_report;

void dfl_loss_init(dfl_loss_report *report, dfl_arena *arena, dfl_sink *sink,
                   const dfl_source_map *sources);
/* Warns with `code` at `span` and keeps the message for the comment. Returns the record for labels and help. */
dfl_diag *dfl_lose(dfl_loss_report *report, dfl_code code, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Warns of the key of a map that is none of the `n` known ones, with the nearest of them. `of` = what the map is. */
void dfl_lose_key(dfl_loss_report *report, dfl_span span, const char *key, const char *of, const char *const *known, size_t n);
/* The one of `n` words that is nearest to a word, for "did you mean"; NULL when none is near. */
const char *dfl_loss_nearest(const char *word, const char *const *known, size_t n);
/* Adds a remark to the comment of the declaration; reports no warning. */
void dfl_loss_remark(dfl_loss_report *report, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the losses of the report, `*n` of them, and empties the report. */
dfl_loss *dfl_loss_take(dfl_loss_report *report, size_t *n);
/* Writes one comment line per loss: `// line 12: message`, with the file's name when the file is not `main`. */
void dfl_loss_print(const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses, size_t n,
                    dfl_strbuf *out);

#endif
