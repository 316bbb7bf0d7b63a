# Prints a chain of matmuls X1 = X0 * W1 to Xn, or its links `from` to `to`. Every fifth result passes through the outer
# memory. With `fused` one loop over the rows encloses all matmuls, and the other results stay in the inner memory.
function list(what, lo, hi, every,    i, text) {
    for (i = lo; i <= hi; i++)
        if (every == 0 || (every > 0) == (i % 5 == 0)) text = text (text == "" ? "" : ", ") what i
    return text
}
BEGIN {
    ranks = list("c", from - 1, to)
    gsub(/c[0-9]+/, "& = 8", ranks)
    print "dfl 1;\nworkload chain : i8 {\n    rank m = 16, " ranks ";"
    print "    input X" from - 1 "[m, c" from - 1 "];"
    for (i = from; i <= to; i++) {
        print "    input W" i "[c" i - 1 ", c" i "];"
        print (i == to ? "    output X" : "    X") i "[m, c" i "] += X" i - 1 "[m, c" i - 1 "] * W" i "[c" i - 1 ", c" i "];"
    }
    print "}\nsystem chip {\n    clock = 1GHz;"
    print "    memory dram { size = unlimited; bandwidth = 16B/cycle; energy = 10pJ/bit; }"
    print "    memory sram { size = unlimited; bandwidth = 64B/cycle; energy = 1pJ/bit; }"
    print "    compute unit { rate = 64MAC/cycle; energy = 1pJ/MAC; }\n}"
    print "mapping all for chain on chip {\n    keep " list("W", from, to) ", " list("X", from - 1, to, fused) " in dram;"
    if (fused) print "    temporal m:4;\n    keep " list("X", from, to, -1) " in sram;"
    print "    fuse {"
    for (i = from; i <= to; i++) {
        keeps = "W" i
        if (!fused || (i - 1) % 5 == 0) keeps = keeps ", X" i - 1
        if (!fused || i % 5 == 0) keeps = keeps ", X" i
        print "        X" i " { temporal c" i ":4; keep " keeps " in sram; temporal m, c" i - 1 ", c" i "; }"
    }
    print "    }\n}"
}
