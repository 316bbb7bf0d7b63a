/* dflc fmt: lays out files. */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/line_diff.h"

static dfl_exit format_file(dfl_session *s, const dfl_cmd_args *args, const char *path, FILE *out)
{
    dfl_exit status = dfl_cmd_open(s, args, path);
    const char *before, *after, *shown = strcmp(path, "-") == 0 ? "<stdin>" : path;
    size_t len, before_len;

    if (strcmp(path, "-") == 0 && args->stdin_name)
        shown = args->stdin_name;
    if (status == DFL_EXIT_OK)
        status = dfl_session_syntax(s);
    after = status == DFL_EXIT_OK ? dfl_session_formatted(s, &len) : NULL;
    if (!after)
        return status;
    before = dfl_session_source(s, &before_len);
    if (args->write && strcmp(path, "-") != 0) {
        if (len != before_len || memcmp(before, after, len) != 0)
            status = dfl_cmd_write(path, after, len);
    } else if (!args->verify && !args->diff) {
        fwrite(after, 1, len, out);
    }
    if ((args->verify || args->diff) && (len != before_len || memcmp(before, after, len) != 0)) {
        status = dfl_cmd_worse(status, DFL_EXIT_FINDINGS);
        if (args->diff)
            dfl_line_diff_print(out, shown, before, after);
        else
            fprintf(out, "%s\n", shown);
    }
    return status;
}

dfl_exit dfl_cmd_fmt(const dfl_cmd_args *args)
{
    dfl_exit status = DFL_EXIT_OK;
    dfl_session **sessions;
    dfl_cmd_buffer b;

    if (args->write + args->verify + args->diff > 1 || (args->write && args->output)) {
        dfl_cmd_say("give one of `-w`, `--check`, `--diff` and `-o`; see `dflc help fmt`");
        return DFL_EXIT_USAGE;
    }
    dfl_cmd_buffer_open(&b);
    sessions = dfl_cmd_must(calloc(args->n_files, sizeof *sessions));
    for (unsigned i = 0; i < args->n_files; i++) {
        sessions[i] = dfl_cmd_session(args);
        status = dfl_cmd_worse(status, format_file(sessions[i], args, args->files[i], b.out));
    }
    dfl_cmd_all_messages(sessions, args->n_files, args);
    for (unsigned i = 0; i < args->n_files; i++)
        dfl_session_free(sessions[i]);
    free(sessions);
    return dfl_cmd_worse(status, dfl_cmd_buffer_flush(&b, args->output));
}
