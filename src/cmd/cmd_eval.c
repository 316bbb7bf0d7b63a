/* dflc eval: computes the costs of the mappings of a file. dflc prove: counts by execution and compares with the model. */
#include "cmd/cmd.h"

#include <limits.h>
#include <string.h>

/* Evaluates one file after another; the session keeps the results of several for one report. */
static dfl_exit evaluate_files(dfl_session *s, const dfl_cmd_args *args)
{
    dfl_exit status = DFL_EXIT_OK;

    for (unsigned i = 0; i < args->n_files; i++) {
        dfl_exit one = dfl_cmd_open(s, args, args->files[i]);

        if (one == DFL_EXIT_OK)
            one = dfl_session_eval(s, args->only);
        status = dfl_cmd_worse(status, one);
        if (args->n_files > 1)
            dfl_session_keep(s);
    }
    return status;
}

/* Prints the report, and sets `*is_printed`; there is none if no file can be read. False after a message if a name among the
   columns is no figure. */
static bool print_report(dfl_session *s, const dfl_cmd_args *args, dfl_format format, dfl_exit *status, bool *is_printed)
{
    const dfl_report_options report = { .size = sizeof report, .format = format, .detailed = args->details ? UINT_MAX : 0,
                                        .sum = args->sum, .columns = args->columns };
    dfl_exit shown;
    size_t len;
    const char *text = dfl_session_report_with(s, &report, &shown, &len);

    *is_printed = text != NULL && shown != DFL_EXIT_USAGE;
    if (shown == DFL_EXIT_USAGE) {
        dfl_cmd_say("`--columns`: %s", text);
        *status = shown;
    } else if (text) {
        *status = dfl_cmd_worse(*status, dfl_cmd_write(args->output, text, len));
        *status = dfl_cmd_worse(*status, dfl_cmd_write_certificate(s, args));
    }
    return shown != DFL_EXIT_USAGE;
}

dfl_exit dfl_cmd_eval(const dfl_cmd_args *args)
{
    const char *name = dfl_cmd_format(args, "text");
    const dfl_format format = strcmp(name, "json") == 0 ? DFL_FORMAT_JSON
                              : strcmp(name, "csv") == 0 ? DFL_FORMAT_CSV : DFL_FORMAT_TEXT;
    dfl_session *s;
    dfl_exit status;
    bool is_printed;

    if (args->certificate && args->n_files > 1) {
        dfl_cmd_say("`--certificate` takes one file");
        return DFL_EXIT_USAGE;
    }
    s = dfl_cmd_session(args);
    status = evaluate_files(s, args);
    if (print_report(s, args, format, &status, &is_printed) &&
        (format != DFL_FORMAT_JSON || args->has_messages || !is_printed)) /* the JSON report contains the diagnostics */
        dfl_cmd_messages(s, args);
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
