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

/* Says that the file has no mapping, so that an empty report is no riddle. */
static void say_nothing(const dfl_cmd_args *args, const char *verb)
{
    if (args->n_files == 1 && (args->messages == DFL_FORMAT_TEXT || args->messages == DFL_FORMAT_SHORT))
        dfl_cmd_say("nothing to %s: %s declares no mapping", verb,
                    strcmp(args->files[0], "-") != 0 ? args->files[0] : args->stdin_name ? args->stdin_name : "<stdin>");
}

/* Prints the report. False if there is none, because no file can be read or a name among the columns is no figure. */
static bool print_report(dfl_session *s, const dfl_cmd_args *args, dfl_format format, dfl_exit *status)
{
    const dfl_report_options report = { .size = sizeof report, .format = format, .detailed = args->details ? UINT_MAX : 0,
                                        .sum = args->sum, .columns = args->columns };
    dfl_exit shown;
    size_t len;
    const char *text = dfl_session_report_with(s, &report, &shown, &len);

    *status = dfl_cmd_worse(*status, shown);
    if (!text)
        return false;
    if (len == 0 && *status == DFL_EXIT_OK)
        say_nothing(args, "evaluate");
    *status = dfl_cmd_worse(*status, dfl_cmd_write(args->output, text, len));
    *status = dfl_cmd_worse(*status, dfl_cmd_write_certificate(s, args));
    return true;
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
    is_printed = print_report(s, args, format, &status);
    if (format != DFL_FORMAT_JSON || args->has_messages || !is_printed) /* the JSON report contains the diagnostics */
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
        if (len == 0 && status == DFL_EXIT_OK)
            say_nothing(args, "execute");
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
