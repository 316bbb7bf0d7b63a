/* Attributes of systems that lowering only copies, from a row of the vocabulary to a member of the intermediate
   representation. */
#include "tests/unit/sema/analysed.h"

static const char numbers[] =
    "system s { clock = 1GHz; memory d { size = 1MB; latency = 3ns; leakage = 5mW; area = 7mm2; }"
    " network n = bus { multicast = x; latency = 11cycle; }"
    " array x[2] over n { compute c { rate = 1FLOP/cycle; launch = 19ns; efficiency = table(0, 50%, 1kFLOP, 75%); area = 13mm2; leakage = 17mW; } memory r { size = 1kB; } } }";

static void numbers_reach_their_members(void **state)
{
    analysed *a = analyse(numbers);
    const dfl_system *system;

    (void)state;
    if (dfl_sink_errors(a->sink) > 0)
        fail_msg("%s", analysed_message(a));
    assert_int_equal(a->program->n_systems, 1);
    system = a->program->systems[0];
    assert_true(system->memories[0].latency == 3e-9);
    assert_true(system->memories[0].leakage == 5e-3);
    assert_true(system->memories[0].area == 7e-6);
    assert_true(system->networks[0].latency == 11 / 1e9);
    assert_true(system->computes[0].area == 13e-6);
    assert_true(system->computes[0].launch == 19e-9);
    assert_int_equal(system->computes[0].n_efficiencies, 1);
    assert_true(dfl_efficiency_share(&system->computes[0].efficiencies[0], 999) == 0.5);
    assert_true(dfl_efficiency_share(&system->computes[0].efficiencies[0], 1000) == 0.75);
    assert_true(system->computes[0].leakage == 17e-3);
    analysed_free(a);
}

static void a_port_names_an_inner_axis(void **state)
{
    analysed *a = analyse("system g { network b = bus; array sm[4] over b { memory d { size = 1MB; } } }"
                          " system s { network ib = switch { port = gpu; } network eth = switch { port = card; }"
                          " array node[2] over ib { network l = switch { } array gpu[8] over l { use g; } }"
                          " array host[2] over eth { network m = bus; array card[3] over m { memory r { size = 1kB; } } } }"
                          " system t { network ib = switch { port = sm; } array node[2] over ib { use g as x; } }");
    const dfl_system *s, *t;

    (void)state;
    if (dfl_sink_errors(a->sink) > 0)
        fail_msg("%s", analysed_message(a));
    s = a->program->systems[1];
    t = a->program->systems[2];
    assert_string_equal(dfl_sym_text(a->names, s->axes[s->networks[0].port].name), "gpu");
    assert_string_equal(dfl_sym_text(a->names, s->axes[s->networks[1].port].name), "card");
    assert_int_equal(s->axes[s->networks[1].port].size, 3);
    assert_true(s->networks[2].port == DFL_NONE && s->networks[3].port == DFL_NONE);
    assert_string_equal(dfl_sym_text(a->names, t->axes[t->networks[0].port].name), "x.sm");
    analysed_free(a);
}

static void networks_have_shapes(void **state)
{
    analysed *a = analyse("system s { network ib = fat_tree(levels = 3, oversubscription = 2) { overhead = 3us; price = 5USD; power = 7W;"
                          " link { price = 11USD; power = 13W; } port = gpu; rails = separate; algorithm = ring, double_tree; }"
                          " network l = fat_tree(2, oversubscription = {1, 1.5}); network d = dragonfly(groups = 9); network t = torus;"
                          " array node[4] over ib { array gpu[8] over l { memory m { size = 1MB; } } }"
                          " array rack[3], drawer[9] over d { array x[2] over t { memory r { size = 1kB; } } } }");
    const dfl_topology *tree, *list, *fly;

    (void)state;
    if (dfl_sink_errors(a->sink) > 0)
        fail_msg("%s", analysed_message(a));
    tree = &a->program->systems[0]->networks[0].topology;
    list = &a->program->systems[0]->networks[1].topology;
    fly = &a->program->systems[0]->networks[2].topology;
    assert_true(tree->kind == DFL_TOPOLOGY_FAT_TREE && tree->levels == 3 && tree->separate_rails);
    assert_true(tree->oversubscription[0] == 1 && tree->oversubscription[1] == 2 && tree->oversubscription[2] == 2);
    assert_true(tree->overhead == 3e-6 && tree->price == 5 && tree->power == 7);
    assert_true(tree->link_price == 11 && tree->link_power == 13);
    assert_int_equal(tree->algorithms, 1u << DFL_ALGORITHM_RING | 1u << DFL_ALGORITHM_DOUBLE_TREE);
    assert_true(list->levels == 2 && list->oversubscription[0] == 1 && list->oversubscription[1] == 1.5);
    /* 27 ports in 9 groups: 3 routers in a group, which reach 8 groups with 3 links each. */
    assert_true(fly->groups == 9 && fly->routers == 3 && fly->global == 3);
    assert_true(a->program->systems[0]->networks[3].topology.kind == DFL_TOPOLOGY_TORUS);
    analysed_free(a);
}

static void energies_may_depend_on_types(void **state)
{
    analysed *a = analyse("system s { clock = 1GHz; memory d { size = 1MB; }"
                          " compute c { rate = 1FLOP/cycle; energy { i8 = 6pJ/MAC; flop = 2pJ/FLOP; } } }");
    const dfl_compute *unit = &a->program->systems[0]->computes[0];

    (void)state;
    assert_int_equal(unit->n_type_energies, 1);
    assert_string_equal(dfl_sym_text(a->names, unit->type_energies[0].type), "i8");
    assert_true(unit->type_energies[0].joules == 3e-12 && unit->flop_energy == 2e-12 && unit->mac_energy == 0);
    analysed_free(a);
}

static void a_selection_may_hold_intermediates(void **state)
{
    analysed *a = analyse("system s { memory d { size = 1MB; holds = output, intermediate; } }");
    const dfl_selection *holds = &a->program->systems[0]->memories[0].holds;
    const dfl_tensor inner = { .role = DFL_ROLE_INTERMEDIATE }, in = { .role = DFL_ROLE_INPUT };

    (void)state;
    assert_true(holds->n_names == 0 && dfl_selects(holds, &inner) && !dfl_selects(holds, &in));
    analysed_free(a);
}

static void accesses_move_rows(void **state)
{
    analysed *a = analyse("system s { memory d { size = 1MB; access = 8B; drain { energy = 2pJ/bit; bandwidth = unlimited; } } }");
    const dfl_memory *d = &a->program->systems[0]->memories[0];

    (void)state;
    assert_true(d->access_bits == 64 && d->has_drain_energy && d->drain_energy == 2e-12 && d->free_drains);
    analysed_free(a);
}

static void missing_numbers_are_zero(void **state)
{
    analysed *a = analyse("system s { memory d { size = 1MB; } }");
    const dfl_system *system = a->program->systems[0];

    (void)state;
    assert_true(system->memories[0].latency == 0 && system->memories[0].leakage == 0 && system->memories[0].area == 0);
    analysed_free(a);
}

static void a_clock_may_exceed_the_range(void **state)
{
    analysed *a = analyse("system s { clock = pow(2.5, 700) * 1Hz; memory d { size = 1MB; bandwidth = 1e36B/cycle; } }");

    (void)state;
    assert_int_equal(dfl_sink_errors(a->sink), 1);
    assert_string_equal(analysed_message(a), "value is out of range at this clock");
    analysed_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_reach_their_members),
        cmocka_unit_test(a_port_names_an_inner_axis),
        cmocka_unit_test(networks_have_shapes),
        cmocka_unit_test(energies_may_depend_on_types),
        cmocka_unit_test(a_selection_may_hold_intermediates),
        cmocka_unit_test(accesses_move_rows),
        cmocka_unit_test(missing_numbers_are_zero),
        cmocka_unit_test(a_clock_may_exceed_the_range),
    };

    return CHECK_GROUP("sema.vocabulary", tests);
}
