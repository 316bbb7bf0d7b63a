/*
 * The progress of a search on a terminal: one line on standard error that is drawn over itself, and erased when the search
 * ends. Nothing is drawn with `--quiet`, in the environment CI, or when standard error is no terminal or a dumb one.
 */
#ifndef DFL_CMD_PROGRESS_H
#define DFL_CMD_PROGRESS_H

#include "dfl/dfl.h"

/* A callback that draws the line; NULL if nothing is to be drawn. */
dfl_progress_told *dfl_cmd_progress(bool quiet);
/* Writes the text of the line to `out`, at most `room` - 1 bytes. */
void dfl_cmd_progress_line(const dfl_progress *now, char *out, size_t room);

#endif
