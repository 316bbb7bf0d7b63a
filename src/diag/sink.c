/*
 * Records are kept in order of reporting, up to the limit. A report over the limit, or of an allowed lint, goes into one
 * scratch record, to which nothing can be attached: a flood of errors needs no memory. The closing E0607 record stands
 * outside of the list and is always the last one.
 */
#include "diag/diag.h"

#include <stdio.h>
#include <string.h>

#include "support/vec.h"
#include "support/limits.h"

struct dfl_sink {
    dfl_arena *arena;
    const dfl_source_map *sources;
    DFL_VEC(dfl_diag *) kept;
    size_t limit;
    size_t errors, warnings; /* counts of reports, dropped reports included */
    size_t dropped;
    bool stop_reported;
    dfl_span work;             /* the mapping at work, or the empty span */
    const dfl_budget *reading; /* limits the reading of the input; NULL = the input is read */
    dfl_code last;
    dfl_diag scratch;
    dfl_diag *closing; /* the E0607 record, made by the first dropped report */
    char closing_text[64];
};

dfl_sink *dfl_sink_new(dfl_arena *arena, const dfl_source_map *sources)
{
    dfl_sink *sink = DFL_NEW(arena, dfl_sink);

    sink->arena = arena;
    sink->sources = sources;
    sink->limit = DFL_DEFAULT_DIAGNOSTICS;
    return sink;
}

dfl_sink *dfl_sink_quiet(dfl_arena *arena)
{
    dfl_sink *sink = dfl_sink_new(arena, NULL);

    sink->limit = 0;
    return sink;
}

dfl_arena *dfl_sink_arena(const dfl_sink *sink)
{
    return sink->arena;
}

const dfl_source_map *dfl_sink_sources(const dfl_sink *sink)
{
    return sink->sources;
}

void dfl_sink_limit(dfl_sink *sink, size_t limit)
{
    sink->limit = limit;
}

size_t dfl_sink_count(const dfl_sink *sink)
{
    return sink->kept.n + (sink->dropped > 0);
}

bool dfl_sink_drops(const dfl_sink *sink)
{
    return sink->dropped > 0 && sink->kept.n >= sink->limit;
}

dfl_diag *dfl_sink_at(const dfl_sink *sink, size_t i)
{
    if (i < sink->kept.n)
        return sink->kept.at[i];
    return i == sink->kept.n ? sink->closing : NULL;
}

dfl_code dfl_sink_last(const dfl_sink *sink)
{
    return sink->last;
}

size_t dfl_sink_errors(const dfl_sink *sink)
{
    return sink->errors;
}

size_t dfl_sink_warnings(const dfl_sink *sink)
{
    return sink->warnings;
}

/* Order of two records in print, negative for `a` before `b`. Records without a place come last. */
static int compare(const dfl_diag *a, const dfl_diag *b)
{
    bool a_placed = a->span.end != 0, b_placed = b->span.end != 0;

    if (a_placed != b_placed)
        return a_placed ? -1 : 1;
    if (a->span.start != b->span.start)
        return a->span.start < b->span.start ? -1 : 1;
    if (a->span.end != b->span.end)
        return a->span.end < b->span.end ? -1 : 1;
    return a->code < b->code ? -1 : a->code > b->code;
}

/* Merges the sorted runs left..middle and middle..right. */
static void merge(dfl_diag **to, dfl_diag **from, size_t left, size_t middle, size_t right)
{
    size_t i = left, j = middle;

    for (size_t k = left; k < right; k++)
        to[k] = i < middle && (j >= right || compare(from[i], from[j]) <= 0) ? from[i++] : from[j++];
}

void dfl_sink_sort(dfl_sink *sink)
{
    size_t n = sink->kept.n;
    dfl_diag **from = sink->kept.at;
    dfl_diag **to;

    if (n < 2)
        return;
    to = DFL_NEW_ARRAY(sink->arena, dfl_diag *, n);
    for (size_t width = 1; width < n; width *= 2) {
        dfl_diag **swap = from;
        for (size_t left = 0; left < n; left += 2 * width) {
            size_t middle = left + width < n ? left + width : n;
            size_t right = middle + width < n ? middle + width : n;
            merge(to, from, left, middle, right);
        }
        from = to;
        to = swap;
    }
    if (from != sink->kept.at)
        memcpy(sink->kept.at, from, n * sizeof *from);
}

static bool repeats(const dfl_diag *a, const dfl_diag *b)
{
    return a->code == b->code && a->span.start == b->span.start && a->span.end == b->span.end &&
           strcmp(a->message, b->message) == 0 && strcmp(a->label ? a->label : "", b->label ? b->label : "") == 0;
}

bool dfl_sink_has(const dfl_sink *sink, dfl_code code, dfl_span span)
{
    for (size_t i = sink->kept.n; i > 0; i--) {
        const dfl_diag *d = sink->kept.at[i - 1];

        if (d->code == code && d->span.start == span.start && d->span.end == span.end)
            return true;
    }
    return false;
}

/* Removes a record from the counts. */
static void take_back(dfl_sink *sink, const dfl_diag *d)
{
    sink->errors -= d->severity == DFL_ERROR;
    sink->warnings -= d->severity == DFL_WARNING;
}

void dfl_sink_fold(dfl_sink *sink, size_t first)
{
    size_t n = first;

    for (size_t i = first; i < sink->kept.n; i++) {
        dfl_diag *d = sink->kept.at[i];
        size_t k = 0;

        while (k < n && !repeats(sink->kept.at[k], d))
            k++;
        if (k == n)
            sink->kept.at[n++] = d;
        else
            take_back(sink, d);
    }
    sink->kept.n = n < sink->kept.n ? n : sink->kept.n;
}

void dfl_sink_withdraw(dfl_sink *sink, size_t first, dfl_code code)
{
    size_t n = first;

    for (size_t i = first; i < sink->kept.n; i++) {
        if (sink->kept.at[i]->code != code)
            sink->kept.at[n++] = sink->kept.at[i];
        else
            take_back(sink, sink->kept.at[i]);
    }
    sink->kept.n = n < sink->kept.n ? n : sink->kept.n;
}

/* The record for a report that is not kept. */
static dfl_diag *use_scratch(dfl_sink *sink, dfl_code code, dfl_severity severity, dfl_span span)
{
    sink->scratch = (dfl_diag){ .code = code, .severity = severity, .span = span, .message = "" };
    return &sink->scratch;
}

static void count_severity(dfl_sink *sink, dfl_severity severity)
{
    if (severity == DFL_ERROR || severity == DFL_INTERNAL)
        sink->errors++;
    else if (severity == DFL_WARNING)
        sink->warnings++;
}

/* Counts a report over the limit in the closing record. */
static dfl_diag *drop_report(dfl_sink *sink, dfl_code code, dfl_severity severity, dfl_span span)
{
    if (!sink->closing) {
        sink->closing = DFL_NEW(sink->arena, dfl_diag);
        sink->closing->code = DFL_LIMIT_DIAGNOSTICS;
        sink->closing->severity = dfl_code_severity(DFL_LIMIT_DIAGNOSTICS);
        sink->closing->message = sink->closing_text;
    }
    sink->dropped++;
    snprintf(sink->closing_text, sizeof sink->closing_text, "%zu further %s not shown", sink->dropped,
             sink->dropped == 1 ? "diagnostic is" : "diagnostics are");
    return use_scratch(sink, code, severity, span);
}

static dfl_diag *keep_report(dfl_sink *sink, dfl_code code, dfl_severity severity, dfl_span span, const char *message)
{
    dfl_diag *d = DFL_NEW(sink->arena, dfl_diag);

    *d = (dfl_diag){ .code = code, .severity = severity, .span = span, .message = message };
    DFL_PUSH(sink->arena, &sink->kept, d);
    return d;
}

/* Whether the reading of the input was stopped; then reports the stop. */
static bool is_unread(dfl_sink *sink)
{
    return sink->reading && sink->reading->why != DFL_STOP_NONE && !dfl_report_stop(sink, sink->reading);
}

dfl_diag *dfl_report(dfl_sink *sink, dfl_code code, dfl_span span, const char *format, ...)
{
    dfl_severity severity = dfl_code_severity(code);
    va_list args;
    dfl_diag *d;

    sink->last = code;
    if (severity == DFL_ERROR && is_unread(sink))
        return use_scratch(sink, code, severity, span);
    count_severity(sink, severity);
    if (sink->kept.n >= sink->limit)
        return drop_report(sink, code, severity, span);
    va_start(args, format);
    d = keep_report(sink, code, severity, span, dfl_arena_vprintf(sink->arena, format, args));
    va_end(args);
    return d;
}

dfl_diag *dfl_report_lint(dfl_sink *sink, const dfl_lint_levels *levels, dfl_lint lint, dfl_span span,
                          const char *format, ...)
{
    const dfl_level level = dfl_lint_level(levels, lint);
    const dfl_code code = dfl_lint_at(lint)->code;
    dfl_severity severity = level == DFL_LEVEL_DENY ? DFL_ERROR : DFL_WARNING;
    va_list args;
    dfl_diag *d;

    if (level == DFL_LEVEL_ALLOW || is_unread(sink) || (span.end != 0 && dfl_sink_has(sink, code, span)))
        return use_scratch(sink, code, DFL_NOTE, span);
    count_severity(sink, severity);
    if (sink->kept.n >= sink->limit)
        return drop_report(sink, code, severity, span);
    va_start(args, format);
    d = keep_report(sink, code, severity, span, dfl_arena_vprintf(sink->arena, format, args));
    va_end(args);
    d->lint = dfl_lint_at(lint)->name;
    return d;
}

void dfl_diag_here(dfl_sink *sink, dfl_diag *d, const char *format, ...)
{
    va_list args;

    if (d == &sink->scratch)
        return;
    va_start(args, format);
    d->label = dfl_arena_vprintf(sink->arena, format, args);
    va_end(args);
}

void dfl_diag_label(dfl_sink *sink, dfl_diag *d, dfl_span span, const char *format, ...)
{
    dfl_label **end = &d->labels;
    va_list args;

    if (d == &sink->scratch)
        return;
    while (*end)
        end = &(*end)->next;
    *end = DFL_NEW(sink->arena, dfl_label);
    (*end)->span = span;
    va_start(args, format);
    (*end)->text = dfl_arena_vprintf(sink->arena, format, args);
    va_end(args);
}

void dfl_diag_note(dfl_sink *sink, dfl_diag *d, const char *format, ...)
{
    dfl_note **end = &d->notes;
    va_list args;

    if (d == &sink->scratch)
        return;
    while (*end)
        end = &(*end)->next;
    *end = DFL_NEW(sink->arena, dfl_note);
    va_start(args, format);
    (*end)->text = dfl_arena_vprintf(sink->arena, format, args);
    va_end(args);
}

void dfl_diag_help(dfl_sink *sink, dfl_diag *d, const char *format, ...)
{
    va_list args;

    if (d == &sink->scratch)
        return;
    va_start(args, format);
    d->help = dfl_arena_vprintf(sink->arena, format, args);
    va_end(args);
}

void dfl_diag_fix(dfl_sink *sink, dfl_diag *d, dfl_span span, const char *text, dfl_certainty certainty)
{
    dfl_edit **end = &d->edits;

    if (d == &sink->scratch)
        return;
    while (*end)
        end = &(*end)->next;
    *end = DFL_NEW(sink->arena, dfl_edit);
    **end = (dfl_edit){ .span = span, .text = dfl_arena_copy(sink->arena, text, strlen(text)),
                        .certainty = certainty };
}

static dfl_code code_of_stop(dfl_stop why)
{
    switch (why) {
    case DFL_STOP_MEMORY:
        return DFL_LIMIT_MEMORY;
    case DFL_STOP_STEPS:
        return DFL_LIMIT_STEPS;
    case DFL_STOP_EVALUATIONS:
        return DFL_LIMIT_EVALUATIONS;
    case DFL_STOP_TIME:
        return DFL_LIMIT_TIME;
    case DFL_STOP_CANCELLED:
        return DFL_LIMIT_CANCELLED;
    case DFL_STOP_GAP:
    case DFL_STOP_WORK:
    case DFL_STOP_NONE:
        break;
    }
    return DFL_INTERNAL_ERROR;
}

/* What a user can do after a stop; NULL = nothing. */
static const char *help_for_stop(dfl_stop why)
{
    switch (why) {
    case DFL_STOP_MEMORY:
        return "if no size is larger than intended, raise `--memory-limit`";
    case DFL_STOP_STEPS:
        return "if no size is larger than intended, raise `--step-limit`";
    case DFL_STOP_EVALUATIONS:
        return "raise `--evaluations`, or write the lines that are already decided";
    case DFL_STOP_TIME:
        return "raise `--time-limit`, or write the lines that are already decided";
    case DFL_STOP_CANCELLED:
    case DFL_STOP_GAP:
    case DFL_STOP_WORK:
    case DFL_STOP_NONE:
        break;
    }
    return NULL;
}

void dfl_sink_work_on(dfl_sink *sink, dfl_span mapping)
{
    sink->work = mapping;
}

void dfl_sink_reading(dfl_sink *sink, const dfl_budget *budget)
{
    sink->reading = budget;
}

/* Reports a stop, at the mapping at work. A warning needs no help: the search that it is about states the reason. A full sink
   keeps this report, too: it explains why the others are incomplete. */
static void add_stop(dfl_sink *sink, dfl_stop why, dfl_severity severity)
{
    const char *help = help_for_stop(why);
    dfl_diag *d;

    if (sink->stop_reported)
        return;
    sink->stop_reported = true;
    count_severity(sink, severity);
    d = keep_report(sink, code_of_stop(why), severity, sink->work,
                    why == DFL_STOP_NONE ? "stop reported for a budget that has not stopped" : dfl_stop_text(why));
    if (help && severity == DFL_ERROR)
        dfl_diag_help(sink, d, "%s", help);
}

void dfl_report_limited(dfl_sink *sink, dfl_stop why)
{
    add_stop(sink, why, DFL_WARNING);
}

bool dfl_report_stop(dfl_sink *sink, const dfl_budget *budget)
{
    dfl_stop why = budget ? budget->why : DFL_STOP_NONE;

    add_stop(sink, why, dfl_code_severity(code_of_stop(why)));
    return false;
}
