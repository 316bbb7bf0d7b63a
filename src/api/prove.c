/* `dflc prove`: executes each mapping of the file and compares the counts with the model. */
#include "prove/prove.h"

#include "api/session.h"

static void report_unused_sizes(dfl_session *s, const dfl_prover *prover)
{
    for (size_t i = 0; i < prover->n_sizes; i++)
        if (!prover->used[i])
            dfl_report(s->sink, DFL_RANK_UNKNOWN, (dfl_span){ 0, 0 }, "no mapping has a rank `%s`", prover->sizes[i].name);
}

dfl_exit dfl_session_prove(dfl_session *s, const char *only, const dfl_size *sizes, size_t n_sizes)
{
    dfl_strbuf out;
    const dfl_prover prover = { .arena = s->arena, .names = s->names, .sink = s->sink, .budget = &s->budget,
                                .sizes = sizes, .n_sizes = n_sizes, .used = DFL_NEW_ARRAY(s->arena, bool, n_sizes + 1),
                                .out = &out };
    uint32_t found = 0;

    dfl_strbuf_init(&out, s->arena);
    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    for (uint32_t i = 0; i < s->program->n_designs && dfl_budget_ok(&s->budget); i++) {
        const dfl_mapping *m = s->program->designs[i].mapping;

        if (!dfl_design_is_selected(&s->program->designs[i], s->names, only))
            continue;
        found++;
        dfl_sink_work_on(s->sink, m->span);
        if (m->has_holes && !dfl_mapping_is_plan(m))
            dfl_strbuf_printf(&out, "%s: not executed, because it has holes: fill them with `dflc map -w`\n",
                              dfl_sym_text(s->names, m->name));
        else
            dfl_prove(&prover, m);
    }
    if (found > 0)
        report_unused_sizes(s, &prover);
    else if (only && !dfl_session_refuse_template(s, only))
        dfl_session_unknown_mapping(s, only);
    s->proof = out.text;
    return dfl_session_status(s);
}
