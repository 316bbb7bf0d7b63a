/* dflc import: translates the workload, system and mapping of another tool into DFL. */
#include "cmd/cmd.h"

#include <string.h>

typedef enum { MAESTRO, ACCELFORGE, TIMELOOP, FORMATS } format;

static format find_format(const char *word)
{
    static const char *const words[FORMATS] = { "maestro", "accelforge", "timeloop" };
    format f = MAESTRO;

    while (f < FORMATS && strcmp(words[f], word) != 0)
        f++;
    return f;
}

static const char *import_files(dfl_session *s, const dfl_cmd_args *args, format from, dfl_exit *status, size_t *len)
{
    if (from == ACCELFORGE)
        return dfl_session_import_accelforge(s, args->files + 2, args->n_files - 2, status, len);
    return from == TIMELOOP ? dfl_session_import_timeloop(s, status, len)
                            : dfl_session_import_maestro(s, args->hardware, status, len);
}

dfl_exit dfl_cmd_import(const dfl_cmd_args *args)
{
    format from = find_format(args->files[0]);
    dfl_session *s;
    const char *text;
    dfl_exit status;
    size_t len;

    if (from == FORMATS) {
        dfl_cmd_say("cannot import `%s`; the formats are: maestro accelforge timeloop", args->files[0]);
        return DFL_EXIT_USAGE;
    }
    if (from != MAESTRO && args->hardware != NULL) {
        dfl_cmd_say("`--hw` is for maestro; give all files of the specification");
        return DFL_EXIT_USAGE;
    }
    if (from != ACCELFORGE && args->n_files > 2) {
        dfl_cmd_say(from == MAESTRO ? "a mapping of MAESTRO is one file" : "a run of Timeloop is one file");
        return DFL_EXIT_USAGE;
    }
    s = dfl_cmd_session(args);
    status = dfl_cmd_open(s, args, args->files[1]);
    if (status == DFL_EXIT_OK) {
        text = import_files(s, args, from, &status, &len);
        if (text)
            status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
