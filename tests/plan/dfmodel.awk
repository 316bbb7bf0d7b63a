# Compares results ("name seconds price power" in the files `all` and `none` of the directory `results`) with the rows of
# llm_dse_systems.csv. Prints every row with its errors, then for each bar its largest error and its mean.
BEGIN {
    FS = ","
    split("h100 tpu sn30 wse-2", accelerators, " ")
    short["wse-2"] = "wse"; short["h100"] = "h100"; short["tpu"] = "tpu"; short["sn30"] = "sn30"
    topology["2d_torus"] = "torus2"; topology["3d_torus"] = "torus3"; topology["dragonfly"] = "dragonfly"
    topology["dgx_1"] = "dgx1"; topology["dgx_2"] = "dgx2"
    bar["step of h100, tpu and wse"] = 1; bar["step of sn30"] = 1.5; bar["price"] = bar["power"] = 0.1; bar["ratio"] = 2
    read_results("all"); read_results("none"); read_results("free")
    bar["searched step of sn30"] = 0.1
}
function read_results(overlap,   line, f) {
    while ((getline line < (results "/" overlap)) > 0) {
        split(line, f, " ")
        seconds[overlap, f[1]] = f[2]; price[overlap, f[1]] = f[3]; power[overlap, f[1]] = f[4]
    }
}
function percent(value, published) { return (value / published - 1) * 100 }
function judge(what, error,   size) {
    size = error < 0 ? -error : error
    n[what]++; sum[what] += size; worst[what] = size > worst[what] ? size : worst[what]
    if (size > bar[what]) print "MISSED", what, error
}
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    chip = $column["accelerator"]
    name = "study_" short[chip] "_" topology[$column["topology"]] "_" $column["memory"] "_" $column["interconnect"]
    overlap = $column["overlap"]
    if (!((overlap, name) in seconds)) { print name, overlap, "not evaluated"; next }
    # the value of the log where there is one, else that of the same equations
    published = $column["log_s"] != "" ? $column["log_s"] : $column["step_s"]
    e[1] = percent(seconds[overlap, name], $column["step_s"])
    e[2] = percent(price[overlap, name], $column["cost_usd"])
    e[3] = percent(power[overlap, name], $column["power_w"])
    printf "%-36s %-4s step %10.4f s %+8.4f %%  price %+8.5f %%  power %+8.5f %%%s\n", name, overlap,
           seconds[overlap, name], e[1], e[2], e[3],
           $column["log_s"] != "" ? sprintf("  log %+.3f %%", percent(seconds[overlap, name], published)) : ""
    judge(chip == "sn30" ? "step of sn30" : "step of h100, tpu and wse", e[1])
    if (chip == "sn30" && overlap == "all") {
        # one-way: the least published value; only the rounding of the table and of the point to point may be above
        e[4] = percent(seconds["free", name], published)
        printf "%-36s free step %10.4f s %+8.4f %% of the published\n", name, seconds["free", name], e[4]
        judge("searched step of sn30", e[4])
        if (seconds["free", name] > published * 1.00001) print "MISSED searched step of sn30: above the published value"
    }
    judge("price", e[2]); judge("power", e[3])
}
# geometric means over all 20 systems of each accelerator, of throughput, of throughput per price and per power
function mean(chip, what,   t, m, l, log_sum, name) {
    for (t in topology)
        for (m = 1; m <= 2; m++)
            for (l = 1; l <= 2; l++) {
                name = "study_" chip "_" topology[t] "_" (m == 1 ? "ddr" : "hbm") "_" (l == 1 ? "pcie" : "nvlink")
                log_sum += -log(seconds["all", name] * (what == 2 ? price["all", name] : what == 3 ? power["all", name] : 1))
                if (what == 1) log_sum -= log(peak[chip])
            }
    return log_sum / 20
}
END {
    peak["h100"] = 993.214464; peak["tpu"] = 275.2512; peak["sn30"] = 614.4
    split("utilization throughput_per_price throughput_per_power", words, " ")
    split("1.52 1.59 1.60", published_ratio, " ")
    for (what = 1; what <= 3; what++) {
        ratio = exp(mean("sn30", what) - (mean("h100", what) + mean("tpu", what)) / 2)
        printf "ratio %-22s %.4f  published %s  %+.2f %%\n", words[what], ratio, published_ratio[what],
               percent(ratio, published_ratio[what])
        judge("ratio", percent(ratio, published_ratio[what]))
    }
    for (what in bar)
        printf "bar of %s: %d values, largest error %.4f %%, mean %.4f %%; the bar is %s %%\n", what, n[what], worst[what],
               sum[what] / n[what], bar[what]
}
