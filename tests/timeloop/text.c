/* Prints a mapping as DFL, reads the text back with a session and evaluates it: every count must be equal. */
#include <stdio.h>
#include <string.h>

#include "api/session.h"
#include "ir/print_mapping.h"
#include "tests/timeloop/judge.h"

/* Finds the row with equal names in the other result. */
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

bool judge_prints_back(const dfl_intern *names, const char *text, const dfl_result *r, judge_text *why)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *mapping = strstr(text, "\nmapping ");
    bool read, same = false;
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_add(&out, text, mapping ? (size_t)(mapping - text) + 1 : 0);
    dfl_mapping_print(&out, names, r->mapping, DFL_PRINT_INDENT);
    read = dfl_session_open_text(s, "case.dfl", out.text, out.len) == DFL_EXIT_OK && dfl_session_analyse(s) &&
           dfl_session_errors(s) == 0 && s->program && s->program->n_designs == 1;
    if (read) {
        const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
        const dfl_result *again = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
        same = again && same_results(r, names, again, s->names);
    }
    if (!same)
        snprintf(why->text, sizeof why->text, "printed it %s: %s", read ? "counts otherwise" : "cannot be read",
                 dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    dfl_session_free(s);
    return same;
}
