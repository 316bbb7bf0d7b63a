/* Cuts of a chain: a loop in a gap, and parts on an axis behind a gap. */
#ifndef DFL_TESTS_UNIT_MAPPER_CUTS_H
#define DFL_TESTS_UNIT_MAPPER_CUTS_H

#include "mapper/tiling/chain.h"

#define T(g) { .gap = (g), .axis = -1 }
#define X(g, a) { .gap = (g), .axis = (a) }

#endif
