/* dflc check: reports the errors and lints of files, and corrects the files with `--fix`. */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "support/pool.h"
#include "support/limits.h"

/* The result of one file. Messages and output are printed after all files are done, in the order of the files. */
typedef struct {
    dfl_exit status;
    char *messages; /* for standard error */
    char *output;   /* for standard output */
} file_result;

typedef struct {
    const dfl_cmd_args *args;
    dfl_format report;   /* --format: JSON and SARIF are reports */
    dfl_format messages; /* format of the diagnostics on standard error; DFL_FORMAT_CSV = no diagnostics there */
    file_result *results;
} check_job;

static char *copy_text(const char *text)
{
    return text ? dfl_cmd_must(strdup(text)) : NULL;
}

/* Checks a file. With --fix, applies the safe edits, writes the file and checks it again, until no safe edit remains. */
static dfl_session *check_file(const dfl_cmd_args *args, const char *path, file_result *result)
{
    for (int round = 0;; round++) {
        dfl_session *s = dfl_cmd_session(args);
        size_t applied = 0, len;
        const char *fixed;

        result->status = dfl_cmd_open(s, args, path);
        if (result->status != DFL_EXIT_OK)
            return s;
        result->status = dfl_session_check(s);
        if (!args->fix)
            return s;
        fixed = dfl_session_fixed(s, &applied, &len);
        if (strcmp(path, "-") == 0) {
            free(result->output);
            result->output = copy_text(fixed);
            return s;
        }
        if (!fixed || applied == 0 || round == DFL_FIX_ROUNDS)
            return s;
        if (dfl_cmd_write(path, fixed, len) != DFL_EXIT_OK) {
            result->status = DFL_EXIT_IO;
            return s;
        }
        dfl_session_free(s);
    }
}

static void check_task(void *context, size_t i)
{
    const check_job *w = context;
    file_result *r = &w->results[i];
    dfl_session *s = check_file(w->args, w->args->files[i], r);

    if (w->report == DFL_FORMAT_JSON)
        r->output = copy_text(dfl_session_diagnostics(s, DFL_FORMAT_JSON, false, NULL));
    if (w->messages != DFL_FORMAT_CSV)
        r->messages = copy_text(dfl_session_diagnostics(s, w->messages, w->args->color, NULL));
    dfl_session_free(s);
}

/* A SARIF log has the findings of all files, so they share a session. */
static dfl_exit check_together(const check_job *w)
{
    const dfl_cmd_args *args = w->args;
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status = DFL_EXIT_OK;
    const char *text;
    size_t len;

    for (unsigned i = 0; i < args->n_files; i++) {
        dfl_exit one = dfl_cmd_open(s, args, args->files[i]);

        status = dfl_cmd_worse(status, one == DFL_EXIT_OK ? dfl_session_check(s) : one);
    }
    if (w->messages != DFL_FORMAT_CSV)
        fputs(dfl_session_diagnostics(s, w->messages, args->color, NULL), stderr);
    if (w->report == DFL_FORMAT_SARIF || w->report == DFL_FORMAT_JSON) {
        text = dfl_session_diagnostics(s, w->report, false, &len);
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_session_free(s);
    return status;
}

/* Verifies a certificate against one file. */
static dfl_exit check_certificate(const dfl_cmd_args *args)
{
    dfl_session *claims = dfl_cmd_certificate_session(args), *s = dfl_cmd_session(args);
    dfl_exit status = dfl_cmd_open(claims, args, args->certificate);
    const char *text;
    size_t len;

    if (status == DFL_EXIT_OK)
        status = dfl_cmd_open(s, args, args->files[0]);
    if (status == DFL_EXIT_OK) {
        text = dfl_session_source(claims, &len);
        status = dfl_session_check_certificate(s, args->certificate, text, len, args->effort);
        text = dfl_session_certified(s, &len);
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_all_messages((dfl_session *[]){ claims, s }, 2, args);
    dfl_session_free(claims);
    dfl_session_free(s);
    return status;
}

/* Text and short lines are messages, JSON and SARIF are reports: the messages then need --message-format. */
static check_job plan_check(const dfl_cmd_args *args)
{
    const dfl_format report = dfl_cmd_message_format(dfl_cmd_format(args, "text"));
    const bool is_message = report == DFL_FORMAT_TEXT || report == DFL_FORMAT_SHORT;

    return (check_job){ .args = args, .report = report,
                        .messages = args->has_messages ? args->messages : is_message ? report : DFL_FORMAT_CSV };
}

dfl_exit dfl_cmd_check(const dfl_cmd_args *args)
{
    check_job w = plan_check(args);
    const bool is_sarif = w.report == DFL_FORMAT_SARIF || w.messages == DFL_FORMAT_SARIF;
    dfl_exit status = DFL_EXIT_OK;
    dfl_cmd_buffer b;

    if (is_sarif && args->fix) {
        dfl_cmd_say("`--fix` and the format sarif exclude each other: fix first");
        return DFL_EXIT_USAGE;
    }
    if (args->certificate && (args->n_files != 1 || args->fix || w.report != DFL_FORMAT_TEXT)) {
        dfl_cmd_say("`--certificate` takes one file, and excludes `--fix` and `--format`");
        return DFL_EXIT_USAGE;
    }
    if (args->certificate)
        return check_certificate(args);
    if (is_sarif)
        return check_together(&w);
    w.results = dfl_cmd_must(calloc(args->n_files, sizeof *w.results));
    dfl_pool_run(args->jobs ? args->jobs : dfl_pool_processors(), args->n_files, check_task, &w);
    dfl_cmd_buffer_open(&b);
    for (unsigned i = 0; i < args->n_files; i++) {
        file_result *r = &w.results[i];

        if (r->messages)
            fputs(r->messages, stderr);
        if (r->output)
            fputs(r->output, b.out);
        status = dfl_cmd_worse(status, r->status);
        free(r->messages);
        free(r->output);
    }
    free(w.results);
    return dfl_cmd_worse(status, dfl_cmd_buffer_flush(&b, args->output));
}
