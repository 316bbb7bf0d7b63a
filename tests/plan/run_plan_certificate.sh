#!/usr/bin/env bash
# The certificate of a search for a plan over chips holds, and does not if one of its claims is changed. PROBLEMS and SEED draw
# other problems; WIDE=1 leaves schedules, interleaves, recomputed tensors and split homes open, too.
. tests/harness/script.sh
problems=${PROBLEMS:-30} seed=${SEED:-3} wide=${WIDE:-0} found=0 unproven=0

# refused NAME CODE EXPRESSION: the certificate that the sed expression makes is refused with the code
refused() {
    sed -E "$3" "$work/$i.json" > "$work/changed.json"
    cmp -s "$work/$i.json" "$work/changed.json" && return
    "$DFLC" check --certificate "$work/changed.json" "$work/$i.dfl" > "$work/out" 2>&1
    [ $? -ne 0 ] && grep -q "$2" "$work/out"
    judge $? "problem $i: $1 is not refused with $2" "$work/out"
}

awk -v dir="$work" -v problems="$problems" -v seed="$seed" -v wide="$wide" -f tests/plan/planner.awk
for ((i = 1; i <= problems; i++)); do
    tiles=perfect; [ $((i % 4)) -ne 0 ] || tiles=imperfect
    "$DFLC" map --tiles $tiles --certificate "$work/$i.json" "$work/$i.dfl" > "$work/best.dfl" 2> "$work/err"
    [ -s "$work/$i.json" ] || continue
    found=$((found + 1))
    "$DFLC" check --certificate "$work/$i.json" "$work/$i.dfl" > "$work/out" 2>&1
    if grep -q 'model does not evaluate' "$work/out"; then
        grep -q "certificate not refuted: " "$work/out" && unproven=$((unproven + 1))
    else
        grep -q "certificate holds: " "$work/out" && grep -q '"optimal": true' "$work/$i.json"
    fi
    judge $? "problem $i: the certificate does not hold" "$work/out"
    "$DFLC" eval --format csv "$work/$i.all.dfl" 2>/dev/null | awk -F, -f tests/plan/ranked.awk > "$work/all"
    [ "$(sed -n 's/.* evaluated, \([0-9]*\) of them can run;.*/\1/p' "$work/out")" = "$(wc -l < "$work/all")" ]
    judge $? "problem $i: the check runs other plans than the $(wc -l < "$work/all") written ones that run" "$work/out"
    refused "a larger value" E0803 's/"value": ([0-9.]+)/"value": 9\1/'
    refused "a larger lower bound" E0805 's/"lower_bound": ([0-9.]+)/"lower_bound": 9\1/'
    refused "a larger bound of a division" E0806 's/"least": [0-9][0-9.e-]*/"least": 1e9/'
    refused "a division that never runs" E0806 's/"least": [0-9][0-9.e-]*/"least": null/'
    refused "a missing division" E0804 's/"divisions": \[/"divisions": [], "others": [/'
    refused "another plan" E0803 's/spatial layer\/[0-9]+/spatial layer\/97/'
    refused "another space" E0802 's/"text": "[^"]*"/"text": "all mappings"/'
    [ "$wide" -eq 0 ] || refused "a schedule that is not asked for" E0803 's/"best": (.*)schedule = [a-z_]+/"best": \1schedule = other/'
done
echo "$found certificates; $unproven of them leave plans that the model does not evaluate"
[ "$found" -gt $((problems / 4)) ]
judge $? "only $found of $problems problems have a certificate"
finish
