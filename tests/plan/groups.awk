# Writes a random graph of six einsums, one of them a copy, on a chip that holds some of its weights, a mapping `searched` with one open
# brace, and a mapping `written_K` for each division of the einsums into braces that can run one after another and keep the copy with the
# einsum whose result it copies: the space of the search.
function random(n) { state = (state * 1103515245 + 12345) % 2147483648; return int(state / 65536) % n }
# The divisions as restricted growth: einsum e goes to one of the groups so far, or to a new one.
function divide(e, groups,   k) {
    if (e > N) { if (!copied || group[copy] == group[copied]) write(groups); return }
    for (k = 1; k <= groups + 1; k++) { group[e] = k; divide(e + 1, k > groups ? k : groups) }
}
# Writes the braces in an order in which they can run; nothing if there is none.
function write(groups,   done, order, k, e, f, ok, n) {
    split("", done); n = 0; order = ""
    while (n < groups) {
        for (k = 1; k <= groups; k++) {
            ok = !(k in done)
            for (e = 1; e <= N && ok; e++)
                for (f = 1; f < e && ok; f++)
                    if (group[e] == k && reads[e, f] && group[f] != k && !(group[f] in done)) ok = 0
            if (ok) break
        }
        if (k > groups) return
        done[k] = 1; n++
        order = order "        "
        for (e = 1; e <= N; e++) if (group[e] == k) order = order (order ~ / $/ ? "" : ", ") "T" e
        order = order " { }\n"
    }
    number++
    printf "mapping written_%d for graph on chips {\n%s    fuse {\n%s    }\n    option overlap = perfect;\n    option chunks = 1;\n}\n", number,
           lines, order
}
BEGIN {
    N = 6; state = seed * 7919 + 17
    for (k = 0; k < 5; k++) random(2)
    copy = 2 + random(N - 1)
    body = ""
    for (e = 1; e <= N; e++) {
        parent = e == 1 ? 0 : 1 + random(e - 1)
        other = e > 2 ? 1 + random(e - 1) : 0
        from = parent ? "T" parent "[b, m, d]" : "X[b, m, d]"
        if (parent) reads[e, parent] = 1
        if (e == copy) copied = parent
        if (e == copy) body = body sprintf("    T%d[b, m, d] = %s;\n", e, from)
        else if (random(3) > 0) {
            body = body sprintf("    weight W%d[d];\n    T%d[b, m, d] = work%d(%s * W%d[d]);\n", e, e, e, from, e)
        } else if (other && other != parent) {
            reads[e, other] = 1
            body = body sprintf("    T%d[b, m, d] = work%d(%s + T%d[b, m, d]);\n", e, e, from, other)
        } else body = body sprintf("    T%d[b, m, d] = work%d(%s);\n", e, e, from)
        ops = ops sprintf("op work%d(x) = %dFLOP;\n", e, 1 + random(400))
    }
    printf "dfl 1;\n%sworkload graph : bf16 {\n    rank b = 4, m = 16, d = 512;\n    input X[b, m, d];\n%s}\n", ops, body
    # weights of 1 KiB: two do not fit together
    printf "system chips {\n    network net = ring { bandwidth = 1GB/s; }\n    array chip[2] over net {\n" \
           "        memory dram { size = unlimited; bandwidth = 1GB/s; }\n        memory sram { size = 1500B; }\n" \
           "        compute unit { rate = 0.1TFLOP/s; }\n    }\n}\n"
    lines = "    spatial b/2 on chip;\n    temporal b:1;\n"
    all = ""
    for (e = 1; e <= N; e++) all = all (e > 1 ? ", " : "") "T" e
    printf "mapping searched for graph on chips {\n%s    %s { ...; }\n    option overlap = perfect;\n}\n", lines, all
    divide(1, 0)
}
