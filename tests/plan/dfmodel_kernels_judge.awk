# Judges seconds ("name seconds groups", the first file) by rows ("name equations log bar", the second one) of dfmodel_kernels.awk.
NR == FNR { seconds[$1] = $2; groups[$1] = $3; next }
!($1 in seconds) { printf "%-24s not evaluated\n", $1; next }
{
    n++
    want = $2 == "-" ? $3 : $2
    e = (seconds[$1] / want - 1) * 100
    is_missed = $4 == "near" ? e > 2 || e < -2 : $4 == "below" ? e > 0.001 : 0
    missed += is_missed
    printf "%-24s %12.6g s  %+8.3f %% of the %s", $1, seconds[$1], e, $2 == "-" ? "log" : "equations"
    if ($2 != "-" && $3 != "-") printf ", %+.2f %% of the log", (seconds[$1] / $3 - 1) * 100
    if ($4 == "below") printf "  %d groups, searched", groups[$1] - 1 # without the first one, which only reads the input
    if ($4 == "shown") printf "  shown: %s", why($1)
    print is_missed ? "  MISSED" : ""
    found[$1] = seconds[$1]
}
function why(name)
{
    return name == "serving_2" ? "topology and overlap are not given: fully connected, perfect" : "window and lengths are not given: 4,096"
}
END {
    printf "rows of kernels: %d, MISSED their bars: %d\n", n, missed
    kernels = found["mapping_1_by_kernel"]; vendor = found["mapping_2_vendor"]; best = found["mapping_3_published"]
    printf "kernel by kernel over the published groups: %.2f (%+.1f %% of the 6.13 of the paper); vendor groups over them: %.2f (%+.1f %% " \
           "of its 1.52)\n", kernels / best, (kernels / best / 6.13 - 1) * 100, vendor / best, (vendor / best / 1.52 - 1) * 100
    printf "over searched groups: %.2f and %.2f\n", kernels / found["mapping_3_searched"], vendor / found["mapping_3_searched"]
}
