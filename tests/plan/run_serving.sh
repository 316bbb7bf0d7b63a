#!/usr/bin/env bash
# Predicted and measured times of serving PaLM on TPU v4 (Pope et al., MLSys 2023): prompts, and 64 tokens behind them, by the
# plans of examples/palm_serving.dfl with rates of the data sheet. The measurements stand beside the repository
# (REFERENCE=directory) and are read in place. Fails if a row does not evaluate, or if the median error is above 13 %. Then tokens
# per second of Llama and Qwen3 235B with TensorRT-LLM on H100, H200 (an H100 with another memory), B200 and GB200 (a B200 with more of it),
# without a bar. Counts the other measured rows of inference, which no plan predicts, by chip and metric.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/calculon/ground_truth.csv" ] || skip_all "$reference/calculon/ground_truth.csv is not here"

"$DFLC" eval --format csv examples/palm_serving.dfl >"$work/csv" 2>"$work/err"
judge $? "evaluation of examples/palm_serving.dfl" "$work/err"
awk -v left="$work/left" -v list="${LIST:-}" '
    function reason(id) {
        if (id ~ /kipply/) return "PyTorch on an A100 with 40 GB, without calibration"
        return id ~ /cerebras/ ? "the number of wafers is not published" : "the lengths of the requests are not given"
    }
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
    c[1] !~ /^trtllm-(l8|l70|l405|q235)-/ { print c[1], reason(c[1]) > left }
    END {
        for (i = 1; i <= k; i++) for (j = i + 1; j <= k; j++) if (error[j] < error[i]) { x = error[i]; error[i] = error[j]; error[j] = x }
        printf "rows %d, median error %.1f %%; the bar is 13 %%\n", k, k % 2 ? error[(k + 1) / 2] : (error[k / 2] + error[k / 2 + 1]) / 2 }
    ' "$work/csv" "$reference/calculon/ground_truth.csv" >"$work/table"
cat "$work/table"
# shares CHIP TYPE PEAK ATTENTION: shares of products, by their extents; an extent below 64 takes the time of 64. A product with one extent
# of 1 and another of 128, the head, is that of an attention of a token; its share is that of std.chips.measured.attention.
shares() {
    token=$(awk -F, '$2 == 128 && $3 == 128 { print $4 }' "stdlib/chips/measured/attention_$4_token.csv")
    sed "s/a100_sxm/$1/; s/bfloat16/$2/; s/312e6/$3/" tests/truth/gemm_shapes.awk >"$work/shapes.awk"
    awk -F, -f "$work/shapes.awk" "$reference/silicon/gemm.csv" | awk -F, -v token="$token" '
    NR == 1 { print; next }
    { share[$1, $2, $3] = $4; if (!($1 in known)) { known[$1]; at[++n] = $1 } }
    END { at[0] = 1
        for (a = 0; a <= n; a++) for (b = 0; b <= n; b++) for (c = 0; c <= n; c++) {
            x = share[a ? at[a] : at[1], b ? at[b] : at[1], c ? at[c] : at[1]]
            x = x / (a ? 1 : at[1]) / (b ? 1 : at[1]) / (c ? 1 : at[1])
            if (!a && b && c && (at[b] == 128 || at[c] == 128)) x = token
            printf "%d,%d,%d,%.8f\n", at[a], at[b], at[c], x } }'
}
shares h100_sxm fp8 1979e6 h100 >"$work/h100_fp8.csv"
shares b200_sxm nvfp4 9000e6 b200 >"$work/b200_fp4.csv"
awk -v plans="$work/plans" -v rows="$work/rows" -f tests/plan/serving_rows.awk "$reference/calculon/ground_truth.csv"
server() { # server CHIP NAME CHIPS: a server of CHIPS chips, with the exchanges that std.networks.measured has for CHIP
    sed -n "/^system $1_x$3 /,/^}/p" stdlib/networks/measured.dfl | sed "s/system $1_x$3/system $2_server$3/; s/use [a-z]*\.[a-z0-9]*;/use $2;/"
}
{
    sed '/^mapping/,$d' tests/plan/serving.dfl
    # all values in fp8; with weights in fp4 (4 bits; their scales are not counted) a second time
    sed '/^expect/d; 1d; s/) : bf16 {/) : fp8 {/; s/ : fp32 +=/ +=/' stdlib/workloads/serving.dfl | tee "$work/serving"
    for w in prefill decode; do
        sed -n "/^workload $w(/,/^}/p" "$work/serving" | sed "s/^workload $w/workload ${w}4/; /^ *weight/s/\]/] : i4/g"
    done
    # layers of experts, in the same types
    for w in prefill decode; do
        sed -n "/^workload mixtral_$w(/,/^}/p" stdlib/workloads/mixtral.dfl |
            sed "s/^workload mixtral_$w/workload experts_$w/; s/) : bf16 {/) : fp8 {/; s/ : fp32 +=/ +=/; s/ : fp32 =/ =/" | tee "$work/experts"
        sed "s/^workload experts_$w/workload experts_${w}4/; /^ *weight/s/\]/] : i4/g" "$work/experts"
    done
    for n in 2 8; do server h100 h100 $n; done
    server h100 h200 8
    for chip in b200 gb200; do server b200 $chip 4; done
    server b200 b200 8
    for chip in h100 h200 b200 gb200; do
        echo "system ${chip}_server1 { network link = ring { bandwidth = 1TB/s; } array gpu[2] over link { use $chip; } }"
    done
    # templates for each type of weights, and for one chip
    for type in "" 4; do
        sed -n '/^mapping experts_/,/^}/p' tests/plan/serving.dfl |
            sed "s/^mapping experts_\([a-z]*\) for experts_\([a-z]*\) on server/mapping experts_\1$type for experts_\2$type on h100_server8/"
        sed -n '/^mapping [pt]/,/^}/p' tests/plan/serving.dfl | sed "s/^mapping \([a-z]*\)(tp) for \([a-z]*\) on server/mapping \1$type(tp) for \2$type on h100_server2/" |
            tee "$work/templates"
        sed "s/^mapping \([a-z0-9]*\)(tp)/mapping \1_alone(tp)/; s/spatial g.*/spatial b\/2 on gpu;/" "$work/templates"
    done
    cat "$work/plans"
} >"$work/llama.dfl"
"$DFLC" eval --format csv "$work/llama.dfl" >"$work/csv" 2>"$work/err"; [ -z "${KEEP:-}" ] || cp "$work/llama.dfl" "$work/err" "$work"/*.csv "$KEEP"
awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
    { split($0, c, " "); prompt = seconds[c[1] "_prompt"]; token = seconds[c[1] "_token"] }
    !prompt || !token { print "not evaluated:", c[2]; next }
    { rate = c[3] * c[5] / (c[3] / c[4] * prompt + c[5] * token); e = (rate / c[6] - 1) * 100; split(c[2], id, "-"); chip = id[2] " on " id[3]
      if (!(chip in of)) order[++chips] = chip
      of[chip]++; errors[chip] += e < 0 ? -e : e
      if (id[2] != "q235") { sum += e < 0 ? -e : e; n++ }
      printf "%-38s batch %4d  first token %4.0f ms  token %5.1f ms  predicted %5.0f tokens/s  measured %5.0f  error %+6.1f %%\n", c[2],
             c[3], prompt * 1000, token * 1000, rate, c[6], e }
    END { printf "Llama with TensorRT-LLM: %d rows, mean absolute error %.1f %%, no bar\n", n, sum / n
          for (i = 1; i <= chips; i++) printf "  %-14s %2d rows, mean absolute error %.1f %%\n", order[i], of[order[i]], errors[order[i]] / of[order[i]] }' \
    "$work/csv" "$work/rows" >"$work/llama"
cat "$work/llama"
! grep -q "not evaluated" "$work/llama"
judge $? "a row of TensorRT-LLM does not evaluate" "$work/err"
echo "measured rows of inference without a plan:"
sed 's/^[^ ]* //' "$work/left" | sort | uniq -c
if [ -n "${LIST:-}" ]; then
    awk '/^trtllm/ { for (i = 1; i < NF; i++) { if ($i == "predicted") p = $(i + 1); if ($i == "measured") m = $(i + 1) }
        print "calculon/ground_truth.csv", $1, p, m, "held" }' "$work/llama" >>"$LIST"
    awk '{ print "calculon/ground_truth.csv", $1, "-", "-", substr($0, length($1) + 2) }' "$work/left" >>"$LIST"
fi
! grep -q "not evaluated" "$work/table" && awk '/^rows/ { exit !($2 + 0 == 6 && $5 + 0 <= 13) }' "$work/table"
judge $? "a row is missing, or the median error is above 13 %" "$work/table"
finish
