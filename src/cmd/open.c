/* Sessions with the options of the command line, and their input. */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/progress.h"
#include "support/limits.h"
#include "support/pool.h"

enum { MOST_INPUT = DFL_MAX_FILE + 1 }; /* limit on bytes read from standard input: one more than a session accepts, so that the
                                         session refuses longer input */

/* Writes the directory of this program to `out`; false if the system does not provide it. */
static bool program_directory(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    char *slash;

    if (n <= 0)
        return false;
    out[n] = '\0';
    slash = strrchr(out, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* The directory of the standard library: the variable DFL_STDLIB, else the place of an installation or a build, relative to
   the program. */
static bool find_stdlib(char out[PATH_MAX])
{
    static const char *const places[] = { "../share/dflc/stdlib", "../stdlib", "../../stdlib", "stdlib" };
    const char *given = getenv("DFL_STDLIB");
    char base[PATH_MAX];
    struct stat info;

    if (given && *given)
        return snprintf(out, PATH_MAX, "%s", given) < PATH_MAX;
    if (!program_directory(base))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(out, PATH_MAX, "%.*s/%s", PATH_MAX - 64, base, places[i]) < PATH_MAX && stat(out, &info) == 0 &&
            S_ISDIR(info.st_mode))
            return true;
    return false;
}

bool dfl_cmd_library_path(const char *name, char out[PATH_MAX])
{
    char base[PATH_MAX];
    size_t len;

    if (strncmp(name, "std", 3) != 0 || (name[3] != '\0' && name[3] != '.') || access(name, F_OK) == 0 || !find_stdlib(base))
        return false;
    if (snprintf(out, PATH_MAX, "%.*s%s", PATH_MAX - 512, base, name + 3) >= PATH_MAX - 8)
        return false;
    len = strlen(base);
    for (char *at = out + len; (at = strchr(at, '.')) != NULL;)
        *at = '/';
    if (access(out, F_OK) != 0)
        snprintf(out + strlen(out), sizeof ".dfl", ".dfl");
    return true;
}

static dfl_session *make_session(const dfl_cmd_args *args, size_t max_file)
{
    char stdlib[PATH_MAX];
    dfl_session_options options = args->session;
    dfl_search_options search = args->search;
    dfl_session *s;

    options.size = sizeof options;
    options.stdlib = find_stdlib(stdlib) ? stdlib : NULL;
    options.cancel = dfl_cmd_cancel();
    options.max_file = max_file;
    s = dfl_session_new(&options);
    for (unsigned i = 0; i < args->n_lints; i++)
        dfl_session_set_lint(s, args->lints[i].name, args->lints[i].level);
    for (unsigned i = 0; i < args->n_params; i++)
        dfl_session_set_param(s, args->params[i].name, args->params[i].value);
    search.size = sizeof search;
    search.jobs = args->jobs ? args->jobs : dfl_pool_processors();
    search.progress = dfl_cmd_progress(args->progress);
    search.progress_context = args->log;
    search.certificate = args->certificate != NULL;
    dfl_session_set_search(s, &search);
    return s;
}

dfl_session *dfl_cmd_session(const dfl_cmd_args *args) { return make_session(args, 0); }

dfl_session *dfl_cmd_certificate_session(const dfl_cmd_args *args) { return make_session(args, DFL_MAX_CERTIFICATE); }

/* Reads standard input, at most MOST_INPUT bytes. NULL if reading fails, with errno set, or after an interrupt. */
static char *read_stdin(size_t *len)
{
    char *text = malloc(MOST_INPUT);

    *len = 0;
    while (text && *len < MOST_INPUT) {
        ssize_t n = read(STDIN_FILENO, text + *len, MOST_INPUT - *len);

        if (n == 0)
            return text;
        if (n > 0) {
            *len += (size_t)n;
        } else if (errno != EINTR || atomic_load(dfl_cmd_cancel())) {
            int error = errno;

            free(text);
            errno = error;
            return NULL;
        }
    }
    return text;
}

dfl_exit dfl_cmd_open(dfl_session *s, const dfl_cmd_args *args, const char *path)
{
    const char *name = args->stdin_name ? args->stdin_name : "<stdin>";
    dfl_exit status;
    size_t len;
    char *text;

    if (strcmp(path, "-") != 0) {
        status = dfl_session_open(s, path);
    } else {
        text = read_stdin(&len);
        if (!text && atomic_load(dfl_cmd_cancel())) {
            dfl_cmd_say("interrupted");
            return DFL_EXIT_STOPPED;
        }
        if (!text) {
            dfl_cmd_say("cannot read standard input: %s", strerror(errno));
            return DFL_EXIT_IO;
        }
        status = dfl_session_open_text(s, name, text, len);
        free(text);
    }
    return status;
}

void dfl_cmd_all_messages(dfl_session *const *sessions, size_t n, const dfl_cmd_args *args)
{
    if (args->messages == DFL_FORMAT_SARIF && n > 0) {
        fputs(dfl_sessions_sarif(sessions, n, NULL), stderr);
        return;
    }
    for (size_t i = 0; i < n; i++)
        fputs(dfl_session_diagnostics(sessions[i], args->messages, args->color, NULL), stderr);
}

void dfl_cmd_messages(dfl_session *s, const dfl_cmd_args *args)
{
    dfl_cmd_all_messages(&s, 1, args);
}

dfl_exit dfl_cmd_write_certificate(dfl_session *s, const dfl_cmd_args *args)
{
    size_t len;
    const char *text = args->certificate ? dfl_session_certificate(s, args->only, &len) : NULL;

    if (!args->certificate)
        return DFL_EXIT_OK;
    return text ? dfl_cmd_write(args->certificate, text, len) : DFL_EXIT_FINDINGS;
}

/* Rank of an exit status, 0 = best. A status that tells less about the input is worse. */
static int badness(dfl_exit status)
{
    switch (status) {
    case DFL_EXIT_OK: return 0;
    case DFL_EXIT_FINDINGS: return 1;
    case DFL_EXIT_INFEASIBLE: return 2;
    case DFL_EXIT_IO: return 3;
    case DFL_EXIT_STOPPED: return 4;
    case DFL_EXIT_USAGE: return 5;
    case DFL_EXIT_INTERNAL: break;
    }
    return 6;
}

dfl_exit dfl_cmd_worse(dfl_exit a, dfl_exit b)
{
    return badness(a) >= badness(b) ? a : b;
}
