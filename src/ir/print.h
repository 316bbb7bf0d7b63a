/*
 * The intermediate representation as text, for `dflc dump ir` and for tests. Workloads and systems print one part a
 * line, with all derived properties; mappings print in the language (print_mapping.h).
 */
#ifndef DFL_IR_PRINT_H
#define DFL_IR_PRINT_H

#include "ir/program.h"
#include "support/strbuf.h"

void dfl_workload_print(dfl_strbuf *out, const dfl_intern *names, const dfl_workload *w);
void dfl_system_print(dfl_strbuf *out, const dfl_intern *names, const dfl_system *s);
/* Prints the workloads, systems, mappings and checks of a program, in this order. */
void dfl_ir_print(dfl_strbuf *out, const dfl_intern *names, const dfl_program *p);

/* The name of a role: "input". */
const char *dfl_role_text(dfl_role role);

#endif
