#include "plan/exchange/halo_exchanges.h"

#include "plan/layout/halos.h"
#include "plan/layout/lines.h"

/* Adds a message for each side of a halo: of what instances lack before the first of the einsums, or of what they have made of
   the neighbours' parts behind the last of them. False after a report. */
static bool add_sides(const dfl_reaches *r, dfl_exchange_place place, uint32_t dim, uint32_t slot, const dfl_halo *halo,
                      dfl_exchange_vec *out)
{
    const dfl_frame *f = r->frame;
    const uint32_t einsum = r->at[place == DFL_EXCHANGE_BEFORE ? 0 : r->n - 1].einsum;
    dfl_plan_exchange x = { .kind = DFL_COLLECTIVE_POINT_TO_POINT, .place = place, .tensor = r->tensor, .einsum = einsum,
                            .phase = f->workload->einsums[einsum].phase, .slots = UINT64_C(1) << slot, .is_halo = true };
    dfl_i128 section;

    for (int side = 0; side < 2; side++) {
        const int64_t depth = side == 0 ? halo->before : halo->behind;

        if (depth == 0)
            continue;
        if (dfl_halo_section(r, dim, slot, side == 1, &section) ||
            dfl_mul(section, f->workload->tensors[r->tensor].type.bits, &section) || dfl_mul(section, depth, &x.bits)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, r->at[0].access->span, "a count of this plan exceeds 128 bits");
            return false;
        }
        if (x.bits == 0) /* all of it lies outside of the tensor */
            continue;
        if (place == DFL_EXCHANGE_BEFORE) {
            x.readers = DFL_NEW(f->arena, uint32_t);
            x.readers[0] = einsum;
            x.n_readers = 1;
        }
        DFL_PUSH(f->arena, out, x);
    }
    return true;
}

/* ---- operands ---- */

/* Refuses a halo that takes its corners from a dimension that the einsum divides and that every chip of a slot has whole: no
   message brings them. Refuses a halo whose corners pass through chips that read only a part of their own elements: such a chip
   passes on more elements than it needs itself, and the messages are counted by what chips need. False after a report. */
static bool check_corners(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                          const dfl_layout *asked, uint32_t slot)
{
    const dfl_reaches all = dfl_halo_operands(f, einsum, access->tensor);

    for (uint32_t s = 0; s < f->n_slots; s++)
        if (s != slot && asked[s] >= 0 && asked[s] != asked[slot] && f->slots[s].count > 1 && f->slots[s].stages == NULL &&
            from[s] == DFL_LAYOUT_REPLICATED &&
            dfl_halo_has_corner(&all, (uint32_t)asked[slot], (uint32_t)asked[s]))
            return dfl_frame_refuse(f, access->span, "a window in two divided dimensions of which a chip has one whole",
                                    "divide the tensor at home as its reader does");
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (s != slot && asked[s] >= 0 && asked[s] != asked[slot] && f->slots[s].count > 1 && f->slots[s].stages == NULL &&
            dfl_halo_has_corner(&all, (uint32_t)asked[slot], (uint32_t)asked[s]) &&
            !dfl_halo_is_filled(&all, (uint32_t)asked[s], s))
            return dfl_frame_refuse(f, access->span, "a shift in two divided dimensions, whose corners pass through neighbours,",
                                    "divide one of the dimensions, or read the position without the offset, too");
    return true;
}

bool dfl_operand_halos_add(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                           const dfl_layout *asked, uint32_t slot, dfl_exchange_vec *out)
{
    const dfl_reaches all = dfl_halo_operands(f, einsum, access->tensor);
    dfl_halo halo;

    if (!dfl_halo_find(&all, (uint32_t)asked[slot], slot, &halo))
        return false;
    if ((halo.before > 0 || halo.behind > 0) && !check_corners(f, einsum, access, from, asked, slot))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].is_halo && out->at[i].place == DFL_EXCHANGE_BEFORE && out->at[i].einsum == einsum &&
            out->at[i].tensor == access->tensor && out->at[i].slots == UINT64_C(1) << slot)
            return true;
    return add_sides(&all, DFL_EXCHANGE_BEFORE, (uint32_t)asked[slot], slot, &halo, out);
}

bool dfl_operand_halos_check(const dfl_frame *f, uint32_t einsum, const dfl_access *access, const dfl_layout *asked,
                             uint64_t beside)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_reaches alike = { .frame = f, .tensor = access->tensor,
                          .at = DFL_NEW_ARRAY(f->arena, dfl_reach, (size_t)e->n_inputs + 1) };
    uint32_t bare;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (dfl_halo_is_alike(access, &e->inputs[i]))
            alike.at[alike.n++] = (dfl_reach){ einsum, &e->inputs[i] };
    for (uint32_t s = 0; s < f->n_slots; s++)
        if ((beside >> s & 1) != 0 && f->slots[s].count > 1 && !dfl_index_is_bare(&access->index[asked[s]], &bare) &&
            !dfl_halo_is_filled(&alike, (uint32_t)asked[s], s))
            return dfl_frame_refuse(f, access->span, "an exchange of an operand that chips read at an offset alone",
                                    "divide the operand at home as its reader");
    return true;
}

/* ---- results ---- */

/* The einsums that make a result whose elements each instance has in its home or sends to a neighbour. */
static dfl_reaches makers_of(const dfl_frame *f, uint32_t einsum)
{
    const dfl_workload *w = f->workload;
    const uint32_t tensor = dfl_frame_target(f, einsum);
    dfl_reaches out = { .frame = f, .tensor = tensor, .at = DFL_NEW_ARRAY(f->arena, dfl_reach, (size_t)w->n_einsums + 1) };

    for (uint32_t e = 0; e <= einsum; e++)
        if (w->einsums[e].output.tensor == tensor && !dfl_einsum_is_start(&w->einsums[e]))
            out.at[out.n++] = (dfl_reach){ e, &w->einsums[e].output };
    return out;
}

/* Whether other groups sum what an einsum makes. */
static bool leaves_sums(const dfl_frame *f, uint32_t einsum)
{
    bool found = false;

    for (uint32_t s = 0; s < f->n_slots; s++)
        found |= f->slots[s].count > 1 && f->slots[s].stages == NULL && dfl_layout_made(f, einsum, s) == DFL_LAYOUT_PARTIAL;
    return found;
}

/* Refuses windows of a result that a home does not take block by block. False after a report. */
static bool check_beside(const dfl_frame *f, const dfl_layouts *l, const dfl_reaches *r, uint32_t dim, uint32_t slot)
{
    const dfl_access *access = r->at[r->n - 1].access;

    if (dfl_layout_home(l, r->tensor, slot) != (dfl_layout)dim)
        return dfl_frame_refuse(f, access->span, "a result with a window whose home is not divided along it",
                                "divide the window in all einsums that make the result");
    for (uint32_t i = 0; i < r->n; i++) { /* sums are those of the einsum alone, which makes less than the largest part */
        const dfl_reaches one = { .frame = f, .tensor = r->tensor, .at = &r->at[i], .n = 1 };

        if (f->workload->tensors[r->tensor].extents[dim] % f->slots[slot].count != 0 &&
            !dfl_halo_is_filled(leaves_sums(f, r->at[i].einsum) ? &one : r, dim, slot))
            return dfl_frame_refuse(f, access->span, "a result that is shifted among unequal parts",
                                    "divide it into equal parts");
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (!dfl_halo_has_steps(f, r->at[i].einsum, &r->at[i].access->index[dim], slot))
            return dfl_frame_refuse(f, r->at[i].access->span, "a result with a divided window that leaves out elements",
                                    "divide another rank");
    for (uint32_t i = 0; i < r->n; i++) {
        const dfl_line *line = dfl_frame_line(f, r->at[i].einsum, slot);

        if (line == NULL || dfl_index_coef(&r->at[i].access->index[dim], line->rank) < 1)
            return dfl_frame_refuse(f, r->at[i].access->span, "a result with a window that another einsum makes whole",
                                    "divide the dimension in all einsums that make the result");
    }
    return true;
}

bool dfl_result_halos_add(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, dfl_exchange_vec *out)
{
    const dfl_reaches r = makers_of(f, einsum);
    dfl_halo halo;

    for (uint32_t s = f->n_slots; s-- > 0 && r.n > 0 && !f->workload->tensors[r.tensor].gathered;) {
        dfl_layout dim = DFL_LAYOUT_REPLICATED;
        uint32_t bare;

        for (uint32_t i = 0; i < r.n && f->slots[s].stages == NULL && f->slots[s].count > 1; i++) {
            const dfl_layout made = dfl_layout_made(f, r.at[i].einsum, s);

            if (made >= 0 && !dfl_index_is_bare(&r.at[i].access->index[made], &bare))
                dim = made;
        }
        if (dim < 0)
            continue;
        if (!check_beside(f, l, &r, (uint32_t)dim, s) || !dfl_halo_find(&r, (uint32_t)dim, s, &halo) ||
            !add_sides(&r, DFL_EXCHANGE_AFTER, (uint32_t)dim, s, &halo, out))
            return false;
    }
    return true;
}
