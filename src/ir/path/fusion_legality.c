#include "ir/path/fusion_legality.h"

static const char *text(const dfl_intern *names, dfl_sym s) { return dfl_sym_text(names, s); }

/* Sets the dimension whose index is exactly `rank`; false if the access has no such dimension. */
static bool find_bare(const dfl_access *a, uint32_t rank, uint32_t *dim)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        uint32_t found;
        if (dfl_index_is_bare(&a->index[d], &found) && found == rank) {
            *dim = d;
            return true;
        }
    }
    return false;
}

void dfl_path_report_early(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_line *line,
                           uint32_t rank, uint32_t e, uint32_t c, bool others)
{
    const dfl_einsum *producer = &m->workload->einsums[e], *reader = &m->workload->einsums[c];
    const char *tensor = text(names, m->workload->tensors[producer->output.tensor].name);
    const char *loop = text(names, m->workload->ranks[rank].name);
    dfl_diag *d = dfl_report(sink, DFL_MAP_CONSUMED_EARLY, line->span,
                             "`%s` is read by einsum `%s` before the loop over `%s` has completed it", tensor,
                             text(names, reader->name), loop);

    dfl_diag_here(sink, d, others ? "an iteration reads elements of `%s` that other iterations produce"
                                  : "every iteration adds to all elements of `%s`", tensor);
    dfl_diag_label(sink, d, producer->span, "produced here");
    dfl_diag_label(sink, d, reader->span, "read here");
    dfl_diag_help(sink, d, "move the loop over `%s` into the branch of `%s`", loop, text(names, producer->name));
}

/* Checks a loop that reader `c` shares with producer `e`. The loop is legal if one of these holds:
     - the producer does not iterate the loop (NEED, IDLE), or has one tile;
     - both einsums iterate the same dimension of the tensor, bare, with equal tiles;
     - the producer sums over the loop's rank, and the loop is `online` (online_legality.h). */
static bool check_shared_loop(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, const dfl_path_step *mine,
                              const dfl_path_step *theirs, uint32_t e, uint32_t c)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_einsum *producer = &m->workload->einsums[e], *reader = &m->workload->einsums[c];
    uint32_t tensor = producer->output.tensor, dim = DFL_NONE, dim_read;

    if (mine->rank == DFL_NONE || mine->tile >= mine->nominal)
        return true;
    if (find_bare(&producer->output, mine->rank, &dim) && theirs->rank != DFL_NONE) {
        bool same = true;
        for (uint32_t i = 0; i < reader->n_inputs; i++)
            if (reader->inputs[i].tensor == tensor)
                same &= find_bare(&reader->inputs[i], theirs->rank, &dim_read) && dim_read == dim;
        if (same && mine->tile == theirs->tile && mine->nominal == theirs->nominal)
            return true;
    }
    if (dim == DFL_NONE && mine->line->online)
        return true;
    dfl_path_report_early(sink, names, m, mine->line, mine->rank, e, c, dim != DFL_NONE);
    return false;
}

bool dfl_path_check_complete(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_workload *w = m->workload;
    bool ok = true;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_path *p = &paths->paths[e];
        const dfl_tensor *t = &w->tensors[w->einsums[e].output.tensor];
        for (uint32_t k = 0; k < t->n_consumers; k++) {
            uint32_t c = t->consumers[k];
            const dfl_path *q = &paths->paths[c];
            if (c == e)
                continue;
            const dfl_body *b = dfl_body_common(p->leaf, q->leaf);
            for (uint32_t i = 0; i < p->n_steps && p->steps[i].body->depth <= b->depth; i++)
                if (p->steps[i].line->kind != DFL_LINE_KEEP)
                    ok &= check_shared_loop(sink, names, paths, &p->steps[i], &q->steps[i], e, c);
            /* children run in text order, so the producer's child must come first */
            const dfl_body *mine = p->leaf, *theirs = q->leaf;
            while (mine->parent != b)
                mine = mine->parent;
            while (theirs->parent != b)
                theirs = theirs->parent;
            if (mine->id <= theirs->id)
                continue;
            dfl_diag *d = dfl_report(sink, DFL_MAP_EINSUM_ORDER, theirs->span, "einsum `%s` runs before `%s`, which it reads",
                                     text(names, w->einsums[c].name), text(names, w->einsums[e].name));
            dfl_diag_label(sink, d, mine->span, "`%s` is produced here", text(names, w->einsums[e].name));
            dfl_diag_help(sink, d, "put the branch of `%s` first", text(names, w->einsums[e].name));
            ok = false;
        }
    }
    return ok;
}
