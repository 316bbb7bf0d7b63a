#include "diag/lints.h"

#include <string.h>

static const dfl_lint_info lints[] = {
    { "array-without-network", DFL_SYS_NO_NETWORK,          DFL_LEVEL_WARN,
      "an array whose axis carries shared data has no network" },
    { "attribute-no-effect",   DFL_SYS_ATTRIBUTE_NO_EFFECT, DFL_LEVEL_WARN,
      "an attribute that no result depends on" },
    { "bit-byte",              DFL_UNIT_BIT_BYTE,           DFL_LEVEL_WARN,
      "bits where bytes are usual, or the reverse" },
    { "empty-parts",           DFL_MAP_EMPTY_PARTS,         DFL_LEVEL_WARN,
      "a loop some of whose parts are always empty" },
    { "idle-instances",        DFL_MAP_IDLE_INSTANCES,      DFL_LEVEL_ALLOW,
      "a mapping that leaves instances of an array idle" },
    { "keep-unused",           DFL_MAP_KEEP_UNUSED,         DFL_LEVEL_WARN,
      "a tensor is kept, and nothing below touches it" },
    { "no-energy",             DFL_SYS_NO_ENERGY,           DFL_LEVEL_WARN,
      "a component without energy, in a system that has energies" },
    { "outside-shape",         DFL_TENSOR_NEVER_READ_INSIDE, DFL_LEVEL_WARN,
      "accesses that always fall outside the shape of a tensor" },
    { "stray-doc",             DFL_SYNTAX_STRAY_DOC,        DFL_LEVEL_WARN,
      "a doc comment that documents nothing" },
    { "unused-option",         DFL_EVAL_UNUSED_OPTION,      DFL_LEVEL_WARN,
      "an option of a search that does not use it" },
    { "unused-rank",           DFL_RANK_UNUSED,             DFL_LEVEL_WARN,
      "a rank that no einsum uses" },
};

enum { N_LINTS = sizeof lints / sizeof lints[0] };
_Static_assert(N_LINTS + 0 <= DFL_LINT_ROOM + 0, "a set of levels has room for every lint");

size_t dfl_lint_count(void)
{
    return N_LINTS;
}

const dfl_lint_info *dfl_lint_at(size_t i)
{
    return i < N_LINTS ? &lints[i] : NULL;
}

const dfl_lint_info *dfl_lint_find(const char *name)
{
    for (size_t i = 0; i < N_LINTS; i++)
        if (strcmp(lints[i].name, name) == 0)
            return &lints[i];
    return NULL;
}

dfl_level dfl_lint_level(const dfl_lint_levels *levels, const char *name)
{
    const dfl_lint_info *lint = dfl_lint_find(name);
    unsigned set;

    if (!lint)
        return DFL_LEVEL_ALLOW;
    set = levels ? levels->set[lint - lints] : 0;
    return set ? (dfl_level)(set - 1) : lint->level;
}

bool dfl_lint_set(dfl_lint_levels *levels, const char *name, dfl_level level)
{
    const dfl_lint_info *lint = dfl_lint_find(name);

    if (strcmp(name, "all") == 0) {
        memset(levels->set, (int)level + 1, N_LINTS);
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
    dfl_sym candidates[N_LINTS], near;

    for (size_t i = 0; i < N_LINTS; i++)
        candidates[i] = dfl_intern_z(names, lints[i].name);
    near = dfl_suggest(names, name, candidates, N_LINTS);
    return near ? dfl_sym_text(names, near) : NULL;
}
