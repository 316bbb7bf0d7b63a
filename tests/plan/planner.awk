# Writes problems of the search for plans over chips: for problem N the file DIR/N.dfl with open amounts, and DIR/N.all.dfl
# with every combination of amounts as a plan of its own. Variables: dir, problems, seed.

function draw(n) { return int(rand() * n) + 1 }
function pick(list, n,   at) { n = split(list, at, " "); return at[draw(n)] }

# The lines of a plan; amounts may be "?".
function plan(name, b, l, t, n) {
    return "mapping " name " for step on pod {\n" \
           "    spatial b/" b " on node;\n" \
           "    spatial layer/" l " on node pipeline(schedule = " schedule ");\n" \
           "    temporal b:" t ";\n    temporal layer;\n" \
           "    spatial n/" n " on gpu;\n" \
           "    keep weights, gradients, activations, moments in hbm;\n" \
           "    ...;\n    minimize latency;\n}\n"
}

BEGIN {
    srand(seed)
    for (i = 1; i <= problems; i++) {
        nodes = pick("1 2 3 4 6 8 12"); gpus = pick("1 2 4"); layers = pick("2 3 4 6 12"); batch = pick("2 4 6 8 12 24")
        schedule = pick("gpipe one_f_one_b")
        head = "dfl 1;\n" \
               "system chip {\n    memory hbm { size = " pick("4 8 16 64") "kB; bandwidth = " pick("1 4 20") "GB/s; }\n" \
               "    compute unit { rate = " pick("1 10 50") "GFLOPS; launch = " pick("0 5 200") "ns; }\n}\n" \
               "system pod {\n    network ib = " pick("switch ring fully_connected") " { bandwidth = " pick("1 2 9") \
               "GB/s; latency = " pick("0 10 300") "ns; }\n    array node[" nodes "] over ib {\n" \
               "        network nv = switch { bandwidth = " pick("4 30") "GB/s; latency = 5ns; }\n" \
               "        array gpu[" gpus "] over nv { use chip; }\n    }\n}\n" \
               "workload layers(B = " batch ", M = " pick("4 8") ") : bf16 {\n    rank b = B, m = M, n = 16;\n    input A[b, m];\n" \
               "    repeat " layers " as layer carrying A = Y {\n        weight W[m, n], V[n, m];\n" \
               "        H[b, n] += A[b, m] * W[m, n];\n        Y[b, m] += H[b, n] * V[n, m];\n    }\n" \
               "    output Z[b, m] = layer.Y[b, m] * 2;\n}\n" \
               "workload step = " pick("layers train(layers,optimizer=adam(fp32)) train(layers,optimizer=sgd(fp32))") ";\n"
        print head plan("best", "?", "?", "?", "?") > (dir "/" i ".dfl")
        all = dir "/" i ".all.dfl"
        print head > all
        for (b = 1; b <= nodes && b <= batch; b++)
            for (l = 1; l <= nodes && l <= layers; l++)
                if (b * l == nodes)
                    for (t = 1; t <= batch; t++)
                        if (batch % t == 0)
                            print plan("p_" b "_" l "_" t, b, l, t, gpus) > all
        close(all)
    }
}
