/*
 * Interned names: equal texts get equal symbols, so later passes compare and index by symbol. Symbols count up from 1
 * in order of interning; symbol 0 is "no name".
 */
#ifndef DFL_SUPPORT_INTERN_H
#define DFL_SUPPORT_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

typedef uint32_t dfl_sym;
typedef struct dfl_intern dfl_intern;

dfl_intern *dfl_intern_new(dfl_arena *arena);
/* The symbol of a text, which is interned if it is new; 0 for an empty text. */
dfl_sym dfl_intern_text(dfl_intern *names, const char *text, size_t len);
dfl_sym dfl_intern_z(dfl_intern *names, const char *text);
/* The symbol of a text that was interned before, else 0. */
dfl_sym dfl_intern_find(const dfl_intern *names, const char *text, size_t len);
/* The text of a symbol: NUL-terminated, owned by the table; "" for symbol 0. */
const char *dfl_sym_text(const dfl_intern *names, dfl_sym sym);
/* Number of symbols, symbol 0 not counted. */
uint32_t dfl_intern_count(const dfl_intern *names);

#endif
