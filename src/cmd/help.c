#include "cmd/cmd.h"

#include <string.h>

#include "diag/lints.h"

enum { WIDTH = 96 };

/* The text in lines of at most WIDTH columns behind `indent` blanks; the first line starts at column `at`. */
static void wrap(FILE *out, const char *text, size_t indent, size_t at)
{
    size_t column = at;

    while (*text) {
        size_t n = strcspn(text, " \n");

        if (column > indent && column + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)n, text);
        column += n;
        text += n;
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] ? (int)indent : 0, "");
            column = indent;
        }
        text += *text ? 1 : 0;
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const dfl_cmd_option *o)
{
    char head[64];
    size_t len;

    if (o->letter)
        snprintf(head, sizeof head, "  -%c, --%s%s%s", o->letter, o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
    else
        snprintf(head, sizeof head, "      --%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    len = strlen(head);
    fprintf(out, "%-30s", head);
    if (len >= 30)
        fprintf(out, "\n%30s", "");
    wrap(out, o->help, 30, 30);
}

void dfl_cmd_print_help(FILE *out, const dfl_cmd *cmd)
{
    fprintf(out, "Example:\n  %s\n\ndflc %s %s\n", cmd->example, cmd->name, cmd->usage);
    wrap(out, cmd->description, 0, 0);
    if (cmd->formats)
        fprintf(out, "\nFormats: %s\n", cmd->formats);
    fputs("\nOptions:\n", out);
    for (size_t i = 0; dfl_cmd_option_at(i); i++)
        if (dfl_cmd_option_at(i)->commands & cmd->bit)
            print_option(out, dfl_cmd_option_at(i));
}

void dfl_cmd_print_overview(FILE *out)
{
    fputs("Example:\n  dflc eval examples/attention.dfl\n\n"
          "dflc COMMAND [OPTION]... [FILE]...\n"
          "Compiler and exact evaluator for DFL, the language for tensor workloads, machines and mappings.\n\n"
          "Commands:\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++)
        fprintf(out, "  %-10s%s\n", cmd->name, cmd->summary);
    fputs("\n`dflc help COMMAND` tells more; `dflc help lints` lists the lints. `-` reads standard input.\n"
          "Exit status: 0 fine, 1 findings, 2 usage, 3 cannot read or write, 4 nothing feasible,\n"
          "5 stopped by a limit or a signal, 70 a defect of dflc.\n"
          "Environment: NO_COLOR, CI (no progress of searches), DFL_STDLIB (the directory of the standard library).\n", out);
}

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
    dfl_buffer b;

    dfl_cmd_buffer(&b);
    if (!topic)
        dfl_cmd_print_overview(b.out);
    else if (cmd)
        dfl_cmd_print_help(b.out, cmd);
    else if (strcmp(topic, "lints") == 0)
        print_lints(b.out);
    else if (!dfl_cmd_print_generated(b.out, topic)) {
        dfl_cmd_say("no help on `%s`: name a command, or one of lints, man, bash, zsh, fish", topic);
        dfl_cmd_flush(&b, NULL);
        return DFL_EXIT_USAGE;
    }
    return dfl_cmd_flush(&b, NULL);
}

dfl_exit dfl_cmd_version(const dfl_cmd_args *args)
{
    dfl_buffer b;

    dfl_cmd_buffer(&b);
    fprintf(b.out, "dflc %s\n", dfl_version());
    if (args->verbose)
        fputs("report: dfl-report/1\nedition: dfl 1\nimport: maestro accelforge timeloop\nlargest file: 16 MiB\n"
              "counts: 128 bit, checked\n", b.out);
    return dfl_cmd_flush(&b, NULL);
}
