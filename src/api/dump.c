/* `dflc dump`: prints the tokens, the syntax tree or the intermediate representation of a file. */
#include "api/session.h"

#include "ir/print.h"
#include "syntax/dump.h"

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
    return dfl_session_give(&out, len);
}
