/* Lints about the units of literals. */
#ifndef DFL_LINT_BIT_BYTE_H
#define DFL_LINT_BIT_BYTE_H

#include "diag/diag.h"
#include "ir/quantity.h"
#include "syntax/ast_expr.h"

/*
 * Reports a literal in bits for an attribute that is usually in bytes, or the reverse (E0315). `literal` is the value of
 * attribute `attribute` of a memory, `dim` is the dimension of the attribute. Data is usually given in bytes, energy per
 * data in bits.
 */
void dfl_lint_bit_byte(dfl_sink *sink, const dfl_lint_levels *levels, const dfl_expr *literal, const char *attribute,
                       const dfl_dim *dim);

#endif
