#!/usr/bin/env bash
# Fits the launch, the share of the rate and the bandwidths of attention kernels in bf16 on one chip, and prints the system:
#   fit_attention.sh CHIP [ROUNDS]      CHIP = a100, h100, b200
# The even lines of the table of measurements fit the numbers; run_truth.sh judges them by the odd lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
truth=tests/truth
table=${REFERENCE:-../shared/reference}/silicon/attention.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "${DFLC:-build/dflc}" "$work/dflc"
read -r chip _ system _ _ sm _ <<< "$(grep "std.chips.$1 " $truth/chips.txt)"
awk -F, -v c="$chip" '$1 == c && $3 == "bfloat16" && $4 == "bfloat16" && NR % 2 == 0 {
    print NR "," $5 "," $6 "," $7 "," $8 "," $9 "," $10 }' "$table" > "$work/shapes.txt"
awk -F, -v c="$chip" '$1 == c && $3 == "bfloat16" && $4 == "bfloat16" && NR % 2 == 0 { print NR "," $12 }' "$table" > "$work/us.txt"
{
    cat $truth/attention.dfl
    awk -v sm="$sm" -f $truth/attention.awk "$work/shapes.txt"
} > "$work/body.dfl"
cat > "$work/chip.fit" << END
number launch 10.5 0.5 40 0.1
number l2 12 1 60 0.2
number port 200 5 400 0.2
number rate_1 0.5 0.01 1 0.1
number rate_2 0.8 0.01 1 0.1
number rate_3 0.85 0.01 1 0.1
number before 1 0 20 0.3
number memory_1 0.05 0.002 1 0.3
number memory_2 0.3 0.01 1 0.2
number memory_3 0.78 0.1 1 0.1
number memory_4 0.9 0.1 1 0.1
---
dfl 1;
import std.chips.$1 as plain;
system chip = plain.$system {
    source = "times of kernels: ai-dynamo/aiconfigurator 095f58a5 (Apache-2.0)";
    l2.bandwidth = {l2}TB/s;
    smem.write.bandwidth = {port}GB/s;
    tensor.launch = {launch}us;
    tensor.efficiency = table(0, {rate_1}, 1MFLOP, {rate_2}, 4MFLOP, {rate_3});
    vector.launch = {before}us;
    hbm.efficiency = table(0, {memory_1}, 200kB, {memory_2}, 1MB, {memory_3}, 3MB, {memory_4});
}
END
awk -f $truth/fit.awk -v dflc="$work/dflc" -v body="$work/body.dfl" -v measured="$work/us.txt" -v rounds="${2:-7}" "$work/chip.fit" \
    2> "$work/log" > "$work/fitted.dfl"
grep -v '^number' "$work/log" | tail -2 >&2
sed "1,2d; s/^system chip/system $1_attention/" "$work/fitted.dfl"
