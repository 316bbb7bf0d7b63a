/* dflc import FORMAT FILE...: another tool's mapping as DFL, with every loss said. */
#include "cmd/cmd.h"

#include <string.h>

dfl_exit dfl_cmd_import(const dfl_cmd_args *args)
{
    bool accelforge = strcmp(args->files[0], "accelforge") == 0;
    dfl_session *s;
    const char *text;
    dfl_exit status;
    size_t len;

    if (!accelforge && strcmp(args->files[0], "maestro") != 0) {
        dfl_cmd_say("cannot import `%s`; the formats are: maestro accelforge", args->files[0]);
        return DFL_EXIT_USAGE;
    }
    if (accelforge ? args->hardware != NULL : args->n_files > 2) {
        dfl_cmd_say(accelforge ? "`--hw` is for maestro; give all files of the specification"
                               : "a mapping of MAESTRO is one file");
        return DFL_EXIT_USAGE;
    }
    s = dfl_cmd_session(args);
    status = dfl_cmd_open(s, args, args->files[1]);
    if (status == DFL_EXIT_OK) {
        text = accelforge ? dfl_session_import_accelforge(s, args->files + 2, args->n_files - 2, &status, &len)
                          : dfl_session_import_maestro(s, args->hardware, &status, &len);
        if (text)
            status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
