#include "prove/attempt.h"

#include "support/limits.h"

dfl_budget dfl_attempt_budget(const dfl_prover *prover)
{
    const uint64_t limit = prover->budget->steps_limit;

    return (dfl_budget){ .steps_limit = limit < DFL_PROVE_STEPS ? limit : DFL_PROVE_STEPS, .memory_limit = DFL_PROVE_MEMORY,
                         .cancel = prover->budget->cancel };
}

void dfl_attempt_write_sizes(const dfl_prover *prover, const dfl_workload *written, const int64_t *extents)
{
    const char *between = "";

    dfl_strbuf_z(prover->out, "sizes: ");
    for (uint32_t r = 0; r < written->n_ranks; r++) {
        dfl_strbuf_printf(prover->out, "%s%s %lld", between, dfl_sym_text(prover->names, written->ranks[r].name),
                          (long long)extents[r]);
        if (extents[r] != written->ranks[r].extent)
            dfl_strbuf_printf(prover->out, " (of %lld)", (long long)written->ranks[r].extent);
        between = ", ";
    }
    dfl_strbuf_char(prover->out, '\n');
}

void dfl_attempt_pass_on_errors(const dfl_prover *prover, const dfl_sink *from)
{
    for (size_t i = 0; i < dfl_sink_count(from); i++) {
        const dfl_diag *d = dfl_sink_at(from, i);
        dfl_diag *copy;

        if (d->severity < DFL_ERROR)
            continue;
        copy = dfl_report(prover->sink, d->code, d->span, "%s", d->message);
        if (d->label)
            dfl_diag_here(prover->sink, copy, "%s", d->label);
        for (const dfl_label *l = d->labels; l; l = l->next)
            dfl_diag_label(prover->sink, copy, l->span, "%s", l->text);
        dfl_diag_note(prover->sink, copy, "at the small sizes of the proof");
        if (d->help)
            dfl_diag_help(prover->sink, copy, "%s", d->help);
    }
}
