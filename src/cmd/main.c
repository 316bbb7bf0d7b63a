/* Calls the function of the subcommand that the command line names. */
#include <string.h>

#include "cmd/progress.h"

static dfl_exit run_command(const dfl_cmd *cmd, const dfl_cmd_args *args)
{
    switch (cmd->bit) {
    case DFL_CMD_CHECK: return dfl_cmd_check(args);
    case DFL_CMD_EVAL: return dfl_cmd_eval(args);
    case DFL_CMD_PROVE: return dfl_cmd_prove(args);
    case DFL_CMD_TEST: return dfl_cmd_test(args);
    case DFL_CMD_FMT: return dfl_cmd_fmt(args);
    case DFL_CMD_EXPLAIN: return dfl_cmd_explain(args);
    case DFL_CMD_IMPORT: return dfl_cmd_import(args);
    case DFL_CMD_DUMP: return dfl_cmd_dump(args);
    case DFL_CMD_VERSION: return dfl_cmd_version(args);
    case DFL_CMD_HELP: return dfl_cmd_help(args);
    case DFL_CMD_MAP: return dfl_cmd_map(args);
    case DFL_CMD_LIST: return dfl_cmd_list(args);
    case DFL_CMD_DIFF: return dfl_cmd_diff(args);
    }
    return DFL_EXIT_INTERNAL;
}

static dfl_exit refuse_command(const char *name)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const char *near = dfl_cmd_suggest(arena, name);

    if (strchr(name, '.') || strchr(name, '/'))
        dfl_cmd_say("the command is missing before `%s`: `dflc eval %s`, `dflc check %s`; `dflc help` lists the commands", name,
                    name, name);
    else if (near)
        dfl_cmd_say("no command `%s`; did you mean `%s`?", name, near);
    else
        dfl_cmd_say("no command `%s`; `dflc help` lists them", name);
    dfl_arena_free(arena);
    return DFL_EXIT_USAGE;
}

/* Runs a command whose arguments may be directories. */
static dfl_exit run_on_files(const dfl_cmd *cmd, dfl_cmd_args *args)
{
    const bool is_import = cmd->bit == DFL_CMD_IMPORT;
    const unsigned first = is_import ? dfl_cmd_import_first(args) : 0;
    const dfl_exit found = dfl_cmd_expand(args, first, is_import ? ".yaml .yml" : ".dfl");
    dfl_exit status = args->n_files > 0 && (!is_import || found == DFL_EXIT_OK) ? dfl_cmd_check_targets(cmd, args) : found;

    if (args->n_files > 1 && status == DFL_EXIT_OK && !is_import)
        dfl_cmd_share_names(args);
    if (args->n_files > 0 && status == DFL_EXIT_OK)
        status = dfl_cmd_worse(found, run_command(cmd, args));
    dfl_cmd_free_files(args);
    return status;
}

int main(int argc, char **argv)
{
    const dfl_cmd *cmd;
    dfl_cmd_args args;
    dfl_exit status;
    dfl_cmd_buffer b;
    dfl_cmd_log log;

    dfl_cmd_log_start(&log);
    dfl_cmd_catch_signals();
    if (argc < 2) {
        dfl_cmd_print_overview(stderr);
        return DFL_EXIT_USAGE;
    }
    cmd = dfl_cmd_find(argv[1]);
    if (!cmd)
        return (int)refuse_command(argv[1]);
    if (!dfl_cmd_parse(cmd, argc - 1, argv + 1, &args))
        return DFL_EXIT_USAGE;
    args.log = &log;
    if (args.help) {
        dfl_cmd_buffer_open(&b);
        dfl_cmd_print_help(b.out, cmd);
        return (int)dfl_cmd_buffer_flush(&b, NULL);
    }
    if (cmd->bit & (DFL_CMD_CHECK | DFL_CMD_EVAL | DFL_CMD_FMT | DFL_CMD_TEST | DFL_CMD_IMPORT))
        return (int)run_on_files(cmd, &args);
    status = dfl_cmd_check_targets(cmd, &args);
    return (int)(status == DFL_EXIT_OK ? run_command(cmd, &args) : status);
}
