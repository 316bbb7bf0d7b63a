/* dflc list: prints the declarations of a file. */
#include "cmd/cmd.h"

#include <string.h>

dfl_exit dfl_cmd_list(const dfl_cmd_args *args)
{
    const dfl_format format = strcmp(dfl_cmd_format(args, "text"), "json") == 0 ? DFL_FORMAT_JSON : DFL_FORMAT_TEXT;
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status = dfl_cmd_open(s, args, args->files[0]);
    const char *text;
    size_t len;

    if (status == DFL_EXIT_OK) {
        status = dfl_session_syntax(s);
        text = dfl_session_list(s, format, &len);
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
