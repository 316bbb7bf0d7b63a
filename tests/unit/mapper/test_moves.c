/* Polishing, and climbs over all lines. The tests check the value of the result by the model and its lines. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/unit/mapper/job.h"

#include "ir/mapping_open.h"
#include "mapper/improve/polish.h"
#include "mapper/improve/tree_climb.h"
#include "mapper/improve/tree_ranks.h"
#include "mapper/improve/tree_strips.h"
#include "mapper/skeleton/fixed_lines.h"

typedef struct {
    const char *name;
    unsigned size;               /* size of the memory `near`, bytes */
    const char *lines;           /* lines behind the homes */
    bool late;                   /* the deadline is over */
    double before, after;        /* seconds */
    const char *moved;           /* lines of the result behind the homes */
} moves_case;

/* A point takes 1/4 s of work. */
static const char head[] =
    "workload mm : i8 { rank m = 4, n = 4, k = 4; input A[m, k], B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; }\n"
    "system chip(size = 1) {\n    memory dram { size = unlimited; read { bandwidth = 2B/s; } write { bandwidth = 1B/s; } }\n"
    "    memory near { size = size * 1B; read { bandwidth = 8B/s; } write { bandwidth = 8B/s; } }\n"
    "    compute mac { rate { mac = 4MAC/s; flop = 4FLOP/s; } }\n}\n";

static const moves_case cases[] = {
    { "a keep is raised", 24, "temporal m/4; keep Z in near; temporal k/2; keep A in near; temporal n, k;", false, 53, 48,
      "B.near m/4 Z.near A.near n:1 k:1" },
    { "a keep is added", 1, "temporal m, k, n;", false, 88, 72, "m:1 k:1 A.near n:1" },
    { "keeps are added", 8, "temporal m, n, k;", false, 88, 50, "m:1 Z.near A.near n:1 k:1" },
    { "a keep is removed", 3, "temporal m, n, k; keep A, B, Z in near;", false, 87, 72.5, "m:1 n:1 k:1 B.near Z.near" },
    { "a keep for another", 1, "temporal m, n, k; keep A in near;", false, 96, 80, "m:1 n:1 Z.near k:1" },
    { "nothing is better", 1, "temporal m, k; keep A in near; temporal n;", false, 72, 72, "m:1 k:1 A.near n:1" },
    { "too late", 24, "temporal m, n, k; keep A, B, Z in near;", true, 87, 87, "m:1 n:1 k:1 A.near B.near Z.near" },
    { "does not fit", 24, "keep A, B, Z in near; temporal m, n, k;", false, INFINITY, INFINITY,
      "A.near B.near Z.near m:1 n:1 k:1" },
};

/* `m/2 A.near k:1`: the lines behind the homes. */
static const char *lines_of(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, arena);
    for (uint32_t i = dfl_body_count_homes(m->root); i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        const char *space = text.len > 0 ? " " : "";
        if (line->kind == DFL_LINE_KEEP)
            dfl_strbuf_printf(&text, "%s%s.%s", space, dfl_sym_text(names, m->workload->tensors[line->tensor].name),
                              dfl_sym_text(names, m->system->memories[line->memory].name));
        else
            dfl_strbuf_printf(&text, "%s%s%c%" PRId64, space, dfl_sym_text(names, m->workload->ranks[line->rank].name),
                              line->by == DFL_BY_PARTS ? '/' : ':', line->amount);
    }
    return text.text;
}

static void polishes(void **state)
{
    const moves_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena, "%smapping m for mm on chip(size = %u) {\n    on mac;\n"
                                        "    keep A, B, Z in dram;\n    %s\n    minimize latency;\n}\n", head, c->size, c->lines);
    dfl_budget *budget = dfl_arena_budget(s->arena);
    const dfl_mapping *m, *moved;
    dfl_objective objective;
    const dfl_polish_options options = { .objective = &objective, .limits.deadline = c->late ? 1e-9 : 0 };
    double before, value;

    m = open_mapping(s, text);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    before = dfl_mapping_value(budget, s->names, m, &objective);
    moved = dfl_polish(s->arena, s->names, m, &options, &value);
    assert_close(dfl_mapping_value(budget, s->names, m, &objective), before, 0); /* it is as it was */
    assert_close(dfl_mapping_value(budget, s->names, moved, &objective), value, 0);
    assert_close(before, c->before, 1e-12);
    assert_close(value, c->after, 1e-12);
    assert_string_equal(lines_of(s->arena, s->names, moved), c->moved);
    dfl_session_free(s);
}

/* ---- two einsums ---- */

typedef struct {
    const char *name;
    unsigned size;               /* size of the memory `near`, bytes */
    const char *body;            /* lines behind the homes of operands and result */
    uint64_t left;               /* limit on evaluations per einsum, 0 = none */
    double before, after;        /* seconds */
    const char *moved;           /* lines of all bodies */
} tree_case;

static const tree_case trees[] = {
    { "keeps of what is made", 1, "keep T in dram; fuse { T { temporal m, n, k; } Z { temporal m, q, n; } }", 0, 176, 160,
      " | m:1 n:1 T.near k:1 | m:1 q:1 Z.near n:1" },
    { "keeps are added beside that of a branch; 82 as derived below", 8,
      "temporal m; keep T in near; fuse { T { temporal n, k; } Z { temporal q, n; } }",
      0, 128, 82, "m:1 Z.near A.near T.near | n:1 k:1 | q:1 n:1" },
    { "a keep of a branch for another", 4,
      "keep T in dram; temporal n, m; keep A in near; fuse { T { temporal k; } Z { temporal q; } }", 0, 184, 160,
      "n:1 B.near m:1 | k:1 | q:1" },
    { "loops of a leaf change places, and one goes", 1,
      "keep T in dram; fuse { T { temporal m, n:2, k; keep A in near; temporal n; } "
      "Z { temporal m, n; keep T in near; temporal q; } }", 0, 152, 144, " | m:1 k:1 A.near n:1 | m:1 n:1 T.near q:1" },
    { "one evaluation is left, that of the given mapping", 4, "keep T in dram; fuse { T { temporal m, n, k; keep A, B in near; } "
      "Z { temporal m, q, n; keep E in near; } }", 1, 224, 224,
      " | m:1 n:1 k:1 A.near B.near | m:1 q:1 n:1 E.near" },
};

/* `m:1 | A.near n:1 | n:1`: lines_of of all bodies. */
static const char *bodies_of(dfl_session *s, const dfl_mapping *m)
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, s->arena);
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        dfl_mapping one = *m;
        one.root = m->bodies[b];
        dfl_strbuf_printf(&text, "%s%s", b > 0 ? " | " : "", lines_of(s->arena, s->names, &one));
    }
    return text.text;
}

/* A mapping of two matrix products. */
static const dfl_mapping *open_pair(dfl_session *s, unsigned size, const char *body)
{
    return open_mapping(s, dfl_arena_printf(s->arena,
        "workload pair : i8 { rank m = 4, n = 4, k = 4, q = 4; input A[m, k], B[k, n], E[n, q];\n"
        "    T[m, n] += A[m, k] * B[k, n]; output Z[m, q] += T[m, n] * E[n, q]; }\n%s"
        "mapping m for pair on chip(size = %u) {\n    keep A, B, E, Z in dram;\n    %s\n    minimize latency;\n}\n",
        strchr(head, '\n') + 1, size, body));
}

static void polishes_trees(void **state)
{
    const tree_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    dfl_budget *budget = dfl_arena_budget(s->arena);
    const dfl_mapping *m, *moved;
    dfl_objective objective;
    uint64_t left = c->left;
    const dfl_polish_options options = { .objective = &objective, .left = c->left > 0 ? &left : NULL };
    double value;

    m = open_pair(s, c->size, c->body);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    assert_close(dfl_mapping_value(budget, s->names, m, &objective), c->before, 1e-12);
    moved = dfl_polish(s->arena, s->names, m, &options, &value);
    assert_string_equal(bodies_of(s, moved), c->moved);
    assert_close(value, c->after, 1e-12);
    assert_close(dfl_mapping_value(budget, s->names, moved, &objective), value, 0);
    assert_int_equal(left, 0);
    dfl_session_free(s);
}

/* The memory of the outermost keep of the intermediate T. */
static const char *home_of(dfl_session *s, const dfl_mapping *m)
{
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];
        if (line->kind == DFL_LINE_KEEP && strcmp(dfl_sym_text(s->names, m->workload->tensors[line->tensor].name), "T") == 0)
            return dfl_sym_text(s->names, m->system->memories[line->memory].name);
    }
    return "none";
}

/* A home of T in dram goes where that is better, but not if it is written. */
static void polishing_keeps_written_homes(void **state)
{
    (void)state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_mapping *m = open_pair(s, 24, "keep T in dram; temporal m; fuse { T { temporal n, k; } Z { temporal q, n; } }");
    const dfl_mapping *free_one, *kept;
    dfl_objective objective;
    double free_value, kept_value;

    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    free_one = dfl_polish(s->arena, s->names, m, &(dfl_polish_options){ .objective = &objective }, &free_value);
    kept = dfl_polish(s->arena, s->names, m, &(dfl_polish_options){ .objective = &objective, .given = m }, &kept_value);
    assert_string_equal(home_of(s, free_one), "near");
    assert_string_equal(home_of(s, kept), "dram");
    assert_true(free_value < kept_value);
    for (uint32_t i = 0; i < kept->root->n_lines; i++)
        assert_false(kept->root->lines[i].given);
    dfl_session_free(s);
}

/* ---- changes across braces ---- */

typedef struct {
    const char *name;
    unsigned size;               /* size of the memory `near`, bytes */
    const char *body;            /* lines behind the homes of operands and result */
    uint64_t evaluations;
    uint32_t patience;           /* walks without a gain */
    uint64_t most;               /* evaluations that the climb may take */
    bool is_refused;             /* no mapping but the given one belongs to the space */
    double before, after;        /* seconds */
    const char *moved;           /* lines of all bodies */
} climb_case;

/* Each pass of `m` reads B and E, 8 s each: 64 s. With one row of A, Z and T in `near`, A takes 2 s before the first pass;
   between two passes the new row of A and the old row of Z take max(2, 4) s, and the last row of Z 4 s:
   64 + 2 + 3 * 4 + 4 = 82. */
static const climb_case climbs[] = {
    { "keeps come above a loop of branches, and the loop is cut finer", 12,
      "temporal m:2; keep T in near; fuse { T { temporal m, n, k; } Z { temporal m, q, n; } }", 1000, UINT32_MAX, 1000, false, 128, 82,
      "m:1 Z.near A.near T.near | m:1 n:1 k:1 | m:1 q:1 n:1" },
    { "one evaluation, that of the given mapping", 24,
      "temporal m:2; keep T in near; fuse { T { temporal m, n, k; } Z { temporal m, q, n; } }", 1, UINT32_MAX, 1, false, 128, 128,
      "m:2 T.near | m:1 n:1 k:1 | m:1 q:1 n:1" },
    { "nothing else belongs to the space", 24,
      "temporal m:2; keep T in near; fuse { T { temporal m, n, k; } Z { temporal m, q, n; } }", 1000, UINT32_MAX, 1000, true, 128, 128,
      "m:2 T.near | m:1 n:1 k:1 | m:1 q:1 n:1" },
    /* two walks of 125 and 250 evaluations, and fewer than 2,600 of the climb before */
    { "nothing else belongs to the space, and two walks without a gain are enough", 24,
      "temporal m:2; keep T in near; fuse { T { temporal m, n, k; } Z { temporal m, q, n; } }", 1000000, 2, 3000, true, 128, 128,
      "m:2 T.near | m:1 n:1 k:1 | m:1 q:1 n:1" },
};

static bool is_given(void *context, const dfl_mapping *m)
{
    const bool *is_refused = context;

    return !*is_refused || m == NULL;
}

static void climbs_in_trees(void **state)
{
    const climb_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    dfl_deadline halt = { .budget = dfl_arena_budget(s->arena) };
    const dfl_mapping *m = open_pair(s, c->size, c->body), *moved;
    dfl_objective objective;
    bool is_refused = c->is_refused;
    const dfl_tree_climb_options options = { .objective = &objective, .halt = &halt, .evaluations = c->evaluations,
                                             .walks = UINT32_MAX, .patience = c->patience, .may_share = true,
                                             .admits = is_given, .context = &is_refused };
    double value;
    uint64_t evaluated;

    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    assert_close(dfl_mapping_value(halt.budget, s->names, m, &objective), c->before, 1e-12);
    moved = dfl_tree_climb(s->arena, s->names, m, &options, &value, &evaluated);
    assert_string_equal(bodies_of(s, moved), c->moved);
    assert_close(value, c->after, 1e-12);
    assert_close(dfl_mapping_value(halt.budget, s->names, moved, &objective), value, 0);
    assert_true(evaluated <= c->most);
    dfl_session_free(s);
}

/* Two products read A of 16 bytes, or one reads A and the other D. The mapping is taken for proven: with A in both, energy gains
   from A in `near` above both, which has room for it; else nothing is tried, though keeps inside the braces would gain. */
static void proven_climbs_keep_what_branches_share(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        dfl_session *s = dfl_session_new(NULL);
        dfl_deadline halt = { .budget = dfl_arena_budget(s->arena) };
        const dfl_mapping *moved, *m = open_mapping(s, dfl_arena_printf(s->arena,
            "system chip {\n    memory dram { size = unlimited; bandwidth = 8B/s; energy = 100J/bit; }\n"
            "    memory near { size = 16B; bandwidth = 64B/s; energy = 1J/bit; }\n"
            "    compute mac { rate = 1MAC/s; energy = 1J/MAC; }\n}\n"
            "workload twin : i8 { rank m = 4, n = 4, k = 4, q = 4; input A[m, k], B[k, n], D[m, k], E[k, q];\n"
            "    output T[m, n] += A[m, k] * B[k, n]; output Z[m, q] += %s[m, k] * E[k, q]; }\n"
            "mapping m for twin on chip {\n    keep A, B, D, E, T, Z in dram;\n"
            "    fuse { T { temporal m, n, k; } Z { temporal m, q, k; } }\n    minimize energy;\n}\n", i == 0 ? "A" : "D"));
        dfl_objective objective;
        dfl_tree_climb_options options = { .objective = &objective, .halt = &halt, .evaluations = 4, .may_share = true };
        double before, value;
        uint64_t evaluated;

        assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
        before = options.proven = dfl_mapping_value(halt.budget, s->names, m, &objective);
        moved = dfl_tree_climb(s->arena, s->names, m, &options, &value, &evaluated);
        assert_string_equal(bodies_of(s, moved), i == 0 ? "A.near | m:1 n:1 k:1 | m:1 q:1 k:1"
                                                        : " | m:1 n:1 k:1 | m:1 q:1 k:1");
        assert_true(i == 0 ? value < before : evaluated == 0 && value == before);
        dfl_session_free(s);
    }
}

/* ---- strips ---- */

typedef struct {
    const char *name, *body;     /* lines behind the homes of operands and result */
    const char *rank;            /* of the loop */
    int64_t tile;
    bool holds, shares;
    const char *made;            /* lines of all bodies; NULL = no loop over the rank may be shared */
} strip_case;

/* Strips of 2 of p reach 4 elements of T, so 4 of t are made for the first one. */
static const strip_case strips[] = {
    { "what is made goes along with a window, and loops further in ask for no more than is left",
      "keep T, Z in dram; fuse { T { temporal t:4, t; } Z { temporal p:4; keep C in near; temporal p, r; } Y { temporal p; } }",
      "p", 2, true, true, "C.near p:2 Z.near T.near A.near | t:1 | p:1 r:1 | p:1" },
    { "inputs stay where they are", "keep T, Z in dram; fuse { T { temporal t; } Z { temporal p, r; } Y { temporal p; } }", "p", 4,
      false, false, "p:4 Z.near T.near | t:1 | p:1 r:1 | p:1" },
    { "what is read along it goes along", "keep T, Z in near; fuse { T { temporal t; } Z { temporal p, r; } Y { temporal v; } }", "p",
      4, false, true, "p:4 A.near T.near Z.near | t:1 | p:1 r:1 | v:1" },
    { "the last einsum lacks the rank", "keep T, Z in near; fuse { T { temporal t; } Z { temporal p, r; } Y { temporal p; } }", "r", 1,
      true, true, NULL },
};

static void makes_strips(void **state)
{
    const strip_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *last = strstr(c->body, "v;") != NULL ? "v" : "p";
    const dfl_mapping *m = open_mapping(s, dfl_arena_printf(s->arena,
        "workload strips : i8 { rank p = 8, v = 8, t = 8, r = 3; input A[t], B[t]; weight C[r]; T[t] = A[t] * B[t];\n"
        "    Z[p] += T[p + r - 1] * C[r]; output Y[%s] = Z[%s] + A[%s]; }\n%s"
        "mapping m for strips on chip(size = 64) {\n    keep A, B, C, Y in dram;\n    %s\n}\n",
        last, last, last, strstr(head, "system"), c->body));
    dfl_mapping *copy = dfl_mapping_copy(s->arena, m);
    dfl_tree_strip strip = { .memory = 1, .tile = c->tile, .holds = c->holds, .shares = c->shares };

    for (uint32_t b = 0; b < copy->n_bodies; b++)
        for (uint32_t i = 0; i < copy->bodies[b]->n_lines; i++)
            copy->bodies[b]->lines[i].given = false;
    while (strcmp(dfl_sym_text(s->names, m->workload->ranks[strip.rank].name), c->rank) != 0)
        strip.rank++;
    assert_int_equal(dfl_tree_may_loop(copy, copy->root, strip.rank), c->made != NULL);
    if (c->made != NULL) {
        assert_true(dfl_tree_strip_apply(s->arena, copy, &strip));
        assert_string_equal(bodies_of(s, copy), c->made);
        assert_true(isfinite(dfl_mapping_value(dfl_arena_budget(s->arena), s->names, copy, &(dfl_objective){ 0 })));
    }
    dfl_session_free(s);
}

int main(void)
{
    const struct CMUnitTest homes[] = { cmocka_unit_test(polishing_keeps_written_homes),
                                        cmocka_unit_test(proven_climbs_keep_what_branches_share) };

    return cmocka_run_group_tests_name("mapper.polishing_keeps_written_homes", homes, NULL, NULL) +
           CHECK_TABLE("mapper.polishes", cases, polishes) + CHECK_TABLE("mapper.polishes_trees", trees, polishes_trees) +
           CHECK_TABLE("mapper.climbs_in_trees", climbs, climbs_in_trees) + CHECK_TABLE("mapper.makes_strips", strips, makes_strips);
}
