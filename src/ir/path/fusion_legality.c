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

/* Whether all reads of the producer's result by einsum `c` index dimension `dim` with `rank` alone. */
static bool reads_bare(const dfl_einsum *reader, uint32_t tensor, uint32_t rank, uint32_t dim)
{
    uint32_t found;

    for (uint32_t i = 0; i < reader->n_inputs; i++)
        if (reader->inputs[i].tensor == tensor && !(find_bare(&reader->inputs[i], rank, &found) && found == dim))
            return false;
    return true;
}

/* Whether both einsums iterate the same dimension of the producer's result, bare, with equal tiles. Sets *dim to the
   dimension that the producer iterates bare, if there is one. */
static bool iterate_alike(const dfl_einsum *producer, const dfl_einsum *reader, const dfl_path_step *mine,
                          const dfl_path_step *theirs, uint32_t *dim)
{
    return find_bare(&producer->output, mine->rank, dim) && theirs->rank != DFL_NONE &&
           reads_bare(reader, producer->output.tensor, theirs->rank, *dim) && mine->tile == theirs->tile &&
           mine->nominal == theirs->nominal;
}

/* Checks a loop that einsum `e`, which updates a state, shares with the earlier reader `c` of the state. The reader must
   not find elements that an earlier iteration has updated. */
static bool check_update_after(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, const dfl_path_step *mine,
                               const dfl_path_step *theirs, uint32_t e, uint32_t c)
{
    const dfl_workload *w = paths->mapping->workload;
    const dfl_einsum *producer = &w->einsums[e], *reader = &w->einsums[c];
    uint32_t dim = DFL_NONE;

    if ((mine->rank == DFL_NONE || mine->tile >= mine->nominal) && (theirs->rank == DFL_NONE || theirs->tile >= theirs->nominal))
        return true;
    if (mine->rank != DFL_NONE && iterate_alike(producer, reader, mine, theirs, &dim))
        return true;
    dfl_diag *d = dfl_report(sink, DFL_MAP_CONSUMED_EARLY, mine->line->span,
                             "`%s` is updated by einsum `%s` before einsum `%s` has read it",
                             text(names, w->tensors[producer->output.tensor].name), text(names, producer->name),
                             text(names, reader->name));
    dfl_diag_here(sink, d, "an iteration updates elements that later iterations read");
    dfl_diag_label(sink, d, reader->span, "read here");
    dfl_diag_label(sink, d, producer->span, "updated here");
    dfl_diag_help(sink, d, "move this loop into the branches of both einsums");
    return false;
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
    uint32_t dim = DFL_NONE;

    if (mine->rank == DFL_NONE || mine->tile >= mine->nominal)
        return true;
    if (iterate_alike(producer, reader, mine, theirs, &dim))
        return true;
    if (dim == DFL_NONE && mine->line->online)
        return true;
    dfl_path_report_early(sink, names, m, mine->line, mine->rank, e, c, dim != DFL_NONE);
    return false;
}

/* How a read of an einsum's own state depends on the order of its points. */
typedef struct {
    uint32_t n;                /* ranks along which points read elements that other points update */
    bool ahead, behind;        /* some index lies above, or below, the index of the update */
    bool uneven;               /* some index moves otherwise than the index of the update */
} own_order;

/* Whether points that differ in the rank update and read the same element. */
static bool orders_points(const dfl_access *out, const dfl_access *read, uint32_t rank)
{
    bool indexes = false;

    for (uint32_t d = 0; d < out->n_dims; d++) {
        if (dfl_index_coef(&out->index[d], rank) != dfl_index_coef(&read->index[d], rank))
            return true;
        if (dfl_index_coef(&out->index[d], rank) == 0)
            continue;
        indexes = true;
        if (out->index[d].offset != read->index[d].offset || out->index[d].n_terms > 1)
            return true;
    }
    return !indexes;
}

static own_order find_own_order(const dfl_einsum *einsum, const dfl_access *read)
{
    own_order order = { 0 };

    for (uint32_t k = 0; k < einsum->n_ranks; k++)
        order.n += orders_points(&einsum->output, read, einsum->ranks[k]);
    for (uint32_t d = 0; d < read->n_dims; d++) {
        const dfl_index *out = &einsum->output.index[d], *in = &read->index[d];
        order.ahead |= in->offset > out->offset;
        order.behind |= in->offset < out->offset;
        for (uint32_t k = 0; k < einsum->n_ranks; k++)
            order.uneven |= dfl_index_coef(out, einsum->ranks[k]) != dfl_index_coef(in, einsum->ranks[k]) ||
                            dfl_index_coef(out, einsum->ranks[k]) < 0;
    }
    return order;
}

/* Reports E0409 unless an einsum that reads elements of a state which others of its points update runs these points in
   the order of their ranks. Temporal loops over one rank run in this order. Those over several ranks interleave, which changes
   no value if all elements that are read lie on one side of the updated one. */
static bool check_own_reads(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, uint32_t e)
{
    const dfl_einsum *einsum = &paths->mapping->workload->einsums[e];
    const dfl_path *path = &paths->paths[e];

    for (uint32_t i = 0; i < einsum->n_inputs; i++) {
        const dfl_access *read = &einsum->inputs[i];
        if (read->tensor != einsum->output.tensor)
            continue;
        own_order order = find_own_order(einsum, read);
        bool mixed = order.n > 1 && (order.uneven || (order.ahead && order.behind));
        for (uint32_t s = 0; order.n > 0 && s < path->n_steps; s++) {
            const dfl_path_step *step = &path->steps[s];
            bool spatial = step->line->kind == DFL_LINE_SPATIAL;
            if (step->rank == DFL_NONE || step->tile >= step->nominal || !(spatial || mixed) ||
                !orders_points(&einsum->output, read, step->rank))
                continue;
            const char *tensor = text(names, paths->mapping->workload->tensors[read->tensor].name);
            dfl_diag *d = dfl_report(sink, DFL_MAP_CONSUMED_EARLY, step->line->span,
                                     "`%s` is updated from elements of its own that this loop updates in another order", tensor);
            dfl_diag_label(sink, d, read->span, "read here");
            dfl_diag_help(sink, d, spatial ? "write `temporal` for this rank: its points run one after another"
                                           : "write a workload in which the result has another name than the state");
            return false;
        }
    }
    return true;
}

bool dfl_path_check_complete(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_workload *w = m->workload;
    bool ok = true;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_path *p = &paths->paths[e];
        const dfl_tensor *t = &w->tensors[w->einsums[e].output.tensor];
        ok &= !dfl_tensor_is_updated(t) || check_own_reads(sink, names, paths, e);
        for (uint32_t k = 0; k < t->n_consumers; k++) {
            uint32_t c = t->consumers[k];
            const dfl_path *q = &paths->paths[c];
            if (c == e)
                continue;
            uint32_t first = c < e ? c : e, second = c < e ? e : c; /* an earlier reader of a state comes first */
            const dfl_body *b = dfl_body_common(p->leaf, q->leaf);
            for (uint32_t i = 0; i < p->n_steps && p->steps[i].body->depth <= b->depth; i++)
                if (p->steps[i].line->kind != DFL_LINE_KEEP)
                    ok &= c < e ? check_update_after(sink, names, paths, &p->steps[i], &q->steps[i], e, c)
                                : check_shared_loop(sink, names, paths, &p->steps[i], &q->steps[i], e, c);
            /* children run in text order, so the child of the first einsum must come first */
            const dfl_body *mine = paths->paths[first].leaf, *theirs = paths->paths[second].leaf;
            while (mine->parent != b)
                mine = mine->parent;
            while (theirs->parent != b)
                theirs = theirs->parent;
            if (mine->id <= theirs->id)
                continue;
            dfl_diag *d = dfl_report(sink, DFL_MAP_EINSUM_ORDER, theirs->span,
                                     c < e ? "einsum `%s` runs before `%s`, which reads what it overwrites"
                                           : "einsum `%s` runs before `%s`, which it reads",
                                     text(names, w->einsums[second].name), text(names, w->einsums[first].name));
            dfl_diag_label(sink, d, mine->span, "`%s` is produced here", text(names, w->einsums[first].name));
            dfl_diag_help(sink, d, "put the branch of `%s` first", text(names, w->einsums[first].name));
            ok = false;
        }
    }
    return ok;
}
