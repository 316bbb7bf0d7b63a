/* Copies of a system with other sizes: the copy differs in the requested sizes only, and the original does not change. */
#include <string.h>

#include "tests/harness/check.h"

#include "ir/system.h"

enum { MEMORIES = 3, NEVER = 7 };

typedef struct {
    const char *name;
    uint32_t memory;             /* of dfl_system_sized; NEVER: of dfl_system_endless, */
    bool all;                    /* with this */
    int64_t bits;
    int64_t sizes[MEMORIES];     /* then */
    bool holds[MEMORIES];        /* only some tensors */
} copy_case;

/* Without a limit, 4096 bits for outputs, 128 bits. */
static const copy_case cases[] = {
    { "the first gets a size", 0, false, 65536, { 65536, 4096, 128 }, { false, true, false } },
    { "a larger one", 1, false, 4104, { -1, 4104, 128 }, { false, true, false } },
    { "a smaller one, the last", 2, false, 1, { -1, 4096, 1 }, { false, true, false } },
    { "nothing fits", 2, false, 0, { -1, 4096, 0 }, { false, true, false } },
    { "no limit", 1, false, -1, { -1, -1, 128 }, { false, true, false } },
    { "as it was", 2, false, 128, { -1, 4096, 128 }, { false, true, false } },
    { "more than 32 bits", 1, false, INT64_C(1) << 43, { -1, INT64_C(1) << 43, 128 }, { false, true, false } },
    { "no limits", NEVER, false, 0, { -1, -1, -1 }, { false, true, false } },
    { "no limits, and all tensors", NEVER, true, 0, { -1, -1, -1 }, { false, false, false } },
};

static void copies(void **state)
{
    const copy_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_memory memories[MEMORIES] = {
        { .element = 0, .size_bits = -1, .buffers = 1, .read_energy = 90, .read_rate = 2, .write_rate = 1 },
        { .element = 0, .size_bits = 4096, .buffers = 2, .one_port = true, .leakage = 3, .holds = { .on = true, .roles = 2 } },
        { .element = 1, .size_bits = 128, .buffers = 1, .stream = true, .area = 5 },
    }, before[MEMORIES];
    dfl_compute unit = { .element = 1, .after_memory = MEMORIES };
    dfl_system system = { .memories = memories, .n_memories = MEMORIES, .computes = &unit, .n_computes = 1, .area = 11 };
    const dfl_system kept = system;
    const dfl_system *got;

    memcpy(before, memories, sizeof before);
    got = c->memory == NEVER ? dfl_system_endless(arena, &system, c->all) : dfl_system_sized(arena, &system, c->memory, c->bits);
    assert_memory_equal(memories, before, sizeof before);
    assert_memory_equal(&system, &kept, sizeof kept);
    assert_ptr_not_equal(got->memories, memories);
    for (uint32_t m = 0; m < MEMORIES; m++) {
        assert_int_equal(got->memories[m].size_bits, c->sizes[m]);
        assert_int_equal(got->memories[m].holds.on, c->holds[m]);
        before[m].size_bits = c->sizes[m];
        before[m].holds.on = c->holds[m];
    }
    assert_memory_equal(got->memories, before, sizeof before);
    system.memories = got->memories;
    assert_memory_equal(got, &system, sizeof system);
    dfl_arena_free(arena);
}

int main(void) { return CHECK_TABLE("ir.system", cases, copies); }
