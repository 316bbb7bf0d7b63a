/* The operations of a stage in the order of its schedule. */
#ifndef DFL_ORACLE_CHIPS_ORDER_H
#define DFL_ORACLE_CHIPS_ORDER_H

#include "oracle/chips/chips_internal.h"

/* A pass of a micro-batch through a chunk of layers. */
typedef enum { CHIPS_FORWARD, CHIPS_BACKWARD, CHIPS_WEIGHTS, CHIPS_N_KINDS } chip_kind;
typedef struct { chip_kind kind; int64_t chunk, micro_batch; } chip_operation;
/* The operations of a stage in their order; their number. */
uint32_t dfl_chips_order(const chips *c, uint32_t stage, chip_operation **out);

#endif
