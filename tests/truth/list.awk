# Reads list_reasons.txt, the lines `FILE KEY PREDICTED MEASURED GROUP` or `FILE KEY - - REASON` of the scripts, and all rows
# `FILE|KEY|TEXT`; prints the tables of run_list.sh. Mode `rows` prints each row. A key of the scripts may have a part: `7.a`.
FILENAME ~ /reasons/ {
    if (!/^#/) { n_reasons++; split($0, field, "\t"); of[n_reasons] = field[1]; fits[n_reasons] = field[2]; why[n_reasons] = field[3] }
    next
}
FILENAME ~ /list$/ {
    split($0, c, " ")
    key = c[2]; if (c[1] !~ /ground_truth|single_node/) sub(/\..*/, "", key)
    at = c[1] SUBSEP key
    if (c[3] == "-") { reason = $0; sub(/^[^ ]* [^ ]* - - /, "", reason); stated[at] = reason; next }
    predicted[at] = predicted[at] (at in predicted ? " " : "") c[3] "/" c[4]
    e = c[3] / c[4] - 1; e = e < 0 ? -e : e
    text[at] = text[at] sprintf("  predicted %s  measured %s  error %+.1f %%  (%s)", c[3], c[4], (c[3] / c[4] - 1) * 100, c[5])
    if (c[5] == "held") held[at] = held[at] " " e
    next
}
{
    file = $1; at = file SUBSEP $2
    if (!(file in rows)) order[++n] = file
    rows[file]++
    row = $0; sub(/^[^|]*\|[^|]*\|/, "", row)
    if (at in predicted) {
        covered[file]++
        count = split(held[at], h, " ")
        for (i = 1; i <= count; i++) values[file, ++n_values[file]] = h[i]
        if (mode == "rows") print file, $2 text[at]
        next
    }
    reason = stated[at]
    for (i = 1; i <= n_reasons && reason == ""; i++) if (of[i] == file && row ~ fits[i]) reason = why[i]
    if (reason == "") { reason = "no prediction and no reason"; if (bad++ < 20) print file, $2, reason }
    else if (mode == "rows") print file, $2 "  not predicted: " reason
    if (!((file, reason) in missing)) { causes[file]++; cause[file, causes[file]] = reason }
    missing[file, reason]++
}
# v[1..m]: the values of a file in ascending order
function sort(file, m,    gap, i, j, x) {
    for (i = 1; i <= m; i++) v[i] = values[file, i]
    for (gap = int(m / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= m; i++) {
            x = v[i]
            for (j = i; j > gap && v[j - gap] > x; j -= gap) v[j] = v[j - gap]
            v[j] = x
        }
}
END {
    printf "%-40s %6s %10s %9s | %s\n", "table", "rows", "predicted", "coverage", "error on rows that fitted nothing: median, 90th percentile"
    for (i = 1; i <= n; i++) {
        f = order[i]; m = n_values[f]; all += rows[f]; have += covered[f]
        sort(f, m)
        printf "%-40s %6d %10d %8.1f %% | %s\n", f, rows[f], covered[f], 100 * covered[f] / rows[f],
            m ? sprintf("%6.1f %%  %6.1f %%  (%d)", 100 * v[int(m / 2) + 1], 100 * v[int(0.9 * m) + 1], m) : ""
    }
    printf "%-40s %6d %10d %8.1f %% |\n", "all", all, have, 100 * have / all
    print "without a prediction:"
    for (i = 1; i <= n; i++)
        for (k = 1; k <= causes[order[i]]; k++)
            printf "%6d  %s: %s\n", missing[order[i], cause[order[i], k]], order[i], cause[order[i], k]
}
