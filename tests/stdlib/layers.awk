# Compares a table of convolution and linear layers (first file) with the layer workloads of a .dfl file (second file,
# one statement per line). Recomputes output size, operations and parameters from the .dfl text alone.
function arg(text, name,    m) {
    if (match(text, "[(, ]" name " = [0-9]+")) {
        m = substr(text, RSTART, RLENGTH)
        sub(/.* = /, "", m)
        return m + 0
    }
    return -1
}
function want(layer, what, is, should) {
    if (is != should) print layer ": " what " is " is ", the table says " should
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { n = split_csv($0, h); for (i = 1; i <= n; i++) col[h[i]] = i; next }
file == 1 {
    split_csv($0, f)
    name = f[col["layer"]]; gsub(/[^A-Za-z0-9_]/, "_", name)
    order[++rows] = name
    for (k in col) row[name, k] = f[col[k]]
    next
}
/^workload [A-Za-z0-9_]+\(N = 1\) = nn\./ {
    name = $2; sub(/\(.*/, "", name)
    kind = $0; sub(/.* = nn\./, "", kind); sub(/\(.*/, "", kind)
    body = $0; sub(/^.* = nn\.[a-z0-9_]+/, "", body)
    if (!((name, "op") in row)) { print name ": not in the table"; next }
    seen[name] = ++layers
    if (seen[name] > rows || order[seen[name]] != name) print name ": out of order"
    C = arg(body, "C"); K = arg(body, "M"); G = arg(body, "G"); if (G < 0) G = 1
    if (kind == "linear") {
        want(name, "C", C, row[name, "C"]); want(name, "K", K, row[name, "K"])
        macs = C * K; weights = C * K
        want(name, "op", "linear", row[name, "op"])
    } else {
        H = arg(body, "H"); W = arg(body, "W"); R = arg(body, "R"); S = arg(body, "S")
        st = arg(body, "stride"); if (st < 0) st = 1
        dil = arg(body, "dilation"); if (dil < 0) dil = 1
        pad = arg(body, "pad"); if (pad < 0) pad = kind == "depthwise" ? 1 : 0
        if (kind == "depthwise") { G = C; K = C }
        P = int((H + 2 * pad - dil * (R - 1) - 1) / st) + 1
        Q = int((W + 2 * pad - dil * (S - 1) - 1) / st) + 1
        want(name, "op", kind == "depthwise" ? "dwconv2d" : "conv2d", row[name, "op"])
        want(name, "G", G, row[name, "G"]); want(name, "K", K, row[name, "K"]); want(name, "C", C, row[name, "C"])
        want(name, "P", P, row[name, "P"]); want(name, "Q", Q, row[name, "Q"])
        want(name, "R", R, row[name, "R"]); want(name, "S", S, row[name, "S"])
        want(name, "stride_h", st, row[name, "stride_h"]); want(name, "stride_w", st, row[name, "stride_w"])
        want(name, "dil_h", dil, row[name, "dil_h"]); want(name, "dil_w", dil, row[name, "dil_w"])
        want(name, "pad_h", pad, row[name, "pad_h"]); want(name, "pad_w", pad, row[name, "pad_w"])
        want(name, "H", H, row[name, "H_in"]); want(name, "W", W, row[name, "W_in"])
        macs = P * Q * K * (C / G) * R * S; weights = K * (C / G) * R * S
    }
    want(name, "N", 1, row[name, "N"])
    want(name, "macs", macs, row[name, "macs_each"])
    want(name, "parameters", weights + (row[name, "has_bias"] + 0 ? K : 0), row[name, "params_each"])
    next
}
/^apply / { if (match($0, / as [A-Za-z0-9_]+/)) applied[substr($0, RSTART + 4, RLENGTH - 4)] = 1 }
END {
    for (i = 1; i <= rows; i++) {
        if (!(order[i] in seen)) print order[i] ": missing"
        if (!(order[i] in applied)) print order[i] ": not in the network"
    }
    print "compared " rows
}
