/* The time that work stalls for transfers, by hand, for mappings with one choice of tiles: a matrix product of 64 steps with tensors
   of 16 bytes each. The model gives these times; the bound of boxes is not above them, and at most 30 % below. */
#include "tests/unit/mapper/formed.h"

typedef struct {
    const char *name;
    const char *dram;            /* bandwidths of dram */
    const char *chip;            /* memories */
    unsigned rate;               /* MAC/s */
    const char *lines;           /* lines behind the homes; temporal loops cover whole ranks */
    double seconds;
} waits_case;

#define PORTS(out, in) "read { bandwidth = " out "B/s; } write { bandwidth = " in "B/s; }"
#define DRAM PORTS("2", "1")
#define NEAR(size, more) "memory near { size = " size "B; " more " }"
#define FAST PORTS("64", "64")
#define TWICE "buffers = 2; " FAST

static const waits_case cases[] = {
    /* dram serves 64 + 64 + 48 bytes: of 64 updates 16 find no value and read nothing */
    { "nothing is kept", DRAM, NEAR("1", FAST), 1, "temporal m, n, k;", 88 },
    /* A enters four times, for 2 s each */
    { "work waits for what comes in", DRAM, NEAR("4", FAST), 1, "temporal m; keep A in near; temporal n, k;", 72 },
    /* the first 2 s load A; then results leave for 64 s */
    { "the first tile comes in before", DRAM, NEAR("8", TWICE), 1, "temporal m; keep A in near; temporal n, k;", 66 },
    { "a stream has a first tile, too", DRAM, NEAR("4", "overlap = stream; " FAST), 1,
      "temporal m; keep A in near; temporal n, k;", 66 },
    { "work waits for what goes out", DRAM, NEAR("1", FAST), 1, "temporal m, n; keep Z in near; temporal k;", 80 },
    { "the last tile goes out behind", DRAM, NEAR("2", TWICE), 1, "temporal m, n; keep Z in near; temporal k;", 65 },
    /* 2 s, then 64 s, three times 2 s for a tile of A, beside one of Z that goes out, twelve times 1 s for Z alone, then 1 s */
    { "first in, waits, last out", DRAM, NEAR("5", FAST), 1,
      "temporal m; keep A in near; temporal n; keep Z in near; temporal k;",
      85 },
    { "first in, work, last out", DRAM, NEAR("10", TWICE), 1,
      "temporal m; keep A in near; temporal n; keep Z in near; temporal k;", 67 },
    /* 64 reads and 16 writes, or 64 s beside the reads and 16 s of writes that are waited for */
    { "one port for both", DRAM, NEAR("4", "bandwidth = 1B/s;"), 1, "temporal m; keep A in near; temporal n, k;", 80 },
    { "two ports", DRAM, NEAR("4", PORTS("1", "1")), 1, "temporal m; keep A in near; temporal n, k;", 80 },
    /* all of A and of B comes in through one port, 8 + 8 s; 8 + 32 s where B comes back for each m */
    { "two tensors wait for one port", DRAM, NEAR("20", FAST), 1, "keep B in near; temporal m; keep A in near; temporal n, k;",
      80 },
    { "loops above both", DRAM, NEAR("8", FAST), 1, "temporal m; keep A in near; temporal k; keep B in near; temporal n;", 104 },
    { "everything in, then out", DRAM, NEAR("48", FAST), 1, "keep A, B, Z in near; temporal m, n, k;", 96 },
    { "with two buffers there is nothing beside it", DRAM, NEAR("96", TWICE), 1, "keep A, B, Z in near; temporal m, n, k;", 96 },
    /* 16 + 16 s of writes, 64 s, 16 s at dram */
    { "ends at the port that is waited for", DRAM, NEAR("36", PORTS("64", "1")), 1,
      "keep B, Z in near; temporal m; keep A in near; temporal n, k;", 112 },
    /* B enters for 32 s; then dram serves A for 32 s and old partial sums for 24 s */
    { "ends at another port", PORTS("2", "4"), NEAR("16", PORTS("64", "0.5")), 16, "keep B in near; temporal m, n, k;", 88 },
    /* B enters for 32 s, with the first tile of A in parallel; then three tiles of A for 2 s each, and partial sums for 24 s */
    { "a first tile beside that of another tensor", PORTS("2", "4"),
      "memory mid { size = 16B; holds = B; " PORTS("64", "0.5") " }\n    " NEAR("8", FAST), 16,
      "keep B in mid; temporal m; keep A in near; temporal n, k;", 62 },
    /* four times 8 s for A, 32 s for B, and 24 s for old partial sums */
    { "a tile that is slow", PORTS("2", "4"), NEAR("8", PORTS("64", "0.5")), 16,
      "temporal m; keep A in near; temporal n, k;", 88 },
    /* 16 s into mid, four times 8 s into near; the rest can be kept nowhere, so that 32 + 24 s at dram are work */
    { "levels of one tensor come in one after another", PORTS("2", "4"),
      "memory mid { size = 16B; holds = A; " PORTS("64", "1") " }\n    " NEAR("4", "holds = A; " PORTS("64", "0.5")), 16,
      "keep A in mid; temporal m; keep A in near; temporal n, k;", 104 },
    { "work is what serves it, too", DRAM, NEAR("4", PORTS("1", "64")), 4, "temporal m; keep A in near; temporal n, k;", 72 },
};

static void counts(void **state)
{
    const waits_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena,
        "workload mm : i8 { rank m = 4, n = 4, k = 4; input A[m, k], B[k, n]; output Z[m, n] += A[m, k] * B[k, n]; }\n"
        "system chip {\n    memory dram { size = unlimited; %s }\n    %s\n    compute mac { rate { mac = %uMAC/s; } }\n}\n"
        "mapping m for mm on chip {\n    on mac;\n    keep A, B, Z in dram;\n    %s\n    minimize latency;\n}\n", c->dram,
            c->chip,
        c->rate, c->lines);
    formed f;

    open_form(&f, text);
    const dfl_box_costs costs = { .objective = &f.objective,
                                  .ramp = dfl_ramp_make(f.session->arena, f.session->names, f.mapping, f.form) };
    const point_costs at = cost_point(&f, &costs, (const int64_t[3][4]){ { 1 }, { 1 }, { 1 } });
    assert_close(at.value, c->seconds, 1e-12);
    assert_true(at.bound <= c->seconds * (1 + 1e-12) && at.bound >= c->seconds * 0.7);
    dfl_session_free(f.session);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.waits", cases, counts); }
