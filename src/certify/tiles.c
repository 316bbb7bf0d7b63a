/* Choices of tiles for one template: all of them or a sample, against bounds and rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/tile_choice.h"

enum {
    LISTED = 1 << 16,      /* ways to cut one rank that are written down */
    VISITS = 8,            /* times the effort: how long to look for choices that are possible */
    DRAWS = 8,             /* for one choice that is possible */
    TOLD = 64,             /* evaluations between two looks at what stops the check */
};

typedef struct { int64_t n[DFL_CHOICE_VARIABLES]; } cut;

typedef struct {
    dfl_certify_run *run;
    dfl_certify_unit *u;
    uint32_t class;
    const dfl_claim_template *t;
    dfl_sink *sink;        /* NULL: what is wrong is not told */
    dfl_choice choice;
    dfl_arena *arena;
    DFL_VEC(cut) cuts[DFL_FRAME_RANKS];
    bool by_energy, by_time;
    uint64_t random, visits, found;
    bool counting, refused;
} walker;

static uint64_t draw(walker *k, uint64_t n)
{
    uint64_t z = k->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % n;
}

/* ---- what is wrong ---- */

static const char *einsum_name(const walker *k)
{
    return dfl_sym_text(k->run->task->names, k->run->s->asked->workload->einsums[k->choice.f->einsum].name);
}

static void refuse(walker *k, dfl_code code, const char *what, const char *of, double claimed, double is)
{
    const dfl_einsum *e = &k->run->s->asked->workload->einsums[k->choice.f->einsum];
    dfl_diag *d;

    k->u->wrong = true;
    if (!k->sink)
        return;
    d = dfl_report(k->sink, code, e->span, "%s in `%s` is %.12g, and einsum `%s` can be mapped for %.12g", what,
                             k->run->s->head->file, claimed, einsum_name(k), is);

    dfl_diag_here(k->sink, d, "%s", of);
    dfl_diag_note(k->sink, d, "mapped by `%s`", dfl_choice_text(&k->choice, k->run->arena));
}

/* Nothing more is to be looked at. */
static bool is_over(const walker *k) { return k->u->wrong || k->u->why != DFL_STOP_NONE; }

static bool is_below(const walker *k, double cost, double bound)
{
    return cost < bound - fabs(bound) * k->run->task->rounding;
}

/* ---- rows ---- */

/* The value when all other einsums cost as little as they can. */
static double value_with_others(const walker *k, double joules, double seconds)
{
    return dfl_certify_value(k->run, joules + k->run->others_joules[k->class][k->t->pattern],
                             seconds + k->run->others_seconds[k->class][k->t->pattern]);
}

static bool offers(const walker *k, const dfl_frame *mine, uint32_t o, const dfl_claim_way *way, uint32_t partner)
{
    const dfl_claim_class *c = &k->run->s->classes.at[k->run->s->of[partner]];
    const dfl_frame *f = k->run->s->frames[c->einsums[0]].at[0], *other = k->run->s->frames[partner].at[0];
    uint32_t p = 0;

    while (other->operand[p].tensor != mine->operand[o].tensor)
        p++;
    for (size_t r = 0; r < c->rows.n; r++) {
        const dfl_claim_way *w = &c->rows.at[r].way;
        bool same = w->memory[p] == way->memory[o] && w->depth[p] == way->depth[o];
        for (uint32_t i = 0; i < way->depth[o] && same; i++)
            same = w->trips[i] == way->trips[i] &&
                   dfl_frame_dimension(f, p, w->rank[i]) == dfl_frame_dimension(mine, o, way->rank[i]);
        if (same)
            return true;
    }
    return false;
}

/* Whether classes of earlier waves have rows that the way can go with, for every einsum of the class. */
static bool is_wanted(const walker *k, const dfl_claim_way *way)
{
    const dfl_claim_search *s = k->run->s;
    const dfl_claim_class *c = &s->classes.at[k->class];

    for (uint32_t o = 0; o < k->choice.f->n_operands; o++) {
        bool earlier = k->choice.f->operand[o].shared, any = false;
        for (uint32_t i = 0; i < c->n_einsums && earlier && !any; i++) {
            const dfl_frame *f = s->frames[c->einsums[i]].at[0];
            const dfl_tensor *t = &s->asked->workload->tensors[f->operand[o].tensor];
            uint32_t partner = f->operand[o].output ? t->consumers[0] : t->producers[0];
            earlier = s->classes.at[s->of[partner]].wave < c->wave;
            any = earlier && offers(k, f, o, way, partner);
        }
        if (earlier && !any)
            return false;
    }
    return true;
}

/* Whether keeps with these bits by depth never take more room than those: what stands below d loops is there whenever more
   of them are shared, so that only sums from the outside count. */
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

static bool is_covered(const walker *k, const dfl_claim_row *x)
{
    const dfl_claim_search *s = k->run->s;
    const dfl_claim_class *c = &s->classes.at[k->class];
    double more = 1 + k->run->task->rounding;

    for (size_t i = 0; i < c->rows.n; i++) {
        const dfl_claim_row *row = &c->rows.at[i];
        bool covers = memcmp(&row->way, &x->way, sizeof x->way) == 0 &&
                      (!k->by_energy || row->joules <= x->joules * more) && (!k->by_time || row->seconds <= x->seconds * more);
        for (uint32_t t = 0; t < s->n_tracks && covers; t++)
            covers = takes_less(row->room[t], x->room[t], x->way.n_loops);
        if (covers)
            return true;
    }
    return false;
}

typedef struct { uint32_t gap, rank; int64_t n; } shared_loop;

/* The loops in every order that they can stand in. */
static void check_orders(walker *k, dfl_claim_row *x, const shared_loop *loops, uint32_t n, uint32_t used)
{
    uint32_t gap = DFL_NONE;

    if (k->u->wrong)
        return;
    if (x->way.n_loops == n) {
        if (!is_covered(k, x) && is_wanted(k, &x->way))
            refuse(k, DFL_CERT_ROW, "the lower bound", "no row covers this choice", k->run->s->head->lower_bound,
                   value_with_others(k, x->joules, x->seconds));
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!(used >> i & 1) && loops[i].gap < gap)
            gap = loops[i].gap;
    for (uint32_t i = 0; i < n; i++) {
        if ((used >> i & 1) || loops[i].gap != gap)
            continue;
        x->way.rank[x->way.n_loops] = (uint8_t)loops[i].rank;
        x->way.trips[x->way.n_loops++] = loops[i].n;
        check_orders(k, x, loops, n, used | 1u << i);
        x->way.rank[--x->way.n_loops] = 0;
        x->way.trips[x->way.n_loops] = 0;
    }
}

static uint32_t find_shared(const dfl_choice *c, shared_loop *out)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < c->f->n_ranks; r++)
        for (uint32_t v = 0; v < c->n[r] && n < DFL_CLAIM_LOOPS; v++)
            if (c->at[r][v].gap < c->shared_gaps && c->at[r][v].n > 1)
                out[n++] = (shared_loop){ c->at[r][v].gap, r, c->at[r][v].n };
    return n;
}

/* Some row of the same way costs no more and takes no more room, if a mapping below the lower bound could have the choice. */
static void check_rows(walker *k, const dfl_choice_cost *cost)
{
    const dfl_choice *c = &k->choice;
    const dfl_claim_search *s = k->run->s;
    shared_loop loops[DFL_CLAIM_LOOPS];
    uint32_t n = find_shared(c, loops);
    dfl_claim_row x;

    if (!is_below(k, value_with_others(k, cost->joules, cost->seconds), s->head->lower_bound))
        return;
    memset(&x, 0, sizeof x);
    x.joules = cost->joules;
    x.seconds = cost->seconds;
    for (uint32_t o = 0; o < c->f->n_operands; o++)
        x.way.memory[o] = dfl_frame_exchanged(&c->f->operand[o]) ? c->f->memory[c->form->exchange[o]] : 0;
    for (uint32_t i = 0; i < c->form->n_keeps; i++) {
        const dfl_memory *memory = &s->asked->system->memories[c->f->memory[c->form->place[i]]];
        int64_t piece[DFL_FRAME_RANKS];
        uint32_t depth = 0;
        for (uint32_t l = 0; l < n; l++)
            depth += loops[l].gap <= i;
        if (c->home[i]) {
            x.way.depth[c->form->operand[i]] = (uint8_t)depth;
            continue;
        }
        dfl_choice_piece(c, i, piece);
        for (uint32_t t = 0; t < s->n_tracks; t++)
            if (s->track[t] == c->f->memory[c->form->place[i]])
                x.room[t][depth] += dfl_frame_tile(s->asked, c->f, c->form->operand[i], piece) * (double)memory->buffers;
    }
    check_orders(k, &x, loops, n, 0);
}

/* ---- one choice ---- */

static bool fits(const walker *k, const dfl_choice_cost *cost)
{
    const dfl_choice *c = &k->choice;

    for (uint32_t p = 0; p < c->f->n_places; p++)
        if (cost->room[p] > k->run->free_bits[c->f->memory[p]])
            return false;
    return true;
}

static void look_at(walker *k)
{
    static const char exchanges[] = "of all templates that exchange like this";
    static const char keeps[] = "of all templates with no other keeps than these";
    const dfl_claim_pattern *p = &k->run->s->classes.at[k->class].patterns.at[k->t->pattern];
    dfl_choice_cost cost;

    if (++k->u->evaluated % TOLD == 0)
        k->u->why = dfl_certify_tell(k->run, TOLD);
    if (!dfl_choice_evaluate(&k->choice, &cost)) {
        k->refused = true;
        return;
    }
    if (!fits(k, &cost))
        return;
    if (k->run->s->rows && is_below(k, cost.joules, p->joules))
        refuse(k, DFL_CERT_BOUND, "the least energy", exchanges, p->joules, cost.joules);
    else if (k->run->s->rows && is_below(k, cost.seconds, p->seconds))
        refuse(k, DFL_CERT_BOUND, "the least time", exchanges, p->seconds, cost.seconds);
    else if (is_below(k, cost.joules, k->u->least_joules))
        refuse(k, DFL_CERT_BOUND, "the least energy", keeps, k->u->least_joules, cost.joules);
    else if (is_below(k, cost.seconds, k->u->least_seconds))
        refuse(k, DFL_CERT_BOUND, "the least time", keeps, k->u->least_seconds, cost.seconds);
    else if (k->run->s->rows && dfl_choice_plain(&k->choice))
        check_rows(k, &cost);
}

/* ---- all of them ---- */

static bool is_possible(const walker *k)
{
    const dfl_choice *c = &k->choice;
    shared_loop loops[DFL_CLAIM_LOOPS];

    for (uint32_t a = 0; a < c->f->n_axes; a++) {
        int64_t parts = 1, size = k->run->s->asked->system->axes[c->f->axis[a]].size;
        for (uint32_t r = 0; r < c->f->n_ranks; r++)
            for (uint32_t v = 0; v < c->n[r]; v++)
                if (c->at[r][v].axis == a) {
                    if (c->at[r][v].n > size / parts)
                        return false;
                    parts *= c->at[r][v].n;
                }
    }
    return find_shared(c, loops) <= k->run->s->head->most_loops;
}

static void set_cut(walker *k, uint32_t r, const cut *x)
{
    for (uint32_t v = 0; v < k->choice.n[r]; v++)
        k->choice.at[r][v].n = x->n[v];
}

static bool one_shared(const dfl_choice *c, uint32_t r, const cut *x)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < c->n[r]; v++)
        n += c->at[r][v].gap < c->shared_gaps && x->n[v] > 1;
    return n <= 1;
}

/* Ways to cut `left` elements of a rank along its variables from `v` on. False when there are too many to list. */
static bool list_cuts(walker *k, uint32_t r, uint32_t v, int64_t left, cut *x)
{
    const dfl_choice *c = &k->choice;

    if (v == c->n[r]) {
        if (left == 1 && one_shared(c, r, x))
            DFL_PUSH(k->arena, &k->cuts[r], *x);
        return k->cuts[r].n <= LISTED;
    }
    const dfl_certify_factors *of = &k->u->factors[r];

    for (uint32_t i = 0; i < of->n_divisors && of->divisors[i] <= left; i++) {
        int64_t d = of->divisors[i];
        if (left % d != 0 || (v + 1 == c->n[r] && d != left))
            continue;
        x->n[v] = d;
        if (!list_cuts(k, r, v + 1, left / d, x))
            return false;
    }
    return true;
}

/* The choices of the ranks from `r` on; stops after `most` of them. */
static void walk(walker *k, uint32_t r, uint64_t most)
{
    if (is_over(k) || k->found > most || k->visits > most * VISITS)
        return;
    if (r == k->choice.f->n_ranks) {
        k->visits++;
        if (!is_possible(k))
            return;
        k->found++;
        if (!k->counting)
            look_at(k);
        return;
    }
    if (k->choice.n[r] == 0 && k->choice.f->extent[r] == 1) {
        walk(k, r + 1, most);
        return;
    }
    for (size_t i = 0; i < k->cuts[r].n; i++) {
        set_cut(k, r, &k->cuts[r].at[i]);
        walk(k, r + 1, most);
    }
}

/* ---- a sample ---- */

/* Every prime factor goes to some variable, most often to those where the others are. */
static bool draw_cut(walker *k, uint32_t r, cut *x)
{
    uint32_t n = k->choice.n[r], last = n > 0 ? (uint32_t)draw(k, n) : 0;

    if (n == 0)
        return k->u->factors[r].n_primes == 0;
    for (uint32_t v = 0; v < n; v++)
        x->n[v] = 1;
    for (uint32_t i = 0; i < k->u->factors[r].n_primes; i++) {
        if (draw(k, 2) == 0)
            last = (uint32_t)draw(k, n);
        x->n[last] *= k->u->factors[r].primes[i];
    }
    return one_shared(&k->choice, r, x);
}

/* Corner number `corner` cuts each rank in one place. */
static bool set_corner(walker *k, uint64_t corner)
{
    for (uint32_t r = 0; r < k->choice.f->n_ranks; r++) {
        uint32_t n = k->choice.n[r];
        cut x;
        if (n == 0)
            continue;
        for (uint32_t v = 0; v < n; v++)
            x.n[v] = v == corner % n ? k->choice.f->extent[r] : 1;
        corner /= n;
        set_cut(k, r, &x);
    }
    return corner == 0;
}

static bool draw_choice(walker *k)
{
    for (uint32_t r = 0; r < k->choice.f->n_ranks; r++) {
        cut x;
        uint32_t tries = 0;
        if (k->choice.n[r] == 0 && k->choice.f->extent[r] == 1)
            continue;
        while (!draw_cut(k, r, &x))
            if (++tries == DRAWS)
                return false;
        set_cut(k, r, &x);
    }
    return is_possible(k);
}

static void sample(walker *k, uint64_t n)
{
    uint64_t i = 0;

    for (uint64_t corner = 0; i < n / 4 && corner < n && set_corner(k, corner) && !is_over(k); corner++)
        if (is_possible(k)) {
            look_at(k);
            i++;
        }
    for (; i < n && !is_over(k); i++)
        for (uint32_t tries = 0; tries < DRAWS; tries++)
            if (draw_choice(k)) {
                look_at(k);
                break;
            }
}

/* ---- templates ---- */

/* Ways to cut all ranks; false if they are more than can be looked at. */
static bool list_all(walker *k)
{
    uint64_t most = k->run->share * VISITS;

    for (uint32_t r = 0; r < k->choice.f->n_ranks; r++) {
        cut x;
        k->cuts[r].n = 0;
        if (k->choice.f->extent[r] > 1 && (dfl_certify_cuts(&k->u->factors[r], k->choice.n[r]) > (double)most ||
                                           !list_cuts(k, r, 0, k->choice.f->extent[r], &x)))
            return false;
    }
    return true;
}

static void look_around(walker *k, dfl_arena *scratch)
{
    const dfl_frame *f = k->u->f;
    uint64_t most = k->run->share;

    k->refused = !dfl_choice_make(k->arena, scratch, k->run, f, &k->t->form, true, &k->choice);
    k->counting = true;
    k->u->complete = !k->refused && list_all(k);
    if (k->u->complete) {
        walk(k, 0, most);
        k->u->complete = k->found <= most && k->visits <= most * VISITS;
    }
    k->counting = false;
    k->found = k->visits = 0;
    if (k->u->complete)
        walk(k, 0, most);
    else if (!k->refused)
        sample(k, most);
    if (!is_over(k) && !k->refused && dfl_choice_make(k->arena, scratch, k->run, f, &k->t->form, false, &k->choice))
        sample(k, k->run->odd);
    k->u->complete &= !k->refused;
}

void dfl_certify_unit_check(dfl_certify_run *run, dfl_certify_unit *u, dfl_sink *sink)
{
    dfl_budget budget = dfl_budget_fresh(dfl_arena_budget(run->arena));
    walker k = { .run = run, .u = u, .class = u->class, .t = &run->s->classes.at[u->class].templates.at[u->at], .sink = sink,
                 .random = u->at, .arena = dfl_arena_new(&budget),
                 .by_energy = run->task->value(run->task->objective, 1, 1) != run->task->value(run->task->objective, 2, 1),
                 .by_time = run->by_time };
    dfl_arena *scratch = dfl_arena_new(&budget);

    u->evaluated = 0;
    u->wrong = u->complete = false;
    u->why = DFL_STOP_NONE;
    look_around(&k, scratch);
    if (u->why == DFL_STOP_NONE)
        u->why = budget.why;
    dfl_arena_free(scratch);
    dfl_arena_free(k.arena);
}
