/* Edits of a file that replace a `?` among loops or keeps by the lines of its structural choice. */
#ifndef DFL_SOLVE_CHOICE_REWRITE_H
#define DFL_SOLVE_CHOICE_REWRITE_H

#include "fmt/text_edit.h"
#include "solve/filled.h"

/*
 * Adds the edit for one choice of the body `body` (an id) of a filled mapping: replaces the `?` by the lines that the search
 * made for the choice. Without such lines the edit deletes the `?` with an adjacent comma, with its memory or axis if the
 * group has no other element, or with the statement if that has no other element. False if the `?` is not in the file.
 */
bool dfl_choice_rewrite(dfl_text_edits *edits, const dfl_filled *filled, uint32_t body, const dfl_line_choice *choice);

#endif
