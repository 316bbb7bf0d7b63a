# Compares the on-chip memory of hardware.csv (first file) with the sum over the memories of each chip, from the output
# of `dflc dump ir` (second file). The list `apart` has what the table does not count: register files and local
# memories of some chips, and registers of multipliers.

# A size in megabytes. The table has powers of two and of ten alike.
function megabytes(text) {
    if (text ~ /TiB/) return text * 1048576
    if (text ~ /GiB/) return text * 1024
    if (text ~ /MiB/) return text + 0
    if (text ~ /KiB/) return text / 1024
    if (text ~ /TB/) return text * 1e6
    if (text ~ /GB/) return text * 1000
    if (text ~ /MB/) return text + 0
    if (text ~ /kB/) return text / 1000
    if (text ~ /B/) return text / 1e6
    return text / 8e6
}
BEGIN {
    split("nvidia-v100-sxm2-32g v100 nvidia-a100-sxm4-40g a100_40g nvidia-a100-sxm4-80g a100_80g nvidia-h100-sxm5 h100 nvidia-h100-pcie h100_pcie " \
          "nvidia-h200-sxm h200 amd-mi250x mi250x amd-mi300x mi300x intel-gaudi2 gaudi2 intel-gaudi3 gaudi3 google-tpu-v1 tpu_v1 " \
          "google-tpu-v2 tpu_v2 google-tpu-v3 tpu_v3 google-tpu-v4i tpu_v4i google-edge-tpu edge_tpu cerebras-wse2 wse2 graphcore-gc200 gc200 " \
          "sambanova-sn10 sn10 sambanova-sn30 sn30 sambanova-sn40l sn40l_hbm tesla-dojo-d1 dojo_d1 tenstorrent-grayskull-e150 grayskull_e150 " \
          "tenstorrent-wormhole-n150 wormhole_n150 tenstorrent-wormhole-n300 wormhole_n300 tenstorrent-blackhole-p150 blackhole_p150 " \
          "groq-tsp-v1 groq mit-eyeriss-v1 eyeriss nvdla-large-2048 nvdla_large nvdla-small-64 nvdla_small nvidia-simba-chiplet simba " \
          "ucb-gemmini-default gemmini fujitsu-a64fx a64fx amd-epyc-7763 epyc_7763", m, " ")
    for (i = 1; i in m; i += 2) system_of[m[i]] = m[i + 1]
    split("mi250x.lds mi250x.regs mi300x.lds mi300x.regs gaudi2.local gaudi2.acc gaudi3.local gaudi3.acc tpu_v1.fifo tpu_v1.reg tpu_v2.reg " \
          "tpu_v3.reg tpu_v4i.reg edge_tpu.reg wse2.cache gc200.sums gc200.weights sn10.acc sn30.acc sn40l_hbm.acc dojo_d1.acc groq.reg " \
          "eyeriss.fifo eyeriss.ispad eyeriss.pspad nvdla_large.cacc nvdla_large.reg nvdla_small.cacc nvdla_small.reg simba.reg gemmini.reg a64fx.l1 a64fx.regs " \
          "epyc_7763.l1 epyc_7763.regs", a, " ")
    for (i in a) apart[a[i]] = 1
    # TPU v4 has 10 MB for its sparse cores, which the library leaves out; Eyeriss v2, DianNao and ShiDianNao have buffers
    # for codes and instructions
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { n = split_csv($0, h); for (i = 1; i <= n; i++) col[h[i]] = i; next }
file == 1 { split_csv($0, f); if (f[1] in system_of) { should[system_of[f[1]]] = f[col["onchip_MB"]]; rows++ } next }
/^system / { s = $2; delete up; delete times; delete size; memories = 0; next }
/^  element / { up[$2] = $4 == "in" ? $5 : -1; times[$2] = 1; next }
/^  axis / { n = $2; sub(/.*\[/, "", n); times[$5] *= n + 0; next }
/^  memory / {
    if ($2 ~ /(^|\.)(hbm|dram|ddr|gddr|link)$/ || (s "." $2) in apart || !(s in should)) next
    name[++memories] = $2; where[memories] = $4 + 0; size[memories] = megabytes($6); next
}
/^[}]/ && s in should {
    sum = 0
    for (i = 1; i <= memories; i++) {
        k = size[i]
        for (e = where[i]; e >= 0; e = up[e]) k *= times[e]
        sum += k
    }
    d = sum / should[s] - 1
    if (d > 0.03 || d < -0.03) print s ": " sum " MB on the chip, the table says " should[s]
    seen[s] = 1; compared++
    s = ""
}
END {
    for (s in should) if (!(s in seen)) print s ": missing"
    print "compared " compared + 0
}
