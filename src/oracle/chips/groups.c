/* How groups of chips divide sets of elements: which chips of a group have other sets than the others. */
#include <string.h>

#include "oracle/chips/chips_internal.h"

bool dfl_chips_refuse(chips *c, dfl_span span, const char *what)
{
    if (!c->failed)
        dfl_report(c->sink, DFL_EVAL_UNSUPPORTED, span, "%s is not executed", what);
    c->failed = true;
    return false;
}

uint32_t dfl_chips_move_chip(const chips *c, uint32_t chip, uint32_t group, uint32_t place)
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

bool dfl_chips_is_empty(const chips *c, uint32_t tensor, const uint8_t *set)
{
    return c->tensors[tensor].n_elem == 0 || memchr(set, 1, c->tensors[tensor].n_elem) == NULL;
}

bool dfl_chips_asks_for_parts(const chips *c, uint32_t einsum, const dfl_access *a, uint32_t group)
{
    const dfl_line *line = c->einsums[einsum].divides[group];

    for (uint32_t d = 0; line != NULL && d < a->n_dims; d++)
        if (dfl_index_coef(&a->index[d], line->rank) != 0)
            return true;
    return false;
}

bool dfl_chips_varies(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group)
{
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        if (!is_same_set(c, tensor, of_chip[chip], of_chip[dfl_chips_move_chip(c, chip, group, 0)]))
            return true;
    return false;
}

bool dfl_chips_varies_in(const chips *c, uint32_t einsum, const dfl_access *a, uint32_t tensor, element_set *of, uint32_t group)
{
    if (c->einsums[einsum].divides[group] == NULL || dfl_chips_asks_for_parts(c, einsum, a, group))
        return dfl_chips_varies(c, tensor, of, group);
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const element_set first = of[dfl_chips_move_chip(c, chip, group, 0)];

        if (!dfl_chips_is_empty(c, tensor, of[chip]) && !dfl_chips_is_empty(c, tensor, first) &&
            !is_same_set(c, tensor, of[chip], first))
            return true;
    }
    return false;
}

bool dfl_chips_overlaps(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group)
{
    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        for (uint32_t place = 0; place < chips_digit(c, chip, group); place++) {
            const element_set a = of_chip[chip], b = of_chip[dfl_chips_move_chip(c, chip, group, place)];

            if (is_same_set(c, tensor, a, b))
                continue;
            for (uint32_t i = 0; i < c->tensors[tensor].n_elem; i++)
                if (a[i] != 0 && b[i] != 0)
                    return true;
        }
    return false;
}

int64_t dfl_chips_coordinate(const chips *c, uint32_t tensor, uint32_t element, uint32_t dim)
{
    uint32_t n_dims;
    const int64_t *shape = dfl_chips_shape(c, tensor, &n_dims);
    int64_t behind = 1;

    for (uint32_t d = dim + 1; d < n_dims; d++)
        behind *= shape[d];
    return (int64_t)element / behind % shape[dim];
}

/* Whether a set has an element with the coordinate `x` in a dimension of `extent` values, `behind` elements apart. */
static bool has_coordinate(element_set set, uint32_t n_elem, int64_t x, int64_t extent, int64_t behind)
{
    for (int64_t i = x * behind; i < n_elem; i += extent * behind)
        if (memchr(set + i, 1, (size_t)behind) != NULL)
            return true;
    return false;
}

bool dfl_chips_divides_in(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t dim, uint32_t group)
{
    const uint32_t n_elem = c->tensors[tensor].n_elem;
    uint32_t n_dims, n_full = 0;
    const int64_t *shape = dfl_chips_shape(c, tensor, &n_dims), extent = shape[dim];
    int64_t behind = 1;

    for (uint32_t d = dim + 1; d < n_dims; d++)
        behind *= shape[d];
    for (uint32_t place = 1; place < c->groups[group].count && of_chip != NULL; place++) {
        const element_set a = of_chip[0], b = of_chip[dfl_chips_move_chip(c, 0, group, place)];

        if (dfl_chips_is_empty(c, tensor, b))
            continue;
        n_full++;
        for (int64_t x = 0; x < extent; x++)
            if (has_coordinate(a, n_elem, x, extent, behind) != has_coordinate(b, n_elem, x, extent, behind))
                return true;
    }
    return of_chip != NULL && n_full == 0 && c->groups[group].count > 1 && extent == 1;
}

bool dfl_chips_divides_dimension(const chips *c, uint32_t tensor, uint32_t dim, uint32_t group)
{
    const chip_tensor *t = &c->tensors[tensor];

    if ((t->by_rows >> group & 1) != 0 || t->side[group] == NULL)
        return false;
    return t->along[group] != 0 ? t->along[group] == dim + 1 : dfl_chips_divides_in(c, tensor, t->side[group], dim, group);
}

bool dfl_chips_is_within(const chips *c, uint32_t tensor, uint32_t chip, uint32_t element, uint64_t groups)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        if ((groups >> g & 1) != 0 && c->tensors[tensor].side[g] != NULL && c->tensors[tensor].side[g][chip][element] == 0)
            return false;
    return true;
}
