/*
 * With Poisson numbers X_i of mean m = n / parts, of which only sums n count (Levin, Ann. Statist. 9, 1981):
 *
 *   P(maximum <= t) = P(X_1 <= t, ..., X_parts <= t, sum = n) / P(sum = n)
 *
 * Both are coefficients of power series, found by a discrete Fourier transform on the unit circle with enough points that what
 * it folds together is below 1e-15. The expected maximum is the sum of 1 - P(maximum <= t) over all t >= 0.
 */
#include "plan/layout/largest.h"

#include <complex.h>
#include <math.h>

enum {
    /* Most points n for which the series is computed: in all, and for each part. Beyond, the excess over the mean is
       extrapolated. */
    MOST_POINTS = 65536,
    MOST_MEAN = 1024,
    MOST_ANGLES = (9 * 256 + 40) / 2 + 2, /* half of the 9 root(n) + 40 angles of open_angles; 256 = root(MOST_POINTS) */
};

/* A point of the unit circle: the power series of one instance up to t there, and the weight of the coefficient n. */
typedef struct { double complex turn, power, series, weight; } angle;

/* z^k by repeated squares. */
static double complex raise(double complex z, int64_t k)
{
    double complex out = 1;

    for (; k > 0; k >>= 1) {
        if (k & 1)
            out *= z;
        z *= z;
    }
    return out;
}

/* The points of one half of the circle. The terms of a series that rises and falls once sum to at most their largest over
   sin(angle / 2); where its power is below 1e-16 of P(sum = n), angles are left out. Returns their number. */
static int open_angles(int64_t n, int64_t parts, double largest_term, double whole, angle at[MOST_ANGLES])
{
    const double pi = 3.14159265358979323846;
    const int64_t folds = (int64_t)ceil(9 * sqrt((double)n)) + 40;
    int used = 0;

    for (int64_t j = 0; j <= folds / 2 && used < MOST_ANGLES; j++) {
        double theta = 2 * pi * (double)j / (double)folds;
        bool is_single = j == 0 || 2 * j == folds; /* the others stand for their conjugates, too */

        if (j > 0 && (double)parts * log(largest_term / sin(theta / 2)) < log(1e-16 * whole))
            break;
        at[used].turn = cexp(I * theta);
        at[used].weight = (is_single ? 1 : 2) * cexp(-I * fmod((double)n * theta, 2 * pi)) / (double)folds;
        at[used].power = 1;
        at[used++].series = 0;
    }
    return used;
}

/* P(X = k) of a Poisson number: by Stirling's series, since the difference of large logarithms is not exact. */
static double poisson(double k, double mean)
{
    const double pi = 3.14159265358979323846;
    double off = (k - mean) / mean;

    if (k < 16)
        return exp(k * log(mean) - mean - lgamma(k + 1));
    return exp(-mean * ((1 + off) * log1p(off) - off) - 1 / (12 * k) + 1 / (360 * k * k * k) - 1 / (1260 * pow(k, 5))) /
           sqrt(2 * pi * k);
}

/* The expected maximum by the series. */
static double sum_series(int64_t n, int64_t parts)
{
    const double mean = (double)n / (double)parts, sigma = sqrt(mean);
    const int64_t low = (n + parts - 1) / parts; /* no maximum is below the mean */
    const int64_t first = (int64_t)fmax(0, floor(mean - 12 * sigma - 20));
    const double whole = poisson((double)n, (double)n); /* P(sum = n) */
    double sum = (double)low, term = poisson((double)first, mean);
    angle at[MOST_ANGLES];
    const int used = open_angles(n, parts, poisson(floor(mean), mean), whole, at);

    for (int j = 0; j < used; j++)
        at[j].power = raise(at[j].turn, first);
    for (int64_t t = first; t < n && (double)t < mean + 12 * sigma + 40; t++) {
        double below = 0;

        for (int j = 0; j < used; j++) {
            at[j].series += term * at[j].power;
            at[j].power *= at[j].turn;
        }
        term *= mean / (double)(t + 1);
        if (t < low)
            continue;
        for (int j = 0; j < used; j++)
            below += creal(raise(at[j].series, parts) * at[j].weight);
        below = 1 - below / whole;
        sum += below;
        if ((double)t > mean + 4 * sigma && below < 1e-12)
            break;
    }
    return sum;
}

double dfl_largest_expected(int64_t n, int64_t parts)
{
    const int64_t most = parts < MOST_POINTS / MOST_MEAN ? parts * MOST_MEAN : MOST_POINTS;
    double far, near;

    if (n <= 1 || parts <= 1)
        return (double)n;
    if (n <= most)
        return sum_series(n, parts);
    /* n / parts + a root(n) + b, through two numbers of points */
    far = sum_series(most, parts) - (double)most / (double)parts;
    near = sum_series(most / 4, parts) - (double)(most / 4) / (double)parts;
    return (double)n / (double)parts + far + (far - near) * (sqrt((double)n / (double)most) - 1) * 2;
}

int64_t dfl_largest_part(int64_t n, int64_t parts, double load, double uneven)
{
    double points;

    if (isinf(load))
        return n;
    points = load > 0 ? load * (double)n / (double)parts : uneven * dfl_largest_expected(n, parts);
    points = ceil(points * (1 - 1e-12) - 1e-9);
    return points >= (double)n ? n : points < 1 ? 1 : (int64_t)points;
}
