#include "import/calculon/calculon.h"

#include "import/calculon/calculon_internal.h"
#include "import/calculon/quirks.h"
#include "import/dfl_writer.h"

char *dfl_import_calculon(dfl_arena *arena, dfl_sink *sink, dfl_source_map *map, const dfl_source *const *sources, size_t n)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_loss_report report;
    dfl_loss *losses;
    dfl_calc_run run = { 0 };
    size_t n_losses;
    bool ok;

    if (n != 3) {
        dfl_report(sink, DFL_FOREIGN_SYNTAX, (dfl_span){ sources[0]->base, sources[0]->base },
                   "a run of Calculon has three files: application, execution and system; here are %zu", n);
        return NULL;
    }
    dfl_loss_init(&report, arena, sink, map);
    ok = dfl_calc_read(&run, &report, sources);
    if (budget != NULL && budget->why != DFL_STOP_NONE) {
        dfl_report_stop(sink, budget);
        return NULL;
    }
    if (!ok)
        return NULL;
    dfl_calc_lose_quirks(&run, &report);
    losses = dfl_loss_take(&report, &n_losses);
    return dfl_writer_layout(arena, sink, dfl_calc_print(&run, &report, sources[0], losses, n_losses));
}
