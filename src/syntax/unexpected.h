/* The report of a token that the grammar does not allow. */
#ifndef DFL_SYNTAX_UNEXPECTED_H
#define DFL_SYNTAX_UNEXPECTED_H

#include "syntax/parse.h"

/* Reports the present token (E0101). `expected` are the names of all allowed tokens, in the order of the grammar. */
void dfl_parse_unexpected(dfl_parse *p, dfl_span at, const char *const *expected, size_t n);

#endif
