#include "import/losses.h"

#include "import/dfl_writer.h"

void dfl_loss_init(dfl_loss_report *report, dfl_arena *arena, dfl_sink *sink, const dfl_source_map *sources)
{
    *report = (dfl_loss_report){ .arena = arena, .sink = sink, .sources = sources };
}

static void keep_loss(dfl_loss_report *report, dfl_span span, const char *text)
{
    dfl_loss loss = { span, text };

    DFL_PUSH(report->arena, &report->losses, loss);
}

dfl_diag *dfl_lose(dfl_loss_report *report, dfl_code code, dfl_span span, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = dfl_arena_vprintf(report->arena, format, args);
    va_end(args);
    keep_loss(report, span, text);
    return dfl_report(report->sink, code, span, "%s", text);
}

const char *dfl_loss_nearest(const char *word, const char *const *known, size_t n)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(scratch);
    dfl_sym *words = DFL_NEW_ARRAY(scratch, dfl_sym, n + 1), near;
    const char *found = NULL;

    for (size_t i = 0; i < n; i++)
        words[i] = dfl_intern_z(names, known[i]);
    near = dfl_suggest(names, word, words, n);
    for (size_t i = 0; i < n && near != 0 && found == NULL; i++)
        found = words[i] == near ? known[i] : NULL;
    dfl_arena_free(scratch);
    return found;
}

void dfl_lose_key(dfl_loss_report *report, dfl_span span, const char *key, const char *of, const char *const *known, size_t n)
{
    dfl_diag *d = dfl_lose(report, DFL_FOREIGN_IGNORED, span, "`%s` of %s has no effect", key, of);
    const char *near = dfl_loss_nearest(key, known, n);

    if (near != NULL)
        dfl_diag_help(report->sink, d, "did you mean `%s`?", near);
}

void dfl_loss_remark(dfl_loss_report *report, dfl_span span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep_loss(report, span, dfl_arena_vprintf(report->arena, format, args));
    va_end(args);
}

dfl_loss *dfl_loss_take(dfl_loss_report *report, size_t *n)
{
    dfl_loss *losses = report->losses.at;

    *n = report->losses.n;
    report->losses.at = NULL;
    report->losses.n = report->losses.cap = 0;
    return losses;
}

void dfl_loss_print(const dfl_loss_report *report, const dfl_source *main, const dfl_loss *losses, size_t n,
                    dfl_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        dfl_place place = dfl_place_of(report->sources, losses[i].span.start);

        dfl_strbuf_z(out, "// ");
        if (place.source != NULL && place.source != main)
            dfl_strbuf_printf(out, "%s ", dfl_writer_base_name(report->arena, place.source));
        if (place.source != NULL)
            dfl_strbuf_printf(out, "line %u: ", (unsigned)place.line);
        dfl_strbuf_z(out, dfl_writer_plain(report->arena, losses[i].text));
        dfl_strbuf_char(out, '\n');
    }
}
