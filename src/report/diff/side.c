#include "report/diff/side.h"

#include <string.h>

#include "report/diff/shape_read.h"

bool dfl_side_read(dfl_arena *arena, dfl_sink *sink, const dfl_side *side, dfl_side_results *out)
{
    dfl_side_results all = { 0 };

    if (!dfl_diff_read(arena, sink, side->name, side->report, side->len, &all))
        return false;
    for (size_t i = 0; i < all.n; i++) {
        dfl_side_result one = all.at[i];

        if (side->only && strcmp(side->only, one.name) != 0)
            continue;
        one.shape = one.mapping ? dfl_shape_read(arena, &one) : NULL;
        DFL_PUSH(arena, out, one);
    }
    if (out->n == 0 && side->only)
        dfl_report(sink, DFL_NAME_UNKNOWN, (dfl_span){ 0, 0 }, "no result of `%s` is called `%s`", side->name, side->only);
    return out->n > 0 || !side->only;
}

void dfl_side_prefer(dfl_side_results *side, const char *name)
{
    for (size_t i = 0; i < side->n; i++)
        if (side->n > 1 && strcmp(side->at[i].name, name) == 0) {
            side->at[0] = side->at[i];
            side->n = 1;
        }
}
