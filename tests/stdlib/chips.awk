# Compares hardware.csv (first file) with the chip files: clock, power, die area, price, size and rate of the DRAM, and
# each quoted peak rate that the library states with `expect chip.peak(type) within 2% of ...`. All quoted peak rates,
# stated or not, go to the file `rates` (an assignment before the files) as checks for `dflc test`.
BEGIN {
    split("nvidia-v100-sxm2-32g v100 nvidia-a100-sxm4-40g a100_40g nvidia-a100-sxm4-80g a100_80g nvidia-h100-sxm5 h100 nvidia-h100-pcie h100_pcie " \
          "nvidia-h200-sxm h200 nvidia-b200-sxm b200 amd-mi250x mi250x amd-mi300x mi300x intel-gaudi2 gaudi2 intel-gaudi3 gaudi3 " \
          "google-tpu-v1 tpu_v1 google-tpu-v2 tpu_v2 google-tpu-v3 tpu_v3 google-tpu-v4i tpu_v4i google-tpu-v4 tpu_v4 google-tpu-v5e tpu_v5e " \
          "google-tpu-v5p tpu_v5p google-tpu-v6e tpu_v6e google-tpu-v7-ironwood tpu_v7 google-edge-tpu edge_tpu cerebras-wse2 wse2 " \
          "graphcore-gc200 gc200 graphcore-bow bow sambanova-sn10 sn10 sambanova-sn30 sn30 sambanova-sn40l sn40l tesla-dojo-d1 dojo_d1 " \
          "tenstorrent-grayskull-e150 grayskull_e150 tenstorrent-wormhole-n150 wormhole_n150 tenstorrent-wormhole-n300 wormhole_n300 " \
          "tenstorrent-blackhole-p150 blackhole_p150 groq-tsp-v1 groq mit-eyeriss-v1 eyeriss mit-eyeriss-v2 eyeriss_v2 nvdla-large-2048 nvdla_large " \
          "nvdla-small-64 nvdla_small nvidia-simba-chiplet simba ucb-gemmini-default gemmini ict-diannao diannao ict-shidiannao shidiannao " \
          "fujitsu-a64fx a64fx amd-epyc-7763 epyc_7763", m, " ")
    for (i = 1; i in m; i += 2) system_of[m[i]] = m[i + 1]
    split("fp64_TFLOPS fp64v fp64_matrix_TFLOPS fp64 fp32_TFLOPS fp32 tf32_TFLOPS tf32 bf16_TFLOPS bf16 fp16_TFLOPS fp16 fp8_TFLOPS fp8 int8_TOPS i8 int4_TOPS i4", t, " ")
    for (i = 1; i in t; i += 2) type_of[t[i]] = t[i + 1]
    # chips of several dies or groups, each with its own DRAM
    dies["mi250x"] = 2; dies["tpu_v2"] = 2; dies["tpu_v3"] = 2; dies["a64fx"] = 4; dies["wormhole_n300"] = 2
    # chips with a third memory outside of the memory that the table calls DRAM
    dram["sn40l"] = "hbm"
}
# A quantity in GHz, W, mm2, USD, GB, GB/s or TFLOPS.
function number(text,    v) {
    v = text + 0
    if (text ~ /MHz/) return v / 1000
    if (text ~ /kUSD/) return v * 1000
    if (text ~ /[0-9]GiB/) return v * 1.073741824
    if (text ~ /[0-9]TB/) return v * 1000
    if (text ~ /GFLOPS/) return v / 1000
    return v
}
function near(a, b) { return a - b < 0.002 * b && b - a < 0.002 * b }
function want(name, what, is, should) {
    if (should == "") return
    if (is == "") { print name ": no " what ", the table says " should; return }
    if (!near(is, should + 0)) print name ": " what " is " is ", the table says " should
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { n = split_csv($0, h); for (i = 1; i <= n; i++) col[h[i]] = i; next }
file == 1 {
    split_csv($0, f)
    if (!(f[1] in system_of)) { print f[1] ": no system is named for it"; next }
    s = system_of[f[1]]; order[++rows] = s
    for (k in col) row[s, k] = f[col[k]]
    next
}
/^system / {
    s = $2; sub(/\(.*/, "", s); known[s] = 1; place[s] = FILENAME; sub(/.*chips_/, "", place[s]); sub(/\.dfl$/, "", place[s])
    mem = ""; n_parts = 0
    if (match($0, /= [a-z0-9_.]+ [{]/)) {
        base = substr($0, RSTART + 2, RLENGTH - 4); sub(/.*\./, "", base)
        for (k in attr) { split(k, p, SUBSEP); if (p[1] == base) inherited[p[2]] = attr[k] }
        for (k in inherited) attr[s, k] = inherited[k]
    }
}
/^memory / { mem = $2 }
/^(network|compute|array|element) / { mem = "none" }
/^(clock|tdp|area|price) = / && mem == "" { attr[s, $1] = number($3) }
/^(source|confidence) = / && mem == "" { attr[s, $1] = $3 }
/^(size|bandwidth) = / && (mem == "dram" || mem == "hbm" || mem == "ddr") && (!(s in dram) || dram[s] == mem) {
    if ($3 ~ /^[0-9]/) attr[s, $1] = number($3)
}
/^(hbm|dram|ddr)\.(size|bandwidth) = / { k = $1; sub(/.*\./, "", k); attr[s, k] = number($3) }
/^expect [a-z0-9_]+\.peak\(/ {
    name = $2; sub(/\..*/, "", name); type = $2; sub(/.*\(/, "", type); sub(/\).*/, "", type)
    match($0, / of [0-9.]+[A-Z]+/); v = substr($0, RSTART + 4, RLENGTH - 4)
    peak[name, type] = number(v)
    sourced[name] = 1
}
END {
    for (i = 1; i <= rows; i++) {
        s = order[i]
        if (!(s in known)) { print s ": missing"; continue }
        want(s, "clock", attr[s, "clock"], row[s, "clock_GHz"]); want(s, "tdp", attr[s, "tdp"], row[s, "tdp_W"])
        want(s, "area", attr[s, "area"], row[s, "die_mm2"]); want(s, "price", attr[s, "price"], row[s, "price_USD_est"])
        d = s in dies ? dies[s] : 1
        # the table writes GiB of early parts as GB
        if (row[s, "dram_cap_GB"] + 0 > 0 && !near(attr[s, "size"] * d / 1.073741824, row[s, "dram_cap_GB"] + 0))
            want(s, "DRAM size", attr[s, "size"] * d, row[s, "dram_cap_GB"])
        if (row[s, "dram_cap_GB"] + 0 > 0 && row[s, "dram_bw_GBps"] + 0 > 0)
            want(s, "DRAM bandwidth", attr[s, "bandwidth"] * d, row[s, "dram_bw_GBps"])
        if (attr[s, "source"] == "") print s ": no source"
        if (attr[s, "confidence"] == "") print s ": no confidence"
        if (!(s in sourced)) { if (s != "eyeriss_v2") print s ": no peak is stated" }
        for (k in type_of) {
            v = row[s, k]; if (v == "") continue
            if ((s, type_of[k]) in peak) { want(s, "peak " type_of[k], peak[s, type_of[k]], k == "fp64_TFLOPS" && row[s, "fp64_matrix_TFLOPS"] != "" ? row[s, "fp64_matrix_TFLOPS"] : v); peaks++ }
        }
    }
    for (i = 1; i <= rows; i++)
        if (!((from = place[order[i]]) in imported)) { imported[from] = 1; print "import std.chips." from ";" >rates }
    for (i = 1; i <= rows; i++)
        for (k in type_of) {
            s = order[i]; type = type_of[k]
            if (row[s, k] == "" || (type == "fp64v" && row[s, "fp64_matrix_TFLOPS"] != "")) continue
            print "expect " s ".peak(" (type == "fp64v" ? "fp64" : type) ") within 2% of " row[s, k] "TFLOPS;" >rates
        }
    print "compared " rows
}
