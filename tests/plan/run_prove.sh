#!/usr/bin/env bash
# Executes random plans over chips: exchanges, memory and values of every chip equal those of the evaluation. FILES (20 plans each)
# and SEED draw others, KINDS some workloads alone; without KINDS three files more have convolutions, and SMALL (default 40) files of 15
# plans have small workloads with offsets, windows and uneven parts. Plans that the evaluation refuses with a diagnostic are counted as
# skipped.
. tests/harness/script.sh
files=${FILES:-10} seed=${SEED:-1} plans=0 refused=0

awk -v dir="$work" -v files="$files" -v plans=20 -v seed="$seed" -v kinds="${KINDS:-}" -v outside="${OUTSIDE:-}" -f tests/plan/prove.awk
if [ -z "${KINDS:-}" ]; then
    mkdir "$work/conv"
    awk -v dir="$work/conv" -v files=3 -v plans=20 -v seed="$seed" -v kinds=conv -f tests/plan/prove.awk
    for i in 1 2 3; do mv "$work/conv/$i.dfl" "$work/$((files + i)).dfl"; done
    files=$((files + 3))
fi
for ((i = 1; i <= files; i++)); do
    "$DFLC" prove --size 99 "$work/$i.dfl" >"$work/$i.out" 2>"$work/$i.err"
    ! grep -E 'E0614|E07|E9' "$work/$i.err" >"$work/$i.bad"
    judge $? "file $i of seed $seed: an execution differs from the evaluation" "$work/$i.bad"
    plans=$((plans + $(grep -c 'all equal' "$work/$i.out")))
    refused=$((refused + $(grep -c 'not proven' "$work/$i.out")))
done
[ $((plans + refused)) -ge $((files * 19)) ] && [ "$refused" -lt $((files * 3)) ]
judge $? "$plans plans were proven and $refused refused, of $((files * 20))"
echo "skipped: plans refused: $refused of $((files * 20))"
small=${SMALL:-40} proven=0
if [ -z "${KINDS:-}" ] && [ "$small" -gt 0 ]; then
    mkdir "$work/small"
    awk -v dir="$work/small" -v files="$small" -v plans=15 -v seed="${SMALL_SEED:-$((seed + 5))}" -f tests/plan/prove_small.awk
    for ((i = 1; i <= small; i++)); do
        "$DFLC" prove --size 99 "$work/small/$i.dfl" >"$work/small/$i.out" 2>"$work/small/$i.err"
        ! grep -E 'E0614|E07|E9' "$work/small/$i.err" >"$work/small/$i.bad"
        judge $? "small file $i: an execution differs from the evaluation" "$work/small/$i.bad"
        proven=$((proven + $(grep -c 'all equal' "$work/small/$i.out")))
    done
    [ "$proven" -ge $((small * 8)) ]
    judge $? "$proven small plans were proven, of $((small * 15))"
fi
finish
