/*
 * What is looked at of every template, so that all of them together take the effort that is given: those with few choices are
 * looked at completely, and what they leave is shared by the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/tile_choice.h"
#include "support/pool.h"

enum {
    ODD = 8,                   /* of all that is looked at one eighth has loops that cannot help, too */
    MOST_ODD = 2500,           /* but no more of a template */
};

typedef DFL_VEC(dfl_certify_unit) unit_vec;

/* Templates of one unit and one exchange that keep the same, in any order. */
typedef struct {
    dfl_claim_form like;       /* the first of them */
    uint64_t kept;             /* mask of operands and places */
    double joules, seconds;    /* the least of them; INFINITY when all are useless */
    double least_joules, least_seconds; /* also of those that keep less */
} family;

typedef struct {
    dfl_certify_run *run;
    unit_vec units;
    DFL_VEC(family) families;  /* of one class */
    uint32_t *family;          /* by template of the class */
} planner;

/* ---- factors ---- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void find_factors(dfl_arena *arena, int64_t extent, dfl_certify_factors *out)
{
    DFL_VEC(int64_t) primes = { 0 }, divisors = { 0 };
    int64_t left = extent;

    for (int64_t p = 2; left > 1 && (p % 4096 != 0 || dfl_budget_ok(dfl_arena_budget(arena))); p++) {
        if (p > left / p)
            p = left;
        for (; left % p == 0; left /= p)
            DFL_PUSH(arena, &primes, p);
    }
    DFL_PUSH(arena, &divisors, 1);
    for (size_t i = 0, first = 0, n; i < primes.n; i++) {
        n = divisors.n;
        if (i == 0 || primes.at[i] != primes.at[i - 1])
            first = 0;
        for (size_t d = first; d < n; d++)
            DFL_PUSH(arena, &divisors, divisors.at[d] * primes.at[i]);
        first = n;
    }
    qsort(divisors.at, divisors.n, sizeof *divisors.at, by_number);
    *out = (dfl_certify_factors){ primes.at, divisors.at, (uint32_t)primes.n, (uint32_t)divisors.n };
}

/* Each power of a prime is put into n places by itself. */
double dfl_certify_cuts(const dfl_certify_factors *of, uint32_t n)
{
    double ways = 1;

    if (n == 0)
        return of->n_primes == 0 ? 1 : 0;
    for (uint32_t i = 0, power = 0; i < of->n_primes; i++) {
        power = i > 0 && of->primes[i] == of->primes[i - 1] ? power + 1 : 1;
        ways = ways * (n - 1 + power) / power;
    }
    return ways;
}

static const dfl_certify_factors *factors_of(dfl_arena *arena, const dfl_frame *f)
{
    dfl_certify_factors *out = DFL_NEW_ARRAY(arena, dfl_certify_factors, DFL_FRAME_RANKS);

    for (uint32_t r = 0; r < f->n_ranks; r++)
        find_factors(arena, f->extent[r], &out[r]);
    return out;
}

/* ---- the least of all templates with no other keeps ---- */

static uint64_t kept_of(const dfl_claim_form *form)
{
    uint64_t kept = 0;

    for (uint32_t i = 0; i < form->n_keeps; i++)
        kept |= UINT64_C(1) << (form->operand[i] * DFL_FRAME_PLACES + form->place[i]);
    return kept;
}

static bool is_alike(const dfl_claim_form *a, const dfl_claim_form *b)
{
    return a->unit == b->unit && memcmp(a->exchange, b->exchange, sizeof a->exchange) == 0;
}

static uint32_t family_of(planner *k, const dfl_claim_form *form)
{
    uint64_t kept = kept_of(form);

    for (uint32_t i = 0; i < k->families.n; i++)
        if (k->families.at[i].kept == kept && is_alike(&k->families.at[i].like, form))
            return i;
    DFL_PUSH(k->run->arena, &k->families,
             ((family){ .like = *form, .kept = kept, .joules = INFINITY, .seconds = INFINITY, .least_joules = INFINITY,
                        .least_seconds = INFINITY }));
    return (uint32_t)k->families.n - 1;
}

/* Keeps without a loop between them that moves one of them have no order, and without one that uses a tile again are no
   better than none: what is certain is the least of all templates with no other keeps. */
static void find_families(planner *k, const dfl_claim_class *c)
{
    k->families.n = 0;
    k->family = DFL_NEW_ARRAY(k->run->arena, uint32_t, c->templates.n + 1);
    for (size_t i = 0; i < c->templates.n; i++) {
        const dfl_claim_template *t = &c->templates.at[i];
        bool again = i > 0 && kept_of(&c->templates.at[i - 1].form) == kept_of(&t->form) &&
                     is_alike(&c->templates.at[i - 1].form, &t->form);
        family *f;
        k->family[i] = again ? k->family[i - 1] : family_of(k, &t->form);
        f = &k->families.at[k->family[i]];
        f->joules = t->useless ? f->joules : fmin(f->joules, t->joules);
        f->seconds = t->useless ? f->seconds : fmin(f->seconds, t->seconds);
    }
    for (size_t i = 0; i < k->families.n; i++)
        for (size_t j = 0; j < k->families.n; j++) {
            family *f = &k->families.at[i];
            const family *less = &k->families.at[j];
            if ((less->kept & ~f->kept) != 0 || !is_alike(&less->like, &f->like))
                continue;
            f->least_joules = fmin(f->least_joules, less->joules);
            f->least_seconds = fmin(f->least_seconds, less->seconds);
        }
}

/* ---- what is to be looked at ---- */

/* Templates of a class in order of their forms, of equal ones the first. */
typedef struct { const dfl_claim_template *t; size_t at; } place;

static int by_form(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = memcmp(&x->t->form, &y->t->form, sizeof x->t->form);

    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* By template: whether one before it has the same form, and so the same choices and bounds. */
static const bool *find_again(dfl_arena *arena, const dfl_claim_class *c)
{
    bool *again = DFL_NEW_ARRAY(arena, bool, c->templates.n + 1);
    place *all = DFL_NEW_ARRAY(arena, place, c->templates.n + 1);

    for (size_t i = 0; i < c->templates.n; i++)
        all[i] = (place){ &c->templates.at[i], i };
    qsort(all, c->templates.n, sizeof *all, by_form);
    for (size_t i = 1; i < c->templates.n; i++)
        again[all[i].at] = memcmp(&all[i - 1].t->form, &all[i].t->form, sizeof all[i].t->form) == 0;
    return again;
}

/* All templates of a class: for its first einsum, and for those that cost otherwise by shapes and offsets. */
static void add_einsum(planner *k, uint32_t class, uint32_t einsum, size_t unit, const bool *again)
{
    const dfl_claim_class *c = &k->run->s->classes.at[class];
    const dfl_frame *first = k->run->s->frames[c->einsums[0]].at[unit], *f = k->run->s->frames[c->einsums[einsum]].at[unit];
    const dfl_certify_factors *factors;

    if (einsum > 0 && dfl_frame_alike(k->run->task->names, k->run->s->asked, f, first, true))
        return;
    factors = factors_of(k->run->arena, f);
    for (size_t i = 0; i < c->templates.n; i++) {
        const family *of = &k->families.at[k->family[i]];
        if (again[i] || c->templates.at[i].frame != first)
            continue;
        DFL_PUSH(k->run->arena, &k->units,
                 ((dfl_certify_unit){ .class = class, .at = i, .f = f, .factors = factors, .least_joules = of->least_joules,
                                      .least_seconds = of->least_seconds }));
    }
}

static void find_units(planner *k)
{
    for (uint32_t i = 0; i < k->run->s->classes.n; i++) {
        const dfl_claim_class *c = &k->run->s->classes.at[i];
        const bool *again = find_again(k->run->arena, c);
        find_families(k, c);
        for (uint32_t e = 0; e < c->n_einsums; e++)
            for (size_t unit = 0; unit < k->run->s->frames[c->einsums[0]].n; unit++)
                add_einsum(k, i, e, unit, again);
    }
}

/* ---- how much of each ---- */

static void count_task(void *context, size_t i)
{
    planner *k = context;
    dfl_certify_unit *u = &k->units.at[i];
    const dfl_claim_form *form = &k->run->s->classes.at[u->class].templates.at[u->at].form;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_choice choice;

    u->choices = dfl_choice_make(arena, arena, k->run, u->f, form, true, &choice) ? 1 : INFINITY;
    for (uint32_t r = 0; r < u->f->n_ranks; r++)
        u->choices *= dfl_certify_cuts(&u->factors[r], choice.n[r]);
    dfl_arena_free(arena);
}

static int by_choices(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The number that the choices of each template have to be limited to for all of them to be no more than the effort. */
static uint64_t share_of(const planner *k)
{
    double *choices = DFL_NEW_ARRAY(k->run->arena, double, k->units.n + 1), left = (double)k->run->task->effort, share = 1;

    for (size_t i = 0; i < k->units.n; i++)
        choices[i] = k->units.at[i].choices;
    qsort(choices, k->units.n, sizeof *choices, by_choices);
    for (size_t i = 0; i < k->units.n; i++) {
        share = fmax(1, floor(left / (double)(k->units.n - i)));
        if (choices[i] > share)
            break;
        left -= choices[i];
        share = fmax(left, choices[i]);
    }
    return (uint64_t)fmin(share, 1e15);
}

/* ---- all ---- */

dfl_stop dfl_certify_tell(dfl_certify_run *run, uint64_t evaluated)
{
    const dfl_certify_told now = { evaluated, (uint32_t)atomic_load(&run->done), run->templates };

    return run->task->tell ? run->task->tell(run->task->context, evaluated, &now) : DFL_STOP_NONE;
}

static void check_task(void *context, size_t i)
{
    planner *k = context;
    dfl_certify_unit *u = &k->units.at[i];

    u->why = dfl_certify_tell(k->run, 0);
    if (u->why == DFL_STOP_NONE)
        dfl_certify_unit_check(k->run, u, NULL);
    if (u->why == DFL_STOP_NONE)
        atomic_fetch_add(&k->run->done, 1);
}

/* The first one that does not hold is looked at again, and tells why. */
static bool sum_up(planner *k)
{
    dfl_certify_run *run = k->run;
    dfl_stop why = DFL_STOP_NONE;

    for (size_t i = 0; i < k->units.n; i++) {
        dfl_certify_unit *u = &k->units.at[i];
        if (u->wrong) {
            dfl_certify_unit_check(run, u, run->sink);
            return false;
        }
        why = why == DFL_STOP_NONE ? u->why : why;
        run->evaluated += u->evaluated;
        run->looked += u->why == DFL_STOP_NONE;
        run->complete += u->why == DFL_STOP_NONE && u->complete;
    }
    run->stopped = why != DFL_STOP_NONE;
    if (run->stopped)
        dfl_budget_stop(dfl_arena_budget(run->arena), why);
    return !run->stopped || dfl_report_stop(run->sink, dfl_arena_budget(run->arena));
}

bool dfl_certify_tiles(dfl_certify_run *run)
{
    planner k = { .run = run };

    find_units(&k);
    run->templates = (uint32_t)k.units.n;
    dfl_pool_run(run->task->jobs, k.units.n, count_task, &k);
    run->share = share_of(&k);
    run->odd = run->task->effort / ODD / (k.units.n + 1);
    run->odd = run->odd < MOST_ODD ? run->odd : MOST_ODD;
    dfl_pool_run(run->task->jobs, k.units.n, check_task, &k);
    return sum_up(&k);
}
