#include "oracle/chips/memory.h"

#include "oracle/chips/outside.h"

/* The dimension of a tensor that has one part for each layer of the stages; DFL_NONE = none. */
static uint32_t layer_dim(const chips *c, uint32_t tensor)
{
    uint32_t rank;

    for (uint32_t e = 0; e < c->w->n_einsums && c->stage_rank != DFL_NONE; e++)
        for (uint32_t i = 0; i <= c->w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < c->w->einsums[e].n_inputs ? &c->w->einsums[e].inputs[i] : &c->w->einsums[e].output;
            const dfl_tensor *t = &c->w->tensors[a->tensor]; /* rows have the dimensions of their table */
            const dfl_index *index = t->gathered ? t->table_index : a->index;

            for (uint32_t d = 0; d < (t->gathered ? t->n_table_dims : a->n_dims) && dfl_chips_holder(c, a->tensor) == tensor; d++)
                if (dfl_index_is_bare(&index[d], &rank) && rank == c->stage_rank)
                    return d;
        }
    return DFL_NONE;
}

/* Whether a stage has the iteration that reads a tensor itself: later ones read what the iteration before them made. */
static bool has_start(const chips *c, uint32_t einsum, uint32_t tensor, uint32_t stage)
{
    const int64_t layers = c->stage_rank == DFL_NONE ? 0 : c->w->ranks[c->stage_rank].extent;

    for (uint32_t k = 0; k < c->w->n_carries; k++)
        if (c->w->carries[k].from == tensor && c->w->carries[k].rank == c->stage_rank && c->einsums[einsum].has_layers)
            return c->stage_of_layer[c->w->carries[k].downwards ? layers - 1 : 0] == stage;
    return true;
}

/* Whether an einsum of a stage reads or writes a tensor. */
static bool is_used(const chips *c, uint32_t tensor, uint32_t stage)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        bool uses = c->einsums[e].target == tensor;

        for (uint32_t i = 0; i < c->w->einsums[e].n_inputs; i++)
            uses |= dfl_chips_holder(c, c->w->einsums[e].inputs[i].tensor) == tensor &&
                    has_start(c, e, c->w->einsums[e].inputs[i].tensor, stage);
        if (uses && (c->einsums[e].stages >> stage & 1) != 0)
            return true;
    }
    return false;
}

element_set dfl_chips_of_stage(const chips *c, uint32_t tensor, uint32_t stage)
{
    const uint32_t dim = layer_dim(c, tensor);
    uint32_t n_dims;
    const int64_t *shape = dfl_chips_shape(c, tensor, &n_dims);
    int64_t behind = 1;
    element_set out;

    if (!is_used(c, tensor, stage))
        return NULL;
    out = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[tensor].n_elem + 1);
    for (uint32_t d = dim == DFL_NONE ? n_dims : dim + 1; d < n_dims; d++)
        behind *= shape[d];
    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++)
        out[i] = dim == DFL_NONE || c->stage_of_layer[(int64_t)i / behind % shape[dim]] == stage;
    return out;
}

/* Elements of a tensor that a chip holds for the whole step: its home, of the layers of its stage. Parts of sums that wait for
   the end of the step lie whole. */
static uint64_t count_home(const chips *c, uint32_t tensor, uint32_t chip)
{
    const chip_tensor *t = &c->tensors[tensor];
    element_set of_stage = dfl_chips_of_stage(c, tensor, chips_stage(c, chip));
    uint64_t n = 0;

    for (uint32_t i = 0; i < t->n_elem && of_stage != NULL; i++) {
        bool is_held = of_stage[i] != 0;

        for (uint32_t g = 0; g < c->n_groups && is_held; g++)
            is_held = t->side[g] == NULL || (t->late >> g & 1) != 0 || t->side[g][chip][i] != 0;
        n += is_held;
    }
    return n;
}

/* The same in the memory of the home; around the chips, with the homes of all chips inside, of the first of them. */
static uint64_t count_at_home(const chips *c, uint32_t tensor, uint32_t chip)
{
    return c->stored_with[tensor] == tensor
               ? dfl_chips_count_outside(c, tensor, chip, dfl_chips_of_stage(c, tensor, chips_stage(c, chip)))
               : count_home(c, tensor, chip);
}

static uint32_t part_of(const chips *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    if (dfl_chips_is_of_step(c, tensor))
        return DFL_HELD_GRADIENTS;
    if (t->part == DFL_PART_MOMENT)
        return DFL_HELD_MOMENTS;
    if (t->role == DFL_ROLE_WEIGHT)
        return DFL_HELD_WEIGHTS;
    if (t->role == DFL_ROLE_STATE)
        return DFL_HELD_CACHE;
    return DFL_N_HELD;
}

void dfl_chips_find_held(chips *c)
{
    const uint32_t n = c->s->n_memories * c->n_stages * DFL_N_HELD;
    dfl_i128 *of_chip = DFL_NEW_ARRAY(c->arena, dfl_i128, (size_t)n + 1);

    c->out->held = DFL_NEW_ARRAY(c->arena, dfl_i128, (size_t)n + 1);
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const uint32_t stage = chips_stage(c, chip);

        for (uint32_t i = 0; i < n; i++)
            of_chip[i] = 0;
        for (uint32_t t = 0; t < c->w->n_tensors; t++) {
            const uint32_t part = part_of(c, t);
            const dfl_i128 bits = c->w->tensors[t].type.bits;

            if (part == DFL_N_HELD || dfl_chips_holder(c, t) != t)
                continue;
            if (c->stored_with[t] == t)
                of_chip[(c->home * c->n_stages + stage) * DFL_N_HELD + part] +=
                    bits * dfl_chips_count_room(c, t, chip, dfl_chips_of_stage(c, t, stage));
            of_chip[(c->home_of[t] * c->n_stages + stage) * DFL_N_HELD + part] += bits * count_at_home(c, t, chip);
        }
        for (uint32_t i = 0; i < n; i++)
            c->out->held[i] = of_chip[i] > c->out->held[i] ? of_chip[i] : c->out->held[i];
    }
}

/* Whether an iteration of a repeat makes other elements than the one before: a condition of some einsum has its number. */
static bool shrinks(const chips *c, uint32_t rank)
{
    bool found = false;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t k = 0; k < c->w->einsums[e].n_where; k++)
            found |= dfl_index_coef(&c->w->einsums[e].where[k].sum, rank) != 0;
    return found;
}

bool dfl_chips_is_given_away(const chips *c, uint32_t tensor)
{
    bool is_output = c->w->tensors[tensor].role == DFL_ROLE_OUTPUT && c->w->tensors[tensor].part == DFL_PART_PLAIN;

    for (uint32_t k = 0; k < c->w->n_carries && is_output; k++)
        if (dfl_einsum_has_rank(&c->w->einsums[c->w->tensors[tensor].producers[0]], c->w->carries[k].rank))
            is_output &= !shrinks(c, c->w->carries[k].rank);

    for (uint32_t g = 0; g < c->w->n_tensors; g++)
        if (c->w->tensors[g].part == DFL_PART_GRADIENT && c->w->tensors[g].n_producers == 0)
            is_output &= c->w->tensors[g].of != tensor;
    return is_output;
}

/* The iterations of the repeat that carries a tensor on; 0 = none does. */
static int64_t carried_layers(const chips *c, uint32_t tensor)
{
    for (uint32_t k = 0; k < c->w->n_carries; k++)
        if (c->w->carries[k].to == tensor)
            return c->w->ranks[c->w->carries[k].rank].extent;
    return 0;
}

bool dfl_chips_leaves(const chips *c, uint32_t tensor, int64_t layer)
{
    const int64_t layers = carried_layers(c, tensor);

    return layers == 0 || layer + 1 == layers;
}

/* Elements of a result of the step that a chip has at home; the iteration that makes an element is its place along the repeat. */
static uint64_t count_given_away(const chips *c, uint32_t tensor, uint32_t chip)
{
    const chip_tensor *t = &c->tensors[tensor];
    const int64_t layers = carried_layers(c, tensor);
    element_set of_stage = dfl_chips_of_stage(c, tensor, chips_stage(c, chip));
    uint32_t n_dims, lead = DFL_NONE, rank;
    const int64_t *shape = dfl_chips_shape(c, tensor, &n_dims);
    const dfl_access *made = &c->w->einsums[c->w->tensors[tensor].producers[0]].output;
    int64_t behind = 1;
    uint64_t n = 0;

    for (uint32_t k = 0; k < c->w->n_carries; k++)
        for (uint32_t d = 0; d < n_dims && c->w->carries[k].to == tensor; d++)
            if (dfl_index_is_bare(&made->index[d], &rank) && rank == c->w->carries[k].rank)
                lead = d;
    for (uint32_t d = lead == DFL_NONE ? n_dims : lead + 1; d < n_dims; d++)
        behind *= shape[d];
    for (uint32_t i = 0; i < t->n_elem && of_stage != NULL; i++) {
        bool is_held = of_stage[i] != 0 && (lead == DFL_NONE || (int64_t)i / behind % shape[lead] + 1 == layers);

        for (uint32_t g = 0; g < c->n_groups && is_held; g++)
            is_held = t->side[g] == NULL || (t->late >> g & 1) != 0 || t->side[g][chip][i] != 0;
        n += is_held;
    }
    return n;
}

dfl_i128 dfl_chips_inputs_of(const chips *c, uint32_t memory, uint32_t chip)
{
    dfl_i128 bits = 0;

    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        const dfl_i128 each = c->w->tensors[t].type.bits;
        const bool is_outside = c->stored_with[t] == t;

        if (dfl_chips_is_given_away(c, t) && !is_outside && c->home_of[t] == memory)
            bits += each * count_given_away(c, t, chip);
        if (c->w->tensors[t].role != DFL_ROLE_INPUT || c->w->tensors[t].part != DFL_PART_PLAIN || dfl_chips_holder(c, t) != t)
            continue;
        if (is_outside && memory == c->home)
            bits += each * dfl_chips_count_room(c, t, chip, dfl_chips_of_stage(c, t, chips_stage(c, chip)));
        if (c->home_of[t] == memory)
            bits += each * count_at_home(c, t, chip);
    }
    return bits;
}
