/* The subcommands: their names, arguments and help. main.c knows the function of each. */
#include "cmd/cmd.h"

#include <string.h>

#include "diag/diag.h"

static const dfl_cmd table[] = {
    { "check", DFL_CMD_CHECK, 1, 0, "text short json sarif", "[OPTION]... FILE...",
      "dflc check examples/attention.dfl", "what is wrong with files",
      "Reports everything that is wrong with the files: syntax, names, units, sizes, templates, and mappings that do not "
      "do all the work once, do not fit or cannot run. Text goes to standard error, JSON and SARIF to standard output." },
    { "eval", DFL_CMD_EVAL, 1, 1, "text json csv", "[OPTION]... FILE",
      "dflc eval examples/attention.dfl", "what the mappings of a file cost",
      "Evaluates the mappings of the file, their holes filled with what is best: operations, traffic of every tensor in "
      "every memory, room, time and what bounds it, energy. Judges `require` and `assume`. Up to 4 mappings get a screen "
      "each, more a line each." },
    { "map", DFL_CMD_MAP, 1, 1, NULL, "[OPTION]... FILE",
      "dflc map --name best -w layers.dfl", "fill the holes of mappings with what is best",
      "Finds the amounts (`m:?`, `m/? in {2, 4}`) and the lines (`...`) that a mapping leaves open and that are best for "
      "what it is to minimize, energy * latency unless it says otherwise. Prints the file with them, or with -w rewrites it; "
      "all else in it stays as it is, imports too, which are found from where the file stands, and a file that `dflc fmt` has "
      "laid out still is. What is printed passes `dflc check` and costs what was found. With --name all other mappings stay "
      "open. Where nothing can be filled nothing is printed. What was searched, and the value that was reached, is told on "
      "standard error." },
    { "diff", DFL_CMD_DIFF, 2, 2, "text json", "[OPTION]... FROM TO",
      "dflc diff examples/attention.dfl:flash examples/attention.dfl:unfused", "what two mappings or reports differ in",
      "Tells which loops, keeps and branches of two mappings differ, and what that does to energy and time: by memory, "
      "tensor and action, unit, network and einsum, in parts that add up to the totals. FROM and TO are files in DFL, "
      "whose mappings are evaluated, or reports of `dflc eval --format json`; FILE:NAME is one mapping. Two single "
      "results are compared whatever they are called, else those of equal names. The exit status is 0 without a "
      "difference, 1 with one." },
    { "prove", DFL_CMD_PROVE, 1, 1, NULL, "[OPTION]... FILE",
      "dflc prove --size m=8 examples/gemm.dfl", "execute mappings at small sizes and compare every count",
      "Runs the mappings of the file step by step at small sizes, counts what happens, and compares with what the "
      "evaluator says. Sizes are halved until that takes little time, or given by --size." },
    { "test", DFL_CMD_TEST, 1, 0, "tap junit", "[OPTION]... FILE-OR-DIRECTORY...",
      "dflc test stdlib examples", "judge `expect`, `require` and `assume`",
      "Evaluates the files, and all .dfl files below the directories, and judges what they expect. Prints TAP or JUnit." },
    { "fmt", DFL_CMD_FMT, 1, 0, NULL, "[OPTION]... FILE...",
      "dflc fmt -w examples/*.dfl", "lay out files",
      "Prints the files in the one layout there is; comments stay. There are no options of style." },
    { "explain", DFL_CMD_EXPLAIN, 1, 1, "text json", "[OPTION]... CODE-OR-LINT | FILE --result NAME",
      "dflc explain examples/attention.dfl --result flash", "what a diagnostic means, or why a mapping costs what it does",
      "Prints the page of a diagnostic: what it means, an example that has it, and the example put right. With --result "
      "prints what the costs of a mapping depend on: by how many percent its objective, latency and energy change for a percent "
      "more of each bandwidth, rate and energy of the system, from where to where that holds and what is waited for then; what "
      "bounds each einsum; how far each memory may shrink." },
    { "import", DFL_CMD_IMPORT, 2, 0, NULL, "[OPTION]... maestro|accelforge|timeloop FILE...",
      "dflc import maestro --hw accelerator.m Resnet50_kcp_ws.m -o resnet50.dfl", "another tool's mappings as DFL",
      "Writes what a mapping file of MAESTRO, a specification for AccelForge in one file or several, or a run of Timeloop "
      "means as DFL. What cannot be taken over or looks wrong in the source is a warning, and a comment in the result." },
    { "dump", DFL_CMD_DUMP, 2, 2, NULL, "[OPTION]... tokens|ast|ir FILE",
      "dflc dump ast examples/gemm.dfl", "tokens, syntax tree, or intermediate representation",
      "Prints what dflc made of a file. The format may change with every version." },
    { "version", DFL_CMD_VERSION, 0, 0, NULL, "[-v]",
      "dflc version -v", "the version",
      "Prints the version on one line; with -v also the formats and limits." },
    { "help", DFL_CMD_HELP, 0, 1, NULL, "[COMMAND]",
      "dflc help eval", "help on a command",
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
