/* `dflc diff`: two reports compared. */
#include "api/session.h"

#include <string.h>

#include "report/diff/shape_read.h"
#include "report/run/run.h"

/* The results of one side; false after reporting. */
static bool read_side(dfl_session *s, const dfl_side *side, dfl_side_results *out)
{
    dfl_side_results all = { 0 };

    if (!dfl_diff_read(s->arena, s->sink, side->name, side->report, side->len, &all))
        return false;
    for (size_t i = 0; i < all.n; i++) {
        dfl_side_result one = all.at[i];

        if (side->only && strcmp(side->only, one.name) != 0)
            continue;
        one.shape = one.mapping ? dfl_shape_read(s->arena, &one) : NULL;
        DFL_PUSH(s->arena, out, one);
    }
    if (out->n == 0 && side->only)
        dfl_report(s->sink, DFL_NAME_UNKNOWN, (dfl_span){ 0, 0 }, "no result of `%s` is called `%s`", side->name,
                   side->only);
    return out->n > 0 || !side->only;
}

/* Of several results the one of a name that the other side was given, if there is one. */
static void keep_name(dfl_side_results *side, const char *name)
{
    for (size_t i = 0; i < side->n; i++)
        if (side->n > 1 && strcmp(side->at[i].name, name) == 0) {
            side->at[0] = side->at[i];
            side->n = 1;
        }
}

dfl_diff_pair *dfl_session_compare(dfl_session *s, const dfl_result_item *from, const dfl_result_item *to)
{
    const dfl_result_item *const items[2] = { from, to };
    dfl_difference *difference = DFL_NEW(s->arena, dfl_difference);
    dfl_side_results sides[2] = { { .n = 0 }, { .n = 0 } };

    for (int i = 0; i < 2; i++) {
        dfl_results one = s->results;
        dfl_side side = { .name = one.file };
        dfl_strbuf text;

        one.items = items[i];
        one.n_items = 1;
        one.n_checks = 0;
        dfl_strbuf_init(&text, s->arena);
        dfl_report_json(&text, &one);
        side.report = text.text;
        side.len = text.len;
        if (!read_side(s, &side, &sides[i]))
            return NULL;
    }
    dfl_diff_compare(s->arena, &sides[0], &sides[1], difference);
    return difference->pairs.n > 0 ? &difference->pairs.at[0] : NULL;
}

const char *dfl_session_diff(dfl_session *s, const dfl_side *from, const dfl_side *to, dfl_format format,
                             bool details, dfl_exit *status, size_t *len)
{
    dfl_side_results a = { 0 }, b = { 0 };
    dfl_difference difference = { 0 };
    dfl_strbuf out;

    if (!read_side(s, from, &a) || !read_side(s, to, &b)) {
        *status = dfl_session_status(s);
        return NULL;
    }
    if (from->only && !to->only)
        keep_name(&b, from->only);
    if (to->only && !from->only)
        keep_name(&a, to->only);
    dfl_strbuf_init(&out, s->arena);
    dfl_diff_compare(s->arena, &a, &b, &difference);
    if (format == DFL_FORMAT_JSON)
        dfl_diff_json(&out, &difference);
    else
        dfl_diff_text(&out, &difference, details);
    *status = dfl_session_status(s);
    if (*status == DFL_EXIT_OK && difference.differs)
        *status = DFL_EXIT_FINDINGS;
    if (len)
        *len = out.len;
    return out.text;
}
