/* Classes, templates, patterns and rows as JSON; a template and a row stand on one line each. */
#include "mapper/exact/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "support/json_write.h"

enum { INDENT = 1 };

typedef struct {
    dfl_json_writer w;
    const dfl_intern *names;
    const dfl_einsum_classes *k;
    const dfl_tile_goal *goal;
    dfl_deadline *halt;
    bool rows;
} writer;

static const char *tensor_name(const writer *x, const dfl_problem *problem, uint32_t operand)
{
    return dfl_sym_text(x->names, x->k->m->workload->tensors[problem->operand[operand].tensor].name);
}

static const char *memory_name(const writer *x, uint32_t memory)
{
    return dfl_sym_text(x->names, x->k->m->system->memories[memory].name);
}

static void write_number(writer *x, const char *key, double value)
{
    dfl_json_key(&x->w, key);
    dfl_json_double(&x->w, value);
}

static void write_text(writer *x, const char *key, const char *text)
{
    dfl_json_key(&x->w, key);
    dfl_json_string(&x->w, text);
}

/* What is begun next stands on one line. */
static void begin_line(writer *x)
{
    dfl_json_object(&x->w);
    x->w.indent = 0;
}

static void end_line(writer *x)
{
    dfl_json_end_object(&x->w);
    x->w.indent = INDENT;
}

/* The keeps of a template in the order that they are written in, of those behind one gap the outer memories first: bytes
   without meaning 0. */
typedef struct {
    const dfl_problem *problem;
    uint32_t pattern;
    uint8_t n_keeps;
    uint8_t operand[DFL_TEMPLATE_KEEPS], place[DFL_TEMPLATE_KEEPS];
    bool home[DFL_TEMPLATE_KEEPS];
} form;

typedef DFL_VEC(form) form_vec;

static form form_of(const dfl_problem *problem, const dfl_tiling_template *t, uint32_t pattern)
{
    form f;

    memset(&f, 0, sizeof f);
    f.problem = problem;
    f.pattern = pattern;
    for (uint32_t g = 0; g <= t->n_keeps; g++)
        for (uint32_t axes = 0; axes <= problem->n_axes; axes++)
            for (uint32_t i = 0; i <= g && i < t->n_keeps; i++) {
                if (t->written[i] != g || (uint32_t)__builtin_popcount(problem->place[t->keep[i].place].axes) != axes)
                    continue;
                f.home[f.n_keeps] = t->keep[i].home;
                f.operand[f.n_keeps] = t->keep[i].operand;
                f.place[f.n_keeps++] = t->keep[i].place;
            }
    return f;
}

static void write_form(writer *x, const form *f)
{
    write_text(x, "unit", dfl_sym_text(x->names, x->k->m->system->computes[f->problem->unit].name));
    dfl_json_key(&x->w, "keeps");
    dfl_json_array(&x->w);
    for (uint32_t i = 0; i < f->n_keeps; i++) {
        dfl_json_object(&x->w);
        write_text(x, "tensor", tensor_name(x, f->problem, f->operand[i]));
        write_text(x, "memory", memory_name(x, f->problem->place[f->place[i]].memory));
        if (f->home[i]) {
            dfl_json_key(&x->w, "home");
            dfl_json_bool(&x->w, true);
        }
        dfl_json_end_object(&x->w);
    }
    dfl_json_end_array(&x->w);
}

static void write_template(writer *x, const dfl_einsum_class *c, const dfl_candidate *found)
{
    dfl_tile_goal goal = *x->goal;
    form f = form_of(found->problem, found->form, found->pattern);

    begin_line(x);
    write_form(x, &f);
    write_number(x, "energy", found->joules);
    write_number(x, "time", found->seconds);
    if (x->rows) {
        goal.best_only = false;
        dfl_einsum_classes_aim(c, found->pattern, &goal);
        dfl_json_key(&x->w, "searched");
        dfl_json_bool(&x->w, dfl_tile_useful(&goal, found->joules, found->seconds));
    }
    end_line(x);
}

/* Forms of a class: of its templates, or of what is left out. */
typedef struct {
    dfl_arena *arena;
    const dfl_einsum_class *c;
    const dfl_problem *problem;
    form_vec forms;
} collector;

static int by_form(const void *a, const void *b)
{
    const form *x = a, *y = b;
    int order = memcmp(x->operand, y->operand, sizeof x->operand);

    order = order ? order : memcmp(x->place, y->place, sizeof x->place);
    order = order ? order : (x->n_keeps > y->n_keeps) - (x->n_keeps < y->n_keeps);
    order = order ? order : (x->pattern > y->pattern) - (x->pattern < y->pattern);
    return order ? order : (x->problem->unit > y->problem->unit) - (x->problem->unit < y->problem->unit);
}

static bool collect(void *context, const dfl_tiling_template *t)
{
    collector *k = context;
    form f;

    for (uint32_t p = 0; p < k->c->patterns.n; p++) {
        bool same = true;
        for (uint32_t o = 0; o < k->problem->n_operands; o++)
            same &= !dfl_problem_exchanged(&k->problem->operand[o]) ||
                    k->c->patterns.at[p].memory[o] == k->problem->place[t->exchange[o]].memory;
        if (!same)
            continue;
        f = form_of(k->problem, t, p);
        DFL_PUSH(k->arena, &k->forms, f);
    }
    return true;
}

/* Forms of which there are only templates that are left out, in order. */
static form_vec left_out(const writer *x, const dfl_einsum_class *c)
{
    collector there = { .arena = x->w.out->arena, .c = c }, left = { .arena = x->w.out->arena, .c = c };
    size_t n = 0;

    for (size_t i = 0; i < x->k->problems[c->first].n; i++) {
        there.problem = left.problem = x->k->problems[c->first].at[i];
        dfl_templates_each(there.problem, x->halt, collect, &there);
        dfl_templates_useless(left.problem, x->halt, collect, &left);
    }
    if (there.forms.n > 0)
        qsort(there.forms.at, there.forms.n, sizeof *there.forms.at, by_form);
    if (left.forms.n > 0)
        qsort(left.forms.at, left.forms.n, sizeof *left.forms.at, by_form);
    for (size_t i = 0, j = 0; i < left.forms.n; i++) {
        while (j < there.forms.n && by_form(&there.forms.at[j], &left.forms.at[i]) < 0)
            j++;
        if ((j < there.forms.n && by_form(&there.forms.at[j], &left.forms.at[i]) == 0) ||
            (n > 0 && by_form(&left.forms.at[n - 1], &left.forms.at[i]) == 0))
            continue;
        left.forms.at[n++] = left.forms.at[i];
    }
    left.forms.n = n;
    return left.forms;
}

/* { "S": "sram" }: the memories in which shared operands are exchanged. */
static void write_exchange(writer *x, const dfl_problem *problem, const dfl_pattern *p)
{
    dfl_json_key(&x->w, "exchange");
    dfl_json_object(&x->w);
    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (dfl_problem_exchanged(&problem->operand[o]))
            write_text(x, tensor_name(x, problem, o), memory_name(x, p->memory[o]));
    dfl_json_end_object(&x->w);
}

static void write_patterns(writer *x, const dfl_einsum_class *c)
{
    const dfl_problem *problem = x->k->problems[c->first].at[0];
    form_vec left = left_out(x, c);

    dfl_json_key(&x->w, "patterns");
    dfl_json_array(&x->w);
    for (uint32_t p = 0; p < c->patterns.n; p++) {
        dfl_json_object(&x->w);
        write_exchange(x, problem, &c->patterns.at[p]);
        if (x->rows) {
            write_number(x, "energy", c->patterns.at[p].least.at[DFL_COST_JOULES]);
            write_number(x, "time", c->patterns.at[p].least.at[DFL_COST_SECONDS]);
        }
        dfl_json_key(&x->w, "templates");
        dfl_json_array(&x->w);
        for (size_t i = 0; i < c->candidates.n; i++)
            if (c->candidates.at[i].pattern == p)
                write_template(x, c, &c->candidates.at[i]);
        dfl_json_end_array(&x->w);
        dfl_json_key(&x->w, "useless");
        dfl_json_array(&x->w);
        for (size_t i = 0; i < left.n; i++) {
            if (left.at[i].pattern != p)
                continue;
            begin_line(x);
            write_form(x, &left.at[i]);
            end_line(x);
        }
        dfl_json_end_array(&x->w);
        dfl_json_end_object(&x->w);
    }
    dfl_json_end_array(&x->w);
}

static void write_row(writer *x, const dfl_problem *problem, const dfl_pmapping *row)
{
    const dfl_way *way = &row->way;

    begin_line(x);
    dfl_json_key(&x->w, "loops");
    dfl_json_array(&x->w);
    for (uint32_t k = 0; k < way->n_loops; k++) {
        dfl_json_object(&x->w);
        write_text(x, "rank", dfl_sym_text(x->names, x->k->m->workload->ranks[problem->rank[way->loop_rank[k]]].name));
        dfl_json_key(&x->w, "trips");
        dfl_json_int(&x->w, way->trips[k]);
        dfl_json_end_object(&x->w);
    }
    dfl_json_end_array(&x->w);
    dfl_json_key(&x->w, "exchange");
    dfl_json_object(&x->w);
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        if (!dfl_problem_exchanged(&problem->operand[o]))
            continue;
        dfl_json_key(&x->w, tensor_name(x, problem, o));
        dfl_json_object(&x->w);
        write_text(x, "memory", memory_name(x, way->memory[o]));
        dfl_json_key(&x->w, "depth");
        dfl_json_int(&x->w, way->depth[o]);
        dfl_json_end_object(&x->w);
    }
    dfl_json_end_object(&x->w);
    write_number(x, "energy", row->joules);
    write_number(x, "time", row->seconds);
    dfl_json_key(&x->w, "room");
    dfl_json_array(&x->w);
    for (uint32_t t = 0; t < x->goal->n_tracks; t++) {
        dfl_json_array(&x->w);
        for (uint32_t d = 0; d <= way->n_loops; d++)
            dfl_json_double(&x->w, row->room[t][d]);
        dfl_json_end_array(&x->w);
    }
    dfl_json_end_array(&x->w);
    end_line(x);
}

static void write_class(writer *x, uint32_t class)
{
    const dfl_einsum_class *c = &x->k->at.at[class];

    dfl_json_object(&x->w);
    dfl_json_key(&x->w, "einsums");
    dfl_json_array(&x->w);
    for (uint32_t e = 0; e < x->k->n; e++)
        if (x->k->of[e] == class)
            dfl_json_string(&x->w, dfl_sym_text(x->names, x->k->m->workload->einsums[e].name));
    dfl_json_end_array(&x->w);
    write_patterns(x, c);
    if (x->rows) {
        dfl_json_key(&x->w, "wave");
        dfl_json_int(&x->w, c->wave);
        dfl_json_key(&x->w, "rows");
        dfl_json_array(&x->w);
        for (uint32_t i = 0; i < c->n_list; i++)
            write_row(x, x->k->problems[c->first].at[0], c->list[i]);
        dfl_json_end_array(&x->w);
    }
    dfl_json_end_object(&x->w);
}

/* Inputs that one keep may serve several einsums with. */
static void write_common(writer *x)
{
    const dfl_workload *w = x->k->m->workload;
    bool *seen = DFL_NEW_ARRAY(x->w.out->arena, bool, (size_t)w->n_tensors + 1);

    dfl_json_key(&x->w, "common");
    dfl_json_array(&x->w);
    for (uint32_t e = 0; e < x->k->n; e++) {
        const dfl_problem *problem = x->k->problems[e].at[0];
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->operand[o].common != 0 && !seen[problem->operand[o].tensor]) {
                seen[problem->operand[o].tensor] = true;
                dfl_json_string(&x->w, tensor_name(x, problem, o));
            }
    }
    dfl_json_end_array(&x->w);
}

void dfl_certificate_write(dfl_strbuf *out, const dfl_intern *names, const dfl_einsum_classes *classes, const dfl_tile_goal *goal,
                           const dfl_criteria *all, double joined, dfl_deadline *halt)
{
    writer x = { .names = names, .k = classes, .goal = goal, .rows = all != NULL, .halt = halt };

    dfl_json_start(&x.w, out, INDENT);
    dfl_json_object(&x.w);
    write_text(&x, "by", all ? "rows" : "templates");
    if (all) {
        dfl_json_key(&x.w, "least");
        dfl_json_object(&x.w);
        write_number(&x, "energy", all->at[DFL_COST_JOULES]);
        write_number(&x, "time", all->at[DFL_COST_SECONDS]);
        dfl_json_end_object(&x.w);
        write_number(&x, "joined", joined);
        write_number(&x, "limit", goal->limit);
        dfl_json_key(&x.w, "tracks");
        dfl_json_array(&x.w);
        for (uint32_t t = 0; t < goal->n_tracks; t++)
            dfl_json_string(&x.w, memory_name(&x, goal->track[t]));
        dfl_json_end_array(&x.w);
    }
    write_common(&x);
    dfl_json_key(&x.w, "classes");
    dfl_json_array(&x.w);
    for (uint32_t c = 0; c < classes->at.n; c++)
        write_class(&x, c);
    dfl_json_end_array(&x.w);
    dfl_json_end_object(&x.w);
}
