#include "mapper/sizes/size_front.h"

#include <string.h>

/* Terms that differ by this factor or less differ by rounding. */
static const double ROUNDING = 1 + 1e-12;

/* Whether `a` is at most `b` in all terms, but for rounding. */
static bool is_at_most(const dfl_size_front *f, const double *a, const double *b)
{
    for (uint32_t i = 0; i < dfl_objective_count(f->objective); i++)
        if (a[i] > dfl_value_times(b[i], ROUNDING))
            return false;
    return true;
}

bool dfl_size_front_excludes(const dfl_size_front *f, const double *floors)
{
    for (size_t i = 0; i < f->points.n; i++)
        if (is_at_most(f, f->points.at[i].terms, floors))
            return true;
    return false;
}

/* Removes the points that `terms` undercut. Returns one of them, whose room is free then; one without room if there is none. */
static dfl_size_point remove_undercut(dfl_size_front *f, const double *terms)
{
    dfl_size_point free = { NULL, NULL };
    size_t n = 0;

    for (size_t i = 0; i < f->points.n; i++) {
        if (is_at_most(f, terms, f->points.at[i].terms))
            free = f->points.at[i];
        else
            f->points.at[n++] = f->points.at[i];
    }
    f->points.n = n;
    return free;
}

void dfl_size_front_add(dfl_size_front *f, const double *terms, const int64_t *amounts)
{
    const uint32_t n_terms = dfl_objective_count(f->objective);
    dfl_size_point point = remove_undercut(f, terms);
    size_t at;

    if (point.terms == NULL)
        point = (dfl_size_point){ DFL_NEW_ARRAY(f->arena, double, n_terms), DFL_NEW_ARRAY(f->arena, int64_t, f->n_amounts) };
    memcpy(point.terms, terms, n_terms * sizeof *terms);
    memcpy(point.amounts, amounts, f->n_amounts * sizeof *amounts);
    DFL_PUSH(f->arena, &f->points, point);
    for (at = f->points.n - 1; at > 0 && dfl_objective_less(f->objective, terms, f->points.at[at - 1].terms); at--)
        f->points.at[at] = f->points.at[at - 1];
    f->points.at[at] = point;
}
