/* "Did you mean": the known word nearest to a word that is unknown. */
#ifndef DFL_DIAG_SUGGEST_H
#define DFL_DIAG_SUGGEST_H

#include "support/intern.h"

/*
 * The candidate nearest to `word` by edit distance, or 0. The distance is at most a third of the length of `word`; at
 * most 1 for a word of two letters; for one letter only its other case counts. Among equally near candidates the first
 * wins.
 */
dfl_sym dfl_suggest(const dfl_intern *names, const char *word, const dfl_sym *candidates, size_t n);

#endif
