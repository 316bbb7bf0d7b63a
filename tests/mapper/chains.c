/*
 * chains [N [seed [first]]]: N random tiny problems of one einsum (rival_draw), from number `first` of the stream `seed`. Each is
 * searched by boxes, and by an enumeration: up to three keeps in any order that the language allows, loops over all ranks in all
 * gaps, and for each rank all tile sizes and parts; a sample where there are too many. The model evaluates every mapping. A
 * problem fails
 *   - if a mapping is below the lower bound of the search, or below a result that the search calls complete;
 *   - if the search finds nothing, and a mapping is legal.
 * Prints how many results are complete, and how often the enumeration meets the value. The last line is `N passed, N failed`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "mapper/skeleton/fixed_lines.h"
#include "mapper/tiling/box_search.h"
#include "mapper/tiling/point.h"
#include "tests/mapper/rival.h"

enum { KEEPS = 3, POINTS = 4000, CHAINS = 20000, MOST_POINTS = 400000 };

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    dfl_problem *problem;
    dfl_objective objective;
    dfl_terms terms;
    uint64_t random, evaluated, left;
    double best;
    dfl_mapping *found;
} chain_walk;

/* The amounts of a rank that leave pieces of one element. */
typedef struct {
    uint32_t n;
    struct chain_amounts { int64_t at[DFL_CHAIN_CUTS]; } *at;
} amount_list;

static void list_amounts(const dfl_form *f, uint32_t rank, uint32_t cut, int64_t full, int64_t *amounts, amount_list *out)
{
    const dfl_chain *c = &f->chain[rank];

    if (out->n == CHAINS)
        return;
    if (cut == c->n) {
        if (full == 1)
            memcpy(out->at[out->n++].at, amounts, sizeof out->at->at);
        return;
    }
    const int64_t size = c->at[cut].axis >= 0 ? f->problem->axis[c->at[cut].axis].size : full;
    for (int64_t a = 1; a <= full && a <= size; a++) {
        amounts[cut] = a;
        list_amounts(f, rank, cut + 1, c->at[cut].axis >= 0 ? (full + a - 1) / a : a, amounts, out);
    }
}

static void evaluate(chain_walk *w, dfl_point *p, const int64_t *const *amounts)
{
    const double value = dfl_point_value(p, &w->objective, amounts);

    w->evaluated++;
    w->left -= w->left > 0;
    if (value >= w->best)
        return;
    w->best = value;
    w->found = dfl_point_copy(w->arena, p);
}

static void walk_amounts(chain_walk *w, const dfl_form *f, dfl_point *p, const amount_list *lists)
{
    const uint32_t n = f->problem->n_ranks;
    const int64_t *amounts[DFL_PROBLEM_RANKS];
    double all = 1;

    for (uint32_t r = 0; r < n; r++)
        all *= lists[r].n;
    for (uint64_t i = 0; i < POINTS && (double)i < all && w->left > 0; i++) {
        uint64_t rest = i;
        for (uint32_t r = 0; r < n; r++) {
            const uint32_t k = all <= POINTS ? (uint32_t)(rest % lists[r].n) : rival_random(&w->random, lists[r].n);
            rest /= lists[r].n;
            amounts[r] = lists[r].at[k].at;
        }
        evaluate(w, p, amounts);
    }
}

/* Evaluates mappings with the keeps of a skeleton. */
static void walk_skeleton(chain_walk *w, dfl_tiling_template *t)
{
    const dfl_problem *problem = w->problem;
    dfl_arena *arena = dfl_arena_new(NULL);
    amount_list lists[DFL_PROBLEM_RANKS];
    int64_t amounts[DFL_CHAIN_CUTS];
    dfl_form *f;
    dfl_point *p;

    for (uint32_t g = 0; g <= t->n_keeps; g++)
        t->allow[g] = (1u << problem->n_ranks) - 1;
    for (uint32_t a = 0; a < problem->n_axes; a++) {
        t->axis_gap[a] = (uint8_t)t->n_keeps;
        for (uint32_t i = t->n_keeps; i-- > 0;)
            if (problem->place[t->keep[i].place].axes >> a & 1)
                t->axis_gap[a] = (uint8_t)i;
    }
    f = dfl_form_make(arena, problem, t, &w->terms);
    p = dfl_point_make(arena, w->names, w->mapping, f, DFL_NONE);
    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        lists[r] = (amount_list){ .at = DFL_NEW_ARRAY(arena, struct chain_amounts, CHAINS) };
        list_amounts(f, r, 0, problem->extent[r], amounts, &lists[r]);
    }
    walk_amounts(w, f, p, lists);
    dfl_point_free(p);
    dfl_arena_free(arena);
}

/* All skeletons that begin with the keeps of `t`. */
static void walk_keeps(chain_walk *w, const dfl_tiling_template *t)
{
    dfl_tiling_template next = *t;

    walk_skeleton(w, &next);
    for (uint32_t o = 0; o < w->problem->n_operands && t->n_keeps < KEEPS; o++)
        for (uint32_t place = 0; place < w->problem->n_places; place++) {
            const int outer = t->innermost[o];
            if (!(w->problem->operand[o].places >> place & 1) || place == w->problem->operand[o].home ||
                (outer >= 0 && t->keep[outer].place >= place))
                continue;
            next = *t;
            next.keep[t->n_keeps] = (dfl_template_keep){ .operand = (uint8_t)o, .place = (uint8_t)place,
                                                         .parent = (int8_t)outer };
            next.written[t->n_keeps] = (uint8_t)t->n_keeps;
            next.innermost[o] = (int8_t)t->n_keeps;
            next.n_keeps++;
            walk_keeps(w, &next);
        }
}

static char *draw_text(uint64_t seed, uint64_t index)
{
    const rival_kinds kinds = { .einsums = 1, .arrays = index % 2 == 1 };
    rival_choices c = rival_seeded(seed, index);
    char *text = NULL;
    size_t len;
    bool perfect;
    FILE *out = open_memstream(&text, &len);
    const char *objective = rival_draw(&c, &kinds, out, &perfect);

    fprintf(out, "mapping best for w on chip {\n    %s...;\n    minimize %s;\n}\n",
            perfect ? "option overlap = perfect;\n    " : "", objective);
    fclose(out);
    return text;
}

typedef struct { uint64_t passed, failed, complete, met, skipped, evaluated; } tally;

static void judge_search(chain_walk *w, const char *text, uint64_t index, tally *sum)
{
    const dfl_search_limits limits = { .evaluations = 200000 };
    const dfl_problem *const problems[] = { w->problem };
    const dfl_box_result *found = dfl_box_search(w->arena, w->names, w->mapping, problems, 1, &w->objective, &limits,
                                                 &(dfl_box_start){ .mapping = NULL });
    dfl_tiling_template t = { .innermost = { -1, -1, -1, -1, -1 } };
    const double least = found->is_complete ? found->value : found->lower_bound;

    walk_keeps(w, &t);
    sum->evaluated += w->evaluated;
    sum->complete += found->is_complete;
    sum->met += w->best <= found->value * (1 + 1e-9);
    if (w->best < least * (1 - 1e-9)) {
        sum->failed++;
        printf("// problem %" PRIu64 ": value %.12g, lower bound %.12g, but there is %.12g\n%s\n", index, found->value,
               found->lower_bound, w->best, text);
        for (uint32_t i = 0; i < w->found->root->n_lines; i++) {
            const dfl_line *line = &w->found->root->lines[i];
            if (line->kind == DFL_LINE_KEEP)
                printf("//   keep tensor %" PRIu32 " in memory %" PRIu32 "\n", line->tensor, line->memory);
            else if (line->amount > 0)
                printf("//   %s rank %" PRIu32 ": %" PRId64 "\n", line->kind == DFL_LINE_TEMPORAL ? "temporal" : "spatial",
                       line->rank,
                       line->amount);
        }
        return;
    }
    sum->passed++;
}

static void judge_problem(uint64_t seed, uint64_t index, tally *sum)
{
    const dfl_problem_limits limits = { .spread = true };
    char *text = draw_text(seed, index);
    dfl_session *s = dfl_session_new(NULL);
    const char *lack = NULL;

    if (dfl_session_open_text(s, "chains.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0) {
        chain_walk *w = DFL_NEW(s->arena, chain_walk);
        *w = (chain_walk){ .arena = s->arena, .names = s->names, .mapping = s->program->designs[0].mapping,
                           .problem = DFL_NEW(s->arena, dfl_problem), .random = seed ^ index, .left = MOST_POINTS,
                               .best = INFINITY };
        if (dfl_objective_make(s->sink, s->names, w->mapping, &w->objective) && w->objective.n_terms <= 1 &&
            dfl_problem_make(s->names, w->mapping, 0, 0, &limits, dfl_space_roomy(s->arena, w->mapping, &limits), w->problem,
                             &lack)) {
            w->problem->given = dfl_fixed_lines_make(s->arena, w->mapping, w->problem);
            if (dfl_box_handles(w->mapping, w->problem, false)) {
                judge_search(w, text, index, sum);
                dfl_session_free(s);
                free(text);
                return;
            }
        }
    }
    sum->skipped++;
    dfl_session_free(s);
    free(text);
}

int main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    tally sum = { 0 };

    for (uint64_t i = first; i < first + n; i++)
        judge_problem(seed, i, &sum);
    printf("%" PRIu64 " skipped, %" PRIu64 " complete, %" PRIu64 " met by the enumeration; %" PRIu64 " mappings\n", sum.skipped,
           sum.complete, sum.met, sum.evaluated);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", sum.passed, sum.failed);
    return sum.failed > 0;
}
