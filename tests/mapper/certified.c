/*
 * certified [-f] [N [seed [first]]]: checks the certificates of N random tiny problems (tiny.h). One problem of five may have
 * sliding windows, one of fifty has arrays around memories, and every second one of several einsums has less room for exchanged
 * tensors (tiny_draw_limits), so that a problem may have no mapping. Each certificate must hold: the model finds no skeleton
 * and no pattern better than its bound, and the join of the complete rows gives the value of the search. -f: each
 * certificate is also forged in each way of `forgeries`, and every forgery must be refused. The last line is `N passed, N
 * failed`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "tests/mapper/tiny.h"

enum { EFFORT = 500, SHOWN = 5, WINDOWS = 5, ARRAYS = 50 };

static bool holds(const char *text, size_t len, const char *certificate, size_t certificate_len, bool shown)
{
    dfl_session *s = dfl_session_new(NULL);
    bool out = dfl_session_open_text(s, "tiny.dfl", text, len) == DFL_EXIT_OK &&
               dfl_session_check_certificate(s, "tiny.json", certificate, certificate_len, EFFORT) == DFL_EXIT_OK;

    if (!out && shown)
        printf("%s%s", text, dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL));
    dfl_session_free(s);
    return out;
}

/* Searches a problem and checks the certificate. */
/* ---- forgeries --------------------------------------------------------------------------------------------------- */

typedef enum { TIMES, TEXT, NO_LINE, NO_LAST } edit_kind;

/* A change behind the first place of `after` and then of `key`: the number there is multiplied, the text there is replaced, or
   the line there is removed; NO_LAST takes the last place of `key` in the line. `both`: also the number of the next key, which
   must agree with it. */
static const struct { const char *what, *after, *key, *to, *both; double by; edit_kind kind; } forgeries[] = {
    { "value lowered", "\"objective\"", "\"value\": ", NULL, NULL, 0.5, TIMES },
    { "value raised", "\"objective\"", "\"value\": ", NULL, "\"lower_bound\": ", 1.5, TIMES },
    { "value and bound lowered", "\"objective\"", "\"value\": ", NULL, "\"lower_bound\": ", 0.5, TIMES },
    { "bound raised", "\"value\"", "\"lower_bound\": ", NULL, NULL, 1.5, TIMES },
    { "energy lowered", "\"value\"", "\"energy\": ", NULL, NULL, 0.5, TIMES },
    { "bound of a pattern raised", "\"patterns\"", "\"energy\": ", NULL, NULL, 1.5, TIMES },
    { "rows combined to less", "\"search\"", "\"joined\": ", NULL, NULL, 0.5, TIMES },
    { "mapping without its last loop", "\"best\": ", "temporal ", NULL, NULL, 0, NO_LAST },
    { "mapping without its homes", "\"best\": ", "keep ", NULL, NULL, 0, TEXT },
    { "template left out", "\"templates\"", "\"unit\"", NULL, NULL, 0, NO_LINE },
    { "useless template left out", "\"useless\": [\n", "\"unit\"", NULL, NULL, 0, NO_LINE },
    { "space of all tile sizes", "\"tiles\": ", "\"divide\"", "\"any\"", NULL, 0, TEXT },
    { "space of more loops", "\"shared_loops\": ", "4", "9", NULL, 0, TEXT },
    { "space in other words", "\"text\": ", "\"", "\"all mappings; ", NULL, 0, TEXT },
    { "another objective", "\"objective\": ", "\"", "\"2 * ", NULL, 0, TEXT },
    { "another problem", "\"digest\": ", "\"", "\"0", NULL, 0, TEXT },
};
enum { FORGERIES = sizeof forgeries / sizeof *forgeries };

static const char *find_behind(const char *text, const char *what)
{
    const char *at = text ? strstr(text, what) : NULL;

    return at ? at + strlen(what) : NULL;
}

/* Prints `from`, up to `end`, with the number there times `by`; returns the rest. NULL if the number stays the same. */
static const char *print_times(FILE *out, const char *from, const char *at, double by)
{
    char *end = NULL;
    double value = at ? strtod(at, &end) : 0;

    if (!at || value * by == value)
        return NULL;
    fprintf(out, "%.*s%.17g", (int)(at - from), from, value * by);
    return end;
}

/* Whether the text from `begin` to `end` stands elsewhere, too: skeletons that differ in nothing but the accounting of the search
   count as one. */
static bool occurs_twice(const char *text, const char *begin, const char *end)
{
    char *part = strndup(begin, (size_t)(end - begin));
    const char *first = strstr(text, part);
    bool twice = strstr(first + 1, part) != NULL;

    free(part);
    return twice;
}

/* Prints the forged certificate; false if there is nothing to forge. */
static bool forge(uint32_t i, const char *text, FILE *out)
{
    const char *at = find_behind(find_behind(text, forgeries[i].after), forgeries[i].key), *rest = NULL, *begin;

    if (!at)
        return false;
    for (const char *next = at, *end = strchr(at, '\n'); forgeries[i].kind == NO_LAST && next && next < end;
         next = find_behind(next, forgeries[i].key))
        at = next;
    switch (forgeries[i].kind) {
    case TIMES:
        rest = print_times(out, text, at, forgeries[i].by);
        if (rest && forgeries[i].both)
            rest = print_times(out, rest, find_behind(rest, forgeries[i].both), forgeries[i].by);
        break;
    case TEXT:
    case NO_LAST: /* without `to`: a line of the mapping is left out */
        begin = at - strlen(forgeries[i].key);
        rest = forgeries[i].to ? at : find_behind(at, ";\\n");
        fprintf(out, "%.*s%s", (int)(begin - text), text, forgeries[i].to ? forgeries[i].to : "");
        break;
    case NO_LINE:
        begin = at;
        while (begin[-1] != '\n')
            begin--;
        rest = find_behind(at, "\n");
        if (occurs_twice(text, begin, strstr(begin, "]") + 1))
            return false;
        if (rest && at[strcspn(at, "\n") - 1] != ',') /* the last line of a list */
            return false;
        fprintf(out, "%.*s", (int)(begin - text), text);
        break;
    }
    fprintf(out, "%s", rest ? rest : "");
    return rest != NULL;
}

/* Whether every forgery of a certificate is refused. */
static bool refuses_forgeries(const char *text, size_t len, const char *certificate, uint64_t n_forged[])
{
    bool out = true;

    for (uint32_t i = 0; i < FORGERIES; i++) {
        char *forged = NULL;
        size_t n;
        FILE *file = open_memstream(&forged, &n);
        bool made = forge(i, certificate, file);

        fclose(file);
        n_forged[i] += made;
        if (made && holds(text, len, forged, n, false)) {
            printf("%sFAILED: the forgery holds: %s\n", text, forgeries[i].what);
            out = false;
        }
        free(forged);
    }
    return out;
}

static bool run(const tiny *t, bool forged, bool shown, uint64_t n_forged[])
{
    const dfl_search_options options = { .size = sizeof options, .certificate = true, .jobs = 1 };
    dfl_session *s = dfl_session_new(NULL);
    const char *certificate = NULL;
    bool out = false, nothing = false;
    char *text = NULL;
    size_t len, certificate_len;
    FILE *file = open_memstream(&text, &len);

    tiny_print(t, 0, file);
    fclose(file);
    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, len) == DFL_EXIT_OK && dfl_session_map(s, NULL) == DFL_EXIT_OK)
        certificate = dfl_session_certificate(s, NULL, &certificate_len);
    else
        nothing = (t->memory[0].bits > 0 || t->memory[0].foreign) && dfl_sink_last(s->sink) == DFL_EVAL_INFEASIBLE;
    if (certificate)
        out = holds(text, len, certificate, certificate_len, shown) &&
              (!forged || refuses_forgeries(text, len, certificate, n_forged));
    else if (!nothing && shown)
        printf("%s%s", text, dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL));
    dfl_session_free(s);
    free(text);
    return out || nothing;
}

int main(int argc, char **argv)
{
    bool forged = argc > 1 && strcmp(argv[1], "-f") == 0;
    uint64_t n_forged[FORGERIES] = { 0 };

    argc -= forged;
    argv += forged;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 250, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; i < first + n; i++) {
        tiny_random random = tiny_seeded(seed, i);
        tiny t;
        tiny_draw(&t, &random, i % WINDOWS == 0);
        if (t.n_einsums > 1 && i % 2 == 1)
            tiny_draw_limits(&t, &random);
        if (i % ARRAYS == 1)
            tiny_draw_arrays(&t, &random);
        if (!run(&t, forged, failed < SHOWN, n_forged)) {
            printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 "\n", i, seed);
            failed++;
        }
    }
    for (uint32_t i = 0; i < FORGERIES && forged; i++)
        printf("%" PRIu64 " forged: %s\n", n_forged[i], forgeries[i].what);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
