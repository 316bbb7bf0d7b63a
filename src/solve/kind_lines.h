/*
 * The lines of each einsum by itself, where einsums are searched one by one. Equal einsums are one kind, which is searched once:
 * by the mapper, by small changes of its lines, or by quick searches.
 */
#ifndef DFL_SOLVE_KIND_LINES_H
#define DFL_SOLVE_KIND_LINES_H

#include "solve/assembly.h"

/* Name of the first construct of an einsum that the mapper does not support; NULL = it supports all of them. */
const char *dfl_kind_lines_lack(const dfl_fill *fill, const dfl_mapping *mapping, uint32_t einsum);
/* Finds the lines of all einsums, and the outermost memories of all tensors. False after reporting. */
bool dfl_kind_lines_find(dfl_assembly *a);
/* Replaces the lines of all einsums with conditions by those that take each operand from its home, whose evaluation is short.
   False if there are none. */
bool dfl_kind_lines_shorten(dfl_assembly *a);

#endif
