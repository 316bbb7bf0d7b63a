#!/usr/bin/env bash
# Other tables of DFModel: llm_calculon.csv and llm_rail_only.csv, every row by the workload of examples/dfmodel_study.dfl on the machine
# of dfmodel_machine.dfl. The reference stands beside the repository (REFERENCE=directory) and is read in place. Fails if a row
# does not evaluate, or if an error is above 1 %.
. tests/harness/script.sh
tables=${REFERENCE:-../shared/reference}/dfmodel
[ -f "$tables/llm_calculon.csv" ] || skip_all "$tables/llm_calculon.csv is not here"

study=examples/dfmodel_study.dfl
braces=$(sed -n '/^mapping by_kernel/,/^}/p' "$study" | grep '^    [A-Z].*, .*{ }$')
{
    sed -n '1p;/^op one/p' "$study"
    sed -n '/^workload gpt_step/,/^}/p' "$study" | sed 's/^\( *\)G\(W[A-Z0-9]*\)\(\[.*\]\) += .*/&\n\1H\2\3 = G\2\3;/'
    awk -v braces="$braces" '$0 == "    BRACES" { print braces; next } { print }' tests/plan/dfmodel_machine.dfl
    awk -v rows="$work/rows" -f tests/plan/dfmodel_rows.awk "$tables/llm_calculon.csv" "$tables/llm_rail_only.csv"
} >"$work/all.dfl"
"$DFLC" eval --format csv "$work/all.dfl" >"$work/csv" 2>"$work/err"
awk 'NR == FNR { split($0, f, ","); if (f[4] == "complete") seconds[f[1]] = f[5]; next }
    !($1 in seconds) { printf "%-12s not evaluated\n", $1; next }
    { e = (seconds[$1] / $2 - 1) * 100; a = e < 0 ? -e : e; n++; sum += a; worst = a > worst ? a : worst
      printf "%-12s step %9.4f s  equations %9.4f s  error %+8.5f %%  log %s\n", $1, seconds[$1], $2, e,
             $3 == "-" ? "-" : sprintf("%+.4f %%", (seconds[$1] / $3 - 1) * 100) }
    END { printf "rows %d, largest error %.5f %%, mean %.5f %%; the bar is 1 %%\n", n, worst, sum / n }' "$work/csv" "$work/rows" >"$work/table"
cat "$work/table"
! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
awk '/^rows/ { exit !($2 + 0 == 16 && $5 + 0 <= 1) }' "$work/table"
judge $? "an error is above 1 %, or a row is missing" "$work/table"
finish
