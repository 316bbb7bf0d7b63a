# Compares the rows of one set of energy.csv (first file; an argument set=NAME before it names the set) with the
# constants of a .dfl file (second file). Every row must be a constant with the value of the row; other constants are
# ignored.

# The name of the constant for a row.
function constant(s, comp, action, node) {
    if (s == "horowitz45" || s == "google7nm") {
        if (comp == "dram") return action == "read_hi" ? "dram_high" : "dram_low"
        if (comp == "dram_hbm2") return "hbm2"
        if (comp == "dram_gddr6") return "gddr6"
        if (comp == "dram_ddr4") return "ddr4"
        if (comp ~ /^sram/) return comp
        return comp "_" action
    }
    if (s == "aladdin40") {
        if (comp == "register_bit") return "register"
        if (comp == "comparator32") return "int32_compare"
        if (comp == "counter32") return "int32_count"
        return comp == "int32_multiplier" ? "int32_mul" : "int32_add"
    }
    if (s == "eyeriss_norm65") return comp == "alu_mac" ? "mac" : comp ~ /^rf/ ? "scratchpad" : comp ~ /^inter/ ? "neighbour" : comp ~ /^glb/ ? "buffer" : "dram"
    if (s == "isaac32") return comp == "router_tile" ? "router" : comp == "adc8_sar" ? "adc_8bit" : comp == "dac1" ? "dac_1bit" : comp == "shift_add16" ? "shift_add" : comp == "chip2chip_link" ? "chip_link" : comp
    if (s == "edram16") return "row_1Mb"
    if (s == "tpu7nm") { sub(/_7nm/, "", comp); sub(/_[0-9]+MB/, "", comp); sub(/_int8_or_bf16/, "", comp); return comp }
    if (s ~ /^dram_/) return substr(s, 6) "_" tolower(comp)
    if (s == "links") {
        if (comp == "grs_simba") return "simba_grs"
        if (comp == "optical_pluggable_400G") return "optical_400G"
        if (comp == "copper_dac_400G") return "copper_400G"
        if (comp == "onchip_wire_per_mm") return "wire_mm_" node "nm"
        if (comp == "noc_router_hop") return "router_" node "nm"
    }
    return comp
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { n = split_csv($0, h); for (i = 1; i <= n; i++) col[h[i]] = i; next }
file == 1 {
    split_csv($0, f)
    s = f[col["set"]]
    if (set ~ /\*$/ ? substr(s, 1, length(set) - 1) != substr(set, 1, length(set) - 1) : s != set) next
    name = constant(s, f[col["component"]], f[col["action"]], f[col["node_nm"]])
    order[++rows] = name
    pj[name] = f[col["energy_pJ"]]; bits[name] = f[col["bits"]]; rel[name] = f[col["relative_to_mac"]]
    next
}
/^let / {
    name = $2
    text = $0; sub(/^let [A-Za-z0-9_]+ *= */, "", text); sub(/;.*/, "", text)
    value[name] = text + 0
    if (match(text, /\/ *[0-9]+bit/)) { d = substr(text, RSTART + 1, RLENGTH - 1); per[name] = d + 0 }
    else if (text ~ /\/bit/) per[name] = 1
    else per[name] = 0
}
END {
    for (i = 1; i <= rows; i++) {
        name = order[i]
        if (!(name in value)) { print name ": missing"; continue }
        should = rel[name] != "" ? rel[name] : pj[name]
        if (value[name] != should + 0) print name ": " value[name] ", the table says " should
        if (per[name] > 0 && bits[name] != "" && per[name] != bits[name] + 0) print name ": per " per[name] " bit, the table says " bits[name]
    }
    print "compared " rows
}
