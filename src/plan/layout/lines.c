#include "plan/layout/lines.h"

int64_t dfl_frame_parts(const dfl_frame *f, const dfl_line *line)
{
    const int64_t extent = f->workload->ranks[line->rank].extent;

    if (!line->cyclic)
        return line->by == DFL_BY_PARTS ? line->amount : dfl_ceil_div(extent, line->amount);
    return f->system->axes[line->axis].size < extent ? f->system->axes[line->axis].size : extent;
}

static bool names_einsum(const dfl_line *line, uint32_t einsum)
{
    for (uint32_t i = 0; i < line->n_only; i++)
        if (line->only[i] == einsum)
            return true;
    return false;
}

bool dfl_line_names(const dfl_line *line, const dfl_workload *w, uint32_t einsum)
{
    const dfl_einsum *e = &w->einsums[einsum];

    return line->only == NULL || names_einsum(line, einsum) ||
           (e->phase == DFL_PHASE_BACKWARD && e->of != DFL_NONE && names_einsum(line, e->of));
}

bool dfl_frame_refuse(const dfl_frame *f, dfl_span span, const char *what, const char *help)
{
    dfl_diag *d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, span, "%s is checked but not evaluated in a plan over chips", what);

    dfl_diag_help(f->sink, d, "%s", help);
    return false;
}
