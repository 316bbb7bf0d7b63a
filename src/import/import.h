/*
 * Mappings of other tools as .dfl text. An importer reads a foreign file, says in DFL what it means, and
 * says what DFL could not take over: every loss is a warning at the place in the source and a comment line
 * above the mapping it touches. Nothing here bypasses the checker: the text that comes back is parsed and
 * checked like any other.
 *
 * Work that a source maps twice (overlapping tiles of a rank) or not at all (gaps) has no syntax in DFL.
 * Importers emit the nearest legal mapping, which does every operation once, and report the difference as a
 * loss.
 */
#ifndef DFL_IMPORT_IMPORT_H
#define DFL_IMPORT_IMPORT_H

#include "diag/diag.h"
#include "support/strbuf.h"
#include "support/vec.h"

/*
 * A mapping file of MAESTRO and, when `hw` is not NULL, its hardware file. The text has one workload per
 * kind of layer, one system per number of cluster levels, and one mapping per layer in file order, named
 * after the layer. Tensors `input`, `filter`, `output`; memories `dram`, `l2`, `c1`, `c2` ... (inner
 * clusters), `l1` (in the processing element); axes `a0` (outermost), `a1` ... . Returns NULL after
 * reporting errors (E07xx, or E06xx for a stopped budget); the text lives in `arena` and ends with a line
 * end. `sources` must hold both files.
 */
char *dfl_import_maestro(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources,
                         const dfl_source *mapping, const dfl_source *hw);

/*
 * A specification for AccelForge, in one file or in several that each hold some of its parts. The text has one
 * workload `einsums`, one system `machine` and, when there is an `arch`, one mapping `mapped`, which is a hole for the
 * mapper when the specification has none. Tensors, memories, units and axes keep their names. Returns NULL after
 * reporting errors; the text lives in `arena`. `sources` must hold all files; `n` > 0.
 */
char *dfl_import_accelforge(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources,
                            const dfl_source *const *files, size_t n);

/*
 * A run of Timeloop: problem, architecture, and mapping or constraints. The text has one workload `problem`, one system
 * `arch` and one mapping `mapped`, which is a hole for the mapper when the file has none. Dimensions, tensors and levels
 * keep their names; axes are `x_LEVEL`, `y_LEVEL` below a level. Returns NULL after reporting errors; the text lives in
 * `arena`. `sources` must hold the file.
 */
char *dfl_import_timeloop(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const dfl_source *source);

/* What an import could not take over, for one declaration of the result. */
typedef struct {
    dfl_span span;
    const char *text;
} dfl_loss;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_source_map *sources;
    DFL_VEC(dfl_loss) losses;
} dfl_loss_report;

void dfl_loss_init(dfl_loss_report *report, dfl_arena *arena, dfl_sink *sink,
                   const dfl_source_map *sources);
/* Warns with `code` at `span` and keeps the message for the comment. Returns the record for labels and
 * help. */
dfl_diag *dfl_lose(dfl_loss_report *report, dfl_code code, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Keeps a remark for the comment that is worth no warning. */
void dfl_loss_remark(dfl_loss_report *report, dfl_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The losses reported so far, which are forgotten here. */
dfl_loss *dfl_loss_take(dfl_loss_report *report, size_t *n);
/* Writes one comment line per loss: `// line 12: message`, with the file's name when it is not `main`. */
void dfl_loss_print(const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses, size_t n,
                    dfl_strbuf *out);
/* The part of a file name behind its last slash, safe inside a comment; results name no directories. */
const char *dfl_import_base_name(dfl_arena *arena, const dfl_source *source);
/* Text of the source made safe for a comment: one line of printable UTF-8, `?` for each other byte. */
const char *dfl_import_plain(dfl_arena *arena, const char *text);

/* Whether the text is a file of DFL. */
bool dfl_import_parses(dfl_arena *arena, const char *text);
/* The text as the formatter lays it out; NULL after reporting that it does not parse, or a stop. */
char *dfl_import_layout(dfl_arena *arena, dfl_sink *sink, const char *text);

/*
 * Names of the result. An identifier made from any text: other characters than letters, digits and `_`
 * become `_`, a leading digit or a reserved word gets a `_`, an empty text becomes `_`, and a text that is longer than
 * names may be is cut; `taken` holds
 * the names given so far; a repeat gets `_2`, `_3` and so on. The name lives in the arena of the table.
 */
typedef struct {
    dfl_arena *arena;
    dfl_intern *taken;
    DFL_VEC(uint32_t) next; /* by symbol: the suffix to try next */
} dfl_name_table;

void dfl_name_table_init(dfl_name_table *table, dfl_arena *arena);
const char *dfl_name_make(dfl_name_table *table, const char *text);

#endif
