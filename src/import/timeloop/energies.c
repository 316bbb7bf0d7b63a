/* Energies of a run: its table of energies per action (ERT), in pJ. */
#include "import/timeloop/timeloop_internal.h"

#include <math.h>
#include <string.h>

/* Whether the name, without the numbers of its instances, is `name` or ends with it behind a dot, as
   `system.chip.PE[1..4].RF[1..1]` ends with `RF`. */
static bool is_name(const char *whole, const char *name)
{
    size_t end = strlen(whole), n = strlen(name);

    if (end > 0 && whole[end - 1] == ']') {
        while (end > 0 && whole[end - 1] != '[')
            end--;
        end -= end > 0;
    }
    return end >= n && strncmp(whole + end - n, name, n) == 0 && (end == n || whole[end - n - 1] == '.');
}

/* The actions of a component; NULL when the table lacks it. */
static const dfl_yaml *actions_of(const dfl_tl_file *f, const char *name)
{
    for (uint32_t i = 0; i < f->energies->n; i++) {
        const dfl_yaml *called = dfl_tl_get(&f->energies->items[i], "name");

        if (called != NULL && is_name(called->text, name))
            return dfl_tl_get(&f->energies->items[i], "actions");
    }
    return NULL;
}

/* Energy of the first of the actions that the component has: the largest one, where it depends on arguments; -1 = none. */
static double energy_of(dfl_tl_file *f, const dfl_yaml *actions, const char *const *words, size_t n)
{
    double largest = -1;

    for (size_t k = 0; k < n && largest < 0; k++) {
        for (uint32_t i = 0; actions->kind == DFL_YAML_LIST && i < actions->n; i++) {
            const dfl_yaml *name = dfl_tl_get(&actions->items[i], "name");
            const dfl_yaml *energy = dfl_tl_get(&actions->items[i], "energy");

            /* A summary of an action with several arguments has their mean. */
            energy = energy != NULL ? energy : dfl_tl_get(&actions->items[i], "average_energy");
            if (name != NULL && energy != NULL && strcmp(name->text, words[k]) == 0)
                largest = fmax(largest, dfl_tl_number(f, energy, 0));
        }
    }
    return largest;
}

static bool read_level(dfl_tl_file *f, dfl_tl_level *l)
{
    static const char *const reads[] = { "random_read", "read" };
    static const char *const writes[] = { "random_fill", "random_write", "fill", "write" };
    static const char *const updates[] = { "random_update", "random_write", "update", "write" };
    static const char *const leaks[] = { "leak" };
    const dfl_yaml *actions = actions_of(f, l->name);
    double read, write, update;

    if (l->entries == 0)
        return true;
    if (actions == NULL) {
        dfl_lose(f->report, DFL_FOREIGN_LOST, l->span, "the table of energies lacks `%s`: it is free", l->name);
        l->read_energy = l->write_energy = 0;
        return true;
    }
    read = energy_of(f, actions, reads, 2);
    write = energy_of(f, actions, writes, 4);
    update = energy_of(f, actions, updates, 4);
    l->leak = fmax(energy_of(f, actions, leaks, 1), 0);
    if (f->ok && (read < 0 || write < 0))
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, actions->span, "the energies of `%s` lack `read` or `write`", l->name);
    if (f->ok && update >= 0 && fabs(update - write) > 1e-9 * fmax(update, write))
        dfl_lose(f->report, DFL_FOREIGN_LOST, actions->span,
                 "an update of `%s` costs as much as a write: %g pJ in place of %g pJ", l->name, write, update);
    l->read_energy = read / l->vector;
    l->write_energy = write / l->vector;
    return f->ok;
}

bool dfl_tl_read_energies(dfl_tl_file *f)
{
    static const char *const macs[] = { "mac_random", "mult_random", "mac", "mult", "multiply", "compute", "read" };
    const dfl_yaml *actions;

    if (f->energies == NULL) {
        if (f->tree != NULL)
            dfl_lose(f->report, DFL_FOREIGN_LOST, f->tree->span,
                     "the energies are unknown, and the result has none: add the file `ERT.yaml` or `ERT_summary.yaml`");
        return true;
    }
    f->priced = true;
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if (!read_level(f, &f->levels[k]))
            return false;
    }
    actions = actions_of(f, f->mac_name);
    if (actions == NULL)
        dfl_lose(f->report, DFL_FOREIGN_LOST, f->energies->span, "the table of energies lacks `%s`: it is free", f->mac_name);
    f->mac_energy = actions == NULL ? 0 : energy_of(f, actions, macs, sizeof macs / sizeof macs[0]);
    if (f->ok && f->mac_energy < 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, actions->span, "the energies of `%s` lack `compute`", f->mac_name);
    return f->ok;
}
