/* dflc explain CODE-OR-LINT: the page of a diagnostic. */
#include "cmd/cmd.h"

#include <string.h>

#include "diag/explain.h"
#include "diag/lints.h"

dfl_exit dfl_cmd_explain(const dfl_cmd_args *args)
{
    const dfl_lint_info *lint = dfl_lint_find(args->files[0]);
    dfl_code code = lint ? lint->code : dfl_explain_code(args->files[0]);
    const char *page = code != DFL_CODE_NONE ? dfl_explain_page(code) : NULL;

    if (code == DFL_CODE_NONE) {
        dfl_cmd_say("there is no diagnostic `%s`; codes look like E0301", args->files[0]);
        return DFL_EXIT_USAGE;
    }
    if (!page) {
        dfl_buffer b;
        char text[6];

        dfl_cmd_buffer(&b);
        fprintf(b.out, "# %s: %s\n", dfl_code_text(code, text), dfl_code_title(code));
        return dfl_cmd_flush(&b, NULL);
    }
    return dfl_cmd_write(NULL, page, strlen(page));
}
