/*
 * rival [FLAG...] [N [seed [first]]]: N random small problems, from number `first` of the stream `seed`. Each is searched with
 * dividing tile sizes and with all. The rival (rival.h) then looks for better mappings. A problem fails
 *   - if a mapping of the rival is below a result that the search calls optimal, or below a lower bound; with dividing tile sizes
 *     only mappings whose tiles all divide count;
 *   - if the rival has a mapping where the search reports that nothing fits.
 * A failure is printed as a file with the open mapping `best` and the better mapping `hand`.
 *
 *   -m   two to four einsums, with shared loops
 *   -w   some tensors have sliding windows
 *   -a   arrays
 *   -l   some extents are above 6
 *   -o   all transfers overlap with work
 *   -k   keeps also with `fresh` and `window`
 *   -x   also mappings of several einsums that a clause of the search space leaves out (rival_outside)
 *   -s   problems that fail are made smaller before they are printed
 *   -e N   evaluations of the rival by problem
 *   -E N   limit on evaluations of each search
 *   -t S   limit on the time of each search, s; slower searches are printed, and the results depend on the machine
 *
 * Prints how many results are not proven, how often and how far the rival is below those, and how many results the rival reaches
 * without a mapping of the search. The last line is `N passed, N failed`.
 */
#include "tests/mapper/rival.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/session.h"
#include "ir/print_mapping.h"
#include "mapper/objective.h"

enum { SPACES = 2, WHY = 8192, STARTS = 6 };
static const char *const space_names[SPACES] = { "perfect", "imperfect" };

typedef struct {
    rival_kinds kinds;
    bool modes, shrink, whole;
    uint64_t evaluations, effort, seed; /* effort: limit on evaluations of a search, 0 = none */
    double seconds;                 /* of a search, 0 = no limit */
} options;

typedef struct {
    bool found, infeasible, optimal;
    double value, bound, best;      /* best: least value of the rival in the space */
    double alone;                   /* the same without starting from mappings of the search */
    rival_mapping mapping;          /* its mapping */
    double beyond;                  /* least value of a mapping that some clause of the space leaves out */
} claim;

typedef struct {
    const options *o;
    dfl_session *s[SPACES];
    const dfl_mapping *open, *found[SPACES];
    dfl_objective objective;
    bool timed;                     /* the objective contains time */
    claim claim[SPACES];
    uint64_t evaluated;
    char *text;
    char fault[WHY];                /* empty: none */
    double slowest;                 /* processor seconds of a search */
    uint32_t wrong;                 /* space of the fault */
} problem;

/* Whether time enters the value of a mapping. */
static bool sees_time(const dfl_mapping *m, const dfl_objective *o)
{
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        if (m->system->memories[i].leakage > 0)
            return true;
    return dfl_objective_value(o, 1, 1) != dfl_objective_value(o, 1, 2);
}

/* Searches one space; false if the problem cannot be read or searched. */
static bool search(problem *p, uint32_t space)
{
    const dfl_search_options search = { .size = sizeof search, .imperfect = space == 1, .spread = true,
                                        .evaluations = p->o->effort, .seconds = p->o->seconds };
    dfl_session *s = p->s[space] = dfl_session_new(NULL);
    claim *c = &p->claim[space];
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_filled *filled;

    *c = (claim){ .best = INFINITY, .alone = INFINITY, .beyond = INFINITY };
    dfl_session_set_search(s, &search);
    if (dfl_session_open_text(s, "rival.dfl", p->text, strlen(p->text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_errors(s->sink) > 0)
        return false;
    if (space == 0) {
        p->open = s->program->designs[0].mapping;
        if (!dfl_objective_make(s->sink, s->names, p->open, &p->objective))
            return false;
        p->timed = sees_time(p->open, &p->objective);
    }
    clock_t begin = clock();
    filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
    p->slowest = fmax(p->slowest, (double)(clock() - begin) / CLOCKS_PER_SEC);
    if (filled == NULL) {
        c->infeasible = dfl_sink_last(s->sink) == DFL_EVAL_INFEASIBLE;
        return c->infeasible;
    }
    c->found = true;
    c->value = filled->search->value;
    c->bound = filled->search->lower_bound;
    c->optimal = filled->search->optimal;
    p->found[space] = filled->mapping;
    return true;
}

/* The value of a mapping, INFINITY outside of the space; remembers the best. */
static double judge(problem *p, rival *k, const rival_mapping *m, uint32_t space)
{
    rival_value v = rival_evaluate(k, m);
    double value = v.legal ? dfl_objective_value(&p->objective, v.joules, v.seconds) : INFINITY;

    for (uint32_t i = v.divides ? 0 : 1; v.legal && i < SPACES; i++) {
        claim *c = &p->claim[i];
        if (value >= c->best)
            continue;
        if (m->n > 1 && !p->o->whole && rival_outside(k, m, p->timed) != NULL) {
            c->beyond = fmin(c->beyond, value);
        } else {
            c->best = value;
            c->mapping = *m;
        }
    }
    return space == 0 && !v.divides ? INFINITY : value;
}

/* Tries every amount of every loop, again after each step down. */
static void sweep(problem *p, rival *k, rival_mapping *m, double value, uint32_t space, uint64_t until)
{
    bool better = true;

    while (better && k->evaluated < until) {
        better = false;
        for (uint32_t b = 0; b < m->n; b++)
            for (uint32_t i = 0; i < m->body[b].n; i++) {
                const rival_line *l = &m->body[b].line[i];
                int32_t most = l->kind == DFL_LINE_KEEP       ? 0
                               : l->kind == DFL_LINE_SPATIAL ? (int32_t)p->open->system->axes[l->where].size
                                                             : (int32_t)p->open->workload->ranks[l->what].extent;
                for (int32_t amount = 1; amount <= most && k->evaluated < until; amount++) {
                    rival_mapping next = *m;
                    next.body[b].line[i].amount = amount;
                    double v = amount == m->body[b].line[i].amount ? INFINITY : judge(p, k, &next, space);
                    if (v < value) {
                        *m = next;
                        value = v;
                        better = true;
                    }
                }
            }
    }
}

static void climb(problem *p, rival *k, rival_mapping *m, uint32_t space, uint64_t steps)
{
    const uint64_t begin = k->evaluated, until = begin + steps;
    double value = judge(p, k, m, space), best = value;
    rival_mapping top = *m;

    while (k->evaluated < until) {
        double rest = (double)(until - k->evaluated) / (double)steps, v;
        rival_mapping next = *m;

        rival_change(k, &next);
        if (memcmp(&next, m, sizeof next) == 0) {
            k->evaluated++;
            continue;
        }
        v = judge(p, k, &next, space);
        if (v < INFINITY && v <= value * (1 + 0.2 * rest * rest)) {
            *m = next;
            value = v;
        }
        if (v < best) {
            best = v;
            top = next;
        }
    }
    if (best < INFINITY)
        sweep(p, k, &top, best, space, k->evaluated + steps / 4);
}

static void compete(problem *p)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    rival_mapping m;
    rival k;

    rival_begin(&k, scratch, p->s[0]->names, p->open, p->o->seed);
    k.modes = p->o->modes;
    for (uint32_t i = 0; i < 2 * STARTS; i++) {
        uint32_t space = i % 2;
        bool own = i + 2 < 2 * STARTS;
        if (!own && (p->found[space] == NULL || !rival_read(&k, p->found[space], &m)))
            rival_start(&k, &m);
        for (uint32_t j = 0; j < 20 && own; j++) {
            rival_throw(&k, i % 4 < 2, &m);
            if (judge(p, &k, &m, space) < INFINITY)
                break;
        }
        climb(p, &k, &m, space, p->o->evaluations / (2 * STARTS));
        for (uint32_t j = 0; j < SPACES && own; j++)
            p->claim[j].alone = p->claim[j].best;
    }
    p->evaluated = k.evaluated;
    dfl_arena_free(scratch);
}

static void set_fault(problem *p, uint32_t space, const char *what)
{
    const claim *c = &p->claim[space];
    dfl_arena *arena = dfl_arena_new(NULL);
    const rival k = { .open = p->open };
    dfl_strbuf lines;

    dfl_strbuf_init(&lines, arena);
    dfl_mapping_print(&lines, p->s[0]->names, rival_build(&k, arena, &c->mapping), DFL_PRINT_INDENT);
    memcpy(strstr(lines.text, "best"), "hand", 4);
    snprintf(p->fault, WHY, "// --tiles %s: %s: value %.12g, lower bound %.12g, but there is %.12g:\n%s", space_names[space],
             what, c->value, c->bound, c->best, lines.text);
    p->wrong = space;
    dfl_arena_free(arena);
}

static void find_fault(problem *p)
{
    for (uint32_t i = 0; i < SPACES && p->fault[0] == '\0'; i++) {
        const claim *c = &p->claim[i];
        if (c->infeasible && c->best < INFINITY)
            set_fault(p, i, "nothing fits");
        else if (c->found && c->optimal && c->best < c->value * (1 - 1e-9))
            set_fault(p, i, "optimal");
        else if (c->found && !isnan(c->bound) && c->best < c->bound * (1 - 1e-9))
            set_fault(p, i, "bounded");
    }
}

/* Judges a problem; false if it cannot be searched. Sets `fault`. */
static bool try_problem(problem *p, const options *o, const rival_choices *choices)
{
    bool searched = true;

    *p = (problem){ .o = o, .text = rival_text(choices, &o->kinds) };
    for (uint32_t i = 0; i < SPACES && searched; i++)
        searched = search(p, i);
    if (searched) {
        compete(p);
        find_fault(p);
    }
    return searched;
}

static void forget(problem *p)
{
    for (uint32_t i = 0; i < SPACES; i++)
        dfl_session_free(p->s[i]);
    free(p->text);
}

static bool same_fault(void *context, const rival_choices *choices)
{
    const problem *like = context;
    problem p;
    bool fails = try_problem(&p, like->o, choices) && p.fault[0] != '\0' && p.wrong == like->wrong;

    forget(&p);
    return fails;
}

static void print_failure(problem *p, rival_choices *choices, uint64_t index)
{
    problem small;

    if (p->o->shrink)
        rival_shrink(choices, same_fault, p);
    try_problem(&small, p->o, choices);
    printf("// problem %" PRIu64 " of seed %" PRIu64 "\n%s%s", index, p->o->seed, small.text,
           small.fault[0] != '\0' ? small.fault : p->fault);
    forget(&small);
}

/* Numbers of problems and results: `behind`: not proven and above the rival; `none`: no mapping; `reached`: the rival reaches the
   result alone; `beyond`: optimal, and above a mapping that a clause leaves out. worst: largest ratio of result and rival. */
typedef struct {
    uint64_t unread, failed, passed, evaluated;
    uint64_t unproven[SPACES], behind[SPACES], none[SPACES], reached[SPACES], beyond[SPACES];
    double worst[SPACES];
} totals;

static void count(totals *t, const problem *p)
{
    t->evaluated += p->evaluated;
    for (uint32_t i = 0; i < SPACES; i++) {
        const claim *c = &p->claim[i];
        double times = c->found && c->value > 0 ? c->value / c->best : 1;
        t->none[i] += !c->found;
        t->beyond[i] += c->found && c->optimal && c->beyond < c->value * (1 - 1e-9);
        t->reached[i] += c->found && c->alone <= c->value * (1 + 1e-9);
        t->unproven[i] += c->found && !c->optimal;
        t->behind[i] += c->found && !c->optimal && times > 1 + 1e-9;
        t->worst[i] = fmax(t->worst[i], times);
    }
}

static void print_totals(const totals *t)
{
    printf("%" PRIu64 " not searched; %" PRIu64 " mappings\n", t->unread, t->evaluated);
    for (uint32_t i = 0; i < SPACES; i++)
        printf("--tiles %s: %" PRIu64 " not proven, of these %" PRIu64 " above the rival, by at most %.4g times; %" PRIu64
               " without a mapping; %" PRIu64 " reached from random mappings; %" PRIu64 " optimal ones above a mapping outside\n",
               space_names[i], t->unproven[i], t->behind[i], t->worst[i], t->none[i], t->reached[i], t->beyond[i]);
}

static bool read_options(int argc, char **argv, int *at, options *o)
{
    for (*at = 1; *at < argc && argv[*at][0] == '-'; ++*at)
        switch (argv[*at][1]) {
        case 'm': o->kinds.einsums = 4; break;
        case 'w': o->kinds.windows = true; break;
        case 'a': o->kinds.arrays = true; break;
        case 'l': o->kinds.large = true; break;
        case 'o': o->kinds.perfect = true; break;
        case 'k': o->modes = true; break;
        case 's': o->shrink = true; break;
        case 'x': o->whole = true; break;
        case 'e':
            if (*at + 1 < argc)
                o->evaluations = strtoull(argv[++*at], NULL, 10);
            break;
        case 'E':
            if (*at + 1 < argc)
                o->effort = strtoull(argv[++*at], NULL, 10);
            break;
        case 't':
            if (*at + 1 < argc)
                o->seconds = strtod(argv[++*at], NULL);
            break;
        default: return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    options o = { .kinds = { .einsums = 1 }, .evaluations = 2400 };
    totals t = { .worst = { 1, 1 } };
    int at;

    if (!read_options(argc, argv, &at, &o))
        return 2;
    uint64_t n = argc > at ? strtoull(argv[at], NULL, 10) : 100, first = argc > at + 2 ? strtoull(argv[at + 2], NULL, 10) : 0;
    o.seed = argc > at + 1 ? strtoull(argv[at + 1], NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = first; i < first + n; i++) {
        rival_choices choices = rival_seeded(o.seed, i);
        bool unused;
        FILE *null = fopen("/dev/null", "w");
        problem p;

        rival_draw(&choices, &o.kinds, null, &unused);
        fclose(null);
        if (!try_problem(&p, &o, &choices)) {
            t.unread++;
        } else {
            count(&t, &p);
            if (o.seconds > 0 && p.slowest > o.seconds + 0.2)
                printf("problem %" PRIu64 ": a search takes %.2f s\n", i, p.slowest);
            t.failed += p.fault[0] != '\0';
            t.passed += p.fault[0] == '\0';
            if (p.fault[0] != '\0')
                print_failure(&p, &choices, i);
        }
        forget(&p);
    }
    print_totals(&t);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", t.passed, t.failed);
    return t.failed > 0;
}
