/*
 * claims [N [seed]]: what searches of N random tiny problems claim, in each search space and under limits on evaluations.
 *
 * A space is a set of options: other tile sizes, extensions, any spread, shared loops. A mapping of a smaller space is in each
 * larger one. So no lower bound exceeds the value of a mapping that a search of the same or of a smaller space found, with any
 * limit, and no mapping that is called optimal costs more. Variants of the mappings found, with random tile sizes, are mappings of
 * the spaces with other tile sizes. Changes of single lines may lead out of a space, which the result says (REFERENCE.md, Result
 * of a search): such mappings count where they belong to every space. No result shares loops if none may be. Of a failure the
 * problem is printed, as drawn and minimised. The last line is `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/problem/evaluate.h"
#include "tests/mapper/tiny.h"

enum { IMPERFECT = 1, BEYOND = 2, SPREAD = 4, FUSED = 8, SPACES = 16, SHOWN = 5, VARIANTS = 100 };

static const uint64_t LIMITS[] = { 8, 100, 300, 900 };
enum { N_LIMITS = sizeof LIMITS / sizeof *LIMITS };

typedef struct {
    double value, bound;
    double known;       /* value of the mapping if it belongs to the space, else INFINITY */
    double variant;     /* least value of its variants, if so */
    bool optimal;
    bool shares;        /* einsums share a loop */
} claim;

static char *text_of(const tiny *t)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    tiny_print(t, 0, out);
    fclose(out);
    return text;
}

/* The least value of variants of a mapping with other tile sizes, some of which divide nothing. */
static double find_variants(dfl_session *s, const dfl_mapping *found)
{
    tiny_random random = tiny_seeded(1, 1);
    double least = INFINITY;
    dfl_objective o;

    if (!dfl_objective_make(s->sink, s->names, found, &o))
        return INFINITY;
    for (uint32_t i = 0; i < VARIANTS; i++) {
        dfl_mapping *m = dfl_mapping_copy(s->arena, found);
        for (uint32_t b = 0; b < m->n_bodies; b++)
            for (uint32_t k = 0; k < m->bodies[b]->n_lines; k++) {
                dfl_line *line = &m->bodies[b]->lines[k];
                if (line->kind != DFL_LINE_KEEP && line->amount > 1 && tiny_below(&random, 3) == 0)
                    line->amount = 1 + tiny_below(&random, (uint32_t)line->amount + 2);
            }
        least = fmin(least, dfl_mapping_value(NULL, s->names, m, &o));
    }
    return least;
}

/* Whether einsums share a loop. */
static bool shares_loops(const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines && m->bodies[b]->kind != DFL_BODY_LEAF; i++)
            if (m->bodies[b]->lines[i].kind == DFL_LINE_TEMPORAL)
                return true;
    return false;
}

/* Whether each einsum is mapped by itself: all stands in its braces but keeps in the outermost memory. */
static bool is_apart(const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines && m->bodies[b]->kind != DFL_BODY_LEAF; i++)
            if (m->bodies[b]->lines[i].kind != DFL_LINE_KEEP || m->bodies[b]->lines[i].memory != 0)
                return false;
    return true;
}

/* Whether the mapping found is one of the space for sure. */
static bool is_within(const dfl_filled *found, uint32_t space)
{
    const bool is_changed = found->search->space != NULL && strstr(found->search->space, "changes of single lines") != NULL;

    return !is_changed || (is_apart(found->mapping) && (space & IMPERFECT) != 0 &&
                           ((space & SPREAD) != 0 || found->mapping->system->n_axes == 0));
}

/* Searches a space; false if the search finds no mapping. */
static bool search(const char *text, uint32_t space, uint64_t evaluations, claim *out)
{
    const dfl_search_options options = { .size = sizeof options, .imperfect = space & IMPERFECT, .evaluations = evaluations,
                                         .beyond = space & BEYOND ? DFL_SEARCH_ORDER | DFL_SEARCH_RECOMPUTE | DFL_SEARCH_SPILL |
                                                                    DFL_SEARCH_SPLIT | DFL_SEARCH_PIPELINE | DFL_SEARCH_WINDOW
                                                                  : 0,
                                         .max_fused = space & FUSED ? 0 : 1, .spread = space & SPREAD };
    dfl_session *s = dfl_session_new(NULL);
    dfl_stop stopped;
    const dfl_filled *filled = NULL;

    dfl_session_set_search(s, &options);
    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0)
        filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
    if (filled != NULL) {
        const bool is_known = is_within(filled, space);
        *out = (claim){ .value = filled->search->value, .bound = filled->search->lower_bound,
                        .known = is_known ? filled->search->value : INFINITY,
                        .variant = is_known && evaluations == 0 ? find_variants(s, filled->mapping) : INFINITY,
                        .optimal = filled->search->optimal, .shares = shares_loops(filled->mapping) };
    }
    dfl_session_free(s);
    return filled != NULL;
}

/* Why a claim is false, given the value of a mapping of its space; NULL = it is not. */
static const char *find_fault(const claim *c, uint32_t space, double known)
{
    if (c->bound > known * (1 + 1e-9))
        return "a mapping is below the lower bound";
    if (c->optimal && c->value > known * (1 + 1e-9))
        return "a mapping is better than the optimal one";
    if (c->shares && (space & (FUSED | BEYOND)) == 0)
        return "einsums share a loop, and may share none";
    return NULL;
}

/* Whether the options change anything: the others repeat a space that was searched. */
static bool is_new(const tiny *t, uint32_t space)
{
    return ((space & (BEYOND | FUSED)) == 0 || t->n_einsums > 1) && ((space & SPREAD) == 0 || t->n_axes > 0);
}

/* The reason of a failure; NULL = none. `what` is the space and the limit on evaluations of the claim. */
static const char *check(const tiny *t, char what[160])
{
    char *text = text_of(t);
    claim all[SPACES][N_LIMITS + 1];
    bool found[SPACES][N_LIMITS + 1];
    double least[SPACES]; /* of the mappings found in a space */
    const char *fault = NULL;

    for (uint32_t space = 0; space < SPACES; space++) {
        least[space] = INFINITY;
        for (uint32_t i = 0; i <= N_LIMITS; i++) {
            claim *c = &all[space][i];
            found[space][i] = is_new(t, space) && search(text, space, i < N_LIMITS ? LIMITS[i] : 0, c);
            if (found[space][i])
                least[space] = fmin(least[space], fmin(c->known, space & IMPERFECT ? c->variant : INFINITY));
        }
    }
    for (uint32_t space = 0; space < SPACES && fault == NULL; space++) {
        double known = INFINITY;
        for (uint32_t part = 0; part <= space; part++)
            if ((part & ~space) == 0)
                known = fmin(known, least[part]);
        for (uint32_t i = 0; i <= N_LIMITS && fault == NULL; i++) {
            const claim *c = &all[space][i];
            if (!found[space][i])
                continue;
            fault = find_fault(c, space, known);
            if (fault != NULL)
                snprintf(what, 160, "space %u, %" PRIu64 " evaluations: %.9g, bound %.9g, known %.9g", space,
                         i < N_LIMITS ? LIMITS[i] : 0, c->value, c->bound, known);
        }
    }
    free(text);
    return fault;
}

static bool fails(void *context, const tiny *t)
{
    char what[160];
    const char *fault = check(t, what);

    return fault != NULL && strcmp(fault, context) == 0;
}

static void draw(tiny *t, tiny_random *random, uint64_t i)
{
    tiny_draw(t, random, i % 8 == 7);
    if (i % 4 == 1)
        tiny_draw_limits(t, random);
    if (i % 4 == 2)
        tiny_draw_arrays(t, random);
    if (i % 4 == 3 && i % 8 != 7)
        tiny_draw_spreads(t, random);
    if (i % 3 == 0)
        tiny_draw_waits(t, random);
    if (i % 5 == 4)
        tiny_draw_homes(t, random);
    if (i % 5 == 2)
        tiny_draw_charges(t, random);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, failed = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; i < first + n; i++) {
        tiny_random random = tiny_seeded(seed + 2000, i);
        const char *fault;
        char what[160], *text;
        tiny t;

        draw(&t, &random, i);
        fault = check(&t, what);
        if (fault == NULL)
            continue;
        printf("FAILED: problem %" PRIu64 " of seed %" PRIu64 ": %s: %s\n", i, seed, fault, what);
        if (++failed > SHOWN)
            continue;
        text = text_of(&t);
        printf("%s\n", text);
        free(text);
        tiny_shrink(&t, fails, (void *)(uintptr_t)fault);
        (void)check(&t, what);
        text = text_of(&t);
        printf("// %s: %s\n%s\n", fault, what, text);
        free(text);
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", n - failed, failed);
    return failed > 0;
}
