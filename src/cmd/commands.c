/* The subcommands: their names, arguments and help. main.c maps each subcommand to its function. */
#include "cmd/cmd.h"

#include <string.h>

#include "diag/diag.h"

static const dfl_cmd table[] = {
    { "check", DFL_CMD_CHECK, 1, 0, "text short json sarif", "[OPTION]... FILE-OR-DIRECTORY...",
      "dflc check examples/attention.dfl", "report errors and warnings",
      "Reports errors and warnings about syntax, names, units, sizes and templates, and about mappings that are not legal, "
      "do not fit or cannot be evaluated. Text goes to standard error; JSON and SARIF go to standard output." },
    { "eval", DFL_CMD_EVAL, 1, 0, "text json csv", "[OPTION]... FILE-OR-DIRECTORY...",
      "dflc eval examples/attention.dfl", "evaluate mappings: counts, time, energy",
      "Evaluates the mappings of files: operations, traffic and space of every tensor in every memory, time with its "
      "bottleneck, and energy. If a mapping has holes, a search fills them first. Also evaluates the checks `require` "
      "and `assume`. Up to 4 mappings are printed in full, more as one line each. Several files, and all .dfl files of "
      "directories, give one report." },
    { "map", DFL_CMD_MAP, 1, 1, "dfl json csv", "[OPTION]... FILE",
      "dflc map --only best -w layers.dfl", "search for the best mapping",
      "Searches for the best way to fill the holes of mappings: tile sizes (`m:?`, `m/? in {2, 4}`) and lines (`...`). "
      "The objective is that of `minimize` or `pareto` in the mapping, or else energy * latency (latency if the system "
      "declares no energy). Prints the file with the holes filled, or rewrites it with -w; everything else in the file "
      "stays, and imports remain relative to it. If no search finds a mapping, nothing is printed. The result of each "
      "search goes to standard error: value, lower bound, gap, and why the result is not proven. With `--format json` "
      "the output is the report of `dflc eval` instead of the file; with `--format csv` it is a table with one row for "
      "each mapping: the decisions of a plan over chips, seconds, parts of the step, peaks in bits, price in USD and "
      "power in W." },
    { "diff", DFL_CMD_DIFF, 2, 2, "text json", "[OPTION]... FROM TO",
      "dflc diff examples/attention.dfl:flash examples/attention.dfl:unfused", "compare two mappings or reports",
      "Compares two mappings. Prints the loops, keeps and branches that differ, and divides the differences in energy and "
      "time into parts that add up to the totals: by memory, tensor and action, unit, network and einsum. FROM and TO "
      "are DFL files, whose mappings are evaluated, or reports of `dflc eval --format json`; FILE:NAME selects one "
      "mapping. If each side has one mapping, these two are compared; otherwise mappings with equal names. The exit "
      "status is 0 without a difference and 1 with one." },
    { "prove", DFL_CMD_PROVE, 1, 1, NULL, "[OPTION]... FILE",
      "dflc prove --size m=8 examples/gemm.dfl", "execute mappings at small sizes and compare every count",
      "Executes the mappings of the file step by step at small sizes, counts every transfer and operation, and compares "
      "the counts with those of `dflc eval`. The sizes are halved until the execution is short, or given by --size." },
    { "test", DFL_CMD_TEST, 1, 0, "tap junit", "[OPTION]... FILE-OR-DIRECTORY...",
      "dflc test stdlib examples", "evaluate the checks of files",
      "Evaluates the given files and all .dfl files in the given directories, and their checks `expect`, `require` and "
      "`assume`. Prints one result for each file and each check, as TAP or JUnit." },
    { "fmt", DFL_CMD_FMT, 1, 0, NULL, "[OPTION]... FILE-OR-DIRECTORY...",
      "dflc fmt -w examples/*.dfl", "format files",
      "Prints the files in the standard layout. Comments stay. The layout has no options." },
    { "explain", DFL_CMD_EXPLAIN, 1, 1, "text json", "[OPTION]... CODE-OR-LINT | FILE",
      "dflc explain examples/attention.dfl --only flash", "explain a diagnostic or the cost of a mapping",
      "Prints the page of a diagnostic or lint: the meaning, an example, and the corrected example. For a file, analyses "
      "the cost of its mapping, or of the one that --only names. For each bandwidth, rate and energy of the system: the "
      "percentage by which objective, latency and energy change if it grows by one percent, the range in which that holds, "
      "and the next bottleneck. For each einsum: its bottleneck. For each memory: the smallest sufficient size." },
    { "list", DFL_CMD_LIST, 1, 1, "text json", "[OPTION]... FILE-OR-LIBRARY-NAME",
      "dflc list std.chips", "list the declarations of a file, or the files of the library",
      "Prints what the file declares, one declaration per line: parameters with their values and domains, constants, "
      "operations, workloads, systems, mappings and sweeps. Analyses nothing, so that a file with errors has a list, too. "
      "`std.chips.h100` names a file of the library as an import does; `std.chips` and `std` list the names of files and "
      "parts." },
    { "import", DFL_CMD_IMPORT, 1, 0, NULL, "[OPTION]... [maestro|accelforge|timeloop|calculon] FILE-OR-DIRECTORY...",
      "dflc import maestro --hw accelerator.m Resnet50_kcp_ws.m -o resnet50.dfl", "convert files of other tools to DFL",
      "Converts a mapping file of MAESTRO, a specification for AccelForge, or a run of Timeloop or of Calculon to DFL. The last "
      "three may have several files (Calculon: the application, the execution and the system); a directory stands for all "
      ".yaml and .yml files in it. Where no tool is named, the files tell it. A part "
      "that cannot be converted, or that looks wrong in the source, is reported as a warning and as a comment in the result." },
    { "dump", DFL_CMD_DUMP, 2, 2, NULL, "[OPTION]... tokens|ast|ir FILE",
      "dflc dump ast examples/gemm.dfl", "print tokens, syntax tree or intermediate representation",
      "Prints an internal form of a file. The format may change with every version." },
    { "version", DFL_CMD_VERSION, 0, 0, NULL, "[-v]",
      "dflc version -v", "print the version",
      "Prints the version on one line; with -v also the formats and limits." },
    { "help", DFL_CMD_HELP, 0, 1, NULL, "[COMMAND]",
      "dflc help eval", "print help",
      "Prints help on a command, or an overview. Other topics: lints, and man, bash, zsh, fish for the man page and the "
      "completions of shells." },
    { 0 },
};

const dfl_cmd *dfl_cmd_table(void)
{
    return table;
}

const dfl_cmd *dfl_cmd_find(const char *name)
{
    for (const dfl_cmd *cmd = table; cmd->name; cmd++)
        if (strcmp(cmd->name, name) == 0)
            return cmd;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return dfl_cmd_find("help");
    if (strcmp(name, "--version") == 0)
        return dfl_cmd_find("version");
    return NULL;
}

const char *dfl_cmd_suggest(dfl_arena *arena, const char *name)
{
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sym all[sizeof table / sizeof table[0]], near;
    size_t n = 0;

    for (const dfl_cmd *cmd = table; cmd->name; cmd++)
        all[n++] = dfl_intern_z(names, cmd->name);
    near = dfl_suggest(names, name, all, n);
    return near ? dfl_sym_text(names, near) : NULL;
}
