#include "support/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints in the locale that a host program may have set, which changes only the decimal point; `*point` is its offset. */
static size_t print(double value, int digits, char out[32], size_t *point)
{
    int len = snprintf(out, 32, "%.*g", digits, value);

    *point = strcspn(out, ".,");
    return (size_t)len;
}

static size_t special(double value, char out[32])
{
    const char *text = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    size_t len = strlen(text);

    memcpy(out, text, len + 1);
    return len;
}

size_t dfl_double_text_short(double value, int digits, char out[32])
{
    size_t len, point;

    if (!isfinite(value))
        return special(value, out);
    len = print(value, digits < 1 ? 1 : digits > 17 ? 17 : digits, out, &point);
    if (point < len)
        out[point] = '.';
    return len;
}

size_t dfl_double_text(double value, char out[32])
{
    size_t len = 0, point = 0;

    if (!isfinite(value))
        return special(value, out);
    /* 15 digits identify every decimal of up to 15 digits, and `%g` drops trailing zeros. Subnormal numbers need fewer
       digits. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        len = print(value, digits, out, &point);
        if (strtod(out, NULL) == value)
            break;
    }
    if (point < len)
        out[point] = '.';
    return len;
}
