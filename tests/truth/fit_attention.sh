#!/usr/bin/env bash
# Fits the numbers of attention kernels in bf16 on one chip, and prints the system; the shares of the rate go to a file beside it:
#   fit_attention.sh CHIP PHASE [ROUNDS]      CHIP = a100, h100, b200; PHASE = prompt, token
# The even lines of the table of measurements fit the numbers; run_truth.sh judges them by the odd lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
truth=tests/truth phase=$2
table=${REFERENCE:-../shared/reference}/silicon/attention.csv
grid=attention_$1_$phase.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "${DFLC:-build/dflc}" "$work/dflc"
read -r chip module system _ _ sm _ <<< "$(grep "std.chips.$1 " $truth/chips.txt)"
awk -F, -v c="$chip" -v phase="$phase" '$1 == c && $3 == "bfloat16" && $4 == "bfloat16" && NR % 2 == 0 &&
    phase == ($6 > 1 || $10 == 0 ? "prompt" : "token") {
    print NR "," $5 "," $6 "," $7 "," $8 "," $9 "," $10 "," $12 }' "$table" > "$work/rows.txt"
cut -d, -f1-7 "$work/rows.txt" > "$work/shapes.txt"
cut -d, -f1,8 "$work/rows.txt" > "$work/us.txt"
{
    cat $truth/attention.dfl
    awk -v sm="$sm" -v phase="$phase" -f $truth/attention.awk "$work/shapes.txt"
} > "$work/body.dfl"
# START holds the numbers to start from, in the order of the names below.
read -r launch latency s64 s128 s192 s256 before m1 m2 m3 m4 <<< "${START:-10 1 0.4 0.6 0.5 0.6 1 0.2 0.5 0.8 0.9}"
{
    echo "number launch $launch 0.5 40 0.1"
    echo "number latency $latency 0 20 0.2"
    for s in 64 128 192 256; do
        declare -n value=s$s
        [ "$(cut -d, -f6 "$work/shapes.txt" | sort -u | awk -v s=$s '$1 <= s { n++ } END { print n + 0 }')" = 0 ] && continue
        echo "number share_$s $value 0.005 1 0.15"
    done
    [ "$phase" = prompt ] && echo "number before $before 0 20 0.3"
    echo "number memory_1 $m1 0.002 1 0.2"
    echo "number memory_2 $m2 0.01 1 0.2"
    echo "number memory_3 $m3 0.1 1 0.1"
    echo "number memory_4 $m4 0.1 1 0.1"
    echo "---"
    echo "dfl 1;"
    echo "import $module as plain;"
    echo "system chip = plain.$system {"
    echo '    source = "times of kernels: ai-dynamo/aiconfigurator 095f58a5 (Apache-2.0)";'
    echo '    confidence = "low: the versions of the libraries differ by up to 4 times";'
    echo '    tensor.launch = {launch}us;'
    echo "    tensor.efficiency = table(\"$work/$grid\");"
    [ "$phase" = prompt ] && echo '    vector.launch = {before}us;'
    echo '    l2.latency = {latency}us;'
    echo '    hbm.efficiency = table(0, {memory_1}, 200kB, {memory_2}, 1MB, {memory_3}, 3MB, {memory_4});'
    echo '}'
    echo "file $work/$grid"
    echo "# Shares of the peak of attention kernels ($phase) by the head dimension, the larger of n and k."
    echo "m,n,k,efficiency"
    for n in 1 64 128 192 256; do
        for k in 1 64 128 192 256; do
            e=$((n > k ? n : k))
            echo "1,$n,$k,{share_$((e < 64 ? 64 : e))}"
        done
    done
} > "$work/chip.fit"
# a chip without rows of some head dimension takes the share of the next one
for s in 64 128 192 256; do
    grep -q "^number share_$s " "$work/chip.fit" || sed -i "s/{share_$s}/{share_128}/" "$work/chip.fit"
done
awk -f $truth/fit.awk -v dflc="$work/dflc" -v body="$work/body.dfl" -v measured="$work/us.txt" -v rounds="${3:-7}" "$work/chip.fit" \
    2> "$work/log" > "$work/fitted.dfl"
grep -v '^number' "$work/log" | tail -2 >&2
cp "$work/$grid" "$DFL_STDLIB/chips/measured/$grid"
sed "1,2d; s|$work/||; s/^system chip/system $1_${phase}_attention/" "$work/fitted.dfl"
