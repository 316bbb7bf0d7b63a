#include "plan/layout/step_points.h"

#include "plan/layout/largest.h"
#include "plan/layout/rows.h"
#include "support/vec.h"

/* Parts of a rank of one length. */
typedef struct { int64_t length; dfl_i128 count; } part_length;
typedef DFL_VEC(part_length) part_vec;

static void add_parts(const dfl_frame *f, part_vec *to, int64_t length, dfl_i128 count)
{
    for (size_t i = 0; i < to->n; i++)
        if (to->at[i].length == length) {
            to->at[i].count += count;
            return;
        }
    if (length > 0 && count > 0)
        DFL_PUSH(f->arena, to, ((part_length){ length, count }));
}

/* The parts of one that a group divides, of which a whole one has `nominal` values. */
static void divide(const dfl_frame *f, part_vec *to, const part_length *whole, const dfl_slot *slot, int64_t nominal)
{
    const int64_t part = slot->is_cyclic ? whole->length / slot->count : dfl_ceil_div(nominal, slot->count);
    const int64_t n = slot->is_cyclic ? slot->count : whole->length / part, rest = whole->length - n * part;

    if (slot->is_cyclic) {
        add_parts(f, to, part + 1, whole->count * rest);
        add_parts(f, to, part, whole->count * (n - rest));
        return;
    }
    add_parts(f, to, part, whole->count * n);
    add_parts(f, to, rest, whole->count);
}

/* The first part of one that a group divides. */
static int64_t first_part(int64_t length, const dfl_slot *slot, int64_t nominal)
{
    const int64_t part = dfl_ceil_div(slot->is_cyclic ? length : nominal, slot->count);

    return part < length ? part : length;
}

/* What passes of `pass` values take of a part that lies in `joined` blocks, the points of which go to rows together. */
static void cut(const dfl_frame *f, part_vec *to, const part_length *whole, int64_t joined, int64_t block, int64_t pass)
{
    for (int64_t i = 0; i * pass < block; i++) {
        int64_t length = 0;

        for (int64_t k = 0; k < joined && k * block < whole->length; k++) {
            const int64_t left = whole->length - k * block, of = (left < block ? left : block) - i * pass;

            length += of < 0 ? 0 : of < pass ? of : pass;
        }
        add_parts(f, to, length, whole->count);
    }
}

/* The values of a rank that the passes of the chips of a group have. */
static part_vec lengths_of(const dfl_frame *f, uint32_t einsum, uint32_t rank, uint64_t together)
{
    const dfl_body *root = f->mapping->root;
    int64_t nominal = f->workload->ranks[rank].extent, joined = 1, block, pass;
    part_vec parts = { 0 }, out = { 0 };

    add_parts(f, &parts, nominal, 1);
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_line *line = dfl_frame_line(f, einsum, s);
        part_vec next = { 0 };

        if (line == NULL || f->slots[s].count == 1)
            continue;
        if (dfl_frame_goes(f, einsum, s)) {
            line = dfl_rows_replaced(f, line, einsum);
            joined *= line != NULL && line->rank == rank ? f->slots[s].count : 1;
            continue;
        }
        if (line->rank != rank)
            continue;
        for (size_t i = 0; i < parts.n; i++)
            if (together >> s & 1)
                divide(f, &next, &parts.at[i], &f->slots[s], nominal);
            else
                add_parts(f, &next, first_part(parts.at[i].length, &f->slots[s], nominal), parts.at[i].count);
        nominal = dfl_ceil_div(nominal, f->slots[s].count);
        parts = next;
    }
    block = pass = dfl_ceil_div(nominal, joined);
    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_TEMPORAL && root->lines[i].rank == rank)
            pass = root->lines[i].by == DFL_BY_PARTS ? dfl_ceil_div(pass, root->lines[i].amount)
                   : root->lines[i].amount < pass ? root->lines[i].amount : pass;
    for (size_t i = 0; i < parts.n; i++)
        cut(f, &out, &parts.at[i], joined, block, pass);
    return out;
}

bool dfl_step_points_find(const dfl_frame *f, uint32_t einsum, uint64_t together, dfl_step_points *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_points *points = &f->points[einsum];
    part_vec all = { 0 };
    bool overflow = false;

    add_parts(f, &all, 1, 1);
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        part_vec next = { 0 }, of;

        if (!dfl_rows_has_position(f, einsum, e->ranks[i]) || f->repeats[e->ranks[i]])
            continue;
        of = lengths_of(f, einsum, e->ranks[i], together);
        for (size_t a = 0; a < all.n; a++)
            for (size_t b = 0; b < of.n; b++) {
                int64_t length = 0;
                dfl_i128 count = 0;

                overflow |= __builtin_mul_overflow(all.at[a].length, of.at[b].length, &length) ||
                            dfl_mul(all.at[a].count, of.at[b].count, &count);
                add_parts(f, &next, length, count);
            }
        all = next;
    }
    *out = (dfl_step_points){ 0, 0 };
    for (size_t i = 0; i < all.n && !overflow; i++) {
        const int64_t largest = dfl_largest_part(all.at[i].length, points->parts, points->load, points->uneven);
        dfl_i128 n;

        overflow |= dfl_mul(all.at[i].count, all.at[i].length, &n) || dfl_add(out->total, n, &out->total) ||
                    dfl_mul(all.at[i].count, points->parts > 1 ? largest : all.at[i].length, &n) ||
                    dfl_add(out->largest, n, &out->largest);
    }
    return overflow;
}

void dfl_step_points_renew(dfl_frame *f, uint32_t einsum)
{
    dfl_points *out = &f->points[einsum];
    uint64_t together = 0;
    uint32_t gather;
    dfl_step_points all;
    dfl_i128 n;

    if (f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE || out->parts == 1)
        return;
    gather = (uint32_t)(f->gather_of[einsum] - f->workload->einsums);
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_line *a = dfl_frame_line(f, gather, s), *b = dfl_frame_line(f, einsum, s);

        together |= (uint64_t)(a != NULL && (b == NULL || b->rank != a->rank)) << s;
    }
    out->largest = out->total; /* never more */
    if (dfl_step_points_find(f, gather, together, &all) || dfl_mul(all.largest, out->total, &n))
        return;
    n = (n + all.total - 1) / all.total;
    out->largest = n < out->total ? (int64_t)n : out->total;
}
