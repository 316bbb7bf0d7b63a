/* dflc eval: computes the costs of the mappings of a file. dflc prove: counts by execution and compares with the model. */
#include "cmd/cmd.h"

#include <limits.h>
#include <string.h>

dfl_exit dfl_cmd_eval(const dfl_cmd_args *args)
{
    const char *name = dfl_cmd_format(args, "text"), *text;
    dfl_format format = strcmp(name, "json") == 0 ? DFL_FORMAT_JSON
                        : strcmp(name, "csv") == 0 ? DFL_FORMAT_CSV : DFL_FORMAT_TEXT;
    const dfl_report_options report = { .size = sizeof report, .format = format, .detailed = args->details ? UINT_MAX : 0,
                                        .sum = args->sum, .columns = args->columns };
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status, shown;
    size_t len;

    status = dfl_cmd_open(s, args, args->files[0]);
    if (status == DFL_EXIT_OK) {
        status = dfl_session_eval(s, args->only);
        text = dfl_session_report_with(s, &report, &shown, &len);
        if (shown == DFL_EXIT_USAGE) {
            dfl_cmd_say("`--columns`: %s", text);
            dfl_session_free(s);
            return shown;
        }
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
        status = dfl_cmd_worse(status, dfl_cmd_write_certificate(s, args));
        if (format != DFL_FORMAT_JSON || args->has_messages) /* the JSON report contains the diagnostics */
            dfl_cmd_messages(s, args);
    } else {
        dfl_cmd_messages(s, args);
    }
    dfl_session_free(s);
    return status;
}

dfl_exit dfl_cmd_prove(const dfl_cmd_args *args)
{
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status = dfl_cmd_open(s, args, args->files[0]);
    const char *text;
    size_t len;

    if (status == DFL_EXIT_OK) {
        status = dfl_session_prove(s, args->only, args->sizes, args->n_sizes);
        text = dfl_session_proof(s, &len);
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
