/*
 * A schedule of a small nest by event simulation: tiles in order, every transfer and every piece of work at its own
 * time, every port serving one transfer at a time. The judge of the time of mappings. It shares no code with the model:
 * tiles are sets of elements, and values are followed element by element as MODEL.md, section 1, defines them.
 *
 * One instance of every memory. Memory 0 is the home of all tensors; memory l + 1 is filled from memory l, or from the
 * next outer one that keeps the tensor. Rules:
 *  - A step of a memory begins when some tile in it changes. Work on a step needs the transfers of its tiles. The work on
 *    a step is the whole schedule of the memories inside, from their first transfer to their last one.
 *  - With one buffer tiles leave and enter before the work on a step, side by side.
 *  - With two buffers the tiles of step i are requested when the work on step i - 2 has ended; a result leaves after the work
 *    on its last step; a result that enters again does so after it has left; and a new tile of a result takes the buffer
 *    of the tile before the previous one, which must have left.
 *  - Ports serve in the order of requests; of requests at one time, transfers that leave come first, then earlier steps.
 */
#ifndef DFL_TESTS_HARNESS_SCHEDULE_H
#define DFL_TESTS_HARNESS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { SCHEDULE_RANKS = 3, SCHEDULE_TENSORS = 3, SCHEDULE_DIMS = 2, SCHEDULE_LOOPS = 8, SCHEDULE_MEMORIES = 3,
       SCHEDULE_ELEMENTS = 400 };

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
} schedule_memory;

typedef struct {
    int64_t extent[SCHEDULE_RANKS];
    schedule_tensor tensor[SCHEDULE_TENSORS];
    uint32_t n_tensors;
    struct { uint32_t rank; int64_t tile; } loop[SCHEDULE_LOOPS];
    uint32_t n_loops;
    schedule_memory memory[SCHEDULE_MEMORIES];
    uint32_t n_memories;
    double point;                /* seconds of the work on a point */
} schedule_nest;

typedef struct {
    double seconds;              /* from the first request to the end */
    double busy;                 /* seconds of the busiest port, or of the unit */
    bool limited;                /* ports of several memories work at once, and the busiest port needs longer than `seconds`
                                    without it */
} schedule_time;

/* Runs a nest. False if it has too many steps. */
bool schedule_run(const schedule_nest *nest, schedule_time *out);

#endif
