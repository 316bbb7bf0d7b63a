# Prints one row of the table of run_truth.sh and appends the row to the file `record`. Reads recorded.csv, rows.txt, plain.csv and
# measured.csv. The status is not 0 if the row is worse than it may be:
#   - a row of 20 us or more, whose operands do not fit the last cache, is measured below the best mapping / 1.02 (not attention),
#     and there are more such rows than recorded.
#     Where they take up to 1.5 times the cache, the time of filling it is first taken off the best mapping: one run of a kernel
#     leaves the next one that much
#   - the median or the 90th percentile over the judging rows is more than 1.1 times the recorded figure, or fewer rows evaluate
#   - all rows: the recorded figures meet the bars `median` and `high`, and the present ones do not
#   - the sample: the recorded median is below 1.5 times `median`, and the present one is not
# A row whose recorded figures do not meet its bars is printed as `falls short` and does not fail by that.
# Variables: name, kind, mode (sample or all), median and high (bars, shares, may be empty), judge (`odd`: odd rows judge, even rows were
# fitted; `all`: nothing was fitted to any row), list and table (a file that gets a line for each row of the table, may be empty).
function sort(list, n,   gap, i, j, x) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap; i < n; i++) {
            x = list[i]
            for (j = i; j >= gap && list[j - gap] > x; j -= gap) list[j] = list[j - gap]
            list[j] = x
        }
}
function range(list, n) { return n == 0 ? "" : sprintf("%5.1f %% %5.1f %%", 100 * list[int(n / 2)], 100 * list[int(n * 0.9)]) }
function meets(m, h) { return m <= median && (high == "" || h <= high) }
function fail(text) { printf "FAILED: %s: %s\n", name, text; bad = 1 }
BEGIN { FS = "," }
FILENAME ~ /recorded.csv$/ {
    if ($1 == mode && $2 == name) { known = 1; was_covered = $3; was_median = $4; was_high = $5; was_above = $6 }
    next
}
FILENAME ~ /rows.txt$/ { least[$1] = $2; middle[$1] = $3; warm[$1] = $4; saved[$1] = $5; order[n_rows++] = $1; next }
{
    at = index($1, "_")
    row = substr($1, 2, at - 2)
    seconds = $2 + 0
    if (!at || !(row in least) || seconds <= 0) next
}
substr($1, at + 1) == "before" { if (FILENAME ~ /plain.csv$/) plain_before[row] = seconds; else measured_before[row] = seconds; next }
FILENAME ~ /plain.csv$/ { if (!(row in plain) || seconds < plain[row]) plain[row] = seconds; next }
{ if (!(row in measured) || seconds < measured[row]) measured[row] = seconds }
END {
    for (i = 0; i < n_rows; i++) {
        row = order[i]
        covered += row in plain || row in measured
        if (row in plain) {
            plain[row] += plain_before[row]
            ratio = plain[row] * 1e6 / least[row]
            ratios[n_ratios++] = ratio
            if (least[row] >= 20 && !warm[row]) {
                if (ratio > 1.02) ratio = (plain[row] * 1e6 - saved[row]) / least[row]
                if (ratio > most) { most = ratio; worst = row }
                above += ratio > 1.02
            }
        }
        if (row in measured && list != "" && table != "")
            print table, row, (measured[row] + measured_before[row]) * 1e6, middle[row], judge == "all" || row % 2 ? "held" : "fit" >> list
        if (row in measured) {
            error = (measured[row] + measured_before[row]) * 1e6 / middle[row] - 1
            if (error < 0) error = -error
            if (judge == "all" || row % 2) others[n_others++] = error
            else fitted[n_fitted++] = error
        }
    }
    sort(ratios, n_ratios); sort(others, n_others); sort(fitted, n_fitted)
    covered = sprintf("%.1f", 100 * covered / n_rows)
    m = n_others ? others[int(n_others / 2)] : ""
    h = n_others ? others[int(n_others * 0.9)] : ""
    if (median == "") verdict = ""
    else if (!n_others) verdict = "no judging row"
    else verdict = sprintf("%s %g %%%s", meets(m, h) ? "meets" : "falls short of", 100 * median, high == "" ? "" : sprintf(", %g %%", 100 * high))
    printf "%-34s %5d %6.1f %% | %5s %5s %5s | %15s | %15s | %s\n", name, n_rows, covered,
        n_ratios ? sprintf("%.2f", ratios[int(n_ratios / 2)]) : "", most ? sprintf("%.2f", most) : "",
        n_ratios ? above + 0 : "", range(fitted, n_fitted), range(others, n_others), verdict
    printf "%s,%s,%s,%s,%s,%d\n", mode, name, covered, n_others ? sprintf("%.4f", m) : "", n_others ? sprintf("%.4f", h) : "", above >> record

    if (above > 0 && kind != "attention" && above <= was_above)
        print "falls short: " name ": " above " rows are measured faster than the best mapping, row " worst " by " most
    if (above > was_above && kind != "attention") fail(above " rows are measured faster than the best mapping, row " worst " by " most)
    if (!known) { if (median != "") print "note: " name " has no recorded figures"; exit bad }
    if (covered + 0 < was_covered + 0) fail("covered " covered " %, recorded " was_covered " %")
    if (was_median == "") exit bad
    if (!n_others) { fail("no row evaluates, recorded median " 100 * was_median " %"); exit 1 }
    if (m > 1.1 * was_median) fail("median " 100 * m " %, recorded " 100 * was_median " %")
    if (h > 1.1 * was_high) fail("90th percentile " 100 * h " %, recorded " 100 * was_high " %")
    if (median != "" && mode == "all" && meets(was_median, was_high) && !meets(m, h)) fail("no longer meets its bars")
    if (median != "" && mode == "sample" && was_median <= 1.5 * median && m > 1.5 * median) fail("median above 1.5 times its bar")
    exit bad
}
