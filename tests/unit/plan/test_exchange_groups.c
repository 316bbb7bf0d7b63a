/* Whether parts of a dimension lie in other places in two layouts, by hand. */
#include "tests/harness/check.h"

#include "plan/exchange/exchange_groups.h"

enum { SLOTS = 4 };

/* Four groups of chips with `count` each; those of `cyclic` deal. Layouts: 0 = the dimension is divided there, -1 = it is not. The
   parts of the last group are compared, of `of_a` and `of_b` positions. */
typedef struct {
    const char *why;
    int64_t count[SLOTS];
    dfl_layout a[SLOTS], b[SLOTS];
    uint64_t cyclic;
    int64_t of_a, of_b;
    bool apart;
} row;

static const row rows[] = {
    { "equal layouts", { 2, 2, 2, 2 }, { 0, -1, -1, 0 }, { 0, -1, -1, 0 }, 0, 16, 16, false },
    { "halves of all, and of halves", { 2, 2, 2, 2 }, { -1, -1, -1, 0 }, { 0, -1, -1, 0 }, 0, 16, 16, true },
    { "halves of other groups have the same halves", { 2, 2, 2, 2 }, { 0, -1, -1, 0 }, { -1, 0, -1, 0 }, 0, 16, 16, false },
    { "halves of 6 are 3, halves of 4 are 2", { 2, 3, 2, 2 }, { 0, -1, -1, 0 }, { -1, 0, -1, 0 }, 0, 12, 12, true },
    { "halves of halves are quarters", { 2, 2, 4, 2 }, { 0, 0, -1, 0 }, { -1, -1, 0, 0 }, 0, 16, 16, false },
    { "thirds of 6 and sixths of 12 are 2", { 2, 3, 6, 2 }, { 0, 0, -1, 0 }, { -1, -1, 0, 0 }, 0, 12, 12, false },
    { "halves of 5 of 10 are 3 of 5 and 2, quarters of 10 are 3", { 2, 2, 4, 3 }, { 0, 0, -1, 0 }, { -1, -1, 0, 0 }, 0, 10, 10, true },
    { "halves of 6 of 10 positions", { 2, 2, 2, 2 }, { -1, -1, -1, 0 }, { -1, -1, -1, 0 }, 0, 10, 6, true },
    { "halves of 9 are those of 10", { 2, 2, 2, 2 }, { -1, -1, -1, 0 }, { -1, -1, -1, 0 }, 0, 10, 9, false },
    { "dealt, 6 of 10 positions lie as 10", { 2, 2, 2, 2 }, { -1, -1, -1, 0 }, { -1, -1, -1, 0 }, 8, 10, 6, false },
    { "blocks within what is dealt", { 2, 2, 2, 2 }, { 0, -1, -1, 0 }, { 0, -1, -1, 0 }, 1, 10, 6, true },
    { "dealt among another group", { 2, 2, 2, 2 }, { 0, -1, -1, 0 }, { -1, 0, -1, 0 }, 8, 16, 16, true },
};

static void parts_lie_apart(void **state)
{
    dfl_budget budget = { 0 };
    dfl_arena *arena = dfl_arena_new(&budget);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dfl_slot slots[SLOTS] = { { 0 } };
        const dfl_frame f = { .arena = arena, .slots = slots, .n_slots = SLOTS };

        for (uint32_t s = 0; s < SLOTS; s++)
            slots[s] = (dfl_slot){ .count = rows[i].count[s], .is_cyclic = (rows[i].cyclic >> s & 1) != 0 };
        if (dfl_layouts_nest_apart(&f, rows[i].a, rows[i].b, SLOTS - 1, rows[i].of_a, rows[i].of_b) != rows[i].apart)
            fail_msg("%s: expected %d", rows[i].why, rows[i].apart);
    }
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(parts_lie_apart) };

    return CHECK_GROUP("plan.exchange_groups", tests);
}
