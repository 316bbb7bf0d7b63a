#include "solve/filled.h"

#include <string.h>

#include "report/print/print.h"
#include "report/readable.h"
#include "support/number.h"
#include "support/limits.h"

bool dfl_filled_is_further(const dfl_filled *filled, size_t i)
{
    return i > 0 && filled[i].given == filled[i - 1].given;
}

bool dfl_filled_is_best_of_kind(const dfl_filled *filled)
{
    return filled->search != NULL && filled->search->top_position > 0;
}

void dfl_filled_print_distance(const dfl_search_summary *search, dfl_strbuf *out)
{
    char value[DFL_UNIT_TEXT], digits[32];

    dfl_human_quantity(search->value, search->dim, value);
    dfl_strbuf_printf(out, "%s = %s", search->objective, value);
    if (search->top_position > 1 && search->top_value > 0) {
        dfl_double_text_short(100 * (search->value / search->top_value - 1), 4, digits);
        if (search->value <= search->top_value * (1 + DFL_VALUE_TOLERANCE))
            dfl_strbuf_z(out, ", equal to the best");
        else
            dfl_strbuf_printf(out, ", %s %% more than the best", digits);
    }
}

void dfl_filled_print_searches(const dfl_intern *names, const dfl_filled *filled, size_t n, bool verbose, dfl_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        const dfl_filled *f = &filled[i];

        if (!dfl_filled_is_further(filled, i)) {
            dfl_strbuf_printf(out, "%s:\n", dfl_sym_text(names, f->given->name));
            dfl_search_text(out, f->search, verbose);
        }
        if (!dfl_filled_is_best_of_kind(f))
            continue;
        dfl_strbuf_printf(out, "  %-12s ", dfl_sym_text(names, f->mapping->name));
        dfl_filled_print_distance(f->search, out);
        dfl_strbuf_char(out, '\n');
    }
}
