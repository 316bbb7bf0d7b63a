/* The progress line of a search. */
#include "cmd/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_COLUMNS = 200, DEFAULT_COLUMNS = 80 };

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

dfl_progress_told *dfl_cmd_progress(bool quiet)
{
    const char *ci = getenv("CI"), *term = getenv("TERM");

    if (quiet || !isatty(STDERR_FILENO) || (ci && *ci) || (term && strcmp(term, "dumb") == 0))
        return NULL;
    return draw_line;
}
