#!/usr/bin/env bash
# The best plan over chips is the best of all combinations, each evaluated as a plan of its own; if none fits, none is found.
# Every fourth problem has micro-batches of any size (`--tiles imperfect`); of the others, `--top 3` lists the best three. A plan
# that is not evaluated (E0609) leaves the best one unproven, if it may be better.
# PROBLEMS and SEED draw other problems; WIDE=1 leaves schedules, interleaves, recomputed tensors and split homes open, too.
. tests/harness/script.sh
problems=${PROBLEMS:-60} seed=${SEED:-1} wide=${WIDE:-0} fits=0 plans=0 refused=0 proven=0

awk -v dir="$work" -v problems="$problems" -v seed="$seed" -v wide="$wide" -f tests/plan/planner.awk
for ((i = 1; i <= problems; i++)); do
    "$DFLC" eval --format csv "$work/$i.all.dfl" >"$work/all" 2>"$work/all.err"
    want=$(awk -F, -f tests/plan/least.awk "$work/all")
    tiles=perfect; [ $((i % 4)) -ne 0 ] || tiles=imperfect
    "$DFLC" map --tiles $tiles "$work/$i.dfl" >"$work/best.dfl" 2>"$work/best.err"
    "$DFLC" eval --format csv "$work/best.dfl" >"$work/best" 2>/dev/null
    found=$(awk -F, -f tests/plan/least.awk "$work/best")
    awk -F, -f tests/plan/ranked.awk "$work/all" | sort -g | head -n 3 > "$work/three"
    if [ $tiles = perfect ]; then
        "$DFLC" map --top 3 "$work/$i.dfl" > "$work/top.dfl" 2> "$work/best.err"
        "$DFLC" eval --format csv "$work/top.dfl" 2>/dev/null | awk -F, -f tests/plan/ranked.awk | cmp -s - "$work/three" ||
            [ "$want" = none ]
        judge $? "problem $i of seed $seed: the three plans that the search lists are not the best three" "$work/best.err"
    fi
    [ "$want" = none ] || fits=$((fits + 1))
    [ "$found" = "$want" ]
    judge $? "problem $i of seed $seed: the search found $found, the least latency of all plans is $want" "$work/best.err"
    plans=$((plans + $(grep -c '^mapping' "$work/$i.all.dfl")))
    grep -q 'error\[E0609\]' "$work/all.err" || continue
    refused=$((refused + 1))
    "$DFLC" map --tiles $tiles "$work/$i.dfl" 2>&1 | grep -q 'minimize latency: optimal' && proven=$((proven + 1))
done
echo "$plans plans written; in $refused of $problems problems some are not evaluated (E0609), $proven of these are proven"
[ "$wide" -eq 0 ] || [ "$problems" -lt 20 ] || [ "$refused" -gt "$proven" ]
judge $? "the search proves all problems with plans that are not evaluated"
[ "$fits" -gt $((problems / 4)) ]
judge $? "only $fits of $problems problems have a plan"
finish
