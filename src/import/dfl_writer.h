/*
 * DFL text as importers write it: names, numbers, lists, index expressions, and the layout of the whole file. Nothing here
 * bypasses the checker: the result is parsed and checked like any other file.
 */
#ifndef DFL_IMPORT_DFL_WRITER_H
#define DFL_IMPORT_DFL_WRITER_H

#include "diag/diag.h"
#include "support/strbuf.h"
#include "support/vec.h"

/* ---- comments ---- */

/* Foreign text made safe for a comment: one line of printable UTF-8, `?` for each other byte. */
const char *dfl_writer_plain(dfl_arena *arena, const char *text);
/* The part of a file name behind its last slash, safe for a comment: results name no directories. */
const char *dfl_writer_base_name(dfl_arena *arena, const dfl_source *source);

/* ---- names ---- */

/* The names given so far in one scope of the result. */
typedef struct {
    dfl_arena *arena;
    dfl_intern *taken;
    DFL_VEC(uint32_t) next; /* by symbol: suffix to try next, 0 = the name is free */
} dfl_name_table;

void dfl_name_table_init(dfl_name_table *table, dfl_arena *arena);
/*
 * An identifier made from any text. Each character other than a letter, a digit or `_` becomes `_`; a leading digit or
 * a reserved word gets a `_` in front; an empty text becomes `_`; a text beyond the longest name is cut. An identifier
 * that is taken gets the suffix `_2`, `_3`, ... The name lies in the arena of the table.
 */
const char *dfl_name_make(dfl_name_table *table, const char *text);

/* ---- statements ---- */

/* The state of writing a statement with a list, `WORD a, b, c;`. A list without items writes nothing. */
typedef struct {
    dfl_strbuf *out;
    const char *word; /* text before the first item; NULL after the first item */
} dfl_list_writer;

/* Starts a statement; `word` is the text before the first item, blanks included. */
dfl_list_writer dfl_writer_list(dfl_strbuf *out, const char *word);
/* Writes the separator; the caller writes the item behind it. */
void dfl_writer_item(dfl_list_writer *list);
/* Ends the statement. */
void dfl_writer_end_list(dfl_list_writer *list);
/* Writes `NAME = VALUEUNIT;` with the shortest digits that read back as `value`. */
void dfl_writer_quantity(dfl_strbuf *out, const char *name, double value, const char *unit);
/* Writes one term of a sum, ` + 2 * name` or ` - name`; a positive first term has no sign. */
void dfl_writer_term(dfl_strbuf *out, bool is_first, int64_t coefficient, const char *name);

/* ---- the file ---- */

/* The text in the layout of the formatter, in the arena. NULL after reporting that the text does not parse, or that the
   budget stopped. */
char *dfl_writer_layout(dfl_arena *arena, dfl_sink *sink, const char *text);

#endif
