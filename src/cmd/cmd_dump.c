/* dflc dump: prints tokens, syntax tree or intermediate representation of a file, for developers of dflc. */
#include "cmd/cmd.h"

#include <string.h>

dfl_exit dfl_cmd_dump(const dfl_cmd_args *args)
{
    static const struct { const char *name; dfl_dump what; } all[] = {
        { "tokens", DFL_DUMP_TOKENS }, { "ast", DFL_DUMP_AST }, { "ir", DFL_DUMP_IR },
    };
    dfl_session *s;
    dfl_exit status;
    const char *text;
    size_t len, i = 0;

    while (i < sizeof all / sizeof all[0] && strcmp(all[i].name, args->files[0]) != 0)
        i++;
    if (i == sizeof all / sizeof all[0]) {
        dfl_cmd_say("cannot dump `%s`: name tokens, ast or ir", args->files[0]);
        return DFL_EXIT_USAGE;
    }
    s = dfl_cmd_session(args);
    status = dfl_cmd_open(s, args, args->files[1]);
    if (status == DFL_EXIT_OK) {
        text = dfl_session_dumped(s, all[i].what, &len);
        status = dfl_session_syntax(s);
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
