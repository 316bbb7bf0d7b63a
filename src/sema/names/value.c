#include "sema/names/value.h"

dfl_value dfl_value_of(dfl_quantity q)
{
    return (dfl_value){ .kind = DFL_VALUE_QUANTITY, .quantity = q };
}

dfl_value dfl_value_of_bool(bool truth)
{
    return (dfl_value){ .kind = DFL_VALUE_BOOL, .truth = truth };
}

bool dfl_value_equal(const dfl_value *a, const dfl_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == DFL_VALUE_BOOL)
        return a->truth == b->truth;
    if (a->kind == DFL_VALUE_STRING)
        return a->text == b->text;
    if (a->kind != DFL_VALUE_QUANTITY)
        return true;
    return a->quantity.exact == b->quantity.exact && a->quantity.integer == b->quantity.integer &&
           a->quantity.real == b->quantity.real && dfl_dim_equal(a->quantity.dim, b->quantity.dim);
}
