# Writes problems of the search for plans over chips: for problem N the file DIR/N.dfl with open amounts, and DIR/N.all.dfl
# with every combination of amounts as a plan of its own. Variables: dir, problems, seed.

function draw(n) { return int(rand() * n) + 1 }
function pick(list, n,   at) { n = split(list, at, " "); return at[draw(n)] }

# The lines on gpu: `kind` 1 divides two ranks of each einsum, `kind` 2 one rank of each, which share a group if equal.
function inside(n, c) {
    if (kind == 1)
        return "    spatial n/" n " on gpu;\n    spatial b/" c " on gpu;\n"
    return "    spatial n/" n " on gpu for H;\n    spatial m/" c " on gpu for Y;\n"
}
function is_full(n, c) { return kind == 2 && n == c ? n == gpus : n * c == gpus }

# The lines of a plan; amounts may be "?".
function plan(name, b, l, t, n, c) {
    return "mapping " name " for step on pod {\n" \
           "    spatial b/" b " on node;\n" \
           "    spatial layer/" l " on node pipeline(schedule = " schedule ");\n" \
           "    temporal b" (parts ? "/" : ":") t ";\n    temporal layer;\n" \
           inside(n, c) recompute \
           "    keep weights, gradients, activations, moments in hbm;\n" \
           "    ...;\n    minimize latency;\n}\n"
}

# Writes every combination of amounts with work for all chips.
function list_plans(all,   b, l, t, n, c) {
    for (b = 1; b <= nodes && b <= batch; b++)
        for (l = 1; l <= nodes && l * (schedule ~ /interleave/ ? 2 : 1) <= layers; l++)
            for (t = 1; b * l == nodes && t <= batch; t++)
                for (n = 1; batch % t == 0 && n <= gpus; n++)
                    for (c = 1; c <= gpus && c <= (kind == 1 ? batch : m); c++)
                        if (gpus % n == 0 && gpus % c == 0 && is_full(n, c))
                            print plan("p_" b "_" l "_" t "_" n "_" c, b, l, t, n, c) > all
}

BEGIN {
    srand(seed)
    for (i = 1; i <= problems; i++) {
        nodes = pick("1 2 3 4 6 8 12"); gpus = pick("1 2 4"); layers = pick("2 3 4 6 12"); batch = pick("2 4 6 8 12 24")
        m = pick("4 8"); kind = pick("1 2"); parts = pick("0 1")
        trained = pick("layers train(layers,optimizer=adam(fp32)) train(layers,optimizer=sgd(fp32))")
        schedule = pick(trained == "layers" ? "gpipe one_f_one_b joined" : "gpipe one_f_one_b zero_bubble one_f_one_b,interleave=2 joined")
        recompute = trained == "layers" || pick("0 1") == 0 ? "" : "    recompute H;\n"
        head = "dfl 1;\n" \
               "system chip {\n    memory hbm { size = " pick("2 4 8 16 64") "kB; bandwidth = " pick("1 4 20") "GB/s; }\n" \
               "    compute unit { rate = " pick("1 10 50") "GFLOPS; launch = " pick("0 5 200") "ns; }\n}\n" \
               "system pod {\n    network ib = " pick("switch ring fully_connected") " { bandwidth = " pick("1 2 9") \
               "GB/s; latency = " pick("0 10 300") "ns; }\n    array node[" nodes "] over ib {\n" \
               "        network nv = switch { bandwidth = " pick("4 30") "GB/s; latency = 5ns; }\n" \
               "        array gpu[" gpus "] over nv { use chip; }\n    }\n}\n" \
               "workload layers(B = " batch ", M = " m ") : bf16 {\n    rank b = B, m = M, n = 16;\n    input A[b, m];\n" \
               "    repeat " layers " as layer carrying A = Y {\n        weight W[m, n], V[n, m];\n" \
               "        H[b, n] += A[b, m] * W[m, n];\n        Y[b, m] += H[b, n] * V[n, m];\n    }\n" \
               "    output Z[b, m] = layer.Y[b, m] * 2;\n}\n" \
               "workload step = " trained ";\n"
        print head plan("best", "?", "?", "?", "?", "?") > (dir "/" i ".dfl")
        all = dir "/" i ".all.dfl"
        print head > all
        list_plans(all)
        close(all)
    }
}
