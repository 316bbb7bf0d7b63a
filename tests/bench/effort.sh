#!/usr/bin/env bash
# The effort of searches: mappings evaluated and partial mappings pruned, summed over the mappings of a file, with one
# thread. The goldens do not hold these numbers. A sum more than TOLERANCE % above its row fails: either the search
# became worse, or the row is brought up to date by the commit that says why. A sum that far below its row is printed,
# so that the row can be updated.
set -u
DFLC=${DFLC:-build/dflc}
export LC_ALL=C NO_COLOR=1 DFL_STDLIB=${DFL_STDLIB:-stdlib}
tolerance=${TOLERANCE:-10} bad=0
while read -r file evaluated pruned; do
    line=$("$DFLC" map -v -j1 "tests/golden/eval/$file.dfl" 2>&1 >/dev/null |
        sed -nE 's/^  effort +([0-9]+) evaluated, ([0-9]+) pruned.*/\1 \2/p' |
        awk -v file="$file" -v e="$evaluated" -v p="$pruned" -v t="$tolerance" '
            { evaluated += $1; pruned += $2 }
            END {
                sum = evaluated + pruned; was = e + p
                verdict = sum > was * (1 + t / 100) ? "FAILED: more effort" : sum < was * (1 - t / 100) ? "less effort" : "as before"
                printf "effort of %-16s %8d evaluated, %8d pruned (before %d, %d): %s\n", file, evaluated, pruned, e, p, verdict
            }')
    echo "$line"
    case $line in *FAILED*) bad=1 ;; esac
done <<'END'
branches 400908 133408
busy_beside 119184 48716
choices 2039378 1457234
common_input 9837 2534
front_waits 179788 125169
required_lines 8102 4597
stands_between 16811 9229
uneven 280018 63892
END
exit "$bad"
