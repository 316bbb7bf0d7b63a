/* What searches found: as text of the file, and as lines for the screen. */
#include "api/session.h"

#include "solve/rewrite.h"

const char *dfl_session_mapped(dfl_session *s, size_t *len)
{
    dfl_edited_file file;
    dfl_rewrite rewrite;
    const char *text = "";
    size_t text_len = 0;

    if (s->root && (s->filled.n > 0 || s->nothing_open)) {
        file = dfl_edited_file_of(s->arena, dfl_session_after(s), s->names, s->sources, dfl_loaded_syntax(s, s->root));
        rewrite = (dfl_rewrite){ .file = &file, .program = s->program, .filled = s->filled.at, .n_filled = s->filled.n };
        text = dfl_rewrite_text(&rewrite, &text_len);
    }
    if (len)
        *len = text_len;
    return text;
}

const char *dfl_session_searches(dfl_session *s, size_t *len)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_z(&out, s->nothing_open ? "nothing to fill: there is no `?` and no `...`\n" : "");
    dfl_filled_print_searches(s->names, s->filled.at, s->filled.n, s->verbose, &out);
    if (len)
        *len = out.len;
    return out.text;
}
