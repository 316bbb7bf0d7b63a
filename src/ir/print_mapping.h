/* Printer of mappings in the language, with full names and all sizes as numbers, so that parsing the text gives an
   equal tree. */
#ifndef DFL_IR_PRINT_MAPPING_H
#define DFL_IR_PRINT_MAPPING_H

#include "ir/mapping.h"
#include "support/strbuf.h"

enum { DFL_PRINT_INDENT = 2 }; /* blanks per level of mappings in dumps, reports and certificates */

/* The whole declaration, `mapping NAME for W(...) on S(...) { ... }`, with `indent` blanks per level. */
void dfl_mapping_print(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, unsigned indent);
/* The lines of the body without its braces; those of the root are not indented. */
void dfl_mapping_print_lines(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, unsigned indent);

#endif
