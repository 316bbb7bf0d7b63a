/* Prints help texts from the tables of commands and options. */
#include "cmd/cmd.h"

#include <string.h>

enum { WIDTH = 96, HELP_COLUMN = 30 }; /* line width, and the column where the help text of an option starts */

/* Prints text in lines of at most WIDTH columns behind `indent` blanks; the first line starts at column `at`. */
static void print_wrapped(FILE *out, const char *text, size_t indent, size_t at)
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
    fprintf(out, "%-*s", HELP_COLUMN, head);
    if (len >= HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    print_wrapped(out, o->help, HELP_COLUMN, HELP_COLUMN);
}

void dfl_cmd_print_help(FILE *out, const dfl_cmd *cmd)
{
    fprintf(out, "Example:\n  %s\n\ndflc %s %s\n", cmd->example, cmd->name, cmd->usage);
    print_wrapped(out, cmd->description, 0, 0);
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
    fputs("\n`dflc help COMMAND` prints the options of a command; `dflc help lints` lists the lints.\n"
          "The file `-` is standard input.\n"
          "Exit status: 0 success, 1 errors, differences or failed checks, 2 usage error, 3 cannot read or write,\n"
          "4 no feasible mapping, 5 stopped by a limit or a signal, 70 internal error.\n"
          "Environment: NO_COLOR, CI (no progress of searches), DFL_STDLIB (the directory of the standard library).\n", out);
}
