# Writes problems of the search for plans over chips: for problem N the file DIR/N.dfl with open amounts, and DIR/N.all.dfl with
# every combination of amounts as a plan of its own. With `wide`, the schedule, the interleave, the recomputed tensors, the parts
# of the optimizer's state and the memories that hold tensors are open, too. Variables: dir, problems, seed, wide; goal = "pareto
# latency, energy", for systems that declare energy. Every fourth problem lists micro-batches of any size: for --tiles imperfect.

function draw(n) { return int(rand() * n) + 1 }
function pick(list, n,   at) { n = split(list, at, " "); return at[draw(n)] }
function min(a, b) { return a < b ? a : b }

# The lines on gpu: `kind` 1 divides two ranks of each einsum, `kind` 2 one rank of each, which share a group if equal; with
# `kind` 3, H and Y may have different numbers of micro-batches, which are not evaluated (E0609); with `kind` 4 the ranks that H and
# Y divide are open, too.
function inside(n, c, first, second) {
    if (kind == 4)
        return "    spatial " first "/" n " on gpu for H;\n    spatial " second "/" c " on gpu for Y;\n"
    if (kind == 1)
        return "    spatial n/" n " on gpu;\n    spatial b/" c " on gpu;\n"
    return "    spatial " (kind == 2 ? "n" : "b") "/" n " on gpu for H;\n    spatial m/" c " on gpu for Y;\n"
}
function is_full(n, c) { return kind != 1 && n == c ? n == gpus : n * c == gpus }

# Whether all nodes have work: the parts of a home share the group of `b`, if equal.
function fills_nodes(b, l, p) { return p == 0 || p == b ? b * l == nodes : b * l * p == nodes }

# The lines of a plan; amounts may be "?"; p = 0: the state of the optimizer is not divided. `home`: the memories of weights,
# activations and moments, separated by commas.
function plan(name, b, l, t, n, c, schedule, again, p, first, second, home,   in_) {
    split(home, in_, ",")
    return "mapping " name " for step on pod {\n" \
           "    spatial b/" b " on node;\n" \
           "    spatial layer/" l " on node pipeline(" schedule ");\n" \
           "    temporal b" (parts ? "/" : ":") t ";\n    temporal layer;\n" \
           inside(n, c, first, second) (again == "" ? "" : "    recompute " again ";\n") \
           "    keep weights in " in_[1] ";\n    keep activations in " in_[2] ";\n" (trained == "layers" ? "" : "    keep gradients in hbm;\n") \
           (trained == "layers" ? "" : "    keep moments in " in_[3] (p == "0" ? "" : " split m/" p " on node") ";\n") \
           "    ...;\n    " (goal == "" || name != "best" ? "minimize latency" : goal) ";\n}\n"
}

# Writes the plans with these amounts, and each combination of the decisions.
function list_decisions(all, b, l, t, n, c, first, second,   s, r, p, h) {
    for (s = 1; s <= n_schedules; s++)
        for (r = 1; r <= n_agains; r++)
            for (p = open_split ? 1 : 0; p <= (open_split ? min(nodes, m) : 0); p++)
                for (h = 1; h <= n_homes; h++)
                    if ((p == 0 || nodes % p == 0) && fills_nodes(b, l, p) && l * chunks[s] <= layers)
                        print plan("p_" b "_" l "_" t "_" n "_" c "_" s "_" r "_" p "_" first second "_" h, b, l, t, n, c, schedules[s], agains[r], p, first, second, homes[h]) > all
}

# Writes every combination of amounts with work for all chips.
function list_plans(all,   b, l, t, n, c, i, j, n_ranks, rank) {
    n_ranks = split(kind == 4 ? ranks : "n", rank, ", ")
    for (b = 1; b <= nodes && b <= batch; b++)
        for (l = 1; l <= nodes && l <= layers; l++)
            for (t = 1; nodes % b == 0 && nodes % l == 0 && t <= batch; t++)
                for (n = 1; (any_size || batch % t == 0) && n <= gpus && n <= (kind == 3 ? batch : 16); n++)
                    for (c = 1; c <= gpus && c <= (kind == 1 ? batch : kind == 4 ? 16 : m); c++)
                        for (i = 1; i <= n_ranks; i++)
                            for (j = 1; j <= n_ranks; j++)
                                if (gpus % n == 0 && gpus % c == 0 && is_full(n, c))
                                    list_decisions(all, b, l, t, n, c, rank[i], rank[j])
}

# Draws the schedules; `schedule` is their open form.
function draw_schedules(   known, word, n, i, v) {
    split("", schedules); n_schedules = 0
    if (!wide) {
        schedules[n_schedules = 1] = schedule = "schedule = " pick(trained == "layers" ? "gpipe one_f_one_b joined" : "gpipe one_f_one_b zero_bubble one_f_one_b,interleave=2 joined")
        chunks[1] = schedule ~ /interleave/ ? 2 : 1
        return
    }
    known = pick("all gpipe,one_f_one_b gpipe,joined,zero_bubble one_f_one_b")
    most = pick("1 2 all")
    schedule = "schedule = " (known == "all" ? "?" : "? in {" known "}") ", interleave = " (most == "all" ? "?" : most == 2 ? "? in {1, 2}" : 1)
    n = split(known == "all" ? "gpipe,one_f_one_b,zero_bubble" : known, word, ",")
    for (i = 1; i <= n; i++)
        for (v = 1; v <= (most == "all" ? layers : most); v++)
            if (layers % v == 0 || most != "all") {
                schedules[++n_schedules] = "schedule = " word[i] ", interleave = " v
                chunks[n_schedules] = v
            }
}

# Draws the recomputed tensors; `again` is their open form. Y is carried to the next layer.
function draw_agains() {
    n_agains = 1; agains[1] = again = trained == "layers" || pick("0 1") == 0 ? "" : "H"
    if (!wide || trained == "layers")
        return
    again = pick("none|H ? none|H|forward ?~in~{H}"); gsub("~", " ", again); gsub(/\|/, " | ", again)
    n_agains = 2; agains[1] = "none"; agains[2] = "H"
    if (again ~ /forward/)
        agains[n_agains = 3] = "forward"
}

# Draws which of weights, activations and moments may lie outside of the chips; `home` is their open form.
function draw_homes(   open, i, n) {
    n_homes = 1; homes[1] = home = "hbm,hbm,hbm"
    open = wide && trained != "layers" ? pick("none none 1 2 3 1,2 1,3") : "none"
    if (open == "none" || (open ~ /3/ && trained ~ /sgd/))
        return
    n = split(open, at, ",")
    home = (open ~ /1/ ? "hbm | host" : "hbm") "," (open ~ /2/ ? "hbm | host" : "hbm") "," (open ~ /3/ ? "host | hbm" : "hbm")
    n_homes = 0
    for (i = 0; i < 2 ^ n; i++)
        homes[++n_homes] = (open ~ /1/ && i % 2 ? "host" : "hbm") "," (open ~ /2/ && int(i / (n > 1 ? 2 : 1)) % 2 ? "host" : "hbm") "," \
                           (open ~ /3/ && int(i / (n > 1 ? 2 : 1)) % 2 ? "host" : "hbm")
}

BEGIN {
    srand(seed)
    for (i = 1; i <= problems; i++) {
        nodes = pick(wide ? "2 4 6" : "1 2 3 4 6 8 12"); gpus = pick(wide ? "1 2" : "1 2 4"); layers = pick(wide ? "2 4" : "2 3 4 6 12"); batch = pick(wide ? "2 4 8" : "2 4 6 8 12 24")
        m = pick("4 8"); kind = pick(wide ? "1 2 3 4" : "1 2"); ranks = pick("n,m b,m,n"); gsub(",", ", ", ranks); parts = pick("0 1")
        any_size = i % 4 == 0
        trained = pick("layers train(layers,optimizer=adam(fp32)) train(layers,optimizer=sgd(fp32))")
        open_split = wide && trained ~ /adam/
        draw_schedules()
        draw_agains()
        draw_homes()
        head = "dfl 1;\n" \
               "system chip {\n    memory hbm { size = " pick("2 4 8 16 64") "kB; bandwidth = " pick("1 4 20") "GB/s; }\n" \
               "    compute unit { rate = " pick("1 10 50") "GFLOPS; launch = " pick("0 5 200") "ns; }\n}\n" \
               "system pod {\n    network ib = " pick("switch ring fully_connected") " { bandwidth = " pick("1 2 9") \
               "GB/s; latency = " pick("0 10 300") "ns; }\n    array node[" nodes "] over ib {\n" \
               (n_homes == 1 ? "" : "        memory host { size = " pick("16 1000") "kB; bandwidth = " pick("1 8") "GB/s; }\n") \
               "        network nv = switch { bandwidth = " pick("4 30") "GB/s; latency = 5ns; }\n" \
               "        array gpu[" gpus "] over nv { use chip; }\n    }\n}\n" \
               "workload layers(B = " batch ", M = " m ") : bf16 {\n    rank b = B, m = M, n = 16;\n    input A[b, m];\n" \
               "    repeat " layers " as layer carrying A = Y {\n        weight W[m, n], V[n, m];\n" \
               "        H[b, n] += A[b, m] * W[m, n];\n        Y[b, m] += H[b, n] * V[n, m];\n    }\n" \
               "    output Z[b, m] = layer.Y[b, m] * 2;\n}\n" \
               "workload step = " trained ";\n"
        if (goal != "") { # energy of memories, links and units
            gsub("bandwidth = ", "energy = " pick("1 5") "pJ/bit; bandwidth = ", head)
            gsub("rate = ", "energy = 2pJ/FLOP; leakage = " pick("0 20") "mW; rate = ", head)
        }
        any = ranks ~ /b/ ? "?" : "? in {" ranks "}"
        print head plan("best", "?", "?", "?", "?", "?", schedule, again, open_split ? "?" : "0", any, any, home) > (dir "/" i ".dfl")
        all = dir "/" i ".all.dfl"
        print head > all
        list_plans(all)
        close(all)
    }
}
