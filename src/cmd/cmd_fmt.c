/* dflc fmt: lays out files. */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/line_diff.h"

static dfl_exit format_file(const dfl_cmd_args *args, const char *path, FILE *out)
{
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status = dfl_cmd_open(s, args, path);
    const char *before, *after, *shown = strcmp(path, "-") == 0 ? "<stdin>" : path;
    size_t len, before_len;

    if (strcmp(path, "-") == 0 && args->stdin_name)
        shown = args->stdin_name;
    if (status == DFL_EXIT_OK)
        status = dfl_session_syntax(s);
    after = status == DFL_EXIT_OK ? dfl_session_formatted(s, &len) : NULL;
    if (!after) {
        dfl_cmd_messages(s, args);
        dfl_session_free(s);
        return status;
    }
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
    dfl_session_free(s);
    return status;
}

dfl_exit dfl_cmd_fmt(const dfl_cmd_args *args)
{
    dfl_exit status = DFL_EXIT_OK;
    dfl_cmd_buffer b;

    if (args->write + args->verify + args->diff > 1 || (args->write && args->output)) {
        dfl_cmd_say("give one of `-w`, `--check`, `--diff` and `-o`; see `dflc help fmt`");
        return DFL_EXIT_USAGE;
    }
    dfl_cmd_buffer_open(&b);
    for (unsigned i = 0; i < args->n_files; i++)
        status = dfl_cmd_worse(status, format_file(args, args->files[i], b.out));
    return dfl_cmd_worse(status, dfl_cmd_buffer_flush(&b, args->output));
}
