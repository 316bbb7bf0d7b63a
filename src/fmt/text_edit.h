/*
 * Edits of the text of a file. Inserted text follows the style of the file: it uses the line ends of the first line, keeps
 * the comments of the replaced text, and preserves the layout of a formatted file.
 */
#ifndef DFL_FMT_TEXT_EDIT_H
#define DFL_FMT_TEXT_EDIT_H

#include "fmt/gap.h"
#include "support/strbuf.h"
#include "support/vec.h"

/* A file to edit; the file parsed without errors. */
typedef struct {
    dfl_arena *arena;          /* for texts of edits and for results */
    dfl_arena *scratch;        /* for tokens, trees and layouts */
    dfl_intern *names;
    dfl_source_map *sources;   /* receives a source for each text that is laid out */
    const dfl_syntax *syntax;
    dfl_fmt_input in;          /* source and tokens of the file */
} dfl_edited_file;

/* One edit: a span of the file and its replacement. An edit with an empty span inserts text. */
typedef struct {
    dfl_span span;
    const char *text;
    size_t number;             /* number of edits that were added before this one; orders edits of equal spans */
} dfl_text_edit;

typedef struct {
    const dfl_edited_file *file;
    DFL_VEC(dfl_text_edit) edits;
} dfl_text_edits;

dfl_edited_file dfl_edited_file_of(dfl_arena *arena, dfl_arena *scratch, dfl_intern *names, dfl_source_map *sources,
                                   const dfl_syntax *syntax);

/* ---- edits ---- */

/* Replaces a span by `text` without any change of `text`, which must outlive the edits. */
void dfl_text_edits_replace(dfl_text_edits *edits, dfl_span span, const char *text);
/* Replaces a span by `text` with the line ends of the file; the comments of the span follow `text`. */
void dfl_text_edits_add(dfl_text_edits *edits, dfl_span span, const char *text);
/* Sorts the edits from index `first` on by place. False if two of these edits overlap. */
bool dfl_text_edits_are_apart(dfl_text_edits *edits, size_t first);
/* Sorts all edits by place, applies the edits inside `span` and adds the edited text of `span` to `out`. */
void dfl_text_edits_apply(dfl_text_edits *edits, dfl_span span, dfl_strbuf *out);

/* ---- the look of the file ---- */

/* Converts `text` to the line ends of the file. `*len` is the length of `text`, and receives the length of the result. */
const char *dfl_edited_line_ends(const dfl_edited_file *file, const char *text, size_t *len);
/* Formats `text`, a whole file or some declarations; the result lies in `scratch`. NULL if `text` has syntax errors. */
const char *dfl_edited_lay_out(const dfl_edited_file *file, const char *text, size_t *len);
/* Whether the file is formatted: the formatter would change only its line ends. */
bool dfl_edited_is_laid_out(const dfl_edited_file *file);
/* Adds the comments of a span to `out`. A blank precedes each comment that does not start a line; a line end follows each
   `//` comment. */
void dfl_edited_add_comments(const dfl_edited_file *file, dfl_span span, dfl_strbuf *out);
/* Whether a position is the first one in its line that is not blank; `*column` is the number of blanks directly before the
   position. */
bool dfl_edited_starts_line(const dfl_edited_file *file, uint32_t position, size_t *column);
/* Length in bytes of the blanks and the `//` comment that follow a position; 0 if no `//` comment follows. `*comment`
   points to the comment. */
size_t dfl_edited_line_comment(const dfl_edited_file *file, uint32_t position, const char **comment);
/* Whether the text of token `i` equals `word`. */
bool dfl_edited_is_token(const dfl_edited_file *file, uint32_t i, const char *word);
/* Adds lines to `out` without the last line end. Indents all lines except the first by `column` more blanks; breaks lines
   wider than DFL_FMT_WIDTH after commas. */
void dfl_edited_add_lines(dfl_strbuf *out, const dfl_strbuf *lines, size_t column);

#endif
