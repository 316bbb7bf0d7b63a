/*
 * The time of a group by the numbers of its space, against the engines of a branch with the same einsums (plan/pass/engines.h),
 * for random groups of both passes; and the floors, which no group undercuts.
 */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "plan/layout/homes.h"
#include "plan/pass/engines.h"
#include "plan/pass/group_space.h"
#include "plan/plan_internal.h"
#include "tests/harness/draw.h"
#include "tests/unit/sema/analysed.h"

/* Copies, an operand with several readers, recomputed einsums, exchanges in each pass and once in a step, units that divide
   themselves among einsums, ports that are one or two. */
static const char text[] =
    "dfl 1;\n"
    "op sgd(w, g) = 4FLOP; op softmax(x) over r = 5FLOP; op softmax_d(g, x) over r = 6FLOP; op dropout(x) = 1FLOP; op dropout_d(x) = 1FLOP;\n"
    "workload layer : bf16 {\n"
    "  rank b = 16, m = 64, n = 64, d = 128, h = 8, e = 16, f = 256;\n"
    "  input first[b, m, d]; X[b, m, d] = first[b, m, d];\n"
    "  repeat 4 as layer carrying X = Y {\n"
    "    weight WQ[d, h, e], WK[d, h, e], WV[d, h, e], WO[h, e, d], W1[d, f], W2[f, d];\n"
    "    N[b, m, d] = dropout(X[b, m, d]);\n"
    "    Q[b, h, m, e] += N[b, m, d] * WQ[d, h, e]; K[b, h, n, e] += N[b, n, d] * WK[d, h, e];\n"
    "    V[b, h, n, e] += N[b, n, d] * WV[d, h, e]; S[b, h, m, n] += Q[b, h, m, e] * K[b, h, n, e];\n"
    "    P[b, h, m, n] = softmax(S[b, h, m, n]) over n; Z[b, h, m, e] += P[b, h, m, n] * V[b, h, n, e];\n"
    "    C[b, h, m, e] = Z[b, h, m, e];\n"
    "    O[b, m, d] += C[b, h, m, e] * WO[h, e, d]; R[b, m, d] = X[b, m, d] + O[b, m, d];\n"
    "    F[b, m, f] += R[b, m, d] * W1[d, f]; G[b, m, f] = dropout(F[b, m, f]);\n"
    "    U[b, m, d] += G[b, m, f] * W2[f, d]; Y[b, m, d] = R[b, m, d] + U[b, m, d];\n"
    "  }\n"
    "}\n"
    "workload step = train(layer, optimizer = sgd);\n"
    "system rings(room = 30kB, pace = 2us) {\n"
    "  network outer = ring { bandwidth = 1GB/s; }\n"
    "  array data[2] over outer {\n"
    "    network inner = ring { bandwidth = 4GB/s; }\n"
    "    array tensor[4] over inner {\n"
    "      memory dram { size = unlimited; bandwidth = 20GB/s; }\n"
    "      memory other { size = unlimited; ports = shared; read { bandwidth = 5GB/s; } write { bandwidth = 3GB/s; } }\n"
    "      memory sram { size = room; }\n"
    "      compute mm { rate { mac = 1TMAC/s; } launch = pace; UNITS }\n"
    "      compute vv { rate { flop = 300GFLOP/s; } launch = pace; }\n"
    "    }\n"
    "  }\n"
    "}\n"
    "mapping searched for step on rings {\n"
    "  spatial b/2 on data; temporal b:2; spatial h/4, f/4 on tensor; temporal layer;\n"
    "  keep X, N, Y in other; recompute S, P, G; ...; option overlap = perfect; option chip = search;\n"
    "}\n";

/* The parts of the evaluation before the search of groups. */
static dfl_plan_state *prepare(analysed *a)
{
    dfl_plan_state *p = DFL_NEW(a->arena, dfl_plan_state);
    const dfl_mapping *m = a->program->designs[0].mapping;

    assert_true(dfl_plan_start(p, a->arena, a->sink, a->names, m) && dfl_frame_build(&p->frame));
    dfl_homes_set(&p->frame);
    assert_true(dfl_layouts_find(&p->frame, &p->layouts) && dfl_branches_find(&p->frame, &p->branches));
    p->times = dfl_chip_times_find(&p->frame, &p->branches, NULL);
    assert_non_null(p->times);
    assert_true(dfl_exchanges_find(&p->frame, &p->layouts, NULL, &p->exchanges));
    p->work = (dfl_plan_work){ .frame = &p->frame, .times = p->times, .exchanges = &p->exchanges,
                               .is_recomputed = p->frame.recomputed, .branches = &p->branches };
    return p;
}

/* Bits of the weights that a group reads; one einsum that is no copy may have any. */
static bool fits(const dfl_group_space *s, const uint32_t *mark, dfl_i128 room)
{
    const dfl_workload *w = s->work->frame->workload;
    uint32_t working = 0;
    dfl_i128 sum = 0;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        bool has = false;

        for (uint32_t i = 0; i < s->n_members && w->tensors[t].role == DFL_ROLE_WEIGHT; i++)
            for (uint32_t k = 0; k < w->einsums[s->members[i]].n_inputs && !has; k++)
                if (mark[s->members[i]] == 1 && w->einsums[s->members[i]].inputs[k].tensor == t) {
                    sum += s->work->times[s->members[i]].reads[k].bits;
                    has = true;
                }
    }
    for (uint32_t i = 0; i < s->n_members; i++)
        working += mark[s->members[i]] == 1 && !dfl_einsum_is_copy(&w->einsums[s->members[i]]);
    return working <= 1 || sum <= room;
}

static double engine_seconds(const dfl_group_space *s, const uint32_t *mark, bool is_again)
{
    dfl_engines busy = dfl_engines_new(s->work);

    for (uint32_t i = 0; i < s->n_members; i++)
        if (mark[s->members[i]] == 1)
            dfl_engines_add(s->work, mark, is_again, s->members[i], &busy);
    for (uint32_t x = 0; x < s->work->exchanges->n; x++)
        if (mark[s->work->exchanges->at[x].einsum] == 1)
            dfl_engines_add_exchange(s->work, x, &busy);
    return fmax(dfl_engines_chip(s->work, &busy), dfl_engines_network(s->work, &busy));
}

/* The time of a group by its engines. */
static double branch_seconds(const dfl_group_space *s, dfl_einsum_set group, dfl_i128 room)
{
    const uint32_t n = s->work->frame->workload->n_einsums;
    uint32_t *mark = DFL_NEW_ARRAY(s->work->frame->arena, uint32_t, n), *again = DFL_NEW_ARRAY(s->work->frame->arena, uint32_t, n);
    bool has_again = false;

    for (uint32_t e = 0; e < n; e++) {
        mark[e] = s->node_of[e] != DFL_NONE && (group & DFL_EINSUM_BIT(s->node_of[e])) != 0;
        again[e] = mark[e] == 1 && dfl_frame_is_again(s->work->frame, e);
        has_again |= again[e] == 1;
    }
    if (!fits(s, mark, room))
        return INFINITY;
    return engine_seconds(s, mark, false) + (has_again ? engine_seconds(s, again, true) : 0);
}

static void check_space(dfl_group_space *s, dfl_i128 room, uint64_t *seed, uint32_t *fitting)
{
    for (int k = 0; k < 400; k++) {
        const uint32_t density = 1 + draw(seed, 4);
        dfl_einsum_set group = 0;

        for (uint32_t i = 0; i < s->n; i++)
            group |= draw(seed, 5) <= density ? DFL_EINSUM_BIT(i) : 0;
        const double seconds = dfl_group_space_seconds(s, group);
        assert_true(seconds == branch_seconds(s, group, room));
        *fitting += isfinite(seconds) ? 1 : 0;
        for (uint32_t row = 0; row < s->n_floors; row++) {
            double sum = 0;

            for (uint32_t i = 0; i < s->n; i++)
                sum += group & DFL_EINSUM_BIT(i) ? s->floors[(size_t)row * s->n + i] : 0;
            assert_true(sum <= seconds * (1 + 1e-12));
        }
    }
}

/* The spaces of both passes of a layer. `units`: a word of the compute unit of products. */
static void check_text(const char *units)
{
    char *own = strdup(text), *at, full[sizeof text + 100];
    uint64_t seed = 3;
    uint32_t fitting = 0, spaces = 0;

    assert_non_null(own);
    at = strstr(own, "UNITS");
    *at = '\0';
    snprintf(full, sizeof full, "%s%s%s", own, units, at + strlen("UNITS"));
    free(own);
    analysed *a = analyse_within(full, UINT64_C(1) << 40, (size_t)4 << 30);
    assert_int_equal(dfl_sink_count(a->sink), 0);
    dfl_plan_state *p = prepare(a);
    const dfl_workload *w = p->frame.workload;
    for (dfl_phase phase = DFL_PHASE_FORWARD; phase <= DFL_PHASE_BACKWARD; phase++) {
        const dfl_i128 room = p->frame.system->memories[2].size_bits;
        dfl_group_space *s = dfl_group_space_new(&p->work, room);

        for (uint32_t e = 0; e < w->n_einsums; e++)
            if (w->einsums[e].phase == phase && dfl_frame_repeat(&p->frame, &w->einsums[e]) != DFL_NONE)
                assert_true(dfl_group_space_add(s, e));
        dfl_group_space_finish(s);
        assert_true(s->n > 10 && s->passes[0].exchanges.n > 0 && s->passes[1].runs.n == (phase == DFL_PHASE_FORWARD ? 3 : 0));
        check_space(s, room, &seed, &fitting);
        spaces++;
    }
    assert_true(spaces == 2 && fitting > 100 && fitting < 800);
    analysed_free(a);
}

static void equals_the_engines(void **state)
{
    (void)state;
    check_text("");
}

static void equals_the_engines_on_whole_units(void **state)
{
    (void)state;
    check_text("units = 12; lanes = 4; rows = 4;");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_engines),
        cmocka_unit_test(equals_the_engines_on_whole_units),
    };

    return CHECK_GROUP("plan.group_space", tests);
}
