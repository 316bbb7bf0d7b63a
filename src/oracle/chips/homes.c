/*
 * Where the elements of each tensor lie: the chips that have them at home, by the producers, the first reader and the keeps, and
 * which groups exchange the results of the producers.
 */
#include <string.h>

#include "oracle/chips/rows.h"
#include "oracle/chips/windows.h"

bool dfl_chips_makes_parts(const chips *c, uint32_t einsum, uint32_t group)
{
    const chip_einsum *e = &c->einsums[einsum];
    const dfl_line *line = e->divides[group];

    if ((e->rows >> group & 1) != 0 && c->w->tensors[e->einsum->output.tensor].gathered)
        return false; /* each chip makes rows of its own part */
    if ((e->rows >> group & 1) != 0)
        return dfl_chips_uses(c, einsum, &e->einsum->output) > 1 || !dfl_chips_varies_by_rows(c, einsum, &e->einsum->output);
    if (line == NULL)
        return false;
    if (e->einsum->body->kind == DFL_EOP_SCATTER) { /* positions that differ add to the same rows, as do ranks that are summed */
        const dfl_tensor *t = &c->w->tensors[e->einsum->output.tensor];
        const dfl_index *index = t->gathered ? t->table_index : e->einsum->output.index;
        bool has_rank = false;

        for (uint32_t d = 0; d < (t->gathered ? t->n_table_dims : t->n_dims); d++)
            has_rank |= dfl_index_coef(&index[d], line->rank) != 0;
        return !has_rank;
    }
    return !dfl_chips_has_rank(&e->einsum->output, line->rank);
}

/* The union of the sets of all chips at the same place of a group. */
static void project(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group)
{
    chip_tensor *t = &c->tensors[tensor];
    element_set *side = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const uint32_t place = chips_digit(c, chip, group);

        for (uint32_t other = 0; other < chip && side[chip] == NULL; other++)
            side[chip] = chips_digit(c, other, group) == place ? side[other] : NULL;
        if (side[chip] == NULL)
            side[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)t->n_elem + 1);
        for (uint32_t i = 0; i < t->n_elem; i++)
            side[chip][i] |= of_chip[chip][i];
    }
    t->side[group] = side;
    t->along[group] = 0;
}

/* The same, of a set that a group divides along a dimension: chips may have nothing of it. */
static void project_along(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group, uint32_t dim)
{
    project(c, tensor, of_chip, group);
    c->tensors[tensor].along[group] = (uint8_t)(dim + 1);
}

/* Whether the results of an einsum lie where it makes them: a weight lies elsewhere already when its optimizer runs. */
static bool settles(const chips *c, uint32_t einsum, uint32_t tensor)
{
    return c->einsums[einsum].target == tensor && c->w->einsums[einsum].phase != DFL_PHASE_UPDATE;
}

static void find_first_reader(chips *c, uint32_t tensor)
{
    chip_tensor *t = &c->tensors[tensor];

    t->first_reader = DFL_NONE;
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t i = 0; i < c->w->einsums[e].n_inputs * N_READINGS; i++)
            if (c->einsums[e].reads[i].tensor == tensor) {
                t->first_reader = e;
                t->first_operand = i / N_READINGS;
                t->reading = i % N_READINGS;
                return;
            }
}

/* The group of a part of a split home, as the definition of the words says: the first one on its axis with as many chips on which
   the home is not divided, else the first on which no other part lies. */
static uint32_t find_split_group(const chips *c, const chip_tensor *t, const dfl_home_split *split, uint64_t taken)
{
    const int64_t extent = c->w->ranks[split->rank].extent;
    const int64_t parts = split->by == DFL_BY_PARTS ? split->amount : (extent + split->amount - 1) / split->amount;
    uint32_t first = DFL_NONE;

    for (uint32_t g = 0; g < c->n_groups; g++) {
        if (c->groups[g].axis != split->axis || c->groups[g].count != parts || c->groups[g].has_stages ||
            c->groups[g].is_dealt || (taken >> g & 1) != 0)
            continue;
        if (t->side[g] == NULL)
            return g;
        first = first == DFL_NONE ? g : first;
    }
    return first;
}

/* The dimension of a tensor that some einsum indexes by a rank, alone or beside others. */
static uint32_t find_dimension(const chips *c, uint32_t tensor, uint32_t rank)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t i = 0; i <= c->w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < c->w->einsums[e].n_inputs ? &c->w->einsums[e].inputs[i] : &c->w->einsums[e].output;

            const dfl_tensor *t = &c->w->tensors[a->tensor]; /* rows have the dimensions of their table */
            const dfl_index *index = t->gathered ? t->table_index : a->index;

            for (uint32_t d = 0; d < (t->gathered ? t->n_table_dims : a->n_dims) && dfl_chips_holder(c, a->tensor) == tensor; d++)
                if (dfl_index_coef(&index[d], rank) != 0)
                    return d;
        }
    return DFL_NONE;
}

/* Whether a chip has a coordinate of a dimension that some groups divide in their order: into blocks, or dealt round-robin. */
static bool is_of_part(const chips *c, uint32_t chip, int64_t extent, int64_t at, uint64_t groups)
{
    for (uint32_t g = 0; g < c->n_groups; g++) {
        const int64_t n = c->groups[g].count, part = (extent + n - 1) / n;

        if ((groups >> g & 1) == 0)
            continue;
        if ((c->groups[g].is_dealt ? at % n : at / part) != (int64_t)chips_digit(c, chip, g))
            return false;
        at = c->groups[g].is_dealt ? at / n : at % part;
        extent = part;
    }
    return true;
}

/* Divides a dimension of a home among the chips of a group, within what other groups leave of it. Groups nest in their order. */
static void split_home(const chips *c, uint32_t tensor, uint32_t dim, uint32_t group)
{
    chip_tensor *t = &c->tensors[tensor];
    element_set *block = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
    uint64_t groups = UINT64_C(1) << group;
    uint32_t n_dims;
    const int64_t *shape = dfl_chips_shape(c, tensor, &n_dims);
    int64_t behind = 1;

    for (uint32_t d = dim + 1; d < n_dims; d++)
        behind *= shape[d];
    for (uint32_t g = 0; g < c->n_groups; g++)
        groups |= g != group && dfl_chips_divides_dimension(c, tensor, dim, g) ? UINT64_C(1) << g : 0;
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        block[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)t->n_elem + 1);
        for (int64_t i = 0; i < t->n_elem; i += behind) /* elements with one coordinate in the dimension */
            memset(block[chip] + i, is_of_part(c, chip, shape[dim], i / behind % shape[dim], groups), (size_t)behind);
    }
    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((groups >> g & 1) != 0)
            project_along(c, tensor, block, g, dim);
}

/* Whether parts of a gradient are summed once, behind the last pass. */
bool dfl_chips_is_of_step(const chips *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    return t->part == DFL_PART_GRADIENT && c->w->tensors[t->of].role == DFL_ROLE_WEIGHT;
}

/* Whether a group of micro-batches adds to all elements of a sum that no einsum reads: it is complete behind the last one. */
static bool is_unread_sum(const chips *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    for (uint32_t p = 0; p < t->n_producers && t->n_consumers == 0; p++) {
        const dfl_einsum *e = &c->w->einsums[t->producers[p]];

        for (uint32_t k = 0; k < c->n_tiled && e->reduce == DFL_REDUCE_ADD && e->phase != DFL_PHASE_UPDATE; k++)
            if (dfl_einsum_has_rank(e, c->tiled[k]) && !dfl_chips_has_rank(&e->output, c->tiled[k]))
                return true;
    }
    return false;
}

bool dfl_chips_ends_late(const chips *c, uint32_t tensor)
{
    return dfl_chips_is_of_step(c, tensor) || is_unread_sum(c, tensor);
}

/* Whether the first reader of a tensor takes it as rows that data select. */
static bool reads_rows(const chips *c, const chip_tensor *t)
{
    return c->w->tensors[c->w->einsums[t->first_reader].inputs[t->first_operand].tensor].gathered;
}

/* Divides a home as the line does that rows replace for its first reader: the points of the reader come from there. */
static void lay_in_front(const chips *c, uint32_t tensor, uint32_t group)
{
    const chip_tensor *t = &c->tensors[tensor];
    const chip_einsum *e = &c->einsums[t->first_reader];
    const dfl_access *a = &e->einsum->inputs[t->first_operand];
    uint32_t n_dims;

    (void)dfl_chips_shape(c, tensor, &n_dims); /* the iterations of a carried tensor come first */
    for (uint32_t d = 0; d < a->n_dims && e->instead[group] != NULL && dfl_chips_varies_by_rows(c, t->first_reader, a); d++)
        if (dfl_index_coef(&a->index[d], e->instead[group]->rank) != 0)
            split_home(c, tensor, d + n_dims - a->n_dims, group);
}

/* 1 + the dimension of a tensor whose index in an access has the rank that a group divides; 0 = none or several have it, or data
   select it. */
static uint8_t only_dimension(const chips *c, uint32_t einsum, const dfl_access *a, uint32_t tensor, uint32_t group)
{
    const dfl_line *line = c->einsums[einsum].divides[group];
    uint32_t n_dims, out = 0, n = 0;

    (void)dfl_chips_shape(c, tensor, &n_dims); /* iterations may come first */
    for (uint32_t d = 0; d < a->n_dims && line != NULL && !c->w->tensors[a->tensor].gathered; d++)
        if (dfl_index_coef(&a->index[d], line->rank) != 0) {
            out = d + n_dims - a->n_dims + 1;
            n++;
        }
    return n == 1 ? (uint8_t)out : 0;
}

/* The groups that divide the home, by the producers or else by the first reader. */
static void divide_home(chips *c, uint32_t tensor)
{
    chip_tensor *t = &c->tensors[tensor];
    uint32_t first = DFL_NONE;

    for (uint32_t e = c->w->n_einsums; e-- > 0;)
        first = settles(c, e, tensor) ? e : first;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        const chip_reading *by = first != DFL_NONE ? &c->einsums[first].made : NULL;

        if (!dfl_chips_is_work(c, g))
            continue;
        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            if (settles(c, e, tensor) && dfl_chips_makes_parts(c, e, g))
                t->summed |= UINT64_C(1) << g;
        if (by == NULL || (t->summed >> g & 1) != 0)
            by = t->first_reader != DFL_NONE ? &c->einsums[t->first_reader].reads[t->first_operand * N_READINGS + t->reading]
                                             : NULL;
        if (by != NULL && by != &c->einsums[first == DFL_NONE ? 0 : first].made && !reads_rows(c, t) &&
            (c->einsums[t->first_reader].rows >> g & 1) != 0) { /* as if its points did not go to the rows */
            lay_in_front(c, tensor, g);
            continue;
        }
        if (by != NULL && by != &c->einsums[first == DFL_NONE ? 0 : first].made &&
            dfl_chips_window(c, t->first_reader, tensor, g) != DFL_NONE) { /* others have what lies beside its blocks */
            split_home(c, tensor, dfl_chips_window(c, t->first_reader, tensor, g), g);
            continue;
        }
        if (by != NULL && first != DFL_NONE && by == &c->einsums[first].made && (c->einsums[first].rows >> g & 1) != 0 &&
            !c->w->tensors[c->w->einsums[first].output.tensor].gathered) {
            project(c, tensor, by->of_chip, g);
            t->by_rows |= UINT64_C(1) << g;
            t->rows_at = c->einsums[first].rows_at->tensor;
            continue;
        }
        if (by != NULL && first != DFL_NONE && by == &c->einsums[first].made &&
            dfl_chips_written_beside(c, first, g) != DFL_NONE) {
            split_home(c, tensor, dfl_chips_written_beside(c, first, g), g);
            continue;
        }
        if (by == NULL)
            continue;
        const uint32_t einsum = first != DFL_NONE && by == &c->einsums[first].made ? first : t->first_reader;
        const dfl_einsum *e = c->einsums[einsum].einsum;
        const dfl_access *a = by == &c->einsums[einsum].made ? &e->output : &e->inputs[t->first_operand];
        if (!dfl_chips_varies_in(c, einsum, a, tensor, by->of_chip, g) || dfl_chips_overlaps(c, tensor, by->of_chip, g))
            continue;
        project(c, tensor, by->of_chip, g);
        c->tensors[tensor].along[g] = only_dimension(c, einsum, a, tensor, g);
    }
}

/* Takes a group from the dimension that it divides; the others that divide it share the whole of it. */
static void free_group(const chips *c, uint32_t tensor, uint32_t group)
{
    uint32_t n_dims, dim = DFL_NONE;

    (void)dfl_chips_shape(c, tensor, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++)
        dim = dfl_chips_divides_dimension(c, tensor, d, group) ? d : dim;
    c->tensors[tensor].side[group] = NULL;
    c->tensors[tensor].along[group] = 0;
    for (uint32_t g = 0; g < c->n_groups && dim != DFL_NONE; g++)
        if (dfl_chips_divides_dimension(c, tensor, dim, g)) {
            split_home(c, tensor, dim, g);
            return;
        }
}

/* Nests the groups that divide one dimension of a home, in their order; a group alone divides it into blocks. */
static void nest_groups(const chips *c, uint32_t tensor)
{
    uint32_t n_dims;

    (void)dfl_chips_shape(c, tensor, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++) {
        uint32_t first = DFL_NONE;

        for (uint32_t g = c->n_groups; g-- > 0;)
            first = dfl_chips_divides_dimension(c, tensor, d, g) ? g : first;
        if (first != DFL_NONE)
            split_home(c, tensor, d, first);
    }
}

static void split_homes(chips *c, uint32_t tensor)
{
    const dfl_body *root = c->mapping->root;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        uint64_t taken = 0;

        for (uint32_t k = 0; line->kind == DFL_LINE_KEEP && line->tensor == tensor && k < line->n_splits; k++) {
            const uint32_t dim = find_dimension(c, tensor, line->splits[k].rank);
            const uint32_t g = find_split_group(c, &c->tensors[tensor], &line->splits[k], taken);

            if (dim == DFL_NONE || g == DFL_NONE)
                continue;
            taken |= UINT64_C(1) << g;
            c->tensors[tensor].by_rows &= ~(UINT64_C(1) << g); /* points by rows go across to the stated parts */
            free_group(c, tensor, g);
            split_home(c, tensor, dim, g);
        }
        c->tensors[tensor].stated |= taken;
    }
    nest_groups(c, tensor);
}

/* Lays what a repeat carries into its first iteration as what each iteration makes for the next one: the same coordinates
   behind the iteration. */
static void lay_carried(chips *c)
{
    for (uint32_t k = 0; k < c->w->n_carries; k++) {
        const dfl_carry *carry = &c->w->carries[k];
        chip_tensor *from = &c->tensors[carry->from], *to = &c->tensors[carry->to];
        bool is_chain = c->w->tensors[carry->from].n_dims >= c->w->tensors[carry->to].n_dims;

        for (uint32_t g = 0; g < c->n_groups && !is_chain; g++) {
            if (!dfl_chips_is_work(c, g) || (from->stated >> g & 1) != 0)
                continue;
            from->by_rows &= ~(UINT64_C(1) << g);
            from->side[g] = to->side[g] == NULL ? NULL : DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
            for (uint32_t chip = 0; chip < c->n_chips && to->side[g] != NULL; chip++)
                from->side[g][chip] = to->side[g][chip]; /* the part of the first iteration stands first */
            from->along[g] = to->side[g] != NULL && to->along[g] > 1 ? to->along[g] - 1 : 0; /* the iterations are a dimension */
        }
        nest_groups(c, carry->from); /* a stated part is one of what the other groups leave */
    }
}

static void meet_sides(chips *c, uint32_t tensor)
{
    chip_tensor *t = &c->tensors[tensor];

    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        for (uint32_t i = 0; i < t->n_elem; i++) {
            t->home[chip][i] = 1;
            for (uint32_t g = 0; g < c->n_groups; g++)
                t->home[chip][i] &= t->side[g] == NULL || t->side[g][chip][i] != 0;
        }
}

/* Whether the first and the last stage make parts of the same sums: a weight that is used before and behind the layers. */
static bool is_tied(const chips *c, uint32_t tensor)
{
    uint64_t stages = 0;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (settles(c, e, tensor) && c->w->einsums[e].body->kind != DFL_EOP_CONST) {
            if (c->einsums[e].has_layers)
                return false;
            stages |= c->einsums[e].stages;
        }
    return (stages & (stages - 1)) != 0;
}

/* Whether what points by rows make of a tensor goes point by point to its parts at home: fewer points add to an element than
   there are chips. */
static bool comes_back(const chips *c, uint32_t tensor, uint32_t group)
{
    const uint32_t last = c->tensors[tensor].last_producer;
    const chip_einsum *e = &c->einsums[last];

    return (e->rows >> group & 1) != 0 && c->tensors[tensor].side[group] != NULL && e->einsum->body->kind != DFL_EOP_SCATTER &&
           dfl_chips_makes_parts(c, last, group) && dfl_chips_varies_by_rows(c, last, &e->einsum->output) &&
           dfl_chips_uses(c, last, &e->einsum->output) < dfl_chips_instances(c, last);
}

/* Whether an einsum makes a tensor by rows on a group. */
static bool is_made_by_rows(const chips *c, uint32_t tensor, uint32_t group)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->einsums[e].target == tensor && (c->einsums[e].rows >> group & 1) != 0 &&
            !c->w->tensors[c->w->einsums[e].output.tensor].gathered)
            return true;
    return false;
}

/* Which groups exchange the results of the producers of a tensor. */
static void find_results(chips *c, uint32_t tensor)
{
    chip_tensor *t = &c->tensors[tensor];

    t->last_producer = DFL_NONE;
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        t->last_producer = c->einsums[e].target == tensor ? e : t->last_producer;
    if (t->last_producer == DFL_NONE)
        return;
    t->is_tied = c->n_stages > 1 && dfl_chips_is_of_step(c, tensor) && is_tied(c, tensor);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        const uint64_t bit = UINT64_C(1) << g;
        bool is_divided = false;

        for (uint32_t e = 0; e < c->w->n_einsums && !is_divided; e++)
            is_divided = c->einsums[e].target == tensor && dfl_chips_varies(c, tensor, c->einsums[e].made.of_chip, g);

        if (!dfl_chips_is_work(c, g))
            continue;
        if ((t->summed & bit) != 0 && comes_back(c, tensor, g)) {
            t->back |= bit;
        } else if ((t->summed & bit) == 0 && t->side[g] != NULL && (t->by_rows & bit) == 0 &&
                   is_made_by_rows(c, tensor, g)) {
            t->across |= bit;
        } else if ((t->summed & bit) != 0) {
            t->scattered |= t->side[g] != NULL ? bit : 0;
            t->late |= dfl_chips_is_of_step(c, tensor) && (t->stated & bit) == 0 ? bit : 0;
            t->late |= dfl_chips_ends_late(c, tensor) && t->side[g] == NULL ? bit : 0;
        } else if (t->side[g] == NULL && is_divided) {
            t->gathered |= bit;
        }
        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            if (settles(c, e, tensor) && dfl_chips_written_beside(c, e, g) != DFL_NONE)
                t->beside |= bit;
    }
}

void dfl_chips_lay_homes(chips *c)
{
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        if (dfl_chips_holder(c, t) != t)
            continue;
        find_first_reader(c, t);
        divide_home(c, t);
        split_homes(c, t);
    }
    lay_carried(c);
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        if (dfl_chips_holder(c, t) != t)
            continue;
        meet_sides(c, t);
        find_results(c, t);
    }
}
