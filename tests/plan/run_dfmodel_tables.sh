#!/usr/bin/env bash
# Other tables of DFModel, every row: llm_calculon.csv, llm_rail_only.csv and llm_validation.csv by the workload of
# examples/dfmodel_study.dfl on the machine of dfmodel_machine.dfl; llm_dataflow_mapping.csv, llm_sram_dram.csv, hpl.csv, fft.csv and
# llm_serving.csv by dfmodel_kernels.awk. The reference stands beside the repository (REFERENCE=directory) and is read in place.
# Fails if a row does not evaluate, or misses its bar. Rows without a bar are printed, and say why.
. tests/harness/script.sh
tables=${REFERENCE:-../shared/reference}/dfmodel
[ -f "$tables/llm_calculon.csv" ] || skip_all "$tables/llm_calculon.csv is not here"

study=examples/dfmodel_study.dfl
mapping_of() { sed -n "/^mapping $1/,/^}/p" "$study"; }
braces=$(mapping_of by_kernel | grep '^    [A-Z].*, .*{ }$')
seconds_of() { # seconds_of FILE: "name seconds" of every mapping
    "$DFLC" eval --format csv "$1" 2>>"$work/err" | awk -F, '$4 == "complete" { print $1, $5 }'
}

# ---- training steps
{
    sed -n '1p;/^op one/p' "$study"
    sed -n '/^workload gpt_step/,/^}/p' "$study" | sed 's/^\( *\)G\(W[A-Z0-9]*\)\(\[.*\]\) += .*/&\n\1H\2\3 = G\2\3;/'
    awk -v braces="$braces" '$0 == "    BRACES" { print braces; next } { print }' tests/plan/dfmodel_machine.dfl >"$work/machine"
    cat "$work/machine"
    # the same with overlap: kernel by kernel, and each pass as one group
    sed -n 's/^mapping turns/mapping beside/;/^mapping beside/,/^}/{s/option chunks = 1;/& option overlap = perfect;/;p;}' "$work/machine"
    sed -n 's/^mapping turns/mapping halves/;/^mapping halves/,/^}/{s/option chunks = 1;/& option overlap = perfect;/;/{ }$/d;/\.\.\.;/d;p;}' \
        "$work/machine" | sed '$d'
    mapping_of searched_groups | sed -n '/fuse {/,/^    }/p' | sed 's/{ \.\.\.; }/{ }/;s/GWQ { }/GWQ { }\n        HW2, HW1, HWO, HWV, HWK, HWQ { }/'
    echo "}"
    awk -v rows="$work/rows" -f tests/plan/dfmodel_rows.awk "$tables/llm_calculon.csv" "$tables/llm_rail_only.csv" \
        "$tables/llm_validation.csv"
} >"$work/steps.dfl"
seconds_of "$work/steps.dfl" >"$work/seconds"
awk -f tests/plan/dfmodel_judge.awk "$work/seconds" "$work/rows" >"$work/table"
cat "$work/table"
! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
awk '/^rows of calculon and rail/ { exit !($6 + 0 == 16 && $9 + 0 <= 1) }' "$work/table"
judge $? "an error is above 1 %, or a row is missing" "$work/table"

# ---- forward passes, HPL, FFT, serving
{
    sed -n '1p;/^op one/p' "$study"
    # the forward part of the workload, without the copies for kernels of the backward pass
    sed -n '/^workload gpt_step/,/^}/p' "$study" | sed '/\/\/ backward/,/^    }/{/^    }/!d;}' >"$work/part"
    awk 'NR == FNR { n = split($0, word, /[^A-Za-z0-9_]+/); for (i = 1; i <= n; i++) uses[word[i]]++; next }
        $1 ~ /_.*\[/ { split($1, name, "["); if (uses[name[1]] == 1) next } { print }' "$work/part" "$work/part" |
        sed 's/gpt_step(.*/gpt_forward(hidden = 12288, heads = 96, head = 128, seq = 2048, layers = 96,/;s/batch = 3072) : bf16/batch = 2304) : bf16/
             s/, last\[b, m, d\]//;/^    E\[/d;s/, E = E2//'
    awk -v rows="$work/kernel_rows" -f tests/plan/dfmodel_kernels.awk "$tables/llm_dataflow_mapping.csv" "$tables/llm_sram_dram.csv" \
        "$tables/hpl.csv" "$tables/fft.csv" "$tables/llm_serving.csv"
} >"$work/kernels.dfl"
"$DFLC" eval --format json "$work/kernels.dfl" 2>>"$work/err" | awk -v OFMT=%.17g '
    /^      "name":/ { split($0, part, "\""); name = part[4]; in_latency = 0 }
    /^      "latency":/ { in_latency = 1 }
    in_latency && /^        "seconds":/ { seconds = $2 + 0; in_latency = 0 }
    /^        "branches":/ { print name, seconds, $2 + 0 }' >"$work/kernel_seconds"
awk -f tests/plan/dfmodel_kernels_judge.awk "$work/kernel_seconds" "$work/kernel_rows" >"$work/kernel_table"
cat "$work/kernel_table"
! grep -q "not evaluated" "$work/kernel_table"
judge $? "a row of kernels does not evaluate" "$work/err"
awk '/^rows of kernels/ { exit !($4 + 0 == 24 && $8 == 0) }' "$work/kernel_table"
judge $? "a row of kernels misses its bar, or is missing" "$work/kernel_table"
awk -F'[(%]' '/over the published groups/ { exit !($2 + 0 <= 2 && $2 + 0 >= -2 && $4 + 0 <= 2 && $4 + 0 >= -2) }' "$work/kernel_table"
judge $? "a ratio of the published groups is not within 2 % of the paper" "$work/kernel_table"
finish
