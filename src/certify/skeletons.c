/*
 * Enumeration of the skeletons of the space, independent of the search. For every operand, the enumeration chooses the
 * memory of its exchange and the inner memories that keep it. The enumeration then chooses every order of these keeps
 * with three properties:
 *   - the keeps of one operand go from outer to inner memories;
 *   - every operand exchanged on the chip stands above the keeps inside of arrays;
 *   - in an einsum with sliding windows (an index over several ranks), no keep stands outside of an array below a keep
 *     inside of it.
 */
#include "certify/skeletons.h"

#include <stdlib.h>
#include <string.h>

typedef DFL_VEC(dfl_claim_form) form_vec;

typedef struct {
    dfl_certify_run *run;
    const dfl_certify_problem *problem;
    dfl_claim_form form;                /* skeleton under construction */
    uint32_t kept[DFL_CERTIFY_OPERANDS]; /* [operand]: mask of the levels with keeps that are not placed yet */
    uint32_t most;                      /* largest number of keeps of a skeleton */
    form_vec all;                       /* skeletons found so far */
    bool slides;                        /* some operand is indexed by a sum of ranks */
    bool stopped;                       /* the budget is used up */
} skeleton_list;

/* Whether the next keep may stand inside of the arrays `around` (mask of axes). Keeps that are not placed yet and stand
   outside of one of these arrays would then stand below this keep. Such a keep below is illegal if it is a home on the
   chip; with sliding windows, it is always illegal. */
static bool may_enter(const skeleton_list *list, uint32_t around)
{
    const dfl_certify_problem *problem = list->problem;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        for (uint32_t p = 0; p < problem->n_levels; p++) {
            bool home = p == list->form.exchange[o] && p != problem->operand[o].home;
            if ((list->kept[o] >> p & 1) && (around & ~problem->axes_around[p]) != 0 && (home || list->slides))
                return false;
        }
    return true;
}

static void list_orders(skeleton_list *list)
{
    bool any = false;

    if (list->stopped)
        return;
    for (uint32_t o = 0; o < list->problem->n_operands; o++)
        any |= list->kept[o] != 0;
    if (!any) {
        list->stopped = !dfl_budget_ok(dfl_arena_budget(list->run->arena));
        DFL_PUSH(list->run->arena, &list->all, list->form);
        return;
    }
    if (list->form.n_keeps == list->most)
        return;
    for (uint32_t o = 0; o < list->problem->n_operands; o++) {
        uint32_t p = list->kept[o] ? (uint32_t)__builtin_ctz(list->kept[o]) : DFL_CERTIFY_LEVELS, n = list->form.n_keeps;
        if (p == DFL_CERTIFY_LEVELS || !may_enter(list, list->problem->axes_around[p]))
            continue;
        list->form.operand[n] = (uint8_t)o;
        list->form.level[n] = (uint8_t)p;
        list->form.n_keeps++;
        list->kept[o] &= list->kept[o] - 1;
        list_orders(list);
        list->kept[o] |= 1u << p;
        list->form.n_keeps--;
        list->form.operand[n] = list->form.level[n] = 0;
    }
}

static void list_levels(skeleton_list *list, uint32_t o)
{
    const dfl_certify_problem *problem = list->problem;
    const dfl_certify_operand *op = &problem->operand[o];

    if (o == problem->n_operands) {
        list_orders(list);
        return;
    }
    for (uint32_t home = op->home == DFL_NONE ? 0 : op->home; home < problem->n_levels; home++) {
        bool exchanged = home != op->home;
        bool made = op->shared && !op->settled && (op->levels >> home & 1) && problem->axes_around[home] == 0;
        if (exchanged && !made && !(op->common >> home & 1))
            continue;
        list->form.exchange[o] = (uint8_t)home;
        for (uint32_t keeps = 0; keeps < 1u << problem->n_levels && !list->stopped; keeps++) {
            if ((keeps & ~op->levels) != 0 || (keeps & ((1u << (home + 1)) - 1)) != 0)
                continue;
            list->kept[o] = keeps | (exchanged ? 1u << home : 0);
            list_levels(list, o + 1);
        }
    }
    list->kept[o] = 0;
    list->form.exchange[o] = 0;
}

static int compare_forms(const void *a, const void *b) { return memcmp(a, b, sizeof(dfl_claim_form)); }

/* The keeps of a skeleton as text: "A in sram, Z in sram, Z in regs". */
static const char *write_form(const dfl_certify_run *run, const dfl_certify_problem *problem, const dfl_claim_form *form)
{
    const dfl_mapping *m = run->search->asked;
    dfl_strbuf out;

    dfl_strbuf_init(&out, run->arena);
    for (uint32_t i = 0; i < form->n_keeps; i++)
        dfl_strbuf_printf(&out, "%s%s in %s", i > 0 ? ", " : "",
                          dfl_sym_text(run->task->names, m->workload->tensors[problem->operand[form->operand[i]].tensor].name),
                          dfl_sym_text(run->task->names, m->system->memories[problem->memory[form->level[i]]].name));
    return out.len > 0 ? out.text : "nothing kept";
}

static bool refuse(const dfl_certify_run *run, const dfl_certify_problem *problem, const dfl_claim_form *form, const char *what)
{
    const dfl_einsum *e = &run->search->asked->workload->einsums[problem->einsum];

    dfl_report(run->sink, DFL_CERT_TEMPLATES, e->span, "`%s` %s for einsum `%s`: %s", run->search->head->file, what,
               dfl_sym_text(run->task->names, e->name), write_form(run, problem, form));
    return false;
}

/* Whether two sorted lists have the same forms; reports the first difference. */
static bool same_forms(const dfl_certify_run *run, const dfl_certify_problem *problem, const form_vec *there,
                       const form_vec *claimed)
{
    size_t i = 0, j = 0;

    while (i < there->n || j < claimed->n) {
        int order = i == there->n ? 1 : j == claimed->n ? -1 : compare_forms(&there->at[i], &claimed->at[j]);
        if (order < 0)
            return refuse(run, problem, &there->at[i], "lacks a template");
        if (order > 0)
            return refuse(run, problem, &claimed->at[j], "has an unknown template");
        for (i++; j < claimed->n && compare_forms(&there->at[i - 1], &claimed->at[j]) == 0;)
            j++; /* the search may list a form twice, with different accounting */
    }
    return true;
}

static bool check_unit(dfl_certify_run *run, const dfl_claim_class *c, const dfl_certify_problem *problem)
{
    skeleton_list list = { .run = run, .problem = problem, .most = run->search->head->most_keeps };
    form_vec claimed = { .n = 0 };

    list.form.unit = (uint8_t)problem->unit;
    for (uint32_t o = 0; o < problem->n_operands; o++)
        list.slides |= problem->operand[o].ranks != problem->operand[o].plain;
    list_levels(&list, 0);
    if (list.stopped)
        return dfl_report_stop(run->sink, dfl_arena_budget(run->arena));
    for (size_t i = 0; i < c->skeletons.n; i++)
        if (c->skeletons.at[i].problem == problem)
            DFL_PUSH(run->arena, &claimed, c->skeletons.at[i].form);
    if (list.all.n > 0)
        qsort(list.all.at, list.all.n, sizeof *list.all.at, compare_forms);
    if (claimed.n > 0)
        qsort(claimed.at, claimed.n, sizeof *claimed.at, compare_forms);
    return same_forms(run, problem, &list.all, &claimed);
}

bool dfl_certify_skeletons(dfl_certify_run *run)
{
    for (size_t i = 0; i < run->search->classes.n; i++) {
        const dfl_claim_class *c = &run->search->classes.at[i];
        const dfl_certify_problems *units = &run->search->problems[c->einsums[0]];
        for (size_t u = 0; u < units->n; u++)
            if (!check_unit(run, c, units->at[u]))
                return false;
    }
    return true;
}
