#!/usr/bin/env bash
# Fits kernels by launches and shares alone (fit_kernels.awk), and writes stdlib/chips/measured/kernels.dfl. The even lines of the tables
# fit the numbers; run_kernels.sh judges them by the odd lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
. tests/truth/kernels_lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -f "$silicon/moe.csv" ] || { echo "there is no $silicon"; exit 1; }
awk -f tests/truth/kernels.awk "${tables[@]}" > "$work/rows"
awk -f tests/truth/fit_kernels.awk tests/truth/kernels_chips.txt "$work/rows" > "$work/fitted"
{
    cat << 'EOF'
dfl 1;
// Kernels of libraries by three kinds of numbers: the launch, the share of the bandwidth of the memory, and shares of the peak at six
// sizes, the operations of a product on one chip. For plans over chips (tests/truth/kernels.dfl), not for mappings on the chip. Half of
// the measured times fit the numbers; a share at a size on which no fitted time depends is that of the nearest sizes on which some do.
// Confidence is low where the median of the errors is above 20 %, the 90th percentile above 50 %, or the rows are fewer than 10. Kernels: bmm and linear of PyTorch, gemm and conv
// (passes forward, with respect to input and to weight) of DeepBench, attention of a prompt and of a token with the types of
// queries and cache, moe (one layer of experts, its routing as if balanced), shard (products of a layer of Llama 2). Peaks as in
// tests/truth/kernels_chips.txt. Written by tests/truth/fit_kernels.sh.
EOF
    awk 'FILENAME ~ /chips/ { if (/^#/) next; memory[$1] = $2; for (i = 3; i < NF; i += 2) peak[$1, $i] = $(i + 1); next }
        { type = $1; sub(/_block$/, "", type); sub(/.*_/, "", type)
          if ($1 ~ /bf16_fp8$|bfloat16$/) type = "bf16"
          if (type == "nvfp4") type = "i4"
          chip = $1; while (!(chip in memory)) sub(/_[^_]*$/, "", chip)
          source = $1 ~ /deep|v100_dgx1|knl|mi25|p100_(gemm|conv)/ ? "baidu-research/DeepBench da81ba78 (Apache-2.0)" : \
                   $1 ~ /bmm|linear|elementwise_fp32|ln_fp32|softmax/ ? "sitar-lab/NeuSight 6945927d (MIT)" : \
                   $1 ~ /mi210|gelu_fp16|(layernorm|softmax)_fp16/ && $1 !~ /input/ && $1 !~ /tpu/ ? "LLMCompass (ISCA 2024, BSD-3), with the call of the library" : \
                   $1 ~ /_(shard|add|emb|mlp_act|attn_rope|input_layernorm)_fp16/ ? "Vidur (MIT)" : $1 ~ /tpu/ ? "yutation/SCALE-SIM_Validation dad94795 (facts)" : "ai-dynamo/aiconfigurator 095f58a5 (Apache-2.0)"
          printf "\n/// Errors on held-out times: median %s %%, 90th percentile %s %% (%d rows).\n", $(NF - 2), $(NF - 1), $NF
          if ($3 < 0) { $3 = -$3; print "/// No fitted time depends on the share of the memory, which is an assumption." }
          printf "system %s {\n", $1
          printf "source = \"times of kernels: %s\";\nconfidence = \"%s\";\n", source, \
                 ($(NF - 2) > 20 || $(NF - 1) > 50 || $NF < 10 ? "low: one curve for kernels of several algorithms, or few rows" : "medium")
          printf "memory hbm { size = unlimited; bandwidth = %sGB/s; efficiency = %s; }\n", memory[chip], $3
          printf "memory kernel { size = unlimited; overlap = stream; }\ncompute unit {\nlaunch = %sus;\n", $2
          printf "rate { mac { %s = %sTMAC/s; } flop = %sTFLOP/s; }\n", type, peak[chip, type] / 2, peak[chip, type]
          printf "efficiency { mac = curve(0FLOP, %s", $4
          for (i = 1; i <= 6; i++) printf ", 1e%dFLOP, %s", 6 + i, $(3 + i)
          print "); }\n}\n}" }' tests/truth/kernels_chips.txt "$work/fitted"
} > "$work/kernels.dfl"
"${DFLC:-build/dflc}" fmt "$work/kernels.dfl" > stdlib/chips/measured/kernels.dfl
