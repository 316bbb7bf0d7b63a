/*
 * A schedule of a small nest by event simulation: tiles in order, every transfer and every piece of work at its own
 * time, every port serving one transfer at a time. The judge of the time of mappings. It shares no code with the model:
 * tiles are sets of elements, and values are followed element by element as MODEL.md, section 1, defines them.
 *
 * Memory 0 is the home of all tensors; memory l + 1 is filled from memory l, or from the next outer one that keeps the
 * tensor. One array may stand between two memories, or between the last memory and the unit. Its instances run in lock
 * step. A transfer that crosses its network occupies every link on its routes. Rules:
 *  - A step of a memory begins when some tile in it changes. Work on a step needs the transfers of its tiles. The work on
 *    a step is the whole schedule of the memories inside, from their first transfer to their last one.
 *  - With one buffer tiles leave and enter before the work on a step, side by side.
 *  - With two buffers the tiles of step i are requested when the work on step i - 2 has ended; a result leaves after the work
 *    on its last step; a result that enters again does so after it has left; and a new tile of a result takes the buffer
 *    of the tile before the previous one, which must have left.
 *  - Ports and links serve in the order of requests; of requests at one time, transfers that leave come first, then
 *    earlier steps. A transfer has ended when all its ports and links have served it.
 *  - A latency passes once for the fills and once for the drains of a step with one buffer; with two buffers, once for the
 *    first fills and once for the last drains of a run. Of transfers in one direction, the longest latency counts. A unit
 *    waits for the latency of its operands once per pass of the loops below the innermost memory.
 *  - A unit works beside the reads of its operands and the updates of its results.
 *  - The children of a branch take turns in each iteration of the loops above it. A memory below the branch is empty before
 *    and after each turn (MODEL.md, section 1, rule 6), so its first tiles enter and its last tiles leave in the turn. A
 *    memory above the branch serves all children; the work on its steps is the sum of their turns.
 */
#ifndef DFL_TESTS_HARNESS_SCHEDULE_H
#define DFL_TESTS_HARNESS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { SCHEDULE_RANKS = 3, SCHEDULE_TENSORS = 9, SCHEDULE_DIMS = 2, SCHEDULE_LOOPS = 12, SCHEDULE_MEMORIES = 3,
       SCHEDULE_ELEMENTS = 400, SCHEDULE_AXES = 2, SCHEDULE_INSTANCES = 9 };

typedef struct {
    uint32_t n_dims;
    uint32_t rank[SCHEDULE_DIMS], other[SCHEDULE_DIMS]; /* index of a dimension: rank, plus `other` unless UINT32_MAX */
    int64_t extent[SCHEDULE_DIMS];
    bool result;
    double bits;
} schedule_tensor;

typedef struct {
    uint32_t above;              /* loops above its keeps; 0 for the home */
    uint32_t keeps;              /* bit set of tensors */
    uint32_t buffers;
    bool one_port;
    double read_rate, write_rate; /* bit/s */
    double latency;               /* s */
} schedule_memory;

typedef enum { SCHEDULE_NO_NETWORK, SCHEDULE_BUS, SCHEDULE_CROSSBAR, SCHEDULE_MESH } schedule_network;

typedef struct {
    schedule_network kind;
    uint32_t inside;              /* the memories from this one on stand in the array; n_memories: only the unit does */
    double bandwidth, latency;    /* bit/s and s of a link */
    uint32_t multicast[SCHEDULE_AXES], reduce[SCHEDULE_AXES]; /* bit sets of tensors */
} schedule_array;

#define SCHEDULE_TEMPORAL UINT32_MAX

typedef struct {
    int64_t extent[SCHEDULE_RANKS];
    schedule_tensor tensor[SCHEDULE_TENSORS];
    uint32_t n_tensors;
    struct { uint32_t rank; int64_t tile; uint32_t axis; } loop[SCHEDULE_LOOPS]; /* axis: SCHEDULE_TEMPORAL or an axis */
    uint32_t n_loops;
    schedule_memory memory[SCHEDULE_MEMORIES];
    uint32_t n_memories;
    schedule_array array;        /* without an array: `inside` = UINT32_MAX */
    double point;                /* seconds of the work on a point */
} schedule_nest;

typedef struct {
    double seconds;              /* from the first request to the end */
    double busy;                 /* seconds of the busiest port, or of the unit */
    bool limited;                /* ports of several memories work at once, and the busiest port needs longer than `seconds`
                                    without it */
    bool alone;                  /* a tile moves elements at a step at which that of coordinate 0 moves none: an instance becomes
                                    idle, or works again */
} schedule_time;

/* Runs a nest. False if it has too many steps. */
bool schedule_run(const schedule_nest *nest, schedule_time *out);

enum { SCHEDULE_CHILDREN = 3 };

/* Nests that take turns below the same loops. They have the same memories; each counts its own tensors, up to 3, and reads what
   earlier ones have made from memory 0. */
typedef struct {
    const schedule_nest *child[SCHEDULE_CHILDREN];
    uint32_t n_children;
    uint32_t n_loops;            /* their first loops, all temporal, stand above the branch */
    uint32_t inner;              /* the memories from this one on stand below the branch: 1 or 2 */
} schedule_branch;

/* Runs a branch. False if a nest has too many steps. */
bool schedule_run_branch(const schedule_branch *branch, schedule_time *out);

#endif
