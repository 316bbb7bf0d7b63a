#include "mapper/improve/polish.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/divisors/signature.h"
#include "mapper/improve/tree_climb.h"
#include "mapper/problem/limits.h"
#include "mapper/problem/evaluate.h"

typedef struct {
    dfl_budget *budget;
    const dfl_intern *names;
    const dfl_polish_options *options;
    uint64_t kind;               /* of the mapping at the beginning */
} admission;

/* Whether the mapping is one that the options ask for; `context` is an admission. */
static bool admits(void *context, const dfl_mapping *m)
{
    const admission *k = context;

    return (!k->options->same_kind || dfl_signature_of_mapping(m) == k->kind) &&
           (!k->options->space.perfect || dfl_mapping_divides(k->budget, k->names, m));
}

static bool has_given_lines(const dfl_mapping *m)
{
    bool has = false;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++)
            has |= m->bodies[b]->lines[i].given;
    return has;
}

/* Marks the keeps at the root that the given mapping has, too, as written in the file. */
static void mark_homes(const dfl_mapping *given, dfl_mapping *m)
{
    for (uint32_t g = 0; given != NULL && g < dfl_body_count_homes(given->root); g++)
        for (uint32_t i = 0; i < dfl_body_count_homes(m->root); i++)
            m->root->lines[i].given |= m->root->lines[i].tensor == given->root->lines[g].tensor &&
                                       m->root->lines[i].memory == given->root->lines[g].memory;
}

static void unmark(dfl_mapping *m)
{
    for (uint32_t i = 0; i < m->root->n_lines; i++)
        m->root->lines[i].given = false;
}

dfl_mapping *dfl_polish(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_polish_options *options,
                        double *value)
{
    dfl_deadline halt = { .budget = dfl_arena_budget(arena), .at = options->limits.deadline };
    const uint64_t n = m->workload->n_einsums, left = options->left != NULL ? *options->left : UINT64_MAX;
    const bool has_given = has_given_lines(m);
    admission context = { halt.budget, names, options, dfl_signature_of_mapping(m) };
    const dfl_tree_climb_options climb = {
        .objective = options->objective, .halt = &halt,
        .evaluations = (left < DFL_POLISH_EVALUATIONS ? left : DFL_POLISH_EVALUATIONS) / n + 1,
        .amounts_only = has_given, .admits = admits, .context = &context };
    dfl_mapping *from = dfl_mapping_copy(arena, m), *out;
    uint64_t evaluated;

    mark_homes(options->given, from);
    out = dfl_tree_climb(arena, names, from, &climb, value, &evaluated);
    if (!has_given)
        unmark(out);
    if (options->left != NULL)
        *options->left -= evaluated * n < left ? evaluated * n : left;
    if (isinf(*value)) /* the climb had no time for it */
        *value = dfl_mapping_value(NULL, names, m, options->objective);
    return out;
}
