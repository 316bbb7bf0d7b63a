#!/usr/bin/env bash
# Predicted and measured times of training steps: table 5 of Korthikanti et al. and the steps of Narayanan et al. without ZeRO-3, by
# the templates of examples/megatron.dfl; steps of vTrain and of Megatron-Turing NLG by the template `full`; steps with ZeRO-3 by a
# template of training.dfl. The measurements stand beside the repository (REFERENCE=directory) and are read in place. No number of the
# example is fitted to them. Fails if a row does not evaluate, if an error of the first group is above 15 % or its mean above 5 %, or
# if the mean of all steps on several A100 servers is above 8 %. Rows with ZeRO-3 have no bar. The last table counts the measured
# steps that no template expresses, with the reason; `run_training.sh all` prints each of them.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/calculon/ground_truth.csv" ] || skip_all "$reference/calculon/ground_truth.csv is not here"

cp examples/megatron_gemm.csv "$work"
awk -v plans="$work/plans" -v rows="$work/rows" -v left="$work/left" -f tests/plan/training.awk \
    "$reference/calculon/ground_truth.csv" "$reference/dfmodel/measured/korthikanti_2022.csv" \
    "$reference/dfmodel/measured/megatron_2021.csv"
sed '/^mapping [a-z0-9_]* = /,$d' examples/megatron.dfl >"$work/all.dfl"
# the cluster of vTrain: 800 Gbit/s of InfiniBand for a server of 8 chips
sed -n '/^system selene/,/^}/p' examples/megatron.dfl | sed 's|system selene|system vtrain|; s|link.ib_hdr_bandwidth|12.5GB/s|' >>"$work/all.dfl"
sed '1d' tests/plan/training.dfl >>"$work/all.dfl"
cat "$work/plans" >>"$work/all.dfl"
# compare FILE: the table of the errors of all rows, by the best candidate of each
compare() {
    "$DFLC" eval --format csv "$1" >"$work/csv" 2>"$work/err"
    awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
        { split($0, c, " "); id = c[1]; if (!(id in measured)) { ids[++n] = id; measured[id] = c[3]; group[id] = c[4] } }
        c[2] in seconds && (!(id in best) || seconds[c[2]] < best[id]) { best[id] = seconds[c[2]]; name[id] = c[2] }
        END { for (i = 1; i <= n; i++) { id = ids[i]; print id, name[id] == "" ? "-" : name[id], best[id] + 0, measured[id], group[id] } }' \
        "$work/csv" "$work/rows" |
        awk '{ if ($2 == "-") { printf "%-28s not evaluated\n", $1; next }
            split($2, part, "_"); e = ($3 / $4 - 1) * 100; a = e < 0 ? -e : e; sum[$5] += a; n[$5]++
            worst[$5] = a > worst[$5] ? a : worst[$5]
            if ($5 != "zero3" && $1 !~ /22B/) { servers += a; n_servers++ }
            printf "%-28s micro %s interleave %s  predicted %8.3f s  measured %8.3f s  error %+6.1f %%\n", $1,
                   substr(part[2], 2), substr(part[3], 2), $3, $4, e }
          END {
            printf "rows %d, mean absolute error %.1f %%, largest %.1f %%; the bars are 5 %% and 15 %% (Korthikanti et al., Narayanan et al.)\n",
                   n["paper"], sum["paper"] / n["paper"], worst["paper"]
            printf "several servers: %d rows, mean absolute error %.1f %%; the bar is 8 %%\n", n_servers, servers / n_servers
            printf "ZeRO-3: %d rows, mean absolute error %.1f %%, no bar\n", n["zero3"], sum["zero3"] / n["zero3"] }'
}

compare "$work/all.dfl" >"$work/table"
cat "$work/table"
sed '/option exchanges = blocking;/d' "$work/all.dfl" >"$work/beside.dfl"
compare "$work/beside.dfl" >"$work/beside"
echo "with exchanges beside kernels: $(grep '^rows' "$work/beside")"
echo "measured steps without a prediction:"
sort "$work/left" | if [ "${1:-}" = all ]; then cat; else sed 's/^[^ ]* //' | sort | uniq -c; fi
! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
awk '/^rows/ { exit !($6 + 0 <= 5 && $9 + 0 <= 15) }' "$work/table"
judge $? "the mean error is above 5 %, or an error above 15 %" "$work/table"
awk '/^several/ { exit !($8 + 0 <= 8) }' "$work/table"
judge $? "the mean error of steps on several servers is above 8 %" "$work/table"
finish
