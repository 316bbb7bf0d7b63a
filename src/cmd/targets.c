/* Checks the output files of a command before the command starts its work. */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a regular or a new file may be written. Writing replaces the file by a rename, so its directory must be writable. */
static bool may_replace(const char *path)
{
    char *target = realpath(path, NULL), *slash;
    bool ok;

    if (!target)
        target = strdup(path);
    if (!target)
        return false;
    slash = strrchr(target, '/');
    if (slash)
        slash[slash == target] = '\0';
    ok = access(slash ? target : ".", W_OK | X_OK) == 0;
    free(target);
    return ok;
}

/* Returns DFL_EXIT_IO after a message if `path` cannot be written. */
static dfl_exit check_writable(const char *path)
{
    struct stat info;
    bool ok;

    if (stat(path, &info) != 0 && lstat(path, &info) == 0) {
        dfl_cmd_say("cannot write %s: it is a link to a file that is not there", path);
        return DFL_EXIT_IO;
    }
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) {
        ok = may_replace(path);
    } else {
        ok = !S_ISDIR(info.st_mode) && access(path, W_OK) == 0;
        if (S_ISDIR(info.st_mode))
            errno = EISDIR;
    }
    return ok ? DFL_EXIT_OK : dfl_cmd_cannot_write(path);
}

/* Writes the absolute path of a file that does not exist to `out`. False if its directory does not exist either. */
static bool resolve_new(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool ok = copy && realpath(copy, out) != NULL;
    size_t len = ok ? strlen(out) : 0;

    free(copy);
    return ok && snprintf(out + len, PATH_MAX - len, "/%s", slash ? slash + 1 : path) < (int)(PATH_MAX - len);
}

/* Whether both paths name one regular file, or the same file that does not exist yet. */
static bool name_same_file(const char *a, const char *b)
{
    char x[PATH_MAX], y[PATH_MAX];
    struct stat s, t;
    bool there = stat(a, &s) == 0;

    if (there != (stat(b, &t) == 0))
        return false;
    if (there)
        return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    return resolve_new(a, x) && resolve_new(b, y) && strcmp(x, y) == 0;
}

/* Whether the argument `input`, FILE or FILE:MAPPING, names the file `path`. */
static bool is_input(const char *input, const char *path)
{
    const char *colon = strrchr(input, ':');
    char *file = colon ? strndup(input, (size_t)(colon - input)) : NULL;
    struct stat info;
    bool same = stat(input, &info) == 0 ? name_same_file(input, path)
                                        : file && stat(file, &info) == 0 && name_same_file(file, path);

    free(file);
    return same;
}

/* Whether the output file `path` of the option `option` is none of the input files of the command. False after a message. */
static bool is_no_input(const dfl_cmd *cmd, const dfl_cmd_args *args, const char *option, const char *path)
{
    const char *more[] = { args->hardware, cmd->bit == DFL_CMD_CHECK ? args->certificate : NULL };
    const char *input = NULL;

    for (unsigned i = 0; i < args->n_files && !input; i++)
        input = is_input(args->files[i], path) ? args->files[i] : NULL;
    for (size_t i = 0; i < sizeof more / sizeof *more && !input; i++)
        input = more[i] && is_input(more[i], path) ? more[i] : NULL;
    if (!input)
        return true;
    dfl_cmd_say("`%s %s` is the file that is read, `%s`%s", option, path, input,
                args->output == path && (cmd->bit == DFL_CMD_MAP || cmd->bit == DFL_CMD_FMT) ? ": `-w` rewrites it"
                                                                                           : ": give another name");
    return false;
}

dfl_exit dfl_cmd_check_targets(const dfl_cmd *cmd, const dfl_cmd_args *args)
{
    const char *certificate = cmd->bit == DFL_CMD_CHECK ? NULL : args->certificate;
    dfl_exit status = DFL_EXIT_OK;

    if ((args->output && !is_no_input(cmd, args, "-o", args->output)) ||
        (certificate && !is_no_input(cmd, args, "--certificate", certificate)))
        return DFL_EXIT_USAGE;
    if (args->output && certificate && name_same_file(args->output, certificate)) {
        dfl_cmd_say("`-o %s` and `--certificate %s` are the same file", args->output, certificate);
        return DFL_EXIT_USAGE;
    }
    if (args->output)
        status = check_writable(args->output);
    if (certificate)
        status = dfl_cmd_worse(status, check_writable(certificate));
    if (cmd->bit == DFL_CMD_MAP && args->write && strcmp(args->files[0], "-") != 0)
        status = dfl_cmd_worse(status, check_writable(args->files[0]));
    return status;
}
