/* The same design as text: printed in the language, read back by a session, and evaluated; every count must be equal. */
#include <stdio.h>
#include <string.h>

#include "api/session.h"
#include "ir/print.h"
#include "tests/timeloop/judge.h"

typedef struct {
    dfl_strbuf *out;
    const dfl_intern *names;
    const dfl_mapping *m;
} writer;

static const char *text_of(const writer *w, dfl_sym name) { return dfl_sym_text(w->names, name); }

/* ---- workload ---- */

static void write_index(const writer *w, const dfl_index *index)
{
    for (uint32_t i = 0; i < index->n_terms; i++) {
        const dfl_term *t = &index->terms[i];
        dfl_strbuf_z(w->out, t->coef < 0 ? (i ? " - " : "-") : i ? " + " : "");
        if (t->coef != 1 && t->coef != -1)
            dfl_strbuf_printf(w->out, "%lld*", (long long)(t->coef < 0 ? -t->coef : t->coef));
        dfl_strbuf_z(w->out, text_of(w, w->m->workload->ranks[t->rank].name));
    }
    if (index->offset != 0)
        dfl_strbuf_printf(w->out, " + %lld", (long long)index->offset);
}

static void write_access(const writer *w, const dfl_access *a)
{
    dfl_strbuf_printf(w->out, "%s[", text_of(w, w->m->workload->tensors[a->tensor].name));
    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_strbuf_z(w->out, d ? ", " : "");
        write_index(w, &a->index[d]);
    }
    dfl_strbuf_char(w->out, ']');
}

static void write_workload(const writer *w)
{
    const dfl_workload *x = w->m->workload;
    const dfl_einsum *e = &x->einsums[0];

    dfl_strbuf_printf(w->out, "workload %s : bits(1) {\n  rank ", text_of(w, x->name));
    for (uint32_t r = 0; r < x->n_ranks; r++)
        dfl_strbuf_printf(w->out, "%s%s = %lld", r ? ", " : "", text_of(w, x->ranks[r].name),
                          (long long)x->ranks[r].extent);
    dfl_strbuf_z(w->out, ";\n");
    for (uint32_t t = 0; t < x->n_tensors; t++) {
        const dfl_tensor *tensor = &x->tensors[t];
        if (tensor->n_producers > 0)
            continue;
        dfl_strbuf_printf(w->out, "  input %s[", text_of(w, tensor->name));
        for (uint32_t d = 0; d < tensor->n_dims; d++)
            dfl_strbuf_printf(w->out, "%sd%u: %lld", d ? ", " : "", d, (long long)tensor->extents[d]);
        dfl_strbuf_z(w->out, "];\n");
    }
    dfl_strbuf_z(w->out, "  output ");
    write_access(w, &e->output);
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        dfl_strbuf_z(w->out, i ? " * " : " += ");
        write_access(w, &e->inputs[i]);
    }
    dfl_strbuf_z(w->out, ";\n}\n");
}

/* ---- system ---- */

static void write_names(const writer *w, const dfl_selection *s)
{
    for (uint32_t i = 0; i < s->n_names; i++)
        dfl_strbuf_printf(w->out, "%s%s", i ? ", " : "", text_of(w, s->names[i]));
}

/* `multicast = x_GLB(A, B), y_GLB(A);` of the axes of an element. */
static void write_shares(const writer *w, const dfl_element *e, const char *what)
{
    bool any = false;

    for (uint32_t i = e->first_axis; i < e->first_axis + e->n_axes; i++) {
        const dfl_axis *a = &w->m->system->axes[i];
        if (a->multicast.n_names == 0)
            continue;
        dfl_strbuf_printf(w->out, "%s%s(", any ? ", " : what, text_of(w, a->name));
        write_names(w, &a->multicast);
        dfl_strbuf_char(w->out, ')');
        any = true;
    }
    dfl_strbuf_z(w->out, any ? "; " : "");
}

static void write_element(const writer *w, uint32_t id)
{
    const dfl_system *s = w->m->system;
    const dfl_element *e = &s->elements[id];

    if (id > 0) {
        dfl_strbuf_printf(w->out, "network net%u = bus { ", id);
        write_shares(w, e, "multicast = ");
        write_shares(w, e, "reduce = ");
        dfl_strbuf_z(w->out, "}\narray ");
        for (uint32_t i = e->first_axis; i < e->first_axis + e->n_axes; i++)
            dfl_strbuf_printf(w->out, "%s%s[%lld]", i > e->first_axis ? ", " : "", text_of(w, s->axes[i].name),
                              (long long)s->axes[i].size);
        dfl_strbuf_printf(w->out, " over net%u {\n", id);
    }
    for (uint32_t i = 0; i < s->n_memories; i++) {
        const dfl_memory *m = &s->memories[i];
        if (m->element != id)
            continue;
        dfl_strbuf_printf(w->out, "memory %s { size = ", text_of(w, m->name));
        if (m->size_bits < 0)
            dfl_strbuf_z(w->out, "unlimited");
        else
            dfl_strbuf_printf(w->out, "%lldbit", (long long)m->size_bits);
        dfl_strbuf_printf(w->out, "; buffers = %lld; }\n", (long long)m->buffers);
    }
    if (s->computes[0].element == id) {
        dfl_strbuf_printf(w->out, "compute %s { rate = 1FLOP/cycle; ", text_of(w, s->computes[0].name));
        if (s->computes[0].operand_reuse.n_names > 0) {
            dfl_strbuf_z(w->out, "operand_reuse = ");
            write_names(w, &s->computes[0].operand_reuse);
            dfl_strbuf_z(w->out, "; ");
        }
        dfl_strbuf_z(w->out, "}\n");
    } else {
        write_element(w, id + 1);
    }
    if (id > 0)
        dfl_strbuf_z(w->out, "}\n");
}

const char *judge_text_of(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_strbuf out;
    writer w = { .out = &out, .names = names, .m = m };

    dfl_strbuf_init(&out, arena);
    dfl_strbuf_z(&out, "dfl 1;\n");
    write_workload(&w);
    dfl_strbuf_printf(&out, "system %s {\nclock = 1GHz;\n", text_of(&w, m->system->name));
    write_element(&w, 0);
    dfl_strbuf_z(&out, "}\n");
    dfl_mapping_print(&out, names, m);
    return out.text;
}

/* ---- and back ---- */

/* The row of the other result with the same names. */
static const dfl_traffic *partner(const dfl_result *a, const dfl_intern *a_names, const dfl_traffic *row,
                                  const dfl_result *b, const dfl_intern *b_names)
{
    const char *memory = dfl_sym_text(a_names, a->mapping->system->memories[row->memory].name);
    const char *tensor = dfl_sym_text(a_names, a->mapping->workload->tensors[row->tensor].name);

    for (uint32_t i = 0; i < b->n_traffic; i++) {
        const dfl_traffic *t = &b->traffic[i];
        if (strcmp(dfl_sym_text(b_names, b->mapping->system->memories[t->memory].name), memory) == 0 &&
            strcmp(dfl_sym_text(b_names, b->mapping->workload->tensors[t->tensor].name), tensor) == 0)
            return t;
    }
    return NULL;
}

static bool same_results(const dfl_result *a, const dfl_intern *a_names, const dfl_result *b,
                         const dfl_intern *b_names)
{
    bool same = a->n_traffic == b->n_traffic && a->einsums[0].points == b->einsums[0].points &&
                a->einsums[0].steps == b->einsums[0].steps;

    for (uint32_t i = 0; i < a->n_traffic && same; i++) {
        const dfl_traffic *x = &a->traffic[i], *y = partner(a, a_names, x, b, b_names);
        same = y && memcmp(&x->counts, &y->counts, sizeof x->counts) == 0 && x->peak_bits == y->peak_bits;
    }
    return same;
}

bool judge_reads_back(dfl_arena *arena, const dfl_intern *names, const dfl_result *r, judge_text *why)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *text = judge_text_of(arena, names, r->mapping);
    bool read = dfl_session_open_text(s, "case.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
                dfl_session_errors(s) == 0 && s->program && s->program->n_designs == 1, same = false;

    if (read) {
        const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
        const dfl_result *again = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
        same = again && same_results(r, names, again, s->names);
    }
    if (!same)
        snprintf(why->text, sizeof why->text, "as text it %s: %s", read ? "counts otherwise" : "cannot be read",
                 dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    dfl_session_free(s);
    return same;
}
