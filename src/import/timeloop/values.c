/* Values of a run: texts and numbers, with reports for those that are wrong. */
#include "import/timeloop/timeloop_internal.h"
#include "support/limits.h"

#include <math.h>
#include <string.h>

/* The largest whole number of a run: products with a rank of 2^20 coefficients still fit 64 bits. */
static const int64_t most_count = INT64_C(1) << 40;

bool dfl_tl_wrong(dfl_tl_file *f, dfl_code code, dfl_span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (f->ok)
        dfl_report(f->report->sink, code, span, "%s", dfl_arena_vprintf(f->report->arena, format, args));
    va_end(args);
    f->ok = false;
    return false;
}

/* ---- scalars ---- */

const char *dfl_tl_text(dfl_tl_file *f, const dfl_yaml *at, dfl_span around, const char *what)
{
    if (at != NULL && at->kind == DFL_YAML_SCALAR && at->text[0] != '\0')
        return at->text;
    dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at != NULL ? at->span : around, "%s is missing", what);
    return "";
}

double dfl_tl_number(dfl_tl_file *f, const dfl_yaml *at, double fallback)
{
    const char *unknown;
    double n;

    if (at == NULL)
        return fallback;
    if (!dfl_tl_evaluate(f, at, &n, &unknown) && unknown != NULL)
        dfl_tl_wrong(f, DFL_FOREIGN_UNKNOWN_NAME, at->span, "`%s` is no number, and no attribute or variable has this name",
                     unknown);
    else if (!dfl_tl_evaluate(f, at, &n, NULL))
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "expected a number");
    else if (!(n >= 0 && n <= DFL_IMPORT_LARGEST))
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "the number is not from 0 to 1e30");
    else if (n > 0 && n < 1 / DFL_IMPORT_LARGEST)
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "the number is between 0 and 1e-30");
    else
        return n;
    return fallback;
}

int64_t dfl_tl_count(dfl_tl_file *f, const dfl_yaml *at, int64_t least, int64_t fallback)
{
    double n = dfl_tl_number(f, at, (double)fallback);

    if (at == NULL || !f->ok)
        return fallback;
    if (n != floor(n) || n < (double)least || n > (double)most_count) {
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "expected an integer from %lld to 2^40", (long long)least);
        return fallback;
    }
    return (int64_t)n;
}

uint64_t dfl_tl_all(const dfl_tl_file *f)
{
    return UINT64_MAX >> (DFL_TL_MOST_TENSORS - f->n_tensors);
}
