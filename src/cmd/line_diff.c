/*
 * Shortest edit script by the greedy algorithm of Myers ("An O(ND) difference algorithm and its variations", 1986), over
 * the lines between the common head and the common tail. Memory is quadratic in the number of edits. Beyond MOST_EDITS the
 * lines between head and tail are printed as one hunk, which is correct but longer.
 */
#include "cmd/line_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/arena.h"

enum { CONTEXT = 3, MOST_EDITS = 2000 }; /* equal lines around a change; limit on removed and added lines */

typedef struct { const char *text; size_t len; } text_line;

typedef struct {
    dfl_arena *arena;
    text_line *a, *b;
    size_t na, nb;
    bool *gone, *new;  /* for each line of a: the line is removed; for each line of b: the line is added */
} line_diff;

static text_line *split_lines(dfl_arena *arena, const char *text, size_t *n)
{
    text_line *lines;

    *n = 0;
    for (const char *c = text; *c; (*n)++)
        c += strcspn(c, "\n") + (c[strcspn(c, "\n")] == '\n');
    lines = DFL_NEW_ARRAY(arena, text_line, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        size_t len = strcspn(text, "\n");

        lines[i] = (text_line){ text, len + (text[len] == '\n') };
        text += lines[i].len;
    }
    return lines;
}

static bool are_equal(const line_diff *d, size_t i, size_t k)
{
    return d->a[i].len == d->b[k].len && memcmp(d->a[i].text, d->b[k].text, d->a[i].len) == 0;
}

/* Marks the removed lines of a[head .. na - tail) and the added lines of b[head .. nb - tail). */
static void mark_changes(line_diff *d, size_t head, size_t tail)
{
    const int64_t n = (int64_t)(d->na - head - tail), m = (int64_t)(d->nb - head - tail);
    const int64_t most = n + m < MOST_EDITS ? n + m : MOST_EDITS;
    int64_t **rows = DFL_NEW_ARRAY(d->arena, int64_t *, (size_t)most + 2), *reach, x, y, edits;

    reach = DFL_NEW_ARRAY(d->arena, int64_t, (size_t)(2 * most + 4));
    reach += most + 1; /* diagonals -most-1 .. most+1 */
    for (edits = 0; edits <= most; edits++) {
        rows[edits] = DFL_NEW_ARRAY(d->arena, int64_t, (size_t)(2 * edits + 4));
        memcpy(rows[edits], reach - edits - 1, (size_t)(2 * edits + 3) * sizeof *reach);
        for (int64_t k = -edits; k <= edits; k += 2) {
            x = k == -edits || (k != edits && reach[k - 1] < reach[k + 1]) ? reach[k + 1] : reach[k - 1] + 1;
            while (x < n && x - k < m && are_equal(d, head + (size_t)x, head + (size_t)(x - k)))
                x++;
            reach[k] = x;
            if (x >= n && x - k >= m)
                goto found;
        }
    }
    memset(d->gone + head, 1, (size_t)n);
    memset(d->new + head, 1, (size_t)m);
    return;
found:
    for (x = n, y = m; edits > 0; edits--) {
        const int64_t *before = rows[edits] + edits + 1;
        int64_t k = x - y;
        bool down = k == -edits || (k != edits && before[k - 1] < before[k + 1]);
        int64_t from = down ? k + 1 : k - 1;

        x = before[from];
        y = x - from;
        if (down)
            d->new[head + (size_t)y] = true;
        else
            d->gone[head + (size_t)x] = true;
    }
}

static void print_line(FILE *out, char mark, const text_line *line)
{
    fputc(mark, out);
    fwrite(line->text, 1, line->len, out);
    if (line->len == 0 || line->text[line->len - 1] != '\n')
        fputs("\n\\ No newline at end of file\n", out);
}

/* Prints the hunk that starts with the change at a[i], b[k]; moves `i` and `k` behind the hunk. */
static void print_hunk(FILE *out, const line_diff *d, size_t *i, size_t *k)
{
    size_t back = *i < CONTEXT ? *i : CONTEXT, quiet = 0;
    size_t i0 = *i - back, k0 = *k - back, i1 = *i, k1 = *k;

    while ((i1 < d->na || k1 < d->nb) && quiet <= 2 * CONTEXT) {
        if (i1 < d->na && d->gone[i1]) {
            i1++;
            quiet = 0;
        } else if (k1 < d->nb && d->new[k1]) {
            k1++;
            quiet = 0;
        } else {
            i1++;
            k1++;
            quiet++;
        }
    }
    if (quiet > CONTEXT) {
        i1 -= quiet - CONTEXT;
        k1 -= quiet - CONTEXT;
    }
    fprintf(out, "@@ -%zu,%zu +%zu,%zu @@\n", i1 > i0 ? i0 + 1 : i0, i1 - i0, k1 > k0 ? k0 + 1 : k0, k1 - k0);
    for (*i = i0, *k = k0; *i < i1 || *k < k1;) {
        if (*i < i1 && d->gone[*i])
            print_line(out, '-', &d->a[(*i)++]);
        else if (*k < k1 && d->new[*k])
            print_line(out, '+', &d->b[(*k)++]);
        else {
            print_line(out, ' ', &d->a[(*i)++]);
            (*k)++;
        }
    }
}

void dfl_line_diff_print(FILE *out, const char *name, const char *before, const char *after)
{
    line_diff d = { .arena = dfl_arena_new(NULL) };
    size_t head = 0, tail = 0;

    d.a = split_lines(d.arena, before, &d.na);
    d.b = split_lines(d.arena, after, &d.nb);
    d.gone = DFL_NEW_ARRAY(d.arena, bool, d.na + 1);
    d.new = DFL_NEW_ARRAY(d.arena, bool, d.nb + 1);
    while (head < d.na && head < d.nb && are_equal(&d, head, head))
        head++;
    while (head + tail < d.na && head + tail < d.nb && are_equal(&d, d.na - 1 - tail, d.nb - 1 - tail))
        tail++;
    if (head < d.na || head < d.nb) {
        mark_changes(&d, head, tail);
        fprintf(out, "--- %s\n+++ %s (formatted)\n", name, name);
    }
    for (size_t i = 0, k = 0; i < d.na || k < d.nb;) {
        if ((i < d.na && d.gone[i]) || (k < d.nb && d.new[k])) {
            print_hunk(out, &d, &i, &k);
        } else {
            i++;
            k++;
        }
    }
    dfl_arena_free(d.arena);
}
