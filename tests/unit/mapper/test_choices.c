/* Structural alternatives in a partly written mapping: their number, the lines of one alternative, and the optimum,
   which must equal the best optimum of all alternatives searched one by one. */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "ir/print_mapping.h"
#include "mapper/skeleton/structure_choices.h"

static const char problem[] =
    "workload pair : i8 {\n    rank m = 4, k = 4, n = 4, q = 1;\n    input A[m, k], B[k, n], E[n, q];\n"
    "    T[m, n] += A[m, k] * B[k, n];\n    output Z[m, q] += T[m, n] * E[n, q];\n}\n"
    "system chip {\n    memory dram { size = unlimited; read { energy = 9pJ/bit; bandwidth = 1B/s; } }\n"
    "    memory sram { size = 16B; holds = A, B, T; read { energy = 1pJ/bit; } }\n"
    "    memory rf { size = 5B; holds = A, B; }\n"
    "    network wires = bus { multicast = row; }\n    array row[2] over wires {\n        compute mac { rate { mac = 1MAC/s; } energy { mac = 1pJ/MAC; } }\n    }\n}\n"
    "mapping m for pair on chip { %s }\n";

static dfl_session *open_problem(const char *lines)
{
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena, problem, lines);

    assert_int_equal(dfl_session_open_text(s, "pair.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    return s;
}

typedef struct {
    const char *name;
    const char *lines;
    uint32_t count, number;
    const char *text;          /* printed lines of alternative number `number` */
} numbered;

#define HOMES "keep A, B, E, Z in dram; "
#define PAIR(t) HOMES "keep T in dram; fuse { T { " t " } Z { temporal m, n; } }"
#define PAIR_TEXT(t) "keep A, B, E, Z, T in dram;\nfuse {\n  T {\n" t "  }\n  Z {\n    temporal m, n;\n  }\n}\n"

static const numbered cases[] = {
    /* of A, B and T, which sram holds: number 5 is A and T, its bits */
    { "tensors", PAIR("keep ? in sram; temporal m, k, n;"), 8, 5, PAIR_TEXT("    keep A, T in sram;\n    temporal m, k, n;\n") },
    { "one is kept already", PAIR("keep B in sram; keep ? in sram; temporal m, k, n;"), 4, 1,
      PAIR_TEXT("    keep B, A in sram;\n    temporal m, k, n;\n") },
    /* T needs no home above */
    { "above branches", HOMES "keep ? in sram; fuse { T { temporal m, k, n; } Z { temporal m, n; } }", 8, 4,
      "keep A, B, E, Z in dram;\nkeep T in sram;\nfuse {\n  T {\n    temporal m, k, n;\n  }\n  Z {\n    temporal m, n;\n  }\n}\n" },
    { "inputs need a home", "keep A, E, Z in dram; keep ? in sram; fuse { T { temporal m, k, n; } Z { temporal m, n; } }", 4, 0,
      "keep A, E, Z in dram;\nfuse {\n  T {\n    temporal m, k, n;\n  }\n  Z {\n    temporal m, n;\n  }\n}\n" },
    /* of the orders of m, k and n, sorted, number 3 is k, n, m */
    { "an order", PAIR("temporal ?; temporal m, k, n;"), 6, 3,
      PAIR_TEXT("    temporal k:?, n:?, m:?, m, k, n;\n") },
    { "what is left", PAIR("temporal k, ?;"), 2, 1, PAIR_TEXT("    temporal k, n:?, m:?;\n") },
    { "of all below", HOMES "temporal ?; fuse { T { temporal m, k, n; } Z { temporal m, n; } }", 2, 0,
      "keep A, B, E, Z in dram;\ntemporal m:?, n:?;\nfuse {\n  T {\n    temporal m, k, n;\n  }\n  Z {\n    temporal m, n;\n  }\n}\n" },
    { "on an axis", PAIR("spatial ? on row; temporal m, k, n;"), 1, 0,
      PAIR_TEXT("    spatial m/? on row, k/? on row, n/? on row;\n    temporal m, k, n;\n") },
    /* the first place counts fastest: 14 is 6 there, B and T, and order number 1 */
    { "two places", PAIR("keep ? in sram; temporal ?; temporal m, k, n;"), 48, 14,
      PAIR_TEXT("    keep B, T in sram;\n    temporal m:?, n:?, k:?, m, k, n;\n") },
    { "beside places for lines", PAIR("...; temporal k:2, ?; ...;"), 6, 5,
      PAIR_TEXT("    ...;\n    temporal k:2, n:?, k:?, m:?;\n    ...;\n") },
    { "too many", PAIR("temporal ?, ?, ?, ?, ?; temporal m, k, n;"), 6 * 6 * 6 * 6 * 6, 0, NULL },
};

static void is_numbered(void **state)
{
    const numbered *c = *state;
    dfl_session *s = open_problem(c->lines);
    const dfl_mapping *given = s->program->designs[0].mapping;
    dfl_strbuf text;

    assert_int_equal(dfl_choices_count(s->arena, given), c->count);
    if (c->text != NULL) {
        dfl_strbuf_init(&text, s->arena);
        dfl_mapping_print_lines(&text, s->names, dfl_choices_take(s->arena, given, c->number), DFL_PRINT_INDENT);
        assert_string_equal(text.text, c->text);
    }
    dfl_session_free(s);
}

typedef struct {
    const char *name;
    const char *lines;
} whole;

static const whole wholes[] = {
    { "tensors", PAIR("temporal m:?; keep ? in sram; temporal m, k, n;") },
    { "orders", PAIR("temporal ?; keep A in sram; temporal m, k, n;") },
    /* A and B only fit together with tiles of 1 above them */
    { "tiles of 1", PAIR("temporal ?; keep A, B in rf; temporal m, k, n;") },
    { "both, and branches", HOMES "keep ? in sram; fuse { T { temporal ?; temporal m, k, n; } Z { temporal m, n; } }" },
};

/* The value that is found for the mapping with these lines, INFINITY if there is none. */
static double best_of(const char *lines, bool *optimal)
{
    dfl_session *s = open_problem(lines);
    const dfl_mapping *m = s->program->designs[0].mapping;
    dfl_stop stopped;
    const dfl_filled *f = dfl_session_fill(s, m, &stopped);
    double value = f != NULL ? f->search->value : INFINITY;

    *optimal = f != NULL && f->search->optimal;
    dfl_session_free(s);
    return value;
}

static void is_best_of_all(void **state)
{
    const whole *c = *state;
    dfl_session *s = open_problem(c->lines);
    const dfl_mapping *given = s->program->designs[0].mapping;
    uint32_t n = dfl_choices_count(s->arena, given);
    double least = INFINITY;
    bool optimal;

    assert_true(n > 1 && n <= DFL_CHOICES_MOST);
    for (uint32_t i = 0; i < n; i++) {
        dfl_strbuf text;
        dfl_strbuf_init(&text, s->arena);
        dfl_mapping_print_lines(&text, s->names, dfl_choices_take(s->arena, given, i), DFL_PRINT_INDENT);
        least = fmin(least, best_of(text.text, &optimal));
    }
    assert_true(least < INFINITY);
    assert_close(best_of(c->lines, &optimal), least, 1e-12);
    assert_true(optimal);
    dfl_session_free(s);
}

int main(void)
{
    return CHECK_TABLE("mapper.choices", cases, is_numbered) + CHECK_TABLE("mapper.choices.best", wholes, is_best_of_all);
}
