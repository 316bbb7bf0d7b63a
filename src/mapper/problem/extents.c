/* What tiles hold along one dimension. */
#include <math.h>

#include "mapper/problem/extents.h"

#include "mapper/problem/einsum_problem.h"

enum { LOOKS = 1 << 14 };      /* positions that are compared: of more, what stays is only bounded */

/* From the first to the last. */
static double hull_of(const dfl_problem_dim *d, const double *piece)
{
    double length = 1;

    for (uint32_t i = 0; i < d->n; i++)
        length += (double)d->coef[i] * (piece[i] - 1);
    return length;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Two pairs of positions have the same sum if one is so many steps of the other rank's coefficient further along each: all sums
   less those of which there is such a pair before. */
double dfl_dim_values(const dfl_problem_dim *d, const double *piece)
{
    int64_t by;

    if (d->n == 1)
        return piece[0];
    if (d->n != 2 || (d->coef[0] == 1 && d->coef[1] == 1))
        return hull_of(d, piece);
    by = common_divisor(d->coef[0], d->coef[1]);
    return piece[0] * piece[1] -
           fmax(0, piece[0] - (double)(d->coef[1] / by)) * fmax(0, piece[1] - (double)(d->coef[0] / by));
}

/* Whether the sum of two terms has the value. */
static bool has(const dfl_problem_dim *d, const double *piece, int64_t value)
{
    for (int64_t j = 0; j < (int64_t)piece[1]; j++) {
        int64_t rest = value - d->coef[1] * j;
        if (rest >= 0 && rest % d->coef[0] == 0 && rest / d->coef[0] < (int64_t)piece[0])
            return true;
    }
    return false;
}

double dfl_dim_stays(const dfl_problem_dim *d, const double *piece, double shift)
{
    double hull = hull_of(d, piece), values = dfl_dim_values(d, piece), most = fmax(0, hull - shift), count = 0;

    if (most == 0 || hull == values || d->n != 2 || hull * piece[1] > LOOKS)
        return fmin(values, most);
    for (int64_t x = 0; x < (int64_t)most; x++)
        count += has(d, piece, x) && has(d, piece, x + (int64_t)shift);
    return count;
}
