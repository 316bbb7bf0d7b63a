/* Values of the attribute `efficiency`: `80%`, `table(x, share, ...)`, `curve(x, share, ...)`, `table("file.csv")`. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sema/expr/eval.h"
#include "sema/system/system_internal.h"
#include "support/number.h"

typedef DFL_VEC(double) numbers;

/* Reports E0508 at `at`: `what` is wrong, and `works` is the help, with the nearest text that is right. Returns NULL. */
static const dfl_efficiency *report_malformed(dfl_system_context *ctx, dfl_span at, const char *what, const char *works)
{
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_SYS_EFFICIENCY, at, "%s", what);

    dfl_diag_help(ctx->sema->sink, d, "%s", works);
    ctx->draft->broken = true;
    return NULL;
}

/* The text of a span of the file. */
static const char *text_of(dfl_system_context *ctx, dfl_span span)
{
    const dfl_source *source = dfl_source_of(dfl_sink_sources(ctx->sema->sink), span);

    return dfl_arena_printf(ctx->sema->arena, "%.*s", (int)(span.end - span.start), source->text + (span.start - source->base));
}

/* Whether the sizes are operations of a compute unit; else data of a memory or network. */
static bool is_of_unit(const dfl_attribute_row *row) { return row->dim.power[DFL_BASE_OPS] != 0; }

/* Reports a share that is not above 0 and at most 1. */
static void report_share(dfl_system_context *ctx, const dfl_attribute_row *row, dfl_span at, double share)
{
    dfl_arena *arena = ctx->sema->arena;
    const char *text = text_of(ctx, at), *what;
    const bool is_plain = isdigit((unsigned char)text[0]) && strspn(text, "0123456789._") == strlen(text);
    char percent[32];

    dfl_double_text_short(share * 100, 6, percent);
    what = dfl_arena_printf(arena, share > 1 ? "a share of %s %% is above the peak" : "with %s %% of the peak, work never ends",
                            percent);
    report_malformed(ctx, at, what,
                     share > 1 && share <= 100 && is_plain
                         ? dfl_arena_printf(arena, "write `%s%%`, or a number of at most 1", text)
                     : share <= 1      ? "write a share above 0, as in `5%`"
                     : is_of_unit(row) ? "write at most `100%`, or a higher `rate`"
                                       : "write at most `100%`, or a higher `bandwidth`");
}

/* Reports pair `pair` of `n` of a call, whose size `at` [pair] is not above that of the pair before it. The help has the pairs in
   ascending order, of equal sizes the first. Returns NULL. */
static const dfl_efficiency *report_order(dfl_system_context *ctx, const dfl_expr *call, const double *at, uint32_t n,
                                          uint32_t pair)
{
    dfl_arena *arena = ctx->sema->arena;
    const char **text = DFL_NEW_ARRAY(arena, const char *, 2 * n);
    dfl_strbuf works;
    dfl_span place = call->span;
    double last = -1;
    uint32_t k = 0;

    for (const dfl_expr *arg = call->args; arg != NULL; arg = arg->next, k++) {
        text[k] = text_of(ctx, arg->span);
        place = k == 2 * pair ? arg->span : place;
    }
    dfl_strbuf_init(&works, arena);
    for (uint32_t written = 0; written < n; written++) { /* the pair with the smallest size above `last` */
        uint32_t next = DFL_NONE;

        for (uint32_t i = 0; i < n; i++)
            next = at[i] > last && (next == DFL_NONE || at[i] < at[next]) ? i : next;
        if (next == DFL_NONE)
            break;
        dfl_strbuf_printf(&works, "%s%s, %s", written > 0 ? ", " : "", text[2 * next], text[2 * next + 1]);
        last = at[next];
    }
    for (k = 0; k < pair && at[k] != at[pair]; k++)
        continue;
    return report_malformed(ctx, place,
                            k < pair ? dfl_arena_printf(arena, "the size `%s` has two shares, `%s` and `%s`", text[2 * pair],
                                                        text[2 * k + 1], text[2 * pair + 1])
                                     : dfl_arena_printf(arena, "the size `%s` follows `%s`: the sizes of the work must ascend",
                                                        text[2 * pair], text[2 * pair - 2]),
                            dfl_arena_printf(arena, "write `%s(%s)`", dfl_sema_text(ctx->sema, call->path->text), works.text));
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
        report_malformed(ctx, expr->span, is_share ? "a share of the peak is a number" : "a size of work is a number",
                         expr->kind == DFL_EXPR_STRING
                             ? dfl_arena_printf(ctx->sema->arena, "a file with points is `table(%s)`", text_of(ctx, expr->span))
                         : is_share ? "write a share, as in `80%`" : is_of_unit(row) ? "write `1GFLOP`" : "write `64kB`");
    else if (is_share && !dfl_dim_is_none(v.quantity.dim))
        report_malformed(ctx, expr->span, "a share of the peak has no unit", "write a share, as in `80%`");
    else if (is_share && !(v.quantity.real > 0 && v.quantity.real <= 1))
        report_share(ctx, row, expr->span, v.quantity.real);
    else if (!is_share && !zero && !dfl_dim_equal(v.quantity.dim, row->dim))
        report_malformed(ctx, expr->span,
                         is_of_unit(row) ? "the size of the work of a compute unit has a unit of operations"
                                         : "the size of a transfer has a unit of data",
                         is_of_unit(row) ? "write the FLOP of an einsum in one pass, as in `1GFLOP`"
                                         : "write data, as in `64kB`");
    else if (!is_share && v.quantity.real < 0)
        report_malformed(ctx, expr->span, "the size of the work is negative",
                         is_of_unit(row) ? "the smallest size is `0FLOP`" : "the smallest size is `0B`");
    else
        return true;
    return false;
}

/* Reports a call whose values are not pairs. Returns NULL. */
static const dfl_efficiency *report_unpaired(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *call)
{
    dfl_arena *arena = ctx->sema->arena;
    const char *word = dfl_sema_text(ctx->sema, call->path->text);
    const char *example = is_of_unit(row) ? "0FLOP, 30%, 1GFLOP, 90%" : "0B, 30%, 64kB, 90%";
    const dfl_expr *last = call->args;

    if (call->n_args == 1 && last->kind == DFL_EXPR_STRING)
        return report_malformed(ctx, call->span, "a file has the points of a table, not of a curve",
                                dfl_arena_printf(arena, "write `table(%s)`", text_of(ctx, last->span)));
    while (last != NULL && last->next != NULL)
        last = last->next;
    return report_malformed(ctx, last != NULL ? last->span : call->span,
                            last == NULL
                                ? "no size of work and no share of the peak"
                                : dfl_arena_printf(arena, "%u values are not pairs of a size of work and a share of the peak",
                                                   call->n_args),
                            dfl_arena_printf(arena, "write `%s(%s)`", word, example));
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
        return report_unpaired(ctx, row, call);
    for (const dfl_expr *arg = call->args; arg != NULL; arg = arg->next, i++) {
        double *to = i % 2 == 0 ? &at[i / 2] : &share[i / 2];
        ok = read_number(ctx, row, arg, i % 2 != 0, to, unknown) && ok;
    }
    if (!ok)
        return NULL;
    for (i = 1; i < n; i++)
        if (at[i - 1] >= at[i])
            return report_order(ctx, call, at, n, i);
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
    const char *header = work ? "the first line is `flop,efficiency` or `m,n,k,efficiency`"
                              : "the first line is `bits,efficiency`";
    size_t len;

    if (!find_line(r)) {
        report_malformed(r->ctx, place_of(r, from, from), "the file is empty", header);
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
    report_malformed(r->ctx, place_of(r, from, end), "the columns of the file are unknown", header);
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
            report_malformed(r->ctx, place_of(r, from, end),
                             dfl_arena_printf(r->ctx->sema->arena, "a line of the file must have %u numbers, with commas "
                                              "between them", n),
                             n == 2 ? "write a size and a share, as in `65536,0.9`" : "write three extents and a share, as in "
                                                                                      "`512,512,64,0.9`");
            return false;
        }
        if (share ? !(x > 0 && x <= 1) : x < (n == 2 ? 0 : 1)) {
            report_malformed(r->ctx, place_of(r, r->at, after),
                             share ? "a share of the peak must be above 0 and at most 1"
                                   : n == 2 ? "the size of the work is negative" : "an extent must be at least 1",
                             share    ? "80 % is written `0.8`"
                             : n == 2 ? "the smallest size is `0`"
                                      : "the smallest extent is `1`");
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

/* The line of a file that has row `row`, counted from 0 behind the header. */
static dfl_span place_of_row(const table_reader *r, uint32_t row)
{
    table_reader again = { .ctx = r->ctx, .source = r->source, .at = r->source->text };

    for (uint32_t i = 0; i <= row + 1 && find_line(&again); i++)
        again.at = i <= row ? line_end(again.at) : again.at;
    return place_of(&again, again.at, line_end(again.at));
}

/* Reports a grid that has fewer lines than its values have combinations. The help has the first line that is missing. Returns
   NULL. */
static const dfl_efficiency *report_missing(table_reader *r, const numbers *rows, const dfl_efficiency *grid)
{
    enum { WIDTH = DFL_GRID_DIMS + 1 };
    dfl_arena *arena = r->ctx->sema->arena;
    const uint32_t *n_of = grid->n_of, n = (uint32_t)(rows->n / WIDTH);
    double at[DFL_GRID_DIMS];
    bool has = true;

    for (uint64_t cell = 0; has && cell <= n; cell++) { /* of n + 1 combinations at least one is missing */
        at[0] = grid->of[0][cell / n_of[2] / n_of[1]];
        at[1] = grid->of[1][cell / n_of[2] % n_of[1]];
        at[2] = grid->of[2][cell % n_of[2]];
        has = false;
        for (uint32_t i = 0; !has && i < n; i++)
            has = memcmp(&rows->at[(size_t)i * WIDTH], at, sizeof at) == 0;
    }
    return report_malformed(r->ctx, place_of(r, r->source->text, line_end(r->source->text)),
                            dfl_arena_printf(arena, "the file has %u lines for %u x %u x %u combinations of its values of m, n "
                                             "and k", n, n_of[0], n_of[1], n_of[2]),
                            dfl_arena_printf(arena, "add a line for `%.15g,%.15g,%.15g`", at[0], at[1], at[2]));
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
    if (cells > n)
        return report_missing(r, rows, out);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t cell = 0;
        for (uint32_t d = 0; d < DFL_GRID_DIMS; d++) {
            const double *found = bsearch(&rows->at[i * WIDTH + d], of[d], out->n_of[d], sizeof *found, compare_numbers);
            cell = cell * out->n_of[d] + (uint32_t)(found - of[d]);
        }
        if (share[cell] != 0)
            return report_malformed(r->ctx, place_of_row(r, i), "a line of these m, n and k stands above",
                                    "remove one of the two");
        share[cell] = rows->at[i * WIDTH + DFL_GRID_DIMS];
    }
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
            return report_malformed(r->ctx, place_of_row(r, i), "the sizes of the work must ascend from line to line",
                                    at[i - 1] == at[i] ? "remove one of the two lines of this size"
                                                       : "sort the lines by their first number");
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
        return report_malformed(ctx, string->span, "the file has no points",
                                width == 2 ? "add a line with a size and a share, as in `65536,0.9`"
                                           : "add lines with three extents and a share, as in `512,512,64,0.9`");
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
