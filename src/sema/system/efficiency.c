/* Values of the attribute `efficiency`: `80%`, `table(x, share, ...)`, `curve(x, share, ...)`, `table("file.csv")`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sema/expr/eval.h"
#include "sema/system/system_internal.h"

typedef DFL_VEC(double) numbers;

/* Reports E0508 at `at`. Returns NULL. */
static const dfl_efficiency *report_malformed(dfl_system_context *ctx, dfl_span at, const char *what)
{
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_SYS_EFFICIENCY, at, "%s", what);

    dfl_diag_help(ctx->sema->sink, d, "`dflc explain E0508` shows the forms of an efficiency");
    ctx->draft->broken = true;
    return NULL;
}

/* ---- points in the text ---- */

/* A size of work (`is_share` false) or a share. False after reporting, and for a value that is unknown (`*unknown`). */
static bool read_number(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *expr, bool is_share, double *out,
                        bool *unknown)
{
    dfl_value v = dfl_eval(ctx->sema, ctx->scope, expr);
    bool zero = v.kind == DFL_VALUE_QUANTITY && v.quantity.real == 0 && dfl_dim_is_none(v.quantity.dim);

    *out = v.quantity.real;
    *unknown |= v.kind == DFL_VALUE_UNKNOWN;
    if (v.kind == DFL_VALUE_BAD)
        ctx->draft->broken = true;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return false;
    if (v.kind != DFL_VALUE_QUANTITY)
        report_malformed(ctx, expr->span, "expected a number");
    else if (is_share && (!dfl_dim_is_none(v.quantity.dim) || !(v.quantity.real > 0 && v.quantity.real <= 1)))
        report_malformed(ctx, expr->span, "a share of the peak must be a number above 0 and at most 1");
    else if (!is_share && !zero && !dfl_dim_equal(v.quantity.dim, row->dim))
        report_malformed(ctx, expr->span, row->dim.power[DFL_BASE_OPS] != 0
                                              ? "the size of the work of a compute unit has a unit of operations, as in `1GFLOP`"
                                              : "the size of a transfer has a unit of data, as in `64kB`");
    else if (!is_share && v.quantity.real < 0)
        report_malformed(ctx, expr->span, "the size of the work is negative");
    else
        return true;
    return false;
}

/* The points `x0, e0, x1, e1, ...` of a call. NULL after reporting, or if a value is unknown. */
static const dfl_efficiency *read_points(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *call, bool curve,
                                         bool *unknown)
{
    uint32_t n = call->n_args / 2, i = 0;
    double *at = DFL_NEW_ARRAY(ctx->sema->arena, double, n + 1), *share = DFL_NEW_ARRAY(ctx->sema->arena, double, n + 1);
    dfl_efficiency *out = DFL_NEW(ctx->sema->arena, dfl_efficiency);
    bool ok = true;

    if (n == 0 || call->n_args % 2 != 0)
        return report_malformed(ctx, call->span, "the values must be pairs of a size of work and a share of the peak");
    for (const dfl_expr *arg = call->args; arg != NULL; arg = arg->next, i++) {
        double *to = i % 2 == 0 ? &at[i / 2] : &share[i / 2];
        ok = read_number(ctx, row, arg, i % 2 != 0, to, unknown) && ok;
        if (ok && !*unknown && i % 2 == 0 && i > 0 && at[i / 2 - 1] >= at[i / 2])
            return report_malformed(ctx, arg->span, "the sizes of the work must ascend");
    }
    if (!ok)
        return NULL;
    *out = (dfl_efficiency){ .span = call->span, .curve = curve, .n = n, .at = at, .share = share };
    return out;
}

/* ---- points in a file ---- */

/* Text of a file with points, in lines of fields separated by commas. */
typedef struct {
    dfl_system_context *ctx;
    const dfl_source *source;
    const char *at;       /* the rest of the text */
} table_reader;

static dfl_span place_of(const table_reader *r, const char *from, const char *to)
{
    uint32_t base = r->source->base;

    return (dfl_span){ base + (uint32_t)(from - r->source->text), base + (uint32_t)(to - r->source->text) };
}

static const char *line_end(const char *at) { return at + strcspn(at, "\r\n"); }

/* Skips empty lines and lines that start with `#`. False at the end of the text. */
static bool find_line(table_reader *r)
{
    while (*r->at == '\n' || *r->at == '\r' || *r->at == '#')
        r->at = *r->at == '#' ? line_end(r->at) : r->at + 1;
    return *r->at != '\0';
}

/* The columns of the first line: 2 for `flop,efficiency` or `bits,efficiency`, 4 for `m,n,k,efficiency`; 0 after
   reporting. */
static uint32_t read_header(table_reader *r, const dfl_attribute_row *row)
{
    bool work = row->dim.power[DFL_BASE_OPS] != 0;
    const char *plain = work ? "flop,efficiency" : "bits,efficiency", *grid = work ? "m,n,k,efficiency" : NULL;
    const char *from = r->at, *end;
    size_t len;

    if (!find_line(r)) {
        report_malformed(r->ctx, place_of(r, from, from), "the file has no points");
        return 0;
    }
    from = r->at;
    end = line_end(from);
    len = (size_t)(end - from);
    r->at = end;
    if (len == strlen(plain) && strncmp(from, plain, len) == 0)
        return 2;
    if (grid != NULL && len == strlen(grid) && strncmp(from, grid, len) == 0)
        return DFL_GRID_DIMS + 1;
    report_malformed(r->ctx, place_of(r, from, end), work ? "the first line must be `flop,efficiency` or `m,n,k,efficiency`"
                                                          : "the first line must be `bits,efficiency`");
    return 0;
}

/* Appends the numbers of a line, which has `n` columns; the last is a share. False after reporting. */
static bool read_line(table_reader *r, uint32_t n, numbers *out)
{
    const char *from = r->at, *end = line_end(from);

    for (uint32_t i = 0; i < n; i++) {
        char *after;
        double x = strtod(r->at, &after);
        bool share = i + 1 == n;
        if (after == r->at || after > end || !isfinite(x) || (share ? after != end : *after != ',')) {
            report_malformed(r->ctx, place_of(r, from, end), "a line of the file must have one number for each column");
            return false;
        }
        if (share ? !(x > 0 && x <= 1) : x < (n == 2 ? 0 : 1)) {
            report_malformed(r->ctx, place_of(r, r->at, after),
                             share ? "a share of the peak must be a number above 0 and at most 1"
                                   : n == 2 ? "the size of the work is negative" : "an extent must be at least 1");
            return false;
        }
        DFL_PUSH(r->ctx->sema->arena, out, x);
        r->at = share ? end : after + 1;
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Builds the grid of the rows of a file. NULL after reporting. */
static const dfl_efficiency *build_grid(table_reader *r, const numbers *rows, dfl_efficiency *out)
{
    enum { WIDTH = DFL_GRID_DIMS + 1 };
    dfl_arena *arena = r->ctx->sema->arena;
    uint32_t n = (uint32_t)(rows->n / WIDTH);
    double *share = DFL_NEW_ARRAY(arena, double, n + 1), *of[DFL_GRID_DIMS], cells = 1;

    for (uint32_t d = 0; d < DFL_GRID_DIMS; d++) {
        of[d] = DFL_NEW_ARRAY(arena, double, n + 1);
        for (uint32_t i = 0; i < n; i++)
            of[d][i] = rows->at[i * WIDTH + d];
        qsort(of[d], n, sizeof *of[d], compare_numbers);
        for (uint32_t i = 0; i < n; i++)
            if (i == 0 || of[d][i] != of[d][out->n_of[d] - 1])
                of[d][out->n_of[d]++] = of[d][i];
        cells *= out->n_of[d];
        out->of[d] = of[d];
    }
    bool complete = cells == n;
    for (uint32_t i = 0; complete && i < n; i++) {
        uint32_t cell = 0;
        for (uint32_t d = 0; d < DFL_GRID_DIMS; d++) {
            const double *found = bsearch(&rows->at[i * WIDTH + d], of[d], out->n_of[d], sizeof *found, compare_numbers);
            cell = cell * out->n_of[d] + (uint32_t)(found - of[d]);
        }
        complete = share[cell] == 0;
        share[cell] = rows->at[i * WIDTH + DFL_GRID_DIMS];
    }
    if (!complete)
        return report_malformed(r->ctx, place_of(r, r->source->text, line_end(r->source->text)),
                                "the file must have one line for each combination of its values of m, n and k");
    out->n = n;
    out->share = share;
    return out;
}

/* Builds the points of a file with two columns. NULL after reporting. */
static const dfl_efficiency *build_points(table_reader *r, const numbers *rows, dfl_efficiency *out)
{
    uint32_t n = (uint32_t)(rows->n / 2);
    double *at = DFL_NEW_ARRAY(r->ctx->sema->arena, double, n + 1), *share = DFL_NEW_ARRAY(r->ctx->sema->arena, double, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        at[i] = rows->at[2 * i];
        share[i] = rows->at[2 * i + 1];
        if (i > 0 && at[i - 1] >= at[i])
            return report_malformed(r->ctx, place_of(r, r->source->text, line_end(r->source->text)),
                                    "the sizes of the work must ascend from line to line");
    }
    out->n = n;
    out->at = at;
    out->share = share;
    return out;
}

/* The efficiency whose points stand in a file of numbers; `string` is the path of the file. NULL after reporting. */
static const dfl_efficiency *read_file(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *string)
{
    const dfl_sema_input *input = ctx->sema->input;
    const dfl_source *from = dfl_source_of(dfl_sink_sources(ctx->sema->sink), string->span);
    const char *target = dfl_sema_text(ctx->sema, string->sym), *why = NULL;
    dfl_efficiency *out = DFL_NEW(ctx->sema->arena, dfl_efficiency);
    table_reader r = { .ctx = ctx };
    numbers rows = { 0 };
    uint32_t width;

    if (input->read == NULL || !input->read(input->context, from, target, &r.source, &why)) {
        dfl_diag *d = dfl_report(ctx->sema->sink, DFL_FILE_UNREADABLE, string->span, "cannot read `%s`", target);
        if (why != NULL)
            dfl_diag_help(ctx->sema->sink, d, "%s", why);
        ctx->draft->broken = true;
        return NULL;
    }
    r.at = r.source->text;
    *out = (dfl_efficiency){ .span = string->span };
    width = read_header(&r, row);
    while (width > 0 && find_line(&r) && dfl_sema_within_budget(ctx->sema))
        if (!read_line(&r, width, &rows))
            return NULL;
    if (width == 0)
        return NULL;
    if (rows.n == 0)
        return report_malformed(ctx, string->span, "the file has no points");
    return width == 2 ? build_points(&r, &rows, out) : build_grid(&r, &rows, out);
}

/* ---- the value ---- */

/* A single share, which holds for work of any size. NULL after reporting, or if the value is unknown. */
static const dfl_efficiency *read_constant(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *expr,
                                           bool *unknown)
{
    double *point = DFL_NEW_ARRAY(ctx->sema->arena, double, 2);
    dfl_efficiency *out = DFL_NEW(ctx->sema->arena, dfl_efficiency);

    if (!read_number(ctx, row, expr, true, &point[1], unknown))
        return NULL;
    *out = (dfl_efficiency){ .span = expr->span, .n = 1, .at = point, .share = point + 1 };
    return out;
}

bool dfl_system_read_efficiency(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *expr,
                                dfl_attribute_value *out)
{
    const char *word = expr->kind == DFL_EXPR_CALL && expr->path->n == 1 ? dfl_sema_text(ctx->sema, expr->path->text) : "";
    bool curve = strcmp(word, "curve") == 0, unknown = false;

    *out = (dfl_attribute_value){ .kind = DFL_ATTRIBUTE_UNKNOWN, .span = expr->span };
    if (!curve && strcmp(word, "table") != 0) {
        out->efficiency = read_constant(ctx, row, expr, &unknown);
    } else if (!curve && expr->n_args == 1 && expr->args->kind == DFL_EXPR_STRING) {
        out->efficiency = read_file(ctx, row, expr->args);
    } else {
        out->efficiency = read_points(ctx, row, expr, curve, &unknown);
    }
    if (out->efficiency != NULL)
        out->kind = DFL_ATTRIBUTE_EFFICIENCY;
    return out->efficiency != NULL || unknown;
}
