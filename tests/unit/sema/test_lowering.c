/* Lowering of statements, seen in the printed representation. */
#include "tests/unit/sema/analysed.h"

typedef struct {
    const char *name;
    const char *text;
    const char *has;     /* in the printed program */
    const char *has_too; /* or NULL */
} lowering_case;

#define SYSTEM \
    "system chip(rows = 4) { clock = 1GHz; memory dram { size = unlimited; } memory sram { size = 1MiB; }" \
    " network net = bus { multicast = row; } array row[rows] over net { memory reg { size = 64B; }" \
    " compute mac { rate = 1MAC/cycle; } } }"
#define W(body) "workload w(M = 4, N = 6) : i8 { rank m = M, n = N; " body " }"

static const lowering_case cases[] = {
    /* ---- einsums ---- */
    { "a product of two tensors under += is a MAC", W("Z[m] += A[m,n] * B[n];"), "ranks m n, 24 points, 1 MAC each", NULL },
    { "three factors are not", W("Z[m] += A[m,n] * B[n] * C[n];"), "24 points, 3 FLOP each", NULL },
    { "a sum alone is one operation", W("Z[m] += A[m,n];"), "24 points, 1 FLOP each", NULL },
    { "a square is a MAC", W("Z[m] += A[m,n] * A[m,n];"), "Z[m] += (A[m, n] * A[m, n])", "1 MAC each" },
    { "operations cost what they say", W("Z[m] = sigmoid(A[m]) + 1;"), "4 points, 5 FLOP each", NULL },
    { "constants cost nothing", W("Z[m] = A[m] * rsqrt(M) / (M * N);"), "Z[m] = ((A[m] * 0.5) / 24)", "2 FLOP each" },
    { "max= is one comparison", W("Z[m] max= A[m,n];"), "Z[m] max= A[m, n]", "24 points, 1 FLOP each" },
    { "over a rank, per element of the result", W("Z[m,n] = fft(A[m,n]) over n;"), "over n;", "0 FLOP each, 13 FLOP per element" },
    { "indices are affine", W("input A[a: 20]; Z[m] += A[2*m + 3*(n - 1) + N];"), "A[2*m + 3*n + 3]", NULL },
    { "equal ranks of an index merge", W("input A[a: 20]; Z[m] = A[m + m + 1 - m];"), "A[m + 1]", NULL },
    { "ranks that cancel vanish", W("input A[a: 20]; Z[n] = A[m - m + n];"), "A[n]", NULL },
    { "an access that is read twice is one input", W("Z[m] = A[m] + A[m] * A[m];"), "2 FLOP each", NULL },
    { "conditions", W("Z[m] += A[m,n] where n <= m && n > 1;"), "where m - n >= 0, n - 2 >= 0", NULL },
    { "equality is two conditions", W("Z[m] += A[m,n] where n == m;"), "where -m + n >= 0, m - n >= 0", NULL },
    { "rows that the data choose are not iterated",
      "workload w : i8 { rank b = 2, v = 100, d = 8; input ids[b] : i32; weight T[v, d]; E[b,d] += gather T[v,d] by ids[b]; }",
      "weight T[2, 8]", "gather(T[b, d], ids[b])" },
    /* ---- tensors ---- */
    { "roles follow from use", W("T[m] = A[m]; Z[m] = T[m];"), "intermediate T[4]", "input A[4]" },
    { "what nothing reads is an output", W("Z[m] = A[m];"), "output Z[4] : i8", NULL },
    { "an output may be read", W("output T[m] = A[m]; Z[m] = T[m];"), "output T[4]", "made by T, read by Z" },
    { "shapes follow from affine indices", W("Z[m] += A[2*m + n];"), "input A[12]", NULL },
    { "a rank may define part of a shape", W("T[m] = A[m]; T[m + M] = B[m]; Z[m] = T[m];"), "intermediate T[8]", NULL },
    { "types by tensor", W("input A[m] : fp32; Z[m] : bits(12) = A[m];"), "A[4] : fp32 (32 bit)", "Z[4] : bits(12) (12 bit)" },
    { "state is read and written", W("state K[m]; K[m] = K[m] + A[m];"), "state K[4] : i8 (8 bit);  // made by K, read by K", NULL },
    { "einsums run when their inputs are complete", W("Z[m] = T[m] + 1; T[m] = A[m];"), "einsum T: T[m] = A[m];  // ranks m, 4 points, 0 FLOP each\n  einsum Z", NULL },
    { "a second einsum of a tensor has a number", W("Z[m] = A[m]; Z[m] += B[m,n];"), "einsum Z#2: Z[m] += B[m, n]", NULL },
    { "sizes reach 2^62", "workload w : i8 { rank m = 4611686018427387903; Z[m] = A[m]; }", "4611686018427387903 points", NULL },
    /* ---- structure ---- */
    { "for makes a family", W("for k in 0..2 { T[m] = A[m] + k; }"), "output T[0][4]", "T[1][m] = (A[m] + 1)" },
    { "for over a set", W("for k in {3, 5} { T[m] = A[m] + k; }"), "T[5][m] = (A[m] + 5)", NULL },
    { "a family accumulates into what stands outside", W("output Z[m]; for k in 0..2 { T[m] = A[m] + k; Z[m] += T[m]; }"), "made by Z Z#2", NULL },
    { "read before it is defined, inside a loop", W("repeat 3 as l { Z[m] = T[m] + 1; T[m] = A[m]; }"), "intermediate l.T[3, 4]", "input A[4]" },
    { "if chooses", W("if M < N { Z[m] = A[m]; } else { Y[m] = A[m]; }"), "output Z[4]", NULL },
    { "repeat adds a rank to weights and results", W("X[m] = A[m]; repeat 3 as layer carrying X = Y { weight F[m]; Y[m] = X[m] * F[m]; } Z[m] = layer.Y[m];"),
      "weight layer.F[3, 4]", "layer.Y[layer, m] = (X[m] * layer.F[layer, m])" },
    { "behind a repeat stands its last iteration", W("X[m] = A[m]; repeat 3 as layer carrying X = Y { Y[m] = X[m] + 1; } Z[m] = layer.Y[m];"),
      "Z[m] = layer.Y[2, m]", "// carries" },
    { "apply renames", "workload g(M) : i8 { rank m = M; input A[m]; Z[m] = A[m] + 1; }"
      W("input I[m]; apply g(M = M) as one { A = I; } apply g(M) as two { A = one.Z; }"),
      "two.Z[two.m] = (one.Z[two.m] + 1)", "intermediate one.Z[4]" },
    { "what is not given is an input", "workload g(M) : i8 { rank m = M; input A[m]; Z[m] = A[m] + 1; }"
      W("input I[m]; apply g(M) as one; Z[m] = one.Z[m] + I[m];"), "input one.A[4]", NULL },
    { "a workload derived with values", "workload g(M) : i8 { rank m = M; Z[m] = A[m]; } workload h = g(M = 9);", "workload h {\n  rank m = 9", NULL },
    { "the type comes from outside where the body has none", "workload g(M) { rank m = M; input A[m]; Z[m] = A[m]; }"
      "workload w : fp16 { apply g(5) as one; }", "output one.Z[5] : fp16", NULL },
    /* ---- systems ---- */
    { "cycles by the clock", SYSTEM, "compute mac in 1 after 3 memories: rate any any 2e+09/s", NULL },
    { "the inner clock counts", "system s { clock = 1GHz; element cpu { clock = 3GHz; compute c { rate = 2FLOP/cycle; } } }",
      "element 1 cpu in 0 side clock 3GHz", "rate any any 6e+09/s" },
    { "one port or two", "system s { memory a { size = 1MB; bandwidth = 1GB/s; } memory b { size = 1MB; read { bandwidth = 2GB/s; } } }",
      "memory a in 0: size 1MB read 1GB/s write 1GB/s one port", "memory b in 0: size 1MB read 2GB/s write unlimited buffers 1" },
    { "energies", "system s { compute c { rate = 1FLOP/s; energy = 1pJ/MAC; } memory m { size = 1B; energy = 2pJ/bit; write { energy = 3pJ/bit; } } }",
      "energy per MAC 1pJ per FLOP 0.5pJ/FLOP", "read energy 2pJ/bit write energy 3pJ/bit" },
    { "rates by operation and type", "system s { clock = 1Hz; compute c { rate { mac { i8 = 4MAC/cycle; } bf16 = 2FLOP/cycle; exp = 1FLOP/cycle; } } }",
      "rate mac i8 4/s rate any bf16 2/s rate exp any 1/s", NULL },
    { "selections", "system s { network n = mesh { multicast = x(weight, Q), y; reduce = y; forward = x; } array x[2], y[3] over n { memory m { size = 1B; holds = input, F; } } }",
      "axis x[2] of element 1 over n multicast weight Q forward", "holds input F" },
    { "overrides of a derived system", SYSTEM "system big = chip(rows = 8) { sram.size = 2MiB; clock = 2GHz; }",
      "axis row[8]", "memory sram in 0: size 2MiB" },
    { "the outermost override wins", SYSTEM "system a = chip { sram.size = 2MiB; } system b = a { sram.size = 3MiB; }",
      "system b {\n  element 0 - clock 1GHz\n  element 1 - in 0 clock 1GHz\n  memory dram in 0: size unlimited read unlimited write unlimited one port buffers 1\n  memory sram in 0: size 3MiB", NULL },
    { "use gives a prefix", SYSTEM "system two { network n = ring { } array c[2] over n { use chip(rows = 3) as core { dram.bandwidth = 1GB/s; } } }",
      "memory core.dram in 2: size unlimited read 1GB/s", "axis core.row[3]" },
    { "totals are sums over used systems", "system c { tdp = 3W; price = 10USD; } system two { array x[4] { use c as c; } }",
      " tdp 12W price 40USD", NULL },
    { "an own figure replaces the sum", "system c { price = 10USD; } system two { price = 50USD; array x[4] { use c as c; } }", " price 50USD", NULL },
    /* ---- mappings ---- */
    { "lines of a chain", W("Z[m] += A[m,n];") SYSTEM "mapping p for w on chip { keep A, Z in dram; temporal m:2, n; spatial m/2 on row; }",
      "keep A, Z in dram;\n  temporal m:2, n;\n  spatial m/2 on row;", NULL },
    { "a leaf of several einsums", W("Y[m] = A[m]; Z[m] = Y[m];") SYSTEM "mapping p for w on chip { fuse { Y, Z { temporal m; } } }",
      "Y, Z {\n      temporal m;\n    }", NULL },
    { "branches without fuse", W("Y[m] = A[m]; Z[m] = Y[m];") SYSTEM "mapping p for w on chip { keep A in dram; Y { temporal m; } Z { temporal m; } }",
      "fuse {\n    Y {\n      temporal m;\n    }\n    Z {", NULL },
    { "a template with values", W("Z[m] += A[m,n];") SYSTEM "mapping t(k) for w on chip { temporal m:k, n; } mapping p = t(2) for w(M = 8) on chip(rows = 2);",
      "mapping p for w(M = 8, N = 6) on chip(rows = 2) {\n  temporal m:2, n;", NULL },
    { "a template in a template", W("Z[m] += A[m,n];") SYSTEM "mapping t(k) for w on chip { temporal m:k; use u(k = k + 1); } mapping u(k) for w on chip { temporal n:k; } mapping p = t(2);",
      "temporal m:2, n:3;", NULL },
    { "each instance its child", "workload g(M) : i8 { rank m = M; input A[m]; Z[m] = A[m] + 1; }"
      W("input I[m]; apply g(M = M) as one { A = I; } apply g(M) as two { A = one.Z; }") SYSTEM
      "mapping t for g on chip { keep A in sram; temporal m; } mapping p for w on chip { fuse { each g { use t; } } }",
      "one.Z {\n      keep I in sram;\n      temporal one.m;", "two.Z {\n      keep one.Z in sram;\n      temporal two.m;" },
    { "recompute and on", W("Y[m] = A[m]; Z[m] = Y[m];") SYSTEM "mapping p for w on chip { on mac; recompute Y; fuse { Y { temporal m; } Z { temporal m; } } }",
      "on mac;\n  recompute Y;\n  fuse {", NULL },
    { "modes of keeps and loops", W("Z[m] += A[m,n];") SYSTEM "mapping p for w on chip { keep A in dram fresh, Z in sram window; temporal m:2 cyclic, n online; option overlap = perfect; }",
      "keep A in dram fresh;\n  keep Z in sram window;\n  temporal m:2 cyclic online;\n  temporal n online;", "option overlap = perfect;" },
    /* ---- checks ---- */
    { "constants are folded", "let a = 2; " SYSTEM "expect chip.peak(i8) >= a * 3GFLOPS + 1FLOPS;", "expect (chip.peak(i8) >= 6GFLOPS)", NULL },
    { "the place of a check", W("Z[m] = A[m]; expect macs == M - 4;"), "expect (macs == 0);  // in w", NULL },
    { "within and from", SYSTEM "assume chip.area within 10% of 3mm2 from \"me\";", "assume chip.area within 0.1 of 3mm2 from \"me\";", NULL },
};

static void lowers(void **state)
{
    const lowering_case *c = *state;
    analysed *a = analyse(c->text);
    dfl_strbuf out;

    dfl_strbuf_init(&out, a->arena);
    dfl_strbuf_z(&out, "");
    dfl_ir_print(&out, a->names, a->program);
    if (c->has[0] != '\0' && dfl_sink_errors(a->sink) > 0)
        fail_msg("%s", analysed_message(a));
    if (strstr(out.text, c->has) == NULL)
        fail_msg("no `%s` in\n%s", c->has, out.text);
    if (c->has_too != NULL && strstr(out.text, c->has_too) == NULL)
        fail_msg("no `%s` in\n%s", c->has_too, out.text);
    analysed_free(a);
}

int main(void)
{
    return CHECK_TABLE("sema.lowering", cases, lowers);
}
