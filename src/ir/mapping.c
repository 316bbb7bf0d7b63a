/* Questions about a mapping. */
#include "ir/mapping.h"

const dfl_body *dfl_mapping_leaf(const dfl_mapping *m, uint32_t einsum)
{
    const dfl_body *b = m->root;

    while (b && b->kind != DFL_BODY_LEAF) {
        const dfl_body *next = NULL;
        for (uint32_t c = 0; !next && c < b->n_children; c++)
            for (uint32_t k = 0; k < b->children[c]->n_einsums; k++)
                if (b->children[c]->einsums[k] == einsum)
                    next = b->children[c];
        b = next;
    }
    return b && b->n_einsums == 1 && b->einsums[0] == einsum ? b : NULL;
}

const dfl_body *dfl_body_common(const dfl_body *a, const dfl_body *b)
{
    while (a->depth > b->depth)
        a = a->parent;
    while (b->depth > a->depth)
        b = b->parent;
    while (a != b) {
        a = a->parent;
        b = b->parent;
    }
    return a;
}

bool dfl_body_within(const dfl_body *inner, const dfl_body *outer)
{
    while (inner && inner != outer)
        inner = inner->parent;
    return inner == outer;
}
