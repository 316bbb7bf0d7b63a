/*
 * The lines of a mapping of one einsum, homes left out, as numbers of its problem (einsum_problem.h): loops, spatial loops and
 * keeps, from outer to inner. The same lines with other amounts are the same skeleton.
 *
 * An amount is a wish: a loop asks for tiles of at most so many elements, a spatial loop for at most so many parts.
 * dfl_skeleton_settle turns wishes into what stands in a mapping. A loop whose tile is what the lines above left is a loop of
 * one iteration, which is legal everywhere and costs nothing.
 */
#ifndef DFL_MAPPER_FIRST_SKELETON_H
#define DFL_MAPPER_FIRST_SKELETON_H

#include "mapper/problem/einsum_problem.h"

enum { DFL_SKELETON_LINES = 160 };     /* lines of an einsum */

typedef enum { DFL_SKELETON_LOOP, DFL_SKELETON_SPREAD, DFL_SKELETON_KEEP } dfl_skeleton_kind;

typedef struct {
    uint8_t kind;             /* dfl_skeleton_kind */
    uint8_t rank;             /* loops: rank of the problem */
    uint8_t axis;             /* spatial loops: axis of the problem */
    uint8_t operand, place;   /* keeps: operand and place of the problem */
    int64_t amount;           /* loops: elements of a tile, at least 1; spatial loops: parts, at least 1 */
} dfl_skeleton_line;

typedef struct {
    uint32_t n;
    dfl_skeleton_line at[DFL_SKELETON_LINES];
} dfl_skeleton;

/* Adds a line at the end. False if there is no room. */
bool dfl_skeleton_add(dfl_skeleton *lines, dfl_skeleton_line line);
/*
 * Makes every wish what a mapping has: tiles no larger than what is left, parts that are not empty (an array of 8 makes of 10
 * elements 5 parts of 2), and no more parts on an axis than it has instances. `above`, if not NULL, gets for each line the
 * elements of its rank that the lines above leave.
 */
void dfl_skeleton_settle(const dfl_problem *problem, dfl_skeleton *lines, int64_t *above);
/* Makes every wish a divisor of what the lines above leave, the largest that is no larger. */
void dfl_skeleton_divide(const dfl_problem *problem, dfl_skeleton *lines);
/* Without loops of one iteration, which are loops whose amount is what the lines above leave. */
void dfl_skeleton_strip(const dfl_problem *problem, const dfl_skeleton *lines, dfl_skeleton *out);

#endif
