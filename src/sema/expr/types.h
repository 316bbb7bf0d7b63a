/* Data types of tensors by name. */
#ifndef DFL_SEMA_EXPR_TYPES_H
#define DFL_SEMA_EXPR_TYPES_H

#include <stdint.h>

/* Bits of a data type by name ("bf16"); 0 for anything else. `bits(n)` is the caller's. */
uint32_t dfl_type_bits(const char *name);

#endif
