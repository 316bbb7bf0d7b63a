/*
 * Small systems of chips over one or two networks.
 */
#ifndef DFL_TESTS_UNIT_COLLECTIVE_CHIPS_H
#define DFL_TESTS_UNIT_COLLECTIVE_CHIPS_H

#include "collective/collective.h"

enum { CHIP_AXES = 3, CHIP_NETWORKS = 3 };

typedef struct {
    int64_t size;
    uint32_t network;          /* axes of one network that follow each other are one array */
} chip_axis;

/* A system to be made. */
typedef struct {
    dfl_network networks[CHIP_NETWORKS];
    uint32_t n_networks;
    chip_axis axes[CHIP_AXES]; /* outer ones first; size 0 = none */
} chip_plan;

typedef struct {
    dfl_element elements[CHIP_AXES + 1];
    dfl_axis axes[CHIP_AXES];
    dfl_system system;
} chip_system;

/* The last element is the chip. The plan must live as long as the system. */
static inline void make_chips(const chip_plan *plan, chip_system *out)
{
    *out = (chip_system){ .elements = { { .parent = DFL_NONE } }, .system = { .n_elements = 1 } };
    for (uint32_t a = 0; a < CHIP_AXES && plan->axes[a].size > 0; a++) {
        bool same = a > 0 && plan->axes[a - 1].network == plan->axes[a].network;
        uint32_t element = out->system.n_elements - (same ? 1 : 0);
        out->axes[a] = (dfl_axis){ .size = plan->axes[a].size, .element = element, .network = plan->axes[a].network };
        if (!same)
            out->elements[element] = (dfl_element){ .parent = element - 1, .first_axis = a };
        out->elements[element].n_axes++;
        out->system.n_elements = element + 1;
        out->system.n_axes = a + 1;
    }
    out->system.elements = out->elements;
    out->system.axes = out->axes;
    out->system.networks = plan->networks;
    out->system.n_networks = plan->n_networks;
}

#endif
