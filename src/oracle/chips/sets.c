/*
 * What each chip reads, makes and holds, as sets of elements over a whole step. Where the sets of two chips of a group differ,
 * the group divides the tensor; where they are equal although the chips compute different points, the group makes parts of a sum.
 */
#include <string.h>

#include "oracle/chips/chips_internal.h"

/* ---- sets of chips ---- */

/* Marks the elements of an access at the present point; all rows for what data selects. */
static void mark_point(chips *c, uint32_t einsum, uint32_t chip, const dfl_access *a, bool carried, element_set out)
{
    const uint32_t holder = dfl_chips_holder(c, a->tensor);
    uint32_t tensor, n_dims;
    int64_t rows = 1, element;

    if (c->w->tensors[a->tensor].gathered) { /* the position of a row takes all its values */
        const int64_t *shape = dfl_chips_shape(c, holder, &n_dims);

        for (uint32_t d = 0; d < n_dims; d++)
            rows = shape[d] > rows ? shape[d] : rows;
        for (int64_t row = 0; row < rows; row++) {
            if (c->einsums[einsum].rows_group != DFL_NONE && !dfl_chips_has_row(c, einsum, chip, row))
                continue;
            element = dfl_chips_element(c, einsum, a, row, false, &tensor);
            if (element >= 0)
                out[element] = 1;
        }
        return;
    }
    element = dfl_chips_element(c, einsum, a, -1, carried, &tensor);
    if (element >= 0)
        out[element] = 1;
}

/* The chip with the same block that comes first, itself if there is none before it. */
static uint32_t first_equal(const chips *c, uint32_t einsum, uint32_t chip)
{
    const chip_einsum *e = &c->einsums[einsum];
    const size_t n = c->w->n_ranks;

    for (uint32_t other = 0; other < chip; other++)
        if ((e->rows_group == DFL_NONE || chips_digit(c, other, e->rows_group) == chips_digit(c, chip, e->rows_group)) &&
            memcmp(&e->lo[other * n], &e->lo[chip * n], n * sizeof *e->lo) == 0 &&
            memcmp(&e->hi[other * n], &e->hi[chip * n], n * sizeof *e->hi) == 0)
            return other;
    return chip;
}

/* Marks what the present point touches. A chip has its part of a table even if no point of it goes there. */
static void mark_accesses(chips *c, uint32_t einsum, uint32_t chip)
{
    chip_einsum *e = &c->einsums[einsum];
    const bool takes = dfl_chips_takes(c, einsum, chip);

    if (takes || c->w->tensors[e->einsum->output.tensor].gathered)
        mark_point(c, einsum, chip, &e->einsum->output, false, e->made.of_chip[chip]);
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
        const dfl_access *a = &e->einsum->inputs[i];
        const bool carried = dfl_chips_is_carried(c, einsum, a);

        if (takes || c->w->tensors[a->tensor].gathered)
            mark_point(c, einsum, chip, a, carried, e->reads[i * N_READINGS + carried].of_chip[chip]);
    }
}

/* Finds the sets of all accesses of an einsum on all chips. */
static bool find_readings(chips *c, uint32_t einsum)
{
    chip_einsum *e = &c->einsums[einsum];
    const uint32_t n = e->einsum->n_inputs;

    e->reads = DFL_NEW_ARRAY(c->arena, chip_reading, (size_t)n * N_READINGS + 1);
    e->made.tensor = e->target;
    e->made.of_chip = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
    for (uint32_t i = 0; i < n; i++) {
        const dfl_access *a = &e->einsum->inputs[i];
        const uint32_t carry = dfl_chips_carried(c, einsum, a->tensor);

        e->reads[i * N_READINGS].tensor = dfl_chips_holder(c, a->tensor);
        e->reads[i * N_READINGS].by_rows = c->w->tensors[a->tensor].gathered;
        e->reads[i * N_READINGS + READING_CARRIED].tensor = carry != DFL_NONE ? c->w->carries[carry].to : DFL_NONE;
        for (uint32_t k = 0; k < N_READINGS; k++)
            e->reads[i * N_READINGS + k].of_chip = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
    }
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const uint32_t same = first_equal(c, einsum, chip);
        const int64_t *lo = &e->lo[(size_t)chip * c->w->n_ranks], *hi = &e->hi[(size_t)chip * c->w->n_ranks];

        for (uint32_t i = 0; i <= n * N_READINGS; i++) {
            chip_reading *r = i < n * N_READINGS ? &e->reads[i] : &e->made;

            r->of_chip[chip] = r->tensor == DFL_NONE ? NULL : same < chip ? r->of_chip[same]
                               : DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[r->tensor].n_elem + 1);
        }
        for (bool more = same == chip && dfl_chips_first(c, einsum, lo, hi, -1); more;
             more = dfl_chips_next(c, einsum, lo, hi, -1)) {
            if (dfl_chips_has_point(c, einsum))
                mark_accesses(c, einsum, chip);
        }
        if (c->failed || !dfl_budget_ok(dfl_arena_budget(c->arena)))
            return false;
    }
    return true;
}

/* ---- how groups divide ---- */

/* The chip at another place of a group. */
static uint32_t move_chip(const chips *c, uint32_t chip, uint32_t group, uint32_t place)
{
    int64_t behind = 1;

    for (uint32_t g = group + 1; g < c->n_groups; g++)
        behind *= c->groups[g].count;
    return (uint32_t)((int64_t)chip + ((int64_t)place - (int64_t)chips_digit(c, chip, group)) * behind);
}

static bool is_same_set(const chips *c, uint32_t tensor, element_set a, element_set b)
{
    return a == b || memcmp(a, b, c->tensors[tensor].n_elem) == 0;
}

/* Whether chips of a group have different sets. */
static bool varies(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group)
{
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        if (!is_same_set(c, tensor, of_chip[chip], of_chip[move_chip(c, chip, group, 0)]))
            return true;
    return false;
}

/* Whether sets of chips of a group overlap without being equal. */
static bool overlaps(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group)
{
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        for (uint32_t place = 0; place < chips_digit(c, chip, group); place++) {
            const element_set a = of_chip[chip], b = of_chip[move_chip(c, chip, group, place)];

            if (is_same_set(c, tensor, a, b))
                continue;
            for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++)
                if (a[i] != 0 && b[i] != 0)
                    return true;
        }
    return false;
}

static bool is_work(const chips *c, uint32_t group) { return !c->groups[group].has_stages && c->groups[group].count > 1; }

/* Whether the result of an einsum lacks a rank of its positions. */
static bool lacks_position(const dfl_einsum *e, const dfl_access *positions)
{
    for (uint32_t p = 0; p < positions->n_dims; p++)
        for (uint32_t k = 0; k < positions->index[p].n_terms; k++) {
            bool has = false;

            for (uint32_t d = 0; d < e->output.n_dims; d++)
                has |= dfl_index_coef(&e->output.index[d], positions->index[p].terms[k].rank) != 0;
            if (!has)
                return true;
        }
    return false;
}

/* Whether each chip of a group makes parts of the same sums: it divides a rank that no index of the result has. */
static bool makes_parts(const chips *c, uint32_t einsum, uint32_t group)
{
    const chip_einsum *e = &c->einsums[einsum];
    const dfl_line *line = e->divides[group];

    if (e->rows_group == group)
        return e->einsum->body->kind != DFL_EOP_SCATTER && lacks_position(e->einsum, &e->einsum->inputs[e->rows_at]);
    if (line == NULL)
        return false;
    if (e->einsum->body->kind == DFL_EOP_SCATTER) { /* positions that differ add to the same rows */
        const dfl_access *position = &e->einsum->inputs[e->einsum->body->args[1]->operand];

        const dfl_tensor *t = &c->w->tensors[e->einsum->output.tensor];
        const dfl_index *index = t->gathered ? t->table_index : e->einsum->output.index;
        bool is_position = false;

        for (uint32_t d = 0; d < position->n_dims; d++)
            is_position |= dfl_index_coef(&position->index[d], line->rank) != 0;
        for (uint32_t d = 0; d < (t->gathered ? t->n_table_dims : t->n_dims); d++)
            is_position &= dfl_index_coef(&index[d], line->rank) == 0;
        return is_position;
    }
    for (uint32_t d = 0; d < e->einsum->output.n_dims; d++)
        if (dfl_index_coef(&e->einsum->output.index[d], line->rank) != 0)
            return false;
    return true;
}

/* ---- homes ---- */

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
        if (c->groups[g].axis != split->axis || c->groups[g].count != parts || c->groups[g].has_stages || (taken >> g & 1) != 0)
            continue;
        if (t->side[g] == NULL)
            return g;
        first = first == DFL_NONE ? g : first;
    }
    return first;
}

/* The dimension of a tensor that some einsum indexes by a rank alone. */
static uint32_t find_dimension(const chips *c, uint32_t tensor, uint32_t rank)
{
    uint32_t bare;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t i = 0; i <= c->w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < c->w->einsums[e].n_inputs ? &c->w->einsums[e].inputs[i] : &c->w->einsums[e].output;

            for (uint32_t d = 0; d < a->n_dims && a->tensor == tensor; d++)
                if (dfl_index_is_bare(&a->index[d], &bare) && bare == rank)
                    return d;
        }
    return DFL_NONE;
}

/* The coordinate of an element in a dimension. */
static int64_t coordinate(const chips *c, uint32_t tensor, uint32_t element, uint32_t dim)
{
    uint32_t n_dims;
    const int64_t *shape = dfl_chips_shape(c, tensor, &n_dims);
    int64_t behind = 1;

    for (uint32_t d = dim + 1; d < n_dims; d++)
        behind *= shape[d];
    return (int64_t)element / behind % shape[dim];
}

static bool is_empty(const chips *c, uint32_t tensor, element_set set)
{
    return c->tensors[tensor].n_elem == 0 || memchr(set, 1, c->tensors[tensor].n_elem) == NULL;
}

/* Whether a group divides a dimension in sets of chips: some chip has other coordinates than the first one. NULL = everything.
   The last parts may be empty, which says nothing of a dimension; if only the first has elements, a dimension of extent 1 is
   divided. */
static bool divides_in(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t dim, uint32_t group)
{
    const chip_tensor *t = &c->tensors[tensor];
    uint32_t n_dims, n_full = 0;
    const int64_t extent = dfl_chips_shape(c, tensor, &n_dims)[dim];

    for (uint32_t place = 1; place < c->groups[group].count && of_chip != NULL; place++) {
        const element_set a = of_chip[0], b = of_chip[move_chip(c, 0, group, place)];

        if (is_empty(c, tensor, b))
            continue;
        n_full++;
        for (int64_t x = 0; x < extent; x++) {
            bool in_a = false, in_b = false;

            for (uint32_t i = 0; i < t->n_elem; i++)
                if (coordinate(c, tensor, i, dim) == x) {
                    in_a |= a[i] != 0;
                    in_b |= b[i] != 0;
                }
            if (in_a != in_b)
                return true;
        }
    }
    return of_chip != NULL && n_full == 0 && c->groups[group].count > 1 && extent == 1;
}

/* Whether a group divides a dimension of a home. */
static bool divides_dimension(const chips *c, uint32_t tensor, uint32_t dim, uint32_t group)
{
    return (c->tensors[tensor].by_rows >> group & 1) == 0 && divides_in(c, tensor, c->tensors[tensor].side[group], dim, group);
}

/* Divides a dimension of a home among the chips of a group, within what other groups leave of it. Groups nest in their order. */
static void split_home(const chips *c, uint32_t tensor, uint32_t dim, uint32_t group)
{
    chip_tensor *t = &c->tensors[tensor];
    element_set *block = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
    uint64_t groups = UINT64_C(1) << group;
    uint32_t n_dims;

    for (uint32_t g = 0; g < c->n_groups; g++)
        groups |= g != group && divides_dimension(c, tensor, dim, g) ? UINT64_C(1) << g : 0;
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        int64_t part = dfl_chips_shape(c, tensor, &n_dims)[dim], lo = 0, hi = part;

        for (uint32_t g = 0; g < c->n_groups; g++)
            if ((groups >> g & 1) != 0) {
                part = (part + c->groups[g].count - 1) / c->groups[g].count;
                lo += chips_digit(c, chip, g) * part;
                hi = hi < lo + part ? hi : lo + part;
            }
        block[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)t->n_elem + 1);
        for (uint32_t i = 0; i < t->n_elem; i++)
            block[chip][i] = coordinate(c, tensor, i, dim) >= lo && coordinate(c, tensor, i, dim) < hi;
    }
    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((groups >> g & 1) != 0)
            project(c, tensor, block, g);
}

/* Whether parts of a gradient are summed once, behind the last pass. */
bool dfl_chips_is_of_step(const chips *c, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    return t->part == DFL_PART_GRADIENT && c->w->tensors[t->of].role == DFL_ROLE_WEIGHT;
}

/* The groups that divide the home, by the producers or else by the first reader. */
static bool divide_home(chips *c, uint32_t tensor)
{
    chip_tensor *t = &c->tensors[tensor];
    uint32_t first = DFL_NONE;

    for (uint32_t e = c->w->n_einsums; e-- > 0;)
        first = settles(c, e, tensor) ? e : first;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        const chip_reading *by = first != DFL_NONE ? &c->einsums[first].made : NULL;

        if (!is_work(c, g))
            continue;
        for (uint32_t e = 0; e < c->w->n_einsums; e++)
            if (settles(c, e, tensor) && makes_parts(c, e, g))
                t->summed |= UINT64_C(1) << g;
        if (by == NULL || (t->summed >> g & 1) != 0)
            by = t->first_reader != DFL_NONE ? &c->einsums[t->first_reader].reads[t->first_operand * N_READINGS + t->reading]
                                             : NULL;
        if (by != NULL && t->first_reader != DFL_NONE && by != &c->einsums[first == DFL_NONE ? 0 : first].made &&
            c->einsums[t->first_reader].rows_group == g && c->einsums[t->first_reader].rows_at == t->first_operand)
            continue; /* the positions move nothing */
        if (by == NULL || !varies(c, tensor, by->of_chip, g) || overlaps(c, tensor, by->of_chip, g))
            continue;
        project(c, tensor, by->of_chip, g);
        if (by == &c->einsums[first == DFL_NONE ? 0 : first].made && first != DFL_NONE && c->einsums[first].rows_group == g &&
            c->einsums[first].einsum->body->kind != DFL_EOP_SCATTER)
            t->by_rows |= UINT64_C(1) << g;
    }
    return !c->failed;
}

/* Takes a group from the dimension that it divides; the others that divide it share the whole of it. */
static void free_group(const chips *c, uint32_t tensor, uint32_t group)
{
    uint32_t n_dims, dim = DFL_NONE;

    (void)dfl_chips_shape(c, tensor, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++)
        dim = divides_dimension(c, tensor, d, group) ? d : dim;
    c->tensors[tensor].side[group] = NULL;
    for (uint32_t g = 0; g < c->n_groups && dim != DFL_NONE; g++)
        if (divides_dimension(c, tensor, dim, g)) {
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
            first = divides_dimension(c, tensor, d, g) ? g : first;
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
            if (!is_work(c, g) || (from->stated >> g & 1) != 0)
                continue;
            from->by_rows &= ~(UINT64_C(1) << g);
            from->side[g] = to->side[g] == NULL ? NULL : DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
            for (uint32_t chip = 0; chip < c->n_chips && to->side[g] != NULL; chip++)
                from->side[g][chip] = to->side[g][chip]; /* the part of the first iteration stands first */
        }
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
            if (c->einsums[e].target == tensor && c->einsums[e].rows_group == g && t->side[g] != NULL &&
                (t->by_rows & bit) == 0 && c->einsums[e].einsum->body->kind != DFL_EOP_SCATTER)
                dfl_chips_refuse(c, c->w->einsums[e].span, "an exchange from rows that data select to parts");
        for (uint32_t e = 0; e < c->w->n_einsums && !is_divided; e++)
            is_divided = c->einsums[e].target == tensor && varies(c, tensor, c->einsums[e].made.of_chip, g);

        if (!is_work(c, g))
            continue;
        if ((t->summed & bit) != 0) {
            t->scattered |= t->side[g] != NULL ? bit : 0;
            t->late |= dfl_chips_is_of_step(c, tensor) && (t->stated & bit) == 0 ? bit : 0;
            t->late |= dfl_chips_is_of_step(c, tensor) && t->side[g] == NULL ? bit : 0;
        } else if (t->side[g] == NULL && is_divided) {
            t->gathered |= bit;
        }
    }
}

/* Whether a group divides a dimension of a home that another group divides there or in a reading. */
static bool share_dimension(const chips *c, const chip_reading *r, uint32_t group, uint32_t other)
{
    uint32_t n_dims;

    (void)dfl_chips_shape(c, r->tensor, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++)
        if (divides_dimension(c, r->tensor, d, group) &&
            (divides_dimension(c, r->tensor, d, other) || divides_in(c, r->tensor, r->of_chip, d, other)))
            return true;
    return false;
}

/* Sets the groups along which chips lack what a reading touches. */
static void find_lacking(chips *c, dfl_span span, chip_reading *r)
{
    const chip_tensor *t = &c->tensors[r->tensor];

    r->seen = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)t->n_elem + 1);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        bool lacks = false;

        if (!is_work(c, g) || t->side[g] == NULL)
            continue;
        for (uint32_t chip = 0; chip < c->n_chips && !lacks; chip++)
            for (uint32_t i = 0; i < t->n_elem && !lacks; i++)
                lacks = r->of_chip[chip][i] > t->side[g][chip][i];
        if (lacks && (t->by_rows >> g & 1) != 0 && varies(c, r->tensor, r->of_chip, g)) {
            dfl_chips_refuse(c, span, "an exchange from rows that data select to parts");
            return;
        }
        if (lacks && overlaps(c, r->tensor, r->of_chip, g)) {
            dfl_chips_refuse(c, span, "an exchange of neighbouring elements");
            return;
        }
        if (lacks)
            *(varies(c, r->tensor, r->of_chip, g) ? &r->other : &r->all) |= UINT64_C(1) << g;
    }
    for (uint32_t g = 0; g < c->n_groups; g++) {
        bool is_shared = (r->all >> g & 1) == 0;

        for (uint32_t other = 0; other < c->n_groups && !is_shared; other++)
            is_shared = (r->other >> other & 1) != 0 && share_dimension(c, r, g, other);
        r->alone |= is_shared ? 0 : UINT64_C(1) << g;
    }
}

/* Refuses operands that go to the rows of an einsum from parts at home. The positions move nothing. */
static void check_points(chips *c, uint32_t einsum, uint32_t reading)
{
    const chip_einsum *e = &c->einsums[einsum];
    const chip_reading *r = &e->reads[reading];

    if (e->rows_group != DFL_NONE && !r->by_rows && reading / N_READINGS != e->rows_at && (r->other | r->all) != 0)
        dfl_chips_refuse(c, e->einsum->span, "an exchange of points that go to rows");
}

bool dfl_chips_find_sets(chips *c)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (!find_readings(c, e))
            return false;
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        if (dfl_chips_holder(c, t) != t)
            continue;
        find_first_reader(c, t);
        if (!divide_home(c, t))
            return false;
        split_homes(c, t);
    }
    lay_carried(c);
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        if (dfl_chips_holder(c, t) != t)
            continue;
        meet_sides(c, t);
        find_results(c, t);
    }
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        for (uint32_t i = 0; i < c->w->einsums[e].n_inputs * N_READINGS; i++)
            if (c->einsums[e].reads[i].tensor != DFL_NONE) {
                find_lacking(c, c->w->einsums[e].span, &c->einsums[e].reads[i]);
                check_points(c, e, i);
            }
        find_lacking(c, c->w->einsums[e].span, &c->einsums[e].made);
    }
    return !c->failed;
}
