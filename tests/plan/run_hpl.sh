#!/usr/bin/env bash
# Upper bounds of the efficiency of HPL on machines of the TOP500, beside the measured ones, which are read in place
# (REFERENCE=directory). Products run at the peak of the list, since no timing of FP64 products is in the data; blocks are dealt to
# a grid of accelerators in 2,048 steps, and with look-ahead all exchanges of a step run beside its products. Fails if a row has no
# machine in hpl_systems.csv, does not evaluate, or lies below the measured efficiency. `all` evaluates all rows, else one. The
# bounds hold for these blocks; finer blocks are dealt more evenly and raise them (Selene: 69 % with 512 steps, 91 % with 2,048).
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
measured=$reference/dfmodel/measured/hpl_top500.csv
[ -f "$measured" ] || skip_all "$measured is not here"
only=^Selene steps=2048
[ "${1:-}" = all ] && only=''

awk -v dfl="$work/all.dfl" -v rows="$work/rows" -v only="$only" -v steps="$steps" -f tests/plan/hpl_rows.awk \
    tests/plan/hpl_systems.csv "$measured" >"$work/table"
"$DFLC" eval --format csv "$work/all.dfl" >"$work/csv" 2>"$work/err"
awk -F, 'NR == FNR { if ($4 == "complete") seconds[$1] = $5; next }
    { total++ }
    !($1 in seconds) { print "not evaluated:", $2, $3; next }
    { bound = $4 / seconds[$1] / $5; excess = (bound / $6 - 1) * 100; sum += excess; n++
      printf "%-18s %s  N %9d (%s)  bound %5.1f %%  measured %5.1f %%  excess %+6.1f %%%s\n", $2, $3, $7, $8, bound * 100, $6 * 100,
          excess, excess < 0 ? "  BELOW" : "" }
    END { if (n) printf "coverage %d of %d rows, mean excess %.1f %%; no row uses a timed efficiency of products\n", n, total, sum / n }' \
    "$work/csv" "$work/rows" >>"$work/table"
cat "$work/table"
[ -z "${LIST:-}" ] || awk -F, 'FILENAME ~ /csv$/ { if ($4 == "complete") seconds[$1] = $5; next }
    $1 in seconds { print "dfmodel/measured/hpl_top500.csv", substr($1, 9), $4 / seconds[$1] / $5, $6, "bound" }' "$work/csv" "$work/rows" >>"$LIST"
[ -s "$work/rows" ] && ! grep -q "not evaluated\|no machine\|BELOW" "$work/table"
judge $? "a row has no bound, or one below the measured efficiency" "$work/err"
finish
