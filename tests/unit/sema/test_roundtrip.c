/* Round trip: a mapping that is printed and read back is equal to the original. */
#include "ir/print_mapping.h"
#include "tests/unit/sema/analysed.h"

typedef struct {
    const char *name; /* of the row, and the workload and system that the mapping `p` is for */
    const char *text;
} roundtrip_case;

#define GEMM \
    "workload gemm(M = 64, N = 64, K = 64) : bf16 { rank m = M, n = N, k = K; input A[m, k]; weight B[k, n];" \
    " Z[m,n] += A[m,k] * B[k,n]; }"
#define TWO \
    "workload two(M = 64) : i8 { rank m = M, n = M; input A[m, n]; T[m] += A[m,n]; U[m] = exp(T[m]); V[m] = U[m] + T[m]; }"
#define CHIP \
    "system chip(rows = 4, glb = 1MiB, ext = 12.3GB/s, unit = 0.1pJ) { clock = 1GHz; memory dram { size = unlimited;" \
    " bandwidth = ext; energy = unit / 16bit; } memory sram { size = glb; } network net = bus { multicast = row, col; }" \
    " compute vector { rate = 8FLOP/cycle; } array row[rows], col[4] over net { memory reg { size = 64B; }" \
    " compute mac { rate = 1MAC/cycle; } } }"

static const roundtrip_case cases[] = {
    { "chain", GEMM CHIP "mapping p for gemm on chip { keep A, B, Z in dram; temporal m:16, n:16; keep A, B, Z in sram;"
      " spatial m/4 on row, n/4 on col; temporal m, n, k:2, k; }" },
    { "values", GEMM CHIP "mapping t(a) for gemm on chip { keep A, B, Z in dram; temporal m:a, m, n, k; }"
      "mapping p = t(8) for gemm(M = 24) on chip(glb = 3kB, ext = 1.37TB/s, unit = 1.7pJ);" },
    { "modes", GEMM CHIP "mapping p for gemm on chip { option overlap = perfect; keep A, B in dram fresh, Z in dram window;"
      " temporal m:1 cyclic, n, k online; spatial n/4 on row, m/2 on row for Z; }" },
    { "branches", TWO CHIP "mapping p for two on chip { keep A, T, U, V in dram; temporal m:8; keep T, U in sram; recompute T;"
      " fuse { T { on mac; temporal n, m; } U, V { on vector; temporal m; } } }" },
    { "nested branches", TWO CHIP "mapping p for two on chip { on vector; fuse { T { temporal m, n; } U, V { temporal m:4;"
      " pipeline { U { temporal m; } V { temporal m; } } } } }" },
    { "one after another", TWO CHIP "mapping p for two on chip { temporal m; T { temporal n; } U { } V { } }" },
    { "all at once", TWO CHIP "mapping p for two on chip { keep A in dram; temporal m; }" },
};

static const char *printed(analysed *a, const char *name)
{
    dfl_strbuf out;

    for (uint32_t i = 0; i < a->program->n_designs; i++) {
        const dfl_mapping *m = a->program->designs[i].mapping;

        if (strcmp(dfl_sym_text(a->names, m->name), name) != 0)
            continue;
        dfl_strbuf_init(&out, a->arena);
        dfl_mapping_print(&out, a->names, m, DFL_PRINT_INDENT);
        return out.text;
    }
    fail_msg("no mapping `%s`: %s", name, analysed_message(a));
    return NULL;
}

static void reads_back(void **state)
{
    const roundtrip_case *c = *state;
    analysed *first = analyse(c->text), *second;
    const char *text = printed(first, "p");
    size_t len = strlen(c->text) + strlen(text) + 16;
    char *both = malloc(len);

    assert_non_null(both);
    assert_memory_equal(text, "mapping p ", 10);
    snprintf(both, len, "%s\nmapping q %s", c->text, text + 10);
    second = analyse(both);
    if (dfl_sink_errors(second->sink) > 0)
        fail_msg("%s in\n%s", analysed_message(second), both);
    assert_string_equal(printed(second, "q") + 10, text + 10);
    free(both);
    analysed_free(second);
    analysed_free(first);
}

int main(void)
{
    return CHECK_TABLE("sema.roundtrip", cases, reads_back);
}
