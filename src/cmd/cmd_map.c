/* dflc map: fills the holes of the mappings of a file. */
#include "cmd/cmd.h"

#include <string.h>

/* Writes the text of the file with the found mappings to the output. With -w, overwrites the file itself if the text changed. */
static dfl_exit write_found(dfl_session *s, const dfl_cmd_args *args)
{
    const char *before, *after;
    size_t len, before_len;

    after = dfl_session_mapped(s, &len);
    if (len == 0)
        return DFL_EXIT_OK;
    if (!args->write)
        return dfl_cmd_write(args->output, after, len);
    before = dfl_session_source(s, &before_len);
    if (len == before_len && memcmp(before, after, len) == 0)
        return DFL_EXIT_OK;
    return dfl_cmd_write(args->files[0], after, len);
}

/* Searches, and prints or writes the file with the holes filled. Texts about the searches go to standard error. */
static dfl_exit print_found(dfl_session *s, const dfl_cmd_args *args)
{
    const dfl_exit status = dfl_session_map(s, args->only), written = write_found(s, args);

    if (args->messages == DFL_FORMAT_TEXT || args->messages == DFL_FORMAT_SHORT)
        fputs(dfl_session_searches(s, NULL), stderr);
    return dfl_cmd_worse(status, written);
}

/* Searches, and prints the report of the filled mappings in JSON, or a table in CSV; -w also rewrites the file. */
static dfl_exit report_found(dfl_session *s, const dfl_cmd_args *args, dfl_format format)
{
    const dfl_report_options options = { .size = sizeof options, .format = format, .plans = true };
    dfl_exit status = dfl_session_eval(s, args->only), shown;
    size_t len;
    const char *text = dfl_session_report_with(s, &options, &shown, &len);

    if (text != NULL)
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    return args->write ? dfl_cmd_worse(status, write_found(s, args)) : status;
}

dfl_exit dfl_cmd_map(const dfl_cmd_args *args)
{
    const bool is_json = strcmp(dfl_cmd_format(args, "dfl"), "json") == 0;
    const bool is_report = is_json || strcmp(dfl_cmd_format(args, "dfl"), "csv") == 0;
    dfl_session *s;
    dfl_exit status;

    if (args->write && ((args->output && !is_report) || strcmp(args->files[0], "-") == 0)) {
        dfl_cmd_say("`-w` rewrites a file: give its name, and no `-o`; see `dflc help map`");
        return DFL_EXIT_USAGE;
    }
    if (args->search.top > 0 && (args->search.imperfect || args->search.beyond != 0)) {
        dfl_cmd_say("`--top` lists results with tiles that divide and without `--beyond`: remove `%s`; see `dflc help map`",
                    args->search.imperfect ? "--tiles imperfect" : "--beyond");
        return DFL_EXIT_USAGE;
    }
    if (args->write && is_report && args->n_params > 0) {
        dfl_cmd_say("`--set` with `-w` excludes `--format json` and `csv`: print or write the file first");
        return DFL_EXIT_USAGE;
    }
    s = dfl_cmd_session(args);
    status = dfl_cmd_open(s, args, args->files[0]);
    if (status == DFL_EXIT_OK) {
        status = is_report ? report_found(s, args, is_json ? DFL_FORMAT_JSON : DFL_FORMAT_CSV) : print_found(s, args);
        status = dfl_cmd_worse(status, dfl_cmd_write_certificate(s, args));
    }
    if (!is_json || args->has_messages || dfl_session_source(s, NULL) == NULL) /* the JSON report contains the diagnostics */
        dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
