/* dflc test: evaluates files and prints the verdicts of their checks as TAP or JUnit. */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "support/pool.h"
#include "support/limits.h"

/* ---- one file ---- */

typedef struct {
    dfl_session *session;
    dfl_exit status;
    bool sound;      /* the file was read, and all its errors are failed checks */
    size_t bad;      /* number of checks whose outcome is not "passed" */
} file_result;

typedef struct {
    const dfl_cmd_args *args;
    file_result *results;
} test_job;

static void test_task(void *context, size_t i)
{
    const test_job *w = context;
    file_result *r = &w->results[i];
    size_t failed = 0;
    dfl_cmd_args args = *w->args;

    args.search.counted = true; /* so that a limit on time gives the same results everywhere */
    r->session = dfl_cmd_session(&args);
    r->status = dfl_cmd_open(r->session, w->args, w->args->files[i]);
    if (r->status == DFL_EXIT_OK)
        r->status = dfl_session_test(r->session);
    for (size_t k = 0; k < dfl_session_verdicts(r->session); k++) {
        const char *outcome = dfl_session_verdict(r->session, k).outcome;

        failed += strcmp(outcome, "failed") == 0;
        r->bad += strcmp(outcome, "passed") != 0;
    }
    r->sound = r->status == DFL_EXIT_OK || (r->status == DFL_EXIT_FINDINGS && dfl_session_errors(r->session) == failed);
}

/* The name of file `i` for the reader. */
static const char *shown(const test_job *w, size_t i)
{
    const char *path = w->args->files[i];

    return strcmp(path, "-") != 0 ? path : w->args->stdin_name ? w->args->stdin_name : "<stdin>";
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
    size_t n = 0, failed = 0, planned = w->args->n_files;

    for (size_t i = 0; i < w->args->n_files; i++)
        planned += dfl_session_verdicts(w->results[i].session);
    fprintf(out, "TAP version 13\n1..%zu\n", planned);
    for (size_t i = 0; i < w->args->n_files; i++) {
        const file_result *r = &w->results[i];

        fprintf(out, "%sok %zu - ", r->sound ? "" : "not ", ++n);
        tap_text(out, shown(w, i));
        fputc('\n', out);
        failed += !r->sound;
        for (size_t k = 0; k < dfl_session_verdicts(r->session); k++) {
            dfl_verdict v = dfl_session_verdict(r->session, k);
            bool passed = strcmp(v.outcome, "passed") == 0;

            fprintf(out, "%sok %zu - ", passed ? "" : "not ", ++n);
            tap_text(out, shown(w, i));
            fprintf(out, ":%u: ", v.line);
            tap_text(out, v.text);
            if (strcmp(v.outcome, "unknown") == 0)
                fputs(" (not evaluated)", out);
            if (!passed && v.value) {
                fputs(" (found ", out);
                tap_text(out, v.value);
                fputc(')', out);
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
    xml_text(out, value ? "found " : "failed");
    xml_text(out, value ? value : "");
    fputs("\">", out);
    xml_text(out, text);
    fputs("</failure></testcase>\n", out);
}

static void print_junit(FILE *out, const test_job *w)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dflc test\">\n", out);
    for (size_t i = 0; i < w->args->n_files; i++) {
        const file_result *r = &w->results[i];
        size_t n = dfl_session_verdicts(r->session);

        fputs("  <testsuite name=\"", out);
        xml_text(out, shown(w, i));
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
    dfl_session **sessions = dfl_cmd_must(calloc(w->args->n_files, sizeof *sessions));

    for (size_t i = 0; i < w->args->n_files; i++)
        sessions[i] = w->results[i].session;
    dfl_cmd_all_messages(sessions, w->args->n_files, w->args);
    for (size_t i = 0; i < w->args->n_files; i++)
        dfl_session_free(sessions[i]);
    free(sessions);
}

dfl_exit dfl_cmd_test(const dfl_cmd_args *args)
{
    test_job w = { .args = args };
    dfl_exit status = DFL_EXIT_OK;
    dfl_cmd_buffer b;

    w.results = dfl_cmd_must(calloc(args->n_files, sizeof *w.results));
    dfl_pool_run(args->jobs ? args->jobs : dfl_pool_processors(), args->n_files, test_task, &w);
    dfl_cmd_buffer_open(&b);
    if (strcmp(dfl_cmd_format(args, "tap"), "junit") == 0)
        print_junit(b.out, &w);
    else
        print_tap(b.out, &w);
    for (size_t i = 0; i < args->n_files; i++) {
        status = dfl_cmd_worse(status, w.results[i].status);
        if (w.results[i].bad > 0 && status == DFL_EXIT_OK)
            status = DFL_EXIT_FINDINGS;
    }
    print_messages(&w);
    free(w.results);
    return dfl_cmd_worse(status, dfl_cmd_buffer_flush(&b, args->output));
}
