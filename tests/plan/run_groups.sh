#!/usr/bin/env bash
# Searches of groups on a chip against all divisions: of random small graphs, every division of the einsums into braces that can run one
# after another and keep copies with their einsums is written and evaluated; the least of them must equal what the open brace finds. SEEDS=N changes the number of graphs.
. tests/harness/script.sh
for seed in $(seq 1 "${SEEDS:-6}"); do
    awk -v seed="$seed" -f tests/plan/groups.awk >"$work/graph.dfl"
    "$DFLC" eval --format csv "$work/graph.dfl" 2>"$work/err" | awk -F, '
        $1 ~ /^written/ { n++; if ($4 == "complete") { fits++; if (least == "" || $5 + 0 < least) least = $5 + 0 } }
        $1 == "searched" { found = $4 != "infeasible" ? $5 + 0 : "none" }
        END { printf "%d divisions, %d fit, least %.9g, searched %.9g\n", n, fits, least, found
              exit !(n > 5 && fits > 0 && found != "none" && found <= least * (1 + 1e-12) && found >= least * (1 - 1e-12)) }' >"$work/line"
    judge $? "graph $seed: the search does not find the least division" "$work/line"
    [ -z "${SHOW:-}" ] || cat "$work/line"
done
finish
