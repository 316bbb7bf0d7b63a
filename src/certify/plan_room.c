#include "certify/plan_room.h"

/* A tensor that the first stage holds, with the lines that may divide each of its dimensions. */
typedef struct {
    uint32_t tensor;
    uint32_t keep;             /* line of the root that keeps the tensor and names its memory; DFL_NONE = no line does */
    uint32_t n_dims;
    const int64_t *extents;
    bool *lines;               /* [dimension][loop]: the spatial ones, and for activations the temporal ones */
    bool *is_layers;           /* [dimension]: one value for each layer */
    bool is_activation;        /* each micro-batch in flight has its own */
} held_tensor;

struct dfl_plan_room {
    const dfl_mapping *asked;
    held_tensor *held; uint32_t n_held;
    uint32_t *loops, n_loops;  /* lines of the root that are no keeps */
    uint32_t stage_line;       /* line with the stages; DFL_NONE = one stage */
    uint32_t passes;           /* rank of the micro-batches; DFL_NONE = one micro-batch is assumed */
    bool *of_passes;           /* [loop]: it is over this rank */
    dfl_i128 *bits;            /* [memory]: of the present plan */
};

/* ---- which tensors ---- */

static bool is_repeat(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == rank)
            return true;
    return false;
}

/* The line of the root that keeps a tensor; DFL_NONE = none does. */
static uint32_t keep_of(const dfl_mapping *m, uint32_t tensor)
{
    for (uint32_t i = 0; i < m->root->n_lines; i++)
        if (m->root->lines[i].kind == DFL_LINE_KEEP && m->root->lines[i].tensor == tensor)
            return i;
    return DFL_NONE;
}

static bool is_recomputed(const dfl_mapping *m, uint32_t tensor)
{
    for (uint32_t i = 0; i < m->root->n_recompute; i++)
        if (m->root->recompute[i] == tensor)
            return true;
    return false;
}

/* Whether a tensor is made in the forward pass and waits for the backward one, unless it is recomputed. */
static bool is_stored(const dfl_mapping *m, uint32_t tensor)
{
    const dfl_workload *w = m->workload;
    const dfl_tensor *t = &w->tensors[tensor];
    bool is_carried = false, is_read = false;

    if (t->part != DFL_PART_PLAIN || t->gathered || t->n_producers == 0 || t->role != DFL_ROLE_INTERMEDIATE ||
        w->einsums[t->producers[0]].phase != DFL_PHASE_FORWARD)
        return false;
    for (uint32_t c = 0; c < w->n_carries; c++)
        is_carried |= w->carries[c].to == tensor;
    for (uint32_t c = 0; c < t->n_consumers; c++)
        is_read |= w->einsums[t->consumers[c]].phase == DFL_PHASE_BACKWARD;
    return is_read && !is_carried;
}

/* Whether a line divides a rank, or may divide it by an open decision. */
static bool may_divide(const dfl_mapping *asked, const dfl_line *line, uint32_t rank)
{
    const dfl_decision *open = line->rank_decision > 0 ? &asked->decisions[line->rank_decision - 1] : NULL;

    for (uint32_t i = 0; open != NULL && i < open->n; i++)
        if (open->values[i] == rank)
            return true;
    return open == NULL && line->rank == rank;
}

/* Adds to each dimension of a tensor the lines over ranks that some access indexes it with. */
static void add_lines(const dfl_plan_room *room, held_tensor *h, const dfl_access *a)
{
    for (uint32_t d = 0; d < h->n_dims && a->tensor == h->tensor; d++)
        for (uint32_t k = 0; k < a->index[d].n_terms; k++)
            for (uint32_t i = 0; i < room->n_loops; i++) {
                const dfl_line *line = &room->asked->root->lines[room->loops[i]];

                if (may_divide(room->asked, line, a->index[d].terms[k].rank) && line->stages == NULL &&
                    (line->kind == DFL_LINE_SPATIAL || h->is_activation))
                    h->lines[(size_t)d * room->n_loops + i] = true;
            }
}

/* Parts by which a keep splits the home of a tensor. */
static int64_t split_parts(const dfl_mapping *m, uint32_t tensor)
{
    int64_t parts = 1;

    for (uint32_t i = 0; i < m->root->n_lines; i++)
        for (uint32_t k = 0; k < m->root->lines[i].n_splits && m->root->lines[i].tensor == tensor; k++) {
            const dfl_home_split *split = &m->root->lines[i].splits[k];
            const int64_t n = split->by == DFL_BY_PARTS ? split->amount
                                                        : dfl_ceil_div(m->workload->ranks[split->rank].extent, split->amount);

            if (__builtin_mul_overflow(parts, n, &parts))
                return INT64_MAX;
        }
    return parts;
}

/* Sets up a tensor of the layers. Returns whether it has them. */
static bool set_tensor(dfl_arena *arena, const dfl_plan_room *room, uint32_t tensor, bool is_activation, held_tensor *h)
{
    const dfl_workload *w = room->asked->workload;
    const dfl_tensor *t = &w->tensors[tensor];
    const uint32_t layers = room->stage_line != DFL_NONE ? room->asked->root->lines[room->stage_line].rank : DFL_NONE;
    bool has_layers = false;

    *h = (held_tensor){ .tensor = tensor, .keep = keep_of(room->asked, tensor), .n_dims = t->n_dims, .extents = t->extents,
                        .is_activation = is_activation };
    h->lines = DFL_NEW_ARRAY(arena, bool, (size_t)t->n_dims * room->n_loops + 1);
    h->is_layers = DFL_NEW_ARRAY(arena, bool, (size_t)t->n_dims + 1);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;

            add_lines(room, h, a);
            for (uint32_t d = 0; d < t->n_dims && a->tensor == tensor; d++)
                has_layers |= h->is_layers[d] |= layers != DFL_NONE && dfl_index_coef(&a->index[d], layers) != 0;
        }
    return has_layers && h->keep != DFL_NONE;
}

dfl_plan_room *dfl_plan_room_new(dfl_arena *arena, const dfl_mapping *asked)
{
    dfl_plan_room *room = DFL_NEW(arena, dfl_plan_room);
    const dfl_workload *w = asked->workload;

    room->asked = asked;
    room->stage_line = room->passes = DFL_NONE;
    room->held = DFL_NEW_ARRAY(arena, held_tensor, (size_t)w->n_tensors + 1);
    room->bits = DFL_NEW_ARRAY(arena, dfl_i128, (size_t)asked->system->n_memories + 1);
    room->loops = DFL_NEW_ARRAY(arena, uint32_t, (size_t)asked->root->n_lines + 1);
    for (uint32_t i = 0; i < asked->root->n_lines; i++) {
        const dfl_line *line = &asked->root->lines[i];

        if (line->kind != DFL_LINE_KEEP)
            room->loops[room->n_loops++] = i;
        if (line->kind == DFL_LINE_SPATIAL && line->stages != NULL)
            room->stage_line = i;
        if (line->kind == DFL_LINE_TEMPORAL && !is_repeat(w, line->rank))
            room->passes = room->passes == DFL_NONE ? line->rank : room->passes;
    }
    room->of_passes = DFL_NEW_ARRAY(arena, bool, (size_t)room->n_loops + 1);
    for (uint32_t i = 0; i < room->n_loops; i++)
        room->of_passes[i] = asked->root->lines[room->loops[i]].rank == room->passes;
    if (room->stage_line == DFL_NONE)
        return room; /* nothing is known */
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *x = &w->tensors[t];
        const bool is_kept = (x->role == DFL_ROLE_WEIGHT || x->part != DFL_PART_PLAIN) && !x->gathered &&
                             (x->part == DFL_PART_PLAIN || w->tensors[x->of].role == DFL_ROLE_WEIGHT);

        if ((is_kept || is_stored(asked, t)) && set_tensor(arena, room, t, !is_kept, &room->held[room->n_held]))
            room->n_held++;
    }
    return room;
}

/* ---- one plan ---- */

static int64_t parts_of(const dfl_mapping *m, const dfl_line *line)
{
    return line->by == DFL_BY_PARTS ? line->amount : dfl_ceil_div(m->workload->ranks[line->rank].extent, line->amount);
}

/* Values of a dimension on a chip, by those loops of `lines` ([loop]) that are of one kind. */
static int64_t cut(const dfl_plan_room *room, const dfl_mapping *m, const bool *lines, dfl_line_kind kind, int64_t extent)
{
    for (uint32_t i = 0; i < room->n_loops; i++) {
        const dfl_line *line = &m->root->lines[room->loops[i]];

        if (!lines[i] || line->kind != kind)
            continue;
        if (kind == DFL_LINE_SPATIAL || line->by == DFL_BY_PARTS)
            extent = dfl_ceil_div(extent, parts_of(m, line));
        else if (line->amount < extent)
            extent = line->amount;
    }
    return extent;
}

/* The layers of the first stage: its chunks are the first of each round, and the first chunks have one layer more. */
static int64_t first_layers(const dfl_mapping *m, const dfl_line *stages, int64_t parts)
{
    const int64_t layers = m->workload->ranks[stages->rank].extent, chunks = parts * stages->stages->interleave;
    int64_t n = 0;

    for (int64_t c = 0; c < chunks; c += parts)
        n += layers / chunks + (c < layers % chunks);
    return n;
}

/* The micro-batches at least, by the rank of the first temporal line. */
static int64_t count_passes(const dfl_plan_room *room, const dfl_mapping *m)
{
    int64_t local;

    if (room->passes == DFL_NONE)
        return 1;
    local = cut(room, m, room->of_passes, DFL_LINE_SPATIAL, m->workload->ranks[room->passes].extent);
    return dfl_ceil_div(local, cut(room, m, room->of_passes, DFL_LINE_TEMPORAL, local));
}

bool dfl_plan_room_lacks(const dfl_plan_room *room, const dfl_mapping *m)
{
    const dfl_line *stages = room->stage_line != DFL_NONE ? &m->root->lines[room->stage_line] : NULL;
    const int64_t n_stages = stages != NULL ? parts_of(m, stages) : 1, passes = count_passes(room, m);
    const int64_t layers = stages != NULL ? first_layers(m, stages, n_stages) : 0;
    const int64_t in_flight = passes < n_stages ? passes : n_stages; /* every schedule fills the pipeline */
    bool overflow = false;

    for (uint32_t i = 0; i < m->system->n_memories; i++)
        room->bits[i] = 0;
    for (uint32_t t = 0; t < room->n_held; t++) {
        const held_tensor *h = &room->held[t];

        if (h->is_activation && is_recomputed(m, h->tensor))
            continue;
        const int64_t splits = split_parts(m, h->tensor);
        const uint32_t memory = m->root->lines[h->keep].memory; /* outside of the chips: the parts of all chips, no less */
        dfl_i128 n = m->workload->tensors[h->tensor].type.bits;

        for (uint32_t d = 0; d < h->n_dims; d++) {
            const bool *lines = &h->lines[(size_t)d * room->n_loops];
            int64_t values = h->is_layers[d] ? layers : cut(room, m, lines, DFL_LINE_SPATIAL, h->extents[d]);

            if (h->is_activation && !h->is_layers[d])
                values = cut(room, m, lines, DFL_LINE_TEMPORAL, values);
            overflow |= dfl_mul(n, values, &n);
        }
        if (h->is_activation)
            overflow |= dfl_mul(n, in_flight, &n);
        overflow |= dfl_add(room->bits[memory], n / splits, &room->bits[memory]);
    }
    for (uint32_t i = 0; i < m->system->n_memories && !overflow; i++)
        if (m->system->memories[i].size_bits >= 0 && room->bits[i] > m->system->memories[i].size_bits)
            return true;
    return false;
}
