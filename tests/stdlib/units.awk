# Compares the rates of element-wise units with units.csv (first file), and checks that every chip can compute element
# by element in the types in which it multiplies: bf16 and fp16 with fp32, i8 with i32. The second file is the output of
# `dflc dump ir` for all chips.
function need(type, for_type) {
    if (!((type) in element_wise) && !("any" in element_wise))
        print s ": multiplies in " for_type ", but no unit computes element by element in " type
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { next }
file == 1 { split_csv($0, f); rows++; should[f[1], f[2], f[3]] = f[4] + 0; within[f[1], f[2], f[3]] = f[5] + 0; next }
/^system / { s = $2; delete up; delete times; delete element_wise; delete products; units = 0; next }
/^  element / { up[$2] = $4 == "in" ? $5 : -1; times[$2] = 1; next }
/^  axis / { n = $2; sub(/.*\[/, "", n); times[$5] *= n + 0; next }
/^  compute / {
    unit = $2; sub(/.*\./, "", unit)
    only_mac = $0 ~ / ops mac( |$)/; mac = only_mac || $0 !~ / ops /
    for (i = 3; i < NF; i++) {
        if ($i != "rate") continue
        op = $(i + 1); type = $(i + 2); rate = $(i + 3); if (type ~ /\/s$/ || type ~ /^[0-9]/) { rate = type; type = "any" }
        if (!only_mac && (op == "any" || op == "flop")) { element_wise[type] = 1; units++; u_name[units] = unit; u_type[units] = type; u_rate[units] = rate + 0; u_in[units] = $4 + 0 }
        if (mac && (op == "any" || op == "mac")) products[type] = 1
    }
    next
}
/^[}]/ && s != "" {
    if ("bf16" in products) { need("bf16", "bf16"); need("fp32", "bf16") }
    if ("fp16" in products) { need("fp16", "fp16"); need("fp32", "fp16") }
    if ("i8" in products) { need("i8", "i8"); need("i32", "i8") }
    if (units == 0) print s ": no unit computes element by element"
    chips++
    for (i = 1; i <= units; i++)
        for (k in should) {
            split(k, key, SUBSEP)
            if (key[1] != s || key[2] != u_name[i] || (key[3] != u_type[i] && u_type[i] != "any")) continue
            rate = u_rate[i] / 1e12
            for (e = u_in[i]; e >= 0; e = up[e]) rate *= times[e]
            d = (rate / should[k] - 1) * 100
            if (d > within[k] || d < -within[k]) print s "." u_name[i] " " key[3] ": " rate " T/s, the table says " should[k]
            seen[k] = 1
        }
    s = ""
}
END {
    for (k in should) if (!(k in seen)) { split(k, key, SUBSEP); print key[1] "." key[2] " " key[3] ": no such rate" }
    print "compared " rows + chips
}
