#include "tests/timeloop/causes.h"

const char *peer_cause_text(peer_cause cause)
{
    static const char *const text[PEER_CAUSES] = {
        [PEER_PADS] = "pads temporal cycles to full factors",
        [PEER_AVERAGES] = "averages instances whose pieces are unequal",
        [PEER_RESETS] = "resets the reuse of a halo when the window turns",
        [PEER_HALOS] = "fetches halos between instances once for each",
        [PEER_PASSES] = "passes moving windows on between neighbours",
        [PEER_PARTLY] = "passes operands on in a part of a multicast group",
        [PEER_EXTRAPOLATES] = "extrapolates from the second iteration of inner loops",
        [PEER_BOXES] = "refetches bounding boxes on request",
        [PEER_RESPILLS] = "spills an output at every step on request",
        [PEER_DISTRIBUTES] = "distributes a multicast over sibling banks",
    };

    return text[cause];
}

static bool kept(const peer_run *run, uint32_t tensor, uint32_t level)
{
    return level < run->f.n_levels && !(run->f.levels[level].bypass >> tensor & 1);
}

/* The levels whose loops stand between a keep and the next inner keep: `inside` .. `level`. */
static uint32_t inside_of(const peer_run *run, uint32_t tensor, uint32_t level)
{
    while (level > 0 && !kept(run, tensor, level - 1))
        level--;
    return level;
}

static uint32_t outer_of(const peer_run *run, uint32_t tensor, uint32_t level)
{
    do
        level++;
    while (level < run->f.n_levels && !kept(run, tensor, level));
    return level;
}

/* A factor is imperfect at or below a spatial loop over the same dimension. */
bool peer_uneven(const peer_run *run)
{
    for (uint32_t d = 0; d < run->f.n_dims; d++) {
        bool imperfect = false;
        for (uint32_t k = 0; k < run->f.n_levels; k++) {
            const dfl_tl_level *l = &run->f.levels[k];
            for (uint32_t i = 0; i < l->n_spatial; i++)
                if (l->spatial[i].dim == d && (imperfect |= l->spatial[i].last != l->spatial[i].full))
                    return true;
            for (uint32_t i = 0; i < l->n_temporal; i++)
                imperfect |= l->temporal[i].dim == d && l->temporal[i].last != l->temporal[i].full;
        }
    }
    return false;
}

int64_t peer_padded_cycles(const peer_run *run)
{
    int64_t cycles = 1;
    bool imperfect = false;

    for (uint32_t k = 0; k < run->f.n_levels; k++) {
        const dfl_tl_level *l = &run->f.levels[k];
        for (uint32_t i = 0; i < l->n_temporal; i++) {
            cycles *= l->temporal[i].full;
            imperfect |= l->temporal[i].last != l->temporal[i].full;
        }
        for (uint32_t i = 0; i < l->n_spatial; i++)
            imperfect |= l->spatial[i].last != l->spatial[i].full;
    }
    return imperfect ? cycles : 0;
}

bool peer_plain(const peer_run *run)
{
    if (run->rejected || run->died || run->extrapolated || run->truncated || peer_padded_cycles(run) > 0)
        return false;
    for (uint32_t k = 0; k < run->f.n_levels; k++) {
        const dfl_tl_level *l = &run->f.levels[k];
        if ((l->no_reuse | l->no_link | l->no_temporal_reuse | l->rmw_first) != 0 || l->distributes)
            return false;
    }
    for (uint32_t t = 0; t < run->f.n_tensors; t++)
        if (peer_slides(run, t) || dfl_tl_inner_links(&run->f, t) == DFL_TL_LINKS_SOME)
            return false;
    return true;
}

bool peer_causes_add(uint32_t causes)
{
    const uint32_t add = 1u << PEER_RESETS | 1u << PEER_HALOS | 1u << PEER_RESPILLS;

    return causes != 0 && (causes & ~add) == 0;
}

/* The peer fetches bounding boxes afresh if a level has `no_temporal_reuse` for a tensor with gaps; a keep of DFL is
   either `fresh` or `window`. */
static bool boxes_refetched(const peer_run *run, uint32_t tensor)
{
    bool fresh = false, gaps = false;

    for (uint32_t k = 0; k < run->f.n_levels; k++) {
        fresh |= kept(run, tensor, k) && (run->f.levels[k].no_temporal_reuse >> tensor & 1);
        gaps |= kept(run, tensor, k) && dfl_tl_gaps(&run->f, tensor, k + 1);
    }
    return fresh && gaps;
}

/* Adds the causes on the way from a keep of an input to the next inner keep, or to the multipliers. */
static uint32_t on_the_way(const peer_run *run, uint32_t tensor, uint32_t level)
{
    uint32_t causes = 0, inside = inside_of(run, tensor, level);

    if (inside > 0 && peer_turns(run, tensor, inside))
        causes |= 1u << PEER_RESETS;
    if (inside > 0 && peer_extrapolates(run, tensor, inside))
        causes |= 1u << PEER_EXTRAPOLATES;
    for (uint32_t k = inside; k <= level; k++) {
        if (peer_halos(run, tensor, k))
            causes |= 1u << PEER_HALOS;
        if (peer_passes(run, tensor, k))
            causes |= 1u << PEER_PASSES;
    }
    if (inside == 0 && dfl_tl_inner_links(&run->f, tensor) == DFL_TL_LINKS_SOME)
        causes |= 1u << PEER_PARTLY;
    return causes;
}

static uint32_t causes_of_input(const peer_run *run, uint32_t level, uint32_t tensor, peer_field field)
{
    uint32_t below = field == PEER_READS ? on_the_way(run, tensor, level) : 0;
    uint32_t outer = outer_of(run, tensor, level), above = 0;

    if (outer < run->f.n_levels)
        above = on_the_way(run, tensor, outer);
    if (field == PEER_READS)  /* the level reads elements that a neighbour then gets over a link */
        above &= 1u << PEER_PASSES;
    else
        above &= ~(1u << PEER_HALOS | 1u << PEER_PARTLY);
    if (boxes_refetched(run, tensor))
        above |= 1u << PEER_BOXES;
    if (run->f.levels[level].distributes)
        above |= 1u << PEER_DISTRIBUTES;
    return below | above;
}

static uint32_t causes_of_output(const peer_run *run, uint32_t level, uint32_t tensor, peer_field field)
{
    uint32_t causes = 0, inside = inside_of(run, tensor, level);

    if (field != PEER_FILLS && inside == 0 && dfl_tl_inner_links(&run->f, tensor) == DFL_TL_LINKS_SOME)
        causes |= 1u << PEER_PARTLY;
    if (field != PEER_FILLS && inside > 0 && run->f.levels[inside - 1].no_temporal_reuse >> tensor & 1)
        causes |= 1u << PEER_RESPILLS;
    if (field == PEER_FILLS && run->f.levels[level].no_temporal_reuse >> tensor & 1)
        causes |= 1u << PEER_RESPILLS;
    return causes;
}

uint32_t peer_causes_of(const peer_run *run, uint32_t level, uint32_t tensor, peer_field field)
{
    uint32_t causes = 0;

    if (field == PEER_CAPACITY)
        return !run->f.tensors[tensor].written && boxes_refetched(run, tensor) ? 1u << PEER_BOXES : 0;
    causes = run->f.tensors[tensor].written ? causes_of_output(run, level, tensor, field)
                                          : causes_of_input(run, level, tensor, field);
    return causes | (peer_uneven(run) ? 1u << PEER_AVERAGES : 0);
}
