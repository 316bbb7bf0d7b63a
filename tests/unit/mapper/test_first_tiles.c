/* Inputs whose first tiles come on top of the work in sums of patterns (SEARCH.md, B60), by hand. */
#include <stdio.h>

#include "mapper/join/exchange_bound.h"
#include "mapper/join/first_tiles.h"
#include "tests/unit/mapper/job.h"

typedef struct {
    const char *name, *einsums, *option;
    const char *found; /* by einsum: operands with any keep, then behind `+` those with keeps for several einsums */
} firsts_row;

#define CHAIN "input A[a]; weight B[a]; weight C[a]; T[a] = A[a] * B[a]; output Z[a] = T[a] * C[a]; "
#define CONV(extents, index)                                                                                              \
    "rank " extents "; input A[t]; input B[t]; weight C[r]; T[t] = A[t] * B[t]; Z[p] += T[" index "] * C[r]; "           \
    "output Y[p] = Z[p] + A[p]; "

static const firsts_row FIRSTS[] = {
    { "each input in its einsum", CHAIN, "", "ab b" },
    { "all transfers overlap: none", CHAIN, "option overlap = perfect;", "- -" },
    { "an input of two einsums counts in the first one",
      "input A[a]; weight B[a]; T[a] = A[a] * B[a]; output Z[a] = T[a] + A[a]; ", "", "ab -" },
    { "a window cuts T unequally: its own input B does not count; A, which serves the sum behind, does",
      CONV("p = 16, r = 3, t = 16", "p + r - 1"), "", "+a b -" },
    { "the first piece of T is shorter than later ones: A counts in Y alone", CONV("p = 16, r = 3, t = 16", "p + r - 3"), "",
      "- b b" },
    { "it is as long", CONV("p = 16, r = 3, t = 16", "p + r - 2"), "", "+a b -" },
    { "A has no parts in common where the window moves by 2", CONV("p = 8, r = 3, t = 16", "2 * p + r - 1"), "", "- b b" },
    { "the last piece of T has elements that nobody reads", CONV("p = 16, r = 3, t = 40", "p + r - 1"), "", "- b b" },
    { "Y does not need the sums: a loop over r may stand above A",
      "rank p = 16, r = 3, t = 16; input A[t]; input B[t]; weight C[r]; T[t] = A[t] * B[t]; output Z[p] += T[p + r - 1] * C[r]; "
      "output Y[p] = A[p] * A[p]; ", "", "- b a" },
    { "a repeat: none", "input A[a]; input B[a]; weight C[a]; X[a] = A[a] * B[a]; "
      "repeat 3 as layer carrying X = Y { weight W[a]; Y[a] = X[a] * W[a]; } output Z[a] = layer.Y[a] * C[a]; ", "", "- - -" },
};

/* What counts, in the form of the table. */
static void print_found(const dfl_einsum_classes *classes, const dfl_form_firsts *firsts, char *out)
{
    for (uint32_t e = 0; e < classes->n; e++) {
        const dfl_form_firsts *f = &firsts[classes->of[e]];
        char *begin = out += sprintf(out, e > 0 ? " " : "");
        for (uint32_t o = 0; o < 4 && f->memory != DFL_NONE; o++)
            out += f->operands >> o & 1 ? sprintf(out, "%c", 'a' + (char)o) : 0;
        for (uint32_t o = 0; o < 4 && f->memory != DFL_NONE; o++)
            out += f->served >> o & 1 ? sprintf(out, "+%c", 'a' + (char)o) : 0;
        out += out == begin ? sprintf(out, "-") : 0;
    }
}

static void firsts_of(void **state)
{
    const firsts_row *row = *state;
    const dfl_search_limits limits = { .threads = 1 };
    dfl_session *s = dfl_session_new(NULL);
    dfl_einsum_classes *classes;
    dfl_objective objective;
    char text[1500], found[200];

    snprintf(text, sizeof text,
             "dfl 1; workload w : i8 { rank a = 4; %s} system chip { memory dram { size = unlimited; bandwidth = 1B/s; "
             "energy = 1J/bit; } memory sram { size = 8B; buffers = 2; energy = 0J/bit; } compute unit { rate = 1OP/s; "
             "energy = 1J/OP; } } mapping best for w on chip { %s ...; minimize energy * latency; }", row->einsums, row->option);
    const dfl_mapping *m = open_mapping(s, text);
    assert_true(dfl_objective_make(s->sink, s->names, m, &objective));
    classes = dfl_exchange_list(s->arena, s->names, m, &objective, &limits);
    assert_non_null(classes);
    print_found(classes, dfl_first_tiles_find(s->arena, classes), found);
    assert_string_equal(found, row->found);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.first_tiles", FIRSTS, firsts_of); }
