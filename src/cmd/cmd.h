/*
 * The command `dflc`. A table (main.c) names the subcommands; options.def names the options; each subcommand is one
 * function in a file of its own that opens a session of libdfl, asks it for one thing and writes what comes back:
 * results to standard output or `-o FILE`, messages to standard error, and an exit status of dfl_exit.
 */
#ifndef DFL_CMD_CMD_H
#define DFL_CMD_CMD_H

#include <stdio.h>

#include "dfl/dfl.h"

enum {
    DFL_CMD_CHECK = 1 << 0, DFL_CMD_EVAL = 1 << 1, DFL_CMD_PROVE = 1 << 2, DFL_CMD_TEST = 1 << 3,
    DFL_CMD_FMT = 1 << 4, DFL_CMD_EXPLAIN = 1 << 5, DFL_CMD_IMPORT = 1 << 6, DFL_CMD_DUMP = 1 << 7,
    DFL_CMD_VERSION = 1 << 8, DFL_CMD_HELPS = 1 << 9, DFL_CMD_MAP = 1 << 10, DFL_CMD_DIFF = 1 << 11,
};

enum { DFL_CMD_MOST_LINTS = 64, DFL_CMD_MOST_SIZES = 64 };

typedef struct {
    const char *format;          /* NULL = the command's first */
    const char *output, *stdin_name, *only, *result, *hardware, *certificate;
    struct { char level; const char *name; } lints[DFL_CMD_MOST_LINTS];
    unsigned n_lints;
    dfl_size sizes[DFL_CMD_MOST_SIZES];
    unsigned n_sizes;
    bool fix, details, write, verify, diff, quiet, verbose, help;
    unsigned jobs;               /* 0 = as many as there are processors */
    bool imperfect;              /* searches try tiles that do not divide */
    bool spread;                 /* and any rank over any axis */
    unsigned beyond;             /* DFL_SEARCH_...: what they look at besides */
    double seconds;              /* of a search; 0 = no limit */
    uint64_t evaluations;        /* of a search; 0 = default */
    unsigned max_fused;          /* 1 + loops that einsums share; 0 = default */
    uint64_t top;                /* kinds of mappings; 0 = the best of all */
    uint64_t effort;             /* of the check of a certificate; 0 = default */
    size_t memory_limit;         /* 0 = default */
    uint64_t step_limit;         /* 0 = default */
    bool color;                  /* messages on standard error are coloured */
    char **files;                /* what is left: files, a code, a command */
    unsigned n_files;
} dfl_cmd_args;

typedef struct {
    const char *name;
    unsigned bit;                /* DFL_CMD_*: which options it takes */
    unsigned least, most;        /* how many files; `most` 0 = any number */
    const char *formats;         /* separated by blanks, the first is the default; NULL = no --format */
    const char *usage;           /* what follows the name */
    const char *example;         /* a line for the shell */
    const char *summary;         /* half a line */
    const char *description;
    dfl_exit (*run)(const dfl_cmd_args *args);
} dfl_cmd;

/* NULL-terminated by a command without a name. */
const dfl_cmd *dfl_cmd_table(void);
const dfl_cmd *dfl_cmd_find(const char *name);
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

/* ---- args.c ---- */

/* One option of options.def; `commands` are the DFL_CMD_* that take it. */
typedef struct { char letter; const char *name, *argument; unsigned commands; const char *help; } dfl_cmd_option;

/* The options in order of options.def; NULL behind the last. */
const dfl_cmd_option *dfl_cmd_option_at(size_t i);

/* Reads the command line behind the command's name; false after a message: usage. */
bool dfl_cmd_parse(const dfl_cmd *cmd, int argc, char **argv, dfl_cmd_args *args);
/* The format that was asked for, the first one by default. */
const char *dfl_cmd_format(const dfl_cmd_args *args, const char *fallback);

/* ---- help.c, man.c ---- */

void dfl_cmd_print_help(FILE *out, const dfl_cmd *cmd);
void dfl_cmd_print_overview(FILE *out);
/* "man", "bash", "zsh", "fish"; false for anything else. */
bool dfl_cmd_print_generated(FILE *out, const char *what);

/* ---- open.c ---- */

/* A session with the limits, lints, library and ways to search that the arguments and the environment say. */
dfl_session *dfl_cmd_session(const dfl_cmd_args *args);
/* The same for a certificate to be read. */
dfl_session *dfl_cmd_claims_session(const dfl_cmd_args *args);
/* Opens `path`, or standard input for `-`; messages of a failure are printed. */
dfl_exit dfl_cmd_open(dfl_session *s, const dfl_cmd_args *args, const char *path);
/* Prints the session's messages as text on standard error. */
void dfl_cmd_messages(dfl_session *s, const dfl_cmd_args *args);
/* Writes the certificate of what was filled, if that was asked for. */
dfl_exit dfl_cmd_certificate(dfl_session *s, const dfl_cmd_args *args);
/* The worse of two: internal errors, then stops, I/O, findings. */
dfl_exit dfl_cmd_worse(dfl_exit a, dfl_exit b);

/* ---- output.c ---- */

/* Writes to `path`, or to standard output when it is NULL. A regular file is replaced as a whole. DFL_EXIT_IO after a
   message; nothing is said about a reader that went away. */
dfl_exit dfl_cmd_write(const char *path, const char *text, size_t len);
/* Says why nothing could be written there, by errno; NULL is standard output. DFL_EXIT_IO. */
dfl_exit dfl_cmd_cannot_write(const char *path);
/* "dflc: " and the message on standard error. */
void dfl_cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A buffer that grows: open with dfl_cmd_buffer, print to `out`, then write and free it with dfl_cmd_flush. */
typedef struct { FILE *out; char *text; size_t len; } dfl_buffer;
void dfl_cmd_buffer(dfl_buffer *b);
dfl_exit dfl_cmd_flush(dfl_buffer *b, const char *path);

/* ---- places.c ---- */

/* Whether what a command is to write can be written later, as far as that is known now, and is neither read nor written
   otherwise: DFL_EXIT_IO, DFL_EXIT_USAGE after a message. Nothing is written. */
dfl_exit dfl_cmd_places(const dfl_cmd *cmd, const dfl_cmd_args *args);

/* ---- signals.c ---- */

/* Interrupts set dfl_cmd_cancel(); a second one ends the process. A crash prints the version and exits with 70. */
void dfl_cmd_catch_signals(void);
atomic_bool *dfl_cmd_cancel(void);

#endif
