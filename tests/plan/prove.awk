# Writes files with random plans over chips: DIR/N.dfl has `plans` mappings of one workload. Variables: dir, files, plans, seed;
# kinds: the workloads to draw from, with a space between them (default: all); outside: percent of the files whose systems have a
# memory around the chips.

function draw(n) { return int(rand() * n) + 1 }
function pick(list, n,   at) { n = split(list, at, " "); return at[draw(n)] }
function chance(percent) { return rand() * 100 < percent }

# A workload `layers`; `ranks` lists ranks to divide, `inner` those of the layers, `names` the einsums, `made` what may be recomputed.
function workload(   text) {
    B = pick("4 6 8 5 7"); M = pick("3 4 5 8"); D = pick("2 4 6"); F = pick("4 6 8"); H = 4; L = pick("2 3 4 5"); V = pick("5 8")
    kind = pick(kinds != "" ? kinds : "mlp gated attention lookup chain chain masked masked cache steps grid grid conv conv bags experts experts head token before pieces")
    names = made = ""
    N = M
    if (kind == "masked") {
        always = trained ? where(0) : "" # gradients are sums of what several einsums make: alike in a training step
        ranks = "m n d"; names = "S T O Z"; made = "T"; tensors = "A K V S T O Z"
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", n = " (N = pick(M " 6")) ", d = " D ";\n  input A[b, m, d];\n  weight K[n, d], V[n, d];\n" \
               "  S[b, m, n] += A[b, m, d] * K[n, d] " (trained ? always : where(1)) ";\n  T[b, m, n] = S[b, m, n] * 3 " (trained ? always : where(0)) ";\n" \
               "  O[b, m, d] += T[b, m, n] * V[n, d] " (trained ? always : where(1)) ";\n  output Z[b, m, d] = O[b, m, d] + A[b, " pick("m m 1 2") ", d] " (chance(30) ? "where d >= 1" : "") ";\n}\n"
    }
    if (kind == "steps") { # an elimination: each step makes the rest smaller
        trained = 0
        ranks = "m n n m"; names = "layer.L layer.C layer.T layer.U"; tensors = "layer.L layer.T layer.U Z"
        N = pick(M " 6"); L = (M < N ? M : N) - 1
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", n = " N ";\n  input A[b, m, n];\n" \
               "  repeat " L " as layer carrying A = Y {\n    L[b, m] = A[b, m, layer] where m " pick("> >=") " layer;\n" \
               "    C[b, m] = A[b, m, layer + 1] * 3 where m <= layer;\n" \
               "    T[b] max= L[b, m] where m > layer;\n    T[b] max= A[b, layer, layer];\n" \
               "    U[b, n] = A[b, layer, n] * T[b] where n > layer" pick("; ,n>=2; ,n<=layer+2;") "\n" \
               "    Y[b, m, n] = A[b, m, n] where m <= layer;\n    Y[b, m, n] = A[b, m, n] + C[b, m] where m > layer, n <= layer;\n" \
               "    Y[b, m, n] = A[b, m, n] - L[b, m] * U[b, n] where m > layer, n > layer;\n  }\n" \
               "  output Z[b, m, n] = layer.Y[b, m, n] * 2;\n}\n"
    }
    if (kind == "chain") {
        ranks = "m d f"; names = "H Q P Y"; made = "H"; tensors = "A U W H Q P Y"
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", d = " D ", f = " F ";\n  input A[b, m, d];\n" \
               "  weight U[d, f], W[f, d];\n  H[b, m, f] += A[b, m, d] * U[d, f];\n  Q[b, m, f] = H[b, m, f] * 2;\n" \
               "  P[b, m, d] += Q[b, m, f] * W[f, d];\n  output Y[b, m, d] = P[b, m, d] + A[b, m, d];\n}\n"
    }
    if (kind == "grid") { # neighbours; corners where one access has offsets in both dimensions
        trained = 0; M = pick("6 8 9 12"); D = pick("4 6 8"); ranks = "m d"; N = M; names = "layer.Y Z"; tensors = "layer.Y"
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", d = " D ";\n  input X[b, m, d];\n  weight W[d];\n  repeat " L \
               " as layer carrying X = Y {\n    Y[b, m, d] = W[d] * X[b, m, d]" (chance(80) ? " + X[b, m" offset() ", d]" : "") \
               (chance(60) ? " + X[b, m, d" offset() "]" : "") (chance(40) ? " + X[b, m" offset() ", d" offset() "]" : "") \
               ";\n  }\n  output Z[b, m, d] = layer.Y[b, m, d] * 2;\n}\n"
    }
    if (kind == "conv") { # neighbours between layers, and sums of their gradients; with one and with two filters that read one tensor
        M = pick("6 8 9 12"); D = pick("4 6 8"); N = M; ranks = "m d f g"; R = pick("1 2 3"); S = pick("2 3 3"); F = 4
        names = "H G Y" ; made = "H G"; tensors = "H G U V"
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", d = " D ", f = " F ", g = " H ", r = " R ", s = " S ", t = 3;\n" \
               "  input X[b, m, d];\n  weight U[f, r, s], V[g, f, t, s], W[g, f];\n" \
               "  H[b, f, m, d] += X[b, m + r - " draw(R) - 1 ", d + s - 1] * U[f, r, s];\n  G[b, f, m, d] = H[b, f, m, d] * 2;\n" \
               "  Y[b, g, m, d] += G[b, f, m + t - 1, d" (chance(60) ? " + s - " draw(S) - 1 : "") "] * V[g, f, t, s];\n" \
               "  output Z[b, g, m, d] = Y[b, g, m, d]" (chance(50) ? " * 2" : chance(50) ? " + G[b, g, m, d]" : " + G[b, g, m, d] * H[b, g, m " offset() ", d]") ";\n" \
               (chance(50) ? "  output O[b, g, m, d] += G[b, f, m, d] * W[g, f];\n" : "  output O[b, f, m, d] += W[g, f] * H[b, f, m, d];\n") "}\n"
    }
    if (kind == "experts") { # points go to the rows of weights that data select, and come back
        ranks = "d f b"; names = "N H G P Q Y"; tensors = "U W N H P Q"; made = "N H N,H"; E = pick("4 8 8 6")
        share = pick("1 1 1 1.5 2")
        return "workload layers : bf16 {\n  rank b = " (B = pick("8 16")) ", d = " D ", f = " F ", x = " E ", k = 2;\n" \
               "  input A[b, d], C[b, k], ids[b, k] : i32;\n  weight U[x, d, f], W[x, f, d];\n  N[b, d] = A[b, d] * 3;\n" \
               "  H[b, k, f] += N[b, d] * gather U[x, d, f] by ids[b, k] load " share ";\n  G[b, k, f] = H[b, k, f]" pick("*2; *C[b,k];") "\n" \
               "  P[b, k, d] += G[b, k, f] * gather W[x, f, d] by ids[b, k] load " share ";\n  Q[b, d] += P[b, k, d];\n" \
               "  output Y[b, d] = Q[b, d] + A[b, d];\n}\n"
    }
    if (kind == "token") { # pieces of a tensor, and one element of it read behind the layers
        ranks = "d f"; names = "layer.H layer.Y Z"; tensors = "layer.H layer.Y layer.U"; made = "layer.H"; N = 3
        return "workload layers : bf16 {\n  rank b = " B ", d = " D ", f = " F ", c = 3, n = 3;\n  input A[b, c, d];\n  weight V[f, d];\n" \
               "  repeat " L " as layer carrying A = Y {\n    weight U[d, f], W[f, d];\n    H[b, c, f] += A[b, c, d] * U[d, f];\n" \
               "    S[b, f] = H[b, 0, f] * H[b, " pick("1 2") ", f];\n    P[b, c, d] += H[b, c, f] * W[f, d];\n    T[b, d] += S[b, f] * W[f, d];\n" \
               "    Y[b, c, d] = P[b, c, d] + T[b, d];\n" \
               "  }\n  output Z[b, f] += layer.Y[b, 0, d] * V[f, d];\n}\n"
    }
    if (kind == "pieces") { # a sum of which a second einsum makes a part, a piece apart, or one that overlaps (refused)
        ranks = "d f"; names = "H Y"; tensors = "H U V"; made = "H"; split(pick("2,1 3,1 2,2 1,4 2,4 2,4 2,3"), piece, ",")
        N = piece[1] + piece[2] > 4 ? piece[1] + piece[2] : 4
        return "workload layers : bf16 {\n  rank b = " B ", c = 4, g = " piece[1] ", i = " N ", d = " D ", f = " F ";\n" \
               "  input A[b, c, d], G[b, g, d];\n  weight U[d, f], V[d, f];\n  H[b, c, f] += A[b, c, d] * U[d, f];\n" \
               "  H[b, g" (piece[2] ? " + " piece[2] : "") ", f] += G[b, g, d] * V[d, f];\n  output Y[b, i, f] = H[b, i, f] * 2;\n}\n"
    }
    if (kind == "head") { # several readers of one gathered copy
        ranks = "m d f"; names = "N Q K P Y"; made = "N Q N,Q,K"; tensors = "N Q K P U V"
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", d = " D ", f = " F ";\n  input A[b, m, d];\n" \
               "  weight U[d, f], V[d, f], W[f, d];\n  N[b, m, d] = A[b, m, d] * 3;\n  Q[b, m, f] += N[b, m, d] * U[d, f];\n" \
               "  K[b, m, f] += N[b, m, d] * V[d, f];\n  P[b, m, d] += Q[b, m, f] * W[f, d];\n" \
               "  output Y[b, m, d] = P[b, m, d] + N[b, m, d];\n  output Z[b, m, f] = K[b, m, f] * Q[b, m, f];\n}\n"
    }
    if (kind == "before") { # einsums before the layers, and nothing behind them
        ranks = "m d f"; names = "I J layer.H layer.Y"; made = "I J layer.H I,J"; tensors = "I J layer.H V layer.U"
        return "workload layers : bf16 {\n  rank b = " B ", m = " M ", d = " D ", f = " F ", e = 2;\n  input A[b, m, e];\n  weight V[e, d];\n" \
               "  I[b, m, d] += A[b, m, e] * V[e, d];\n  J[b, m, d] = I[b, m, d] * 2;\n  repeat " L " as layer carrying J = Y {\n" \
               "    weight U[d, f], W[f, d];\n    H[b, m, f] += J[b, m, d] * U[d, f];\n    Y[b, m, d] += H[b, m, f] * W[f, d];\n  }\n}\n"
    }
    if (kind == "bags") { # large tables: the optimizer renews the rows that bags have touched, each once
        ranks = "d f t w"; names = "E S P Y"; tensors = "table E P W"; made = "P"
        return "workload layers : bf16 {\n  rank b = " B ", t = " H ", w = " (W = pick("6 90 90")) ", l = 2, d = " D ", f = " F ";\n" \
               "  input ids[b, t, l] : i32, X[b, d];\n  weight table[t, w, d], W[d, f];\n" \
               "  E[b, t, d] += gather table[t, w, d] by ids[b, t, l];\n  S[b, d] += E[b, t, d];\n  P[b, d] = S[b, d] * X[b, d];\n" \
               "  output Y[b, f] += P[b, d] * W[d, f];\n}\n"
    }
    if (kind == "cache") { # a token is written to a state, which is then read
        trained = 0; ranks = "d h n"; N = M + 1; names = "layer.Q layer.K layer.S layer.P layer.Y Z"; tensors = "layer.K layer.Q layer.WQ"
        return "workload layers : bf16 {\n  rank b = " B ", d = " D ", h = " H ", n = " N ";\n  input A[b, d];\n  repeat " L \
               " as layer carrying A = Y {\n    weight WQ[d, h], WK[d, h], WO[h, d];\n    state K[b, n, h];\n" \
               "    Q[b, h] += A[b, d] * WQ[d, h];\n    K[b, " N - 1 ", h] " "+= A[b, d] * WK[d, h];\n" \
               "    S[b, n] += Q[b, h] * K[b, n, h];\n    O[b, h] += S[b, n] * K[b, n, h];\n    P[b, d] += O[b, h] * WO[h, d];\n" \
               "    Y[b, d] = P[b, d] + A[b, d];\n  }\n  output Z[b, d] = layer.Y[b, d] * 2;\n}\n"
    }
    text = "workload layers : bf16 {\n  rank b = " B ", m = " M ", d = " D ", f = " F ", h = " H ", n = " M ", v = " V ";\n"
    if (kind == "lookup")
        text = text "  input ids[b, m] : i32;\n  weight token[v, d];\n  A[b, m, d] = gather token[v, d] by ids[b, m];\n"
    else
        text = text "  input A[b, m, d];\n" (kind == "gated" ? "  input X[b, m, d];\n  C[b, m, d] = X[b, m, d] * 3;\n" : "")
    text = text "  repeat " L " as layer carrying A = Y {\n"
    if (kind == "attention") {
        ranks = "m d h n"; names = "layer.Q layer.K layer.S layer.T layer.O layer.P layer.Y Z"; made = "layer.S,layer.T layer.Q"
        tensors = "layer.Q layer.P layer.WQ"
        text = text "    weight WQ[d, h], WK[d, h], WO[h, d];\n    Q[b, m, h] += A[b, m, d] * WQ[d, h];\n" \
               "    K[b, m, h] += A[b, m, d] * WK[d, h];\n    S[b, m, n] += Q[b, m, h] * K[b, n, h];\n" \
               "    T[b, m, n] = S[b, m, n] * 3;\n    O[b, m, h] += T[b, m, n] * K[b, n, h];\n" \
               "    P[b, m, d] += O[b, m, h] * WO[h, d];\n    Y[b, m, d] = P[b, m, d] + A[b, m, d];\n"
    } else {
        ranks = "m d f"; names = "layer.N layer.H layer.P layer.Y Z"; made = "layer.N layer.H layer.N,layer.H"
        tensors = "layer.N layer.P layer.U layer.W"
        # gated: the gradients of a layer read what the repeat carries into it
        text = text "    weight U[d, f], W[f, d];\n    N[b, m, d] = A[b, m, d] * " (kind == "gated" ? "C[b, m, d]" : "2") ";\n" \
               "    H[b, m, f] += N[b, m, d] * U[d, f];\n    P[b, m, d] += H[b, m, f] * W[f, d];\n" \
               "    Y[b, m, d] = P[b, m, d] " (kind == "gated" ? "*" : "+") " A[b, m, d];\n"
    }
    if (chance(20)) { # a result of each layer that nobody reads
        text = text "    E[b, m, d] = " (kind == "attention" ? "P" : "N") "[b, m, d] * 3;\n"
        names = names " layer.E"
    }
    text = text "  }\n"
    if (kind == "lookup") {
        ranks = ranks " v"; made = made " A,layer.N,layer.H" # also what the first layer reads
        text = text "  output Z[b, m, v] += layer.Y[b, m, d] * " (chance(50) ? "token[v, d]" : "head[v, d]") ";\n"
        if (text ~ /head/)
            sub(/weight token/, "weight head[v, d];\n  weight token", text)
    } else
        text = text "  output Z[b, m, d] = layer.Y[b, m, d] * 2;\n"
    return text "}\n"
}

# Conditions, or none.
function where(has_d,   c) {
    c = pick("n<=m n<m n>=m m+n<=4 n<=m,n>=m-1 2*n<=m+1 n+m>=2 " (has_d ? "n<=m,d>=1 d<=m,n>=1" : ""))
    gsub(/,/, ", ", c)
    return chance(80) ? "where " c : ""
}

function offset() { return pick("- +") " " pick("1 1 2") }

function ceil(a, b) { return int((a + b - 1) / b) }

# Whether a rank can be divided by `n` more, so that every chip has some of it.
function fits(r, n,   e) {
    if (kind !~ /masked|steps/ && ((r == "m" && cut["n"] > 1) || (r == "n" && cut["m"] > 1))) # they index one dimension
        return 0
    if (kind ~ /grid|conv/ && r ~ /^[md]$/ && cut[r] > 1) # one group divides a window
        return 0
    e = extent[r]
    return cut[r] * n <= e && ceil(e, cut[r] * n) * (cut[r] * n - 1) < e && (cut[r] == 1 || e % (cut[r] * n) == 0)
}

# A line over a rank, or nothing if it does not fit.
function line(r, n, axis, only) {
    if (!fits(r, n))
        return ""
    cut[r] *= n
    return "  spatial " r "/" n " on " axis only ";\n"
}

# A line that deals a rank among the 2 chips of `row` or the 3 of `column`.
function deal(r, axis, only,   n) {
    n = axis == "row" ? 2 : 3
    if (r == "v" || (kind ~ /grid|conv/ && r ~ /^[md]$/)) # rows that data select, windows
        return ""
    if (!fits(r, n))
        return ""
    cut[r] *= n
    return "  spatial " r ":1 cyclic on " axis only ";\n"
}

# A home in two parts, if every chip has some of them.
function split_home(r, axis) {
    return extent[r] % (cut[r] * 2) == 0 ? " split " r "/2 on " axis : ""
}

# The memory of a home: of a chip, or where a plan may have one, around it.
function memory(may) { return outer && may && chance(60) ? "host" : "hbm" }

# A list of some einsums, for `for`.
function some(   n, at, i, out) {
    n = split(names, at, " ")
    for (i = 1; i <= n; i++)
        if (chance(50))
            out = out (out == "" ? "" : ", ") at[i]
    return out == "" ? "" : " for " out
}

function plan(name,   text, i, n, at) {
    extent["b"] = B; extent["m"] = M; extent["n"] = N; extent["d"] = D; extent["f"] = F; extent["h"] = extent["t"] = H; extent["v"] = V
    extent["x"] = E; extent["g"] = H; extent["w"] = W
    for (i in extent)
        cut[i] = 1
    text = "mapping " name " for " (trained ? "step" : "layers") " on pod {\n"
    if (chance(70))
        text = text line("b", chance(80) ? 2 : pick("3 4"), "node")
    else if (chance(40))
        text = text line(pick(ranks), 2, "node")
    if (kind !~ /bags|chain|conv|gated|masked|steps|experts|head|before|token|pieces/ && chance(50)) { # what stands before the repeat is in the first stage alone
        text = text "  spatial layer/" (L > 2 && chance(30) ? 3 : 2) " on node pipeline(schedule = "
        text = text (L >= 4 && text ~ /layer\/2/ && chance(50) ? pick("gpipe one_f_one_b") ", interleave = 2" : \
                     pick(trained ? "gpipe one_f_one_b zero_bubble zero_bubble" : "gpipe one_f_one_b")) ");\n"
    }
    if (chance(60))
        text = text "  temporal b" pick(":1 :1 :2 :3 /2 /2") ";\n"
    if (kind !~ /bags|chain|conv|masked|experts|head|pieces/)
        text = text "  temporal layer;\n"
    if (kind == "experts" && chance(80)) {
        i = pick("2 4 4")
        if (fits("b", i) && fits("x", i)) {
            text = text line("b", i, "gpu") line("x", i, "gpu", chance(80) ? " for H, P" (trained ? ", update" : "") : "")
        }
    }
    n = draw(3)
    for (i = 1; i <= n; i++)
        text = text line(pick(ranks), pick("2 2 2 3 4"), pick("gpu gpu gpu node"), chance(60) ? some() : "")
    if (chance(30))
        text = text deal(pick(ranks), pick("row column"), chance(60) ? some() : "")
    if (hosted && text !~ /on gpu/) # a chip lies within all axes that lines divide
        text = text "  spatial b/1 on gpu;\n"
    outer = hosted && text !~ /zero_bubble/
    text = text "  keep weights in " memory(kind !~ /bags|experts|lookup/) ";\n  keep activations in " memory(trained) ";\n"
    if (trained) {
        at = pick("node gpu")
        text = text "  keep gradients in hbm" (chance(25) ? split_home("d", at) : "") ";\n"
        text = text "  keep moments in " memory(kind !~ /bags|experts|lookup/) (n = chance(50) ? split_home("d", at) : "") ";\n"
        if (chance(40) && n == "" && extent["d"] % (cut["d"] * (text ~ /gradients in hbm split/ ? 4 : 2)) == 0)
            text = text "  spatial d/2 on " at " for update;\n"
        if (made != "" && chance(40)) {
            at = pick(made)
            gsub(/,/, ", ", at)
            text = text "  recompute " at ";\n"
        }
    } else if (chance(30))
        text = text "  keep " pick(tensors) " in " memory(kind !~ /bags|experts|lookup|cache/) split_home(pick(kind == "masked" ? "d m n" : kind == "steps" ? "m n" : kind == "cache" ? "d h n" : kind ~ /grid|conv/ ? "d m" : kind == "bags" ? "d t" : kind ~ /experts|token|pieces/ ? "d f" : "d m f"), pick("node gpu")) ";\n"
    return text "  ...;\n}\n"
}

BEGIN {
    srand(seed)
    for (i = 1; i <= files; i++) {
        file = dir "/" i ".dfl"
        trained = chance(60)
        hosted = chance(outside != "" ? outside : 25)
        text = workload()
        print "dfl 1;\nsystem chip {\n  memory hbm { size = 1GB; bandwidth = 1GB/s; }\n  compute unit { ops = mac, flop; rate = 1GMAC/s; }\n}\n" \
              "system pod {\n  network ib = switch { bandwidth = 1GB/s; latency = 10ns; }\n  array node[12], row[2], column[3] over ib {\n" \
              (hosted ? "    memory host { size = 1GB; bandwidth = 1GB/s; }\n" : "") \
              "    network nv = switch { bandwidth = 4GB/s; latency = 1ns; }\n    array gpu[12] over nv { use chip; }\n  }\n}\n" > file
        print text > file
        if (trained)
            print "workload step = train(layers, optimizer = " pick(kind == "bags" ? "adam(fp32) sgd(bf16)" : "adam(fp32) sgd(fp32)") ");" > file
        for (k = 1; k <= plans; k++)
            print plan("p" k) > file
        close(file)
    }
}
