/* The progress of a search: a line on a terminal, or lines of a log. */
#include "cmd/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/deadline.h"

enum { MOST_COLUMNS = 200, DEFAULT_COLUMNS = 80 };

/* Pauses between lines of a log, ms. */
enum { LEAST_PAUSE = 1000, MOST_PAUSE = 60 * 1000, PAUSE_SHARE = 10 };

/* Writes a number with its digits in groups of three: "12_345". */
static void write_grouped(uint64_t n, char *out, size_t room)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;

    for (size_t i = 0; i < len && at + 2 < room; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = '_';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

void dfl_cmd_progress_line(const dfl_progress *now, char *out, size_t room)
{
    char evaluated[40], best[40] = "", gap[40] = "";

    write_grouped(now->evaluated, evaluated, sizeof evaluated);
    if (!isnan(now->best))
        snprintf(best, sizeof best, ", best %.4g", now->best);
    if (!isnan(now->best) && now->bound > 0)
        snprintf(gap, sizeof gap, ", gap %.1f %%", 100 * fmax(0, now->best / now->bound - 1));
    snprintf(out, room, "%s: %s, %s evaluated%s%s", now->mapping, now->phase, evaluated, best, gap);
}

static size_t terminal_columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_COLUMNS;
    return size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
}

static void draw_line(void *context, const dfl_progress *now)
{
    char line[MOST_COLUMNS + 1] = "";

    (void)context;
    if (now != NULL)
        dfl_cmd_progress_line(now, line, terminal_columns());
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
}

void dfl_cmd_log_start(dfl_cmd_log *log)
{
    log->start = dfl_deadline_clock();
    atomic_init(&log->next, 0);
}

bool dfl_cmd_log_is_due(dfl_cmd_log *log, uint32_t ms)
{
    const uint32_t share = ms / PAUSE_SHARE;
    const uint32_t pause = share < LEAST_PAUSE ? LEAST_PAUSE : share < MOST_PAUSE ? share : MOST_PAUSE;
    uint_fast32_t next = atomic_load(&log->next);

    return ms >= next && atomic_compare_exchange_strong(&log->next, &next, ms + pause);
}

static void print_line(void *context, const dfl_progress *now)
{
    dfl_cmd_log *log = context;
    const double seconds = dfl_deadline_clock() - log->start;
    char line[MOST_COLUMNS + 1] = "";

    if (now == NULL || !dfl_cmd_log_is_due(log, (uint32_t)(1000 * fmin(seconds, 4e6))))
        return;
    dfl_cmd_progress_line(now, line, sizeof line);
    fprintf(stderr, "progress: %s, %.1f s\n", line, seconds);
}

dfl_progress_told *dfl_cmd_progress(dfl_cmd_progress_kind kind)
{
    const char *ci = getenv("CI"), *term = getenv("TERM");

    if (kind == DFL_CMD_PROGRESS_PLAIN)
        return print_line;
    if (kind == DFL_CMD_PROGRESS_NONE || !isatty(STDERR_FILENO) || (ci && *ci) || (term && strcmp(term, "dumb") == 0))
        return NULL;
    return draw_line;
}
