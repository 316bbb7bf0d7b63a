/* Data types of tensors: the sizes of elements by the name of the type. */
#ifndef DFL_SEMA_EXPR_DATA_TYPE_H
#define DFL_SEMA_EXPR_DATA_TYPE_H

#include <stdint.h>

/* Bits of an element of the data type `name` ("bf16"); 0 for any other name, and for `bits(n)`. */
uint32_t dfl_data_type_bits(const char *name);
/* The name of the data type with an index, counted from 0; NULL after the last one. Used for suggestions. */
const char *dfl_data_type_name(uint32_t index);

#endif
