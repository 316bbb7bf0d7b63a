#include "oracle/chips/outside.h"

/* ---- which memory is that of a chip ---- */

/* The element of the memory of a `keep`; DFL_NONE = another line. */
static uint32_t kept_element(const chips *c, const dfl_line *line)
{
    return line->kind == DFL_LINE_KEEP ? c->s->memories[line->memory].element : DFL_NONE;
}

/* Whether a line or a part of a home divides an axis. */
static bool is_divided(const chips *c, uint32_t axis)
{
    const dfl_body *root = c->mapping->root;
    bool found = false;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        found |= root->lines[i].kind == DFL_LINE_SPATIAL && root->lines[i].axis == axis;
        for (uint32_t k = 0; k < root->lines[i].n_splits; k++)
            found |= root->lines[i].splits[k].axis == axis;
    }
    return found;
}

/* Whether each chip of the arrays between two elements gets work of its own. */
static bool divides_between(const chips *c, uint32_t outer, uint32_t inner)
{
    bool all = true;

    for (uint32_t a = 0; a < c->s->n_axes; a++)
        if (c->s->axes[a].size > 1 && dfl_axis_encloses(c->s, a, inner) && !dfl_axis_encloses(c->s, a, outer))
            all &= is_divided(c, a);
    return all;
}

uint32_t dfl_chips_find_home(const chips *c)
{
    const dfl_body *root = c->mapping->root;
    uint32_t home = DFL_NONE;

    for (uint32_t m = c->s->n_memories; m-- > 0;) /* the outermost one stands first */
        if (dfl_memory_is_in_array(c->s, m) && !c->s->elements[c->s->memories[m].element].side)
            home = m;
    for (uint32_t i = 0; i < root->n_lines && home != DFL_NONE; i++) {
        const uint32_t chip = c->s->memories[home].element, kept = kept_element(c, &root->lines[i]);

        if (kept == DFL_NONE || kept == chip || c->s->elements[kept].side || !dfl_element_within(c->s, kept, chip) ||
            !divides_between(c, chip, kept))
            continue;
        for (uint32_t m = c->s->n_memories; m-- > 0;)
            home = c->s->memories[m].element == kept ? m : home;
    }
    return home;
}

const dfl_line *dfl_chips_find_beside(const chips *c)
{
    const uint32_t chip = c->s->memories[c->home].element;

    for (uint32_t i = 0; i < c->mapping->root->n_lines; i++) {
        const uint32_t kept = kept_element(c, &c->mapping->root->lines[i]);

        if (kept != DFL_NONE && kept != chip && !dfl_element_within(c->s, chip, kept))
            return &c->mapping->root->lines[i];
    }
    return NULL;
}

/* ---- the homes of tensors ---- */

/* Whether the backward pass reads what the forward pass makes of a tensor. */
static bool waits_for_backward(const chips *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    if (t->n_producers == 0 || c->w->einsums[t->producers[0]].phase != DFL_PHASE_FORWARD || c->recomputed[tensor] ||
        (t->role != DFL_ROLE_INTERMEDIATE && t->role != DFL_ROLE_OUTPUT))
        return false;
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        const dfl_einsum *x = &c->w->einsums[e];
        const bool runs = x->phase == DFL_PHASE_BACKWARD || (x->phase == DFL_PHASE_FORWARD && c->recomputed[x->output.tensor]);

        for (uint32_t i = 0; i < x->n_inputs && runs; i++) {
            const uint32_t carry = dfl_chips_carried(c, e, x->inputs[i].tensor);

            if ((carry != DFL_NONE ? c->w->carries[carry].to : x->inputs[i].tensor) == tensor)
                return true;
        }
    }
    return false;
}

static bool is_outside(const chips *c, uint32_t tensor)
{
    return c->s->memories[c->home_of[tensor]].element != c->s->memories[c->home].element;
}

void dfl_chips_find_homes(chips *c)
{
    const dfl_body *root = c->mapping->root;
    bool *is_kept = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_tensors + 1);

    c->home_of = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->w->n_tensors + 1);
    c->stored_with = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->w->n_tensors + 1);
    for (uint32_t t = 0; t < c->w->n_tensors; t++)
        c->home_of[t] = c->home;
    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_KEEP) {
            c->home_of[root->lines[i].tensor] = root->lines[i].memory;
            is_kept[root->lines[i].tensor] = true;
        }
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        const dfl_tensor *x = &c->w->tensors[t];

        if (!is_kept[t] && x->part == DFL_PART_GRADIENT && c->w->tensors[x->of].role != DFL_ROLE_WEIGHT)
            c->home_of[t] = c->home_of[x->of]; /* the gradient of what is no weight lies with its tensor */
    }
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        const dfl_tensor *x = &c->w->tensors[t];
        const bool may_be_outside = x->role == DFL_ROLE_WEIGHT || x->part == DFL_PART_MOMENT ||
                                    (x->role == DFL_ROLE_INPUT && x->part == DFL_PART_PLAIN) || waits_for_backward(c, t);

        if (is_outside(c, t) && !may_be_outside)
            c->home_of[t] = c->home;
    }
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        c->stored_with[t] = is_outside(c, t) ? t : DFL_NONE;
        for (uint32_t k = 0; k < c->w->n_carries; k++) /* what starts a repeat lies with what its layers carry on */
            if (c->stored_with[t] == DFL_NONE && c->w->carries[k].from == t && is_outside(c, c->w->carries[k].to))
                c->stored_with[t] = c->w->carries[k].to;
    }
}

/* ---- what lies outside ---- */

uint32_t dfl_chips_first_inside(const chips *c, uint32_t memory, uint32_t chip)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (!dfl_axis_encloses(c->s, c->groups[g].axis, c->s->memories[memory].element))
            chip = dfl_chips_move_chip(c, chip, g, 0);
    return chip;
}

void dfl_chips_add_outside(const chips *c, uint32_t value, uint32_t element, uint64_t stages)
{
    const chip_value *v = &c->values.at[value];
    const uint32_t with = c->stored_with[v->tensor];

    for (uint32_t chip = 0; chip < c->n_chips && with != DFL_NONE; chip++) {
        const uint32_t first = dfl_chips_first_inside(c, c->home_of[with], chip);
        bool is_new = c->tensors[v->tensor].home[chip][element] != 0 && (stages >> chips_stage(c, chip) & 1) != 0;

        for (uint32_t other = 0; other < chip && is_new; other++)
            is_new = c->tensors[v->tensor].home[other][element] == 0 ||
                     dfl_chips_first_inside(c, c->home_of[with], other) != first;
        v->outside[first] += is_new;
    }
}

void dfl_chips_send_outside(const chips *c, uint32_t value, uint32_t element, uint32_t chip)
{
    const chip_value *v = &c->values.at[value];
    const uint32_t with = c->stored_with[v->tensor];
    bool is_new = with != DFL_NONE;
    uint32_t first;

    if (!is_new)
        return;
    first = dfl_chips_first_inside(c, c->home_of[with], chip);
    for (uint32_t other = 0; other < c->n_chips && is_new; other++)
        is_new = other == chip || c->tensors[v->tensor].has[other][element] == 0 ||
                 dfl_chips_first_inside(c, c->home_of[with], other) != first;
    v->outside[first] += is_new;
}

/* Whether a chip has an element at home, of the elements that its stage uses. */
static bool is_at_home(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *of_stage, uint32_t element)
{
    return of_stage[element] != 0 && c->tensors[tensor].home[chip][element] != 0;
}

uint64_t dfl_chips_count_outside(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *of_stage)
{
    const uint32_t memory = c->home_of[tensor];
    uint64_t n = 0;

    if (of_stage == NULL || dfl_chips_first_inside(c, memory, chip) != chip)
        return 0;
    for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++) {
        bool found = false;

        for (uint32_t other = 0; other < c->n_chips && !found; other++)
            found = dfl_chips_first_inside(c, memory, other) == chip && is_at_home(c, tensor, other, of_stage, i);
        n += found;
    }
    return n;
}

void dfl_chips_note_input(chips *c, uint32_t tensor, uint32_t element, int64_t micro_batch)
{
    chip_tensor *t = &c->tensors[tensor];

    if (!is_outside(c, tensor) || c->w->tensors[tensor].role != DFL_ROLE_INPUT)
        return;
    if (t->read_in == NULL)
        t->read_in = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)t->n_elem * (size_t)c->micro_batches + 1);
    t->read_in[(size_t)micro_batch * t->n_elem + element] = 1;
}

/* The most elements at home on a chip that a micro-batch reads of an input, twice if there is another one. */
static uint64_t count_input(const chips *c, uint32_t tensor, uint32_t chip)
{
    const chip_tensor *t = &c->tensors[tensor];
    uint64_t most = 0;

    for (int64_t m = 0; m < c->micro_batches && t->read_in != NULL; m++) {
        uint64_t n = 0;

        for (uint32_t i = 0; i < t->n_elem; i++)
            n += t->read_in[(size_t)m * t->n_elem + i] != 0 && t->home[chip][i] != 0;
        most = n > most ? n : most;
    }
    return c->micro_batches < 2 ? most : 2 * most;
}

/* The dimension of a tensor that has one part for each layer; DFL_NONE = none. */
static uint32_t find_layers(const chips *c, uint32_t tensor)
{
    uint32_t rank;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t i = 0; i <= c->w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < c->w->einsums[e].n_inputs ? &c->w->einsums[e].inputs[i] : &c->w->einsums[e].output;

            for (uint32_t d = 0; d < a->n_dims && a->tensor == tensor; d++)
                if (dfl_index_is_bare(&a->index[d], &rank) && c->repeats[rank])
                    return d;
        }
    return DFL_NONE;
}

uint64_t dfl_chips_count_room(const chips *c, uint32_t tensor, uint32_t chip, const uint8_t *of_stage)
{
    const uint32_t dim = find_layers(c, tensor);
    const int64_t layers = dim == DFL_NONE ? 1 : c->w->tensors[tensor].extents[dim];
    uint64_t first = 0, second = 0;

    if (c->w->tensors[tensor].role == DFL_ROLE_INPUT)
        return of_stage != NULL ? count_input(c, tensor, chip) : 0;
    for (int64_t layer = 0; layer < layers && of_stage != NULL; layer++) {
        uint64_t n = 0;

        for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++)
            n += (dim == DFL_NONE || dfl_chips_coordinate(c, tensor, i, dim) == layer) &&
                 is_at_home(c, tensor, chip, of_stage, i);
        second = n > first ? first : n > second ? n : second;
        first = n > first ? n : first;
    }
    return first + second;
}
