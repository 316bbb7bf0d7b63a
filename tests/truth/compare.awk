# Prints one row of the table of run_truth.sh; its status tells whether the bounds `median` and `high` hold for the rows that
# nothing was fitted to, and 1.02 for the best mapping. Reads rows.txt, plain.csv, measured.csv.
function sort(list, n,   gap, i, j, x) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap; i < n; i++) {
            x = list[i]
            for (j = i; j >= gap && list[j - gap] > x; j -= gap) list[j] = list[j - gap]
            list[j] = x
        }
}
function range(list, n) { return n == 0 ? "" : sprintf("%5.1f %% %5.1f %%", 100 * list[int(n / 2)], 100 * list[int(n * 0.9)]) }
BEGIN { FS = "," }
FNR == 1 { file++ }
FILENAME ~ /rows.txt$/ { least[$1] = $2; middle[$1] = $3; warm[$1] = $4; order[n_rows++] = $1; next }
{
    at = index($1, "_")
    row = substr($1, 2, at - 2)
    seconds = $2 + 0
    if (!at || !(row in least) || seconds <= 0) next
}
FILENAME ~ /plain.csv$/ { if (!(row in plain) || seconds < plain[row]) plain[row] = seconds; next }
{ if (!(row in measured) || seconds < measured[row]) measured[row] = seconds }
END {
    for (i = 0; i < n_rows; i++) {
        row = order[i]
        if (row in plain) {
            covered++
            ratio = plain[row] * 1e6 / least[row]
            ratios[n_ratios++] = ratio
            if (least[row] >= 20 && !warm[row]) {
                if (ratio > most) { most = ratio; worst = row }
                above += ratio > 1.02
            }
        }
        if (row in measured) {
            error = measured[row] * 1e6 / middle[row] - 1
            if (error < 0) error = -error
            if (row % 2) others[n_others++] = error
            else fitted[n_fitted++] = error
        }
    }
    sort(ratios, n_ratios); sort(others, n_others); sort(fitted, n_fitted)
    printf "%-30s %6d %6.1f %% | %6s %6s %6s | %15s | %15s\n", name, n_rows, 100 * covered / n_rows,
        n_ratios ? sprintf("%.2f", ratios[int(n_ratios / 2)]) : "", n_ratios ? sprintf("%.2f", most) : "",
        n_ratios ? above + 0 : "", range(fitted, n_fitted), range(others, n_others)
    bad = above > 0 && kind != "layer_norm"
    if (median != "" && !sample) bad = bad || others[int(n_others / 2)] > median || (high != "" && others[int(n_others * 0.9)] > high)
    if (median != "" && sample) bad = bad || !n_others || others[int(n_others / 2)] > 1.5 * median
    if (bad) printf "FAILED: %s (row %s)\n", name, worst
    exit bad
}
