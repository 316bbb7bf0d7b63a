#!/usr/bin/env bash
# Predicted and measured training steps in fp32 on four H100: copies of the model, stages, and tensor parallel (silicon/models_fp32.csv,
# which is read in place, REFERENCE=directory). The sizes of GPT-3 XL are not published there: 24 heads of 128. No bar; fails if a row
# does not evaluate. Counts the rows on one chip, which are no plans.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/silicon/models_fp32.csv" ] || skip_all "$reference/silicon/models_fp32.csv is not here"

sed '/^\/\/\/ A100 SXM 80 GB/,$d' examples/megatron.dfl | sed 's/) : bf16 {/) : fp32 {/' >"$work/all.dfl"
sed '1d; /^import/d' tests/plan/models_fp32.dfl >>"$work/all.dfl"
sed -n '/^system h100_x4/,/^}/p' stdlib/networks/measured.dfl | sed 's/system h100_x4/system server/; s/use hopper.h100;/use gpu_fp32;/' >>"$work/all.dfl"
awk -F, -v plans="$work/plans" -v rows="$work/rows" '
    BEGIN { plan["dp4"] = "copies"; plan["pp4_1"] = "stages"; plan["tp4"] = "parts"
            size["gpt2_large"] = "layers = 36, width = 1280, heads = 20"; size["gpt3_xl"] = "layers = 24, width = 3072, heads = 24"
            size["gpt3_27"] = "layers = 32, width = 2560, heads = 32" }
    FNR == 1 { next }
    !($6 in plan) { alone[$1]++; next }
    !($1 ~ /^H100/ && $2 in size) { print "no plan:", $1, $2, $6; next }
    { name = "row" FNR
      printf "mapping %s = %s for gpt_step(%s, batch = %d, seq = %d, vocab = 50257) on server;\n", name, plan[$6], size[$2], $5, $4 > plans
      print name, $1, $2, $6, $7 / 1000 > rows }
    END { for (c in alone) print "on one chip:", alone[c], c | "sort" }' "$reference/silicon/models_fp32.csv"
cat "$work/plans" >>"$work/all.dfl"
"$DFLC" eval --format csv "$work/all.dfl" >"$work/csv" 2>"$work/err"
awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
    { split($0, c, " ") }
    !(c[1] in seconds) { print "not evaluated:", $0; next }
    { printf "%-16s %-11s %-6s predicted %7.3f s  measured %7.3f s  error %+6.1f %%\n", c[2], c[3], c[4], seconds[c[1]], c[5],
          (seconds[c[1]] / c[5] - 1) * 100 }' "$work/csv" "$work/rows" >"$work/table"
cat "$work/table"
[ -s "$work/table" ] && ! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
finish
