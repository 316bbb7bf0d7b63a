/* `dflc diff`: compares two reports. */
#include "api/session.h"

#include "report/diff/side.h"

const char *dfl_session_diff(dfl_session *s, const dfl_side *from, const dfl_side *to, dfl_format format,
                             bool details, dfl_exit *status, size_t *len)
{
    dfl_side_results a = { 0 }, b = { 0 };
    dfl_difference difference = { 0 };
    dfl_strbuf out;

    if (!dfl_side_read(s->arena, s->sink, from, &a) || !dfl_side_read(s->arena, s->sink, to, &b)) {
        *status = dfl_session_status(s);
        return NULL;
    }
    if (from->only && !to->only)
        dfl_side_prefer(&b, from->only);
    if (to->only && !from->only)
        dfl_side_prefer(&a, to->only);
    dfl_strbuf_init(&out, s->arena);
    dfl_diff_compare(s->arena, &a, &b, &difference);
    if (format == DFL_FORMAT_JSON)
        dfl_diff_json(&out, &difference);
    else
        dfl_diff_text(&out, &difference, details);
    *status = dfl_session_status(s);
    if (*status == DFL_EXIT_OK && difference.differs)
        *status = DFL_EXIT_FINDINGS;
    return dfl_session_give(&out, len);
}
