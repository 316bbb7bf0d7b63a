#!/usr/bin/env bash
# Predicted and measured times of serving PaLM on TPU v4 (Pope et al., MLSys 2023): prompts, and 64 tokens behind them, by the plans of
# examples/palm_serving.dfl with rates of the data sheet. The measurements stand beside the repository (REFERENCE=directory) and are
# read in place. Fails if a row does not evaluate, or if the median error is above 13 %. Then tokens per second of Llama with
# TensorRT-LLM on several H100, without a bar. Counts the other measured rows of inference, which no plan predicts, by chip and metric.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/calculon/ground_truth.csv" ] || skip_all "$reference/calculon/ground_truth.csv is not here"

"$DFLC" eval --format csv examples/palm_serving.dfl >"$work/csv" 2>"$work/err"
judge $? "evaluation of examples/palm_serving.dfl" "$work/err"
awk -v left="$work/left" -v list="${LIST:-}" '
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
        error[++k] = e < 0 ? -e : e
        if (list != "") print "calculon/ground_truth.csv", c[1], got, c[col["value"]], "held" >> list
        next }
    c[1] !~ /^trtllm-l(70|405)-H100-/ { print c[1], c[col["chip"]], c[col["metric"]] > left }
    END {
        for (i = 1; i <= k; i++) for (j = i + 1; j <= k; j++) if (error[j] < error[i]) { x = error[i]; error[i] = error[j]; error[j] = x }
        printf "rows %d, median error %.1f %%; the bar is 13 %%\n", k, k % 2 ? error[(k + 1) / 2] : (error[k / 2] + error[k / 2 + 1]) / 2 }
    ' "$work/csv" "$reference/calculon/ground_truth.csv" >"$work/table"
cat "$work/table"
# shares of products in fp8; an extent below 64 takes the time of 64
sed 's/a100_sxm/h100_sxm/; s/bfloat16/fp8/; s/312e6/1979e6/' tests/truth/gemm_shapes.awk >"$work/shapes.awk"
awk -F, -f "$work/shapes.awk" "$reference/silicon/gemm.csv" | awk -F, '
    NR == 1 { print; next }
    { share[$1, $2, $3] = $4; if (!($1 in known)) { known[$1]; at[++n] = $1 } }
    END { at[0] = 1
        for (a = 0; a <= n; a++) for (b = 0; b <= n; b++) for (c = 0; c <= n; c++) {
            x = share[a ? at[a] : at[1], b ? at[b] : at[1], c ? at[c] : at[1]]
            printf "%d,%d,%d,%.8f\n", at[a], at[b], at[c], x / (a ? 1 : at[1]) / (b ? 1 : at[1]) / (c ? 1 : at[1]) } }' >"$work/h100_fp8.csv"
awk -v plans="$work/plans" -v rows="$work/rows" -f tests/plan/serving_rows.awk "$reference/calculon/ground_truth.csv"
{
    sed '/^mapping/,$d' tests/plan/serving.dfl
    sed '/^expect/d; 1d; s/) : bf16 {/) : fp8 {/; s/ : fp32 +=/ +=/' stdlib/workloads/serving.dfl
    for n in 2 8; do
        sed -n "/^system h100_x$n/,/^}/p" stdlib/networks/measured.dfl | sed "s/system h100_x$n/system server$n/; s/use hopper.h100;/use gpu_fp8;/"
        sed -n '/^mapping/,$p' tests/plan/serving.dfl | sed "s/^mapping \([a-z]*\)/mapping \1_on$n/; s/on server/on server$n/"
    done
    sed 's/= \([a-z]*\)(\(tp = [0-9]*\)\(.*\) on server\([0-9]*\);/= \1_on\4(\2\3 on server\4;/' "$work/plans"
} >"$work/llama.dfl"
"$DFLC" eval --format csv "$work/llama.dfl" >"$work/csv" 2>"$work/err"
awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
    { split($0, c, " "); prompt = seconds[c[1] "_prompt"]; token = seconds[c[1] "_token"] }
    !prompt || !token { print "not evaluated:", c[2]; next }
    { rate = c[3] * c[5] / (c[3] / c[4] * prompt + c[5] * token); e = (rate / c[6] - 1) * 100; sum += e < 0 ? -e : e; n++
      printf "%-38s batch %4d  first token %4.0f ms  token %5.1f ms  predicted %5.0f tokens/s  measured %5.0f  error %+6.1f %%\n", c[2],
             c[3], prompt * 1000, token * 1000, rate, c[6], e }
    END { printf "Llama on H100: %d rows, mean absolute error %.1f %%, no bar\n", n, sum / n }' "$work/csv" "$work/rows" >"$work/llama"
cat "$work/llama"
! grep -q "not evaluated" "$work/llama"
judge $? "a row of Llama does not evaluate" "$work/err"
echo "measured rows of inference without a plan:"
sed 's/^[^ ]* //' "$work/left" | sort | uniq -c
if [ -n "${LIST:-}" ]; then
    awk '/^trtllm/ { for (i = 1; i < NF; i++) { if ($i == "predicted") p = $(i + 1); if ($i == "measured") m = $(i + 1) }
        print "calculon/ground_truth.csv", $1, p, m, "held" }' "$work/llama" >>"$LIST"
    awk '{ print "calculon/ground_truth.csv", $1, "-", "-", "no plan of this chip or model: " $2 " " $3 }' "$work/left" >>"$LIST"
fi
! grep -q "not evaluated" "$work/table" && awk '/^rows/ { exit !($2 + 0 == 6 && $5 + 0 <= 13) }' "$work/table"
judge $? "a row is missing, or the median error is above 13 %" "$work/table"
finish
