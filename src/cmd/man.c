/*
 * The man page and the completions of shells, made from the tables of commands and options, so that they cannot say
 * something else than the program does. `dflc help man > src/cmd/dflc.1` and its like rewrite the files of the tree;
 * a test compares them.
 */
#include "cmd/cmd.h"

#include <string.h>

static const dfl_cmd_option *option(size_t i)
{
    return dfl_cmd_option_at(i);
}

/* Text for troff: backslashes, hyphens and leading dots keep their look; `code` becomes bold. */
static void troff(FILE *out, const char *text)
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

static void man_option(FILE *out, const dfl_cmd_option *o)
{
    fputs(".TP\n", out);
    if (o->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    troff(out, o->name);
    fputs("\\fR", out);
    if (o->argument)
        fprintf(out, " \\fI%s\\fR", o->argument);
    fputc('\n', out);
    troff(out, o->help);
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
          "DFL says what is computed, what it runs on, and where and when each piece of work and data goes.\n"
          ".B dflc\nchecks such files and tells what a mapping costs: operations, traffic, room, time, energy. "
          "Counts are exact.\n"
          ".SH COMMANDS\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, ".TP\n\\fBdflc %s\\fR ", cmd->name);
        troff(out, cmd->usage);
        fputc('\n', out);
        troff(out, cmd->description);
        if (cmd->formats)
            fprintf(out, " Formats: %s.", cmd->formats);
        fputs("\n.br\nExample: \\fB", out);
        troff(out, cmd->example);
        fputs("\\fR\n", out);
    }
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; option(i); i++)
        man_option(out, option(i));
    fputs(".SH EXIT STATUS\n"
          ".TP\n0\nfine\n.TP\n1\nfindings: errors, denied lints, differences, checks that do not hold\n"
          ".TP\n2\nwrong usage\n.TP\n3\nsomething cannot be read or written\n.TP\n4\nnothing feasible\n"
          ".TP\n5\nstopped by a limit or a signal; what was found so far is printed\n.TP\n70\na defect of dflc\n"
          ".SH ENVIRONMENT\n.TP\nDFL_STDLIB\ndirectory of the standard library\n.TP\nNO_COLOR\n"
          "if set and not empty, messages are not coloured\n"
          ".TP\nCI\nif set and not empty, a terminal is not shown how far a search is\n", out);
}

static void bash_words(FILE *out, unsigned bit)
{
    for (size_t i = 0; option(i); i++) {
        if (!(option(i)->commands & bit))
            continue;
        if (option(i)->letter)
            fprintf(out, "-%c ", option(i)->letter);
        fprintf(out, "--%s ", option(i)->name);
    }
}

static void print_bash(FILE *out)
{
    fputs("# bash completion for dflc, made by `dflc help bash`\n_dflc() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++)
        fprintf(out, "%s%s", cmd == dfl_cmd_table() ? "" : " ", cmd->name);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]}:$before in\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++)
        if (cmd->formats)
            fprintf(out, "    %s:--format) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", cmd->name,
                    cmd->formats);
    fputs("    *:--color) COMPREPLY=($(compgen -W 'auto always never' -- \"$word\")); return ;;\n    esac\n"
          "    case ${COMP_WORDS[1]} in\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "    %s) words='", cmd->name);
        bash_words(out, cmd->bit);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
          "complete -o filenames -F _dflc dflc\n", out);
}

/* A description for zsh and fish: no quotes, brackets or colons that either would take for its own. */
static void plain(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(strchr("'`[]:\"\\$", *text) ? ' ' : *text, out);
}

static void print_zsh(FILE *out)
{
    fputs("#compdef dflc\n# zsh completion for dflc, made by `dflc help zsh`\n_dflc() {\n    local -a commands\n"
          "    commands=(\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "        '%s:", cmd->name);
        plain(out, cmd->summary);
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
          "    case $words[2] in\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "    %s) _arguments \\\n", cmd->name);
        for (size_t i = 0; option(i); i++) {
            if (!(option(i)->commands & cmd->bit))
                continue;
            fprintf(out, "        '--%s%s[", option(i)->name, option(i)->argument ? "=" : "");
            plain(out, option(i)->help);
            fprintf(out, "]%s%s", option(i)->argument ? ":" : "", option(i)->argument ? option(i)->argument : "");
            if (option(i)->argument && strcmp(option(i)->name, "format") == 0)
                fprintf(out, ":(%s)", cmd->formats);
            fputs("' \\\n", out);
        }
        fputs("        '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n}\n_dflc \"$@\"\n", out);
}

static void print_fish(FILE *out)
{
    fputs("# fish completion for dflc, made by `dflc help fish`\n", out);
    for (const dfl_cmd *cmd = dfl_cmd_table(); cmd->name; cmd++) {
        fprintf(out, "complete -c dflc -n __fish_use_subcommand -a %s -d '", cmd->name);
        plain(out, cmd->summary);
        fputs("'\n", out);
        for (size_t i = 0; option(i); i++) {
            if (!(option(i)->commands & cmd->bit))
                continue;
            fprintf(out, "complete -c dflc -n '__fish_seen_subcommand_from %s' -l %s", cmd->name, option(i)->name);
            if (option(i)->letter)
                fprintf(out, " -s %c", option(i)->letter);
            if (option(i)->argument)
                fputs(" -r", out);
            if (strcmp(option(i)->name, "format") == 0)
                fprintf(out, " -f -a '%s'", cmd->formats);
            fputs(" -d '", out);
            plain(out, option(i)->help);
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
