/* Mappings of which the bound of all exchanges surely holds (SEARCH.md, B40, scope), and others. */
#include <stdio.h>

#include "mapper/join/exchange_scope.h"
#include "tests/unit/mapper/job.h"

typedef struct {
    const char *name, *lines; /* of the mapping */
    bool covers;
} scope_row;

#define LEAVES "fuse { T { } Z { } }"

/* T[a] = A[a] * B[a]; Z[a] = T[a] * C[b]. */
static const scope_row SCOPES[] = {
    { "homes alone", "keep A, B, C, T, Z in dram; " LEAVES, true },
    { "T is exchanged in sram", "keep A, B, C, Z in dram; keep T in sram; " LEAVES, true },
    { "the same below a loop", "keep A, B, C, Z in dram; temporal a; keep T in sram; " LEAVES, true },
    { "A above a loop below which its einsum exchanges T",
      "keep A, B, C, Z in dram; keep A in sram; temporal a; keep T in sram; " LEAVES, true },
    { "A above a loop that is shared for no exchange", "keep A, B, C, Z in dram; keep T, A in sram; temporal a; " LEAVES, false },
    { "C above a loop over a rank that does not index T",
      "keep A, B, C, Z in dram; keep C in sram; temporal b; keep T in sram; " LEAVES, false },
    { "A above a branch that shares no loop", "keep A, B, C, T, Z in dram; keep A in sram; " LEAVES, false },
    { "T at home and in sram", "keep A, B, C, T, Z in dram; temporal a; keep T in sram; " LEAVES, false },
    { "A in an array, above a loop below which its einsum exchanges T",
      "keep A, B, C, Z in dram; keep A in reg; temporal a; keep T in sram; " LEAVES, false },
    { "an input at home in sram", "keep B, C, T, Z in dram; keep A in sram; " LEAVES, false },
};

static void scopes(void **state)
{
    const scope_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    char text[1500];

    snprintf(text, sizeof text,
             "dfl 1; workload w : i8 { rank a = 4, b = 2; input A[a]; input B[a]; weight C[b]; T[a] = A[a] * B[a]; "
             "output Z[a] += T[a] * C[b]; } system chip { memory dram { size = unlimited; } memory sram { size = 64B; } "
             "array x[2] { memory reg { size = 64B; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } } "
             "mapping one for w on chip { %s }", row->lines);
    assert_int_equal(dfl_exchange_covers(s->arena, open_mapping(s, text)), row->covers);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.exchange_scope", SCOPES, scopes); }
