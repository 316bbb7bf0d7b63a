/*
 * rival [FLAG...] [N [seed [first]]]: N random small problems, from number `first` of the stream `seed`. Each is searched with
 * dividing tile sizes and with all. The rival (rival.h) then looks for better mappings. A problem fails
 *   - if a mapping of the rival is below a result that the search calls optimal, or below a lower bound; with dividing tile sizes
 *     only mappings whose tiles all divide count;
 *   - if the rival has a mapping where the search reports that nothing fits;
 *   - if any mapping of several einsums, or of one without windows, is below their bound by exchange patterns (SEARCH.md, B40 to
 *     B42).
 * A failure is printed as a file with the open mapping `best` and the better mapping `hand`.
 *
 *   -m   two to four einsums, with shared loops
 *   -w   some tensors have sliding windows
 *   -a   arrays
 *   -l   some extents are above 6
 *   -i   two to four einsums, some of which read one input
 *   -g   homes inside of arrays, conditions, and operands that are read with other ranks than they were written
 *   -p   fronts over energy and latency; -2 the least energy and then the least latency, or the other way round; -r requirements
 *   -o   all transfers overlap with work
 *   -k   keeps also with `fresh` and `window`
 *   -x   also mappings of several einsums that a clause of the search space leaves out (rival_outside)
 *   -s   problems that fail are made smaller before they are printed
 *   -c N   tiny problems; the rival evaluates all mappings of an einsum that has at most N (rival_list)
 *   -e N   evaluations of the rival by problem
 *   -E N   limit on evaluations of each search
 *   -t S   limit on the time of each search, s; slower searches are printed, and the results depend on the machine
 *
 * Prints of how many problems all mappings were evaluated; how many results are not proven, how often and how far the rival is
 * below those, and how many results the rival reaches without a mapping of the search. The last line is `N passed, N failed`.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mapper/rival_trial.h"

static bool same_fault(void *context, const rival_choices *choices)
{
    const rival_trial *like = context;
    rival_trial p;
    bool fails = rival_try(&p, like->o, choices) && p.fault[0] != '\0' && p.wrong == like->wrong;

    rival_forget(&p);
    return fails;
}

static void print_failure(rival_trial *p, rival_choices *choices, uint64_t index)
{
    rival_trial small;

    if (p->o->shrink)
        rival_shrink(choices, same_fault, p);
    rival_try(&small, p->o, choices);
    printf("// problem %" PRIu64 " of seed %" PRIu64 "\n%s%s", index, p->o->seed, small.text,
           small.fault[0] != '\0' ? small.fault : p->fault);
    rival_forget(&small);
}

/* Numbers of problems and results: `behind`: not proven and above the rival; `none`: no mapping; `reached`: the rival reaches the
   result alone; `beyond`: optimal, and above a mapping that a clause leaves out. worst: largest ratio of result and rival. */
typedef struct {
    uint64_t unread, failed, passed, evaluated, complete;
    uint64_t unproven[RIVAL_SPACES], behind[RIVAL_SPACES], none[RIVAL_SPACES], reached[RIVAL_SPACES], beyond[RIVAL_SPACES];
    double worst[RIVAL_SPACES];
    uint64_t exchanges;             /* problems with a bound by exchange patterns */
    double tightest, apart;         /* largest share of this bound in the rival's least value; sum of the shares */
} totals;

static void count(totals *t, const rival_trial *p)
{
    t->evaluated += p->evaluated;
    t->complete += p->complete;
    if (p->exchange > 0 && p->least < INFINITY) {
        t->exchanges++;
        t->tightest = fmax(t->tightest, p->exchange / p->least);
        t->apart += p->exchange / p->least;
    }
    for (uint32_t i = 0; i < RIVAL_SPACES; i++) {
        const rival_claim *c = &p->claim[i];
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
    printf("%" PRIu64 " not searched; %" PRIu64 " mappings, of %" PRIu64 " problems all\n", t->unread, t->evaluated, t->complete);
    for (uint32_t i = 0; i < RIVAL_SPACES; i++)
        printf("--tiles %s: %" PRIu64 " not proven, of these %" PRIu64 " above the rival, by at most %.4g times; %" PRIu64
               " without a mapping; %" PRIu64 " reached from random mappings; %" PRIu64 " optimal ones above a mapping outside\n",
               rival_space_names[i], t->unproven[i], t->behind[i], t->worst[i], t->none[i], t->reached[i], t->beyond[i]);
}

static void print_exchanges(const totals *t)
{
    if (t->exchanges > 0)
        printf("%" PRIu64 " bounds by exchange patterns, on average %.3f of the least value of the rival, at most %.6f\n",
               t->exchanges, t->apart / (double)t->exchanges, t->tightest);
}

static bool read_options(int argc, char **argv, int *at, rival_options *o)
{
    for (*at = 1; *at < argc && argv[*at][0] == '-'; ++*at)
        switch (argv[*at][1]) {
        case 'm': o->kinds.einsums = 4; break;
        case 'w': o->kinds.windows = true; break;
        case 'a': o->kinds.arrays = true; break;
        case 'l': o->kinds.large = true; break;
        case 'g': o->kinds.general = true; break;
        case 'i': o->kinds.common = true; o->kinds.einsums = 4; break;
        case 'p': o->form = RIVAL_FRONT; break;
        case '2': o->form = RIVAL_ORDER; break;
        case 'r': o->form = RIVAL_REQUIRE; break;
        case 'o': o->kinds.perfect = true; break;
        case 'k': o->modes = true; break;
        case 's': o->shrink = true; break;
        case 'x': o->whole = true; break;
        case 'e':
            if (*at + 1 < argc)
                o->evaluations = strtoull(argv[++*at], NULL, 10);
            break;
        case 'c':
            o->kinds.tiny = true;
            if (*at + 1 < argc)
                o->most = strtoull(argv[++*at], NULL, 10);
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
    rival_options o = { .kinds = { .einsums = 1 }, .evaluations = 2400 };
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
        rival_trial p;

        rival_draw(&choices, &o.kinds, null, &unused);
        fclose(null);
        if (!rival_try(&p, &o, &choices)) {
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
        rival_forget(&p);
    }
    print_totals(&t);
    print_exchanges(&t);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", t.passed, t.failed);
    return t.failed > 0;
}
