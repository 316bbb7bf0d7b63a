/*
 * The progress of a search on standard error. On a terminal: one line, which each update overwrites and the end of the search
 * erases; nothing is drawn in the environment CI, or when standard error is no terminal or a dumb one. With `--progress plain`:
 * one line after another, the more seldom the longer the command runs. With `--progress none` or `--quiet`: nothing.
 */
#ifndef DFL_CMD_PROGRESS_H
#define DFL_CMD_PROGRESS_H

#include "cmd/cmd.h"

/* When lines of progress are due: times since the start of the command, shared by all threads. */
typedef struct dfl_cmd_log {
    double start;            /* s, of dfl_deadline_clock */
    atomic_uint_fast32_t next; /* time of the next line, ms since the start */
} dfl_cmd_log;

/* Starts the clock of the lines. */
void dfl_cmd_log_start(dfl_cmd_log *log);
/* Whether a line is due at `ms` since the start; one thread alone is told so. The next line is then due after a second or, if
   that is more, a tenth of the time so far, but at the latest after a minute. */
bool dfl_cmd_log_is_due(dfl_cmd_log *log, uint32_t ms);

/* The callback that shows progress; its context is the dfl_cmd_log. NULL if nothing is shown. */
dfl_progress_told *dfl_cmd_progress(dfl_cmd_progress_kind kind);
/* Writes the text of the progress line to `out`, at most `room` - 1 bytes. */
void dfl_cmd_progress_line(const dfl_progress *now, char *out, size_t room);

#endif
