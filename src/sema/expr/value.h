/* What a constant expression gives. */
#ifndef DFL_SEMA_EXPR_VALUE_H
#define DFL_SEMA_EXPR_VALUE_H

#include "ir/quantity.h"
#include "support/intern.h"
#include "support/vec.h"

typedef enum {
    DFL_VALUE_BAD,      /* reported already; silences everything it takes part in */
    DFL_VALUE_UNKNOWN,  /* depends on a parameter that has no value yet */
    DFL_VALUE_QUANTITY,
    DFL_VALUE_BOOL,
    DFL_VALUE_STRING,
} dfl_value_kind;

typedef struct {
    dfl_value_kind kind;
    bool truth;
    dfl_sym text;
    dfl_quantity quantity;
} dfl_value;

#define DFL_BAD ((dfl_value){ .kind = DFL_VALUE_BAD })
#define DFL_UNKNOWN ((dfl_value){ .kind = DFL_VALUE_UNKNOWN })

dfl_value dfl_value_of(dfl_quantity q);
dfl_value dfl_value_of_bool(bool truth);

typedef DFL_VEC(dfl_value) dfl_values;

#endif
