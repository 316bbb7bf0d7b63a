/*
 * Distribution of the evaluations over the skeletons, within the effort of the task. A skeleton with few tile choices
 * is checked completely. Evaluations that a skeleton does not use are distributed over the other skeletons, which are
 * checked by samples.
 */
#include "certify/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/box_proof.h"
#include "certify/tile_choice.h"
#include "certify/tiles.h"
#include "support/pool.h"

typedef DFL_VEC(dfl_tile_check) check_vec;

/* A family: the skeletons of one unit and one exchange that have the same set of keeps, in any order. */
typedef struct {
    dfl_claim_form like;       /* the first skeleton of the family */
    uint64_t kept;             /* mask of the kept pairs (operand, level) */
    double joules, seconds;    /* least claimed bounds of the family (in J and s); INFINITY if all its skeletons are useless */
    double least_joules, least_seconds; /* least bounds of this family and of the families that keep a subset of its pairs, J
                                           and s */
} family;

typedef struct {
    dfl_certify_run *run;
    check_vec checks;
    DFL_VEC(family) families;  /* families of one class */
    uint32_t *family;          /* [skeleton of the class]: index of the skeleton's family */
} sample_plan;

/* ---- bounds of families ---- */

static uint64_t mask_keeps(const dfl_claim_form *form)
{
    uint64_t kept = 0;

    for (uint32_t i = 0; i < form->n_keeps; i++)
        kept |= UINT64_C(1) << (form->operand[i] * DFL_CERTIFY_LEVELS + form->level[i]);
    return kept;
}

static bool is_alike(const dfl_claim_form *a, const dfl_claim_form *b)
{
    return a->unit == b->unit && memcmp(a->exchange, b->exchange, sizeof a->exchange) == 0;
}

static uint32_t find_family(sample_plan *plan, const dfl_claim_form *form)
{
    uint64_t kept = mask_keeps(form);

    for (uint32_t i = 0; i < plan->families.n; i++)
        if (plan->families.at[i].kept == kept && is_alike(&plan->families.at[i].like, form))
            return i;
    DFL_PUSH(plan->run->arena, &plan->families,
             ((family){ .like = *form, .kept = kept, .joules = INFINITY, .seconds = INFINITY, .least_joules = INFINITY,
                        .least_seconds = INFINITY }));
    return (uint32_t)plan->families.n - 1;
}

/* Finds the families of a class and their least bounds. Two skeletons may describe one tile choice. The order of two
   keeps has no effect if no loop between the two moves one of them. A keep whose tile no loop reuses has no effect at
   all. So the least bound over all skeletons that keep a subset, and only this bound, holds for each tile choice. */
static void find_families(sample_plan *plan, const dfl_claim_class *c)
{
    plan->families.n = 0;
    plan->family = DFL_NEW_ARRAY(plan->run->arena, uint32_t, c->skeletons.n + 1);
    for (size_t i = 0; i < c->skeletons.n; i++) {
        const dfl_claim_skeleton *t = &c->skeletons.at[i];
        bool repeated = i > 0 && mask_keeps(&c->skeletons.at[i - 1].form) == mask_keeps(&t->form) &&
                     is_alike(&c->skeletons.at[i - 1].form, &t->form);
        family *f;
        plan->family[i] = repeated ? plan->family[i - 1] : find_family(plan, &t->form);
        f = &plan->families.at[plan->family[i]];
        f->joules = t->useless ? f->joules : fmin(f->joules, t->joules);
        f->seconds = t->useless ? f->seconds : fmin(f->seconds, t->seconds);
    }
    for (size_t i = 0; i < plan->families.n; i++)
        for (size_t j = 0; j < plan->families.n; j++) {
            family *f = &plan->families.at[i];
            const family *less = &plan->families.at[j];
            if ((less->kept & ~f->kept) != 0 || !is_alike(&less->like, &f->like))
                continue;
            f->least_joules = fmin(f->least_joules, less->joules);
            f->least_seconds = fmin(f->least_seconds, less->seconds);
        }
}

/* ---- skeletons to check ---- */

/* A skeleton, with the position of the skeleton in the class. Skeletons are sorted by form, then by position. */
typedef struct { const dfl_claim_skeleton *t; size_t at; } indexed_skeleton;

static int compare_forms(const void *a, const void *b)
{
    const indexed_skeleton *x = a, *y = b;
    int order = memcmp(&x->t->form, &y->t->form, sizeof x->t->form);

    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* [skeleton]: an earlier skeleton has the same form, and so the same tile choices and bounds. */
static const bool *find_repeated(dfl_arena *arena, const dfl_claim_class *c)
{
    bool *repeated = DFL_NEW_ARRAY(arena, bool, c->skeletons.n + 1);
    indexed_skeleton *all = DFL_NEW_ARRAY(arena, indexed_skeleton, c->skeletons.n + 1);

    for (size_t i = 0; i < c->skeletons.n; i++)
        all[i] = (indexed_skeleton){ &c->skeletons.at[i], i };
    qsort(all, c->skeletons.n, sizeof *all, compare_forms);
    for (size_t i = 1; i < c->skeletons.n; i++)
        repeated[all[i].at] = memcmp(&all[i - 1].t->form, &all[i].t->form, sizeof all[i].t->form) == 0;
    return repeated;
}

/* Adds the skeletons of one unit: for the first einsum of a class, and for each further einsum of the class whose
   shapes or offsets, and therefore costs, differ from those of the first. */
static void add_einsum(sample_plan *plan, uint32_t class, uint32_t einsum, size_t unit, const bool *repeated)
{
    const dfl_claim_class *c = &plan->run->search->classes.at[class];
    const dfl_certify_problem *first = plan->run->search->problems[c->einsums[0]].at[unit],
                              *problem = plan->run->search->problems[c->einsums[einsum]].at[unit];
    const dfl_certify_factors *factors;

    if (einsum > 0 && dfl_certify_problem_is_alike(plan->run->task->names, plan->run->search->asked, problem, first, true))
        return;
    factors = dfl_certify_factors_of(plan->run->arena, problem);
    for (size_t i = 0; i < c->skeletons.n; i++) {
        const family *of = &plan->families.at[plan->family[i]];
        if (repeated[i] || c->skeletons.at[i].problem != first)
            continue;
        DFL_PUSH(plan->run->arena, &plan->checks,
                 ((dfl_tile_check){ .class = class,
                                    .skeleton = i,
                                    .problem = problem,
                                    .factors = factors,
                                    .least_joules = of->least_joules,
                                    .least_seconds = of->least_seconds }));
    }
}

static void list_checks(sample_plan *plan)
{
    for (uint32_t i = 0; i < plan->run->search->classes.n; i++) {
        const dfl_claim_class *c = &plan->run->search->classes.at[i];
        const bool *repeated = find_repeated(plan->run->arena, c);
        find_families(plan, c);
        for (uint32_t e = 0; e < c->n_einsums; e++)
            for (size_t unit = 0; unit < plan->run->search->problems[c->einsums[0]].n; unit++)
                add_einsum(plan, i, e, unit, repeated);
    }
}

/* ---- evaluations per skeleton ---- */

static void count_task(void *context, size_t i)
{
    sample_plan *plan = context;
    dfl_tile_check *check = &plan->checks.at[i];
    const dfl_claim_form *form = &plan->run->search->classes.at[check->class].skeletons.at[check->skeleton].form;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_tile_choice choice;

    check->n_choices = dfl_tile_choice_make(arena, arena, plan->run, check->problem, form, true, &choice) ? 1 : INFINITY;
    for (uint32_t r = 0; r < check->problem->n_ranks; r++)
        check->n_choices *= dfl_certify_factors_count(&check->factors[r], choice.n[r]);
    dfl_arena_free(arena);
}

static int compare_counts(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Limit on the evaluations of all skeletons together: a part of the effort if boxes prove all skeletons. */
static uint64_t find_effort(const dfl_certify_run *run)
{
    const bool all = run->n_boxed > 0 && run->n_proven == run->n_boxed;

    return all ? run->task->effort / DFL_BOX_PROVEN_PART + 1 : run->task->effort;
}

/* The largest number of evaluations per skeleton that keeps the sum over all skeletons within the effort. */
static uint64_t find_share(const sample_plan *plan)
{
    double *choices = DFL_NEW_ARRAY(plan->run->arena, double, plan->checks.n + 1), left = (double)find_effort(plan->run),
           share = 1;

    for (size_t i = 0; i < plan->checks.n; i++)
        choices[i] = plan->checks.at[i].n_choices;
    qsort(choices, plan->checks.n, sizeof *choices, compare_counts);
    for (size_t i = 0; i < plan->checks.n; i++) {
        share = fmax(1, floor(left / (double)(plan->checks.n - i)));
        if (choices[i] > share)
            break;
        left -= choices[i];
        share = fmax(left, choices[i]);
    }
    return (uint64_t)fmin(share, 1e15);
}

/* ---- the check ---- */

static void check_task(void *context, size_t i)
{
    sample_plan *plan = context;
    dfl_tile_check *check = &plan->checks.at[i];

    check->why = dfl_tile_check_poll(plan->run, 0);
    if (check->why == DFL_STOP_NONE)
        dfl_tile_check_run(plan->run, check, NULL);
    if (check->why == DFL_STOP_NONE)
        atomic_fetch_add(&plan->run->n_done, 1);
}

/* Adds up the outcomes of the skeletons, in order. Checks the first refuted skeleton a second time, with a sink for its
   report. */
static bool sum_up(sample_plan *plan)
{
    dfl_certify_run *run = plan->run;
    dfl_stop why = DFL_STOP_NONE;

    for (size_t i = 0; i < plan->checks.n; i++) {
        dfl_tile_check *check = &plan->checks.at[i];
        if (check->refuted) {
            dfl_tile_check_run(run, check, run->sink);
            return false;
        }
        why = why == DFL_STOP_NONE ? check->why : why;
        run->n_evaluated += check->n_evaluated;
        run->n_checked += check->why == DFL_STOP_NONE;
        run->n_complete += check->why == DFL_STOP_NONE && check->complete;
    }
    run->stopped = why != DFL_STOP_NONE;
    if (run->stopped)
        dfl_budget_stop(dfl_arena_budget(run->arena), why);
    return !run->stopped || dfl_report_stop(run->sink, dfl_arena_budget(run->arena));
}

bool dfl_certify_sampling(dfl_certify_run *run)
{
    sample_plan plan = { .run = run };

    list_checks(&plan);
    run->n_skeletons = (uint32_t)plan.checks.n;
    dfl_pool_run(run->task->jobs, plan.checks.n, count_task, &plan);
    run->share = find_share(&plan);
    run->useless_share = find_effort(run) / DFL_CERTIFY_USELESS_PART / (plan.checks.n + 1);
    run->useless_share = run->useless_share < DFL_CERTIFY_USELESS_MOST ? run->useless_share : DFL_CERTIFY_USELESS_MOST;
    dfl_pool_run(run->task->jobs, plan.checks.n, check_task, &plan);
    return sum_up(&plan);
}
