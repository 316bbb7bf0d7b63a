/* Instances of memories and units, and the connections between the instances of a place and those of the next outer
   place. */
#ifndef DFL_ORACLE_INSTANCES_H
#define DFL_ORACLE_INSTANCES_H

#include "oracle/oracle_internal.h"

/* The axes around an element, outer ones first, and the number of instances in use. */
uint32_t *dfl_oracle_axes_around(const dfl_oracle_machine *machine, uint32_t element, uint32_t *n_axes, uint32_t *n_inst);
/* Instance number of a place with these axes around it, at the coordinates `coord` (by axis). */
uint32_t dfl_oracle_instance(const dfl_oracle_machine *machine, const uint32_t *axes, uint32_t n_axes, const uint32_t *coord);
/* Instance number of a place with these axes around it, at the lowest coordinates of an einsum; 0 without an einsum. */
uint32_t dfl_oracle_first_instance(const dfl_oracle_machine *machine, const uint32_t *axes, uint32_t n_axes, uint32_t einsum);
/* Connects the instances of a place in `inner_element` to the instances of a memory in `outer_element`, for one tensor. `einsum`
   uses the connection; DFL_NONE = no einsum does. */
dfl_oracle_link dfl_oracle_link_make(dfl_oracle_machine *machine, uint32_t inner_element, uint32_t outer_element,
                                     uint32_t tensor, uint32_t einsum);

#endif
