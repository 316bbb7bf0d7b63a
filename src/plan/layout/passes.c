#include "plan/layout/passes.h"

#include "plan/layout/lines.h"
#include "plan/layout/rows.h"

static const char *text(const dfl_frame *f, dfl_sym s) { return dfl_sym_text(f->names, s); }

/* The passes of an einsum over its micro-batches. */
static int64_t count_passes(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    int64_t n = 1;

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (!f->repeats[e->ranks[i]])
            n *= dfl_ceil_div(dfl_frame_local(f, einsum, e->ranks[i]), dfl_frame_pass(f, einsum, e->ranks[i]));
    return n;
}

bool dfl_frame_starts_once(const dfl_frame *f, uint32_t einsum)
{
    return dfl_einsum_is_start(&f->workload->einsums[einsum]) && count_passes(f, einsum) == 1 && f->micro_batches > 1;
}

/* Whether micro-batches run an einsum and its points stay where its lines put them: the passes of points that go to rows are
   those of the einsums that they come from, one beside the other. */
static bool runs_in_passes(const dfl_frame *f, uint32_t einsum)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_frame_line(f, einsum, s) != NULL && dfl_frame_goes(f, einsum, s))
            return false;
    return f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE;
}

/* Whether micro-batches may cut a rank of such an einsum. */
static bool may_pass(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    return runs_in_passes(f, einsum) && !f->repeats[rank];
}

/* Whether passes cut such a rank of an einsum: its chips take more than one. */
static bool has_passes(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    return may_pass(f, einsum, rank) && dfl_frame_local(f, einsum, rank) > dfl_frame_pass(f, einsum, rank);
}

/* Refuses micro-batches of a rank that einsums divide among different numbers of chips: a pass of one would read what passes to
   come of another make. An einsum with one pass counts too: a chip would run that pass once, not in each micro-batch. */
static bool check_divided_alike(const dfl_frame *f, uint32_t rank, dfl_span span)
{
    uint32_t first = DFL_NONE;

    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        if (!dfl_einsum_has_rank(&f->workload->einsums[e], rank) || !may_pass(f, e, rank))
            continue;
        if (first == DFL_NONE)
            first = e;
        if (dfl_frame_local(f, e, rank) == dfl_frame_local(f, first, rank) ||
            (!has_passes(f, e, rank) && !has_passes(f, first, rank)))
            continue;
        dfl_diag *d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, span, "micro-batches of `%s` are not evaluated where einsums "
                                 "divide it differently among chips", text(f, f->workload->ranks[rank].name));
        dfl_diag_help(f->sink, d, "divide `%s` alike in all einsums: a chip has %lld of it in `%s` and %lld in `%s`",
                      text(f, f->workload->ranks[rank].name), (long long)dfl_frame_local(f, first, rank),
                      text(f, f->workload->einsums[first].name), (long long)dfl_frame_local(f, e, rank),
                      text(f, f->workload->einsums[e].name));
        return false;
    }
    return true;
}

/* The first rank with passes in an index of an einsum; DFL_NONE = there is none. */
static uint32_t passing_rank(const dfl_frame *f, uint32_t einsum, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (has_passes(f, einsum, index->terms[t].rank))
            return index->terms[t].rank;
    return DFL_NONE;
}

/* Whether a pass over `from` of the index `made` covers the elements that the same pass over `to` of the index `read` touches. */
static bool passes_meet(const dfl_frame *f, uint32_t einsum, const dfl_index *made, uint32_t reader, const dfl_index *read)
{
    uint32_t from, to;

    return dfl_index_is_bare(made, &from) && dfl_index_is_bare(read, &to) &&
           dfl_frame_local(f, einsum, from) == dfl_frame_local(f, reader, to) &&
           dfl_frame_pass(f, einsum, from) == dfl_frame_pass(f, reader, to);
}

/* Refuses micro-batches of which a pass of an einsum reads elements that another pass makes: over one rank of which the indices
   are unlike, as with a window, over two ranks of one loop whose passes are other parts, or all positions of a dimension that
   passes make one after another. `lead`: dimensions of what is made before those that are read. */
static bool check_passes_meet(const dfl_frame *f, uint32_t einsum, uint32_t reader, const dfl_access *read, uint32_t lead,
                              dfl_span span)
{
    const dfl_workload *w = f->workload;

    for (uint32_t d = 0; d < read->n_dims; d++) {
        const dfl_index *made = &w->einsums[einsum].output.index[d + lead];
        const uint32_t from = passing_rank(f, einsum, made), to = passing_rank(f, reader, &read->index[d]);
        dfl_diag *diag;

        if (from == DFL_NONE || (to == DFL_NONE && !runs_in_passes(f, reader)) ||
            (from == to ? dfl_index_equal(made, &read->index[d])
                        : to != DFL_NONE && passes_meet(f, einsum, made, reader, &read->index[d])))
            continue;
        if (from == to || to == DFL_NONE)
            return dfl_frame_refuse(f, read->span, "a read of elements that other micro-batches make",
                                    "divide another rank into micro-batches");
        diag = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, span, "micro-batches over `%s` and `%s` are not evaluated where they "
                          "are other parts of `%s`", text(f, w->ranks[from].name), text(f, w->ranks[to].name),
                          text(f, w->tensors[read->tensor].name));
        dfl_diag_help(f->sink, diag, "divide another rank into micro-batches");
        return false;
    }
    return true;
}

/* The same of a tensor that stands for what an einsum reads. */
static bool check_makers(const dfl_frame *f, uint32_t tensor, uint32_t reader, const dfl_access *read, dfl_span span)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (!check_passes_meet(f, t->producers[p], reader, read, t->n_dims - read->n_dims, span))
            return false;
    return true;
}

/* The same for all tensors, and for those that repeats carry to a reader. */
static bool check_all_meet(const dfl_frame *f, dfl_span span)
{
    const dfl_workload *w = f->workload;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *read = &w->einsums[e].inputs[i];

            if (!check_makers(f, read->tensor, e, read, span))
                return false;
            for (uint32_t c = 0; c < w->n_carries; c++)
                if (w->carries[c].from == read->tensor && dfl_einsum_has_rank(&w->einsums[e], w->carries[c].rank) &&
                    !check_makers(f, w->carries[c].to, e, read, span))
                    return false;
        }
    return true;
}

/* Refuses outputs of a training step, which the loss takes with their micro-batches, that are sums over some of the passes while
   others make parts of them: a chip would have the parts of all passes until the last one. */
static bool check_outputs(const dfl_frame *f)
{
    const dfl_workload *w = f->workload;
    bool is_training = false;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        is_training |= w->einsums[e].phase == DFL_PHASE_BACKWARD;
    for (uint32_t e = 0; e < w->n_einsums && is_training; e++) {
        const dfl_einsum *einsum = &w->einsums[e];
        bool is_summed = false, is_parted = false;

        for (uint32_t i = 0; i < einsum->n_ranks && w->tensors[einsum->output.tensor].role == DFL_ROLE_OUTPUT; i++)
            if (has_passes(f, e, einsum->ranks[i]))
                *(dfl_access_has_rank(&einsum->output, einsum->ranks[i]) ? &is_parted : &is_summed) = true;
        if (is_summed && is_parted)
            return dfl_frame_refuse(f, einsum->span, "an output of a training step that is a sum over some micro-batches, and of "
                                    "which others make parts", "divide the ranks of the output alone into micro-batches");
    }
    return true;
}

bool dfl_passes_count(dfl_frame *f)
{
    const dfl_body *root = f->mapping->root;
    dfl_span span = f->mapping->span;

    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_TEMPORAL && !f->repeats[root->lines[i].rank]) {
            span = root->lines[i].span;
            break;
        }
    f->micro_batches = 1;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        int64_t n = f->workload->einsums[e].phase == DFL_PHASE_UPDATE ? 1 : count_passes(f, e);

        if (n != 1 && f->micro_batches != 1 && n != f->micro_batches) {
            dfl_diag *d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, span, "einsums with %lld and with %lld micro-batches are "
                                     "checked but not evaluated in a plan over chips", (long long)f->micro_batches, (long long)n);
            dfl_diag_help(f->sink, d, "divide the ranks of the micro-batches alike in all einsums; `%s` has %lld",
                          text(f, f->workload->einsums[e].name), (long long)n);
            return false;
        }
        f->micro_batches = n > f->micro_batches ? n : f->micro_batches;
    }
    for (uint32_t r = 0; r < f->workload->n_ranks; r++)
        if (!check_divided_alike(f, r, span))
            return false;
    return check_all_meet(f, span) && check_outputs(f);
}
