/*
 * The hash function of dflc, XXH64. Equal bytes and seed give equal values on every machine of the same byte order.
 * Output must not depend on a hash: a table keyed by hashes is only looked up, never iterated.
 */
#ifndef DFL_SUPPORT_HASH_H
#define DFL_SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t dfl_hash(const void *bytes, size_t len, uint64_t seed);
/* Writes the digest of a text, 32 hexadecimal digits of XXH3. A digest may be printed and compared on another machine. */
void dfl_digest(const void *bytes, size_t len, char out[33]);

#endif
