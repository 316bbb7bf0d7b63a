#include "sema/names/value.h"

dfl_value dfl_value_of(dfl_quantity q)
{
    return (dfl_value){ .kind = DFL_VALUE_QUANTITY, .quantity = q };
}

dfl_value dfl_value_of_bool(bool truth)
{
    return (dfl_value){ .kind = DFL_VALUE_BOOL, .truth = truth };
}
