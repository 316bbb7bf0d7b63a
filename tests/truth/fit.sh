#!/usr/bin/env bash
# Fits the launches and efficiencies of a chip anew, and writes stdlib/chips/measured/CHIP.dfl:
#   fit.sh CHIP [ROUNDS]      CHIP = a100, h100, b200: the name of a file CHIP.fit; about a minute per round
# The numbers are fitted to the even lines of the table of matrix products. run_truth.sh judges them by the odd lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
name=$1 rounds=${2:-6} truth=tests/truth
table=${REFERENCE:-../shared/reference}/silicon/gemm.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -r chip _ _ _ _ sm peak memory cache around into result _ <<< "$(grep "std.chips.$name " $truth/chips.txt)"
awk -F, -v c="$chip" '$1 == c && $2 == "bfloat16" && NR % 2 == 0 { print NR "," $3 "," $4 "," $5 }' "$table" > "$work/shapes.txt"
awk -F, -v c="$chip" '$1 == c && $2 == "bfloat16" && NR % 2 == 0 { print NR "," $7 }' "$table" > "$work/us.txt"
{
    sed "s/A_TYPE/bf16/; s/B_TYPE/bf16/; $([ "$result" = hbm ] && echo '/keep Z in l2/d')" $truth/gemm.dfl
    awk -f $truth/gemm.awk -v sm="$sm" -v rate="$peak" -v bandwidth="$memory" -v cache="$cache" -v bytes=2 -v keep=6 \
        -v around="$around" -v into="$into" -v chip=chip "$work/shapes.txt"
} > "$work/body.dfl"
cp "${DFLC:-build/dflc}" "$work/dflc"
# The system of the chip is called `chip` while it is fitted.
sed "s/^system ${name}_measured/system chip/" $truth/"$name".fit > "$work/chip.fit"
nice awk -f $truth/fit.awk -v dflc="$work/dflc" -v body="$work/body.dfl" -v measured="$work/us.txt" -v rounds="$rounds" \
    "$work/chip.fit" > "$work/fitted.dfl" || exit 1
sed "s/^system chip/system ${name}_measured/" "$work/fitted.dfl" > stdlib/chips/measured/"$name".dfl
"$work/dflc" fmt -w stdlib/chips/measured/"$name".dfl
