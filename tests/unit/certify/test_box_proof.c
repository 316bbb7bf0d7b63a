/*
 * Proofs of lower bounds by boxes: the counts of a skeleton by hand, the same counts as those of the model for random tile choices
 * of every skeleton, and proofs that hold up to the best value and not above it.
 */
#include "tests/harness/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "certify/box_proof.h"
#include "certify/box_terms.h"
#include "certify/factors.h"
#include "certify/tile_choice.h"
#include "mapper/problem/objective.h"

enum { DRAWS = 12, EFFORT = 200000 };

#define MATMUL(m, n, k, z) "workload mm : i8 { rank m = " #m ", n = " #n ", k = " #k "; input A[m, k]; weight B[k, n]; " \
    "output Z[m, n]" z " += A[m, k] * B[k, n]; }\n"
#define BEST(objective) "mapping best for mm on soc { option overlap = perfect; ...; minimize " objective "; }\n"

#define FLAT "system soc { clock = 1GHz; memory dram { size = unlimited; bandwidth = 1GB/s; energy = 7pJ/bit; }\n" \
    "memory sram { size = 24B; bandwidth = 64GB/s; energy = 1pJ/bit; } compute mac { rate = 1MAC/cycle; energy = 0pJ/MAC; } }\n"

#define NESTED "system soc { clock = 1GHz;\n" \
    "memory dram { size = unlimited; read { bandwidth = 32GB/s; energy = 8pJ/bit; } write { bandwidth = 16GB/s; energy = 9pJ/bit; } }\n" \
    "network net = bus { multicast = pr; energy = 0.3pJ/bit; }\n" \
    "array pr[4], pc[2] over net { memory rf { size = 16B; energy = 0.5pJ/bit; }\n" \
    "network row = bus { multicast = q; energy = 0.07pJ/bit; }\n" \
    "array q[3] over row { memory l { size = 4B; read { energy = 0.05pJ/bit; } write { energy = 0.11pJ/bit; } }\n" \
    "compute pe { rate = 1MAC/cycle; energy = 0.2pJ/MAC; } } } }\n"

#define REDUCED "system soc { clock = 1GHz; memory dram { size = unlimited; bandwidth = 32GB/s; energy = 8pJ/bit; }\n" \
    "memory l2 { size = 64B; holds = A, Z; bandwidth = 8GB/s; energy = 1pJ/bit; }\n" \
    "network net = mesh { multicast = pr; reduce = pc; energy = 0.3pJ/bit; }\n" \
    "array pr[4], pc[2] over net { memory rf { size = 8B; buffers = 2; energy = 0.5pJ/bit; }\n" \
    "compute pe { rate = 1MAC/cycle; energy = 0.2pJ/MAC; } } }\n"

#define UNCONNECTED "system soc { clock = 1GHz; memory dram { size = unlimited; bandwidth = 32GB/s; energy = 8pJ/bit; }\n" \
    "array pr[4] { memory rf { size = 16B; bandwidth = 2GB/s; energy = 0.5pJ/bit; }\n" \
    "network row = bus { reduce = q; energy = 0.07pJ/bit; }\n" \
    "array q[4] over row { memory l { size = 8B; energy = 0.05pJ/bit; } compute pe { rate = 1MAC/cycle; } } } }\n"

typedef struct { const char *name, *text; } proof_case;

static const proof_case CASES[] = {
    { "two memories, energy", MATMUL(4, 2, 8, "") FLAT BEST("energy") },
    { "two memories, energy times latency", MATMUL(4, 6, 8, "") FLAT BEST("energy * latency") },
    { "two memories, latency", MATMUL(4, 6, 8, "") FLAT BEST("latency") },
    { "arrays in an array, energy", MATMUL(12, 8, 6, " : i32") NESTED BEST("energy") },
    { "instances reduce, energy times latency", MATMUL(12, 8, 6, " : i32") REDUCED BEST("energy * latency") },
    { "instances share nothing, energy", MATMUL(8, 4, 6, " : i32") UNCONNECTED BEST("energy") },
};

typedef struct {
    dfl_session *session;
    dfl_objective objective;
    dfl_claims *claims;
    dfl_certify_task task;
    dfl_certify_run run;
} fixture;

static double value_of(const void *objective, double joules, double seconds)
{
    return dfl_objective_value(objective, joules, seconds);
}

static dfl_session *open_text(const char *text)
{
    const dfl_search_options options = { .size = sizeof options, .certificate = true, .jobs = 1 };
    dfl_session *s = dfl_session_new(NULL);

    dfl_session_set_search(s, &options);
    assert_int_equal(dfl_session_open_text(s, "text.dfl", text, strlen(text)), DFL_EXIT_OK);
    return s;
}

/* A check that has read its claims, of the certificate of a search. */
static void open_check(const char *text, fixture *f)
{
    dfl_session *search = open_text(text);
    const dfl_claims *read;
    const char *certificate;
    const dfl_mapping *asked;
    size_t len;

    assert_int_equal(dfl_session_map(search, NULL), DFL_EXIT_OK);
    certificate = dfl_session_certificate(search, NULL, &len);
    assert_non_null(certificate);
    f->session = open_text(text);
    assert_true(dfl_session_analyse(f->session));
    asked = f->session->program->designs[0].mapping;
    assert_true(dfl_objective_make(f->session->sink, f->session->names, asked, &f->objective));
    read = dfl_claims_read(f->session->arena, f->session->sink, "c.json", certificate, len);
    assert_non_null(read);
    f->claims = DFL_NEW(f->session->arena, dfl_claims);
    *f->claims = *read;
    f->task = (dfl_certify_task){ .names = f->session->names, .asked = asked, .best = NULL, .value = value_of,
                                  .objective = &f->objective, .rounding = 1e-9, .effort = EFFORT, .jobs = 1, .tell = NULL,
                                  .context = NULL };
    f->run = (dfl_certify_run){ .arena = f->session->arena, .sink = f->session->sink, .task = &f->task };
    f->run.search = dfl_claims_resolve(f->session->arena, f->session->sink, f->session->names, f->claims, asked);
    assert_non_null(f->run.search);
    f->run.left_bits = DFL_NEW_ARRAY(f->session->arena, double, asked->system->n_memories);
    for (uint32_t i = 0; i < asked->system->n_memories; i++)
        f->run.left_bits[i] = asked->system->memories[i].size_bits < 0 ? INFINITY
                                                                       : (double)asked->system->memories[i].size_bits;
    /* the certificate dies with its session, and claims point into it */
    dfl_session_free(search);
}

static double evaluate(const dfl_box_monomial *x, const double *value)
{
    double out = x->scale;

    for (uint32_t i = 0; i < x->n; i++)
        out = x->inverse[i] ? out / value[x->var[i]] : out * value[x->var[i]];
    return out;
}

static double find_joules(const dfl_box_terms *t, const double *value)
{
    double out = t->joules;

    for (uint32_t i = 0; i < t->n_terms; i++)
        out += t->term[i].port == DFL_NONE ? t->term[i].joules * evaluate(&t->term[i].bits, value) : 0;
    return out;
}

static double find_seconds(const dfl_box_terms *t, const double *value)
{
    double out = evaluate(&t->work, value), ports[2 * DFL_CERTIFY_LEVELS] = { 0 };

    for (uint32_t i = 0; i < t->n_terms; i++)
        if (t->term[i].port != DFL_NONE)
            ports[t->term[i].port] += t->term[i].seconds * evaluate(&t->term[i].bits, value);
    for (uint32_t i = 0; i < 2 * DFL_CERTIFY_LEVELS; i++)
        out = fmax(out, ports[i]);
    return out;
}

/* ---- by hand ---- */

/* Counts by B50, times by B51, tiles by B52. A[4, 8] and Z[4, 2] stand in sram, B[8, 2] at home, `a` iterations of k above the
   points of both keeps. A: 256 bits come in once, 512 go to the unit. B: 128 bits for each of 4 values of m. Z: 64 bits leave a
   times and come back a - 1 times, and the unit adds 512 bits, 64 of which find nothing to add to. */
static void counts_by_hand(void **state)
{
    const double a = 2, dram = 7e-12, sram = 1e-12;
    dfl_claim_form form = { .unit = 0 };
    const dfl_certify_problem *problem;
    dfl_box_terms *t;
    fixture f;

    (void)state;
    open_check(CASES[0].text, &f);
    problem = f.run.search->problems[0].at[0];
    form.n_keeps = 2;
    form.operand[0] = 0;
    form.operand[1] = 2;
    form.level[0] = form.level[1] = 1;
    t = DFL_NEW(f.session->arena, dfl_box_terms);
    assert_true(dfl_box_terms_apply(&f.run, problem));
    assert_true(dfl_box_terms_make(&f.run, problem, &form, t));
    assert_int_equal(t->n_vars, 1);
    assert_close(find_joules(t, &a),
                 256 * (dram + sram) + 512 * sram + 512 * dram + 128 * (dram + sram) + 64 * (dram + sram) + 512 * sram +
                 448 * sram, 1e-12);
    assert_close(find_seconds(t, &a), (256 + 512 + 128) / 8e9, 1e-12); /* dram: A, B and Z; the work takes 64 ns */
    assert_close(evaluate(&t->tile[0], &a), 256 / (4 * a), 1e-12);
    assert_close(evaluate(&t->tile[1], &a), 8, 1e-12);
    dfl_session_free(f.session);
}

/* D50: A in rf and l with no loop between: each element goes from rf to l once. With B above l, loops over n may stand between, and
   A goes inwards more often. */
static void keeps_that_save_nothing(void **state)
{
    static const struct { uint8_t operand[3], level[3]; uint8_t n; bool is_useless; } rows[] = {
        { { 0, 0, 0 }, { 1, 2, 0 }, 2, true },
        { { 0, 1, 0 }, { 1, 1, 2 }, 3, false },
        { { 0, 0, 0 }, { 1, 0, 0 }, 1, false },
    };
    fixture f;

    (void)state;
    open_check(CASES[3].text, &f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dfl_claim_form form = { .unit = 0, .n_keeps = rows[i].n };
        dfl_box_terms *t = DFL_NEW(f.session->arena, dfl_box_terms);
        memcpy(form.operand, rows[i].operand, sizeof rows[i].operand);
        memcpy(form.level, rows[i].level, sizeof rows[i].level);
        assert_true(dfl_box_terms_make(&f.run, f.run.search->problems[0].at[0], &form, t));
        assert_int_equal(t->is_useless, rows[i].is_useless);
    }
    dfl_session_free(f.session);
}

/* ---- by the model ---- */

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void draw_choice(dfl_tile_choice *c, const dfl_certify_factors *factors, uint64_t *seed)
{
    for (uint32_t r = 0; r < c->problem->n_ranks; r++) {
        for (uint32_t v = 0; v < c->n[r]; v++)
            c->at[r][v].n = 1;
        for (uint32_t i = 0; i < factors[r].n_primes; i++)
            c->at[r][draw(seed) % c->n[r]].n *= factors[r].primes[i];
    }
}

/* The innermost loop with a second iteration in a slot; n_ranks if there is none. */
static uint32_t innermost(const dfl_tile_choice *c, uint32_t slot)
{
    for (uint32_t i = c->problem->n_ranks; i-- > 0;)
        for (uint32_t v = 0, r = c->order[slot][i]; v < c->n[r]; v++)
            if (c->at[r][v].slot == slot && c->at[r][v].axis == DFL_NONE && c->at[r][v].n > 1)
                return r;
    return c->problem->n_ranks;
}

/* Whether each keep has its point in its slot: the loop just above it moves it. */
static bool is_normal(const dfl_tile_choice *c)
{
    for (uint32_t i = 0; i < c->form->n_keeps; i++)
        for (uint32_t g = i + 1; g-- > 0;) {
            const uint32_t r = innermost(c, g);
            if (r == c->problem->n_ranks)
                continue;
            if (!(c->problem->operand[c->form->operand[i]].ranks >> r & 1))
                return false;
            break;
        }
    return true;
}

/* The keep whose A is the first that has the variable: the nth keep that the rank does not move behind one that it moves. */
static uint32_t keep_of(const dfl_tile_choice *c, uint32_t rank, uint32_t n)
{
    bool was_in = false;
    uint32_t i = 0;

    for (; i < c->form->n_keeps; i++) {
        const bool in = c->problem->operand[c->form->operand[i]].ranks >> rank & 1;
        if (!in && was_in && n-- == 0)
            break;
        was_in = in;
    }
    return i;
}

static void set_values(const dfl_tile_choice *c, const dfl_box_terms *t, double *value)
{
    for (uint32_t v = 0, n = 0; v < t->n_vars; v++) {
        const uint32_t r = t->var[v].rank, axis = t->var[v].axis;
        n = v > 0 && t->var[v - 1].rank == r ? n + 1 : 0;
        value[v] = 1;
        for (uint32_t i = 0; i < c->n[r]; i++)
            if (axis == DFL_NONE ? c->at[r][i].axis == DFL_NONE && c->at[r][i].slot <= keep_of(c, r, n) : c->at[r][i].axis == axis)
                value[v] *= (double)c->at[r][i].n;
    }
}

static void check_choice(dfl_tile_choice *c, const dfl_box_terms *t, uint32_t *compared)
{
    double value[DFL_BOX_VARIABLES], room[DFL_CERTIFY_LEVELS] = { 0 };
    dfl_tile_choice_cost cost;

    if (!is_normal(c) || !dfl_tile_choice_evaluate(c, &cost))
        return;
    set_values(c, t, value);
    assert_close(find_joules(t, value), cost.joules, 1e-12);
    assert_true(find_seconds(t, value) <= cost.seconds * (1 + 1e-12));
    for (uint32_t i = 0; i < t->n_keeps; i++)
        room[t->level[i]] += evaluate(&t->tile[i], value);
    for (uint32_t l = 0; l < c->problem->n_levels; l++)
        assert_close(room[l], cost.room[l], 1e-12);
    ++*compared;
}

static void counts_like_the_model(void **state)
{
    const proof_case *row = *state;
    const dfl_certify_factors *factors;
    const dfl_claim_class *all;
    uint32_t compared = 0;
    uint64_t seed = 88172645463325252u;
    fixture f;

    open_check(row->text, &f);
    all = &f.run.search->classes.at[0];
    factors = dfl_certify_factors_of(f.session->arena, f.run.search->problems[0].at[0]);
    for (size_t i = 0; i < all->skeletons.n; i++) {
        dfl_arena *home = dfl_arena_new(NULL), *scratch = dfl_arena_new(NULL);
        const dfl_claim_skeleton *s = &all->skeletons.at[i];
        dfl_box_terms *t = DFL_NEW(home, dfl_box_terms);
        dfl_tile_choice c;
        assert_true(dfl_box_terms_make(&f.run, s->problem, &s->form, t));
        if (dfl_tile_choice_make(home, scratch, &f.run, s->problem, &s->form, true, &c))
            for (uint32_t n = 0; n < DRAWS; n++) {
                draw_choice(&c, factors, &seed);
                check_choice(&c, t, &compared);
            }
        dfl_arena_free(scratch);
        dfl_arena_free(home);
    }
    assert_true(compared > all->skeletons.n / 2);
    dfl_session_free(f.session);
}

/* ---- proofs ---- */

static void proves_up_to_the_best(void **state)
{
    const proof_case *row = *state;
    fixture f;

    open_check(row->text, &f);
    assert_true(f.claims->optimal);
    assert_true(dfl_certify_boxes(&f.run));
    assert_true(f.run.n_boxed > 0);
    assert_int_equal(f.run.n_proven, f.run.n_boxed);
    f.run.n_proven = f.run.n_boxed = 0;
    f.claims->lower_bound *= 1 + 1e-6;
    assert_true(dfl_certify_boxes(&f.run));
    assert_true(f.run.n_proven < f.run.n_boxed);
    f.run.n_proven = f.run.n_boxed = 0;
    f.claims->lower_bound = 0;
    f.task.effort = 0;
    assert_true(dfl_certify_boxes(&f.run));
    assert_true(f.run.n_proven < f.run.n_boxed);
    dfl_session_free(f.session);
}

int main(void)
{
    const struct CMUnitTest by_hand[] = { cmocka_unit_test(counts_by_hand), cmocka_unit_test(keeps_that_save_nothing) };

    return CHECK_GROUP("certify.box_terms", by_hand) + CHECK_TABLE("certify.box_counts", CASES, counts_like_the_model) +
           CHECK_TABLE("certify.box_proof", CASES, proves_up_to_the_best);
}
