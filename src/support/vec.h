/*
 * Growing arrays inside an arena. A vector is any struct with the members of DFL_VEC; items are plain values.
 * Growth copies into fresh arena memory, so pointers into `at` are good until the next push.
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

/* Ensures room for one more item of `size` bytes. */
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
