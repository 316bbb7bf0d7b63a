#include "tests/unit/import/imported.h"

#include "import/timeloop/timeloop.h"

/* A run, what the text must hold (parts in order), and the first diagnostic at LINE:COLUMN with its message. */
typedef struct {
    const char *name, *text;
    dfl_code code; /* 0 = none */
    unsigned line, column;
    const char *message;
    const char *parts[8];
} import_case;

#define SPACE(name, projection, more) "    - {name: " name ", projection: " projection more "}\n"
/* The first three lines of a problem, and the rest of its shape. */
#define PROBLEM(dims, spaces) "problem:\n  shape:\n    dimensions: [" dims "]\n    data_spaces:\n" spaces
#define MATMUL_SPACES \
    SPACE("A", "[[[M]], [[K]]]", "") SPACE("B", "[[[K]], [[N]]]", "") SPACE("Z", "[[[M]], [[N]]]", ", read_write: true")
/* Ten lines. */
#define MATMUL PROBLEM("M, N, K", MATMUL_SPACES) "  M: 8\n  N: 4\n  K: 6\n"
/* An architecture: three lines, then one line for each level, from line 14 on. */
#define ARCH(macs, levels) "arch:\n  arithmetic: {" macs "}\n  storage:\n" levels
#define LEVEL(name, more) "  - {name: " name more "}\n"
#define DRAM LEVEL("Main", ", technology: DRAM")
#define TWO ARCH("instances: 1", LEVEL("RF", ", entries: 64") DRAM)
/* Line 16. */
#define MAPPING(directives) "mapping:\n" directives
#define LOOPS(target, type, factors, order, more) \
    "- {target: " target ", type: " type ", factors: " factors ", permutation: " order more "}\n"
#define ALL_INSIDE LOOPS("RF", "temporal", "M8 N4 K6", "KNM", "")
/* A matmul on two levels with directives from line 17. */
#define CASE(directives) MATMUL TWO MAPPING(directives)
/* Eight multipliers in two rows, each with a register file; directives from line 18. */
#define ARRAY_OF(more) \
    ARCH("instances: 8, meshX: 4", LEVEL("RF", ", entries: 64, instances: 8, meshX: 4") \
         LEVEL("GLB", ", entries: 4096") LEVEL("Main", ", technology: DRAM" more))
#define SIXTEEN "[], [], [], [], [], [], [], [], [], [], [], [], [], [], [], [], "
/* A run that is refused with E07xx at LINE:COLUMN. */
#define BAD(name, text, code, line, column, message) { name, text, DFL_FOREIGN_##code, line, column, message, { NULL } }

/* Three multiplications of a vector of two with B, on a main memory with vectors of eight words and a buffer of one; the energies
   of a vector are 8 pJ and 1 pJ. */
#define PRICED_VECTORS(more, dims) \
    PROBLEM("M, K", SPACE("A", "[[[M]], [[K]]]", "") SPACE("B", "[[[K]]]", "") SPACE("Z", "[[[M]]]", ", read_write: true")) \
    dims "architecture:\n  version: 0.4\n  nodes:\n" \
    "  - !Component {name: Main, class: SRAM, attributes: {width: 64, datawidth: 8, depth: 64}}\n" more \
    "  - !Component {name: Buf, class: regfile, attributes: {width: 8, datawidth: 8, depth: 64}}\n" \
    "  - !Component {name: mac, class: intmac}\n" \
    "ERT_summary:\n  table_summary:\n" \
    "  - {name: top.Main, actions: [{name: read, energy: 8}, {name: write, energy: 8}]}\n" \
    "  - {name: top.Buf, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}\n" \
    "  - {name: top.mac, actions: [{name: compute, energy: 1}]}\n"

static const import_case cases[] = {
    /* One instance has rows, and its drains are free. */
    { "vectors of one instance", PRICED_VECTORS("", "  M: 3\n  K: 2\n")
      MAPPING(LOOPS("Main", "temporal", "M3", "MK", "") LOOPS("Buf", "temporal", "K2", "KM", "")), 0, 0, 0, NULL,
      { "memory Main {\n        size = 512B;\n        access = 64bit;\n", "memory Buf {\n        size = 64B;\n        read {",
        "drain {\n", "energy = 0pJ/bit;" } },
    /* Each of two instances multiplies its rows of A, in vectors of eight words: 3 words are read 3 times, and 3 results written. */
    { "vectors of an array",
      PROBLEM("M", SPACE("A", "[[[M]]]", "") SPACE("Z", "[[[M]]]", ", read_write: true")) "  M: 6\n"
      "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: SRAM, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Container {name: PE, spatial: {meshX: 2}}\n"
      "  - !Component {name: Buf, class: regfile, attributes: {width: 64, datawidth: 8, depth: 64}}\n"
      "  - !Component {name: mac, class: intmac}\nERT:\n  tables:\n"
      "  - {name: top.Main, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}\n"
      "  - {name: top.Buf, actions: [{name: read, energy: 8}, {name: write, energy: 8}]}\n"
      "  - {name: top.mac, actions: [{name: compute, energy: 1}]}\n"
      MAPPING(LOOPS("PE", "spatial", "M2", "M", "") LOOPS("Buf", "temporal", "M3", "M", "")), DFL_FOREIGN_LOST, 13, 5,
      "`Buf` is accessed in whole vectors of 8 words: Timeloop counts 30 pJ more (45.5 %)", { NULL } },
    /* Two instances add to the same elements, M times for each of the outer steps over K: each of the two gets the 3 old sums
       back, which costs 2 pJ in the buffer, where one needs them. */
    { "old sums of a group", PRICED_VECTORS("  - !Container {name: PE, spatial: {meshX: 2}}\n", "  M: 3\n  K: 4\n")
      MAPPING(LOOPS("Main", "temporal", "M3 K2", "MK", "") LOOPS("PE", "spatial", "K2", "KM", "")), DFL_FOREIGN_LOST, 15, 5, NULL,
      { "// line 15: old sums return to each instance of `Buf` that adds to them, not to one: Timeloop counts 6 pJ more" } },
    /* A window of one element in each of 2 x 2 instances has 3 places: the first level sends 2, the second 2 for each. Within one
       level, no two instances share. */
    { "words that instances share over two levels",
      PROBLEM("P, R", SPACE("I", "[[[P], [R]]]", "") SPACE("Z", "[[[P]]]", ", read_write: true")) "  P: 2\n  R: 2\n"
      "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: SRAM, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Container {name: row, spatial: {meshX: 2}}\n  - !Container {name: PE, spatial: {meshX: 2}}\n"
      "  - !Component {name: mac, class: intmac}\nERT:\n  tables:\n"
      "  - {name: top.Main, actions: [{name: read, energy: 8}, {name: write, energy: 8}]}\n"
      "  - {name: top.mac, actions: [{name: compute, energy: 1}]}\n"
      MAPPING(LOOPS("row", "spatial", "P2", "P", "") LOOPS("PE", "spatial", "R2", "R", "")), 0, 0, 0, NULL,
      { "// no two instances need the same tile of I: each is sent its own, also what tiles have in common\n",
        "multicast = x_inter_row_spatial(Z);", "multicast = x_inter_PE_spatial;" } },
    /* Tiles of two elements move by one: no two instances need the same tile. */
    { "tiles that overlap alone",
      PROBLEM("P, R", SPACE("I", "[[[P], [R]]]", "") SPACE("Z", "[[[P]]]", ", read_write: true")) "  P: 2\n  R: 2\n"
      "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: SRAM, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Container {name: PE, spatial: {meshX: 2}}\n"
      "  - !Component {name: Buf, class: regfile, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Component {name: mac, class: intmac}\n"
      MAPPING(LOOPS("PE", "spatial", "P2", "P", "") LOOPS("Buf", "temporal", "R2", "R", "")), DFL_FOREIGN_LOST, 10, 3,
      "the energies are unknown, and the result has none: add the file `ERT.yaml` or `ERT_summary.yaml`",
      { "multicast = x_inter_PE_spatial(Z);" } },
    /* The same for each of two kernels, which share whole tiles: what the source reads more is not known in closed form. */
    { "tiles that overlap",
      PROBLEM("P, R, M", SPACE("B", "[[[M]]]", "") SPACE("I", "[[[P], [R]]]", "")
              SPACE("Z", "[[[P]], [[M]]]", ", read_write: true")) "  P: 2\n  R: 2\n  M: 2\n"
      "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: SRAM, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Container {name: PE, spatial: {meshX: 4}}\n"
      "  - !Component {name: Buf, class: regfile, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Component {name: mac, class: intmac}\nERT:\n  tables:\n"
      "  - {name: top.Main, actions: [{name: read, energy: 8}, {name: write, energy: 8}]}\n"
      "  - {name: top.Buf, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}\n"
      "  - {name: top.mac, actions: [{name: compute, energy: 1}]}\n"
      MAPPING(LOOPS("PE", "spatial", "P2 M2", "PM", "") LOOPS("Buf", "temporal", "R2", "R", "")), DFL_FOREIGN_LOST, 14, 5,
      "instances side by side read what they share from `Main` once each: Timeloop counts more", { NULL } },
    { "a matmul", CASE(ALL_INSIDE), 0, 0, 0, NULL,
      { "rank M = 8, N = 4, K = 6;", "input A[M, K];", "output Z[M, N] += A[M, K] * B[K, N];",
        "memory Main {\n        size = unlimited;\n        read {\n            energy = 12.5pJ/bit;",
        "memory RF {\n        size = 128B;", "rate = 1MAC/cycle;",
        "keep A, B, Z in Main;\n    keep A, B, Z in RF;\n    temporal M, N, K;" } },
    { "a JSON text",
      "{\"problem\": {\"shape\": {\"dimensions\": [\"M\"], \"data-spaces\": [{\"name\": \"A\", "
      "\"projection\": [[[\"M\"]]]}, "
      "{\"name\": \"Z\", \"projection\": [[[\"M\"]]], \"read-write\": true}]}, "
      "\"instance\": {\"M\": 4}}, \"arch\": {\"arithmetic\": "
      "{\"instances\": 1}, \"storage\": [{\"name\": \"L\", \"word-bits\": 16}]}, "
      "\"mapping\": [{\"target\": \"L\", \"type\": \"temporal\", "
      "\"factors\": \"M=4\", \"permutation\": \"M\"}]}", DFL_FOREIGN_LOST, 1, 241,
      "`L` has neither a size nor an energy: it is free",
      { "output Z[M] += A[M];", "rate = 1FLOP/cycle;", "temporal M;" } },
    { "three operands",
      PROBLEM("M", SPACE("A", "[[[M]]]", "") SPACE("B", "[[[M]]]", "") SPACE("C", "[[[M]]]", "")
              SPACE("Z", "[[[M]]]", ", read_write: true")) "  M: 8\n" TWO, 0, 0, 0, NULL,
      { "op product(x0, x1, x2) = 0FLOP;", "Z[M] += product(A[M], B[M], C[M]);", "rate = 1FLOP/cycle;" } },
    { "coefficients",
      PROBLEM("P, R", SPACE("W", "[[[R]]]", "") SPACE("I", "[[[P, stride], [R, back]]]", "")
              SPACE("O", "[[[P]]]", ", read_write: true"))
      "    coefficients:\n    - {name: stride, default: 1}\n    - {name: back, default: -1}\n"
      "  P: 8\n  R: 3\n  stride: 2\n" TWO,
      0, 0, 0, NULL, { "input I[dim0: 17];", "O[P] += W[R] * I[2 * P - R + 2];" } },
    { "one dimension in several terms",
      PROBLEM("P", SPACE("I", "[[[P], [P, 2]], []]", "") SPACE("O", "[[[P]]]", ", read_write: true")) "  P: 8\n" TWO,
      0, 0, 0, NULL, { "input I[dim0: 22, dim1: 1];", "O[P] += I[3 * P, 0];" } },
    { "windows with gaps",
      PROBLEM("P, R", SPACE("W", "[[[R]]]", "") SPACE("I", "[[[P, 2], [R, 3]]]", "") SPACE("O", "[[[P]]]",
      ", read_write: true"))
      "  P: 8\n  R: 3\n" TWO MAPPING(LOOPS("RF", "temporal", "P4 R3", "PR", "") LOOPS("Main", "temporal", "P2", "P",
      "")),
      0, 0, 0, NULL, { "temporal P:4;\n    keep W, O in RF;\n    keep I in RF window;" } },
    { "imperfect factors", CASE(LOOPS("RF", "temporal", "'M3,2 N4 K6'", "KNM", "") LOOPS("Main", "temporal", "M3",
      "M", "")),
      0, 0, 0, NULL, { "temporal M:3;", "temporal M, N, K;" } },
    { "instances", MATMUL ARRAY_OF("") MAPPING(LOOPS("RF", "temporal", "N4 K3", "NK", "")
      LOOPS("GLB", "spatial", "M4 K2", "MK", ", split: 1, no_reuse: [A]") LOOPS("GLB", "temporal", "M2", "M", "")
      LOOPS("RF", "bypass", "''", "''", ", keep: [A, B], bypass: [Z]")), 0, 0, 0, NULL,
      { "network GLB_links = bus {\n        multicast = x_GLB(B, Z), y_GLB(B, Z);\n"
        "        reduce = x_GLB(B, Z), y_GLB(B, Z);",
        "array x_GLB[4], y_GLB[2] over GLB_links {", "keep A, B, Z in GLB;", "temporal M:4;",
        "spatial K:3 on y_GLB, M:1 on x_GLB;", "keep A, B in RF;" } },
    { "links between multipliers", MATMUL ARCH("instances: 4", LEVEL("RF", ", entries: 64") DRAM)
      MAPPING(LOOPS("RF", "spatial", "N4", "N", "") LOOPS("RF", "temporal", "M8 K6", "KM", "")), 0, 0, 0, NULL,
      { "operand_reuse = A;" } },
    { "a latch", MATMUL ARCH("instances: 6", LEVEL("RF", ", entries: 512") DRAM)
      MAPPING(LOOPS("RF", "spatial", "K6", "K", "") LOOPS("RF", "temporal", "M8 N4", "MN", "")), 0, 0, 0, NULL,
      { "memory latch {\n            size = unlimited;\n            energy = 0pJ/bit;", "keep Z in latch;" } },
    { "no links", MATMUL ARCH("instances: 6", LEVEL("RF", ", entries: 512") DRAM)
      MAPPING(LOOPS("RF", "spatial", "K6", "K", ", no_link_transfer: [Z]") LOOPS("RF", "temporal", "M8 N4", "MN",
      "")), 0, 0, 0, NULL,
      { "keep A, B, Z in RF;\n    temporal N, M;\n    spatial K:1 on x_RF;\n}" } },
    { "no reuse in time", CASE(LOOPS("RF", "temporal", "M4 N4 K6", "KNM", ", no_temporal_reuse: [A]")
      LOOPS("Main", "temporal", "M2", "M", "")), 0, 0, 0, NULL,
      { "keep B, Z in RF;\n    keep A in RF fresh;" } },
    { "sizes and energies", MATMUL ARCH("word_bits: 8", LEVEL("R0", ", entries: 0, word_bits: 8")
      LEVEL("R1", ", sizeKB: 0.5, word_bits: 8, block_size: 4, multiple_buffering: 2.0")
      LEVEL("R2", ", depth: 16, width: 32, word_bits: 8, multiple_buffering: 1.5, shared_bandwidth: 3")
      LEVEL("R3", ", entries: 5, word_bits: 24, vector_access_energy: 6, block_size: 2, bandwidth: 3")
      LEVEL("R4", ", technology: DRAM, word_bits: 8, read_bandwidth: 2, write_bandwidth: 1")), 0, 0, 0, NULL,
      { "read {\n            bandwidth = 2B/cycle;\n            energy = 12.5pJ/bit;",
        "// words of 24 bits, counted as values of 8\n    memory R3 {\n        size = 5B;\n"
        "        read {\n            bandwidth = 1.5B/cycle;\n"
        "            energy = 0.375pJ/bit;",
        "memory R2 {\n        size = 42B;\n        ports = shared;\n        read {\n            bandwidth = 3B/cycle;",
        "memory R1 {\n        size = 512B;\n        buffers = 2;", "// R0 holds nothing\n    compute macs {" } },
    { "without a mapping", MATMUL TWO "mapper:\n  optimization_metrics: [delay, energy]\nmapspace:\n  constraints:\n"
      "  - {target: RF, type: datatype, keep: [A], bypass: [B]}\n"
      "  - {target: RF, type: temporal, factors: K0, permutation: K}\n",
      0, 0, 0, NULL,
      { "memory RF {\n        size = 128B;\n        holds = A, Z;",
        "keep A, B, Z in Main;\n    ...;\n    keep A in RF;\n    ...;\n    temporal K;\n    minimize latency, energy;" } },
    { "fixed loops, free keeps", MATMUL TWO "mapspace_constraints:\n  targets:\n"
      "  - {target: Main, type: temporal, factors: [M=2, N=1, K=1], permutation: [K, N, M]}\n"
      "  - {target: RF, type: temporal, factors: 'M=4,N=4,K=6', permutation: 'K,N,M'}\n", 0, 0, 0, NULL,
      { "keep A, B, Z in Main;\n    temporal M:4;\n    keep ? in RF;\n    temporal M, N, K;\n    minimize energy * latency;" } },
    { "open factors in a known order", MATMUL TWO "architecture_constraints:\n  targets:\n"
      "  - {target: Main, type: temporal, factors: N=1 K=2, permutation: KMN}\n"
      "  - {target: RF, type: temporal, no_iteration_over_dimensions: [M], permutation: KN}\n"
      "  - {target: RF, type: dataspace, keep_only: [A, Z]}\n", 0, 0, 0, NULL,
      { "holds = A, Z;", "keep A, B, Z in Main;\n    temporal M, K/2;\n    keep A, Z in RF;\n    temporal N, K;" } },
    { "aliases and merged keys", "variables: {words: 32, more: &mesh {instances: 1}}\n" MATMUL
      "arch:\n  arithmetic: {<<: *mesh}\n  storage:\n  - {<<: [*mesh, {entries: 5, word_bits: 8}], name: RF, entries: words * 2}\n"
      DRAM MAPPING(ALL_INSIDE), 0, 0, 0, NULL, { "memory RF {\n        size = 128B;" } },
    { "a tree of version 0.3", MATMUL "architecture:\n  version: 0.3\n  subtree:\n  - name: chip\n"
      "    local: [{name: Main, class: DRAM, attributes: {width: 64, word-bits: 16}}]\n    subtree:\n    - name: PE[0..7]\n"
      "      local:\n      - {name: 'RF[0..0]', class: regfile, attributes: {depth: 64, width: 16, word-bits: 16, meshX: 4}}\n"
      "      - {name: mac, class: intmac, attributes: {meshX: 4}}\n"
      "ERT: {tables: [{name: 'chip.Main[1..1]', actions: [{name: read, energy: 64}, {name: write, energy: 128}]},\n"
      "  {name: 'chip.PE[0..7].RF[0..0]', actions: [{name: read, energy: 1.6}, {name: write, energy: 3.2}, {name: leak, energy: 2}]},\n"
      "  {name: 'chip.PE[0..7].mac', actions: [{name: compute, energy: 5}]}]}\n"
      MAPPING("- {target: Main, type: spatial, factors: M4 K2, permutation: MK, split: 1}\n"
      "- {target: 'RF[0..0]', type: temporal, factors: M=2 N=4 K=3, permutation: KNM}\n"),
      0, 0, 0, NULL,
      { "memory Main {\n        size = unlimited;\n        access = 64bit;\n        read {\n            energy = 1pJ/bit;",
        "array x_Main[4], y_Main[2] over Main_links {\n        memory RF {\n            size = 128B;\n            read {\n"
        "                energy = 0.1pJ/bit;", "energy = 0.2pJ/bit;", "leakage = 2mW;",
        "compute mac {\n            rate = 1MAC/cycle;\n            energy = 5pJ/MAC;",
        "spatial K:3 on y_Main, M:2 on x_Main;\n    keep A, B, Z in RF;\n    temporal M, N, K;" } },
    { "branches that each hold one tensor", "variables: {n: 2}\n" MATMUL "architecture:\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {datawidth: 16}}\n"
      "  - !Container {name: PE, spatial: {meshY: 2 ** n}, constraints: {spatial: {factors: [N=1], permutation: [M, K, N]}}}\n"
      "  - !Parallel\n    nodes:\n"
      "    - !Component {name: WA, class: regfile, attributes: {depth: 'max(4, n)', datawidth: 16}, constraints: {dataspace: {keep: [A]},"
      " temporal: {factors: [M=1, K=1], permutation: [N, M, K]}}}\n"
      "    - !Component {name: WZ, class: regfile, attributes: {depth: 4, datawidth: 16}, constraints: {dataspace: {keep: [Z]},"
      " temporal: {factors: [N=1, M=1, K=1], permutation: [N, M, K]}}}\n"
      "  - !Component {name: mac, class: intmac}\n", DFL_FOREIGN_LOST, 13, 3,
      "the energies are unknown, and the result has none: add the file `ERT.yaml` or `ERT_summary.yaml`",
      { "array y_inter_PE_spatial[4]", "memory WA {\n            size = 8B;\n            holds = A, B;", "holds = B, Z;",
        "spatial K:1 on y_inter_PE_spatial, M:1 on y_inter_PE_spatial;" } },
    BAD("a part in another file", "problem: !include prob.yaml\n" TWO, SYNTAX, 1, 19,
        "this part is in another file: name that file, too"),
    BAD("a template", "problem: {{x}}\n", UNSUPPORTED, 1, 10,
        "this file is a template: fill it in with Jinja first"),
    { "a template in a comment", "# {{x}}\n" CASE(ALL_INSIDE), 0, 0, 0, NULL, { "keep A, B, Z in RF;" } },
    BAD("a file of comments", "# nothing\n\n", SYNTAX, 1, 1, "the run is empty"),
    BAD("a key twice", MATMUL TWO "arch: {}\n", SYNTAX, 16, 1, "the key `arch` is given twice"),
    BAD("a key twice in a map", "problem: {a: 1, b: 2, 'a': 3}\n" TWO, SYNTAX, 1, 24, "the key `a` is given twice"),
    BAD("a key twice among many", "problem:\n"
        "  k0: 1\n  k1: 1\n  k2: 1\n  k3: 1\n  k4: 1\n  k5: 1\n  k6: 1\n  k7: 1\n  k8: 1\n  k9: 1\n  k10: 1\n  k11: 1\n"
        "  k12: 1\n  k13: 1\n  k14: 1\n  k15: 1\n  k16: 1\n  k17: 1\n  k18: 1\n  k19: 1\n  k20: 1\n  k21: 1\n  k22: 1\n  k23: 1\n"
        "  k24: 1\n  k25: 1\n  k26: 1\n  k27: 1\n  k28: 1\n  k29: 1\n  k30: 1\n  k31: 1\n  k32: 1\n  k33: 1\n  k34: 1\n  k35: 1\n" "  k5: 2\n" TWO, SYNTAX, 38, 3, "the key `k5` is given twice"),
    BAD("two documents", CASE(ALL_INSIDE) "--- # next\n" MATMUL, SYNTAX, 18, 1,
        "a second document begins here: put it into a file of its own"),
    BAD("text behind a document", CASE(ALL_INSIDE) "...\n\n# next\n" MATMUL, SYNTAX, 21, 1,
        "a second document begins here: put it into a file of its own"),
    { "a document between marks", "---\n" CASE(ALL_INSIDE) "...\n# nothing\n", 0, 0, 0, NULL, { "keep A, B, Z in RF;" } },
    { "a dummy that a directive tells to keep", MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n"
      "  - !Component {name: D, class: dummy_storage, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Component {name: Skip, class: dummy_storage, attributes: {width: 8, datawidth: 8, depth: 64}}\n"
      "  - !Component {name: mac, class: intmac}\n" MAPPING(LOOPS("D", "temporal", "M8 N4 K6", "KNM", "")
      "- {target: D, type: dataspace, keep: [A, Z], bypass: [B]}\n"), DFL_FOREIGN_LOST, 12, 3, NULL,
      { "memory D {\n        size = 64B;", "// Skip holds nothing", "keep A, Z in D;\n    temporal M, N, K;" } },
    { "a part that is no memory", MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n"
      "  - !Component {name: noc, class: XY_NoC, attributes: {width: 8}}\n"
      "  - !Component {name: mac, class: intmac}\n", DFL_FOREIGN_LOST, 15, 5,
      "`noc` is neither a memory nor the multipliers: it is omitted, and free", { "memory Main", "compute mac" } },
    BAD("an architecture without a memory", MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
        "  - !Component {name: adc, class: adc}\n  - !Component {name: mac, class: intmac}\n", LOST, 14, 5,
        "`adc` is neither a memory nor the multipliers: it is omitted, and free"),
    { "a summary of an action with arguments", PROBLEM("M", SPACE("A", "[[[M]]]", "") SPACE("Z", "[[[M]]]", ", read_write: true"))
      "  M: 8\narchitecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n  - !Component {name: mac, class: intmac}\n"
      "ERT_summary: {table_summary: [{name: t.mac, actions: [{name: compute, energy: 1}]}, {name: t.Main, actions: [\n"
      "  {name: read, average_energy: 8, max_energy: 9},\n  {name: write, arguments: {delta: 0}, energy: 1}, "
      "{name: write, arguments: {delta: 1}, energy: 4}]}]}\n", 0, 0, 0, NULL,
      { "energy = 1pJ/bit;", "energy = 0.5pJ/bit;" } },
    { "a file of the front end beside the others",
      MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n"
      "  - !Component {name: mac, class: intmac}\ndumped_by_timeloop_front_end: true\n", DFL_FOREIGN_LOST, 12, 3, NULL,
      { "memory Main" } },
    { "a misspelt key of a component", MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n"
      "  - !Component {name: W, contraints: {}, attributes: {datawidth: 8, depth: 512}}\n"
      "  - !Component {name: mac, class: intmac}\n", DFL_FOREIGN_IGNORED, 15, 26, "`contraints` of `W` has no effect", { NULL } },
    { "a misspelt attribute", MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n"
      "  - !Component {name: W, attributes: {datawidth: 8, dept: 512, n_banks: 2}}\n"
      "  - !Component {name: mac, class: intmac}\n", DFL_FOREIGN_IGNORED, 15, 53, "`dept` of `W` has no effect", { NULL } },
    { "anchors for aliases alone", "sizes: &all {instances: 1}\n" MATMUL "arch:\n  arithmetic: *all\n  storage:\n"
      LEVEL("RF", ", entries: 64, <<: *all") DRAM MAPPING(ALL_INSIDE), 0, 0, 0, NULL, { "keep A, B, Z in RF;" } },
    { "maps merged in depth",
      "own: &own {attributes: {depth: 4, width: 8}, class: SRAM}\n" MATMUL "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {width: 8, datawidth: 8}}\n"
      "  - !Component {name: W, <<<: *own, attributes: {datawidth: 8, depth: 512}}\n"
      "  - !Component {name: mac, class: intmac}\n", DFL_FOREIGN_LOST, 13, 3, NULL, { "memory W {\n        size = 512B;" } },
    BAD("an unknown alias", "problem: *p\n", SYNTAX, 1, 11, "no anchor has the name of this alias"),
    BAD("an alias in itself", "problem: &p [*p]\n", SYNTAX, 1, 15, "the file is nested deeper than 60 levels"),
    BAD("factors that cannot be", MATMUL TWO "mapspace_constraints:\n"
        "  - {target: Main, type: temporal, factors: M1 N1 K1}\n  - {target: RF, type: temporal, factors: M4 N4 K6, permutation: KNM}\n",
        RANGE, 3, 18, "the factors of `M` cannot make its size, 8"),
    BAD("a factor that does not divide", MATMUL TWO "constraints:\n  - {target: RF, type: temporal, factors: M3}\n", RANGE, 17, 43,
        "the factor 3 does not divide `M`, 8: a search has only tiles that divide"),
    BAD("too few instances", MATMUL TWO "constraints:\n  - {target: RF, type: spatial, factors: M2}\n", RANGE, 17, 42,
        "these factors need 2 instances below `RF`, which has 1"),
    { "a search that may break a constraint", MATMUL ARRAY_OF("") "constraints:\n"
      "  - {target: GLB, type: spatial, factors: N1 K1, permutation: MNK, split: 3}\n", DFL_FOREIGN_LOST, 18, 6,
      "the search may add spatial loops at `GLB` that this constraint excludes",
      { "keep A, B, Z in Main;\n    ...;\n    spatial M:? on x_GLB;\n    ...;" } },
    { "constraints of other kinds", MATMUL TWO "mapspace:\n  constraints:\n  - {target: RF, type: parallelism, min: 4}\n"
      "  - {target: RF, type: utilization, min: 0.5}\n", DFL_FOREIGN_LOST, 18, 6,
      "a constraint of the type `parallelism` does not restrict the search",
      { "// line 18: a constraint", "// line 19: a constraint of the type `utilization`", "...;" } },
    { "a convolution with strides, dilations and groups",
      "problem:\n  shape:\n    dimensions: [G, C, K, P, R]\n    coefficients: [{name: Wstride, default: 1}, {name: Wdilation, default: 3}, "
      "{name: CperG, default: 4}]\n    data_spaces:\n" SPACE("W", "[[[G]], [[C]], [[K]], [[R]]]", "")
      SPACE("I", "[[[G, CperG], [C]], [[R, Wdilation], [P, Wstride]]]", "") SPACE("O", "[[[G, 8], [K]], [[P]]]", ", read_write: true")
      "  instance: {G: 2, C: 4, K: 8, P: 7, R: 3, Wstride: 2}\n" TWO, 0, 0, 0, NULL,
      { "rank G = 2, C = 4, K = 8, P = 7, R = 3;", "input W[G, C, K, R];\n    input I[dim0: 8, dim1: 19];",
        "O[8 * G + K, P] += W[G, C, K, R] * I[4 * G + C, 3 * R + 2 * P];" } },
    { "nothing may be kept", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 64") LEVEL("L", ", entries: 64") DRAM)
      "mapspace:\n  constraints:\n  - {target: L, type: bypass, bypass: [A, B, Z]}\n", 0, 0, 0, NULL,
      { "// L holds nothing\n    memory RF {", "minimize energy * latency;" } },
    /* losses */
    { "wires", MATMUL ARRAY_OF(", wire_energy: 0.1, router_energy: 1"), DFL_FOREIGN_LOST, 16, 36,
      "wires and routers at `Main` are not counted: its transfers are free", { "memory Main" } },
    { "networks of a tree", MATMUL "architecture:\n  nodes:\n"
      "  - !Component {name: Main, class: DRAM, attributes: {hop_energy: 2 - 2, wire_energy: 0.0, network-read: NoC, router_energy: 1, "
      "network_fill: null}}\n"
      "  - !Component {name: RF, class: regfile, attributes: {depth: 64, tile_width: 0}}\n"
      "  - !Component {name: MAC, class: intmac, attributes: {}}\n"
      "ERT: {tables: [{name: Main, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}, {name: RF, actions: [{name: read, "
      "energy: 1}, {name: write, energy: 1}]}, {name: MAC, actions: [{name: compute, energy: 1}]}]}\n",
      DFL_FOREIGN_LOST, 13, 92, "networks are not counted (`network-read`, `router_energy` of `Main`): their transfers are free",
      { "// line 13: networks are not counted", "memory Main" } },
    { "an exchange between siblings", MATMUL ARRAY_OF(", network_type: 'M:N'"), DFL_FOREIGN_LOST, 16, 51,
      "instances of `Main` do not exchange parts of a multicast: each gets it from outside", { "memory Main" } },
    { "rows that are shared", MATMUL ARCH("instances: 4", LEVEL("RF",
      ", entries: 4, instances: 4, cluster_size: 4") DRAM),
      DFL_FOREIGN_LOST, 14, 56, "rows that instances of `RF` share cost as if all instances were used",
      { "memory RF" } },
    { "three limits", MATMUL ARCH("instances: 1", LEVEL("RF",
      ", entries: 4, shared_bandwidth: 4, read_bandwidth: 3") DRAM),
      DFL_FOREIGN_LOST, 14, 46, "`RF` has a limit for reads and writes together: separate limits are ignored",
      { "bandwidth = 8B/cycle;" } },
    { "reads before the first update", CASE(LOOPS("RF", "temporal", "M8 N4 K6", "KNM", ", rmw_first_update: [Z]")),
      DFL_FOREIGN_LOST, 17, 88,
      "`RF` reads a result before its first update: in the result nothing is read before it has a value",
      { "keep A, B, Z in RF;" } },
    { "spilled results", CASE(LOOPS("RF", "temporal", "M8 N4 K6", "KNM", ", no_temporal_reuse: [Z]")),
      DFL_FOREIGN_LOST, 17, 89, "`RF` spills the result at every step: in the result it stays until it changes",
      { "keep A, B, Z in RF;" } },
    { "some links", MATMUL ARCH("instances: 6, meshX: 3", LEVEL("RF", ", entries: 512") DRAM)
      MAPPING(LOOPS("RF", "spatial", "M2 K2", "MK", ", split: 1") LOOPS("RF", "temporal", "M4 N4 K3", "MNK", "")),
      DFL_FOREIGN_LOST, 6, 8,
      "`B` comes from a neighbour to some multipliers: in the result all read it", { "energy = 1pJ/MAC;\n        }" } },
    { "too many for links", PROBLEM("M", SPACE("A", "[[[M]]]", "") SPACE("Z", "[]",
      ", read_write: true")) "  M: 131072\n"
      ARCH("instances: 131072", LEVEL("RF", ", entries: 131072") DRAM) MAPPING(LOOPS("RF", "spatial", "M131072", "M",
      "")), DFL_FOREIGN_LOST, 5, 8,
      "`A` may come from neighbours: in the result all multipliers read it", { "spatial M:1 on x_RF;" } },
    { "bounding boxes anew",
      PROBLEM("P, R", SPACE("W", "[[[R]]]", "") SPACE("I", "[[[P, 2], [R, 3]]]", "") SPACE("O", "[[[P]]]",
      ", read_write: true"))
      "  P: 8\n  R: 3\n" TWO MAPPING(LOOPS("RF", "temporal", "P4 R3", "PR", ", no_temporal_reuse: [I]")
                                    LOOPS("Main", "temporal", "P2", "P", "")),
      DFL_FOREIGN_LOST, 6, 8, "`RF` fetches bounding boxes of `I` anew: the result fetches only what is touched",
      { "keep I in RF fresh;" } },
    { "keys without effect", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 64, min_utilization: 1") DRAM),
      DFL_FOREIGN_IGNORED, 14, 29,
      "`min_utilization` of `RF` has no effect", { "memory RF" } },
    { "a metric without effect", MATMUL TWO "mapper: {optimization_metrics: [last-level-accesses]}\n",
      DFL_FOREIGN_IGNORED, 16, 33,
      "the metric `last-level-accesses` has no effect", { "minimize energy * latency;" } },
    /* mistakes in a problem */
    BAD("a list", "- 1\n", SYNTAX, 1, 3, "a run must be a map with `problem`, `arch` and `mapping`"),
    BAD("no problem", TWO, SYNTAX, 1, 1, "the run has no `problem`"),
    BAD("no architecture", MATMUL, SYNTAX, 1, 1, "the run has no `arch`"),
    BAD("a mapping that is no list", MATMUL TWO "mapping: {a: 1}\n", SYNTAX, 16, 11, "`mapping` must be a list"),
    { "sparse tensors", MATMUL TWO "sparse_optimizations: {targets: [{name: RF}]}\n", DFL_FOREIGN_LOST, 16, 1,
      "`sparse_optimizations` has no effect: the result moves and multiplies zeros, too", { "...;" } },
    { "densities", PROBLEM("M", SPACE("A", "[[[M]]]", "") SPACE("Z", "[[[M]]]", ", read_write: true"))
      "  instance: {M: 4, densities: {A: 0.5}}\n" TWO, DFL_FOREIGN_LOST, 7, 20,
      "`densities` has no effect: the result moves and multiplies zeros, too", { "...;" } },
    { "no sparse tensors", MATMUL TWO "sparse_optimizations: {version: 0.4, targets: []}\n", 0, 0, 0, NULL, { "...;" } },
    { "a metric alone", MATMUL TWO "mapper: {optimization_metrics: energy}\n", 0, 0, 0, NULL, { "minimize energy;" } },
    BAD("a map of metrics", MATMUL TWO "mapper: {optimization_metrics: {a: 1}}\n", SYNTAX, 16, 33,
        "`optimization_metrics` must be a list"),
    BAD("a shape by name", "problem: {shape: cnn-layer, C: 3}\n" TWO, UNSUPPORTED, 1, 18,
        "Timeloop reads the shape `cnn-layer` from its own files: copy its map `shape` to this place"),
    BAD("a tree without components", "architecture: {version: 0.4, subtree: []}\n" MATMUL, SYNTAX, 1, 30,
        "expected a list of `subtree`"),
    BAD("subtrees side by side", "architecture:\n  subtree:\n  - {name: a, local: []}\n  - {name: b}\n" MATMUL, UNSUPPORTED, 4, 6,
        "subtrees side by side cannot be expressed: a level would have two ways to the multipliers"),
    BAD("a constraint that is not known", MATMUL TWO "mapspace: {constraints: [{target: RF, type: luck}]}\n", UNSUPPORTED, 16, 45,
        "a directive must be `temporal`, `spatial`, `bypass`, `datatype` or `dataspace`"),
    BAD("no shape", "problem: {M: 4}\n" TWO, SYNTAX, 1, 11, "a problem needs a map `shape`"),
    BAD("no dimensions", "problem: {shape: {data_spaces: []}}\n" TWO, SYNTAX, 1, 19,
        "expected a list of `dimensions`"),
    BAD("a long name", PROBLEM("M, Nx", MATMUL_SPACES) "  M: 4\n" TWO, UNSUPPORTED, 3, 21,
        "the name of a dimension must be one letter, as in factors and orders"),
    BAD("a dimension twice", PROBLEM("M, M", MATMUL_SPACES) "  M: 4\n" TWO, SYNTAX, 3, 21,
        "two dimensions have the same name"),
    BAD("a dimension without a size", PROBLEM("M", MATMUL_SPACES) TWO, SYNTAX, 3, 18,
        "the problem gives no size for `M`"),
    BAD("a size that is no number", PROBLEM("M", MATMUL_SPACES) "  M: all\n" TWO, UNKNOWN_NAME, 8, 6,
        "`all` is no number, and no attribute or variable has this name"),
    BAD("an empty dimension", PROBLEM("M", MATMUL_SPACES) "  M: 0\n" TWO, RANGE, 8, 6,
        "expected an integer from 1 to 2^40"),
    BAD("an endless dimension", PROBLEM("M", MATMUL_SPACES) "  M: 1e40\n" TWO, RANGE, 8, 6,
        "the number is not from 0 to 1e30"),
    BAD("next to nothing", PROBLEM("M", MATMUL_SPACES) "  M: 1e-40\n" TWO, RANGE, 8, 6, "the number is between 0 and 1e-30"),
    BAD("an unknown dimension", PROBLEM("M", SPACE("A", "[[[Q]]]", "")) "  M: 4\n" TWO, UNKNOWN_NAME, 5, 32,
        "the shape has no dimension `Q`"),
    BAD("an unknown coefficient", PROBLEM("M", SPACE("A", "[[[M, s]]]", "")) "  M: 4\n" TWO, UNKNOWN_NAME, 5, 35,
        "the problem gives no value for `s`"),
    BAD("a broken coefficient", PROBLEM("M", SPACE("A", "[[[M, s]]]", "")) "  M: 4\n  s: 1.5\n" TWO, SYNTAX, 7, 6,
        "a coefficient must be a whole number"),
    BAD("a large coefficient", PROBLEM("M", SPACE("A", "[[[M, -1048577]]]", "")) "  M: 4\n" TWO, RANGE, 5, 35,
        "the coefficient is beyond 2^20"),
    BAD("a long rank", PROBLEM("M", SPACE("A", "[[[M, 1048576], [M, 1048576]]]", "")) "  M: 1099511627776\n" TWO,
        RANGE, 5, 32,
        "the rank is longer than 2^60"),
    BAD("more ranks than anybody writes", PROBLEM("M", SPACE("A", "[" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "[]]", ""))
        "  M: 4\n" TWO, UNSUPPORTED, 5, 17, "this list has more than 64 ranks"),
    BAD("more terms", PROBLEM("M", SPACE("A", "[[" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "[M]]]", "")) "  M: 4\n" TWO,
        UNSUPPORTED, 5, 17, "this list has more than 64 terms"),
    BAD("a rank that is no list", PROBLEM("M", SPACE("A", "[M]", "")) "  M: 4\n" TWO, SYNTAX, 5, 30,
        "a rank must be a list of terms"),
    BAD("a term that is no list", PROBLEM("M", SPACE("A", "[[M]]", "")) "  M: 4\n" TWO, SYNTAX, 5, 31,
        "a term must be `[dimension]` or `[dimension, coefficient]`"),
    BAD("a space that is no map", PROBLEM("M", "    - A\n") "  M: 4\n" TWO, SYNTAX, 5, 7, "a data space must be a map"),
    BAD("a space without a name", PROBLEM("M", "    - {projection: []}\n") "  M: 4\n" TWO, SYNTAX, 5, 8,
        "the name of a data space is missing"),
    BAD("a space twice", PROBLEM("M", SPACE("A", "[]", "") SPACE("A", "[]", "")) "  M: 4\n" TWO, SYNTAX, 6, 8,
        "two data spaces have the same name"),
    BAD("no result", PROBLEM("M", SPACE("A", "[[[M]]]", "") SPACE("B", "[]", "")) "  M: 4\n" TWO, UNSUPPORTED, 5, 8,
        "a problem needs operands and exactly one result (`read_write: true`)"),
    BAD("a dimension of the result alone", PROBLEM("M, N", SPACE("A", "[[[M]]]", "") SPACE("Z", "[[[N]]]",
        ", read_write: true"))
        "  M: 4\n  N: 1\n" TWO, UNSUPPORTED, 3, 21, "`N` indexes no operand"),
    /* mistakes in an architecture */
    BAD("no storage", MATMUL "arch: {arithmetic: {instances: 1}}\n", SYNTAX, 11, 8,
        "an architecture needs a map `arithmetic` and a list of levels `storage`"),
    BAD("a level that is no map", MATMUL ARCH("instances: 1", "  - RF\n"), SYNTAX, 14, 5, "a level must be a map"),
    BAD("a level twice", MATMUL ARCH("instances: 1", DRAM DRAM), SYNTAX, 15, 6, "two levels have the same name"),
    BAD("no mesh", MATMUL ARCH("instances: 6, meshX: 4", DRAM), RANGE, 12, 16, "6 instances do not form a mesh of this size"),
    BAD("an uneven mesh", MATMUL ARCH("instances: 6", LEVEL("RF", ", entries: 4, instances: 4") DRAM), RANGE, 14, 6,
        "the contents of `RF` cannot be divided evenly among its instances"),
    BAD("too many side by side", MATMUL ARCH("instances: 4294967296", DRAM), RANGE, 14, 6,
        "the level has more than 2^31 - 1 instances side by side"),
    BAD("several outermost", MATMUL ARCH("instances: 2", LEVEL("Main", ", technology: DRAM, instances: 2")),
        UNSUPPORTED, 14, 6,
        "the outermost level cannot have several instances"),
    BAD("wide words", MATMUL ARCH("word_bits: 5000", DRAM), RANGE, 12, 27, "the words have more than 4096 bits"),
    BAD("a width between words", MATMUL ARCH("instances: 1", LEVEL("RF", ", depth: 4, width: 24") DRAM), RANGE, 14, 33,
        "the width is not a multiple of the word size"),
    BAD("a huge memory", MATMUL ARCH("instances: 1", LEVEL("RF", ", sizeKB: 1e20") DRAM), RANGE, 14, 24,
        "the memory has more than 2^50 words"),
    BAD("half a buffer", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 4, multiple_buffering: 0.5") DRAM),
        RANGE, 14, 48,
        "the number of buffers is not from 1 to 2^31 - 1"),
    BAD("no bandwidth", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 4, read_bandwidth: 0") DRAM), RANGE, 14, 44,
        "the bandwidth is zero"),
    BAD("another technology", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 4, technology: RRAM") DRAM),
        UNSUPPORTED, 14, 40,
        "a technology must be `SRAM` or `DRAM`"),
    BAD("another network", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 4, network_type: ring") DRAM),
        UNSUPPORTED, 14, 42,
        "a network must be `1:1`, `1:N` or `M:N`"),
    /* mistakes in a mapping */
    BAD("an unknown level", CASE(LOOPS("L9", "temporal", "M8", "M", "")), UNKNOWN_NAME, 17, 12,
        "the architecture has no level `L9`"),
    BAD("no level", CASE("- {type: temporal, factors: M8}\n"), SYNTAX, 17, 4, "`target`, the name of a level, is missing"),
    BAD("too many instances", MATMUL ARRAY_OF("") MAPPING(LOOPS("GLB", "spatial", "M8", "M", "")), RANGE, 18, 41,
        "these factors need 8 instances below `GLB` along X, where it has 4"),
    BAD("too many rows", MATMUL ARRAY_OF("") MAPPING(LOOPS("GLB", "spatial", "M8", "M", ", split: 0")), RANGE, 18, 41,
        "these factors need 8 instances below `GLB` along Y, where it has 2"),
    BAD("an unknown directive", CASE(LOOPS("RF", "utilize", "M8", "M", "")), UNSUPPORTED, 17, 22,
        "a directive must be `temporal`, `spatial`, `bypass`, `datatype` or `dataspace`"),
    BAD("a directive twice", CASE(ALL_INSIDE ALL_INSIDE), SYNTAX, 18, 4, "`RF` has two directives of this kind"),
    BAD("factors as a list", CASE(LOOPS("RF", "temporal", "[[M8]]", "M", "")), UNSUPPORTED, 17, 43,
        "factors must be a text such as `K4 M2`"),
    BAD("an unknown factor", CASE(LOOPS("RF", "temporal", "M8 Q2", "M", "")), UNKNOWN_NAME, 17, 44,
        "the shape has no dimension `Q`"),
    BAD("a factor without a number", CASE(LOOPS("RF", "temporal", "M", "M", "")), SYNTAX, 17, 42,
        "a factor must be a letter and a number"),
    BAD("a comma without a number", CASE(LOOPS("RF", "temporal", "'M8,'", "M", "")), SYNTAX, 17, 45,
        "a number is missing after the comma"),
    BAD("a factor to find out", CASE(LOOPS("RF", "temporal", "M0", "M", "")), UNSUPPORTED, 17, 41,
        "the source must find this factor: write its number"),
    BAD("a last factor beyond", CASE(LOOPS("RF", "temporal", "'M3,4'", "M", "")), RANGE, 17, 42,
        "a last factor must be from 1 to the factor, which is at most 2^40"),
    BAD("an unknown place", CASE(LOOPS("RF", "temporal", "M8", "MQ", "")), UNKNOWN_NAME, 17, 59,
        "the shape has no dimension `Q`"),
    BAD("a place twice", CASE(LOOPS("RF", "temporal", "M8", "MM", "")), SYNTAX, 17, 59,
        "a dimension stands twice in the order"),
    BAD("no place", CASE(LOOPS("RF", "temporal", "M8 K6", "M", "")), SYNTAX, 17, 61, "the order leaves out `K`"),
    BAD("a dimension that is not finished", CASE(LOOPS("RF", "temporal", "M8 N4 K5", "KNM", "")), RANGE, 3, 24,
        "the factors of `K` multiply to 5, but its size is 6"),
    BAD("too many iterations", CASE(LOOPS("RF", "temporal", "M8 N4 K1099511627776", "KNM", "") LOOPS("Main",
        "temporal", "K2", "K", "")),
        RANGE, 3, 24, "there are more than 2^40 iterations over `K`"),
    BAD("an unknown tensor", CASE(ALL_INSIDE "- {target: RF, type: bypass, bypass: [Q]}\n"), UNKNOWN_NAME, 18, 39,
        "the shape has no data space `Q`"),
    BAD("a tensor that is no list", CASE(ALL_INSIDE "- {target: RF, type: bypass, bypass: {A: 1}}\n"), SYNTAX, 18, 39,
        "expected a list of data spaces"),
    BAD("kept and bypassed", CASE(ALL_INSIDE "- {target: RF, type: bypass, keep: [A], bypass: [A]}\n"), SYNTAX, 18, 37,
        "this data space is both kept and bypassed"),
    BAD("kept nowhere",
        CASE(ALL_INSIDE "- {target: RF, type: bypass, bypass: [B]}\n- {target: Main, type: bypass, bypass: [B]}\n"),
        SYNTAX, 6, 8, "`B` is kept nowhere"),
    BAD("kept on wires", MATMUL ARCH("instances: 1", LEVEL("RF", ", entries: 0") DRAM) MAPPING(ALL_INSIDE),
        UNSUPPORTED, 14, 6,
        "`RF` has no entries, but keeps a data space"),
    BAD("a constraint of an unknown level", MATMUL TWO "mapspace: {constraints: [{target: L9, type: bypass}]}\n",
        UNKNOWN_NAME,
        16, 35, "the architecture has no level `L9`"),
};

static char *import_one(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const dfl_source *source)
{
    return dfl_import_timeloop(arena, sink, sources, &source, 1);
}

static void imports(void **state)
{
    const import_case *c = *state;
    const imported want = { c->code, c->line, c->column, c->message, c->parts, sizeof c->parts / sizeof *c->parts };

    check_imported(c->text, import_one, &want);
}

int main(void)
{
    return CHECK_TABLE("import.timeloop", cases, imports);
}
