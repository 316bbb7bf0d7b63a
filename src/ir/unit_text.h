/*
 * Text of quantities: reads literals with units, and writes quantities with the best unit. The table of the units is
 * grammar/units.def; each unit is a fraction of the base unit of its dimension (quantity.h).
 * Dimensions are checked in quantity.c; sema/expr and sema/system report the errors.
 *
 * Prefixes. SI decimal prefixes are p n u m k M G T P E (10^-12, ..., 10^-3, 10^3, ..., 10^18), written before the
 * unit. Binary prefixes are Ki Mi Gi Ti Pi Ei (2^10, ..., 2^60), IEC 80000-13. The table defines the prefixes of each
 * unit: a byte has k M G T P E and the binary prefixes, a minute has none.
 */
#ifndef DFL_IR_UNIT_TEXT_H
#define DFL_IR_UNIT_TEXT_H

#include <stddef.h>

#include "ir/quantity.h"
#include "support/arena.h"
#include "support/strbuf.h"

typedef enum {
    DFL_LITERAL_OK,
    DFL_LITERAL_MALFORMED,  /* the text is no number */
    DFL_LITERAL_UNIT,       /* the unit is unknown */
    DFL_LITERAL_RANGE,      /* an integer exceeds 128 bits, or a number exceeds a double */
} dfl_literal;

/* Reads a literal: "1_024", "2e9", "1.5TB/s", "85%". `unit_at` (may be NULL) is set to the offset of the unit, or to
   `len` if the literal has no unit. */
dfl_literal dfl_quantity_parse(const char *text, size_t len, dfl_quantity *out, size_t *unit_at);

/* The unit that the author of an unknown one probably meant, in `arena`: "pJ/bit" for "pj/bit", "Gbit" for "Gb"; NULL if
   none is similar. `*sure`: only the case of letters differs, and no other unit is possible. */
const char *dfl_unit_suggest(dfl_arena *arena, const char *text, bool *sure);

/* Name of a dimension: "data/time", "number". */
void dfl_dim_print(dfl_strbuf *out, dfl_dim dim);
/* The value in a readable unit, with six digits: "40GB/s", "16KiB". */
void dfl_quantity_print(dfl_strbuf *out, dfl_quantity value);
/* The value as an expression of the language with exactly this value: "8589934592bit", "7e-12J/bit". */
void dfl_quantity_write(dfl_strbuf *out, dfl_quantity value);

#endif
