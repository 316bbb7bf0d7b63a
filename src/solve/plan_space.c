#include "solve/plan_space.h"

#include <math.h>
#include <string.h>

#include "support/limits.h"

/* The divisors of `of` that are at most `most`, ascending. */
static void list_divisors(dfl_arena *arena, int64_t of, int64_t most, dfl_open_amount *out)
{
    uint32_t n = 0;

    for (int64_t d = 1; d <= of / d; d++)
        n += of % d == 0 ? 2 : 0;
    out->amounts = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1);
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0 && d <= most)
            out->amounts[out->n++] = d;
    for (int64_t d = (int64_t)sqrt((double)of) + 1; d > 0; d--)
        if (of % d == 0 && of / d > d && of / d > (out->n > 0 ? out->amounts[out->n - 1] : 0) && of / d <= most)
            out->amounts[out->n++] = of / d;
}

/* The amounts of a hole: as the file lists them, else divisors: of the axis for parts of a spatial line, else of the rank. */
static void list_amounts(dfl_arena *arena, const dfl_mapping *m, const dfl_line *line, dfl_open_amount *out)
{
    const int64_t extent = m->workload->ranks[line->rank].extent;

    out->by = line->hole->by;
    if (line->hole->choices != NULL) {
        out->n = line->hole->n_choices;
        out->amounts = DFL_NEW_ARRAY(arena, int64_t, out->n);
        memcpy(out->amounts, line->hole->choices, out->n * sizeof *out->amounts);
        return;
    }
    if (out->is_spatial && out->by == DFL_BY_PARTS)
        list_divisors(arena, m->system->axes[line->axis].size, extent, out);
    else
        list_divisors(arena, extent, extent, out);
}

bool dfl_plan_space_report_many(dfl_sink *sink, const dfl_mapping *given, const char *what, double most)
{
    dfl_diag *d = dfl_report(sink, DFL_LIMIT_COUNT, given->span, "this plan leaves open more than %.3g %s", most, what);

    dfl_diag_help(sink, d, "list the amounts to try, as in `layer/? in {4, 8, 16}`, or write some of them");
    return false;
}

bool dfl_plan_space_find(dfl_arena *arena, dfl_sink *sink, const dfl_mapping *given, dfl_plan_space *out)
{
    const dfl_body *root = given->root;
    double combinations = 1;

    *out = (dfl_plan_space){ .given = given, .combinations = 1 };
    out->holes = DFL_NEW_ARRAY(arena, dfl_open_amount, (size_t)root->n_lines + 1);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        dfl_open_amount *hole = &out->holes[out->n_holes];

        if (root->lines[i].kind == DFL_LINE_KEEP || root->lines[i].by != DFL_BY_HOLE)
            continue;
        *hole = (dfl_open_amount){ .line = i, .is_spatial = root->lines[i].kind == DFL_LINE_SPATIAL };
        list_amounts(arena, given, &root->lines[i], hole);
        combinations *= hole->n;
        out->combinations *= hole->n;
        out->n_holes++;
    }
    if (combinations <= DFL_PLAN_COMBINATIONS)
        return true;
    return dfl_plan_space_report_many(sink, given, "combinations of amounts", DFL_PLAN_COMBINATIONS);
}

dfl_mapping *dfl_plan_space_make(dfl_arena *arena, const dfl_plan_space *space)
{
    dfl_mapping *m = dfl_mapping_copy(arena, space->given);

    for (uint32_t h = 0; h < space->n_holes; h++) {
        dfl_line *line = &m->root->lines[space->holes[h].line];
        line->by = space->holes[h].by;
        line->amount = space->holes[h].amounts[space->holes[h].at];
    }
    return m;
}

void dfl_plan_space_set(dfl_plan_space *space, uint64_t number)
{
    for (uint32_t h = space->n_holes; h-- > 0; number /= space->holes[h].n)
        space->holes[h].at = (uint32_t)(number % space->holes[h].n);
}

uint64_t dfl_plan_space_number(const dfl_plan_space *space)
{
    uint64_t number = 0;

    for (uint32_t h = 0; h < space->n_holes; h++)
        number = number * space->holes[h].n + space->holes[h].at;
    return number;
}
