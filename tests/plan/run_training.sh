#!/usr/bin/env bash
# Predicted and measured times of training steps: table 5 of Korthikanti et al. and the steps of Narayanan et al. without ZeRO-3,
# by the templates of examples/megatron.dfl; steps of vTrain and of Megatron-Turing NLG by the template `full`; steps with ZeRO-3
# by a template of training.dfl; steps with one kernel for the attention by the templates of flash.dfl, and those of layers with gates
# or groups of heads by the templates of gated.dfl. The measurements stand beside the repository (REFERENCE=directory) and are read in
# place. No number of the example is fitted to them. Fails if a row does not evaluate, if an error of the first group is above 15 % or
# its mean above 5 %, or if the mean of all steps on several A100 servers with products and softmax as kernels of their own is above 8 %.
# Rows with ZeRO-3 and with one kernel for the attention fail by no bar. No backward kernel of attention is timed, and the timed forward kernels are newer than
# most steps: steps from before FlashAttention-2 take the share of the peak that its paper states of the kernel before it. The last table
# counts the measured steps that no template expresses, with the reason. `run_training.sh all` prints each of them, and predicts two
# more groups without a bar: steps on H100 (Megatron Core), and 869 steps on one A100 server (vTrain).
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
# one server of it
sed -n '/^system selene/,/^}/p' examples/megatron.dfl | sed '$d' | sed 's/system selene(nodes)/system box(gpus)/
    /network ib/,/^    }/d; /array node/d; s/array gpu\[8\]/array gpu[gpus]/' >>"$work/all.dfl"
# a cluster of H100 with NVLink as measured, and 400 Gbit/s for a chip
sed -n '/^system selene/,/^}/p' examples/megatron.dfl | sed 's|system selene|system eos|; s|link.ib_hdr_bandwidth|50GB/s|; s/use a100/use h100/
    /network nvlink/,/^        }/d; s/over nvlink/over fabric/' | sed '/array node/r '<(
    sed -n '/^system h100_x8/,/^}/p' stdlib/networks/measured.dfl | sed -n '/network fabric/,/^    }/p') >>"$work/all.dfl"
sed 's/a100_sxm/h100_sxm/; s/312e6/989e6/' tests/truth/gemm_shapes.awk >"$work/shapes.awk"
awk -F, -f "$work/shapes.awk" "$reference/silicon/gemm.csv" >"$work/h100_gemm.csv"
# chips with one kernel for the attention: products with an extent of at most 128 (the head) take its share of the peak, which is that of
# the prompts of silicon/attention.csv; for steps from before FlashAttention-2 that of FlashAttention in its paper
# (std.chips.measured.flash_attention). Their memory is not bounded: the model keeps tensors of the loss that PyTorch frees.
flash() { # flash FILE NAME: the shares of FILE with those of the attention NAME
    awk -F, 'FNR == NR { if ($2 == 128 && $3 == 128) share = $4; next }
        /^#/ { next } $1 + 0 && ($1 <= 128 || $2 <= 128 || $3 <= 128) { $4 = share } { print $1 "," $2 "," $3 "," $4 }' \
        "stdlib/chips/measured/attention_$2.csv" "$1"
}
flash "$work/megatron_gemm.csv" a100_prompt >"$work/a100_flash.csv"
flash "$work/megatron_gemm.csv" a100_flash1 >"$work/a100_flash1.csv"
flash "$work/h100_gemm.csv" h100_prompt >"$work/h100_flash.csv"
sed 's/on flash_pod/on pod80/' tests/plan/flash.dfl | sed 1d >>"$work/all.dfl"
for chip in "80 2039GB a100_flash" "80_first 2039GB a100_flash1" "40_first 1555GB a100_flash1"; do
    set -- $chip "$@"
    sed -n '/^system a100 /,/^}/p' examples/megatron.dfl | sed "s/system a100/system chip$1/; s/size = 80GB/size = unlimited/; s/2039GB/$2/
        s/megatron_gemm/$3/"
    sed -n '/^system selene/,/^}/p' examples/megatron.dfl | sed "s/system selene/system pod$1/; s/use a100/use chip$1/"
    shift 3
done >>"$work/all.dfl"
sed -n '/^system h100 /,/^}/p' tests/plan/training.dfl | sed 's/system h100/system chip_h100/; s/size = 80GB/size = unlimited/
    s/h100_gemm/h100_flash/' >>"$work/all.dfl"
sed -n '/^system eos/,/^}/p' "$work/all.dfl" | sed 's/system eos/system pod_h100/; s/use h100/use chip_h100/' >"$work/pod"
cat "$work/pod" >>"$work/all.dfl"
# the same with products in fp8: twice the rate, their own shares, and half of the share of an attention in bf16
sed 's/a100_sxm/h100_sxm/; s/bfloat16/fp8/; s/312e6/1979e6/' tests/truth/gemm_shapes.awk >"$work/shapes.awk"
awk -F, -f "$work/shapes.awk" "$reference/silicon/gemm.csv" >"$work/h100_gemm_fp8.csv"
flash "$work/h100_gemm_fp8.csv" h100_prompt | awk -F, '$1 + 0 && ($1 <= 128 || $2 <= 128 || $3 <= 128) { $4 /= 2 } { print $1 "," $2 "," $3 "," $4 }' \
    >"$work/h100_flash_fp8.csv"
sed -n '/^system h100 /,/^}/p' tests/plan/training.dfl | sed 's/system h100/system chip_h100_fp8/; s/size = 80GB/size = unlimited/
    s/h100_gemm/h100_flash_fp8/; s/494.5TMAC/989.5TMAC/' >>"$work/all.dfl"
sed 's/pod_h100/pod_h100_fp8/; s/chip_h100/chip_h100_fp8/' "$work/pod" >>"$work/all.dfl"
# the same with groups of 4 chips, so that a stage has 4: messages between the halves of a server count as those between servers
sed 's/pod_h100/halves_h100_fp8/; s/chip_h100/chip_h100_fp8/; s/gpu\[8\]/gpu[4]/' "$work/pod" >>"$work/all.dfl"
# B200 in fp8: peaks and bandwidth of the data sheet (std.chips.b200), shares of its own products, NVLink as measured
sed 's/a100_sxm/b200_sxm/; s/bfloat16/fp8/; s/312e6/4500e6/' tests/truth/gemm_shapes.awk >"$work/shapes.awk"
awk -F, -f "$work/shapes.awk" "$reference/silicon/gemm.csv" >"$work/b200_gemm_fp8.csv"
flash "$work/b200_gemm_fp8.csv" b200_prompt | awk -F, '$1 + 0 && ($1 <= 128 || $2 <= 128 || $3 <= 128) { $4 /= 2 } { print $1 "," $2 "," $3 "," $4 }' \
    >"$work/b200_flash_fp8.csv"
sed -n '/^system h100 /,/^}/p' tests/plan/training.dfl | sed 's/system h100/system chip_b200_fp8/; s/size = 80GB/size = unlimited/
    s/h100_gemm/b200_flash_fp8/; s/494.5TMAC/2250TMAC/; s/3350GB/8000GB/; s/133.8T/150T/; s/66.9T/75T/; s/33.5T/37.5T/' >>"$work/all.dfl"
sed 's/pod_h100/pod_b200_fp8/; s/chip_h100/chip_b200_fp8/; /network fabric/,/^    }/d' "$work/pod" | sed '/array node/r '<(
    sed -n '/^system b200_x8/,/^}/p' stdlib/networks/measured.dfl | sed -n '/network fabric/,/^    }/p') >>"$work/all.dfl"
# GB200: the chip of B200 (as in run_serving.sh), all chips at the switches of NVLink (stdlib-facts/networks.csv, gb200-nvl72: 72 chips, 900 GB/s),
# with the overhead and the efficiency of 8 chips of B200
sed -n '/^system b200_x8/,/^}/p' stdlib/networks/measured.dfl |
    sed 's/system b200_x8/system nvl72_gb200_fp8(nodes)/; s/gpu\[8\]/gpu[8 * nodes]/; s/use blackwell.b200/use chip_b200_fp8/' >>"$work/all.dfl"
sed -n '/^mapping gated_sharded/,/^}/p' tests/plan/gated.dfl |
    sed 's/gated_sharded/gated_sharded_64/; s/on flash_pod/on nvl72_gb200_fp8/; s|\([bd]\)/8|\1/64|' >>"$work/all.dfl"
# GB300: B200 at a seventy-second of the dense rates of a GB300 NVL72 (NVIDIA datasheet, recalled, confidence medium: 360 PFLOP/s in fp8,
# 180 in bf16, 6 in fp32; 576 TB/s), with the shares of B200 as for GB200
sed -n '/^system chip_b200_fp8/,/^}/p' "$work/all.dfl" | sed 's/chip_b200_fp8/chip_gb300_fp8/; s/2250TMAC/2500TMAC/; s/150T/166.6T/
    s/75TF/83.3TF/; s/37.5T/41.7T/' >"$work/gb300"
sed -n '/^system pod_b200_fp8/,/^}/p; /^system nvl72_gb200_fp8/,/^}/p; /^mapping gated_sharded_64/,/^}/p' "$work/all.dfl" |
    sed 's/pod_b200/pod_gb300/; s/nvl72_gb200/nvl72_gb300/; s/chip_b200/chip_gb300/; s/sharded_64/sharded_gb300/' >>"$work/gb300"
cat "$work/gb300" >>"$work/all.dfl"
sed 's/on flash_pod/on pod_h100/' tests/plan/gated.dfl | sed 1d >>"$work/all.dfl"
# layers without gates whose function is a square (Nemotron)
sed -n '/^workload/,/^mapping gated_wide/p' tests/plan/gated.dfl | sed '$d; /^\/\/\//d' | sed '/ff3\[b, m, f\] +=/d; s/silu(ff1\[b, m, f\]) \* ff3\[b, m, f\]/square(relu(ff1[b, m, f]))/
    s/, W3\[d, f\]//; s/gated_flash/squared_flash/; s/gated_step/squared_step/; s/mapping gated/mapping squared/; s/on flash_pod/on pod_h100/' >>"$work/all.dfl"
sed '1d' tests/plan/training.dfl >>"$work/all.dfl"
if [ "${1:-}" = all ]; then
    awk -F, -v plans="$work/plans" -v rows="$work/rows" 'FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        { printf "mapping single%d_m%d_v1 = single(tp = %d, pp = %d, dp = %d, interleave = 1, micro = %d) for gpt_step(layers = %d, " \
                 "width = %d, heads = %d, batch = %d, seq = %d) on box(gpus = %d);\n", $1, $(col["MBS"]), $(col["TP"]), $(col["PP"]),
                 $(col["DP"]), $(col["MBS"]), $(col["layers"]), $(col["hidden"]), $(col["heads"]), $(col["GBS"]), $(col["seq"]),
                 $2 >>plans
          print "vtrain-single-" $1, sprintf("single%d_m%d_v1", $1, $(col["MBS"])), $(col["measured_ms"]) / 1000, "single" >>rows }' \
        "$reference/calculon/vtrain_single_node.csv"
fi
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
            if (($5 == "paper" || $5 == "other") && $1 !~ /22B/) { servers += a; n_servers++ }
            if (($5 == "paper" || $5 == "other" || $5 == "megascale_flash" || $5 ~ /^flash_a100/) && $1 !~ /22B|-n8-/) { wide += a; n_wide++ }
            printf "%-28s micro %s interleave %s  predicted %8.3f s  measured %8.3f s  error %+6.1f %%\n", $1,
                   substr(part[2], 2), substr(part[3], 2), $3, $4, e }
          END {
            printf "rows %d, mean absolute error %.1f %%, largest %.1f %%; the bars are 5 %% and 15 %% (Korthikanti et al., Narayanan et al.)\n",
                   n["paper"], sum["paper"] / n["paper"], worst["paper"]
            printf "several servers: %d rows, mean absolute error %.1f %%; the bar is 8 %%\n", n_servers, servers / n_servers
            printf "several servers, and one kernel for the attention: %d rows, mean absolute error %.1f %%; the bar is 8 %%%s\n", n_wide,
                   wide / n_wide, (wide / n_wide > 8 ? ", missed" : "")
            for (g in n)
                if (g != "paper" && g != "other")
                    printf "%s: %d rows, mean absolute error %.1f %%, no bar\n", g, n[g], sum[g] / n[g] | "sort" }'
}

compare "$work/all.dfl" >"$work/table"
if [ -n "${LIST:-}" ]; then
    awk '/predicted/ { file = $1 ~ /^vtrain-single/ ? "calculon/vtrain_single_node.csv" : "calculon/ground_truth.csv"; id = $1
            sub(/^vtrain-single-/, "", id); p = m = 0
            for (i = 1; i < NF; i++) { if ($i == "predicted") p = $(i + 1); if ($i == "measured") m = $(i + 1) }
            print file, id, p, m, "held" }' "$work/table" >>"$LIST"
    awk '{ id = $1; sub(/^[^ ]* /, ""); print "calculon/ground_truth.csv", id, "-", "-", $0 }' "$work/left" >>"$LIST"
fi
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
awk '/^several servers:/ { exit !($8 + 0 <= 8) }' "$work/table"
judge $? "the mean error of steps on several servers is above 8 %" "$work/table"
finish
