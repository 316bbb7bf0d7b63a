# Compares networks.csv (first file) with the constants of the network and memory files.
function want(name, suffix, should) {
    if (should == "") return
    if (!((name suffix) in value)) print name suffix ": missing"
    else if (value[name suffix] != should + 0) print name suffix ": " value[name suffix] ", the table says " should
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { n = split_csv($0, h); for (i = 1; i <= n; i++) col[h[i]] = i; next }
file == 1 {
    split_csv($0, f)
    if (f[col["kind"]] == "system") next
    name = tolower(f[col["name"]]); gsub(/[^a-z0-9]+/, "_", name)
    order[++rows] = name
    each[name] = f[col["GBps_per_dir_each"]]; total[name] = f[col["GBps_per_dir_total"]]
    latency[name] = f[col["latency_ns"]]; energy[name] = f[col["pJ_per_bit"]]; price[name] = f[col["unit_price_USD_est"]]
    next
}
/^let / { text = $4; value[$2] = text + 0 }
END {
    for (i = 1; i <= rows; i++) {
        name = order[i]
        want(name, "_bandwidth", total[name] != "" ? total[name] : each[name])
        if (each[name] != "" && total[name] != "" && each[name] + 0 != total[name] + 0) want(name, "_lane", each[name])
        want(name, "_latency", latency[name]); want(name, "_energy", energy[name]); want(name, "_price", price[name])
    }
    print "compared " rows
}
