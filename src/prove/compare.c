#include "prove/compare.h"

#include <string.h>

#include "report/table.h"
#include "support/limits.h"

typedef struct {
    const dfl_proof_sides *sides;
    uint64_t compared, differing;
    uint32_t links;            /* classes of links compared */
    uint32_t rough_keeps, rough_networks; /* estimates of the model, which are not compared */
} comparison;

static void report_difference(comparison *c, const char *count, dfl_i128 model, dfl_i128 oracle)
{
    const dfl_proof_sides *sides = c->sides;
    char left[41], right[41];
    dfl_diag *d;

    c->differing++;
    if (c->differing > DFL_PROVE_REPORTS)
        return;
    dfl_i128_text(model, left);
    dfl_i128_text(oracle, right);
    d = dfl_report(sides->sink, DFL_PROVE_DIFFERS, sides->written->span, "%s: %s by the model, %s by execution", count, left,
                   right);
    dfl_diag_help(sides->sink, d, "this is a defect of dflc: please report the file and the sizes");
}

static void compare_count(comparison *c, const char *count, dfl_i128 model, dfl_i128 oracle)
{
    c->compared++;
    if (model != oracle)
        report_difference(c, count, model, oracle);
}

static const char *name_text(const comparison *c, dfl_sym name)
{
    return dfl_sym_text(c->sides->names, name);
}

/* A count of a part of the design, with a name such as "serve of `A` in `glb`". */
static void compare_part(comparison *c, const char *part, const char *count, dfl_i128 model, dfl_i128 oracle)
{
    c->compared++;
    if (model != oracle)
        report_difference(c, dfl_arena_printf(c->sides->arena, "%s of %s", count, part), model, oracle);
}

static const dfl_traffic *find_traffic(const dfl_result *r, uint32_t memory, uint32_t tensor)
{
    for (uint32_t i = 0; i < r->n_traffic; i++)
        if (r->traffic[i].memory == memory && r->traffic[i].tensor == tensor)
            return &r->traffic[i];
    return NULL;
}

/* The counts of the instance at coordinate 0 of every axis, which determine the time. */
static void compare_first(comparison *c, const char *part, const dfl_counts *model, const dfl_oracle_counts *oracle)
{
    part = dfl_arena_printf(c->sides->arena, "%s at coordinate 0", part);
    compare_part(c, part, "serve", model->serve, oracle->serve);
    compare_part(c, part, "drain", model->drain, oracle->drain);
    compare_part(c, part, "accumulate", model->accumulate, oracle->accumulate);
    compare_part(c, part, "fill", model->fill, oracle->fill);
    compare_part(c, part, "update", model->update, oracle->update);
}

/* The rows that accesses of a memory move. */
static void compare_rows(comparison *c, const char *part, const dfl_row_counts *model, const dfl_oracle_traffic *oracle)
{
    compare_part(c, part, "rows read", model->read, oracle->rows[0]);
    compare_part(c, part, "rows drained", model->drain, oracle->rows[1]);
    compare_part(c, part, "rows filled", model->fill, oracle->rows[2]);
    compare_part(c, part, "rows updated", model->update, oracle->rows[3]);
}

/* The counts of one tensor in one memory; `model` is NULL if the model has no counts for the pair. */
static void compare_traffic(comparison *c, const char *part, const dfl_traffic *model, const dfl_oracle_traffic *oracle)
{
    static const dfl_counts nothing;
    static const dfl_row_counts none;
    const dfl_counts *counts = model ? &model->counts : &nothing;

    compare_part(c, part, "serve", counts->serve, oracle->serve);
    compare_part(c, part, "drain", counts->drain, oracle->drain);
    compare_part(c, part, "accumulate", counts->accumulate, oracle->accumulate);
    compare_part(c, part, "fill", counts->fill, oracle->fill);
    compare_part(c, part, "update", counts->update, oracle->update);
    if (c->sides->executed->system->memories[oracle->memory].access_bits != 0)
        compare_rows(c, part, model ? &model->rows : &none, oracle);
    compare_part(c, part, "peak bits", model ? model->peak_bits : 0, oracle->peak_bits);
    if (model && model->rough)
        c->rough_keeps++;
    if (model && !model->rough)
        compare_first(c, part, &model->first, &oracle->first);
}

static void compare_keeps(comparison *c)
{
    const dfl_proof_sides *sides = c->sides;
    const dfl_mapping *m = sides->executed;
    uint32_t n_both = 0;

    for (uint32_t i = 0; i < sides->oracle->n_traffic; i++) {
        const dfl_oracle_traffic *o = &sides->oracle->traffic[i];
        const dfl_traffic *model = find_traffic(sides->model, o->memory, o->tensor);
        const char *part = dfl_arena_printf(sides->arena, "`%s` in `%s`",
                                            dfl_tensor_label(sides->names, &m->workload->tensors[o->tensor]),
                                            name_text(c, m->system->memories[o->memory].name));

        compare_traffic(c, part, model, o);
        n_both += model != NULL;
    }
    /* a keep that only the execution lists holds and moves nothing, as compared above: rows of a table have their own entry */
    compare_count(c, "number of keeps", sides->model->n_traffic, n_both);
}

static bool has_online(const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++)
            if (m->bodies[b]->lines[i].kind == DFL_LINE_TEMPORAL && m->bodies[b]->lines[i].online)
                return true;
    return false;
}

static void compare_einsums(comparison *c)
{
    const dfl_workload *w = c->sides->executed->workload;
    const dfl_oracle_result *oracle = c->sides->oracle;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum_cost *model = &c->sides->model->einsums[e];
        const char *part = dfl_arena_printf(c->sides->arena, "`%s`", dfl_einsum_label(c->sides->names, &w->einsums[e]));

        compare_part(c, part, "points", model->points, oracle->points[e]);
        compare_part(c, part, "steps", model->steps, oracle->steps[e]);
        compare_part(c, part, "extra operations", model->extra, oracle->extra[e]);
        if (w->einsums[e].is_mac)
            compare_part(c, part, "padding", model->padding, oracle->padding[e]);
    }
}

static const dfl_link_class *find_class(const dfl_network_cost *network, const char *name)
{
    for (uint32_t i = 0; i < network->n_classes; i++)
        if (strcmp(network->classes[i].name, name) == 0)
            return &network->classes[i];
    return NULL;
}

/* The bits that cross a network, and those on the busiest link of each class unless the model estimates them. */
static void compare_network(comparison *c, const dfl_network_cost *model, const dfl_oracle_network *oracle)
{
    const dfl_proof_sides *sides = c->sides;
    const char *name = name_text(c, sides->executed->system->networks[model->network].name);
    const char *part = dfl_arena_printf(sides->arena, "`%s`", name);

    compare_part(c, part, "injected bits", model->injected_bits, oracle->injected);
    compare_part(c, part, "delivered bits", model->delivered_bits, oracle->delivered);
    compare_part(c, part, "collected bits", model->collected_bits, oracle->collected);
    compare_part(c, part, "arriving bits", model->arriving_bits, oracle->arriving);
    compare_part(c, part, "classes of links", model->n_classes, oracle->n_classes);
    c->rough_networks += model->rough;
    for (uint32_t i = 0; i < oracle->n_classes; i++) {
        const dfl_link_class *class = find_class(model, oracle->classes[i].name);

        if (class && class->rough)
            continue;
        compare_part(c, dfl_arena_printf(sides->arena, "`%s` of %s", oracle->classes[i].name, part), "bits on the busiest link",
                     class ? class->bits : -1, oracle->classes[i].bits);
        c->links++;
    }
}

static void compare_system(comparison *c)
{
    const dfl_proof_sides *sides = c->sides;
    const dfl_system *s = sides->executed->system;

    for (uint32_t m = 0; m < s->n_memories; m++)
        compare_part(c, dfl_arena_printf(sides->arena, "`%s`", name_text(c, s->memories[m].name)), "peak bits",
                     sides->model->memories[m].peak_bits, sides->oracle->peak_bits[m]);
    compare_count(c, "laws that keeps break", 0, sides->oracle->broken);
    if (!has_online(sides->executed)) /* the oracle does not know how `online` rescales running sums */
        compare_count(c, "wrong values of results", 0, sides->oracle->wrong);
    for (uint32_t x = 0; x < s->n_axes; x++)
        compare_part(c, dfl_arena_printf(sides->arena, "`%s`", name_text(c, s->axes[x].name)), "elements forwarded along",
                     sides->model->links[x].forwarded, sides->oracle->forwarded[x]);
    for (uint32_t n = 0; n < s->n_networks; n++)
        compare_network(c, &sides->model->networks[n], &sides->oracle->networks[n]);
}

/* Prints one row per tensor in a memory: the five counts of the oracle. */
static void write_table(const comparison *c, dfl_strbuf *out)
{
    static const char *const heads[] = { "memory", "tensor", "serve", "drain", "accumulate", "fill", "update" };
    const dfl_mapping *m = c->sides->executed;
    dfl_table table;

    dfl_table_init(&table, c->sides->arena, sizeof heads / sizeof heads[0], 2, sizeof heads / sizeof heads[0]);
    dfl_table_row_start(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        dfl_table_cell(&table, heads[i]);
    for (uint32_t i = 0; i < c->sides->oracle->n_traffic; i++) {
        const dfl_oracle_traffic *o = &c->sides->oracle->traffic[i];

        dfl_table_row_start(&table);
        dfl_table_cell(&table, name_text(c, m->system->memories[o->memory].name));
        dfl_table_cell(&table, dfl_tensor_label(c->sides->names, &m->workload->tensors[o->tensor]));
        dfl_table_count(&table, o->serve);
        dfl_table_count(&table, o->drain);
        dfl_table_count(&table, o->accumulate);
        dfl_table_count(&table, o->fill);
        dfl_table_count(&table, o->update);
    }
    dfl_table_print(&table, out, 2);
}

void dfl_proof_compare(const dfl_proof_sides *sides, dfl_strbuf *out)
{
    const uint32_t n_memories = sides->executed->system->n_memories, n_einsums = sides->executed->workload->n_einsums;
    comparison c = { .sides = sides };

    compare_keeps(&c);
    compare_einsums(&c);
    compare_system(&c);
    write_table(&c, out);
    dfl_strbuf_printf(out, "  %llu counts compared (counts and room of keeps, %u peak%s, operations and steps of %u einsum%s",
                      (unsigned long long)c.compared, n_memories, n_memories == 1 ? "" : "s", n_einsums,
                      n_einsums == 1 ? "" : "s");
    if (c.links > 0)
        dfl_strbuf_printf(out, ", bits on the links of %u class%s", c.links, c.links == 1 ? "" : "es");
    dfl_strbuf_z(out, "): ");
    if (c.differing)
        dfl_strbuf_printf(out, "%llu DIFFER\n", (unsigned long long)c.differing);
    else
        dfl_strbuf_z(out, "all equal\n");
    if (c.rough_keeps > 0)
        dfl_strbuf_printf(out, "  not compared: the counts of coordinate 0, which are estimates, of %u keep%s\n", c.rough_keeps,
                          c.rough_keeps == 1 ? "" : "s");
    if (c.rough_networks > 0)
        dfl_strbuf_printf(out, "  not compared: the bits on some links, which are estimates, of %u network%s\n", c.rough_networks,
                          c.rough_networks == 1 ? "" : "s");
}
