#!/usr/bin/env bash
# Predicted and measured times of kernels by launches and shares alone (std.chips.measured.kernels): the tables of silicon/ that
# run_truth.sh does not evaluate on multiprocessors, and operators of calculon/op_measured.csv. Two equal kernels on two chips make a
# plan of each row (kernels.dfl). Prints for each machine its rows, the share of them that evaluates, and the median and 90th
# percentile of the errors on the rows that did not fit the numbers (odd lines). Fails if a row does not evaluate, or if a machine
# differs from the errors that its text states by more than 0.2 %: the fit (fit_kernels.awk) and the plans count the same operations
# and bytes. LIST=file gets a line for each row.
. tests/harness/script.sh
. tests/truth/kernels_lib.sh
[ -f "$silicon/moe.csv" ] || skip_all "$silicon/moe.csv is not here"
awk -f tests/truth/kernels.awk "${tables[@]}" >"$work/rows"
# the types of the operands: of a prompt or a token those of queries and cache
awk -v text="$(sed 1,2d tests/truth/kernels.dfl)" '
    BEGIN { print "dfl 1;\nimport std.chips.measured.kernels as kernels;" }
    function write(kind, type, cache, result,    name, body, start) {
        name = kind "_" type "_" cache
        if (name in written) return name
        written[name]
        start = index(text, "workload " kind "(")
        body = substr(text, start); sub(/\n}.*/, "\n}", body); if (kind ~ /rows|sums/) sub(/\n.*/, "", body)
        sub("workload " kind, "workload " name, body)
        gsub(/WTYPE/, cache, body); gsub(/ZTYPE/, result, body); gsub(/TYPE/, type, body)
        print body
        return name
    }
    {
        kind = $6; sub(/\(.*/, "", kind)
        type = $1; sub(/_block$/, "", type); sub(/.*_/, "", type); sub(/bfloat16/, "bf16", type); sub(/nvfp4/, "i4", type)
        cache = type
        if ($1 ~ /_(prompt|token)_bf16/) type = "bf16"
        work = write(kind, type, cache, kind ~ /attend|experts/ ? "bf16" : type)
        if (!($1 in machines)) {
            machines[$1]
            printf "system two_%s { network link = ring { bandwidth = 1TB/s; } array part[2] over link { use kernels.%s; } }\n", $1, $1
        }
        arguments = $6; sub(/^[a-z]*\(/, "", arguments); sub(/\)$/, "", arguments); gsub(/\|/, ", ", arguments)
        printf "mapping r%d for %s(%s) on two_%s { spatial c/2 on part; %s ...; option chunks = 1; }\n", NR, work, arguments, $1,
            kind == "attend" ? "keep S in kernel;" : ""
    }' "$work/rows" >"$work/all.dfl"
"$DFLC" eval --format csv --columns latency "$work/all.dfl" 2>"$work/err" | tail -n +2 >"$work/csv"
awk -F, 'FILENAME ~ /csv$/ { seconds[$1] = $2; next }
    { split($0, c, " "); name = "r" FNR }
    !(name in seconds) || seconds[name] == "" { print "not evaluated:", $0; next }
    { printf "%s %s %s %.6g %s\n", c[1], c[2], c[3], seconds[name] * 1e6, c[4] }' "$work/csv" "$work/rows" >"$work/predicted"
[ -z "${LIST:-}" ] || awk '!/^not/ { split($2, at, ":"); print (at[1] ~ /op_measured/ ? "calculon/" : "silicon/") at[1], at[2], $4, $5, $3 ? "held" : "fit" }' "$work/predicted" >>"$LIST"
awk '/^not/ { next }
    { if (!($1 in rows)) order[++n] = $1; rows[$1]++; if ($3) { e = $4 / $5 - 1; error[$1, ++held[$1]] = e < 0 ? -e : e } }
    END {
        for (i = 1; i <= n; i++) {
            m = order[i]; h = held[m]; delete at
            for (k = 1; k <= h; k++) { e = error[m, k]; for (j = k; j > 1 && at[j - 1] > e; j--) at[j] = at[j - 1]; at[j] = e }
            printf "%-34s %5d rows  error on held-out rows: median %5.1f %%, 90th percentile %6.1f %%\n", m, rows[m],
                100 * at[int(h / 2) + 1], 100 * at[int(0.9 * h) + 1]
        }
    }' "$work/predicted" >"$work/table"
cat "$work/table"
grep "^not" "$work/predicted" | cut -c1-150 | head -20
echo "coverage: $(grep -vc '^not' "$work/predicted") of $(wc -l <"$work/rows") rows"
! grep -q "^not" "$work/predicted"
judge $? "a row does not evaluate" "$work/err"
awk 'FNR == NR { if (/Errors on/) { median = $7; high = $11 }; if (/^system/) { stated[$2] = median; top[$2] = high }; next }
    function apart(a, b) { return a - b > 0.2 || b - a > 0.2 }
    { got = $0; sub(/.*median */, "", got); far = got; sub(/ %.*/, "", got); sub(/.*percentile */, "", far); sub(/ %.*/, "", far)
      if (apart(got, stated[$1]) || apart(far, top[$1]))
          print $1, "states", stated[$1], "and", top[$1], "and has", got, "and", far }' \
    stdlib/chips/measured/kernels.dfl "$work/table" >"$work/differ"
[ ! -s "$work/differ" ]
judge $? "an error is not that which the text of the machine states" "$work/differ"
finish
