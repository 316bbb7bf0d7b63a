#include "mapper/first/skeleton.h"

bool dfl_skeleton_add(dfl_skeleton *lines, dfl_skeleton_line line)
{
    if (lines->n == DFL_SKELETON_LINES)
        return false;
    lines->at[lines->n++] = line;
    return true;
}

void dfl_skeleton_settle(const dfl_problem *problem, dfl_skeleton *lines, int64_t *above)
{
    int64_t left[DFL_PROBLEM_RANKS], free[DFL_PROBLEM_AXES];

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        left[r] = problem->extent[r];
    for (uint32_t a = 0; a < problem->n_axes; a++)
        free[a] = problem->axis[a].size;
    for (uint32_t i = 0; i < lines->n; i++) {
        dfl_skeleton_line *line = &lines->at[i];
        int64_t *mine = &left[line->rank];
        if (line->kind == DFL_SKELETON_KEEP)
            continue;
        if (above)
            above[i] = *mine;
        if (line->kind == DFL_SKELETON_LOOP) {
            line->amount = line->amount < *mine ? line->amount : *mine;
            *mine = line->amount;
            continue;
        }
        const int64_t whole = *mine;
        if (line->amount > free[line->axis])
            line->amount = free[line->axis];
        if (line->amount > whole)
            line->amount = whole;
        *mine = dfl_divide_up(whole, line->amount);
        line->amount = dfl_divide_up(whole, *mine);
        free[line->axis] /= line->amount;
    }
}

/* The largest divisor of `of` that is at most `most`; both at least 1. At most 2 * sqrt(of) steps. */
static int64_t divisor_up_to(int64_t of, int64_t most)
{
    int64_t best = 1;

    for (int64_t d = 1; d <= of / d; d++) {
        if (of % d != 0)
            continue;
        if (d <= most && d > best)
            best = d;
        if (of / d <= most && of / d > best)
            best = of / d;
    }
    return best;
}

void dfl_skeleton_divide(const dfl_problem *problem, dfl_skeleton *lines)
{
    int64_t left[DFL_PROBLEM_RANKS];

    dfl_skeleton_settle(problem, lines, NULL);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        left[r] = problem->extent[r];
    for (uint32_t i = 0; i < lines->n; i++) {
        dfl_skeleton_line *line = &lines->at[i];
        if (line->kind == DFL_SKELETON_KEEP)
            continue;
        line->amount = divisor_up_to(left[line->rank], line->amount);
        left[line->rank] = line->kind == DFL_SKELETON_LOOP ? line->amount : left[line->rank] / line->amount;
    }
}

void dfl_skeleton_strip(const dfl_problem *problem, const dfl_skeleton *lines, dfl_skeleton *out)
{
    dfl_skeleton settled = *lines;
    int64_t above[DFL_SKELETON_LINES];

    dfl_skeleton_settle(problem, &settled, above);
    out->n = 0;
    for (uint32_t i = 0; i < settled.n; i++) {
        const dfl_skeleton_line *line = &settled.at[i];
        const bool is_idle = line->kind == DFL_SKELETON_LOOP ? line->amount == above[i]
                                                          : line->kind == DFL_SKELETON_SPREAD && line->amount == 1;
        if (!is_idle)
            out->at[out->n++] = *line;
    }
}
