/* dflc test: evaluates files and prints the verdicts of their checks as TAP or JUnit. */
#include "cmd/cmd.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/pool.h"
#include "support/limits.h"

typedef struct {
    char **at;
    size_t n, room;
} path_list;

static void add_path(path_list *paths, const char *path)
{
    if (paths->n == paths->room) {
        paths->room = paths->room ? 2 * paths->room : 64;
        paths->at = dfl_cmd_must(realloc(paths->at, paths->room * sizeof *paths->at));
    }
    paths->at[paths->n++] = dfl_cmd_must(strdup(path));
}

static void free_paths(path_list *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->at[i]);
    free(paths->at);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_dfl_suffix(const char *name)
{
    size_t len = strlen(name);

    return len > 4 && strcmp(name + len - 4, ".dfl") == 0;
}

/* Adds all .dfl files below a directory, ordered by name. A file named on the command line may have any suffix. */
static dfl_exit collect_files(const char *path, unsigned depth, path_list *paths)
{
    path_list here = { 0 };
    dfl_exit status = DFL_EXIT_OK;
    struct dirent *entry;
    struct stat info;
    DIR *dir;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        if (depth == 0 || has_dfl_suffix(path))
            add_path(paths, path);
        return DFL_EXIT_OK;
    }
    dir = depth < DFL_DEEPEST_DIRECTORY ? opendir(path) : NULL;
    if (!dir) {
        dfl_cmd_say("cannot read %s: %s", path, depth < DFL_DEEPEST_DIRECTORY ? strerror(errno) : "nested too deeply");
        return DFL_EXIT_IO;
    }
    while ((entry = readdir(dir))) {
        size_t room = strlen(path) + strlen(entry->d_name) + 2, len = strlen(path);
        char *inside;

        if (entry->d_name[0] == '.')
            continue;
        inside = dfl_cmd_must(malloc(room));
        snprintf(inside, room, "%s%s%s", path, len > 0 && path[len - 1] == '/' ? "" : "/", entry->d_name);
        add_path(&here, inside);
        free(inside);
    }
    closedir(dir);
    if (here.n > 0)
        qsort(here.at, here.n, sizeof *here.at, compare_names);
    for (size_t i = 0; i < here.n; i++)
        status = dfl_cmd_worse(status, collect_files(here.at[i], depth + 1, paths));
    free_paths(&here);
    return status;
}

/* ---- one file ---- */

typedef struct {
    dfl_session *session;
    dfl_exit status;
    bool sound;      /* the file was read, and all its errors are failed checks */
    size_t bad;      /* number of checks whose outcome is not "passed" */
} file_result;

typedef struct {
    const dfl_cmd_args *args;
    const path_list *paths;
    file_result *results;
} test_job;

static void test_task(void *context, size_t i)
{
    const test_job *w = context;
    file_result *r = &w->results[i];
    size_t failed = 0;

    r->session = dfl_cmd_session(w->args);
    r->status = dfl_cmd_open(r->session, w->args, w->paths->at[i]);
    if (r->status == DFL_EXIT_OK)
        r->status = dfl_session_test(r->session);
    for (size_t k = 0; k < dfl_session_verdicts(r->session); k++) {
        const char *outcome = dfl_session_verdict(r->session, k).outcome;

        failed += strcmp(outcome, "failed") == 0;
        r->bad += strcmp(outcome, "passed") != 0;
    }
    r->sound = r->status == DFL_EXIT_OK || (r->status == DFL_EXIT_FINDINGS && dfl_session_errors(r->session) == failed);
}

/* ---- TAP ---- */

/* Escapes a text for TAP: an unescaped `#` would start a directive. */
static void tap_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '#' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void print_tap(FILE *out, const test_job *w)
{
    size_t n = 0, failed = 0, planned = w->paths->n;

    for (size_t i = 0; i < w->paths->n; i++)
        planned += dfl_session_verdicts(w->results[i].session);
    fprintf(out, "TAP version 13\n1..%zu\n", planned);
    for (size_t i = 0; i < w->paths->n; i++) {
        const file_result *r = &w->results[i];

        fprintf(out, "%sok %zu - ", r->sound ? "" : "not ", ++n);
        tap_text(out, w->paths->at[i]);
        fputc('\n', out);
        failed += !r->sound;
        for (size_t k = 0; k < dfl_session_verdicts(r->session); k++) {
            dfl_verdict v = dfl_session_verdict(r->session, k);
            bool passed = strcmp(v.outcome, "passed") == 0;

            fprintf(out, "%sok %zu - ", passed ? "" : "not ", ++n);
            tap_text(out, w->paths->at[i]);
            fprintf(out, ":%u: ", v.line);
            tap_text(out, v.text);
            if (!passed && v.value) {
                fputs(" is ", out);
                tap_text(out, v.value);
            }
            fputc('\n', out);
            failed += !passed;
        }
    }
    fprintf(out, "# %zu passed, %zu failed\n", planned - failed, failed);
}

/* ---- JUnit ---- */

/* Escapes a text for XML 1.0; characters that XML forbids become U+FFFD. */
static void xml_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default:
            if ((unsigned char)*text < 0x20 && *text != '\t' && *text != '\n')
                fputs("\xEF\xBF\xBD", out);
            else
                fputc(*text, out);
        }
    }
}

static void junit_case(FILE *out, const char *name, bool passed, const char *value, const char *text)
{
    fputs("    <testcase name=\"", out);
    xml_text(out, name);
    if (passed) {
        fputs("\"/>\n", out);
        return;
    }
    fputs("\"><failure message=\"", out);
    xml_text(out, value ? "is " : "failed");
    xml_text(out, value ? value : "");
    fputs("\">", out);
    xml_text(out, text);
    fputs("</failure></testcase>\n", out);
}

static void print_junit(FILE *out, const test_job *w)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dflc test\">\n", out);
    for (size_t i = 0; i < w->paths->n; i++) {
        const file_result *r = &w->results[i];
        size_t n = dfl_session_verdicts(r->session);

        fputs("  <testsuite name=\"", out);
        xml_text(out, w->paths->at[i]);
        fprintf(out, "\" tests=\"%zu\" failures=\"%zu\">\n", n + 1, r->bad + !r->sound);
        junit_case(out, "file", r->sound, NULL,
                   dfl_session_diagnostics(r->session, DFL_FORMAT_SHORT, false, NULL));
        for (size_t k = 0; k < n; k++) {
            dfl_verdict v = dfl_session_verdict(r->session, k);

            junit_case(out, v.text, strcmp(v.outcome, "passed") == 0, v.value, v.outcome);
        }
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}

/* Prints the diagnostics of all files, and frees their sessions. */
static void print_messages(test_job *w)
{
    dfl_session **sessions = dfl_cmd_must(calloc(w->paths->n, sizeof *sessions));

    for (size_t i = 0; i < w->paths->n; i++)
        sessions[i] = w->results[i].session;
    dfl_cmd_all_messages(sessions, w->paths->n, w->args);
    for (size_t i = 0; i < w->paths->n; i++)
        dfl_session_free(sessions[i]);
    free(sessions);
}

dfl_exit dfl_cmd_test(const dfl_cmd_args *args)
{
    path_list paths = { 0 };
    test_job w = { .args = args, .paths = &paths };
    dfl_exit status = DFL_EXIT_OK;
    dfl_cmd_buffer b;

    for (unsigned i = 0; i < args->n_files; i++)
        status = dfl_cmd_worse(status, collect_files(args->files[i], 0, &paths));
    if (paths.n == 0) {
        dfl_cmd_say("the given directories contain no .dfl files");
        return dfl_cmd_worse(status, DFL_EXIT_IO);
    }
    w.results = dfl_cmd_must(calloc(paths.n, sizeof *w.results));
    dfl_pool_run(args->jobs ? args->jobs : dfl_pool_processors(), paths.n, test_task, &w);
    dfl_cmd_buffer_open(&b);
    if (strcmp(dfl_cmd_format(args, "tap"), "junit") == 0)
        print_junit(b.out, &w);
    else
        print_tap(b.out, &w);
    for (size_t i = 0; i < paths.n; i++) {
        status = dfl_cmd_worse(status, w.results[i].status);
        if (w.results[i].bad > 0 && status == DFL_EXIT_OK)
            status = DFL_EXIT_FINDINGS;
    }
    print_messages(&w);
    free(w.results);
    free_paths(&paths);
    return dfl_cmd_worse(status, dfl_cmd_buffer_flush(&b, args->output));
}
