#include "ir/path/fan_out.h"

static const char *text(const dfl_intern *names, dfl_sym s) { return dfl_sym_text(names, s); }

int64_t dfl_path_parts(const dfl_path_step *step)
{
    int64_t parts = dfl_ceil_div(step->nominal, step->tile);

    return step->line->by == DFL_BY_PARTS && step->line->amount > parts ? step->line->amount : parts;
}

static void report_fan_out(dfl_sink *sink, const dfl_intern *names, const dfl_axis *axis, const dfl_line *line, dfl_i128 product)
{
    char digits[41];
    dfl_diag *d;

    dfl_i128_text(product, digits);
    d = dfl_report(sink, DFL_MAP_TOO_MANY_INSTANCES, line->span, "%s instances are needed on axis `%s`, which has %lld", digits,
                   text(names, axis->name), (long long)axis->size);
    dfl_diag_here(sink, d, "the product of the parts on this axis exceeds its size here");
    dfl_diag_label(sink, d, axis->span, "`%s` is declared here", text(names, axis->name));
    dfl_diag_help(sink, d, "split into at most %lld parts, and iterate the rest with `temporal`", (long long)axis->size);
}

bool dfl_path_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p)
{
    const dfl_system *s = m->system;
    bool ok = true;

    for (uint32_t a = 0; a < s->n_axes; a++) {
        dfl_i128 product = 1;
        for (uint32_t i = 0; i < p->n_steps; i++) {
            const dfl_path_step *step = &p->steps[i];
            if (step->line->kind != DFL_LINE_SPATIAL || step->line->axis != a || step->rank == DFL_NONE)
                continue;
            if (p->compute != DFL_NONE && !dfl_axis_encloses(s, a, s->computes[p->compute].element)) {
                dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, step->line->span,
                                         "axis `%s` does not multiply the unit that runs einsum `%s`",
                                         text(names, s->axes[a].name),
                                         text(names, m->workload->einsums[p->einsum].name));
                dfl_diag_label(sink, d, s->computes[p->compute].span, "`%s` lies outside the array",
                               text(names, s->computes[p->compute].name));
                dfl_diag_help(sink, d, "use a `temporal` loop, or run the einsum on a unit inside the array");
                ok = false;
                break;
            }
            product = product > ((dfl_i128)1 << 62) ? product : product * dfl_path_parts(step);
            if (product > s->axes[a].size) {
                report_fan_out(sink, names, &s->axes[a], step->line, product);
                ok = false;
                break;
            }
        }
    }
    return ok;
}

/* ---- mappings with holes ---- */

/* Whether a search may add lines just above line `at` of a body. */
static bool is_open_before(const dfl_body *b, uint32_t at)
{
    bool open = false;

    for (uint32_t o = 0; o < b->n_opens; o++)
        open |= b->opens[o].at == at;
    for (uint32_t c = 0; c < b->n_choices; c++)
        open |= b->choices[c].at == at;
    return open;
}

/* The tile of a rank above line `at` of a body; 0 if the tile depends on the holes. */
static int64_t find_tile_above(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t rank)
{
    for (; b != NULL; b = b->parent, at = b != NULL ? b->n_lines : 0) {
        for (; !is_open_before(b, at) && at > 0; at--) {
            const dfl_line *l = &b->lines[at - 1];
            if (l->kind != DFL_LINE_KEEP && l->rank == rank)
                return l->by == DFL_BY_SIZE && l->only == NULL ? l->amount : 0;
        }
        if (at > 0 || is_open_before(b, 0))
            return 0;
    }
    return m->workload->ranks[rank].extent;
}

/* Lower bound of the instances that a line takes for an einsum, over all ways to fill the holes. */
static int64_t count_least_parts(const dfl_mapping *m, const dfl_body *b, uint32_t at)
{
    const dfl_line *l = &b->lines[at];
    const int64_t tile = l->by == DFL_BY_SIZE ? find_tile_above(m, b, at, l->rank) : 0;

    return l->by == DFL_BY_PARTS ? l->amount : tile > l->amount ? dfl_ceil_div(tile, l->amount) : 1;
}

/* Lower bound of the instances of an axis that the lines above the end of a body take for one einsum; false after
   reporting. */
static bool check_fan_out(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_body *b, uint32_t einsum,
                          uint32_t axis, dfl_i128 *product)
{
    *product = 1;
    if (b->parent != NULL && !check_fan_out(sink, names, m, b->parent, einsum, axis, product))
        return false;
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *l = &b->lines[i];
        if (l->kind != DFL_LINE_SPATIAL || l->axis != axis || l->only != NULL || l->rank == DFL_NONE ||
            !dfl_einsum_has_rank(&m->workload->einsums[einsum], l->rank))
            continue;
        *product *= count_least_parts(m, b, i);
        if (*product > m->system->axes[axis].size) {
            report_fan_out(sink, names, &m->system->axes[axis], l, *product);
            return false;
        }
    }
    return true;
}

bool dfl_mapping_check_axes(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_i128 product;
    bool ok = true;

    for (uint32_t b = 0; b < m->n_bodies && ok; b++)
        for (uint32_t e = 0; e < m->bodies[b]->n_einsums && ok && m->bodies[b]->n_children == 0; e++)
            for (uint32_t a = 0; a < m->system->n_axes && ok; a++)
                ok = check_fan_out(sink, names, m, m->bodies[b], m->bodies[b]->einsums[e], a, &product);
    return ok;
}
