#!/usr/bin/env bash
# A matrix multiplication of 4096 x 4096 x 4096 on every chip of the library (gemm_4096.dfl): each chip reaches 70 % of
# its peak, or limits.txt says which figure of its source prevents it. The table of stdlib/CHIPS.md has the same rows;
# its utilization may differ by one point. DFL_BLESS=1 writes the table into that page.
. tests/harness/script.sh
page=${PAGE:-stdlib/CHIPS.md}
result() { judge "$1" "$2" "$work/out"; } # result STATUS WHAT

"$DFLC" eval --format json tests/stdlib/gemm/gemm_4096.dfl >"$work/json" 2>"$work/out"
result $? "the mappings evaluate"
"$DFLC" prove tests/stdlib/gemm/gemm_4096.dfl >"$work/out" 2>&1
result $? "the model agrees with the oracle at small sizes"
"$DFLC" fmt --check tests/stdlib/gemm/gemm_4096.dfl >"$work/out" 2>&1
result $? "layout of gemm_4096.dfl"

# one row per chip: | chip | type | peak | utilization | bound by | source |
LC_ALL=C awk -v limits=tests/stdlib/gemm/limits.txt '
    function text(line) { sub(/^[^:]*: */, "", line); sub(/,$/, "", line); gsub(/^"|"$/, "", line); gsub(/\\"/, "\"", line); return line }
    function round(x, n,    p) { p = 10 ^ n; return int(x * p + 0.5) / p }
    function finish() {
        if (name == "") return
        peak = flop / seconds / used / 1e12
        peak = peak >= 100 ? round(peak, 0) : peak >= 10 ? round(peak, 1) : round(peak, 3)
        if (used < 0.7 && !(name in limit)) print name " reaches " used * 100 " %, and no reason is stated" >"/dev/stderr"
        if (used >= 0.7 && name in limit) print name " reaches " used * 100 " %, but a reason is stated" >"/dev/stderr"
        printf "| `%s` | %s | %s TFLOPS | %d %% | %s%s | %s |\n", name, type, peak, used * 100 + 0.5, bound,
            (name in limit ? ": " limit[name] : ""), source
        name = ""
    }
    BEGIN { while ((getline line < limits) > 0) { n = index(line, ": "); limit[substr(line, 1, n - 1)] = substr(line, n + 2) } }
    /^      "name": / { finish(); name = text($0); source = ""; bound = "" }
    /^      "workload": / { type = text($0); sub(/_.*/, "", type) }
    /^        "seconds": / && seconds_of != name { seconds = text($0); seconds_of = name }
    /^        "bound_by": / && bound == "" { bound = text($0) }
    /^        "total_flop": / { flop = text($0) }
    /^      "utilization": / { used = text($0) }
    /^        "source": / { source = text($0) }
    END { finish() }' "$work/json" >"$work/table" 2>"$work/out"
[ -s "$work/out" ]
result $((1 - $?)) "$(wc -l <"$work/table") chips: 70 % of the peak, or the reason"

if [ "${DFL_BLESS:-0}" = 1 ]; then
    awk -v table="$work/table" '
        /^\| chip \| type \| peak \|/ { print; getline; print; while ((getline line < table) > 0) print line; skip = 1; next }
        skip && /^\|/ { next }
        { skip = 0; print }' "$page" >"$work/page" && cat "$work/page" >"$page"
fi
awk '/^\| chip \| type \| peak \|/ { getline; on = 1; next } on && !/^\|/ { exit } on' "$page" >"$work/old"
awk -F'|' -v old="$work/old" '
    FILENAME == old { row[$2] = $0; used[$2] = $5; next }
    {
        n++
        if (!($2 in row)) { print "no row for" $2; next }
        a = $0; b = row[$2]; d = $5 - used[$2]
        sub(/\| *[0-9]+ % \|/, "|", a); sub(/\| *[0-9]+ % \|/, "|", b)
        if (a != b || d > 1 || d < -1) { print "on the page:   " row[$2]; print "it should be:  " $0 }
        delete row[$2]
    }
    END { for (k in row) print "no chip for the row" k }' "$work/old" "$work/table" >"$work/out"
[ -s "$work/out" ]
result $((1 - $?)) "the table of $page"

finish
