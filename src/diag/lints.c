#include "diag/lints.h"

#include <string.h>

#include "diag/suggest.h"

static const dfl_lint_info lints[] = {
#define DFL_LINT(lint, name, code, level, summary) { name, DFL_##code, DFL_LEVEL_##level, summary },
#include "diag/lints.def"
#undef DFL_LINT
};

const dfl_lint_info *dfl_lint_at(dfl_lint lint)
{
    return &lints[lint];
}

const dfl_lint_info *dfl_lint_find(const char *name)
{
    for (size_t i = 0; i < DFL_N_LINTS; i++)
        if (strcmp(lints[i].name, name) == 0)
            return &lints[i];
    return NULL;
}

dfl_level dfl_lint_level(const dfl_lint_levels *levels, dfl_lint lint)
{
    unsigned set = levels ? levels->set[lint] : 0;

    return set ? (dfl_level)(set - 1) : lints[lint].level;
}

bool dfl_lint_set(dfl_lint_levels *levels, const char *name, dfl_level level)
{
    const dfl_lint_info *lint = dfl_lint_find(name);

    if (strcmp(name, "all") == 0) {
        memset(levels->set, (int)level + 1, DFL_N_LINTS);
        return true;
    }
    if (!lint)
        return false;
    levels->set[lint - lints] = (unsigned char)(level + 1);
    return true;
}

const char *dfl_lint_suggest(dfl_arena *arena, const char *name)
{
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sym candidates[DFL_N_LINTS], near;

    for (size_t i = 0; i < DFL_N_LINTS; i++)
        candidates[i] = dfl_intern_z(names, lints[i].name);
    near = dfl_suggest(names, name, candidates, DFL_N_LINTS);
    return near ? dfl_sym_text(names, near) : NULL;
}
