/* Writes plans as .dfl text: header, workloads, systems, mappings. */
#include "import/dfl_writer.h"
#include "import/maestro/maestro_internal.h"

/* The system for all mappings with one number of cluster levels. */
typedef struct {
    const char *name;            /* name in the result; NULL = no mapping has this number of levels */
    const dfl_maestro_plan *one; /* the first of these mappings */
    bool uniform;                /* all these mappings have equal numbers of elements, the defaults of the system */
} machine;

typedef struct {
    dfl_strbuf out;
    dfl_arena *arena;
    const dfl_loss_report *report;
    const dfl_maestro_file *file;
    const dfl_maestro_hw *hw;
    const dfl_source *hw_source;
    const dfl_maestro_plan *plans;
    size_t n_plans;
    const char *const *mapping_names;
    const char *workload_names[DFL_WORKLOAD_COUNT];
    const char *energy;        /* name of the imported energies */
    DFL_VEC(machine) machines; /* indexed by the number of cluster levels */
} printer;

static const char *const rank_names[DFL_RANK_COUNT] = {
    [DFL_RANK_N] = "n", [DFL_RANK_G] = "g", [DFL_RANK_M] = "m", [DFL_RANK_K] = "k", [DFL_RANK_C] = "c",
    [DFL_RANK_P] = "p", [DFL_RANK_Q] = "q", [DFL_RANK_R] = "r", [DFL_RANK_S] = "s",
};

/* ---- workloads ---- */

static const char conv_sizes[] =
    "  rank p = floor((Y - R) / stride_y) + 1, q = floor((X - S) / stride_x) + 1, r = R, s = S;\n";

static const struct {
    const char *name, *params, *ranks, *body;
    bool window;
} workloads[DFL_WORKLOAD_COUNT] = {
    [DFL_WORKLOAD_CONV] = {
        "conv", "N = 1, K, C, Y, X, R, S, stride_y = 1, stride_x = 1", "  rank n = N, k = K, c = C;\n",
        "  input  input[n, c, y: Y, x: X];\n"
        "  weight filter[k, c, r, s];\n"
        "  output output[n, k, p, q];\n"
        "  output[n, k, p, q] += input[n, c, stride_y * p + r, stride_x * q + s] * filter[k, c, r, s];\n",
        true,
    },
    [DFL_WORKLOAD_DSCONV] = {
        "dsconv", "N = 1, C, Y, X, R, S, stride_y = 1, stride_x = 1", "  rank n = N, c = C;\n",
        "  input  input[n, c, y: Y, x: X];\n"
        "  weight filter[c, r, s];\n"
        "  output output[n, c, p, q];\n"
        "  output[n, c, p, q] += input[n, c, stride_y * p + r, stride_x * q + s] * filter[c, r, s];\n",
        true,
    },
    [DFL_WORKLOAD_NGCONV] = {
        "ngconv", "N = 1, G, K, C, Y, X, R, S, stride_y = 1, stride_x = 1", "  rank n = N, g = G, k = K, c = C;\n",
        "  input  input[n, g, c, y: Y, x: X];\n"
        "  weight filter[g, k, c, r, s];\n"
        "  output output[n, g, k, p, q];\n"
        "  output[n, g, k, p, q] += input[n, g, c, stride_y * p + r, stride_x * q + s] * filter[g, k, c, r, s];\n",
        true,
    },
    [DFL_WORKLOAD_GEMM] = {
        "gemm", "M, N, K", "  rank m = M, n = N, k = K;\n",
        "  input  input[m, k];\n"
        "  weight filter[k, n];\n"
        "  output output[m, n];\n"
        "  output[m, n] += input[m, k] * filter[k, n];\n",
        false,
    },
};

static void print_workload(printer *p, dfl_maestro_workload w)
{
    dfl_strbuf_printf(&p->out, "\nworkload %s(%s) : i8 {\n%s", p->workload_names[w], workloads[w].params,
                      workloads[w].ranks);
    if (workloads[w].window)
        dfl_strbuf_z(&p->out, conv_sizes);
    dfl_strbuf_printf(&p->out, "%s}\n", workloads[w].body);
}

/* Writes the arguments that a mapping passes to its workload, without those that equal the defaults. */
static void print_arguments(printer *p, const dfl_maestro_plan *plan)
{
    static const dfl_maestro_dim gemm[] = { DFL_DIM_M, DFL_DIM_N, DFL_DIM_K };
    static const dfl_maestro_dim conv[] = {
        DFL_DIM_N, DFL_DIM_G, DFL_DIM_K, DFL_DIM_C, DFL_DIM_Y, DFL_DIM_X, DFL_DIM_R, DFL_DIM_S,
    };
    bool is_gemm = plan->workload == DFL_WORKLOAD_GEMM;
    const dfl_maestro_dim *dims = is_gemm ? gemm : conv;
    size_t n = is_gemm ? sizeof gemm / sizeof gemm[0] : sizeof conv / sizeof conv[0];
    const char *comma = "";

    dfl_strbuf_char(&p->out, '(');
    for (size_t i = 0; i < n; i++) {
        int64_t size = plan->size[dims[i]];

        if (size == 0 || (!is_gemm && dims[i] == DFL_DIM_N && size == 1))
            continue;
        dfl_strbuf_printf(&p->out, "%s%s = %lld", comma, dfl_maestro_dim_text(dims[i]), (long long)size);
        comma = ", ";
    }
    if (plan->stride_y != 1)
        dfl_strbuf_printf(&p->out, ", stride_y = %lld", (long long)plan->stride_y);
    if (plan->stride_x != 1)
        dfl_strbuf_printf(&p->out, ", stride_x = %lld", (long long)plan->stride_x);
    dfl_strbuf_char(&p->out, ')');
}

/* ---- systems ---- */

static void indent(printer *p, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        dfl_strbuf_z(&p->out, "  ");
}

static const char *memory_name(const printer *p, size_t level, size_t n_levels)
{
    return level + 1 == n_levels ? "l1" : dfl_arena_printf(p->arena, "c%zu", level + 1);
}

static void print_system(printer *p, size_t n_levels)
{
    const machine *m = &p->machines.at[n_levels];

    dfl_strbuf_printf(&p->out, "\nsystem %s(", m->name);
    for (size_t i = 0; i < n_levels; i++) {
        dfl_strbuf_printf(&p->out, "%ssize%zu", i > 0 ? ", " : "", i);
        if (m->uniform)
            dfl_strbuf_printf(&p->out, " = %lld", (long long)m->one->levels[i].elements);
    }
    dfl_strbuf_z(&p->out, ") {\n  clock = 1GHz;\n  memory dram { size = unlimited; energy = 0pJ/bit;");
    if (p->hw->offchip_bandwidth != 0)
        dfl_strbuf_printf(&p->out, " bandwidth = %lldB/cycle;", (long long)p->hw->offchip_bandwidth);
    dfl_strbuf_printf(&p->out, " }\n  memory l2 { size = unlimited; buffers = 2; energy = %s.l2 * 1pJ/B; }\n", p->energy);
    for (size_t i = 0; i < n_levels; i++) {
        indent(p, i + 1);
        dfl_strbuf_printf(&p->out, "network noc%zu = bus { multicast = a%zu; reduce = a%zu;", i, i, i);
        if (p->hw->noc_bandwidth != 0)
            dfl_strbuf_printf(&p->out, " bandwidth = %lldB/cycle;", (long long)p->hw->noc_bandwidth);
        if (p->hw->noc_latency != 0)
            dfl_strbuf_printf(&p->out, " latency = %lldcycle;", (long long)p->hw->noc_latency);
        dfl_strbuf_z(&p->out, " }\n");
        indent(p, i + 1);
        dfl_strbuf_printf(&p->out, "array a%zu[size%zu] over noc%zu {\n", i, i, i);
        indent(p, i + 2);
        dfl_strbuf_printf(&p->out, "memory %s { size = unlimited; buffers = 2; energy = ", memory_name(p, i, n_levels));
        if (i + 1 == n_levels)
            dfl_strbuf_printf(&p->out, "%s.l1 * 1pJ/B; }\n", p->energy);
        else /* a cluster is a group of elements: the source has no memory there */
            dfl_strbuf_z(&p->out, "0pJ/bit; }\n");
    }
    indent(p, n_levels + 1);
    dfl_strbuf_printf(&p->out, "compute mac { rate = %lldMAC/cycle; ops = mac; energy = %s.mac * 1pJ/MAC; }\n",
                      (long long)p->hw->lanes, p->energy);
    for (size_t i = n_levels; i > 0; i--) {
        indent(p, i);
        dfl_strbuf_z(&p->out, "}\n");
    }
    dfl_strbuf_z(&p->out, "}\n");
}

/* ---- mappings ---- */

static void print_loop(printer *p, const dfl_maestro_loop *loop)
{
    dfl_strbuf_z(&p->out, rank_names[loop->rank]);
    if (loop->tile != 1)
        dfl_strbuf_printf(&p->out, ":%lld", (long long)loop->tile);
}

static void print_temporal(printer *p, const dfl_maestro_loop *loops, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dfl_strbuf_z(&p->out, i == 0 ? "  temporal " : ", ");
        print_loop(p, &loops[i]);
    }
    if (n > 0)
        dfl_strbuf_z(&p->out, ";\n");
}

static void print_mapping(printer *p, const dfl_maestro_plan *plan, const char *name)
{
    const machine *m = &p->machines.at[plan->n_levels];

    dfl_strbuf_char(&p->out, '\n');
    dfl_loss_print(p->report, p->file->source, plan->losses, plan->n_losses, &p->out);
    dfl_strbuf_printf(&p->out, "/// source_name: %s\n", dfl_writer_plain(p->arena, plan->layer->name));
    dfl_strbuf_printf(&p->out, "mapping %s for %s", name, p->workload_names[plan->workload]);
    print_arguments(p, plan);
    dfl_strbuf_printf(&p->out, " on %s", m->name);
    for (size_t i = 0; i < plan->n_levels && !m->uniform; i++)
        dfl_strbuf_printf(&p->out, "%ssize%zu = %lld%s", i == 0 ? "(" : ", ", i,
                          (long long)plan->levels[i].elements, i + 1 == plan->n_levels ? ")" : "");
    dfl_strbuf_z(&p->out, " {\n  keep input, filter, output in dram;\n");
    for (size_t i = 0; i < plan->n_levels; i++) {
        const dfl_maestro_level *level = &plan->levels[i];

        print_temporal(p, level->temporal, level->n_temporal);
        if (i == 0) /* `l2` holds what all clusters need in one step of the loops of the top level */
            dfl_strbuf_z(&p->out, "  keep input, filter, output in l2;\n");
        if (level->spreads) {
            dfl_strbuf_z(&p->out, "  spatial ");
            print_loop(p, &level->spatial);
            dfl_strbuf_printf(&p->out, " on a%zu;\n", i);
        }
        dfl_strbuf_printf(&p->out, "  keep input, filter, output in %s;\n",
                          memory_name(p, i, plan->n_levels));
    }
    print_temporal(p, plan->leaf, plan->n_leaf);
    dfl_strbuf_z(&p->out, "}\n");
}

/* ---- the file ---- */

static bool same_elements(const dfl_maestro_plan *a, const dfl_maestro_plan *b)
{
    for (size_t i = 0; i < a->n_levels; i++) {
        if (a->levels[i].elements != b->levels[i].elements)
            return false;
    }
    return true;
}

/* Collects the different numbers of cluster levels and returns their count. */
static size_t collect_machines(printer *p)
{
    size_t depths = 0;

    for (size_t i = 0; i < p->n_plans; i++) {
        const dfl_maestro_plan *plan = &p->plans[i];
        machine *m;

        while (p->machines.n <= plan->n_levels) {
            machine none = { .uniform = true };

            DFL_PUSH(p->arena, &p->machines, none);
        }
        m = &p->machines.at[plan->n_levels];
        depths += m->one == NULL;
        if (m->one == NULL)
            m->one = plan;
        m->uniform = m->uniform && same_elements(m->one, plan);
    }
    return depths;
}

/* Mappings are named first, after their layers; workloads and systems take free names. */
static void choose_names(printer *p)
{
    const char **names = DFL_NEW_ARRAY(p->arena, const char *, p->n_plans);
    size_t depths = collect_machines(p);
    dfl_name_table table;

    dfl_name_table_init(&table, p->arena);
    p->energy = dfl_name_make(&table, "energy");
    for (size_t i = 0; i < p->n_plans; i++)
        names[i] = dfl_name_make(&table, p->plans[i].layer->name);
    p->mapping_names = names;
    for (size_t i = 0; i < p->n_plans; i++) {
        dfl_maestro_workload w = p->plans[i].workload;

        if (p->workload_names[w] == NULL)
            p->workload_names[w] = dfl_name_make(&table, workloads[w].name);
    }
    for (size_t i = 0; i < p->machines.n; i++) {
        if (p->machines.at[i].one != NULL)
            p->machines.at[i].name = dfl_name_make(
                &table, depths == 1 ? "accelerator" : dfl_arena_printf(p->arena, "accelerator_%zu", i));
    }
}

static void print_unused_size(printer *p, const char *key, int64_t size)
{
    dfl_strbuf_printf(&p->out,
                      "// %s = %lld is omitted: the source only warns if its tiles are larger.\n", key,
                      (long long)size);
}

static void print_header(printer *p)
{
    dfl_strbuf_printf(&p->out, "dfl 1;\n// Imported from the MAESTRO mapping %s",
                      dfl_writer_base_name(p->arena, p->file->source));
    if (p->file->network[0] != '\0')
        dfl_strbuf_printf(&p->out, " (network %s)", dfl_writer_plain(p->arena, p->file->network));
    if (p->hw_source != NULL)
        dfl_strbuf_printf(&p->out, " and the hardware %s", dfl_writer_base_name(p->arena, p->hw_source));
    dfl_strbuf_z(&p->out, ".\n// An element is one byte. Times are cycles of a nominal 1 GHz clock, energies multiples of a "
                          "nominal MAC of 1 pJ.\n// Keeps in `l2` hold what one step of the top level needs.\n");
    if (p->hw_source == NULL)
        dfl_strbuf_printf(&p->out,
                          "// Without a hardware file: %lld processing elements, no limit on bandwidth.\n",
                          (long long)p->hw->pes);
    if (p->hw->l1_size != 0)
        print_unused_size(p, "l1_size_cstr", p->hw->l1_size);
    if (p->hw->l2_size != 0)
        print_unused_size(p, "l2_size_cstr", p->hw->l2_size);
}

char *dfl_maestro_print(dfl_arena *arena, dfl_loss_report *report, const dfl_maestro_file *file,
                        const dfl_maestro_hw *hw, const dfl_source *hw_source, const dfl_loss *losses,
                        size_t n_losses, const dfl_maestro_plan *plans, size_t n_plans)
{
    printer p = {
        .arena = arena,
        .report = report,
        .file = file,
        .hw = hw,
        .hw_source = hw_source,
        .plans = plans,
        .n_plans = n_plans,
    };

    dfl_strbuf_init(&p.out, arena);
    choose_names(&p);
    print_header(&p);
    dfl_loss_print(report, file->source, losses, n_losses, &p.out);
    dfl_strbuf_printf(&p.out, "\nimport std.energy.maestro as %s;\n", p.energy);
    for (int w = 0; w < DFL_WORKLOAD_COUNT; w++) {
        if (p.workload_names[w] != NULL)
            print_workload(&p, (dfl_maestro_workload)w);
    }
    for (size_t i = 0; i < p.machines.n; i++) {
        if (p.machines.at[i].one != NULL)
            print_system(&p, i);
    }
    for (size_t i = 0; i < n_plans; i++)
        print_mapping(&p, &plans[i], p.mapping_names[i]);
    return p.out.text;
}
