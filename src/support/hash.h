/*
 * The one hash of dflc. Equal bytes and seed give equal values on every machine of the same byte order; nothing that
 * is printed may depend on a hash, so tables keyed by one are only looked up, never walked.
 */
#ifndef DFL_SUPPORT_HASH_H
#define DFL_SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t dfl_hash(const void *bytes, size_t len, uint64_t seed);
/* A name for a text, of 32 digits: the one value of this room that may be printed, and compared on another machine. */
void dfl_digest(const void *bytes, size_t len, char out[33]);

#endif
