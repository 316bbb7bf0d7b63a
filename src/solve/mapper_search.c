/* Requests to the mapper: what no search finds, and why nothing fits. */
#include "ir/mapping_open.h"
#include "ir/print_check.h"
#include "mapper/conflict/conflict.h"
#include "solve/solve_internal.h"

bool dfl_fill_refuse(const dfl_fill *fill, dfl_span span, const char *what, const char *here, const char *help)
{
    const char *name = dfl_sym_text(fill->solver->names, fill->item.mapping->name);
    dfl_diag *d = dfl_report(fill->sink, DFL_EVAL_HOLE_KIND, span, "%s `%s`", what, name);

    dfl_diag_here(fill->sink, d, "%s", here);
    dfl_diag_help(fill->sink, d, "%s", help);
    return false;
}

bool dfl_fill_refuse_front(const dfl_fill *fill, const char *here, const char *help)
{
    return dfl_fill_refuse(fill, fill->item.mapping->front_span, "no search finds the Pareto set of", here, help);
}

bool dfl_fill_refuse_figure(const dfl_fill *fill, const dfl_objective *o, const dfl_mapping *m)
{
    const uint32_t room = dfl_objective_memory(o, m->system, o->other);
    dfl_strbuf text;
    dfl_diag *d;

    dfl_strbuf_init(&text, fill->solver->arena);
    dfl_val_print(&text, fill->solver->names, o->other);
    d = dfl_report(fill->sink, DFL_EVAL_HOLE_KIND, o->other->span, "no search for the lines of `%s` minimizes `%s`",
                   dfl_sym_text(fill->solver->names, m->name), text.text);
    dfl_diag_here(fill->sink, d, "where lines are open only `energy` and `latency` are minimized");
    dfl_diag_label(fill->sink, d, m->hole_span, "these are open");
    if (room != DFL_NONE && !dfl_mapping_has_open_branches(m))
        dfl_diag_help(fill->sink, d, "`pareto %s, %s;` finds the trade-off, and `require %s <= SIZE;` bounds the peak; or write "
                      "the lines with `?` for tile sizes", o->free ? "latency" : "energy", text.text, text.text);
    else
        dfl_diag_help(fill->sink, d, "bound it with `require %s <= VALUE;`, and minimize expressions over `energy` and "
                      "`latency`; or write the lines with `?` for tile sizes", text.text);
    return false;
}

const dfl_search_result *dfl_fill_search(const dfl_fill *fill, dfl_arena *arena, const dfl_mapping *within,
                                         const dfl_search_request *request)
{
    const dfl_search_result *found = dfl_mapper_search(arena, fill->sink, fill->solver->names, within, request);

    if (found->status == DFL_SEARCH_INFEASIBLE)
        dfl_conflict_explain(arena, fill->sink, fill->solver->names, within, request, found);
    return found;
}

bool dfl_fill_takes_any_tiles(const dfl_fill *fill, const dfl_mapping *m)
{
    const dfl_search_options *o = fill->solver->options;
    dfl_arena *work;
    bool takes;

    if (o->perfect || o->imperfect || o->certificate || fill->space.extensions != 0 || m->n_minimize > 1 || fill->required.n > 0)
        return false;
    work = dfl_arena_new(fill->solver->budget);
    takes = dfl_mapper_wants_any_tiles(work, fill->solver->names, m);
    dfl_arena_free(work);
    return takes;
}
