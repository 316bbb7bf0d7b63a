/*
 * The man page and the completions of shells, generated from the tables of commands and options, so that they agree with
 * the program. `dflc help man > src/cmd/dflc.1` rewrites the man page of the source tree; `dflc help bash`, `zsh` and
 * `fish` print the completions. A test compares these files with the output.
 */
#include "cmd/cmd.h"

#include <string.h>

/* Prints text for troff: escapes backslashes, hyphens and leading dots; `code` becomes bold. */
static void print_troff(FILE *out, const char *text)
{
    bool code = false;

    for (const char *c = text; *c; c++) {
        if (*c == '`') {
            fputs(code ? "\\fR" : "\\fB", out);
            code = !code;
        } else if (*c == '\\') {
            fputs("\\e", out);
        } else if (*c == '-') {
            fputs("\\-", out);
        } else if (*c == '\n') {
            fputs("\n.br\n", out);
        } else {
            if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n'))
                fputs("\\&", out);
            fputc(*c, out);
        }
    }
}

static void print_man_option(FILE *out, const dfl_cmd_option *o)
{
    fputs(".TP\n", out);
    if (o->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    print_troff(out, o->name);
    fputs("\\fR", out);
    if (o->argument)
        fprintf(out, " \\fI%s\\fR", o->argument);
    fputc('\n', out);
    print_troff(out, o->help);
    fputs(". Commands:", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++)
        if (o->commands & cmd->bit)
            fprintf(out, " %s", cmd->name);
    fputs(".\n", out);
}

static void print_man(FILE *out)
{
    fprintf(out, ".TH DFLC 1 \"\" \"dflc %s\" \"User Commands\"\n", dfl_version());
    fputs(".SH NAME\ndflc \\- compiler and exact evaluator for DFL\n.SH SYNOPSIS\n"
          ".B dflc\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n.SH DESCRIPTION\n"
          "DFL describes tensor computations, machines, and mappings of one onto the other.\n"
          ".B dflc\nchecks such files, computes the cost of mappings (operations, traffic, room, time, energy), "
          "and searches for the best mapping. "
          "Counts are exact.\n"
          ".SH COMMANDS\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, ".TP\n\\fBdflc %s\\fR ", cmd->name);
        print_troff(out, cmd->usage);
        fputc('\n', out);
        print_troff(out, cmd->description);
        if (cmd->formats)
            fprintf(out, " Formats: %s.", cmd->formats);
        fputs("\n.br\nExample: \\fB", out);
        print_troff(out, cmd->example);
        fputs("\\fR\n", out);
    }
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; dfl_cmd_option_at(i); i++)
        print_man_option(out, dfl_cmd_option_at(i));
    fputs(".SH EXIT STATUS\n"
          ".TP\n0\nsuccess\n.TP\n1\nerrors, denied lints, differences or failed checks were found\n"
          ".TP\n2\nusage error\n.TP\n3\na file cannot be read or written\n.TP\n4\nno feasible mapping\n"
          ".TP\n5\nstopped by a limit or a signal; the results so far are printed\n.TP\n70\ninternal error\n"
          ".SH ENVIRONMENT\n.TP\nDFL_STDLIB\ndirectory of the standard library\n.TP\nNO_COLOR\n"
          "if set and not empty, messages are not coloured\n"
          ".TP\nCI\nif set and not empty, no progress is shown on a terminal\n", out);
}

static void print_bash_words(FILE *out, unsigned bit)
{
    for (size_t i = 0; dfl_cmd_option_at(i); i++) {
        const dfl_cmd_option *option = dfl_cmd_option_at(i);

        if (!(option->commands & bit))
            continue;
        if (option->letter)
            fprintf(out, "-%c ", option->letter);
        fprintf(out, "--%s ", option->name);
    }
}

/* Whether the argument of an option is the name of a mapping. */
static bool names_mapping(const dfl_cmd_option *option)
{
    return strcmp(option->name, "only") == 0 || strcmp(option->name, "name") == 0 || strcmp(option->name, "result") == 0;
}

/* Prints a function of bash and zsh that lists the mappings of the DFL files among its arguments. */
static void print_mappings(FILE *out)
{
    fputs("_dflc_mappings() {\n    local file\n    for file; do\n"
          "        case $file in\n        *.dfl) dflc list \"$file\" 2>/dev/null | awk '$1 == \"mapping\" { print $2 }' ;;\n"
          "        esac\n    done\n}\n", out);
}

static void print_bash(FILE *out)
{
    fputs("# bash completion for dflc, made by `dflc help bash`\n", out);
    print_mappings(out);
    fputs("_dflc() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++)
        fprintf(out, "%s%s", cmd == dfl_cmd_table() ? "" : " ", cmd->name);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]}:$before in\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++)
        if (cmd->formats)
            fprintf(out, "    %s:--format) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", cmd->name,
                    cmd->formats);
    fputs("    *:--only | *:--name | *:--result)\n"
          "        COMPREPLY=($(compgen -W \"$(_dflc_mappings \"${COMP_WORDS[@]:2}\")\" -- \"$word\")); return ;;\n", out);
    fputs("    *:--color) COMPREPLY=($(compgen -W 'auto always never' -- \"$word\")); return ;;\n"
          "    *:--progress) COMPREPLY=($(compgen -W 'auto plain none' -- \"$word\")); return ;;\n"
          "    *:--message-format) COMPREPLY=($(compgen -W 'text short json sarif' -- \"$word\")); return ;;\n    esac\n"
          "    case ${COMP_WORDS[1]} in\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "    %s) words='", cmd->name);
        print_bash_words(out, cmd->bit);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
          "complete -o filenames -F _dflc dflc\n", out);
}

/* Prints a description for zsh and fish; a blank replaces each character that one of these shells interprets. */
static void print_plain(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(strchr("'`[]:\"\\$", *text) ? ' ' : *text, out);
}

static void print_zsh(FILE *out)
{
    fputs("#compdef dflc\n# zsh completion for dflc, made by `dflc help zsh`\n", out);
    print_mappings(out);
    fputs("_dflc() {\n    local -a commands\n"
          "    commands=(\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "        '%s:", cmd->name);
        print_plain(out, cmd->summary);
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
          "    case $words[2] in\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "    %s) _arguments \\\n", cmd->name);
        for (size_t i = 0; dfl_cmd_option_at(i); i++) {
            const dfl_cmd_option *option = dfl_cmd_option_at(i);

            if (!(option->commands & cmd->bit))
                continue;
            fprintf(out, "        '--%s%s[", option->name, option->argument ? "=" : "");
            print_plain(out, option->help);
            fprintf(out, "]%s%s", option->argument ? ":" : "", option->argument ? option->argument : "");
            if (option->argument && strcmp(option->name, "format") == 0)
                fprintf(out, ":(%s)", cmd->formats);
            else if (names_mapping(option))
                fputs(":($(_dflc_mappings ${words[3,-1]}))", out);
            fputs("' \\\n", out);
        }
        fputs("        '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n}\n_dflc \"$@\"\n", out);
}

static void print_fish(FILE *out)
{
    fputs("# fish completion for dflc, made by `dflc help fish`\n"
          "function __dflc_mappings\n    for file in (commandline -opc | string match -- '*.dfl')\n"
          "        dflc list $file 2>/dev/null | string replace -rf '^mapping +(\\\\S+).*' '$1'\n    end\nend\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "complete -c dflc -n __fish_use_subcommand -a %s -d '", cmd->name);
        print_plain(out, cmd->summary);
        fputs("'\n", out);
        for (size_t i = 0; dfl_cmd_option_at(i); i++) {
            const dfl_cmd_option *option = dfl_cmd_option_at(i);

            if (!(option->commands & cmd->bit))
                continue;
            fprintf(out, "complete -c dflc -n '__fish_seen_subcommand_from %s' -l %s", cmd->name, option->name);
            if (option->letter)
                fprintf(out, " -s %c", option->letter);
            if (option->argument)
                fputs(" -r", out);
            if (names_mapping(option))
                fputs(" -f -a '(__dflc_mappings)'", out);
            if (strcmp(option->name, "format") == 0)
                fprintf(out, " -f -a '%s'", cmd->formats);
            fputs(" -d '", out);
            print_plain(out, option->help);
            fputs("'\n", out);
        }
    }
}

bool dfl_cmd_print_generated(FILE *out, const char *what)
{
    static const struct { const char *what; void (*print)(FILE *out); } all[] = {
        { "man", print_man }, { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].what, what) == 0) {
            all[i].print(out);
            return true;
        }
    return false;
}
