/* The lines that were chosen for a `?` among loops or keeps, as an edit of the file. */
#ifndef DFL_SOLVE_CHOICE_REWRITE_H
#define DFL_SOLVE_CHOICE_REWRITE_H

#include "fmt/text_edit.h"
#include "solve/filled.h"

/*
 * Adds the edit for one choice of body number `body` of a filled mapping. Its text are the lines of the body that were made
 * for the choice. Without such lines the `?` goes: with a comma beside it, with its memory or axis if nothing else is there,
 * or with the whole statement. False if the `?` is not in the file.
 */
bool dfl_choice_rewrite(dfl_text_edits *edits, const dfl_filled *filled, uint32_t body, const dfl_line_choice *choice);

#endif
