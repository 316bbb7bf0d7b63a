/* What needs no evaluation: formatting, fixing, dumping, importing. */
#include "api/session.h"

#include <string.h>

#include "diag/fix.h"
#include "fmt/fmt.h"
#include "import/accelforge/accelforge.h"
#include "import/maestro/maestro.h"
#include "import/timeloop/timeloop.h"
#include "ir/print.h"
#include "syntax/dump.h"

static const char *give(const char *text, size_t text_len, size_t *len)
{
    if (len)
        *len = text_len;
    return text;
}

const char *dfl_session_formatted(dfl_session *s, size_t *len)
{
    const dfl_syntax *syntax = s->root ? dfl_loaded_syntax(s, s->root) : NULL;
    const char *text;
    size_t text_len;

    if (!syntax || !syntax->ok)
        return NULL;
    text = dfl_fmt(s->arena, syntax, &text_len);
    return give(text, text_len, len);
}

const char *dfl_session_fixed(dfl_session *s, size_t *applied, size_t *len)
{
    dfl_fixed fixed;

    if (!s->root)
        return NULL;
    fixed = dfl_fix_apply(s->root->source, s->sink);
    if (applied)
        *applied = fixed.applied;
    return give(fixed.text, fixed.len, len);
}

const char *dfl_session_dumped(dfl_session *s, dfl_dump what, size_t *len)
{
    const dfl_syntax *syntax = s->root ? dfl_loaded_syntax(s, s->root) : NULL;
    dfl_strbuf out;

    if (!syntax)
        return NULL;
    dfl_strbuf_init(&out, s->arena);
    switch (what) {
    case DFL_DUMP_TOKENS: dfl_dump_tokens(&out, s->sources, syntax); break;
    case DFL_DUMP_AST: dfl_dump_ast(&out, s->sources, s->names, syntax->file); break;
    case DFL_DUMP_IR:
        dfl_session_analyse(s);
        if (s->program)
            dfl_ir_print(&out, s->names, s->program);
        break;
    }
    return give(out.text, out.len, len);
}

const char *dfl_session_import_maestro(dfl_session *s, const char *hardware_path, dfl_exit *status, size_t *len)
{
    const dfl_loaded *hardware = NULL;
    const char *text = NULL;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    if (hardware_path) {
        hardware = dfl_load_path(s, hardware_path, hardware_path, (dfl_span){ 0, 0 }, NULL);
        *status = DFL_EXIT_IO;
        if (!hardware)
            return NULL;
    }
    text = dfl_import_maestro(s->arena, s->sink, s->sources, s->root->source, hardware ? hardware->source : NULL);
    *status = dfl_session_status(s);
    return text ? give(text, strlen(text), len) : NULL;
}

const char *dfl_session_import_accelforge(dfl_session *s, char *const *more_paths, size_t n, dfl_exit *status,
                                          size_t *len)
{
    const dfl_source **sources = DFL_NEW_ARRAY(s->arena, const dfl_source *, n + 1);
    const char *text;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    sources[0] = s->root->source;
    for (size_t i = 0; i < n; i++) {
        const dfl_loaded *more = dfl_load_path(s, more_paths[i], more_paths[i], (dfl_span){ 0, 0 }, NULL);

        *status = DFL_EXIT_IO;
        if (!more)
            return NULL;
        sources[i + 1] = more->source;
    }
    text = dfl_import_accelforge(s->arena, s->sink, s->sources, sources, n + 1);
    *status = dfl_session_status(s);
    return text ? give(text, strlen(text), len) : NULL;
}

const char *dfl_session_import_timeloop(dfl_session *s, dfl_exit *status, size_t *len)
{
    const char *text;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    text = dfl_import_timeloop(s->arena, s->sink, s->sources, s->root->source);
    *status = dfl_session_status(s);
    return text ? give(text, strlen(text), len) : NULL;
}

dfl_exit dfl_session_syntax(dfl_session *s)
{
    if (!s->root)
        return DFL_EXIT_USAGE;
    dfl_loaded_syntax(s, s->root);
    return dfl_session_status(s);
}
