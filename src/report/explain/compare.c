#include "report/explain/compare.h"

#include "report/diff/side.h"
#include "report/print/print.h"

/* Makes the report of a single result. */
static dfl_side make_side(dfl_arena *arena, const dfl_results *results, const dfl_result_item *item)
{
    dfl_results one = *results;
    dfl_strbuf text;

    one.items = item;
    one.n_items = 1;
    one.n_checks = 0;
    dfl_strbuf_init(&text, arena);
    dfl_report_json(&text, &one);
    return (dfl_side){ .name = one.file, .report = text.text, .len = text.len };
}

dfl_diff_pair *dfl_compare_results(dfl_arena *arena, const dfl_results *results, const dfl_result_item *from,
                                   const dfl_result_item *to)
{
    const dfl_result_item *const items[2] = { from, to };
    dfl_difference *difference = DFL_NEW(arena, dfl_difference);
    dfl_side_results sides[2] = { { .n = 0 }, { .n = 0 } };

    for (int i = 0; i < 2; i++) {
        const dfl_side side = make_side(arena, results, items[i]);

        if (!dfl_side_read(arena, results->sink, &side, &sides[i]))
            return NULL;
    }
    dfl_diff_compare(arena, &sides[0], &sides[1], difference);
    return difference->pairs.n > 0 ? &difference->pairs.at[0] : NULL;
}
