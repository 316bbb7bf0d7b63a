/*
 * Tiny problems whose mappings have lines, with amounts of loops left open: lines drawn at random, or those of a
 * complete mapping.
 */
#ifndef DFL_TESTS_MAPPER_PARTIAL_H
#define DFL_TESTS_MAPPER_PARTIAL_H

#include "tests/mapper/tiny.h"

/* The problem as a file with lines that need not go together. */
void partial_draw(const tiny *t, tiny_random *r, FILE *out);
/* The file `text` with some amounts of its mapping `best` left open, and others changed. */
void partial_open(const char *text, tiny_random *r, FILE *out);
/* The first einsum of a problem as a file with some lines, and places for any others between them. */
void partial_between(const tiny *t, tiny_random *r, FILE *out);
/* Several einsums as a file with branches, and places for lines in their braces; above them keeps, and loops that need not reach
   all einsums. */
void partial_braces(const tiny *t, tiny_random *r, FILE *out);
/* The same with the first two einsums open together, as braces or, as all that have none, among the branches; and with braces of
   their own for each, in a brace with a home for what the first one makes. */
void partial_together(const tiny *t, tiny_random *r, FILE *together, FILE *apart);
/* The file `text`, in which a search wrote all lines of the mapping `best`, with some neighbours of them open again. */
void partial_reopen(const char *text, tiny_random *r, FILE *out);

#endif
