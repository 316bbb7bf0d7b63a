#include "support/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t dfl_hash(const void *bytes, size_t len, uint64_t seed)
{
#ifdef DFL_HOSTILE
    return XXH64(bytes, len, seed) & 3u; /* four values only: collisions become the common case */
#else
    return XXH64(bytes, len, seed);
#endif
}
