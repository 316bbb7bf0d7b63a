#include "ir/mapping_open.h"

static bool has_open_lines(const dfl_mapping *m)
{
    for (uint32_t b = 0; b < m->n_bodies; b++)
        if (m->bodies[b]->open || m->bodies[b]->open_children)
            return true;
    return false;
}

bool dfl_mapping_lines_are_written(const dfl_mapping *m) { return !has_open_lines(m); }

bool dfl_mapping_has_open_branches(const dfl_mapping *m) { return m->root->kind != DFL_BODY_LEAF && has_open_lines(m); }

uint32_t dfl_body_home(const dfl_body *body, uint32_t tensor)
{
    for (const dfl_body *b = body; b != NULL; b = b->parent)
        for (uint32_t i = b->n_lines; i-- > 0;)
            if (b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor)
                return b->lines[i].memory;
    return DFL_NONE;
}

uint32_t dfl_body_count_homes(const dfl_body *body)
{
    const dfl_line *lines = body->lines;
    uint32_t n = 0, end = body->n_opens > 0 && body->opens[0].at < body->n_lines ? body->opens[0].at : body->n_lines;

    for (; n < end && lines[n].kind == DFL_LINE_KEEP && dfl_body_home(body->parent, lines[n].tensor) == DFL_NONE; n++)
        for (uint32_t i = 0; i < n; i++)
            if (lines[i].tensor == lines[n].tensor)
                return n;
    return n;
}

bool dfl_mapping_all_lines_open(const dfl_mapping *m)
{
    const dfl_body *root = m->root;

    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].mode != DFL_KEEP_EXACT)
            return false;
    return m->n_bodies == 1 && root->n_opens == 1 && root->opens[0].at >= root->n_lines && root->compute == DFL_NONE &&
           root->n_recompute == 0 && dfl_body_count_homes(root) == root->n_lines;
}
