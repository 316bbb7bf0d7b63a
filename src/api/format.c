/* `dflc fmt` and `dflc check --fix`: lays out or corrects the text of a file. */
#include "api/session.h"

#include "diag/fix.h"
#include "fmt/fmt.h"

dfl_exit dfl_session_syntax(dfl_session *s)
{
    if (!s->root)
        return DFL_EXIT_USAGE;
    dfl_loaded_syntax(s, s->root);
    return dfl_session_status(s);
}

const char *dfl_session_formatted(dfl_session *s, size_t *len)
{
    const dfl_syntax *syntax = s->root ? dfl_loaded_syntax(s, s->root) : NULL;
    const char *text;
    size_t text_len;

    if (!syntax || !syntax->ok)
        return NULL;
    text = dfl_fmt(s->arena, syntax, &text_len);
    if (len)
        *len = text_len;
    return text;
}

const char *dfl_session_fixed(dfl_session *s, size_t *applied, size_t *len)
{
    dfl_fixed fixed;

    if (!s->root)
        return NULL;
    fixed = dfl_fix_apply(s->root->source, s->sink);
    if (applied)
        *applied = fixed.applied;
    if (len)
        *len = fixed.len;
    return fixed.text;
}
