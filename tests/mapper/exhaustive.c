/*
 * exhaustive [-d] [-t] [-e] [-w | -g | -p | -b | -s | -l | -a | -c] [N [seed [first]]]: judges the search on N random tiny
 * problems, from number `first` of the stream `seed`, by an enumeration of all mappings (enumerate.h, judge.h). The searches must
 * also prove their results: at most 1 % of the problems of one einsum may leave a gap, 5 % with -t or -e. Of every fourth problem, and of all with
 * -e, what the search counts is compared with the model (judge_charges_fail). A problem that fails is shrunk and printed.
 *
 *   -w   some problems have sliding windows; 33 % may leave a gap, because the search bounds overlaps of windows
 *   -g   all problems have windows with steps, gaps, and indices outside of the shape (tiny_draw_steps); 60 % may leave a gap
 *   -p   one einsum, some lines are written (partial.h); also fronts; no shrinking; with -t or -e 60 % may leave a gap, because
 *        no search evaluates all of their mappings
 *   -b   branches and some lines in and above them are written; also fronts; no shrinking
 *   -s   several einsums; the enumeration tries all ways to share loops
 *   -l   as -s, with less room for exchanged tensors (tiny_draw_limits)
 *   -a   arrays around memories (tiny_draw_arrays)
 *   -c   four or five einsums (tiny_draw_chain), mostly with less room; the enumeration tries some ways to share loops
 *   -d   ranks are spread as by default: an axis that shares transfers takes the ranks that share one, and another rank only
 *        where that uses more instances; other axes take any rank. Some axes share transfers (tiny_draw_spreads). The lower
 *        bound of a search that may spread any rank over any axis must not be above the result.
 *   -t   the work stalls for transfers (tiny_draw_waits): the program prints how many results the enumeration beats of those
 *        that are not proven
 *   -e   networks of all kinds take time and energy, memories have latencies, units a time before they start
 *        (tiny_draw_charges)
 *
 * exhaustive FILE: the only mapping of a file, compared with all mappings. The last line is `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "tests/mapper/judge.h"
#include "tests/mapper/partial.h"
#include "tests/mapper/tiny.h"

enum { SHOWN = 5, DRAWS = 100, CHAIN_STRUCTURES = 60, CHAIN_LINES = 200 };

static char *text_of(const tiny *t, uint32_t shift)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    tiny_print(t, shift, out);
    fclose(out);
    return text;
}

/* Searches the text. Returns the value of the mapping found, INFINITY = none. `*found`: the text with this mapping, owned by
   the caller. `*bound`: a lower bound of the value; equal to it if the mapping is optimal. */
static double found_in(const judge *j, const char *text, char **found, double *bound)
{
    dfl_session *s = judge_session(false, j->sharing);
    double value = INFINITY;

    *bound = -INFINITY;
    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_map(s, NULL) == DFL_EXIT_OK) {
        *found = strdup(dfl_session_mapped(s, NULL));
        value = s->filled.at[0].search->value;
        *bound = s->filled.at[0].search->optimal ? value : fmin(value, s->filled.at[0].search->lower_bound);
    }
    dfl_session_free(s);
    return value;
}

/* A copy of the text with another size of a memory; owned by the caller. */
static char *with_size(const char *text, uint32_t memory, uint64_t bits)
{
    char name[32], *out = NULL;
    size_t len;
    FILE *file = open_memstream(&out, &len);
    const char *at;

    snprintf(name, sizeof name, "memory m%" PRIu32 " { size = ", memory);
    at = strstr(text, name) + strlen(name);
    fprintf(file, "%.*s%" PRIu64 "bit%s", (int)(at - text), text, bits, strchr(at, ';'));
    fclose(file);
    return out;
}

/* True if the memory size that the search advises is wrong: nothing fits with it, or a mapping fits with one unit less. */
static bool advice_fails(judge *j, const char *text)
{
    static const char advice[] = "the smallest change of a memory: give `m";
    dfl_session *s = judge_session(false, j->sharing);
    const char *found = NULL;
    bool fails = false;
    double bound;

    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_map(s, NULL) != DFL_EXIT_OK)
        found = strstr(dfl_session_diagnostics(s, DFL_FORMAT_TEXT, false, NULL), advice);
    if (found) {
        char *end, *enough, *less, *filled[2] = { NULL, NULL };
        uint32_t memory = (uint32_t)strtoul(found + strlen(advice), &end, 10);
        uint64_t n = strtoull(end + 2, &end, 10), unit = strncmp(end, " byte", 5) == 0 ? 8 : 1;
        enough = with_size(text, memory, n * unit);
        less = with_size(text, memory, (n - 1) * unit);
        snprintf(j->why, sizeof j->why, "m%" PRIu32 " of %" PRIu64 " bits is not the least that fits", memory, n * unit);
        fails = found_in(j, enough, &filled[0], &bound) == INFINITY ||
                (n > 1 && found_in(j, less, &filled[1], &bound) < INFINITY);
        j->advised++;
        free(enough);
        free(less);
        free(filled[0]);
        free(filled[1]);
    }
    dfl_session_free(s);
    return fails;
}

/* True if a search that may spread any rank has a bound above the default result. `*freer` counts the problems where it is
   better. */
static bool freedom_fails(judge *j, const tiny *t, uint64_t *freer)
{
    char *text = text_of(t, 0), *found = NULL;
    double bound, value = found_in(&(judge){ .sharing = false }, text, &found, &bound);
    bool bad = j->fits && bound > j->value * (1 + 1e-9);

    *freer += j->fits && value < j->value / (1 + j->gap) * (1 - 1e-9);
    if (bad)
        snprintf(j->why, sizeof j->why, "%.12g, and any spread no less than %.12g", j->value, bound);
    free(text);
    free(found);
    return bad;
}

/* Judges the fronts of every second problem; with `room`, also a front over the peak of a memory. */
static bool front_fails(judge *j, const char *text, bool room, uint64_t i)
{
    uint64_t most = j->most;
    bool bad = false;

    j->most /= 4;
    if (i % 2 == 0)
        bad = judge_front_fails(j, text, "latency") || (room && judge_front_fails(j, text, "peak(m1)"));
    j->most = most;
    return bad;
}

/* Judges one text of a problem with written lines; its value must be in `least` .. `most`. */
static bool text_fails(judge *j, const char *text, double least, double most, uint64_t i)
{
    bool bad = judge_fails(j, text);

    if (!bad && j->fits && (j->value < least * (1 - 1e-9) || j->value / (1 + j->gap) > most * (1 + 1e-9))) {
        snprintf(j->why, sizeof j->why, "%.12g is not between %.12g and %.12g", j->value, least, most);
        bad = true;
    }
    if (!bad)
        bad = front_fails(j, text, true, i) || (!j->fits && advice_fails(j, text));
    if (bad)
        printf("// problem %" PRIu64 ": %s\n%s\n", i, j->why, text);
    return bad;
}

/* Judges a problem with written lines. Random lines must not lower the optimum. Lines of the optimum, some of them opened
   again, must not raise it. */
static bool lines_fail(judge *j, const tiny *t, tiny_random *random, uint64_t i)
{
    tiny one = *t;
    char *text[2] = { NULL, NULL }, *open, *found = NULL;
    size_t len;
    FILE *out;
    double best, least;
    bool bad;

    one.n_einsums = 1;
    open = text_of(&one, 0);
    best = found_in(j, open, &found, &least);
    out = open_memstream(&text[0], &len);
    partial_between(&one, random, out);
    fclose(out);
    bad = text_fails(j, text[0], found ? least : INFINITY, INFINITY, i);
    if (found) {
        out = open_memstream(&text[1], &len);
        partial_reopen(found, random, out);
        fclose(out);
        bad |= text_fails(j, text[1], least, best, i);
    }
    free(text[0]);
    free(text[1]);
    free(open);
    free(found);
    return bad;
}

/* Two einsums that are open together must be as good as in braces of their own, and agree with the oracle. */
static bool together_fails(judge *j, const tiny *t, tiny_random *random, uint64_t i)
{
    char *text[2] = { NULL, NULL }, *found[2] = { NULL, NULL };
    size_t len[2];
    FILE *together = open_memstream(&text[0], &len[0]), *apart = open_memstream(&text[1], &len[1]);
    bool bad = false, proven;
    double value[2], bound[2];

    partial_together(t, random, together, apart);
    fclose(together);
    fclose(apart);
    for (uint32_t k = 0; k < 2; k++)
        value[k] = found_in(j, text[k], &found[k], &bound[k]);
    if (found[0])
        bad = !judge_proves(found[0], j->why, sizeof j->why);
    proven = found[0] && value[0] <= bound[0];
    if (!bad && proven && value[1] < value[0] * (1 - 1e-9)) {
        snprintf(j->why, sizeof j->why, "%.12g together, %.12g apart", value[0], value[1]);
        bad = true;
    }
    j->together += proven && found[1];
    if (bad)
        printf("// problem %" PRIu64 ": %s\n%s\n%s\n", i, j->why, text[0], text[1]);
    for (uint32_t k = 0; k < 2; k++) {
        free(text[k]);
        free(found[k]);
    }
    return bad;
}

/* Judges a problem with written branches: the first legal one of up to DRAWS random texts. */
static bool braces_fail(judge *j, const tiny *t, tiny_random *random, uint64_t i)
{
    char *text = NULL;
    size_t len;
    bool bad = false;

    for (uint32_t draws = 0; draws < DRAWS; draws++) {
        FILE *out = open_memstream(&text, &len);
        partial_braces(t, random, out);
        fclose(out);
        bad = judge_fails(j, text);
        if (!bad || strncmp(j->why, "not filled: ", 12) != 0 || strstr(j->why, "E0618"))
            break;
        free(text);
        text = NULL;
        bad = false;
    }
    if (text && !bad)
        bad = front_fails(j, text, false, i) || (!j->fits && advice_fails(j, text));
    if (bad)
        printf("// problem %" PRIu64 ": %s\n%s\n", i, j->why, text);
    j->drawn = text != NULL;
    free(text);
    return bad;
}

static bool fails(void *context, const tiny *t)
{
    char *text = text_of(t, 0);
    judge *j = context;
    bool out = judge_fails(j, text) || (j->fits ? j->charges && judge_charges_fail(j, text) : advice_fails(j, text));

    free(text);
    return out && strncmp(j->why, "unread", 6) != 0;
}

static int run_file(const char *path)
{
    static char text[1 << 16];
    judge j = { .most = UINT64_MAX / 2048, .structures = UINT32_MAX, .file = true };
    FILE *file = fopen(path, "rb");
    bool bad;

    if (!file)
        return 2;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    bad = judge_fails(&j, text);
    printf("%s%" PRIu64 " evaluated\n%u passed, %u failed\n", bad ? j.why : "", j.evaluated, !bad, bad);
    return bad;
}

/* Removes the flag -X if it is one of the first arguments; true if so. */
static bool takes(int *argc, char **argv, char option)
{
    const char flag[] = { '-', option, '\0' };
    int at = 1;

    while (at < *argc && argv[at][0] == '-' && strcmp(argv[at], flag) != 0)
        at++;
    if (at == *argc || argv[at][0] != '-')
        return false;
    memmove(&argv[at], &argv[at + 1], (size_t)(*argc - at) * sizeof *argv);
    --*argc;
    return true;
}

int main(int argc, char **argv)
{
    const bool sharing = takes(&argc, argv, 'd'), waits = takes(&argc, argv, 't'), charges = takes(&argc, argv, 'e');
    const bool windows = takes(&argc, argv, 'w'), rows = takes(&argc, argv, 'r');
    const bool steps = takes(&argc, argv, 'g');
    const bool lines = takes(&argc, argv, 'p');
    const bool braces = takes(&argc, argv, 'b'), limits = takes(&argc, argv, 'l'), arrays = takes(&argc, argv, 'a');
    const bool chains = takes(&argc, argv, 'c'), several = takes(&argc, argv, 's') || limits;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 760, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, failed = 0, complete = 0, evaluated = 0;
    uint64_t charged = 0;
    uint64_t freer = 0, beaten = 0, gaps = 0, gaps_of_one = 0, drawn = 0, filled = 0, fronts = 0, together = 0, advised = 0;
    uint64_t by_einsums[TINY_EINSUMS + 1] = { 0 };
    double most_beaten = 1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && argv[1][0] == '-') {
        fprintf(stderr, "exhaustive: no flag %s\n", argv[1]);
        return 2;
    }
    if (argc == 2 && n == 0)
        return run_file(argv[1]);
    for (uint64_t i = first; i < first + n; i++) {
        judge j = { .seed = seed + i, .just_above = arrays, .sharing = sharing, .charges = charges || i % 4 == 0 };
        tiny_random random = tiny_seeded(seed, i);
        tiny t;
        do
            if (chains)
                tiny_draw_chain(&t, &random);
            else
                tiny_draw(&t, &random, windows || steps);
        while (((braces || several) && t.n_einsums == 1) || (steps && !tiny_draw_steps(&t, &random)));
        if (limits || (chains && i % 4 != 0))
            tiny_draw_limits(&t, &random);
        if (arrays)
            tiny_draw_arrays(&t, &random);
        if (sharing && !arrays)
            tiny_draw_spreads(&t, &random);
        if (waits)
            tiny_draw_waits(&t, &random);
        if (charges)
            tiny_draw_charges(&t, &random);
        if (rows)
            tiny_draw_rows(&t, &random);
        by_einsums[lines ? 1 : t.n_einsums]++;
        j.most = i % 16 == 0 ? 20000 : t.n_einsums == 1 ? 5000 : 500;
        j.structures = i % 16 == 0 || several ? UINT32_MAX : 3;
        if (chains) {
            j.most = CHAIN_LINES;
            j.structures = CHAIN_STRUCTURES;
        }
        if (braces) {
            j.most = i % 16 == 0 ? 10000 : 1000;
            failed += braces_fail(&j, &t, &random, i) || together_fails(&j, &t, &random, i);
            together += j.together;
            drawn += j.drawn;
            filled += j.fits;
        } else if (lines) {
            failed += lines_fail(&j, &t, &random, i);
        } else if (fails(&j, &t) || (sharing && freedom_fails(&j, &t, &freer))) {
            char *text;
            printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 ": %s\n", i, seed, j.why);
            if (++failed <= SHOWN) {
                tiny_shrink(&t, fails, &j);
                (void)fails(&j, &t);
                text = text_of(&t, 0);
                printf("// %s\n%s\n", j.why, text);
                free(text);
            }
        }
        fronts += j.fronts;
        charged += j.charged;
        advised += j.advised;
        beaten += j.beaten > 1 + 1e-9;
        most_beaten = fmax(most_beaten, j.beaten);
        gaps += j.gap > 1e-9;
        gaps_of_one += j.gap > 1e-9 && (lines || t.n_einsums == 1);
        complete += j.complete;
        evaluated += j.evaluated;
    }
    printf("%" PRIu64 " problems of one einsum, %" PRIu64 " of two, %" PRIu64 " of three, %" PRIu64 " of more; %" PRIu64
           " mappings evaluated, of %" PRIu64 " problems every one\n",
           by_einsums[1], by_einsums[2], by_einsums[3], by_einsums[4] + by_einsums[5], evaluated, complete);
    printf("not proven optimal by the search itself: %" PRIu64 ", of one einsum %" PRIu64 "\n", gaps,
           gaps_of_one);
    if (!lines && !braces)
        printf("%" PRIu64 " mappings whose costs in the search were compared with the model\n", charged);
    if (sharing)
        printf("better with any spread: %" PRIu64 "\n", freer);
    if (waits || rows)
        printf("not proven, and beaten by the enumeration: %" PRIu64 ", at most %.4g times the best\n", beaten, most_beaten);
    if (lines || braces || limits)
        printf("%" PRIu64 " fronts that are said to be complete, %" PRIu64 " sizes that would do\n", fronts, advised);
    if (braces)
        printf("%" PRIu64 " legal, %" PRIu64 " filled, %" PRIu64 " compared with braces apart\n", drawn, filled, together);
    failed += (!rows && gaps_of_one * 100 > n * (steps ? 60 : windows ? 33 : lines && (waits || charges) ? 60 : waits || charges ? 5 : 1)) ||
              (braces && (drawn * 10 < n * 9 || filled * 2 < n));
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
