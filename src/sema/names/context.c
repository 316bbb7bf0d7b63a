#include "sema/names/context.h"

#include "support/strbuf.h"

const char *dfl_sema_slice(const dfl_sema *sema, dfl_span span)
{
    const dfl_source *source = dfl_source_of(dfl_sink_sources(sema->sink), span);
    dfl_strbuf out;
    bool blank = false;

    dfl_strbuf_init(&out, sema->arena);
    dfl_strbuf_z(&out, "");
    for (uint32_t at = span.start; source != NULL && at < span.end && at - source->base < source->len; at++) {
        char c = source->text[at - source->base];

        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            blank = out.len > 0;
            continue;
        }
        if (blank)
            dfl_strbuf_char(&out, ' ');
        blank = false;
        dfl_strbuf_char(&out, c);
    }
    return out.text;
}

bool dfl_sema_within_budget(dfl_sema *sema)
{
    return sema->budget == NULL || dfl_budget_ok(sema->budget) || dfl_report_stop(sema->sink, sema->budget);
}

void dfl_sema_blame(dfl_sema *sema, size_t before, dfl_span span, const char *what)
{
    for (size_t i = before; i < dfl_sink_count(sema->sink); i++) {
        dfl_diag *d = dfl_sink_at(sema->sink, i);

        if (d->span.start < span.start || d->span.end > span.end)
            dfl_diag_label(sema->sink, d, span, "%s", what);
    }
}
