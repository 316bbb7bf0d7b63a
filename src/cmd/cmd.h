/*
 * The command `dflc`. commands.c lists the subcommands, options.def the options. Each subcommand is one function in a file of
 * its own: it opens a session of libdfl, asks it for one thing and writes the result. Results go to standard output or to the
 * file of `-o`, messages to standard error; the exit status is a dfl_exit.
 */
#ifndef DFL_CMD_CMD_H
#define DFL_CMD_CMD_H

#include <stdio.h>

#include "dfl/dfl.h"
#include "support/arena.h"

/* One bit per subcommand: options.def says with them which subcommands take an option. */
enum {
    DFL_CMD_CHECK = 1 << 0, DFL_CMD_EVAL = 1 << 1, DFL_CMD_PROVE = 1 << 2, DFL_CMD_TEST = 1 << 3,
    DFL_CMD_FMT = 1 << 4, DFL_CMD_EXPLAIN = 1 << 5, DFL_CMD_IMPORT = 1 << 6, DFL_CMD_DUMP = 1 << 7,
    DFL_CMD_VERSION = 1 << 8, DFL_CMD_HELP = 1 << 9, DFL_CMD_MAP = 1 << 10, DFL_CMD_DIFF = 1 << 11,
};

/* Most lint levels and most sizes of a command line: far above what a person writes. */
enum { DFL_CMD_MOST_LINTS = 64, DFL_CMD_MOST_SIZES = 64 };

/* The command line behind the name of the subcommand. Texts belong to argv. */
typedef struct {
    const char *format;          /* a format of the subcommand; NULL = its first one */
    const char *output;          /* file of the result; NULL = standard output */
    const char *stdin_name;      /* name of standard input in messages; NULL = "<stdin>" */
    const char *only;            /* the one mapping to process; NULL = all */
    const char *result;          /* explain: the mapping; NULL = a code or lint is explained */
    const char *hardware;        /* import maestro: file with the hardware, or NULL */
    const char *certificate;     /* file to verify (check) or to write, or NULL */
    struct { char level; const char *name; } lints[DFL_CMD_MOST_LINTS]; /* for dfl_session_set_lint, in their order */
    unsigned n_lints;
    dfl_size sizes[DFL_CMD_MOST_SIZES]; /* prove: extents of ranks */
    unsigned n_sizes;
    bool fix, details, write, verify, diff, quiet, help;
    bool color;                  /* messages on standard error are coloured */
    unsigned jobs;               /* files at a time, or threads of a search; 0 = number of processors */
    uint64_t effort;             /* tile choices that the check of a certificate evaluates; 0 = default */
    dfl_session_options session; /* its limits; dfl_cmd_session adds the rest */
    dfl_search_options search;   /* how holes are filled; dfl_cmd_session adds threads, progress and certificate */
    char **files;                /* the arguments that are no options: files, a code, a subcommand */
    unsigned n_files;
} dfl_cmd_args;

/* A subcommand. */
typedef struct {
    const char *name;
    unsigned bit;                /* its DFL_CMD_* */
    unsigned least, most;        /* number of arguments that are no options; `most` 0 = any number */
    const char *formats;         /* separated by blanks, the default first; NULL = it has no --format */
    const char *usage;           /* its arguments, as in "[OPTION]... FILE" */
    const char *example;         /* a command line */
    const char *summary;         /* half a line */
    const char *description;     /* a paragraph */
} dfl_cmd;

dfl_exit dfl_cmd_check(const dfl_cmd_args *args);
dfl_exit dfl_cmd_eval(const dfl_cmd_args *args);
dfl_exit dfl_cmd_map(const dfl_cmd_args *args);
dfl_exit dfl_cmd_diff(const dfl_cmd_args *args);
dfl_exit dfl_cmd_prove(const dfl_cmd_args *args);
dfl_exit dfl_cmd_test(const dfl_cmd_args *args);
dfl_exit dfl_cmd_fmt(const dfl_cmd_args *args);
dfl_exit dfl_cmd_explain(const dfl_cmd_args *args);
dfl_exit dfl_cmd_import(const dfl_cmd_args *args);
dfl_exit dfl_cmd_dump(const dfl_cmd_args *args);
dfl_exit dfl_cmd_version(const dfl_cmd_args *args);
dfl_exit dfl_cmd_help(const dfl_cmd_args *args);

/* ---- commands.c ---- */

/* All subcommands; the one behind the last has no name. */
const dfl_cmd *dfl_cmd_table(void);
/* The subcommand of that name, or NULL. `--help`, `-h` and `--version` name `help` and `version`. */
const dfl_cmd *dfl_cmd_find(const char *name);
/* The name nearest to a misspelt one, or NULL. */
const char *dfl_cmd_suggest(dfl_arena *arena, const char *name);

/* ---- args.c ---- */

/* An option of options.def. `letter` 0 = it has no short form; `argument` NULL = it takes none; `commands`: bits of the
   subcommands that take it. */
typedef struct { char letter; const char *name, *argument; unsigned commands; const char *help; } dfl_cmd_option;

/* Option number i of options.def; NULL behind the last. */
const dfl_cmd_option *dfl_cmd_option_at(size_t i);

/* Reads the command line behind the name of the subcommand. False after a message: DFL_EXIT_USAGE. */
bool dfl_cmd_parse(const dfl_cmd *cmd, int argc, char **argv, dfl_cmd_args *args);
/* The format of --format, or `fallback`. */
const char *dfl_cmd_format(const dfl_cmd_args *args, const char *fallback);

/* ---- help.c, man.c ---- */

void dfl_cmd_print_help(FILE *out, const dfl_cmd *cmd);
void dfl_cmd_print_overview(FILE *out);
/* The man page ("man") or the completions of a shell ("bash", "zsh", "fish"). False for any other word. */
bool dfl_cmd_print_generated(FILE *out, const char *what);

/* ---- open.c ---- */

/* A session with the limits, lints and search options of the command line, and the library that the environment names. */
dfl_session *dfl_cmd_session(const dfl_cmd_args *args);
/* The same for reading a certificate, which may be larger than a file in DFL. */
dfl_session *dfl_cmd_certificate_session(const dfl_cmd_args *args);
/* Opens `path`, or standard input for `-`. Messages of the session are not printed yet, others are. */
dfl_exit dfl_cmd_open(dfl_session *s, const dfl_cmd_args *args, const char *path);
/* Prints the session's messages as text on standard error. */
void dfl_cmd_messages(dfl_session *s, const dfl_cmd_args *args);
/* Writes the certificate of the mapping that was filled, if the command line asks for one. */
dfl_exit dfl_cmd_write_certificate(dfl_session *s, const dfl_cmd_args *args);
/* The worse of two: an internal error, then usage, a stop, I/O, nothing feasible, findings. */
dfl_exit dfl_cmd_worse(dfl_exit a, dfl_exit b);

/* ---- output.c ---- */

/* Writes to `path`, or to standard output for NULL. A regular file is replaced as a whole. DFL_EXIT_IO after a message; a
   closed pipe gets no message. */
dfl_exit dfl_cmd_write(const char *path, const char *text, size_t len);
/* Says by errno why `path`, or standard output for NULL, cannot be written. DFL_EXIT_IO. */
dfl_exit dfl_cmd_cannot_write(const char *path);
/* "dflc: " and the message on standard error. */
void dfl_cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* `memory`, or the end of the process with status 70 if it is NULL. */
void *dfl_cmd_must(void *memory);

/* A text that grows: print to `out`. */
typedef struct { FILE *out; char *text; size_t len; } dfl_cmd_buffer;
void dfl_cmd_buffer_open(dfl_cmd_buffer *b);
/* Writes the text, unless it is empty and goes to standard output, and frees the buffer. */
dfl_exit dfl_cmd_buffer_flush(dfl_cmd_buffer *b, const char *path);

/* ---- targets.c ---- */

/* Before the work begins: whether each file that the command is to write can be written, and is none that it reads or writes
   otherwise. DFL_EXIT_IO, DFL_EXIT_USAGE after a message. Nothing is written. */
dfl_exit dfl_cmd_check_targets(const dfl_cmd *cmd, const dfl_cmd_args *args);

/* ---- signals.c ---- */

/* The first interrupt sets dfl_cmd_cancel(); the second one ends the process. A crash prints the version and exits with 70. */
void dfl_cmd_catch_signals(void);
atomic_bool *dfl_cmd_cancel(void);

#endif
