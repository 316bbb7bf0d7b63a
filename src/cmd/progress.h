/*
 * How far a search is, on a terminal: one line on standard error that is drawn over itself and erased when the search ends.
 * Nothing at all is written when standard error is no terminal, with `--quiet`, or where the environment says CI.
 */
#ifndef DFL_CMD_PROGRESS_H
#define DFL_CMD_PROGRESS_H

#include "dfl/dfl.h"

/* A dfl_progress_told that draws; NULL where nothing is to be drawn. */
dfl_progress_told *dfl_cmd_progress(bool quiet);
/* The line, at most `room` - 1 letters. */
void dfl_cmd_progress_line(const dfl_progress *now, char *out, size_t room);

#endif
