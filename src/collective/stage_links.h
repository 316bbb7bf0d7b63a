/*
 * The links that the messages between the stages of a pipeline use in one micro-batch, by formula. They equal the step rule.
 */
#ifndef DFL_COLLECTIVE_STAGE_LINKS_H
#define DFL_COLLECTIVE_STAGE_LINKS_H

#include "collective/stage_ways.h"

/* Sets the links of all stages by formula, `out`: [stage * DFL_LINK_CLASSES + class]. The stages are the ranks of a group of one
   part. False if no formula holds. */
bool dfl_stage_links_form(const dfl_fabric *f, const dfl_team *team, const dfl_stage_traffic *traffic, dfl_stage_link *out);

#endif
