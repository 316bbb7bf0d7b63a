#include "support/hash.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t dfl_hash(const void *bytes, size_t len, uint64_t seed)
{
#ifdef DFL_HOSTILE
    /* clear five bits, so that collisions are frequent, yet hashes still differ in large tables */
    return XXH64(bytes, len, seed) & ~UINT64_C(31);
#else
    return XXH64(bytes, len, seed);
#endif
}

void dfl_digest(const void *bytes, size_t len, char out[33])
{
    XXH128_hash_t h = XXH3_128bits(bytes, len);

    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}
