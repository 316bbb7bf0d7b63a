#!/usr/bin/env bash
# Predicted and measured times of training steps: table 5 of Korthikanti et al. and the steps of Narayanan et al. without ZeRO-3, by
# the templates of examples/megatron.dfl. The measurements stand beside the repository (REFERENCE=directory) and are read in place.
# No number of the example is fitted to them. Fails if a row does not evaluate, or if an error is above 15 %; the bar of the mean
# is 5 %.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/calculon/ground_truth.csv" ] || skip_all "$reference/calculon/ground_truth.csv is not here"

cp examples/megatron_gemm.csv "$work"
awk -v plans="$work/plans" -v rows="$work/rows" -f tests/plan/training.awk "$reference/calculon/ground_truth.csv" \
    "$reference/dfmodel/measured/korthikanti_2022.csv" "$reference/dfmodel/measured/megatron_2021.csv"
sed '/^mapping [a-z0-9_]* = /,$d' examples/megatron.dfl >"$work/all.dfl"
cat "$work/plans" >>"$work/all.dfl"
# compare FILE: the table of the errors of all rows, by the best candidate of each
compare() {
    "$DFLC" eval --format csv "$1" >"$work/csv" 2>"$work/err"
    awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
        { split($0, c, " "); id = c[1]; if (!(id in measured)) { ids[++n] = id; measured[id] = c[3] } }
        c[2] in seconds && (!(id in best) || seconds[c[2]] < best[id]) { best[id] = seconds[c[2]]; name[id] = c[2] }
        END { for (i = 1; i <= n; i++) { id = ids[i]; print id, name[id] == "" ? "-" : name[id], best[id] + 0, measured[id] } }' \
        "$work/csv" "$work/rows" |
        awk '{ if ($2 == "-") { printf "%-28s not evaluated\n", $1; next }
            split($2, part, "_"); e = ($3 / $4 - 1) * 100; a = e < 0 ? -e : e; sum += a; n++; worst = a > worst ? a : worst
            printf "%-28s micro %s interleave %s  predicted %8.3f s  measured %8.3f s  error %+6.1f %%\n", $1,
                   substr(part[2], 2), substr(part[3], 2), $3, $4, e }
          END { printf "rows %d, mean absolute error %.1f %%, largest %.1f %%; the bars are 5 %% and 15 %%\n", n, sum / n, worst }'
}

compare "$work/all.dfl" >"$work/table"
cat "$work/table"
sed '/option exchanges = blocking;/d' "$work/all.dfl" >"$work/beside.dfl"
compare "$work/beside.dfl" >"$work/beside"
echo "with exchanges beside kernels in \`full\`, too: $(tail -n 1 "$work/beside")"
! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
awk '/^rows/ { exit !($9 + 0 <= 15) }' "$work/table"
judge $? "an error is above 15 %" "$work/table"
finish
