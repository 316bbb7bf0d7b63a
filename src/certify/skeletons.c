/*
 * Which templates there are, by enumeration: for every operand the memory where it is exchanged and those further in that
 * keep it, then every order of these keeps in which an operand goes from outer to inner memories and all that is exchanged on
 * the chip stands above keeps inside of arrays. Where windows slide no array is left again.
 */
#include <stdlib.h>
#include <string.h>

#include "certify/steps.h"

typedef DFL_VEC(dfl_claim_form) form_vec;

typedef struct {
    dfl_certify_run *run;
    const dfl_frame *f;
    dfl_claim_form form;
    uint32_t kept[DFL_FRAME_OPERANDS];  /* places that are still to be written, by operand */
    uint32_t most;
    form_vec all;
    bool slides;                        /* some operand is indexed by a sum of ranks */
    bool stopped;
} lister;

/* Whether the next keep may be inside of the arrays `around`, that is what is to come outside of these may stand below it. */
static bool may_enter(const lister *k, uint32_t around)
{
    const dfl_frame *f = k->f;

    for (uint32_t o = 0; o < f->n_operands; o++)
        for (uint32_t p = 0; p < f->n_places; p++) {
            bool home = p == k->form.exchange[o] && p != f->operand[o].home;
            if ((k->kept[o] >> p & 1) && (around & ~f->around[p]) != 0 && (home || k->slides))
                return false;
        }
    return true;
}

static void list_orders(lister *k)
{
    bool any = false;

    if (k->stopped)
        return;
    for (uint32_t o = 0; o < k->f->n_operands; o++)
        any |= k->kept[o] != 0;
    if (!any) {
        k->stopped = !dfl_budget_ok(dfl_arena_budget(k->run->arena));
        DFL_PUSH(k->run->arena, &k->all, k->form);
        return;
    }
    if (k->form.n_keeps == k->most)
        return;
    for (uint32_t o = 0; o < k->f->n_operands; o++) {
        uint32_t p = k->kept[o] ? (uint32_t)__builtin_ctz(k->kept[o]) : DFL_FRAME_PLACES, n = k->form.n_keeps;
        if (p == DFL_FRAME_PLACES || !may_enter(k, k->f->around[p]))
            continue;
        k->form.operand[n] = (uint8_t)o;
        k->form.place[n] = (uint8_t)p;
        k->form.n_keeps++;
        k->kept[o] &= k->kept[o] - 1;
        list_orders(k);
        k->kept[o] |= 1u << p;
        k->form.n_keeps--;
        k->form.operand[n] = k->form.place[n] = 0;
    }
}

static void list_places(lister *k, uint32_t o)
{
    const dfl_frame *f = k->f;
    const dfl_frame_operand *op = &f->operand[o];

    if (o == f->n_operands) {
        list_orders(k);
        return;
    }
    for (uint32_t home = op->home == DFL_NONE ? 0 : op->home; home < f->n_places; home++) {
        bool exchanged = home != op->home;
        bool made = op->shared && !op->settled && (op->places >> home & 1) && f->around[home] == 0;
        if (exchanged && !made && !(op->common >> home & 1))
            continue;
        k->form.exchange[o] = (uint8_t)home;
        for (uint32_t keeps = 0; keeps < 1u << f->n_places && !k->stopped; keeps++) {
            if ((keeps & ~op->places) != 0 || (keeps & ((1u << (home + 1)) - 1)) != 0)
                continue;
            k->kept[o] = keeps | (exchanged ? 1u << home : 0);
            list_places(k, o + 1);
        }
    }
    k->kept[o] = 0;
    k->form.exchange[o] = 0;
}

static int by_form(const void *a, const void *b) { return memcmp(a, b, sizeof(dfl_claim_form)); }

/* "A in sram, Z in sram, Z in regs": the keeps of a template. */
static const char *form_text(const dfl_certify_run *run, const dfl_frame *f, const dfl_claim_form *form)
{
    const dfl_mapping *m = run->s->asked;
    dfl_strbuf out;

    dfl_strbuf_init(&out, run->arena);
    for (uint32_t i = 0; i < form->n_keeps; i++)
        dfl_strbuf_printf(&out, "%s%s in %s", i > 0 ? ", " : "",
                          dfl_sym_text(run->task->names, m->workload->tensors[f->operand[form->operand[i]].tensor].name),
                          dfl_sym_text(run->task->names, m->system->memories[f->memory[form->place[i]]].name));
    return out.len > 0 ? out.text : "nothing kept";
}

static bool refuse(const dfl_certify_run *run, const dfl_frame *f, const dfl_claim_form *form, const char *what)
{
    const dfl_einsum *e = &run->s->asked->workload->einsums[f->einsum];

    dfl_report(run->sink, DFL_CERT_TEMPLATES, e->span, "`%s` %s for einsum `%s`: %s", run->s->head->file, what,
               dfl_sym_text(run->task->names, e->name), form_text(run, f, form));
    return false;
}

/* Compares two sorted lists. */
static bool same_forms(const dfl_certify_run *run, const dfl_frame *f, const form_vec *there, const form_vec *claimed)
{
    size_t i = 0, j = 0;

    while (i < there->n || j < claimed->n) {
        int order = i == there->n ? 1 : j == claimed->n ? -1 : by_form(&there->at[i], &claimed->at[j]);
        if (order < 0)
            return refuse(run, f, &there->at[i], "lacks a template");
        if (order > 0)
            return refuse(run, f, &claimed->at[j], "has a template that is none");
        for (i++; j < claimed->n && by_form(&there->at[i - 1], &claimed->at[j]) == 0;)
            j++; /* some differ in nothing but how they are counted */
    }
    return true;
}

static bool check_unit(dfl_certify_run *run, const dfl_claim_class *c, const dfl_frame *f)
{
    lister k = { .run = run, .f = f, .most = run->s->head->most_keeps };
    form_vec claimed = { .n = 0 };

    k.form.unit = (uint8_t)f->unit;
    for (uint32_t o = 0; o < f->n_operands; o++)
        k.slides |= f->operand[o].ranks != f->operand[o].plain;
    list_places(&k, 0);
    if (k.stopped)
        return dfl_report_stop(run->sink, dfl_arena_budget(run->arena));
    for (size_t i = 0; i < c->templates.n; i++)
        if (c->templates.at[i].frame == f)
            DFL_PUSH(run->arena, &claimed, c->templates.at[i].form);
    if (k.all.n > 0)
        qsort(k.all.at, k.all.n, sizeof *k.all.at, by_form);
    if (claimed.n > 0)
        qsort(claimed.at, claimed.n, sizeof *claimed.at, by_form);
    return same_forms(run, f, &k.all, &claimed);
}

bool dfl_certify_templates(dfl_certify_run *run)
{
    for (size_t i = 0; i < run->s->classes.n; i++) {
        const dfl_claim_class *c = &run->s->classes.at[i];
        const dfl_frames *units = &run->s->frames[c->einsums[0]];
        for (size_t u = 0; u < units->n; u++)
            if (!check_unit(run, c, units->at[u]))
                return false;
    }
    return true;
}
