#include "oracle/chips/rows.h"

#include <string.h>

/* Pairs of points and elements of one pass, where points go to rows. */
struct row_notes {
    uint32_t *seen;            /* [position * elements + element]: number of the last visit that had the pair */
    uint32_t *sent, *got;      /* [chip]: pairs with the element at home; pairs of its points */
    element_set *touched;      /* [first chip among which the points go]: elements that these chips have touched together */
    uint32_t *joint;           /* [the same chip]: number of these elements */
};

/* ---- which einsums go by rows ---- */

bool dfl_chips_is_named(const chips *c, const dfl_line *line, uint32_t einsum)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    for (uint32_t i = 0; i < line->n_only; i++)
        if (line->only[i] == einsum || (e->phase == DFL_PHASE_BACKWARD && line->only[i] == e->of))
            return true;
    return line->only == NULL;
}

/* Whether data select a rank of gathered rows for an einsum: the einsum does not iterate the rank. `*dim`: its dimension. */
static bool is_selected(const dfl_workload *w, const dfl_einsum *e, uint32_t tensor, uint32_t rank, uint32_t *dim)
{
    const dfl_tensor *t = &w->tensors[tensor];
    uint32_t bare;

    for (uint32_t d = 0; t->gathered && d < t->n_table_dims && !dfl_einsum_has_rank(e, rank); d++)
        if (dfl_index_is_bare(&t->table_index[d], &bare) && bare == rank) {
            *dim = d;
            return true;
        }
    return false;
}

const dfl_access *dfl_chips_find_gather(const dfl_einsum *e, const dfl_eop *node, uint32_t rows)
{
    const dfl_access *found = NULL;

    if (node->kind == DFL_EOP_GATHER && e->inputs[node->args[0]->operand].tensor == rows &&
        node->args[1]->kind == DFL_EOP_ACCESS)
        return &e->inputs[node->args[1]->operand];
    for (uint32_t i = 0; i < node->n_args && found == NULL; i++)
        found = dfl_chips_find_gather(e, node->args[i], rows);
    return found;
}

/* The positions at which an einsum reads, adds to or renews rows along a rank; NULL = data do not select this rank for it. `*by`:
   the einsum that gathers the rows. */
static const dfl_access *find_positions(const dfl_workload *w, uint32_t einsum, uint32_t rank, uint32_t *table, uint32_t *dim,
                                        uint32_t *by)
{
    const dfl_einsum *e = &w->einsums[einsum];
    const dfl_access *found = NULL;

    *by = einsum;
    for (uint32_t i = 0; i < e->n_inputs && found == NULL; i++)
        if (is_selected(w, e, e->inputs[i].tensor, rank, dim)) {
            *table = e->inputs[i].tensor;
            found = dfl_chips_find_gather(e, e->body, *table);
        }
    if (found != NULL || !is_selected(w, e, e->output.tensor, rank, dim))
        return found;
    *table = e->output.tensor;
    if (e->body->kind == DFL_EOP_SCATTER)
        return e->body->args[1]->kind == DFL_EOP_ACCESS ? &e->inputs[e->body->args[1]->operand] : NULL;
    for (uint32_t k = 0; k < w->n_einsums && found == NULL; k++) { /* renews what this one gathers */
        found = dfl_chips_find_gather(&w->einsums[k], w->einsums[k].body, *table);
        *by = found != NULL ? k : *by;
    }
    return found;
}

/* Whether a line with a list names an einsum that has its rank, on the axis of another line. */
static bool is_stated(const chips *c, const dfl_line *line, uint32_t einsum)
{
    const dfl_body *root = c->mapping->root;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *x = &root->lines[i];

        if (x != line && x->kind == DFL_LINE_SPATIAL && x->axis == line->axis && x->only != NULL &&
            dfl_einsum_has_rank(&c->w->einsums[einsum], x->rank) && dfl_chips_is_named(c, x, einsum))
            return true;
    }
    return false;
}

/* Whether every reader of a tensor goes by the rows or stands before such einsums alone. */
static bool is_read_by_rows(const chips *c, const bool *goes, const bool *before, uint32_t tensor)
{
    const dfl_tensor *t = &c->w->tensors[tensor];

    for (uint32_t i = 0; i < t->n_consumers; i++)
        if (!goes[t->consumers[i]] && !before[t->consumers[i]])
            return false;
    return t->n_consumers > 0;
}

static bool has_all_ranks(const dfl_einsum *e, const dfl_access *positions)
{
    for (uint32_t d = 0; d < positions->n_dims; d++)
        for (uint32_t k = 0; k < positions->index[d].n_terms; k++)
            if (!dfl_einsum_has_rank(e, positions->index[d].terms[k].rank))
                return false;
    return true;
}

/* The positions of an einsum that reads what an einsum by the rows has made, if it has their ranks; NULL otherwise. */
static const dfl_access *positions_before(const chips *c, const bool *goes, uint32_t einsum, uint32_t *maker)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_tensor *t = &c->w->tensors[e->inputs[i].tensor];

        for (uint32_t p = 0; p < t->n_producers; p++)
            if (goes[t->producers[p]]) {
                *maker = t->producers[p];
                return has_all_ranks(e, c->einsums[*maker].rows_at) ? c->einsums[*maker].rows_at : NULL;
            }
    }
    return NULL;
}

/* Adds the einsums between those that go by the rows of a line. */
static void add_between(chips *c, const dfl_line *line, bool *goes)
{
    bool *before = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_einsums + 1), more = true;

    while (more) {
        more = false;
        for (uint32_t e = 0; e < c->w->n_einsums; e++) {
            const uint32_t made = c->w->einsums[e].output.tensor;

            if (goes[e] || before[e] || dfl_einsum_has_rank(&c->w->einsums[e], line->rank) || is_stated(c, line, e) ||
                c->w->tensors[made].gathered || !is_read_by_rows(c, goes, before, made))
                continue;
            before[e] = more = true;
        }
    }
    for (more = true; more;) {
        more = false;
        for (uint32_t e = 0; e < c->w->n_einsums; e++) {
            uint32_t maker = DFL_NONE;
            const dfl_access *at = before[e] && !goes[e] ? positions_before(c, goes, e, &maker) : NULL;

            if (at == NULL)
                continue;
            c->einsums[e].rows_at = at;
            c->einsums[e].rows_of = c->einsums[maker].rows_of;
            c->einsums[e].rows_dim = c->einsums[maker].rows_dim;
            c->einsums[e].rows_rank = c->einsums[maker].rows_rank;
            c->einsums[e].rows_by = c->einsums[maker].rows_by;
            goes[e] = more = true;
        }
    }
}

/* Whether the execution knows the data at the positions of an einsum: they are an input of the step. */
static bool check_positions(chips *c, const dfl_line *line, uint32_t einsum)
{
    const chip_einsum *e = &c->einsums[einsum];
    const dfl_tensor *t = &c->w->tensors[e->rows_at->tensor];

    if (t->n_producers > 0 || t->gathered)
        return dfl_chips_refuse(c, line->span, "a line over rows whose positions an einsum computes");
    return true;
}

bool dfl_chips_find_goes(chips *c)
{
    const dfl_body *root = c->mapping->root;

    c->goes = DFL_NEW_ARRAY(c->arena, bool *, (size_t)root->n_lines + 1);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        bool *goes, any = false;

        if (line->kind != DFL_LINE_SPATIAL || line->stages != NULL)
            continue;
        goes = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_einsums + 1);
        for (uint32_t e = 0; e < c->w->n_einsums; e++) {
            uint32_t table = DFL_NONE, dim = 0, by = e;
            const dfl_access *at = find_positions(c->w, e, line->rank, &table, &dim, &by);
            chip_einsum *x = &c->einsums[e];

            if (at == NULL || !(dfl_chips_is_named(c, line, e) || (by != e && dfl_chips_is_named(c, line, by))))
                continue;
            if (x->rows_at != NULL && (x->rows_dim != dim || x->rows_of != dfl_chips_holder(c, table)))
                return dfl_chips_refuse(c, line->span, "an einsum whose points go to the rows of two tables");
            x->rows_at = at;
            x->rows_of = dfl_chips_holder(c, table);
            x->rows_dim = dim;
            x->rows_rank = line->rank;
            x->rows_by = c->w->einsums[e].phase == DFL_PHASE_BACKWARD && c->w->einsums[e].of != DFL_NONE ? c->w->einsums[e].of
                                                                                                        : by;
            goes[e] = any = true;
            if (!check_positions(c, line, e))
                return false;
        }
        if (any)
            add_between(c, line, goes);
        c->goes[i] = any ? goes : NULL;
    }
    return true;
}

bool dfl_chips_goes(const chips *c, const dfl_line *line, uint32_t einsum)
{
    const bool *goes = c->goes[line - c->mapping->root->lines];

    return goes != NULL && goes[einsum];
}

static int64_t parts_of(const chips *c, const dfl_line *line)
{
    const int64_t extent = c->w->ranks[line->rank].extent;

    return line->by == DFL_BY_PARTS ? line->amount : (extent + line->amount - 1) / line->amount;
}

/* The line without `for` in whose place a line over rows stands for an einsum; NULL = there is none. */
static const dfl_line *find_replaced(const chips *c, const dfl_line *line, uint32_t einsum)
{
    const dfl_body *root = c->mapping->root;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *x = &root->lines[i];

        if (x->kind == DFL_LINE_SPATIAL && x->only == NULL && x->stages == NULL && !x->cyclic && x->axis == line->axis &&
            dfl_einsum_has_rank(&c->w->einsums[einsum], x->rank) && parts_of(c, x) == parts_of(c, line))
            return x;
    }
    return NULL;
}

bool dfl_chips_is_replaced(const chips *c, const dfl_line *line, uint32_t einsum)
{
    const dfl_body *root = c->mapping->root;

    for (uint32_t i = 0; i < root->n_lines && line->only == NULL; i++)
        if (c->goes[i] != NULL && c->goes[i][einsum] && root->lines[i].axis == line->axis &&
            find_replaced(c, &root->lines[i], einsum) == line)
            return true;
    return false;
}

bool dfl_chips_go(chips *c, const dfl_line *line, uint32_t einsum, uint32_t group)
{
    chip_einsum *e = &c->einsums[einsum];

    if (line->cyclic)
        return dfl_chips_refuse(c, line->span, "a line that deals rows");
    e->rows |= UINT64_C(1) << group;
    e->instead[group] = find_replaced(c, line, einsum);
    return true;
}

bool dfl_chips_check_nesting(chips *c)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t g = 0; g < c->n_groups; g++)
            for (uint32_t h = 0; h < c->n_groups; h++)
                if (c->einsums[e].instead[g] != NULL && c->einsums[e].divides[h] != NULL &&
                    c->einsums[e].divides[h]->rank == c->einsums[e].instead[g]->rank && h > g)
                    return dfl_chips_refuse(c, c->einsums[e].divides[h]->span, "a second line over a rank, the first of which "
                                            "points that go to rows replace,");
    return true;
}

/* ---- where points are ---- */

/* The part of a table with a row, as the place of a chip in each group that divides the rows. */
static bool is_at(const chips *c, const chip_einsum *e, uint32_t chip, int64_t row)
{
    uint32_t n_dims;
    int64_t extent = dfl_chips_shape(c, e->rows_of, &n_dims)[e->rows_dim], at = row % extent;

    for (uint32_t g = 0; g < c->n_groups; g++) {
        if ((e->rows >> g & 1) == 0)
            continue;
        extent = (extent + c->groups[g].count - 1) / c->groups[g].count;
        if (at / extent != (int64_t)chips_digit(c, chip, g))
            return false;
        at %= extent;
    }
    return true;
}

bool dfl_chips_has_row(const chips *c, uint32_t einsum, uint32_t chip, uint32_t rows, int64_t row)
{
    const chip_einsum *e = &c->einsums[einsum];
    uint32_t dim;

    return e->rows == 0 || !is_selected(c->w, e->einsum, rows, e->rows_rank, &dim) || is_at(c, e, chip, row);
}

int64_t dfl_chips_position_of(const chips *c, const chip_einsum *e)
{
    uint32_t tensor;

    return dfl_chips_element(c, (uint32_t)(e - c->einsums), e->rows_at, -1, false, &tensor);
}

bool dfl_chips_takes(const chips *c, uint32_t einsum, uint32_t chip)
{
    const chip_einsum *e = &c->einsums[einsum];
    const int64_t at = e->rows != 0 ? dfl_chips_position_of(c, e) : 0;

    return e->rows == 0 || (at >= 0 && is_at(c, e, chip, c->tensors[e->rows_at->tensor].alone[at]));
}

uint32_t dfl_chips_next_block(const chips *c, uint32_t einsum, uint32_t chip, uint32_t block)
{
    const chip_einsum *e = &c->einsums[einsum];

    for (uint32_t other = block == DFL_NONE ? 0 : block + 1; other < c->n_chips; other++) {
        bool is_one = true;

        for (uint32_t g = 0; g < c->n_groups && is_one; g++)
            is_one = e->instead[g] != NULL || chips_digit(c, other, g) == chips_digit(c, chip, g);
        if (is_one)
            return other;
    }
    return DFL_NONE;
}

bool dfl_chips_takes_alike(const chips *c, uint32_t einsum, uint32_t a, uint32_t b)
{
    const chip_einsum *e = &c->einsums[einsum];
    const size_t n = c->w->n_ranks;

    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((e->rows >> g & 1) != 0 && chips_digit(c, a, g) != chips_digit(c, b, g))
            return false;
    return memcmp(&e->lo[a * n], &e->lo[b * n], n * sizeof *e->lo) == 0 &&
           memcmp(&e->hi[a * n], &e->hi[b * n], n * sizeof *e->hi) == 0;
}

int64_t dfl_chips_instances(const chips *c, uint32_t einsum)
{
    int64_t n = 1;

    for (uint32_t g = 0; g < c->n_groups; g++)
        n *= (c->einsums[einsum].rows >> g & 1) != 0 ? c->groups[g].count : 1;
    return n;
}

bool dfl_chips_has_rows_alone(const chips *c, uint32_t tensor)
{
    bool adds_rows = false;

    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        const dfl_einsum *x = &c->w->einsums[e];

        if (c->einsums[e].target != tensor || x->phase == DFL_PHASE_UPDATE)
            continue;
        if (x->body->kind != DFL_EOP_SCATTER)
            return false;
        adds_rows = true;
    }
    return adds_rows;
}

/* ---- how many points use an element ---- */

bool dfl_chips_has_rank(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (dfl_index_coef(&a->index[d], rank) != 0)
            return true;
    return false;
}

bool dfl_chips_varies_by_rows(const chips *c, uint32_t einsum, const dfl_access *a)
{
    const chip_einsum *e = &c->einsums[einsum];

    for (uint32_t i = 0; i < e->einsum->n_ranks; i++)
        if (dfl_chips_has_rank(e->rows_at, e->einsum->ranks[i]) && dfl_chips_has_rank(a, e->einsum->ranks[i]))
            return true;
    return false;
}

/* Values of a rank in a pass, on all chips among which the points go. */
static int64_t values_of(const chips *c, const chip_einsum *e, uint32_t rank)
{
    int64_t n = e->pass[rank];

    if (c->repeats[rank])
        return 1;
    for (uint32_t g = 0; g < c->n_groups; g++)
        n *= e->instead[g] != NULL && e->instead[g]->rank == rank ? c->groups[g].count : 1;
    return n < c->w->ranks[rank].extent ? n : c->w->ranks[rank].extent;
}

int64_t dfl_chips_uses(const chips *c, uint32_t einsum, const dfl_access *a)
{
    const chip_einsum *e = &c->einsums[einsum];
    int64_t n = 1;

    for (uint32_t i = 0; i < e->einsum->n_ranks; i++)
        if (dfl_chips_has_rank(e->rows_at, e->einsum->ranks[i]) && !dfl_chips_has_rank(a, e->einsum->ranks[i]))
            n *= values_of(c, e, e->einsum->ranks[i]);
    return n;
}

/* ---- pairs of points and elements ---- */

/* The chip of the groups of a mask that has an element at home, as seen from a chip. */
static uint32_t find_home(const chips *c, uint32_t tensor, uint32_t chip, uint32_t element, uint64_t groups)
{
    for (uint32_t g = 0; g < c->n_groups; g++) {
        if ((groups >> g & 1) == 0 || c->tensors[tensor].side[g] == NULL)
            continue;
        for (uint32_t place = 0; place < c->groups[g].count; place++) {
            const uint32_t other = dfl_chips_move_chip(c, chip, g, place);

            if (c->tensors[tensor].side[g][other][element] != 0) {
                chip = other;
                break;
            }
        }
    }
    return chip;
}

/* The groups among which the pairs of a reading or of the result go. */
static uint64_t groups_of(const chips *c, const chip_einsum *e, uint32_t reading)
{
    const uint32_t n = e->einsum->n_inputs * N_READINGS;
    const uint64_t back = c->tensors[e->target].back;

    return reading < n ? e->reads[reading].to_rows : back & e->rows;
}

/* Whether pairs of a reading or of the result are noted. */
static bool is_noted(const chips *c, const chip_einsum *e, uint32_t reading)
{
    return groups_of(c, e, reading) != 0 || (reading < e->einsum->n_inputs * N_READINGS && e->reads[reading].is_joint);
}

/* The first of the chips among which the points of an einsum go. */
static uint32_t first_of(const chips *c, const chip_einsum *e, uint32_t chip)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        chip = (e->rows >> g & 1) != 0 ? dfl_chips_move_chip(c, chip, g, 0) : chip;
    return chip;
}

void dfl_chips_start_pairs(chips *c, uint32_t einsum)
{
    chip_einsum *e = &c->einsums[einsum];
    const uint32_t n = e->einsum->n_inputs * N_READINGS + 1;

    if (e->rows == 0)
        return;
    if (e->notes == NULL) {
        e->notes = DFL_NEW_ARRAY(c->arena, row_notes, n);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t tensor = i + 1 < n ? e->reads[i].tensor : e->target;

            if (tensor == DFL_NONE || !is_noted(c, e, i))
                continue;
            e->notes[i].seen = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->tensors[e->rows_at->tensor].n_elem *
                                                                     c->tensors[tensor].n_elem + 1);
            e->notes[i].sent = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_chips);
            e->notes[i].got = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_chips);
            e->notes[i].joint = DFL_NEW_ARRAY(c->arena, uint32_t, c->n_chips);
            e->notes[i].touched = DFL_NEW_ARRAY(c->arena, element_set, c->n_chips);
            for (uint32_t chip = 0; chip < c->n_chips; chip++)
                e->notes[i].touched[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[tensor].n_elem + 1);
        }
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t chip = 0; chip < c->n_chips && e->notes[i].seen != NULL; chip++) {
            e->notes[i].sent[chip] = e->notes[i].got[chip] = e->notes[i].joint[chip] = 0;
            memset(e->notes[i].touched[chip], 0, c->tensors[i + 1 < n ? e->reads[i].tensor : e->target].n_elem);
        }
}

void dfl_chips_note_pair(chips *c, uint32_t einsum, uint32_t chip, uint32_t reading, uint32_t element)
{
    chip_einsum *e = &c->einsums[einsum];
    const uint32_t n = e->einsum->n_inputs * N_READINGS, tensor = reading < n ? e->reads[reading].tensor : e->target;
    row_notes *notes = e->notes != NULL ? &e->notes[reading] : NULL;
    uint64_t groups;
    uint32_t home, first;
    int64_t at;

    if (notes == NULL || notes->seen == NULL || (at = dfl_chips_position_of(c, e)) < 0)
        return;
    groups = groups_of(c, e, reading);
    first = first_of(c, e, chip);
    notes->joint[first] += notes->touched[first][element] == 0;
    notes->touched[first][element] = 1;
    if (notes->seen[(size_t)at * c->tensors[tensor].n_elem + element] == c->visit)
        return;
    notes->seen[(size_t)at * c->tensors[tensor].n_elem + element] = c->visit;
    home = find_home(c, tensor, chip, element, groups);
    if (!dfl_chips_is_within(c, tensor, home, element, ~groups)) /* gathered behind */
        return;
    notes->got[chip]++;
    notes->sent[home]++;
}

/* The largest count; `counts` = [chip]. */
static uint64_t find_most(const chips *c, const uint32_t *counts)
{
    uint32_t most = 0;

    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        most = counts[chip] > most ? counts[chip] : most;
    return most;
}

uint64_t dfl_chips_most_pairs(const chips *c, uint32_t einsum, uint32_t reading)
{
    return find_most(c, c->einsums[einsum].notes[reading].sent);
}

uint32_t dfl_chips_pairs_of(const chips *c, uint32_t einsum, uint32_t reading, uint32_t chip)
{
    return c->einsums[einsum].notes[reading].got[chip];
}

uint32_t dfl_chips_joint_of(const chips *c, uint32_t einsum, uint32_t reading, uint32_t chip)
{
    const chip_einsum *e = &c->einsums[einsum];

    return e->notes[reading].joint[first_of(c, e, chip)];
}

uint64_t dfl_chips_most_joint(const chips *c, uint32_t einsum, uint32_t reading)
{
    return find_most(c, c->einsums[einsum].notes[reading].joint);
}
