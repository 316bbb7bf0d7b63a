/* dflc explain: prints the page of a diagnostic or, for a file, the sensitivities of the costs of a mapping. */
#include "cmd/cmd.h"

#include <string.h>
#include <unistd.h>

#include "diag/explain.h"
#include "diag/lints.h"

static dfl_exit explain_code(const dfl_cmd_args *args)
{
    const dfl_lint_info *lint = dfl_lint_find(args->files[0]);
    dfl_code code = lint ? lint->code : dfl_explain_code(args->files[0]);
    const char *page = code != DFL_CODE_NONE ? dfl_explain_page(code) : NULL;

    if (code == DFL_CODE_NONE) {
        dfl_cmd_say("no diagnostic, lint or file `%s`; a code looks like E0301", args->files[0]);
        return DFL_EXIT_USAGE;
    }
    if (args->format) {
        dfl_cmd_say("`--format` is for mappings: pages are text; see `dflc help explain`");
        return DFL_EXIT_USAGE;
    }
    if (!page) {
        dfl_cmd_buffer b;
        char text[6];

        dfl_cmd_buffer_open(&b);
        fprintf(b.out, "# %s: %s\n", dfl_code_text(code, text), dfl_code_title(code));
        return dfl_cmd_buffer_flush(&b, args->output);
    }
    return dfl_cmd_write(args->output, page, strlen(page));
}

static dfl_exit explain_result(const dfl_cmd_args *args)
{
    bool json = strcmp(dfl_cmd_format(args, "text"), "json") == 0;
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status = dfl_cmd_open(s, args, args->files[0]);
    const char *text;
    size_t len;

    if (status == DFL_EXIT_OK) {
        status = dfl_session_explain(s, args->only);
        text = dfl_session_explanation(s, json ? DFL_FORMAT_JSON : DFL_FORMAT_TEXT, &len);
        if (len > 0)
            status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}

/* Whether the argument is a file: it is no code and no lint, and exists or looks like a path. */
static bool is_file(const char *word)
{
    const size_t len = strlen(word);

    if (dfl_lint_find(word) || dfl_explain_code(word) != DFL_CODE_NONE)
        return false;
    return strcmp(word, "-") == 0 || strchr(word, '/') || (len > 4 && strcmp(word + len - 4, ".dfl") == 0) ||
           access(word, F_OK) == 0;
}

dfl_exit dfl_cmd_explain(const dfl_cmd_args *args)
{
    return args->only || is_file(args->files[0]) ? explain_result(args) : explain_code(args);
}
