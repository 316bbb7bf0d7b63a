/*
 * The progress of a search on a terminal: one line on standard error, which each update overwrites and the end of the
 * search erases. Nothing is drawn with `--quiet`, in the environment CI, or when standard error is no terminal or a dumb
 * one.
 */
#ifndef DFL_CMD_PROGRESS_H
#define DFL_CMD_PROGRESS_H

#include "dfl/dfl.h"

/* The callback that draws the progress line; NULL if the line is disabled. */
dfl_progress_told *dfl_cmd_progress(bool quiet);
/* Writes the text of the progress line to `out`, at most `room` - 1 bytes. */
void dfl_cmd_progress_line(const dfl_progress *now, char *out, size_t room);

#endif
