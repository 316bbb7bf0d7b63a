#include "tests/unit/import/imported.h"

#include "import/accelforge/accelforge.h"

/* A specification, what the text must hold (parts in order), and the first diagnostic at LINE:COLUMN. */
typedef struct {
    const char *name, *text;
    dfl_code code; /* 0 = none */
    unsigned line, column;
    const char *parts[6];
} import_case;

#define ACTIONS "actions: [{name: read, energy: 2, throughput: 64}, {name: write, energy: 3, throughput: 32}]"
#define MEMORY(name, more) "  - !Memory {name: " name ", size: 1024, " more ACTIONS "}\n"
#define MAC(more) "  - !Compute {name: MAC, " more "actions: [{name: compute, energy: 1, throughput: 4}]}\n"
/* An architecture: lines 1 and 2, Main on line 3, the other nodes below. */
#define ARCH(rest) "arch:\n  nodes:\n" MEMORY("Main", "") rest
/* A workload: four lines, then the einsums. */
#define WORK(sizes, einsums) \
    "workload:\n  rank_sizes: {" sizes "}\n  bits_per_value: {All: 8}\n  einsums:\n" einsums
#define MATMUL WORK("M: 8, K: 4, N: 6", "  - \"Z[m, n] = A[m, k] * B[k, n]\"\n")
/* Lines 1 to 4: two memories; what Main must and Buf may keep, and the rate of Main. */
#define HOMES(main, buf, rate) \
    "arch:\n  nodes:\n  - !Memory {name: Main, size: inf, tensors: {keep: " main ", may_keep: All}, actions: [{name: read, energy: 2, " \
    "throughput: " rate "}, {name: write, energy: 2, throughput: " rate "}]}\n" MEMORY("Buf", "tensors: {keep: Nothing, may_keep: " buf "}, ") \
    MAC("")
#define COPY(einsum) "  - {einsum: \"" einsum "\", is_copy_operation: true}\n"
#define TREE(nodes) "mapping:\n  nodes:\n" nodes
#define STORE(memory, tensors) "  - !Storage {component: " memory ", tensors: [" tensors "]}\n"
#define LOOP(v, tile) "  - !Temporal {rank_variable: " v ", tile_shape: " tile "}\n"
#define SPREAD(v, tile, where, axis) \
    "  - !Spatial {rank_variable: " v ", tile_shape: " tile ", component: " where ", name: " axis "}\n"
#define POINT(einsum) "  - !Compute {einsum: " einsum ", component: MAC}\n"
#define ONES LOOP("m", "1") LOOP("k", "1") LOOP("n", "1") POINT("Z")
/* A matmul on two memories. */
#define CASE(nodes) ARCH(MEMORY("Buf", "") MAC("")) MATMUL TREE(STORE("Main", "A, B, Z") nodes)
#define TOLL(direction) "  - !Toll {name: Link, direction: " direction ", actions: [{name: read, energy: 5, throughput: 8}]}\n"

static const import_case cases[] = {
    /* workloads */
    { "accesses as text",
      WORK("M: 8, K: 4, N: 6", "  - \"Z[m, n] = A[m, k] * B[k, n]\"\n"), 0, 0, 0,
      { "rank m = 8, n = 6, k = 4;", "input A[m, k];", "input B[k, n];", "output Z[m, n] += A[m, k] * B[k, n];" } },
    { "accesses as maps",
      WORK("M: 8, W: 10, R: 3", "  - name: conv\n    tensor_accesses:\n    - {name: I, projection: {W: m + r}}\n"
                          "    - {name: F, projection: [r]}\n    - {name: O, projection: [m], output: True}\n"),
      0, 0, 0, { "rank m = 8, r = 3;", "input I[dim0: 10];", "O[m] += I[m + r] * F[r];  // conv" } },
    { "bounds of variables",
      WORK("K: 4", "  - einsum: \"O[p] = I[2*p + r - 1] * F[r, k]\"\n    iteration_space_shape: [0 <= p <= 7, 0 <= r < 3]\n"),
      0, 0, 0, { "rank p = 8, r = 3, k = 4;", "input I[dim0: 16];", "I[2 * p + r - 1] * F[r, k]" } },
    { "bounds for all einsums",
      "workload:\n  iteration_space_shape: {p: 0 <= p < 2*3}\n  bits_per_value: {All: 8}\n  einsums: [\"O[p] = I[p]\"]\n", 0, 0, 0,
      { "rank p = 6;" } },
    { "a convolution with strides and dilations",
      "workload:\n  iteration_space_shape: {n: 0 <= n < 2, c: 0 <= c < 4, p: 0 <= p < 8, q: 0 <= q <= 7, r: 0 <= r < 3, s: 0 <= s < 3, "
      "k: 0 <= k < 6}\n  bits_per_value: {All: 8}\n  einsums:\n  - name: conv\n    tensor_accesses:\n"
      "    - {name: I, projection: {N: n, C: c, H: 2*p + r, W: q * 2 + 3*(s - 1) + 3}}\n    - {name: F, projection: [k, c, r, s]}\n"
      "    - {name: O, projection: [n, k, p, q], output: True}\n",
      0, 0, 0, { "rank n = 2, c = 4, p = 8, r = 3, q = 8, s = 3, k = 6;", "input I[n, c, dim2: 17, dim3: 21];",
                 "O[n, k, p, q] += I[n, c, 2 * p + r, 2 * q + 3 * s] * F[k, c, r, s];" } },
    { "coefficients in every form", WORK("P: 4, R: 3, W: 16", "  - \"O[p] = I[W: p*2 + 3r - (r - 1)*2 + 0*p - 2] * F[r]\"\n"), 0, 0, 0,
      { "input I[dim0: 9];", "O[p] += I[2 * p + r] * F[r];" } },
    { "a depthwise convolution", WORK("C: 4, P: 8, Q: 8, R: 3, S: 3", "  - \"O[c, p, q] = I[c, H: p + r, W: q + s] * F[c, r, s]\"\n"),
      0, 0, 0, { "input I[c, dim1: 10, dim2: 10];\n    input F[c, r, s];\n    output O[c, p, q] += I[c, p + r, q + s] * F[c, r, s];" } },
    { "a grouped convolution", WORK("G: 2, K: 3, J: 4, P: 8, R: 3",
      "  - \"O[g, k, p] = I[C: 4*g + j, H: p + r] * F[g, k, j, r]\"\n"), 0, 0, 0,
      { "input I[dim0: 8, dim1: 10];", "O[g, k, p] += I[4 * g + j, p + r] * F[g, k, j, r];" } },
    { "operations that mean nothing to the source",
      WORK("M: 8, P: 4", "  - \"X[m] = max(S[m, p])\"\n  - \"E[m, p] = exp(0.125 * S[m, p] - X[m])\"\n  - \"D[m, p] = E[m, p] / (Q[m] + 1)\"\n"),
      0, 0, 0, { "X[m] += S[m, p];\n    E[m, p] = map2(S[m, p], X[m]);\n    output D[m, p] = map2(E[m, p], Q[m]);" } },
    { "an attention with queries in groups",
      WORK("B: 1, M: 16, P: 16, H: 2, Q: 4, E: 8", "  - name: A\n    tensor_accesses:\n    - {name: Y, projection: {B: b, M: m, H: h, Q: q, E: e}}\n"
      "    - {name: K, projection: {B: b, M: p, H: h, E: e}}\n    - {name: A, projection: [b, m, p, h, q], output: True}\n"),
      0, 0, 0, { "A[b, m, p, h, q] += Y[b, m, h, q, e] * K[b, p, h, e];" } },
    { "what accesses say of tensors",
      "workload:\n  rank_sizes: {M: 8, K: 4}\n  bits_per_value: 8\n  einsums:\n  - name: Z\n    tensor_accesses:\n"
      "    - {name: A, projection: [m, k]}\n    - {name: W, projection: [k], persistent: True, bits_per_value: 4}\n"
      "    - {name: Z, projection: [m], output: True}\n    renames: [{name: input, source: A}]\n",
      0, 0, 0, { "input A[m, k];\n    weight W[k] : bits(4);" } },
    { "renames of one einsum before those of all", WORK("M: 8, K: 4", "  - \"Z[m] = A[m, k] * B[k]\"\n  - \"Y[m] = Z[m] * C[m]\"\n")
      "renames: {einsums: [{name: default, tensor_accesses: [{name: weight, source: B | C}]}, {name: Z, tensor_accesses: [{name: weight, "
      "source: A}]}]}\n", 0, 0, 0, { "weight A[m, k];\n    input B[k];\n    weight C[m];" } },
    { "bounds in a list and as a text",
      "workload:\n  iteration_space_shape: [0 <= p < 4]\n  bits_per_value: {All: 8}\n  einsums:\n  - {einsum: \"O[p] = I[p, k]\", "
      "iteration_space_shape: 0 <= k < 3}\n", 0, 0, 0, { "rank p = 4, k = 3;" } },
    { "an explicit rank", WORK("M: 8, E: 4", "  - \"S[b: m, M: p] = Q[m, e] * K[M: p, e]\"\n"), 0, 0, 0,
      { "rank m = 8, p = 8, e = 4;", "S[m, p] += Q[m, e] * K[p, e];" } },
    { "operations of every kind",
      WORK("M: 8, N: 4", "  - \"Y[m] = X[m]\"\n  - \"V[m] = H[m, n]\"\n  - \"T[m, n] = Y[m] * U[n]\"\n"
                         "  - \"W[m] = P[m, n] * Q[m] * R[n]\"\n"),
      0, 0, 0,
      { "op map1(x0) = 1FLOP;\nop map2(x0, x1) = 1FLOP;\nop summand3(x0, x1, x2) = 0FLOP;", "Y[m] = map1(X[m]);",
        "output V[m] += H[m, n];", "T[m, n] = map2(Y[m], U[n]);", "W[m] += summand3(P[m, n], Q[m], R[n]);" } },
    { "a tensor twice in one way", WORK("M: 8", "  - \"L[m] = X[m] + X[m]\"\n"), 0, 0, 0, { "L[m] = map1(X[m]);" } },
    { "a copy", WORK("M: 8", "  - {einsum: \"I[m] = J[m]\", is_copy_operation: true}\n  - \"Z[m] = I[m]\"\n"), 0, 0, 0,
      { "    I[m] = J[m];\n", "Z[m] = map1(I[m]);" } },
    { "a copy that the source has for free",
      HOMES("All", "All", "inf") WORK("M: 8, N: 4", COPY("I[m, n] = J[m, n]") "  - \"Z[m] = I[m, n]\"\n  - \"V[m] = I[m, n]\"\n"), 0, 0, 0,
      { "// line 10: `I` is `J` here: the source copies inside of `Main` for free\n", "input J[m, n];\n    output Z[m] += J[m, n];\n"
        "    output V[m] += J[m, n];\n", "memory Main {\n        size = unlimited;\n        read" } },
    { "a copy of a copy",
      HOMES("All", "All", "64") WORK("M: 8", COPY("I[m] = J[m]") COPY("K[m] = I[m]") "  - \"Z[m] = K[m]\"\n"), 0, 0, 0,
      { "`I` is `J`", "`K` is `J`", "input J[m];\n    output Z[m] = map1(J[m]);" } },
    { "a copy of what is made",
      HOMES("All", "All", "inf") WORK("M: 8", "  - \"Y[m] = A[m]\"\n" COPY("I[m] = Y[m]") "  - \"Z[m] = I[m]\"\n"), 0, 0, 0,
      { "    Y[m] = map1(A[m]);\n    output Z[m] = map1(Y[m]);" } },
    { "a copy to where nothing is cheaper",
      HOMES("~Intermediates", "All", "inf") WORK("M: 8", COPY("I[m] = J[m]") "  - \"Z[m] = I[m]\"\n"), 0, 0, 0,
      { "`I` is `J` here", "Z[m] = map1(J[m]);" } },
    { "a copy to where something is faster",
      HOMES("~Intermediates", "All", "64") WORK("M: 8", COPY("I[m] = J[m]") "  - \"Z[m] = I[m]\"\n"), 0, 0, 0,
      { "// line 10: a copy inside of one memory is read and written here", "    I[m] = J[m];\n", "Z[m] = map1(I[m]);" } },
    { "a copy read together with its source",
      HOMES("All", "All", "inf") WORK("M: 8", COPY("I[m] = J[m]") "  - \"Z[m] = I[m] * J[m]\"\n"), 0, 0, 0,
      { "    I[m] = J[m];\n", "Z[m] = map2(I[m], J[m]);" } },
    { "copies that hold what other widths hold",
      HOMES("All", "All", "inf") "workload:\n  rank_sizes: {M: 8}\n  bits_per_value: {I: 4, ~I: 8}\n  einsums:\n" COPY("I[m] = J[m]")
      "  - \"Z[m] = I[m]\"\n", 0, 0, 0, { "workload einsums : bits(4) {", "input J[m] : bits(8);\n    I[m] = J[m];\n" } },
    { "rows for experts",
      HOMES("All", "All", "inf") WORK("M: 8, X: 2, T: 3, N: 4", "  - \"Y[m] = A[m]\"\n" COPY("E[x, t] = Y[m]")
      "  - \"F[x, t, n] = E[x, t] * W[x, n]\"\n" COPY("Z[m, n] = F[x, t, n]")), DFL_FOREIGN_LOST, 11, 6,
      { "// line 11: this copy is omitted: `Y` leaves the workload and `E` enters it, which is free as in the source\n",
        "// line 13: this copy is omitted: `F` leaves", "rank m = 8, x = 2, t = 3, n = 4;\n    input A[m];\n    input E[x, t];\n",
        "    output Y[m] = map1(A[m]);\n    output F[x, t, n] = map2(E[x, t], W[x, n]);\n}" } },
    { "rows for experts and for others, somewhere",
      HOMES("~Intermediates", "All", "64") WORK("M: 8, X: 2, T: 3", "  - \"Y[m] = A[m]\"\n" COPY("E[x, t] = Y[m]")
      "  - \"F[x, t] = E[x, t]\"\n  - \"Z[m] = Y[m]\"\n"), DFL_FOREIGN_LOST, 11, 6,
      { "enters it, through the outermost memory; in the source it may stay in another one\n", "output Y[m] = map1(A[m]);" } },
    { "a copy of two ranks to one",
      HOMES("All", "All", "inf") WORK("M: 8, X: 2, T: 4", COPY("E[x, t] = Y[M: 4 * x + t]") "  - \"F[x, t] = E[x, t]\"\n"),
      DFL_FOREIGN_LOST, 10, 6, { "input E[x, t];\n    output F[x, t] = map1(E[x, t]);" } },
    { "a copy of two ranks to one, somewhere",
      HOMES("~Intermediates", "All", "64") WORK("M: 8, X: 2, T: 4", COPY("E[x, t] = Y[M: 4 * x + t]") "  - \"F[x, t] = E[x, t]\"\n"),
      0, 0, 0, { "    E[x, t] = Y[4 * x + t];" } },
    { "a rank of the output alone", WORK("M: 8, X: 4", "  - \"Z[m, x] = A[m]\"\n"), DFL_FOREIGN_UNSUPPORTED, 5, 6, { NULL } },
    { "a copy alone to another rank", WORK("M: 8, X: 4", COPY("Z[x] = A[m]")), DFL_FOREIGN_UNSUPPORTED, 5, 0, { NULL } },
    { "widths and roles",
      "workload:\n  rank_sizes: {M: 8, N: 4}\n  bits_per_value: {weight: 4, ~weight & Inputs: 8, Outputs: 16}\n  einsums:\n"
      "  - {einsum: \"Z[m] = A[m, n] * B[n]\", renames: {weight: B}}\n",
      0, 0, 0, { "workload einsums : bits(16) {", "input A[m, n] : bits(8);", "weight B[n] : bits(4);" } },
    { "renames of the specification",
      WORK("M: 8, N: 4", "  - \"Z[m] = A[m, n] * B[n]\"\n")
      "renames: {einsums: [{name: default, tensor_accesses: [{name: weight, source: B if len(All) == 3 else Nothing}]}]}\n",
      0, 0, 0, { "weight B[n];" } },
    { "expressions",
      "variables: {a: 2**3, b: a // 3 + 7 % 4}\nworkload:\n  rank_sizes: {M: \"max(a, b, min(9, 4))\", N: ceil(M / 3) - 1, "
      "K: \"b if a > 8 or not b else -a + 10 + floor(log2(a))\"}\n  bits_per_value: {All: 8}\n  einsums: [\"Z[m] = A[m, n] * "
      "B[n, k]\"]\n",
      0, 0, 0, { "rank m = 8, n = 2, k = 5;" } },
    { "equal names of other extents",
      WORK("M: 8, N: 4", "  - \"Y[m] = X[m]\"\n  - \"Z[N: m] = V[N: m]\"\n"), 0, 0, 0, { "rank m = 8, m_2 = 4;", "Z[m_2] = map1(V[m_2]);" } },
    /* machines */
    { "memories and units", ARCH(MAC("leak_power: 0.5, ")) MATMUL, 0, 0, 0,
      { "size = 128B;\n        ports = shared;\n        read {\n            bandwidth = 8B/s;\n            energy = 2J/bit;",
        "mac = 4MAC/s;", "flop = 1J/FLOP;", "leakage = 0.5W;", "    ...;\n    minimize energy * latency;\n" } },
    { "scales",
      "arch:\n  nodes:\n  - !Memory {name: Main, size: inf, bits_per_action: 16, energy_scale: 2, throughput_scale: 4, "
      "n_parallel_instances: 2, actions_scale: 3, leak_power: 1, total_latency: max(a.n_calls / a.throughput for a in actions), "
      ACTIONS "}\n" MAC("") MATMUL,
      0, 0, 0,
      { "size = unlimited;\n        read {\n            bandwidth = 341.3333333333333", "energy = 0.75J/bit;", "leakage = 2W;" } },
    { "one rate for all actions", "arch:\n  nodes:\n" MEMORY("Main", "total_latency: sum(a.n_calls for a in actions) / 4 / 20, ")
      MAC("total_latency: sum(a.n_calls for a in actions) / 200e6, ") MATMUL, 0, 0, 0,
      { "read {\n            bandwidth = 10B/s;", "write {\n            bandwidth = 10B/s;", "mac = 200000000MAC/s;" } },
    { "widths of a memory",
      ARCH("  - !Memory {name: Buf, size: 1024, bits_per_value: {All: 16}, " ACTIONS "}\n" MAC("")) MATMUL, 0, 0, 0,
      { "memory Buf {\n        size = 64B;", "bandwidth = 4B/s;\n            energy = 4J/bit;" } },
    { "widths that differ",
      ARCH("  - !Memory {name: Buf, size: 1024, bits_per_value: {A: 16}, " ACTIONS "}\n" MAC("")) MATMUL, DFL_FOREIGN_LOST, 4, 5,
      { "// room differs between tensors: the most expensive stands for all\n        size = 64B;" } },
    { "arrays",
      ARCH("  - !Container {name: PE, spatial: [{name: X, fanout: 4}, {name: Y, fanout: 2, may_reuse: A | Z}, "
           "{name: W, fanout: 3, may_reuse: Nothing}]}\n" MAC("")) MATMUL,
      0, 0, 0, { "network PE_links = bus {\n        multicast = X, Y(A);\n        reduce = X, Y;\n    }\n"
                 "    array X[4], Y[2], W[3] over PE_links {\n        compute MAC {" } },
    { "forks", ARCH("  - !Fork\n    nodes:\n    - !Compute {name: VPU, actions: [{name: compute, energy: 1, throughput: inf}]}\n"
                    MAC("")) MATMUL, 0, 0, 0, { "    element fork {\n        compute VPU {", "mac = 1e+30MAC/s;", "    }\n    compute MAC {" } },
    { "units for some einsums", ARCH(MAC("enabled: len(All) == 3, ")) MATMUL, 0, 0, 0, { "compute MAC {\n        ops = mac;" } },
    /* mappings */
    { "what is read is fetched anew", CASE(LOOP("m", "2") STORE("Buf", "A, B") LOOP("k", "1") LOOP("n", "1") LOOP("m", "1") POINT("Z")),
      0, 0, 0, { "keep A, B, Z in Main;\n    temporal m:2;\n    keep A in Buf;\n    temporal k, n;\n    keep B in Buf fresh;" } },
    { "room stands below relevant loops", CASE(STORE("Buf", "A") LOOP("m", "4") LOOP("n", "3") LOOP("k", "1") LOOP("m", "1") LOOP("n", "1")
      POINT("Z")), 0, 0, 0, { "temporal m:4;\n    keep A in Buf;\n    temporal n:3, k, m, n;\n    on MAC;" } },
    { "what is written gets a brace", CASE(LOOP("k", "2") STORE("Buf", "Z") ONES), 0, 0, 0,
      { "temporal k:2;\n    fuse {\n        Z {\n            temporal m;\n            keep Z in Buf;\n            temporal k, n;" } },
    { "windows slide",
      ARCH(MEMORY("Buf", "") MAC("")) WORK("P: 8, R: 3, C: 2", "  - \"O[p] = I[W: p + r, c] * F[r, c]\"\n")
      TREE(STORE("Main", "I, F, O") LOOP("c", "1") LOOP("r", "1") STORE("Buf", "I") LOOP("p", "2") LOOP("p", "1") POINT("O")),
      0, 0, 0, { "temporal c, r;\n    fuse {\n        O {\n            temporal p:2;\n            keep I in Buf;\n            temporal p;" } },
    { "spatial loops stand above what instances hold",
      ARCH(MEMORY("Reg", "spatial: [{name: X, fanout: 4}], ") MAC("")) MATMUL
      TREE(STORE("Main", "A, B, Z") STORE("Reg", "A") LOOP("m", "1") SPREAD("n", "2", "Reg", "X") LOOP("k", "1") LOOP("n", "1") POINT("Z")),
      0, 0, 0, { "keep A, B, Z in Main;\n    temporal m;\n    spatial n:2 on X;\n    temporal k;\n    keep A in Reg;\n    temporal n;" } },
    { "a spatial loop passes one over its variable",
      ARCH(MEMORY("Reg", "spatial: [{name: X, fanout: 4}], ") MAC("")) MATMUL
      TREE(STORE("Main", "A, B, Z") STORE("Reg", "A") LOOP("n", "3") SPREAD("n", "1", "Reg", "X") LOOP("m", "1") LOOP("k", "1") POINT("Z")),
      DFL_FOREIGN_REARRANGED, 16, 5, { "spatial n:2 on X;\n    keep A in Reg;\n    temporal n, m, k;" } },
    { "tolls stand where the inner holder gets its tile",
      ARCH(TOLL("up_and_down") MEMORY("Buf", "") MAC("")) MATMUL
      TREE(STORE("Main", "A, B, Z") STORE("Link", "A, B, Z") LOOP("m", "2") STORE("Buf", "A") ONES),
      0, 0, 0, { "temporal m:2;\n    keep A in Link;\n    temporal m, k;\n    keep A in Buf;\n    temporal n;\n    keep B in Link fresh;\n"
                 "    fuse {\n        Z {\n            keep Z in Link;\n            on MAC;" } },
    { "tolls that charge nothing are left out",
      ARCH(TOLL("{A: up, B: down, Z: down}") MEMORY("Buf", "") MAC("")) MATMUL
      TREE(STORE("Main", "A, B, Z") STORE("Link", "A, B, Z") STORE("Buf", "A, B, Z") ONES),
      0, 0, 0, { "keep A in Buf;\n    keep B in Link;\n    keep B in Buf;\n    temporal m;\n    keep Z in Buf;\n    temporal k, n;" } },
    { "both ways where one is charged",
      ARCH(TOLL("down") MEMORY("Buf", "") MAC("")) MATMUL
      TREE(STORE("Main", "A, B, Z") STORE("Link", "Z") LOOP("k", "2") STORE("Buf", "Z") ONES),
      DFL_FOREIGN_LOST, 15, 5, { "// line 15: `Link` is charged for `Z` both ways", "keep Z in Link;\n            temporal m;\n            keep Z in Buf;" } },
    { "loops are shared because of tensors",
      ARCH(MEMORY("Buf", "") MAC("")) WORK("M: 8, K: 4, N: 6", "  - \"Y[m, n] = A[m, k] * B[k, n]\"\n  - \"Z[m] = Y[m, n] * C[n]\"\n  - \"V[m] = Z[m]\"\n")
      TREE(STORE("Main", "A, B, C, Z, V") LOOP("m", "2") STORE("Buf", "Y") "  - !Sequential\n    nodes:\n"
           "    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: k, tile_shape: 1}, !Temporal "
           "{rank_variable: n, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}\n"
           "    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute "
           "{einsum: Z, component: MAC}]}\n"
           "    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: V, component: MAC}]}\n"),
      0, 0, 0, { "keep A, B, C, Z, V in Main;\n    fuse {\n        Y, Z {\n            temporal m:2;\n            keep Y in Buf;\n"
                 "            fuse {\n                Y {\n                    temporal m, k, n;",
                 "        V {\n            temporal m:2, m;\n            on MAC;" } },
    { "instances",
      ARCH(MEMORY("Buf", "") MAC("")) "workload:\n  rank_sizes: {M: 8, N: 4}\n  bits_per_value: {All: 8}\n  n_instances: 3\n"
      "  persistent_tensors: B\n  einsums: [\"Z[m] = A[m, n] * B[n]\"]\n"
      TREE(STORE("Buf", "B") STORE("Main", "A, Z") STORE("Buf", "A") LOOP("m", "1") LOOP("n", "1") POINT("Z")),
      0, 0, 0, { "weight B[instance, n];", "Z[instance, m] += A[instance, m, n] * B[instance, n];",
                 "keep B in Buf;\n    keep A, Z in Main;\n    temporal instance, m, n;\n    keep A in Buf;" } },
    { "imperfect factors", CASE(LOOP("m", "3") STORE("Buf", "A") ONES), 0, 0, 0,
      { "// line 14: the last tile of `m` is smaller", "temporal m:3, m, k;\n    keep A in Buf;" } },
    /* specifications that are refused */
    { "no YAML", "workload: [1, 2\n", DFL_FOREIGN_SYNTAX, 2, 1, { NULL } },
    { "an alias of nothing", "variables: &x 1\nworkload: *y\n", DFL_FOREIGN_SYNTAX, 2, 12, { NULL } },
    { "a template", "workload:\n  rank_sizes: {M: {{size}}}\n", DFL_FOREIGN_UNSUPPORTED, 2, 19, { NULL } },
    { "an included file", "arch: !include arch.yaml\n" MATMUL, DFL_FOREIGN_UNSUPPORTED, 1, 16, { NULL } },
    { "no workload", "arch: {nodes: []}\n", DFL_FOREIGN_SYNTAX, 1, 1, { NULL } },
    { "no einsums", "workload: {rank_sizes: {M: 1}}\n", DFL_FOREIGN_SYNTAX, 1, 12, { NULL } },
    { "an unknown part", "mapper: {}\n" MATMUL, DFL_FOREIGN_IGNORED, 1, 1, { "// line 1: `mapper` has no effect" } },
    { "an unknown part of a workload", "workload:\n  shape: {}\n  rank_sizes: {M: 8}\n  bits_per_value: 8\n  einsums: [\"Z[m] = A[m]\"]\n",
      DFL_FOREIGN_IGNORED, 2, 3, { "// line 2: `shape` of `workload` has no effect" } },
    { "an unknown part of an einsum", WORK("M: 8", "  - {einsum: \"Z[m] = A[m]\", density: 0.5}\n"), DFL_FOREIGN_IGNORED, 5, 29,
      { "`density` of `Z` has no effect" } },
    { "an unknown part of an access", WORK("M: 8", "  - name: Z\n    tensor_accesses:\n    - {name: A, projection: [m], density: 0.5}\n"
      "    - {name: Z, projection: [m], output: True}\n"), DFL_FOREIGN_IGNORED, 7, 34, { "`density` of `A` has no effect" } },
    { "an unknown part of an axis", ARCH("  - !Container {name: PE, spatial: [{name: X, fanout: 4, usage_scale: 2}]}\n" MAC("")) MATMUL,
      DFL_FOREIGN_IGNORED, 4, 58, { "`usage_scale` of `X` has no effect" } },
    { "an energy that the source computes", "arch:\n  nodes:\n" MEMORY("Main", "")
      "  - !Compute {name: MAC, component_class: mac, actions: [{name: compute, throughput: 4}]}\n" MATMUL, DFL_FOREIGN_LOST, 4, 59,
      { "// line 4: `compute` of `MAC` has no energy in the source" } },
    { "two widths of one tensor", WORK("M: 8", "  - name: Z\n    tensor_accesses:\n    - {name: A, projection: [m], bits_per_value: 4}\n"
      "    - {name: Z, projection: [m], output: True}\n  - name: Y\n    tensor_accesses:\n    - {name: A, projection: [m], bits_per_value: 2}\n"
      "    - {name: Y, projection: [m], output: True}\n"), DFL_FOREIGN_UNSUPPORTED, 11, 0, { NULL } },
    { "a product of variables", WORK("M: 8, K: 4", "  - \"Z[m, k] = A[M: m * k]\"\n"), DFL_FOREIGN_UNSUPPORTED, 5, 0, { NULL } },
    { "an index that is cut short", WORK("M: 8", "  - \"Z[m] = A[M: 2*]\"\n"), DFL_FOREIGN_SYNTAX, 5, 20, { NULL } },
    { "a coefficient out of range", WORK("M: 8", "  - \"Z[m] = A[M: 65536*65536*m]\"\n"), DFL_FOREIGN_RANGE, 5, 0, { NULL } },
    { "coefficients that overflow", WORK("M: 8", "  - \"Z[m] = A[M: 2147483647*2147483647*2147483647*m]\"\n"), DFL_FOREIGN_RANGE, 5, 0, { NULL } },
    { "operands in brackets", WORK("M: 8", "  - \"Z[m] = {A[m]}\"\n"), DFL_FOREIGN_SYNTAX, 5, 0, { NULL } },
    { "an access without brackets", WORK("M: 8", "  - \"Z = A[m]\"\n"), DFL_FOREIGN_SYNTAX, 5, 8, { NULL } },
    { "an unbounded variable", WORK("M: 8", "  - \"Z[m] = A[m, n]\"\n"), DFL_FOREIGN_RANGE, 5, 6, { NULL } },
    { "a tensor in two ways", WORK("M: 8", "  - \"Z[m] = A[m] * A[m + 1]\"\n"), DFL_FOREIGN_UNSUPPORTED, 5, 20, { NULL } },
    { "no width", "workload:\n  rank_sizes: {M: 8}\n  einsums: [\"Z[m] = A[m]\"]\n", DFL_FOREIGN_SYNTAX, 2, 3, { NULL } },
    { "variables that depend on themselves", "variables: {a: b, b: a}\n" WORK("M: a", "  - \"Z[m] = A[m]\"\n"), DFL_FOREIGN_UNSUPPORTED, 1, 0, { NULL } },
    { "a size that is not whole", WORK("M: 8 / 3", "  - \"Z[m] = A[m]\"\n"), DFL_FOREIGN_RANGE, 2, 19, { NULL } },
    { "a number and a set", WORK("M: 8", "  - {einsum: \"Z[m] = A[m]\", renames: {weight: A + 1}}\n"), DFL_FOREIGN_SYNTAX, 5, 52, { NULL } },
    { "no box", WORK("M: 8, W: 9", "  - \"Z[m] = A[W: m + r]\"\n"), DFL_FOREIGN_LOST, 5, 17, { "// line 5: the iteration space of this einsum is not a box" } },
    { "an unknown node", "arch:\n  nodes:\n  - !Cache {name: Main}\n" MATMUL, DFL_FOREIGN_UNSUPPORTED, 3, 5, { NULL } },
    { "an architecture that cannot compute", ARCH("") MATMUL, DFL_FOREIGN_SYNTAX, 2, 3, { NULL } },
    { "two nodes have the same name", ARCH(MEMORY("Main", "") MAC("")) MATMUL, DFL_FOREIGN_SYNTAX, 4, 20, { NULL } },
    { "a negative energy", "arch:\n  nodes:\n  - !Memory {name: Main, actions: [{name: read, energy: -1}]}\n" MAC("") MATMUL, DFL_FOREIGN_RANGE, 3, 57, { NULL } },
    { "a first value that is read", "arch:\n  nodes:\n" MEMORY("Main", "skip_initial_output_write: False, ") MAC("") MATMUL, DFL_FOREIGN_LOST, 3, 65, { "// line 3: `Main` reads the first value" } },
    { "power gating", ARCH("  - !Container {name: PE, spatial: [{name: X, fanout: 4, power_gateable: True}]}\n" MAC("")) MATMUL,
      DFL_FOREIGN_LOST, 4, 38, { "// line 4: instances along `X` that are not used leak" } },
    { "a network", ARCH("  - !Network {name: NoC, actions: [{name: hop, energy: 1, throughput: 1}]}\n" MAC("")) MATMUL, DFL_FOREIGN_LOST, 4, 5, { "// line 4: hops and links" } },
    { "a loop is missing", CASE(LOOP("m", "1") LOOP("n", "1") POINT("Z")), DFL_FOREIGN_RANGE, 16, 5, { NULL } },
    { "what memories may hold",
      ARCH(MEMORY("B0", "tensors: {keep: Outputs}, ") MEMORY("B1", "tensors: {keep: A, may_keep: B}, ")
           MEMORY("B2", "tensors: {keep: Nothing, may_keep: All}, ") MEMORY("B3", "tensors: {keep: ~Main, may_keep: All}, ")
           MEMORY("B4", "tensors: {keep: Nothing}, ") MAC("")) MATMUL,
      DFL_FOREIGN_LOST, 4, 46,
      { "// line 4: the source must keep `Z` in `B0`: a search may bypass it\n// line 5: the source must keep `A` in `B1`: a search "
        "may bypass it\ndfl 1;", "memory B0 {\n        size = 128B;\n        holds = Z;", "memory B1 {\n        size = 128B;\n        holds = A, B;",
        "memory B2 {\n        size = 128B;\n        ports", "memory B3 {\n        size = 128B;\n        ports",
        "// B4 holds nothing\n    compute MAC" } },
    { "what one of two einsums may keep", ARCH(MEMORY("Buf", "tensors: {keep: Outputs}, ") MAC(""))
      WORK("M: 8", "  - \"Y[m] = A[m]\"\n  - \"Z[m] = Y[m]\"\n"), DFL_FOREIGN_LOST, 4, 47,
      { "// line 4: only some einsums may keep `Y` in `Buf`: in the result all may\n"
        "// line 4: the source must keep `Y`, `Z` in `Buf`: a search may bypass it\n", "holds = Y, Z;" } },
    { "what depends on the mapper", ARCH(MEMORY("Buf", "tensors: {keep: ~Main}, ") MAC("")) MATMUL, DFL_FOREIGN_LOST, 4, 47,
      { "// line 4: `Buf` may keep `Z`, `A`, `B` or not, as the source chooses for other memories: in the result it always may\n",
        "memory Buf {\n        size = 128B;\n        ports" } },
    { "an index beyond what is produced", WORK("M: 8, K: 2, N: 4", "  - \"Y[m, k] = A[m, k]\"\n  - \"Z[m, n] = Y[m, n]\"\n"),
      DFL_FOREIGN_RANGE, 6, 0, { NULL } },
    { "a misspelt constraint", ARCH(MEMORY("Buf", "tensors: {kep: A}, ") MAC("")) MATMUL, DFL_FOREIGN_IGNORED, 4, 47,
      { "// line 4: `kep` of `Buf` has no effect\n" } },
    { "a constraint of an unknown tensor", ARCH(MEMORY("Buf", "tensors: {keep: Q}, ") MAC("")) MATMUL, DFL_FOREIGN_UNKNOWN_NAME, 4,
      53, { NULL } },
    { "a file of comments and a part for aliases", "sizes: &m {M: 8, K: 4, N: 6}\nworkload:\n  rank_sizes: *m\n"
      "  bits_per_value: {All: 8}\n  einsums:\n  - \"Z[m, n] = A[m, k] * B[k, n]\"\n", 0, 0, 0, { "rank m = 8, n = 6, k = 4;" } },
    { "what a fixed mapping has decided", ARCH(MEMORY("Buf", "tensors: {keep: A}, ") MAC("")) MATMUL
      TREE(STORE("Main", "A, B, Z") STORE("Buf", "B") ONES), 0, 0, 0,
      { "memory Buf {\n        size = 128B;\n        ports", "keep B in Buf;" } },
    { "a tile that is too large", CASE(LOOP("m", "9") ONES), DFL_FOREIGN_RANGE, 14, 5, { NULL } },
    { "an unknown component", CASE(STORE("Cache", "A") ONES), DFL_FOREIGN_UNKNOWN_NAME, 14, 26, { NULL } },
    { "an unknown tensor", CASE(STORE("Buf", "Q") ONES), DFL_FOREIGN_UNKNOWN_NAME, 14, 41, { NULL } },
    { "an unknown variable", CASE(LOOP("q", "1") ONES), DFL_FOREIGN_UNKNOWN_NAME, 14, 31, { NULL } },
    { "stored nowhere", ARCH(MAC("")) MATMUL TREE(STORE("Main", "A, Z") ONES), DFL_FOREIGN_SYNTAX, 16, 5, { NULL } },
    { "an einsum without a mapping", ARCH(MAC("")) WORK("M: 8", "  - \"Y[m] = A[m]\"\n  - \"Z[m] = Y[m]\"\n")
      TREE(STORE("Main", "A, Y, Z") LOOP("m", "1") POINT("Y")), DFL_FOREIGN_SYNTAX, 10, 6, { NULL } },
    { "a first tile of its own", ARCH(MAC("")) MATMUL TREE(STORE("Main", "A, B, Z")
      "  - !Temporal {rank_variable: m, tile_shape: 2, initial_tile_shape: 3}\n" ONES), DFL_FOREIGN_UNSUPPORTED, 13, 69, { NULL } },
};

static char *import_one(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const dfl_source *source)
{
    return dfl_import_accelforge(arena, sink, sources, &source, 1);
}

static void imports(void **state)
{
    const import_case *c = *state;
    const imported want = { c->code, c->line, c->column, NULL, c->parts, sizeof c->parts / sizeof *c->parts };

    check_imported(c->text, import_one, &want);
}

int main(void)
{
    return CHECK_TABLE("import.accelforge", cases, imports);
}
