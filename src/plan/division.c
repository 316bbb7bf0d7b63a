/*
 * How the amounts of the lines on axes of chips divide the axes: the slots of the frame without their strides, built line by
 * line. A search so leaves out all amounts behind a line whose groups do not divide their axis.
 */
#include <string.h>

#include "plan/layout/frame.h"
#include "plan/layout/lines.h"
#include "plan/layout/outside.h"
#include "plan/plan.h"
#include "support/vec.h"

/* A slot, as far as the product of an axis depends on it. */
typedef struct {
    uint32_t axis;
    int64_t count;
    bool has_stages;
    uint64_t *lines;               /* [n_words]: set of the spatial lines in it */
} slot_count;

/* The slots after the lines that were put so far. */
typedef struct {
    slot_count *slots; uint32_t n;
} slot_list;

struct dfl_plan_division {
    dfl_frame frame;               /* only its members from dfl_frame_open */
    uint32_t *spatial;             /* [line of the root]: number of the spatial line; DFL_NONE = another line */
    uint64_t *together;            /* [spatial line][n_words]: set of the lines that divide a rank of the same einsum */
    uint32_t n_words;              /* words of 64 bits of a set of spatial lines */
    slot_list *after;              /* [spatial line + 1]: slots after this line; [0] is empty */
    uint32_t n_lines, n_put;
};

/* Sets `together`. */
static void find_together(dfl_plan_division *d)
{
    const dfl_body *root = d->frame.mapping->root;
    uint64_t *of_einsum = DFL_NEW_ARRAY(d->frame.arena, uint64_t, d->n_words);

    d->together = DFL_NEW_ARRAY(d->frame.arena, uint64_t, (size_t)d->n_lines * d->n_words + 1);
    for (uint32_t e = 0; e < d->frame.workload->n_einsums; e++) {
        memset(of_einsum, 0, d->n_words * sizeof *of_einsum);
        for (uint32_t i = 0; i < root->n_lines; i++)
            if (d->spatial[i] != DFL_NONE && dfl_frame_applies(&d->frame, &root->lines[i], e))
                of_einsum[d->spatial[i] / 64] |= UINT64_C(1) << d->spatial[i] % 64;
        for (uint32_t i = 0; i < d->n_lines; i++)
            for (uint32_t k = 0; k < d->n_words && (of_einsum[i / 64] >> i % 64 & 1) != 0; k++)
                d->together[(size_t)i * d->n_words + k] |= of_einsum[k];
    }
}

/* Whether a slot has no line that divides a rank of the same einsum as line `k`. */
static bool is_free(const dfl_plan_division *d, const slot_count *slot, uint32_t k)
{
    for (uint32_t i = 0; i < d->n_words; i++)
        if ((slot->lines[i] & d->together[(size_t)k * d->n_words + i]) != 0)
            return false;
    return true;
}

dfl_plan_division *dfl_plan_division_new(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    const dfl_body *root = mapping->root;
    dfl_plan_division *d = DFL_NEW(arena, dfl_plan_division);

    d->frame = dfl_frame_open(arena, sink, names, mapping);
    d->spatial = DFL_NEW_ARRAY(arena, uint32_t, (size_t)root->n_lines + 1);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];

        d->spatial[i] = line->kind == DFL_LINE_SPATIAL ? d->n_lines++ : DFL_NONE;
        if (d->spatial[i] != DFL_NONE && !dfl_frame_is_chip_axis(&d->frame, line->axis))
            return NULL;
    }
    if (d->frame.home == DFL_NONE)
        return NULL;
    d->n_words = d->n_lines / 64 + 1;
    d->after = DFL_NEW_ARRAY(arena, slot_list, (size_t)d->n_lines + 1);
    for (uint32_t i = 0; i <= d->n_lines; i++)
        d->after[i].slots = DFL_NEW_ARRAY(arena, slot_count, (size_t)i + 1);
    for (uint32_t i = 0; i <= d->n_lines; i++)
        for (uint32_t s = 0; s < i; s++)
            d->after[i].slots[s].lines = DFL_NEW_ARRAY(arena, uint64_t, d->n_words);
    find_together(d);
    return d;
}

/* Whether the groups of an axis divide it; `used` is their product. */
static bool divides_axis(const dfl_plan_division *d, const slot_list *list, uint32_t axis, int64_t *used)
{
    const int64_t size = d->frame.system->axes[axis].size;

    *used = 1;
    for (uint32_t s = 0; s < list->n; s++)
        if (list->slots[s].axis == axis && __builtin_mul_overflow(*used, list->slots[s].count, used))
            return false;
    return size % *used == 0;
}

bool dfl_plan_division_put(dfl_plan_division *d, uint32_t line, const dfl_line *with)
{
    const uint32_t k = d->spatial[line];
    const int64_t parts = dfl_frame_parts(&d->frame, with);
    slot_list *list = &d->after[k + 1];
    uint32_t at = 0;
    int64_t used;

    d->n_put = k + 1;
    list->n = d->after[k].n;
    for (uint32_t s = 0; s < list->n; s++) {
        uint64_t *lines = list->slots[s].lines;

        memcpy(lines, d->after[k].slots[s].lines, d->n_words * sizeof *lines);
        list->slots[s] = d->after[k].slots[s];
        list->slots[s].lines = lines;
    }
    while (at < list->n && (list->slots[at].axis != with->axis || list->slots[at].count != parts ||
                            !is_free(d, &list->slots[at], k) || list->slots[at].has_stages != (with->stages != NULL)))
        at++;
    if (at == list->n) {
        uint64_t *lines = list->slots[list->n].lines;

        memset(lines, 0, d->n_words * sizeof *lines);
        list->slots[list->n++] = (slot_count){ .axis = with->axis, .count = parts, .has_stages = with->stages != NULL,
                                               .lines = lines };
    }
    list->slots[at].lines[k / 64] |= UINT64_C(1) << k % 64;
    return divides_axis(d, list, with->axis, &used);
}

/* The product of the groups that the split homes of an axis need beside those of the lines, times `used`: as
   dfl_frame_build adds them. False if it exceeds the axis. */
static bool multiply_splits(const dfl_plan_division *d, uint32_t axis, int64_t *used)
{
    const dfl_body *root = d->frame.mapping->root;
    const slot_list *list = &d->after[d->n_put];
    DFL_VEC(int64_t) added = { 0 };

    for (uint32_t i = 0; i < root->n_lines; i++)
        for (uint32_t k = 0; k < root->lines[i].n_splits; k++) {
            const dfl_home_split *split = &root->lines[i].splits[k];
            const int64_t parts = dfl_split_parts(&d->frame, split);
            uint32_t wanted = 1, found = 0;

            if (split->axis != axis)
                continue;
            for (uint32_t j = 0; j < k; j++)
                wanted += root->lines[i].splits[j].axis == axis && dfl_split_parts(&d->frame, &root->lines[i].splits[j]) == parts;
            for (uint32_t s = 0; s < list->n; s++)
                found += list->slots[s].axis == axis && list->slots[s].count == parts && !list->slots[s].has_stages;
            for (size_t s = 0; s < added.n; s++)
                found += added.at[s] == parts;
            if (found >= wanted)
                continue;
            if (__builtin_mul_overflow(*used, parts, used))
                return false;
            DFL_PUSH(d->frame.arena, &added, parts);
        }
    return true;
}

bool dfl_plan_division_is_full(const dfl_plan_division *d)
{
    for (uint32_t a = 0; a < d->frame.system->n_axes; a++) {
        int64_t used;

        if (!dfl_frame_is_chip_axis(&d->frame, a))
            continue;
        if (!divides_axis(d, &d->after[d->n_put], a, &used) || !multiply_splits(d, a, &used) ||
            used != d->frame.system->axes[a].size)
            return false;
    }
    return true;
}

uint32_t dfl_plan_undivided_axis(const dfl_mapping *m)
{
    const dfl_system *s = m->system;
    const uint32_t home = dfl_outside_find_chip(m);

    for (uint32_t a = 0; a < s->n_axes && home != DFL_NONE; a++) {
        bool is_divided = s->axes[a].size == 1 || !dfl_axis_encloses(s, a, s->memories[home].element);

        for (uint32_t i = 0; i < m->root->n_lines && !is_divided; i++)
            is_divided = m->root->lines[i].kind == DFL_LINE_SPATIAL && m->root->lines[i].axis == a;
        if (!is_divided)
            return a;
    }
    return DFL_NONE;
}
