/* dflc help: prints help on a command, an overview, the list of lints, or the generated man page and completions. dflc
   version. */
#include "cmd/cmd.h"

#include <string.h>

#include "diag/lints.h"

static void print_lints(FILE *out)
{
    static const char *const levels[] = { "allow", "warn", "deny" };

    for (unsigned i = 0; i < DFL_N_LINTS; i++) {
        const dfl_lint_info *lint = dfl_lint_at((dfl_lint)i);
        char code[6];

        fprintf(out, "%-24s%s  %-6s%s\n", lint->name, dfl_code_text(lint->code, code), levels[lint->level],
                lint->summary);
    }
}

dfl_exit dfl_cmd_help(const dfl_cmd_args *args)
{
    const char *topic = args->n_files ? args->files[0] : NULL;
    const dfl_cmd *cmd = topic ? dfl_cmd_find(topic) : NULL;
    dfl_cmd_buffer b;

    dfl_cmd_buffer_open(&b);
    if (!topic)
        dfl_cmd_print_overview(b.out);
    else if (cmd)
        dfl_cmd_print_help(b.out, cmd);
    else if (strcmp(topic, "lints") == 0)
        print_lints(b.out);
    else if (!dfl_cmd_print_generated(b.out, topic)) {
        dfl_cmd_say("no help on `%s`: name a command, or one of lints, man, bash, zsh, fish", topic);
        dfl_cmd_buffer_flush(&b, NULL);
        return DFL_EXIT_USAGE;
    }
    return dfl_cmd_buffer_flush(&b, NULL);
}

dfl_exit dfl_cmd_version(const dfl_cmd_args *args)
{
    dfl_cmd_buffer b;

    dfl_cmd_buffer_open(&b);
    fprintf(b.out, "dflc %s\n", dfl_version());
    if (args->session.verbose)
        fputs("report: dfl-report/1\nedition: dfl 1\nimport: maestro accelforge timeloop\nlargest file: 16 MiB\n"
              "counts: 128 bit, checked\n", b.out);
    return dfl_cmd_buffer_flush(&b, NULL);
}
