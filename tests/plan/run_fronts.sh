#!/usr/bin/env bash
# Objectives of searches for plans over chips, and Pareto sets, are those of all combinations, each evaluated as a plan of its own.
# Every fourth problem has micro-batches of any size (`--tiles imperfect`). PROBLEMS and SEED draw other problems.
. tests/harness/script.sh
problems=${PROBLEMS:-6} seed=${SEED:-5} fits=0

# goal STATEMENT FIRST SECOND LEAST: problems with this statement; the columns are those of fronts.awk
goal() {
    awk -v dir="$work" -v problems="$problems" -v seed="$seed" -v wide=1 -v goal="$1" -f tests/plan/planner.awk
    for ((i = 1; i <= problems; i++)); do
        tiles=perfect; [ $((i % 4)) -ne 0 ] || tiles=imperfect
        for part in "$i.all" "$i"; do
            "$DFLC" map --tiles $tiles --format csv "$work/$part.dfl" 2> "$work/err" |
                awk -F, -v first="$2" -v second="$3" -v least="$4" -v all=$([ "$part" = "$i" ] && echo 1 || echo 0) -f tests/plan/fronts.awk | sort -g > "$work/$part.values"
        done
        cmp -s "$work/$i.all.values" "$work/$i.values"
        judge $? "problem $i of seed $seed: \`$1\` finds $(wc -l < "$work/$i.values") values, and not the $(wc -l < "$work/$i.all.values") of all plans" "$work/err"
        [ ! -s "$work/$i.values" ] || fits=$((fits + 1))
    done
    seed=$((seed + 1))
}

goal "pareto latency, energy" seconds joules 0
goal "pareto latency, peak(hbm)" seconds peak.hbm 0
goal "pareto energy, peak(hbm)" joules peak.hbm 0
goal "minimize energy, latency" joules seconds 1
goal "minimize energy * latency" product product 1
goal "minimize peak(hbm), latency" peak.hbm seconds 1
[ "$fits" -gt "$problems" ]
judge $? "only $fits problems have a plan"
finish
