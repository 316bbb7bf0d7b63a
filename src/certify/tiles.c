/*
 * Check of all tile choices of one skeleton, or of a sample. No choice may cost less than a claimed lower bound. A row
 * must cover each choice that some mapping below the claimed lower bound could contain.
 */
#include "certify/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cost.h"
#include "support/limits.h"
#include "certify/tile_choice.h"

/* One factorization of an extent: a factor for each variable of the rank. */
typedef struct { int64_t n[DFL_TILE_VARIABLES]; } cut;

typedef struct {
    dfl_certify_run *run;
    dfl_tile_check *check;
    uint32_t class;
    const dfl_claim_skeleton *skeleton;
    dfl_sink *sink;        /* sink for contradictions, NULL = no reports */
    dfl_tile_choice choice;
    dfl_arena *arena;
    DFL_VEC(cut) cuts[DFL_CERTIFY_RANKS]; /* [rank of the problem]: factorizations of its extent */
    bool by_energy, by_time; /* the objective depends on energy; the objective depends on time */
    uint64_t random;       /* state of the generator, seeded with the index of the skeleton */
    uint64_t visits;       /* combinations of factorizations visited */
    uint64_t found;        /* number of legal combinations visited */
    bool counting;         /* legal choices are only counted, without evaluation */
    bool refused;          /* the model refuses the skeleton, or one of its tile choices */
} tile_walk;

/* The next number of the splitmix64 generator (Steele, Lea, Flood 2014), below `n`. */
static uint64_t draw(tile_walk *walk, uint64_t n)
{
    uint64_t z = walk->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % n;
}

dfl_stop dfl_tile_check_poll(dfl_certify_run *run, uint64_t evaluated)
{
    const dfl_certify_progress now = { evaluated, (uint32_t)atomic_load(&run->n_done), run->n_skeletons };

    return run->task->tell ? run->task->tell(run->task->context, evaluated, &now) : DFL_STOP_NONE;
}

/* ---- reports ---- */

static const char *einsum_name(const tile_walk *walk)
{
    return dfl_sym_text(walk->run->task->names, walk->run->search->asked->workload->einsums[walk->choice.problem->einsum].name);
}

static void refuse(tile_walk *walk, dfl_code code, const char *what, const char *of, double claimed, double is)
{
    const dfl_einsum *e = &walk->run->search->asked->workload->einsums[walk->choice.problem->einsum];
    dfl_diag *d;

    walk->check->refuted = true;
    if (!walk->sink)
        return;
    d = dfl_report(walk->sink, code, e->span, "%s in `%s` is %.12g, and einsum `%s` can be mapped for %.12g", what,
                             walk->run->search->head->file, claimed, einsum_name(walk), is);

    dfl_diag_here(walk->sink, d, "%s", of);
    dfl_diag_note(walk->sink, d, "mapped by `%s`", dfl_tile_choice_text(&walk->choice, walk->run->arena));
}

/* Whether the check of this skeleton has ended: refuted or stopped. */
static bool has_ended(const tile_walk *walk) { return walk->check->refuted || walk->check->why != DFL_STOP_NONE; }

static bool is_below(const tile_walk *walk, double cost, double bound)
{
    return cost < bound - fabs(bound) * walk->run->task->rounding;
}

/* ---- rows ---- */

/* Objective value of a mapping whose other einsums all cost the lower bound that their patterns allow. */
static double value_with_others(const tile_walk *walk, double joules, double seconds)
{
    return dfl_certify_value(walk->run, joules + walk->run->others_joules[walk->class][walk->skeleton->pattern],
                             seconds + walk->run->others_seconds[walk->class][walk->skeleton->pattern]);
}

static bool offers(const tile_walk *walk, const dfl_certify_problem *mine, uint32_t o, const dfl_claim_interface *interface,
                   uint32_t partner)
{
    const dfl_claim_class *c = &walk->run->search->classes.at[walk->run->search->class_of[partner]];
    const dfl_certify_problem *problem = walk->run->search->problems[c->einsums[0]].at[0],
                              *other = walk->run->search->problems[partner].at[0];
    uint32_t p = 0;

    while (other->operand[p].tensor != mine->operand[o].tensor)
        p++;
    for (size_t r = 0; r < c->rows.n; r++) {
        const dfl_claim_interface *w = &c->rows.at[r].interface;
        bool same = w->memory[p] == interface->memory[o] && w->depth[p] == interface->depth[o];
        for (uint32_t i = 0; i < interface->depth[o] && same; i++)
            same = w->trips[i] == interface->trips[i] &&
                   dfl_certify_dimension_of(problem, p, w->rank[i]) == dfl_certify_dimension_of(mine, o, interface->rank[i]);
        if (same)
            return true;
    }
    return false;
}

/* Whether, for every shared operand, some einsum of the class has a partner einsum with a matching row. Rows of
   partners in classes of smaller waves are compared, since the search lists no row without a match in these classes.
   Other operands count as matched. */
static bool has_partners(const tile_walk *walk, const dfl_claim_interface *interface)
{
    const dfl_claim_search *search = walk->run->search;
    const dfl_claim_class *c = &search->classes.at[walk->class];

    for (uint32_t o = 0; o < walk->choice.problem->n_operands; o++) {
        bool earlier = walk->choice.problem->operand[o].shared, any = false;
        for (uint32_t i = 0; i < c->n_einsums && earlier && !any; i++) {
            const dfl_certify_problem *problem = search->problems[c->einsums[i]].at[0];
            const dfl_tensor *t = &search->asked->workload->tensors[problem->operand[o].tensor];
            uint32_t partner = problem->operand[o].output ? t->consumers[0] : t->producers[0];
            earlier = search->classes.at[search->class_of[partner]].wave < c->wave;
            any = earlier && offers(walk, problem, o, interface, partner);
        }
        if (earlier && !any)
            return false;
    }
    return true;
}

/* Whether keeps of a[d] bits below d shared loops never occupy more than keeps of b[d] bits. A keep below d loops is
   present whenever more than d loops are shared, so the comparison is of sums from the outermost depth inwards. */
static bool takes_less(const double *a, const double *b, uint32_t n_loops)
{
    double x = 0, y = 0;

    for (uint32_t d = 0; d <= n_loops; d++) {
        x += a[d];
        y += b[d];
        if (x > y)
            return false;
    }
    return true;
}

static bool is_covered(const tile_walk *walk, const dfl_claim_row *x)
{
    const dfl_claim_search *search = walk->run->search;
    const dfl_claim_class *c = &search->classes.at[walk->class];
    double more = 1 + walk->run->task->rounding;

    for (size_t i = 0; i < c->rows.n; i++) {
        const dfl_claim_row *row = &c->rows.at[i];
        bool covers = memcmp(&row->interface, &x->interface, sizeof x->interface) == 0 &&
                      (!walk->by_energy || row->joules <= x->joules * more) &&
                      (!walk->by_time || row->seconds <= x->seconds * more);
        for (uint32_t t = 0; t < search->n_tracks && covers; t++)
            covers = takes_less(row->room[t], x->room[t], x->interface.n_loops);
        if (covers)
            return true;
    }
    return false;
}

typedef struct { uint32_t slot, rank; int64_t n; } shared_loop;

/* Checks the shared loops in every order: slot by slot, the loops of one slot in all orders. */
static void check_orders(tile_walk *walk, dfl_claim_row *x, const shared_loop *loops, uint32_t n, uint32_t used)
{
    uint32_t slot = DFL_NONE;

    if (walk->check->refuted)
        return;
    if (x->interface.n_loops == n) {
        if (!is_covered(walk, x) && has_partners(walk, &x->interface))
            refuse(walk, DFL_CERT_ROW, "the lower bound", "no row covers this choice", walk->run->search->head->lower_bound,
                   value_with_others(walk, x->joules, x->seconds));
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!(used >> i & 1) && loops[i].slot < slot)
            slot = loops[i].slot;
    for (uint32_t i = 0; i < n; i++) {
        if ((used >> i & 1) || loops[i].slot != slot)
            continue;
        x->interface.rank[x->interface.n_loops] = (uint8_t)loops[i].rank;
        x->interface.trips[x->interface.n_loops++] = loops[i].n;
        check_orders(walk, x, loops, n, used | 1u << i);
        x->interface.rank[--x->interface.n_loops] = 0;
        x->interface.trips[x->interface.n_loops] = 0;
    }
}

static uint32_t find_shared(const dfl_tile_choice *choice, shared_loop *out)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < choice->problem->n_ranks; r++)
        for (uint32_t v = 0; v < choice->n[r] && n < DFL_CLAIM_LOOPS; v++)
            if (choice->at[r][v].slot < choice->shared_slots && choice->at[r][v].n > 1)
                out[n++] = (shared_loop){ choice->at[r][v].slot, r, choice->at[r][v].n };
    return n;
}

/* If some mapping below the lower bound could contain the choice, a row with the same interface must cost no more and
   occupy no more. */
static void check_rows(tile_walk *walk, const dfl_tile_choice_cost *cost)
{
    const dfl_tile_choice *choice = &walk->choice;
    const dfl_claim_search *search = walk->run->search;
    shared_loop loops[DFL_CLAIM_LOOPS];
    uint32_t n = find_shared(choice, loops);
    dfl_claim_row x;

    if (!is_below(walk, value_with_others(walk, cost->joules, cost->seconds), search->head->lower_bound))
        return;
    memset(&x, 0, sizeof x);
    x.joules = cost->joules;
    x.seconds = cost->seconds;
    for (uint32_t o = 0; o < choice->problem->n_operands; o++)
        x.interface.memory[o] =
            dfl_certify_is_exchanged(&choice->problem->operand[o]) ? choice->problem->memory[choice->form->exchange[o]] : 0;
    for (uint32_t i = 0; i < choice->form->n_keeps; i++) {
        const dfl_memory *memory = &search->asked->system->memories[choice->problem->memory[choice->form->level[i]]];
        int64_t piece[DFL_CERTIFY_RANKS];
        uint32_t depth = 0;
        for (uint32_t l = 0; l < n; l++)
            depth += loops[l].slot <= i;
        if (choice->home[i]) {
            x.interface.depth[choice->form->operand[i]] = (uint8_t)depth;
            continue;
        }
        dfl_tile_choice_piece(choice, i, piece);
        for (uint32_t t = 0; t < search->n_tracks; t++)
            if (search->track[t] == choice->problem->memory[choice->form->level[i]])
                x.room[t][depth] += dfl_certify_tile_bits(search->asked, choice->problem, choice->form->operand[i], piece) *
                                    (double)memory->buffers;
    }
    check_orders(walk, &x, loops, n, 0);
}

/* ---- one choice ---- */

static bool fits(const tile_walk *walk, const dfl_tile_choice_cost *cost)
{
    const dfl_tile_choice *choice = &walk->choice;

    for (uint32_t p = 0; p < choice->problem->n_levels; p++)
        if (cost->room[p] > walk->run->left_bits[choice->problem->memory[p]])
            return false;
    return true;
}

static void evaluate_choice(tile_walk *walk)
{
    static const char exchanges[] = "of all templates that exchange like this";
    static const char keeps[] = "of all templates with no other keeps than these";
    const dfl_claim_pattern *p = &walk->run->search->classes.at[walk->class].patterns.at[walk->skeleton->pattern];
    dfl_tile_choice_cost cost;

    if (++walk->check->n_evaluated % DFL_CERTIFY_POLL == 0)
        walk->check->why = dfl_tile_check_poll(walk->run, DFL_CERTIFY_POLL);
    if (!dfl_tile_choice_evaluate(&walk->choice, &cost)) {
        walk->refused = true;
        return;
    }
    if (!fits(walk, &cost))
        return;
    if (walk->run->search->has_rows && is_below(walk, cost.joules, p->joules))
        refuse(walk, DFL_CERT_BOUND, "the least energy", exchanges, p->joules, cost.joules);
    else if (walk->run->search->has_rows && is_below(walk, cost.seconds, p->seconds))
        refuse(walk, DFL_CERT_BOUND, "the least time", exchanges, p->seconds, cost.seconds);
    else if (is_below(walk, cost.joules, walk->check->least_joules))
        refuse(walk, DFL_CERT_BOUND, "the least energy", keeps, walk->check->least_joules, cost.joules);
    else if (is_below(walk, cost.seconds, walk->check->least_seconds))
        refuse(walk, DFL_CERT_BOUND, "the least time", keeps, walk->check->least_seconds, cost.seconds);
    else if (walk->run->search->has_rows && dfl_tile_choice_is_plain(&walk->choice))
        check_rows(walk, &cost);
}

/* ---- all choices ---- */

static bool is_possible(const tile_walk *walk)
{
    const dfl_tile_choice *choice = &walk->choice;
    shared_loop loops[DFL_CLAIM_LOOPS];

    for (uint32_t a = 0; a < choice->problem->n_axes; a++) {
        int64_t parts = 1, size = walk->run->search->asked->system->axes[choice->problem->axis[a]].size;
        for (uint32_t r = 0; r < choice->problem->n_ranks; r++)
            for (uint32_t v = 0; v < choice->n[r]; v++)
                if (choice->at[r][v].axis == a) {
                    if (choice->at[r][v].n > size / parts)
                        return false;
                    parts *= choice->at[r][v].n;
                }
    }
    return find_shared(choice, loops) <= walk->run->search->head->most_loops;
}

static void set_cut(tile_walk *walk, uint32_t r, const cut *x)
{
    for (uint32_t v = 0; v < walk->choice.n[r]; v++)
        walk->choice.at[r][v].n = x->n[v];
}

static bool one_shared(const dfl_tile_choice *choice, uint32_t r, const cut *x)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < choice->n[r]; v++)
        n += choice->at[r][v].slot < choice->shared_slots && x->n[v] > 1;
    return n <= 1;
}

/* Lists the ways to write `left` as a product of the variables of rank `r` from index `v` on; false if there are too many. */
static bool list_cuts(tile_walk *walk, uint32_t r, uint32_t v, int64_t left, cut *x)
{
    const dfl_tile_choice *choice = &walk->choice;

    if (v == choice->n[r]) {
        if (left == 1 && one_shared(choice, r, x))
            DFL_PUSH(walk->arena, &walk->cuts[r], *x);
        return walk->cuts[r].n <= DFL_CERTIFY_LISTED;
    }
    const dfl_certify_factors *factors = &walk->check->factors[r];

    for (uint32_t i = 0; i < factors->n_divisors && factors->divisors[i] <= left; i++) {
        int64_t d = factors->divisors[i];
        if (left % d != 0 || (v + 1 == choice->n[r] && d != left))
            continue;
        x->n[v] = d;
        if (!list_cuts(walk, r, v + 1, left / d, x))
            return false;
    }
    return true;
}

/* Visits the combinations of factorizations of the ranks from `r` on; counts or evaluates at most `most` legal
   combinations. */
static void walk_ranks(tile_walk *walk, uint32_t r, uint64_t most)
{
    if (has_ended(walk) || walk->found > most || walk->visits > most * DFL_CERTIFY_VISITS)
        return;
    if (r == walk->choice.problem->n_ranks) {
        walk->visits++;
        if (!is_possible(walk))
            return;
        walk->found++;
        if (!walk->counting)
            evaluate_choice(walk);
        return;
    }
    if (walk->choice.n[r] == 0 && walk->choice.problem->extent[r] == 1) {
        walk_ranks(walk, r + 1, most);
        return;
    }
    for (size_t i = 0; i < walk->cuts[r].n; i++) {
        set_cut(walk, r, &walk->cuts[r].at[i]);
        walk_ranks(walk, r + 1, most);
    }
}

/* ---- a sample ---- */

/* Draws a factorization: each prime factor stays with the variable of the previous prime factor with probability 1/2;
   else the factor is given to a variable drawn at random. */
static bool draw_cut(tile_walk *walk, uint32_t r, cut *x)
{
    uint32_t n = walk->choice.n[r], last = n > 0 ? (uint32_t)draw(walk, n) : 0;

    if (n == 0)
        return walk->check->factors[r].n_primes == 0;
    for (uint32_t v = 0; v < n; v++)
        x->n[v] = 1;
    for (uint32_t i = 0; i < walk->check->factors[r].n_primes; i++) {
        if (draw(walk, 2) == 0)
            last = (uint32_t)draw(walk, n);
        x->n[last] *= walk->check->factors[r].primes[i];
    }
    return one_shared(&walk->choice, r, x);
}

/* Sets the variables to the corner with index `corner`, where one variable of each rank has the whole extent. False after
   the last corner. */
static bool set_corner(tile_walk *walk, uint64_t corner)
{
    for (uint32_t r = 0; r < walk->choice.problem->n_ranks; r++) {
        uint32_t n = walk->choice.n[r];
        cut x;
        if (n == 0)
            continue;
        for (uint32_t v = 0; v < n; v++)
            x.n[v] = v == corner % n ? walk->choice.problem->extent[r] : 1;
        corner /= n;
        set_cut(walk, r, &x);
    }
    return corner == 0;
}

static bool draw_choice(tile_walk *walk)
{
    for (uint32_t r = 0; r < walk->choice.problem->n_ranks; r++) {
        cut x;
        uint32_t tries = 0;
        if (walk->choice.n[r] == 0 && walk->choice.problem->extent[r] == 1)
            continue;
        while (!draw_cut(walk, r, &x))
            if (++tries == DFL_CERTIFY_DRAWS)
                return false;
        set_cut(walk, r, &x);
    }
    return is_possible(walk);
}

static void sample(tile_walk *walk, uint64_t n)
{
    uint64_t i = 0;

    for (uint64_t corner = 0; i < n / 4 && corner < n && set_corner(walk, corner) && !has_ended(walk); corner++)
        if (is_possible(walk)) {
            evaluate_choice(walk);
            i++;
        }
    for (; i < n && !has_ended(walk); i++)
        for (uint32_t tries = 0; tries < DFL_CERTIFY_DRAWS; tries++)
            if (draw_choice(walk)) {
                evaluate_choice(walk);
                break;
            }
}

/* ---- skeletons ---- */

/* Lists the factorizations of all ranks; false if there are too many. */
static bool list_all(tile_walk *walk)
{
    uint64_t most = walk->run->share * DFL_CERTIFY_VISITS;

    for (uint32_t r = 0; r < walk->choice.problem->n_ranks; r++) {
        cut x;
        walk->cuts[r].n = 0;
        if (walk->choice.problem->extent[r] > 1 &&
            (dfl_certify_factors_count(&walk->check->factors[r], walk->choice.n[r]) > (double)most ||
             !list_cuts(walk, r, 0, walk->choice.problem->extent[r], &x)))
            return false;
    }
    return true;
}

static void check_skeleton(tile_walk *walk, dfl_arena *scratch)
{
    const dfl_certify_problem *problem = walk->check->problem;
    uint64_t most = walk->run->share;

    walk->refused = !dfl_tile_choice_make(walk->arena, scratch, walk->run, problem, &walk->skeleton->form, true, &walk->choice);
    walk->counting = true;
    walk->check->complete = !walk->refused && list_all(walk);
    if (walk->check->complete) {
        walk_ranks(walk, 0, most);
        walk->check->complete = walk->found <= most && walk->visits <= most * DFL_CERTIFY_VISITS;
    }
    walk->counting = false;
    walk->found = walk->visits = 0;
    if (walk->check->complete)
        walk_ranks(walk, 0, most);
    else if (!walk->refused)
        sample(walk, most);
    if (!has_ended(walk) && !walk->refused &&
        dfl_tile_choice_make(walk->arena, scratch, walk->run, problem, &walk->skeleton->form, false, &walk->choice))
        sample(walk, walk->run->useless_share);
    walk->check->complete &= !walk->refused;
}

void dfl_tile_check_run(dfl_certify_run *run, dfl_tile_check *check, dfl_sink *sink)
{
    dfl_budget budget = dfl_budget_fresh(dfl_arena_budget(run->arena));
    tile_walk walk = { .run = run,
                       .check = check,
                       .class = check->class,
                       .skeleton = &run->search->classes.at[check->class].skeletons.at[check->skeleton],
                       .sink = sink,
                       .random = check->skeleton,
                       .arena = dfl_arena_new(&budget),
                       .by_energy = run->task->value(run->task->objective, 1, 1) != run->task->value(run->task->objective, 2, 1),
                       .by_time = run->time_counts };
    dfl_arena *scratch = dfl_arena_new(&budget);

    check->n_evaluated = 0;
    check->refuted = check->complete = false;
    check->why = DFL_STOP_NONE;
    check_skeleton(&walk, scratch);
    if (check->why == DFL_STOP_NONE)
        check->why = budget.why;
    dfl_arena_free(scratch);
    dfl_arena_free(walk.arena);
}
