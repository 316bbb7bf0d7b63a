#include "oracle/refuse.h"

#include "support/limits.h"

bool dfl_oracle_refuse_large(dfl_oracle_machine *machine)
{
    if (!machine->failed)
        dfl_report(machine->sink, DFL_LIMIT_STEPS, machine->mapping->span, "too large to be executed step by step");
    machine->failed = true;
    return false;
}

bool dfl_oracle_spend(dfl_oracle_machine *machine, uint64_t n)
{
    if (machine->failed)
        return false;
    machine->n_steps += n;
    if (!dfl_budget_spend(dfl_arena_budget(machine->arena), n)) {
        machine->failed = true;
        return dfl_report_stop(machine->sink, dfl_arena_budget(machine->arena));
    }
    return machine->n_steps <= DFL_ORACLE_STEPS || dfl_oracle_refuse_large(machine);
}

void dfl_oracle_refuse_unsupported(dfl_oracle_machine *machine, dfl_span span, const char *what)
{
    if (!machine->failed)
        dfl_report(machine->sink, DFL_EVAL_UNSUPPORTED, span, "%s is checked but not executed", what);
    machine->failed = true;
}

void dfl_oracle_refuse_released(dfl_oracle_machine *machine, uint32_t tensor, dfl_span at, const dfl_oracle_keep *keep)
{
    const char *name = dfl_tensor_label(machine->names, &machine->workload->tensors[tensor]);

    if (machine->failed)
        return;
    dfl_diag *d = dfl_report(machine->sink, DFL_MAP_NEEDED_AFTER_RELEASE, at, "elements of `%s` are needed after their release",
                             name);
    dfl_diag_here(machine->sink, d, "they were computed, released and not kept elsewhere");
    dfl_diag_label(machine->sink, d, keep->line->span, "kept here");
    dfl_diag_help(machine->sink, d, "keep `%s` further out, or allow `recompute %s`", name, name);
    machine->failed = true;
}
