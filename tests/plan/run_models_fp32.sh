#!/usr/bin/env bash
# Predicted and measured inference and training steps in fp32 (silicon/models_fp32.csv, which is read in place,
# REFERENCE=directory): on four H100 with copies of the model, stages, and tensor parallel, and on one chip, as two chips that do
# the same and exchange gradients in no time. Shares of products are medians of silicon/gemm_fp32.csv; an MI250 (one die) has
# those of the MI100. The sizes of the models are not published there: GPT-3 XL has 24 heads of 128. No bar; fails if a row does
# not evaluate. Counts the rows that no plan expresses.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -f "$reference/silicon/models_fp32.csv" ] || skip_all "$reference/silicon/models_fp32.csv is not here"

sed '/^\/\/\/ A100 SXM 80 GB/,$d' examples/megatron.dfl | sed 's/) : bf16 {/) : fp32 {/' >"$work/all.dfl"
sed '1d; /^import/d' tests/plan/models_fp32.dfl >>"$work/all.dfl"
sed -n '/^system h100_x4/,/^}/p' stdlib/networks/measured.dfl | sed 's/system h100_x4/system server/; s/use hopper.h100;/use gpu_fp32;/' >>"$work/all.dfl"
# one chip: peaks of tests/truth/kernels_chips.txt, shares of its products above 20 GFLOP
awk 'FILENAME ~ /chips/ { for (i = 3; i < NF; i += 2) if ($i == "fp32") { peak[$1] = $(i + 1); memory[$1] = $2 } next }
    { split($0, c, ","); flop = 2 * c[3] * c[4] * c[5] * c[6] }
    flop > 2e10 { x = flop / c[8] / 1e6 / peak[c[1]]; for (i = ++n[c[1]]; i > 1 && share[c[1], i - 1] > x; i--) share[c[1], i] = share[c[1], i - 1]
        share[c[1], i] = x }
    END { n["mi250"] = n["mi100"]; for (i = 1; i <= n["mi100"]; i++) share["mi250", i] = share["mi100", i] # its products are not timed
        for (d in n)
        printf "system gpu_%s { memory hbm { size = unlimited; bandwidth = %sGB/s; efficiency = 78%%; } compute sm { launch = 2.5us; rate { mac " \
            "{ fp32 = %sTMAC/s; } fp32 = %sTFLOP/s; i32 = %sTOP/s; } efficiency { mac { fp32 = %.4f; } } } }\nsystem pair_%s { network link = " \
            "ring { bandwidth = 1000000TB/s; } array gpu[2] over link { use gpu_%s; } }\n", d, memory[d], peak[d] / 2, peak[d], peak[d],
            share[d, int(n[d] / 2) + 1], d, d }' tests/truth/kernels_chips.txt "$reference/silicon/gemm_fp32.csv" >>"$work/all.dfl"
awk -F, -v plans="$work/plans" -v rows="$work/rows" '
    BEGIN { plan["dp4"] = "copies"; plan["pp4_1"] = "stages"; plan["tp4"] = "parts"
            size["gpt2_large"] = "layers = 36, width = 1280, heads = 20"; size["gpt3_xl"] = "layers = 24, width = 3072, heads = 24"
            size["gpt3_27"] = "layers = 32, width = 2560, heads = 32"; size["bert_large"] = "layers = 24, width = 1024, heads = 16"
            size["opt_13"] = "layers = 24, width = 2048, heads = 32"
            n = split("A100-PCIE-40GB A100_80GB_PCIe H100_80GB_HBM3 V100-PCIE-32GB P100-PCIE-16GB T4 MI100 MI250", long, " ")
            split("a100_pcie_40g a100_pcie_80g h100_sxm v100_pcie p100_pcie t4 mi100 mi250", short, " ")
            for (i = 1; i <= n; i++) chip[long[i]] = short[i] }
    FNR == 1 { next }
    $6 == "" && $1 in chip && $2 in size {
        name = "row" FNR
        printf "mapping %s = alone%s for %s(%s, batch = %d, seq = %d, vocab = %d) on pair_%s;\n", name, $3 == "inf" ? "" : "_step",
            $3 == "inf" ? "gpt" : "gpt_step", size[$2], 2 * $5, $4, $2 ~ /bert/ ? 30522 : 50257, chip[$1] > plans
        print name, $1, $2, $3 "_batch_" $5 "_seq_" $4, $7 / 1000 > rows
        next }
    !($6 in plan) { alone[$1]++; next }
    !($1 ~ /^H100/ && $2 in size) { print "no plan:", $1, $2, $6; next }
    { name = "row" FNR
      printf "mapping %s = %s for gpt_step(%s, batch = %d, seq = %d, vocab = 50257) on server;\n", name, plan[$6], size[$2], $5, $4 > plans
      print name, $1, $2, $6, $7 / 1000 > rows }
    END { for (c in alone) print "no plan on one chip:", alone[c], c | "sort" }' "$reference/silicon/models_fp32.csv"
cat "$work/plans" >>"$work/all.dfl"
"$DFLC" eval --format csv "$work/all.dfl" >"$work/csv" 2>"$work/err"
awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
    { split($0, c, " ") }
    !(c[1] in seconds) { print "not evaluated:", $0; next }
    { printf "%-16s %-11s %-20s predicted %7.3f s  measured %7.3f s  error %+6.1f %%\n", c[2], c[3], c[4], seconds[c[1]], c[5],
          (seconds[c[1]] / c[5] - 1) * 100 }' "$work/csv" "$work/rows" >"$work/table"
cat "$work/table"
awk '{ e = $(NF - 1); e = e < 0 ? -e : e; sum += e; n++ } END { printf "rows %d, mean absolute error %.1f %%, no bar\n", n, sum / n }' "$work/table"
[ -z "${LIST:-}" ] || awk 'FNR == NR { key[$2 " " $3 " " $4] = substr($1, 4); next }
    /predicted/ { print "silicon/models_fp32.csv", key[$1 " " $2 " " $3], $5, $8, "held" }' "$work/rows" "$work/table" >>"$LIST"
[ -s "$work/table" ] && ! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
finish
