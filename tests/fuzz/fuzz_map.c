/*
 * The searches. Bytes that begin with one below 8 choose a tiny problem: a workload, a system, and a mapping that is
 * open but for homes, has random lines with open amounts, or some lines with places for others between them, or is what
 * the search found, with amounts left open. For a tiny problem no enumerated mapping is better than a result that the
 * search calls optimal, and oracle and model agree on the counts of the result. Where the first byte has RIVAL, the next byte and
 * the others choose a problem of the rival (tests/mapper/rival.h): ragged extents, transfers that stall, networks, windows and
 * several einsums. The search runs with dividing tile sizes and with all, and no mapping of the rival may beat it.
 *
 * Other bytes are a DFL file. The file with filled holes must pass the checks, cost exactly the value of the search,
 * agree with the oracle at small sizes, and be equal for two threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/problem/objective.h"
#include "report/check/check.h"
#include "tests/mapper/judge.h"
#include "tests/mapper/partial.h"
#include "tests/mapper/rival_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 2000000, MEMORY = 96 << 20, EVALUATIONS = 500, KINDS = 8, WINDOWS = 1, IMPERFECT = 2, RIVAL = 4 };
/* of the byte after RIVAL */
enum { SLIDING = 1, ARRAYS = 2, LARGE = 4, MODES = 8, SEVERAL = 16, TRIES = 360 };
/* most prime factors of the extents of an einsum; most mappings that an enumeration covers completely */
enum { LOOPS = 4, MOST = 600 };

static void demand(bool truth)
{
    if (!truth)
        __builtin_trap();
}

/* ---- problems ---- */

static void demand_best(const char *text, bool imperfect)
{
    judge j = { .seed = 1, .most = MOST, .structures = 3, .imperfect = imperfect };

    if (judge_fails(&j, text) && strncmp(j.why, "unread", 6) != 0) {
        fprintf(stderr, "%s\n%s\n", j.why, text);
        demand(false);
    }
}

/* The file with the mapping that the search found, to be freed by the caller; NULL if no mapping fits. */
static char *search(const char *text)
{
    dfl_session *s = dfl_session_new(NULL);
    char *out = NULL;

    if (dfl_session_open_text(s, "tiny.dfl", text, strlen(text)) == DFL_EXIT_OK &&
        dfl_session_map(s, NULL) == DFL_EXIT_OK)
        out = strdup(dfl_session_mapped(s, NULL));
    dfl_session_free(s);
    return out;
}

/* Number of prime factors of the extents of all ranks of an einsum: the largest number of loops. */
static uint32_t loops_of(const tiny *t, const tiny_einsum *e)
{
    bool of[TINY_RANKS] = { false };
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n_in; i++)
        for (uint32_t d = 0; d < e->in[i].n; d++)
            of[e->in[i].rank[d]] = true;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        n += !of[r] ? 0 : t->extent[r] == 4 ? 2 : 1;
    return n;
}

/* Makes extents prime if a mapping would have many loops, so that most problems can be enumerated completely. */
static void make_small(tiny *t)
{
    bool large = false;

    for (uint32_t e = 0; e < t->n_einsums; e++)
        large |= loops_of(t, &t->einsum[e]) > LOOPS;
    for (uint32_t r = 0; r < t->n_ranks && large; r++)
        t->extent[r] = t->extent[r] == 4 ? 2 : t->extent[r];
}

static void try_problem(uint32_t how, const uint8_t *data, size_t size)
{
    tiny_random random = tiny_of_bytes(data, size);
    char *text = NULL, *found = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    uint32_t kind;
    tiny t;

    tiny_draw(&t, &random, how & WINDOWS);
    make_small(&t);
    kind = tiny_below(&random, 4);
    if (kind == 0) {
        tiny_draw_homes(&t, &random);
        tiny_print(&t, 0, out);
    } else if (kind == 1) {
        partial_draw(&t, &random, out);
    } else if (kind == 2) {
        partial_between(&t, &random, out);
    } else {
        tiny_print(&t, 0, out);
        fflush(out);
        found = search(text);
        rewind(out);
        if (found)
            partial_open(found, &random, out);
    }
    fputc('\0', out);
    fclose(out);
    demand_best(text, (how & IMPERFECT) && (kind & 1));
    free(found);
    free(text);
}

/* ---- files ---- */

static dfl_session *open_file(const char *text, size_t size, uint64_t steps, unsigned jobs, bool imperfect)
{
    const dfl_session_options options = { .size = sizeof options, .memory_limit = MEMORY, .step_limit = steps };
    const dfl_search_options search = { .size = sizeof search, .evaluations = EVALUATIONS, .jobs = jobs, .imperfect = imperfect };
    dfl_session *s = dfl_session_new(&options);

    dfl_session_set_search(s, &search);
    if (dfl_session_open_text(s, "fuzz.dfl", text, size) == DFL_EXIT_OK)
        return s;
    dfl_session_free(s);
    return NULL;
}

/* Evaluates the first term of the objective of a complete mapping; false if its value is unknown. */
static bool value_of(dfl_session *s, const dfl_result_item *item, double *out)
{
    dfl_objective o;

    if (!item->result || !dfl_objective_make(s->sink, s->names, item->mapping, &o))
        return false;
    *out = dfl_objective_value(&o, item->result->joules, item->result->seconds);
    return o.native || dfl_check_number(&s->results, item->mapping->name, item->mapping->minimize[0], out);
}

/* Reads, evaluates and proves a mapping of the file that the search made. A point of a Pareto set states no objective there. */
static void demand_same(dfl_session *s, const dfl_filled *filled, const char *text, size_t len)
{
    const char *name = dfl_sym_text(s->names, filled->mapping->name);
    dfl_session *again = open_file(text, len, 16 * (uint64_t)STEPS, 1, false);
    dfl_exit status;
    bool seen = false;

    demand(again != NULL);
    status = dfl_session_eval(again, name);
    for (uint32_t i = 0; i < again->results.n_items && status != DFL_EXIT_STOPPED; i++) {
        const dfl_result_item *item = &again->results.items[i];
        double value = 0;
        if (strcmp(dfl_sym_text(again->names, item->mapping->name), name) != 0)
            continue;
        seen = true;
        demand(item->status == DFL_STATUS_COMPLETE);
        demand(filled->search->is_of_front || (value_of(again, item, &value) && value == filled->search->value));
    }
    demand(seen || status == DFL_EXIT_STOPPED);
    dfl_session_prove(again, name, NULL, 0);
    demand(!strstr(dfl_session_diagnostics(again, DFL_FORMAT_SHORT, false, NULL), "[E0614]"));
    dfl_session_free(again);
}

static void try_file(const char *text, size_t size, bool imperfect)
{
    dfl_session *s = open_file(text, size, STEPS, 1, imperfect), *two;
    dfl_exit status;
    const char *mapped;
    size_t len;

    if (!s)
        return;
    status = dfl_session_map(s, NULL);
    demand(status != DFL_EXIT_INTERNAL && (status == DFL_EXIT_STOPPED || (status == DFL_EXIT_OK) == (dfl_session_errors(s) == 0)));
    mapped = dfl_session_mapped(s, &len);
    for (size_t i = 0; i < s->filled.n && status != DFL_EXIT_STOPPED; i++) {
        const dfl_search_summary *found = s->filled.at[i].search;
        demand(!(found->lower_bound > found->value) && (!found->optimal || found->lower_bound <= found->value));
        demand_same(s, &s->filled.at[i], mapped, len);
    }
    if (s->filled.n > 0 && status != DFL_EXIT_STOPPED && (two = open_file(text, size, STEPS, 2, imperfect)) != NULL) {
        demand(dfl_session_map(two, NULL) == status && strcmp(dfl_session_mapped(two, NULL), mapped) == 0);
        dfl_session_free(two);
    }
    dfl_session_free(s);
}

/* ---- problems of the rival ---- */

static void try_rival(const uint8_t *data, size_t size)
{
    uint32_t how = size > 0 ? data[0] : 0;
    const rival_options o = {
        .kinds = { .einsums = how & SEVERAL ? 3 : 1, .windows = how & SLIDING, .arrays = how & ARRAYS, .large = how & LARGE },
        .modes = how & MODES, .evaluations = TRIES, .effort = EVALUATIONS, .seed = 1
    };
    rival_choices choices = { .n = 0 };
    rival_trial p;

    for (size_t i = 1; i < size && choices.n < RIVAL_CHOICES; i++)
        choices.value[choices.n++] = data[i];
    if (rival_try(&p, &o, &choices))
        try_file(p.text, strlen(p.text), true);
    if (p.fault[0] != '\0')
        fprintf(stderr, "%s%s", p.text, p.fault);
    demand(p.fault[0] == '\0');
    rival_forget(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] < KINDS && (data[0] & RIVAL))
        try_rival(data + 1, size - 1);
    else if (size > 0 && data[0] < KINDS)
        try_problem(data[0], data + 1, size - 1);
    else
        try_file((const char *)data, size, false);
    return 0;
}
