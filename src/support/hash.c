#include "support/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t dfl_hash(const void *bytes, size_t len, uint64_t seed)
{
#ifdef DFL_HOSTILE
    return XXH64(bytes, len, seed) & ~UINT64_C(31); /* collisions become the common case, without ever growing with the table */
#else
    return XXH64(bytes, len, seed);
#endif
}
