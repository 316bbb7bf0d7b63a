#include "model/counts/link_places.h"

#include <string.h>

#include "model/counts/class_sums.h"
#include "support/hash.h"

/* Limits on the number of spatial steps on one axis, and of classes of coordinates along one step (a rank with 8 cuts has at most
   18). Beyond them, the coordinates of the axis are compared one by one. */
enum { DIGITS = 6, STARTS = 24 };

/* The classes of the coordinates along one step: a class extends from a start to the next one. A coordinate of the axis is a
   number with one digit for each step. */
typedef struct {
    int64_t parts;          /* coordinates along the step */
    int64_t starts[STARTS]; /* ascending, the first is 0 */
    uint32_t n;
} digit;

/* The classes of the coordinates of an axis for crossings that have the same ones. */
typedef struct {
    int64_t first, parts;   /* the coordinates in use: `parts` ones from `first` on */
    digit digits[DIGITS];
    uint32_t n_digits;
    bool listed;            /* the classes are combinations of those of the digits; otherwise `class` has them */
    uint32_t *class;        /* [coordinate - first] */
    uint32_t n;             /* classes of coordinates in use; class `n` is that of all other coordinates */
} division;

typedef struct {
    dfl_nest *nest;
    const dfl_crossings *all;
    const dfl_crossed_array *array;
    uint32_t axis;
    int64_t used;           /* coordinates of the axis that some crossing reaches: 0 to `used` - 1 */
    division *divisions;
    uint32_t n;
    bool ok;                /* false: the budget is spent, or after a report */
} place_walk;

/* ---- one crossing on one axis ---- */

int64_t dfl_link_parts(const dfl_nest *nest, const dfl_crossing *c, uint32_t step)
{
    const uint32_t e = c->footprint->einsum;
    const bool of_unit = c->kind == DFL_CROSSING_READ || c->kind == DFL_CROSSING_RESULT;
    uint32_t driver = of_unit && nest->paths->paths[e].steps[step].rank == DFL_NONE ? DFL_NONE : dfl_nest_driver(nest, e, step);

    return driver == DFL_NONE ? 1 : nest->sizes[driver].trips[step];
}

uint64_t dfl_link_steps(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis)
{
    const dfl_path *path = &nest->paths->paths[c->footprint->einsum];
    uint64_t steps = 0;

    if (nest->system->elements[c->element].n_axes == 1)
        return c->own;
    for (uint64_t left = c->own; left; left &= left - 1)
        if (path->steps[__builtin_ctzll(left)].line->axis == axis)
            steps |= left & -left;
    return steps;
}

bool dfl_link_pin(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis, int64_t at, dfl_restriction *only)
{
    uint64_t steps = dfl_link_steps(nest, c, axis);

    only->pinned |= steps;
    for (uint64_t left = steps; left;) {
        uint32_t i = 63 - (uint32_t)__builtin_clzll(left);
        int64_t parts = dfl_link_parts(nest, c, i);
        left &= ~(UINT64_C(1) << i);
        only->at[i] = at % parts;
        at /= parts;
        if (c->valued && (c->still >> i & 1) && only->at[i] != 0)
            return false;
    }
    return at == 0;
}

bool dfl_link_pin_place(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis, int64_t at, dfl_restriction *only)
{
    const int64_t first = dfl_paths_place(nest->paths, c->footprint->einsum, axis);

    return at >= first && dfl_link_pin(nest, c, axis, at - first, only);
}

/* Lists the steps of a crossing on the axis that have several instances, in the order of the path. Returns their number. */
static uint32_t list_digits(const place_walk *walk, const dfl_crossing *c, uint32_t *steps)
{
    uint32_t n = 0;

    for (uint64_t left = dfl_link_steps(walk->nest, c, walk->axis); left; left &= left - 1)
        if (dfl_link_parts(walk->nest, c, (uint32_t)__builtin_ctzll(left)) > 1)
            steps[n++] = (uint32_t)__builtin_ctzll(left);
    return n;
}

/* Tells whether neighbours along the axis forward elements of a crossing. */
static bool does_forward(const place_walk *walk, const dfl_crossing *c)
{
    return c->direct && (dfl_link_steps(walk->nest, c, walk->axis) >> c->how.forward & 1);
}

/* ---- classes by lengths of pieces ---- */

/* Adds the starts of classes along one step for a footprint. False if coordinates may differ in more than the lengths of their
   pieces, or if there are more than STARTS. */
static bool add_starts(const place_walk *walk, dfl_footprint *footprint, uint32_t step, digit *of)
{
    const uint32_t g = step < footprint->n ? footprint->group_of_step[step] : DFL_NONE;

    if (g == DFL_NONE)
        return true;
    if (footprint->groups[g].run != walk->nest->run)
        dfl_footprint_resize_group(walk->nest, footprint, &footprint->groups[g]);
    return dfl_class_starts_add(walk->nest, footprint, &footprint->groups[g], step, of->starts, &of->n, STARTS);
}

/* Adds the starts of classes along one step for a crossing, as add_starts. */
static bool add_crossing_starts(const place_walk *walk, const dfl_crossing *c, uint32_t step, digit *of)
{
    if (c->mode == DFL_CROSSING_EVEN || c->mode == DFL_CROSSING_ROUGH)
        return true;
    return add_starts(walk, c->footprint, step, of) && (!c->valued || !c->made || add_starts(walk, c->made, step, of));
}

/* Removes the starts beyond the parts of a digit. */
static void trim_starts(digit *of)
{
    while (of->starts[of->n - 1] >= of->parts)
        of->n--;
}

/* Finds the classes of the coordinates along each step on the axis. False if the crossings do not divide the axis in the same
   way, or if some coordinates differ in more than the lengths of their pieces. */
static bool find_digits(const place_walk *walk, digit *digits, uint32_t *n)
{
    *n = 0;
    for (uint32_t k = 0; k < walk->array->n; k++) {
        const dfl_crossing *c = &walk->all->at[walk->array->crossings[k]];
        uint32_t steps[DFL_MAX_STEPS];
        const uint32_t own = list_digits(walk, c, steps);
        if (dfl_paths_place(walk->nest->paths, c->footprint->einsum, walk->axis) > 0 || does_forward(walk, c) || own > DIGITS ||
            (own > 0 && *n > 0 && own != *n))
            return false;
        for (uint32_t d = 0; d < own; d++) {
            const int64_t parts = dfl_link_parts(walk->nest, c, steps[d]);
            if (*n == 0)
                digits[d] = (digit){ .parts = parts, .n = 1 };
            else if (digits[d].parts != parts)
                return false;
            if (!add_crossing_starts(walk, c, steps[d], &digits[d]))
                return false;
        }
        *n = own > 0 ? own : *n;
    }
    return true;
}

/* Lists the places of an axis that all crossings divide in the same way: the lowest coordinate of each combination of classes
   along the steps. If a crossing reaches coordinate 0 alone, or coordinate 0 of some steps, the lowest coordinate of a class
   carries most. False if they do not divide it in the same way. */
static bool list_common(const place_walk *walk, dfl_link_places *out)
{
    digit digits[DIGITS];
    uint32_t n, at[DIGITS] = { 0 };
    size_t all = 1;

    if (!find_digits(walk, digits, &n))
        return false;
    for (uint32_t d = 0; d < n; d++) {
        trim_starts(&digits[d]);
        all *= digits[d].n;
    }
    *out = (dfl_link_places){ .at = DFL_NEW_ARRAY(walk->nest->arena, int64_t, all), .n = (uint32_t)all };
    for (size_t k = 0; k < all; k++) {
        int64_t q = 0;
        for (uint32_t d = 0; d < n; d++)
            q = q * digits[d].parts + digits[d].starts[at[d]];
        out->at[k] = q;
        for (uint32_t d = n; d-- > 0 && ++at[d] == digits[d].n;)
            at[d] = 0;
    }
    return true;
}

/* ---- classes by comparison ---- */

/* Tells whether some group of a crossing depends on the coordinates of the axis and of another axis of the array. */
static bool is_entangled(const place_walk *walk, const dfl_crossing *c)
{
    const uint64_t steps = dfl_link_steps(walk->nest, c, walk->axis);

    for (uint64_t left = steps; left; left &= left - 1)
        for (uint64_t other = c->own & ~steps; other; other &= other - 1) {
            uint32_t g = c->footprint->group_of_step[__builtin_ctzll(left)];
            if (g != DFL_NONE && g == c->footprint->group_of_step[__builtin_ctzll(other)])
                return true;
        }
    return false;
}

/* The sums of the groups of a crossing at one coordinate. */
typedef struct {
    bool used;
    const dfl_group_sums **groups; /* those of the footprint, then those of `made` */
    uint64_t hash;
} coordinate_sums;

/* Number of group sums that decide what a crossing moves. */
static uint32_t count_sums(const dfl_crossing *c)
{
    if (c->mode == DFL_CROSSING_EVEN || c->mode == DFL_CROSSING_ROUGH)
        return 0;
    return c->footprint->n_groups + (c->valued && c->made ? c->made->n_groups : 0);
}

/* The footprint and the group of group sum `i` of a crossing. */
static dfl_footprint *find_footprint(const dfl_crossing *c, uint32_t i, uint32_t *group)
{
    const bool of_made = i >= c->footprint->n_groups;

    *group = of_made ? i - c->footprint->n_groups : i;
    return of_made ? c->made : c->footprint;
}

/* A hash of `n` changes and of `seed`. */
static uint64_t hash_changes(const dfl_group_change *of, uint32_t n, uint64_t seed)
{
    for (uint32_t k = 0; k < n; k++) {
        const dfl_i128 values[] = { of[k].enter, of[k].kept, of[k].leave, of[k].left_kept };
        seed = dfl_hash(values, sizeof values, seed);
    }
    return seed;
}

/* Computes the sums at a coordinate of the axis. False if the budget is spent. */
static bool take_sums(const place_walk *walk, const dfl_crossing *c, int64_t q, coordinate_sums *out)
{
    dfl_restriction only = { .pinned = 0 };
    dfl_sharing how = c->how;

    how.first_only = c->outer | (c->valued ? c->still : 0);
    how.united = c->shared & c->inner & ~how.first_only;
    out->used = dfl_link_pin_place(walk->nest, c, walk->axis, q, &only);
    out->hash = 0;
    for (uint32_t i = 0; i < count_sums(c) && out->used; i++) {
        uint32_t group;
        dfl_footprint *footprint = find_footprint(c, i, &group);
        const dfl_group_sums *sums = dfl_delta_group(walk->nest, footprint, group, &how, &only);
        if (!sums)
            return false;
        out->groups[i] = sums;
        out->hash = dfl_hash(&sums->present, sizeof sums->present, out->hash);
        out->hash = hash_changes(sums->hold, footprint->groups[group].n_lines + 1, out->hash);
        out->hash = hash_changes(sums->adv, footprint->groups[group].n_lines + 1, out->hash);
    }
    return true;
}

static bool is_same_change(const dfl_group_change *a, const dfl_group_change *b)
{
    return a->enter == b->enter && a->kept == b->kept && a->leave == b->leave && a->left_kept == b->left_kept;
}

/* Tells whether two coordinates of the axis have the same sums in all groups of a crossing. */
static bool is_same(const dfl_crossing *c, const coordinate_sums *a, const coordinate_sums *b)
{
    if (a->used != b->used || a->hash != b->hash)
        return false;
    for (uint32_t i = 0; i < count_sums(c) && a->used; i++) {
        uint32_t group;
        const dfl_footprint *footprint = find_footprint(c, i, &group);
        if (a->groups[i]->present != b->groups[i]->present)
            return false;
        for (uint32_t k = 0; k <= footprint->groups[group].n_lines; k++)
            if (!is_same_change(&a->groups[i]->hold[k], &b->groups[i]->hold[k]) ||
                !is_same_change(&a->groups[i]->adv[k], &b->groups[i]->adv[k]))
                return false;
    }
    return true;
}

/* Number of slots of a hash table for `n` items: a power of 2, at least 2 n. */
static uint32_t count_slots(size_t n)
{
    uint32_t slots = 2;

    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

/* Finds the classes of a division by the group sums of its only crossing: coordinates with equal sums are a class. If a sum
   depends on several axes, or neighbours forward elements, each coordinate is a class of its own. */
static void compare_coordinates(place_walk *walk, const dfl_crossing *c, division *of)
{
    dfl_arena *arena = walk->nest->arena;
    const bool apart = does_forward(walk, c) || (count_sums(c) > 0 && is_entangled(walk, c));
    const uint32_t slots = count_slots((size_t)of->parts), n_sums = count_sums(c);
    uint32_t *slot = DFL_NEW_ARRAY(arena, uint32_t, slots); /* class + 1, 0 = free */
    coordinate_sums *of_class = DFL_NEW_ARRAY(arena, coordinate_sums, apart ? 1 : (size_t)of->parts);

    of->class = DFL_NEW_ARRAY(arena, uint32_t, (size_t)of->parts);
    for (int64_t q = 0; q < of->parts && walk->ok; q++) {
        coordinate_sums here = { .groups = NULL };
        walk->ok = dfl_budget_spend(dfl_arena_budget(arena), 1);
        if (apart) {
            of->class[q] = of->n++;
            continue;
        }
        here.groups = dfl_arena_alloc(arena, n_sums + 1, sizeof *here.groups, _Alignof(dfl_group_sums *));
        walk->ok = walk->ok && take_sums(walk, c, of->first + q, &here);
        uint32_t at = (uint32_t)here.hash & (slots - 1);
        while (walk->ok && slot[at] && !is_same(c, &of_class[slot[at] - 1], &here))
            at = (at + 1) & (slots - 1);
        if (walk->ok && !slot[at]) {
            of_class[of->n++] = here;
            slot[at] = of->n;
        }
        of->class[q] = walk->ok ? slot[at] - 1 : 0;
    }
}

/* ---- several divisions ---- */

/* Adds a crossing to a division of the axis with the same parts, or to a new one. Returns the number of the division. */
static uint32_t add_to_division(place_walk *walk, const dfl_crossing *c)
{
    division one = { .first = dfl_paths_place(walk->nest->paths, c->footprint->einsum, walk->axis), .parts = 1, .listed = true };
    uint32_t steps[DFL_MAX_STEPS], d = 0;
    const uint32_t own = list_digits(walk, c, steps);

    for (uint32_t i = 0; i < own; i++) {
        one.parts *= dfl_link_parts(walk->nest, c, steps[i]);
        if (i < DIGITS)
            one.digits[one.n_digits++] = (digit){ .parts = dfl_link_parts(walk->nest, c, steps[i]), .n = 1 };
    }
    for (; d < walk->n; d++) {
        const division *of = &walk->divisions[d];
        bool like = of->listed && of->first == one.first && of->n_digits == own;
        for (uint32_t i = 0; i < own && like; i++)
            like = of->digits[i].parts == one.digits[i].parts;
        if (like)
            break;
    }
    if (d == walk->n)
        walk->divisions[d] = one;
    division *of = &walk->divisions[d];
    bool listed = own <= DIGITS && !does_forward(walk, c);
    for (uint32_t i = 0; i < own && listed; i++) {
        digit *to = &of->digits[i];
        listed = add_crossing_starts(walk, c, steps[i], to);
        if (listed && c->valued && (c->still >> steps[i] & 1) && (to->n == 1 || to->starts[1] > 1)) {
            /* values return to coordinate 0 of the step alone */
            listed = to->n < STARTS;
            if (listed) {
                memmove(&to->starts[2], &to->starts[1], (to->n - 1) * sizeof to->starts[0]);
                to->starts[1] = 1;
                to->n++;
            }
        }
    }
    if (!listed) {
        d = walk->n;
        one.listed = false;
        walk->divisions[d] = one;
        compare_coordinates(walk, c, &walk->divisions[d]);
    }
    walk->n += d == walk->n;
    return d;
}

/* Sets the classes of a division to the combinations of those of its digits. */
static void combine_digits(const place_walk *walk, division *of)
{
    of->n = 1;
    for (uint32_t d = 0; d < of->n_digits; d++) {
        trim_starts(&of->digits[d]);
        of->n *= of->digits[d].n;
    }
    of->class = DFL_NEW_ARRAY(walk->nest->arena, uint32_t, (size_t)of->parts);
    int64_t at[DIGITS] = { 0 };
    uint32_t start[DIGITS] = { 0 };
    for (int64_t q = 0; q < of->parts; q++) {
        for (uint32_t d = 0; d < of->n_digits; d++)
            of->class[q] = of->class[q] * of->digits[d].n + start[d];
        for (uint32_t d = of->n_digits; d-- > 0;) {
            const digit *the = &of->digits[d];
            const bool wraps = ++at[d] == the->parts;
            at[d] = wraps ? 0 : at[d];
            start[d] = wraps ? 0 : start[d] + (start[d] + 1 < the->n && the->starts[start[d] + 1] == at[d]);
            if (!wraps)
                break;
        }
    }
}

/* The class of a coordinate of the axis. */
static uint32_t find_class(const division *of, int64_t q)
{
    return q >= of->first && q - of->first < of->parts ? of->class[q - of->first] : of->n;
}

/* Splits the classes `id` [coordinate] by those of a division. Returns their number. Classes are numbered in the order of their
   lowest coordinates. */
static uint32_t refine(const place_walk *walk, const division *of, uint32_t *id)
{
    typedef struct { uint32_t id, class, to; } pair;
    const uint32_t slots = count_slots((size_t)walk->used);
    pair *table = DFL_NEW_ARRAY(walk->nest->arena, pair, slots); /* `to` + 1, 0 = free */
    uint32_t n = 0;

    for (int64_t q = 0; q < walk->used; q++) {
        const uint32_t class = find_class(of, q), key[] = { id[q], class };
        uint32_t at = (uint32_t)dfl_hash(key, sizeof key, 0) & (slots - 1);
        while (table[at].to && (table[at].id != id[q] || table[at].class != class))
            at = (at + 1) & (slots - 1);
        if (!table[at].to)
            table[at] = (pair){ id[q], class, ++n };
        id[q] = table[at].to - 1;
    }
    return n;
}

/* Lists the places: the lowest coordinate of each combination of the classes of all crossings. */
static void list_combined(place_walk *walk, dfl_link_places *out)
{
    dfl_arena *arena = walk->nest->arena;
    const uint32_t n = walk->array->n;
    uint32_t *division_of = DFL_NEW_ARRAY(arena, uint32_t, n + 1), *id, **class;

    walk->divisions = DFL_NEW_ARRAY(arena, division, n + 1);
    for (uint32_t k = 0; k < n && walk->ok; k++)
        division_of[k] = add_to_division(walk, &walk->all->at[walk->array->crossings[k]]);
    for (uint32_t d = 0; d < walk->n && walk->ok; d++) {
        const division *of = &walk->divisions[d];
        walk->used = of->first + of->parts > walk->used ? of->first + of->parts : walk->used;
    }
    walk->ok = walk->ok && dfl_budget_spend(dfl_arena_budget(arena), (uint64_t)walk->used * (walk->n + 1));
    if (!walk->ok)
        return;
    id = DFL_NEW_ARRAY(arena, uint32_t, (size_t)walk->used);
    out->n = 1;
    for (uint32_t d = 0; d < walk->n; d++) {
        if (walk->divisions[d].listed)
            combine_digits(walk, &walk->divisions[d]);
        out->n = refine(walk, &walk->divisions[d], id);
    }
    out->at = DFL_NEW_ARRAY(arena, int64_t, out->n);
    out->class = dfl_arena_alloc(arena, n + 1, sizeof *out->class, _Alignof(uint32_t *));
    out->n_classes = DFL_NEW_ARRAY(arena, uint32_t, n + 1);
    for (int64_t q = walk->used; q-- > 0;)
        out->at[id[q]] = q;
    class = dfl_arena_alloc(arena, walk->n + 1, sizeof *class, _Alignof(uint32_t *));
    for (uint32_t d = 0; d < walk->n; d++) {
        class[d] = DFL_NEW_ARRAY(arena, uint32_t, out->n);
        for (uint32_t k = 0; k < out->n; k++)
            class[d][k] = find_class(&walk->divisions[d], out->at[k]);
    }
    for (uint32_t k = 0; k < n; k++) {
        out->class[k] = class[division_of[k]];
        out->n_classes[k] = walk->divisions[division_of[k]].n + 1;
    }
}

bool dfl_link_places_find(dfl_nest *nest, const dfl_crossings *all, const dfl_crossed_array *array, uint32_t axis,
                          dfl_link_places *out)
{
    place_walk walk = { .nest = nest, .all = all, .array = array, .axis = axis, .used = 1, .ok = true };

    *out = (dfl_link_places){ .n = 0 };
    if (!list_common(&walk, out))
        list_combined(&walk, out);
    return walk.ok;
}
