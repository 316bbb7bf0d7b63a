# Writes mappings for the rows of llm_dataflow_mapping.csv, llm_sram_dram.csv, hpl.csv, fft.csv and llm_serving.csv behind the workload
# `gpt_forward`, the forward part of the layers of examples/dfmodel_study.dfl. To `rows`: "name equations log bar", where `bar` is `near`
# (within 2 % of the equations, else of the log), `below` (a search that must not be above) or `shown`.
BEGIN {
    FS = ","
    # `sum_rate`: one direction, or twice as much where the peer counts both
    print "system rdu(dram, room, tensor, data, sum_rate) {\n" \
          "    network copies = ring { bandwidth = sum_rate; port = tensor; }\n    array data[data] over copies {\n" \
          "        network tensors = ring { bandwidth = sum_rate; algorithm = ring; }\n        array tensor[tensor] over tensors {\n" \
          "            memory dram { size = unlimited; bandwidth = dram; }\n            memory uncharged { size = unlimited; }\n" \
          "            memory sram { size = room; }\n            compute unit {\n" \
          "                rate { mac { bf16 = 153.6TMAC/s; } bf16 = 153.6TFLOP/s; }\n                units = 640; lanes = 32; rows = 6;\n" \
          "            }\n        }\n    }\n}"
    lines = "    spatial b/data on data;\n    temporal b:1;\n    temporal layer;\n    spatial h/tensor, f/tensor on tensor;\n" \
            "    keep weights, first, X, Y, O, U in uncharged;\n"
    print "mapping by_kernel(tensor, data) for gpt_forward on rdu {\n" lines \
          "    R0, R0_R1 { }\n    N1, N1_K, N1_V { }\n    O, O_O1 { }\n    R1, R1_Y { }\n    U, U_U1 { }\n    ...;\n" \
          "    option overlap = perfect;\n}"
    # a kernel of a group takes whole units of 32 lanes (features) and 6 rows (tokens), and the group streams in pieces
    # the groups of the vendor: Q, K, V; attention and projection; the two products of the feed-forward part. Kernels that it leaves
    # open stand where they are best
    print "mapping vendor(tensor, data, pieces) for gpt_forward on rdu {\n" lines \
          "    fuse {\n        X { }\n        R0, R0_R1, N1, N1_K, N1_V, Q, K, V { }\n        S, P, A, Z, O, O_O1, O1, R1, R1_Y, N2 { }\n" \
          "        F, G { }\n        U, U_U1, U1, Y { }\n    }\n    option overlap = perfect;\n    option chunks = 1;\n    option pieces = pieces;\n}"
    # the groups with the times that its log states for them
    print "mapping published(tensor, data, pieces) for gpt_forward on rdu {\n" lines \
          "    fuse {\n        X { }\n        R0, R0_R1, N1, N1_K, N1_V, Q, K { }\n        V, S, P, A, Z, O, O_O1 { }\n" \
          "        O1, R1, R1_Y, N2, F, G { }\n        U, U_U1, U1, Y { }\n    }\n    option overlap = perfect;\n" \
          "    option chunks = 1;\n    option pieces = pieces;\n}"
    # as many pieces as the published groups need; whether those that are found need more is not checked
    print "mapping searched(tensor, data, most) for gpt_forward on rdu {\n" lines \
          "    fuse {\n        X { }\n        R0, R0_R1, N1, N1_K, N1_V, Q, K, V, S, P, A, Z, O, O_O1, O1, R1, R1_Y, N2, F, G, U, U_U1, U1, Y { ...; }\n" \
          "    }\n    option overlap = perfect;\n    option groups = most;\n    option pieces = 32;\n}"
}
{ sub(/\r$/, "") }
FNR == 1 {
    delete column
    for (i = 1; i <= NF; i++) column[$i] = i
    table = "case" in column && "pass_" in column ? "mapping" : "sram" in column ? "sram" : "B" in column ? "hpl" : \
            "length" in column ? "fft" : "serving"
    row = 0
    if (table == "serving") write_serving()
    next
}
{ row++ }
function add(name, equations, log_seconds, bar)
{
    print name, (equations == "" ? "-" : equations), (log_seconds == "" ? "-" : log_seconds), bar >rows
}
# The least power of 2 pieces with which two copies of what passes into, out of and inside of a group fit the room beside its weights
function fit(passes, inside, weights, room,    n)
{
    for (n = 1; 2 * (passes + inside) / n + weights > room; n *= 2)
        ;
    return n
}
function larger(a, b) { return a > b ? a : b }
# The pieces of the groups of a template: h features, T parts; D and A are the bytes of a tensor of tokens and features, and of the part
# of one of tokens by tokens
function pieces_of(template, room, T,    h, D, A, w, n)
{
    h = $column["hidden"]; D = 2 * $column["seq"] * h; A = 2 * $column["heads"] / T * $column["seq"] * $column["seq"]; w = 2 * h * h / T
    if (template == "vendor") {
        n = larger(fit(D + 3 * D / T, 4 * D, 3 * w, room), fit(3 * D + 3 * D / T, 3 * A + 3 * D + D / T, w, room))
        return larger(n, larger(fit(D + 4 * D / T, 4 * D / T, 4 * w, room), fit(D + 4 * D / T, 2 * D, 4 * w, room)))
    }
    n = larger(fit(2 * D + 2 * D / T, 3 * D, 2 * w, room), fit(2 * D + 2 * D / T, 3 * A + 2 * D / T, 2 * w, room))
    return larger(n, larger(fit(3 * D + 4 * D / T, 3 * D + 4 * D / T, 4 * w, room), fit(D + 4 * D / T, 2 * D, 4 * w, room)))
}
function map_rdu(name, template, dram, room, tensor, data, sum_rate, most)
{
    if (template == "vendor" || template == "published") data = data ", pieces = " pieces_of(template, room, tensor)
    printf "mapping %s = %s(tensor = %d, data = %s%s) for gpt_forward\n" \
           "    on rdu(dram = %sGB/s, room = %sB, tensor = %d, data = %d, sum_rate = %gGB/s);\n",
           name, template, tensor, data, (most > 0 ? ", most = " most : ""), dram, room, tensor, data, sum_rate
}
table == "mapping" {
    template = index($column["case"], "kbk") ? "by_kernel" : index($column["case"], "existing") ? "vendor" : "searched"
    # the logs of 52c34a8 count both directions
    rate = $column["link_gbps"] * ($column["log_version"] == "52c34a8" ? 2 : 1)
    map_rdu("mapping_" row "_" template, template, $column["dram_gbps"], $column["sram_bytes"], $column["TP"], $column["DP"], rate,
            template == "searched" ? $column["num_config"] : 0)
    add("mapping_" row "_" template, "", $column["step_s"], template == "searched" ? "below" : "near")
    if (template == "searched") {
        map_rdu("mapping_" row "_published", "published", $column["dram_gbps"], $column["sram_bytes"], $column["TP"], $column["DP"], rate, 0)
        add("mapping_" row "_published", "", $column["step_s"], "near")
    }
}
table == "sram" {
    template = $column["style"] == "DATAFLOW" ? "searched" : "by_kernel"
    name = "sram_" row "_" template
    map_rdu(name, template, $column["dram_gbps"], $column["sram_bytes"], 4, 2, 100, template == "searched" ? $column["num_config"] : 0)
    add(name, $column["oracle_s"], $column["log_s"], template == "searched" ? "below" : "near")
}
table == "hpl" {
    side = $column["N"]; block = $column["B"]; split($column["grid"], grid, "x"); steps = side / block
    printf "workload hpl_%d : fp64 {\n    rank c = %d;\n", row, block
    over_x = over_y = ""
    for (i = 0; i < steps; i++) {
        left = side - i * block
        printf "    rank m%d = %d, n%d = %d;\n    input L%d[m%d, c], U%d[c, n%d];\n    C%d[m%d, n%d] += L%d[m%d, c] * U%d[c, n%d];\n",
               i, left, i, left, i, i, i, i, i, i, i, i, i, i, i
        over_x = over_x (i ? ", " : "") "m" i "/" grid[1]
        over_y = over_y (i ? ", " : "") "n" i "/" grid[2]
    }
    printf "}\nsystem grid_%d {\n    network rows = switch { bandwidth = %sGB/s; port = y; }\n    array x[%d] over rows {\n" \
           "        network columns = switch { bandwidth = %sGB/s; }\n        array y[%d] over columns {\n" \
           "            memory hbm { size = unlimited; bandwidth = %sGB/s; }\n            compute unit { rate = %sGFLOP/s; }\n" \
           "        }\n    }\n}\n", row, $column["link_gbps"], grid[1], $column["link_gbps"], grid[2], $column["dram_gbps"],
           $column["peak_gflops_per_chip"]
    # each column of processes has its part of the panel, and all need the whole one: the same on rows
    printf "mapping hpl_%d_run for hpl_%d on grid_%d {\n    spatial %s on x;\n    spatial %s on y;\n", row, row, row, over_x, over_y
    for (i = 0; i < steps; i++)
        printf "    keep L%d in hbm split c/%d on y;\n    keep U%d in hbm split c/%d on x;\n", i, grid[2], i, grid[1]
    print "    ...;\n    option overlap = perfect;\n}"
    add("hpl_" row "_run", $column["oracle_s"], $column["log_s"], "near")
}
# n: the side of the square that an FFT is cut into, from its operations 4 n^2 k with k = int(8 log2 n)
table == "fft" {
    flop = $column["flop"]; split($column["grid"], grid, "x"); split($column["link_gbps"], link, "/")
    for (k = 100; k < 200; k++) { n = sqrt(flop / 4 / k); if (int(8 * log(n) / log(2)) == k) break }
    share = index($0, "util .9") ? 0.9 : 1 # in a field with a comma
    # twice the rate: the peer counts each pair of chips once. It also counts pairs in one group of chips on the outer links
    printf "op pass_%d(x) = %dFLOP;\nworkload fft_%d : fp32 {\n    rank i = %d, j = %d;\n    input A[i, j];\n" \
           "    S1[i, j] = pass_%d(A[i, j]);\n    S2[i, j] = pass_%d(S1[i, j]);\n}\n", row, 2 * k, row, n, n, row, row
    printf "system box_%d {\n    network outer = switch { bandwidth = 2 * 12.5GB/s * %d / %d; algorithm = direct; }\n" \
           "    array node[%d] over outer {\n        network inner = switch { bandwidth = 2 * %sGB/s; algorithm = direct; }\n" \
           "        array gpu[%d] over inner {\n            memory hbm { size = unlimited; bandwidth = %sGB/s; }\n" \
           "            compute unit { rate = %s * %sGFLOP/s; }\n        }\n    }\n}\n", row, (grid[2] - 1) * grid[1],
           grid[1] * grid[2] - 1, grid[2], link[1], grid[1], $column["dram_gbps"], share, $column["peak_gflops_per_chip"]
    printf "mapping fft_%d_run for fft_%d on box_%d {\n    spatial i/%d on node for S1;\n    spatial j/%d on node for S2;\n" \
           "    spatial i/%d on gpu for S1;\n    spatial j/%d on gpu for S2;\n    ...;\n    option overlap = perfect;\n" \
           "    option chunks = 1;\n}\n", row, row, row, grid[2], grid[2], grid[1], grid[1]
    add("fft_" row "_run", "", $column["log_s"], "near")
}

# One pass through the layers of a model that serves requests: `tokens` at once, `window` of them read by each.
function write_serving()
{
    print "workload pass(tokens, window, width, heads, inner, layers) : bf16 {\n" \
          "    rank m = tokens, n = window, d = width, h = heads, e = width / heads, f = inner;\n    input first[m, d];\n" \
          "    X[m, d] = first[m, d];\n    repeat layers as layer carrying X = Y {\n" \
          "        weight WQ[d, h, e], WK[d, h, e], WV[d, h, e], WO[h, e, d], W1[d, f], W2[f, d], KC[h, n, e], VC[h, n, e];\n" \
          "        N1[m, d] = one(X[m, d]);\n        Q[h, m, e] += N1[m, d] * WQ[d, h, e];\n" \
          "        K[h, m, e] += N1[m, d] * WK[d, h, e];\n        V[h, m, e] += N1[m, d] * WV[d, h, e];\n" \
          "        S[h, m, n] += Q[h, m, e] * KC[h, n, e];\n        P[h, m, n] = one(S[h, m, n]);\n" \
          "        Z[h, m, e] += P[h, m, n] * VC[h, n, e];\n        O[m, d] += Z[h, m, e] * WO[h, e, d];\n" \
          "        R[m, d] = X[m, d] + O[m, d];\n        N2[m, d] = one(R[m, d]);\n        F[m, f] += N2[m, d] * W1[d, f];\n" \
          "        G[m, f] = one(F[m, f]);\n        U[m, d] += G[m, f] * W2[f, d];\n        Y[m, d] = R[m, d] + U[m, d];\n    }\n}"
    print "system servers(peak, dram, link, start, tensor) {\n" \
          "    network links = fully_connected { bandwidth = link; algorithm = direct; }\n    array tensor[tensor] over links {\n" \
          "        memory dram { size = unlimited; bandwidth = dram; }\n        memory uncharged { size = unlimited; }\n" \
          "        compute unit { rate = peak; launch = start; }\n    }\n}"
    # one token: weights and caches are read, and all kernels of a layer stream through one another without overlap of transfers
    print "mapping decode(tensor) for pass on servers {\n    temporal layer;\n    spatial h/tensor, f/tensor on tensor;\n" \
          "    keep first, X, O, U in uncharged;\n    fuse { X { } N1, Q, K, V, S, P, Z, O, R, N2, F, G, U, Y { } }\n    option chunks = 1;\n}"
    # a prompt: kernel by kernel, weights and caches not read
    print "mapping prefill(tensor) for pass on servers {\n    temporal layer;\n    spatial h/tensor, f/tensor on tensor;\n" \
          "    keep weights, first, X, O, U in uncharged;\n    ...;\n    option overlap = perfect;\n}"
}
table == "serving" {
    name = "serving_" row
    if (row == 1)
        # a grid of multipliers takes a row of 4,096 products one after another: 4,096 cycles at 1.6 GHz until a layer starts
        printf "mapping %s = decode(tensor = 16)\n    for pass(tokens = 1, window = 4097, width = 4096, heads = 32, inner = 14336, layers = 32)\n" \
               "    on servers(peak = 638.976TFLOP/s, dram = 1310.72GB/s, link = 10GB/s, start = 2.56us, tensor = 16);\n", name
    else if (row == 2)
        printf "mapping %s = prefill(tensor = 8)\n    for pass(tokens = 4096, window = 4096, width = 8192, heads = 64, inner = 28672, layers = 80)\n" \
               "    on servers(peak = 993.214464TFLOP/s, dram = 2039GB/s, link = 900GB/s, start = 0us, tensor = 8);\n", name
    else
        # operations of 2.28787e15 and a window of 4,096 make 17,745 tokens: one after another
        printf "mapping %s = decode(tensor = 16)\n    for pass(tokens = 1, window = 4097, width = 8192, heads = 64, inner = 28672, layers = 80 * 17745)\n" \
               "    on servers(peak = 638.976TFLOP/s, dram = 1638.4GB/s, link = 50GB/s, start = 5.12us, tensor = 16);\n", name
    log_at = NF - (row == 3 ? 4 : 3) # names and units have commas
    add(name, "", $log_at, (row == 1 ? "near" : "shown"))
}
