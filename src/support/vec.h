/*
 * Growing arrays in an arena. A vector is any struct with the members of DFL_VEC: `n` items in room for `cap`. Items are
 * plain values. Growth may copy into fresh arena memory: pointers into `at` are valid until the next push.
 */
#ifndef DFL_SUPPORT_VEC_H
#define DFL_SUPPORT_VEC_H

#include "support/arena.h"

#define DFL_VEC(T) \
    struct {       \
        T *at;     \
        size_t n;  \
        size_t cap; \
    }

/* Grows an array of `n` items of `size` bytes so that one more fits. */
void dfl_vec_grow(dfl_arena *arena, void **at, size_t n, size_t *cap, size_t size, size_t align);

#define DFL_PUSH(a, v, item)                                                                             \
    do {                                                                                                 \
        if ((v)->n == (v)->cap) {                                                                        \
            void *grown_ = (v)->at;                                                                      \
            dfl_vec_grow((a), &grown_, (v)->n, &(v)->cap, sizeof *(v)->at, _Alignof(__typeof__(*(v)->at))); \
            (v)->at = grown_;                                                                            \
        }                                                                                                \
        (v)->at[(v)->n++] = (item);                                                                      \
    } while (0)

#endif
