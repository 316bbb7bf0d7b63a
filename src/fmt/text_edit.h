/*
 * Edits of the text of a file. What an edit puts into the file looks like the rest of it: lines end as the first line of the
 * file does, comments of the replaced text are kept, and a file that is laid out by the formatter stays so.
 */
#ifndef DFL_FMT_TEXT_EDIT_H
#define DFL_FMT_TEXT_EDIT_H

#include "fmt/gap.h"
#include "support/strbuf.h"
#include "support/vec.h"

/* A file that is edited. It parsed without errors. */
typedef struct {
    dfl_arena *arena;          /* for texts of edits and for results */
    dfl_arena *scratch;        /* for tokens, trees and layouts */
    dfl_intern *names;
    dfl_source_map *sources;   /* gets a source for each text that is laid out */
    const dfl_syntax *syntax;
    dfl_fmt_input in;          /* its source and tokens */
} dfl_edited_file;

/* A span of the file and the text that takes its place. An empty span inserts. */
typedef struct {
    dfl_span span;
    const char *text;
    size_t number;             /* order of edits of the same span: that of their addition */
} dfl_text_edit;

typedef struct {
    const dfl_edited_file *file;
    DFL_VEC(dfl_text_edit) edits;
} dfl_text_edits;

dfl_edited_file dfl_edited_file_of(dfl_arena *arena, dfl_arena *scratch, dfl_intern *names, dfl_source_map *sources,
                                   const dfl_syntax *syntax);

/* ---- edits ---- */

/* Replaces a span by `text` as it is. `text` must outlive the edits. */
void dfl_text_edits_replace(dfl_text_edits *edits, dfl_span span, const char *text);
/* Replaces a span by `text` with the line ends of the file, and the comments of the span behind it. */
void dfl_text_edits_add(dfl_text_edits *edits, dfl_span span, const char *text);
/* Orders the edits from number `first` on by place. False if two of them overlap. */
bool dfl_text_edits_are_apart(dfl_text_edits *edits, size_t first);
/* Orders all edits by place, and adds the text of `span` with the edits inside of it to `out`. */
void dfl_text_edits_apply(dfl_text_edits *edits, dfl_span span, dfl_strbuf *out);

/* ---- the look of the file ---- */

/* `text` with the line ends of the file. `*len` is its length before and after. */
const char *dfl_edited_line_ends(const dfl_edited_file *file, const char *text, size_t *len);
/* A whole file, or declarations of one, as the formatter lays them out, in `scratch`. NULL if `text` has syntax errors. */
const char *dfl_edited_lay_out(const dfl_edited_file *file, const char *text, size_t *len);
/* Whether the formatter changes nothing of the file but line ends. */
bool dfl_edited_is_laid_out(const dfl_edited_file *file);
/* Adds the comments of a span to `out`, each behind a blank, or at the start of a line; `//` comments end theirs. */
void dfl_edited_add_comments(const dfl_edited_file *file, dfl_span span, dfl_strbuf *out);
/* Whether nothing but blanks stands before a position in its line; `*column` counts the blanks directly before it. */
bool dfl_edited_starts_line(const dfl_edited_file *file, uint32_t position, size_t *column);
/* Bytes of blanks and a `//` comment from a position on; 0 if no such comment follows. `*comment` is its text. */
size_t dfl_edited_line_comment(const dfl_edited_file *file, uint32_t position, const char **comment);
/* Whether token `i` is this word or sign. */
bool dfl_edited_is_token(const dfl_edited_file *file, uint32_t i, const char *word);
/* Adds lines to `out` without the end of the last one. All but the first are moved right by `column` blanks; lines that get
   wider than the layout of a file are broken behind commas. */
void dfl_edited_add_lines(dfl_strbuf *out, const dfl_strbuf *lines, size_t column);

#endif
