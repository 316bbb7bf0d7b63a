/* The hash map: added items are found for any hashes. */
#include "tests/harness/check.h"

#include "support/hashmap.h"

enum { KEYS = 3000 };

/* The item of a key in a map whose item `i` has the key `i * 7`. */
static uint32_t find(const dfl_hashmap *map, uint64_t hash, uint32_t key)
{
    uint32_t at;

    for (uint32_t item = dfl_hashmap_first(map, hash, &at); item != 0; item = dfl_hashmap_next(map, hash, &at))
        if (item * 7 == key)
            return item;
    return 0;
}

static void check_all(uint64_t (*hash_of)(uint32_t key))
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_hashmap map = { 0 };

    for (uint32_t i = 1; i <= KEYS; i++) {
        assert_int_equal(find(&map, hash_of(i * 7), i * 7), 0);
        dfl_hashmap_add(arena, &map, hash_of(i * 7), i);
        assert_int_equal(find(&map, hash_of(i * 7), i * 7), i);
    }
    assert_int_equal(map.n, KEYS);
    assert_true(map.n_slots > KEYS && (map.n_slots & (map.n_slots - 1)) == 0);
    for (uint32_t i = 1; i <= KEYS; i++) {
        assert_int_equal(find(&map, hash_of(i * 7), i * 7), i);
        assert_int_equal(find(&map, hash_of(i * 7 + 1), i * 7 + 1), 0);
    }
    dfl_arena_free(arena);
}

static uint64_t spread(uint32_t key) { return key * UINT64_C(0x9e3779b97f4a7c15); }
static uint64_t same(uint32_t key) { (void)key; return UINT64_MAX; }
static uint64_t of_four(uint32_t key) { return key % 4; }
static uint64_t with_equal_low_bits(uint32_t key) { return (uint64_t)key << 20; }
static uint64_t with_equal_low_half(uint32_t key) { return (uint64_t)key << 32; }

static void an_empty_map_finds_nothing(void **state)
{
    const dfl_hashmap map = { 0 };
    uint32_t at;

    (void)state;
    assert_int_equal(dfl_hashmap_first(&map, 0, &at), 0);
    assert_int_equal(dfl_hashmap_first(&map, 17, &at), 0);
}

static void keys_with_good_hashes_are_found(void **state)
{
    (void)state;
    check_all(spread);
}

static void keys_with_hostile_hashes_are_found(void **state)
{
    (void)state;
    check_all(same);
    check_all(of_four);
    check_all(with_equal_low_bits);
    check_all(with_equal_low_half);
}

/* Items of other hashes are not offered, though they stand in the same run of slots. */
static void only_items_of_the_hash_are_offered(void **state)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_hashmap map = { 0 };
    uint32_t at;

    (void)state;
    dfl_hashmap_add(arena, &map, 8, 1);
    dfl_hashmap_add(arena, &map, 16, 2);
    dfl_hashmap_add(arena, &map, 8, 3);
    assert_int_equal(dfl_hashmap_first(&map, 8, &at), 1);
    assert_int_equal(dfl_hashmap_next(&map, 8, &at), 3);
    assert_int_equal(dfl_hashmap_next(&map, 8, &at), 0);
    assert_int_equal(dfl_hashmap_first(&map, 16, &at), 2);
    assert_int_equal(dfl_hashmap_next(&map, 16, &at), 0);
    assert_int_equal(dfl_hashmap_first(&map, 24, &at), 0);
    dfl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_finds_nothing),
        cmocka_unit_test(keys_with_good_hashes_are_found),
        cmocka_unit_test(keys_with_hostile_hashes_are_found),
        cmocka_unit_test(only_items_of_the_hash_are_offered),
    };

    return CHECK_GROUP("support.hashmap", tests);
}
