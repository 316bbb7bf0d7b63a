#include "lint/system.h"

void dfl_lint_array_without_network(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *axis,
                                    const char *axes)
{
    dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_ARRAY_WITHOUT_NETWORK, span,
                                  "axis `%s` has no network: its instances share no transfers", axis);

    dfl_diag_help(sink, d, "declare one before the array and write `over`: `network net = bus { multicast = %s; }`", axes);
}

void dfl_lint_no_energy(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *part, bool is_memory)
{
    dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_NO_ENERGY, span,
                                  "%s `%s` has no energy, other parts of the system have",
                                  is_memory ? "memory" : "compute unit", part);

    dfl_diag_help(sink, d, "its use costs nothing; write `energy = 0pJ/%s;` if that is intended",
                  is_memory ? "bit" : "FLOP");
}

void dfl_lint_attribute_no_effect(dfl_sink *sink, const dfl_lint_levels *levels, dfl_span span, const char *attribute,
                                  const char *part, const char *why)
{
    dfl_diag *d = dfl_report_lint(sink, levels, DFL_LINT_ATTRIBUTE_NO_EFFECT, span, "`%s` has no effect", attribute);

    dfl_diag_help(sink, d, "in `%s`, %s", part, why);
}
