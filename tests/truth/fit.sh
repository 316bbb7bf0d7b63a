#!/usr/bin/env bash
# Fits the launches and efficiencies of a chip anew, and replaces its line of gemm_numbers.txt and its system in stdlib/chips/measured:
#   fit.sh CHIP TYPE [ROUNDS]      CHIP = a100, h100, b200, l40s, arc_b60; TYPE as in the table of measurements; some minutes per round
# The numbers are fitted to the even lines of the table of matrix products. run_truth.sh judges them by the odd lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
name=$1 type=$2 rounds=${3:-3} truth=tests/truth
. $truth/gemm_lib.sh
table=${REFERENCE:-../shared/reference}/silicon/gemm.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -r chip _ _ _ _ sm peak memory cache around into result outer warm family array unit <<< "$(grep "std.chips.$name " $truth/chips.txt)"
read -r a b bytes bytes_b times turn <<< "$(types "$type")"
[ "$name.$type" = arc_b60.fp8 ] && times=1
awk -F, -v c="$chip" -v t="$type" '$1 == c && $2 == t && NR % 2 == 0 { print NR "," $3 "," $4 "," $5 }' "$table" > "$work/shapes.txt"
awk -F, -v c="$chip" -v t="$type" '$1 == c && $2 == t && NR % 2 == 0 { print NR "," $7 }' "$table" > "$work/us.txt"
{
    gemm_head "$a" "$b" "$result" "$outer" "$array" "$unit"
    awk -f $truth/gemm.awk -v sm="$sm" -v rate="$(awk "BEGIN { print $peak * $times }")" -v bandwidth="$memory" -v cache="$cache" -v bytes="$bytes" \
        -v bytes_b="$bytes_b" -v keep=8 -v around="$around" -v into="$into" -v warm="$warm" -v tiles="$(tiles "$family")" -v turn="$turn" \
        -v chip=chip "$work/shapes.txt"
} > "$work/body.dfl"
cp "${DFLC:-build/dflc}" "$work/dflc"
bash $truth/write_chips.sh "$name" "$type" > "$work/chip.fit"
nice awk -f $truth/fit.awk -v dflc="$work/dflc" -v body="$work/body.dfl" -v measured="$work/us.txt" -v rounds="$rounds" \
    "$work/chip.fit" > "$work/fitted.dfl" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
grep -v '^number' "$work/log" >&2
line="$name $type$(awk '/^number/ { printf " %s", $3 }' "$work/log")"
awk -v c="$name" -v t="$type" -v line="$line" '$1 == c && $2 == t { print line; next } { print }' $truth/gemm_numbers.txt > "$work/numbers"
cp "$work/numbers" $truth/gemm_numbers.txt
bash $truth/write_chips.sh
