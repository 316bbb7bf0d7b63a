#!/usr/bin/env bash
# Predicted and measured times of serving PaLM on TPU v4 (Pope et al., MLSys 2023): prompts, and 64 tokens behind them, by the plans of
# examples/palm_serving.dfl with rates of the data sheet. The measurements stand beside the repository (REFERENCE=directory) and are
# read in place. Fails if a row does not evaluate, or if the median error is above 13 %. Counts the other measured rows of inference,
# which no plan predicts, by chip and metric.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/calculon/ground_truth.csv" ] || skip_all "$reference/calculon/ground_truth.csv is not here"

"$DFLC" eval --format csv examples/palm_serving.dfl >"$work/csv" 2>"$work/err"
judge $? "evaluation of examples/palm_serving.dfl" "$work/err"
awk -v left="$work/left" '
    BEGIN { name["540B-lowlat-prefill"] = "palm_540b_first_token"; name["540B-hithr-prefill"] = "palm_540b_prompts"
            name["540B-hithr-decode"] = "palm_540b_token"; name["62B-lowlat-prefill"] = "palm_62b_first_token"
            name["62B-hithr-prefill"] = "palm_62b_prompts"; name["62B-hithr-decode"] = "palm_62b_token" }
    FNR == 1 { file++ }
    file == 1 { split($0, c, ","); if (c[4] == "complete") seconds[c[1]] = c[5]; next }
    { line = $0; while (match(line, /"[^"]*"/)) { q = substr(line, RSTART + 1, RLENGTH - 2); gsub(/,/, ";", q)
          line = substr(line, 1, RSTART - 1) q substr(line, RSTART + RLENGTH) }
      n = split(line, c, ",") }
    FNR == 1 { for (i = 1; i <= n; i++) col[c[i]] = i; next }
    c[col["phase"]] == "train" { next }
    c[1] ~ /^pope22/ {
        id = c[1]; sub(/^pope22-/, "", id)
        if (!(name[id] in seconds)) { print "not evaluated:", c[1]; next }
        got = seconds[name[id]] * (id ~ /decode/ ? c[col["out_len"]] : 1); e = (got / c[col["value"]] - 1) * 100
        printf "%-30s %3d chips  predicted %8.3f s  measured %8.3f s  error %+6.1f %%\n", c[1], c[col["n_chips"]], got, c[col["value"]], e
        error[++k] = e < 0 ? -e : e; next }
    { print c[col["chip"]], c[col["metric"]] > left }
    END {
        for (i = 1; i <= k; i++) for (j = i + 1; j <= k; j++) if (error[j] < error[i]) { x = error[i]; error[i] = error[j]; error[j] = x }
        printf "rows %d, median error %.1f %%; the bar is 13 %%\n", k, k % 2 ? error[(k + 1) / 2] : (error[k / 2] + error[k / 2 + 1]) / 2 }
    ' "$work/csv" "$reference/calculon/ground_truth.csv" >"$work/table"
cat "$work/table"
echo "measured rows of inference without a plan:"
sort "$work/left" | uniq -c
! grep -q "not evaluated" "$work/table" && awk '/^rows/ { exit !($2 + 0 == 6 && $5 + 0 <= 13) }' "$work/table"
judge $? "a row is missing, or the median error is above 13 %" "$work/table"
finish
