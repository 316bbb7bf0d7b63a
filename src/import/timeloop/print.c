/* Writes a run as .dfl text. */
#include "import/timeloop/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/dfl_writer.h"
#include "import/timeloop/holes.h"

typedef enum { EXACT, FRESH, WINDOW } keep_mode;
typedef dfl_tl_printer printer;

/* ---- names ---- */

static bool spreads(const dfl_tl_level *l, bool on_y)
{
    for (uint32_t i = 0; i < l->n_spatial; i++) {
        if (l->spatial[i].on_y == on_y)
            return true;
    }
    return false;
}

static void name_levels(printer *p, dfl_name_table *names)
{
    const dfl_tl_file *f = p->f;
    dfl_arena *arena = f->report->arena;

    for (uint32_t k = f->n_levels; k-- > 0;)
        p->levels[k] = dfl_name_make(names, f->levels[k].name);
    for (uint32_t k = f->n_levels; k-- > 0;) {
        int64_t fan[2];

        dfl_tl_fan_out(f, k, fan);
        for (int y = 0; y < 2; y++) {
            if (fan[y] > 1 || spreads(&f->levels[k], y == 1))
                p->axes[k][y] = dfl_name_make(names, dfl_arena_printf(arena, "%c_%s", "xy"[y], p->levels[k]));
        }
        if (p->axes[k][0] != NULL || p->axes[k][1] != NULL)
            p->links[k] = dfl_name_make(names, dfl_arena_printf(arena, "%s_links", p->levels[k]));
    }
    p->unit = dfl_name_make(names, f->tree != NULL ? f->mac_name : "macs");
    p->latch = dfl_name_make(names, "latch");
}

static void make_names(printer *p)
{
    const dfl_tl_file *f = p->f;
    dfl_arena *arena = f->report->arena;
    dfl_name_table work, machine, top;

    dfl_name_table_init(&work, arena);
    dfl_name_table_init(&machine, arena);
    dfl_name_table_init(&top, arena);
    p->workload = dfl_name_make(&top, "problem");
    p->system = dfl_name_make(&top, "arch");
    p->mapping = dfl_name_make(&top, "mapped");
    p->dims = DFL_NEW_ARRAY(arena, const char *, f->n_dims + 1);
    p->tensors = DFL_NEW_ARRAY(arena, const char *, f->n_tensors);
    p->levels = DFL_NEW_ARRAY(arena, const char *, f->n_levels);
    p->links = DFL_NEW_ARRAY(arena, const char *, f->n_levels);
    p->axes = DFL_NEW_ARRAY(arena, dfl_tl_axis_names, f->n_levels);
    for (uint32_t d = 0; d < f->n_dims; d++)
        p->dims[d] = dfl_name_make(&work, dfl_arena_printf(arena, "%c", f->dims[d].letter));
    for (uint32_t t = 0; t < f->n_tensors; t++)
        p->tensors[t] = dfl_name_make(&work, f->tensors[t].name);
    name_levels(p, &machine);
}

/* ---- workload ---- */

static void print_index(printer *p, const dfl_tl_rank *rank)
{
    int64_t offset = 0;

    for (uint32_t i = 0; i < rank->n_terms; i++) {
        int64_t coef = rank->terms[i].coef;

        dfl_writer_term(&p->out, i == 0, coef, p->dims[rank->terms[i].dim]);
        offset += coef < 0 ? -coef * (p->f->dims[rank->terms[i].dim].bound - 1) : 0;
    }
    if (rank->n_terms == 0)
        dfl_strbuf_z(&p->out, "0");
    else if (offset > 0)
        dfl_strbuf_printf(&p->out, " + %lld", (long long)offset);
}

static void print_access(printer *p, uint32_t tensor)
{
    const dfl_tl_tensor *t = &p->f->tensors[tensor];

    dfl_strbuf_printf(&p->out, "%s[", p->tensors[tensor]);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        dfl_strbuf_z(&p->out, r > 0 ? ", " : "");
        print_index(p, &t->ranks[r]);
    }
    dfl_strbuf_z(&p->out, "]");
}

static void print_operand(printer *p, uint32_t tensor)
{
    const dfl_tl_tensor *t = &p->f->tensors[tensor];

    dfl_strbuf_printf(&p->out, "input %s[", p->tensors[tensor]);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        const dfl_tl_rank *rank = &t->ranks[r];
        int64_t extent = 1;

        dfl_strbuf_z(&p->out, r > 0 ? ", " : "");
        for (uint32_t i = 0; i < rank->n_terms; i++)
            extent += llabs(rank->terms[i].coef) * (p->f->dims[rank->terms[i].dim].bound - 1);
        if (rank->n_terms == 1 && rank->terms[0].coef == 1)
            dfl_strbuf_z(&p->out, p->dims[rank->terms[0].dim]);
        else
            dfl_strbuf_printf(&p->out, "dim%u: %lld", (unsigned)r, (long long)extent);
    }
    dfl_strbuf_z(&p->out, "];\n");
}

/* Whether the einsum needs an op: the source counts one operation per point, and only two operands make a MAC. */
static bool needs_op(const dfl_tl_file *f)
{
    return f->n_tensors > 3;
}

static void print_op(printer *p)
{
    dfl_strbuf_z(&p->out, "op product(");
    for (uint32_t i = 0; i + 1 < p->f->n_tensors; i++)
        dfl_strbuf_printf(&p->out, "%sx%u", i > 0 ? ", " : "", (unsigned)i);
    dfl_strbuf_z(&p->out, ") = 0FLOP;\n\n");
}

static void print_workload(printer *p)
{
    const dfl_tl_file *f = p->f;
    const char *sign = "", *between = needs_op(f) ? ", " : " * ";
    dfl_list_writer ranks = dfl_writer_list(&p->out, "rank ");

    if (needs_op(f))
        print_op(p);
    dfl_strbuf_printf(&p->out, "workload %s : bits(%lld) {\n", p->workload, (long long)f->word_bits);
    for (uint32_t d = 0; d < f->n_dims; d++) {
        if (!f->dims[d].read)
            continue;
        dfl_writer_item(&ranks);
        dfl_strbuf_printf(&p->out, "%s = %lld", p->dims[d], (long long)f->dims[d].bound);
    }
    dfl_writer_end_list(&ranks);
    for (uint32_t t = 0; t < f->n_tensors; t++) {
        if (t != f->output)
            print_operand(p, t);
    }
    dfl_strbuf_z(&p->out, "output ");
    print_access(p, f->output);
    dfl_strbuf_z(&p->out, needs_op(f) ? " += product(" : " += ");
    for (uint32_t t = 0; t < f->n_tensors; t++) {
        if (t == f->output)
            continue;
        dfl_strbuf_z(&p->out, sign);
        print_access(p, t);
        sign = between;
    }
    dfl_strbuf_z(&p->out, needs_op(f) ? ");\n}\n\n" : ";\n}\n\n");
}

/* ---- system ---- */

static void print_port(printer *p, const char *word, double energy, double rate)
{
    double bits = (double)p->f->word_bits;

    if (isinf(rate) && !p->f->priced)
        return;
    dfl_strbuf_printf(&p->out, "%s {\n", word);
    if (!isinf(rate))
        dfl_writer_quantity(&p->out, "bandwidth", rate * bits / 8, "B/cycle");
    if (p->f->priced)
        dfl_writer_quantity(&p->out, "energy", energy / bits, "pJ/bit");
    dfl_strbuf_z(&p->out, "}\n");
}

/* Whether the level becomes a memory: it has capacity, and the constraints let it hold a tensor. */
static bool is_memory(const dfl_tl_file *f, const dfl_tl_level *l)
{
    return l->entries != 0 && (f->mapping != NULL || (~l->bypass & dfl_tl_all(f)) != 0);
}

/* Leakage of one instance, mW. The source counts only the instances that a mapping uses, the result counts all. */
static double leakage_of(const dfl_tl_file *f, uint32_t k)
{
    int64_t used = 1, row, all;

    for (uint32_t i = k + 1; i < f->n_levels && f->mapping != NULL; i++) {
        dfl_tl_used(f, i, &row, &all);
        used *= all;
    }
    return f->levels[k].leak / (f->cycle * 1e9) * (f->mapping != NULL ? (double)used / (double)f->levels[k].instances : 1);
}

/* What Timeloop does not count: a result that leaves is not read. */
static void print_drain(printer *p, bool is_timed, bool is_priced)
{
    if (is_timed || is_priced)
        dfl_strbuf_printf(&p->out, "drain {\n%s%s}\n", is_timed ? "bandwidth = unlimited;\n" : "",
                          is_priced ? "energy = 0pJ/bit;\n" : "");
}

/* Whether results leave the level for another one that may hold them. Timeloop counts no read of theirs. */
static bool passes_results(const dfl_tl_file *f, uint32_t k)
{
    uint64_t results = UINT64_C(1) << f->output & ~f->levels[k].bypass, outside = 0;

    for (uint32_t i = k + 1; i < f->n_levels; i++)
        outside |= f->levels[i].entries != 0 ? ~f->levels[i].bypass : 0;
    return (results & outside) != 0;
}

static void print_memory(printer *p, uint32_t k)
{
    const dfl_tl_level *l = &p->f->levels[k];
    bool shared = !isinf(l->shared_rate);

    if (!is_memory(p->f, l)) {
        dfl_strbuf_printf(&p->out, "// %s holds nothing\n", p->levels[k]);
        return;
    }
    if (l->word_bits != p->f->word_bits)
        dfl_strbuf_printf(&p->out, "// words of %lld bits, counted as values of %lld\n", (long long)l->word_bits,
                          (long long)p->f->word_bits);
    dfl_strbuf_printf(&p->out, "memory %s {\n", p->levels[k]);
    if (l->entries < 0)
        dfl_strbuf_z(&p->out, "size = unlimited;\n");
    else if (l->entries * p->f->word_bits % 8 == 0)
        dfl_strbuf_printf(&p->out, "size = %lldB;\n", (long long)(l->entries * p->f->word_bits / 8));
    else
        dfl_strbuf_printf(&p->out, "size = %lldbit;\n", (long long)(l->entries * p->f->word_bits));
    if (dfl_tl_has_rows(p->f, k))
        dfl_strbuf_printf(&p->out, "access = %lldbit;\n", (long long)l->vector * (long long)p->f->word_bits);
    if (l->buffers > 1)
        dfl_strbuf_printf(&p->out, "buffers = %lld;\n", (long long)l->buffers);
    if (p->f->mapping == NULL && l->bypass != 0) {
        dfl_strbuf_z(&p->out, "holds = ");
        dfl_tl_print_set(p, ~l->bypass);
        dfl_strbuf_z(&p->out, ";\n");
    }
    dfl_strbuf_z(&p->out, shared ? "ports = shared;\n" : "");
    print_port(p, "read", l->read_energy, shared ? l->shared_rate : l->read_rate);
    print_port(p, "write", l->write_energy, shared ? l->shared_rate : l->write_rate);
    if (passes_results(p->f, k))
        print_drain(p, !isinf(shared ? l->shared_rate : l->read_rate), p->f->priced && l->read_energy > 0);
    if (l->leak > 0)
        dfl_writer_quantity(&p->out, "leakage", leakage_of(p->f, k), "mW");
    dfl_strbuf_z(&p->out, "}\n");
}

/* Writes `multicast = x_GLB, y_GLB;`, with the tensors behind each axis unless they are all tensors. */
static void print_shares(printer *p, uint32_t k, const char *word)
{
    uint64_t all = dfl_tl_all(p->f), set = all & ~p->f->levels[k].no_reuse;
    dfl_list_writer list = dfl_writer_list(&p->out, word);

    for (int y = 0; y < 2 && set != 0; y++) {
        if (p->axes[k][y] == NULL)
            continue;
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, p->axes[k][y]);
        if (set == all)
            continue;
        dfl_strbuf_z(&p->out, "(");
        dfl_tl_print_set(p, set);
        dfl_strbuf_z(&p->out, ")");
    }
    dfl_writer_end_list(&list);
}

static void open_array(printer *p, uint32_t k)
{
    dfl_list_writer list = dfl_writer_list(&p->out, "array ");
    int64_t fan[2];

    dfl_tl_fan_out(p->f, k, fan);
    if (p->f->levels[k].apart != 0) {
        dfl_strbuf_z(&p->out, "// no two instances need the same tile of ");
        dfl_tl_print_set(p, p->f->levels[k].apart);
        dfl_strbuf_z(&p->out, ": each is sent its own, also what tiles have in common\n");
    }
    dfl_strbuf_printf(&p->out, "network %s = bus {\n", p->links[k]);
    print_shares(p, k, "multicast = ");
    print_shares(p, k, "reduce = ");
    dfl_strbuf_z(&p->out, "}\n");
    for (int y = 0; y < 2; y++) {
        if (p->axes[k][y] == NULL)
            continue;
        dfl_writer_item(&list);
        dfl_strbuf_printf(&p->out, "%s[%lld]", p->axes[k][y], (long long)fan[y]);
    }
    dfl_strbuf_printf(&p->out, " over %s {\n", p->links[k]);
}

static bool is_linked(const dfl_tl_file *f, uint32_t tensor)
{
    return f->mapping != NULL && dfl_tl_inner_links(f, tensor) == DFL_TL_LINKS_ALL;
}

static void print_compute(printer *p)
{
    const dfl_tl_file *f = p->f;
    uint64_t reused = 0;

    for (uint32_t t = 0; t < f->n_tensors; t++)
        reused |= (uint64_t)(t != f->output && is_linked(f, t)) << t;
    if (is_linked(f, f->output))
        dfl_strbuf_printf(&p->out, "// links between multipliers: a sum that stays is not read again\n"
                          "memory %s {\nsize = unlimited;\nenergy = 0pJ/bit;\n}\n", p->latch);
    dfl_strbuf_printf(&p->out, "compute %s {\n", p->unit);
    dfl_strbuf_printf(&p->out, "rate = 1%s/cycle;\n", f->n_tensors == 3 ? "MAC" : "FLOP");
    if (f->priced)
        dfl_writer_quantity(&p->out, "energy", f->mac_energy, f->n_tensors == 3 ? "pJ/MAC" : "pJ/FLOP");
    if (reused != 0) {
        dfl_strbuf_z(&p->out, "operand_reuse = ");
        dfl_tl_print_set(p, reused);
        dfl_strbuf_z(&p->out, ";\n");
    }
    dfl_strbuf_z(&p->out, "}\n");
}

static void print_system(printer *p)
{
    uint32_t open = 0;

    dfl_strbuf_printf(&p->out, "system %s {\n", p->system);
    if (p->f->cycle == 1e-9)
        dfl_strbuf_z(&p->out, "clock = 1GHz;\n");
    else
        dfl_writer_quantity(&p->out, "clock", 1 / p->f->cycle, "Hz");
    for (uint32_t k = p->f->n_levels; k-- > 0;) {
        print_memory(p, k);
        if (p->links[k] == NULL)
            continue;
        open_array(p, k);
        open++;
    }
    print_compute(p);
    for (; open > 0; open--)
        dfl_strbuf_z(&p->out, "}\n");
    dfl_strbuf_z(&p->out, "}\n\n");
}

/* ---- mapping ---- */

/* The mode of a keep: `fresh` if the level has `no_temporal_reuse` for the tensor, else `window` if tiles of the tensor
   have gaps, since the source holds their bounding boxes. */
static keep_mode mode_of(const dfl_tl_file *f, uint32_t tensor, uint32_t level)
{
    if (level + 1 == f->n_levels || f->tensors[tensor].written)
        return EXACT;
    if ((f->levels[level].no_temporal_reuse >> tensor & 1) != 0)
        return FRESH;
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if ((f->levels[k].bypass >> tensor & 1) == 0 && dfl_tl_gaps(f, tensor, k + 1))
            return WINDOW;
    }
    return EXACT;
}

static void print_keeps(printer *p, uint32_t k)
{
    static const char *const modes[] = { [EXACT] = "", [FRESH] = " fresh", [WINDOW] = " window" };
    const dfl_tl_file *f = p->f;
    uint64_t kept = dfl_tl_all(f) & ~f->levels[k].bypass;

    for (keep_mode mode = EXACT; mode <= WINDOW; mode++) {
        uint64_t set = 0;

        for (uint32_t t = 0; t < f->n_tensors; t++)
            set |= (uint64_t)((kept >> t & 1) != 0 && mode_of(f, t, k) == mode) << t;
        if (set == 0)
            continue;
        dfl_strbuf_z(&p->out, "keep ");
        dfl_tl_print_set(p, set);
        dfl_strbuf_printf(&p->out, " in %s%s;\n", p->levels[k], modes[mode]);
    }
}

/* Writes the loops of a level. A tile that covers the whole dimension makes no loop. */
static void print_loops(printer *p, uint32_t k, bool spatial)
{
    const dfl_tl_level *l = &p->f->levels[k];
    const dfl_tl_loop *loops = spatial ? l->spatial : l->temporal;
    dfl_list_writer list = dfl_writer_list(&p->out, spatial ? "spatial " : "temporal ");

    for (uint32_t i = spatial ? l->n_spatial : l->n_temporal; i-- > 0;) {
        uint32_t d = loops[i].dim;
        int64_t tile = dfl_tl_tile(p->f, d, k, !spatial);

        if (tile >= p->f->dims[d].bound)
            continue;
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, p->dims[d]);
        if (tile > 1 || spatial)
            dfl_strbuf_printf(&p->out, ":%lld", (long long)tile);
        if (spatial)
            dfl_strbuf_printf(&p->out, " on %s", p->axes[k][loops[i].on_y]);
    }
    dfl_writer_end_list(&list);
}

static void print_lines(printer *p)
{
    const dfl_tl_file *f = p->f;

    for (uint32_t k = f->n_levels; k-- > 0;) {
        print_keeps(p, k);
        print_loops(p, k, false);
        print_loops(p, k, true);
    }
    if (is_linked(f, f->output))
        dfl_strbuf_printf(&p->out, "keep %s in %s;\n", p->tensors[f->output], p->latch);
}

const char *dfl_tl_print(const dfl_tl_file *f, const dfl_source *main, const dfl_loss *losses, size_t n_losses)
{
    printer p = { .f = f };

    dfl_strbuf_init(&p.out, f->report->arena);
    make_names(&p);
    dfl_strbuf_printf(&p.out, "// Imported from %s, a run of Timeloop.\n",
                      dfl_writer_base_name(f->report->arena, main));
    dfl_loss_print(f->report, main, losses, n_losses, &p.out);
    if (f->energies != NULL && !f->compared)
        dfl_strbuf_z(&p.out, "// Timeloop charges whole vectors of words, and no read for a result that leaves a memory.\n");
    dfl_strbuf_z(&p.out, "dfl 1;\n\n");
    print_workload(&p);
    print_system(&p);
    dfl_strbuf_printf(&p.out, "mapping %s for %s on %s {\noption overlap = perfect;\n", p.mapping, p.workload,
                      p.system);
    if (f->mapping != NULL)
        print_lines(&p);
    else
        dfl_tl_print_holes(&p);
    dfl_strbuf_z(&p.out, "}\n");
    return p.out.text;
}
