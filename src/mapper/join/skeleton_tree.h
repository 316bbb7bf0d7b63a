/*
 * The skeletons of an exchange pattern as a tree. The skeletons of a node have the same keeps. The outermost `kept` of these have
 * the same order in all of them, and the same loops and axes above; the others have any order. The bound of the loose form of the
 * node (tiling/loose_form.h) holds for all its skeletons.
 */
#ifndef DFL_MAPPER_JOIN_SKELETON_TREE_H
#define DFL_MAPPER_JOIN_SKELETON_TREE_H

#include "mapper/exact/einsum_classes.h"

/* A skeleton alone has a node, a leaf, too. */
typedef struct {
    uint32_t first, n;      /* its skeletons, in the order of the list */
    uint32_t kept;          /* keeps; of a leaf all */
    uint32_t child, next;   /* its first child; the next child of its parent, or the next root; DFL_NONE = none */
} dfl_skeleton_node;

typedef DFL_VEC(dfl_skeleton_node) dfl_skeleton_tree;

/* Sorts candidates of one class and one pattern, so that those of each node follow one another. */
void dfl_skeleton_tree_sort(const dfl_candidate **list, uint32_t n);
/* Adds the nodes of a sorted list, first root first; `first` is the number of its first skeleton. */
void dfl_skeleton_tree_add(dfl_arena *arena, const dfl_candidate *const *list, uint32_t n, uint32_t first,
                           dfl_skeleton_tree *out);

#endif
