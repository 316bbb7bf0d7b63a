/* A prepared model at other sizes. The result of every run, or its errors, must equal a new evaluation of the mapping
   bit by bit. Mappings are random. Each mapping runs at its own sizes, at other sizes, and at its own sizes again. */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/check.h"

#include "model/model.h"
#include "support/strbuf.h"
#include "tests/harness/draw.h"
#include "tests/property/case.h"

enum { CASES = 600, ROUNDS = 8 };

typedef struct {
    dfl_arena *home, *fresh, *scratch;
    dfl_intern *names;
    dfl_sink *sink;
    dfl_mapping *mapping;
    dfl_paths *paths;
    dfl_model *model;
    unsigned accepted, refused; /* runs at other sizes */
    unsigned costs;             /* runs with a result */
} bench;

/* ---- results as text --------------------------------------------------------------------------------------------- */

static void put(dfl_strbuf *out, dfl_i128 n)
{
    char digits[41];

    dfl_i128_text(n, digits);
    dfl_strbuf_printf(out, " %s", digits);
}

static void put_counts(dfl_strbuf *out, const dfl_counts *n)
{
    put(out, n->serve);
    put(out, n->drain);
    put(out, n->accumulate);
    put(out, n->fill);
    put(out, n->update);
}

static void put_result(dfl_strbuf *out, const dfl_result *r)
{
    const dfl_mapping *m = r->mapping;

    for (uint32_t i = 0; i < r->n_traffic; i++) {
        dfl_strbuf_printf(out, "\ntensor %u in %u:", r->traffic[i].tensor, r->traffic[i].memory);
        put_counts(out, &r->traffic[i].counts);
        put(out, r->traffic[i].peak_bits);
        dfl_strbuf_printf(out, " %a", r->traffic[i].joules);
    }
    for (uint32_t i = 0; i < m->workload->n_einsums; i++) {
        const dfl_einsum_cost *e = &r->einsums[i];
        dfl_strbuf_printf(out, "\neinsum %u:", i);
        put(out, e->macs);
        put(out, e->flops);
        put(out, e->padding);
        put(out, e->extra);
        put(out, e->points);
        put(out, e->steps);
        dfl_strbuf_printf(out, " %u %a %a %a %s", e->compute, e->compute_seconds, e->seconds, e->joules, e->bound_by);
    }
    for (uint32_t i = 0; i < m->system->n_memories; i++) {
        const dfl_memory_cost *c = &r->memories[i];
        dfl_strbuf_printf(out, "\nmemory %u:", c->memory);
        put(out, c->peak_bits);
        put(out, c->instances);
        dfl_strbuf_printf(out, " %zu %a %a %a %a", (size_t)c->peak_at.start, c->read_seconds, c->write_seconds, c->read_joules,
                          c->write_joules);
    }
    for (uint32_t i = 0; i < m->system->n_axes; i++)
        put(out, r->links[i].forwarded);
    dfl_strbuf_printf(out, "\nall:");
    put(out, r->macs);
    put(out, r->flops);
    put(out, r->padding);
    put(out, r->extra);
    dfl_strbuf_printf(out, " %a %a %a %a %a %a %s", r->seconds, r->joules, r->leakage_joules, r->watts, r->area,
                      r->utilization, r->bound_by);
}

/* The result as text; without a result, the messages of the sink from number `from` on. */
static const char *told(dfl_arena *arena, const dfl_result *r, dfl_sink *sink, size_t from)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (size_t i = from; i < dfl_sink_count(sink); i++)
        dfl_strbuf_printf(&out, "E%04d %s\n", (int)dfl_sink_at(sink, i)->code, dfl_sink_at(sink, i)->message);
    if (r)
        put_result(&out, r);
    return out.text;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Changes tiles and parts to between 1 and twice their size. Loops over single elements do not change, so that all
   ranks stay finished. */
static void change_sizes(const dfl_mapping *m, const int64_t *own, uint64_t *state)
{
    size_t at = 0;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++, at++) {
            dfl_line *line = &m->bodies[b]->lines[i];
            if (line->kind == DFL_LINE_KEEP)
                continue;
            line->amount = own[at];
            if (state && own[at] > 1 && draw(state, 3) > 0)
                line->amount = 1 + draw_amount(state, 2 * own[at]);
        }
}

static void run_once(bench *t, uint64_t index)
{
    dfl_sink *fresh_sink;
    const dfl_paths *again;
    size_t before = dfl_sink_count(t->sink);

    dfl_arena_reset(t->fresh);
    dfl_arena_reset(t->scratch);
    fresh_sink = dfl_sink_new(t->fresh, NULL);
    again = dfl_paths_resolve(t->fresh, fresh_sink, t->names, t->mapping);
    if (dfl_paths_resize(t->scratch, t->sink, t->names, t->paths) != (again != NULL))
        fail_msg("case %llu: the sizes are legal only one way", (unsigned long long)index);
    if (!again) {
        t->refused++;
        return;
    }
    t->accepted++;
    before = dfl_sink_count(t->sink);
    size_t first = dfl_sink_count(fresh_sink);
    const dfl_result *run = dfl_model_run(t->model, t->scratch);
    const dfl_result *fresh = dfl_model_eval(t->fresh, fresh_sink, t->names, again);
    t->costs += run != NULL;
    const char *got = told(t->fresh, run, t->sink, before), *want = told(t->fresh, fresh, fresh_sink, first);
    if (strcmp(got, want) != 0)
        fail_msg("case %llu: the run tells %s\nthe fresh evaluation %s", (unsigned long long)index, got, want);
}

static void rerun_case(bench *t, dfl_case *c, uint64_t index)
{
    uint64_t state = index;
    size_t n = 0;
    int64_t own[CASE_BODIES * CASE_LINES];

    case_draw(c, 5, index);
    dfl_arena_reset(t->home);
    t->names = dfl_intern_new(t->home);
    t->sink = dfl_sink_new(t->home, NULL);
    const dfl_mapping *m = case_mapping(c, t->home, t->names);
    t->mapping = DFL_NEW(t->home, dfl_mapping);
    *t->mapping = *m;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++)
            own[n++] = m->bodies[b]->lines[i].amount;
    t->paths = dfl_paths_resolve(t->home, t->sink, t->names, t->mapping);
    assert_non_null(t->paths);
    t->model = dfl_model_prepare(t->home, t->sink, t->names, t->paths);
    for (int round = 0; t->model && round < ROUNDS; round++) {
        change_sizes(t->mapping, own, round == 0 || round + 1 == ROUNDS ? NULL : &state);
        run_once(t, index);
    }
}

static void equals_fresh(void **unused)
{
    bench t = { .home = dfl_arena_new(NULL), .fresh = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };
    dfl_case *c = malloc(sizeof *c);

    (void)unused;
    assert_non_null(c);
    for (uint64_t i = 0; i < CASES; i++)
        rerun_case(&t, c, i);
    /* with fewer results the test would prove little */
    assert_true(t.costs > 2 * CASES);
    assert_true(t.refused > CASES / 4);
    free(c);
    dfl_arena_free(t.home);
    dfl_arena_free(t.fresh);
    dfl_arena_free(t.scratch);
}

/* Two einsums below a loop that has more iterations for one of them (a spatial line `for` the other): refused. */
static void notices_uneven(void **unused)
{
    bench t = { .home = dfl_arena_new(NULL), .fresh = dfl_arena_new(NULL), .scratch = dfl_arena_new(NULL) };
    dfl_case *c = calloc(1, sizeof *c);

    (void)unused;
    assert_non_null(c);
    case_init(c);
    case_add_rank(c, "m", 8);
    case_add_input(c, "A", DFL_ROLE_INPUT, 1, (int64_t[]){ 8 });
    case_add_einsum(c, "Z[m] = A[m]");
    case_add_einsum(c, "Y[m] = A[m]");
    case_set_roles(c);
    case_add_memory(c, "dram", 0, 1);
    case_add_axis(c, "pe", 1, 2, CASE_ALL, CASE_ALL);
    case_add_unit(c, "mac", 1);
    case_lines(c, 0, "keep A, Z, Y in dram; spatial m/1 on pe; temporal m:4;");
    c->bodies[0].lines[3].only = 1;
    case_lines(c, case_add_leaf(c, 0, "Z"), "temporal m;");
    case_lines(c, case_add_leaf(c, 0, "Y"), "temporal m;");
    t.names = dfl_intern_new(t.home);
    t.sink = dfl_sink_new(t.home, NULL);
    t.mapping = DFL_NEW(t.home, dfl_mapping);
    *t.mapping = *case_mapping(c, t.home, t.names);
    t.paths = dfl_paths_resolve(t.home, t.sink, t.names, t.mapping);
    assert_non_null(t.paths);
    t.model = dfl_model_prepare(t.home, t.sink, t.names, t.paths);
    assert_non_null(t.model);
    run_once(&t, 0);
    t.mapping->root->lines[3].amount = 2;
    run_once(&t, 1);
    assert_int_equal(t.costs, 1);
    t.mapping->root->lines[3].amount = 1;
    run_once(&t, 2);
    assert_int_equal(t.costs, 2);
    free(c);
    dfl_arena_free(t.home);
    dfl_arena_free(t.fresh);
    dfl_arena_free(t.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_fresh), cmocka_unit_test(notices_uneven) };

    return CHECK_GROUP("model.rerun", tests);
}
