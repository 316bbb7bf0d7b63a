/* Data types of tensors: the sizes of elements by the name of the type. */
#ifndef DFL_SEMA_EXPR_DATA_TYPE_H
#define DFL_SEMA_EXPR_DATA_TYPE_H

#include <stdint.h>

#include "support/intern.h"

/* Bits of an element of the data type `name` ("bf16"); 0 for any other name, and for `bits(n)`. */
uint32_t dfl_data_type_bits(const char *name);
/* The data type that is probably meant by `name`: the name of the same type in other languages, or a similar one; NULL = none. */
const char *dfl_data_type_suggest(dfl_intern *names, const char *name);

#endif
