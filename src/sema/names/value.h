/* Values of constant expressions. */
#ifndef DFL_SEMA_NAMES_VALUE_H
#define DFL_SEMA_NAMES_VALUE_H

#include "ir/quantity.h"
#include "support/intern.h"
#include "support/vec.h"

typedef enum {
    DFL_VALUE_BAD,      /* result after a reported error; an operation with a BAD operand is BAD, without a further report */
    DFL_VALUE_UNKNOWN,  /* the value depends on a parameter without a value (in a template) */
    DFL_VALUE_QUANTITY, /* a number with a dimension */
    DFL_VALUE_BOOL,
    DFL_VALUE_STRING,
} dfl_value_kind;

typedef struct {
    dfl_value_kind kind;
    bool truth;            /* value of a BOOL */
    dfl_sym text;          /* text of a STRING */
    dfl_quantity quantity; /* value of a QUANTITY */
} dfl_value;

typedef DFL_VEC(dfl_value) dfl_values;

#define DFL_BAD ((dfl_value){ .kind = DFL_VALUE_BAD })
#define DFL_UNKNOWN ((dfl_value){ .kind = DFL_VALUE_UNKNOWN })

/* A QUANTITY with the value `q`. */
dfl_value dfl_value_of(dfl_quantity q);
/* A BOOL with the value `truth`. */
dfl_value dfl_value_of_bool(bool truth);
/* Whether two values are equal; UNKNOWN equals UNKNOWN, BAD equals BAD. */
bool dfl_value_equal(const dfl_value *a, const dfl_value *b);

#endif
