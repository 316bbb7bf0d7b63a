/* Checks and their expressions as text. */
#ifndef DFL_IR_PRINT_CHECK_H
#define DFL_IR_PRINT_CHECK_H

#include "ir/program.h"
#include "support/strbuf.h"

/* An expression, with quantities in readable units (six digits). */
void dfl_val_print(dfl_strbuf *out, const dfl_intern *names, const dfl_val *v);
/* A check as a line, with quantities in readable units and with the scope of the check at the end. */
void dfl_check_print(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c);
/* A check as a statement of the language, with exactly the same meaning when it is parsed again. */
void dfl_check_write(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c);

#endif
