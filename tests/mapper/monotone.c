/*
 * monotone [N [seed]]: relations between the searches of N random tiny problems and of variants of each:
 *   - A larger memory, more bandwidth or cheaper accesses never make the optimum worse. If the search leaves a gap, this must
 *     hold for its lower bound.
 *   - Other names and another order of declarations leave the optimum the same.
 *   - The best mappings of a few structures are the first of those of many structures, and differ in structure.
 *   - A point of a front over energy and the peak of a memory is the optimum in a memory of that size; in a smaller memory the
 *     optimum is the next point.
 * For several einsums the objective is energy: the search adds their times, while the model overlaps transfers of one einsum
 * with another. Every second of these problems has less room for exchanged tensors (tiny_draw_limits), so that it may have no
 * mapping. The last line is `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/divisors/signature.h"
#include "tests/mapper/tiny.h"

enum { SHOWN = 5, KINDS = 4, FEW = 3, MANY = 64 };

typedef struct { double value, bound; bool impossible; } found; /* no mapping fits, and the search reports exactly that */

static char *text_of(const tiny *t, uint32_t shift)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    tiny_print(t, shift, out);
    fclose(out);
    return text;
}

static found search(const tiny *t, uint32_t shift)
{
    char *text = text_of(t, shift);
    /* by default a search of several einsums may go beyond the tiles that divide, and sets and fronts do not */
    const dfl_search_options options = { .size = sizeof options, .perfect = t->n_einsums > 1 };
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped;
    const dfl_filled *filled = NULL;
    found out = { INFINITY, INFINITY, false };

    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0)
        filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
    if (filled)
        out = (found){ filled->search->value, filled->search->lower_bound, false };
    else
        out.impossible = dfl_sink_errors(s->sink) == 1 && dfl_sink_last(s->sink) == DFL_EVAL_INFEASIBLE;
    dfl_session_free(s);
    free(text);
    return out;
}

/* Searches the best mappings of several structures. Returns their number; their values are sorted, least first. */
static uint32_t search_kinds(const tiny *t, unsigned top, double values[MANY], bool *exact)
{
    const dfl_search_options options = { .size = sizeof options, .top = top, .perfect = t->n_einsums > 1 };
    char *text = text_of(t, 0);
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped;
    uint32_t n = 0;

    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_session_fill(s, s->program->designs[0].mapping, &stopped))
        for (; n < s->filled.n; n++) {
            values[n] = s->filled.at[n].search->value;
            *exact &= s->filled.at[n].search->optimal;
            for (uint32_t i = 0; i < n; i++)
                *exact &= dfl_signature_of_mapping(s->filled.at[i].mapping) != dfl_signature_of_mapping(s->filled.at[n].mapping);
        }
    dfl_session_free(s);
    free(text);
    return n;
}

static bool same(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

/* The reason why the mappings of several structures are wrong; NULL = they are right. */
static const char *check_kinds(const tiny *t, const found *best, found *after)
{
    double few[MANY], many[MANY];
    bool exact = true;
    uint32_t n_few = search_kinds(t, FEW, few, &exact), n_many = search_kinds(t, MANY, many, &exact);

    *after = (found){ n_many > 0 ? many[0] : INFINITY, n_few > 0 ? few[0] : INFINITY, false };
    if (!exact)
        return t->n_einsums == 1 ? NULL : "kinds are not proven, or not different";
    if (n_few != (n_many < FEW ? n_many : FEW) || (n_few > 0 && !same(few[0], best->value)))
        return "kinds are missing";
    for (uint32_t i = 0; i < n_many; i++)
        if ((i < n_few && !same(few[i], many[i])) || (i > 0 && many[i] < many[i - 1]))
            return "kinds differ";
    return NULL;
}

typedef struct { double joules; int64_t bits; } point;

/* Searches the front over energy and the peak of a memory. Returns the number of points, sorted by energy; 0 if the
   front is not proven. */
static size_t search_rooms(const tiny *t, uint32_t memory, point points[MANY])
{
    static const char old[] = "minimize energy;";
    dfl_session *s = dfl_session_new(NULL);
    char *drawn = text_of(t, 0);
    const char *text = dfl_arena_copy(s->arena, drawn, strlen(drawn)), *at = strstr(text, old), *asked;
    size_t n = 0;

    asked = at == NULL ? "" : dfl_arena_printf(s->arena, "%.*spareto energy, peak(m%u);%s", (int)(at - text), text, memory,
                                               at + strlen(old));
    if (dfl_session_open_text(s, "tiny.dfl", asked, strlen(asked)) == DFL_EXIT_OK &&
        dfl_session_eval(s, NULL) == DFL_EXIT_OK && s->filled.n > 0 &&
        s->filled.at[0].search->optimal)
        for (; n < s->results.n_items && n < MANY; n++)
            points[n] = (point){ s->results.items[n].result->joules,
                                 (int64_t)s->results.items[n].result->memories[memory].peak_bits };
    dfl_session_free(s);
    free(drawn);
    return n;
}

/* Whether a search has another optimum than a point of a front; a mapping beyond the space of the front may be better, and is not
   proven then. */
static bool differs(const found *optimum, double joules)
{
    return !same(optimum->value, joules) && (optimum->value > joules || optimum->bound >= optimum->value);
}

/* The reason why the fronts over room are wrong; NULL = they are right. */
static const char *check_rooms(const tiny *t, found *before, found *after)
{
    point points[MANY];

    for (uint32_t m = t->n_einsums == 1; m < t->n_memories; m++) {
        tiny c = *t;
        size_t n;
        c.objective = TINY_ENERGY;
        for (uint32_t i = 0; i < c.n_memories; i++)
            c.memory[i].leakage = 0;
        n = search_rooms(&c, m, points);
        for (size_t i = 0; i < n; i += 1 + n / 3) {
            c.memory[m].bits = (uint32_t)points[i].bits;
            *before = (found){ points[i].joules, points[i].joules, false };
            if (points[i].bits > 0)
                *after = search(&c, 0);
            if (points[i].bits > 0 && differs(after, points[i].joules))
                return "the optimum of a room";
            c.memory[m].bits--;
            if (points[i].bits > 1 && i + 1 < n)
                *after = search(&c, 0);
            if (points[i].bits > 1 && i + 1 < n && differs(after, points[i + 1].joules))
                return "the optimum of less room";
        }
    }
    return NULL;
}

/* Changes the problem in a way that cannot raise the optimum; false if the change does not apply. */
static bool improve(tiny *t, uint32_t kind, uint32_t memory)
{
    tiny_memory *m = &t->memory[memory];

    switch (kind) {
    case 0:
        m->bits += m->bits / 2;
        return m->bits > 0;
    case 1:
        m->read_rate += m->read_rate > 0;
        m->write_rate += m->write_rate > 0;
        return m->read_rate > 0 && m->write_rate > 0;
    case 2:
        m->read_energy /= 2;
        return m->read_energy > 0;
    default:
        m->write_energy /= 2;
        return m->write_energy > 0;
    }
}

static bool at_most(double a, double b) { return a <= b * (1 + 1e-9); }

/* The reason of a failure; NULL = none. */
static const char *check(const tiny *t, found *before, found *after)
{
    static const char *const kinds[KINDS] = { "room", "bandwidth", "reads", "writes" };
    const char *what;
    found rooms[2];

    *before = search(t, 0);
    if (before->value == INFINITY)
        return before->impossible && (t->memory[0].bits > 0 || t->memory[0].foreign) ? NULL : "not searched";
    what = check_kinds(t, before, after);
    if (what)
        return what;
    what = check_rooms(t, &rooms[0], &rooms[1]);
    if (what) {
        *before = rooms[0];
        *after = rooms[1];
        return what;
    }
    for (uint32_t shift = 1; shift < 4; shift++) {
        *after = search(t, shift);
        if (!at_most(after->bound, before->bound) || !at_most(before->bound, after->bound))
            return "names or order";
    }
    for (uint32_t i = 0; i < t->n_memories * KINDS; i++) {
        tiny c = *t;
        if (!improve(&c, i % KINDS, i / KINDS))
            continue;
        *after = search(&c, 0);
        if (!at_most(after->bound, before->value))
            return kinds[i % KINDS];
    }
    return NULL;
}

static bool fails(void *context, const tiny *t)
{
    found before, after;
    const char *what = check(t, &before, &after);

    return what && strcmp(what, context) == 0;
}

static void leave_out_time(tiny *t)
{
    if (t->n_einsums == 1)
        return;
    t->objective = TINY_ENERGY;
    for (uint32_t m = 0; m < t->n_memories; m++)
        t->memory[m].leakage = 0;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 300, failed = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = 0; i < n; i++) {
        found before, after = { 0, 0, false };
        const char *what;
        char *text;
        tiny_random random = tiny_seeded(seed + 1000, i);
        tiny t;

        tiny_draw(&t, &random, false);
        leave_out_time(&t);
        if (t.n_einsums > 1 && i % 2 == 1)
            tiny_draw_limits(&t, &random);
        what = check(&t, &before, &after);
        if (!what)
            continue;
        printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 ": %s: %.12g, before %.12g\n", i, seed, what,
               after.value, before.value);
        if (++failed > SHOWN)
            continue;
        tiny_shrink(&t, fails, (void *)(uintptr_t)what);
        text = text_of(&t, 0);
        (void)check(&t, &before, &after);
        printf("// %s: %.12g, before %.12g\n%s\n", what, after.value, before.value, text);
        free(text);
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
