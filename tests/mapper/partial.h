/*
 * Tiny problems with partly written mappings. The lines are drawn at random, or taken from a complete mapping; amounts of loops
 * or whole lines are open.
 */
#ifndef DFL_TESTS_MAPPER_PARTIAL_H
#define DFL_TESTS_MAPPER_PARTIAL_H

#include "tests/mapper/tiny.h"

/* Prints the problem with random lines, which may contradict each other. */
void partial_draw(const tiny *t, tiny_random *r, FILE *out);
/* Prints the file `text` with some amounts of its mapping `best` open, and others changed. */
void partial_open(const char *text, tiny_random *r, FILE *out);
/* Prints the first einsum of the problem with some lines, and places for other lines between them. */
void partial_between(const tiny *t, tiny_random *r, FILE *out);
/* Prints the einsums in branches, with places for lines in the braces. Above the branches stand keeps, and loops that may miss
   some of the einsums. */
void partial_braces(const tiny *t, tiny_random *r, FILE *out);
/* Prints the problem twice. In `together` the first two einsums are open together, in one brace or in none. In `apart` each has
   a brace of its own, inside a brace with a home for the result of the first one. */
void partial_together(const tiny *t, tiny_random *r, FILE *together, FILE *apart);
/* Prints the file `text`, in which a search wrote all lines of the mapping `best`, with some neighbouring lines open again. */
void partial_reopen(const char *text, tiny_random *r, FILE *out);

#endif
