/*
 * The command `dflc`. commands.c lists the subcommands, options.def the options. Each subcommand is one function in a file of
 * its own: it opens a session of libdfl, asks it for one thing and writes the result. Results go to standard output or to the
 * file of `-o`, messages to standard error; the exit status is a dfl_exit.
 */
#ifndef DFL_CMD_CMD_H
#define DFL_CMD_CMD_H

#include <limits.h>
#include <stdio.h>

#include "dfl/dfl.h"
#include "support/arena.h"

/* One bit for each subcommand. A row of options.def combines the bits of the subcommands that take the option. */
typedef enum {
    DFL_CMD_CHECK = 1 << 0, DFL_CMD_EVAL = 1 << 1, DFL_CMD_PROVE = 1 << 2, DFL_CMD_TEST = 1 << 3,
    DFL_CMD_FMT = 1 << 4, DFL_CMD_EXPLAIN = 1 << 5, DFL_CMD_IMPORT = 1 << 6, DFL_CMD_DUMP = 1 << 7,
    DFL_CMD_VERSION = 1 << 8, DFL_CMD_HELP = 1 << 9, DFL_CMD_MAP = 1 << 10, DFL_CMD_DIFF = 1 << 11,
    DFL_CMD_LIST = 1 << 12,
} dfl_cmd_bit;

/* Largest numbers of lint levels, of sizes and of parameters on a command line. */
enum { DFL_CMD_MOST_LINTS = 64, DFL_CMD_MOST_SIZES = 64, DFL_CMD_MOST_PARAMS = 64 };

/* How the progress of a search is shown: `auto` on a terminal, `plain` as lines of a log. */
typedef enum { DFL_CMD_PROGRESS_AUTO, DFL_CMD_PROGRESS_PLAIN, DFL_CMD_PROGRESS_NONE } dfl_cmd_progress_kind;

/* The parsed options and arguments of a subcommand. Texts belong to argv. */
typedef struct {
    const char *format;          /* output format; NULL = the first format of the subcommand */
    dfl_format messages;         /* format of the diagnostics on standard error: text, short, JSON or SARIF */
    bool has_messages;           /* the command line states this format */
    const char *output;          /* file that receives the result; NULL = standard output */
    const char *stdin_name;      /* name of standard input in messages; NULL = "<stdin>" */
    const char *only;            /* name of the only mapping to process; NULL = all mappings */
    const char *hardware;        /* import maestro: file with the hardware, or NULL */
    const char *columns;         /* eval: figures of the table, separated by commas; NULL = the whole report */
    const char *certificate;     /* certificate file, which `check` verifies and `map` and `eval` write; NULL = none */
    struct { char level; const char *name; } lints[DFL_CMD_MOST_LINTS]; /* arguments of dfl_session_set_lint, in the order of
                                                                           the calls */
    unsigned n_lints;
    dfl_size sizes[DFL_CMD_MOST_SIZES]; /* prove: extents of ranks */
    unsigned n_sizes;
    struct { const char *name, *value; } params[DFL_CMD_MOST_PARAMS]; /* arguments of dfl_session_set_param */
    unsigned n_params;
    bool fix, details, sum, write, verify, diff, help;
    dfl_cmd_progress_kind progress;
    bool color;                  /* messages on standard error are coloured */
    unsigned jobs;               /* files processed in parallel, or threads of a search; 0 = number of processors */
    uint64_t effort;             /* assignments of tile sizes that the check of a certificate evaluates; 0 = default */
    dfl_session_options session; /* limits of the session; dfl_cmd_session sets the other members */
    struct dfl_cmd_log *log;     /* lines of progress, shared by all sessions */
    dfl_search_options search;   /* search options; dfl_cmd_session sets threads, progress and certificate */
    char **files;                /* positional arguments: files, a diagnostic code, or a subcommand */
    unsigned n_files;
} dfl_cmd_args;

/* A subcommand. */
typedef struct {
    const char *name;
    dfl_cmd_bit bit;
    unsigned least, most;        /* smallest and largest number of positional arguments; `most` 0 = any number */
    const char *formats;         /* formats separated by blanks, the default first; NULL = the subcommand has no --format */
    const char *usage;           /* arguments for the help text, as "[OPTION]... FILE" */
    const char *example;         /* example of a command line */
    const char *summary;         /* description of half a line */
    const char *description;     /* description of a paragraph */
} dfl_cmd;

dfl_exit dfl_cmd_check(const dfl_cmd_args *args);
dfl_exit dfl_cmd_eval(const dfl_cmd_args *args);
dfl_exit dfl_cmd_map(const dfl_cmd_args *args);
dfl_exit dfl_cmd_diff(const dfl_cmd_args *args);
dfl_exit dfl_cmd_list(const dfl_cmd_args *args);
dfl_exit dfl_cmd_prove(const dfl_cmd_args *args);
dfl_exit dfl_cmd_test(const dfl_cmd_args *args);
dfl_exit dfl_cmd_fmt(const dfl_cmd_args *args);
dfl_exit dfl_cmd_explain(const dfl_cmd_args *args);
dfl_exit dfl_cmd_import(const dfl_cmd_args *args);
/* Number of arguments of `import` before its files: 1 if the first names a format, else 0. */
unsigned dfl_cmd_import_first(const dfl_cmd_args *args);
dfl_exit dfl_cmd_dump(const dfl_cmd_args *args);
dfl_exit dfl_cmd_version(const dfl_cmd_args *args);
dfl_exit dfl_cmd_help(const dfl_cmd_args *args);

/* ---- commands.c ---- */

/* All subcommands; an entry with the name NULL ends the table. */
const dfl_cmd *dfl_cmd_table(void);
/* The subcommand called `name`; NULL = unknown. `--help` and `-h` stand for `help`, `--version` stands for `version`. */
const dfl_cmd *dfl_cmd_find(const char *name);
/* The name of a subcommand nearest to the misspelt `name`; NULL if no name is near. */
const char *dfl_cmd_suggest(dfl_arena *arena, const char *name);

/* ---- args.c ---- */

/* An option of options.def. `letter` 0 = no short form; `argument` NULL = no argument; `commands`: bits of the subcommands
   with this option. */
typedef struct { char letter; const char *name, *argument; unsigned commands; const char *help; } dfl_cmd_option;

/* The option with index `i` in options.def; NULL if `i` is too large. */
const dfl_cmd_option *dfl_cmd_option_at(size_t i);

/* Parses the options and arguments of a subcommand. False after a message; the exit status is then DFL_EXIT_USAGE. */
bool dfl_cmd_parse(const dfl_cmd *cmd, int argc, char **argv, dfl_cmd_args *args);
/* The format that --format names, or `fallback` without --format. */
const char *dfl_cmd_format(const dfl_cmd_args *args, const char *fallback);
/* The format of diagnostics called `name`; DFL_FORMAT_CSV if there is none. */
dfl_format dfl_cmd_message_format(const char *name);

/* ---- help.c, man.c ---- */

void dfl_cmd_print_help(FILE *out, const dfl_cmd *cmd);
void dfl_cmd_print_overview(FILE *out);
/* The man page ("man") or the completions of a shell ("bash", "zsh", "fish"). False for any other word. */
bool dfl_cmd_print_generated(FILE *out, const char *what);

/* ---- open.c ---- */

/* A session with the limits, lints and search options of the command line, and the library that the environment names. */
dfl_session *dfl_cmd_session(const dfl_cmd_args *args);
/* A session as dfl_cmd_session makes it, for a certificate file; such a file may be larger than a file in DFL. */
dfl_session *dfl_cmd_certificate_session(const dfl_cmd_args *args);
/* Writes the path of a file or directory of the library called `name`, std.chips.h100 or std.chips, to `out`. False if the name
   is none of the library, or a file of this name exists. */
bool dfl_cmd_library_path(const char *name, char out[PATH_MAX]);
/* Opens `path`, or standard input for `-`. Diagnostics remain in the session; other messages are printed. */
dfl_exit dfl_cmd_open(dfl_session *s, const dfl_cmd_args *args, const char *path);
/* Prints the diagnostics of the session on standard error, in the format of --message-format. A command with several sessions
   calls dfl_cmd_all_messages once for all: SARIF is one log. */
void dfl_cmd_messages(dfl_session *s, const dfl_cmd_args *args);
void dfl_cmd_all_messages(dfl_session *const *sessions, size_t n, const dfl_cmd_args *args);
/* Writes the certificate of the filled mapping, if the command line has --certificate. */
dfl_exit dfl_cmd_write_certificate(dfl_session *s, const dfl_cmd_args *args);
/* The worse of two exit statuses, from worst to best: internal error, usage, stop, I/O, infeasible, findings, success. */
dfl_exit dfl_cmd_worse(dfl_exit a, dfl_exit b);

/* ---- output.c ---- */

/* Writes to `path`, or to standard output for NULL. Replaces a regular file in one step by a rename. DFL_EXIT_IO after a
   message; a closed pipe causes no message. */
dfl_exit dfl_cmd_write(const char *path, const char *text, size_t len);
/* Prints the reason in errno why `path`, or standard output for NULL, cannot be written. Returns DFL_EXIT_IO. */
dfl_exit dfl_cmd_cannot_write(const char *path);
/* Prints "dflc: " and the formatted message on standard error. */
void dfl_cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns `memory`; ends the process with status 70 if `memory` is NULL. */
void *dfl_cmd_must(void *memory);

/* A growing text buffer; callers print to the stream `out`. */
typedef struct { FILE *out; char *text; size_t len; } dfl_cmd_buffer;
void dfl_cmd_buffer_open(dfl_cmd_buffer *b);
/* Writes the text to a file, or to standard output if it is not empty, and frees the buffer. */
dfl_exit dfl_cmd_buffer_flush(dfl_cmd_buffer *b, const char *path);

/* ---- files.c ---- */

/* Replaces the arguments from number `first` on by the files to process: each directory by all files below it whose names end in
   one of the suffixes (separated by blanks), ordered by name. DFL_EXIT_IO after a message if a directory cannot be read, or if no
   file is left; the other files remain. */
dfl_exit dfl_cmd_expand(dfl_cmd_args *args, unsigned first, const char *suffixes);
void dfl_cmd_free_files(dfl_cmd_args *args);

/* ---- shared_names.c ---- */

/* Of several files, some may lack a `param` of --set or the mapping of --only. Makes the session lenient if each of these names
   is in some file, and prints which files --set reaches; else each file reports the name that it lacks. */
void dfl_cmd_share_names(dfl_cmd_args *args);

/* ---- targets.c ---- */

/* Checks the output files of the command before any work: each must be writable, and must be neither an input nor another
   output. Returns DFL_EXIT_IO or DFL_EXIT_USAGE after a message. Writes nothing. */
dfl_exit dfl_cmd_check_targets(const dfl_cmd *cmd, const dfl_cmd_args *args);

/* ---- signals.c ---- */

/* Installs the signal handlers. The first interrupt sets dfl_cmd_cancel(); the second interrupt ends the process. A crash
   prints the version and exits with status 70. */
void dfl_cmd_catch_signals(void);
atomic_bool *dfl_cmd_cancel(void);

#endif
