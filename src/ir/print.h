/*
 * The intermediate representation as text, for `dflc dump ir`, for tests and for reports. A mapping prints in the
 * language itself, with full names and all sizes as numbers, so that reading it back gives the same tree; workloads
 * and systems print one part a line with everything that was derived.
 */
#ifndef DFL_IR_PRINT_H
#define DFL_IR_PRINT_H

#include "ir/program.h"
#include "support/strbuf.h"

void dfl_workload_print(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w);
void dfl_system_print(dfl_strbuf *out, const dfl_intern *names, const dfl_system *s);
enum { DFL_PRINT_INDENT = 2 }; /* blanks per level of mappings in dumps, reports and certificates */

/* `mapping NAME for W(...) on S(...) { ... }`, with `indent` blanks per level. */
void dfl_mapping_print(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, unsigned indent);
/* The lines of its body alone; those of the root are not indented. */
void dfl_mapping_print_lines(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, unsigned indent);
void dfl_val_print(dfl_strbuf *out, const dfl_intern *names, const dfl_val *v);
void dfl_check_print(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c);
/* As a statement where it stands, which means exactly the same when it is read again. */
void dfl_check_write(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c);
/* Everything of a program. */
void dfl_ir_print(dfl_strbuf *out, const dfl_intern *names, const dfl_program *p);

const char *dfl_role_text(dfl_role role);

#endif
