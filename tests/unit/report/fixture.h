/*
 * An artificial design with artificial costs, shared by all tests of the report: `Z[m, n] += A[m, k] * B[k, n]` and `Y
 * = relu(Z)` on a machine of DRAM, buffer, vector unit and a 4 x 4 array. The numbers do not come from the model; they
 * make every printer round, align and escape.
 */
#ifndef DFL_TESTS_UNIT_REPORT_FIXTURE_H
#define DFL_TESTS_UNIT_REPORT_FIXTURE_H

#include <math.h>
#include <string.h>

#include "report/report.h"

typedef struct {
    dfl_arena *arena;
    dfl_intern *names;
    dfl_source_map *sources;
    dfl_sink *sink;
    dfl_workload workload;
    dfl_system system;
    dfl_mapping mapping[2];
    dfl_body root; /* a mapping without lines, since the printer of mappings has its own tests */
    dfl_result result;
    dfl_result_item items[2];
    dfl_program program;
    dfl_results results;
} fixture;

static const char fixture_source[] = "mapping tiled for gemm on npu {\n  keep A in dram;\n  keep A in sram;\n}\n";

static inline dfl_sym fixture_sym(fixture *f, const char *text)
{
    return dfl_intern_z(f->names, text);
}

static inline void fixture_workload(fixture *f)
{
    enum { A, B, Z, Y, TENSORS };
    static const int64_t extents[TENSORS][2] = { { 64, 32 }, { 32, 48 }, { 64, 48 }, { 64, 48 } };
    static const char *const names[TENSORS] = { "A", "B", "Z", "l[1].Y" };
    static const dfl_role roles[TENSORS] = { DFL_ROLE_INPUT, DFL_ROLE_WEIGHT, DFL_ROLE_INTERMEDIATE, DFL_ROLE_OUTPUT };
    dfl_rank *ranks = DFL_NEW_ARRAY(f->arena, dfl_rank, 3);
    dfl_tensor *tensors = DFL_NEW_ARRAY(f->arena, dfl_tensor, TENSORS);
    dfl_einsum *einsums = DFL_NEW_ARRAY(f->arena, dfl_einsum, 2);

    ranks[0] = (dfl_rank){ .name = fixture_sym(f, "m"), .extent = 64 };
    ranks[1] = (dfl_rank){ .name = fixture_sym(f, "n"), .extent = 48 };
    ranks[2] = (dfl_rank){ .name = fixture_sym(f, "k"), .extent = 32 };
    for (uint32_t i = 0; i < TENSORS; i++)
        tensors[i] = (dfl_tensor){ .name = fixture_sym(f, names[i]), .role = roles[i], .n_dims = 2,
                                   .extents = extents[i],
                                   .type = { fixture_sym(f, i == Z ? "i32" : "i8"), i == Z ? 32 : 8 } };
    einsums[0] = (dfl_einsum){ .name = fixture_sym(f, "Z"), .is_mac = true, .output.tensor = Z,
                                .over_rank = DFL_NONE };
    einsums[1] = (dfl_einsum){ .name = fixture_sym(f, "l[1].Y"), .flops_per_point = 1, .output.tensor = Y,
                                .over_rank = DFL_NONE };
    f->workload = (dfl_workload){ .name = fixture_sym(f, "gemm"), .ranks = ranks, .n_ranks = 3, .tensors = tensors,
                                  .n_tensors = TENSORS, .einsums = einsums, .n_einsums = 2 };
}

static inline void fixture_system(fixture *f)
{
    dfl_element *elements = DFL_NEW_ARRAY(f->arena, dfl_element, 2);
    dfl_memory *memories = DFL_NEW_ARRAY(f->arena, dfl_memory, 3);
    dfl_compute *computes = DFL_NEW_ARRAY(f->arena, dfl_compute, 2);
    dfl_network *networks = DFL_NEW_ARRAY(f->arena, dfl_network, 1);
    dfl_axis *axes = DFL_NEW_ARRAY(f->arena, dfl_axis, 2);
    dfl_rate *rates = DFL_NEW_ARRAY(f->arena, dfl_rate, 2);

    elements[0] = (dfl_element){ .parent = DFL_NONE, .clock = 1e9 };
    elements[1] = (dfl_element){ .parent = 0, .first_axis = 0, .n_axes = 2, .clock = 1e9 };
    memories[0] = (dfl_memory){ .name = fixture_sym(f, "dram"), .size_bits = -1, .one_port = true, .read_rate = 1e12,
                                .write_rate = 1e12, .read_energy = 7e-12, .write_energy = 7e-12,
                                .has_read_energy = true, .has_write_energy = true, .buffers = 1 };
    memories[1] = (dfl_memory){ .name = fixture_sym(f, "sram"), .size_bits = 65536 * 8, .read_rate = 8e12,
                                .write_rate = INFINITY, .read_energy = 2e-12, .has_read_energy = true, .buffers = 2 };
    memories[2] = (dfl_memory){ .name = fixture_sym(f, "reg"), .element = 1, .size_bits = 512, .read_rate = INFINITY,
                                .write_rate = INFINITY, .buffers = 1 };
    rates[0] = (dfl_rate){ .op = fixture_sym(f, "mac"), .rate = 1e9 };
    rates[1] = (dfl_rate){ .op = 0, .type = fixture_sym(f, "i8"), .rate = 128e9 };
    computes[0] = (dfl_compute){ .name = fixture_sym(f, "vector"), .after_memory = 2, .rates = rates + 1, .n_rates = 1,
                                 .flop_energy = 4e-13, .has_energy = true };
    computes[1] = (dfl_compute){ .name = fixture_sym(f, "mac"), .element = 1, .after_memory = 3, .rates = rates,
                                 .n_rates = 1, .mac_energy = 1e-13, .has_energy = true };
    networks[0] = (dfl_network){ .name = fixture_sym(f, "mesh"), .kind = fixture_sym(f, "bus"), .bandwidth = INFINITY };
    axes[0] = (dfl_axis){ .name = fixture_sym(f, "row"), .size = 4, .element = 1, .network = 0 };
    axes[1] = (dfl_axis){ .name = fixture_sym(f, "col"), .size = 4, .element = 1, .network = 0 };
    f->system = (dfl_system){ .name = fixture_sym(f, "npu"), .elements = elements, .n_elements = 2,
                              .memories = memories, .n_memories = 3, .computes = computes, .n_computes = 2,
                              .networks = networks, .n_networks = 1, .axes = axes, .n_axes = 2, .tdp = 5,
                              .area = 2.5e-6, .price = 12.5, .source = fixture_sym(f, "invented") };
}

static inline void fixture_result(fixture *f)
{
    const dfl_i128 beyond_64 = (dfl_i128)1 << 66;
    dfl_traffic *traffic = DFL_NEW_ARRAY(f->arena, dfl_traffic, 4);
    dfl_einsum_cost *einsums = DFL_NEW_ARRAY(f->arena, dfl_einsum_cost, 2);
    dfl_memory_cost *memories = DFL_NEW_ARRAY(f->arena, dfl_memory_cost, 3);
    dfl_link_cost *links = DFL_NEW_ARRAY(f->arena, dfl_link_cost, 2);
    dfl_network_cost *networks = DFL_NEW_ARRAY(f->arena, dfl_network_cost, 1);
    dfl_link_class *classes = DFL_NEW_ARRAY(f->arena, dfl_link_class, 1);
    double *compute = DFL_NEW_ARRAY(f->arena, double, 2), *network = DFL_NEW_ARRAY(f->arena, double, 1);

    traffic[0] = (dfl_traffic){ .counts = { .serve = 2048 }, .peak_bits = 16384, .joules = 1.14688e-7 };
    traffic[1] = (dfl_traffic){ .tensor = 3, .counts = { .update = 3072 }, .peak_bits = 24576, .joules = 1.72032e-7 };
    traffic[2] = (dfl_traffic){ .memory = 1, .counts = { .serve = beyond_64, .fill = 2048 }, .peak_bits = 32768,
                                .joules = 1.5e-6 };
    traffic[3] = (dfl_traffic){ .memory = 2, .tensor = 2, .peak_bits = 32,
                                .counts = { .serve = 3072, .drain = 1000000, .accumulate = 7, .update = 98304 } };
    einsums[0] = (dfl_einsum_cost){ .macs = 98304, .padding = 12, .points = 98304, .steps = 6144, .compute = 1,
                                    .compute_seconds = 6.144e-6, .seconds = 7.5e-6, .joules = 2e-6,
                                    .bound_by = "sram.read" };
    einsums[1] = (dfl_einsum_cost){ .flops = 3072, .points = 3072, .steps = 3072, .compute = 0,
                                    .compute_seconds = 2.4e-8, .seconds = 2.4e-8, .joules = 1e-9, .bound_by = "vector" };
    memories[0] = (dfl_memory_cost){ 0, 40960, { 0, 0 }, 1.6e-8, 2.4e-8, 1.14688e-7, 1.72032e-7, 1, 1e11, 0 };
    memories[1] = (dfl_memory_cost){ 1, 32768, { 54, 55 }, 6.5e-6, 0, 1.5e-6, 0, 1, 2.5e12, 0 };
    memories[2] = (dfl_memory_cost){ 2, 32, { 0, 0 }, 0, 0, 0, 0, 16, 0, 0 };
    classes[0] = (dfl_link_class){ .name = "medium", .bits = 4096, .seconds = 2.5e-9 };
    networks[0] = (dfl_network_cost){ .injected_bits = 3000, .delivered_bits = 12000, .collected_bits = 2048,
                                      .arriving_bits = 1096, .classes = classes, .n_classes = 1, .seconds = 2.5e-9,
                                      .bandwidth_required = 5e8 };
    links[0] = (dfl_link_cost){ 0, 123 };
    links[1] = (dfl_link_cost){ 1, 0 };
    compute[0] = 1.2288e-9;
    compute[1] = 9.8304e-9;
    network[0] = 0;
    f->result = (dfl_result){ .mapping = &f->mapping[0], .traffic = traffic, .n_traffic = 4, .einsums = einsums,
                              .memories = memories, .links = links, .networks = networks,
                              .compute_joules = compute,
                              .network_joules = network, .leakage_joules = 3e-9, .macs = 98304, .flops = 3072,
                              .padding = 12, .extra = 5, .seconds = 7.524e-6, .joules = 1.8008e-6, .watts = 0.2393407,
                              .area = 2.5e-6, .utilization = 0.8165869, .bound_by = "sram.read" };
}

/* A fixture; all of its parts live until fixture_free. The second mapping has no result. */
static inline fixture *fixture_new(void)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    fixture *f = DFL_NEW(arena, fixture);

    f->arena = arena;
    f->names = dfl_intern_new(arena);
    f->sources = dfl_source_map_new(arena);
    dfl_source_add(f->sources, "some/where/gemm.dfl", fixture_source, sizeof fixture_source - 1);
    f->sink = dfl_sink_new(arena, f->sources);
    fixture_workload(f);
    fixture_system(f);
    f->mapping[0] = (dfl_mapping){ .name = fixture_sym(f, "tiled"), .workload = &f->workload, .system = &f->system,
                                   .doc = " A tiled product.\n source_name: CONV \"1\" \n" };
    f->mapping[1] = (dfl_mapping){ .name = fixture_sym(f, "too_big"), .workload = &f->workload, .system = &f->system };
    f->root = (dfl_body){ .kind = DFL_BODY_LEAF, .compute = DFL_NONE };
    f->mapping[0].root = f->mapping[1].root = &f->root;
    fixture_result(f);
    f->items[0] = (dfl_result_item){ &f->mapping[0], &f->result, DFL_STATUS_COMPLETE, NULL, NULL };
    f->items[1] = (dfl_result_item){ &f->mapping[1], NULL, DFL_STATUS_INFEASIBLE, NULL, NULL };
    f->results = (dfl_results){ .file = "some/where/gemm.dfl", .names = f->names, .sink = f->sink,
                                .program = &f->program, .items = f->items, .n_items = 2 };
    return f;
}

static inline void fixture_free(fixture *f)
{
    dfl_arena_free(f->arena);
}

#endif
